"""Verify that every solution still prints what its stored outputs say."""

import subprocess
import sys
import tempfile

import nbformat

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.execute import cells_not_executed, environment

CELL_SECONDS = 600


def verify(notebooks, scale="smoke"):
    """Run nbval over solutions: verdicts to the letter, measured lines in shape.

    Parameters
    ----------
    notebooks : list of Path
    scale : str
        What they are run at; their stored outputs come from `laptop`.

    Returns
    -------
    bool
        Whether all agree. What does not is printed.

    Raises
    ------
    LabError
        If a notebook has a cell without a stored run: nbval would pass it.
    """
    for path in notebooks:
        if missing := cells_not_executed(nbformat.read(path, as_version=4)):
            raise LabError(
                f"{path.name}: code cell {missing[0]} has no stored output; "
                f"run `labs outputs {path.name[:2]}`."
            )
    with tempfile.TemporaryDirectory() as runs:
        return not subprocess.run(
            [
                sys.executable, "-m", "pytest", "--nbval", "-p", "kit.nbval_plugin",
                "-p", "no:cacheprovider", "-q", "--color=no", "-rf",
                "--nbval-sanitize-with", str(REPOSITORY / "kit" / "nbval.cfg"),
                "--nbval-cell-timeout", str(CELL_SECONDS),
                "--rootdir", str(REPOSITORY), *map(str, notebooks),
            ],
            env=environment(LABS_SCALE=scale, LABS_RUNS_DIR=runs),
            cwd=REPOSITORY,
            check=False,
        ).returncode  # fmt: skip
