"""Check what an operator gives on the command line, before any slow import."""

import ast
import json
import re
from collections.abc import Iterable
from pathlib import Path

from helpers.errors import LabError, ParameterError
from helpers.files import FULL, why_not_writable
from helpers.machine.computer import nvidia_gpus
from helpers.notebook import estimate
from helpers.parameters import (
    at_scale,
    check_given,
    defaults,
    scale_asked_for,
    sizes_of,
)
from kit.labs import Lab

OF_ONE_LAB = re.compile(r"(\d\d)\.(?=[a-z_]+=)")


def parsed(texts: Iterable[str], lab: Lab) -> dict:
    """Check the texts given for a lab, and turn them into values.

    Parameters
    ----------
    texts : list of str
        As ``"epochs=3"``.
    lab : kit.labs.Lab

    Returns
    -------
    dict
        The value by name.

    Raises
    ------
    LabError
        As `by_name`.
    ParameterError
        One line: a name or a value that the lab does not take.
    """
    usual, sizes = declared(lab)
    given = {
        name: value if isinstance(usual.get(name), str) else _value(value)
        for name, value in by_name(texts).items()
    }
    if given.get("log_dir"):  # relative to this folder, not to the kernel's
        given["log_dir"] = str(Path(given["log_dir"]).absolute())
    known = {name: given.get(name, value) for name, value in usual.items()}
    scale_asked_for(known, lab.name)  # of LABS_SCALE, which is no parameter
    try:
        check_given(known, lab.name, sizes, set(given) - set(usual))
    except ParameterError as error:
        more = f"`labs parameters {lab.number}` explains the parameters."
        raise ParameterError(f"{error} {more}") from error
    return given


def for_each(texts: Iterable[str], labs: list[Lab]) -> list[dict]:
    """`parsed` for each of several labs; ``"00.repeats=2"`` is for lab 00 alone.

    Parameters
    ----------
    texts : list of str
    labs : list of kit.labs.Lab

    Returns
    -------
    list of dict

    Raises
    ------
    LabError
        As `parsed`, or if a text is for a lab that is not among these.
    """
    numbers = [lab.number for lab in labs]
    for text in texts:
        found = OF_ONE_LAB.match(text)
        if found and found[1] not in numbers:
            raise LabError(
                f"-p {text} is for lab {found[1]}, but the labs to run are "
                f"{', '.join(numbers)}."
            )
        name = text.partition("=")[0]
        known = [lab.number for lab in labs if name in declared(lab)[0]]
        if not found and 0 < len(known) < len(labs):
            lacks = ", ".join(number for number in numbers if number not in known)
            alone = " ".join(f"-p {number}.{text}" for number in known)
            raise LabError(
                f"{name} is no parameter of lab {lacks}. To set it where it is one, give "
                f"{alone}."
            )
    return [parsed(texts_of(texts, [lab.number]), lab) for lab in labs]


def texts_of(texts: Iterable[str], numbers: list[str]) -> list[str]:
    """The texts that concern these labs; for one lab, without its number.

    Parameters
    ----------
    texts : list of str
        As ``"00.repeats=2"`` or ``"epochs=3"``.
    numbers : list of str

    Returns
    -------
    list of str
    """
    found = [(OF_ONE_LAB.match(text), text) for text in texts]
    return [
        text[3:] if of_one and len(numbers) == 1 else text
        for of_one, text in found
        if not of_one or of_one[1] in numbers
    ]


def by_name(texts: Iterable[str]) -> dict[str, str]:
    """The text behind each name that ``-p`` gives.

    Parameters
    ----------
    texts : list of str
        As ``"epochs=3"``.

    Returns
    -------
    dict of str to str

    Raises
    ------
    LabError
        One line: a text without ``=``, or a second one with the same name.
    """
    given = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise LabError(f"-p takes NAME=VALUE, such as -p epochs=3, not {text!r}.")
        if name in given:
            both = f"as {given[name]!r} and {value!r}"
            raise LabError(f"-p gives {name} twice, {both}: keep one of them.")
        given[name] = value
    return given


def check_folder(folder: Path, what: str, remedy: str) -> None:
    """Ask the file system now, not after hours of work.

    Parameters
    ----------
    folder : Path
        Is made if need be.
    what : str
        What will be written there: "reports".
    remedy : str
        What to do if that cannot be.

    Raises
    ------
    LabError
        One line, if a file cannot be written there.
    """
    if error := why_not_writable(folder):
        space = "free some space there, or " if error.errno in FULL else ""
        raise LabError(
            f"{what} cannot be written to {folder} ({error.strerror}): {space}{remedy}."
        )


def warning(lab: Lab, runs: list[dict]) -> str | None:
    """A line about runs on the CPU that will take long; None for the others.

    Parameters
    ----------
    lab : kit.labs.Lab
    runs : list of dict
        For each run what is given, as `parsed`.

    Returns
    -------
    str or None

    Raises
    ------
    ParameterError
        If a step needs more memory than this machine has.
    """
    usual, sizes = declared(lab)
    if nvidia_gpus():
        return None
    values = []
    for given in runs:
        known = usual | given
        scale = scale_asked_for(known, lab.name)
        values.append(at_scale(known, sizes, "laptop" if scale == "auto" else scale))
    return estimate.warning(lab.name, values, sizes)


def declared(lab: Lab) -> tuple[dict, dict]:
    """The default values of a lab's parameters.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    tuple of dict
        The parameters with their usual values; and for each scale the values of those
        that are None.
    """
    cells = json.loads(lab.readable.read_text(encoding="utf-8"))["cells"]
    [cell] = [c for c in cells if "parameters" in c["metadata"].get("tags", ())]
    return defaults("".join(cell["source"])), sizes_of(lab.name)


def _value(text):
    try:
        value = ast.literal_eval(text)
    # Which of these a text raises that is no value, ast.literal_eval says.
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return list(value) if isinstance(value, tuple) else value
