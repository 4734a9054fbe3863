"""Answers to lab 06: wrong ones with the sentence they break and their hint, right ones."""

from functools import partial

import keras
import numpy as np
import tensorflow as tf
from tensorflow import distribute

Mirrors = distribute.MirroredStrategy


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


def in_half_precision(losses, global_batch):
    share = tf.reduce_sum(tf.cast(losses, tf.float16)) / tf.cast(global_batch, tf.float16)
    return tf.cast(share, tf.float32)


def every_loss(losses, global_batch):
    return losses / global_batch


def cut_off(losses, global_batch):
    return tf.stop_gradient(tf.reduce_sum(losses)) / global_batch


def squared(losses, global_batch):
    return tf.reduce_sum(losses**2) / global_batch


def with_numpy_in_a_graph(losses, global_batch):
    return losses.numpy().sum() / global_batch


def mean_by_two(losses, global_batch):
    return tf.reduce_mean(losses) / 2


def averages_and_divides(losses, global_batch):
    return tf.reduce_mean(losses) / global_batch


def whole_mean_on_each(losses, global_batch):
    context = tf.distribute.get_replica_context()
    return context.all_reduce("SUM", tf.reduce_sum(losses)) / global_batch


def mean_shown_instead(losses, global_batch):
    """The gradient of the share, with the value of the replica's mean."""
    share = tf.reduce_sum(losses) / global_batch
    return share + tf.stop_gradient(tf.reduce_mean(losses) - share)


def leaves_the_size_to_tensorflow(losses, global_batch):
    return tf.nn.compute_average_loss(losses)


def keeps_a_dimension(losses, global_batch):
    return tf.reduce_sum(losses, keepdims=True) / global_batch


def in_tensorflows_words(losses, global_batch):
    return tf.nn.compute_average_loss(losses, global_batch_size=global_batch)


def by_share_of_examples(losses, global_batch):
    """The mean here, times the part of the batch that is here."""
    part = keras.ops.cast(keras.ops.shape(losses)[0], "float32") / float(global_batch)
    return keras.ops.mean(losses) * part


def one_by_one(losses, global_batch):
    return tf.add_n([loss / global_batch for loss in tf.unstack(losses)])


def divides_first(losses, global_batch):
    return tf.reduce_sum(tf.divide(losses, tf.cast(global_batch, losses.dtype)))


def with_pythons_sum(losses, global_batch):
    return sum(losses[i] for i in range(losses.shape[0])) / global_batch


def as_a_product(losses, global_batch):
    weights = tf.ones_like(losses) / global_batch
    return tf.tensordot(losses, weights, axes=1)


def in_double_precision(losses, global_batch):
    return tf.cast(tf.reduce_sum(tf.cast(losses, tf.float64)) / global_batch, tf.float32)


def by_einsum(losses, global_batch):
    return tf.einsum("i->", losses) * (1.0 / global_batch)


by_lambda = lambda losses, global_batch: keras.ops.sum(losses) / global_batch  # noqa: E731


@tf.function
def in_a_graph_of_its_own(losses, global_batch):
    total = tf.math.reduce_sum(losses, axis=-1)
    return tf.math.truediv(total, tf.cast(global_batch, total.dtype))


def in_a_loop_of_tensorflow(losses, global_batch):
    total = tf.constant(0.0)
    for loss in losses:
        total += loss
    return total / global_batch


def _steps(
    strategy, model, optimizer, metrics, global_loss, global_batch,
    loss=None, training=True, apply=None, returned="SUM", graph=True, keep=None,
    per_image=keras.losses.categorical_crossentropy, variables=None, again=False,
    finish=lambda shares, reduced: reduced,
):  # fmt: skip
    """A right step, of which one part can be replaced."""

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            probabilities = model(x, training=training)
            losses = per_image(y, probabilities)
            share = (loss or global_loss)(losses, global_batch)
        moved = model.trainable_variables[variables or slice(None)]
        (apply or optimizer.apply)(tape.gradient(share, moved), moved)
        if again:
            probabilities = model(x, training=training)
        if keep:
            keep(losses, share, y, probabilities)
        else:
            metrics["loss"].update_state(losses)
            metrics["accuracy"].update_state(y, probabilities)
        return share

    def train_step(x, y):
        shares = strategy.run(replica_step, args=(x, y))
        reduced = strategy.reduce(returned, shares, axis=None) if returned else shares
        return finish(shares, reduced)

    return tf.function(train_step) if graph else train_step


def takes_probabilities_for_logits(*arguments):
    def per_image(y, p):
        return keras.losses.categorical_crossentropy(y, p, from_logits=True)

    return _steps(*arguments, per_image=per_image)


def resets_those_of_validation(strategy, model, optimizer, metrics, *more):
    step = _steps(strategy, model, optimizer, metrics, *more)

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

        step = _steps(
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
    step = _steps(strategy, model, optimizer, metrics, global_loss, global_batch)

    def for_the_first(value):
        whole = everything(strategy, value)
        return strategy.experimental_distribute_values_from_function(
            lambda context: whole[: 0 if context.replica_id_in_sync_group else None]
        )

    return lambda x, y: step(for_the_first(x), for_the_first(y))


def passes_again_for_the_accuracy(*arguments):
    return _steps(*arguments, again=True)


def trains_the_first_variable(*arguments):
    return _steps(*arguments, variables=slice(1))


def adds_up_before_applying(strategy, model, optimizer, *rest):
    def apply(gradients, variables):
        context = tf.distribute.get_replica_context()
        optimizer.apply(context.all_reduce("SUM", gradients), variables)

    return _steps(strategy, model, optimizer, *rest, apply=apply)


def adds_up_the_losses_of_images(*arguments):
    return _steps(*arguments, loss=lambda losses, global_batch: tf.reduce_sum(losses))


def averages_before_the_share(*arguments):
    def mean(y, probabilities):
        return tf.reduce_mean(keras.losses.categorical_crossentropy(y, probabilities))

    return _steps(*arguments, per_image=mean, loss=in_tensorflows_sum)


def in_tensorflows_sum(losses, global_batch):
    return tf.reduce_sum(losses) / global_batch


def with_keras_own_object(*arguments):
    return _steps(
        *arguments,
        per_image=keras.losses.CategoricalCrossentropy(),
        loss=in_tensorflows_sum,
    )


def follows_the_squared_error(*arguments):
    return _steps(*arguments, per_image=keras.losses.mean_squared_error)


def calls_it_for_nothing(strategy, model, optimizer, metrics, global_loss, global_batch):
    def share(losses, global_batch):
        global_loss(losses, global_batch)
        return tf.reduce_sum(losses) / global_batch

    return _steps(
        strategy, model, optimizer, metrics, global_loss, global_batch, loss=share
    )


def copies_the_optimizer(strategy, model, optimizer, *rest):
    with strategy.scope():
        mine = type(optimizer).from_config(optimizer.get_config())
        mine.build(model.trainable_variables)
    return _steps(strategy, model, mine, *rest)


def keeps_means(strategy, model, optimizer, metrics, *rest):
    """Right only as long as all parts are equal."""

    def keep(losses, share, y, probabilities):
        metrics["loss"].update_state(tf.reduce_mean(losses))
        metrics["accuracy"].update_state(y, probabilities)

    return _steps(strategy, model, optimizer, metrics, *rest, keep=keep)


def divides_by_itself(*arguments):
    """Right here, but the lab passes another loss, and it would be ignored."""
    return _steps(*arguments, loss=in_tensorflows_words)


def returns_the_first_share(strategy, *rest):
    return _steps(
        strategy, *rest,
        finish=lambda shares, _: strategy.experimental_local_results(shares)[0],
    )  # fmt: skip


def returns_the_mean_so_far(strategy, model, optimizer, metrics, *rest):
    return _steps(
        strategy, model, optimizer, metrics, *rest,
        finish=lambda shares, reduced: metrics["loss"].result(),
    )  # fmt: skip


def adds_up_means(strategy, *rest):
    replicas = strategy.num_replicas_in_sync
    return _steps(strategy, *rest, finish=lambda shares, reduced: reduced * replicas)


def starts_the_metrics_again(strategy, model, optimizer, metrics, *rest):
    step = _steps(strategy, model, optimizer, metrics, *rest)

    def train_step(x, y):
        metrics["loss"].reset_state()
        return step(x, y)

    return train_step


def makes_a_graph_for_every_batch(*arguments):
    def train_step(x, y):
        return _steps(*arguments)(x, y)

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
    return _steps(*arguments)


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
    return _steps(strategy, *rest, returned="MEAN", finish=lambda s, mean: mean * replicas)


def losses_by_logarithm(*arguments):
    return _steps(
        *arguments, per_image=lambda y, p: -keras.ops.sum(y * keras.ops.log(p), axis=-1)
    )


def averages_gradients_first(strategy, model, optimizer, *rest):
    """A mean of gradients on each replica adds up to their sum."""

    def apply(gradients, variables):
        context = distribute.get_replica_context()
        means = context.all_reduce(distribute.ReduceOp.MEAN, gradients)
        optimizer.apply_gradients(zip(means, variables, strict=True))

    return _steps(strategy, model, optimizer, *rest, apply=apply)


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
        step = _steps(strategy, *rest, graph=False)

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


def _train(
    devices, build, data, epochs,
    ops=distribute.ReductionToOneDevice, names=None, builds=1, scope=True, training=True,
    share=None, apply=None, keep=None, distributed=True, through=1, passes=1, reset=True,
    once=False,
    returned=lambda model, losses: (model, losses),
):  # fmt: skip
    """A right training, of which one part can be replaced."""
    strategy = tf.distribute.MirroredStrategy(names or devices, ops and ops())
    with strategy.scope():
        total = keras.metrics.Mean()
        for _ in range(builds):
            model, optimizer = build()
    if not scope:
        model, optimizer = build()

    def replica_step(x, y, images):
        with tf.GradientTape() as tape:
            for _ in range(passes):
                losses = keras.losses.categorical_crossentropy(
                    y, model(x, training=training)
                )
            mean = (share or tf.nn.compute_average_loss)(losses, global_batch_size=images)
        variables = model.trainable_variables
        (apply or optimizer.apply)(tape.gradient(mean, variables), variables)
        (keep or (lambda metric, losses, images: metric.update_state(losses)))(
            total, losses, images
        )

    @tf.function
    def step(x, y, images):
        strategy.run(replica_step, args=(x, y, images))

    losses = []
    listed = list(strategy.experimental_distribute_dataset(data)) if once else None
    for _ in range(epochs * through):
        if reset:
            total.reset_state()
        batches = strategy.experimental_distribute_dataset(data) if distributed else data
        batches = listed or batches
        for x, y in batches:
            parts = strategy.experimental_local_results(y)
            step(x, y, sum(map(len, parts)) if distributed else len(y))
        losses.append(float(total.result()))
    return returned(model, losses[:epochs])


def with_the_default_all_reduce(*arguments):
    return _train(*arguments, ops=None)


def builds_outside(devices, build, data, epochs):
    model, optimizer = build()
    return _train(devices, lambda: (model, optimizer), data, epochs)


def builds_for_every_epoch(*arguments):
    return _train(*arguments, builds=2)


def takes_the_first_devices(devices, build, data, epochs):
    names = [f"CPU:{i}" for i in range(len(devices))]
    return _train(devices, build, data, epochs, names=names)


def trains_without_run(devices, build, data, epochs):
    strategy = tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, _ = build()
    means = []
    for _ in range(epochs):
        losses = [
            keras.losses.categorical_crossentropy(y, model(x, training=True))
            for x, y in data
        ]
        means.append(float(tf.reduce_mean(tf.concat(losses, 0))))
    return model, means


def gives_everybody_everything(*arguments):
    def share(losses, global_batch_size):
        replicas = tf.distribute.get_replica_context().num_replicas_in_sync
        return tf.reduce_sum(losses) / float(global_batch_size * replicas)

    return _train(*arguments, distributed=False, share=share)


def lets_one_replica_work(devices, build, data, epochs):
    """Every second batch of the data is empty, and the first replica gets all rows."""
    strategy = tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, optimizer = build()
        total = keras.metrics.Mean()

    def one(x, y, images):
        with tf.GradientTape() as tape:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
            mean = tf.nn.compute_average_loss(losses, global_batch_size=images)
        gradients = tape.gradient(mean, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        total.update_state(losses)

    def for_the_first(values):
        return strategy.experimental_distribute_values_from_function(
            lambda context: values[: 0 if context.replica_id_in_sync_group else None]
        )

    means = []
    for _ in range(epochs):
        total.reset_state()
        for x, y in data:
            strategy.run(one, args=(for_the_first(x), for_the_first(y), len(y)))
        means.append(float(total.result()))
    return model, means


def drops_the_remainder(devices, build, data, epochs):
    size = len(next(iter(data))[1])
    return _train(devices, build, data.unbatch().batch(size, drop_remainder=True), epochs)


def trains_for_one_epoch(devices, build, data, epochs):
    model, losses = _train(devices, build, data, 1)
    return model, losses * epochs


def lists_the_batches_once(*arguments):
    return _train(*arguments, once=True)


def keeps_the_first_pass(devices, build, data, epochs):
    size = len(next(iter(data))[1])
    x, y = map(np.concatenate, zip(*data.as_numpy_iterator(), strict=True))
    kept = tf.data.Dataset.from_tensor_slices((x, y)).batch(size)
    return _train(devices, build, kept, epochs)


def passes_twice(*arguments):
    return _train(*arguments, passes=2)


def leaves_the_weights(*arguments):
    return _train(*arguments, apply=lambda gradients, variables: None)


def runs_in_inference(*arguments):
    return _train(*arguments, training=False)


def has_an_optimizer_of_its_own(devices, build, data, epochs):
    def with_plain_sgd():
        model, optimizer = build()
        plain = keras.optimizers.SGD(float(optimizer.learning_rate.numpy()))
        plain.build(model.trainable_variables)
        return model, plain

    return _train(devices, with_plain_sgd, data, epochs)


def has_a_copy_of_the_optimizer(devices, build, data, epochs):
    def copied():
        model, optimizer = build()
        mine = type(optimizer).from_config(optimizer.get_config())
        mine.build(model.trainable_variables)
        return model, mine

    return _train(devices, copied, data, epochs)


def returns_tensors(*arguments):
    return _train(
        *arguments, returned=lambda model, losses: (model, list(map(tf.constant, losses)))
    )


def returns_text(*arguments):
    return _train(
        *arguments, returned=lambda model, losses: (model, [f"{loss}" for loss in losses])
    )


def leaves_the_size_out(*arguments):
    return _train(
        *arguments,
        share=lambda losses, global_batch_size: tf.nn.compute_average_loss(losses),
    )


def divides_by_a_whole_batch(devices, build, data, epochs):
    size = len(next(iter(data))[1])
    return _train(
        devices, build, data, epochs,
        share=lambda losses, global_batch_size: tf.reduce_sum(losses) / size,
    )  # fmt: skip


def averages_on_each_replica(*arguments):
    def share(losses, global_batch_size):
        return tf.math.divide_no_nan(
            tf.reduce_sum(losses), tf.cast(tf.size(losses), "float32")
        )

    return _train(*arguments, share=share)


def divides_by_the_replicas_too(devices, build, data, epochs):
    def share(losses, global_batch_size):
        return tf.reduce_sum(losses) / float(global_batch_size * len(devices))

    return _train(devices, build, data, epochs, share=share)


def adds_up_the_losses(*arguments):
    return _train(*arguments, share=lambda losses, global_batch_size: tf.reduce_sum(losses))


def divides_by_all_data(devices, build, data, epochs):
    total = sum(len(y) for _, y in data)
    return _train(
        devices, build, data, epochs,
        share=lambda losses, global_batch_size: tf.reduce_sum(losses) / total,
    )  # fmt: skip


def returns_no_network(*arguments):
    return _train(*arguments, returned=lambda model, losses: (None, losses))


def returns_only_the_losses(*arguments):
    return _train(*arguments, returned=lambda model, losses: losses)


def never_starts_again(*arguments):
    return _train(*arguments, reset=False)


def averages_the_batches(*arguments):
    def keep(metric, losses, images):
        replicas = tf.distribute.get_replica_context().num_replicas_in_sync
        metric.update_state(tf.reduce_sum(losses) / float(images) * replicas)

    return _train(*arguments, keep=keep)


def keeps_the_last_batch(*arguments):
    def keep(metric, losses, images):
        metric.reset_state()
        metric.update_state(losses)

    return _train(*arguments, keep=keep)


def keeps_a_share(devices, build, data, epochs):
    model, losses = _train(devices, build, data, epochs)
    return model, [loss / len(devices) for loss in losses]


def takes_numpy_into_the_graph(*arguments):
    def keep(metric, losses, images):
        metric.update_state(losses.numpy())

    return _train(*arguments, keep=keep)


def with_sums_of_its_own(devices, build, data, epochs):
    """No metric: the losses of a batch are added up by the strategy, the rest by Python."""
    strategy = Mirrors(devices, cross_device_ops=distribute.ReductionToOneDevice())
    with strategy.scope():
        net, opt = build()
    per_image = keras.losses.CategoricalCrossentropy(reduction="none")

    @tf.function
    def step(x, y, n):
        def one(x, y):
            with tf.GradientTape() as tape:
                losses = per_image(y, net(x, training=True))
                share = tf.reduce_sum(losses) / tf.cast(n, tf.float32)
            slopes = tape.gradient(share, net.trainable_weights)
            opt.apply_gradients(zip(slopes, net.trainable_weights, strict=True))
            return tf.reduce_sum(losses)

        return strategy.reduce(distribute.ReduceOp.SUM, strategy.run(one, (x, y)), None)

    means = []
    for _ in range(epochs):
        loss, images = 0.0, 0
        for x, y in strategy.experimental_distribute_dataset(data):
            n = sum(part.shape[0] for part in strategy.experimental_local_results(x))
            loss, images = loss + float(step(x, y, tf.constant(n))), images + n
        means.append(loss / images)
    return net, means


def counts_on_the_replicas(devices, build, data, epochs):
    """The number of images is an all-reduce of its own; the data are handed out once."""
    strategy = Mirrors(devices=devices, cross_device_ops=distribute.ReductionToOneDevice())
    dealt = strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        model, optimizer = build()
        loss = keras.metrics.Mean("loss")

        def replica_step(batch):
            x, y = batch
            context = distribute.get_replica_context()
            n = context.all_reduce("SUM", tf.shape(y)[0])
            with tf.GradientTape() as tape:
                each = keras.losses.categorical_crossentropy(y, model(x, training=True))
                share = tf.nn.compute_average_loss(each, global_batch_size=n)
            optimizer.apply(tape.gradient(share, model.trainable_variables))
            loss(each)

        step = tf.function(lambda batch: strategy.run(replica_step, args=(batch,)))
        history = np.zeros(epochs)
        for epoch in range(epochs):
            for batch in dealt:
                step(batch)
            history[epoch] = loss.result()
            loss.reset_state()
    return [model, history]


def an_epoch_in_a_graph(devices, build, data, epochs):
    """TensorFlow goes through the distributed data, in one graph for an epoch."""
    strategy = tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, optimizer = build()
        total, seen = keras.metrics.Sum(), keras.metrics.Sum()

    def one(x, y):
        n = tf.distribute.get_replica_context().all_reduce("SUM", tf.shape(x)[0])
        with tf.GradientTape() as tape:
            each = -tf.reduce_sum(y * tf.math.log(model(x, training=True)), axis=1)
            share = tf.reduce_sum(each) / tf.cast(n, each.dtype)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        total.update_state(each)
        seen.update_state(tf.ones_like(each))

    @tf.function
    def epoch(batches):
        for x, y in batches:
            strategy.run(one, args=(x, y))

    dealt, means = strategy.experimental_distribute_dataset(data), []
    for _ in range(epochs):
        epoch(dealt)
        means.append(float(total.result() / seen.result()))
        for metric in (total, seen):
            metric.reset_state()
    return model, means


def without_a_graph_at_all(devices, build, data, epochs):
    """Eager, with an iterator, and all losses of an epoch kept."""
    strategy = tf.distribute.MirroredStrategy(
        devices=tuple(devices), cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, optimizer = build()

    def one(x, y, images):
        with tf.GradientTape() as tape:
            each = keras.losses.categorical_crossentropy(y, model(x, training=True))
            share = tf.reduce_sum(each / images)
        optimizer.apply(tape.gradient(share, model.trainable_variables))
        return each

    def an_epoch():
        batches = iter(strategy.experimental_distribute_dataset(data))
        while True:
            try:
                x, y = next(batches)
            except StopIteration:
                return
            images = sum(len(v) for v in strategy.experimental_local_results(x))
            yield from strategy.experimental_local_results(
                strategy.run(one, args=(x, y, images))
            )

    return model, [float(np.concatenate(list(an_epoch())).mean()) for _ in range(epochs)]


class Trainer:
    """A class; the sums are variables with a copy on every replica."""

    def __init__(self, devices, build):
        self.strategy = tf.distribute.MirroredStrategy(
            devices, cross_device_ops=tf.distribute.ReductionToOneDevice(None)
        )
        with self.strategy.scope():
            self.model, self.optimizer = build()
            self.sums = tf.Variable(
                [0.0, 0.0],
                trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )

    @tf.function(reduce_retracing=True)
    def step(self, x, y, images):
        self.strategy.run(self.on_a_replica, kwargs={"x": x, "y": y, "images": images})

    def on_a_replica(self, x, y, images):
        with tf.GradientTape() as tape:
            each = keras.losses.categorical_crossentropy(y, self.model(x, training=True))
            share = tf.nn.compute_average_loss(each, global_batch_size=images)
        gradients = tape.gradient(share, self.model.trainable_variables)
        self.optimizer.apply(gradients, self.model.trainable_variables)
        self.sums.assign_add([tf.reduce_sum(each), tf.cast(tf.size(each), "float32")])

    def epoch(self, data):
        self.sums.assign(tf.zeros(2))
        for x, y in self.strategy.experimental_distribute_dataset(data):
            images = int(sum(map(len, self.strategy.experimental_local_results(x))))
            self.step(x, y, images)
        loss, images = self.sums.numpy()
        return float(loss / images)


def with_a_class(devices, build, data, epochs):
    trainer = Trainer(devices, build)
    return trainer.model, [trainer.epoch(data) for _ in range(epochs)]


def deals_by_hand(devices, build, data, epochs):
    """Every batch is cut by NumPy, into parts as equal as can be."""
    strategy = tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, optimizer = build()
        mean = keras.metrics.Mean()

    def deal(array):
        parts = np.array_split(array.numpy(), strategy.num_replicas_in_sync)
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(parts[context.replica_id_in_sync_group])
        )

    def one(x, y, images):
        with tf.GradientTape() as tape:
            each = keras.losses.categorical_crossentropy(y, model(x, training=True))
            share = tf.nn.compute_average_loss(each, global_batch_size=images)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        mean.update_state(each)

    losses = []
    for _ in range(epochs):
        for x, y in data:
            strategy.run(one, args=(deal(x), deal(y), len(x)))
        losses.append(mean.result().numpy().item())
        mean.reset_state()
    return model, losses


def with_the_step_of_before(devices, build, data, epochs):
    """The step of 6.2 in a right form, made once for each size of batch."""
    strategy = tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, optimizer = build()
        metrics = {
            "loss": keras.metrics.Mean(), "accuracy": keras.metrics.CategoricalAccuracy()
        }  # fmt: skip
    steps, losses = {}, []
    for _ in range(epochs):
        metrics["loss"].reset_state()
        for x, y in strategy.experimental_distribute_dataset(data):
            size = sum(map(len, strategy.experimental_local_results(y)))
            if size not in steps:
                steps[size] = _steps(
                    strategy, model, optimizer, metrics, in_tensorflows_words, size
                )
            steps[size](x, y)
        losses.append(float(metrics["loss"].result()))
    return model, losses


def with_weights_for_the_mean(devices, build, data, epochs):
    """The batch's mean, weighted by its images; the strategy reduces along the examples."""
    strategy = tf.distribute.MirroredStrategy(
        devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )

    @tf.function
    def step(x, y, images):
        def one(x, y):
            with tf.GradientTape() as tape:
                each = keras.losses.categorical_crossentropy(y, model(x, training=True))
                share = keras.ops.sum(each) / images
            gradients = tape.gradient(share, model.trainable_variables)
            optimizer.apply(gradients, model.trainable_variables)
            return each

        return strategy.reduce("SUM", strategy.run(one, args=(x, y)), axis=0) / images

    with strategy.scope():
        model, optimizer = build()
    losses = []
    for _ in range(epochs):
        rows = []
        for x, y in strategy.experimental_distribute_dataset(data):
            images = float(sum(map(len, strategy.experimental_local_results(y))))
            rows.append((float(step(x, y, images)), images))
        means, sizes = zip(*rows, strict=True)
        losses.append(float(np.average(means, weights=sizes)))
    return model, losses


def a_template_as_it_is(*arguments):
    return _train(*arguments)


def from_the_scope_to_the_end(devices, build, data, epochs):
    """All of it inside the scope; the images are counted in the graph, by the strategy."""
    ops = distribute.ReductionToOneDevice()
    with (strategy := Mirrors([*devices], cross_device_ops=ops)).scope():
        network, optimizer = build()
        batches = strategy.experimental_distribute_dataset(data)

        def one(x, y, images):
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch([v.value for v in network.trainable_variables])
                each = keras.losses.CategoricalCrossentropy(reduction=None)(
                    y, network(x, training=True)
                )
                share = keras.ops.sum(each) / keras.ops.cast(images, "float32")
            slopes = tape.gradient(share, [v.value for v in network.trainable_variables])
            optimizer.apply_gradients(zip(slopes, network.trainable_variables, strict=True))
            return tf.reduce_sum(each)

        @tf.function
        def step(x, y):
            counts = strategy.run(lambda y: tf.shape(y)[0], args=(y,))
            images = strategy.reduce("SUM", counts, axis=None)
            sums = strategy.run(one, args=(x, y, images))
            return strategy.reduce("SUM", sums, axis=None), images

        def an_epoch():
            loss, images = np.sum([[float(v) for v in step(*b)] for b in batches], axis=0)
            return float(loss / images)

        return network, [an_epoch() for _ in range(epochs)]


def with_the_code_of_the_start(devices, build, data, epochs):
    model, _ = build()
    epoch_losses = []
    for _ in range(epochs):
        for x, y in data:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
        epoch_losses.append(float(tf.reduce_mean(losses)))
    return model, epoch_losses


def sorts_the_devices(devices, build, data, epochs):
    devices.sort(reverse=True)
    devices.append(devices[0])
    return _train(devices[:-1], build, data, epochs)


def makes_larger_batches(devices, build, data, epochs):
    size = len(next(iter(data))[1])
    return _train(devices, build, data.unbatch().batch(2 * size), epochs)


WRONG = {
    "6.1": [
        ("mean", "start", mean_of_own),
        ("mean", "sum", sum_of_all),
        ("mean", "twice", divided_twice),
        ("mean", "averaged", averages_and_divides),
        ("mean", "other", squared),
        ("replicas", "two", mean_by_two),
        ("ragged", "ragged", mean_by_replicas),
        ("ragged", "ragged", leaves_the_size_to_tensorflow),
        ("share", "whole", whole_mean_on_each),
        ("share", "shares", mean_shown_instead),
        ("share", "coarse", in_half_precision),
        ("number", "number", every_loss),
        ("number", "number", keeps_a_dimension),
        ("gradient", "constant", cut_off),
        ("gradient", "raised", with_numpy_in_a_graph),
    ],
    "6.2": [
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
    ],
    "6.3": [
        ("devices", "start", with_the_code_of_the_start),
        ("devices", "devices", takes_the_first_devices),
        ("devices", "changed", sorts_the_devices),
        ("all_reduce", "all_reduce", with_the_default_all_reduce),
        ("build", "scope", builds_outside),
        ("build", "build", builds_for_every_epoch),
        ("once", "remainder", drops_the_remainder),
        ("once", "epochs", trains_for_one_epoch),
        ("once", "twice", passes_twice),
        ("each_pass", "same_batches", lists_the_batches_once),
        ("each_pass", "same_batches", keeps_the_first_pass),
        ("own_part", "run", trains_without_run),
        ("own_part", "whole_batch", gives_everybody_everything),
        ("own_part", "one_replica", lets_one_replica_work),
        ("own_part", "raised", takes_numpy_into_the_graph),
        ("training", "inference", runs_in_inference),
        ("optimizer", "unchanged", leaves_the_weights),
        ("optimizer", "momentum", has_an_optimizer_of_its_own),
        ("optimizer", "own_optimizer", has_a_copy_of_the_optimizer),
        ("optimizer", "other", makes_larger_batches),
        ("mean", "default", leaves_the_size_out),
        ("mean", "fixed", divides_by_a_whole_batch),
        ("mean", "per_replica", averages_on_each_replica),
        ("mean", "divided", divides_by_the_replicas_too),
        ("mean", "sum", adds_up_the_losses),
        ("mean", "all_images", divides_by_all_data),
        ("losses", "batch_means", averages_the_batches),
        ("losses", "last_batch", keeps_the_last_batch),
        ("losses", "loss_share", keeps_a_share),
        ("reset", "never_reset", never_starts_again),
        ("returned", "own_network", returns_no_network),
        ("returned", "returned", returns_only_the_losses),
        ("returned", "returned", returns_text),
        ("returned", "returned", returns_tensors),
    ],
}
RIGHT = {
    "6.1": [
        in_tensorflows_words, by_share_of_examples, one_by_one, divides_first,
        with_pythons_sum, as_a_product, in_double_precision, by_einsum, by_lambda,
        in_a_graph_of_its_own, in_a_loop_of_tensorflow,
    ],
    "6.2": [
        with_all_losses_reduced, AnObject, a_step_as_it_is, with_keywords,
        reduces_in_the_replicas, mean_times_replicas, losses_by_logarithm,
        averages_gradients_first, with_partials, in_the_scope,
    ],
    "6.3": [
        with_sums_of_its_own, counts_on_the_replicas, an_epoch_in_a_graph,
        without_a_graph_at_all, with_a_class, deals_by_hand, with_the_step_of_before,
        with_weights_for_the_mean, a_template_as_it_is, from_the_scope_to_the_end,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right, each with the reason.
RIGHT_MUTANTS = {
    "6.1": {},
    "6.2": {
        "10: optimizer.apply(gradients, model.trainable_variable"
        "s); metrics['loss'].update_state(losses) → metrics['los"
        "s'].update_state(losses); optimizer.apply(gradients, mo"
        "del.trainable_variables)": "losses are from before",
        "10: optimizer.apply(gradients, model.trainable_variable"
        "s) → optimizer.apply(gradients)": "the optimizer knows its variables",
        "11: metrics['loss'].update_state(losses); metrics['accu"
        "racy'].update_state(y, probabilities) → metrics['accura"
        "cy'].update_state(y, probabilities); metrics['loss'].up"
        "date_state(losses)": "the order is free",
        "12: metrics['accuracy'].update_state(y, probabilities) "
        "→ metrics['accuracy'].update_state(probabilities, y)": "the largest are compared",
    },
    "6.3": {
        "4: with strategy.scope():; model, optimizer = build(); "
        "mean_loss = keras.metrics.Mean(); ; def replica_step(x,"
        " y, images):; with tf.GradientTape() as tape:; losses ="
        " keras.losses.categorical_crossentropy(y, model(x, trai"
        "ning=True)); share = tf.nn.compute_average_loss(losses,"
        " global_batch_size=images); gradients = tape.gradient(s"
        "hare, model.trainable_variables); optimizer.apply(gradi"
        "ents, model.trainable_variables); mean_loss.update_stat"
        "e(losses) → ; def replica_step(x, y, images):; with tf."
        "GradientTape() as tape:; losses = keras.losses.categori"
        "cal_crossentropy(y, model(x, training=True)); share = t"
        "f.nn.compute_average_loss(losses, global_batch_size=ima"
        "ges); gradients = tape.gradient(share, model.trainable_"
        "variables); optimizer.apply(gradients, model.trainable_"
        "variables); mean_loss.update_state(losses); with strate"
        "gy.scope():; model, optimizer = build(); mean_loss = ke"
        "ras.metrics.Mean()": "it is used after both",
        "5: model, optimizer = build(); mean_loss = keras.metric"
        "s.Mean() → mean_loss = keras.metrics.Mean(); model, opt"
        "imizer = build()": "the order is free",
        "13: optimizer.apply(gradients, model.trainable_variable"
        "s); mean_loss.update_state(losses) → mean_loss.update_s"
        "tate(losses); optimizer.apply(gradients, model.trainabl"
        "e_variables)": "losses are from before",
        "13: optimizer.apply(gradients, model.trainable_variable"
        "s) → optimizer.apply(gradients)": "the optimizer knows its variables",
        "16: @tf.function → nothing": "a graph is not asked for",
    },
}
