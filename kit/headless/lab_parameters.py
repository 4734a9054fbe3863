"""Show what a lab's parameters are at each scale, what they mean and what they may be."""

import tomllib
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from helpers import plain_json
from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.parameters import at_scale, rules_of
from kit.headless.given_parameters import declared
from kit.labs import Lab

SCALES = ("smoke", "laptop", "gpu")


class Parameter(NamedTuple):
    """A parameter of a lab.

    Attributes
    ----------
    name : str
    values : dict
        Its value at each scale, if nobody gives one.
    meaning : str
        A sentence.
    allowed : str
        What it must be, in words.
    """

    name: str
    values: dict[str, object]
    meaning: str
    allowed: str


def parameters_of(lab: Lab) -> list[Parameter]:
    """The parameters of a lab, in the notebook's order."""
    usual, sizes = declared(lab)
    values = {
        scale: at_scale(usual, sizes, scale) | {"scale": usual["scale"]} for scale in SCALES
    }
    meanings, rules = meanings_of(lab), rules_of(lab.name)
    return [
        Parameter(
            name,
            {scale: values[scale][name] for scale in SCALES},
            meanings[name],
            rules[name].text,
        )
        for name in usual
    ]


def meanings_of(lab: Lab) -> dict[str, str]:
    """What each of a lab's parameters means, in a sentence.

    Parameters
    ----------
    lab : kit.labs.Lab
        Its `parameters.toml` has what is different from other labs.

    Returns
    -------
    dict of str to str

    Raises
    ------
    LabError
        If nothing is said about one of them.
    """
    said = {**_words(REPOSITORY / "helpers"), **_words(lab.folder)}
    said |= dict.fromkeys(without_effect(lab), "It has no effect in this lab.")
    names = list(declared(lab)[0])
    if missing := [name for name in names if name not in said]:
        raise LabError(
            f"helpers/{lab.folder.name}/parameters.toml says nothing about "
            f"{', '.join(missing)}."
        )
    return {name: said[name] for name in names}


def without_effect(lab: Lab) -> list[str]:
    """The parameters that a lab takes because all labs have them, and does not use."""
    return _words(lab.folder).get("without_effect", [])


def _words(folder):
    return tomllib.loads((folder / "parameters.toml").read_text(encoding="utf-8"))


def show_parameters(lab: Lab, as_json: bool = False) -> None:
    """Print a table of a lab's parameters, or a list of them as JSON."""
    if as_json:
        print(plain_json.as_json([one._asdict() for one in parameters_of(lab)]))
        return
    console = Console(highlight=False, markup=False)
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("usual value", max_width=console.width // 5)
    table.add_column("meaning, and what it must be", ratio=1)
    for one in parameters_of(lab):
        allowed = f"{one.allowed[0].upper()}{one.allowed[1:]}."
        table.add_row(one.name, _in_words(one.values), f"{one.meaning} {allowed}")
    console.print(table)
    console.print(f"\nTo set them: labs run {lab.number} -p scale=smoke -p NAME=VALUE")


def _in_words(values):
    """One value for all scales, or a line for each scale."""
    texts = {scale: str(value) or "''" for scale, value in values.items()}
    if len(set(texts.values())) == 1:
        return texts["laptop"]
    return "\n".join(f"{scale} {text}" for scale, text in texts.items())
