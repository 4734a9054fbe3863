"""Recorded answers to 6.4: wrong ones, and right ones in other styles."""

import math
from fractions import Fraction

import numpy as np

LINE = 13
REPAIRED = "rate = peak_rate * (1 - batches_done / (accumulate * steps))"


def _wasted(steps, accumulate):
    return steps - math.ceil(steps / accumulate)


def with_the_code_of_the_start(steps, accumulate):
    return 0, "", 0


def names_no_line(steps, accumulate):
    return 0, REPAIRED, _wasted(steps, accumulate)


def counts_the_lines_of_the_file(steps, accumulate):
    return LINE + 12, REPAIRED, _wasted(steps, accumulate)


def says_only_the_line(steps, accumulate):
    return LINE


def returns_a_dict(steps, accumulate):
    return {"line": LINE, "repaired": REPAIRED, "wasted": _wasted(steps, accumulate)}


def names_the_line_in_words(steps, accumulate):
    return f"line {LINE}", REPAIRED, _wasted(steps, accumulate)


def returns_the_cost_as_text(steps, accumulate):
    return LINE, REPAIRED, f"{_wasted(steps, accumulate)} steps"


def puts_the_cost_second(steps, accumulate):
    return LINE, _wasted(steps, accumulate), REPAIRED


def writes_two_lines(steps, accumulate):
    new = "step = batches_done // accumulate\n    rate = peak_rate * (1 - step / steps)"
    return LINE, new, _wasted(steps, accumulate)


def leaves_the_line_as_it_is(steps, accumulate):
    same = "rate = peak_rate * max(0.0, 1 - batches_done / steps)"
    return LINE, same, _wasted(steps, accumulate)


def suspects_the_division(steps, accumulate):
    new = "weights = weights - rate * gradient / len(x_step) / accumulate"
    return 20, new, _wasted(steps, accumulate)


def suspects_the_sum_over_replicas(steps, accumulate):
    new = "gradient += 2 * x_step[part].T @ errors / replicas"
    return 18, new, _wasted(steps, accumulate)


def divides_by_the_wrong_one(steps, accumulate):
    new = "rate = peak_rate * max(0.0, 1 - batches_done / accumulate)"
    return LINE, new, _wasted(steps, accumulate)


def repairs_four_micro_batches_only(steps, accumulate):
    return LINE, REPAIRED.replace("accumulate", "4"), _wasted(steps, accumulate)


def begins_one_step_late(steps, accumulate):
    new = "rate = peak_rate * (1 - (batches_done / accumulate + 1) / steps)"
    return LINE, new, _wasted(steps, accumulate)


def reaches_zero_in_the_last_step(steps, accumulate):
    new = "rate = peak_rate * max(0.0, 1 - len(rates) / max(1, steps - 1))"
    return LINE, new, _wasted(steps, accumulate)


def never_lowers_the_rate(steps, accumulate):
    return LINE, "rate = peak_rate", _wasted(steps, accumulate)


def counts_whole_numbers_of_steps(steps, accumulate):
    new = "rate = peak_rate * (1 - batches_done // (accumulate * steps))"
    return LINE, new, _wasted(steps, accumulate)


def forgets_a_bracket(steps, accumulate):
    return LINE, REPAIRED[:-1], _wasted(steps, accumulate)


def uses_a_name_that_is_not_there(steps, accumulate):
    return LINE, "rate = peak_rate * (1 - step / steps)", _wasted(steps, accumulate)


def divides_first(steps, accumulate):
    return LINE, REPAIRED, steps - steps // accumulate


def keeps_the_fraction(steps, accumulate):
    return LINE, REPAIRED, steps * (1 - 1 / accumulate)


def counts_the_steps_that_train(steps, accumulate):
    return LINE, REPAIRED, math.ceil(steps / accumulate)


def gives_a_share(steps, accumulate):
    return LINE, REPAIRED, _wasted(steps, accumulate) / steps


def counts_micro_batches(steps, accumulate):
    return LINE, REPAIRED, _wasted(steps, accumulate) * accumulate


def forgets_the_first_at_zero(steps, accumulate):
    return LINE, REPAIRED, sum(step * accumulate > steps for step in range(steps))


def misses_one(steps, accumulate):
    return LINE, REPAIRED, max(0, _wasted(steps, accumulate) - 1)


def counts_all_further_micro_batches(steps, accumulate):
    return LINE, REPAIRED, steps * accumulate - steps


def costs_nothing(steps, accumulate):
    return LINE, REPAIRED, 0


def divides_by_zero(steps, accumulate):
    return LINE, REPAIRED, steps // (accumulate - 1)


def with_ceil(steps, accumulate):
    return LINE, REPAIRED, steps - math.ceil(steps / accumulate)


def with_the_steps_so_far(steps, accumulate):
    new = "    rate = peak_rate * (1 - len(rates) / steps)  # a rate for each step"
    return [LINE, new, steps - -(-steps // accumulate)]


def counts_in_steps(steps, accumulate):
    """The counter itself is repaired, a part of a step at a time."""
    return 19, "batches_done += 1 / accumulate", _wasted(steps, accumulate)


def one_after_the_other(steps, accumulate):
    batches_done, wasted = 0, 0
    for _ in range(steps):
        wasted += 1 - batches_done / steps <= 0
        batches_done += accumulate
    return LINE, REPAIRED, wasted


def with_numpy(steps, accumulate):
    done = np.arange(steps) * accumulate
    return np.int64(LINE), REPAIRED, np.count_nonzero(done >= steps)


def keeps_the_floor_of_zero(steps, accumulate):
    new = "rate = max(0.0, peak_rate - peak_rate * batches_done / accumulate / steps)"
    return LINE, new, float(_wasted(steps, accumulate))


def with_fractions(steps, accumulate):
    return LINE, REPAIRED, steps - math.ceil(Fraction(steps, accumulate))


def with_divmod(steps, accumulate):
    whole, rest = divmod(steps, accumulate)
    new = "rate = (1 - batches_done // accumulate / steps) * peak_rate"
    return LINE, new, steps - whole - (rest > 0)


def by_listing_the_steps(steps, accumulate):
    trained = list(range(0, steps, accumulate))
    return LINE, f"\t{REPAIRED};", steps - len(trained)


def with_conditions(steps, accumulate):
    if accumulate == 1:
        return LINE, REPAIRED, 0
    trained = (steps - 1) // accumulate + 1
    return LINE, "rate = peak_rate - len(rates) * peak_rate / steps", steps - trained


by_lambda = lambda steps, accumulate: (  # noqa: E731
    float(LINE),
    "rate = peak_rate * (steps - len(rates)) / steps",
    steps - (steps + accumulate - 1) // accumulate,
)


WRONG = [
    ("line", "start", with_the_code_of_the_start),
    ("line", "line", names_no_line),
    ("line", "line", counts_the_lines_of_the_file),
    ("reply", "reply", says_only_the_line),
    ("reply", "reply", returns_a_dict),
    ("reply", "reply", names_the_line_in_words),
    ("reply", "reply", returns_the_cost_as_text),
    ("reply", "reply", puts_the_cost_second),
    ("reply", "raised", divides_by_zero),
    ("one_line", "one_line", writes_two_lines),
    ("repair", "repair", leaves_the_line_as_it_is),
    ("repair", "repair", suspects_the_division),
    ("repair", "repair", suspects_the_sum_over_replicas),
    ("repair", "repair", divides_by_the_wrong_one),
    ("repair", "repair", repairs_four_micro_batches_only),
    ("repair", "repair", begins_one_step_late),
    ("repair", "repair", reaches_zero_in_the_last_step),
    ("repair", "repair", never_lowers_the_rate),
    ("repair", "repair", counts_whole_numbers_of_steps),
    ("repair", "fails", forgets_a_bracket),
    ("repair", "fails", uses_a_name_that_is_not_there),
    ("small", "floor", divides_first),
    ("small", "exact", keeps_the_fraction),
    ("cost", "training", counts_the_steps_that_train),
    ("cost", "share", gives_a_share),
    ("cost", "micro", counts_micro_batches),
    ("cost", "cost", forgets_the_first_at_zero),
    ("cost", "late", misses_one),
    ("cost", "too_many", counts_all_further_micro_batches),
    ("cost", "cost", costs_nothing),
]
RIGHT = [
    with_ceil, with_the_steps_so_far, counts_in_steps, one_after_the_other, with_numpy,
    keeps_the_floor_of_zero, with_fractions, with_divmod, by_listing_the_steps,
    with_conditions, by_lambda,
]  # fmt: skip
