"""Functions that the probes of lab 05 share."""

from collections.abc import Sequence

from helpers.checks.probing.replicas import simulated_replicas


def strategies(question: dict) -> list:
    """The strategy of each case: those of the lab, which also has one of one replica."""
    counts = [case["replicas"] for case in question["cases"]]
    # The largest first: what TensorFlow computes before that fixes its devices.
    simulated_replicas(max(counts))
    return [simulated_replicas(count) for count in counts]


def all_of(facts: Sequence[bool]) -> bool | None:
    """Whether all of them hold, however many; None if there is none."""
    return all(facts) if facts else None
