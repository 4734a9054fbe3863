"""The student's own notebooks, in work/: made once, brought up to date, given back.

Nothing there is overwritten before a copy of it is in work/backups. Each version that was
handed out is kept in work/.base, and a notebook's metadata say which one it began with. So
one file is written when a notebook is brought up to date, and nothing is half done.
"""

import re
import subprocess
import time
import warnings

import nbformat

from helpers.errors import LabError
from helpers.files import REPOSITORY, WORK, write_atomically
from helpers.notebooks import labs_in
from kit.build import is_changed, read_text, signature, unused
from kit.labs import all_labs, find_lab
from kit.merge import NOTICE, give_back, merge

LIST = "index.ipynb"  # of the labs; nobody works in it


def make():
    """Copy the notebooks that the student does not have yet.

    One that somebody has edited in ``notebooks/`` comes with its edits.

    Returns
    -------
    list of str
        What there is to say, in lines.
    """
    lines = _add_missing()
    have = labs_in(WORK)
    if older := [lab.number for lab in _labs() if _is_older(lab, have)]:
        lines.append(f"New versions of {', '.join(older)}: `labs update` brings them in.")
    return lines


def update(labs):
    """Bring new versions into the student's notebooks, as `kit.merge.merge` does.

    Parameters
    ----------
    labs : list of kit.labs.Lab

    Returns
    -------
    list of str
        What was done, in lines; empty: there was nothing to do.
    """
    lines = _add_missing()
    have = labs_in(WORK)
    lines += [_update(lab, have[lab.name][0]) for lab in labs if _is_older(lab, have)]
    if _list().read_bytes() != (WORK / LIST).read_bytes():
        _replace(WORK / LIST, _list().read_bytes())
    if edited := [lab.number for lab in labs if _is_edited(lab)]:
        lines.append(
            f"In notebooks/ {', '.join(edited)} is not as handed out, so nothing new comes "
            f"from there: {_put_back()}."
        )
    return lines


def reset(name):
    """Give back an exercise or a whole lab, as it was handed out.

    Parameters
    ----------
    name : str
        "2.1", "2.figure", or a lab as `kit.labs.find_lab` takes it.

    Returns
    -------
    str
        What was done, in a line.

    Raises
    ------
    LabError
        If there is no such exercise or lab, or nothing to give back.
    """
    _add_missing()
    lab = find_lab(name.partition(".")[0])
    path, _ = labs_in(WORK)[lab.name]
    newest = _given(lab, signature(read_text(lab.notebook)))
    if "." not in name:
        content = newest
    elif mine := _read(path):
        given = _given(lab, _began_with(mine)) or newest
        content = given and give_back(mine, given, name)
    else:
        raise LabError(_unreadable(lab, path))
    if not content:
        raise LabError(
            f"notebooks/{lab.notebook.name} is not as handed out: {_put_back()}."
        )
    copy = _replace(path, nbformat.writes(content) + "\n")
    return f"{name} is as it was handed out; what you had is in {_shown(copy)}."


def _add_missing():
    lines = [] if WORK.exists() else [f"Your own notebooks are in {_shown(WORK)}/."]
    have, edited = labs_in(WORK), []
    for lab in _labs():
        _given(lab, signature(read_text(lab.notebook)))  # keeps it, to compare later
        copy = WORK / lab.notebook.name
        if lab.name not in have and not copy.exists():
            write_atomically(copy, lab.notebook.read_bytes())
            edited += [lab.number] if _is_edited(lab) else []
    if not (WORK / LIST).exists():
        write_atomically(WORK / LIST, _list().read_bytes())
    if edited:
        lines.append(
            f"{_shown(WORK)}/ has what you wrote in notebooks/ ({', '.join(edited)}). "
            f"Before the next `git pull`: {_put_back()}."
        )
    return lines


def _update(lab, path):
    if not (mine := _read(path)):
        return _unreadable(lab, path)
    merged = merge(_given(lab, _began_with(mine)), mine, _read(lab.notebook))
    copy = _replace(path, nbformat.writes(merged) + "\n")
    notices, before = (sum(NOTICE in c.source for c in n.cells) for n in (merged, mine))
    more = ""
    if notices > before:
        more = " You and we have changed the same cell: ours stands below yours."
    return f"{_shown(path)} has the new version, and {_shown(copy)} what you had.{more}"


def _replace(path, content):
    """Write a file of the student's; returns the copy of what was there before."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    copy = unused(WORK / "backups" / f"{path.stem}-{stamp}{path.suffix}")
    write_atomically(copy, path.read_bytes())
    write_atomically(path, content)
    return copy


def _given(lab, signed):
    """A version of a notebook as it was handed out, or None if there is no trace of it."""
    if not signed:
        return None
    kept = WORK / ".base" / f"{signed}.ipynb"
    if not kept.exists():
        for text in _traces(lab, signed):
            if signature(text) == signed and not is_changed(text):
                write_atomically(kept, text)
                break
    return _read(kept)


def _traces(lab, signed):
    """Texts that may be the version: what is in ``notebooks/``, and what git has stored."""
    yield read_text(lab.notebook)
    name = f"notebooks/{lab.notebook.name}"
    for commit in _git("log", "--format=%H", f"-S{signed}", "--", name).split():
        yield _git("show", f"{commit}:./{name}")


def _git(*arguments):
    """What a git command that only reads has printed; empty without git."""
    command = ["git", "-C", str(REPOSITORY), *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return ""
    return ended.stdout.decode("utf-8", "surrogateescape")


def _read(path):
    """A notebook, or None if it cannot be read as one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it gives ids to cells without
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
    except Exception:  # whatever a damaged file makes nbformat raise
        return None
    return notebook


def _began_with(notebook):
    """The version of the kit's notebook that this one has become of."""
    signed = notebook.get("metadata", {}).get("labs", {}).get("generated", "")
    return signed if re.fullmatch("[0-9a-f]{64}", str(signed)) else None


def _labs():
    return [lab for lab in all_labs() if lab.notebook.exists()]


def _list():
    return REPOSITORY / "notebooks" / LIST


def _is_edited(lab):
    return lab.notebook.exists() and is_changed(read_text(lab.notebook))


def _is_older(lab, have):
    """Whether ``notebooks/`` has another version than the student's notebook."""
    if lab.name not in have or not lab.notebook.exists() or _is_edited(lab):
        return False
    return _began_with(have[lab.name][1]) != signature(read_text(lab.notebook))


def _put_back():
    if not (REPOSITORY / ".git").exists():
        return "unpack the course again"
    return "`git stash push notebooks` puts ours back, and keeps those edits"


def _unreadable(lab, path):
    return (
        f"{_shown(path)} cannot be read as a notebook, so it stays as it is: "
        f"`labs reset {lab.number}` gives a new one."
    )


def _shown(path):
    return path.relative_to(REPOSITORY)
