"""Exercise 3.5: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.checks.judging.scripts import judge_hunt
from helpers.checks.judging.verdicts import near
from helpers.verdict import Wrong

same = near(1e-6)


def make_times(rng: Random) -> dict:
    """Runs with few and many looks, of which validation is a small and a large part."""
    cases = [
        [looks, *_seconds(rng)] for looks in (1, 2, rng.randint(3, 6), rng.randint(7, 30))
    ]
    rng.shuffle(cases)
    return {"cases": cases}


def _seconds(rng):
    return [round(rng.uniform(*ends), 3) for ends in ((0.5, 4.0), (0.2, 3.0))]


def too_long(case: list[float], mistake: str) -> list[float]:
    """How many times too long the time is, if one makes this mistake."""
    looks, train, valid = case
    training, counted = looks * train, (looks - 1) * valid
    right = (training + counted) / training
    return [
        {
            "every_look": 1 + valid / train,
            "seconds": counted,
            "share": counted / (training + counted),
            "added": counted / training,
            "inverse": 1 / right,
            "one_look": 1 + (looks > 1) * valid / training,
            "percent": 100 * right,
        }.get(mistake, right)
    ]


TOO_LONG = Formula(
    too_long,
    ("every_look", "seconds", "share", "added", "inverse", "one_look", "percent"),
    arguments=(0, 1, 2),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Times for which every usual mistake shows, and races to run."""
    question = TOO_LONG.draw(rng, make_times)
    count, target = len(question["cases"]), round(rng.uniform(0.7, 0.9), 2)
    return question | {
        "target": target,
        "runs": [_race(rng, target) for _ in range(count)],
        "starts": [round(rng.uniform(10, 1000), 3) for _ in range(count)],
    }


def _race(rng, target):
    """Runs that reach the target at the first look, later, at the last one, and never."""
    sizes = rng.sample([8, 16, 32, 64, 128, 256, 512, 1024], 4)
    firsts = [(0, 3), (2, 5), (4, 5), (None, 4)]
    rng.shuffle(firsts)
    return {
        str(size): [
            # Exactly at the target, up to the rounding of float32.
            [*_seconds(rng), target - 4e-8 if look == first else target - 0.003]
            for look in range(looks)
        ]
        for size, (first, looks) in zip(sizes, firsts, strict=True)
    }


def right_seconds(looks: list[list[float]], target: float) -> float | None:
    """The seconds of training until the target, or None."""
    total = 0.0
    for seconds, _, accuracy in looks:
        total += seconds
        if round(accuracy, 6) >= target:
            return total
    return None


def judge(question: dict, observation: dict) -> Wrong | None:
    """The seconds of the repaired script, then how many times too long they were."""

    def unrepaired(case, result, i):
        due = {
            size: right_seconds(looks, question["target"])
            for size, looks in question["runs"][i].items()
        }
        return result.keys() != due.keys() or not all(
            result[size] == due[size] if None in (result[size], due[size])
            else same(result[size], due[size])
            for size in due
        )  # fmt: skip

    return judge_hunt(question, observation, unrepaired, TOO_LONG)
