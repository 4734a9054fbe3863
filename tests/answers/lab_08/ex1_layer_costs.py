"""Recorded answers to 8.1: wrong ones, and right ones in other styles."""

import functools
import math
import operator

import numpy as np


def by_hand(kind, inputs, outputs, kernel, value_bytes):
    """What many answers to 8.1 have in common: four counts, in values."""
    x, y = math.prod(inputs), math.prod(outputs)
    if kind == "conv":
        w = math.prod(kernel)
        return [2 * y * w // kernel[3], x + w + y, 4 * y * w // kernel[3], 2 * (x + w + y)]
    return [5 * x, 3 * x, 10 * x, 5 * x] if kind == "norm" else [x, 2 * x, x, 3 * x]


def paired(counts, value_bytes):
    a, b, c, d = counts
    return {"forward": (a, b * value_bytes), "backward": (c, d * value_bytes)}


def wrong_costs(kind, change):
    """An answer to 8.1 that is wrong for one kind of layer."""

    def answer(*case):
        counts = by_hand(*case)
        return paired(change(counts, *case) if case[0] == kind else counts, case[4])

    return answer


def named(name, answer):
    answer.__name__ = name
    return answer


def start_costs(kind, inputs, outputs, kernel, value_bytes):
    values = math.prod(outputs)
    return dict.fromkeys(("forward", "backward"), (values, value_bytes * values))


def counts_no_batch(kind, inputs, outputs, kernel, value_bytes):
    inputs, outputs = (1, *inputs[1:]), (1, *outputs[1:])
    return paired(by_hand(kind, inputs, outputs, kernel, value_bytes), value_bytes)


def bytes_first(*case):
    costs = paired(by_hand(*case), case[4])
    return {way: pair[::-1] for way, pair in costs.items()}


def always_float32(*case):
    return paired(by_hand(*case), 4)


def gives_values(*case):
    return paired(by_hand(*case), 1)


def forgets_backward(*case):
    return {"forward": paired(by_hand(*case), case[4])["forward"]}


def gives_three(*case):
    costs = paired(by_hand(*case), case[4])
    return {way: (*pair, sum(pair)) for way, pair in costs.items()}


def kernel_always(kind, inputs, outputs, kernel, value_bytes):
    math.prod(kernel)
    return paired(by_hand(kind, inputs, outputs, kernel, value_bytes), value_bytes)


def square_kernels(counts, kind, x, y, kernel, value_bytes):
    operations = 2 * math.prod(y[:3]) * kernel[0] ** 2 * kernel[2] * kernel[3]
    return [operations, counts[1], 2 * operations, counts[3]]


def kernels_of_three(counts, kind, x, y, kernel, value_bytes):
    operations = 2 * math.prod(y) * 9 * kernel[2]
    return [operations, counts[1], 2 * operations, counts[3]]


def short_cuts_cost_nothing(counts, kind, x, y, kernel, value_bytes):
    return [0, counts[1], 0, counts[3]] if kernel[:2] == (1, 1) else counts


def one_kernel_for_both(counts, kind, x, y, kernel, value_bytes):
    once = math.prod(x) + math.prod(y)
    return [counts[0], counts[1], counts[2], 2 * once + math.prod(kernel)]


def conv_from_input(counts, kind, x, y, kernel, value_bytes):
    operations = 2 * math.prod(x) * math.prod(kernel[:3])
    return [operations, counts[1], 2 * operations, counts[3]]


def conv_kernel_moved_apart(counts, kind, x, y, kernel, value_bytes):
    moved = math.prod(x) + math.prod(y)
    return [counts[0], moved, counts[2], 2 * moved]


WRONG_CONV = {
    "multiplies_only": lambda c, *_: [c[0] / 2, c[1], c[2] / 2, c[3]],
    "takes_positions_of_the_input": conv_from_input,
    "takes_all_filters": lambda c, k, x, y, w, b: [c[0] * w[3], c[1], c[2] * w[3], c[3]],
    "reads_no_kernel": conv_kernel_moved_apart,
    "one_gradient": lambda c, *_: [c[0], c[1], c[0], c[1]],
    "whole_step_backward": lambda c, *_: [c[0], c[1], 3 * c[0], 3 * c[1]],
    "three_for_each_weight": lambda c, *_: [1.5 * c[0], c[1], 1.5 * c[2], c[3]],
    "square_kernels": square_kernels,
    "kernels_of_three": kernels_of_three,
    "short_cuts_cost_nothing": short_cuts_cost_nothing,
    "one_kernel_for_both": one_kernel_for_both,
    "reads_the_kernel_twice": lambda c, k, x, y, w, b: [
        c[0], c[1] + math.prod(w), c[2], c[3],
    ],
    "operations_twice_bytes_once": lambda c, *_: [c[0], c[1], c[2], c[1]],
}  # fmt: skip
WRONG_NORM = {
    "sums_one_by_one": lambda c, *_: [c[0], c[1] * 4 / 3, c[2], c[3] * 6 / 5],
    "keeps_the_input_from_the_first_pass": lambda c, *_: [c[0], c[1], c[2], c[3] * 4 / 5],
    "writes_a_second_array": lambda c, *_: [c[0], c[1] * 4 / 3, c[2], c[3]],
    "reads_once": lambda c, *_: [c[0], c[1] * 2 / 3, c[2], c[3] * 3 / 5],
    "reads_once_backward": lambda c, *_: [c[0], c[1], c[2], c[3] * 3 / 5],
    "same_operations": lambda c, *_: [c[0], c[1], c[0], c[3]],
}
WRONG_RELU = {
    "needs_no_output": lambda c, *_: [c[0], c[1], c[2], c[3] * 2 / 3],
    "two_for_each_value": lambda c, *_: [2 * c[0], c[1], c[2], c[3]],
    "works_in_place": lambda c, *_: [c[0], c[1] / 2, c[2], c[3]],
}
WRONG_COSTS = {
    name: named(name, wrong_costs(kind, change))
    for kind, changes in (("conv", WRONG_CONV), ("norm", WRONG_NORM), ("relu", WRONG_RELU))
    for name, change in changes.items()
}


def at_least_two_bytes(*case):
    return paired(by_hand(*case), max(2, case[4]))


def remembers_convolutions(kind, inputs, outputs, kernel, value_bytes):
    """By the shape of their output, also if the kernel is another."""
    costs = paired(by_hand(kind, inputs, outputs, kernel, value_bytes), value_bytes)
    return _remembered.setdefault(outputs, costs) if kind == "conv" else costs


_remembered = {}


def plain_costs(*case):
    return paired(by_hand(*case), case[4])


def with_lists(kind, inputs, outputs, kernel, value_bytes):
    a, b, c, d = by_hand(kind, inputs, outputs, kernel, value_bytes)
    return {"forward": [a, b * value_bytes], "backward": [c, d * value_bytes]}


def with_numpy(kind, inputs, outputs, kernel, value_bytes):
    x, y = np.prod(inputs), np.prod(outputs)
    if kind == "conv":
        forward = np.array([2 * y * np.prod(kernel[:-1]), x + y + np.prod(kernel)])
        both = np.stack([forward, 2 * forward])
    else:
        both = x * np.array([[5, 3], [10, 5]] if kind == "norm" else [[1, 2], [1, 3]])
    both = both * [1, value_bytes]
    return {"forward": both[0], "backward": both[1]}


def with_match(kind, inputs, outputs, kernel, value_bytes):
    n = functools.reduce(operator.mul, inputs)
    match kind:
        case "relu":
            counts = n, 2 * n, n, 3 * n
        case "norm":
            counts = 5 * n, 3 * n, 10 * n, 5 * n
        case _:
            counts = by_hand(kind, inputs, outputs, kernel, value_bytes)
    return paired(counts, value_bytes)


def with_a_table(kind, inputs, outputs, kernel, value_bytes):
    table = {"norm": ((5, 3), (10, 5)), "relu": ((1, 2), (1, 3))}
    if kind in table:
        n = math.prod(inputs)
        pairs = [(a * n, b * n * value_bytes) for a, b in table[kind]]
        return dict(zip(("forward", "backward"), pairs, strict=True))
    return plain_costs(kind, inputs, outputs, kernel, value_bytes)


def with_passes(kind, inputs, outputs, kernel, value_bytes):
    """Adds up what each pass reads and writes."""
    x, y = math.prod(inputs), math.prod(outputs)
    reads_and_writes = {
        "relu": ([x, y], [y, y, x]),
        "norm": ([x, x, y], [x, y, x, y, x]),
    }
    if kind == "conv":
        w = math.prod(kernel)
        forward, backward = [x, w, y], [x, y, w, w, y, x]
        operations = 2 * math.prod(outputs[:3]) * w, 4 * math.prod(outputs[:3]) * w
    else:
        forward, backward = reads_and_writes[kind]
        operations = (x, x) if kind == "relu" else (5 * x, 10 * x)
    moved = sum(forward) * value_bytes, sum(backward) * value_bytes
    return {"forward": (operations[0], moved[0]), "backward": (operations[1], moved[1])}


def in_floats(*case):
    costs = paired(by_hand(*case), case[4])
    return {way: tuple(map(float, pair)) for way, pair in costs.items()}


def with_unpacking(kind, inputs, outputs, kernel, value_bytes):
    n, h, w, c = outputs
    if kind != "conv":
        return plain_costs(kind, inputs, outputs, kernel, value_bytes)
    kh, kw, c_in, c_out = kernel
    operations = 2 * n * h * w * c_out * kh * kw * c_in
    values = math.prod(inputs) + n * h * w * c + kh * kw * c_in * c_out
    forward = operations, values * value_bytes
    return {"forward": forward, "backward": tuple(2 * cost for cost in forward)}


def backward_first(*case):
    a, b, c, d = by_hand(*case)
    return {"backward": (c, d * case[4]), "forward": (a, b * case[4])}


def with_bytes_helper(kind, inputs, outputs, kernel, value_bytes):
    def size(*shapes):
        return value_bytes * sum(math.prod(shape) for shape in shapes)

    a, _, c, _ = by_hand(kind, inputs, outputs, kernel, value_bytes)
    if kind == "conv":
        once = size(inputs, kernel, outputs)
        return {"forward": (a, once), "backward": (c, 2 * once)}
    reads = (3, 5) if kind == "norm" else (2, 3)
    return {
        "forward": (a, reads[0] * size(inputs)),
        "backward": (c, reads[1] * size(inputs)),
    }


WRONG = [
    ("conv_operations", "start", start_costs),
    ("conv_operations", "multiply_only", WRONG_COSTS["multiplies_only"]),
    ("conv_operations", "input_positions", WRONG_COSTS["takes_positions_of_the_input"]),
    ("conv_operations", "per_weight", WRONG_COSTS["takes_all_filters"]),
    ("conv_operations", "conv_operations", WRONG_COSTS["three_for_each_weight"]),
    ("conv_operations", "no_batch", counts_no_batch),
    ("conv_operations", "conv_operations", WRONG_COSTS["square_kernels"]),
    ("conv_operations", "conv_operations", WRONG_COSTS["kernels_of_three"]),
    ("conv_operations", "conv_operations", WRONG_COSTS["short_cuts_cost_nothing"]),
    ("conv_operations", "remembers", remembers_convolutions),
    ("conv_bytes", "no_kernel", WRONG_COSTS["reads_no_kernel"]),
    ("conv_bytes", "conv_bytes", WRONG_COSTS["reads_the_kernel_twice"]),
    ("conv_backward", "conv_once", WRONG_COSTS["one_gradient"]),
    ("conv_backward", "conv_three", WRONG_COSTS["whole_step_backward"]),
    ("conv_backward", "conv_backward", WRONG_COSTS["operations_twice_bytes_once"]),
    ("conv_backward", "conv_backward", WRONG_COSTS["one_kernel_for_both"]),
    ("norm_operations", "norm_other", WRONG_COSTS["same_operations"]),
    ("norm_forward", "norm_one_pass", WRONG_COSTS["reads_once"]),
    ("norm_forward", "norm_sums_apart", WRONG_COSTS["sums_one_by_one"]),
    ("norm_forward", "norm_other", WRONG_COSTS["writes_a_second_array"]),
    ("norm_backward", "norm_backward", WRONG_COSTS["reads_once_backward"]),
    ("norm_backward", "norm_other", WRONG_COSTS["keeps_the_input_from_the_first_pass"]),
    ("relu_operations", "relu_other", WRONG_COSTS["two_for_each_value"]),
    ("relu_forward", "relu_other", WRONG_COSTS["works_in_place"]),
    ("relu_backward", "relu_backward", WRONG_COSTS["needs_no_output"]),
    ("value_bytes", "always_four", always_float32),
    ("value_bytes", "values", gives_values),
    ("norm_forward", "norm_other", at_least_two_bytes),
    ("pairs", "swapped", bytes_first),
    ("pairs", "form", gives_three),
    ("pairs", "raised", forgets_backward),
    ("pairs", "raised", kernel_always),
]
RIGHT = [
    plain_costs, with_lists, with_numpy, with_match, with_a_table, with_passes,
    in_floats, with_unpacking, backward_first, with_bytes_helper,
]  # fmt: skip
