"""Recorded answers to 6.3: wrong ones, and right ones in other styles."""

import keras
import numpy as np
import tensorflow as tf
from tensorflow import distribute

from tests.answers.lab_06.shared import a_step, in_tensorflows_words


def _train(
    strategy, build, data, epochs,
    builds=1, scope=True, training=True,
    share=None, apply=None, keep=None, distributed=True, through=1, passes=1, reset=True,
    once=False,
    returned=lambda model, losses: (model, losses),
):  # fmt: skip
    """A right training, of which one part can be replaced."""
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


def builds_outside(strategy, build, data, epochs):
    model, optimizer = build()
    return _train(strategy, lambda: (model, optimizer), data, epochs)


def builds_for_every_epoch(*arguments):
    return _train(*arguments, builds=2)


def takes_the_first_devices(strategy, build, data, epochs):
    names = [f"CPU:{i}" for i in range(strategy.num_replicas_in_sync)]
    ops = distribute.ReductionToOneDevice()
    own = distribute.MirroredStrategy(names, cross_device_ops=ops)
    return _train(own, build, data, epochs)


def trains_without_run(strategy, build, data, epochs):
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


def lets_one_replica_work(strategy, build, data, epochs):
    """Every second batch of the data is empty, and the first replica gets all rows."""
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


def drops_the_remainder(strategy, build, data, epochs):
    size = len(next(iter(data))[1])
    return _train(strategy, build, data.unbatch().batch(size, drop_remainder=True), epochs)


def trains_for_one_epoch(strategy, build, data, epochs):
    model, losses = _train(strategy, build, data, 1)
    return model, losses * epochs


def lists_the_batches_once(*arguments):
    return _train(*arguments, once=True)


def keeps_the_first_pass(strategy, build, data, epochs):
    size = len(next(iter(data))[1])
    x, y = map(np.concatenate, zip(*data.as_numpy_iterator(), strict=True))
    kept = tf.data.Dataset.from_tensor_slices((x, y)).batch(size)
    return _train(strategy, build, kept, epochs)


def passes_twice(*arguments):
    return _train(*arguments, passes=2)


def leaves_the_weights(*arguments):
    return _train(*arguments, apply=lambda gradients, variables: None)


def runs_in_inference(*arguments):
    return _train(*arguments, training=False)


def has_an_optimizer_of_its_own(strategy, build, data, epochs):
    def with_plain_sgd():
        model, optimizer = build()
        plain = keras.optimizers.SGD(float(optimizer.learning_rate.numpy()))
        plain.build(model.trainable_variables)
        return model, plain

    return _train(strategy, with_plain_sgd, data, epochs)


def has_a_copy_of_the_optimizer(strategy, build, data, epochs):
    def copied():
        model, optimizer = build()
        mine = type(optimizer).from_config(optimizer.get_config())
        mine.build(model.trainable_variables)
        return model, mine

    return _train(strategy, copied, data, epochs)


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


def divides_by_a_whole_batch(strategy, build, data, epochs):
    size = len(next(iter(data))[1])
    return _train(
        strategy, build, data, epochs,
        share=lambda losses, global_batch_size: tf.reduce_sum(losses) / size,
    )  # fmt: skip


def averages_on_each_replica(*arguments):
    def share(losses, global_batch_size):
        return tf.math.divide_no_nan(
            tf.reduce_sum(losses), tf.cast(tf.size(losses), "float32")
        )

    return _train(*arguments, share=share)


def divides_by_the_replicas_too(strategy, build, data, epochs):
    def share(losses, global_batch_size):
        return tf.reduce_sum(losses) / float(
            global_batch_size * strategy.num_replicas_in_sync
        )

    return _train(strategy, build, data, epochs, share=share)


def adds_up_the_losses(*arguments):
    return _train(*arguments, share=lambda losses, global_batch_size: tf.reduce_sum(losses))


def divides_by_all_data(strategy, build, data, epochs):
    total = sum(len(y) for _, y in data)
    return _train(
        strategy, build, data, epochs,
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


def keeps_a_share(strategy, build, data, epochs):
    model, losses = _train(strategy, build, data, epochs)
    return model, [loss / strategy.num_replicas_in_sync for loss in losses]


def takes_numpy_into_the_graph(*arguments):
    def keep(metric, losses, images):
        metric.update_state(losses.numpy())

    return _train(*arguments, keep=keep)


def with_sums_of_its_own(strategy, build, data, epochs):
    """No metric: the losses of a batch are added up by the strategy, the rest by Python."""
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


def counts_on_the_replicas(strategy, build, data, epochs):
    """The number of images is an all-reduce of its own; the data are handed out once."""
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


def an_epoch_in_a_graph(strategy, build, data, epochs):
    """TensorFlow goes through the distributed data, in one graph for an epoch."""
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


def without_a_graph_at_all(strategy, build, data, epochs):
    """Eager, with an iterator, and all losses of an epoch kept."""
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

    def __init__(self, strategy, build):
        self.strategy = strategy
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


def with_a_class(strategy, build, data, epochs):
    trainer = Trainer(strategy, build)
    return trainer.model, [trainer.epoch(data) for _ in range(epochs)]


def deals_by_hand(strategy, build, data, epochs):
    """Every batch is cut by NumPy, into parts as equal as can be."""
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


def with_the_step_of_before(strategy, build, data, epochs):
    """The step of 6.2 in a right form, made once for each size of batch."""
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
                steps[size] = a_step(
                    strategy, model, optimizer, metrics, in_tensorflows_words, size
                )
            steps[size](x, y)
        losses.append(float(metrics["loss"].result()))
    return model, losses


def with_weights_for_the_mean(strategy, build, data, epochs):
    """The batch's mean, weighted by its images; the strategy reduces along the examples."""

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


def from_the_scope_to_the_end(strategy, build, data, epochs):
    """All of it inside the scope; the images are counted in the graph, by the strategy."""
    with strategy.scope():
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


def with_the_code_of_the_start(strategy, build, data, epochs):
    model, _ = build()
    epoch_losses = []
    for _ in range(epochs):
        for x, y in data:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
        epoch_losses.append(float(tf.reduce_mean(losses)))
    return model, epoch_losses


def makes_larger_batches(strategy, build, data, epochs):
    size = len(next(iter(data))[1])
    return _train(strategy, build, data.unbatch().batch(2 * size), epochs)


WRONG = [
    ("build", "start", with_the_code_of_the_start),
    ("build", "devices", takes_the_first_devices),
    ("build", "scope", builds_outside),
    ("build", "build", builds_for_every_epoch),
    ("once", "remainder", drops_the_remainder),
    ("once", "epochs", trains_for_one_epoch),
    ("once", "twice", passes_twice),
    ("once", "same_batches", lists_the_batches_once),
    ("once", "same_batches", keeps_the_first_pass),
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
    ("losses", "never_reset", never_starts_again),
    ("returned", "own_network", returns_no_network),
    ("returned", "returned", returns_only_the_losses),
    ("returned", "returned", returns_text),
    ("returned", "returned", returns_tensors),
]
RIGHT = [
    with_sums_of_its_own, counts_on_the_replicas, an_epoch_in_a_graph,
    without_a_graph_at_all, with_a_class, deals_by_hand, with_the_step_of_before,
    with_weights_for_the_mean, a_template_as_it_is, from_the_scope_to_the_end,
]  # fmt: skip
