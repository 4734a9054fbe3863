"""Which version of a notebook a file is, and whether it is still as it was handed out.

A student's notebook carries the SHA-256 of its own text, so an edit shows.
"""

import hashlib
import itertools
import re
from pathlib import Path

UNSIGNED = "0" * 64  # where the SHA-256 stands, while it is counted


def read_text(path: Path) -> str:
    """A notebook's text, whatever bytes are in it."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def digest(text: str) -> str:
    """The SHA-256 of a text, whatever bytes are in it."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def signature(text: str) -> str | None:
    """The SHA-256 that a notebook was generated with, or None."""
    found = re.search(r'"generated": "([0-9a-f]{64})"', text)
    return found and found[1]


def is_changed(text: str) -> bool:
    """Whether a notebook differs from what was generated, in whatever version."""
    signed = signature(text)
    return not signed or digest(text.replace(signed, UNSIGNED)) != signed


def unused(path: Path) -> Path:
    """This path, or the first like it that nothing has yet: x, x-2, x-3."""
    more = (path.with_stem(f"{path.stem}-{n}") for n in itertools.count(2))
    return next(p for p in itertools.chain([path], more) if not p.exists())
