"""Write the hand-out: what students need to work, and nothing that solves or grades.

It is a list of files, followed from what notebooks, checks and the `labs` command import,
never a copy of a folder: so a new file stays here until one of them needs it. The
references are in it, because a check uses them until an answer passes.

The hand-out has a list of its files. By it a later one can replace it in the same folder,
and leave alone what is not ours: a repository's history, or somebody's notebooks.
"""

import json
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.exercise import find_exercise, numbers_of, shared_words
from helpers.files import REPOSITORY, TEMPORARY, write_atomically
from helpers.plain_json import write_json
from kit.authoring.build import notebooks_of, write_notebook, write_students
from kit.authoring.index import generate_index
from kit.authoring.pages.for_students import pages_for_students
from kit.imports import files_behind, imported_by
from kit.labs import all_labs
from kit.progress import Progress
from kit.todo_cells import modules
from kit.version import kit_version

# Commands that are for instructors and authors; what only they import stays here.
NOT_FOR_STUDENTS = (
    "kit.authoring.mutants", "kit.authoring.new", "kit.authoring.new_version",
    "kit.authoring.outputs", "kit.authoring.pages", "kit.authoring.release",
    "kit.authoring.verify", "kit.bench", "kit.grading", "kit.platforms",
    "kit.leaderboard.again", "kit.leaderboard.board_figure", "kit.leaderboard.box_run",
    "kit.leaderboard.calibrator", "kit.leaderboard.judge", "kit.leaderboard.machine",
    "kit.leaderboard.page", "kit.leaderboard.store", "kit.pool",
)  # fmt: skip
WHOLE = (
    "LICENSE", "environment.yml", "pyproject.toml", "requirements.txt",
    "kit/place/setup.sh",
)  # fmt: skip
OF_A_LAB = ("parameters", "reference")
OF_AN_EXERCISE = ("judge", "probe")
SERVER = "kit.jupyter.jupyter_server"  # JupyterLab imports it, as kit/jupyter says
BESIDE = (
    "kit/headless/*.j2", "kit/jupyter/*.html", "kit/jupyter/*.j2", "kit/jupyter/**/*.json",
    "kit/jupyter/**/*.js",
    "kit/look/*.css", "kit/look/*.svg",
    "callbacks/**/*.js", "helpers/*/recorded_*.json", "helpers/*/long_cells.json",
    "helpers/*/*/published.toml", "helpers/parameters.toml", "helpers/*/parameters.toml",
    "helpers/**/*.css", "helpers/**/*.j2", "helpers/**/*.js", "helpers/**/*.svg",
)  # fmt: skip
OWN = Path(__file__).with_name("hand_out")
LIST = Path("kit/hand_out.json")


class Released(NamedTuple):
    """The files that were written, relative to the folder, and the path of the zip."""

    files: list[Path]
    changed: list[Path]  # new ones, too
    removed: list[Path]
    archive: Path


def release(folder: Path) -> Released:
    """Write the hand-out into a folder, and a zip of it beside the folder.

    Parameters
    ----------
    folder : Path
        A new one, or an older hand-out: then only what has changed is written, and what the
        course has no longer is removed. Other files in there stay.

    Returns
    -------
    Released

    Raises
    ------
    LabError
        If there is something else in the folder or in the zip's place, or it is this
        repository's.
    """
    folder = Path(folder).resolve()
    archive = folder.with_name(f"{folder.name}.zip")
    if folder == REPOSITORY or REPOSITORY in folder.parents:
        raise LabError(f"{folder} is in this repository: give a folder outside of it.")
    before = _listed(folder)
    if before is None and archive.exists():
        raise LabError(f"{archive} is there already: remove it, or give another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=".release-", suffix=TEMPORARY
    ) as temporary:
        made = Path(temporary)
        _write(made)
        now = sorted(p.relative_to(made) for p in made.rglob("*") if p.is_file())
        old: set[Path] = set(before or [])
        # Both, until all is done: a run that was interrupted can be continued.
        _write_list(folder, sorted({*now, *old}))
        changed = [path for path in now if _is_new(folder / path, made / path)]
        for path in changed:
            write_atomically(folder / path, (made / path).read_bytes())
    removed = [path for path in sorted(old - {*now, LIST}) if (folder / path).is_file()]
    for path in removed:
        (folder / path).unlink()
    now = sorted([*now, LIST])
    _write_list(folder, now)
    _write_archive(archive, folder, now)
    return Released(now, changed, removed, archive)


def _listed(folder):
    """The files of the hand-out in a folder; None if there is none, nor anything else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))["files"]
        return [
            Path(name)
            for name in listed
            if (folder / name).resolve().is_relative_to(folder)
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{folder} is not empty, and no hand-out: give the name of a new folder, or of "
            "a hand-out to update."
        ) from error


def _write_list(folder, paths):
    write_json(
        folder / LIST, {"kit": kit_version(), "files": [p.as_posix() for p in paths]}
    )


def _is_new(there, made):
    return not there.is_file() or there.read_bytes() != made.read_bytes()


def _write(folder):
    labs, copied = all_labs(), sorted(files())
    files_to_write = len(copied) + len(labs)
    with Progress(what="hand-out", total=files_to_write, unit="file") as bar:
        for path in copied:
            write_atomically(folder / path, (REPOSITORY / path).read_bytes())
            bar.update()
        for path in OWN.iterdir():
            write_atomically(folder / path.name, path.read_bytes())
        for path, content in pages_for_students().items():
            write_atomically(folder / path, content)
        for lab in labs:
            student, _ = notebooks_of(lab)
            write_students(folder / lab.notebook.relative_to(REPOSITORY), student)
            bar.update()
    write_notebook(folder / "notebooks" / "index.ipynb", generate_index())


def _write_archive(archive, folder, paths):
    """The zip has the files' own dates: Python would take equal ones for equal files."""
    with tempfile.NamedTemporaryFile(dir=archive.parent, suffix=TEMPORARY) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as made:
            for path in Progress(paths, what="zip", unit="file"):
                made.write(folder / path, Path(folder.name, path))
        temporary.flush()
        write_atomically(archive, Path(temporary.name).read_bytes())


def files() -> set[Path]:
    """The files of this repository that the hand-out has as they are.

    Returns
    -------
    set of Path
        Relative to the repository.
    """
    command = Path("kit/cli.py")
    begin = [name for name in imported_by(command) if not _is_left_out(name)]
    begin.append(SERVER)
    found = {command, *map(Path, WHOLE)}
    for lab in all_labs():
        folder = lab.folder.relative_to(REPOSITORY)
        begin += [*modules(lab), *(f"helpers.{folder.name}.{name}" for name in OF_A_LAB)]
        found.add(folder / "quiz.toml")
        found |= {path.relative_to(REPOSITORY) for path in shared_words(lab.folder)}
        for number in numbers_of(lab.number):
            package = find_exercise(number).package
            begin += [f"{package}.{name}" for name in OF_AN_EXERCISE]
            found.add(Path(*package.split("."), "words.toml"))
    for path in files_behind(begin):
        if not _is_left_out(".".join(path.with_suffix("").parts)):
            found.add(path)
    for pattern in BESIDE:
        found |= {path.relative_to(REPOSITORY) for path in REPOSITORY.glob(pattern)}
    return found


def _is_left_out(module):
    return any(f"{module}.".startswith(f"{name}.") for name in NOT_FOR_STUDENTS)
