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
    runs = {lab: _stored_run(lab) for lab in all_labs()}
    rows = "".join(_row(lab, run.get("minutes", "?")) for lab, run in runs.items())
    where = {f"at {run['scale']} scale, on {run['device']}" for run in runs.values() if run}
    minutes = f"Minutes of the stored solution, {'; or '.join(sorted(where))}."
    return f"| lab | the question | minutes to run |\n|---|---|---|\n{rows}\n{minutes}\n"


def _row(lab, minutes):
    question = title_and_question(lab)[0].partition(": ")[2]
    links = f"[{lab.name}](notebooks/{lab.notebook.name})"
    links += f" ([solved](solutions/{lab.solution.name}))"
    return f"| {links} | {question} | {minutes} |\n"


def _stored_run(lab):
    """Device, minutes and scale of the stored outputs; empty for a lab that has none."""
    try:
        solution = json.loads(lab.solution.read_text(encoding="utf-8"))
        return solution["metadata"]["labs"]
    except (OSError, KeyError):
        return {}
