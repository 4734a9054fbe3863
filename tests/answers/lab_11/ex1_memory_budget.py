"""Recorded answers to 11.1: wrong ones, and right ones in other styles."""

import collections
import itertools
import math
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

FIRST = {"weights": 3, "gradients": 2, "optimizer": 1}
KINDS = "weights", "gradients", "optimizer", "activations"


def budget_answer(
    weight=lambda mixed, states: 2 if mixed else 4,
    gradient=lambda mixed, states: 2 if mixed else 4,
    state=lambda mixed, states: 4 * states,
    master=lambda mixed, states: 4 if mixed else 0,
    split=lambda stage, first: stage >= first,
    master_first=1,
    state_first=1,
    share=lambda parameters, devices: math.ceil(parameters / devices),
    held=lambda parameters, share, size, devices, split: (
        (share if split else parameters) * size
    ),
    recomputes=lambda recompute: recompute,
    kept=lambda blocks: sum(one for one, _ in blocks),
    again=lambda blocks: max((one for _, one in blocks), default=0),
    whole=lambda blocks: sum(map(sum, blocks)),
    activations=lambda total, devices, stage: total,
    made=dict,
):
    """An answer to 11.1 with these parts; as they stand it is right."""

    def answer(parameters, blocks, precision, states, devices, stage, recompute):
        mixed = precision == "mixed"

        def of(size, first):
            part = share(parameters, devices)
            return held(parameters, part, size, devices, split(stage, first))

        stored = kept(blocks) + again(blocks) if recomputes(recompute) else whole(blocks)
        optimizer = of(state(mixed, states), state_first)
        return made(
            weights=of(weight(mixed, states), 3),
            gradients=of(gradient(mixed, states), 2),
            optimizer=optimizer + of(master(mixed, states), master_first),
            activations=activations(stored, devices, stage),
        )

    return answer


def one_device(parameters, blocks, precision, states, devices, stage, recompute):
    return {
        "weights": 4 * parameters,
        "gradients": 4 * parameters,
        "optimizer": 4 * states * parameters,
        "activations": sum(map(sum, blocks)),
    }


def other_split(split):
    return budget_answer(split=split)


def other_share(share):
    return budget_answer(share=share)


def other_again(again):
    return budget_answer(again=again)


class Remembers:
    """Adds up the activations of all calls."""

    __name__ = "remembers"

    def __init__(self):
        self.blocks = []

    def __call__(self, parameters, blocks, *others):
        self.blocks += blocks
        return with_loops(parameters, self.blocks, *others)


class KeepsTheShare:
    """Computes the share in the first call only."""

    __name__ = "keeps_the_share"

    def __init__(self):
        self.share = None

    def __call__(self, parameters, blocks, precision, states, devices, *others):
        self.share = self.share or math.ceil(parameters / devices)
        answer = budget_answer(share=lambda parameters, devices: self.share)
        return answer(parameters, blocks, precision, states, devices, *others)


class FirstReply:
    """Returns the first reply again and again."""

    __name__ = "first_reply"

    def __init__(self):
        self.reply = None

    def __call__(self, *arguments):
        self.reply = self.reply or with_loops(*arguments)
        return self.reply


class OneDict:
    """Fills the same dict in every call."""

    __name__ = "one_dict"

    def __init__(self):
        self.reply = {}

    def __call__(self, *arguments):
        self.reply.update(with_loops(*arguments))
        return self.reply


def sorts_blocks(parameters, blocks, *others):
    blocks.sort(key=lambda block: block[1])
    return with_loops(parameters, blocks, *others)


def empties_blocks(parameters, blocks, *others):
    reply = with_loops(parameters, list(blocks), *others)
    while blocks:
        blocks.pop()
    return reply


def nothing_split_for_few_parameters(
    parameters, blocks, precision, states, devices, stage, recompute
):
    stage = stage if parameters >= devices else 0
    return with_loops(parameters, blocks, precision, states, devices, stage, recompute)


def distinct_insides(parameters, blocks, *others):
    """Counts the blocks with equal insides only once."""
    once = list({inside: (one, inside) for one, inside in blocks}.values())
    return with_loops(parameters, once, *others)


def with_loops(parameters, blocks, precision, states, devices, stage, recompute):
    share = parameters // devices
    if parameters % devices:
        share += 1
    each = 4
    optimizer = 4 * states
    if precision == "mixed":
        each = 2
        optimizer += 4
    weights = gradients = optimized = parameters
    if stage > 0:
        optimized = share
    if stage > 1:
        gradients = share
    if stage > 2:
        weights = share
    activations = largest = 0
    for input_bytes, inside_bytes in blocks:
        activations += input_bytes
        if recompute:
            if inside_bytes > largest:
                largest = inside_bytes
        else:
            activations += inside_bytes
    return {
        "weights": weights * each,
        "gradients": gradients * each,
        "optimizer": optimized * optimizer,
        "activations": activations + largest,
    }


def with_numpy(parameters, blocks, precision, states, devices, stage, recompute):
    table = np.array(blocks, "int64").reshape(-1, 2)
    insides = table[:, 1]
    size = {"float32": 4, "mixed": 2}[precision]
    held = np.where(np.arange(1, 4) <= stage, -(-parameters // devices), parameters)
    sizes = np.array([4 * states + 4 * (precision == "mixed"), size, size])
    optimizer, gradients, weights = held * sizes
    inside = insides.max(initial=0) if recompute else insides.sum()
    return {
        "weights": weights, "gradients": gradients, "optimizer": optimizer,
        "activations": table[:, 0].sum() + inside,
    }  # fmt: skip


def with_table(parameters, blocks, precision, states, devices, stage, recompute):
    each = {
        "float32": (4, 4, 4 * states),
        "mixed": (2, 2, 4 * (states + 1)),
    }[precision]
    share = (parameters + devices - 1) // devices
    budget = {
        kind: size * (share if stage >= first else parameters)
        for (kind, first), size in zip(FIRST.items(), each, strict=True)
    }
    inputs, insides = zip(*blocks, strict=True) if blocks else ((), (0,))
    budget["activations"] = sum(inputs) + (max if recompute else sum)(insides)
    return budget


def with_fractions(parameters, blocks, precision, states, devices, stage, recompute):
    share = math.ceil(Fraction(parameters, devices))
    narrow = precision != "float32"
    counts = [share if stage >= first else parameters for first in (3, 2, 1)]
    sizes = [4 - 2 * narrow, 4 - 2 * narrow, 4 * (states + narrow)]
    together = [n * size for n, size in zip(counts, sizes, strict=True)]
    rest = sorted(inside for _, inside in blocks)
    rest = rest[-1:] if recompute else rest
    together.append(sum(block[0] for block in blocks) + sum(rest))
    return dict(zip(KINDS, together, strict=True))


def with_match(parameters, blocks, precision, states, devices, stage, recompute):
    match precision:
        case "float32":
            short, long = 4, 4 * states
        case "mixed":
            short, long = 2, 4 * states + 4
    quotient, rest = divmod(parameters, devices)
    share = quotient + bool(rest)
    full = parameters
    weights, gradients, optimizer = (
        (full, full, full), (full, full, share), (full, share, share), (share,) * 3,
    )[stage]  # fmt: skip
    activations = sum(block[0] for block in blocks)
    if not recompute:
        activations += sum(block[1] for block in blocks)
    elif blocks:
        activations += max(blocks, key=lambda block: block[1])[1]
    return {
        "optimizer": optimizer * long,
        "gradients": gradients * short,
        "weights": weights * short,
        "activations": activations,
    }


@dataclass
class Budget:
    weights: int
    gradients: int
    optimizer: int
    activations: int = 0


def with_dataclass(parameters, blocks, precision, states, devices, stage, recompute):
    width = 4 if precision == "float32" else 2
    made = Budget(width, width, 4 * states + (4 if width == 2 else 0))
    for kind, first in FIRST.items():
        held = len(range(0, parameters, devices)) if stage >= first else parameters
        setattr(made, kind, getattr(made, kind) * held)
    for size, _ in blocks:
        made.activations += size
    insides = [size for _, size in blocks] or [0]
    made.activations += max(insides) if recompute else sum(insides)
    return asdict(made)


def with_counter(parameters, blocks, precision, states, devices, stage, recompute):
    found = collections.Counter(dict.fromkeys(KINDS, 0))
    values = [("weights", "w"), ("gradients", "w")] + [("optimizer", "f")] * states
    if precision == "mixed":
        values.append(("optimizer", "f"))
    for kind, size in values:
        held = -(-parameters // devices) if FIRST[kind] <= stage else parameters
        found[kind] += held * (2 if size == "w" and precision == "mixed" else 4)
    found["activations"] = sum(itertools.chain.from_iterable(blocks))
    if recompute:
        insides = sorted(inside for _, inside in blocks)
        found["activations"] -= sum(insides[:-1])
    return found


def with_fullest_of_all(parameters, blocks, precision, states, devices, stage, recompute):
    """Splits the parameters, and takes the maximum of the first and the last device."""
    first = (parameters + devices - 1) // devices
    last = parameters // devices
    each = [2, 2, 4 * states + 4] if precision == "mixed" else [4, 4, 4 * states]
    held = [
        max(first, last) * size if stage + place >= 3 else parameters * size
        for place, size in enumerate(each)
    ]
    inputs = sum(block[0] for block in blocks)
    insides = [block[1] for block in blocks]
    most = max([0, *insides]) if recompute else sum(insides)
    return dict(zip(KINDS, [*held, inputs + most], strict=True))


def with_helpers(parameters, blocks, precision, states, devices, stage, recompute):
    def count(first):
        if stage < first:
            return parameters
        return parameters // devices + (1 if parameters % devices != 0 else 0)

    def stored():
        for input_bytes, _ in blocks:
            yield input_bytes
        if recompute:
            yield max((inside for _, inside in blocks), default=0)
        else:
            yield from (inside for _, inside in blocks)

    mixed = precision == "mixed"
    short = 2 if mixed else 4
    return {
        "weights": count(3) * short,
        "gradients": count(2) * short,
        "optimizer": count(1) * 4 * (states + mixed),
        "activations": sum(stored()),
    }


WRONG = [
    ("mixed", "start", one_device),
    (
        "mixed",
        "always_four",
        budget_answer(weight=lambda m, s: 4, gradient=lambda m, s: 4),
    ),
    (
        "float32",
        "always_two",
        budget_answer(weight=lambda m, s: 2, gradient=lambda m, s: 2),
    ),
    ("mixed", "wide_gradients", budget_answer(gradient=lambda m, s: 4)),
    ("float32", "gradients", budget_answer(gradient=lambda m, s: 2)),
    ("mixed", "weights", budget_answer(weight=lambda m, s: 4)),
    ("float32", "weights", budget_answer(weight=lambda m, s: 2)),
    ("states", "narrow_states", budget_answer(state=lambda m, s: (2 if m else 4) * s)),
    ("states", "two_states", budget_answer(state=lambda m, s: 8)),
    ("states", "optimizer", budget_answer(state=lambda m, s: 2 * s)),
    ("master", "no_master", budget_answer(master=lambda m, s: 0)),
    ("master", "master_always", budget_answer(master=lambda m, s: 4)),
    ("master", "narrow_master", budget_answer(master=lambda m, s: 2 if m else 0)),
    (
        "master",
        "master_in_weights",
        budget_answer(weight=lambda m, s: 6 if m else 4, master=lambda m, s: 0),
    ),
    ("master", "master_per_state", budget_answer(master=lambda m, s: 4 * s * m)),
    ("stages", "master_whole", budget_answer(master_first=4)),
    ("stages", "master_with_weights", budget_answer(master_first=3)),
    ("stages", "states_whole", budget_answer(state_first=4)),
    (
        "float32",
        "bits",
        budget_answer(
            held=lambda p, share, size, d, split: 8 * size * (share if split else p)
        ),
    ),
    ("stages", "never_split", other_split(lambda stage, first: False)),
    ("full", "always_split", other_split(lambda stage, first: True)),
    ("stages", "all_at_once", other_split(lambda stage, first: stage >= 1)),
    ("stages", "this_stage_only", other_split(lambda stage, first: stage == first)),
    ("stages", "weights_first", other_split(lambda stage, first: stage >= 4 - first)),
    (
        "stages",
        "gradients_first",
        other_split(lambda stage, first: stage >= {1: 2, 2: 1, 3: 3}[first]),
    ),
    ("stages", "one_early", other_split(lambda stage, first: stage >= first - 1)),
    ("stages", "one_late", other_split(lambda stage, first: stage > first)),
    (
        "share",
        "all_devices",
        budget_answer(held=lambda p, share, size, d, split: size * p * (1 if split else d)),
    ),
    (
        "share",
        "split_bytes",
        budget_answer(
            held=lambda p, share, size, d, split: -(-p * size // d) if split else p * size,
            state=lambda m, s: 4 * (s + m),
            master=lambda m, s: 0,
        ),
    ),
    ("share", "least", other_share(lambda p, d: p // d)),
    ("share", "one_more", other_share(lambda p, d: p // d + 1)),
    ("share", "rest_on_one", other_share(lambda p, d: p - (d - 1) * (p // d))),
    ("share", "rounded", other_share(lambda p, d: round(p / d))),
    ("share", "at_least_one", other_share(lambda p, d: max(1, p // d))),
    ("share", "gradients", KeepsTheShare()),
    ("share", "weights", nothing_split_for_few_parameters),
    ("recompute", "never_recomputes", budget_answer(recomputes=lambda recompute: False)),
    ("all", "always_recomputes", budget_answer(recomputes=lambda recompute: True)),
    ("all", "turned_around", budget_answer(recomputes=lambda recompute: not recompute)),
    ("recompute", "no_inside", other_again(lambda blocks: 0)),
    (
        "recompute",
        "last_inside",
        other_again(lambda blocks: blocks[-1][1] if blocks else 0),
    ),
    (
        "recompute",
        "first_inside",
        other_again(lambda blocks: blocks[0][1] if blocks else 0),
    ),
    (
        "recompute",
        "smallest_inside",
        other_again(lambda blocks: min((one for _, one in blocks), default=0)),
    ),
    (
        "recompute",
        "largest_block",
        other_again(lambda blocks: max(map(sum, blocks), default=0)),
    ),
    (
        "recompute",
        "of_the_largest_input",
        other_again(lambda blocks: max(blocks)[1] if blocks else 0),
    ),
    (
        "recompute",
        "mean_inside",
        other_again(
            lambda blocks: sum(one for _, one in blocks) // len(blocks) if blocks else 0
        ),
    ),
    (
        "recompute",
        "keeps_insides",
        budget_answer(
            kept=lambda blocks: sum(one for _, one in blocks),
            again=lambda blocks: max((one for one, _ in blocks), default=0),
        ),
    ),
    ("recompute", "largest_alone", budget_answer(kept=lambda blocks: 0)),
    (
        "all",
        "insides_only",
        budget_answer(whole=lambda blocks: sum(one for _, one in blocks)),
    ),
    ("all", "activations", budget_answer(whole=lambda blocks: sum(a for a, _ in blocks))),
    ("all", "activations", Remembers()),
    ("all", "activations", distinct_insides),
    ("empty", "activations", budget_answer(activations=lambda total, d, s: total or 1)),
    (
        "own",
        "activations_split",
        budget_answer(activations=lambda n, d, s: -(-n // d) if s == 3 else n),
    ),
    (
        "own",
        "activations_always_split",
        budget_answer(activations=lambda n, d, s: -(-n // d)),
    ),
    ("own", "all_batches", budget_answer(activations=lambda n, d, s: n * d)),
    ("whole", "same", FirstReply()),
    ("whole", "same", OneDict()),
    ("whole", "not_whole", budget_answer(share=lambda p, d: p / d)),
    ("whole", "not_whole", budget_answer(activations=lambda n, d, s: float(n))),
    ("keys", "keys", budget_answer(made=lambda **kinds: sum(kinds.values()))),
    ("keys", "keys", budget_answer(made=lambda **kinds: list(kinds.values()))),
    ("keys", "keys", budget_answer(made=lambda **kinds: kinds | {"total": 0})),
    ("keys", "keys", budget_answer(made=lambda **kinds: {"\udc80" * 9999: kinds})),
    ("unchanged", "changed", sorts_blocks),
    ("unchanged", "changed", empties_blocks),
    ("empty", "raised", other_again(lambda blocks: max(one for _, one in blocks))),
]
RIGHT = [
    with_loops, with_numpy, with_table, with_fractions, with_match, with_dataclass,
    with_counter, with_fullest_of_all, with_helpers, budget_answer(),
    budget_answer(made=collections.OrderedDict),
]  # fmt: skip
