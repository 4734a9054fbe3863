"""Exercise 8.3: drives an answer, expects nothing."""

import math
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

PATIENCE_SECONDS = 1.5  # how long a fetch and a step wait for each other, once
SETTLED_SECONDS = 0.05  # without a new fetch: then it has fetched ahead what it wants
MOST_AHEAD = 8
LATE_BATCH, LATE_SECONDS = 12, 0.1  # no answer fetches as far ahead before its first step


class Source:
    """A slow source of images that notes what is fetched while a step runs."""

    def __init__(self, case: dict) -> None:
        self.batch_size, self.images = case["batch_size"], case["images"]
        self.offset = case["offset"]
        self.asked, self.begun, self.overlaps = [], set(), True
        self.changed, self.first_step = threading.Condition(), threading.Event()

    def fetch(self, numbers: Sequence[int] | np.ndarray) -> np.ndarray:
        numbers = np.atleast_1d(np.asarray(numbers)).astype(int)
        batches = {int(number) // self.batch_size for number in numbers}
        with self.changed:
            self.asked.append([int(number) for number in numbers])
            self.begun |= batches
            self.changed.notify_all()
        if LATE_BATCH in batches:
            time.sleep(
                LATE_SECONDS
            )  # an answer that hands on batches as they come skips it
        # Whatever comes after the first batch ends only when a step runs.
        if min(batches, default=0) > 0 and not self.first_step.wait(PATIENCE_SECONDS):
            self.overlaps = False
            self.first_step.set()
        rows = [[number + self.offset, 2 * number] for number in numbers]
        return np.array(rows, "float32").reshape(-1, 2)

    def step(self, number: int) -> None:
        """Run a step on a batch: it ends when the fetch of the next one has begun."""
        self.first_step.set()
        last = math.ceil(self.images / self.batch_size) - 1
        with self.changed:
            if number < last and self.overlaps:
                self.overlaps = self.changed.wait_for(
                    lambda: number + 1 in self.begun, PATIENCE_SECONDS
                )

    def fetched_ahead(self) -> int:
        """How many batches the answer has begun to fetch, once it begins no more."""
        with self.changed:
            count = -1
            while count < len(self.begun) <= 2 * MOST_AHEAD:
                count = len(self.begun)
                self.changed.wait_for(lambda: len(self.begun) > count, SETTLED_SECONDS)  # noqa: B023
            return len(self.begun)


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Run steps on the answer's batches: what was fetched, when, and what came."""
    seen, feeds = [], []  # a feed that was stopped early may still run
    for case in question["cases"]:
        seen.append(_feed(answer, case, feeds))
        if not seen[-1]["overlaps"]:  # it would take as long once more
            break
    return {"cases": seen}


def _feed(answer, case, feeds):
    source, batches, ahead, overwritten = Source(case), [], None, 0
    most = case.get("stop_after", math.ceil(source.images / source.batch_size) + 1)
    feeds.append(iter(answer(source.fetch, source.images, source.batch_size)))
    for number, batch in enumerate(feeds[-1]):
        batches.append(np.asarray(batch).tolist())
        source.step(number)
        if ahead is None:
            ahead = source.fetched_ahead()
        if not overwritten and np.asarray(batch).tolist() != batches[-1]:
            overwritten = number + 1
        if len(batches) == most:
            break
    source.first_step.set()
    return {
        "batches": batches,
        "calls": source.asked[: 4 * source.images],
        "overwritten": overwritten,
        "overlaps": source.overlaps,
        "ahead": ahead or 0,
    }
