"""Answers to lab 07 that were, or could have been, handed in."""

import random
import time

import keras
import numpy as np
import tensorflow as tf

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
    return [mine[s * batch_size : (s + 1) * batch_size] for s in range(steps)]


def with_tensorflow_and_blocks(core, replicas, images, batch_size, epoch, seed):
    """A stateless shuffle, one block of the order for each core."""
    order = tf.random.experimental.stateless_shuffle(tf.range(images), seed=[seed, epoch])
    steps = images // (replicas * batch_size)
    block = order[core * steps * batch_size : (core + 1) * steps * batch_size]
    return tf.reshape(block, (steps, batch_size))


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

    schedule = keras.optimizers.schedules.PiecewiseConstantDecay(
        [10**6], [base_learning_rate * replicas, 0.0]
    )
    return Sgd(schedule)


# --- 7.3 ------------------------------------------------------------------


def _train(
    epochs,
    batches_of,
    train_step,
    test_accuracy,
    log_interval,
    line="[core {core}]({step}) Loss={loss:.5f}",
    first=1,
    due=lambda step, log_interval: step % log_interval == 0,
    shown=lambda losses: losses,
    clock_of_epoch=False,
    with_tests=True,
    number=1,
):
    began, tests = time.perf_counter(), 0.0
    history = {"accuracy": [], "wall_seconds": []}
    for epoch in epochs:
        if clock_of_epoch:
            began = time.perf_counter()
        for step, batch in enumerate(batches_of(epoch), start=first):
            losses = shown(train_step(batch))
            if due(step, log_interval):
                for core, loss in enumerate(losses):
                    print(line.format(core=core, step=step, loss=float(loss)))
        test_began = time.perf_counter()
        accuracy = test_accuracy()
        tests += 0.0 if with_tests else time.perf_counter() - test_began
        history["accuracy"].append(accuracy)
        history["wall_seconds"].append(time.perf_counter() - began)
        print(f"Epoch {epoch + number}: accuracy {accuracy:.4f}")
    print(f"Total training time: {time.perf_counter() - began - tests:.2f}")
    return history


def says_nothing(epochs, batches_of, train_step, test_accuracy, log_interval):
    history = {"accuracy": [], "wall_seconds": []}
    for epoch in epochs:
        for batch in batches_of(epoch):
            train_step(batch)
        history["accuracy"].append(test_accuracy())
        history["wall_seconds"].append(0.0)
    return history


def another_format(*arguments):
    return _train(*arguments, line="[xla:{core}]({step}) Loss={loss:.5f}")


def four_decimals(*arguments):
    return _train(*arguments, line="[core {core}]({step}) Loss={loss:.4f}")


def counts_steps_from_zero(*arguments):
    return _train(*arguments, first=0)


def shows_steps_from_zero(*arguments):
    return _train(*arguments, first=0, due=lambda step, n: (step + 1) % n == 0)


def logs_every_step(*arguments):
    return _train(*arguments, due=lambda step, n: True)


def counts_over_all_epochs(epochs, batches_of, train_step, test_accuracy, log_interval):
    step = 0
    for epoch in epochs:
        for batch in batches_of(epoch):
            losses, step = train_step(batch), step + 1
            if step % log_interval == 0:
                for core, loss in enumerate(losses):
                    print(f"[core {core}]({step}) Loss={loss:.5f}")
        test_accuracy()


def the_first_core_only(*arguments):
    return _train(*arguments, shown=lambda losses: losses[:1])


def the_mean_for_every_core(*arguments):
    return _train(*arguments, shown=lambda losses: [np.mean(losses)] * len(losses))


def tests_once(epochs, batches_of, train_step, test_accuracy, log_interval):
    history = _train(epochs, batches_of, train_step, lambda: 0.0, log_interval)
    history["accuracy"][-1] = test_accuracy()
    return history


def goes_through_twice(epochs, batches_of, train_step, test_accuracy, log_interval):
    def twice(epoch):
        return [*batches_of(epoch), *batches_of(epoch)]

    return _train(epochs, twice, train_step, test_accuracy, log_interval)


def calls_the_first_epoch_zero(*arguments):
    return _train(*arguments, number=0)


def times_the_last_epoch(*arguments):
    return _train(*arguments, clock_of_epoch=True)


def leaves_the_tests_out(*arguments):
    return _train(*arguments, with_tests=False)


def leaves_slow_tests_out(epochs, batches_of, train_step, test_accuracy, log_interval):
    """On a busy machine a test takes longer than all steps together."""

    def slow_test():
        time.sleep(0.3)
        return test_accuracy()

    arguments = epochs, batches_of, train_step, slow_test, log_interval
    return _train(*arguments, with_tests=False)


def returns_the_accuracies(*arguments):
    return _train(*arguments)["accuracy"]


def needs_a_length(epochs, batches_of, train_step, test_accuracy, log_interval):
    for epoch in epochs:
        print(len(batches_of(epoch)))


def with_numpy_and_tqdm(epochs, batches_of, train_step, test_accuracy, log_interval):
    """`.numpy()`, a bar on standard output, one print for all cores, other clock."""
    from tqdm import tqdm

    start = time.monotonic_ns()
    accuracy, seconds = [], []
    for epoch in list(epochs):
        for i, batch in enumerate(tqdm(batches_of(epoch), disable=True)):
            losses = [loss.numpy() for loss in train_step(batch)]
            if not (i + 1) % log_interval:
                rows = [f"[core {k}]({i + 1}) Loss=%.5f" % x for k, x in enumerate(losses)]
                print("\n".join(reversed(rows)))
        accuracy += [np.float32(test_accuracy())]
        seconds += [(time.monotonic_ns() - start) / 1e9]
        print(f"after {seconds[-1]} s:")
        print(f"Epoch {1 + epoch}: accuracy", round(float(accuracy[-1]), 4), flush=True)
    print(f"Total training time: {seconds[-1]:.3f}")
    return {"wall_seconds": np.array(seconds), "accuracy": tuple(accuracy), "steps": [i]}


def with_a_while_loop(epochs, batches_of, train_step, test_accuracy, log_interval):
    """Iterators by hand, and a counter that runs down."""
    clock, result = time.time(), {"accuracy": [], "wall_seconds": []}
    for epoch in iter(epochs):
        batches, step, left = iter(batches_of(epoch)), 0, log_interval
        while (batch := next(batches, None)) is not None:
            losses, step, left = train_step(batch), step + 1, left - 1
            if left == 0:
                left = log_interval
                for core in range(len(losses)):
                    print(f"[core {core}]({step}) Loss={float(losses[core]):.5f}")
        result["accuracy"].append(float(test_accuracy()))
        result["wall_seconds"].append(time.time() - clock)
        print(f"Epoch {epoch + 1}: accuracy {result['accuracy'][-1]:.6f}")
    print(f"Total training time: {time.time() - clock:.2f}")
    return result


WRONG = {
    "7.1": [
        ("remainder", keeps_the_remainder),
        ("remainder", pads_the_last_step),
        ("shape", one_long_row),
        ("range", counts_from_one),
        ("twice", draws_with_replacement),
        ("overlap", another_order_for_each_core),
        ("overlap", the_same_for_all_cores),
        ("unseeded", shuffles_without_a_seed),
        ("epoch", forgets_the_epoch),
        ("seed", forgets_the_seed),
        ("never_seen", cuts_before_it_shuffles),
        ("raised", takes_fewer_arguments),
    ],
    "7.2": [
        ("scale", unscaled),
        ("root", root_scaled),
        ("fixed", always_eight),
        ("momentum", no_momentum),
        ("momentum", usual_momentum),
        ("nesterov", with_nesterov),
        ("other", with_adam),
        ("raised", gives_a_name),
    ],
    "7.3": [
        ("nothing", says_nothing),
        ("format", another_format),
        ("format", four_decimals),
        ("zero", counts_steps_from_zero),
        ("zero", shows_steps_from_zero),
        ("interval", logs_every_step),
        ("whole_training", counts_over_all_epochs),
        ("cores", the_first_core_only),
        ("mean", the_mean_for_every_core),
        ("steps", tests_once),
        ("steps", goes_through_twice),
        ("accuracy", calls_the_first_epoch_zero),
        ("per_epoch", times_the_last_epoch),
        ("time", leaves_the_tests_out),
        ("time", leaves_slow_tests_out),
        ("returned", returns_the_accuracies),
        ("raised", needs_a_length),
    ],
}
UNUSUAL = {
    "7.1": [every_nth_as_a_list, with_tensorflow_and_blocks],
    "7.2": [from_a_dict, own_optimizer],
    "7.3": [with_numpy_and_tqdm, with_a_while_loop],
}
