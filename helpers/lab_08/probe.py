"""Probes of lab 08: faster on one device."""

import math
import threading

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.arguments import call

PATIENCE_SECONDS = 1.5  # how long a fetch and a step wait for each other, once
SETTLED_SECONDS = 0.05  # without a new fetch: then it has fetched ahead what it wants
MOST_AHEAD = 8


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

    def __init__(self, question):
        self.batch_size, self.images = question["batch_size"], question["images"]
        self.offset = question["offset"]
        self.asked, self.begun, self.overlaps = [], set(), True
        self.changed, self.first_step = threading.Condition(), threading.Event()

    def fetch(self, numbers):
        numbers = np.atleast_1d(np.asarray(numbers)).astype(int)
        batches = {int(number) // self.batch_size for number in numbers}
        with self.changed:
            self.asked.append([int(number) for number in numbers])
            self.begun |= batches
            self.changed.notify_all()
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
    source, batches, ahead = Source(question), [], None
    most = math.ceil(source.images / source.batch_size) + 1
    for number, batch in enumerate(answer(source.fetch, source.images, source.batch_size)):
        batches.append(np.asarray(batch).tolist())
        source.step(number)
        if ahead is None:
            ahead = source.fetched_ahead()
        if len(batches) == most:
            break
    source.first_step.set()
    return {
        "batches": batches,
        "calls": source.asked[: 4 * source.images],
        "overlaps": source.overlaps,
        "ahead": ahead or 0,
    }


def scaled_step(answer, question, wait):
    """Train some steps with gradients in float16: scales, weights, states."""
    weights = [np.array(w, "float32") for w in question["weights"]]
    state, steps = dict(question["state"]), []
    for true in question["gradients"]:
        scales = []

        def gradients_at(weights, scale, true=true, scales=scales):
            scales.append(float(scale))
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
        same = [np.array_equal(w, b, equal_nan=True) for w, b in zip(weights, before)]  # noqa: B905
        if not all(same):
            return {"steps": steps, "changed": "`weights`"}
        types = sorted({np.asarray(w).dtype.name for w in new})
        weights = [np.asarray(w, "float32") for w in new]
        state = new_state
        steps.append(
            {
                "scales": scales,
                # What JSON lacks, as text.
                "weights": [[_plain(v) for v in w.astype(float).ravel()] for w in weights],
                "scale": float(state["scale"]),
                "good_steps": int(state["good_steps"]),
                "types": types,
            }
        )
    return {"steps": steps, "changed": ""}


def _plain(value):
    return float(value) if math.isfinite(value) else "not finite"


def one_cycle(answer, question, wait):
    """The rates at some steps, in a graph, before and after it was stored."""
    seen = []
    for case in question["cases"]:
        made = answer(*case["arguments"])
        schedule = isinstance(made, keras.optimizers.schedules.LearningRateSchedule)
        rates = _rates(made, case["at"])
        stored = _rates(type(made).from_config(made.get_config()), case["at"])
        seen.append({"schedule": schedule, "rates": rates, "stored": stored})
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
