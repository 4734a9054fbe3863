"""The pages that the hand-out has: those to which its notebooks and its start page lead."""

import re
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = (
    "enter-the-race", "glossary", "leaderboard", "measurements", "replicas",
    "speed-record-rule", "your-notebooks",
)  # fmt: skip
BESIDE = ("leaderboard/board.json", "leaderboard/board.png", "leaderboard/board-dark.png")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
SOLVED, UNSOLVED = "../solutions/", "../notebooks/"
# Sentences that do not hold there, and what stands in their places.
OTHERWISE = {
    "your-notebooks": (
        "read [how to get it without a network](operators.md#without-a-network)",
        "ask your teacher for a copy, and set the variable `LABS_DATA_DIR` to its folder",
    ),
    "enter-the-race": (
        "# Enter the race\n",
        "# Enter the race\n\n> This copy of the course is for students and has no judge. "
        "To race, get the whole course from\n> where your teacher has it.\n",
    ),
}


def pages_for_students() -> dict[Path, bytes]:
    """What the hand-out has in `docs/`.

    A link to a solved notebook leads to the unsolved one. What is not handed out is
    named, but not linked.

    Returns
    -------
    dict of Path to bytes
        Content by path, relative to the repository.

    Raises
    ------
    LabError
        If a page no longer has a sentence that must read otherwise.
    """
    made = {Path("docs", name): (DOCS / name).read_bytes() for name in BESIDE}
    for name in PAGES:
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        if name in OTHERWISE:
            old, new = OTHERWISE[name]
            if old not in text:
                raise LabError(f"docs/{name}.md lacks what the hand-out changes: {old!r}")
            text = text.replace(old, new)
        made[Path("docs", f"{name}.md")] = LINK.sub(_led, text).encode("utf-8")
    return made


def _led(link):
    text, target = link.groups()
    place, _, section = target.partition("#")
    if place.startswith(SOLVED):
        return f"[{text}]({target.replace(SOLVED, UNSOLVED)})"
    if place.startswith(UNSOLVED):
        return link[0]
    known = (*BESIDE, *(f"{name}.md" for name in PAGES))
    if "://" in target or place in known or (section and not place):
        return link[0]
    return text
