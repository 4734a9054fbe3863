"""Exercise 0.2: the questions, and the verdict on what the probe saw."""

import itertools
from random import Random

import numpy as np

from helpers.checks.judging.timing import constant
from helpers.checks.judging.verdicts import between, first_wrong, near
from helpers.verdict import Wrong, wrong

POWERS = (-9, -6, -3, 3, 6, 9)  # of ten, by which a wrong unit is off
ROUNDING = 0.0006  # the part of the seconds that rounding may change
HELD_UP = 0.004  # the seconds that may pass between a call and a late clock
# Wrong ways to average a list of all times, the first product's included; their mistakes.
AVERAGES = [
    ("average", lambda times: np.mean(times[1:])),
    ("average", np.median),
    ("average", np.mean),
    ("min", lambda times: min(times[1:])),
]


def draw_question(rng: Random) -> dict:
    """Three shapes on two devices, and the time that each product will take."""
    scale = rng.uniform(0.7, 0.9)
    # The first product is slow, as on a device that starts up. The median of the others is
    # far from their mean, from the fastest, from the second in one case and from the last
    # in the next. It also differs between cases, so that no constant is right in all. Three
    # cases, because two may take the same time on a busy machine. The number of timed
    # products is odd, as the text says, because many answers take sorted(times)[n // 2]. No
    # median is less than half of its mean: on a busy machine, where all products take
    # longer, it could become exactly half.
    patterns = [
        [0.11, 0.024, 0.2, 0.056],
        [0.11, 0.024, 0.045, 0.2, 0.028, 0.12],
        [0.06, 0.15, 0.09, 0.012],
    ]
    # So few columns that counting 2k - 1 operations instead of 2k shows.
    flat = [rng.randint(1200, 1390), rng.randint(14, 18), rng.randint(1410, 1600)]
    deep = [rng.randint(350, 400), rng.randint(200, 340), rng.randint(410, 500)]
    shapes = [flat, deep]
    rng.shuffle(shapes)
    shapes.append([rng.randint(100, 200) for _ in "mkn"])
    cases = [
        {
            "device": device, "m": m, "k": k, "n": n, "repeats": len(seconds) - 1,
            "seconds": [scale * s for s in seconds],
        }
        for device, (m, k, n), seconds in zip(
            ["CPU:0", rng.choice(["GPU:0", "GPU:1"]), "CPU:0"],
            shapes,
            patterns,
            strict=True,
        )
    ]  # fmt: skip
    rng.shuffle(cases)
    return {"cases": cases}


def judge(question: dict, observation: dict) -> Wrong | None:
    """The products must be right, and the returned time must agree with our own clock."""
    cases, seen, waits = question["cases"], observation["cases"], observation["waits"]
    made = [len(one["products"]) for one in seen]
    quick = [
        one["seconds"] < case["seconds"][0] for case, one in zip(cases, seen, strict=True)
    ]
    if set(made) == {1} and any(quick):
        return wrong("start", "one_product")
    if said := first_wrong(cases, seen, _wrong_products):
        return said
    # Our own clock saw one wait before each case, two in each product, for its call and its
    # work, and one at the end.
    ends = [2 * n + i + 1 for i, n in enumerate(itertools.accumulate(made))]
    if len(waits) != ends[-1] + 1:
        raise ValueError(f"{sum(made)} products in {len(waits)} waits")
    waits = [waits[a : b + 1] for a, b in itertools.pairwise([0, *ends])]

    def wrong_numbers(case, one):
        return _wrong_seconds(case, *one) or _wrong_speed(case, one[0])

    if said := first_wrong(cases, list(zip(seen, waits, strict=True)), wrong_numbers):
        return said
    seconds = [one["seconds"] for one in seen]
    if constant(seconds):
        return wrong("other", "constant", seconds=seconds[0])
    return None


def _wrong_products(case, seen):
    """Find a mistake in the products, whatever time they took."""
    repeats, m, k, n = (case[name] for name in ("repeats", "m", "k", "n"))
    products = seen["products"]
    if not products:
        return wrong("shapes", "no_product")
    first, *timed = products
    # Before the number: an answer that times two products as one also makes too many.
    if any(product["queue"] for product in timed[1:]):
        requirement = "repeats" if len(timed) > repeats else "done"
        return wrong("not_waited", "began_early", requirement=requirement)
    if len(timed) != repeats:
        mistake = "first" if len(products) == repeats else "repeats"
        return wrong(
            mistake, "products", requirement="repeats",
            products=len(products), repeats=repeats,
        )  # fmt: skip
    if timed[0]["queue"]:
        return wrong("first", "clock_began_early", requirement="first")
    right = sorted([sorted([m, k]), sorted([k, n])])
    if seen["result"] not in ([[m, n]], [[n, m]]):
        return wrong("shapes", "shapes", m=m, k=k, n=n, shapes=first["shapes"])
    for product in products:
        if said := _wrong_device(case, product):
            return said
        in_order = product["shapes"] == [[m, k], [k, n]] or seen["result"] == [[m, n]]
        if not in_order or sorted(map(sorted, product["shapes"])) != right:
            return wrong("shapes", "shapes", m=m, k=k, n=n, shapes=product["shapes"])
        if product["pair"] != first["pair"]:
            return wrong("once", "several_pairs")
    if len(seen["spreads"]) != 2 or not all(seen["spreads"]):
        return wrong("random", "same_numbers")
    return None


def _wrong_device(case, product):
    device = product["device"].upper().rpartition("/")[2].removeprefix("DEVICE:")
    if device == case["device"]:
        return None
    return wrong(
        "device", "device" if device else "any_device",
        asked=case["device"], device=device,
    )  # fmt: skip


def _wrong_seconds(case, seen, waits):
    """Each time lies between its own wait and the whole time between its neighbours."""
    said, timed = seen["seconds"], slice(1, None)
    # Each product is called at waits[i], and done at the end of the wait after it.
    calls = range(1, len(waits) - 1, 2)
    inner = [waits[i + 1][1] - waits[i][0] for i in calls]
    outer = [waits[i + 2][0] - waits[i - 1][1] for i in calls]
    only_called = [
        (waits[i][1] - waits[i][0], waits[i + 1][0] - waits[i - 1][1]) for i in calls
    ]
    only_done = [
        (waits[i + 1][1] - waits[i + 1][0], waits[i + 2][0] - waits[i][1]) for i in calls
    ]

    def like(said, average):
        return between(said, average(inner), average(outer), ROUNDING)

    def median(times):  # of the timed products, without the first
        return np.median(times[timed])

    def says(mistake, requirement=""):
        return wrong(
            mistake, "seconds", requirement=requirement, seconds=said,
            took_seconds=[f"{seconds:.3f}" for seconds in inner[timed]],
        )  # fmt: skip

    if like(said, median):
        return None
    if any(like(said * 10.0**power, median) for power in POWERS):
        return says("units", "median")
    if said > sum(outer[timed]) and like(seen["gflops"], median):
        return says("swapped")
    called = between(said, *map(median, zip(*only_called, strict=True)), ROUNDING)
    if called or said < min(inner[timed]):
        return says("not_waited", "done")
    mistakes = [mistake for mistake, average in AVERAGES if like(said, average)]
    # The work goes on in its own thread. So an answer that is held up between its call and
    # its clock, as on a busy machine, says less than the time of all the work.
    least, most = map(median, zip(*only_done, strict=True))
    if between(said, least - HELD_UP, most, ROUNDING):
        mistakes.append("late_clock")
    return says(next(iter(mistakes), "other"))


def _wrong_speed(case, seen):
    """The speed must follow from the returned seconds."""
    m, k, n, seconds = case["m"], case["k"], case["n"], seen["seconds"]
    right = 2e-9 * m * k * n / seconds
    # A speed that is rounded to two digits is still right.
    if near(0.01, 0.006)(seen["gflops"], right):
        return None
    factors = [("operations", 0.5), ("operations", 1 - 0.5 / k), ("units", 1e9 / 2**30)]
    factors += [("units", 10.0**power) for power in POWERS]
    same = near(0.01)
    mistakes = (name for name, factor in factors if same(seen["gflops"], factor * right))
    return wrong(
        next(mistakes, "speed"), "speed", requirement="speed", m=m, k=k, n=n,
        seconds=seconds, gflops=seen["gflops"], right_gflops=right,
    )  # fmt: skip
