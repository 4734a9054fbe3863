"""Read the grades that `labs grade` has written into a folder."""

import json
from pathlib import Path
from typing import Any

from helpers.errors import LabError
from helpers.plain_json import storable

NAME = "grades.json"
MOST_FOLDERS = 3  # in a message


def read_grades(out: Path) -> dict[str, Any]:
    """`grades.json` of a folder of grades.

    Parameters
    ----------
    out : Path

    Returns
    -------
    dict
        `results`, `unassigned`, `kit`, and `decisions`: digests of the instructor's files.

    Raises
    ------
    LabError
        If nothing was graded into the folder; it names those below it that have grades.
    """
    try:
        return storable(json.loads((out / NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        below = [str(path.parent) for path in sorted(out.glob(f"*/{NAME}"))]
        meant = f"did you mean --out {' or '.join(below[:MOST_FOLDERS])}?"
        advice = meant if below else "`labs grade` first, with the same --out."
        raise LabError(f"{out} has no grades yet: {advice}") from error
