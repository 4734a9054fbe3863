"""Exercise 1.3: the questions, and the verdict on what the probe saw."""

import math
from itertools import pairwise
from random import Random

import numpy as np

from helpers.checks.judging.formulas import KEEPS
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which
from helpers.verdict import Wrong, wrong

# The scatter around a floor. It is skewed, as squared errors are, so that quartiles or mean
# deviations do not give the same result as the variance by chance.
BLOCK = np.abs(np.random.default_rng(1).normal(size=100_000)) ** 3
BLOCK = np.quantile(BLOCK, (np.arange(25) + 0.5) / 25)
BLOCK = (BLOCK - BLOCK.mean()) / BLOCK.std()


def make_curves(rng: Random) -> dict:
    """Curves that fall for nearly half of their steps, and whose floors scatter."""
    variance = math.exp(rng.choice((-1, 1)) * rng.uniform(2.5, 4))
    beside = []
    while len(beside) < 2:
        ratios = [rng.uniform(3, 5), rng.uniform(17, 22), rng.uniform(17, 22)]
        rng.shuffle(ratios)
        sizes = [rng.randint(1, 4)]
        for ratio in ratios:
            sizes.append(round(sizes[-1] * ratio))
        beside = _beside_a_border(sizes)
    # Estimates beyond the sizes, beside them, and beside the borders of the wide gaps,
    # where the nearest by ratio is not the nearest by difference or by variance.
    estimates, below = [sizes[0] / 2, sizes[-1] * 2, *beside], []
    for low, high in pairwise(sizes):
        if high > 10 * low:
            border = math.sqrt(low * high)
            estimates += [1.15 * low, border / 1.25, border * 1.25]
            below.append(border / 1.25)
        else:  # here other measures of scatter, such as quartiles, go wrong
            estimates.append(1.35 * low)
    rng.shuffle(estimates)
    lengths = [rng.randint(500, 900) for _ in estimates]
    lengths[rng.randrange(len(lengths))] = 900
    # Without its last loss, or without the first of its second half, such a curve would
    # seem to lie beyond the border. With an even length, this first one is clear.
    jumps = dict(zip(below, ("middle", "end"), strict=True))
    lengths = [
        steps + steps % 2 if jumps.get(estimate) == "middle" else steps
        for steps, estimate in zip(lengths, estimates, strict=True)
    ]
    return {
        "sizes": sizes,
        "example_variance": variance,
        "curves": [
            _curve(
                rng, steps, variance, math.sqrt(variance / estimate), jumps.get(estimate)
            )
            for steps, estimate in zip(lengths, estimates, strict=True)
        ],
    }


def _beside_a_border(sizes):
    """Estimates whose nearest size changes if they are rounded down or up."""
    border = math.sqrt(sizes[0] * sizes[1])
    found = [0.98 * math.ceil(border), 1.02 * math.floor(border)]
    # Other measures of the same variance may be off by 8%.
    return [estimate for estimate in found if abs(math.log(estimate / border)) > 0.1]


def _curve(rng, steps, variance, deviation, jumps_at=None):
    unit, bottom = math.sqrt(variance), 0.49 * steps
    # No loss is below 0, nor is the one before a jump.
    lowest = min(2.5 * BLOCK.min(), -0.3 * math.sqrt(steps) * bool(jumps_at))
    floor = deviation * -lowest + unit * math.exp(rng.uniform(-3, 1))
    # High and low falls; otherwise every whole curve looks like the smallest size.
    top = 3 * deviation + unit * math.exp(rng.uniform(-1, 4))
    left = np.clip(1 - np.arange(steps) / bottom, 0, None)  # of the fall, at each step
    shuffled = np.random.default_rng(rng.getrandbits(64)).permuted
    # The second half scatters most in one fifth: no other part of it scatters as it does.
    half = steps // 2
    scale = np.full(steps - half, 0.5)
    fifth = len(scale) // 5
    scale[rng.choice([slice(fifth), slice(-fifth, None)])] = 2.2
    while True:
        noise = shuffled(np.tile(BLOCK, (steps // 25 + 1, 1)), axis=1).ravel()[-steps:]
        noise[half:] *= scale
        # Two fifths of the variance are the jump's own. The loss beside it keeps the
        # differences of neighbours as they should be.
        jump = math.sqrt(steps - half)
        if jumps_at == "end":
            noise[-2:] = -0.5 * jump, jump
        if jumps_at == "middle":
            noise[half : half + 2] = jump, -0.5 * jump
        noise[half:] = (noise[half:] - np.mean(noise[half:])) / np.std(noise[half:])
        late = noise[half:]
        # With an odd number of losses, the middle one may belong to either half.
        middle = jumps_at == "middle" or max(abs(late[0]), abs(late[1])) < 1
        if middle and near(0.08)(np.mean(np.diff(late) ** 2), 2 * np.var(late)):
            # Six digits: a question should stay short.
            losses = floor + top * left + deviation * (1 + 3 * left) * noise
            return [float(f"{loss:.6g}") for loss in losses]


def size_ways(question: dict) -> dict:
    """The results of each way of finding the size, for every curve."""
    sizes, variance = np.array(question["sizes"]), question["example_variance"]
    curves = [np.array(curve) for curve in question["curves"]]

    def way(estimate=None, part=lambda curve: curve[len(curve) // 2 :], scale=np.log):
        estimate = estimate or (lambda floor: variance / np.var(floor))
        found = np.array([[estimate(part(curve))] for curve in curves])
        return sizes[np.argmin(np.abs(scale(sizes) - scale(found)), axis=1)].tolist()

    right = way()
    estimates = [variance / np.var(curve[len(curve) // 2 :]) for curve in curves]
    places = np.searchsorted(sizes, estimates).tolist()
    return {
        "right": right,
        "start": [question["sizes"][0]] * len(right),
        "start inverse": way(lambda floor: np.var(floor) / variance),
        "descent whole": way(part=lambda curve: curve),
        "descent 40%": way(part=lambda curve: curve[2 * len(curve) // 5 :]),
        "descent third": way(part=lambda curve: curve[len(curve) // 3 :]),
        "descent 30": way(part=lambda curve: curve[30:]),
        "descent 240": way(part=lambda curve: curve[240:]),
        "descent quarter": way(part=lambda curve: curve[-len(curve) // 4 :]),
        "descent last": way(part=lambda curve: curve[-100:]),
        "descent last 250": way(part=lambda curve: curve[-250:]),
        "descent but first": way(part=lambda curve: curve[len(curve) // 2 + 1 :]),
        "descent but one": way(part=lambda curve: curve[len(curve) // 2 : -1]),
        "descent half": way(part=lambda curve: curve[: len(curve) // 2]),
        "root": way(lambda floor: math.sqrt(variance) / np.std(floor)),
        "one": way(lambda floor: 1 / np.var(floor)),
        "level": way(lambda floor: 2 * np.mean(floor) ** 2 / np.var(floor)),
        "other level": way(lambda floor: variance / np.mean(floor**2)),
        "ratio difference": way(scale=lambda size: size),
        "ratio root": way(scale=np.sqrt),
        "ratio deviation": way(scale=lambda size: 1 / np.sqrt(size)),
        "ratio variance": way(scale=lambda size: 1 / size),
        "ratio below": [question["sizes"][max(place - 1, 0)] for place in places],
        "ratio above": [question["sizes"][min(place, 3)] for place in places],
        "rounded down": way(lambda floor: max(1, variance // np.var(floor))),
        "rounded up": way(lambda floor: math.ceil(variance / np.var(floor))),
        "place": [question["sizes"].index(size) for size in right],
    }


def draw_question(rng: Random) -> dict:
    """Curves for which every usual mistake gives a different result."""

    def by_mistake(question):
        ways = size_ways(question)
        return {name: (name.split()[0], said) for name, said in ways.items()}

    def apart(one, other):
        return one[0] == other[0] or one[1] != other[1]

    question = draw_apart(rng, make_curves, by_mistake, apart)
    return question | {"later": _later(question)}


def _later(question):
    """The curve of the largest size again, with other sizes, and with another variance."""
    curve = min(question["curves"], key=lambda curve: np.var(curve[len(curve) // 2 :]))
    *others, last = question["sizes"]
    asked = {"curve": curve, "sizes": [*others, last]}
    variance = question["example_variance"]
    return [
        asked | {"sizes": [*others, last + 1], "example_variance": variance},
        asked | {"example_variance": variance * others[0] / last / 4},
    ]


def judge(question: dict, observation: dict) -> Wrong | None:
    """Compare with each curve's size; the mistake has to explain all answers."""
    sizes, said, ways = question["sizes"], observation["said"], size_ways(question)
    mistake = which(said, ways, lambda one, other: one == other).split()[0]
    if mistake == "right":
        return _wrong_later(question, observation["later"])
    if mistake == "other" and not set(said) <= set(sizes):
        mistake = "not_listed"

    def different(right, one):
        if one == right:
            return None
        given = one if isinstance(one, str) else f"{one:g}"
        return wrong(mistake, "taken_for", batch_size=right, said=given, sizes=sizes)

    return first_wrong(ways["right"], said, different)


def _wrong_later(question, said):
    for asked, one in zip(question["later"], said, strict=True):
        [right] = size_ways(asked | {"curves": [asked["curve"]]})["right"]
        if one != right:
            given = one if isinstance(one, str) else f"{one:g}"
            return wrong(
                KEEPS, "taken_for", batch_size=right, said=given, sizes=asked["sizes"]
            )
    return None
