"""Predictions on a run card: made, locked when the measurement begins, then scored."""

import math
import re
import textwrap
import time
from collections.abc import Iterator
from numbers import Number
from statistics import median
from typing import Any, TypeGuard

from helpers.errors import RunCardError
from helpers.run_card.prediction_kinds import is_the_labs, names_asked

MOST_ENTRIES, MOST_LETTERS, LARGEST, MOST_LATER = 100, 200, 1e100, 20
MOST_LINE = 70  # letters of several values; of a line about them alone, more
ALONE = 3 * MOST_LINE
SCORES = ("factor_off", "difference", "right", "of")


def new_entry() -> dict:
    """The run card's entry for a prediction that was asked for and not made.

    The outcome brings its `score`.
    """
    return {
        "value": None,
        "unix_seconds": None,
        "locked_unix_seconds": None,
        "later": [],
        "outcome": None,
    }


def is_entry(stored: object) -> bool:
    """Whether this is an entry: older run cards have plain values, edited ones anything."""
    return (
        isinstance(stored, dict)
        and new_entry().keys() <= stored.keys()
        and isinstance(stored["later"], list)
        and all(_is_number(stored.get(name, 1)) for name in SCORES)
        and isinstance(asked := stored.get("asked", []), list)
        and all(isinstance(name, str) for name in asked)
        and isinstance(stored["locked_unix_seconds"], Number | None)
    )


def without_placeholders(value: object, what: str, inside: tuple[type, ...] = ()) -> Any:
    """A value without the entries that were left at None; None if none is left.

    Parameters
    ----------
    value : object
        Plain JSON.
    what : str
        For the message, such as "the prediction 'loss'".
    inside : tuple of type
        The types of what holds it.

    Raises
    ------
    RunCardError
        If it is nested too deep, too long, or too large.
    """
    if isinstance(value, dict | list):
        if list in inside or (inside and isinstance(value, dict)):
            raise RunCardError(
                f"{what} is nested too deep: it can be a number, a text, True, False, a "
                "list of these, or a dict of these. Change it and run the cell again."
            )
        if len(value) > MOST_ENTRIES:
            raise RunCardError(
                f"{what} has {len(value)} entries, but the run card takes at "
                f"most {MOST_ENTRIES}: shorten it and run the cell again."
            )
        inside = (*inside, type(value))
    if isinstance(value, dict):
        pairs = ((k, without_placeholders(v, what, inside)) for k, v in value.items())
        return {k: v for k, v in pairs if v is not None} or None
    if isinstance(value, list):
        entries = [without_placeholders(entry, what, inside) for entry in value]
        entries = [entry for entry in entries if entry is not None]
        return entries if entries or not value else None  # [] says "none of them"
    if isinstance(value, str):
        if len(value) > MOST_LETTERS:
            raise RunCardError(
                f"{what} has {len(value)} characters, but the run card takes at "
                f"most {MOST_LETTERS}: shorten it and run the cell again."
            )
        return value.strip() or None
    if _is_number(value) and abs(value) > LARGEST:
        raise RunCardError(
            f"{what} is too large, because the run card takes numbers up to {LARGEST:g}: "
            "change it and run the cell again."
        )
    return value


def make(entry: dict, value: object, now: float) -> str:
    """Note a prediction, or that there is none.

    Parameters
    ----------
    entry : dict
        See `new_entry`; this changes it.
    value : object
        See `without_placeholders`.
    now : float

    Returns
    -------
    str
        A line for the student, or nothing.
    """
    locked = entry["locked_unix_seconds"]
    if locked is None:
        if value is None:
            entry.update(value=None, unix_seconds=None)
            return "No prediction yet: write one in place of None, and run this cell again."
        if value != entry["value"]:
            entry["unix_seconds"] = now
        entry["value"] = value
        return ""
    stands = entry["value"]
    last = entry["later"][-1]["value"] if entry["later"] else stands
    if value is not None and value != last:
        entry["later"].append({"value": value, "unix_seconds": now})
        del entry["later"][:-MOST_LATER]
    if stands is None:
        if value is None:
            return f"No prediction was made before the measurement ({_at(locked)})."
        return (
            f"This prediction came after the measurement ({_at(locked)}): it is kept, but "
            "not scored. The next run of this lab asks you again."
        )
    if value == stands:
        return ""
    line = f"Your prediction {_text(stands)} stands: it was locked at {_at(locked)}."
    return line if value is None else f"{line} The new one is kept, but not scored."


def note_asked(entry: dict, value: object) -> None:
    """Note the names that a cell asks about: a lab may measure more than these.

    Parameters
    ----------
    entry : dict
        See `new_entry`; this changes it.
    value : object
        What the cell has, with its placeholders.
    """
    if isinstance(value, dict) and entry["locked_unix_seconds"] is None:
        earlier = entry.get("asked", [])
        entry["asked"] = list(dict.fromkeys([*earlier, *map(str, value)]))[:MOST_ENTRIES]


def noted(value: object) -> str:
    """A line on a prediction that was taken, and is not locked yet."""
    written = f"{value:,.6g}" if isinstance(value, float) else _text(value, ALONE)
    return f"Your prediction {written} is noted; it will be locked when you measure."


def locked(value: object) -> str:
    """A line on a prediction that was locked before the measurement."""
    made = without_placeholders(value, "the prediction")
    shown = _text(made, ALONE)
    return f"Your prediction {shown} is locked; it will be compared when you measure."


def of_an_earlier_run(entry: dict | None) -> str:
    """A line on a prediction that an earlier run has, or nothing if it has none.

    Parameters
    ----------
    entry : dict or None
        See `new_entry`.
    """
    if entry is None or entry["value"] is None:
        return ""
    if entry["outcome"] is None:
        return f"In an earlier run: your prediction {_text(entry['value'])}, not measured."
    return f"In an earlier run: {_verdict(entry)[0].lower()}{_verdict(entry)[1:]}"


def lock(entry: dict, now: float) -> None:
    """From here on the prediction stands; the first lock counts."""
    if entry["locked_unix_seconds"] is None:
        entry["locked_unix_seconds"] = now


def meet(
    entry: dict, measured: object, choices: bool, now: float, accepted: bool = False
) -> str:
    """Keep the outcome, the first one only, and score the prediction by it.

    Parameters
    ----------
    entry, now
        As for `make`.
    measured : object
        See `without_placeholders`; None: there is no outcome.
    choices : bool
        Whether numbers are names, such as batch sizes: right or wrong.
    accepted : bool
        Whether the prediction counts as right: the measurement does not refute it.

    Returns
    -------
    str
        A line for the student; nothing without a prediction.
    """
    lock(entry, now)
    if entry["outcome"] is None and measured is not None:
        entry["outcome"] = measured
        if (value := entry["value"]) is not None:
            entry.update(score(value, measured, choices))
            if accepted and value != measured:
                entry.update(score(value, value, choices), accepted=True)
    if entry["value"] is None:
        return ""
    if entry["outcome"] is None:
        return f"Your prediction {_text(entry['value'])}: this run has no outcome for it."
    again = measured is not None and measured != entry["outcome"]
    return _verdict(entry) + " The first measurement counts." * again


def not_scored(entry: dict, why: str) -> str:
    """A line on a prediction that this measurement cannot score, or nothing without one.

    Parameters
    ----------
    entry : dict
        See `new_entry`.
    why : str
        A clause.
    """
    if entry["value"] is None:
        return ""
    return (
        f"Your prediction {_text(entry['value'])} is not scored, because {why}. It stands: "
        "measure again to score it."
    )


def score(value: Any, measured: Any, choices: bool = False) -> dict[str, float]:
    """How near a prediction came to its outcome.

    Parameters
    ----------
    value, measured : object
        See `without_placeholders`. Of two dicts, the keys of both count.
    choices : bool
        Whether numbers are right or wrong.

    Returns
    -------
    dict
        For numbers `factor_off`, at least 1.0, of several the median; without a
        factor (one of them is zero, or the signs differ) `difference`. For all else
        `right` and `of`, how many of how many.
    """
    if isinstance(value, dict) and isinstance(measured, dict):
        pairs = [(value[key], measured[key]) for key in measured if key in value]
    else:
        pairs = [(value, measured)]
    numbers = [p for p in pairs if not choices and all(map(_is_number, p))]
    others = [p for p in pairs if choices or not all(map(_is_number, p))]
    found = {}
    factors = [factor for pair in numbers if (factor := factor_off(*pair))]
    if factors:
        found["factor_off"] = median(factors)
    elif numbers:
        found["difference"] = median(abs(true - guess) for guess, true in numbers)
    if others:
        found["right"] = sum(_names(guess) == _names(true) for guess, true in others)
        found["of"] = len(others)
    return found


def factor_off(value: float, measured: float) -> float | None:
    """The larger of two numbers divided by the smaller; None if that says nothing."""
    if value == measured:
        return 1.0
    if value * measured <= 0:
        return None
    factor = max(abs(value), abs(measured)) / min(abs(value), abs(measured))
    return factor if math.isfinite(factor) else None


def with_keys_of(given: object, value: object) -> object:
    """A prediction from a run card, with the keys that the student's dict has."""
    if not isinstance(value, dict):
        return value
    keys = {str(key): key for key in given} if isinstance(given, dict) else {}
    return {keys.get(k, int(k) if k.isdecimal() else k): v for k, v in value.items()}


def how_they_went(content: dict) -> str:
    """A line on the predictions of a run, or nothing if none was made.

    Parameters
    ----------
    content : dict
        A run card's; cards of older versions have none.
    """
    asked, still_open, too_late = asked_and_left(content)
    made = asked - len(still_open) - len(too_late)
    return ", ".join([f"{made} of {asked} made", *how_near(content)]) if made else ""


def how_near(content: dict) -> Iterator[str]:
    """In a few words each, how near the predictions of a run came; see `how_they_went`."""
    factors = _factors(content)
    asked = _entries(content).values()
    made = [entry for entry in asked if entry["value"] is not None]
    if len(factors) == 1:
        yield _off(factors[0])
    elif len(factors) == 2:  # no median of so few says what is typical
        yield "off by factors of " + " and ".join(map(factor_text, sorted(factors)))
    elif factors:
        part = f"{len(factors)} of them " * (len(factors) < len(made))
        yield f"{part}typically {_off(median(factors))}"
    chosen = [entry for entry in made if "right" in entry and "of" in entry]
    if of := sum(entry["of"] for entry in chosen):
        right = sum(entry["right"] for entry in chosen)
        yield f"{right} of {of} choice{'s' * (of > 1)} right"


def asked_and_left(content: dict) -> tuple[int, list[str], list[str]]:
    """How many predictions a run asks for, and which of them are not made.

    Parameters
    ----------
    content : dict
        A run card's.

    Returns
    -------
    asked : int
    still_open, too_late : list of str
        Names; too late is what was measured without one.
    """
    entries = _entries(content)
    left = {k: e for k, e in entries.items() if e["value"] is None}
    too_late = [k for k, e in left.items() if e["locked_unix_seconds"] is not None]
    come = {*entries, *(re.sub(r"_\d+$", "", name) for name in entries)}
    to_come = [name for name in names_asked(content["lab"]) if name not in come]
    still_open = [name for name in left if name not in too_late] + to_come
    return len(entries) + len(to_come), still_open, too_late


def typical_factor(content: dict) -> float | None:
    """The median of the factors by which a run's numbers were off, or None."""
    factors = _factors(content)
    return median(factors) if factors else None


def _factors(content):
    entries = _entries(content).values()
    return [entry["factor_off"] for entry in entries if "factor_off" in entry]


def number(value: float) -> str:
    """A number to three digits, whole ones as they are; with no exponent if it is short."""
    if isinstance(value, int) and abs(value) < 1e9:
        return f"{value:,}"
    rounded = float(f"{value:.3g}")
    if 1000 <= abs(rounded) < 1e9:
        return f"{rounded:,.0f}"
    return f"{rounded:.3g}"


def _entries(content):
    """The student's own, by their names."""
    return {
        name: entry
        for name, entry in content["predictions"].items()
        if is_entry(entry) and not is_the_labs(content["lab"], name)
    }


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Number) and not isinstance(value, bool)


def _names(value):
    """The choices, such that order, capitals and 16.0 for 16 make no difference."""
    several = value if isinstance(value, list) else [value]
    return {
        str(int(one) if isinstance(one, float) and one.is_integer() else one).casefold()
        for one in several
    }


def _verdict(entry):
    value, outcome = entry["value"], entry["outcome"]
    parts = []
    if "factor_off" in entry:
        parts.append(_off(entry["factor_off"]))
    if "difference" in entry:
        parts.append(f"a difference of {number(entry['difference'])}")
    if isinstance(value, dict) and isinstance(outcome, dict):
        if "right" in entry:
            parts.append(f"{entry['right']} of {entry['of']} right")
        asked = outcome.keys() & entry.get("asked", outcome)
        made = len(value.keys() & outcome.keys())
        summary = f"You predicted {made} of {max(made, len(asked) or len(outcome))}"
        typically = "typically " * ("factor_off" in entry or "difference" in entry)
        return f"{summary}{': ' * bool(parts)}{typically}{', '.join(parts)}."
    if "right" in entry:
        parts.append("right" if entry["right"] else "wrong")
    if entry.get("accepted"):
        parts = ["within the uncertainty, so it counts as right"]
    return f"Your prediction {_text(value)}, measured {_text(outcome)}: {parts[0]}."


def _off(factor):
    if factor == 1:
        return "exactly right"
    if factor < 1.005:
        return "off by less than 1%"
    return f"off by a factor of {factor_text(factor)}"


def factor_text(factor: float) -> str:
    """A factor in words; beyond a million, its digits would tell a reader nothing."""
    return number(factor) if factor < 1e6 else "more than a million"


def _text(value, most=MOST_LINE):
    if isinstance(value, dict):  # no colon: the line has one of its own
        return _several([f"{key} → {_text(entry)}" for key, entry in value.items()], most)
    if isinstance(value, list):
        return _several([_text(one) for one in value], most) or "none"
    if _is_number(value):
        return number(value)
    return textwrap.shorten(str(value), 60, placeholder=" ...")


def _several(parts, most):
    """Parts of a line; of many the first, and how many are left out."""
    kept = [p for n, p in enumerate(parts, 1) if len(", ".join(parts[:n])) <= most]
    hidden = len(parts) - len(kept)
    if hidden < 2:  # to name it takes no more room than to count it
        return ", ".join(parts)
    return ", ".join([*kept, f"and {hidden} more"])


def _at(unix_seconds):
    then, today = time.localtime(unix_seconds), time.localtime()
    same_day = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M", then)
