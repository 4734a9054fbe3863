"""Recorded answers to 9.2: wrong ones, and right ones in other styles."""

import hashlib
import itertools
import random

import numpy as np

from tests.answers.lab_09.shared import holds_a_lock


# 9.2
def order_of(examples, epoch, seed):
    return np.random.default_rng([seed, epoch]).permutation(examples)


def all_in_the_order_of_the_files(examples, epoch, rank, workers, seed):
    return np.arange(examples)


def all_shuffled(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)


def not_shuffled(examples, epoch, rank, workers, seed):
    return np.arange(examples)[rank::workers]


def rolled(examples, epoch, rank, workers, seed):
    return np.roll(np.arange(examples), 7 * seed + 5 * epoch + 1)[rank::workers]


def without_the_rest(examples, epoch, rank, workers, seed):
    whole = examples - examples % workers
    return order_of(examples, epoch, seed)[:whole][rank::workers]


def with_the_rest_for_all(examples, epoch, rank, workers, seed):
    order = order_of(examples, epoch, seed)
    return np.resize(order, -(-examples // workers) * workers)[rank::workers]


def each_draws_its_own(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng([seed, epoch, rank])
    return rng.permutation(examples)[rank::workers]


def with_replacement(examples, epoch, rank, workers, seed):
    drawn = np.random.default_rng([seed, epoch]).integers(examples, size=examples)
    return drawn[rank::workers]


def from_one(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[rank::workers] + 1


def same_in_every_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed)[rank::workers]


def same_with_every_seed(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, 0)[rank::workers]


def seed_plus_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed + epoch)[rank::workers]


def seed_times_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed * epoch)[rank::workers]


def keeps_its_generator():
    generators = {}

    def worker_shard(examples, epoch, rank, workers, seed):
        key = examples, epoch, rank, workers, seed
        if key not in generators:
            generators[key] = np.random.default_rng([seed, epoch])
        return generators[key].permutation(examples)[rank::workers]

    return worker_shard


def seeds_the_global_one(examples, epoch, rank, workers, seed):
    np.random.seed(1000 * seed + epoch)  # noqa: NPY002
    return np.random.permutation(examples)[rank::workers]  # noqa: NPY002


def seeds_pythons_global_one(examples, epoch, rank, workers, seed):
    random.seed(f"{seed} {epoch}")
    order = list(range(examples))
    random.shuffle(order)
    return order[rank::workers]


def in_blocks(examples, epoch, rank, workers, seed):
    return np.array_split(order_of(examples, epoch, seed), workers)[rank]


def an_order_for_each_number_of_workers(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng([seed, epoch, workers])
    return rng.permutation(examples)[rank::workers]


def shuffles_only_its_own(examples, epoch, rank, workers, seed):
    own = np.arange(examples)[rank::workers]
    return np.random.default_rng([seed, epoch, rank]).permutation(own)


def turned_by_the_epoch(examples, epoch, rank, workers, seed):
    return np.roll(order_of(examples, 0, seed), epoch)[rank::workers]


def backwards_in_odd_epochs(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed)[:: 1 - 2 * (epoch % 2)][rank::workers]


def from_a_buffer(examples, epoch, rank, workers, seed):
    """As `tf.data` shuffles, with a buffer of six."""
    rng, buffer, order = np.random.default_rng([seed, epoch]), [], []
    for i in range(examples):
        buffer.append(i)
        if len(buffer) > 6:
            order.append(buffer.pop(rng.integers(6)))
    return np.array(order + buffer)[rank::workers]


def digits_in_a_row(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, int(f"{seed}{epoch}"))[rank::workers]


def seed_by_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, (seed + 1) * (epoch + 1))[rank::workers]


def ten_seeds_to_an_epoch(examples, epoch, rank, workers, seed):
    return order_of(examples, 0, seed + 10 * epoch)[rank::workers]


def no_order_for_seed_0(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng([seed, epoch] if seed else None)
    return rng.permutation(examples)[rank::workers]


def from_the_hash_of_a_text(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng(abs(hash(f"{seed} {epoch}")))
    return rng.permutation(examples)[rank::workers]


def not_seeded(examples, epoch, rank, workers, seed):
    return np.random.default_rng().permutation(examples)[rank::workers]


def sorted_again(examples, epoch, rank, workers, seed):
    return np.sort(order_of(examples, epoch, seed)[rank::workers])


def from_the_next_place(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[(rank + 1) % workers :: workers]


def as_a_mask(examples, epoch, rank, workers, seed):
    mask = np.zeros(examples, bool)
    mask[order_of(examples, epoch, seed)[rank::workers]] = True
    return mask


def as_floats(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[rank::workers].astype(float)


def takes_four(examples, epoch, rank, workers):
    return np.arange(examples)


# Right ones.
def with_shuffle(examples, epoch, rank, workers, seed):
    order = np.arange(examples)
    np.random.default_rng((seed, epoch)).shuffle(order)
    return order[rank::workers]


def with_random_state(examples, epoch, rank, workers, seed):
    return np.random.RandomState([seed, epoch]).permutation(examples)[rank::workers]


def with_python(examples, epoch, rank, workers, seed):
    order = list(range(examples))
    random.Random(f"{seed}, {epoch}").shuffle(order)
    return order[rank::workers]


def with_sorting(examples, epoch, rank, workers, seed):
    drawn = np.random.default_rng([epoch, seed]).random(examples)
    return np.argsort(drawn)[rank::workers]


def with_seed_sequence(examples, epoch, rank, workers, seed):
    sequence = np.random.SeedSequence(seed, spawn_key=(epoch,))
    order = np.random.Generator(np.random.PCG64(sequence)).permutation(examples)
    return order[np.arange(rank, examples, workers)]


def with_a_comprehension(examples, epoch, rank, workers, seed):
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return [int(i) for place, i in enumerate(order) if place % workers == rank]


def with_islice(examples, epoch, rank, workers, seed):
    order = np.random.default_rng(seed * 1_000_003 + epoch).permutation(examples)
    return list(itertools.islice(order.tolist(), rank, None, workers))


def with_a_sample(examples, epoch, rank, workers, seed):
    drawn = random.Random(seed * 1_000_000 + epoch).sample(range(examples), examples)
    return np.array(drawn[rank::workers], dtype="int32")


def with_columns(examples, epoch, rank, workers, seed):
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    missing = -examples % workers
    table = np.append(order, np.full(missing, -1)).reshape(-1, workers)
    own = table[:, rank]
    return own[own >= 0]


def with_epochs_in_turn(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epoch + 1):
        order = rng.permutation(examples)
    return order[rank::workers]


def from_the_hash_of_numbers(examples, epoch, rank, workers, seed):
    rng = np.random.default_rng(abs(hash((seed, epoch))))
    return rng.permutation(examples)[rank::workers]


def with_digests(examples, epoch, rank, workers, seed):
    def digest(i):
        return hashlib.sha256(f"{seed} {epoch} {i}".encode()).digest()

    return sorted(range(examples), key=digest)[rank::workers]


def with_the_global_one_put_back(examples, epoch, rank, workers, seed):
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed([seed, epoch])  # noqa: NPY002
    order = np.random.permutation(examples)  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    return order[rank::workers]


def with_jumps(examples, epoch, rank, workers, seed):
    generator = np.random.Philox(key=seed, counter=epoch << 64)
    return np.random.Generator(generator).permutation(examples)[rank::workers]


def in_sixteen_bits(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed)[rank::workers].astype("int16")


def in_eight_bits_where_they_do(examples, epoch, rank, workers, seed):
    kind = "uint8" if examples < 256 else "uint16"
    return order_of(examples, epoch, seed)[rank::workers].astype(kind)


def no_seed_is_one(examples, epoch, rank, workers, seed):
    return order_of(examples, epoch, seed or 1)[rank::workers]


class HandsOutOrdersInTurn:
    """The next order of one generator for each new epoch, whichever that is."""

    __name__ = "HandsOutOrdersInTurn"

    def __init__(self):
        self.orders, self.rngs = {}, {}

    def __call__(self, examples, epoch, rank, workers, seed):
        key = examples, epoch, seed
        if key not in self.orders:
            rng = self.rngs.setdefault(seed, np.random.default_rng(seed))
            self.orders[key] = rng.permutation(examples)
        return self.orders[key][rank::workers]


WRONG = [
    ("once", "narrow", in_sixteen_bits),
    ("once", "narrow", in_eight_bits_where_they_do),
    ("seed", "seed", no_seed_is_one),
    ("elsewhere", "elsewhere", HandsOutOrdersInTurn()),
    ("once", "start", all_in_the_order_of_the_files),
    ("once", "whole", all_shuffled),
    ("once", "once", each_draws_its_own),
    ("once", "once", with_replacement),
    ("once", "range", from_one),
    ("once", "raised", takes_four),
    ("remainder", "remainder", without_the_rest),
    ("remainder", "remainder", with_the_rest_for_all),
    ("shuffled", "shuffled", not_shuffled),
    ("shuffled", "shuffled", rolled),
    ("shuffled", "shuffled", from_a_buffer),
    ("epoch", "epoch", same_in_every_epoch),
    ("epoch", "epoch", turned_by_the_epoch),
    ("epoch", "epoch", backwards_in_odd_epochs),
    ("seed", "seed", same_with_every_seed),
    ("seed", "seed_plus", seed_plus_epoch),
    ("seed", "seed_plus", ten_seeds_to_an_epoch),
    ("seed", "seed_plus", digits_in_a_row),
    ("seed", "seed_plus", seed_by_epoch),
    ("seed", "seed", seed_times_epoch),
    ("again", "again", keeps_its_generator()),
    ("again", "again", not_seeded),
    ("again", "again", no_order_for_seed_0),
    ("elsewhere", "elsewhere", from_the_hash_of_a_text),
    ("travels", "travels", holds_a_lock()),
    ("global", "global", seeds_the_global_one),
    ("global", "global", seeds_pythons_global_one),
    ("stride", "blocks", in_blocks),
    ("stride", "stride", an_order_for_each_number_of_workers),
    ("stride", "stride", shuffles_only_its_own),
    ("shuffled", "shuffled", sorted_again),
    ("stride", "stride", from_the_next_place),
    ("numbers", "numbers", as_a_mask),
    ("numbers", "numbers", as_floats),
]
RIGHT = [
    with_shuffle,
    with_random_state,
    with_python,
    with_sorting,
    with_seed_sequence,
    with_a_comprehension,
    with_islice,
    with_a_sample,
    with_columns,
    with_jumps,
    with_epochs_in_turn,
    from_the_hash_of_numbers,
    with_digests,
    with_the_global_one_put_back,
    lambda examples, epoch, rank, workers, seed: order_of(examples, epoch, seed)[
        rank::workers
    ],
]
