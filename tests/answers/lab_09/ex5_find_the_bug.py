"""Recorded answers to the bug of lab 09: wrong ones, and right ones in other styles."""

import math
from fractions import Fraction

import numpy as np

LINE = 10
REPAIRED = "shuffling = np.random.default_rng(seed)"


def _share(workers, epochs):
    return (1 - 1 / workers) ** (workers * epochs)


def with_the_code_of_the_start(workers, epochs):
    return 0, "", 0.0


def names_no_line(workers, epochs):
    return 0, REPAIRED, _share(workers, epochs)


def counts_the_lines_of_the_file(workers, epochs):
    return LINE + 20, REPAIRED, _share(workers, epochs)


def says_only_the_line(workers, epochs):
    return LINE


def returns_a_dict(workers, epochs):
    return {"line": LINE, "repaired": REPAIRED, "share": _share(workers, epochs)}


def returns_the_cost_as_text(workers, epochs):
    return LINE, REPAIRED, f"{_share(workers, epochs):.0%}"


def writes_two_lines(workers, epochs):
    new = "shuffling = np.random.default_rng(seed)\nflipping = np.random.default_rng(seed)"
    return LINE, new, _share(workers, epochs)


def leaves_the_line_as_it_is(workers, epochs):
    same = "shuffling = np.random.default_rng([seed, rank])"
    return LINE, same, _share(workers, epochs)


def lets_all_flip_alike(workers, epochs):
    return 9, "flipping = np.random.default_rng([seed, 1])", _share(workers, epochs)


def suspects_the_shards(workers, epochs):
    new = "mine = order[rank * images // workers : (rank + 1) * images // workers]"
    return 13, new, _share(workers, epochs)


def gives_everybody_everything(workers, epochs):
    return 13, "mine = order", _share(workers, epochs)


def takes_another_seed_for_each_rank(workers, epochs):
    return LINE, "shuffling = np.random.default_rng(seed + rank)", _share(workers, epochs)


def takes_the_rank_alone(workers, epochs):
    return LINE, "shuffling = np.random.default_rng(rank)", _share(workers, epochs)


def forgets_the_seed(workers, epochs):
    return LINE, "shuffling = np.random.default_rng(0)", _share(workers, epochs)


def leaves_it_to_chance(workers, epochs):
    return LINE, "shuffling = np.random.default_rng()", _share(workers, epochs)


def has_one_order_for_all_epochs(workers, epochs):
    new = "order = np.random.default_rng(seed).permutation(images)"
    return 12, new, _share(workers, epochs)


def does_not_shuffle(workers, epochs):
    return 12, "order = np.arange(images)", _share(workers, epochs)


def shares_the_generator(workers, epochs):
    return LINE, "shuffling = flipping", _share(workers, epochs)


def closes_no_bracket(workers, epochs):
    return LINE, REPAIRED[:-1], _share(workers, epochs)


def uses_another_name_of_numpy(workers, epochs):
    return LINE, "shuffling = numpy.random.default_rng(seed)", _share(workers, epochs)


def gives_the_limit(workers, epochs):
    return LINE, REPAIRED, math.exp(-epochs)


def gives_one_epoch(workers, epochs):
    return LINE, REPAIRED, _share(workers, 1)


def asks_one_worker(workers, epochs):
    return LINE, REPAIRED, 1 - 1 / workers


def as_if_all_had_the_same(workers, epochs):
    return LINE, REPAIRED, (1 - 1 / workers) ** epochs


def gives_the_share_that_is_seen(workers, epochs):
    return LINE, REPAIRED, 1 - _share(workers, epochs)


def gives_the_share_missed_in_some_epoch(workers, epochs):
    return LINE, REPAIRED, 1 - (1 - _share(workers, 1)) ** epochs


def adds_up_the_epochs(workers, epochs):
    return LINE, REPAIRED, _share(workers, 1) * epochs


def gives_percent(workers, epochs):
    return LINE, REPAIRED, 100 * _share(workers, epochs)


def divides_by_zero(workers, epochs):
    return LINE, REPAIRED, _share(workers, epochs) / (workers - 1)


def gives_the_chance_of_one_image(workers, epochs):
    return LINE, REPAIRED, (1 / workers) ** (workers * epochs)


def costs_nothing(workers, epochs):
    return LINE, REPAIRED, 0.0


def by_the_formula(workers, epochs):
    return LINE, REPAIRED, (1 - 1 / workers) ** (workers * epochs)


def with_a_list_as_seed(workers, epochs):
    new = "    shuffling = np.random.default_rng([seed])  # the same for all workers"
    return [LINE, new, ((workers - 1) / workers) ** (workers * epochs)]


def with_a_generator_for_each_epoch(workers, epochs):
    new = "order = np.random.default_rng([seed, epoch]).permutation(images)"
    return 12, new, _share(workers, epochs)


def worker_by_worker(workers, epochs):
    missed = 1.0
    for _ in range(workers * epochs):
        missed -= missed / workers
    return LINE, REPAIRED, missed


def with_logarithms(workers, epochs):
    if workers == 1:
        return LINE, REPAIRED, 0.0
    return LINE, REPAIRED, math.exp(workers * epochs * math.log1p(-1 / workers))


def with_fractions(workers, epochs):
    missed = (1 - Fraction(1, workers)) ** workers
    return LINE, f"{REPAIRED};", float(missed**epochs)


def with_numpy(workers, epochs):
    chances = np.full((epochs, workers), 1 - 1 / workers)
    return np.int64(LINE), REPAIRED, np.prod(chances)


def with_the_binomial(workers, epochs):
    """No worker of the draws: the first term of the distribution."""
    draws = workers * epochs
    chance = math.comb(draws, 0) * (1 / workers) ** 0 * (1 - 1 / workers) ** draws
    return LINE, "shuffling = np.random.RandomState(seed)", chance


def with_another_kind_of_generator(workers, epochs):
    new = "shuffling = np.random.Generator(np.random.MT19937(seed))"
    return float(LINE), new, pow(1 - 1 / workers, workers) ** epochs


def from_pythons_random(workers, epochs):
    new = (
        "import random; shuffling = type('S', (), {'permutation': (lambda r: lambda self, "
        "n: np.array(r.sample(range(n), n)))(random.Random(seed))})()"
    )
    return LINE, new, _share(workers, epochs)


by_lambda = lambda n, e: (LINE, REPAIRED, (1 - n**-1) ** (n * e))  # noqa: E731


WRONG = [
    ("line", "start", with_the_code_of_the_start),
    ("line", "line", names_no_line),
    ("line", "line", counts_the_lines_of_the_file),
    ("reply", "reply", says_only_the_line),
    ("reply", "reply", returns_a_dict),
    ("reply", "reply", returns_the_cost_as_text),
    ("reply", "raised", divides_by_zero),
    ("one_line", "one_line", writes_two_lines),
    ("repair", "repair", leaves_the_line_as_it_is),
    ("repair", "repair", lets_all_flip_alike),
    ("repair", "repair", suspects_the_shards),
    ("repair", "repair", gives_everybody_everything),
    ("repair", "repair", takes_another_seed_for_each_rank),
    ("repair", "repair", takes_the_rank_alone),
    ("repair", "repair", forgets_the_seed),
    ("repair", "repair", leaves_it_to_chance),
    ("repair", "repair", has_one_order_for_all_epochs),
    ("repair", "repair", does_not_shuffle),
    ("repair", "repair", shares_the_generator),
    ("repair", "fails", closes_no_bracket),
    ("repair", "fails", uses_another_name_of_numpy),
    ("cost", "limit", gives_the_limit),
    ("cost", "one_worker", asks_one_worker),
    ("cost", "rank_0", as_if_all_had_the_same),
    ("cost", "seen", gives_the_share_that_is_seen),
    ("cost", "percent", gives_percent),
    ("cost", "cost", gives_the_chance_of_one_image),
    ("cost", "cost", costs_nothing),
    ("epochs", "one_epoch", gives_one_epoch),
    ("epochs", "every_epoch", gives_the_share_missed_in_some_epoch),
    ("epochs", "added", adds_up_the_epochs),
]
RIGHT = [
    by_the_formula, with_a_list_as_seed, with_a_generator_for_each_epoch, worker_by_worker,
    with_logarithms, with_fractions, with_numpy, with_the_binomial,
    with_another_kind_of_generator, from_pythons_random, by_lambda,
]  # fmt: skip
