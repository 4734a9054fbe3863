"""Run a notebook from top to bottom, and check that it really reached its end."""

import contextlib
import logging
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import nbformat

# xprof brings this client of Google's storage, and papermill would load it: a second or
# two before each lab. Nothing here reads from there. (None: as in kit/__init__.py.)
sys.modules.setdefault("gcsfs", None)  # ty: ignore[no-matching-overload]
import papermill
from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from papermill.engines import (
    NBClientEngine,
    NotebookExecutionManager,
    papermill_engines,
)
from papermill.exceptions import PapermillExecutionError

from helpers.errors import LabError, ParameterError
from helpers.files import (
    FULL,
    REPOSITORY,
    TEMPORARY,
    hold,
    why_not_writable,
    write_atomically,
)

# It says of a kernel that Ctrl-C has ended that it died. What goes wrong is raised, too.
logging.getLogger("papermill").setLevel(logging.CRITICAL)
# Else a kernel writes on the terminal: where it listens, and a traceback when interrupted.
KERNEL_ARGUMENTS = ["--log-level=CRITICAL"]
Result = TypeVar("Result")


def execute(
    notebook: Path, output: Path, parameters: dict | None = None, progress: bool = True
) -> nbformat.NotebookNode:
    """Execute a notebook with papermill.

    Parameters
    ----------
    notebook, output : Path
    parameters : dict, optional
    progress : bool
        Show a bar of the cells that are done, with the time left: on a terminal only.

    Returns
    -------
    nbformat.NotebookNode
        The executed notebook, as stored in `output`.

    Raises
    ------
    LabError
        One line, if a cell raised, the kernel died or some cells did not run.
    """
    # Papermill saves in place: a run killed meanwhile would leave half a file.
    running = output.with_name(f".{output.name}{TEMPORARY}.ipynb")
    if error := why_not_writable(output.parent):
        raise LabError(
            f"cannot write {output} ({error.strerror}): free some space there, or set "
            "LABS_REPORTS_DIR to a folder of yours."
        ) from error
    write_atomically(running, "")
    try:
        with open(running) as file:
            hold(file)
            _execute(notebook, running, parameters, progress)
    finally:
        if _is_whole(running):
            os.replace(running, output)
        running.unlink(missing_ok=True)
    executed = nbformat.read(output, as_version=4)
    executed, _ = CoalesceStreamsPreprocessor(enabled=True).preprocess(executed, {})
    with _full_disk_in_a_line(output):
        write_atomically(output, nbformat.writes(executed) + "\n")
    if skipped := cells_not_executed(executed):
        raise LabError(
            f"{notebook.name} ended early, though no cell failed: code cell {skipped[0]} "
            f"was never run. Its kernel died or was told to exit; see {output}."
        )
    return executed


def _is_whole(path):
    """Whether a file holds a notebook: one that a full disk has cut off does not."""
    try:
        nbformat.read(path, as_version=4)
    except (OSError, ValueError):
        return False
    return True


@contextlib.contextmanager
def _full_disk_in_a_line(output):
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        problem = f"no space left in {output.parent}"
        raise LabError(f"{problem}: free some, and run it again.") from error


class Engine(NBClientEngine):
    """Papermill's own, whose bar of cells also says what a cell trains at the moment."""

    NAME = "labs"

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, *arguments, **options
    ) -> None:
        with _training_beside(nb_man.pbar), _saved_at_the_end(nb_man):
            super().execute_managed_notebook(nb_man, kernel_name, *arguments, **options)


papermill_engines.register(Engine.NAME, Engine)


@contextlib.contextmanager
def _saved_at_the_end(nb_man):
    """Not before and after each cell: that takes seconds, and nobody reads such a file."""
    save, nb_man.save = nb_man.save, lambda: None
    try:
        yield
    finally:
        nb_man.save = save


@contextlib.contextmanager
def _training_beside(bar):
    """Show beside a bar what the kernel writes to a file: "epoch 2 of 5"."""
    if bar is None:
        yield
        return
    over = threading.Event()

    def look(path):
        last_text = ""
        while not over.wait(1.0):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                if (text := path.read_text(encoding="utf-8")) != last_text:
                    last_text = text
                    bar.set_postfix_str(text)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "under_way")
        os.environ["LABS_UNDER_WAY"] = str(path)  # for callbacks/live/under_way.py
        thread = threading.Thread(target=look, args=[path], daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            del os.environ["LABS_UNDER_WAY"]


def _execute(notebook, output, parameters, progress):
    # None: tqdm asks whether it writes to a terminal.
    bar = {"desc": notebook.stem, "leave": False, "disable": None, "dynamic_ncols": True}
    try:
        with _full_disk_in_a_line(output):
            papermill.execute_notebook(
                str(notebook),
                str(output),
                parameters=parameters or {},
                cwd=str(REPOSITORY),
                progress_bar=progress and bar,
                engine_name=Engine.NAME,
                extra_arguments=KERNEL_ARGUMENTS,
            )
    except PapermillExecutionError as error:
        kind = ParameterError if error.ename == "ParameterError" else LabError
        where = "" if kind is ParameterError else f"{error.ename} in {notebook.name}: "
        raise kind(f"{where}{error.evalue}") from error
    except DeadKernelError as error:
        raise LabError(
            f"the kernel of {notebook.name} died, perhaps because memory ran out: close "
            "other programs, or give smaller sizes, such as -p scale=smoke."
        ) from error
    except KeyboardInterrupt:
        # Of the cell that nobody waits for any more asyncio would print a traceback.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        raise
    except (NoSuchKernel, OSError, RuntimeError) as error:
        raise LabError(
            f"the kernel of {notebook.name} could not start ({_one_line(error)}): "
            "`labs doctor` says what is wrong."
        ) from error


def _one_line(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def cells_not_executed(notebook: nbformat.NotebookNode) -> list[int]:
    """Numbers (from 1) of code cells without an execution count.

    Papermill alone reports a dead kernel or a ``sys.exit()`` as a success.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        number
        for number, cell in enumerate(code, start=1)
        if cell.source.strip() and cell.get("execution_count") is None
    ]


def timed(function: Callable[..., Result], *arguments, **options) -> tuple[Result, float]:
    """Call a function and return its result and the wall seconds it took."""
    began = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - began


def environment(**variables) -> dict[str, str]:
    """This process's environment with some variables set."""
    return os.environ | {name: str(value) for name, value in variables.items()}
