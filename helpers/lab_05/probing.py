"""What probes of lab 05 share."""

from collections.abc import Sequence

import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas


def strategies(question: dict) -> list:
    """The strategy of each case; one replica is what there is without a strategy."""
    # All first: what TensorFlow computes before that fixes its devices.
    return [
        simulated_replicas(case["replicas"])
        if case["replicas"] > 1
        else tf.distribute.get_strategy()
        for case in question["cases"]
    ]


def all_of(facts: Sequence[bool]) -> bool | None:
    """Whether all of them hold, however many; None if there is none."""
    return all(facts) if facts else None
