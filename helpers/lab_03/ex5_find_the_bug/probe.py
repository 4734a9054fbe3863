"""Exercise 3.5: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.scripts import hunt
from helpers.lab_03.ex5_find_the_bug import script


class PretendedRun:
    """A run that trains nothing and moves a clock: what it does takes the given time."""

    def __init__(self, looks: list[list[float]], clock: list[float]) -> None:
        self.looks, self.clock, self.done = looks, clock, 0

    def looks_left(self) -> int:
        return len(self.looks) - self.done

    def train(self) -> None:
        self.clock[0] += self.looks[self.done][0]

    def validate(self) -> float:
        _, seconds, accuracy = self.looks[self.done]
        self.clock[0] += seconds
        self.done += 1
        return accuracy


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """The line, its repair and the cost in each case; the repaired script's results."""

    def run(repaired, i):
        runs, clock = question["runs"][i], [question["starts"][i]]

        def new_run(batch_size):
            clock[0] += 0.5  # to make a network takes time, too
            return PretendedRun(runs[str(batch_size)], clock)

        seconds = repaired(new_run, [*map(int, runs)], question["target"], lambda: clock[0])
        return {str(size): value and float(value) for size, value in seconds.items()}

    return hunt(answer, question["cases"], script.race, run)
