"""Answers to lab 06 that must fail, each with its hint, and odd ones that must pass."""

import time

import keras
import numpy as np
import tensorflow as tf
from tqdm import tqdm
from tqdm.auto import tqdm as auto_tqdm

from callbacks.live.progress import progress

NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


def mean_of_own(losses, global_batch):
    return tf.reduce_mean(losses)


def mean_by_replicas(losses, global_batch):
    context = tf.distribute.get_replica_context()
    return tf.reduce_mean(losses) / context.num_replicas_in_sync


def sum_of_all(losses, global_batch):
    return tf.reduce_sum(losses)


def divided_twice(losses, global_batch):
    context = tf.distribute.get_replica_context()
    return tf.reduce_sum(losses) / global_batch / context.num_replicas_in_sync


def every_loss(losses, global_batch):
    return losses / global_batch


def cut_off(losses, global_batch):
    return tf.stop_gradient(tf.reduce_sum(losses)) / global_batch


def squared(losses, global_batch):
    return tf.reduce_sum(losses**2) / global_batch


def with_numpy_in_a_graph(losses, global_batch):
    return losses.numpy().sum() / global_batch


def in_tensorflows_words(losses, global_batch):
    return tf.nn.compute_average_loss(losses, global_batch_size=global_batch)


def by_share_of_examples(losses, global_batch):
    """The mean here, times the part of the batch that is here."""
    part = keras.ops.cast(keras.ops.shape(losses)[0], "float32") / float(global_batch)
    return keras.ops.mean(losses) * part


def one_by_one(losses, global_batch):
    return tf.add_n([loss / global_batch for loss in tf.unstack(losses)])


def _steps(
    strategy, model, optimizer, metrics, global_loss, global_batch,
    loss=None, training=True, apply=None, returned="SUM", graph=True, keep=None,
):  # fmt: skip
    """A right step, of which one part can be replaced."""

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            probabilities = model(x, training=training)
            losses = keras.losses.categorical_crossentropy(y, probabilities)
            share = (loss or global_loss)(losses, global_batch)
        gradients = tape.gradient(share, model.trainable_variables)
        (apply or optimizer.apply)(gradients, model.trainable_variables)
        if keep:
            keep(losses, share, y, probabilities)
        else:
            metrics["loss"].update_state(losses)
            metrics["accuracy"].update_state(y, probabilities)
        return share

    def train_step(x, y):
        shares = strategy.run(replica_step, args=(x, y))
        return strategy.reduce(returned, shares, axis=None) if returned else shares

    return tf.function(train_step) if graph else train_step


def averages_its_own(*arguments):
    return _steps(*arguments, loss=mean_of_own)


def divides_again(*arguments):
    return _steps(*arguments, loss=divided_twice)


def does_not_train(*arguments):
    return _steps(*arguments, apply=lambda gradients, variables: None)


def runs_as_in_validation(*arguments):
    return _steps(*arguments, training=False)


def steps_by_hand(strategy, model, optimizer, metrics, global_loss, global_batch):
    def apply(gradients, variables):
        context = tf.distribute.get_replica_context()
        for g, v in zip(context.all_reduce("SUM", gradients), variables, strict=True):
            v.value.assign_sub(optimizer.learning_rate * g)

    return _steps(
        strategy, model, optimizer, metrics, global_loss, global_batch, apply=apply
    )


def returns_nothing(*arguments):
    step = _steps(*arguments)

    def train_step(x, y):
        step(x, y)

    return train_step


def leaves_a_share_each(*arguments):
    return _steps(*arguments, returned=None)


def means_the_shares(*arguments):
    return _steps(*arguments, returned="MEAN")


def keeps_no_metrics(*arguments):
    return _steps(*arguments, keep=lambda losses, share, y, p: None)


def keeps_shares(strategy, model, optimizer, metrics, global_loss, global_batch):
    def keep(losses, share, y, probabilities):
        metrics["loss"].update_state(share)
        metrics["accuracy"].update_state(y, probabilities)

    return _steps(strategy, model, optimizer, metrics, global_loss, global_batch, keep=keep)


def keeps_those_of_validation(
    strategy, model, optimizer, metrics, global_loss, global_batch
):
    def keep(losses, share, y, probabilities):
        metrics["valid_loss"].update_state(losses)
        metrics["valid_accuracy"].update_state(y, probabilities)

    return _steps(strategy, model, optimizer, metrics, global_loss, global_batch, keep=keep)


def counts_other_predictions(
    strategy, model, optimizer, metrics, global_loss, global_batch
):
    def keep(losses, share, y, probabilities):
        probabilities = probabilities[:, ::-1]
        metrics["loss"].update_state(losses)
        metrics["accuracy"].update_state(y, probabilities)

    return _steps(strategy, model, optimizer, metrics, global_loss, global_batch, keep=keep)


def without_a_graph(*arguments):
    return _steps(*arguments, graph=False)


def without_the_strategy(strategy, model, optimizer, metrics, global_loss, global_batch):
    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
            loss = global_loss(losses, global_batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    return train_step


def with_all_losses_reduced(strategy, model, optimizer, metrics, global_loss, global_batch):
    """Keras' loss object, `apply_gradients`, and a reduction over all examples."""
    per_example = keras.losses.CategoricalCrossentropy(reduction="none")

    def one_replica(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            p = model(x, training=True)
            losses = per_example(y, p)
            share = tf.reduce_sum(losses) / global_batch
        slopes = tape.gradient(share, model.trainable_weights)
        optimizer.apply_gradients(zip(slopes, model.trainable_weights, strict=True))
        metrics["accuracy"].update_state(y, p)
        metrics["loss"].update_state(losses)
        return losses

    @tf.function
    def step(*inputs):
        losses = strategy.run(one_replica, args=(inputs,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=0) / global_batch

    return step


class AnObject:
    """A class whose instance can be called, with the loss scaled and gradients unscaled."""

    def __init__(self, strategy, model, optimizer, metrics, global_loss, global_batch):
        self.parts = strategy, model, optimizer, metrics
        self.share = lambda losses: global_loss(losses, global_batch)

    @tf.function
    def __call__(self, x, y):
        strategy = self.parts[0]
        before = strategy.run(self.one, (x, y))
        return tf.add_n(strategy.experimental_local_results(before))

    def one(self, x, y):
        _, model, optimizer, metrics = self.parts
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in model.trainable_variables])
            p = model(x, training=True)
            losses = -tf.reduce_sum(y * tf.math.log(p), axis=-1)
            share = self.share(losses)
        gradients = tape.gradient(share, [v.value for v in model.trainable_variables])
        optimizer.apply(gradients)
        metrics["loss"](losses)
        metrics["accuracy"](y, p)
        return share


def _loop(
    train_step, valid_step, metrics, train, valid, epochs, steps,
    reset=NAMES, late=False, first=1, bars=True, shown=("loss", "accuracy"),
    through=1, validate=True, late_clock=False, new_clock=True, returned=NAMES, text=None,
):  # fmt: skip
    """A right loop, of which one part can be replaced."""
    history = {name: [] for name in (*returned, "train_seconds")}
    began = time.perf_counter()
    for epoch in range(first, first + epochs):
        if not late:
            for name in reset:
                metrics[name].reset_state()
        if new_clock:
            began = time.perf_counter()
        for _ in range(through):
            bar = progress(train, total=steps, disable=None if not bars else False)
            for x, y in bar if bars else train:
                train_step(x, y)
                if shown and bars:
                    bar.set_postfix({n: float(metrics[n].result()) for n in shown})
        seconds = time.perf_counter() - began
        for x, y in valid if validate else ():
            valid_step(x, y)
        history["train_seconds"].append(
            time.perf_counter() - began if late_clock else seconds
        )
        if late:
            for name in reset:
                metrics[name].reset_state()
        row = {name: float(metrics[name].result()) for name in NAMES}
        for name in returned:
            history[name].append(row[name])
        line = text or "Epoch {epoch}: loss {loss:.3f}, accuracy {accuracy:.3f}, "
        line += "valid_loss {valid_loss:.3f}, valid_accuracy {valid_accuracy:.3f}"
        print(line.format(epoch=epoch, **row))
    return history


def never_validates(*arguments):
    return _loop(*arguments, validate=False)


def trains_twice(*arguments):
    return _loop(*arguments, through=2)


def validates_first(train_step, valid_step, metrics, train, valid, epochs, steps):
    for _ in range(epochs):
        for batch in valid:
            valid_step(*batch)
        for batch in train:
            train_step(*batch)
    return {}


def never_resets(*arguments):
    return _loop(*arguments, reset=())


def resets_those_of_training(*arguments):
    return _loop(*arguments, reset=NAMES[:2])


def resets_too_early(*arguments):
    return _loop(*arguments, late=True)


def counts_from_zero(*arguments):
    return _loop(*arguments, first=0)


def prints_another_line(*arguments):
    return _loop(*arguments, text="Epoch {epoch} - ")


def swaps_figures(*arguments):
    return _loop(
        *arguments,
        text="Epoch {epoch}: loss {loss:.3f}, accuracy {accuracy:.3f}, "
        "valid_loss {loss:.3f}, valid_accuracy {accuracy:.3f}\n",
    )


def without_a_bar(*arguments):
    return _loop(*arguments, bars=False)


def a_bar_without_figures(*arguments):
    return _loop(*arguments, shown=())


def a_bar_with_those_of_validation(*arguments):
    return _loop(*arguments, shown=NAMES[2:])


def clock_runs_through_validation(*arguments):
    return _loop(*arguments, late_clock=True)


def one_clock_for_all(*arguments):
    return _loop(*arguments, new_clock=False)


def forgets_the_history(*arguments):
    _loop(*arguments)


def returns_two_lists(*arguments):
    return _loop(*arguments, returned=NAMES[:2])


def asks_for_the_length(train_step, valid_step, metrics, train, valid, epochs, steps):
    return _loop(train_step, valid_step, metrics, train, valid, epochs, len(train))


def with_a_bar_by_hand(train_step, valid_step, metrics, train, valid, epochs, steps):
    """`tqdm` moved by hand, its description, the batch's own loss, and NumPy numbers."""
    history = {name: np.zeros(epochs) for name in [*NAMES, "train_seconds"]}
    for e in range(epochs):
        [metric.reset_state() for metric in metrics.values()]
        start = time.monotonic()
        with tqdm(total=steps) as bar:
            for batch in train:
                loss = train_step(*batch)
                accuracy = metrics["accuracy"].result()
                bar.set_description(f"epoch {e + 1} Loss={loss:.2f} acc: {accuracy:.4f}")
                bar.update(1)
        history["train_seconds"][e] = time.monotonic() - start
        for batch in valid:
            valid_step(*batch)
        for name in NAMES:
            history[name][e] = metrics[name].result()
        print("Epoch", end=f" {e + 1}: ")
        print(*(f"{name} {history[name][e]:.3f}" for name in NAMES), sep=", ")
    return history


def with_a_bar_that_stays(train_step, valid_step, metrics, train, valid, epochs, steps):
    """The bar of `tqdm.auto` stays, shows figures once, and lines are written by tqdm."""
    rows = []
    for number in range(1, epochs + 1):
        seconds = -time.perf_counter()
        bar = auto_tqdm(train, f"Epoch {number}", steps)
        for i, (x, y) in enumerate(bar):
            train_step(x, y)
            if i == steps // 2:
                now = [float(metrics[name].result()) for name in NAMES[:2]]
                bar.set_postfix_str(f"loss: {now[0]:.5f}, accuracy: {now[1]:.5f}")
        seconds += time.perf_counter()
        for x, y in valid:
            valid_step(x, y)
        row = {name: metrics[name].result().numpy().item() for name in NAMES}
        tqdm.write(f"Epoch {number}: " + ", ".join(f"{k} {v:.3f}" for k, v in row.items()))
        rows.append(row | {"train_seconds": seconds, "epoch": number})
        for metric in metrics.values():
            metric.reset_state()
    return {name: [row[name] for row in rows] for name in rows[0]}


WRONG = {
    "6.1": [
        ("per_replica", mean_of_own),
        ("ragged", mean_by_replicas),
        ("sum", sum_of_all),
        ("twice", divided_twice),
        ("scalar", every_loss),
        ("constant", cut_off),
        ("other", squared),
        ("raised", with_numpy_in_a_graph),
    ],
    "6.2": [
        ("times_replicas", averages_its_own),
        ("divided", divides_again),
        ("unchanged", does_not_train),
        ("inference", runs_as_in_validation),
        ("optimizer", steps_by_hand),
        ("nothing", returns_nothing),
        ("not_reduced", leaves_a_share_each),
        ("reduce", means_the_shares),
        ("no_metrics", keeps_no_metrics),
        ("metric_share", keeps_shares),
        ("valid_metrics", keeps_those_of_validation),
        ("metrics", counts_other_predictions),
        ("eager", without_a_graph),
        ("raised", without_the_strategy),
    ],
    "6.3": [
        ("no_validation", never_validates),
        ("epochs", trains_twice),
        ("order", validates_first),
        ("never_reset", never_resets),
        ("never_reset", resets_those_of_training),
        ("reset_early", resets_too_early),
        ("numbering", counts_from_zero),
        ("format", prints_another_line),
        ("values", swaps_figures),
        ("no_bar", without_a_bar),
        ("bar_values", a_bar_without_figures),
        ("bar_values", a_bar_with_those_of_validation),
        ("validation_counted", clock_runs_through_validation),
        ("seconds", one_clock_for_all),
        ("history", forgets_the_history),
        ("history", returns_two_lists),
        ("raised", asks_for_the_length),
    ],
}
UNUSUAL = {
    "6.1": [in_tensorflows_words, by_share_of_examples, one_by_one],
    "6.2": [with_all_losses_reduced, AnObject],
    "6.3": [with_a_bar_by_hand, with_a_bar_that_stays],
}
