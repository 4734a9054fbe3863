"""Read the run cards that a class has handed in; say which are left out, and why.

A card comes from a stranger. Nothing of it is used before its size, its types and its
numbers have been checked, and whatever is left out is listed with its reason.
"""

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from helpers.errors import LabError
from helpers.plain_json import NOT_STORABLE
from helpers.run_card.documents import KEYS, NAME
from helpers.run_card.predictions import LARGEST
from kit.grading.submissions import shown_name
from kit.labs import all_labs
from kit.platforms import canvas, moodle

RING = "class_ring"
MOST_BYTES = 2**21  # of a file; the largest that is stored with the solutions has 60 kB
MOST_FILES, MOST_FILES_OF_A_ZIP = 20_000, 1_000
MOST_DEPTH, MOST_VALUES, MOST_ENTRIES, MOST_LETTERS = 12, 200_000, 20_000, 2_000
OF_A_LAB = re.compile(r"_\d\d(_|$)")  # ends the student's name in "bob_02_throughput.json"
DAMAGED = RuntimeError, NotImplementedError, EOFError, zlib.error, zipfile.BadZipFile
LATEST = 1e11  # seconds since 1970
TIMES = ("started_unix_seconds", "wall_seconds")


class Card(NamedTuple):
    """A run card that is used, and who handed it in."""

    person: str  # as the folder or file is called
    content: dict[str, Any]


class LeftOut(NamedTuple):
    """A file that is not used."""

    person: str
    path: Path
    reason: str


class NotACard(Exception):  # noqa: N818 - it is no error
    """Why a file is not used, in a few words."""


def read_class(folders: Iterable[Path]) -> tuple[list[Card], list[LeftOut]]:
    """Read what a class has handed in.

    Parameters
    ----------
    folders : iterable of Path
        Folders with a folder or a file for each student, folders of one student, or
        single files. A zip archive counts as the run cards in it.

    Returns
    -------
    cards : list of Card
        The oldest first.
    left_out : list of LeftOut
        All other files, but not those whose name begins with a dot.

    Raises
    ------
    LabError
        If a folder does not exist, or has far too many files.
    """
    found, left_out = [], []
    for person, file in _files(folders):
        for path, text in _texts(file):
            try:
                if isinstance(text, NotACard):
                    raise text
                found.append((person, path, parse(text)))
            except NotACard as reason:
                left_out.append(LeftOut(person, path, str(reason)))
    # Of two copies of a run the one that ran for longer.
    found.sort(key=lambda one: -one[2]["wall_seconds"])
    cards: dict[str, Card] = {}
    for person, path, content in found:
        first = cards.setdefault(_run_of(content), Card(person, content))
        if first.content is not content:
            who = "this student" if first.person == person else "another student"
            reason = f"{who} has handed in the same run"
            left_out.append(LeftOut(person, path, reason))
    in_time = sorted(cards.values(), key=lambda c: c.content["started_unix_seconds"])
    return in_time, left_out


def _files(folders):
    found = []
    for folder in folders:
        if folder.is_file():
            found.append((_person_of(folder, folder.parent), folder))
            continue
        if not folder.is_dir():
            raise LabError(
                f"{folder} is no folder and no file: give what students hand in."
            )
        for parent, names, files in os.walk(folder):  # it follows no links
            names[:] = sorted(name for name in names if not name.startswith("."))
            for name in sorted(files):
                if not name.startswith("."):
                    path = Path(parent, name)
                    found.append((_person_of(path, folder), path))
            if len(found) > MOST_FILES:
                raise LabError(
                    f"{folder} has over {MOST_FILES} files: is it the right one?"
                )
    return found


def _person_of(path, folder):
    """The student of a file: the name of its folder, or else of the file."""
    labs = {RING, *(lab.name for lab in all_labs())}
    first, *rest = path.relative_to(folder).parts
    if rest and first not in labs:
        return first
    if rest or NAME.fullmatch(path.name):
        name = folder.resolve().name
        return folder.resolve().parent.name if name == "runs" or name in labs else name
    # The archive of a platform without a folder for each student.
    if found := moodle.owner([path.name]) or canvas.owner([path.name]):
        return f"{found[0].name}_{found[0].id}"
    return OF_A_LAB.split(path.stem)[0]


def _texts(path: Path) -> Iterator[tuple[Path, bytes | NotACard]]:
    """The text of a file, or of each .json in a zip archive, or why there is none."""
    try:
        if path.is_symlink() or not path.is_file():
            yield path, NotACard("it is a link, not a file")
        elif path.suffix.lower() == ".zip":
            yield from _texts_of_a_zip(path)
        elif path.suffix != ".json":
            yield path, NotACard("it is no run card: its name does not end in .json")
        else:
            with path.open("rb") as file:
                yield path, file.read(MOST_BYTES + 1)
    except OSError as error:
        yield path, NotACard(f"it cannot be read ({error.strerror})")


def _texts_of_a_zip(path):
    """Nothing is unpacked to a file, and no more is read than a card can have."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [
                one
                for one in archive.infolist()
                if one.filename.endswith(".json") and "__MACOSX" not in one.filename
            ]
            if not inside:
                yield path, NotACard("no file in it ends in .json")
            if len(inside) > MOST_FILES_OF_A_ZIP:
                yield path, NotACard(f"it has over {MOST_FILES_OF_A_ZIP:,} files")
                return
            for one in inside:
                name = path / shown_name(one.filename.rpartition("/")[2][:100])
                try:
                    with archive.open(one) as file:
                        yield name, file.read(MOST_BYTES + 1)
                except DAMAGED:
                    yield name, NotACard("it is damaged, or encrypted")
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        yield path, NotACard("it is no zip archive that can be read")


def parse(text: bytes) -> dict[str, Any]:
    """A run card's content.

    Raises
    ------
    NotACard
        If it is none, or has something in it that no run card has.
    """
    if len(text) > MOST_BYTES:
        raise NotACard(f"it has more than {MOST_BYTES // 2**20} MiB")
    try:
        content = json.loads(
            text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number
        )
    except UnicodeDecodeError:
        raise NotACard("it is not UTF-8") from None
    except RecursionError:
        raise NotACard("it is nested too deep") from None
    except ValueError:  # no JSON, or a whole number of thousands of digits
        raise NotACard("it is not JSON") from None
    _check_values(content)
    _check_form(content)
    return content


def _once(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotACard("a key is in it twice")
    return found


def _no_number(text) -> NoReturn:
    raise NotACard(f"{text} is no number of JSON")


def _check_values(content):
    """Every number, text and list in it, whatever it means."""
    left, values = [(content, 0)], 0
    while left:
        value, depth = left.pop()
        values += 1
        if depth > MOST_DEPTH:
            raise NotACard("it is nested too deep")
        if values > MOST_VALUES:
            raise NotACard(f"it has more than {MOST_VALUES:,} values")
        if isinstance(value, dict | list):
            if len(value) > MOST_ENTRIES:
                raise NotACard(f"a list in it has more than {MOST_ENTRIES:,} entries")
            inside = [*value, *value.values()] if isinstance(value, dict) else value
            left += [(one, depth + 1) for one in inside]
        elif isinstance(value, str):
            _check_text(value)
        elif isinstance(value, int | float) and not abs(value) <= LARGEST:
            raise NotACard(f"a number in it is not within {LARGEST:g}")


def _check_text(text):
    if len(text) > MOST_LETTERS:
        raise NotACard(f"a text in it has more than {MOST_LETTERS:,} letters")
    if NOT_STORABLE.search(text):
        raise NotACard("a text in it has half a character, or a NUL")


def _check_form(content):
    """What a run card has, beyond being JSON."""
    if not isinstance(content, dict) or "lab" not in content:
        raise NotACard("it is no run card")
    for name, kind in KEYS.items():
        value = content.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise NotACard(f"{name!r} is missing or wrong")
    if content["lab"] not in {RING, *(lab.name for lab in all_labs())}:
        raise NotACard("it is of a lab that this kit does not have")
    if any(not 0 <= content[name] <= LATEST for name in TIMES):
        raise NotACard("a time in it is negative, or after the year 5000")
    device = content["environment"].get("device")
    if not isinstance(device, dict) or not isinstance(device.get("name"), str):
        raise NotACard("it does not say on which device it ran")
    for name, check in content["checks"].items():
        if not isinstance(check, dict) or not isinstance(check.get("passed"), bool):
            raise NotACard(f"the check {name[:20]!r} is wrong")
    if content.get("solution"):
        raise NotACard("it is a run of the solution, not of the student")


def _run_of(content):
    """What tells a run from every other one, however its file is called."""
    owner = content["owner"]
    facts = [content["lab"], content["started_unix_seconds"], content["parameters"]]
    facts += [owner.get("host"), owner.get("machine")]
    text = json.dumps(facts, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
