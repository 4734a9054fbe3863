"""Write the hand-out: what students need to work, and nothing that solves or grades.

It is a list of files, followed from what notebooks, checks and the `labs` command import,
never a copy of a folder: so a new file stays here until one of them needs it. The
references are in it, because a check uses them until an answer passes.
"""

from pathlib import Path

from helpers.errors import LabError
from helpers.exercise import find_exercise, numbers_of, shared_words
from helpers.files import REPOSITORY, write_atomically
from kit.authoring.build import write_notebook, write_students
from kit.authoring.index import generate_index
from kit.generate import generate
from kit.imports import files_behind, imported_by
from kit.labs import all_labs
from kit.todo_cells import modules

# Commands that are for instructors and authors; what only they import stays here.
NOT_FOR_STUDENTS = (
    "kit.authoring.mutants", "kit.authoring.new", "kit.authoring.outputs",
    "kit.authoring.readme", "kit.authoring.release", "kit.authoring.verify", "kit.bench",
    "kit.grading", "kit.platforms",
)  # fmt: skip
WHOLE = (
    "LICENSE", "environment.yml", "pyproject.toml", "requirements.txt",
    "kit/place/setup.sh",
)  # fmt: skip
OF_A_LAB = ("parameters", "reference")
OF_AN_EXERCISE = ("judge", "probe")
SERVER = "kit.jupyter.jupyter_server"  # JupyterLab imports it, as kit/jupyter says
BESIDE = (
    "kit/headless/*.j2", "kit/jupyter/*.html", "kit/jupyter/**/*.json",
    "helpers/*/recorded_*.json",
    "helpers/**/*.css", "helpers/**/*.j2", "helpers/**/*.js", "helpers/**/*.svg",
)  # fmt: skip
OWN = Path(__file__).with_name("hand_out")


def release(folder: Path) -> list[Path]:
    """Write the hand-out into a new folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path
        What was written, relative to the folder.

    Raises
    ------
    LabError
        If there is something in the folder, or it is this repository's.
    """
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LabError(f"{folder} is not empty: give the name of a new folder.")
    if folder == REPOSITORY or REPOSITORY in folder.parents:
        raise LabError(f"{folder} is in this repository: give a folder outside of it.")
    for path in sorted(files()):
        write_atomically(folder / path, (REPOSITORY / path).read_bytes())
    for path in OWN.iterdir():
        write_atomically(folder / path.name, path.read_bytes())
    for lab in all_labs():
        student, _ = generate(lab)
        write_students(folder / lab.notebook.relative_to(REPOSITORY), student)
    write_notebook(folder / "notebooks" / "index.ipynb", generate_index())
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


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
