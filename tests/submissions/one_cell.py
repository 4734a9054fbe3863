"""Grade one cell as `labs grade` does, in this process's own boxes."""

import functools

from kit.grading.box.allowlist import visible_files
from kit.grading.box.processes import prepare
from kit.grading.box.sandbox import Limits
from kit.grading.contracts import Job, Judged
from kit.grading.examine import examine
from kit.grading.grade import REPOSITORY
from kit.labs import find_lab
from kit.todo_cells import modules, reference_names, setup, todo_cells


def examined(
    number: str, cell: str, boxed: bool = False, limits: Limits | None = None
) -> Judged:
    """The verdict on a cell that answers an exercise."""
    job = _job(number) | {"code": [(number, cell)]}
    prepare(tuple(job["modules"]))
    return examine(job, limits or Limits(), b"a seed", "ada", boxed)


@functools.cache
def _job(number) -> Job:
    lab = find_lab(number.partition(".")[0].zfill(2))
    [answer] = [one.answer for one in todo_cells(lab) if one.number == number]
    return {
        "lab": lab.name, "exercise": number, "name": answer, "code": [],
        "setup": setup(lab), "references": reference_names(lab), "modules": modules(lab),
        "visible": [str(REPOSITORY / path) for path in visible_files(lab)],
    }  # fmt: skip
