"""The README's table of the labs, written from the labs and their stored runs."""

import json

from helpers.files import REPOSITORY
from kit.build import write_text
from kit.labs import all_labs, title_and_question

README = REPOSITORY / "README.md"
BEGIN, END = "<!-- labs: written by `labs build` -->\n", "<!-- labs: end -->"


def build_readme(write=True):
    """Write the table between its two marks; `write` as in `kit.build.build`."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}{_table()}{END}{after}"
    return [README] if rest and write_text(README, new, write) else []


def _table():
    rows = "".join(map(_row, all_labs()))
    return f"| lab | the question | minutes to run |\n|---|---|---|\n{rows}"


def _row(lab):
    question = title_and_question(lab)[0].partition(": ")[2]
    links = f"[{lab.name}](notebooks/{lab.notebook.name})"
    links += f" ([solved](solutions/{lab.solution.name}))"
    return f"| {links} | {question} | {_minutes(lab)} |\n"


def _minutes(lab):
    """The minutes of the stored run; `?` for a lab that has none."""
    try:
        metadata = json.loads(lab.solution.read_text(encoding="utf-8"))["metadata"]
        return f"{metadata['labs']['minutes']:g}"
    except (OSError, KeyError):
        return "?"
