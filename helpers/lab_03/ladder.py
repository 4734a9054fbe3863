"""The ladder of learning rates that each batch size tries before the race."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

FACTOR = 3  # between neighbouring rates
MOST_TRIALS = 6


def climb(
    accuracies: Callable[[float, int], Sequence[float]],
    middle: float,
    looks: int,
    target: float,
) -> list[dict[str, Any]]:
    """Try three rates, and more on a side as long as its outermost rate is the best.

    Parameters
    ----------
    accuracies : callable
        Trains with a rate for at most so many looks, or until the target. Returns the
        accuracy at every look.
    middle : float
        The first rate. The next two are a third of it and three times it.
    looks : int
        The most looks of a trial. After a success, later trials get one look less than
        it needed, because with more they could not win.
    target : float
        The accuracy that a trial has to reach.

    Returns
    -------
    list of dict
        The `rate`, the number of `looks` and the last `accuracy` of each trial.
    """
    tried: dict[int, dict[str, Any]] = {}
    to_try = [0, -1, 1]
    while to_try:
        rung = to_try.pop(0)
        rate = middle * FACTOR**rung
        seen = accuracies(rate, looks)
        tried[rung] = {"rate": rate, "looks": len(seen), "accuracy": seen[-1]}
        if seen[-1] >= target:
            looks = max(1, len(seen) - 1)
        low, high = min(tried), max(tried)
        ends = {tried[low]["rate"]: low - 1, tried[high]["rate"]: high + 1}
        best = best_of(tried.values(), target)["rate"]
        if not to_try and best in ends and len(tried) < MOST_TRIALS:
            to_try = [ends[best]]
    return list(tried.values())


def best_of(trials: Iterable[dict[str, Any]], target: float) -> dict[str, Any]:
    """The trial that reached the target soonest; if none did, the most accurate one."""
    trials = list(trials)
    successful = [trial for trial in trials if trial["accuracy"] >= target]
    if successful:
        return min(successful, key=lambda trial: trial["looks"])
    return max(trials, key=lambda trial: trial["accuracy"])
