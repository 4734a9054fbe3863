"""JSON as its standard has it: no NaN and no infinity, which other programs refuse."""

import json
import math
import re
from pathlib import Path
from typing import Any

from helpers.files import write_atomically

# JSON can spell half of a surrogate pair, but no UTF-8 file can hold it. NUL ends a text
# for some programs.
NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def finite(value: object) -> Any:
    """Plain data with None for every number that is nan or infinite.

    Parameters
    ----------
    value : object
        Numbers, texts, and lists, tuples and dicts of them.

    Returns
    -------
    object
        A copy, with lists for tuples.
    """
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def storable(value: object) -> Any:
    """Plain data from a stranger, with U+FFFD for each character that cannot be stored.

    Parameters
    ----------
    value : object
        A text, or lists and dicts that may have texts in them, also as keys.

    Returns
    -------
    object
        A copy that can be written to a file or a page.
    """
    if isinstance(value, str):
        return NOT_STORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(key): storable(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [storable(entry) for entry in value]
    return value


def as_json(value: object, **form: Any) -> str:
    """A value as JSON, with null for what is not finite.

    Parameters
    ----------
    value : object
        As `finite` takes it.
    **form
        How `json.dumps` is to write it, such as ``sort_keys=True``.

    Returns
    -------
    str
    """
    return json.dumps(finite(value), allow_nan=False, **form)


def write_json(path: Path, value: object, **form: Any) -> None:
    """Write a value as JSON, atomically: see `as_json` and `write_atomically`."""
    write_atomically(path, as_json(value, **{"indent": 1} | form) + "\n")
