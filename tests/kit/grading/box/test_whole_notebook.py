"""Whole notebooks in their box: what comes back, how each ends, and what is left."""

import itertools
import json
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import nbformat
import psutil
import pytest

from helpers.exercise import exercise_folders
from helpers.files import REPOSITORY
from kit.grading.box import sandbox, whole_notebook
from kit.grading.box.allowlist import visible_files
from kit.labs import all_labs, find_lab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("grading"),
    pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem())),
]
VISIBLE = [str(REPOSITORY / path) for path in visible_files(find_lab("02"))]
MARK = f"labs-whole-{secrets.token_hex(8)}"  # in all that must not outlive its notebook
SECRET = secrets.token_hex(16)  # what the worker knows
LIMITS = sandbox.Limits(full_seconds=300, disk_mib=53, memory_mib=1024)
OWN_SIZE = str(LIMITS.disk_mib * sandbox.MIB)  # tells these boxes from those of others

LEAVES = f"""
import os, signal, subprocess, sys, time
command = [sys.executable, "-S", "-c", "import time; time.sleep(999)", {MARK!r}]
left = [subprocess.Popen(command), subprocess.Popen(command, process_group=0)]
if os.fork() == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execv(sys.executable, command)
print("left", [one.poll() for one in left])
"""
SAYS_MUCH = "print('out')\nprint('err', file=sys.stderr)\n6 * 7"
DELETES = """
import pathlib, shutil
print([*pathlib.Path.home().rglob("*.sqlite")])
if os.path.exists("/tmp/whole_notebook_in_box.py"):  # it is in a box
    shutil.rmtree("/tmp", ignore_errors=True)
    shutil.rmtree("/dev/shm", ignore_errors=True)
print(os.listdir("/tmp/home"), os.listdir("/tmp/work"))
"""
IN_MANY_PROCESSES = """
for _ in range(6):
    if os.fork() == 0:
        kept = bytearray(os.urandom(2**20)) * 250
        time.sleep(999)
time.sleep(999)
"""
DEAF = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    time.sleep(1)
"""
# On the output that it has from the process that executes it.
SPEAKS = r"""
own = os.readlink("/proc/1/fd/1")
for name in os.listdir("/proc/self/fd"):
    path = f"/proc/self/fd/{name}"
    if os.path.lexists(path) and os.readlink(path) == own:
        os.write(int(name), "\0all\r\u202eright\x1b[31m\n{}".encode())
        break
"""
LOOKS = """
import importlib, json

def can_be_imported(name):
    try:
        return bool(importlib.import_module(name))
    except ModuleNotFoundError:
        return False

files = []
for folder, folders, names in os.walk(REPOSITORY):
    folders[:] = [name for name in folders if name not in (".venv", "__pycache__")]
    files += [os.path.join(folder, name) for name in names]
told = ""
for name in filter(str.isdecimal, os.listdir("/proc")):
    for part in ("environ", "cmdline"):
        with open(f"/proc/{name}/{part}", errors="replace") as file:
            told += file.read()
print(json.dumps([
    files,
    [path for path in files if os.access(path, os.W_OK)],
    [name for name in MODULES if can_be_imported(name)],
    [name for name in sys.modules if name.split(".")[-1] in ("judge", "reference")],
    ["LABS_SCALE" in told, SECRET in told],
]))
"""


class Case(NamedTuple):
    """Cells, between one that leaves processes and one that prints; and how it ends."""

    cells: list
    says: str  # a pattern of the whole sentence
    comes_back: bool = True
    seconds: float = LIMITS.full_seconds


def hidden_modules():
    for lab in all_labs():
        own = f"helpers.{lab.folder.name}"
        yield from (f"{own}.reference", f"{own}.judging")
        for folder in exercise_folders(lab.number):
            yield f"{own}.{folder.name}.judge"
            yield f"tests.answers.{lab.folder.name}.{folder.name}"
    yield from ("helpers.checks.judging", "kit", "kit.grading.grade", "tests")


CASES = {
    "works": Case(
        [
            SAYS_MUCH,
            "1 / 0",
            "raise SystemExit(3)",
            "kept = bytearray(2**40)",
            "from helpers.checks import check\nprint(check('2.3', 'mine'))",
            f"MODULES = {[*hidden_modules()]}\nSECRET = {SECRET!r}\n"
            f"REPOSITORY = {str(REPOSITORY)!r}\n{LOOKS}",
            DELETES,
        ],
        "executed, 3 cells with errors",
    ),
    "ends its kernel": Case(["os._exit(3)"], "stopped by DeadKernelError"),
    "takes memory": Case(
        [IN_MANY_PROCESSES], "it took more than 1,024 MiB of memory", comes_back=False
    ),
    "speaks for the grader": Case([SPEAKS], r".{1,100}"),
    "hears no interrupt": Case(
        [DEAF], "it had not finished after 1 seconds", comes_back=False, seconds=1
    ),
}  # fmt: skip
ENDLESS = {
    "never ends": Case(["while True: pass"], "executed, 1 cell with errors", seconds=1),
    "prints without end": Case(
        ["while True: print('x' * 10**5)"],
        # A busy machine has not read them all by then.
        "its outputs are larger than 50 MB|it had not finished after 1 seconds",
        comes_back=False,
        seconds=1,
    ),
}


def _run(case):
    """How it ended, what came back, and which of its processes are there then."""
    cells = map(nbformat.v4.new_code_cell, [LEAVES, *case.cells, "print('after')"])
    text = nbformat.writes(nbformat.v4.new_notebook(cells=list(cells)))
    limits = LIMITS._replace(full_seconds=case.seconds)
    ended = whole_notebook.run_notebook(text, limits, True, [], VISIBLE)
    return *ended, text


@pytest.fixture(scope="module")
def ended():
    """What came of each notebook; they run side by side."""
    before, results = _open_files(), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABS_SECRET", SECRET)
        # Sooner than in earnest; of the first ones that matters to one only.
        patch.setattr(whole_notebook, "MOST_BYTES", sandbox.MIB)
        patch.setattr(whole_notebook, "DISK_MIB", LIMITS.disk_mib)
        for cases, grace in ((CASES, 6), (ENDLESS, whole_notebook.GRACE_SECONDS)):
            patch.setattr(whole_notebook, "GRACE_SECONDS", grace)
            with ThreadPoolExecutor(len(cases)) as pool:
                results |= zip(cases, pool.map(_run, cases.values()), strict=True)
            left = [one for one in psutil.process_iter() if _is_ours(one)]
            assert not left, "a box has ended when its notebook comes back"
    assert _open_files() == before
    return results


def _open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def _is_ours(process):
    try:
        return {MARK, OWN_SIZE} & set(process.cmdline())
    except psutil.Error:
        return False


def outputs(text):
    """Of each cell the texts that it printed, returned or raised."""
    return [_texts(cell["outputs"]) for cell in json.loads(text)["cells"]]


def _texts(found):
    """Of each output its text; what a stream said in several messages is one text."""
    texts = []
    for stream, several in itertools.groupby(found, lambda one: one.get("name")):
        said = [
            "".join(one.get("text") or one.get("ename") or one["data"]["text/plain"])
            for one in several
        ]
        texts += ["".join(said)] if stream else said
    return texts


@pytest.mark.parametrize("name", CASES | ENDLESS)
def test_each_notebook_ends_in_one_plain_sentence_and_leaves_nothing(ended, name):
    case = (CASES | ENDLESS)[name]
    says, text, _ = ended[name]
    assert re.fullmatch(case.says, says), says
    assert says.isprintable()
    assert (text is not None) == case.comes_back


def test_a_notebook_comes_back_with_the_outputs_of_each_cell(ended):
    _, text, given = ended["works"]
    nbformat.validate(nbformat.reads(text, as_version=4))
    sources = [
        [(cell["id"], "".join(cell["source"])) for cell in json.loads(one)["cells"]]
        for one in (text, given)
    ]
    assert sources[0] == sources[1]
    left, much, *errors, checked, _, deleted, after = outputs(text)
    assert left == ["left [None, None]\n"], "else there was nothing to end"
    assert sorted(much) == ["42", "err\n", "out\n"]
    raised = ["ZeroDivisionError", "SystemExit", "MemoryError"]
    assert [set(raised) & set(error) for error in errors] == [{name} for name in raised]
    assert checked == ["mine\n"], "no judge says what is right"
    # A history of IPython would be deleted, and its thread would say so at any time.
    assert deleted == ["[]\n[] []\n"]
    assert after == ["after\n"]


def test_no_judge_no_reference_and_no_secret_can_be_read_inside(ended):
    looked = outputs(ended["works"][1])[6]
    files, writable, imported, loaded, [environment, secret] = json.loads(looked[0])
    assert set(files) == set(VISIBLE)
    assert (writable, imported, loaded) == ([], [], [])
    assert environment, "else it looked at nothing"
    assert not secret


@pytest.mark.parametrize("name", ["ends its kernel", "never ends"])
def test_the_cells_before_one_that_never_ends_are_returned(ended, name):
    before, cell, after = outputs(ended[name][1])
    assert before == ["left [None, None]\n"]
    if name == "never ends":
        # The interrupt also ends the processes that it left, and they say so at any time.
        assert "KeyboardInterrupt" in cell
        assert "after\n" in after
    else:
        assert (cell, after) == ([], [])
