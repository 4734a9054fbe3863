"""Questions, verdicts and hints of lab 99."""

from helpers.checks.exercise import Exercise
from helpers.checks.judging.verdicts import draw_apart, near, which


def make_steps(rng):
    """Pairs of images and batch size: one that divides, and two that do not."""
    batch_size, steps = rng.randint(8, 64), rng.randint(5, 50)
    exact = batch_size * steps
    return {"cases": [[exact + extra, batch_size] for extra in (0, 1, batch_size - 1)]}


def steps_ways(question):
    """For each way of counting, the steps in all cases."""
    cases = question["cases"]
    return {
        "right": [-(-images // size) for images, size in cases],
        "start": [0 for _ in cases],
        "dropped": [images // size for images, size in cases],
        "too_many": [images // size + 1 for images, size in cases],
    }


def steps_question(rng):
    """Cases in which every usual mistake gives something else."""
    return draw_apart(rng, make_steps, steps_ways, lambda one, other: one != other)


def judge_steps(question, observation):
    """Every image once: full batches, and one more for the rest."""
    ways, said = steps_ways(question), observation["steps"]
    hint = which(said, ways, near())
    if hint == "right":
        return None
    shown = ", ".join(f"{images} / {size}" for images, size in question["cases"])
    return f"for {shown} it gave {said}, not {ways['right']}", hint


EXERCISES = {
    "99.1": Exercise(
        title="every image is in one of the steps",
        requirements={
            "full": "Every full batch is a step.",
            "rest": "The images that are left over are one more step.",
        },
        question=steps_question,
        judge=judge_steps,
        hints={
            "start": "It gives 0 for everything. How many full batches do the images fill?",
            "dropped": "Which images are in no step of yours?",
            "too_many": "If the batches fill up exactly, is there another one?",
            "raised": "Read Python's error above. Does your function take two numbers?",
            "other": "Count by hand: 5 images in batches of 2.",
        },
    ),
}
