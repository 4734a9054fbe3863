"""Exercise 1.1: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which
from helpers.verdict import Wrong, wrong


def make_points(rng: Random) -> dict:
    """Points and weights: far from the best line, near it, and very far."""

    def case(points, spread):
        x = [rng.uniform(-1, 3) for _ in range(points)]
        y = [2 * place + rng.uniform(2, 6) for place in x]
        best = np.polyfit(x, y, 1) if points > 1 else (0.0, 0.0)
        weights = [float(w) + rng.choice((-1, 1)) * rng.uniform(*spread) for w in best]
        return {"weights": weights, "x": x, "y": y}

    # More points than anybody takes for all of them.
    drawn = [
        (rng.randint(260, 300), (1, 3)),
        (1, (1, 3)),
        (7, (100, 1000)),
        (15, (0.1, 0.3)),
    ]
    cases = [case(*sizes) for sizes in drawn]
    whole = [rng.choice((-1, 1)) * rng.randint(4, 9) for _ in "wb"]
    cases.append({**case(rng.randint(4, 6), (1, 3)), "weights": whole})
    cases.append({**case(4, (1, 3)), "x": rng.sample(range(-5, 6), 4)})
    # The weights of one case with the points of another: a stored gradient fits neither.
    # Nor does one that is found by its weights and one half of its points.
    cases.append(cases[3] | {"x": cases[3]["x"][::-1]})
    cases.append(cases[3] | {"y": cases[3]["y"][::-1]})
    cases.append(cases[3] | {"weights": cases[0]["weights"]})
    return {"cases": cases}


def gradient_ways(question: dict) -> dict:
    """The results of each way of writing the gradient, in all cases."""

    def way(change, line=lambda w, x: w[0] * x + w[1]):
        found = []
        for case in question["cases"]:
            x, y = np.array(case["x"]), np.array(case["y"])
            errors = line(case["weights"], x) - y
            right = 2 * np.array([np.mean(errors * x), np.mean(errors)])
            found.append(np.broadcast_to(change(right, x), 2).tolist())
        return found

    right = way(lambda right, x: right)

    def kept(*names):
        """If a gradient is found again by these arguments alone."""
        found = {}
        for case, one in zip(question["cases"], right, strict=True):
            found.setdefault(str([case[name] for name in names]), one)
        return [found[str([case[n] for n in names])] for case in question["cases"]]

    return {
        "right": right,
        "start": way(lambda right, x: 0),
        "factor": way(lambda right, x: right / 2),
        "factor slope": way(lambda right, x: right / (2, 1)),
        "factor intercept": way(lambda right, x: right / (1, 2)),
        "sum": way(lambda right, x: right * len(x)),
        "sign": way(lambda right, x: -right),
        "swapped": way(lambda right, x: right[::-1]),
        "unpacked": way(lambda right, x: right, lambda w, x: w[1] * x + w[0]),
        "inner": way(lambda right, x: right[1]),
        "kept weights": kept("weights"),
        "kept points": kept("x", "y"),
        "kept x": kept("weights", "x"),
        "kept y": kept("weights", "y"),
        "product": way(lambda right, x: right[1] * np.array([x.mean(), 1])),
    }


def draw_question(rng: Random) -> dict:
    """Points on which every usual mistake shows, in both numbers."""

    def make(rng):
        while True:
            question = make_points(rng)
            if np.abs(gradient_ways(question)["right"]).min() > 0.1:
                return question

    return draw_apart(rng, make, gradient_ways, lambda a, b: not near(0.01)(a, b))


def judge(question: dict, observation: dict) -> Wrong | None:
    """Each number to four digits; the mistake is the one that explains all cases."""
    if observation["kind"]:
        return wrong("kind", "kind", kind=observation["kind"])
    ways, same = gradient_ways(question), near(1e-4)
    # An answer may refuse whole numbers with an error, but not cut off decimals in silence.
    said = [
        right if one is None else one
        for one, right in zip(observation["gradients"], ways["right"], strict=True)
    ]
    mistake = which(said, ways, same).split()[0]
    if mistake == "right":
        return None
    points = [len(case["x"]) for case in question["cases"]]
    pairs = list(zip(said, ways["right"], strict=True))
    kinds = [
        int if int in (type(case["weights"][0]), type(case["x"][0])) else float
        for case in question["cases"]
    ]
    if all(same(*pair) for pair, n in zip(pairs, points, strict=True) if n > 1):
        mistake = "single"
    if all(same(*pair) for pair, kind in zip(pairs, kinds, strict=True) if kind is float):
        mistake = "whole"

    def different(n, pair):
        if same(*pair):
            return None
        if (shape := np.shape(pair[0])) != (2,):
            return wrong("shape", "shape", points=n, shape=shape)
        (slope, intercept), (right_slope, right_intercept) = pair
        return wrong(
            mistake, "gradient", points=n, slope=slope, intercept=intercept,
            right_slope=right_slope, right_intercept=right_intercept,
            requirement=_broken(said, ways["right"], points) if mistake == "other" else "",
        )  # fmt: skip

    return first_wrong(points, pairs, different)


def _broken(said, right, points):
    """The sentence that is broken by numbers that no usual mistake explains."""
    if any(np.shape(one) != (2,) for one in said):
        return "array"
    said, right = np.array(said), np.array(right)
    if np.ptp(said, axis=0).max() == 0:  # the same two numbers, whatever was asked
        return "array"
    same = np.isclose(said, right, rtol=1e-4)
    if same[points.index(1)].all():
        return "squared" if same[points.index(max(points))].all() else "mean"
    if same[:, 0].all():
        return "intercept"
    slopes, intercepts = (said / right).T
    if not near(1e-3)(slopes, intercepts):
        return "slope"
    # Right in its direction, but not in its length.
    by_points = slopes / points
    return "mean" if near(1e-3)(by_points, np.roll(by_points, 1)) else "squared"
