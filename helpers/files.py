"""Where files go, and how to write them so that none is ever incomplete."""

import os
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def runs_folder():
    """Where run cards go: ``LABS_RUNS_DIR``, else ``runs/`` of the repository."""
    return Path(os.environ.get("LABS_RUNS_DIR") or REPOSITORY / "runs")


def write_atomically(path, text):
    """Write a text file under a temporary name, then rename it.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; then an older
        file of that name is unchanged.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
