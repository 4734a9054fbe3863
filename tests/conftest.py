"""What every test starts from: run cards of its own, and TensorFlow kept quiet."""

import gc
import http.server
import os
import re
import signal
import threading
import zlib
from pathlib import Path

# In each process that a test starts, too: tests run beside others. A thread that waits in a
# loop for a core that another test has costs lab 02 a tenth of its processor time.
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")

import matplotlib
import pytest

from helpers.files import REPOSITORY
from helpers.machine.quiet_tensorflow import silence_tensorflow
from tests.scheduling import Crashes
from tests.unchanged import Unchanged

# Else each process that a test starts lists the fonts again, into the test's own cache.
os.environ.setdefault("MPLCONFIGDIR", matplotlib.get_cachedir())

# Where Reuters and MNIST may be: no Debian package has them.
SHARED = [os.environ.get("LABS_DATA_DIR"), REPOSITORY.parent / "shared" / "data"]
HAVE_REUTERS = [Path(p) for p in SHARED if p and (Path(p) / "reuters.npz").is_file()]
HAVE_MNIST = [Path(p) for p in SHARED if p and (Path(p) / "mnist.npz").is_file()]


def pytest_addoption(parser):
    parser.addoption(
        "--changed", action="store_true", help="leave out what passed and has not changed"
    )


def pytest_configure(config):
    """Start TensorFlow, but not in the process that only hands out tests to others."""
    # A script's background process ignores Ctrl-C, as does each process that it starts:
    # tests that interrupt one would wait for ever.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(Unchanged(config))
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Crashes())
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        silence_tensorflow()
        from helpers.machine.devices import prepare_devices

        # Before any test starts it: checks of several devices need logical CPUs.
        prepare_devices(8, simulate=True)
        # As at smoke scale: most answers of labs 04 to 07 take a tenth to a fifth less
        # processor time.
        from helpers.machine.small_graphs import spend_less_on_graphs

        spend_less_on_graphs()
    # Else what TensorFlow and Keras have made, which stays, is looked through again and
    # again: a twentieth of the processor time of the checks' tests.
    gc.set_threshold(20_000)


@pytest.fixture(autouse=True)
def all_threads_where_they_are_the_subject(request, monkeypatch):
    """Lab 00 asks how many threads work, lab 08 how fast the machine can be."""
    lab = hasattr(request.node, "callspec") and request.node.callspec.params.get("lab")
    if getattr(lab, "number", None) in ("00", "08"):
        monkeypatch.delenv("TF_NUM_INTRAOP_THREADS")


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """No test sees or leaves a run card, or downloads into the user's cache."""
    monkeypatch.setenv("LABS_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("LABS_REPORTS_DIR", str(tmp_path / "reports"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LABS_SCALE", "smoke")
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    # Without these labs 04 and 06 run on their synthetic sets.
    if folders := HAVE_REUTERS or HAVE_MNIST:
        monkeypatch.setenv("LABS_DATA_DIR", str(folders[0].absolute()))


@pytest.fixture
def shared_data():
    """The folder beside the checkout that has the real Reuters set."""
    if not HAVE_REUTERS:
        pytest.skip("no reuters.npz in ../shared/data or LABS_DATA_DIR")
    return HAVE_REUTERS[0].absolute()


@pytest.fixture
def shared_mnist():
    """The folder beside the checkout that has the real MNIST."""
    if not HAVE_MNIST:
        pytest.skip("no mnist.npz in ../shared/data or LABS_DATA_DIR")
    return HAVE_MNIST[0].absolute()


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the marks in the same hook
def pytest_collection_modifyitems(items):
    """First whether the private names that the kit touches are still there.

    Then what must not run beside its like, which stays in one worker; then what takes
    long, so that no worker ends alone with it. Then the rest, with the answers mixed into
    it: side by side, those to a question that waits would all wait at the same time.
    """
    for item in items:
        if group := group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
        if group or item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)
    answers = {item for item in items if item.path.name == "test_checks.py"}
    others = [item for item in items if item not in answers]
    places = {item: place / len(others) for place, item in enumerate(others)}
    places |= {item: anywhere(item) for item in answers}
    items.sort(
        key=lambda item: (
            item.path.name != "test_canary.py",
            group_of(item) is None,
            item.path.name not in LONG,
            places[item],
        )
    )


def anywhere(item):
    """A number from 0 to 1, the same in each process, as pytest-xdist needs it."""
    return zlib.crc32(item.nodeid.encode()) / 2**32


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    gc.freeze()  # all tests and what they import: they stay


# Whole notebooks, kernels, servers that trickle, TensorFlow started again and again.
SLOW = (
    "test_notebooks.py", "test_dashboard.py", "test_divergence.py", "test_devices.py",
    "test_documents.py", "test_places.py", "test_cli.py", "test_cluster.py",
    "test_multi_worker_fit.py", "test_launch.py", "test_sweep.py",
)  # fmt: skip

# Of these, single tests that take about a minute.
LONG = ("test_notebooks.py", "test_new.py", "test_training.py", "test_cli.py")


def group_of(item):
    """Grading counts processes; several notebooks with several devices starve."""
    if item.path.parent.name == "grading" or item.path.name == "test_nbgrader.py":
        return "grading"
    if item.path.parent.name == "browser":
        return "browser"  # one JupyterLab, and one window at a time
    lab = getattr(item, "callspec", None) and item.callspec.params.get("lab")
    several = lab and re.search(r'devices="(all|simulated)"', lab.source.read_text())
    return "devices" if several and item.path.name == "test_notebooks.py" else None


@pytest.fixture
def file_server(tmp_path):
    """A folder, and the address at which a server on this machine hands out its files."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, directory=folder, **options)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()
