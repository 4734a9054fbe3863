"""Recorded answers to 6.2: wrong ones, and right ones in other styles."""

from functools import partial

import keras
import tensorflow as tf
from tensorflow import distribute

from tests.answers.lab_06.shared import (
    a_step,
    divided_twice,
    in_tensorflows_words,
    mean_of_own,
)


def takes_probabilities_for_logits(*arguments):
    def per_image(y, p):
        return keras.losses.categorical_crossentropy(y, p, from_logits=True)

    return a_step(*arguments, per_image=per_image)


def resets_those_of_validation(strategy, model, optimizer, metrics, *more):
    step = a_step(strategy, model, optimizer, metrics, *more)

    def train_step(x, y):
        metrics["valid_loss"].reset_state()
        metrics["valid_accuracy"].reset_state()
        return step(x, y)

    return train_step


def only_the_replicas_have_a_graph(
    strategy, model, optimizer, metrics, global_loss, global_batch
):
    """Python hands the work of every batch to the replicas."""

    @tf.function
    def replica_step(x, y):
        with tf.GradientTape() as tape:
            probabilities = model(x, training=True)
            losses = keras.losses.categorical_crossentropy(y, probabilities)
            share = global_loss(losses, global_batch)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        metrics["loss"].update_state(losses)
        metrics["accuracy"].update_state(y, probabilities)
        return share

    def train_step(x, y):
        shares = strategy.run(replica_step, args=(x, y))
        return strategy.reduce("SUM", shares, axis=None)

    return train_step


def averages_its_own(*arguments):
    return a_step(*arguments, loss=mean_of_own)


def divides_again(*arguments):
    return a_step(*arguments, loss=divided_twice)


def does_not_train(*arguments):
    return a_step(*arguments, apply=lambda gradients, variables: None)


def runs_as_in_validation(*arguments):
    return a_step(*arguments, training=False)


def steps_by_hand(strategy, model, optimizer, metrics, global_loss, global_batch):
    def apply(gradients, variables):
        context = tf.distribute.get_replica_context()
        for g, v in zip(context.all_reduce("SUM", gradients), variables, strict=True):
            v.value.assign_sub(optimizer.learning_rate * g)

    return a_step(
        strategy, model, optimizer, metrics, global_loss, global_batch, apply=apply
    )


def returns_nothing(*arguments):
    step = a_step(*arguments)

    def train_step(x, y):
        step(x, y)

    return train_step


def leaves_a_share_each(*arguments):
    return a_step(*arguments, returned=None)


def means_the_shares(*arguments):
    return a_step(*arguments, returned="MEAN")


def keeps_no_metrics(*arguments):
    return a_step(*arguments, keep=lambda losses, share, y, p: None)


def keeps_shares(strategy, model, optimizer, metrics, global_loss, global_batch):
    def keep(losses, share, y, probabilities):
        metrics["loss"].update_state(share)
        metrics["accuracy"].update_state(y, probabilities)

    return a_step(strategy, model, optimizer, metrics, global_loss, global_batch, keep=keep)


def keeps_those_of_validation(
    strategy, model, optimizer, metrics, global_loss, global_batch
):
    def keep(losses, share, y, probabilities):
        metrics["valid_loss"].update_state(losses)
        metrics["valid_accuracy"].update_state(y, probabilities)

    return a_step(strategy, model, optimizer, metrics, global_loss, global_batch, keep=keep)


def counts_other_predictions(
    strategy, model, optimizer, metrics, global_loss, global_batch
):
    def keep(losses, share, y, probabilities):
        probabilities = probabilities[:, ::-1]
        metrics["loss"].update_state(losses)
        metrics["accuracy"].update_state(y, probabilities)

    return a_step(strategy, model, optimizer, metrics, global_loss, global_batch, keep=keep)


def without_a_graph(*arguments):
    return a_step(*arguments, graph=False)


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


def starts_only(strategy, model, optimizer, metrics, global_loss, global_batch):
    def replica_step(x, y):
        losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
        return global_loss(losses, global_batch)

    return tf.function(lambda x, y: strategy.run(replica_step, args=(x, y)))


def _with_other_data(change):
    """A right step on other parts of the batch, made by `change(strategy, x)`."""

    def make(strategy, model, optimizer, metrics, global_loss, global_batch):
        def share(losses, global_batch):
            images = strategy.num_replicas_in_sync * global_batch
            return global_loss(losses, images if change is everything else global_batch)

        step = a_step(
            strategy, model, optimizer, metrics, global_loss, global_batch,
            loss=share, graph=False,
        )  # fmt: skip
        return tf.function(lambda x, y: step(change(strategy, x), change(strategy, y)))

    return make


def everything(strategy, value):
    return tf.concat(strategy.experimental_local_results(value), 0)


def gives_everybody_the_batch(*arguments):
    return _with_other_data(everything)(*arguments)


def gives_everybody_the_first_part(*arguments):
    def first(strategy, value):
        return strategy.experimental_local_results(value)[0]

    return _with_other_data(first)(*arguments)


def trains_outside_of_run(strategy, model, optimizer, metrics, global_loss, global_batch):
    """The whole batch goes through the network before the replicas begin."""

    @tf.function
    def train_step(x, y):
        x, y = everything(strategy, x), everything(strategy, y)
        return global_loss(keras.losses.categorical_crossentropy(y, model(x)), len(y))

    return train_step


def lets_one_work(strategy, model, optimizer, metrics, global_loss, global_batch):
    """The first replica gets all images, and the others none."""
    step = a_step(strategy, model, optimizer, metrics, global_loss, global_batch)

    def for_the_first(value):
        whole = everything(strategy, value)
        return strategy.experimental_distribute_values_from_function(
            lambda context: whole[: 0 if context.replica_id_in_sync_group else None]
        )

    return lambda x, y: step(for_the_first(x), for_the_first(y))


def passes_again_for_the_accuracy(*arguments):
    return a_step(*arguments, again=True)


def trains_the_first_variable(*arguments):
    return a_step(*arguments, variables=slice(1))


def adds_up_before_applying(strategy, model, optimizer, *rest):
    def apply(gradients, variables):
        context = tf.distribute.get_replica_context()
        optimizer.apply(context.all_reduce("SUM", gradients), variables)

    return a_step(strategy, model, optimizer, *rest, apply=apply)


def adds_up_the_losses_of_images(*arguments):
    return a_step(*arguments, loss=lambda losses, global_batch: tf.reduce_sum(losses))


def averages_before_the_share(*arguments):
    def mean(y, probabilities):
        return tf.reduce_mean(keras.losses.categorical_crossentropy(y, probabilities))

    return a_step(*arguments, per_image=mean, loss=in_tensorflows_sum)


def in_tensorflows_sum(losses, global_batch):
    return tf.reduce_sum(losses) / global_batch


def with_keras_own_object(*arguments):
    return a_step(
        *arguments,
        per_image=keras.losses.CategoricalCrossentropy(),
        loss=in_tensorflows_sum,
    )


def follows_the_squared_error(*arguments):
    return a_step(*arguments, per_image=keras.losses.mean_squared_error)


def calls_it_for_nothing(strategy, model, optimizer, metrics, global_loss, global_batch):
    def share(losses, global_batch):
        global_loss(losses, global_batch)
        return tf.reduce_sum(losses) / global_batch

    return a_step(
        strategy, model, optimizer, metrics, global_loss, global_batch, loss=share
    )


def copies_the_optimizer(strategy, model, optimizer, *rest):
    with strategy.scope():
        mine = type(optimizer).from_config(optimizer.get_config())
        mine.build(model.trainable_variables)
    return a_step(strategy, model, mine, *rest)


def keeps_means(strategy, model, optimizer, metrics, *rest):
    """Right only as long as all parts are equal."""

    def keep(losses, share, y, probabilities):
        metrics["loss"].update_state(tf.reduce_mean(losses))
        metrics["accuracy"].update_state(y, probabilities)

    return a_step(strategy, model, optimizer, metrics, *rest, keep=keep)


def divides_by_itself(*arguments):
    """Right here, but the lab passes another loss, and it would be ignored."""
    return a_step(*arguments, loss=in_tensorflows_words)


def returns_the_first_share(strategy, *rest):
    return a_step(
        strategy, *rest,
        finish=lambda shares, _: strategy.experimental_local_results(shares)[0],
    )  # fmt: skip


def returns_the_mean_so_far(strategy, model, optimizer, metrics, *rest):
    return a_step(
        strategy, model, optimizer, metrics, *rest,
        finish=lambda shares, reduced: metrics["loss"].result(),
    )  # fmt: skip


def adds_up_means(strategy, *rest):
    replicas = strategy.num_replicas_in_sync
    return a_step(strategy, *rest, finish=lambda shares, reduced: reduced * replicas)


def starts_the_metrics_again(strategy, model, optimizer, metrics, *rest):
    step = a_step(strategy, model, optimizer, metrics, *rest)

    def train_step(x, y):
        metrics["loss"].reset_state()
        return step(x, y)

    return train_step


def starts_the_metrics_when_it_is_made(strategy, model, optimizer, metrics, *rest):
    for name in ("loss", "accuracy"):
        metrics[name].reset_state()
    return a_step(strategy, model, optimizer, metrics, *rest)


def makes_a_graph_for_every_batch(*arguments):
    def train_step(x, y):
        return a_step(*arguments)(x, y)

    return train_step


def with_all_losses_reduced(strategy, model, optimizer, metrics, global_loss, global_batch):
    """Keras' loss object, `apply_gradients`, and a reduction over all examples."""
    per_example = keras.losses.CategoricalCrossentropy(reduction="none")

    def one_replica(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            p = model(x, training=True)
            losses = per_example(y, p)
            share = global_loss(losses, global_batch)
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


def a_step_as_it_is(*arguments):
    return a_step(*arguments)


def with_keywords(strategy, model, optimizer, metrics, global_loss, global_batch):
    @tf.function(reduce_retracing=True)
    def train_step(images, labels):
        def one(images, labels):
            with tf.GradientTape(persistent=True) as tape:
                chances = model(images, training=True)
                each = keras.losses.categorical_crossentropy(y_true=labels, y_pred=chances)
                share = global_loss(losses=each, global_batch=global_batch)
            slopes = tape.gradient(share, model.trainable_variables)
            del tape
            metrics["loss"].update_state(each)
            metrics["accuracy"].update_state(y_true=labels, y_pred=chances)
            optimizer.apply(grads=slopes, trainable_variables=model.trainable_variables)
            return share

        shares = strategy.run(one, kwargs={"images": images, "labels": labels})
        return strategy.reduce(tf.distribute.ReduceOp.SUM, shares, None)

    return train_step


def reduces_in_the_replicas(strategy, model, optimizer, metrics, global_loss, n):
    def one(x, y):
        with tf.GradientTape() as tape:
            p = model(x, training=True)
            each = keras.losses.categorical_crossentropy(y, p)
            share = global_loss(each, n)
        optimizer.apply(tape.gradient(share, model.trainable_variables))
        metrics["loss"](each)
        metrics["accuracy"](y, p)
        return tf.distribute.get_replica_context().all_reduce("SUM", share)

    def step(x, y):
        return strategy.experimental_local_results(strategy.run(one, (x, y)))[0]

    return tf.function(step)


def mean_times_replicas(strategy, *rest):
    replicas = strategy.num_replicas_in_sync
    return a_step(strategy, *rest, returned="MEAN", finish=lambda s, mean: mean * replicas)


def losses_by_logarithm(*arguments):
    return a_step(
        *arguments, per_image=lambda y, p: -keras.ops.sum(y * keras.ops.log(p), axis=-1)
    )


def averages_gradients_first(strategy, model, optimizer, *rest):
    """A mean of gradients on each replica adds up to their sum."""

    def apply(gradients, variables):
        context = distribute.get_replica_context()
        means = context.all_reduce(distribute.ReduceOp.MEAN, gradients)
        optimizer.apply_gradients(zip(means, variables, strict=True))

    return a_step(strategy, model, optimizer, *rest, apply=apply)


def _one(model, optimizer, metrics, share_of, x, y):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        losses = keras.losses.categorical_crossentropy(y, p)
        share = share_of(losses)
    variables = model.trainable_variables
    optimizer.apply(tape.gradient(share, variables), variables)
    for name, values in {"loss": (losses,), "accuracy": (y, p)}.items():
        metrics[name].update_state(*values)
    return share


def with_partials(strategy, model, optimizer, metrics, global_loss, global_batch):
    share_of = partial(global_loss, global_batch=global_batch)
    one = partial(_one, model, optimizer, metrics, share_of)
    return tf.function(
        lambda x, y: strategy.reduce("sum", strategy.run(one, args=(x, y)), axis=None)
    )


def in_the_scope(strategy, *rest):
    with strategy.scope():
        step = a_step(strategy, *rest, graph=False)

        @tf.function(autograph=False)
        def train_step(x, y):
            loss = step(x, y)
            return tf.identity(loss)

        return train_step


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


WRONG = [
    ("own_part", "whole_batch", gives_everybody_the_batch),
    ("own_part", "remainder", gives_everybody_the_first_part),
    ("own_part", "one_replica", lets_one_work),
    ("own_part", "run", trains_outside_of_run),
    ("own_part", "raised", without_the_strategy),
    ("one_pass", "twice", passes_again_for_the_accuracy),
    ("training", "inference", runs_as_in_validation),
    ("mean", "start", starts_only),
    ("mean", "unchanged", does_not_train),
    ("mean", "some_variables", trains_the_first_variable),
    ("mean", "times_replicas", averages_its_own),
    ("mean", "times_replicas", adds_up_before_applying),
    ("mean", "divided", divides_again),
    ("mean", "sum", adds_up_the_losses_of_images),
    ("mean", "averaged", averages_before_the_share),
    ("mean", "averaged", with_keras_own_object),
    ("mean", "other", follows_the_squared_error),
    ("optimizer", "momentum", steps_by_hand),
    ("optimizer", "own_optimizer", copies_the_optimizer),
    ("global_loss", "own_loss", divides_by_itself),
    ("global_loss", "own_loss", calls_it_for_nothing),
    ("loss", "no_metrics", keeps_no_metrics),
    ("loss", "metric_share", keeps_shares),
    ("loss", "metric_share", keeps_means),
    ("loss", "reset", starts_the_metrics_again),
    ("loss", "reset", starts_the_metrics_when_it_is_made),
    ("accuracy", "metrics", counts_other_predictions),
    ("two_metrics", "valid_metrics", keeps_those_of_validation),
    ("two_metrics", "valid_metrics", resets_those_of_validation),
    ("mean", "other", takes_probabilities_for_logits),
    ("returned", "nothing", returns_nothing),
    ("returned", "not_reduced", leaves_a_share_each),
    ("returned", "reduce", means_the_shares),
    ("returned", "one_share", returns_the_first_share),
    ("returned", "so_far", returns_the_mean_so_far),
    ("returned", "added", adds_up_means),
    ("graph", "eager", without_a_graph),
    ("graph", "eager", only_the_replicas_have_a_graph),
    ("graph", "eager", makes_a_graph_for_every_batch),
]
RIGHT = [
    with_all_losses_reduced, AnObject, a_step_as_it_is, with_keywords,
    reduces_in_the_replicas, mean_times_replicas, losses_by_logarithm,
    averages_gradients_first, with_partials, in_the_scope,
]  # fmt: skip
