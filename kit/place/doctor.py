"""What is there, what is missing, and what to do about it."""

import os
import platform
import shutil
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from packaging.requirements import Requirement
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from helpers import plain_json
from helpers.data.places import DataSet, own_folder, user_cache
from helpers.data.sets import DATA_SETS
from helpers.errors import LabError
from helpers.files import FULL, REPOSITORY, runs_folder, why_not_writable
from helpers.machine.computer import nvidia_gpus
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.notebook.end_message import FEEDBACK, feedback_address, why_no_address
from helpers.parameters import SCALES
from kit.place import environment
from kit.version import kit_version

FREE_GIB = 1
# The variables of the environment that the kit reads, and those that it sets itself.
SETTINGS = (
    "LABS_BOARD", "LABS_DATA_DIR", "LABS_FEEDBACK_URL", "LABS_REPORTS_DIR",
    "LABS_REPOSITORY_URL", "LABS_RUNS_DIR", "LABS_SCALE", "LABS_SITE_URL", "LABS_STRICT",
    "LABS_NOTEBOOK", "LABS_RUN", "LABS_SERVER", "LABS_UNDER_WAY",
)  # fmt: skip
Finding = tuple[str, str, str]  # the state of `STATES`, what was found, what to do


def doctor(as_json: bool = False) -> bool:
    """Print a table of findings, or JSON; return whether the labs can run."""
    questions = {
        "kit": lambda: ("ok", kit_version(), ""),
        "system": lambda: ("ok", platform.platform(), ""),
        "Python": python,
        "packages": packages,
        "Keras": keras_backend,
        "environment": surroundings,
        "kernel": kernel,
        "device": device,
        **data_questions(),
        "run cards": partial(writable, runs_folder(), "LABS_RUNS_DIR"),
        "data cache": cache,
        "disk": disk,
    }
    if address := feedback_address():
        questions["feedback"] = partial(feedback, address)
    if find_spec("kit.grading"):  # a hand-out for students does not grade
        questions["grading sandbox"] = isolation
    findings = {what: _survive(question) for what, question in questions.items()}
    findings = {
        what: (state, found, environment.as_started(remedy))
        for what, (state, found, remedy) in findings.items()
    }
    can_run = all(state != "missing" for state, _, _ in findings.values())
    if as_json:
        keys = ("state", "found", "to_do")
        print(
            plain_json.as_json(
                {w: dict(zip(keys, f, strict=True)) for w, f in findings.items()}
            )
        )
        return can_run
    # No frame: it takes the room that paths need, and what to do is below what was found.
    table = Table.grid(Column(), Column(), Column(overflow="fold"), padding=(0, 2))
    for what, (state, found, remedy) in findings.items():
        said = f"{escape(found)}\n{escape(remedy)}".rstrip()
        table.add_row(what, STATES[state], said)
    Console(highlight=False).print(table)
    return can_run


def _survive(question):
    """A finding, whatever is broken: then that is the finding."""
    try:
        return question()
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0][:200]
        return "missing", f"{type(error).__name__}: {first}", REINSTALL


REINSTALL = "Remove .venv and run make setup."
STATES = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "missing": "[red]missing[/]"}


def python() -> Finding:
    """Whether the pinned packages exist for this Python."""
    found = platform.python_version()
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return "ok", found, ""
    return "missing", found, "Install Python 3.11, 3.12 or 3.13 and run make again."


def packages() -> Finding:
    """Whether the installed packages are those that requirements.txt pins."""
    wrong = []
    for line in (REPOSITORY / "requirements.txt").read_text().splitlines():
        if not line.strip() or line.startswith(("#", " ")):
            continue
        pinned = Requirement(line.rstrip(" \\"))
        if pinned.marker and not pinned.marker.evaluate():
            continue
        try:
            installed = version(pinned.name)
        except PackageNotFoundError:
            installed = "missing"
        if not pinned.specifier.contains(installed) if installed != "missing" else True:
            wrong.append(f"{pinned.name} {installed}")
    absent = [text for text in wrong if text.endswith("missing")]
    if absent:
        return "missing", ", ".join(absent[:5]), REINSTALL
    main = f"TensorFlow {version('tensorflow')}, Keras {version('keras')}"
    if wrong:
        return "note", f"{main}; not as pinned: {', '.join(wrong[:5])}", REINSTALL
    return "ok", f"{main}, all as pinned", ""


def keras_backend() -> Finding:
    """Whether Keras can be imported, and computes with TensorFlow."""
    silence_tensorflow()
    import keras

    return "ok", f"computes with {keras.backend.backend()}", ""


def surroundings() -> Finding:
    """Whether something is set that `labs` leaves out, and other notebooks would not."""
    if (scale := os.environ.get("LABS_SCALE") or "auto") not in SCALES:
        wanted = f"Set it to one of {', '.join(SCALES)}, or unset it."
        return "missing", f"LABS_SCALE is {scale[:40]!r}", wanted
    found = environment.findings()
    otherwise = " Or start notebooks with `labs lab`." if found else ""
    found += _unread()
    if not found:
        return "ok", "no settings that interfere", ""
    remedy = f"{'; '.join(cure for _, cure in found)}.{otherwise}"
    return "note", f"ignored: {'; '.join(what for what, _ in found)}", remedy


def _unread():
    """A variable that looks like one of ours, but which nothing reads."""
    names = sorted(n for n in os.environ if n.startswith("LABS_") and n not in SETTINGS)
    found = []
    for name in [name[:40] for name in names[:3]]:
        ends = [known.removeprefix("LABS_") for known in SETTINGS]
        meant = get_close_matches(name.removeprefix("LABS_"), ends, 1)
        cure = f"Rename {name} to LABS_{meant[0]}" if meant else f"Unset {name}"
        found.append((name, cure))
    return found


def feedback(address: str) -> Finding:
    """Whether the labs can end with a link to where the owner wants feedback."""
    if problem := why_no_address(address):
        return "note", problem, f"Correct {FEEDBACK}, or the line in pyproject.toml."
    return "ok", f"each lab ends with a link to {address[:80]}", ""


def kernel() -> Finding:
    """Whether any JupyterLab would start this Python: an older kernel may be installed."""
    own = os.environ.get("JUPYTER_PATH", "")
    os.environ["JUPYTER_PATH"] = environment.before.get("JUPYTER_PATH", "")
    try:
        spec = KernelSpecManager().get_kernel_spec("python3")
        program = spec.argv[0]
        # A bare "python" is the Python of the server that starts it.
        if program in ("python", "python3") or Path(program) == Path(sys.executable):
            return "ok", f"python3 in {spec.resource_dir}", ""
        found = f"python3 in {spec.resource_dir} starts {program}"
    except (NoSuchKernel, ValueError, IndexError) as error:
        found = f"python3 cannot be read: {error}"
    finally:
        os.environ["JUPYTER_PATH"] = own
    remedy = "Delete that folder, or open notebooks with `labs lab`: it has its own kernel."
    return "note", found, remedy


def device() -> Finding:
    """TensorFlow's device, and whether there is a GPU that it does not see."""
    silence_tensorflow()
    from helpers.machine.devices import describe_device

    found = describe_device()
    if found["kind"] == "cpu" and nvidia_gpus():
        return (
            "note",
            f"{found['name']}; there is an NVIDIA driver, but TensorFlow sees no GPU",
            "Remove .venv and run make setup, which installs the CUDA libraries.",
        )
    return "ok", found["name"], ""


def data_questions() -> dict[str, Callable[[], Finding]]:
    """One for each data set; a folder that is not there is said once."""
    try:
        own_folder()
    except LabError as error:
        finding = "missing", "no such folder", str(error)
        return {"LABS_DATA_DIR": lambda: finding}
    return {data_set.name: partial(data, data_set, load) for data_set, load in DATA_SETS}


def data(data_set: DataSet, load: Callable) -> Finding:
    """Where a data set is, and whether it is complete."""
    try:
        if data_set.find() is None:
            remedy = (
                "A lab downloads it when it needs it; `labs data fetch` does so now. No "
                f"network? {data_set.elsewhere} Otherwise, a synthetic set is used."
            )
            return "note", "not on this machine", remedy
        return "ok", load().source, ""
    except LabError as error:
        return "missing", "cannot be used", str(error)


def writable(folder: Path, variable: str) -> Finding:
    """Whether a file of a MiB can be written to a folder: a quota shows only then."""
    if error := why_not_writable(folder):
        cure = "Free some space there" if error.errno in FULL else "Make it writable"
        remedy = f"{cure}, or set {variable} to a folder that can be written."
        return "missing", f"{folder}: {error.strerror}", remedy
    return "ok", str(folder), ""


def cache() -> Finding:
    """Whether a download could be kept; not needed if the data are here already."""
    state, found, remedy = writable(user_cache(), "XDG_CACHE_HOME")
    if state == "missing" and all(data_set.find() for data_set, _ in DATA_SETS):
        return "note", found, "Not needed, because the data sets are here."
    return state, found, remedy


def disk() -> Finding:
    """Whether there is room for run cards and reports."""
    free = shutil.disk_usage(REPOSITORY).free / 2**30
    found = f"{free:.1f} GiB free"
    if free < FREE_GIB:
        return "missing", found, f"Free at least {FREE_GIB} GiB."
    return "ok", found, ""


def isolation() -> Finding:
    """Whether the sandbox for submissions works; tries it as grading does."""
    from kit.grading.box import sandbox

    if reason := sandbox.problem():
        remedy = "Only graders need it: see docs/teaching/instructor.md, The sandbox."
        return "note", f"cannot isolate: {reason}", remedy
    return "ok", "bubblewrap isolates submissions", ""
