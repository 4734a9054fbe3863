"""Exercise 7.1: drives an answer, expects nothing."""

import cProfile
import gc
import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
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


class _Steps:
    """Steps whose losses depend on every step before, and that know who calls them."""

    def __init__(self, case):
        self.cores, self.asked, self.traces = case["cores"], case["calls"], 0
        # On a second device, as under a strategy: there XLA cannot compile a step.
        simulated_replicas()
        with tf.device("CPU:1"):
            self.state = tf.Variable(0.0)

    def one_step(self, block, i):
        self.traces += 1
        pushes, losses = block
        self.state.assign(0.5 * self.state + pushes[i])
        return losses[i] + self.state

    def seen(self):
        return {"traces": self.traces, "state": float(self.state)}

    def call(self, run, turn):
        asked = self.asked[turn]
        block = tuple(tf.constant(asked[name], tf.float32) for name in ("pushes", "losses"))
        profile = cProfile.Profile(builtins=False)
        before = sys.getprofile()
        gc.disable()  # freeing objects calls functions, too
        profile.enable()
        try:
            returned = run(block, asked["count"])
        finally:
            profile.disable()
            sys.setprofile(before)
            gc.enable()
        calls = sum(entry.callcount for entry in profile.getstats())
        seen = self.seen() | {"python_calls": calls}
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
