"""Questions, verdicts and hints of lab 01: gradient descent."""

import functools
import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, quoted, which


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


def gradient_question(rng):
    """Points on which every usual mistake shows, in both numbers."""

    def make(rng):
        while True:
            question = make_points(rng)
            if np.abs(gradient_ways(question)["right"]).min() > 0.1:
                return question

    return draw_apart(rng, make, gradient_ways, lambda a, b: not near(0.01)(a, b))


def judge_gradient(question, observation):
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


EPOCHS = 400  # of the case in which points and pairs are counted
LIMIT = 6  # standard deviations: chance takes a right answer so far once in millions
IN_ORDER = 6  # of EPOCHS; by chance at most 0.13, and more than 6 once in 10**10
AGAIN = 40  # of EPOCHS that come again; by chance 7, and more than 40 once in 10**17
THREES = 300  # epochs of three points one by one, whose orders are counted
UNEVEN = 60  # chi-squared with 5 degrees of freedom: by chance once in 10**11
LONG, LONG_SIZE, LONG_EPOCHS = 1000, 40, 30  # the case that is looked at for patterns
PATTERN = 7  # standard deviations: by chance once in 10**10, with 21 patterns
STEPS = 20  # pairs in a batch at one distance; by chance 1.6, and so many once in 10**15


def batches_question(rng):
    """Sizes that divide evenly and that do not, single points, one batch for all."""
    size = rng.randint(5, 9)
    even, points = size * rng.randint(5, 8), rng.randint(5, 9)
    cases = [
        (even + rng.randint(1, size - 2), size, 2),
        (even, size, 2),
        (rng.randint(30, 40), 1, 2),
        (points, rng.randint(10, 20), 2),
        (points, points, 2),
        (11, rng.randint(3, 4), EPOCHS),
        (3, 1, THREES),
        (LONG, LONG_SIZE, LONG_EPOCHS),
    ]
    return {
        "cases": [
            {"points": n, "batch_size": b, "epochs": k, "seed": rng.randrange(2**32)}
            for n, b, k in cases
        ]
    }


def judge_batches(question, observation):
    """Each epoch covers all points, in full batches, in a new random order."""
    cases, seen = question["cases"], observation["cases"]
    at_start = [[[list(range(case["points"]))]] * (case["epochs"] + 1) for case in cases]
    if [[*one["epochs"], one["again"]] for one in seen] == at_start:
        return "it makes a single batch of all points, in their order", "start"

    def verdict(case, one):
        epochs = [*one["epochs"], one["again"]]
        found = first_wrong([case] * (case["epochs"] + 1), epochs, _wrong_epoch)
        found = found or _wrong_order(case, one["epochs"], one["again"])
        where = f"{case['points']} points, batch size {case['batch_size']}"
        return found and (f"{where}: {found[0]}", found[1])

    return first_wrong(cases, seen, verdict)


def _wrong_epoch(case, batches):
    points, size = case["points"], case["batch_size"]
    for batch in batches:
        if not isinstance(batch, list):
            return f"it holds {quoted(batch)} where a batch was due", "index"
    drawn = _points(batches)
    for place in drawn:
        if type(place) is not int or not 0 <= place < points:
            return f"a batch holds {quoted(place)}, not an index from 0 on", "index"
    if not all(batches):
        return "a batch is empty", "empty"
    if len(set(drawn)) < len(drawn):
        place, times = Counter(drawn).most_common(1)[0]
        return f"point {place} came {times} times in one epoch", "repeated"
    if len(drawn) < points:
        return f"{points - len(drawn)} of the points came in no batch", "remainder"
    in_order = drawn == sorted(drawn)
    sizes, right = [len(batch) for batch in batches], _sizes(points, size)
    # With so many batches of neighbours it is not chance.
    several = len(right) > 4 and size > 1 and sorted(sizes) == sorted(right)
    if several and not in_order and all(map(_neighbours, batches)):
        return f"each batch holds neighbours, such as {batches[0]}", "members"
    if sizes != right:
        return f"the batches have {_few(sizes)} points, not {_few(right)}", "sizes"
    return None


def _wrong_order(case, epochs, again):
    points, size = case["points"], case["batch_size"]
    if size >= points:
        return None  # all points in one batch: their order does not matter
    if all(_points(batches) == list(range(points)) for batches in epochs):
        return "the points come in their original order", "not_shuffled"
    first, second = epochs[:2]
    # Few points may well come in the same order twice.
    if len(epochs) == 2 and first == second:
        return "the second epoch has the same batches as the first", "same_order"
    if len(epochs) == 2 and size > 1 and _members(first) == _members(second):
        return "the second epoch has the same batches, in another order", "members"
    if first != again:
        return "with the same seed it gave other batches", "not_rng"
    looks = {EPOCHS: _not_random, THREES: _uneven, LONG_EPOCHS: _has_a_pattern}
    return looks[len(epochs)](epochs) if len(epochs) in looks else None


def _uneven(epochs):
    """Each order of the points must come as often as by chance, up to chance itself."""
    seen = Counter(tuple(_points(batches)) for batches in epochs)
    times = {order: seen[order] for order in permutations(range(len(epochs[0])))}
    due = len(epochs) / len(times)
    if sum((n - due) ** 2 for n in times.values()) / due <= UNEVEN:
        return None
    order, most = max(times.items(), key=lambda one: abs(one[1] - due))
    which_one = ", ".join(map(str, order))
    return f"the order {which_one} came in {most} of {len(epochs)} epochs", "biased"


def _has_a_pattern(epochs):
    """With many points no pattern may come more often than by chance."""
    for found in (batch for batches in epochs for batch in batches):
        if _equal_steps(found):
            return f"a batch holds points at equal steps, such as {_few(found)}", "biased"
    points = np.array([_points(batches) for batches in epochs])
    # The order within a batch may be any.
    batch = np.arange(LONG) // LONG_SIZE
    for pattern in _patterns():
        seen = np.sum(pattern[points, batch]) / math.sqrt(len(epochs))
        # The sum over an epoch has mean 0 and this spread, if its order is random.
        spread = math.sqrt(np.sum(pattern[:, batch] ** 2) / (LONG - 1))
        if abs(seen) > PATTERN * spread:
            return (
                f"in {len(epochs)} epochs some points come too often early or late",
                "biased",
            )
    return None


def _equal_steps(batch):
    """Whether many pairs are equally far apart, counted round: as in 3, 8, 13, 18."""
    steps = np.subtract.outer(batch, batch)[~np.eye(len(batch), dtype=bool)] % LONG
    return np.bincount(steps).max() >= STEPS


@functools.cache
def _patterns():
    """How a shuffle can go wrong: how much too often each point comes in each batch.

    For each an array of shape (points, batches), with mean 0 over rows and columns.
    """
    # Where swaps with any place bring each point, one swap after the other.
    few = LONG // 4  # four times the points make the same picture, but it takes long
    at = np.eye(few)
    for i in range(few):
        leaving = at[:, i : i + 1].copy()
        at = at * (1 - 1 / few) + leaving / few
        at[:, i] = 1 / few
    at = np.kron(at, np.full((4, 4), 1 / 4))
    waves = np.cos(np.pi * np.outer(np.arange(1, 5), (np.arange(LONG) + 0.5) / LONG))
    places = [at, at.T, at[::-1, ::-1], at.T[::-1, ::-1], np.eye(LONG)]
    places = [one - 1 / LONG for one in places]
    places += [np.outer(one, other) for one in waves for other in waves]
    return [one.reshape(LONG, -1, LONG_SIZE).mean(axis=2) for one in places]


def _points(batches):
    return [place for batch in batches for place in batch]


def _members(batches):
    return set(map(frozenset, batches))


def _not_random(epochs):
    """Over many epochs, every point and every pair must come as often as by chance."""
    sizes = [len(batch) for batch in epochs[0]]
    one_epoch = np.repeat(np.arange(len(sizes)), sizes)
    places = np.argsort([_points(batches) for batches in epochs], axis=1)
    seen = one_epoch[places]  # the number of the batch of each point, by epochs

    def unlikely(times, chance):
        spread = math.sqrt(len(epochs) * chance * (1 - chance))
        return np.argwhere(abs(times - len(epochs) * chance) > LIMIT * spread).tolist()

    for number, size in enumerate(sizes):
        times = np.sum(seen == number, axis=0)
        for [point] in unlikely(times, size / len(places[0])):
            where = f"in batch {number + 1} in {times[point]} of {len(epochs)} epochs"
            return f"point {point} came {where}", "biased"
    first, second = np.triu_indices(len(one_epoch), 1)
    chance = np.mean(one_epoch[first] == one_epoch[second])
    times = np.sum(seen[:, first] == seen[:, second], axis=0)
    for [i] in unlikely(times, chance):
        who = f"points {first[i]} and {second[i]}"
        return f"{who} met in {times[i]} of {len(epochs)} epochs", "members"
    # Do the first points come early? For chance alone this is 0, give or take 1.
    early = np.mean(seen, axis=0) - one_epoch.mean()
    points = np.arange(len(early)) - np.mean(np.arange(len(early)))
    spread = math.sqrt(np.sum(points**2) * np.sum((one_epoch - one_epoch.mean()) ** 2))
    if abs(points @ early) / spread * math.sqrt((len(early) - 1) * len(epochs)) > LIMIT:
        return f"in {len(epochs)} epochs the first points come too early", "biased"
    again = len(epochs) - len(set(map(str, epochs)))
    if again > AGAIN:
        return (
            f"in {len(epochs)} epochs the same batches came again {again} times",
            "biased",
        )
    in_order = np.sum(np.all(seen == one_epoch, axis=1))
    if in_order > IN_ORDER:
        return f"{in_order} of {len(epochs)} epochs come in the original order", "biased"
    return None


def _sizes(points, size):
    return [size] * (points // size) + [points % size] * (points % size > 0)


def _neighbours(batch):
    return max(batch) - min(batch) == len(batch) - 1


def _few(numbers):
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, ..." if len(numbers) > 8 else shown


# What scatters around a floor: skewed, as squared errors are, so that quartiles or mean
# deviations do not happen to say the same as the variance.
BLOCK = np.abs(np.random.default_rng(1).normal(size=100_000)) ** 3
BLOCK = np.quantile(BLOCK, (np.arange(25) + 0.5) / 25)
BLOCK = (BLOCK - BLOCK.mean()) / BLOCK.std()


def make_curves(rng):
    """Curves that fall for nearly half of their steps, and whose floors scatter."""
    variance = math.exp(rng.choice((-1, 1)) * rng.uniform(2.5, 4))
    ratios = [rng.uniform(3, 5), rng.uniform(17, 22), rng.uniform(17, 22)]
    rng.shuffle(ratios)
    sizes = [rng.randint(1, 4)]
    for ratio in ratios:
        sizes.append(round(sizes[-1] * ratio))
    # Estimates beyond the sizes, beside them, and beside the borders of the wide gaps,
    # where the nearest by ratio is not the nearest by difference or by variance.
    estimates = [sizes[0] / 2, sizes[-1] * 2]
    for low, high in pairwise(sizes):
        if high > 10 * low:
            border = math.sqrt(low * high)
            estimates += [1.15 * low, border / 1.25, border * 1.25]
            below = border / 1.25
        else:  # here another measure of scatter, such as quartiles, goes wrong
            estimates.append(1.35 * low)
    rng.shuffle(estimates)
    lengths = [rng.randint(500, 900) for _ in estimates]
    lengths[rng.randrange(len(lengths))] = 900
    return {
        "sizes": sizes,
        "example_variance": variance,
        "curves": [
            # Without its last loss this one would seem to lie beyond the border.
            _curve(rng, steps, variance, math.sqrt(variance / estimate), estimate == below)
            for steps, estimate in zip(lengths, estimates, strict=True)
        ],
    }


def _curve(rng, steps, variance, deviation, jumps_at_the_end=False):
    unit, bottom = math.sqrt(variance), 0.49 * steps
    # No loss is below 0, nor is the one before a jump.
    lowest = min(2.5 * BLOCK.min(), -0.3 * math.sqrt(steps) * jumps_at_the_end)
    floor = deviation * -lowest + unit * math.exp(rng.uniform(-3, 1))
    # High and low falls: else the whole of every curve looks like the smallest size.
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
        if jumps_at_the_end:
            # Two fifths of the variance are its own. The loss before it keeps the
            # differences of neighbours as they should be.
            noise[-2:] = -0.5 * math.sqrt(steps - half), math.sqrt(steps - half)
        noise[half:] = (noise[half:] - np.mean(noise[half:])) / np.std(noise[half:])
        late = noise[half:]
        # Nor may it matter to whom the middle of an odd number of losses belongs.
        middle = max(abs(late[0]), abs(late[1])) < 1
        if middle and near(0.08)(np.mean(np.diff(late) ** 2), 2 * np.var(late)):
            # Six digits: a question should stay short.
            losses = floor + top * left + deviation * (1 + 3 * left) * noise
            return [float(f"{loss:.6g}") for loss in losses]


def size_ways(question):
    """For each way of finding the size, what it says of every curve."""
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
        "descent whole": way(part=lambda curve: curve),
        "descent 40%": way(part=lambda curve: curve[2 * len(curve) // 5 :]),
        "descent third": way(part=lambda curve: curve[len(curve) // 3 :]),
        "descent 30": way(part=lambda curve: curve[30:]),
        "descent 240": way(part=lambda curve: curve[240:]),
        "descent quarter": way(part=lambda curve: curve[-len(curve) // 4 :]),
        "descent last": way(part=lambda curve: curve[-100:]),
        "descent last 250": way(part=lambda curve: curve[-250:]),
        "descent but one": way(part=lambda curve: curve[len(curve) // 2 : -1]),
        "descent half": way(part=lambda curve: curve[: len(curve) // 2]),
        "root": way(lambda floor: math.sqrt(variance) / np.std(floor)),
        "one": way(lambda floor: 1 / np.var(floor)),
        "level": way(lambda floor: 2 * np.mean(floor) ** 2 / np.var(floor)),
        "ratio difference": way(scale=lambda size: size),
        "ratio root": way(scale=np.sqrt),
        "ratio deviation": way(scale=lambda size: 1 / np.sqrt(size)),
        "ratio variance": way(scale=lambda size: 1 / size),
        "ratio below": [question["sizes"][max(place - 1, 0)] for place in places],
        "ratio above": [question["sizes"][min(place, 3)] for place in places],
        "place": [question["sizes"].index(size) for size in right],
    }


def size_question(rng):
    """Curves of which every usual mistake says something else."""

    def by_hint(question):
        ways = size_ways(question)
        return {name: (name.split()[0], said) for name, said in ways.items()}

    def apart(one, other):
        return one[0] == other[0] or one[1] != other[1]

    return draw_apart(rng, make_curves, by_hint, apart)


def judge_size(question, observation):
    """Each curve's own size; the mistake that explains all answers gives the hint."""
    sizes, said, ways = question["sizes"], observation["said"], size_ways(question)
    hint = which(said, ways, lambda one, other: one == other).split()[0]
    if hint == "right":
        return None
    if hint == "other" and not set(said) <= set(sizes):
        hint = "not_listed"

    def different(right, one):
        if one == right:
            return None
        given = one if isinstance(one, str) else f"{one:g}"
        known = ", ".join(map(str, sizes))
        return (
            f"a curve of batch size {right} was taken for {quoted(given)} of {known}",
            hint,
        )

    return first_wrong(ways["right"], said, different)


EXERCISES = {
    "1.1": Exercise(
        title="the gradient says how fast the error rises with each weight",
        requirements={
            "slope": "The first number says how fast the loss rises with the slope.",
            "intercept": "The second says how fast it rises with the intercept.",
            "squared": "The loss squares the errors, at any weights.",
            "mean": "It takes the mean over the points, however many they are.",
            "single": "One point is enough.",
            "array": "It returns a new array of shape `(2,)`.",
            "unchanged": "`weights`, `x` and `y` stay as they are.",
        },
        question=gradient_question,
        judge=judge_gradient,
        hints={
            "start": "It says that the loss rises with neither weight. If the slope grows a little, what does that do to one point's error, and so to its square?",
            "factor": "What is the derivative of `error**2`, and where is its 2, for the slope and for the intercept?",
            "sum": "If every point comes twice, should the gradient double, too? Look at the M in MSE.",
            "sign": "Does your gradient point uphill? Is the error the line's value minus `y`, or the other way round?",
            "swapped": "Which comes first in `weights`, slope or intercept, and in what you return?",
            "unpacked": "Which of the two weights do you multiply by `x`? Which one comes first in `weights`?",
            "inner": "If the slope grows by 1, the line at x = 3 rises by how much? And at x = 0?",
            "product": "Is the mean of `errors * x` the product of the two means? Try errors -1 and 1 at x = -1 and 1.",
            "single": "All is well with several points. What does each of your lines give if `x` and `y` hold one?",
            "shape": "Slope and intercept are two numbers. Which `shape` does your return value have, also for a single point?",
            "raised": "Read Python's error above. Does it return one NumPy array, such as `np.array([a, b])`? Does it work for a single point?",
            "other": "Move one weight by 0.001 and see how much the loss changes. Which of your two numbers does not agree?",
        },
    ),
    "1.2": Exercise(
        title="an epoch has every point once, in a new order each time",
        requirements={
            "index": "A batch is an array of indices, for `x[batch]`.",
            "once": "Each of `0, 1, ..., points - 1` is in exactly one batch.",
            "size": "Each batch has `batch_size` of them; only the last may have fewer.",
            "never_empty": "The last batch is never empty.",
            "random": "The order is random, any order equally likely.",
            "each_time": "It is drawn again each time.",
            "from_rng": "All randomness comes from `rng`: the same seed gives the same batches.",
        },
        question=batches_question,
        judge=judge_batches,
        hints={
            "start": "It makes one batch of all points, in their order. What shuffles them, and what cuts the order into pieces of `batch_size`?",
            "index": "Which numbers are the places in an array of `points` entries? Does each batch hold these, one after the other?",
            "empty": "What does your last batch hold if the points divide evenly?",
            "sizes": "How many points does a batch have, how many does the last one have, and how many batches is that?",
            "remainder": "Which points are in no batch? What happens to those at the end?",
            "repeated": "Can a point be drawn twice before every point was drawn once? Which method of `rng` shuffles, which draws?",
            "not_shuffled": "The points came in some order. What if they are sorted? Which method of `rng` gives a random order?",
            "members": "Do the same points always meet in a batch? What do you shuffle: all the points, or the batches?",
            "biased": "Is every order equally likely? Can every point come into every batch, and does your shuffle take in all of them?",
            "same_order": "Is the second epoch's order different from the first's? Where does its randomness come from, and does the second overwrite the first?",
            "not_rng": "Two generators with the same seed must give the same batches. Does all of your randomness come from `rng`, and nothing from an earlier call?",
            "raised": "Read Python's error above. Does each batch work as an index, `x[batch]`? Is every index below `points`?",
        },
    ),
    "1.3": Exercise(
        title="the scatter of a loss curve tells the batch size",
        requirements={
            "law": "It goes by the law: the variance of the losses is `example_variance / b`.",
            "flat": "The second half of a curve counts, all of it, whatever its length.",
            "listed": "It returns one of `sizes`, also if the estimate lies beyond them.",
            "ratio": "It takes the nearest by ratio: the border between 4 and 16 is 8.",
            "unchanged": "The arguments stay as they are.",
        },
        question=size_question,
        judge=judge_size,
        hints={
            "start": "It says the smallest size of every curve. Does it look at the losses? Whose mean jumps more: that of a large batch, or of a small one?",
            "descent": "Which part of the curve falls, and which only scatters? Do you measure its second half, all of it, to the very last loss, whatever its length?",
            "root": "A mean of 4 scatters half as much. What is its variance? Do you divide a variance by a variance?",
            "one": "How much does the loss of a single point scatter? Which argument says it?",
            "level": "Does the law say anything about the height of the floor? Which argument says how much single points scatter?",
            "ratio": "By ratio, which is nearer to 9: 4 or 16? And which is nearer by the way that you compare?",
            "place": "Do you return one of `sizes`, or its place in the list?",
            "not_listed": "Your estimate lies between the sizes, or beyond them. Which of `sizes` is nearest, and do you return that?",
            "raised": "Read Python's error above. Does your function return one number out of `sizes`, also if the estimate lies beyond them?",
            "other": "Print the variance of the flat half, and what the law gives for each of `sizes`. Which is nearest?",
        },
    ),
}
