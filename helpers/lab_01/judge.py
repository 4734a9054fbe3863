"""Questions, verdicts and hints of lab 01: gradient descent."""

import math
import statistics

TITLES = {
    "1.1": "the gradient says how fast the error rises with each weight",
    "1.2": "an epoch has every point once, in a new order each time",
    "1.3": "the scatter of a loss curve tells the batch size",
}

HINTS = {
    "1.1": {
        "nothing": "If slope grows a little, what does that do to one point's error, and so to its square?",
        "factor": "What is the derivative of `error**2`, and where is the 2 of it?",
        "sum": "If every point comes twice, should the gradient double, too? Look at the M in MSE.",
        "sign": "Does your gradient point uphill? Is the error the line's value minus `y`, or the other way round?",
        "swapped": "Which comes first in `weights`, slope or intercept, and in what you return?",
        "inner": "If slope grows by 1, the line at x = 3 rises by how much? And at x = 0?",
        "shape": "Slope and intercept are two numbers. Which `shape` does your return value have?",
        "changed": "Your function only returns the gradient. Which code makes the step?",
        "raised": "Read Python's error above. Does it return one NumPy array, such as `np.array([a, b])`?",
        "other": "Move one weight by 0.001 and see how much the loss changes. Which of your two numbers does not agree?",
    },
    "1.2": {
        "empty": "What does your last batch hold if the points divide evenly?",
        "sizes": "How many points does a batch have, how many does the last one have, and how many batches is that?",
        "remainder": "Which points are in no batch? What happens to those at the end?",
        "repeated": "Can a point be drawn twice before every point was drawn once? Which method of `rng` shuffles, which draws?",
        "not_shuffled": "The points came in some order. What if they are sorted? Which method of `rng` gives a random order?",
        "neighbours": "Are two neighbours always in the same batch? What do you shuffle: the points, or the batches?",
        "same_order": "Is the second epoch's order different from the first's? Where does its randomness come from?",
        "not_rng": "Two generators with the same seed must give the same batches. Does all of your randomness come from `rng`?",
        "raised": "Read Python's error above. Does each batch work as an index: `x[batch]`?",
    },
    "1.3": {
        "descent": "Which part of the curve falls, and which only scatters? Which one do you measure?",
        "root": "A mean of 4 scatters half as much. What is its variance? Do you divide a variance by a variance?",
        "inverse": "Which mean jumps more: that of a large batch, or of a small one?",
        "not_listed": "Your estimate lies between the sizes. Which of `sizes` is nearest, and do you return that, or its place?",
        "raised": "Read Python's error above. Does your function return one number out of `sizes`?",
        "other": "Print the variance of the flat part, and what the law gives for each of `sizes`. Which is nearest?",
    },
}


def gradient_question(rng):
    """Some points in batches of different sizes, some weights."""

    def case(points):
        x = [rng.uniform(-1, 3) for _ in range(points)]
        return {
            "weights": [rng.uniform(-3, 3), rng.uniform(-3, 3)],
            "x": x,
            "y": [2 * place + rng.uniform(2, 6) for place in x],
        }

    return {"cases": [case(points) for points in (rng.randint(20, 40), 1, 7)]}


def judge_gradient(question, observation):
    """Each case to four digits; the usual mistake that fits gives the hint."""
    for case, seen in zip(question["cases"], observation["cases"], strict=True):
        if seen["shape"] != [2] or _depth(seen["gradient"]) != 1:
            return "weights of shape (2,) need a gradient of shape (2,)", "shape"
        by_slope, by_intercept = mean_gradient(case)
        n = len(case["x"])
        likely = {
            "factor": (by_slope / 2, by_intercept / 2),
            "sum": (by_slope * n, by_intercept * n),
            "sign": (-by_slope, -by_intercept),
            "swapped": (by_intercept, by_slope),
            "inner": (by_intercept, by_intercept),
            "nothing": (0, 0),
        }
        right = (by_slope, by_intercept)
        if not _close(seen["gradient"], right):
            said = ", ".join(f"{value:.4g}" for value in seen["gradient"])
            points = f"{n} point{'s' * (n > 1)}"
            reason = f"for {points} it gave [{said}], not [{right[0]:.4g}, {right[1]:.4g}]"
            fits = (hint for hint, v in likely.items() if _close(seen["gradient"], v))
            return reason, next(fits, "other")
        if seen["changed"]:
            return "it changed the weights or the points that it was given", "changed"
    return None


def mean_gradient(case):
    """Gradient of the mean squared error: by slope, by intercept."""
    slope, intercept = case["weights"]
    pairs = list(zip(case["x"], case["y"], strict=True))
    errors = [slope * x + intercept - y for x, y in pairs]
    by_slope = statistics.fmean(2 * e * x for e, (x, _) in zip(errors, pairs, strict=True))
    return by_slope, statistics.fmean(2 * e for e in errors)


def _close(said, right):
    tolerance = 1e-4 * max(1e-3, *map(abs, right))
    return all(abs(s - r) <= tolerance for s, r in zip(said, right, strict=True))


def _depth(value):
    return 1 + _depth(value[0]) if isinstance(value, list) and value else 0


def batches_question(rng):
    """Sizes that divide evenly and that do not, single points, and one batch for all."""
    batch_size = rng.randint(5, 9)
    even = batch_size * rng.randint(5, 8)
    pairs = [
        (even + rng.randint(1, batch_size - 2), batch_size),
        (even, batch_size),
        (rng.randint(30, 40), 1),
        (rng.randint(5, 9), rng.randint(10, 20)),
    ]
    return {
        "cases": [
            {"points": points, "batch_size": size, "seed": rng.randrange(2**32)}
            for points, size in pairs
        ]
    }


def judge_batches(question, observation):
    """Each epoch covers all points, in full batches, in a new order."""
    for case, seen in zip(question["cases"], observation["cases"], strict=True):
        if verdict := _judge_case(case, seen):
            reason, hint = verdict
            return (
                f"{case['points']} points, batch size {case['batch_size']}: {reason}",
                hint,
            )
    return None


def _judge_case(case, seen):
    for batches in seen["epochs"]:
        if verdict := _judge_epoch(case, batches):
            return verdict
    first, second = seen["epochs"]
    if case["batch_size"] >= case["points"]:
        return None  # all points in one batch: their order does not matter
    if first == second or (case["batch_size"] > 1 and _sets(first) == _sets(second)):
        return "the second epoch has the same batches as the first", "same_order"
    if first != seen["again"]:
        return "with the same seed it gave other batches", "not_rng"
    return None


def _judge_epoch(case, batches):
    points, size = case["points"], case["batch_size"]
    drawn = [place for batch in batches for place in batch]
    if not all(batches):
        return "a batch is empty", "empty"
    if len(set(drawn)) < len(drawn):
        twice = next(place for place in drawn if drawn.count(place) > 1)
        return f"point {twice} came {drawn.count(twice)} times in one epoch", "repeated"
    if len(drawn) < points:
        return f"{points - len(drawn)} of the points came in no batch", "remainder"
    right = [size] * (points // size) + [points % size] * (points % size > 0)
    sizes = [len(batch) for batch in batches]
    in_order = drawn == sorted(drawn)
    if len(batches) > 1 and size > 1 and not in_order and all(map(_neighbours, batches)):
        return f"each batch holds neighbours, such as {batches[0]}", "neighbours"
    if sizes != right:
        return f"the batches have {_few(sizes)} points, not {_few(right)}", "sizes"
    if in_order and size < points:
        return "the points come in their original order", "not_shuffled"
    return None


def _neighbours(batch):
    return max(batch) - min(batch) == len(batch) - 1


def _sets(batches):
    return {frozenset(batch) for batch in batches}


def _few(numbers):
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, ..." if len(numbers) > 8 else shown


STEPS = 480


def size_question(rng):
    """Curves that fall and then scatter, as means of squared errors do."""
    sizes = [1, 4, 16, 64, 256] if rng.random() < 0.5 else [2, 8, 32, 128]
    sigma = rng.uniform(0.3, 2)

    def curve(size):
        # So low that measuring the whole curve is wrong at the large sizes only.
        top, fall_steps = rng.uniform(1.7, 2.3) * sigma**2, STEPS / rng.uniform(30, 40)
        return [
            # The mean of the squares of `size` normal errors.
            top * math.exp(-step / fall_steps)
            + sigma**2 * rng.gammavariate(size / 2, 2 / size)
            for step in range(STEPS)
        ]

    hidden = sizes.copy()
    rng.shuffle(hidden)
    return {
        "sizes": sizes,
        "example_variance": 2 * sigma**4,
        "hidden": hidden,
        "curves": [curve(size) for size in hidden],
    }


def judge_size(question, observation):
    """Each curve's own size; the mistake that explains all answers gives the hint."""
    sizes, said, hidden = question["sizes"], observation["said"], question["hidden"]
    if said == hidden:
        return None
    number, right = next(
        pair for pair in zip(said, hidden, strict=True) if len(set(pair)) > 1
    )
    reason = f"a curve of batch size {right} was taken for {number:g}"
    if number not in sizes:
        return f"{reason}, and sizes are {', '.join(map(str, sizes))}", "not_listed"
    variance = question["example_variance"]
    mistakes = {
        "inverse": lambda curve: statistics.pvariance(_flat(curve)) / variance,
        "descent": lambda curve: variance / statistics.pvariance(curve),
        "root": lambda curve: math.sqrt(variance / statistics.pvariance(_flat(curve))),
    }
    for hint, estimate in mistakes.items():
        if said == [nearest(sizes, estimate(curve)) for curve in question["curves"]]:
            return reason, hint
    return reason, "other"


def nearest(sizes, estimate):
    """The size whose ratio to the estimate is nearest to 1."""
    return min(sizes, key=lambda size: abs(math.log(size / estimate)))


def _flat(curve):
    return curve[len(curve) // 2 :]


CHALLENGES = {"1.1": gradient_question, "1.2": batches_question, "1.3": size_question}
JUDGES = {"1.1": judge_gradient, "1.2": judge_batches, "1.3": judge_size}
