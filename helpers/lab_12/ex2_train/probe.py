"""Exercise 12.2: drives an answer, expects nothing."""

import inspect
import textwrap
import threading
from collections.abc import Callable
from types import FunctionType

import numpy as np

from helpers.checks.probing.arguments import call
from helpers.lab_12.patterns import from_text, training_set


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Train with each seed, and let the predictors predict in several ways."""
    images = from_text(question["images"])
    before, predictors, changed = threading.active_count(), [], ""
    for seed in question["seeds"]:
        x, y = training_set(question["set"], question["classes"], question["inverted"])
        predictor, what = call(answer, x=x, y=y, seed=seed)
        predictors.append(predictor)
        changed = changed or what
    labels = []
    for predictor in predictors:
        predicted, what = call(predictor, images=images)
        labels.append(_labels(predicted))
        changed = changed or what
    first = predictors[0]
    singles = [_labels(first(images[i : i + 1])) for i in question["singles"]]
    turned = _labels(first(images[::-1]))
    return {
        "labels": labels,
        "singles": singles,
        "turned": turned[::-1] if isinstance(turned, list) else turned,
        "threads": threading.active_count() - before,
        "source": _source(answer),
        "changed": changed,
    }


def _labels(predicted):
    """A list of whole numbers, or what was given instead, in words."""
    array = np.asarray(predicted)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        return f"{array.dtype} {array.shape}"
    return array.tolist()


def _source(answer):
    """The source of a function, or None where there is none to read."""
    if not isinstance(answer, FunctionType):
        return None
    try:
        return textwrap.dedent(inspect.getsource(answer))
    except OSError:
        return None
