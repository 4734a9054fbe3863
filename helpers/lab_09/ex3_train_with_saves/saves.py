"""Saves, for the notebook's probe and a grader's: no TensorFlow in here.

Files travel between a life in a box and the grader as plain JSON.
"""

import base64
import re
from pathlib import Path, PurePosixPath

MOST_STEPS = 300  # of one life
ON_AND_ON = "it trains on and on"
MOST_BYTES = 2**17  # of all files together
MOST_FILES = 100
PIECE = 2000  # characters: no longer text comes out of a box


def half_a_save(names: list[str]) -> dict[str, bytes]:
    """The next save after those with these index files, as a kill leaves it; by name."""
    numbered = [re.fullmatch(r"(.*?)(\d+)\.index", name) for name in names]
    numbered = [(int(name[2]), name[1]) for name in numbered if name]
    if not numbered:
        return {}
    number, name = max(numbered)
    halves = f"{name}{number + 1}.index", f"{name}{number + 1}.data-00000-of-00001"
    return {half: b"half of " + half.encode() for half in halves}


def packed(files: dict[str, bytes]) -> dict:
    """Files by their path in the folder, as plain JSON."""
    return {path: _pieces(content) for path, content in files.items()}


def _pieces(content):
    text = base64.b64encode(content).decode()
    return [text[place : place + PIECE] for place in range(0, len(text), PIECE)]


def unpacked(message: dict) -> dict[str, bytes]:
    """Files from what `packed` returned, which a stranger may have written.

    Raises
    ------
    ValueError, TypeError, AttributeError
        If it is nothing that `packed` returns, or too much.
    """
    files = {
        path: base64.b64decode("".join(pieces), validate=True)
        for path, pieces in message.items()
    }
    if not _are_few(files) or not all(map(_is_inside, files)):
        raise ValueError("no files of a folder")
    return files


def _is_inside(path):
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and "/" not in parts and "\0" not in path


def _are_few(files):
    return len(files) <= MOST_FILES and sum(map(len, files.values())) <= MOST_BYTES


def read(folder: Path) -> dict[str, bytes]:
    """The regular files in a folder, by their path in it.

    Raises
    ------
    ValueError
        If they are more than a grader takes.
    """
    files = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.is_symlink()
    }
    if not _are_few(files):
        size = sum(map(len, files.values()))
        raise ValueError(
            f"{len(files)} files with {size} bytes are in the folder: more than "
            f"{MOST_FILES}, or more than {MOST_BYTES} bytes"
        )
    return files


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder; without any there is no folder either."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
