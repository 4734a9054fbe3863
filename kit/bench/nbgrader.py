"""Install and run nbgrader, for the benchmark and for the test of our notebooks' metadata.

It is not a dependency: it would add its menus to every student's JupyterLab. So it is
installed under build/, without the packages that the kit has already.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY

FOLDER = REPOSITORY / "build" / "nbgrader"
PACKAGES = (
    "nbgrader==0.9.6", "alembic==1.20.1", "mako==1.4.3", "notebook==7.6.5",
    "rapidfuzz==3.14.6", "sqlalchemy==2.1.9",
)  # fmt: skip


def environment(**variables) -> dict[str, str]:
    """The environment that nbgrader runs in; installs nbgrader if it is missing.

    Returns
    -------
    dict
        Environment variables for `sys.executable`.

    Raises
    ------
    LabError
        If it cannot be installed.
    """
    if not (FOLDER / "nbgrader").exists():
        FOLDER.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER.parent) as fresh:
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            ended = subprocess.run(
                [*command, "--disable-pip-version-check", "--target", fresh, *PACKAGES],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if ended.returncode:
                reason = (ended.stderr.strip().splitlines() or ["pip failed"])[-1]
                raise LabError(f"nbgrader cannot be installed: {reason}")
            if not FOLDER.exists():  # another process may have been faster
                Path(fresh).rename(FOLDER)
                Path(fresh).mkdir()  # for the context to remove
    return os.environ | {
        "PYTHONPATH": f"{FOLDER}:{REPOSITORY}",
        # It calls alembic by name.
        "PATH": f"{FOLDER / 'bin'}:{os.environ['PATH']}",
        **{name: str(value) for name, value in variables.items()},
    }


def run(arguments: list[str], folder: Path, **variables) -> str:
    """Run an nbgrader command in a course's folder; raises LabError if it fails."""
    ended = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder, env=environment(**variables),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise LabError(f"nbgrader {arguments[0]} failed: {ended.stderr.strip()[-300:]}")
    return ended.stdout + ended.stderr
