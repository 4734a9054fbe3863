"""Exercise 9.3: drives an answer, expects nothing."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.copies import by_copies
from helpers.lab_09.ex3_train_with_saves.saves import MOST_STEPS, ON_AND_ON, half_a_save

MOST_EPOCHS = 200  # that one start may ask for; the right answer asks for four


class Killed(BaseException):
    """What an answer cannot catch with `except Exception`: as if its process was gone."""


@by_copies
def probe(copy: Callable, question: dict, wait: Callable) -> dict:
    """Kill training twice: what each life trained on, the weights, and what was kept."""
    with tempfile.TemporaryDirectory() as place:
        folder, kept_aside = Path(place, "saves"), Path(place, "kept aside")
        lives = []
        for stop, weights in zip(question["stops"], question["weights"], strict=False):
            lives.append(_life(copy(), question, weights, folder, True, stop, kept_aside))
            # Whatever an answer did after the kill has not happened.
            shutil.rmtree(folder, ignore_errors=True)
            if kept_aside.exists():
                kept_aside.rename(folder)
        planted = _half_a_save(folder)
        before = _files(folder)
        last = question["weights"][-1]
        if folder.exists():
            shutil.copytree(folder, kept_aside)
        other = _life(copy(), question, last, folder, False)
        unchanged = _files(folder) == before
        shutil.rmtree(folder, ignore_errors=True)
        if kept_aside.exists():
            kept_aside.rename(folder)
        lives.append(_life(copy(), question, last, folder, True))
        for file, content in planted.items():
            if file.exists() and file.read_bytes() == content:
                file.unlink()
        kept = len(list(folder.rglob("*.index")))
        # Once more, where all is done.
        lives.append(_life(copy(), question, last, folder, True))
        fresh, short = Path(place, "fresh"), question | {"epochs": 1}
        answer = copy()
        train_elsewhere(answer, short)
        first = _life(answer, short, last, fresh, False)
        return {
            "lives": lives, "other": other, "unchanged": unchanged, "kept": kept,
            "first_began_at": first["began_at"], "written_at_first": len(_files(fresh)),
        }  # fmt: skip


def _life(answer, question, weights, folder, chief, stop=None, kept_aside=None):
    """Train from a start of the process until the end, or until it is killed."""
    batches = []

    def gradient_of(epoch, number):
        if len(batches) == stop:
            if kept_aside and folder.exists():
                shutil.copytree(folder, kept_aside)
            raise Killed
        if len(batches) == MOST_STEPS:
            raise RuntimeError(ON_AND_ON)
        batches.append([int(epoch), int(number)])
        return question["gradients"][epoch][number]

    try:
        ended = live(answer, question, weights, folder, chief, gradient_of)
    except Killed:
        return {"batches": batches, "began_at": "killed", "weights": []}
    return {"batches": batches[:100]} | ended


def train_elsewhere(answer: Callable, question: dict) -> None:
    """Let an answer train in a folder of its own, with gradients of 0, before it begins."""
    weights = question["weights"]
    zeros = [0.0] * (len(weights[0]) if isinstance(weights[0], list) else len(weights))
    with tempfile.TemporaryDirectory() as folder:
        live(answer, question, zeros, Path(folder, "saves"), True, lambda *_: zeros)


def live(
    answer: Callable,
    question: dict,
    weights: list[float],
    folder: Path,
    chief: bool,
    gradient_of: Callable,
) -> dict:
    """Let an answer train from a start of the process until its end.

    Parameters
    ----------
    answer : callable
    question : dict
    weights : list of float
        Those of a new model.
    folder : Path
        For the saves.
    chief : bool
    gradient_of : callable
        ``gradient_of(epoch, number)`` gives that of a batch; `IndexError` if there is none.

    Returns
    -------
    dict
        `began_at`, what it returned, and its `weights`.
    """
    # The moving mean is in the model only. Here it is a sum, which forgets nothing.
    norm = keras.layers.BatchNormalization(center=False, scale=False)
    dense = keras.layers.Dense(1)
    model = keras.Sequential([keras.Input((len(weights),)), norm, dense])
    dense.kernel.assign(np.array(weights, "float32").reshape(-1, 1))
    optimizer = keras.optimizers.SGD(question["learning_rate"], question["momentum"])
    optimizer.build(model.trainable_variables)
    asked = []

    def train_step(batch):
        epoch, number = batch
        gradient = np.array(gradient_of(epoch, number), "float32")
        pull = question["pull"] * dense.kernel.numpy()
        norm.moving_mean.assign(norm.moving_mean + gradient)
        gradients = [tf.constant(gradient.reshape(-1, 1) + pull), tf.zeros(1)]
        optimizer.apply(gradients, model.trainable_variables)

    def data(epoch, first):
        asked.append(epoch)
        if len(asked) > MOST_EPOCHS:
            raise RuntimeError("an epoch was asked for again and again")
        numbers = range(question["steps_per_epoch"])
        return ((int(epoch), number) for number in numbers[int(first) :])

    given = model, optimizer, train_step, data, question["epochs"], str(folder)
    try:
        returned = answer(*given, question["save_every"], chief)
    except IndexError:  # after the last epoch there is no batch
        returned = "too many epochs"
    began_at = int(returned) if isinstance(returned, int | np.integer) else str(returned)
    return {
        "began_at": began_at,
        "weights": [
            float(w) for of in (dense.kernel, norm.moving_mean) for w in of.numpy().flat
        ],
    }


def _half_a_save(folder):
    """Leave what a save leaves that was killed: files without an end, by path."""
    half = half_a_save([file.name for file in folder.glob("*.index")])
    planted = {folder / name: content for name, content in half.items()}
    for file, content in planted.items():
        file.write_bytes(content)
    return planted


def _files(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
