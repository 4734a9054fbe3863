"""The table of docs/checks.md: how well each check tells right from wrong."""

from pathlib import Path

from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from kit.authoring.build import write_text
from kit.authoring.recorded_answers import recorded_answers, stored_mutants
from kit.labs import all_labs
from kit.todo_cells import todo_cells

PAGE = REPOSITORY / "docs/checks.md"
BEGIN, END = "<!-- checks: written by `labs mutants` -->\n", "<!-- checks: end -->"
HEAD = (
    "| exercise | sentences | wrong answers | right answers | mutants | of them right "
    "| refused |\n|---|---|---|---|---|---|---|\n"
)


def build_table(write: bool = True) -> list[Path]:
    """Write the table between its two marks; `write` as in `kit.authoring.build.build`."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    numbers = [e.number for lab in all_labs() for e in todo_cells(lab)]
    rows = "".join(map(_row, numbers))
    return (
        [PAGE]
        if write_text(PAGE, f"{before}{BEGIN}{HEAD}{rows}{END}{after}", write)
        else []
    )


def score(exercise: str) -> float:
    """The part of an exercise's wrong mutants that its check refuses."""
    result = stored_mutants(exercise)
    wrong = result["mutants"] - len(right_mutants(exercise))
    return (result["mutants"] - len(result["passed"])) / wrong


def right_mutants(exercise: str) -> dict[str, str]:
    """The changes that leave the answer right, each with the reason."""
    passed = stored_mutants(exercise)["passed"]
    return {change: why for change, why in passed.items() if why}


def _row(exercise):
    answers, result = recorded_answers(exercise), stored_mutants(exercise)
    cells = [
        exercise,
        len(find_exercise(exercise).requirements),
        len(answers.WRONG),
        len(answers.RIGHT),
        result.get("mutants", "?"),
        len(right_mutants(exercise)),
        f"{100 * score(exercise):.0f}%" if result else "?",
    ]
    return f"| {' | '.join(map(str, cells))} |\n"
