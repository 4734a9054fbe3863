"""Execute the solutions, and store what they print for readers and for nbval."""

import os
import tempfile
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.plain_json import write_json
from helpers.run_card.documents import latest_cards
from kit.authoring.build import build, write_notebook
from kit.headless.execute import KERNEL_ARGUMENTS, timed
from kit.labs import Lab
from kit.long_cells import record_seconds


def store_outputs(lab: Lab, scale: str = "laptop") -> None:
    """Execute a solution at a scale and store its outputs in place.

    Raises
    ------
    LabError
        If a cell raised, a check failed, or the run was on synthetic data or at another
        scale; the stored notebook is then as it was.
    """
    build(lab)
    notebook = nbformat.read(lab.solution, as_version=4)
    cells = TextColumn("{task.completed}/{task.total} cells")
    with Progress(TextColumn(lab.name), BarColumn(), cells, TimeElapsedColumn()) as bar:
        task = bar.add_task(lab.name, total=len(notebook.cells))
        began, seconds_of = {}, {}

        def started(cell, cell_index):
            began[cell_index] = time.perf_counter()

        def ended(cell, cell_index, execute_reply):
            bar.update(task, completed=cell_index + 1)
            seconds_of[cell.source] = time.perf_counter() - began[cell_index]
            if card := latest_cards().get(lab.name):
                _refuse_synthetic_data(lab, card)  # not after ten minutes

        client = NotebookClient(
            notebook,
            timeout=None,
            record_timing=False,
            extra_arguments=KERNEL_ARGUMENTS,
            resources={"metadata": {"path": str(REPOSITORY)}},
            on_cell_start=started,
            on_cell_executed=ended,
        )
        # A new folder of run cards: the lab must not resume an interrupted run.
        with tempfile.TemporaryDirectory() as runs:
            os.environ |= {"LABS_SCALE": scale, "LABS_RUNS_DIR": runs}
            try:
                _, seconds = timed(client.execute)
            except CellExecutionError as error:
                raise LabError(f"{lab.name}: {error.ename}: {error.evalue}") from error
            except RuntimeError as error:  # nbclient's DeadKernelError
                raise LabError(f"{lab.name}: {error}") from error
            card = latest_cards()[lab.name]
    _refuse_other_runs(lab, card, scale)
    notebook, _ = CoalesceStreamsPreprocessor(enabled=True).preprocess(notebook, {})
    _name_the_usual_folder(notebook, runs)
    notebook.metadata = {
        "kernelspec": notebook.metadata["kernelspec"],
        "language_info": {"name": "python"},
        "labs": {
            "device": card["environment"]["device"]["name"],
            "minutes": round(seconds / 60, 1),
            "scale": scale,
        },
    }
    write_notebook(lab.solution, notebook)
    _store_run_card(lab, card)
    if scale == "laptop":
        record_seconds(lab, seconds_of)
        build(lab)


def _refuse_synthetic_data(lab, card):
    if card["measurements"].get("data_source") == "synthetic":
        raise LabError(
            f"{lab.name}: the outputs were not stored, because it runs on synthetic "
            "data: see `labs doctor`."
        )


def _refuse_other_runs(lab, card, scale):
    """What readers see, and nbval compares with, must be the lab as it is meant."""
    problems = {
        f"it ran at {card['parameters']['scale']} scale, not {scale}":
            card["parameters"]["scale"] != scale,
        "a check of its own solution failed":
            not all(check["passed"] for check in card["checks"].values()),
        "it did not reach its end": not card["finished"],
    }  # fmt: skip
    for problem, holds in problems.items():
        if holds:
            raise LabError(f"{lab.name}: the outputs were not stored, because {problem}.")


def _name_the_usual_folder(notebook, runs):
    """Show readers the usual folder of run cards, not the temporary one."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text" in output:
                output.text = output.text.replace(runs, "runs")
            data = output.get("data", {})  # a message: as text and as HTML
            for kind in data.keys() & {"text/plain", "text/html"}:
                data[kind] = data[kind].replace(runs, "runs")


def _store_run_card(lab, card):
    # Without what names this machine's processes and folders.
    parts = ("lab", "parameters", "environment", "measurements", "predictions")
    write_json(lab.stored_card, {name: card[name] for name in parts})
