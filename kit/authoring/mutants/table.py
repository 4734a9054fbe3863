"""The table of docs/checks.md: how well each check tells right from wrong."""

from helpers.checks.exercise import exercise_record, part
from helpers.files import REPOSITORY
from kit.authoring.build import write_text
from kit.authoring.mutants.ask import stored_result
from kit.exercises import exercises
from kit.labs import all_labs

PAGE = REPOSITORY / "docs/checks.md"
BEGIN, END = "<!-- checks: written by `labs mutants` -->\n", "<!-- checks: end -->"
HEAD = (
    "| exercise | sentences | wrong answers | right answers | mutants | of them right "
    "| refused |\n|---|---|---|---|---|---|---|\n"
)


def build_table(write=True):
    """Write the table between its two marks; `write` as in `kit.authoring.build.build`."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    numbers = [e.number for lab in all_labs() for e in exercises(lab)]
    rows = "".join(map(_row, numbers))
    return (
        [PAGE]
        if write_text(PAGE, f"{before}{BEGIN}{HEAD}{rows}{END}{after}", write)
        else []
    )


def score(exercise):
    """The part of an exercise's wrong mutants that its check refuses."""
    result = stored_result(exercise)
    wrong = result["mutants"] - len(right_mutants(exercise))
    return (result["mutants"] - len(result["passed"])) / wrong


def right_mutants(exercise):
    """The changes that leave the answer right, each with the reason."""
    return part("answers", exercise).RIGHT_MUTANTS[exercise]


def _row(exercise):
    answers, result = part("answers", exercise), stored_result(exercise)
    cells = [
        exercise,
        len(exercise_record(exercise).requirements),
        len(answers.WRONG[exercise]),
        len(answers.RIGHT[exercise]),
        result.get("mutants", "?"),
        len(right_mutants(exercise)),
        f"{100 * score(exercise):.0f}%" if result else "?",
    ]
    return f"| {' | '.join(map(str, cells))} |\n"
