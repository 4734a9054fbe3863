"""Bring new versions into the student's notebooks, or give back what was handed out.

Nothing is written over before a copy of it is in work/backups. One file is written when a
notebook changes, so nothing is half done.
"""

import time
import warnings
from collections.abc import Iterator
from stat import S_IMODE, S_IWUSR

import nbformat
from nbformat.sign import NotebookNotary

from helpers.errors import LabError
from helpers.exercise import numbers_of
from helpers.files import WORK, write_atomically
from helpers.notebook.notebooks import labs_in, which_one
from helpers.run_card import reset_exercises
from kit.labs import Lab, find_lab
from kit.student.merge import NOTICE, YOURS, give_back, merge
from kit.student.signature import read_text, signature, unused
from kit.student.working_copy import (
    LIST,
    add_missing,
    alone,
    began_with,
    display_path,
    handed_out_list,
    is_edited,
    is_older,
    keep_base,
    put_back,
)

# JupyterLab asks when it saves a notebook that it has open: Overwrite would undo it all.
IF_OPEN = "If JupyterLab asks about it, choose Revert."
BOTH_CHANGED = {
    NOTICE: "You and we have changed the same cell: ours is now below yours.",
    YOURS: "You and we have changed the set-up: it is ours now, and yours is below it.",
}


def update(labs: list[Lab]) -> Iterator[str]:
    """Bring new versions into the student's notebooks, as `kit.student.merge.merge` does.

    Parameters
    ----------
    labs : list of kit.labs.Lab

    Yields
    ------
    str
        What was just done, in a line: if the next notebook cannot be written, it is known
        where the copies of those before are.
    """
    with alone():
        yield from add_missing()
        have = labs_in(WORK)
        for lab in labs:
            if is_older(lab, have):
                mine = have[lab.name]
                yield which_one(lab.name, mine) if mine.rivals else _update(lab, mine.path)
        if _texts(handed_out_list()) != _texts(WORK / LIST):
            copy = _replace(WORK / LIST, handed_out_list().read_bytes())
            new, old = display_path(WORK / LIST), display_path(copy)
            yield f"{new} is new, and {old} the one before."
    if edited := [lab.number for lab in labs if is_edited(lab)]:
        yield (
            f"In notebooks/ {', '.join(edited)} is not as handed out, so nothing new comes "
            f"from there: {put_back()}."
        )


def reset(name: str) -> str:
    """Give back an exercise or a whole lab, as it was handed out.

    Parameters
    ----------
    name : str
        "2.1", "2.figure", or a lab as `kit.labs.find_lab` takes it. The start page
        counts it as open again.

    Returns
    -------
    str
        What was done, in a line.

    Raises
    ------
    LabError
        If there is no such exercise or lab, nothing to give back, or if there are
        several notebooks and nothing says which is meant.
    """
    lab = find_lab(name.partition(".")[0])
    with alone():
        add_missing()
        return _reset(lab, name)


def _reset(lab, name):
    newest = _given(lab, signature(read_text(lab.notebook)))
    found = labs_in(WORK)[lab.name]
    if found.rivals:
        raise LabError(which_one(lab.name, found))
    path = found.path
    if not path.exists():
        raise LabError(_unreadable(lab, path))
    mine = _read(path)
    if "." not in name:
        content = newest
    elif mine:
        given = _given(lab, began_with(mine)) or newest
        content = given and give_back(mine, given, name)
    else:
        raise LabError(_unreadable(lab, path))
    if not content:
        raise LabError(f"notebooks/{lab.notebook.name} is not as handed out: {put_back()}.")
    copy = None
    if not mine or content.cells != mine.cells:
        copy = _replace(path, nbformat.writes(content) + "\n")
        _trust_as(_read(copy), content)
    numbers = numbers_of(lab.number)
    reset_exercises.note(lab.name, [n for n in numbers if n == name or "." not in name])
    if not copy:
        return f"{name} is as it was handed out, in {display_path(path)}: nothing to do."
    return (
        f"{name} is as it was handed out, in {display_path(path)}; what you had is in "
        f"{display_path(copy)}. {IF_OPEN}"
    )


def _update(lab, path):
    if not (mine := _read(path)):
        return _unreadable(lab, path)
    if not path.stat().st_mode & S_IWUSR:
        return f"{display_path(path)} is read-only, so it stays as it is."
    merged = merge(_given(lab, began_with(mine)), mine, _read(lab.notebook))
    copy = _replace(path, nbformat.writes(merged) + "\n")
    _trust_as(mine, merged)
    more = [words for notice, words in BOTH_CHANGED.items()
            if _count(notice, merged) > _count(notice, mine)]  # fmt: skip
    done = (
        f"{display_path(path)} has the new version, and {display_path(copy)} what you had."
    )
    return " ".join([done, *more, IF_OPEN])


def _texts(path):
    """What can be read in a notebook: JupyterLab changes the rest when it saves it."""
    return [cell.source for cell in notebook.cells] if (notebook := _read(path)) else None


def _count(text, notebook):
    return sum(text in cell.source for cell in notebook.cells)


def _replace(path, content):
    """Write a file of the student's; returns the copy of what was there before."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    copy = unused(WORK / "backups" / f"{path.stem}-{stamp}{path.suffix}")
    mode = S_IMODE(path.stat().st_mode)
    write_atomically(copy, path.read_bytes(), mode)
    write_atomically(path.resolve(), content, mode)  # a link stays one
    return copy


def _trust_as(mine, changed):
    """Have JupyterLab show what outputs hold, where it did so before: all are `mine`."""
    notary = NotebookNotary()
    if mine and notary.check_signature(mine):
        notary.sign(changed)


def _given(lab, signed):
    """A version of a notebook as it was handed out, or None if there is no trace of it."""
    base = keep_base(lab, signed)
    return base and _read(base)


def _read(path):
    """A notebook, or None if it cannot be read as one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it gives ids to cells without
            notebook = nbformat.read(path, as_version=4)
            _complete(notebook)
            nbformat.validate(notebook, relax_add_props=True)
            nbformat.writes(notebook).encode()  # half of a character cannot be written
    except Exception:  # whatever a damaged file makes nbformat raise
        return None
    return notebook


def _complete(notebook):
    """Add what other programs leave out, and JupyterLab does without."""
    for cell in notebook.cells:
        cell.setdefault("metadata", {})
        if cell.cell_type == "code":
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)


def _unreadable(lab, path):
    if not path.exists():
        return (
            f"{display_path(path)} is a link to {path.readlink()}, which does not exist: "
            f"restore that file, or delete the link, and `labs update` makes a new one."
        )
    return (
        f"{display_path(path)} cannot be read as a notebook, so it stays as it is: "
        f"`labs reset {lab.number}` gives a new one."
    )
