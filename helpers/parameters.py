"""The rules for lab parameters, for a notebook and for the command line alike."""

import ast
from itertools import chain

from helpers.errors import ParameterError

SCALES = ("auto", "gpu", "laptop", "smoke")


def _whole(low, high=None):
    def rule(value):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and value >= low and (high is None or value <= high)

    upper = "up" if high is None else f"to {high:,}"
    return rule, f"a whole number from {low} {upper}"


def _number(low, high):
    def rule(value):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and low <= value <= high

    return rule, f"a number from {low:g} to {high:g}"


def _list_of(rule, text):
    def all_of(value):
        return isinstance(value, (list, tuple)) and bool(value) and all(map(rule, value))

    return all_of, f"a list, each entry {text}"


def _rising(rule, text):
    def rises(value):
        return rule(value) and list(value) == sorted(set(value))

    return rises, f"{text}, rising"


def _or_none(rule, text):
    return lambda value: value is None or rule(value), f"{text}, or None for all"


_DEPTH = (
    lambda value: isinstance(value, int) and value >= 10 and (value - 4) % 6 == 0,
    "6n+4: 10, 16, 22, ...",
)
# Every parameter of every lab. None stands for "what the scale says".
RULES = {
    "scale": (lambda value: value in SCALES, f"one of {', '.join(SCALES)}"),
    "seed": _whole(0, 2**31 - 1),
    "epochs": _whole(1),
    "batch_size": _whole(1),
    "valid_batch_size": _whole(1),
    "batch_sizes": _rising(*_list_of(*_whole(1))),
    # Larger than the training set is fine here: it is repeated.
    "sweep_batch_sizes": _rising(*_list_of(*_whole(1))),
    "repeats": _whole(2),
    "seeds": _whole(1),
    "train_images": _whole(1, 60_000),
    "valid_images": _whole(1, 10_000),
    "train_points": _whole(128, 100_000),
    "depth": _DEPTH,
    "width": _whole(1, 64),
    "dropout": _number(0, 0.99),
    "learning_rate": _number(1e-9, 10),
    "momentum": _number(0, 1),
    "learning_rate_drop_epochs": _rising(*_list_of(*_whole(1))),
    "weight_decay": _number(0, 1),
    "shift": _number(0, 0.5),
    "flip": (lambda value: isinstance(value, bool), "True or False"),
    "target_accuracy": (
        lambda value: isinstance(value, (int, float)) and 0 < value < 1,
        "a number between 0 and 1, such as 0.85",
    ),
    "patience": _whole(1),
    "patience_seconds": _number(1, 86_400),
    "gpu_index": _whole(0),
    "gpu_indices": _or_none(*_rising(*_list_of(*_whole(0)))),
    "replicas": _or_none(*_whole(1)),
    "global_batches": _rising(*_list_of(*_whole(1))),
    "warmup_epochs": _number(0, 100),
    "log_interval": _whole(1),
    "pixel_mean": _number(0, 1),
    "pixel_deviation": _number(0.01, 1),
    "image_size": _whole(64, 512),
    "alpha": (
        lambda value: value in (0.35, 0.5, 0.75, 1.0, 1.3, 1.4),
        "0.35, 0.5, 0.75, 1.0, 1.3 or 1.4",
    ),
    "from_folders": (lambda value: isinstance(value, bool), "True or False"),
    "rows": _whole(1),
    "columns": _whole(1),
    "train_newswires": _whole(1, 8_982),
    "valid_newswires": _whole(1, 2_246),
    "vocabulary": _whole(100, 30_982),
    "words": _whole(20, 2_000),
    "log_dir": (lambda value: isinstance(value, str), "a folder's path, or ''"),
}


def check_parameters(values, allowed, lab, optional=()):
    """Refuse a parameter that the lab does not have, or a value it cannot take.

    Parameters
    ----------
    values : dict
        What was given, by name.
    allowed : iterable of str
        The names that the lab has.
    lab : str
        For the message.
    optional : iterable of str
        Names that may be None, "as the scale says".

    Raises
    ------
    ParameterError
        With one line that says what is allowed.
    """
    for name, value in values.items():
        if name not in allowed:
            raise ParameterError(
                f"lab {lab} has no parameter {name!r}; it has {', '.join(allowed)}."
            )
        rule, text = RULES[name]
        if value is None and name in optional:
            continue
        if not rule(value):
            raise ParameterError(f"{name} must be {text}, not {value!r}.")
    lists = [values.get(name) or () for name in ("batch_sizes", "global_batches")]
    largest = max([values.get("batch_size") or 0, *chain(*lists)])
    for name in ("train_images", "train_newswires", "train_points"):
        size = values.get(name)
        if size and largest > size:
            raise ParameterError(
                f"batch size {largest:,} is larger than the training set of {size:,} "
                f"{name.removeprefix('train_')}: give a smaller one, or more {name}."
            )


def assigned_names(source):
    """The names that a cell assigns at its top level, in their order."""
    names = []
    for node in ast.parse(source).body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names
