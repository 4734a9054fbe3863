"""Put a later zip's notebooks into a folder that has some: a newer one replaces an older.

The date in the zip says which one is newer, else that of Moodle's worksheet, else Canvas'
number of the file, which grows. `seen.json` keeps them for each notebook that was ever
collected, by its digest, and for each file that was left out, by its name. Where nothing
says it, the later command counts, but not for what was collected before, so the same
command twice changes nothing. What is replaced goes into a folder `backups` of the
student, which grading does not search. What somebody has deleted from the folder stays
away as long as another notebook of the lab is there: `.put_here.json` knows the digests.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.plain_json import write_json
from kit.grading.submissions import BACKUPS, UnreadableError, notebooks_by_lab, read
from kit.labs import all_labs

NAME = "seen.json"
PUT = ".put_here.json"  # moves with the folder of the class


class Stamp(NamedTuple):
    """What says which of two notebooks is newer; empty or 0 where it is not known."""

    zipped: str = ""  # its date in the zip
    submitted: str = ""  # the student's in Moodle's worksheet
    number: int = 0  # of the file in Canvas


Seen = dict[str, dict[str, Stamp]]  # by student and digest or name


class Step(NamedTuple):
    """What happens to the notebooks of one lab in a student's folder."""

    student: str
    lab: str  # empty for notebooks of no lab
    order: int  # 1 if those of the zip are newer, -1 if older, 0 where nothing says it
    add: tuple[Path, ...] = ()  # from the zip
    replaced: tuple[Path, ...] = ()  # they go into `backups`
    deleted: tuple[Path, ...] = ()  # from the zip, but somebody has deleted them


class Plan(NamedTuple):
    """What an update does."""

    new: list[str]  # students without a folder
    steps: list[Step]  # of those who have one
    put: dict[str, list[str]]  # by student, the digests that zips have put there

    @property
    def kept(self) -> set[str]:
        """The students whose notebook in the folder is newer than what the zip has."""
        return {one.student for one in self.steps if one.order < 0}

    @property
    def added(self) -> list[str]:
        """The students who get notebooks in place of none."""
        old = {one.student for one in self.steps if one.add and not one.replaced}
        return sorted({*self.new, *old})

    @property
    def changed(self) -> set[str]:
        """The students who get a notebook."""
        return {*self.new, *(one.student for one in self.steps if one.add)}


def read_seen(out: Path) -> Seen:
    """Read when each file that was ever collected into a folder of grades came."""
    try:
        stored = json.loads((out / NAME).read_text(encoding="utf-8"))
        return {
            student: {digest: Stamp(*stamp) for digest, stamp in files.items()}
            for student, files in stored.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise LabError(
            f"{out / NAME} is damaged: delete it. Then the order of your commands says "
            "which notebook is newer."
        ) from error


def write_seen(out: Path, seen: Seen, stamps: Mapping[tuple[str, str], Stamp]) -> None:
    """Add the files of a zip, by student and digest or name."""
    for (student, digest), stamp in stamps.items():
        files = seen.setdefault(student, {})
        files[digest] = max(stamp, files.get(digest, stamp))
    write_json(out / NAME, seen)


def _read_put(folder):
    path = folder / PUT
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {student: list(digests) for student, digests in stored.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise LabError(
            f"{path} is damaged: delete it. Then notebooks that you have deleted return."
        ) from error


def planned(
    filled: Path,
    folder: Path,
    stamps: Mapping[tuple[str, str], Stamp],
    seen: Seen,
    labs: list[str],
) -> Plan:
    """Compare what a zip has with what is there; changes nothing.

    Parameters
    ----------
    filled, folder : Path
        The zip's notebooks, and the folder to update, each by student.
    stamps : mapping
        Of the zip's files, by student, and a notebook's digest or another file's name.
    seen : dict
        Of those that were collected before.
    labs : list of str
        What the zip is for.

    Returns
    -------
    Plan
    """
    plan = Plan([], [], _read_put(folder))
    for theirs in sorted(filled.iterdir()):
        student, mine = theirs.name, folder / theirs.name
        if not mine.exists():
            plan.new.append(student)
            all_of_them = [
                p for paths in notebooks_by_lab(theirs, all_labs()).values() for p in paths
            ]
            plan.put[student] = sorted(dict(_with_digests(all_of_them)))
            continue
        once = set(plan.put.get(student, ()))
        came = {key: stamp for (who, key), stamp in stamps.items() if who == student}
        known, there = seen.get(student, {}), notebooks_by_lab(mine, all_labs())
        given = notebooks_by_lab(theirs, all_labs())
        for lab, paths in given.items():
            new, old = _with_digests(paths), _with_digests(there.get(lab, ()))
            aside = filter(Path.is_file, (mine / BACKUPS).glob("*"))
            there_once = {*dict(old), *dict(_with_digests(aside))}
            missing = {digest: path for digest, path in new if digest not in dict(old)}
            gone = (once - there_once) & missing.keys() if old else set()
            add = {digest: path for digest, path in missing.items() if digest not in gone}
            replaced = [path for digest, path in old if digest not in dict(new)]
            order = 1
            if old and (add or replaced):
                order = _order(
                    {one: came[one] for one in dict(new)}, dict(old), known, there_once
                )
            deleted = tuple(missing[digest] for digest in sorted(gone))
            step = Step(student, lab.name if lab else "", order, deleted=deleted)
            if order > -1:
                step = step._replace(add=(*add.values(),), replaced=(*replaced,))
                once |= {digest for digest in dict(new) if digest not in gone}
            plan.steps.append(step)
        plan.put[student] = sorted(once)
        # Whose other files are older than their notebook has nothing new for this lab.
        old = [path for lab in there if lab and lab.name in labs for path in there[lab]]
        if old and not any(lab and lab.name in labs for lab in given):
            order = _order(came, dict(_with_digests(old)), known, came)
            plan.steps.append(Step(student, "", order))
    return plan


def _order(given, old, known, there_once):
    """1 if what a zip has is newer, -1 if it is older, 0 where nothing says it.

    Then a zip that was collected before counts as older, but not if it went into another
    folder by mistake: this one has had only the files `there_once`. So do its files in a
    newer zip if somebody has put another notebook in their place, which came from no zip.
    """
    if not old.keys() <= known.keys() and given.keys() <= known.keys():
        return -1
    newest = max(known.get(one, Stamp()) for one in old)
    if order := _order_of_two(max(given.values()), newest):
        return order
    is_known = given.keys() <= set(there_once) and all(
        one in known and _order_of_two(stamp, known[one]) < 1
        for one, stamp in given.items()
    )
    return -1 if is_known else 0


def _order_of_two(new, old):
    for one, other in zip(new, old, strict=True):
        if one and other and one != other:
            return 1 if one > other else -1
    return 0


def digest_of(content: bytes) -> str:
    """What a notebook is known by."""
    return hashlib.sha256(content).hexdigest()


def _with_digests(paths):
    found = []
    for path in paths:
        try:
            found.append((digest_of(read(path)), path))
        except UnreadableError:
            found.append((str(path), path))  # equal to no other file
    return found


def carry_out(plan: Plan, filled: Path, folder: Path) -> None:
    """Move notebooks as planned: first what is replaced, and nothing over another file."""
    for student in plan.new:
        (filled / student).replace(folder / student)
    for step in plan.steps:
        mine = folder / step.student
        for path in step.replaced:
            (mine / BACKUPS).mkdir(exist_ok=True)
            path.replace(free(mine / BACKUPS, path.name))
        for path in step.add:
            path.replace(free(mine, path.name))
    write_json(folder / PUT, plan.put)


def free(folder: Path, name: str) -> Path:
    """A path in a folder that no file has: `name`, or with a number."""
    stem, dot, ending = name.rpartition(".")
    number, path = 1, folder / name
    while path.exists():
        path = folder / f"{stem} ({number}){dot}{ending}"
        number += 1
    return path


def in_words(plan: Plan, folder: Path) -> list[str]:
    """A line for each notebook that was replaced, or that the zip has an older one of."""
    lines = []
    for step in plan.steps:
        if step.replaced:
            added = f" by {_names(step.add)}" if step.add else ""
            aside = folder / step.student / BACKUPS
            unsure = "" if step.order else (
                "; no date says which one is newer, so that of the later command counts"
            )  # fmt: skip
            lines.append(
                f"replaced: {step.student}: {_names(step.replaced)}{added}; the older one "
                f"is in {aside}{unsure}"
            )
        elif step.order < 0:
            lines.append(
                f"kept: {step.student}: {step.lab or 'what is there'}, because what the "
                "zip has is older, or was collected before"
            )
        if step.deleted:
            lines.append(
                f"not added: {step.student}: {_names(step.deleted)}, because it has been "
                f"deleted from {folder / step.student} since an earlier zip"
            )
    return lines


def _names(paths):
    return ", ".join(path.name for path in paths)
