"""Probes of lab 08: faster on one device."""

import contextlib
import json
import math
import threading
import time

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.arguments import call

PATIENCE_SECONDS = 1.5  # how long a fetch and a step wait for each other, once
SETTLED_SECONDS = 0.05  # without a new fetch: then it has fetched ahead what it wants
MOST_AHEAD = 8
LATE_BATCH, LATE_SECONDS = 12, 0.1  # no answer fetches as far ahead before its first step


def layer_costs(answer, question, wait):
    """Operations and bytes that the answer counts for each layer."""
    said = []
    for case in question["cases"]:
        kernel = case["kernel"] and tuple(case["kernel"])
        shapes = tuple(case["inputs"]), tuple(case["outputs"])
        costs = answer(case["kind"], *shapes, kernel, case["value_bytes"])
        said.append([float(n) for way in ("forward", "backward") for n in costs[way]])
    return {"costs": said}


def best_change(answer, question, wait):
    """The change that the answer would make first, for each profile."""
    said = []
    for case in question["cases"]:
        (name, speedup), changed = call(
            answer, seconds=case["seconds"], changes=case["changes"]
        )
        said.append([name, float(speedup)])
        if changed:
            return {"changes": said, "changed": changed}
    return {"changes": said, "changed": ""}


class Source:
    """A slow source of images that notes what is fetched while a step runs."""

    def __init__(self, case):
        self.batch_size, self.images = case["batch_size"], case["images"]
        self.offset = case["offset"]
        self.asked, self.begun, self.overlaps = [], set(), True
        self.whole_numbers = True
        self.changed, self.first_step = threading.Condition(), threading.Event()

    def fetch(self, numbers):
        numbers = np.atleast_1d(np.asarray(numbers))
        whole, numbers = numbers.dtype.kind in "iu", numbers.astype(int)
        batches = {int(number) // self.batch_size for number in numbers}
        with self.changed:
            self.asked.append([int(number) for number in numbers])
            self.begun |= batches
            # No error: in a thread it may leave its reader waiting for ever.
            self.whole_numbers = self.whole_numbers and whole
            self.changed.notify_all()
        if LATE_BATCH in batches:
            time.sleep(LATE_SECONDS)  # whoever hands on what is ready skips it
        # Whatever comes after the first batch ends only when a step runs.
        if min(batches, default=0) > 0 and not self.first_step.wait(PATIENCE_SECONDS):
            self.overlaps = False
            self.first_step.set()
        rows = [[number + self.offset, 2 * number] for number in numbers]
        return np.array(rows, "float32").reshape(-1, 2)

    def step(self, number):
        """Run a step on a batch: it ends when the fetch of the next one has begun."""
        self.first_step.set()
        last = math.ceil(self.images / self.batch_size) - 1
        with self.changed:
            if number < last and self.overlaps:
                self.overlaps = self.changed.wait_for(
                    lambda: number + 1 in self.begun, PATIENCE_SECONDS
                )

    def fetched_ahead(self):
        """How many batches the answer has begun to fetch, once it begins no more."""
        with self.changed:
            count = -1
            while count < len(self.begun) <= 2 * MOST_AHEAD:
                count = len(self.begun)
                self.changed.wait_for(lambda: len(self.begun) > count, SETTLED_SECONDS)  # noqa: B023
            return len(self.begun)


def feed(answer, question, wait):
    """Run steps on the answer's batches: what was fetched, when, and what came."""
    seen = []
    for case in question["cases"]:
        seen.append(_feed(answer, case))
        if not seen[-1]["overlaps"]:  # it would take as long once more
            break
    return {"cases": seen}


def _feed(answer, case):
    source, batches, types, ahead = Source(case), [], set(), None
    most = math.ceil(source.images / source.batch_size) + 1
    for number, batch in enumerate(answer(source.fetch, source.images, source.batch_size)):
        batches.append(np.asarray(batch).tolist())
        types.add(getattr(getattr(batch, "dtype", None), "name", type(batch).__name__))
        source.step(number)
        if ahead is None:
            ahead = source.fetched_ahead()
        if len(batches) == most:
            break
    source.first_step.set()
    return {
        "batches": batches,
        "types": sorted(types),
        "calls": source.asked[: 4 * source.images],
        "whole_numbers": source.whole_numbers,
        "overlaps": source.overlaps,
        "ahead": ahead or 0,
    }


def scaled_step(answer, question, wait):
    """Train some steps with gradients in float16: scales, weights, states."""
    weights = [np.array(w, "float32") for w in question["weights"]]
    state, steps = dict(question["state"]), []
    for true in question["gradients"]:
        scales, at_weights = [], []

        def gradients_at(at, scale, true=true, scales=scales, at_weights=at_weights):
            scales.append(float(scale))
            at_weights.append(_same_arrays(at, before))  # noqa: B023
            exact = [np.array([math.nan if g is None else g for g in of]) for of in true]
            with np.errstate(over="ignore"):
                return [(g * scale).astype("float16") for g in exact]

        before, state_before = [w.copy() for w in weights], dict(state)
        with np.errstate(all="ignore"):
            new, new_state = answer(
                weights, gradients_at, question["learning_rate"], state,
                question["growth_steps"],
            )  # fmt: skip
        if state != state_before:
            return {"steps": steps, "changed": "`state`"}
        if not _same_arrays(weights, before):
            return {"steps": steps, "changed": "`weights`"}
        types = _types(new)
        weights = [np.asarray(w, "float32") for w in new]
        state = new_state
        steps.append(
            {
                "scales": scales,
                "at_weights": all(at_weights),
                # What JSON lacks, as text.
                "weights": [[_plain(v) for v in w.astype(float).ravel()] for w in weights],
                "scale": float(state["scale"]),
                "good_steps": int(state["good_steps"]),
                "types": types,
            }
        )
    return {"steps": steps, "changed": ""}


def _same_arrays(some, others):
    pairs = list(zip(some, others))  # noqa: B905
    return len(some) == len(others) and all(
        np.asarray(a).dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
        for a, b in pairs
    )


def _types(weights):
    """The types of a list's arrays, or of whatever is none; a tuple does as well."""
    if not isinstance(weights, list | tuple):
        return [type(weights).__name__]
    kinds = {
        w.dtype.name if isinstance(w, np.ndarray) else type(w).__name__ for w in weights
    }
    return sorted(kinds)


def _plain(value):
    return float(value) if math.isfinite(value) else "not finite"


def one_cycle(answer, question, wait):
    """The rates at plain numbers, and in a graph, before and after it was stored."""
    seen = []
    for case in question["cases"]:
        made = answer(*case["arguments"])
        schedule = isinstance(made, keras.optimizers.schedules.LearningRateSchedule)
        rates = _rates(made, case["at"])
        plain = [float(made(step)) for step in case["plain"]]
        one = {"schedule": schedule, "rates": rates, "plain": plain, "stored": None}
        config = made.get_config()
        with contextlib.suppress(TypeError, ValueError):  # not all of it can be stored
            config = json.loads(json.dumps(config, allow_nan=False))
            one["stored"] = _rates(type(made).from_config(config), case["at"])
        seen.append(one)
    return {"cases": seen}


def _rates(schedule, at):
    """As in a training step, which TensorFlow compiles: the step is a tensor."""

    @tf.function(input_signature=[tf.TensorSpec((), tf.int64)])
    def rate(step):
        return tf.cast(schedule(step), "float32")

    return [float(rate(tf.constant(step, tf.int64))) for step in at]


PROBES = {
    "8.1": layer_costs,
    "8.2": best_change,
    "8.3": feed,
    "8.4": scaled_step,
    "8.5": one_cycle,
}
