"""Exercise 12.2: the questions, and the verdict on what the probe saw."""

import ast
from random import Random

import numpy as np

from helpers.lab_12.patterns import (
    CLASSES,
    CLEAR_IMAGES,
    MIXED_IMAGES,
    as_text,
    noisy,
    patterns,
)
from helpers.speed_record.source_rules import source_problems
from helpers.verdict import Wrong, wrong

LEAST_RIGHT = 0.9  # of the clear images
MOST_DIFFERENT = 0.05  # of the mixed images, between two trainings with one seed


def draw_question(rng: Random) -> dict:
    """A set of images, three seeds of which two are the same, and images to predict."""
    number, inverted = rng.randrange(10**6), rng.random() < 0.5
    classes = rng.sample(range(CLASSES), rng.randint(3, 6))
    one, other = rng.sample(range(1, 10**6), 2)
    clear = [rng.choice(classes) for _ in range(CLEAR_IMAGES)]
    mixed = [rng.sample(classes, 2) for _ in range(MIXED_IMAGES)]
    drawn = patterns(number, inverted)
    halves = [(drawn[a] // 2 + drawn[b] // 2) for a, b in mixed]
    images = noisy(np.concatenate([drawn[clear], halves]), rng.randrange(10**6))
    return {
        "set": number,
        "classes": classes,
        "inverted": inverted,
        "seeds": [one, other, one],
        "images": as_text(images),
        "singles": rng.sample(range(CLEAR_IMAGES), 4)
        + rng.sample(range(CLEAR_IMAGES, CLEAR_IMAGES + MIXED_IMAGES), 6),
        "secret": {"labels": clear},
    }


def judge(question: dict, observation: dict) -> Wrong | None:
    """Accept a training that learns, repeats, and predicts each image by itself."""
    if problem := _source_problem(observation["source"]):
        return wrong("source", "source", problem=problem)
    labels, turned = observation["labels"], observation["turned"]
    due = CLEAR_IMAGES + MIXED_IMAGES
    for given in (*labels, turned):
        if not isinstance(given, list):
            return wrong("form", "form", given=given, due=due)
        if len(given) != due:
            return wrong("count", "count", given=len(given), due=due)
    first, other, again = (np.array(given) for given in labels)
    singles = [
        one[0] if isinstance(one, list) and len(one) == 1 else one
        for one in observation["singles"]
    ]
    together = [labels[0][i] for i in question["singles"]]
    alone = sum(a != b for a, b in zip(singles, together, strict=True))
    same_seeds = _different(first, other) == 0
    if alone and same_seeds:
        return wrong("start", "start", alone=alone, singles=len(singles))
    if alone:
        return wrong("alone", "alone", alone=alone, singles=len(singles))
    if share := _different(first, np.array(turned)):
        return wrong("order", "order", percent=100 * share)
    right = [_right(given, question) for given in (first, other, again)]
    if right[0] >= LEAST_RIGHT > min(right):
        return wrong("again", "again", first=100 * right[0], later=100 * min(right))
    if min(right) < LEAST_RIGHT:
        return wrong(
            "learns", "learns", right=100 * min(right), classes=len(question["classes"])
        )
    if _different(first, again) > MOST_DIFFERENT:
        return wrong("repeats", "repeats", percent=100 * _different(first, again))
    if same_seeds:
        return wrong("seeds", "seeds", seeds=question["seeds"][:2])
    if observation["threads"] > 0:
        return wrong("threads", "threads", threads=observation["threads"])
    return None


def _different(one, other):
    """The share of the mixed images whose labels differ."""
    return float(np.mean(one[CLEAR_IMAGES:] != other[CLEAR_IMAGES:]))


def _right(given, question):
    """The share of the clear images whose labels are right."""
    return float(np.mean(given[:CLEAR_IMAGES] == question["secret"]["labels"]))


def _source_problem(source):
    """The first rule that the source breaks, under whatever name it has; None if none."""
    if source is None:
        return None
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a function within an expression
        return None
    if tree.body and isinstance(tree.body[0], ast.FunctionDef):
        tree.body[0].name = "train"
        return next(iter(source_problems(ast.unparse(tree))), None)
    return None
