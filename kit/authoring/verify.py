"""Verify that every solution still prints what its stored outputs say."""

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import nbformat

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.headless.execute import cells_not_executed, environment

CELL_SECONDS = 600


def verify(notebooks: list[Path], scale: str = "smoke") -> bool:
    """Run nbval over solutions: compare verdicts exactly, measured lines by their form.

    Parameters
    ----------
    notebooks : list of Path
    scale : str
        The scale of this run; the stored outputs come from `laptop`.

    Returns
    -------
    bool
        Whether all agree. nbval prints what does not.

    Raises
    ------
    LabError
        If a code cell has no stored run: nbval would let it pass.
    """
    for path in notebooks:
        if missing := cells_not_executed(nbformat.read(path, as_version=4)):
            raise LabError(
                f"{path.name}: code cell {missing[0]} has no stored output; "
                f"run `labs outputs {path.name[:2]}`."
            )
    disagreeing = [path for path in notebooks if disagreeing_cells(path, scale)]
    return not disagreeing


def disagreeing_cells(path: Path, scale: str = "smoke") -> list[int]:
    """Run nbval over one notebook.

    Parameters
    ----------
    path : Path
        Its name begins with the number of its lab.
    scale : str

    Returns
    -------
    list of int
        The code cells, counted from 0, that print something else than is stored.
        nbval prints the difference.
    """
    with tempfile.TemporaryDirectory() as folder:
        rules, junit_report = Path(folder, "nbval.cfg"), Path(folder, "report.xml")
        rules.write_text(rules_for(path.stem), encoding="utf-8")
        subprocess.run(
            [
                sys.executable, "-m", "pytest", "--nbval",
                "-p", "kit.authoring.nbval_plugin", "-p", "no:cacheprovider", "-q",
                "--color=no", "-rf",
                "--nbval-sanitize-with", str(rules),
                "--nbval-cell-timeout", str(CELL_SECONDS), "--junitxml", str(junit_report),
                "--rootdir", str(REPOSITORY), str(path),
            ],
            env=environment(LABS_SCALE=scale, LABS_RUNS_DIR=folder),
            cwd=REPOSITORY,
            check=False,
        )  # fmt: skip
        if not junit_report.exists():
            raise LabError(f"nbval did not run over {path.name}: see above.")
        cells = ElementTree.parse(junit_report).iter("testcase")
        return [n for n, cell in enumerate(cells) if cell.find("failure") is not None
                or cell.find("error") is not None]  # fmt: skip


def rules_for(name: str) -> str:
    """The text of nbval's rules for a notebook: its lab's own, then those of all labs."""
    paths = [
        *(REPOSITORY / "helpers").glob(f"lab_{name[:2]}/nbval.cfg"),
        Path(__file__).with_name("nbval.cfg"),
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
