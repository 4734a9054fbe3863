"""Questions, verdicts and hints of lab 08: faster on one device."""

import math

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, number_of, which

KINDS = {"conv": "the convolution", "norm": "batch normalisation", "relu": "the ReLU"}


def make_costs(rng):
    """Layers of odd shapes: two convolutions that change them, two of each other kind."""
    cases = []
    for kind in ("conv", "conv", "norm", "norm", "relu", "relu"):
        batch, height, width, channels = (rng.randint(2, 40) for _ in range(4))
        inputs = outputs = [batch, height, width, channels]
        kernel = None
        if kind == "conv":
            kernel = [rng.randint(2, 5), rng.randint(6, 9), channels, rng.randint(41, 80)]
            outputs = [batch, height + 3, width + rng.randint(3, 9), kernel[-1]]
        of = {"inputs": inputs, "outputs": outputs, "kernel": kernel}
        cases.append({"kind": kind, "value_bytes": 2} | of)
    for case, value_bytes in zip(cases, [2, 4, 4, 2, 2, 4], strict=True):
        case["value_bytes"] = value_bytes
    rng.shuffle(cases)
    return {"cases": cases}


def costs(case, mistake=""):
    """Operations and bytes, forward and backward, if one makes this mistake."""
    inputs, outputs, kernel = case["inputs"], case["outputs"], case["kernel"]
    x, y = math.prod(inputs), math.prod(outputs)
    if mistake == "no_batch":
        x, y = x // inputs[0], y // outputs[0]
    if case["kind"] == "conv":
        weights = math.prod(kernel)
        values = x if mistake == "input_positions" else y
        each = weights if mistake == "per_weight" else weights // kernel[-1]
        operations = (1 if mistake == "multiply_only" else 2) * values * each
        moved = x + y + (0 if mistake == "no_kernel" else weights)
        times = {"conv_once": 1, "conv_three": 3}.get(mistake, 2)
        counted = [operations, moved, times * operations, times * moved]
    elif case["kind"] == "norm":
        passes = {"norm_one_pass": (2, 3), "norm_backward": (3, 3)}.get(mistake, (3, 5))
        counted = [5 * x, passes[0] * x, 10 * x, passes[1] * x]
    else:
        backward = 2 if mistake == "relu_backward" else 3
        counted = [x, 2 * x, x, backward * x]
    value_bytes = {"always_four": 4, "values": 1}.get(mistake, case["value_bytes"])
    if mistake == "start":
        return [y, y * case["value_bytes"], y, y * case["value_bytes"]]
    counted = [counted[0], counted[1] * value_bytes, counted[2], counted[3] * value_bytes]
    return [counted[i] for i in (1, 0, 3, 2)] if mistake == "swapped" else counted


COST_MISTAKES = [
    "start", "swapped", "no_batch", "multiply_only", "input_positions", "per_weight",
    "no_kernel", "conv_once", "conv_three", "norm_one_pass", "norm_backward",
    "relu_backward", "always_four", "values",
]  # fmt: skip
PARTS = ("operations forward", "bytes forward", "operations backward", "bytes backward")


def costs_ways(question):
    """For each way of counting, the numbers of all layers."""
    return {
        name: [costs(case, name) for case in question["cases"]]
        for name in ("right", *COST_MISTAKES)
    }


def costs_question(rng):
    """Layers for which every usual mistake counts something else."""
    return draw_apart(rng, make_costs, costs_ways, lambda a, b: not near(1e-6)(a, b))


def judge_costs(question, observation):
    """Each of the four numbers of each layer."""
    ways, said = costs_ways(question), observation["costs"]
    hint = which(said, ways, near(1e-6), None)

    def different(case, pair):
        one, due = pair
        if len(one) != 4:
            return (
                f"for {KINDS[case['kind']]} it gave {number_of(len(one), 'number')}, "
                "not 2 and 2",
                "form",
            )
        wrong = [i for i in range(4) if not near(1e-6)(one[i], due[i])]
        if not wrong:
            return None
        i = wrong[0]
        shape = "x".join(map(str, case["inputs"]))
        reason = (
            f"{PARTS[i]} of {KINDS[case['kind']]} on {shape} values of "
            f"{case['value_bytes']} bytes: it gave {one[i]:,.10g}, not {due[i]:,.10g}"
        )
        return reason, hint or _part_hint(case["kind"], i)

    return first_wrong(
        question["cases"], list(zip(said, ways["right"], strict=True)), different
    )


def _part_hint(kind, part):
    if kind == "conv":
        return ("conv_operations", "conv_bytes", "conv_backward", "conv_backward")[part]
    return {"norm": "norm_other", "relu": "relu_other"}[kind]


OPERATIONS = [
    "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "MatMul", "Mean", "Mul",
    "Relu", "ReluGrad", "AddV2", "Cast", "FusedBatchNormV3", "MaxPool", "Rsqrt",
]  # fmt: skip
NAMES = [
    "fuse the layers", "fewer bits", "no dropout", "larger batch", "channels first",
    "another kernel", "another shortcut", "cast once",
]  # fmt: skip


def make_changes(rng):
    """Profiles with changes that help much of little, and little of much."""

    def case(kind):
        names = rng.sample(OPERATIONS, rng.randint(6, 9))
        parts = sorted((rng.uniform(0.02, 1) for _ in names), reverse=True)
        seconds = {name: 0.01 * part for name, part in zip(names, parts, strict=True)}
        seconds[names[0]] = 0.01 * rng.uniform(1.2, 1.6)
        elsewhere = [name for name in OPERATIONS if name not in names]
        strong, one, two, side = names[-1], *rng.sample(names[1:-2], 2), names[-2]
        changes = [
            {strong: 0.0, rng.choice(elsewhere): 0.5},  # all of very little
            {names[0]: rng.uniform(0.9, 0.97)},  # little of the largest
            {one: rng.uniform(0.4, 0.6), two: rng.uniform(0.4, 0.6)},  # two at once
            {side: rng.uniform(0.1, 0.2), names[0]: rng.uniform(1.3, 2.0)},  # it costs more
            {rng.choice(elsewhere): 0.1},
        ]
        if kind == "little":  # all of a little, and what is not there costs nothing
            changes = [
                {strong: 0.0, side: 0.98, rng.choice(elsewhere): 0.9},
                {names[0]: rng.uniform(1.05, 1.2)},
                {one: rng.uniform(1.5, 2.0), rng.choice(elsewhere): 0.0},
            ]
        if kind == "none":
            changes = [
                {strong: 0.0, names[0]: rng.uniform(1.2, 1.5)},
                {one: rng.uniform(1.05, 1.2), rng.choice(elsewhere): 0.1},
            ]
        if kind == "equal":  # one that leaves the step as long as it was, to the last digit
            changes = [
                {strong: 0.0, names[0]: rng.uniform(1.2, 1.5)},
                {rng.choice(elsewhere): rng.uniform(0.1, 0.6)},
            ]
            seconds = _without_rounding(seconds)
        rng.shuffle(changes)
        named = dict(zip(rng.sample(NAMES, len(changes)), changes, strict=True))
        order = rng.sample(names, len(names))
        return {"seconds": {name: seconds[name] for name in order}, "changes": named}

    kinds = ["usual", "usual", "usual", "little", "none", "equal"]
    rng.shuffle(kinds)
    return {"cases": [case(kind) for kind in kinds]}


def _without_rounding(seconds):
    """Nearly the same seconds, of which every sum and every share is exact in binary."""
    total = sum(seconds.values())
    parts = {name: round(2**20 * s / total) for name, s in seconds.items()}
    longest = max(parts, key=parts.get)
    parts[longest] += 2**20 - sum(parts.values())  # the whole is 1/32 of a second
    return {name: part / 2**25 for name, part in parts.items()}


def changed_seconds(seconds, left, mistake=""):
    """The seconds of a step after a change, if one makes this mistake."""
    if mistake == "only_gains":
        left = {name: min(1, part) for name, part in left.items()}
    if mistake == "first_operation":
        left = dict(list(left.items())[:1])
    return sum(s * left.get(name, 1) for name, s in seconds.items())


def chosen(case, mistake=""):
    """The change that is taken first, and by what it speeds the step up."""
    seconds, changes = case["seconds"], case["changes"]
    before = sum(seconds.values())
    after = {
        name: changed_seconds(seconds, left, mistake) for name, left in changes.items()
    }
    if mistake == "start":  # what changes one operation most
        best = min(changes, key=lambda name: min(changes[name].values()))
        return [best, 1 / (1e-9 + min(changes[best].values()))]
    if mistake == "largest_operation":
        largest = max(seconds, key=seconds.get)
        touching = [n for n in changes if largest in changes[n]]
        best = min(touching, key=after.get) if touching else None
    elif mistake == "one_saving":  # what saves most of a single operation
        saved = {
            n: max(seconds.get(o, 0) * (1 - part) for o, part in left.items())
            for n, left in changes.items()
        }
        best = max(saved, key=saved.get)
    else:
        best = min(after, key=after.get)
    as_long = after.get(best) == before and mistake == "equal"
    if best is None or (after[best] >= before and mistake != "always" and not as_long):
        return [None, {"saved": 0.0, "percent": 0.0}.get(mistake, 1.0)]
    ratio = before / after[best]
    values = {
        "saved": before - after[best],
        "inverted": 1 / ratio,
        "percent": 100 * (1 - 1 / ratio),
        "touched": _touched(seconds, changes[best]),
    }
    return [best, values.get(mistake, ratio)]


def _touched(seconds, left):
    """By what the changed operations alone become faster."""
    mine = {name: s for name, s in seconds.items() if name in left}
    after = sum(s * left[name] for name, s in mine.items())
    return sum(mine.values()) / after if after else 1e9


CHANGE_MISTAKES = [
    "start", "largest_operation", "one_saving", "only_gains", "first_operation", "always",
    "equal", "saved", "inverted", "percent", "touched",
]  # fmt: skip


def changes_ways(question):
    """For each way of choosing, what it chooses in all cases."""
    return {
        name: [chosen(case, name) for case in question["cases"]]
        for name in ("right", *CHANGE_MISTAKES)
    }


def _same_choices(said, right):
    return len(said) == len(right) and all(map(_same_choice, said, right))


def _same_choice(said, right):
    return (
        len(said) == len(right)
        and said[0] == right[0]
        and near(1e-3, 1e-12)(said[1], right[1])
    )


def changes_question(rng):
    """Profiles in which every usual mistake chooses or says something else."""
    return draw_apart(rng, make_changes, changes_ways, lambda a, b: not _same_choices(a, b))


def judge_changes(question, observation):
    """The change after which the whole step is shortest, and by how much."""
    ways, said = changes_ways(question), observation["changes"]
    hint = which(said, ways, _same_choices)

    def different(due, one):
        if _same_choice(one, due):
            return None
        if one[0] != due[0]:
            return f"it chose {_name(one[0])}, and {_name(due[0])} was due", hint
        reason = f"for {_name(due[0])} it says {one[1]:.4g} times, not {due[1]:.4g}"
        return reason, "speedup" if hint == "other" else hint

    return first_wrong(ways["right"], said, different)


def _name(name):
    return "None" if name is None else f"`{name}`"


def feed_question(rng):
    """More batches than anybody should hold, the last one smaller; and three whole ones."""
    cases = []
    for batches, rest in ((23, 1), (3, 0)):
        size = rng.randint(3, 6)
        images = batches * size + rest * rng.randint(1, size - 1)
        cases.append({"batch_size": size, "images": images, "offset": rng.randint(10, 99)})
    return {"cases": cases}


def judge_feed(question, observation):
    """Each source by itself; after one that never overlaps the probe asks for no other."""
    seen = observation["cases"]
    for case, one in zip(question["cases"], seen, strict=False):
        if verdict := _judge_feed(case, one):
            return verdict
    if len(seen) != len(question["cases"]):
        raise ValueError(f"{len(seen)} sources")
    return None


def _judge_feed(case, observation):
    """Right batches, one fetch for each, the next one while a step runs, few ahead."""
    size, images = case["batch_size"], case["images"]
    due = [
        [[n + case["offset"], 2 * n] for n in range(first, min(first + size, images))]
        for first in range(0, images, size)
    ]
    batches, calls = observation["batches"], observation["calls"]
    if batches != due:
        return _wrong_batches(due, batches)
    if not observation["whole_numbers"]:
        return "it asks `fetch` for numbers that are not whole, such as 3.0", "numbers"
    if len(calls) != len(due):
        hint = "one_by_one" if observation["overlaps"] else "start"
        fetches = number_of(len(calls), "fetch", "fetches")
        said = f"{fetches} brought {number_of(len(due), 'batch', 'batches')}"
        return (said if observation["overlaps"] else f"{said}, none during a step"), hint
    if sum(map(len, calls)) != images:
        return f"its fetches brought {sum(map(len, calls))} images of {images}", "other"
    if not observation["overlaps"]:
        return "while a step ran, no fetch of the next batch did", "no_overlap"
    if observation["ahead"] > 8:
        said = f"at the first step it had begun {observation['ahead']} batches or more"
        return f"{said} of {len(due)}", "too_far"
    if observation["types"] != ["float32"]:
        kinds = ", ".join(observation["types"])
        return f"its batches are of the type {kinds}, not arrays of float32", "type"
    return None


def _wrong_batches(due, batches):
    def rows(of):
        return [row for batch in of for row in batch]

    sizes = [len(batch) if isinstance(batch, list) else 0 for batch in batches]
    reason = (
        f"batches of {', '.join(map(str, [*sizes[:3], '...', *sizes[-1:]]))} images came"
    )
    reason += f", {len(batches)} in all; due were {len(due)} of {len(due[0])}"
    flat = [batch for batch in batches if isinstance(batch, list)]
    if not flat or not all(isinstance(row, list) for batch in flat for row in batch):
        return f"its batches are not arrays of shape (images, 2): {reason}", "other"
    if batches == due[:-1]:
        return f"{reason}: the last images are missing", "rest"
    if rows(batches) == rows(due)[: len(rows(batches))]:
        return reason, "sizes"
    if len(batches) == len(due) and sorted(rows(batches)) == sorted(rows(due)):
        return "all images came, and not in the order of their numbers", "order"
    return reason, "other"


def make_scaling(rng):
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
        growth + 1: (0, 65504 * 1.5 / scale),
        growth + 2: (1, None),
        2 * growth + 4: (1, -65504 * 3 / scale),
        3 * growth + 6: (0, None),
    }.items():
        gradients[place][array][rng.randrange(len(gradients[place][array]))] = bad
    question = {
        "weights": [large, small],
        "gradients": gradients,
        "learning_rate": rng.choice([0.25, 0.5, 0.125]),
        "state": {"scale": scale, "good_steps": 0},
        "growth_steps": growth,
    }
    still = [[0.0] * len(large), [0.0] * len(small)]
    # Just finite, but not their sum in float16; then the scale becomes as large as nobody
    # limits it, and below 1.
    *_, (*_, scale, _) = scaling(question)
    gradients.append([[64_000 / scale] * len(large), still[1]])
    gradients += [still] * (16 * growth) + [[still[0], [None, *still[1][1:]]]] * 30
    return question


def scaling(question, mistake=""):
    """What each step asks for and leaves behind, if one makes this mistake."""
    weights = [np.array(w, "float32") for w in question["weights"]]
    scale, good = (float(question["state"][name]) for name in ("scale", "good_steps"))
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
    "count_kept", "count_after", "never_doubled", "late", "early",
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


def scaling_ways(question):
    """For each way of scaling, what all steps do."""
    return {
        name: _plain_steps(scaling(question, name)) for name in ("right", *SCALING_MISTAKES)
    }


def scaling_question(rng):
    """Steps in which every usual mistake leaves other weights or another scale."""
    return draw_apart(rng, make_scaling, scaling_ways, lambda a, b: not _same_scaling(a, b))


def judge_scaling(question, observation):
    """Scale, weights and count after every step."""
    ways, said = scaling_ways(question), observation["steps"]
    hint = which(said, ways, _same_scaling, None)
    for number, (one, due, true) in enumerate(
        zip(said, ways["right"], question["gradients"], strict=True), start=1
    ):
        if _same_step(one, due):
            continue
        largest = max((abs(g) for of in true for g in of if g is not None), default=0)
        nan = any(g is None for of in true for g in of)
        trouble = nan or largest * due["scales"][0] > 65504
        kind = "has a gradient that is not finite" if trouble else "is a good one"
        what = f"step {number} {kind}"
        if len(one["scales"]) != 1:
            return f"{what}; it asked for gradients {len(one['scales'])} times", "once"
        if one["scales"] != due["scales"]:
            asked = f"it asked for gradients at scale {one['scales'][0]:g}"
            return f"{what}; {asked}, not {due['scales'][0]:g}", hint or "scaled"
        if not _same_state(one, due):
            left = f"scale {one['scale']:g} and {one['good_steps']} good steps"
            right = f"{due['scale']:g} and {due['good_steps']}"
            return f"{what}; it left {left}, not {right}", hint or "state"
        return f"{what}; its weights are {_first_off(one, due)}", hint or "weights"
    if not all(one["at_weights"] for one in said):
        return "it asks for gradients at other weights than those it was given", "at"
    if other := [one["types"] for one in said if one["types"] != ["float32"]]:
        return f"its weights are of the types {', '.join(other[0])}", "type"
    return None


def _first_off(one, due):
    for said, right in zip(one["weights"], due["weights"], strict=False):
        for a, b in zip(said, right, strict=False):
            if not _same_weights([a], [b]):
                return f"{a if isinstance(a, str) else f'{a:.6g}'}, not {b:.6g}"
    return "not of the shapes that it was given"


USUAL = [0.25, 0.02]


def make_cycle(rng):
    """Schedules of different lengths, one with the usual parts, and the steps to look at."""
    cases = []
    for usual in (True, False):
        steps = rng.randint(20, 400)
        warm_up, last = USUAL
        if not usual:
            warm_up, last = rng.choice([0.1, 0.2, 0.4]), round(rng.uniform(0.03, 0.1), 3)
        top = warm_up * steps
        at = [0, 1, round(0.4 * top), math.floor(top), math.ceil(top) + 2]
        at += [
            round(top + 0.5 * (steps - top)),
            steps - 1,
            steps,
            steps + 1,
            3 * steps,
            50 * steps,
        ]
        peak = round(rng.uniform(0.01, 1.5), 3)
        arguments = [peak, steps] if usual else [peak, steps, warm_up, last]
        cases.append({"arguments": arguments, "at": at, "plain": [1, 3]})
    return {"cases": cases}


def cycle_rate(arguments, step, mistake=""):
    """The rate at a step, if one makes this mistake."""
    peak, steps, warm_up, last = (*arguments, *USUAL)[:4]
    top, end = warm_up * steps, last * peak
    if mistake == "start":
        return peak
    if mistake == "fixed":
        top, end = 0.25 * steps, 0.02 * peak
    if mistake == "absolute_end":
        end = last
    if mistake == "to_zero":
        end = 0.0
    if mistake == "one_early":
        step = step + 1
    if step <= top:
        if mistake == "no_warm_up":
            return peak
        low = end if mistake == "from_last" else 0.0
        return low + (peak - low) * step / top
    if mistake == "never_down":
        return peak
    if mistake != "goes_on":
        step = min(step, steps)
    part = (step - top) / (steps - top)
    if mistake == "whole_way":
        part = step / steps
    if mistake == "cosine":
        part = (1 - math.cos(math.pi * part)) / 2
    rate = peak - (peak - end) * part
    return max(rate, 0.0) if mistake == "to_zero" else rate


CYCLE_MISTAKES = [
    "start", "fixed", "absolute_end", "to_zero", "one_early", "no_warm_up", "from_last",
    "never_down", "goes_on", "whole_way", "cosine",
]  # fmt: skip


def cycle_ways(question):
    """For each way of scheduling, the rates of all cases."""
    return {
        name: [
            [cycle_rate(case["arguments"], step, name) for step in case["at"]]
            for case in question["cases"]
        ]
        for name in ("right", *CYCLE_MISTAKES)
    }


def _same_rates(said, due):
    return near(1e-4, 1e-7)(said, due)


def cycle_question(rng):
    """Schedules for which every usual mistake gives other rates."""
    return draw_apart(rng, make_cycle, cycle_ways, lambda a, b: not _same_rates(a, b))


def judge_cycle(question, observation):
    """The rates at each step, also of a schedule that was stored and read."""
    ways, cases = cycle_ways(question), observation["cases"]
    said = [case["rates"] for case in cases]
    hint = which(said, ways, _same_rates)
    for case, rates, due in zip(question["cases"], said, ways["right"], strict=True):
        for step, one, right in zip(case["at"], rates, due, strict=True):
            if not _same_rates(one, right):
                made = f"OneCycle({', '.join(map(str, case['arguments']))})"
                return f"`{made}` gives {one:.5g} at step {step}, not {right:.5g}", hint
    if not all(case["schedule"] for case in cases):
        return "what it makes is not a Keras schedule", "no_schedule"
    for asked, case in zip(question["cases"], cases, strict=True):
        due = [cycle_rate(asked["arguments"], step) for step in asked["plain"]]
        if not _same_rates(case["plain"], due):
            return f"at the plain numbers {asked['plain']} it gives other rates", "other"
    for case, due in zip(cases, ways["right"], strict=True):
        if case["stored"] is None:
            return "what its `get_config` gives cannot be stored as JSON", "config"
        if not _same_rates(case["stored"], due):
            return "made again from its own `get_config`, it gives other rates", "config"
    return None


EXERCISES = {
    "8.1": Exercise(
        title="operations and bytes of a layer, forward and backward",
        requirements={
            "conv_operations": "A convolution takes two operations for each weight of one filter, for each value of its output.",
            "conv_bytes": "Forward it reads its input and its kernel and writes its output.",
            "conv_backward": "Backward it does that work twice, in operations and in bytes.",
            "norm_operations": "Batch normalisation takes 5 operations for each value forward and 10 backward.",
            "norm_forward": "Forward it reads its input twice and writes its output once.",
            "norm_backward": "Backward it reads its input and the gradient twice and writes one gradient.",
            "relu_operations": "ReLU takes one operation for each value in each direction.",
            "relu_forward": "Forward ReLU reads its input and writes its output.",
            "relu_backward": "Backward it reads its output and the gradient and writes one gradient.",
            "value_bytes": "Bytes are values times `value_bytes`.",
            "pairs": "Each direction has a pair: operations first, then bytes.",
        },
        question=costs_question,
        judge=judge_costs,
        hints={
            "start": "It counts one operation for each value of the output, whatever the layer. What does a convolution do for one of these values, and what does each layer read?",
            "swapped": "Which of the two comes first in a pair?",
            "no_batch": "The first number of a shape is the batch. Does each of its images take work?",
            "multiply_only": "A product is added to a sum. How many operations are that?",
            "input_positions": "For each value of which array does a convolution compute a sum: its input, or its output?",
            "per_weight": "A value of the output is of one channel. How many weights has the filter of one channel?",
            "no_kernel": "What does a convolution read, besides its input?",
            "conv_operations": "Take an output of one value: how many weights has the filter that makes it, and how many operations does each of them take?",
            "conv_bytes": "Forward a convolution reads two arrays and writes one. Which?",
            "conv_once": "Backward there are two gradients to compute: that of the kernel, and which other one?",
            "conv_three": "Three times is the sum of forward and backward. What is the backward part alone?",
            "conv_backward": "Backward is the work of forward twice, once for each of two gradients. Is it so for operations and for bytes?",
            "norm_one_pass": "The mean is known only when all values have been read. What has to be read again after that?",
            "norm_backward": "Backward two sums are needed before the first gradient can be written. Which two arrays are read for them, and read again for the gradient?",
            "norm_other": "Count for one value of batch normalisation: which arrays are read, how many times, and what is written? The operations are in the text.",
            "relu_backward": "The gradient passes where the output was positive. How does the backward pass know where that is?",
            "relu_other": "For one value of a ReLU: one operation, and which reads and writes?",
            "always_four": "How large is a value? Does `value_bytes` change your bytes?",
            "values": "Are these bytes, or values?",
            "form": "Each of `forward` and `backward` has a pair of numbers: operations and bytes.",
            "raised": 'Try it by hand: layer_costs("relu", (1, 2, 2, 1), (1, 2, 2, 1), None, 4). Do you use `kernel` only for a convolution, and have both keys, `forward` and `backward`?',
        },
    ),
    "8.2": Exercise(
        title="from a profile to the change that buys most",
        requirements={
            "whole_step": "It takes the change after which the sum over all operations is smallest.",
            "several": "A change may concern several operations.",
            "missing": "An operation that is not in the profile costs nothing.",
            "slower": "What a change makes slower counts as well.",
            "none": "Where no change makes the step shorter, it gives `(None, 1.0)`.",
            "speedup": "The number is the step's time before divided by that after.",
            "unchanged": "`seconds` and `changes` stay as they are.",
        },
        question=changes_question,
        judge=judge_changes,
        hints={
            "start": "It takes the change that makes one operation fastest. How much of the step is that operation?",
            "largest_operation": "The longest operation is where most time is. Does each change take much of it away?",
            "one_saving": "It takes what saves most of one operation. What do the other operations of that change become?",
            "only_gains": "A change may make another operation slower. Does that count in your sum?",
            "first_operation": "A change may concern several operations. Do you look at all of them?",
            "always": "Is there a step in which every change loses? What is best then?",
            "equal": "Does a change help that leaves the step as long as it was?",
            "saved": "Seconds saved, or times as fast: which one is asked for?",
            "inverted": "Twice as fast is 2.0. Which of the two times do you divide by which?",
            "percent": "Is your number a share, or how many times as fast the step is?",
            "touched": "The operations that did not change take their time too. Are they in both sums?",
            "speedup": "How long is the whole step before, and after? What is their quotient?",
            "raised": "Read Python's error above. Does every change concern only operations that the profile has?",
            "other": "Work out one change by hand: each operation's seconds times what is left of them, or times 1, and add up. Which change gives the smallest sum?",
        },
    ),
    "8.3": Exercise(
        title="the next batch is fetched while a step runs",
        requirements={
            "order": "The images come in the order of their numbers, each once.",
            "sizes": "A batch has `batch_size` images.",
            "rest": "The last batch has those that are left.",
            "type": "A batch is an array of float32.",
            "numbers": "`fetch` gets the numbers of images.",
            "one_fetch": "Each batch takes one call of `fetch`.",
            "overlap": "While a step runs on a batch, the next one is fetched.",
            "ahead": "No more than eight batches are fetched before the first step ends.",
        },
        question=feed_question,
        judge=judge_feed,
        hints={
            "start": "It fetches one image after the other, and while it does, no step runs. Which of the two do you mend first: how many images a call of `fetch` brings, or when it is called?",
            "one_by_one": "A call of `fetch` takes its time however few images it asks for. Can it have the numbers of a whole batch?",
            "no_overlap": "Who calls `fetch` while a step runs? Which method of a data set works ahead?",
            "too_far": "Where are all the batches that were fetched before the first step? How many does a step need to be ready?",
            "rest": "The last images fill no whole batch. Do they come?",
            "type": "`fetch` returns an array of float32. Which of your lines makes something else of it?",
            "numbers": "A place in a data set is a whole number. Of which type are yours?",
            "sizes": "How many images does each batch have, and what is `batch_size`?",
            "order": "Several fetches at once end in any order. In which order do their batches come out?",
            "raised": "Read Python's error above. What does `fetch` take: an array of whole numbers? And of which type is what it returns?",
            "other": "Look at the first batch by hand: `next(iter(feed(fetch, 100, 8)))`. Is it the array that `fetch` returns for the numbers 0 to 7?",
        },
    ),
    "8.4": Exercise(
        title="dynamic loss scaling",
        requirements={
            "scaled": "It asks for the gradients at the scale of `state`.",
            "at": "It asks for them at `weights`.",
            "unscaled": "The gradients are divided by the scale.",
            "float32": "They are converted to float32 before that.",
            "weights": "The weights stay a list of float32 arrays.",
            "skip": "A step with a value that is not finite, in any of the arrays, leaves all weights as they are.",
            "both": "Infinity is not finite, and neither is nan.",
            "halve": "Such a step halves the scale and sets the count to zero.",
            "count": "A good step adds one to the count.",
            "double": "When the count gets to `growth_steps`, the scale doubles and the count is zero again.",
            "once": "Each step asks for gradients once.",
            "unchanged": "`weights` and `state` stay as they are.",
        },
        question=scaling_question,
        judge=judge_scaling,
        hints={
            "start": "It asks for gradients at scale 1, where float16 has no number for the small ones, and it takes every step, even one that is not finite. Which scale does `state` hold?",
            "never_scaled": "At scale 1 small gradients become 0 in float16. At which scale do you ask for them?",
            "scaled": "At which scale is each step's gradient asked for: that of `state`, at its beginning?",
            "not_unscaled": "The gradients are `scale` times too large. When do you divide?",
            "unscaled_in_half": "Divided in float16, a small gradient becomes 0 again. In which type do you divide?",
            "at": "Which weights does `gradients_at` get from you, in which type? Does it round them itself?",
            "type": "The weights came as a list of float32 arrays of NumPy. In which of your lines do they become something else?",
            "half_weights": "An update of a small part of a weight is lost in float16. Which type do your new weights have?",
            "updated_anyway": "If a gradient is not finite, what are the weights after the step?",
            "zeroed": "If one gradient overflowed, can the others be trusted? Which of the weights may move?",
            "first_only": "There are several arrays of gradients. Do you look at each?",
            "only_inf": "Infinity minus infinity is nan. Is that finite?",
            "only_nan": "What does float16 give for a number that is too large: nan, or something else?",
            "not_halved": "The scale was too large for this step. What is it for the next?",
            "count_kept": "Good steps in a row: how many are there after a bad one?",
            "count_after": "When the scale has doubled, from where does the count go on?",
            "never_doubled": "After `growth_steps` good steps the scale may be too small. What happens to it?",
            "late": "After how many good steps does the scale double: `growth_steps`, or one more?",
            "early": "After how many good steps does the scale double: `growth_steps`, or one less?",
            "once": "Gradients are the expensive part of a step. How many times do you compute them?",
            "state": "Write down scale and count for three good steps and a bad one, with `growth_steps` 2. What does yours say?",
            "weights": "A good step: weights minus learning rate times gradient. A bad one: no change. Which of the two is it here?",
            "raised": "Read Python's error above. `gradients_at(weights, scale)` gives a list of arrays, and a step gives two things: a list of weights, and a dict.",
        },
    ),
    "8.5": Exercise(
        title="the one-cycle schedule",
        requirements={
            "from_zero": "It rises from 0 at step 0.",
            "up": "It rises in a straight line to `peak`, which it reaches after the part `warm_up` of the steps.",
            "down": "Then it falls in a straight line.",
            "end": "At step `steps` it is `last * peak`.",
            "stays": "It stays there after that.",
            "usual": "`warm_up` is 0.25 and `last` 0.02 where they are not given.",
            "schedule": "It is a Keras schedule.",
            "plain": "A step may be a tensor of whole numbers or a plain number.",
            "config": "`get_config` gives what it was made with.",
        },
        question=cycle_question,
        judge=judge_cycle,
        hints={
            "start": "It gives the peak at every step. What are the rates at the first step, in the middle of the warm-up, and at the last step?",
            "fixed": "Do `warm_up` and `last` change anything in yours?",
            "absolute_end": "Is `last` a rate, or a part of the peak?",
            "to_zero": "What is the rate at step `steps`?",
            "one_early": "Keras counts steps from 0. What is the rate at step 0?",
            "no_warm_up": "What happens before the peak is reached?",
            "from_last": "At which rate does the warm-up begin?",
            "never_down": "What happens after the peak?",
            "goes_on": "What does your line say long after step `steps`?",
            "whole_way": "At which step does the fall begin? Which part of it is done then?",
            "cosine": "Both parts are straight lines. Is yours?",
            "no_schedule": "From which class of Keras do schedules inherit?",
            "config": "A saved model is made again by `OneCycle(**config)`. Which names does it need, and can their values be stored as text?",
            "raised": 'Read Python\'s error above. In training the step is a tensor of whole numbers: do you convert it, `keras.ops.cast(step, "float32")`? `if` does not work on it; `keras.ops.minimum` does. In a figure it is a plain number, which has no `dtype`. Is there a `get_config`?',
            "other": "Work out by hand the rates at step 0, at the peak, half-way down and at the end. What does yours give there?",
        },
    ),
}
