"""Answers to lab 07 that were, or could have been, handed in."""

import functools
import itertools
import random

import keras
import numpy as np
import tensorflow as tf
from keras.optimizers import SGD, schedules
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


# --- 7.2 ------------------------------------------------------------------


def unscaled(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate, momentum)


def root_scaled(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas**0.5, momentum)


def always_eight(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * 8, momentum)


def no_momentum(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas)


def usual_momentum(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas, momentum=0.5)


def capped_rate(base_learning_rate, momentum, replicas):
    return SGD(min(base_learning_rate * replicas, 0.5), momentum)


def sixteen_at_most(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * min(replicas, 16), momentum)


def with_nesterov(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas, momentum, nesterov=True)


def with_adam(base_learning_rate, momentum, replicas):
    return keras.optimizers.Adam(base_learning_rate * replicas)


def gives_a_name(base_learning_rate, momentum, replicas):
    return "sgd"


def from_a_dict(base_learning_rate, momentum, replicas):
    rate = replicas * base_learning_rate
    return keras.optimizers.deserialize(
        {"class_name": "SGD", "config": {"learning_rate": rate, "momentum": momentum}}
    )


def own_optimizer(base_learning_rate, momentum, replicas):
    """Momentum as PyTorch writes it, in an optimizer of its own."""

    class Sgd(keras.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.sums = [self.add_variable_from_reference(v, "sum") for v in variables]

        def update_step(self, gradient, variable, learning_rate):
            sums = self.sums[self._get_variable_index(variable)]
            sums.assign(momentum * sums + gradient)
            variable.assign_sub(learning_rate * sums)

    rate = base_learning_rate * replicas
    return Sgd(keras.optimizers.schedules.ExponentialDecay(rate, 1, 1.0))


def start_7_2(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate)


def divided(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate / replicas, momentum)


def no_room_below_two(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * max(replicas, 2), momentum)


def warms_the_rate_up(base_learning_rate, momentum, replicas):
    class Warmup(schedules.LearningRateSchedule):
        def __call__(self, step):
            share = tf.minimum(1.0, (tf.cast(step, tf.float32) + 1) / 5)
            return base_learning_rate * replicas * share

    return SGD(Warmup(), momentum)


def with_a_schedule(base_learning_rate, momentum, replicas):
    rate = schedules.ExponentialDecay(base_learning_rate * replicas, 10_000, 0.96, True)
    return SGD(rate, momentum)


def with_cosine(base_learning_rate, momentum, replicas):
    return SGD(schedules.CosineDecay(base_learning_rate * replicas, 1000), momentum)


def in_pieces(base_learning_rate, momentum, replicas):
    rate = base_learning_rate * replicas
    return SGD(
        schedules.PiecewiseConstantDecay([3000, 6000], [rate, rate / 10, rate / 100]),
        momentum,
    )


def drops_the_rate_very_late(base_learning_rate, momentum, replicas):
    rate = base_learning_rate * replicas
    return SGD(schedules.PiecewiseConstantDecay([200_000], [rate, rate / 10]), momentum)


def with_weight_decay(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, weight_decay=1e-4)


def with_a_little_decay(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, weight_decay=1e-6)


def clips_the_norm(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, clipnorm=1.0)


def clips_the_value(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, clipvalue=5.0)


def clips_all_together(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, global_clipnorm=10.0)


def clips_huge_ones(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, clipnorm=1e4)


def averages(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, use_ema=True)


def accumulates(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, gradient_accumulation_steps=2)


def dampened(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas * (1 - momentum), momentum)


def swapped(base_learning_rate, momentum, replicas):
    return SGD(momentum * replicas, base_learning_rate)


def scaled_momentum(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, 1 - (1 - momentum) / replicas)


def one_digit_of_momentum(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, round(momentum, 1))


def rest_of_momentum(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, 1 - momentum)


def squared(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas**2, momentum)


def scales_the_loss(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, loss_scale_factor=128.0)


def with_rmsprop(base_learning_rate, momentum, replicas):
    return keras.optimizers.RMSprop(base_learning_rate * replicas, momentum=momentum)


def by_names(base_learning_rate, momentum, replicas):
    return SGD(
        momentum=momentum,
        learning_rate=replicas * base_learning_rate,
        nesterov=False,
        weight_decay=None,
        clipnorm=None,
    )


def in_tf(base_learning_rate, momentum, replicas):
    rate = tf.constant(base_learning_rate) * tf.cast(replicas, tf.float32)
    return tf.keras.optimizers.SGD(learning_rate=float(rate), momentum=momentum)


def assigns_the_rate(base_learning_rate, momentum, replicas):
    optimizer = SGD(momentum=momentum)
    optimizer.learning_rate = base_learning_rate * replicas
    return optimizer


def with_a_sum(base_learning_rate, momentum, replicas):
    return SGD(sum(base_learning_rate for _ in range(replicas)), momentum)


def by_callable(base_learning_rate, momentum, replicas):
    return SGD(lambda: base_learning_rate * replicas, momentum)


def with_numpy(base_learning_rate, momentum, replicas):
    return SGD(np.multiply(base_learning_rate, replicas), momentum, name="sgd8")


def from_config(base_learning_rate, momentum, replicas):
    config = SGD().get_config()
    config |= {"learning_rate": base_learning_rate * replicas, "momentum": momentum}
    return SGD.from_config(config)


by_lambda = functools.partial(lambda kind, base, m, n: kind(base * n, m), SGD)
by_lambda.__name__ = "by_lambda"


class ScaledSgd(SGD):
    def __init__(self, base_learning_rate, momentum, replicas):
        super().__init__(base_learning_rate * replicas, momentum=momentum)


# --- 7.3 ------------------------------------------------------------------


def _answer(made, mean=lambda total, count, block: total / tf.cast(count, "float32")):
    """The reference, with another loop or another way to sum up."""

    def steps_in_one_call(one_step, cores):
        @tf.function
        def graph(block, count):
            total = tf.zeros(cores)
            for i in made(count, block):
                total += one_step(block, i)
            return mean(total, count, block)

        return lambda block, count: graph(block, tf.constant(count))

    return steps_in_one_call


def a_graph_of_one_step(one_step, cores):
    step = tf.function(one_step)

    def run(block, count):
        total = tf.zeros(cores)
        for i in range(count):
            total += step(block, tf.constant(i))
        return total / count

    return run


def a_graph_for_every_count(one_step, cores):
    @tf.function
    def run(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / count

    return run


def unrolls_the_loop(one_step, cores):
    @tf.function
    def run(block, count):
        total = tf.zeros(cores)
        for i in range(count):
            total += one_step(block, i)
        return total / count

    return run


def unrolls_the_block(one_step, cores):
    """One program for all counts, but as long as the block."""

    @tf.function
    def graph(block, count):
        total = tf.zeros(cores)
        for i in range(block[0].shape[0]):
            total += tf.cond(
                i < count, lambda i=i: one_step(block, i), lambda: tf.zeros(cores)
            )
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def remembers_the_first_count(one_step, cores):
    def run(block, count):
        if not hasattr(run, "graph"):

            @tf.function
            def graph(block):
                total = tf.zeros(cores)
                for i in tf.range(count):
                    total += one_step(block, i)
                return total / count

            run.graph = graph
        return run.graph(block)

    return run


def warms_up(one_step, cores):
    length = 4
    zeros = tf.zeros(length), tf.zeros((length, cores))
    one_step(zeros, 0)
    return _answer(lambda count, block: tf.range(count))(one_step, cores)


_newest = {}


def keeps_one_for_all(one_step, cores):
    _newest["step"] = one_step

    @tf.function
    def graph(block, count):
        total = tf.zeros(tf.shape(block[1])[1:])
        for i in tf.range(count):
            total += _newest["step"](block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def makes_no_step(one_step, cores):
    return lambda block, count: tf.zeros(cores)


makes_the_filling_too = _answer(lambda count, block: tf.range(tf.shape(block[0])[0]))
makes_the_filling_too.__name__ = "makes_the_filling_too"

counts_from_step_one = _answer(lambda count, block: tf.range(1, count))
counts_from_step_one.__name__ = "counts_from_step_one"


def makes_the_first_step_twice(one_step, cores):
    @tf.function
    def graph(block, count):
        total = one_step(block, 0) * 0
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


goes_backwards = _answer(lambda count, block: tf.range(count - 1, -1, -1))
goes_backwards.__name__ = "goes_backwards"


def _sums_up(name, mean):
    answer = _answer(lambda count, block: tf.range(count), mean)
    answer.__name__ = name
    return answer


gives_the_sum = _sums_up("gives_the_sum", lambda total, count, block: total)
divides_by_the_block = _sums_up(
    "divides_by_the_block",
    lambda total, count, block: total / tf.cast(tf.shape(block[0])[0], "float32"),
)
divides_by_one_more = _sums_up(
    "divides_by_one_more",
    lambda total, count, block: total / tf.cast(count + 1, "float32"),
)
gives_one_mean = _sums_up(
    "gives_one_mean",
    lambda total, count, block: tf.reduce_mean(total) / tf.cast(count, "float32"),
)
gives_a_column = _sums_up(
    "gives_a_column",
    lambda total, count, block: total[:, None] / tf.cast(count, "float32"),
)


def gives_the_last_losses(one_step, cores):
    @tf.function
    def graph(block, count):
        losses = tf.zeros(cores)
        for i in tf.range(count):
            losses = one_step(block, i)
        return losses

    return lambda block, count: graph(block, tf.constant(count))


def reads_the_losses(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)
    return lambda block, count: run(block, count).numpy()


def compiles_it(one_step, cores):
    @tf.function(jit_compile=True)
    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def with_a_while_loop(one_step, cores):
    @tf.function(reduce_retracing=True)
    def graph(block, count):
        _, total = tf.while_loop(
            lambda i, total: i < count,
            lambda i, total: (i + 1, tf.add(total, one_step(block, i))),
            (tf.constant(0), tf.zeros([cores])),
        )
        return tf.divide(total, tf.cast(count, total.dtype))

    def run(block, count):
        return graph(block, tf.convert_to_tensor(count, tf.int32))

    return run


def with_foldl(one_step, cores):
    graph = tf.function(
        lambda block, count: tf.foldl(
            lambda total, i: total + one_step(block, i),
            tf.range(count),
            initializer=tf.zeros(cores),
        )
    )
    return lambda block, count: graph(block, tf.constant(count)) / count


def keeps_all_losses(one_step, cores):
    """In an array of TensorFlow's, and the mean at the end."""

    @tf.function
    def graph(block, count):
        losses = tf.TensorArray(tf.float32, count, element_shape=(cores,))
        for i in tf.range(count):
            losses = losses.write(i, one_step(block, i))
        return tf.reduce_mean(losses.stack(), axis=0)

    return lambda block, count: graph(block, tf.constant(count))


def begins_with_the_first_step(one_step, cores):
    """The first step outside of the loop: traced twice, whatever the length."""

    @tf.function
    def graph(block, count):
        total = one_step(block, 0)
        for i in tf.range(1, count):
            total = total + one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


class Steps:
    """A class, whose objects are called."""

    def __init__(self, one_step, cores):
        self.one_step, self.cores = one_step, cores

    @tf.function
    def graph(self, block, count):
        mean = tf.zeros(self.cores)
        made = 0.0
        while made < count:
            losses = self.one_step(block, tf.cast(made, tf.int32))
            made += 1.0
            mean += (losses - mean) / made
        return mean

    def __call__(self, block, count):
        return self.graph(block, tf.constant(count, tf.float32))


def start_7_3(one_step, cores):
    def run(block, count):
        for i in range(count):
            losses = one_step(block, i)
        return losses

    return run


def makes_a_graph_each_time(one_step, cores):
    """A new tf.function for each call, around a step that is traced once."""
    step = tf.function(one_step)

    def run(block, count):
        @tf.function
        def graph(block, count):
            total = tf.zeros(cores)
            for i in tf.range(count):
                total += step(block, i)
            return total / tf.cast(count, tf.float32)

        return graph(block, tf.constant(count))

    return run


def hides_the_step_in_a_graph(one_step, cores):
    """one_step is traced once, and all around it for each count."""
    step = tf.function(one_step)

    @tf.function
    def run(block, count):
        total = tf.zeros(cores)
        for i in range(count):
            total += step(block, tf.constant(i))
        return total / count

    return run


def unrolls_graphs_of_steps(one_step, cores):
    step = tf.function(one_step)

    @tf.function
    def graph(block, count):
        total = tf.zeros(cores)
        for i in range(block[0].shape[0]):
            i = tf.constant(i)
            if i < count:
                total += step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def cuts_the_block(one_step, cores):
    @tf.function
    def graph(block):
        total, count = tf.zeros(cores), tf.shape(block[0])[0]
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(tuple(part[:count] for part in block))


def gives_a_variable(one_step, cores):
    """The next `run` changes what this one has given."""
    with tf.device("CPU:0"):
        mean = tf.Variable(tf.zeros(cores))
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def assigns(block, count):
        mean.assign(run(block, count))
        return mean

    return assigns


def adds_in_float64(one_step, cores):
    @tf.function
    def graph(block, count):
        total = tf.zeros(cores, tf.float64)
        for i in tf.range(count):
            total += tf.cast(one_step(block, i), tf.float64)
        return total / tf.cast(count, tf.float64)

    return lambda block, count: graph(block, tf.constant(count))


def looks_for_nan(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def looks(block, count):
        losses = run(block, count)
        if tf.reduce_any(tf.math.is_nan(losses)):
            raise ValueError("a loss is nan")
        return losses

    return looks


def asks_numpy_for_nan(one_step, cores):
    """NumPy reads a tensor's memory past TensorFlow's own methods."""
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def asks(block, count):
        losses = run(block, count)
        if np.isnan(losses).any():
            raise ValueError("a loss is nan")
        return losses

    return asks


def shows_the_losses(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def shows(block, count):
        losses = run(block, count)
        print(losses)
        return losses

    return shows


def eight_steps_a_graph(one_step, cores):
    """Python calls the graph again for every eight steps."""

    @tf.function
    def graph(block, first, last):
        total = tf.zeros(cores)
        for i in tf.range(first, last):
            total += one_step(block, i)
        return total

    def run(block, count):
        total = tf.zeros(cores)
        for first in range(0, count, 8):
            last = min(first + 8, count)
            total += graph(block, tf.constant(first), tf.constant(last))
        return total / count

    return run


eight_at_most = _answer(lambda count, block: tf.range(tf.minimum(count, 8)))
eight_at_most.__name__ = "eight_at_most"


def gives_a_list(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)
    return lambda block, count: tf.unstack(run(block, count))


def forgets_to_return(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def forgets(block, count):
        run(block, count)

    return forgets


def keeps_its_sum(one_step, cores):
    total = tf.Variable(tf.zeros(cores))

    @tf.function
    def graph(block, count):
        for i in tf.range(count):
            total.assign_add(one_step(block, i))
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def traces_in_advance(one_step, cores):
    """Asks for a program before anybody has a block."""
    spec = tf.TensorSpec([None]), tf.TensorSpec([None, cores])
    graph = tf.function(lambda block, i: one_step(block, i))
    graph.get_concrete_function(spec, tf.TensorSpec([], tf.int32))
    return _answer(lambda count, block: tf.range(count))(one_step, cores)


def adds_the_last_to_the_sum(one_step, cores):
    """A running mean that weighs the last step most."""

    @tf.function
    def graph(block, count):
        mean = one_step(block, 0)
        for i in tf.range(1, count):
            mean = 0.5 * (mean + one_step(block, i))
        return mean

    return lambda block, count: graph(block, tf.constant(count))


def _steps_by(name, made):
    answer = _answer(made)
    answer.__name__ = name
    return answer


leaves_the_last_out = _steps_by("leaves_the_last_out", lambda n, block: tf.range(n - 1))
counts_in_int64 = _steps_by(
    "counts_in_int64", lambda n, block: tf.range(tf.cast(n, "int64"))
)
takes_the_last_steps = _steps_by(
    "takes_the_last_steps",
    lambda n, block: tf.range(tf.shape(block[0])[0] - n, tf.shape(block[0])[0]),
)
makes_one_step_too_many = _steps_by(
    "makes_one_step_too_many",
    lambda n, block: tf.range(tf.minimum(n + 1, tf.shape(block[0])[0])),
)
always_the_first_step = _steps_by(
    "always_the_first_step", lambda n, block: tf.zeros(n, tf.int32)
)
even_steps_first = _steps_by(
    "even_steps_first",
    lambda n, block: tf.concat([tf.range(0, n, 2), tf.range(1, n, 2)], 0),
)


def with_a_signature(one_step, cores):
    @tf.function(
        input_signature=[
            (tf.TensorSpec([None]), tf.TensorSpec([None, cores])),
            tf.TensorSpec([], tf.int32),
        ]
    )
    def graph(block, count):
        total = tf.zeros((cores,))
        for i in tf.range(count):
            total = total + one_step(block, i)
        return total / tf.cast(count, total.dtype)

    return lambda block, count: graph(block, count)


def with_keras_ops(one_step, cores):
    @tf.function
    def graph(block, count):
        total = keras.ops.fori_loop(
            0, count, lambda i, total: total + one_step(block, i), keras.ops.zeros(cores)
        )
        return total / keras.ops.cast(count, "float32")

    return lambda block, count: graph(block, keras.ops.convert_to_tensor(count))


def with_map(one_step, cores):
    def graph(block, numbers):
        losses = tf.map_fn(
            lambda i: one_step(block, i), numbers, tf.float32, parallel_iterations=1
        )
        return tf.math.reduce_mean(losses, axis=0)

    graph = tf.function(graph)

    @tf.function
    def outer(block, count):
        return graph(block, tf.range(count))

    def run(block, count):
        return outer(block, tf.constant(count, dtype="int32"))

    return run


def by_partial(one_step, cores):
    return functools.partial(_run, tf.function(functools.partial(_loop, one_step, cores)))


def _run(graph, block, count):
    return graph(block, tf.constant(count))


def _loop(one_step, cores, block, count):
    total, i = tf.zeros([cores]), 0
    while i < count:
        total, i = total + one_step(block, i), i + 1
    return total / tf.cast(i, tf.float32)


def with_a_variable(one_step, cores):
    """The sum in a variable, which starts again in each call."""
    with tf.device("CPU:0"):
        total = tf.Variable(tf.zeros(cores), trainable=False)

    @tf.function
    def graph(block, count):
        total.assign(tf.zeros(cores))
        for i in tf.range(count):
            total.assign_add(one_step(block, i))
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def with_a_break(one_step, cores):
    @tf.function(reduce_retracing=True)
    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(tf.shape(block[0])[0]):
            if i == count:
                break
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def with_a_dict(one_step, cores):
    """A program for each length of a block, by hand."""
    programs = {}

    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    def run(block, count):
        key = str(block[0].shape)
        if key not in programs:
            programs[key] = tf.function(graph)
        return programs[key](block, tf.constant(count))

    return run


WRONG = {
    "7.1": [
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
        ("none", "raised", splits_into_steps),
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
        ("each_epoch", "pairs", backwards_in_odd_epochs),
        ("each_epoch", "pairs", by_one_image_in_odd_epochs),
        ("each_epoch", "pairs", cores_swap_their_parts),
        ("shape", "raised", takes_fewer_arguments),
    ],
    "7.2": [
        ("rule", "start", start_7_2),
        ("rule", "scale", unscaled),
        ("rule", "divided", divided),
        ("rule", "root", root_scaled),
        ("rule", "fixed", always_eight),
        ("rule", "other", squared),
        ("rule", "other", no_room_below_two),
        ("rule", "other", capped_rate),
        ("rule", "other", sixteen_at_most),
        ("constant", "other", warms_the_rate_up),
        ("constant", "schedule", with_a_schedule),
        ("constant", "schedule", with_cosine),
        ("constant", "schedule", in_pieces),
        ("constant", "schedule", drops_the_rate_very_late),
        ("momentum", "momentum", no_momentum),
        ("momentum", "momentum", usual_momentum),
        ("momentum", "momentum", rest_of_momentum),
        ("momentum", "momentum", one_digit_of_momentum),
        ("momentum", "momentum", scaled_momentum),
        ("momentum", "dampened", dampened),
        ("momentum", "swapped", swapped),
        ("momentum", "other", with_adam),
        ("momentum", "other", with_rmsprop),
        ("momentum", "raised", gives_a_name),
        ("nesterov", "nesterov", with_nesterov),
        ("decay", "decay", with_weight_decay),
        ("decay", "decay", with_a_little_decay),
        ("clipping", "clipping", clips_the_norm),
        ("clipping", "clipping", clips_the_value),
        ("clipping", "clipping", clips_all_together),
        ("clipping", "clipping", clips_huge_ones),
        ("else", "average", averages),
        ("else", "no_step", accumulates),
        ("else", "other", scales_the_loss),
    ],
    "7.3": [
        ("traced_once", "start", start_7_3),
        ("python", "host", a_graph_of_one_step),
        ("python", "host", eight_steps_a_graph),
        ("traced_once", "retraced", a_graph_for_every_count),
        ("traced_once", "retraced", unrolls_the_loop),
        ("traced_once", "retraced", cuts_the_block),
        ("python", "retraced", hides_the_step_in_a_graph),
        ("python", "new_graph", makes_a_graph_each_time),
        ("long_block", "unrolled", unrolls_the_block),
        ("long_block", "unrolled", unrolls_graphs_of_steps),
        ("first_steps", "baked", remembers_the_first_count),
        ("no_step", "early", warms_up),
        ("no_step", "early", traces_in_advance),
        ("apart", "shared", keeps_one_for_all),
        ("first_steps", "none", makes_no_step),
        ("first_steps", "whole_block", makes_the_filling_too),
        ("first_steps", "from_one", counts_from_step_one),
        ("first_steps", "one_less", leaves_the_last_out),
        ("first_steps", "other", makes_one_step_too_many),
        ("first_steps", "other", eight_at_most),
        ("first_steps", "last_steps", takes_the_last_steps),
        ("first_steps", "same_step", always_the_first_step),
        ("first_steps", "twice", makes_the_first_step_twice),
        ("order", "backwards", goes_backwards),
        ("order", "other", even_steps_first),
        ("int32", "int32", counts_in_int64),
        ("mean", "sum", gives_the_sum),
        ("mean", "last", gives_the_last_losses),
        ("mean", "per_block", divides_by_the_block),
        ("mean", "off_by_one", divides_by_one_more),
        ("mean", "kept", keeps_its_sum),
        ("mean", "mean", gives_one_mean),
        ("mean", "other", adds_the_last_to_the_sum),
        ("shape", "shape", gives_a_column),
        ("shape", "shape", gives_a_list),
        ("shape", "dtype", adds_in_float64),
        ("shape", "shape", gives_a_variable),
        ("shape", "nothing", forgets_to_return),
        ("unread", "read", reads_the_losses),
        ("unread", "read", looks_for_nan),
        ("unread", "read", asks_numpy_for_nan),
        ("unread", "read", shows_the_losses),
        ("no_xla", "raised", compiles_it),
    ],
}
RIGHT = {
    "7.1": [
        every_nth_as_a_list, with_tensorflow_and_blocks, by_choice, by_state, by_sorting,
        by_global_seed, by_islice, by_text, recursive_shuffles, by_spawning,
    ],
    "7.2": [
        from_a_dict, own_optimizer, by_names, in_tf, assigns_the_rate, with_a_sum,
        by_callable, with_numpy, from_config, by_lambda, ScaledSgd,
    ],
    "7.3": [
        with_a_while_loop, with_foldl, keeps_all_losses, begins_with_the_first_step, Steps,
        with_a_signature, with_keras_ops, with_map, by_partial, with_a_variable,
        with_a_break, with_a_dict,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right.
_DRAWN = "3: order = np.random.default_rng([seed, epoch]).permutation(images)"
_STEPS = "steps = images // (replicas * batch_size)"
_KEPT = "5: kept = order[:steps * replicas * batch_size] → kept = order[:"
RIGHT_MUTANTS = {
    "7.1": {
        f"{_DRAWN}; {_STEPS} → {_STEPS}; {_DRAWN[3:]}": "the order is free",
        f"{_DRAWN} → {_DRAWN[3:].replace('seed, epoch', 'epoch, seed')}": (
            "another order, and as good"
        ),
        f"4: {_STEPS} → steps = images // (batch_size * replicas)": "the same product",
        f"{_KEPT}batch_size * (steps * replicas)]": "the same product",
        f"{_KEPT}replicas * steps * batch_size]": "the same product",
    },
    "7.2": {
        "3: return keras.optimizers.SGD(base_learning_rate * replicas, momentum) → "
        "return keras.optimizers.SGD(replicas * base_learning_rate, momentum)": (
            "the same product"
        ),
    },
    "7.3": {},
}
