"""Exercise 1.1: the questions, and the verdict on what the probe saw."""

import numpy as np

from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which


def make_points(rng):
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
    return {"cases": [case(*sizes) for sizes in drawn]}


def gradient_ways(question):
    """For each way of writing the gradient, what it gives in all cases."""

    def way(change, line=lambda w, x: w[0] * x + w[1]):
        found = []
        for case in question["cases"]:
            x, y = np.array(case["x"]), np.array(case["y"])
            errors = line(case["weights"], x) - y
            right = 2 * np.array([np.mean(errors * x), np.mean(errors)])
            found.append(np.broadcast_to(change(right, x), 2).tolist())
        return found

    return {
        "right": way(lambda right, x: right),
        "start": way(lambda right, x: 0),
        "factor": way(lambda right, x: right / 2),
        "factor slope": way(lambda right, x: right / (2, 1)),
        "factor intercept": way(lambda right, x: right / (1, 2)),
        "sum": way(lambda right, x: right * len(x)),
        "sign": way(lambda right, x: -right),
        "swapped": way(lambda right, x: right[::-1]),
        "unpacked": way(lambda right, x: right, lambda w, x: w[1] * x + w[0]),
        "inner": way(lambda right, x: right[1]),
        "product": way(lambda right, x: right[1] * np.array([x.mean(), 1])),
    }


def draw_question(rng):
    """Points on which every usual mistake shows, in both numbers."""

    def make(rng):
        while True:
            question = make_points(rng)
            if np.abs(gradient_ways(question)["right"]).min() > 0.1:
                return question

    return draw_apart(rng, make, gradient_ways, lambda a, b: not near(0.01)(a, b))


def judge(question, observation):
    """Each number to four digits; the mistake that explains all cases gives the hint."""
    said, ways, same = observation["gradients"], gradient_ways(question), near(1e-4)
    hint = which(said, ways, same)
    if hint == "right":
        return None
    several = [len(case["x"]) > 1 for case in question["cases"]]
    pairs = list(zip(said, ways["right"], strict=True))
    if all(same(*pair) for pair, many in zip(pairs, several, strict=True) if many):
        hint = "single"

    def different(case, pair):
        if same(*pair):
            return None
        n = len(case["x"])
        points = f"{n} point{'s' * (n > 1)}"
        if (shape := np.shape(pair[0])) != (2,):
            return f"for {points} it gave an array of shape {shape}, not (2,)", "shape"
        given, due = (", ".join(f"{value:.4g}" for value in one) for one in pair)
        return f"for {points} it gave [{given}], not [{due}]", hint.split()[0]

    return first_wrong(question["cases"], pairs, different)
