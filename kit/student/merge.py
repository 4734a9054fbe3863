"""Bring a new version of a lab into a student's notebook, cell by cell.

A cell that the student has left alone becomes the new one. What the student has written
stays: a cell of ours with changes, whatever it is, and every cell of their own. nbdime too
merges notebooks, but line by line: its conflict markers stand inside of cells, which then
do not run.
"""

import copy
import difflib
import re

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from helpers.errors import LabError

# From here on two cells count as versions of one: the share of equal characters.
ALIKE = 0.6
NOTICE = (
    "**New in this version.** You have changed the cell above, so it stays. Ours is now:"
)
YOURS = "**New in this version.** The lab needs the cell above as it is now. Yours was:"


def merge(base: NotebookNode | None, mine: NotebookNode, new: NotebookNode) -> NotebookNode:
    """Bring a new version into a student's notebook.

    Parameters
    ----------
    base : nbformat.NotebookNode or None
        What the student was given; None: it is not known any more, and every cell that is
        not as in `new` counts as changed by the student.
    mine, new : nbformat.NotebookNode

    Returns
    -------
    nbformat.NotebookNode
        All cells of `new` in their order, each with the student's text where that was
        changed; the student's own cells behind those that they stood behind. A set-up
        cell that both have changed is the new one: later cells need what it sets up.
    """
    places, origins = _traced(base, mine, new)
    changed = [
        p for p in places if p in origins and not _same(origins[p], new.cells[places[p]])
    ]
    old_notices = {_notice(origins[position]) for position in changed}
    ids = {cell.id for cell in new.cells}
    taken, own, anchor = {}, {}, -1
    for position, cell in enumerate(mine.cells):
        if position in places:
            anchor = places[position]
            taken[anchor] = position
        elif position in origins and _same(cell, origins[position]):
            pass  # ours, unchanged, and the new version has left it out
        elif cell.source not in old_notices:
            own.setdefault(anchor, []).append(_renamed(cell, cell.get("id"), ids))
    cells = own.get(-1, [])
    for place, ours in enumerate(new.cells):
        if place not in taken:
            cells.append(copy.deepcopy(ours))
        else:
            origin, theirs = origins.get(taken[place]), mine.cells[taken[place]]
            stays, notice = theirs, None
            if _is_conflict(origin, theirs, ours):
                notice = _notice(ours)
                if "setup" in _tags(ours):
                    stays, notice = ours, _notice(theirs, YOURS)
            cells.append(_updated(origin, stays, ours))
            if notice:
                cells.append(_renamed(new_markdown_cell(notice), f"{ours.id}-new", ids))
        cells += own.get(place, [])
    return _notebook(cells, {**new.metadata, **mine.metadata, "labs": new.metadata["labs"]})


def give_back(mine: NotebookNode, given: NotebookNode, number: str) -> NotebookNode:
    """Put an exercise's cells, as they were handed out, into a student's notebook.

    Parameters
    ----------
    mine, given : nbformat.NotebookNode
        The student's, and what they were given.
    number : str
        "2.1", or "2.figure" for the answer in words.

    Returns
    -------
    nbformat.NotebookNode
        All other cells are as in `mine`, but for those that JupyterLab made of the
        exercise's when it was split.

    Raises
    ------
    LabError
        If `given` has no such exercise; names those that it has.
    """
    answers = {".".join(cell.id.split("-")[:2]): cell.id
               for cell in given.cells if _is_answer(cell)}  # fmt: skip
    if number not in answers:
        raise LabError(f"there is no exercise {number}; there are {', '.join(answers)}.")
    wanted = answers[number], f"check-{number.replace('.', '-')}"
    cells = [copy.deepcopy(cell) for cell in mine.cells]
    for position, ours in enumerate(given.cells):
        if ours.id not in wanted:
            continue
        places = partners(given.cells, cells, by_id=True)
        before = [places[n] for n in range(position) if n in places]
        place = places.get(position)
        if place is not None:
            del cells[place]
        else:
            place = before[-1] + 1 if before else 0
        ids = {cell.get("id") for cell in cells}
        cells.insert(place, _renamed(ours, ours.id, ids))
        cells = [
            cell
            for n, cell in enumerate(cells)
            if n == place or _grade_id(cell) != _grade_id(ours)
        ]
    ids = {cell.get("id") for cell in cells}
    cells = [cell if cell.get("id") else _renamed(cell, None, ids) for cell in cells]
    return _notebook(cells, mine.metadata)


def partners(
    cells: list[NotebookNode], others: list[NotebookNode], by_id: bool = False
) -> dict[int, int]:
    """Find which cell of one list is which of another.

    Parameters
    ----------
    cells, others : list of nbformat.NotebookNode
    by_id : bool
        The ids are of one version. In another one those of cells without a name are
        other cells': they are numbers.

    Returns
    -------
    dict of int to int
        Positions in `cells` and in `others`, each at most once.
    """
    found = {}
    if by_id:
        _pair(found, cells, others, lambda cell: cell.get("id"))
    _pair(found, cells, others, _name)
    _pair_in_order(found, cells, others)
    _pair(found, cells, others, _content)
    _pair_alike(found, cells, others)
    return found


def _traced(base, mine, new):
    """For the student's cells, by position: the place in `new`, the cell of `base`."""
    if base is None:
        return partners(mine.cells, new.cells), {}
    given = partners(mine.cells, base.cells, by_id=True)
    newer = partners(base.cells, new.cells)
    places = {position: newer[n] for position, n in given.items() if n in newer}
    return places, {position: base.cells[n] for position, n in given.items()}


def _pair(found, cells, others, key):
    """Pair the first two that are still alone and have the same key, if they have one."""
    taken, waiting = set(found.values()), {}
    for place, other in enumerate(others):
        if place not in taken and key(other):
            waiting.setdefault(key(other), []).append(place)
    for position, cell in enumerate(cells):
        if position not in found and waiting.get(key(cell)):
            found[position] = waiting[key(cell)].pop(0)


def _pair_in_order(found, cells, others):
    """Pair equal cells; of several that are equal, those in the same surroundings."""
    back = {place: position for position, place in found.items()}
    left = [n if n in found else _content(cell) for n, cell in enumerate(cells)]
    right = [back.get(n, _content(cell)) for n, cell in enumerate(others)]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for position, place, length in matcher.get_matching_blocks():
        for n in range(length):
            found.setdefault(position + n, place + n)


def _pair_alike(found, cells, others):
    """Pair similar cells that stand between the same neighbours."""
    for position, cell in enumerate(cells):
        if position in found:
            continue
        before = [found[n] for n in range(position) if n in found]
        after = [found[n] for n in range(position, len(cells)) if n in found]
        between = range(before[-1] + 1 if before else 0, after[0] if after else len(others))
        alike = {
            place: difflib.SequenceMatcher(None, cell.source, others[place].source).ratio()
            for place in set(between) - set(found.values())
            if others[place].cell_type == cell.cell_type
        }
        best = max(alike, key=alike.__getitem__, default=None)
        if best is not None and alike[best] >= ALIKE:
            found[position] = best


def _name(cell):
    """The name of a cell, which is the same in every version."""
    named = _grade_id(cell)
    # The rest of an exercise's name is a word that may change.
    if exercise := re.match(r"(\d+)-(\d+)-|# TODO (\d+)\.(\d+):", named or cell.source):
        return tuple(filter(None, exercise.groups()))
    return named or min({"parameters", "setup"} & _tags(cell), default=None)


def _tags(cell):
    return set(cell.metadata.get("tags", ()))


def _grade_id(cell):
    """nbgrader's name, or empty. All parts have it when JupyterLab splits a cell."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def _content(cell):
    # Some editors on Windows end lines in their own way.
    return cell.cell_type, cell.source.replace("\r\n", "\n").strip()


def _same(cell, other):
    return _content(cell) == _content(other)


def _is_answer(cell):
    """Whether students write in this cell of ours: a TODO, or an answer in words."""
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def _is_changed(origin, theirs, ours):
    """Whether the student's text is neither what they were given nor the new one."""
    return not _same(theirs, ours) and not (origin and _same(theirs, origin))


def _is_conflict(origin, theirs, ours):
    if origin is None:  # an answer is never as it was given
        return _is_changed(None, theirs, ours) and not _is_answer(ours)
    return _is_changed(origin, theirs, ours) and not _same(origin, ours)


def _updated(origin, theirs, ours):
    """The student's cell with their text or ours, and with our name and metadata."""
    known = origin.metadata if origin else {}
    added = {k: value for k, value in theirs.metadata.items() if k not in known}
    if _is_changed(origin, theirs, ours):
        cell = copy.deepcopy(theirs)
        cell.id = ours.id
    else:
        cell = copy.deepcopy(ours)
        if ours.cell_type == "code" and _same(theirs, ours):
            cell.outputs = copy.deepcopy(theirs.outputs)
            cell.execution_count = theirs.execution_count
    cell.metadata = {**added, **ours.metadata}
    return cell


def _notice(other, words=NOTICE):
    """The text below a cell that student and course have changed: it never runs."""
    text = other.source
    if other.cell_type == "code":
        text = f"````python\n{text}\n````"
    return f"{words}\n\n{text}"


def _renamed(cell, identity, ids):
    """A copy of a cell whose id is not one of `ids`, to which it is added."""
    identity = identity or "own"
    names = [identity, *(f"{identity[:50]}-{n}" for n in range(2, len(ids) + 3))]
    cell = copy.deepcopy(cell)
    cell.id = next(name for name in names if name not in ids)
    ids.add(cell.id)
    return cell


def _notebook(cells, metadata):
    # Ids of cells came with 4.5.
    content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.from_dict(content)
