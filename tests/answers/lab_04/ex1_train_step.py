"""Recorded answers to 4.1: wrong ones, and right ones in other styles."""

import keras
import tensorflow as tf
from keras.losses import sparse_categorical_crossentropy
from tensorflow import GradientTape, function

from tests.answers.lab_04.shared import count, crossentropy, gradients_of


@tf.function
def never_applies(model, optimizer, metrics, x, y):
    _, losses, probabilities = gradients_of(model, x, y)
    count(metrics, losses, y, probabilities)


@tf.function
def without_dropout(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y, training=False)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def says_nothing_of_training(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y, training=None)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def sums_the_losses(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y, reduce=tf.reduce_sum)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def gradient_of_all_losses(model, optimizer, metrics, x, y):
    """A tape adds up what is not one number."""
    gradients, losses, probabilities = gradients_of(model, x, y, reduce=tf.identity)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def descends_by_hand(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign_sub(optimizer.learning_rate * gradient)
    count(metrics, losses, y, probabilities)


@tf.function
def climbs(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply([-gradient for gradient in gradients], model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def last_layer_only(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    kept = [tf.zeros_like(g) for g in gradients[:-2]] + gradients[-2:]
    optimizer.apply(kept, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def counts_nothing(model, optimizer, metrics, x, y):
    gradients, _, _ = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)


@tf.function
def forgets_the_accuracy(model, optimizer, metrics, x, y):
    gradients, losses, _ = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    metrics["loss"].update_state(losses)


@tf.function
def counts_for_validation(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities, "valid_")


@tf.function
def mean_of_means(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, tf.reduce_mean(losses), y, probabilities)


@tf.function
def resets_in_every_step(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    for metric in metrics.values():
        metric.reset_state()
    count(metrics, losses, y, probabilities)


@tf.function
def resets_the_loss(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    metrics["loss"].reset_state()
    count(metrics, losses, y, probabilities)


def no_graph(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


def a_new_graph_for_every_batch(model, optimizer, metrics, x, y):
    tf.function(no_graph)(model, optimizer, metrics, x, y)


@tf.function
def all_variables(model, optimizer, metrics, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(crossentropy(y, model(x, training=True)))
    optimizer.apply(tape.gradient(loss, model.variables), model.variables)


class AGraphForEachTraining:
    """Keeps one graph for each model, and takes labels and metrics another way."""

    __name__ = "AGraphForEachTraining"

    def __init__(self):
        self.kept = {}

    def __call__(self, net, opt, counters, xs, ys):
        if id(net) not in self.kept:
            loss_of = keras.losses.SparseCategoricalCrossentropy()

            @tf.function
            def step(a, b):
                with tf.GradientTape(persistent=True) as tape:
                    out = net(a, training=True)
                    value = loss_of(b, out)
                pairs = zip(
                    tape.gradient(value, net.trainable_weights),
                    net.trainable_weights,
                    strict=True,
                )
                opt.apply_gradients(pairs)
                counters["loss"].update_state(value, sample_weight=tf.shape(b)[0])
                counters["accuracy"](b, out)
                return value

            self.kept[id(net)] = (net, step)
        return self.kept[id(net)][1](xs, ys)


@tf.function(jit_compile=True)
def by_one_hot(model, optimizer, metrics, x, y):
    """The definition of cross-entropy, compiled with XLA."""
    with tf.GradientTape() as tape:
        probabilities = model(x, training=True)
        one_hot = tf.one_hot(y, probabilities.shape[-1])
        each = -tf.reduce_sum(one_hot * tf.math.log(probabilities), axis=1)
        loss = tf.reduce_sum(each) / tf.cast(tf.shape(x)[0], tf.float32)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    metrics["loss"].update_state(loss, sample_weight=tf.shape(x)[0])
    metrics["accuracy"].update_state(y, probabilities)
    return {name: metrics[name].result() for name in ("loss", "accuracy")}


@tf.function
def start_of_4_1(model, optimizer, metrics, x, y):
    probabilities = model(x)
    metrics["accuracy"].update_state(y, probabilities)


@tf.function
def calls_it_again_for_the_accuracy(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    model(x, training=False)
    count(metrics, losses, y, probabilities)


@tf.function
def freezes_the_first_layer(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)
    model.layers[1].trainable = False


@tf.function
def half_of_the_gradient(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply([g / 2 for g in gradients], model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def clips_at_five(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def divides_by_a_fixed_batch(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(
        model, x, y, reduce=lambda losses: tf.reduce_sum(losses) / 4
    )
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


@tf.function
def sums_into_the_metric(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, tf.reduce_sum(losses), y, probabilities)


@tf.function
def counts_each_twice(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    metrics["loss"].update_state(losses)
    metrics["accuracy"].update_state(y, 1 - probabilities)


class PredictsInAGraph:
    """Only the forward pass is a graph: gradients and optimizer run in Python."""

    __name__ = "PredictsInAGraph"

    def __init__(self):
        self.kept = {}

    def __call__(self, model, optimizer, metrics, x, y):
        _, predict = self.kept.setdefault(
            id(model), (model, tf.function(lambda x: model(x, training=True)))
        )
        with tf.GradientTape() as tape:
            probabilities = predict(x)
            losses = crossentropy(y, probabilities)
            loss = tf.reduce_mean(losses)
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
        count(metrics, losses, y, probabilities)


class InTwoGraphs:
    """One graph finds the gradients, another applies them."""

    __name__ = "InTwoGraphs"

    def __init__(self):
        self.kept = {}

    def __call__(self, model, optimizer, metrics, x, y):
        variables = model.trainable_variables
        _, find, apply = self.kept.setdefault(
            id(model),
            (
                model,
                tf.function(lambda x, y: gradients_of(model, x, y)),
                tf.function(lambda gradients: optimizer.apply(gradients, variables)),
            ),
        )
        gradients, losses, probabilities = find(x, y)
        apply(gradients)
        count(metrics, losses, y, probabilities)


class CopiesTheOptimizer:
    """The weights are right, and the optimizer that was given knows of nothing."""

    __name__ = "CopiesTheOptimizer"

    def __init__(self):
        self.kept = {}

    def __call__(self, model, optimizer, metrics, x, y):
        if id(model) not in self.kept:
            settings = float(optimizer.learning_rate), float(optimizer.momentum)
            mine = keras.optimizers.SGD(*settings)
            mine.build(model.trainable_variables)
            self.kept[id(model)] = model, mine, tf.function(no_graph)
        _, mine, step = self.kept[id(model)]
        step(model, mine, metrics, x, y)


def finds_gradients_in_a_graph(model, optimizer, metrics, x, y):
    """The optimizer stays outside."""
    gradients, losses, probabilities = _gradients_in_a_graph(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


_gradients_in_a_graph = tf.function(gradients_of)


@function
def with_names_from_submodules(model, optimizer, metrics, x, y):
    with GradientTape() as tape:
        predicted = model(x, training=True)
        each = sparse_categorical_crossentropy(y, predicted)
        mean_loss = keras.ops.mean(each)
    learnt = model.trainable_weights
    optimizer.apply_gradients(zip(tape.gradient(mean_loss, learnt), learnt, strict=True))
    metrics["loss"](each)
    metrics["accuracy"](y, predicted)


@tf.function
def with_numbers_for_each_class(model, optimizer, metrics, x, y):
    """Picks the right topic's probability with gather."""
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        each = -tf.math.log(tf.gather(out, y, axis=1, batch_dims=1))
        loss = tf.math.reduce_mean(each)
    optimizer.apply(tape.gradient(loss, model.trainable_variables))
    metrics["loss"].update_state(each)
    metrics["accuracy"].update_state(tf.expand_dims(y, 1), out)


@tf.function
def watches_by_hand(model, optimizer, metrics, x, y):
    variables = model.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for variable in variables:
            tape.watch(variable.value)
        out = model(x, training=True)
        losses = crossentropy(y, out)
        loss = tf.reduce_mean(losses)
    optimizer.apply(tape.gradient(loss, [v.value for v in variables]), variables)
    count(metrics, losses, y, out)


def _with_the_loss_class(model, optimizer, metrics, x, y):
    loss_of = keras.losses.SparseCategoricalCrossentropy(reduction="none")
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        losses = loss_of(y, out)
        loss = tf.reduce_mean(losses)
    optimizer.apply(
        tape.gradient(loss, model.trainable_variables), model.trainable_variables
    )
    for name, given in (("loss", (losses,)), ("accuracy", (y, out))):
        metrics[name].update_state(*given)


with_the_loss_class = tf.function(_with_the_loss_class, reduce_retracing=True)


@tf.function
def counts_first_moves_last(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    count(metrics, losses, y, probabilities)
    optimizer.apply(gradients, model.trainable_variables)
    return tf.reduce_mean(losses)


@tf.function
def prints_as_it_goes(model, optimizer, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    tf.print("largest gradient", tf.linalg.global_norm(gradients))
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, probabilities)


def _move(model, optimizer, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    return losses, probabilities


_move_in_a_graph = tf.function(_move)


@tf.function
def a_graph_in_a_graph(model, optimizer, metrics, x, y):
    losses, probabilities = _move_in_a_graph(model, optimizer, x, y)
    count(metrics, losses, y, probabilities)


def counts_outside(model, optimizer, metrics, x, y):
    """The network's work is a graph, but the metrics are updated by Python."""
    losses, probabilities = _move_in_a_graph(model, optimizer, x, y)
    count(metrics, losses, y, probabilities)


@tf.function(autograph=False)
def in_one_expression(model, optimizer, metrics, x, y):
    def loss_of():
        out = model(x, training=True)
        each = crossentropy(y, out)
        metrics["loss"].update_state(each)
        metrics["accuracy"].update_state(y, out)
        return tf.add_n([tf.reduce_mean(each)])

    with tf.GradientTape() as tape:
        loss = loss_of()
    optimizer.apply(
        tape.gradient(loss, model.trainable_variables), model.trainable_variables
    )


WRONG = [
    ("gradient", "start", start_of_4_1),
    ("gradient", "unchanged", never_applies),
    ("gradient", "sum", sums_the_losses),
    ("gradient", "sum", gradient_of_all_losses),
    ("gradient", "other", climbs),
    ("gradient", "other", half_of_the_gradient),
    ("gradient", "other", clips_at_five),
    ("gradient", "other", divides_by_a_fixed_batch),
    ("all_weights", "frozen", last_layer_only),
    ("all_weights", "frozen", freezes_the_first_layer),
    ("all_weights", "raised", all_variables),
    ("optimizer", "optimizer", descends_by_hand),
    ("training", "inference", without_dropout),
    ("training", "inference", says_nothing_of_training),
    ("once", "twice", calls_it_again_for_the_accuracy),
    ("graph", "eager", counts_outside),
    ("loss", "no_metrics", counts_nothing),
    ("loss", "average", mean_of_means),
    ("loss", "summed", sums_into_the_metric),
    ("loss", "reset", resets_the_loss),
    ("accuracy", "no_metrics", forgets_the_accuracy),
    ("accuracy", "metrics", counts_each_twice),
    ("only_these", "valid_metrics", counts_for_validation),
    ("only_these", "valid_metrics", resets_in_every_step),
    ("graph", "eager", no_graph),
    ("graph", "eager", a_new_graph_for_every_batch),
    ("graph", "eager", PredictsInAGraph()),
    ("graph", "eager", finds_gradients_in_a_graph),
    ("graph", "eager", InTwoGraphs()),
    ("optimizer", "optimizer", CopiesTheOptimizer()),
]
RIGHT = [
    AGraphForEachTraining(), by_one_hot, with_names_from_submodules,
    with_numbers_for_each_class, watches_by_hand, with_the_loss_class,
    counts_first_moves_last, prints_as_it_goes, a_graph_in_a_graph, in_one_expression,
]  # fmt: skip
