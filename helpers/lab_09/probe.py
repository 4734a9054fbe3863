"""Probes of lab 09: they drive an answer and report what it did. They expect nothing."""

import builtins
import contextlib
import functools
import random
import re
import shutil
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from helpers.lab_09.own_functions import CannotTravelError, packed, unpacked
from helpers.lab_09.threads import DeadlockError, run_in_threads


def by_copies(probe):
    """Give a probe what makes copies of the answer, each as a new process has it.

    What one of them keeps, no other sees. And an answer that the lab could not give to
    its workers is told so here.
    """

    @functools.wraps(probe)
    def run(answer, question, wait):
        try:
            content = packed(answer=answer)
        except CannotTravelError as error:
            return {"cannot_travel": str(error.__cause__)}
        return probe(lambda: unpacked(content)["answer"], question)

    return run


@by_copies
def ring_all_reduce(copy, question):
    """Let threads be the workers, and note every message."""
    cases = [_all_reduce(copy, np.array(arrays, "float32")) for arrays in question["cases"]]
    changed = "`array`" if any(case.pop("changed") for case in cases) else ""
    return {"cases": cases, "changed": changed}


def _all_reduce(copy, arrays):
    given = list(arrays.copy())
    try:
        results, messages = run_in_threads([copy() for _ in given], given)
    except DeadlockError:
        return {"deadlock": True, "changed": False}
    kept = zip(given, arrays, strict=True)
    return {
        "deadlock": False,
        "results": [_as_list(result) for result in results],
        "dtypes": [str(getattr(result, "dtype", "none")) for result in results],
        "new": not any(
            np.shares_memory(result, array)
            for result, array in zip(results, given, strict=True)
            if isinstance(result, np.ndarray)
        ),
        "messages": [
            [m.sender, m.receiver, m.array.size, m.array.nbytes, m.array.dtype.name]
            for m in messages
        ],
        "changed": any(not np.array_equal(now, then) for now, then in kept),
    }


def _as_list(result):
    try:
        return None if result is None else np.asarray(result).tolist()
    except ValueError:  # lists of different lengths
        return None


@by_copies
def worker_shard(copy, question):
    """Call the answer in a drawn order, in the opposite order, and in another process.

    In between the global random generators are moved on, as by a program that goes on.
    """
    calls, seen, untouched = question["calls"], [], True

    def ask(answer, call):
        nonlocal untouched
        np.random.seed(len(seen))  # noqa: NPY002
        random.seed(len(seen))
        before = _global_random()
        read = np.asarray(answer(*call))
        untouched = untouched and _global_random() == before
        whole = read.dtype.kind in "iu" or not read.size
        seen.append(read.tolist() if whole and read.ndim == 1 else None)

    answer = copy()
    for call in [*calls, *reversed(calls)]:
        ask(answer, call)
    answer = copy()
    with other_hashes():
        for call in calls:
            ask(answer, call)
    n = len(calls)
    first, again, elsewhere = seen[:n], seen[n : 2 * n][::-1], seen[2 * n :]
    return {
        "first": first, "again": again, "elsewhere": elsewhere, "untouched": untouched
    }  # fmt: skip


@contextlib.contextmanager
def other_hashes():
    """Give texts, and what holds them, other hashes: each process has its own."""
    here = builtins.hash

    def elsewhere(thing):
        return here((thing, "elsewhere")) if _has_text(thing) else here(thing)

    builtins.hash = elsewhere
    try:
        yield
    finally:
        builtins.hash = here


def _has_text(thing):
    if isinstance(thing, tuple | frozenset):
        return any(map(_has_text, thing))
    return isinstance(thing, str | bytes)


def _global_random():
    _, numbers, *rest = np.random.get_state()  # noqa: NPY002
    return numbers.tobytes(), *rest, random.getstate()


MOST_EPOCHS = 200  # that one start may ask for; the right answer asks for four
MOST_STEPS = 300


class Killed(BaseException):
    """What an answer cannot catch with `except Exception`: as if its process was gone."""


@by_copies
def restart(copy, question):
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
        fresh = Path(place, "fresh")
        first = _life(copy(), question | {"epochs": 1}, last, fresh, False)
        return {
            "lives": lives, "other": other, "unchanged": unchanged, "kept": kept,
            "first_began_at": first["began_at"], "written_at_first": len(_files(fresh)),
        }  # fmt: skip


def _life(answer, question, weights, folder, chief, stop=None, kept_aside=None):
    """Train from a start of the process until the end, or until it is killed."""
    # The moving mean is in the model only. Here it is a sum, which forgets nothing.
    norm = keras.layers.BatchNormalization(center=False, scale=False)
    dense = keras.layers.Dense(1)
    model = keras.Sequential([keras.Input((len(weights),)), norm, dense])
    dense.kernel.assign(np.array(weights, "float32").reshape(-1, 1))
    optimizer = keras.optimizers.SGD(question["learning_rate"], question["momentum"])
    optimizer.build(model.trainable_variables)
    batches, asked = [], []

    def train_step(batch):
        if len(batches) == stop:
            if folder.exists():
                shutil.copytree(folder, kept_aside)
            raise Killed
        if len(batches) == MOST_STEPS:
            raise RuntimeError("it trains on and on")
        epoch, number = batch
        batches.append([int(epoch), int(number)])
        gradient = np.array(question["gradients"][epoch][number], "float32")
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
    returned = None
    try:
        returned = answer(*given, question["save_every"], chief)
    except Killed:
        return {"batches": batches, "began_at": "killed", "weights": []}
    except IndexError:  # after the last epoch there is no batch
        returned = "too many epochs"
    began_at = int(returned) if isinstance(returned, int | np.integer) else str(returned)
    return {
        "batches": batches[:100],
        "began_at": began_at,
        "weights": [
            float(w) for of in (dense.kernel, norm.moving_mean) for w in of.numpy().flat
        ],
    }


def _half_a_save(folder):
    """Leave what a save leaves that was killed: files without an end, by path."""
    numbered = [(re.fullmatch(r"(.*?)(\d+)", f.stem), f) for f in folder.glob("*.index")]
    numbered = [(int(name[2]), name[1]) for name, _ in numbered if name]
    if not numbered:
        return {}
    number, name = max(numbered)
    names = f"{name}{number + 1}.index", f"{name}{number + 1}.data-00000-of-00001"
    planted = {folder / name: b"half of " + name.encode() for name in names}
    for file, content in planted.items():
        file.write_bytes(content)
    return planted


def _files(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def save_interval(answer, question, wait):
    """Both intervals and the lost seconds that the answer gives for each job."""
    return {"said": [[float(n) for n in answer(*case)] for case in question["cases"]]}


def forecast(answer, question, wait):
    """Images per second and efficiency, in turn and overlapped, for each cluster."""
    said = []
    for case in question["cases"]:
        by_way = answer(*case)
        said.append([float(n) for way in ("in_turn", "overlapped") for n in by_way[way]])
    return {"said": said}


PROBES = {
    "9.1": ring_all_reduce,
    "9.2": worker_shard,
    "9.3": restart,
    "9.4": save_interval,
    "9.5": forecast,
}
