"""The student's own notebooks, in work/: copied once from notebooks/.

Each version that was handed out is kept in work/.base, and a notebook's metadata say which
one it began with.
"""

import re
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY, WORK, only_one, write_atomically
from helpers.notebook.notebooks import Found, labs_in
from kit.labs import Lab, all_labs
from kit.student.signature import is_changed, read_text, signature, unused

LIST = "index.ipynb"  # of the labs; nobody works in it


def make() -> list[str]:
    """Copy the notebooks that the student does not have yet.

    One that somebody has edited in ``notebooks/`` comes with its edits.

    Returns
    -------
    list of str
        Lines for the student.
    """
    with alone():
        lines = add_missing()
    have = labs_in(WORK)
    if older := [lab.number for lab in _labs() if is_older(lab, have)]:
        lines.append(f"New versions of {', '.join(older)}: `labs update` brings them in.")
    return lines


def alone() -> AbstractContextManager[None]:
    """Wait until nobody else changes ``work/``, where that is no link to nothing."""
    if WORK.is_symlink() and not WORK.exists():
        raise LabError(
            f"{display_path(WORK)}/ is a link to {WORK.readlink()}, which does not exist: "
            "restore that folder, or delete the link, and `labs update` makes a new folder."
        )
    return only_one(WORK / ".base")


def add_missing() -> list[str]:
    """As `make`, for who is alone in ``work/``; does not say which notebooks are older."""
    have, edited, added = labs_in(WORK), [], []
    lines = [] if have else [f"Your own notebooks are in {display_path(WORK)}/."]
    for lab in _labs():
        keep_base(lab, signature(read_text(lab.notebook)))
        if lab.name not in have:
            # Another lab may be stored under this one's name.
            copy = unused(WORK / lab.notebook.name)
            write_atomically(copy, lab.notebook.read_bytes())
            added.append(copy.name)
            edited += [lab.number] if is_edited(lab) else []
    if not (WORK / LIST).exists():
        write_atomically(WORK / LIST, handed_out_list().read_bytes())
    if have and added:
        lines.append(f"New in {display_path(WORK)}/: {', '.join(added)}.")
    if edited:
        lines.append(
            f"{display_path(WORK)}/ has what you wrote in notebooks/ "
            f"({', '.join(edited)}). Before the next `git pull`: {put_back()}."
        )
    return lines


def keep_base(lab: Lab, signed: str | None) -> Path | None:
    """Keep a version to compare with later; returns its file, or None."""
    base = WORK / ".base" / f"{signed}.ipynb"
    if not signed or base.exists():
        return base if signed else None
    for text in _traces(lab, signed):
        if signature(text) == signed and not is_changed(text):
            write_atomically(base, text)
            return base
    return None


def _traces(lab, signed):
    """Texts that may be the version: what is in ``notebooks/``, and what git has stored."""
    yield read_text(lab.notebook)
    name = f"notebooks/{lab.notebook.name}"
    for commit in _git("log", "--format=%H", f"-S{signed}", "--", name).split():
        yield _git("show", f"{commit}:./{name}")


def _git(*arguments):
    """The output of a git command that only reads; empty without git."""
    command = ["git", "-C", str(REPOSITORY), *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return ""
    return ended.stdout.decode("utf-8", "surrogateescape")


def began_with(notebook: dict) -> str | None:
    """The version of the kit's notebook that this one has become of."""
    ours = notebook.get("metadata", {}).get("labs")
    signed = str(ours.get("generated")) if isinstance(ours, dict) else ""
    return signed if re.fullmatch("[0-9a-f]{64}", signed) else None


def _labs():
    return [lab for lab in all_labs() if lab.notebook.exists()]


def handed_out_list() -> Path:
    """The list of labs, as it is handed out."""
    return REPOSITORY / "notebooks" / LIST


def is_edited(lab: Lab) -> bool:
    """Whether somebody has changed the notebook in ``notebooks/``."""
    return lab.notebook.exists() and is_changed(read_text(lab.notebook))


def is_older(lab: Lab, have: dict[str, Found]) -> bool:
    """Whether ``notebooks/`` has another version than the student's notebook."""
    if lab.name not in have or not lab.notebook.exists() or is_edited(lab):
        return False
    return began_with(have[lab.name].notebook) != signature(read_text(lab.notebook))


def put_back() -> str:
    """How to get ``notebooks/`` as it was handed out, and lose nothing."""
    if _git("diff", "--name-only", "HEAD", "--", "notebooks"):
        return "`git stash push notebooks` puts ours back, and keeps those edits"
    if commit := _last_handed_out():
        return (
            f"`git checkout {commit} notebooks` puts ours back; commit that, and pull with "
            "`git pull --no-rebase`. Your edits stay in git's history"
        )
    return "unpack the course again"


def _last_handed_out():
    """The newest commit with none of the edits, or None."""
    names = [lab.notebook.name for lab in _labs() if is_edited(lab)]
    for commit in _git("log", "--format=%h", "--", "notebooks").split():
        versions = [_git("show", f"{commit}:./notebooks/{name}") for name in names]
        if not any(map(is_changed, versions)):
            return commit
    return None


def display_path(path: Path) -> Path:
    """A path as it is shown: from the course's folder on."""
    return path.relative_to(REPOSITORY)
