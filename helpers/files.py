"""Where files go, and how to write them so that none is ever incomplete."""

import contextlib
import os
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

# The end of the name of a file that is being written; .gitignore has it too.
TEMPORARY = ".labs-tmp"
WRITING_SECONDS = 60  # no file takes longer


def runs_folder():
    """Where run cards go: ``LABS_RUNS_DIR``, else ``runs/`` of the repository."""
    return Path(os.environ.get("LABS_RUNS_DIR") or REPOSITORY / "runs")


def write_atomically(path, text):
    """Write a file under a temporary name, then rename it.

    Parameters
    ----------
    path : Path
    text : str or bytes

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; then an older
        file of that name is unchanged.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=TEMPORARY
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sweep(folder):
    """Delete what killed processes left of files that they were writing.

    Parameters
    ----------
    folder : Path
        Only its own files; a folder that does not exist has none.
    """
    for path in folder.glob(f".*{TEMPORARY}*"):
        with contextlib.suppress(OSError):  # another process may delete it as well
            if time.time() - path.stat().st_mtime > WRITING_SECONDS:
                path.unlink()
