"""Exercise 8.1: the questions, and the verdict on what the probe saw."""

import math
from random import Random

from helpers.checks.judging.formulas import COUNT, REMEMBERS, Formula
from helpers.verdict import Wrong, phrase, wrong

LAYERS = {"conv": phrase("conv"), "norm": phrase("norm"), "relu": phrase("relu")}
PARTS = (
    phrase("operations_forward"), phrase("bytes_forward"),
    phrase("operations_backward"), phrase("bytes_backward"),
)  # fmt: skip
BROKEN = {
    "conv": ("conv_operations", "conv_bytes", "conv_backward", "conv_backward"),
    "norm": ("norm_operations", "norm_forward", "norm_operations", "norm_backward"),
    "relu": ("relu_operations", "relu_forward", "relu_operations", "relu_backward"),
}  # by the part that is wrong


def make_costs(rng: Random) -> dict:
    """Layers of odd shapes: three convolutions that change them, two of each other kind.

    One convolution is as in a short cut: a kernel of 1x1, strides, and a single image. The
    other two differ in their kernels alone, and the layers of each other kind in the bytes
    of a value. Three more differ from one of these in their kind, their inputs or their
    outputs. So an answer cannot remember earlier layers by some of their numbers.
    """
    cases = []
    for kind in ("conv", "conv", "conv", "norm", "norm", "relu", "relu"):
        batch, height, width, channels = (rng.randint(2, 40) for _ in range(4))
        inputs = outputs = [batch, height, width, channels]
        kernel = None
        if kind == "conv":
            kernel = [rng.randint(2, 5), rng.randint(6, 9), channels, rng.randint(41, 80)]
            outputs = [batch, height + 3, width + rng.randint(3, 9), kernel[-1]]
        if len(cases) == 2:
            kernel = [1, 1, channels, kernel[-1]]
            inputs = [1, height, width, channels]
            outputs = [1, (height + 1) // 2, (width + 1) // 2, kernel[-1]]
        elif cases and cases[-1]["kind"] == kind:
            inputs, outputs = cases[-1]["inputs"], cases[-1]["outputs"]
            if before := cases[-1]["kernel"]:
                kernel = [before[0] + 1, *before[1:]]
        of = {"inputs": inputs, "outputs": outputs, "kernel": kernel}
        cases.append({"kind": kind, "value_bytes": 2} | of)
    for case, value_bytes in zip(cases, [2, 2, 8, 4, 1, 2, 4], strict=True):
        case["value_bytes"] = value_bytes
    conv, norm = cases[0], cases[3]
    batch, height, *rest = conv["inputs"]
    cases.append(conv | {"inputs": [batch, height + 1, *rest]})
    batch, height, *rest = conv["outputs"]
    cases.append(conv | {"outputs": [batch, height + 1, *rest]})
    cases.append(norm | {"kind": "relu"})
    rng.shuffle(cases)
    return {"cases": cases}


def costs(case: dict, mistake: str = "") -> list[float]:
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
        passes = {
            "norm_one_pass": (2, 3), "norm_backward": (3, 3), "norm_sums_apart": (4, 6),
        }.get(mistake, (3, 5))  # fmt: skip
        counted = [5 * x, passes[0] * x, 10 * x, passes[1] * x]
    else:
        backward = 2 if mistake == "relu_backward" else 3
        counted = [x, 2 * x, x, backward * x]
    value_bytes = {"always_four": 4, "values": 1}.get(mistake, case["value_bytes"])
    if mistake == "start":
        return [y, y * case["value_bytes"], y, y * case["value_bytes"]]
    counted = [counted[0], counted[1] * value_bytes, counted[2], counted[3] * value_bytes]
    return [counted[i] for i in (1, 0, 3, 2)] if mistake == "swapped" else counted


COSTS = Formula(
    costs,
    (
        "start", "swapped", "no_batch", "multiply_only", "input_positions", "per_weight",
        "no_kernel", "conv_once", "conv_three", "norm_one_pass", "norm_backward",
        "norm_sums_apart", "relu_backward", "always_four", "values",
    ),
    relative=1e-6,
    apart=1e-6,
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Layers for which every usual mistake counts something else."""
    return COSTS.draw(rng, make_costs)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Each of the four numbers of each layer."""
    different = COSTS.different(question, observation["costs"])
    if different is None:
        return None
    case, part, said, due, mistake = different
    kind = case["kind"]
    if part == COUNT:
        return wrong("form", "count", layer=LAYERS[kind], numbers=len(said))
    broken = BROKEN[kind][part]
    unusual = broken if kind == "conv" else f"{kind}_other"
    return wrong(
        mistake or unusual, "number",
        requirement=broken if mistake in ("", REMEMBERS) else "",
        part=PARTS[part], layer=LAYERS[kind], shape="x".join(map(str, case["inputs"])),
        value_bytes=case["value_bytes"], number=said, right=due,
    )  # fmt: skip
