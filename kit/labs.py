"""Which labs there are, and where their files are.

A hand-out for students (`labs release`) has no sources: there the notebooks say it.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import REPOSITORY


class Lab(NamedTuple):
    """One lab and where its files are."""

    name: str

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def source(self) -> Path:
        return REPOSITORY / "labs" / f"{self.name}.py"

    @property
    def notebook(self) -> Path:
        return REPOSITORY / "notebooks" / f"{self.name}.ipynb"

    @property
    def readable(self) -> Path:
        """The solution; in a hand-out, which has none, the student's notebook."""
        return self.solution if self.solution.exists() else self.notebook

    @property
    def solution(self) -> Path:
        return REPOSITORY / "solutions" / f"{self.name}.ipynb"

    @property
    def stored_card(self) -> Path:
        """The run card of the solution's stored outputs, for figures about them."""
        return REPOSITORY / "docs" / "run_cards" / f"{self.name}.json"

    @property
    def folder(self) -> Path:
        """The folder of this lab alone."""
        return REPOSITORY / "helpers" / f"lab_{self.number}"

    @property
    def reference(self) -> Path:
        return self.folder / "reference.py"


def all_labs() -> list[Lab]:
    """Every lab that has a source, or in a hand-out a notebook, in order."""
    sources = sorted((REPOSITORY / "labs").glob("[0-9][0-9]_*.py"))
    if not sources:
        notebooks = sorted((REPOSITORY / "notebooks").glob("[0-9][0-9]_*.ipynb"))
        sources = [path for path in notebooks if ".kept-" not in path.name]
    return [Lab(path.stem) for path in sources]


def find_lab(name: str) -> Lab:
    """The lab of a number or name: "2", "02" or "02_throughput".

    Raises
    ------
    LabError
        If there is no such lab; names the labs that there are.
    """
    for lab in all_labs():
        if name in (lab.name, lab.number, lab.number.lstrip("0") or "0"):
            return lab
    known = ", ".join(lab.name for lab in all_labs())
    raise LabError(f"there is no lab {name!r}; there are {known}.")


def title_and_question(lab: Lab) -> tuple[str, str]:
    """The lab's heading, and the first paragraph under it."""
    text = _source(lab)
    title = re.search(r"^# # (.+)$", text, re.MULTILINE)
    paragraph = re.search(r"^# # .+\n#\n((?:# .+\n)+)", text, re.MULTILINE)
    assert title and paragraph
    return title[1], " ".join(paragraph[1].replace("# ", "").split())


def _source(lab):
    """The source's text, or in a hand-out its prose in the same form."""
    if lab.source.exists():
        return lab.source.read_text(encoding="utf-8")
    cells = json.loads(lab.notebook.read_text(encoding="utf-8"))["cells"]
    prose = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    lines = "\n\n".join(prose).splitlines()
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
