"""Exercise 11.1: the questions, and the verdict on what the probe saw."""

import math
from itertools import product
from random import Random

from helpers.checks.judging.formulas import SHARES, Formula
from helpers.verdict import Wrong, phrase, wrong

KINDS = "weights", "gradients", "optimizer", "activations"
IN_WORDS = (
    phrase("weights"), phrase("gradients"), phrase("optimizer"), phrase("activations"),
)  # fmt: skip
PRECISIONS = "float32", "mixed"
FIRST_STAGES = 3, 2, 1  # from which weights, gradients and optimizer are split
# Of the sentences that an unusual mistake seems to break, the first is named.
SENTENCES = (
    "float32", "mixed", "states", "master", "share", "all", "recompute", "empty",
)  # fmt: skip


def make_budgets(rng: Random) -> dict:
    """Trainings of each precision at each stage, and some with an extreme size."""
    cases = []
    for precision, stage in product(PRECISIONS, range(4)):
        blocks = [
            [rng.randint(100, 9999), rng.randint(10_000, 99_999)]
            for _ in range(rng.randint(4, 7))
        ]
        cases.append([
            rng.randint(1000, 900_000), blocks, precision, rng.randint(0, 2),
            rng.randint(3, 64), stage, rng.random() < 0.5,
        ])  # fmt: skip
    one = [rng.randint(100, 9999), rng.randint(100, 9999)]
    # The largest input belongs to the block with the smallest inside, which is below it.
    wide = [[rng.randint(40_000, 50_000), rng.randint(100, 999)]]
    wide += [[rng.randint(100, 999), rng.randint(20_000, 30_000)] for _ in range(3)]
    rng.shuffle(wide)
    same = rng.randint(10_000, 99_999)
    alike = [[rng.randint(100, 9999), inside] for inside in (same, same // 3, same)]
    small, devices = rng.randint(3, 9), rng.randint(10, 40)
    even = rng.randint(100, 900)
    cases += [
        [rng.randint(1000, 9999), wide, "float32", 1, 1, 3, True],
        [rng.randint(1000, 9999), alike, "mixed", 2, 1, 2, True],
        [small, [one], "mixed", 2, devices, 3, True],
        [1, [one, one], "float32", 1, 2, 1, False],
        [even * devices, [], "mixed", 0, devices, 3, True],
        [rng.randint(1000, 9999), [], "float32", 2, devices, 1, False],
        [rng.randint(10**9, 10**11), wide, "mixed", 2, devices, 1, False],
        # Less than a byte for each of so many devices, if bytes are split.
        [rng.randint(40, 60), alike, "float32", 2, 2 * devices + 100, 2, True],
    ]
    rng.shuffle(cases)
    return {"cases": cases}


def budget(case: list, mistake: str = "") -> list[int]:
    """The bytes of each kind, if one makes this mistake."""
    parameters, blocks, precision, states, *_ = case
    mixed = precision == "mixed"
    if mistake == "start":
        total = sum(map(sum, blocks))
        return [4 * parameters, 4 * parameters, 4 * states * parameters, total]
    wide, narrow = (4, 4) if mistake == "always_four" else (4, 2)
    if mistake == "always_two":
        wide = 2
    weight = gradient = narrow if mixed else wide
    if mistake == "wide_gradients":
        gradient = 4
    state = 2 if mistake == "narrow_states" and mixed else 4
    if mistake == "two_states":
        states = 2
    master = 4 if mixed or mistake == "master_always" else 0
    master = {"no_master": 0, "narrow_master": master // 2}.get(mistake, master)
    if mistake == "master_in_weights":
        weight, master = weight + master, 0
    if mistake == "master_per_state":
        master *= states
    sizes = [weight, gradient, states * state + master]
    if mistake == "bits":
        sizes = [8 * size for size in sizes]
    held = [
        _bytes(case, size, first, mistake)
        for size, first in zip(sizes, FIRST_STAGES, strict=True)
    ]
    if mistake == "master_whole":
        held[2] = _bytes(case, states * state, 1, "") + parameters * master
    if mistake == "master_with_weights":
        held[2] = _bytes(case, states * state, 1, "") + _bytes(case, master, 3, "")
    if mistake == "states_whole":
        held[2] = parameters * states * state + _bytes(case, master, 1, "")
    return [*held, _activations(case, mistake)]


def _bytes(case, size, first, mistake):
    """Of one kind, with `size` bytes for each parameter, split from stage `first`."""
    parameters, _, _, _, devices, stage, _ = case
    split = {
        "never_split": False,
        "always_split": True,
        "all_at_once": stage >= 1,
        "this_stage_only": stage == first,
        "weights_first": stage >= 4 - first,
        "gradients_first": stage >= {2: 1, 1: 2}.get(first, first),
        "one_early": stage >= first - 1,
        "one_late": stage > first,
    }.get(mistake, stage >= first)
    if not split:
        return parameters * size * (devices if mistake == "all_devices" else 1)
    least = parameters // devices
    if mistake == "split_bytes":
        return math.ceil(parameters * size / devices)
    share = {
        "least": least,
        "one_more": least + 1,
        "rest_on_one": parameters - (devices - 1) * least,
        "rounded": round(parameters / devices),
        "at_least_one": max(1, least),
        "all_devices": parameters,
    }.get(mistake, math.ceil(parameters / devices))
    return share * size


def _activations(case, mistake):
    _, blocks, _, _, devices, stage, recompute = case
    inputs, insides = [one for one, _ in blocks], [one for _, one in blocks]
    whole = sum(inputs) + sum(insides)
    if mistake == "never_recomputes":
        recompute = False
    if mistake == "always_recomputes":
        recompute = True
    if mistake == "turned_around":
        recompute = not recompute
    if recompute and blocks:
        again = {
            "no_inside": 0,
            "last_inside": insides[-1],
            "first_inside": insides[0],
            "smallest_inside": min(insides),
            "largest_block": max(map(sum, blocks)),
            "of_the_largest_input": max(blocks)[1],
            "mean_inside": sum(insides) // len(insides),
        }.get(mistake, max(insides))
        kept = insides if mistake == "keeps_insides" else inputs
        again = max(inputs) if mistake == "keeps_insides" else again
        whole = sum(kept) + again
        if mistake == "largest_alone":
            whole = again
    elif mistake == "insides_only":
        whole = sum(insides)
    if mistake == "activations_split" and stage == 3:
        whole = math.ceil(whole / devices)
    if mistake == "activations_always_split":
        whole = math.ceil(whole / devices)
    return whole * devices if mistake == "all_batches" else whole


BUDGETS = Formula(
    budget,
    (
        "start", "always_four", "always_two", "wide_gradients", "narrow_states",
        "two_states", "no_master", "master_always", "narrow_master", "master_in_weights",
        "master_per_state", "master_whole", "master_with_weights", "states_whole", "bits",
        "never_split", "always_split", "all_at_once", "this_stage_only", "weights_first",
        "gradients_first", "one_early", "one_late", "all_devices", "split_bytes", "least",
        "one_more", "rest_on_one", "rounded", "at_least_one", "never_recomputes",
        "always_recomputes", "turned_around", "no_inside", "last_inside", "first_inside",
        "smallest_inside", "largest_block", "of_the_largest_input", "mean_inside",
        "keeps_insides", "largest_alone", "insides_only", "activations_split",
        "activations_always_split", "all_batches",
    ),
    relative=0.0,
    apart=1e-6,
    arguments=tuple(range(7)),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Trainings for which every usual mistake gives other bytes."""
    return BUDGETS.draw(rng, make_budgets)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The bytes of each kind of each training."""
    said = observation["said"]
    for values in said:
        if wrong_form := _wrong_form(values):
            return wrong_form
    different = BUDGETS.different(question, said)
    if different is None:
        return None
    case, part, value, due, mistake = different
    if mistake in ("", SHARES) and all(values == said[0] for values in said):
        return wrong("same", "same")
    broken = ""
    if not mistake:
        case, value, due, broken = _unusual(question["cases"], said, part)
    return wrong(
        mistake or KINDS[part], "value", requirement=broken, kind=IN_WORDS[part],
        value=value, right=due, **_shown(case),
    )  # fmt: skip


def _wrong_form(values):
    if isinstance(values, dict):
        if "keys" in values:
            return wrong("keys", "keys", keys=values["keys"])
        return wrong("keys", "no_dict", type=values["type"])
    for kind, value in zip(IN_WORDS, values, strict=True):
        if isinstance(value, dict):
            return wrong("not_whole", "type", kind=kind, type=value["type"])
    return None


def _unusual(cases, said, part):
    """A case that an unusual mistake gets wrong, and the sentence that it breaks."""
    kind, found = KINDS[part], {}
    for case, values in zip(cases, said, strict=True):
        due = budget(case)[part]
        if values[part] != due:
            found.setdefault(_sentence(case, kind), (case, values[part], due))
    broken = next(sentence for sentence in SENTENCES if sentence in found)
    return *found[broken], broken


def _sentence(case, kind):
    """The sentence that decides about this kind of bytes in a case."""
    _, blocks, precision, _, _, stage, recompute = case
    if kind == "activations":
        return "empty" if not blocks else "recompute" if recompute else "all"
    if stage >= dict(zip(KINDS, FIRST_STAGES, strict=False))[kind]:
        return "share"
    if kind == "optimizer":
        return "master" if precision == "mixed" else "states"
    return precision


def _shown(case):
    parameters, blocks, precision, states, devices, stage, recompute = case
    return {
        "parameters": parameters, "blocks": [tuple(block) for block in blocks],
        "precision": precision, "states": states, "devices": devices, "stage": stage,
        "recompute": recompute,
    }  # fmt: skip
