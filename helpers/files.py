"""Where files go, and how to write them so that none is ever incomplete."""

import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).resolve().parents[1]
# The student's own notebooks, which git ignores: `labs lab` copies them from notebooks/.
WORK = REPOSITORY / "work"

# The end of the name of a file that is being written; .gitignore has it too.
TEMPORARY = ".labs-tmp"
LONGEST_PREFIX = 150  # bytes of a file's name in a temporary one; most systems take 255
FULL = (errno.ENOSPC, errno.EDQUOT)  # the error numbers of a full disk, and of a quota
LEAST_SPACE = 2**20  # bytes; less than most reports need


def runs_folder() -> Path:
    """Where run cards go: ``LABS_RUNS_DIR``, else ``runs/`` of the repository."""
    return Path(os.environ.get("LABS_RUNS_DIR") or REPOSITORY / "runs")


def reports_folder() -> Path:
    """Where `labs` writes to: ``LABS_REPORTS_DIR``, else ``reports/`` of the repository."""
    return Path(os.environ.get("LABS_REPORTS_DIR") or REPOSITORY / "reports")


def write_atomically(path: Path, text: str | bytes, mode: int = 0o644) -> None:
    """Write a file under a temporary name, then rename it.

    Parameters
    ----------
    path : Path
    text : str or bytes
    mode : int
        Who may read and write it, as `os.chmod` takes it.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; then an older
        file of that name is unchanged.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file, temporary = _new_temporary(path)
    try:
        with file:
            file.write(text if isinstance(text, bytes) else text.encode(errors="replace"))
            file.flush()
            os.fsync(file.fileno())
            os.chmod(temporary, mode)  # mkstemp makes it private
            os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):  # a full disk names no file
            error.filename, error.filename2 = str(path), None
        raise


def _new_temporary(path):
    """An open file and its name; until it is closed, `sweep` leaves it alone."""
    prefix = f".{cut_to_bytes(path.name, LONGEST_PREFIX)}."
    while True:
        descriptor, name = tempfile.mkstemp(
            dir=path.parent, prefix=prefix, suffix=TEMPORARY
        )
        file = os.fdopen(descriptor, "wb")
        hold(file)
        # Another process may have swept it away just before it was held.
        if os.path.lexists(name):
            return file, name
        file.close()


def cut_to_bytes(name: str, most: int, keep_end: bool = False) -> str:
    """A file's name that has at most so many bytes: file systems count these.

    Parameters
    ----------
    name : str
    most : int
    keep_end : bool
        True: leave out its beginning instead of its end.

    Returns
    -------
    str
        Whole characters.
    """
    content = os.fsencode(name)
    part = content[-most:] if keep_end else content[:most]
    return name if len(content) <= most else part.decode("utf-8", "ignore")


def hold(file: IO) -> None:
    """Mark a temporary file as being written, until it is closed or the process ends."""
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def only_one(folder: Path) -> Generator[None]:
    """Wait until no other process is in here; the lock ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sweep(folder: Path) -> None:
    """Delete what killed processes left of files that they were writing.

    Parameters
    ----------
    folder : Path
        Only its own files; a folder that does not exist has none.
    """
    for path in folder.glob(f".*{TEMPORARY}*"):
        # Locked by who writes it, or deleted by another process, or not ours.
        with contextlib.suppress(OSError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def why_not_writable(folder: Path | str) -> OSError | None:
    """Try to write a file of a MiB to a folder, which is made if need be.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    OSError or None
        What the file system answered, where it refused.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(LEAST_SPACE))
    except OSError as error:
        return error
    return None
