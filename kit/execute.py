"""Run a notebook from top to bottom, and check that it really reached its end."""

import os
import time

import nbformat
import papermill
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from papermill.exceptions import PapermillExecutionError

from helpers.errors import LabError, ParameterError
from helpers.files import REPOSITORY

# Without this every kernel prints on the terminal that it listens on localhost.
KERNEL_ARGUMENTS = ["--log-level=ERROR"]


def execute(notebook, output, parameters=None, progress=True):
    """Execute a notebook with papermill.

    Parameters
    ----------
    notebook, output : Path
    parameters : dict, optional
    progress : bool
        Show papermill's bar of cells.

    Returns
    -------
    nbformat.NotebookNode
        The executed notebook, as stored in `output`.

    Raises
    ------
    LabError
        One line, if a cell raised, the kernel died or some cells did not run.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        papermill.execute_notebook(
            str(notebook),
            str(output),
            parameters=parameters or {},
            cwd=str(REPOSITORY),
            progress_bar=progress,
            extra_arguments=KERNEL_ARGUMENTS,
        )
    except PapermillExecutionError as error:
        kind = ParameterError if error.ename == "ParameterError" else LabError
        where = "" if kind is ParameterError else f"{error.ename} in {notebook.name}: "
        raise kind(f"{where}{error.evalue}") from error
    except OSError as error:
        raise LabError(f"cannot write {output} ({error.strerror}).") from error
    except RuntimeError as error:  # nbclient's DeadKernelError
        raise LabError(f"{notebook.name}: {error}") from error
    executed = nbformat.read(output, as_version=4)
    executed, _ = CoalesceStreamsPreprocessor(enabled=True).preprocess(executed, {})
    nbformat.write(executed, output)
    if skipped := cells_not_executed(executed):
        raise LabError(
            f"{notebook.name} ended early, though no cell failed: code cell {skipped[0]} "
            f"was never run. Its kernel died or was told to exit; see {output}."
        )
    return executed


def cells_not_executed(notebook):
    """Numbers (from 1) of code cells without an execution count.

    Papermill alone reports a dead kernel or a ``sys.exit()`` as a success.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        number
        for number, cell in enumerate(code, start=1)
        if cell.source.strip() and cell.get("execution_count") is None
    ]


def timed(function, *arguments, **options):
    """Call a function and return its result and the wall seconds it took."""
    began = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - began


def environment(**variables):
    """This process's environment with some variables set."""
    return os.environ | {name: str(value) for name, value in variables.items()}
