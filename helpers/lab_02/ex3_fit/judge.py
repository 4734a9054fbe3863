"""Exercise 2.3: the questions, and the verdict on what the probe saw."""

import math
from random import Random

import numpy as np

from helpers.checks.judging.verdicts import draw_apart, near, which
from helpers.lab_02.judging import known_points, line
from helpers.verdict import Wrong, wrong


def make_fit(rng: Random) -> dict:
    """Points around the law, with errors by which every other fit goes wrong."""

    def case(*places_of_none):
        sizes = sorted(rng.sample([4, 8, 16, 32, 64, 128, 256, 512], 7))
        peak = rng.uniform(200, 20_000)
        # The law bends between the sizes.
        t0 = rng.uniform(30, 150) / peak
        points = [
            [size, size / (t0 + size / peak) * rng.uniform(0.8, 1.25)] for size in sizes
        ]
        for place in places_of_none:
            points.insert(place, [3000 + place, None])
        return {"points": points}

    cases = [case(), case(), case(0), case(3), case(0, 4, 9)]
    # No fixed cost, and slower with every size, so that the line begins below 0.
    sizes, peak = [4, 8, 16, 32, 64, 128], rng.uniform(200, 20_000)
    slower = [[b, peak / (1 + b / 60) * rng.uniform(0.9, 1.1)] for b in sizes]
    cases.append({"points": slower})
    rng.shuffle(cases)
    return {"cases": cases}


def median_line(points: list) -> tuple[float, float]:
    """The estimate of Theil and Sen: the median slope between all pairs of points."""
    sizes, seconds = known_points(points)
    one, other = np.triu_indices(len(sizes), 1)
    slope = np.median((seconds[other] - seconds[one]) / (sizes[other] - sizes[one]))
    return np.median(seconds - slope * sizes), 1 / slope


WEIGHTS = {
    "unweighted": lambda sizes, seconds: 1,
    "weights root": lambda sizes, seconds: seconds**-0.5,
    "weights square": lambda sizes, seconds: seconds**-2.0,
    "weights seconds": lambda sizes, seconds: seconds,
    "weights size": lambda sizes, seconds: sizes,
    "weights per size": lambda sizes, seconds: 1 / sizes,
    "weights size_root": lambda sizes, seconds: sizes**0.5,
    "weights per_size_root": lambda sizes, seconds: sizes**-0.5,
    "weights speed": lambda sizes, seconds: sizes / seconds,
    "weights throughput": lambda sizes, seconds: sizes / seconds**2,
}
PLACES = {
    "points ends": [0, -1],
    "points last": slice(-2, None),
    "points first": slice(2),
    "points without first": slice(1, None),
    "points without last": slice(-1),
}


def fit_ways(question: dict) -> dict:
    """The results of each way of fitting, whose first word names its mistake."""
    points = [case["points"] for case in question["cases"]]
    right = [line(case) for case in points]
    largest = [max(speed for _, speed in case if speed) for case in points]
    ways = {
        "right": right,
        "start": [(0.0, speed) for speed in largest],
        "peak": [(t0, speed) for (t0, _), speed in zip(right, largest, strict=True)],
        "below": [(max(t0, 0.0), peak) for t0, peak in right],
        "units": [(1000 * t0, peak) for t0, peak in right],
        "swapped": [(peak, t0) for t0, peak in right],
        "per_image": [(t0, 1 / peak) for t0, peak in right],
        "points median": list(map(median_line, points)),
    }
    ways |= {name: [line(case, by) for case in points] for name, by in WEIGHTS.items()}
    return ways | {
        name: [line(case, places=places) for case in points]
        for name, places in PLACES.items()
    }


def _predictions(fits):
    """Images per second at some sizes, measured and not, for each fit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return [
            [size / (t0 + size / peak) if peak and t0 + size / peak > 0 else math.inf
             for size in (3, 8, 48, 256, 5000)]
            for t0, peak in fits
        ]  # fmt: skip


def _predict_alike(one, other, relative=0.001):
    return near(relative)(_predictions(one), _predictions(other))


def draw_question(rng: Random) -> dict:
    """Points for which the predictions of every other fit are off by at least 3%."""
    return draw_apart(
        rng, make_fit, fit_ways, lambda a, b: not _predict_alike(a, b, relative=0.03)
    )


def judge(question: dict, observation: dict) -> Wrong | None:
    """Least squares has a single solution; 0.1% allows for float32 and rounding."""
    said, ways = observation["fits"], fit_ways(question)
    fastest = [peak for _, peak in ways["start"]]
    for number, (fit, right, case) in enumerate(
        zip(said, ways["right"], question["cases"], strict=True), start=1
    ):
        if _predict_alike([fit], [right]):
            continue
        usual = near(0.001)([peak for _, peak in said], fastest) and any(
            t0 for t0, _ in said
        )
        mistake = "peak" if usual else which(said, ways, near(0.001)).split()[0]
        return wrong(
            mistake, "line", number=number, t0=fit[0], peak=fit[1],
            nones=sum(speed is None for _, speed in case["points"]),
            right_t0=right[0], right_peak=right[1],
        )  # fmt: skip
    return None
