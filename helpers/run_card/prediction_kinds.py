"""Whether a prediction is of the kind that its lab asks for."""

import ast
import re
import textwrap
from collections.abc import Sequence

from helpers.errors import RunCardError
from helpers.parameters import module_of
from helpers.texts import read_texts

FORECAST = "forecast"  # a number that the lab's own code predicts, not the student
AS_PYTHON = "with a point, not a comma, and without quotes, such as 0.5"
WRITE = {
    "number": f"one number, {AS_PYTHON}",
    "amount": f"one number, 0 or more, {AS_PYTHON}",
    "ratio": f"one number above 0, {AS_PYTHON}",
    "fraction": f"one number from 0 to 1, {AS_PYTHON}",
    FORECAST: "one number",
    "truth": "True or False, without quotes",
    "word": "a word between quotes",
    "list": "a list of numbers above 0, such as [16, 256], or [] for none",
    "place": "a place: a whole number from 1, for the first",
}
# A dict of these, with the names that the lab's cell has.
OF_EACH_NAME = {
    "numbers": "number", "amounts": "amount", "ratios": "ratio",
    "truths": "truth", "words": "word", "places": "place",
}  # fmt: skip


def kind_of(lab: str, name: str) -> str | None:
    """The kind of a prediction, from its lab's `quiz.toml`; None if nothing is said.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    name : str
        Of "law_holds_at_48" the lab says what "law_holds_at" is.
    """
    kinds = read_texts(lab[:2])["predictions"]
    return kinds.get(name) or kinds.get(re.sub(r"_\d+$", "", name))


def choices_of(lab: str, name: str) -> list[str]:
    """The words that a prediction can be, from its lab's `quiz.toml`; empty: any value."""
    return read_texts(lab[:2])["prediction_choices"].get(name, [])


def names_asked(lab: str) -> list[str]:
    """What a lab asks students to predict: "law_holds_at" for "law_holds_at_48"."""
    kinds = read_texts(lab[:2])["predictions"]
    return [name for name, kind in kinds.items() if kind != FORECAST]


def is_the_labs(lab: str, name: str) -> bool:
    """Whether the lab's own code makes a prediction: it is not the student's."""
    return kind_of(lab, name) == FORECAST


def check_name(lab: str, name: str) -> None:
    """Refuse a prediction about a value that the lab cannot measure.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    name : str
        Such as "law_holds_at_48". Its end is the value, and the lab's `parameters.py` says
        in `NAMED_BY` which variable it comes from.

    Raises
    ------
    RunCardError
        In one line: the value, the rule, and what to do.
    """
    for beginning, (variable, rule) in _lab_says(lab, "NAMED_BY", {}).items():
        if name.startswith(f"{beginning}_"):
            text = name.removeprefix(f"{beginning}_")
            if not rule.allows(_value(text)):
                shown = textwrap.shorten(text, 60, placeholder=" ...")
                raise RunCardError(
                    f"{variable} must be {rule.text}, not {shown}. Change it and run the "
                    "cell again."
                )


def _value(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def why_not_comparable(lab: str, name: str, measurements: dict) -> str:
    """Why a lab's measurement says nothing about a prediction, or nothing if it does."""
    asked = _lab_says(lab, "why_not_comparable", lambda *_: "")
    return asked(name, measurements)


def _lab_says(lab, attribute, otherwise):
    return getattr(module_of(lab), attribute, otherwise)


def check_kind(kind: str, value: object, what: str, choices: Sequence[str] = ()) -> None:
    """Refuse a value of another kind.

    Parameters
    ----------
    kind : str
        One of `WRITE` or `OF_EACH_NAME`.
    value : object
        Plain JSON without placeholders. One number is a list of one, too.
    what : str
        For the message, such as "the prediction 'loss'".
    choices : sequence of str
        The words that are possible; empty: any.

    Raises
    ------
    RunCardError
        In one line: what it is, and what to write.
    """
    if kind not in OF_EACH_NAME:
        if not fits(kind, value, choices):
            raise _refused(what, value, _asked(kind, choices))
        return
    one = OF_EACH_NAME[kind]
    if not isinstance(value, dict):
        asked = f"{{...}} as the cell had it, and after each colon {_asked(one, choices)}"
        raise _refused(what, value, asked)
    for key, entry in value.items():
        if not fits(one, entry, choices):
            raise _refused(f"{what}, at {key!r},", entry, _asked(one, choices))


def _asked(kind, choices):
    return " or ".join(f'"{one}"' for one in choices) or WRITE[kind]


def fits(kind: str, value: object, choices: Sequence[str] = ()) -> bool:
    """Whether one value is of a kind; parameters as those of `check_kind`."""
    if kind == "truth":
        return isinstance(value, bool)
    if kind == "word":
        return isinstance(value, str) and (not choices or value in choices)
    if kind == "list" and isinstance(value, list):
        return all(_is_number(entry) and entry > 0 for entry in value)
    return _is_number(value) and _is_possible(kind, value)


def _is_possible(kind, value):
    """Whether a number can come out at all: no time is negative, and no share above 1."""
    if kind == "fraction":
        return 0 <= value <= 1
    if kind == "place":
        return value >= 1 and value % 1 == 0
    return {"amount": value >= 0, "ratio": value > 0, "list": value > 0}.get(kind, True)


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refused(what, value, asked):
    description = textwrap.shorten(repr(value), 60, placeholder=" ...")
    if isinstance(value, str):
        description = f"the text {description}"
    if isinstance(value, list):
        description = (
            f"{len(value)} value{'s' * (len(value) != 1)}, {description.strip('[]')}"
        )
    return RunCardError(
        f"{what} is {description}, but the lab asks for {asked}. "
        "Change it and run the cell again."
    )
