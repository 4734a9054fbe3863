"""Recorded answers to 7.1: wrong ones, and right ones in other styles."""

import itertools
import random

import numpy as np
import tensorflow as tf
from numpy.random import default_rng


# --- 7.1 ------------------------------------------------------------------
def _cut(order, core, replicas, batch_size):
    steps = len(order) // (replicas * batch_size)
    kept = np.asarray(order)[: steps * replicas * batch_size]
    return kept.reshape(steps, replicas, batch_size)[:, core]


def _order(images, epoch, seed):
    return np.random.default_rng([seed, epoch]).permutation(images)


def keeps_the_remainder(core, replicas, images, batch_size, epoch, seed):
    mine = _order(images, epoch, seed)[core::replicas]
    return [mine[i : i + batch_size] for i in range(0, len(mine), batch_size)]


def pads_the_last_step(core, replicas, images, batch_size, epoch, seed):
    order = _order(images, epoch, seed)
    whole = replicas * batch_size
    order = np.concatenate([order, order[: -len(order) % whole]])
    return _cut(order, core, replicas, batch_size)


def one_long_row(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, seed), core, replicas, batch_size).ravel()


def counts_from_one(core, replicas, images, batch_size, epoch, seed):
    return images + _cut(_order(images, epoch, seed), core, replicas, batch_size)


def draws_with_replacement(core, replicas, images, batch_size, epoch, seed):
    rng = np.random.default_rng([seed, epoch])
    return _cut(rng.integers(0, images, images), core, replicas, batch_size)


def another_order_for_each_core(core, replicas, images, batch_size, epoch, seed):
    order = np.random.default_rng([seed, epoch, core]).permutation(images)
    return _cut(order, core, replicas, batch_size)


def the_same_for_all_cores(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, seed), 0, replicas, batch_size)


def shuffles_without_a_seed(core, replicas, images, batch_size, epoch, seed):
    return _cut(np.random.default_rng().permutation(images), core, replicas, batch_size)


def forgets_the_epoch(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, 0, seed), core, replicas, batch_size)


def forgets_the_seed(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, 0), core, replicas, batch_size)


def cuts_before_it_shuffles(core, replicas, images, batch_size, epoch, seed):
    whole = images // (replicas * batch_size) * replicas * batch_size
    return _cut(_order(whole, epoch, seed), core, replicas, batch_size)


def takes_fewer_arguments(core, replicas, images, batch_size):
    return _cut(np.arange(images), core, replicas, batch_size)


def every_nth_as_a_list(core, replicas, images, batch_size, epoch, seed):
    """Python's own shuffle, and every core takes its turn in the order."""
    order = list(range(images))
    random.Random(1000 * seed + epoch).shuffle(order)
    steps = images // batch_size // replicas
    mine = order[core::replicas]
    rows = [mine[s * batch_size : (s + 1) * batch_size] for s in range(steps)]
    return rows or np.zeros((0, batch_size), int)


def with_tensorflow_and_blocks(core, replicas, images, batch_size, epoch, seed):
    """A stateless shuffle, one block of the order for each core."""
    order = tf.random.experimental.stateless_shuffle(tf.range(images), seed=[seed, epoch])
    steps = images // (replicas * batch_size)
    block = order[core * steps * batch_size : (core + 1) * steps * batch_size]
    return tf.reshape(block, (steps, batch_size))


def start_7_1(core, replicas, images, batch_size, epoch, seed):
    steps = images // batch_size
    return np.arange(steps * batch_size).reshape(steps, batch_size)


def all_steps_for_each_core(core, replicas, images, batch_size, epoch, seed):
    """Forgets that the other cores take images, too."""
    order = _order(images, epoch, seed)
    steps = images // batch_size
    return order[: steps * batch_size].reshape(steps, batch_size)


def splits_by_array_split(core, replicas, images, batch_size, epoch, seed):
    mine = np.array_split(_order(images, epoch, seed), replicas)[core]
    steps = -(-len(mine) // batch_size)
    return np.resize(mine, (steps, batch_size))


def fixed_batches_shuffled(core, replicas, images, batch_size, epoch, seed):
    batches = _order(images, 0, seed)[: images // batch_size * batch_size]
    batches = default_rng([seed, epoch]).permutation(batches.reshape(-1, batch_size))
    steps = len(batches) // replicas
    return batches[: steps * replicas].reshape(steps, replicas, batch_size)[:, core]


def rotates_the_order(core, replicas, images, batch_size, epoch, seed):
    """Backwards in every second round, so that no epoch is like another for long."""
    order = np.roll(_order(images, 0, seed), epoch)
    return _cut(order, core, replicas, batch_size)


def rotates_by_chance(core, replicas, images, batch_size, epoch, seed):
    """Never the same again, but neighbours stay neighbours."""
    order = np.roll(_order(images, 0, seed), default_rng([seed, epoch]).integers(images))
    cut = _cut(order, core, replicas, batch_size)
    return default_rng([seed, epoch, core]).permuted(cut, axis=1)


def shuffles_its_own_shard(core, replicas, images, batch_size, epoch, seed):
    mine = _order(images, 0, seed)[core::replicas]
    mine = default_rng([seed, epoch]).permutation(mine)
    steps = images // (replicas * batch_size)
    return mine[: steps * batch_size].reshape(steps, batch_size)


def leaves_out_the_last_ones_only(core, replicas, images, batch_size, epoch, seed):
    """What is left out is drawn from the last half."""
    rng = default_rng([seed, epoch])
    steps = images // (replicas * batch_size)
    kept = steps * replicas * batch_size
    half = min(images // 2, kept)
    late = rng.permutation(np.arange(half, images))[: kept - half]
    order = rng.permutation(np.concatenate([np.arange(half), late]))
    return order.reshape(steps, replicas, batch_size)[:, core]


def cuts_by_a_negative_index(core, replicas, images, batch_size, epoch, seed):
    """Cuts nothing off correctly: [:-0] is empty."""
    order = _order(images, epoch, seed)
    order = order[: -(images % (replicas * batch_size))]
    return order.reshape(-1, replicas, batch_size)[:, core]


def always_a_step(core, replicas, images, batch_size, epoch, seed):
    steps = max(1, images // (replicas * batch_size))
    order = np.resize(_order(images, epoch, seed), steps * replicas * batch_size)
    return order.reshape(steps, replicas, batch_size)[:, core]


def nothing_for_no_step(core, replicas, images, batch_size, epoch, seed):
    part = _cut(_order(images, epoch, seed), core, replicas, batch_size)
    return part.tolist()


def even_seeds_are_one(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, seed % 2), core, replicas, batch_size)


def splits_into_steps(core, replicas, images, batch_size, epoch, seed):
    """np.split cannot make none."""
    steps = images // (replicas * batch_size)
    order = _order(images, epoch, seed)[: steps * replicas * batch_size]
    return np.stack([part[core::replicas] for part in np.split(order, steps)])


def rounds_the_steps(core, replicas, images, batch_size, epoch, seed):
    steps = round(images / (replicas * batch_size))
    order = np.resize(_order(images, epoch, seed), steps * replicas * batch_size)
    return order.reshape(steps, replicas, batch_size)[:, core]


def gives_floats(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, seed).astype(float), core, replicas, batch_size)


def from_1_to_images(core, replicas, images, batch_size, epoch, seed):
    return 1 + _cut(_order(images, epoch, seed), core, replicas, batch_size)


def steps_last(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, seed), core, replicas, batch_size).T


def last_digit_of_the_seed(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch, seed % 10), core, replicas, batch_size)


def sorts_the_images_of_a_core(core, replicas, images, batch_size, epoch, seed):
    """All images are drawn again, but the first and the last ones never meet."""
    part = _cut(_order(images, epoch, seed), core, replicas, batch_size)
    return np.sort(part, axis=None).reshape(part.shape)


def seed_times_epoch(core, replicas, images, batch_size, epoch, seed):
    order = default_rng(seed * epoch).permutation(images)
    return _cut(order, core, replicas, batch_size)


def seed_or_none(core, replicas, images, batch_size, epoch, seed):
    """Seed 0 counts as no seed."""
    rng = random.Random(1000 * seed + epoch if seed else None)
    return _cut(rng.sample(range(images), images), core, replicas, batch_size)


def two_orders_in_turns(core, replicas, images, batch_size, epoch, seed):
    return _cut(_order(images, epoch % 4, seed), core, replicas, batch_size)


def backwards_in_odd_epochs(core, replicas, images, batch_size, epoch, seed):
    order = _order(images, epoch // 2, seed)[:: -1 if epoch % 2 else 1]
    return _cut(order, core, replicas, batch_size)


def by_one_image_in_odd_epochs(core, replicas, images, batch_size, epoch, seed):
    order = np.roll(_order(images, epoch // 2, seed), epoch % 2)
    return _cut(order, core, replicas, batch_size)


def cores_swap_their_parts(core, replicas, images, batch_size, epoch, seed):
    """A new order in every second epoch; between, the cores change places."""
    order = _order(images, epoch // replicas, seed)
    return _cut(order, (core + epoch) % replicas, replicas, batch_size)


def shuffles_a_little(core, replicas, images, batch_size, epoch, seed):
    """As a small shuffle buffer does, after a start anywhere."""
    rng = default_rng([seed, epoch])
    order = np.argsort(np.arange(images) + rng.uniform(0, 5, images))
    return _cut(np.roll(order, rng.integers(images)), core, replicas, batch_size)


def overlapping_windows(core, replicas, images, batch_size, epoch, seed):
    """Each core begins one image later."""
    steps = images // (replicas * batch_size)
    part = _order(images, epoch, seed)[core : core + steps * batch_size]
    return part.reshape(steps, batch_size)


def seeds_once_for_all(core, replicas, images, batch_size, epoch, seed):
    order = _SHARED.permutation(images)
    return _cut(order, core, replicas, batch_size)


_SHARED = default_rng(0)


def drops_a_step(core, replicas, images, batch_size, epoch, seed):
    steps = (images - 1) // (replicas * batch_size)
    order = _order(images, epoch, seed)[: steps * replicas * batch_size]
    return order.reshape(steps, replicas, batch_size)[:, core]


def by_choice(core, replicas, images, batch_size, epoch, seed):
    steps = images // (replicas * batch_size)
    size = steps, replicas, batch_size
    return default_rng([epoch, seed]).choice(images, size, replace=False)[:, core]


def by_state(core, replicas, images, batch_size, epoch, seed):
    state = np.random.RandomState((seed * 1000 + epoch) % 2**32)
    order = np.arange(images)
    state.shuffle(order)
    steps = (images // replicas) // batch_size
    return np.array(order[core::replicas][: steps * batch_size]).reshape(-1, batch_size)


def by_global_seed(core, replicas, images, batch_size, epoch, seed):
    np.random.seed(seed + epoch)  # noqa: NPY002
    order = np.random.permutation(images)  # noqa: NPY002
    return _cut(order, core, replicas, batch_size)


def by_sorting(core, replicas, images, batch_size, epoch, seed):
    order = np.argsort(default_rng((seed, epoch)).random(images))
    whole = batch_size * replicas
    order = order[: len(order) - len(order) % whole]
    return order.reshape((replicas, -1, batch_size))[core]


def by_islice(core, replicas, images, batch_size, epoch, seed):
    shuffled = iter(default_rng([7, seed, epoch]).permutation(images).tolist())
    batches = [
        list(itertools.islice(shuffled, batch_size))
        for _ in range(images // batch_size // replicas * replicas)
    ]
    return np.array(batches[core::replicas], int).reshape(-1, batch_size)


def by_text(core, replicas, images, batch_size, epoch, seed):
    order = random.Random(f"{seed}/{epoch}").sample(range(images), images)
    rows = np.empty((images // (replicas * batch_size), batch_size), np.int32)
    for step in range(rows.shape[0]):
        begin = (step * replicas + core) * batch_size
        rows[step] = order[begin : begin + batch_size]
    return rows


def recursive_shuffles(core, replicas, images, batch_size, epoch, seed):
    """Epochs follow each other by one generator."""
    rng = default_rng(seed)
    for _ in range(epoch + 1):
        order = rng.permutation(images)
    return _cut(order, core, replicas, batch_size)


def by_spawning(core, replicas, images, batch_size, epoch, seed):
    rng = default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(epoch,)))
    return np.sort(_cut(rng.permuted(range(images)), core, replicas, batch_size), axis=1)


WRONG = [
    ("steps", "start", start_7_1),
    ("steps", "remainder", keeps_the_remainder),
    ("steps", "remainder", pads_the_last_step),
    ("steps", "remainder", splits_by_array_split),
    ("steps", "remainder", rounds_the_steps),
    ("steps", "replicas", all_steps_for_each_core),
    ("steps", "exact", cuts_by_a_negative_index),
    ("steps", "exact", drops_a_step),
    ("none", "none", always_a_step),
    ("none", "none", nothing_for_no_step),
    ("shape", "raised", splits_into_steps),
    ("shape", "shape", one_long_row),
    ("shape", "shape", steps_last),
    ("range", "range", counts_from_one),
    ("range", "range", from_1_to_images),
    ("range", "range", gives_floats),
    ("twice", "twice", draws_with_replacement),
    ("twice", "overlap", another_order_for_each_core),
    ("twice", "overlap", the_same_for_all_cores),
    ("twice", "overlap", overlapping_windows),
    ("again", "unseeded", shuffles_without_a_seed),
    ("again", "unseeded", seed_or_none),
    ("again", "unseeded", seeds_once_for_all),
    ("each_epoch", "epoch", forgets_the_epoch),
    ("each_epoch", "epoch", two_orders_in_turns),
    ("each_epoch", "epoch", rotates_the_order),
    ("seed", "seed", forgets_the_seed),
    ("seed", "seed", seed_times_epoch),
    ("seed", "seed", even_seeds_are_one),
    ("seed", "seed", last_digit_of_the_seed),
    ("left_out", "never_seen", cuts_before_it_shuffles),
    ("left_out", "always_seen", leaves_out_the_last_ones_only),
    ("share", "fixed_batches", fixed_batches_shuffled),
    ("share", "fixed_shards", shuffles_its_own_shard),
    ("share", "pairs", rotates_by_chance),
    ("share", "pairs", shuffles_a_little),
    ("share", "pairs", sorts_the_images_of_a_core),
    ("each_epoch", "repeated", backwards_in_odd_epochs),
    ("each_epoch", "repeated", by_one_image_in_odd_epochs),
    ("each_epoch", "repeated", cores_swap_their_parts),
    ("shape", "raised", takes_fewer_arguments),
]
RIGHT = [
    every_nth_as_a_list, with_tensorflow_and_blocks, by_choice, by_state, by_sorting,
    by_global_seed, by_islice, by_text, recursive_shuffles, by_spawning,
]  # fmt: skip
