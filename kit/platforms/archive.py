"""Take notebooks out of a zip archive that strangers have filled."""

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError

MIB = 2**20
MOST_FILES = 50_000
MOST_FILES_OF_A_STUDENT = 1_000
NOT_UNPACKED = "not unpacked"
PACKED = f"an archive, {NOT_UNPACKED}"
ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")
MOST_MIB_OF_A_FILE, MOST_MIB = 20, 4096
NO_DATE = (1980, 1, 1)  # the first that a zip can have, and what it has without one


class Entry(NamedTuple):
    """A file in a zip archive."""

    parts: list[
        str
    ]  # of its path; the name of a student's own zip is before its notebook's
    content: bytes | None  # of a notebook
    problem: str  # why there is none
    date: str  # empty where the archive has none; without a time zone


def notebooks(path: Path) -> Iterator[Entry]:
    """Yield what is in a zip archive of submissions.

    A student's own zip in it counts as its notebook, if it has exactly one. Nothing is
    written, so no name can lead anywhere; sizes are counted as they are
    unpacked, whatever the archive says.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Entry

    Raises
    ------
    LabError
        If it is no zip archive, or larger than any class.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES:
                raise LabError(f"{path}: more than {MOST_FILES:,} files.")
            left = MOST_MIB * MIB
            for entry in entries:
                parts = [part for part in re.split(r"[/\\]", entry.filename) if part]
                if entry.is_dir() or not parts or _is_rubbish(parts):
                    continue
                content, problem = _content(archive, entry, parts[-1])
                if content is not None and parts[-1].lower().endswith(".zip"):
                    name, content, problem = _only_notebook(content)
                    parts[-1] = f"{parts[-1][:-4]}_{name}" if name else parts[-1]
                left -= len(content or b"")
                if left < 0:
                    raise LabError(f"{path}: more than {MOST_MIB} MB of notebooks.")
                yield Entry(parts, content, problem, _date(entry.date_time))
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, OSError) as error:
        raise LabError(f"{path} is not a zip archive that can be read: {error}.") from error


def _only_notebook(content):
    """The name and the content of the notebook in a student's own zip, and why not."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES_OF_A_STUDENT:
                many = f"more than {MOST_FILES_OF_A_STUDENT:,} files"
                return "", None, f"an archive with {many}, {NOT_UNPACKED}"
            paths = {one: re.split(r"[/\\]", one.filename) for one in entries}
            found = [
                one
                for one, parts in paths.items()
                if parts[-1].lower().endswith(".ipynb") and not _is_rubbish(parts)
            ]
            if len(found) != 1:
                many = f"{len(found)} notebooks, {NOT_UNPACKED}"
                problem = f"with {many}" if found else "without a notebook"
                return "", None, f"an archive {problem}"
            name = paths[found[0]][-1]
            notebook, problem = _content(archive, found[0], name)
            return name, notebook, problem and f"{problem} (in the student's own archive)"
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return "", None, f"an archive that cannot be read, {NOT_UNPACKED}"


def _date(given):
    if given[:3] <= NO_DATE:
        return ""
    return "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*given)


def _is_rubbish(parts):
    return "__MACOSX" in parts or parts[-1].startswith(".") or ".ipynb_checkpoints" in parts


def _content(archive, entry, name):
    if name.lower().endswith(ARCHIVES) and not name.lower().endswith(".zip"):
        return None, PACKED
    if not name.lower().endswith((".ipynb", ".zip")):
        return None, "not a notebook"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return None, "a symbolic link"
    try:
        with archive.open(entry) as file:
            content = file.read(MOST_MIB_OF_A_FILE * MIB + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError):
        return None, "damaged, or encrypted"
    if len(content) > MOST_MIB_OF_A_FILE * MIB:
        size = max(entry.file_size, len(content)) / MIB
        return None, f"{size:.0f} MB, more than {MOST_MIB_OF_A_FILE}: clear its outputs"
    return content, ""
