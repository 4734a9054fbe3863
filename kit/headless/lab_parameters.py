"""Show what a lab's parameters are at each scale, what they mean and what they may be."""

from typing import NamedTuple

import papermill
from rich.console import Console
from rich.table import Table

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
        The comment behind it in the notebook, or "".
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
    comments = papermill.inspect_notebook(str(lab.readable))
    rules = rules_of(lab.name)
    return [
        Parameter(
            name,
            {scale: values[scale][name] for scale in SCALES},
            _without_none(comments[name]["help"]),
            rules[name].text,
        )
        for name in usual
    ]


def _without_none(comment):
    """Leave out that None is chosen by the scale: the table shows by what."""
    parts = (part.strip() for part in comment.split(";"))
    return "; ".join(part for part in parts if not part.startswith("None"))


def show_parameters(lab: Lab) -> None:
    """Print a table of a lab's parameters."""
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("usual value")
    table.add_column("what it is; what it must be", ratio=1)
    for one in parameters_of(lab):
        words = "; ".join(filter(None, (one.meaning, one.allowed)))
        table.add_row(one.name, _in_words(one.values), words)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f"\nTo set them: labs run {lab.number} -p scale=smoke -p NAME=VALUE")


def _in_words(values):
    """One value for all scales, or a line for each scale."""
    texts = {scale: str(value) for scale, value in values.items()}
    if len(set(texts.values())) == 1:
        return texts["laptop"]
    return "\n".join(f"{scale} {text}" for scale, text in texts.items())
