"""Execute labs headless, and report what their run cards say."""

import contextlib
import os
import time

from rich.console import Console
from rich.table import Table
from rich.text import Text

from helpers import plain_json
from helpers.data.places import own_folder
from helpers.errors import LabError
from helpers.files import reports_folder, runs_folder
from helpers.machine import other_load
from helpers.notebook.notebooks import labs_in, students_folder, which_one
from helpers.run_card.documents import cards_of
from helpers.run_card.units import in_units
from kit.headless.execute import execute, timed
from kit.headless.given_parameters import check_folder
from kit.headless.report import HEADINGS, shown, summary, write_report
from kit.labs import Lab

REPORTS = reports_folder()
OWN_FOLDERS = "set LABS_RUNS_DIR and LABS_REPORTS_DIR to folders of yours"


def run(
    labs: list[Lab], parameters: list[dict], solved: bool = True, as_json: bool = False
) -> bool:
    """Execute labs one after another; print a table and write reports/index.html.

    Notebooks and pages go to a folder of this run: two runs at once share nothing but
    the index, which shows the one that ended last.

    Parameters
    ----------
    labs : list of kit.labs.Lab
    parameters : list of dict
        For papermill, by lab.
    solved : bool
        Run the solutions, where there are any; False: the student's notebooks.
    as_json : bool
        Print the results as JSON, and all else to the standard error.

    Returns
    -------
    bool
        Whether every lab ran to its end.

    Raises
    ------
    KeyboardInterrupt
        After the report of the labs that had ended is written; with the labs that are left.
    """
    console = Console(stderr=as_json)
    for folder, what in ((runs_folder(), "run cards"), (REPORTS, "reports")):
        check_folder(folder, what, OWN_FOLDERS)
    own_folder()  # now, and not in each lab
    name = f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
    os.environ["LABS_RUN"] = name  # for the run cards
    results = []
    try:
        for lab, given in zip(labs, parameters, strict=True):
            results.append(_run_one(lab, given, solved, name))
            style = "red" if results[-1]["error"] else None
            console.print(_ended(results[-1]), style=style, highlight=False)
    except KeyboardInterrupt:
        left = labs[len(results) :]
        with contextlib.suppress(KeyboardInterrupt):  # a second one
            if results:
                _show(results, name, console, left)
        raise KeyboardInterrupt(" ".join(lab.number for lab in left)) from None
    _show(results, name, console)
    if as_json:
        print(plain_json.as_json([_in_short(result) for result in results]))
    return not any(result["error"] for result in results)


def _run_one(lab, given, solved, name):
    """A lab's part of the results, with the card of the run `name`."""
    is_solution = solved and lab.solution.exists()  # a hand-out has none
    error, seconds = timed(_try_to_run, lab, given, is_solution, REPORTS / name)
    # A new card, or that of an interrupted run which this one has continued.
    cards = [card for card in cards_of(lab.name) if card["run"] == name]
    card = cards[-1] if cards else None
    if is_solution and card and not error:
        failed = [name for name, c in card["checks"].items() if not c["passed"]]
        error = failed and f"{lab.name}: its own check fails: {', '.join(failed)}"
    return {"lab": lab, "given": given, "card": card, "seconds": seconds, "error": error}


def _show(results, name, console, left=()):
    """Print the table of a run and all remarks on it, and write its report."""
    table, shared = _table(results)
    console.print(table)
    for line in shared:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for result in results:
        if result["error"]:
            console.print(
                result["error"], style="red", markup=False, highlight=False, soft_wrap=True
            )
        for line in filter(None, (_busy(result), _without_data(result))):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    page = write_report(results, REPORTS, name, left)
    console.print(f"Report: {shown(page)}", highlight=False, soft_wrap=True)


def _busy(result):
    """A line about other programs that may have spoiled the run, or nothing."""
    load_line = other_load.report(result["card"] or {})
    return f"{result['lab'].name}: {load_line}" if load_line else ""


def _without_data(result):
    """A line about a lab that had no data set, or nothing."""
    measured = (result["card"] or {}).get("measurements", {})
    if measured.get("data_source") != "synthetic":
        return ""
    return (
        f"{result['lab'].name}: its data are synthetic, because there was no data set: "
        "`labs data fetch` downloads it."
    )


def _ended(result):
    """A lab in a line: what follows a lab's bar, and all that a file gets to see."""
    checks = (result["card"] or {}).get("checks", {}).values()
    passed = sum(check["passed"] for check in checks)
    verdict = "failed" if result["error"] else f"{passed} of {len(checks)} checks passed"
    return f"{result['lab'].name}: {in_units('seconds', result['seconds'])}, {verdict}"


def _in_short(result):
    card = result["card"] or {}
    return {
        "lab": result["lab"].name,
        "seconds": result["seconds"],
        "error": result["error"] or None,
        **{name: card.get(name, {}) for name in ("parameters", "checks", "measurements")},
    }


def _try_to_run(lab, parameters, solved, folder):
    student_copy = labs_in(students_folder()).get(lab.name)
    if student_copy and student_copy.rivals and not solved:
        return which_one(lab.name, student_copy)
    notebook = (
        lab.solution if solved else student_copy.path if student_copy else lab.notebook
    )
    os.environ["LABS_NOTEBOOK"] = str(notebook)  # for the run card
    try:
        execute(notebook, folder / f"{lab.name}.ipynb", parameters)
    except LabError as error:
        return str(error).partition("\n")[0]
    return None


def _table(results):
    """The table, without columns that say nothing; and what all rows share, in lines."""
    columns = dict(zip(HEADINGS, zip(*map(summary, results), strict=True), strict=True))
    shared = []
    for name in ("device", "given"):
        values = set(columns[name]) - {"-"}
        if len(values) == 1:
            shared.append(f"{name.capitalize()}: {values.pop()}")
            del columns[name]
    columns = {name: cells for name, cells in columns.items() if set(cells) != {"-"}}
    table = Table()
    for heading in columns:
        justify = "right" if heading in HEADINGS[4:] else "left"
        is_name = heading == HEADINGS[0]
        table.add_column(heading, justify=justify, no_wrap=is_name, overflow="fold")
    for result, cells in zip(results, zip(*columns.values(), strict=True), strict=True):
        table.add_row(*map(Text, cells), style="red" if result["error"] else None)
    return table, shared
