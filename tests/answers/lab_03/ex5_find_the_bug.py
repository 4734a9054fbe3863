"""Recorded answers to 3.5: wrong ones, and right ones in other styles."""

import itertools
import math
from fractions import Fraction

import numpy as np

LINE = 22
REPAIRED = "began = clock()"


def _factor(looks, train_seconds, valid_seconds):
    return 1 + (looks - 1) * valid_seconds / (looks * train_seconds)


def with_the_code_of_the_start(looks, train_seconds, valid_seconds):
    return 0, "", 1.0


def names_no_line(*times):
    return 0, REPAIRED, _factor(*times)


def counts_from_the_first_line_of_the_file(*times):
    return LINE + 11, REPAIRED, _factor(*times)


def says_only_the_line(*times):
    return LINE


def returns_a_dict(*times):
    return {"line": LINE, "repaired": REPAIRED, "factor": _factor(*times)}


def returns_the_cost_as_text(*times):
    return LINE, REPAIRED, f"{_factor(*times):.2f} times"


def quotes_the_number_of_the_line(*times):
    return f"line {LINE}", REPAIRED, _factor(*times)


def writes_two_lines(*times):
    return LINE, "looked = clock()\nbegan = looked", _factor(*times)


def leaves_the_line_as_it_is(*times):
    return LINE, "began = trained", _factor(*times)


def suspects_the_sum(*times):
    return 19, "spent = trained - began", _factor(*times)


def suspects_the_target(*times):
    return 21, "reached = accuracy >= target", _factor(*times)


def suspects_a_missing_time(*times):
    return 23, "seconds[batch_size] = spent", _factor(*times)


def takes_away_a_look_of_one_second(*times):
    return 19, "spent += trained - began - 1.0", _factor(*times)


def begins_before_the_network(*times):
    return 13, "began = clock(); run = new_run(batch_size)", _factor(*times)


def counts_the_last_look_only(*times):
    return LINE, "began = clock() - (trained - began)", _factor(*times)


def forgets_to_call_the_clock(*times):
    return LINE, "began = clock", _factor(*times)


def closes_no_bracket(*times):
    return LINE, "began = clock(", _factor(*times)


def counts_every_look(looks, train_seconds, valid_seconds):
    return LINE, REPAIRED, (train_seconds + valid_seconds) / train_seconds


def counts_one_look(looks, train_seconds, valid_seconds):
    more = valid_seconds if looks > 1 else 0.0
    return LINE, REPAIRED, 1 + more / (looks * train_seconds)


def gives_seconds(looks, train_seconds, valid_seconds):
    return LINE, REPAIRED, (looks - 1) * valid_seconds


def gives_the_share_of_looks(looks, train_seconds, valid_seconds):
    counted = (looks - 1) * valid_seconds
    return LINE, REPAIRED, counted / (counted + looks * train_seconds)


def gives_what_is_added(*times):
    return LINE, REPAIRED, _factor(*times) - 1


def gives_the_inverse(*times):
    return LINE, REPAIRED, 1 / _factor(*times)


def gives_percent(*times):
    return LINE, REPAIRED, 100 * _factor(*times)


def counts_one_piece_less(looks, train_seconds, valid_seconds):
    training = (looks - 1) * train_seconds or train_seconds
    return LINE, REPAIRED, (training + (looks - 1) * valid_seconds) / training


def costs_nothing(*times):
    return LINE, REPAIRED, 1.0


def divides_by_zero(looks, train_seconds, valid_seconds):
    return LINE, REPAIRED, valid_seconds / (looks - 1)


def by_the_formula(looks, train_seconds, valid_seconds):
    return LINE, REPAIRED, 1 + (looks - 1) / looks * valid_seconds / train_seconds


def by_the_ratio_of_times(looks, train_seconds, valid_seconds):
    given = looks * train_seconds + (looks - 1) * valid_seconds
    return [
        LINE,
        "    began = clock()  # the look has ended",
        given / (looks * train_seconds),
    ]


def look_by_look(looks, train_seconds, valid_seconds):
    spent, training = 0.0, 0.0
    for look in range(looks):
        spent += train_seconds + (valid_seconds if look else 0.0)
        training += train_seconds
    return LINE, "began = clock();", spent / training


def begins_again_before_it_trains(*times):
    return 17, "began = clock(); run.train()", _factor(*times)


def takes_the_time_before_training(*times):
    """`while` asks for the looks, and the clock can be read there, too."""
    new = "while run.looks_left() and not reached and (began := clock()) is not None:"
    return 16, new, _factor(*times)


def moves_the_beginning(*times):
    return LINE, "began += clock() - began", _factor(*times)


def with_numpy(looks, train_seconds, valid_seconds):
    pieces = np.full(looks, train_seconds)
    counted = np.full(looks, valid_seconds)[1:]
    return np.int64(LINE), REPAIRED, (pieces.sum() + counted.sum()) / pieces.sum()


def with_fractions(looks, train_seconds, valid_seconds):
    ratio = Fraction(looks - 1, looks) * Fraction(valid_seconds) / Fraction(train_seconds)
    return LINE, REPAIRED, float(1 + ratio)


def with_a_pretended_clock(looks, train_seconds, valid_seconds):
    """What the script does, with numbers in place of runs."""
    times = itertools.accumulate([train_seconds, valid_seconds] * looks)
    ends = list(times)[::2]
    return LINE, REPAIRED, ends[-1] / (looks * train_seconds)


def with_fsum(looks, train_seconds, valid_seconds):
    training = math.fsum([train_seconds] * looks)
    more = math.fsum([valid_seconds] * (looks - 1))
    return float(LINE), REPAIRED, (training + more) / training


by_lambda = lambda looks, t, v: (LINE, "began = clock()", (t + v - v / looks) / t)  # noqa: E731


WRONG = [
    ("line", "start", with_the_code_of_the_start),
    ("line", "line", names_no_line),
    ("line", "line", counts_from_the_first_line_of_the_file),
    ("reply", "reply", says_only_the_line),
    ("reply", "reply", returns_a_dict),
    ("reply", "reply", returns_the_cost_as_text),
    ("reply", "reply", quotes_the_number_of_the_line),
    ("reply", "raised", divides_by_zero),
    ("one_line", "one_line", writes_two_lines),
    ("repair", "repair", leaves_the_line_as_it_is),
    ("repair", "repair", suspects_the_sum),
    ("repair", "repair", suspects_the_target),
    ("repair", "repair", suspects_a_missing_time),
    ("repair", "repair", takes_away_a_look_of_one_second),
    ("repair", "repair", begins_before_the_network),
    ("repair", "repair", counts_the_last_look_only),
    ("repair", "fails", forgets_to_call_the_clock),
    ("repair", "fails", closes_no_bracket),
    ("last", "every_look", counts_every_look),
    ("last", "one_look", counts_one_look),
    ("cost", "seconds", gives_seconds),
    ("cost", "share", gives_the_share_of_looks),
    ("cost", "added", gives_what_is_added),
    ("cost", "inverse", gives_the_inverse),
    ("cost", "percent", gives_percent),
    ("cost", "cost", counts_one_piece_less),
    ("cost", "cost", costs_nothing),
]
RIGHT = [
    by_the_formula, by_the_ratio_of_times, look_by_look, begins_again_before_it_trains,
    takes_the_time_before_training, moves_the_beginning, with_numpy, with_fractions,
    with_a_pretended_clock, with_fsum, by_lambda,
]  # fmt: skip
