"""Exercise 8.4: the questions, and the verdict on what the probe saw."""

import math
from random import Random

import numpy as np

from helpers.checks.judging.verdicts import draw_apart, near, which
from helpers.verdict import Wrong, phrase, wrong

LARGEST = 65504  # in float16


def make_scaling(rng: Random) -> dict:
    """Steps of which some overflow, with gradients that float16 loses unless scaled."""
    large = [round(rng.uniform(0.5, 2), 4) for _ in range(3)]
    small = [round(rng.uniform(1e-6, 3e-6), 9) for _ in range(2)]
    scale = 2.0 ** rng.randint(9, 11)
    growth = rng.choice([2, 3])
    gradients = []
    for _ in range(4 * growth + 6):
        first = [rng.choice([-1, 1]) * rng.uniform(0.2, 1) for _ in large]
        second = [rng.choice([-1, 1]) * rng.uniform(2e-8, 9e-8) for _ in small]
        gradients.append([first, second])
    # Two good ones, then trouble in either array: too large, and not a number.
    for place, (array, bad) in {
        growth + 1: (0, LARGEST * 1.5 / scale),
        growth + 2: (1, None),
        2 * growth + 4: (1, -LARGEST * 3 / scale),
        3 * growth + 6: (0, None),
    }.items():
        gradients[place][array][rng.randrange(len(gradients[place][array]))] = bad
    question = {
        "weights": [large, small],
        "gradients": gradients,
        "learning_rate": rng.choice([0.25, 0.5, 0.125]),
        "state": {"scale": scale, "good_steps": 1},  # of a training before
        "growth_steps": growth,
    }
    still = [[0.0] * len(large), [0.0] * len(small)]
    # Just finite, but not their sum in float16; then the scale becomes as large as nobody
    # limits it, and below 1.
    *_, (*_, scale, _) = scaling(question)
    gradients.append([[64_000 / scale] * len(large), still[1]])
    gradients += [still] * (16 * growth) + [[still[0], [None, *still[1][1:]]]] * 30
    return question


def scaling(question: dict, mistake: str = "") -> list:
    """What each step asks for and leaves behind, if one makes this mistake."""
    weights = [np.array(w, "float32") for w in question["weights"]]
    scale, good = (float(question["state"][name]) for name in ("scale", "good_steps"))
    good = 0 if mistake == "own_count" else good
    growth = question["growth_steps"] + {"late": 1, "early": -1}.get(mistake, 0)
    steps = []
    for true in question["gradients"]:
        asked = 1.0 if mistake in ("start", "never_scaled") else scale
        exact = [np.array([math.nan if g is None else g for g in of]) for of in true]
        with np.errstate(all="ignore"):
            scaled = [(g * asked).astype("float16") for g in exact]
            if mistake == "unscaled_in_half":
                gradients = [(g / np.float16(asked)).astype("float32") for g in scaled]
            else:
                by = 1.0 if mistake == "not_unscaled" else asked
                gradients = [g.astype("float32") / by for g in scaled]
            bad = [_bad(g, mistake) for g in gradients]
            skip = bad[0] if mistake == "first_only" else any(bad)
            move = not skip or mistake in ("start", "updated_anyway")
            if move:
                weights = [
                    w - question["learning_rate"] * g
                    for w, g in zip(weights, gradients, strict=True)
                ]
            if mistake == "zeroed" and skip:
                weights = [
                    w - question["learning_rate"] * np.where(np.isfinite(g), g, 0)
                    for w, g in zip(weights, gradients, strict=True)
                ]
            if mistake == "half_weights":
                weights = [w.astype("float16").astype("float32") for w in weights]
        if mistake != "start":
            scale, good = _next_state(scale, good, skip, growth, mistake)
        steps.append([asked, [w.tolist() for w in weights], scale, good])
    return steps


def _bad(gradient, mistake):
    if mistake == "only_inf":
        return bool(np.isinf(gradient).any())
    if mistake == "only_nan":
        return bool(np.isnan(gradient).any())
    return not np.isfinite(gradient).all()


def _next_state(scale, good, skip, growth, mistake):
    if skip:
        scale = scale if mistake == "not_halved" else scale / 2
        return scale, good if mistake == "count_kept" else 0
    good += 1
    if good >= growth and mistake != "never_doubled":
        return 2 * scale, good if mistake == "count_after" else 0
    return scale, good


SCALING_MISTAKES = [
    "start", "never_scaled", "not_unscaled", "unscaled_in_half", "half_weights",
    "updated_anyway", "zeroed", "first_only", "only_inf", "only_nan", "not_halved",
    "count_kept", "own_count", "count_after", "never_doubled", "late", "early",
]  # fmt: skip


def _plain_steps(steps):
    """As a probe reports them: JSON knows no infinity."""
    return [
        {
            "scales": [asked],
            "weights": [
                [v if math.isfinite(v) else "not finite" for v in w] for w in weights
            ],
            "scale": scale,
            "good_steps": good,
            "types": ["float32"],
        }
        for asked, weights, scale, good in steps
    ]


def _same_step(said, due):
    if said["scales"] != due["scales"] or len(said["weights"]) != len(due["weights"]):
        return False
    pairs = zip(said["weights"], due["weights"], strict=True)
    return _same_state(said, due) and all(_same_weights(*pair) for pair in pairs)


def _same_state(said, due):
    return said["scale"] == due["scale"] and said["good_steps"] == due["good_steps"]


def _same_weights(said, due):
    if "not finite" in said or "not finite" in due:
        return said == due
    return near(1e-4, 1e-12)(said, due)


def _same_scaling(said, due):
    return len(said) == len(due) and all(map(_same_step, said, due))


def scaling_ways(question: dict) -> dict:
    """For each way of scaling, what all steps do."""
    return {
        name: _plain_steps(scaling(question, name)) for name in ("right", *SCALING_MISTAKES)
    }


def draw_question(rng: Random) -> dict:
    """Steps in which every usual mistake leaves other weights or another scale."""
    return draw_apart(rng, make_scaling, scaling_ways, lambda a, b: not _same_scaling(a, b))


def judge(question: dict, observation: dict) -> Wrong | None:
    """Scale, weights and count after every step."""
    ways, said = scaling_ways(question), observation["steps"]
    mistake = which(said, ways, _same_scaling, "")
    for number, (one, due, true) in enumerate(
        zip(said, ways["right"], question["gradients"], strict=True), start=1
    ):
        if not _same_step(one, due):
            return _wrong_step(number, one, due, _overflows(true, *due["scales"]), mistake)
    if not all(one["at_weights"] for one in said):
        return wrong("at", "other_weights")
    if other := [one["types"] for one in said if one["types"] != ["float32"]]:
        return wrong("type", "types", types=other[0])
    return None


def _overflows(gradients, scale):
    values = [g for of in gradients for g in of]
    return None in values or max(map(abs, values), default=0) * scale > LARGEST


def _wrong_step(number, one, due, overflows, mistake):
    step = phrase("bad_step" if overflows else "good_step", number=number)
    asked = one["scales"]
    if len(asked) != 1:
        return wrong("once", "asked", step=step, asked=len(asked))
    if asked != due["scales"]:
        scale, right = asked[0], due["scales"][0]
        return wrong(mistake or "scaled", "asked_at", step=step, scale=scale, right=right)
    if not _same_state(one, due):
        return wrong(
            mistake or "state", "left", step=step,
            requirement="" if mistake else _broken(one, due, overflows),
            scale=one["scale"], good_steps=one["good_steps"],
            right_scale=due["scale"], right_good_steps=due["good_steps"],
        )  # fmt: skip
    if off := _first_off(one, due):
        weight = off[0] if isinstance(off[0], str) else f"{off[0]:.6g}"
        return wrong(mistake or "weights", "weight", step=step, weight=weight, right=off[1])
    return wrong(mistake or "weights", "shapes", step=step)


def _broken(one, due, overflows):
    """The sentence that an unusual state breaks."""
    if _first_off(one, due):  # a bad step is taken for a good one, or a good for a bad
        return "skip"
    if overflows:
        return "halve"
    return "count" if due["good_steps"] else "double"


def _first_off(one, due):
    for said, right in zip(one["weights"], due["weights"], strict=False):
        for a, b in zip(said, right, strict=False):
            if not _same_weights([a], [b]):
                return a, b
    return None
