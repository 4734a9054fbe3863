"""Exercise 8.1: the questions, and the verdict on what the probe saw."""

import math

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


def draw_question(rng):
    """Layers for which every usual mistake counts something else."""
    return draw_apart(rng, make_costs, costs_ways, lambda a, b: not near(1e-6)(a, b))


def judge(question, observation):
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
