"""Say in words and small tables what an answer was asked and what it did.

The exercise's `words.toml` has the words, and `labels.toml` has the names of parts. Where
the clock stood, in which a judge is interested, says nothing to a student, and is left
out. A reply comes from a student's process, so everything is short, and what has another
form than any probe gives is left out as well.
"""

import functools
import tomllib
from pathlib import Path
from typing import NamedTuple

from helpers.exercise import find_exercise

HIDDEN = ("waits", "nonce", "changed", "error", "mistake", "seed", "repeats")
MOST_ROWS, MOST_COLUMNS = 8, 9
LONGEST_TEXT = 240  # characters of a cell
MOST_EVENTS = 10
EMPTY = ("", [], {})
NO_REPLY = "It was asked this, and gave no reply."
FEWEST_PLOTTED, MOST_PLOTTED = 6, 400
MOST_LISTED = 10  # whole numbers, such as sizes: these say more than a line


class Plot(NamedTuple):
    """A list of numbers as a line: points for SVG's polyline, in 100 by 24."""

    points: str
    words: str


class Table(NamedTuple):
    """A few rows under a sentence; `more` rows were left out."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | Plot, ...], ...]
    more: int
    row: str = "set"  # what a judge calls a row, as in "set 3 of the points"


def in_words(number: str, question: object, observation: object) -> list[Table]:
    """Tables of what an answer was asked and what it did.

    Parameters
    ----------
    number : str
        The exercise's.
    question, observation : object
        As the judge had them; None where nothing was asked.

    Returns
    -------
    list of Table
        Empty where nothing can be said.
    """
    if not isinstance(question, dict):
        return []
    reply = observation if isinstance(observation, dict) else {}
    words = find_exercise(number).feedback
    asked, did = words.get("asked", "What was asked."), words.get("did", "What it did.")
    if observation is None:  # an exercise's words say what an answer did, in the past tense
        asked = NO_REPLY
    cases = _list(question, words.get("question"))
    replies = _list(reply, words.get("reply"))
    if events := words.get("events"):
        replies = [_told(one, events) for one in replies]
    names = _labels() | words.get("labels", {})
    left = _all_named(cases, words.get("columns"), names)
    right = _all_named(replies, words.get("replied", "it gave"), names)
    together = len(left) == len(right) and not words.get("apart")
    tables = []
    if together and left:
        both = [
            one | {f"→ {k}": v for k, v in two.items()}
            for one, two in zip(left, right, strict=True)
        ]
        tables.append(_table(f"{asked} {did} (Columns with → show what it did.)", both))
    else:
        row = words.get("row", "set")
        tables.append(_table(asked, left)._replace(row=row))
        tables.append(_table(did, right))
    others = [
        ("It was also given", question, words.get("question")),
        ("It also did", reply, words.get("reply")),
    ]
    for caption, whole, listed in others:
        rest = {k: v for k, v in whole.items() if k not in (listed, *HIDDEN)}
        tables.append(
            _table(f"{caption}:", _all_named([rest], None, names) if rest else [])
        )
    return [table for table in tables if any(table.rows)]


@functools.cache
def _labels():
    path = Path(__file__).with_name("labels.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))["labels"]


def _list(whole, name):
    found = whole.get(name) if name else None
    return found if isinstance(found, list) else []


def _all_named(cases, columns, names):
    """Each case as a dict of what it consists of.

    A dict in it is opened up to columns where all cases have the same keys in it. Others,
    such as sizes, differ from case to case: they would make columns that are mostly empty.
    """
    keys = {}
    for case in cases:
        for name, value in case.items() if isinstance(case, dict) else ():
            if value not in EMPTY:
                keys.setdefault(name, set()).add(
                    tuple(value) if isinstance(value, dict) else ()
                )
    opened = {n for n, found in keys.items() if len(found) == 1 and 0 < len(*found) <= 4}
    return [_named(case, columns, opened, names) for case in cases]


def _named(case, columns, opened, names):
    if isinstance(case, dict):
        return _plain(case, opened, names)
    if isinstance(columns, list) and isinstance(case, list):
        return dict(zip(columns, case, strict=False))
    return {columns if isinstance(columns, str) else "case": case}


def _plain(case, opened, names):
    """Without what is hidden; empty values are left out."""
    found = {}
    for name, value in case.items():
        if name in HIDDEN or value in EMPTY:
            continue
        label = names.get(name) or _label(name)
        if name in opened and isinstance(value, dict):
            found |= {f"{label}: {_label(k)}": v for k, v in value.items()}
        else:
            found[label] = value
    return found


def _told(events, words):
    """An answer, event by event, in the words that the exercise has for each."""
    if not isinstance(events, list):
        return events
    told = []
    for event in events:
        kind, *parts = event if isinstance(event, list) and event else ("",)
        form = words.get(kind) if isinstance(kind, str) else None
        if form and form.count("{}") == len(parts):
            told.append(form.format(*map(_as_code, parts)))
        else:
            told.append(_text(event, 1))
    if len(told) > MOST_EVENTS:  # how it ended is often what the judge speaks of
        left_out = f"… ({len(told) - MOST_EVENTS} more) …"
        told = [*told[: MOST_EVENTS // 2], left_out, *told[-MOST_EVENTS // 2 :]]
    return ", ".join(told) if told else "nothing"


def _as_code(value):
    """A value as Python writes it, but short."""
    if value is None or isinstance(value, (bool, str)):
        return _short(repr(value), LONGEST_TEXT)
    if isinstance(value, int) and abs(value) < 10**12:
        return str(value)
    return _text(value, 1)


def _label(name):
    return _labels().get(name, _short(str(name).replace("_", " "), 40))


def _table(caption, cases):
    head = tuple(dict.fromkeys(name for case in cases[:MOST_ROWS] for name in case))
    rows = tuple(
        tuple(
            display_value(case[name]) if name in case else "–"
            for name in head[:MOST_COLUMNS]
        )
        for case in cases[:MOST_ROWS]
    )
    head = head[:MOST_COLUMNS]
    if len(rows) > 1:  # what was seen may be about "set 3 of the points"
        head = ("no.", *head)
        rows = tuple((str(n), *row) for n, row in enumerate(rows, start=1))
    return Table(caption, head, rows, max(0, len(cases) - MOST_ROWS))


def display_value(value: object) -> str | Plot:
    """A value for a reader: a few words, or a plot of many numbers."""
    if isinstance(value, list) and len(value) >= FEWEST_PLOTTED:
        if len(value) <= MOST_LISTED and {type(one) for one in value} == {int}:
            return ", ".join(map(_number, value))
        if all(map(_is_number, value)):
            return _plot(value)
    return _short(_text(value, 0), LONGEST_TEXT)


def _text(value, depth):
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return _number(value)
        case str():
            short = _short(value, LONGEST_TEXT)
            # A name, as that of an error, needs no quotes.
            return value if depth == 0 else short if value.isidentifier() else f"“{short}”"
        case list() if not value:
            return "none"
        case list() if depth > 2:
            return f"{len(value)} value{'s' * (len(value) != 1)}"
        case list():
            parts = [_text(one, depth + 1) for one in value[:6]]
            more = f" … ({len(value)} in all)" if len(value) > 6 else ""
            text = ("; " if depth == 0 and isinstance(value[0], list) else ", ").join(parts)
            return f"{text}{more}" if depth == 0 else f"({text}{more})"
        case dict():
            parts = [
                f"{_label(k)}: {_text(v, depth + 1)}" for k, v in list(value.items())[:8]
            ]
            more = f" … ({len(value)} in all)" if len(value) > 8 else ""
            text = ", ".join(parts) + more
            return text if depth == 0 else f"({text})"
    return ""


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value):
    if value == int(value) and abs(value) < 10**12:
        return f"{int(value):,}"
    try:
        return f"{value:.4g}"
    except OverflowError:  # an int with more digits than any float
        return "a number that is too large"


def _plot(values):
    low, high = min(values), max(values)
    words = f"{len(values)} values, {_number(low)} to {_number(high)}"
    step = -(-len(values) // MOST_PLOTTED)
    sample = values[::step]
    try:
        heights = [
            (float(v) - float(low)) / ((float(high) - float(low)) or 1) for v in sample
        ]
    except OverflowError:
        return words
    points = " ".join(
        f"{100 * n / (len(sample) - 1):.1f},{22 - 20 * height:.1f}"
        for n, height in enumerate(heights)
    )
    return Plot(points, words)


def _short(text, most):
    return text if len(text) <= most else text[:most] + " …"
