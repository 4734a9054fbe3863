"""Execute labs headless, and report what their run cards say."""

import os
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from helpers.errors import LabError
from helpers.files import REPOSITORY, runs_folder
from helpers.records import read_card
from kit.execute import execute, timed
from kit.report import HEADINGS, summary, write_report

REPORTS = Path(os.environ.get("LABS_REPORTS_DIR") or REPOSITORY / "reports")


def run(labs, parameters, solved=True):
    """Execute labs one after another; print a table and write reports/index.html.

    Parameters
    ----------
    labs : list of kit.labs.Lab
    parameters : list of dict
        For papermill, by lab.
    solved : bool
        Run the solutions; False: the notebooks as students get them.

    Returns
    -------
    bool
        Whether every lab ran to its end.
    """
    console = Console()
    results = []
    for lab, given in zip(labs, parameters, strict=True):
        console.print(f"Running {lab.name} ...")
        began = time.time()
        error, seconds = timed(_try_to_run, lab, given, solved)
        # Also the card of an interrupted run that was resumed.
        written = [path for path in _cards(lab) if path.stat().st_mtime >= began]
        card = read_card(max(written)) if written else None
        if solved and card and not error:
            failed = [name for name, c in card["checks"].items() if not c["passed"]]
            error = failed and f"{lab.name}: its own check fails: {', '.join(failed)}"
        results.append({"lab": lab, "card": card, "seconds": seconds, "error": error})
    console.print(_table(results))
    for result in results:
        if result["error"]:
            console.print(
                result["error"], style="red", markup=False, highlight=False, soft_wrap=True
            )
    page = write_report(results, REPORTS)
    console.print(f"Report: {os.path.relpath(page)}", highlight=False)
    return not any(result["error"] for result in results)


def _try_to_run(lab, parameters, solved):
    notebook = lab.solution if solved else lab.notebook
    os.environ["LABS_NOTEBOOK"] = str(notebook)  # for the run card
    try:
        execute(notebook, REPORTS / f"{lab.name}.ipynb", parameters)
    except LabError as error:
        return str(error).partition("\n")[0]
    return None


def _cards(lab):
    return (runs_folder() / lab.name).glob("*.json")


def _table(results):
    table = Table()
    for heading in HEADINGS:
        right = heading in HEADINGS[3:]
        table.add_column(heading, justify="right" if right else "left")
    for result in results:
        table.add_row(*summary(result), style="red" if result["error"] else None)
    return table
