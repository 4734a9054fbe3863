"""Exercise 99.1: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.verdicts import draw_apart, near, which
from helpers.verdict import Wrong, wrong


def make_cases(rng: Random) -> dict:
    """Four pairs of images and batch size: one divides evenly, and two do not.

    The last differs from the first in its batch size alone, and the others in their images:
    an answer that finds a result again has to look at both.
    """
    batch_size, steps = rng.randint(8, 64), rng.randint(5, 50)
    exact = batch_size * steps
    cases = [[exact + extra, batch_size] for extra in (0, 1, batch_size - 1)]
    return {"cases": [*cases, [exact, 2 * batch_size]]}


def ways_to_count(question: dict) -> dict:
    """For each way of counting, the steps in all cases."""
    cases = question["cases"]
    return {
        "right": [-(-images // size) for images, size in cases],
        "start": [0 for _ in cases],
        "dropped": [images // size for images, size in cases],
        "too_many": [images // size + 1 for images, size in cases],
    }


def draw_question(rng: Random) -> dict:
    """Draw cases in which every usual mistake gives a different answer."""
    return draw_apart(rng, make_cases, ways_to_count, lambda one, other: one != other)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Accept one step for each full batch, and one more for the images left over."""
    ways, reply = ways_to_count(question), observation["steps"]
    mistake = which(reply, ways, near())
    if mistake == "right":
        return None
    cases = [f"{images} / {size}" for images, size in question["cases"]]
    return wrong(mistake, "steps", cases=cases, said=reply, due=ways["right"])
