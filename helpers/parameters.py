"""The rules for lab parameters, for notebooks and for the command line.

This file has the rules that all labs share, and functions that make rules. The rules of
each lab's own parameters are in `helpers/lab_NN/parameters.py`.
"""

import ast
import difflib
import importlib
import os
from collections.abc import Callable, Iterable
from itertools import chain
from types import ModuleType
from typing import NamedTuple

from helpers.errors import ParameterError

SHOWN = 60  # characters of a refused value
SCALES = ("auto", "gpu", "laptop", "smoke")


class Rule(NamedTuple):
    """The rule for a parameter.

    Attributes
    ----------
    allows : callable
        Of the value: whether the lab can take it.
    text : str
        The rule in words, for after "must be".
    taken_as : callable
        Of an allowed value: what the lab gets. Keras takes no 1 for 1.0.
    """

    allows: Callable
    text: str
    taken_as: Callable = lambda value: value


def whole(low: int, high: int) -> Rule:
    """A whole number from `low` to `high`, both allowed."""

    def allows(value):
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and low <= value <= high

    return Rule(allows, f"a whole number from {low:,} to {high:,}")


def number(low: float, high: float) -> Rule:
    """A number from `low` to `high`, both allowed; the lab gets a float."""

    def allows(value):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and low <= value <= high

    return Rule(allows, f"a number from {low:g} to {high:,g}", float)


def one_of(*values: object) -> Rule:
    """One of a few values."""

    def allows(value):
        return not isinstance(value, bool) and value in values

    text = f"one of {', '.join(map(str, values))}"
    return Rule(allows, text, lambda value: values[values.index(value)])


def rising(rule: Rule) -> Rule:
    """A list whose entries keep a rule, each larger than the one before."""

    def allows(value):
        if not isinstance(value, (list, tuple)) or not value or len(value) > MOST_ENTRIES:
            return False
        return all(map(rule.allows, value)) and list(value) == sorted(set(value))

    text = f"a rising list of at most {MOST_ENTRIES} entries, each {rule.text}"
    return Rule(allows, text, lambda value: list(map(rule.taken_as, value)))


def or_none(rule: Rule) -> Rule:
    """A rule that also allows None."""
    return Rule(
        lambda value: value is None or rule.allows(value),
        f"{rule.text}, or None",
        lambda value: None if value is None else rule.taken_as(value),
    )


MOST_ENTRIES = 100
YES_OR_NO = Rule(lambda value: isinstance(value, bool), "True or False")
FOLDER = Rule(
    lambda value: isinstance(value, str) and "\0" not in value, "a folder's path, or ''"
)
# Hundreds of times the labs' longest training.
EPOCHS = whole(1, 10_000)
# A training set has 60,000 images at the most.
BATCH_SIZE = whole(1, 60_000)
# More than any training of the labs can tell apart; each is a whole training.
REPEATED_RUNS = 100

# Those that mean the same in each lab that has them, see `usual`.
USUAL_RULES = {
    "valid_batch_size": BATCH_SIZE,
    # Of fewer a network learns nothing, and figures have nothing to show.
    "train_images": whole(100, 60_000),
    "valid_images": whole(1, 10_000),
    "depth": Rule(
        lambda value: isinstance(value, int) and 10 <= value <= 100 and value % 6 == 4,
        "6n + 4 and at most 100 (10, 16, 22, ...)",
    ),
    # The deepest and the widest network of the Wide ResNet paper are 40 and 12.
    "width": whole(1, 20),
    "dropout": number(0, 0.99),
    "learning_rate": number(1e-9, 10),
    "peak_learning_rate": number(1e-9, 10),
    "momentum": number(0, 1),
    "weight_decay": number(0, 1),
    "shift": number(0, 0.5),
    "flip": YES_OR_NO,
    "target_accuracy": Rule(
        lambda value: isinstance(value, (int, float)) and 0 < value < 1,
        "a number between 0 and 1, such as 0.85",
        float,
    ),
    "patience": EPOCHS,
    # TensorFlow copies a step's graph for each: 64 simulated ones take minutes to start.
    "replicas": or_none(whole(1, 64)),
    "gpu_indices": or_none(rising(whole(0, 63))),
}

# Every lab has these four.
SHARED_RULES = {
    "scale": one_of(*SCALES),
    "seed": whole(0, 2**31 - 1),
    "epochs": EPOCHS,
    "batch_size": BATCH_SIZE,
}


def rules_of(lab: str) -> dict[str, Rule]:
    """The rules of a lab's parameters.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.

    Returns
    -------
    dict of str to Rule
    """
    return SHARED_RULES | module_of(lab).RULES


def usual(*names: str) -> dict[str, Rule]:
    """The rules of parameters that mean the same in each lab that has them."""
    return {name: USUAL_RULES[name] for name in names}


def by_scale(**sizes: tuple) -> dict[str, dict]:
    """For each scale the values of some parameters; each gives three, in this order."""
    scales = ("smoke", "laptop", "gpu")
    return {
        scale: {name: values[place] for name, values in sizes.items()}
        for place, scale in enumerate(scales)
    }


def sizes_of(lab: str) -> dict[str, dict]:
    """For each scale the value of every parameter of a lab that may be left at None.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    """
    return module_of(lab).SIZES


def module_of(lab: str) -> ModuleType:
    """The module with the rules of a lab's own parameters."""
    return importlib.import_module(f"helpers.lab_{lab[:2]}.parameters")


def own_parameters(namespace: dict, lab: str) -> dict:
    """The lab's parameters among a notebook's names.

    Raises
    ------
    ParameterError
        If one is missing: its line was deleted; or all are: the cell was not run.
    """
    names = rules_of(lab)
    missing = [name for name in names if name not in namespace]
    if missing == list(names):
        raise ParameterError(
            "the first code cell, with the parameters, has not been run: run it, then this "
            "one."
        )
    if missing:
        raise ParameterError(
            f"the first code cell has no line for {', '.join(missing)}: put it back, as it "
            f"is in solutions/{lab}.ipynb, and run the first cells again."
        )
    return {name: namespace[name] for name in names}


def check_parameters(
    values: dict, lab: str, allowed: Iterable[str], optional: Iterable[str] = ()
) -> dict:
    """Refuse a parameter that the lab does not have, or a value that it cannot take.

    Parameters
    ----------
    values : dict
        What was given, by name.
    lab : str
        ``"02_throughput"``.
    allowed : iterable of str
        The names that the lab has.
    optional : iterable of str
        Names that may be None: then the scale sets the value.

    Returns
    -------
    dict
        The values as the lab takes them: a float where a float is meant.

    Raises
    ------
    ParameterError
        With one line that says what is allowed.
    """
    rules = rules_of(lab)
    taken = dict(values)
    for name, value in values.items():
        if name not in allowed:
            line = f"lab {lab} has no parameter {name!r}; it has {', '.join(allowed)}."
            for near in difflib.get_close_matches(name, allowed, 1):
                line += f" Did you mean {near}?"
            raise ParameterError(line)
        if value is None and name in optional:
            continue
        if not rules[name].allows(value):
            raise ParameterError(f"{name} must be {rules[name].text}, not {_short(value)}.")
        taken[name] = rules[name].taken_as(value)
    lists = [values.get(name) or () for name in ("batch_sizes", "global_batches")]
    largest = max([values.get("batch_size") or 0, *chain(*lists)])
    for name in ("train_images", "train_newswires", "train_points"):
        size = values.get(name)
        if size and largest > size:
            raise ParameterError(
                f"batch size {largest:,} is larger than the training set of {size:,} "
                f"{name.removeprefix('train_')}: give a smaller one, or more {name}."
            )
    # A rule of the lab's own about several parameters.
    if refuse := getattr(module_of(lab), "refuse", None):
        refuse(values)
    return taken


def _short(value):
    """A value for a message of one line, however long it is."""
    try:
        text = repr(value)
    except ValueError:  # Python shows no number of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def check_given(
    given: dict, lab: str, sizes: dict[str, dict], injected: Iterable[str] = ()
) -> None:
    """Check all that can be checked before the device is known.

    Parameters
    ----------
    given : dict
        The lab's parameters by name.
    lab : str
    sizes : dict of dict
        For each scale the value of every parameter that was left at None.
    injected : iterable of str
        Other names that were given a value: the lab does not have them.

    Raises
    ------
    ParameterError
        With one line.
    """
    names, optional = tuple(given), set(sizes["laptop"])
    check_parameters(dict.fromkeys(injected) | given, lab, names, optional)
    scale = scale_asked_for(given, lab)
    scales = [scale] if scale != "auto" else ["laptop", "gpu"]
    problems = []
    for possible in scales:
        try:
            check_parameters(at_scale(given, sizes, possible), lab, names)
            return
        except ParameterError as error:
            problems.append(error)
    # Later scales have larger sets: a value that fails the last one fails all.
    raise problems[-1]


def scale_asked_for(given: dict, lab: str) -> str:
    """The scale of the parameters; for "auto" that of ``LABS_SCALE``, if it is set."""
    scale = given["scale"]
    if scale == "auto":
        scale = os.environ.get("LABS_SCALE") or "auto"
        if scale not in SCALES:
            raise ParameterError(
                f"LABS_SCALE must be one of {', '.join(SCALES)}, not {scale!r}."
            )
    return scale


def at_scale(given: dict, sizes: dict[str, dict], scale: str) -> dict:
    """The parameters, with the scale's value for every None."""
    scale_values = sizes[scale]
    filled = {
        name: scale_values[name] if value is None and name in scale_values else value
        for name, value in given.items()
    }
    return filled | {"scale": scale}


def defaults(source: str) -> dict:
    """The parameters of a lab: the values that its first code cell assigns, by name."""
    return {name: ast.literal_eval(value) for name, value in _assigned(source)}


def assigned_names(source: str) -> list[str]:
    """The names that a cell assigns at its top level."""
    return [name for name, _ in _assigned(source)]


def _assigned(source):
    for node in ast.parse(source).body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        yield from ((t.id, node.value) for t in targets if isinstance(t, ast.Name))
