"""Probes of lab 07: the cores of a TPU. None of them needs a strategy."""

import cProfile
import gc
import sys
from unittest import mock

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas


def core_indices(answer, question, wait):
    """Ask for the images of each core, in an order that no core can rely on."""
    return {
        "cases": [
            [
                _plain(answer(core, *sizes, epoch, seed))
                for core, epoch, seed in case["calls"]
            ]
            for case in question["cases"]
            for sizes in [[case[name] for name in ("replicas", "images", "batch_size")]]
        ]
    }


def _plain(returned):
    try:
        array = np.asarray(returned)
    except ValueError:  # rows of different lengths
        return {"shape": None, "indices": None}
    whole = array.dtype.kind in "iu" and array.ndim == 2
    return {"shape": list(array.shape), "indices": array.tolist() if whole else None}


def new_optimizer(answer, question, wait):
    """Make all optimizers, then train a linear model with each; report every step."""
    names = "base_learning_rate", "momentum", "replicas"
    cases = question["cases"]
    optimizers = [answer(*[case[name] for name in names]) for case in cases]
    return {"cases": list(map(_train_linear, optimizers, cases))}


def _train_linear(optimizer, case):
    weights = [keras.Variable(values, dtype="float32") for values in case["weights"]]
    optimizer.build(weights)
    after = []
    for batch, iteration in zip(case["batches"], case["iterations"], strict=True):
        if iteration is not None and hasattr(optimizer.iterations, "assign"):
            optimizer.iterations.assign(iteration)  # as after many steps
        x, y = np.array(batch["x"]), np.array(batch["y"])[:, None]
        kernel, bias = map(keras.ops.convert_to_numpy, weights)
        # The mean squared error's gradient.
        slopes = 2 * (x @ kernel + bias - y) / len(y)
        gradients = [x.T @ slopes, slopes.sum(axis=0)]
        optimizer.apply(
            [keras.ops.convert_to_tensor(g, "float32") for g in gradients], weights
        )
        after.append(_flat(weights))
    optimizer.finalize_variable_values(weights)  # as at the end of `fit`
    return [*after, _flat(weights)]


def _flat(weights):
    return [float(v) for w in weights for v in keras.ops.convert_to_numpy(w).ravel()]


def steps_in_one_call(answer, question, wait):
    """Make all functions first, then run them in turns; see what each run did."""
    cases = [_Steps(case) for case in question["cases"]]
    runs = [answer(case.one_step, case.cores) for case in cases]
    made = [case.seen() for case in cases]
    calls = [[] for _ in cases]
    for turn in range(max(len(case["calls"]) for case in question["cases"])):
        for case, run, seen in zip(cases, runs, calls, strict=True):
            if turn < len(case.asked):
                seen.append(case.call(run, turn))
    return {"made": made, "calls": calls}


ASKED_IN_A_GRAPH = 4  # the last call for a short block: nothing is left to trace


def _runs_in_a_graph(run, block, asked):
    """Whether `run` works where tensors have no values yet: then it reads none."""
    graph = tf.function(lambda block: run(block, asked["count"]), autograph=False)
    try:
        graph.get_concrete_function(block)
    except Exception:  # NumPy, Python and TensorFlow each have an own error for it
        return False
    return True


class _Steps:
    """Steps whose losses depend on every step before, and that know who calls them."""

    def __init__(self, case):
        self.cores, self.asked, self.traces = case["cores"], case["calls"], 0
        self.numbers = set()  # the types of the tensors that say which step
        # On a second device, as under a strategy: there XLA cannot compile a step.
        simulated_replicas()
        with tf.device("CPU:1"):
            self.state = tf.Variable(0.0)

    def one_step(self, block, i):
        self.traces += 1
        if tf.is_tensor(i):
            self.numbers.add(i.dtype.name)
        pushes, losses = block
        self.state.assign(0.5 * self.state + pushes[i])
        return losses[i] + self.state

    def seen(self):
        return {
            "traces": self.traces,
            "state": float(self.state),
            "numbers": sorted(self.numbers),
        }

    def call(self, run, turn):
        asked = self.asked[turn]
        block = tuple(tf.constant(asked[name], tf.float32) for name in ("pushes", "losses"))
        reads, profile = [0], cProfile.Profile(builtins=False)
        tensor = type(block[0])
        read = tensor._numpy

        def count_reads(value):
            # Whoever reads a tensor in Python comes by here, but not NumPy.
            reads[0] += value.dtype.is_floating or value.dtype.is_bool
            return read(value)

        before = sys.getprofile()
        gc.disable()  # what it frees calls functions, too
        with mock.patch.object(tensor, "_numpy", count_reads):
            profile.enable()
            try:
                returned = run(block, asked["count"])
            finally:
                profile.disable()
                sys.setprofile(before)
                gc.enable()
        calls = sum(entry.callcount for entry in profile.getstats())
        seen = self.seen() | {"python_calls": calls, "reads": reads[0]}
        if turn == ASKED_IN_A_GRAPH:
            seen["reads"] += not _runs_in_a_graph(run, block, asked)
        if returned is None:
            return seen | {"tensor": False, "shape": None, "dtype": "", "values": []}
        values = np.asarray(returned, "float64")
        return seen | {
            # A variable may change later.
            "tensor": tf.is_tensor(returned) and not isinstance(returned, tf.Variable),
            "shape": list(values.shape),
            "dtype": getattr(getattr(returned, "dtype", None), "name", ""),
            "values": values.ravel().tolist(),
        }


PROBES = {"7.1": core_indices, "7.2": new_optimizer, "7.3": steps_in_one_call}
