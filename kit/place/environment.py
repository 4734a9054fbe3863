"""The `labs` command's own environment: what a user has set for other work stays out.

What is set here holds for this process and for the kernels that it starts.
"""

import locale
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

# As the user has set them, for `labs doctor`.
before = dict(os.environ)


def leave_out_foreign_folders() -> None:
    """Take the folders of PYTHONPATH off the path: their `numpy` or `helpers` is another.

    Has to be called before anything is imported that one of them could hide. The folder
    of this kit may stay.
    """
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    foreign = {str(Path(name).absolute()) for name in named if Path(name).resolve() != HERE}
    sys.path[:] = [name for name in sys.path if str(Path(name).absolute()) not in foreign]
    if entries := [name for name in named if name and Path(name).resolve() == HERE]:
        os.environ["PYTHONPATH"] = os.pathsep.join(entries)
    else:
        os.environ.pop("PYTHONPATH", None)


def copied_from_here(script: str) -> Path | None:
    """The course in whose environment a command is, where that runs the kit of another.

    A script of an environment names the Python that it was made with, and that imports
    the kit of the folder that it was made in. So `labs` in a copied or moved folder would
    run this one. An environment outside of every course is no copy, and a user who names
    this kit in PYTHONPATH has chosen it.

    Parameters
    ----------
    script : str
        The command as it was started: ``sys.argv[0]``.

    Returns
    -------
    Path or None
    """
    path = Path(script).absolute()
    if os.environ.get("PYTHONPATH") or not path.is_file():
        return None
    for start in (path, path.resolve()):  # a link may lead into a course, or out of one
        courses = (above for above in start.parents if (above / "kit" / "cli.py").is_file())
        course = next(courses, HERE)
        if not course.samefile(HERE):
            return course
    return None


def as_started(text: str) -> str:
    """Advice with the commands as this shell finds them: `.venv/bin/labs run 02`."""
    if shutil.which("labs"):
        return text
    path = Path(sys.argv[0])
    own = os.path.relpath(path) if path.is_relative_to(HERE) else str(path)
    return text.replace("`labs ", f"`{own} ")


def make_own() -> list[str]:
    """Set what Keras, Jupyter and Python's texts depend on.

    Returns
    -------
    list of str
        What the user has set that does not hold here: a line for each.
    """
    from helpers.machine.own_keras import use_own_keras

    lines = use_own_keras()
    if foreign := _foreign(before):
        lines.append(f"PYTHONPATH={foreign} is left out.")
    # The first kernels that Jupyter finds are this environment's, whatever is installed
    # for the user.
    folders = [str(Path(sys.prefix, "share", "jupyter")), os.environ.get("JUPYTER_PATH")]
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, folders))
    os.environ["PYTHONUTF8"] = "1"
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            # In a locale without these characters: a question mark, not the end.
            reconfigure(errors="replace")
    return lines


def _foreign(variables):
    names = variables.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(name for name in names if name and Path(name).resolve() != HERE)


def findings() -> list[tuple[str, str]]:
    """What may hurt notebooks that are started without `labs`, and the cure of each.

    Returns
    -------
    list of tuple of str
        What was found, what to do.
    """
    from helpers.machine.own_keras import deviations

    found = deviations(before)
    if foreign := _foreign(before):
        found.append((f"PYTHONPATH={foreign}", "Unset PYTHONPATH"))
    encoding = locale.getencoding()
    if encoding.lower().replace("-", "") != "utf8" and not sys.flags.utf8_mode:
        found.append((f"a locale without UTF-8 ({encoding})", "Set LC_ALL=C.UTF-8"))
    return found
