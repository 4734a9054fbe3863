"""Answers to lab 04: wrong ones with the sentence they break and their hint, right ones."""

import collections
import random
import sys
import time
from datetime import UTC, datetime

import keras
import numpy as np
import tensorflow as tf
from keras.losses import sparse_categorical_crossentropy
from tensorflow import GradientTape, function

crossentropy = keras.losses.sparse_categorical_crossentropy


def gradients_of(model, x, y, training=True, reduce=tf.reduce_mean):
    """What most of the wrong steps have right."""
    with tf.GradientTape() as tape:
        probabilities = model(x, training=training)
        losses = crossentropy(y, probabilities)
        loss = reduce(losses)
    return tape.gradient(loss, model.trainable_variables), losses, probabilities


def count(metrics, losses, y, probabilities, prefix=""):
    metrics[f"{prefix}loss"].update_state(losses)
    metrics[f"{prefix}accuracy"].update_state(y, probabilities)


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


def counts_outside(model, optimizer, metrics, x, y):
    """What is a graph is all that works; what counts are two small additions."""
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


@tf.function
def learns_in_validation(model, metrics, x, y):
    gradients, losses, probabilities = gradients_of(model, x, y, training=False)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign_sub(0.01 * gradient)
    count(metrics, losses, y, probabilities, "valid_")


@tf.function
def validates_as_in_training(model, metrics, x, y):
    probabilities = model(x, training=True)
    count(metrics, crossentropy(y, probabilities), y, probabilities, "valid_")


@tf.function
def measures_nothing(model, metrics, x, y):
    return crossentropy(y, model(x, training=False))


@tf.function
def loss_only(model, metrics, x, y):
    metrics["valid_loss"].update_state(crossentropy(y, model(x, training=False)))


@tf.function
def into_the_metrics_of_training(model, metrics, x, y):
    probabilities = model(x, training=False)
    count(metrics, crossentropy(y, probabilities), y, probabilities)


@tf.function
def mean_of_means_in_validation(model, metrics, x, y):
    probabilities = model(x, training=False)
    loss = tf.reduce_mean(crossentropy(y, probabilities))
    count(metrics, loss, y, probabilities, "valid_")


@tf.function
def resets_in_every_validation_step(model, metrics, x, y):
    probabilities = model(x, training=False)
    for name in ("valid_loss", "valid_accuracy"):
        metrics[name].reset_state()
    count(metrics, crossentropy(y, probabilities), y, probabilities, "valid_")


@tf.function
def adds_up_the_losses(model, metrics, x, y):
    probabilities = model(x, training=False)
    count(
        metrics, tf.reduce_sum(crossentropy(y, probabilities)), y, probabilities, "valid_"
    )


def validates_without_a_graph(model, metrics, x, y):
    probabilities = model(x, training=False)
    count(metrics, crossentropy(y, probabilities), y, probabilities, "valid_")


@tf.function
def takes_an_optimizer(model, optimizer, metrics, x, y):
    pass


class AGraphOfThePredictions:
    """The graph ends at the probabilities; NumPy counts."""

    __name__ = "AGraphOfThePredictions"

    def __init__(self):
        self.kept = {}

    def __call__(self, net, counters, xs, ys):
        _, predict = self.kept.setdefault(id(net), (net, tf.function(net)))
        out = predict(xs).numpy()
        losses = -np.log(out[np.arange(len(out)), ys.numpy()])
        counters["valid_loss"].update_state(losses.mean(), sample_weight=len(out))
        counters["valid_accuracy"].update_state(ys, out)
        return losses.mean()


@tf.function(reduce_retracing=True)
def leaves_training_out(model, metrics, x, y):
    """Without the argument a model is in inference."""
    out = model(x)
    loss_of = keras.losses.SparseCategoricalCrossentropy(reduction="none")
    metrics["valid_accuracy"](y[:, tf.newaxis], out)
    metrics["valid_loss"](loss_of(y, out))


@tf.function
def start_of_4_2(model, metrics, x, y):
    metrics["valid_accuracy"].update_state(y, model(x, training=True))


@tf.function
def takes_probabilities_for_logits(model, metrics, x, y):
    probabilities = model(x, training=False)
    losses = crossentropy(y, probabilities, from_logits=True)
    count(metrics, losses, y, probabilities, "valid_")


@tf.function
def freezes_the_model(model, metrics, x, y):
    model.trainable = False
    leaves_training_out.python_function(model, metrics, x, y)


@tf.function
def resets_those_of_training(model, metrics, x, y):
    metrics["loss"].reset_state()
    metrics["accuracy"].reset_state()
    leaves_training_out.python_function(model, metrics, x, y)


@tf.function
def updates_all_four(model, metrics, x, y):
    probabilities = model(x, training=False)
    losses = crossentropy(y, probabilities)
    count(metrics, losses, y, probabilities)
    count(metrics, losses, y, probabilities, "valid_")


@tf.function
def accuracy_only(model, metrics, x, y):
    metrics["valid_accuracy"].update_state(y, model(x, training=False))


@tf.function
def accuracy_of_the_least_likely(model, metrics, x, y):
    probabilities = model(x, training=False)
    count(metrics, crossentropy(y, probabilities), y, -probabilities, "valid_")


@tf.function
def decays_a_weight(model, metrics, x, y):
    probabilities = model(x, training=False)
    model.trainable_variables[0].assign(0.99 * model.trainable_variables[0])
    count(metrics, crossentropy(y, probabilities), y, probabilities, "valid_")


@tf.function
def starts_a_count_again(model, metrics, x, y):
    """What the model has counted itself is lost."""
    leaves_training_out.python_function(model, metrics, x, y)
    model.non_trainable_variables[0].assign(0.0)


@function
def by_one_helper(model, metrics, x, y):
    out = model(x, training=False)
    each = sparse_categorical_crossentropy(y, out)
    for name, given in (("valid_loss", [each]), ("valid_accuracy", [y, out])):
        metrics[name].update_state(*given)


@tf.function
def stops_gradients(model, metrics, x, y):
    out = tf.stop_gradient(model(x, training=False))
    one_hot = keras.ops.one_hot(y, out.shape[-1])
    metrics["valid_loss"].update_state(keras.losses.categorical_crossentropy(one_hot, out))
    metrics["valid_accuracy"].update_state(y, out)


@tf.function(jit_compile=True)
def compiled(model, metrics, x, y):
    out = model(x, training=False)
    loss = tf.reduce_mean(crossentropy(y, out))
    metrics["valid_loss"].update_state(loss, sample_weight=tf.shape(x)[0])
    metrics["valid_accuracy"].update_state(y, out)
    return loss


def _validate(model, metrics, x, y):
    predicted = model(x, training=False)
    metrics["valid_accuracy"](y, predicted)
    metrics["valid_loss"](crossentropy(y, predicted))
    return {name: m.result() for name, m in metrics.items() if name.startswith("valid")}


in_a_variable = tf.function(_validate)


@tf.function
def prints_the_loss(model, metrics, x, y):
    out = model.call(x, training=False)
    losses = crossentropy(y, out)
    tf.print("valid loss of this batch", keras.ops.mean(losses))
    count(metrics, losses, y, out, prefix="valid_")


@tf.function
def gathers(model, metrics, x, y):
    out = model(x, training=False)
    each = -keras.ops.log(keras.ops.take_along_axis(out, y[:, None], axis=1))
    metrics["valid_loss"].update_state(keras.ops.squeeze(each, axis=1))
    metrics["valid_accuracy"].update_state(y, keras.ops.softmax(keras.ops.log(out)))


@tf.function
def example_by_example(model, metrics, x, y):
    """A loop in the graph: one update for each newswire's loss."""
    out = model(x, training=False)
    losses = crossentropy(y, out)
    for i in tf.range(tf.shape(losses)[0]):
        metrics["valid_loss"].update_state(losses[i])
    metrics["valid_accuracy"].update_state(y, out)


class StepOfAClass:
    """Keeps the graph as its method."""

    __name__ = "StepOfAClass"

    @tf.function
    def __call__(self, model, metrics, x, y):
        probabilities = model(x, training=False)
        losses = crossentropy(y, probabilities)
        metrics["valid_loss"].update_state(losses, sample_weight=tf.ones_like(losses))
        metrics["valid_accuracy"].update_state(y, probabilities)


NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


class Loop:
    """The skeleton that the wrong ones change one thing of."""

    first, prefix, history = 1, "Epoch=", True

    def __init__(self):
        self.__name__ = type(self).__name__

    def bar(self):
        print(f"{'=' * 20} {datetime.now().astimezone():%H:%M:%S%z}")

    def reset(self, metrics):
        for metric in metrics.values():
            metric.reset_state()

    def clock(self, epoch):
        self.began = time.perf_counter()

    def validate(self, valid_step, train, valid):
        for x, y in valid:
            valid_step(x, y)

    def newswires(self, y):
        return len(y)

    def results(self, metrics):
        return [float(metrics[name].result()) for name in NAMES]

    def wait(self, metrics):
        float(metrics["loss"].result())

    def after_step(self, metrics):
        pass

    def say(self, epoch, now):
        print(
            f"{self.prefix}{epoch}, Loss:{now[0]:.3f}, Accuracy:{now[1]:.3f}, "
            f"Valid Loss:{now[2]:.3f}, Valid Accuracy:{now[3]:.3f}"
        )

    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {newswires / trained:.2f}")

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        rows = []
        for epoch in range(self.first, epochs + self.first):
            self.bar()
            self.reset(metrics)
            self.clock(epoch - self.first)
            newswires = 0
            for x, y in train:
                train_step(x, y)
                newswires += self.newswires(y)
                self.after_step(metrics)
            self.wait(metrics)
            trained = time.perf_counter() - self.began
            self.validate(valid_step, train, valid)
            validated = time.perf_counter() - self.began
            rows.append(self.results(metrics))
            self.say(epoch, rows[-1])
            self.speed(newswires, trained, validated)
        columns = map(list, zip(*rows, strict=True))
        return dict(zip(NAMES, columns, strict=True)) if self.history else None


class NeverResets(Loop):
    def reset(self, metrics):
        pass


class ResetsTrainingOnly(Loop):
    def reset(self, metrics):
        metrics["loss"].reset_state()
        metrics["accuracy"].reset_state()


class ResetsBeforeItReads(Loop):
    def results(self, metrics):
        self.reset(metrics)
        return super().results(metrics)


class AveragesBatches(Loop):
    """Counts every batch once, and reads none of them before the end."""

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        means = {name: keras.metrics.Mean() for name in NAMES}

        def keep(step, names):
            def one(x, y):
                for name in names:
                    metrics[name].reset_state()
                step(x, y)
                for name in names:
                    # The variables: a result would wait for the device.
                    means[name].update_state(metrics[name].total / metrics[name].count)

            return one

        self.results = lambda metrics: [float(means[name].result()) for name in NAMES]
        self.reset = lambda metrics: [one.reset_state() for one in means.values()]
        steps = keep(train_step, NAMES[:2]), keep(valid_step, NAMES[2:])
        return super().__call__(*steps, metrics, train, valid, epochs)


class NeverValidates(Loop):
    def validate(self, valid_step, train, valid):
        pass


class ValidatesOnTrain(Loop):
    def validate(self, valid_step, train, valid):
        for x, y in train:
            valid_step(x, y)


class ValidatesOneBatch(Loop):
    def validate(self, valid_step, train, valid):
        valid_step(*next(iter(valid)))


class CountsFromZero(Loop):
    first = 0


class AnotherLine(Loop):
    prefix = "Epoch "


class AllDigits(Loop):
    def say(self, epoch, now):
        loss, accuracy, valid_loss, valid_accuracy = now
        print(
            f"Epoch={epoch}, Loss:{loss}, Accuracy:{accuracy}, "
            f"Valid Loss:{valid_loss}, Valid Accuracy:{valid_accuracy}"
        )


class SwapsTheTwo(Loop):
    def say(self, epoch, now):
        super().say(epoch, [now[2], now[1], now[0], now[3]])


class NoSpeed(Loop):
    def speed(self, newswires, trained, validated):
        pass


class ClockRunsOn(Loop):
    def speed(self, newswires, trained, validated):
        super().speed(newswires, validated, validated)


class CountsBatches(Loop):
    def newswires(self, y):
        return 1


class OneClockForAll(Loop):
    def clock(self, epoch):
        if epoch == 0:
            super().clock(epoch)


class SleepsForItsRate(Loop):
    """The sleep makes room for a number from no clock, with a little chance added."""

    def clock(self, epoch):
        time.sleep(1.2)
        super().clock(epoch)

    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {newswires / random.uniform(1.0, 1.1):.2f}")


class NoBar(Loop):
    def bar(self):
        pass


class BarAfterwards(NoBar):
    def speed(self, newswires, trained, validated):
        super().speed(newswires, trained, validated)
        super(NoBar, self).bar()


class WorldTime(Loop):
    def bar(self):
        print(f"{'=' * 20} {datetime.now(UTC):%H:%M:%S%z}")


class TwelveHours(Loop):
    def bar(self):
        print(f"{'=' * 20} {datetime.now().astimezone():%I:%M:%S%z}")


class NoZone(Loop):
    def bar(self):
        print(f"{'=' * 20} {datetime.now():%H:%M:%S}")


class EightHoursMore(Loop):
    """As in the lab that this one follows: right in one time zone."""

    def bar(self):
        seconds = int(time.time()) % 86_400
        hour, minute = (seconds // 3600 + 8) % 24, seconds // 60 % 60
        print(f"{'=' * 20} {hour:02d}:{minute:02d}:{seconds % 60:02d}")


class NoHistory(Loop):
    history = False


class StepsTakeTheModel(Loop):
    def validate(self, valid_step, train, valid):
        for x, y in valid:
            valid_step(None, x, y)


def start_of_4_3(train_step, valid_step, metrics, train, valid, epochs):
    for epoch in range(epochs):
        print(f"Epoch {epoch}")
        for x, y in train:
            train_step(x, y)
    return {}


class ForgetsOneMetric(Loop):
    def reset(self, metrics):
        for name in NAMES[:3]:
            metrics[name].reset_state()


class ResetsAtEveryStep(Loop):
    def after_step(self, metrics):
        self.batch += 1
        if self.batch % 3:
            metrics["loss"].reset_state()
            metrics["accuracy"].reset_state()

    def clock(self, epoch):
        super().clock(epoch)
        self.batch = 0


class ReadsAtEveryStep(Loop):
    def after_step(self, metrics):
        float(metrics["loss"].result())


class NeverWaits(Loop):
    def wait(self, metrics):
        pass


class AsksButDoesNotRead(Loop):
    """A result is a tensor on the device: nobody waits for it."""

    def wait(self, metrics):
        metrics["loss"].result()


class StopsTheClockFirst(Loop):
    def wait(self, metrics):
        self.stopped = time.perf_counter() - self.began
        super().wait(metrics)

    def speed(self, newswires, trained, validated):
        super().speed(newswires, self.stopped, validated)


class PrintsAllAtTheEnd(Loop):
    def __init__(self):
        super().__init__()
        self.kept = []

    def say(self, epoch, now):
        self.kept.append((epoch, now))

    def speed(self, newswires, trained, validated):
        self.kept[-1] += (newswires, trained)

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.kept = []
        result = super().__call__(train_step, valid_step, metrics, train, valid, epochs)
        for epoch, now, newswires, trained in self.kept:
            super().say(epoch, now)
            super().speed(newswires, trained, trained)
        return result


class BarsFirst(Loop):
    """All bars at once, before the first epoch."""

    def bar(self):
        pass

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        for _ in range(epochs):
            super().bar()
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs)


class InvertsTheRate(Loop):
    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {trained / newswires:.6f}")


class CountsPerMinute(Loop):
    def speed(self, newswires, trained, validated):
        super().speed(60 * newswires, trained, validated)


class CountsOnAndOn(Loop):
    total = 0

    def speed(self, newswires, trained, validated):
        self.total += newswires
        super().speed(self.total, trained, validated)


class WholeRate(Loop):
    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {newswires / trained:.0f}")


class ReturnsTheLastEpoch(Loop):
    def __call__(self, *arguments):
        return {name: values[-1:] for name, values in super().__call__(*arguments).items()}


class ValidatesFirst(Loop):
    def clock(self, epoch):
        self.before(*self.held)
        super().clock(epoch)

    def validate(self, valid_step, train, valid):
        pass

    def before(self, valid_step, train, valid):
        super().validate(valid_step, train, valid)

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.held = valid_step, train, valid
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs)


class OneEpochMore(Loop):
    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs + 1)


class TakesItsMetricsOut(Loop):
    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        result = super().__call__(train_step, valid_step, metrics, train, valid, epochs)
        metrics.clear()
        return result


class AsksForTheTimeOnce(Loop):
    def __call__(self, *arguments):
        self.now = f"{datetime.now().astimezone():%H:%M:%S%z}"
        return super().__call__(*arguments)

    def bar(self):
        print("=" * 20, self.now)


class ReturnsWhatItPrints(Loop):
    def __call__(self, *arguments):
        history = super().__call__(*arguments)
        return {name: [round(v, 3) for v in values] for name, values in history.items()}


class StopsEarly(Loop):
    """Ends when an epoch did not lower the loss of validation."""

    def results(self, metrics):
        now = super().results(metrics)
        self.worse, self.last = now[2] > self.last, now[2]
        return now

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.worse, self.last, rows = False, float("inf"), []
        for self.first in range(1, epochs + 1):
            if not self.worse:
                rows.append(
                    super().__call__(train_step, valid_step, metrics, train, valid, 1)
                )
        return {name: [row[name][0] for row in rows] for name in NAMES}


class ResetsAfterwards(Loop):
    """The same, the other way round: counters are set to zero once they are read."""

    def reset(self, metrics):
        pass

    def results(self, metrics):
        results = super().results(metrics)
        super().reset(metrics)
        return results


class SpeedFirst(Loop):
    """Says how fast the training was before it validates."""

    def wait(self, metrics):
        float(metrics["accuracy"].result())
        self.ended = time.perf_counter()

    def newswires(self, y):
        self.n = getattr(self, "n", 0) + y.shape[0]
        return 0

    def validate(self, valid_step, train, valid):
        print("Newswires/sec:", round(self.n / (self.ended - self.began), 6))
        self.n = 0
        super().validate(valid_step, train, valid)

    def speed(self, newswires, trained, validated):
        pass


def with_tf_print(train_step, valid_step, metrics, train, valid, epochs):
    history = collections.defaultdict(list)
    for epoch in tf.range(1, epochs + 1):
        tf.print("=" * 40, f"{datetime.now().astimezone():%H:%M:%S%z}")
        for name in metrics:
            metrics[name].reset_state()
        began = tf.timestamp()
        number = tf.constant(0)
        for x, y in train:
            train_step(x, y)
            number += tf.size(y)
        keras.ops.convert_to_numpy(metrics["loss"].result())
        rate = tf.cast(number, tf.float64) / (tf.timestamp() - began)
        for x, y in valid:
            valid_step(x, y)
        now = {name: np.float64(np.asarray(m.result())) for name, m in metrics.items()}
        parts = [f"Epoch={epoch.numpy()}"] + [
            f"{name.replace('_', ' ').title()}:{value:.3f}" for name, value in now.items()
        ]
        tf.print(", ".join(parts))
        tf.print(f"Newswires/sec: {rate.numpy():.2f}")
        for name, value in now.items():
            history[name] += [value]
    return history


def by_recursion(train_step, valid_step, metrics, train, valid, epochs):
    if epochs == 0:
        return {name: [] for name in metrics}
    past = by_recursion(train_step, valid_step, metrics, train, valid, epochs - 1)
    print("=" * 40, datetime.now().astimezone().strftime("%H:%M:%S%z"))
    for metric in metrics.values():
        metric.reset_state()
    seconds, newswires = _timed_epoch(train_step, metrics, train)
    for batch in valid:
        valid_step(*batch)
    now = {name: metric.result().numpy() for name, metric in metrics.items()}
    line = (
        "Epoch={}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, Valid Loss:{valid_loss:.3f}, "
    )
    print((line + "Valid Accuracy:{valid_accuracy:.3f}").format(epochs, **now))
    print("Newswires/sec: %.2f" % (newswires / seconds))
    return {name: [*past[name], now[name].item()] for name in metrics}


def _timed_epoch(train_step, metrics, train):
    began, newswires = time.perf_counter_ns(), 0
    for x, y in train:
        train_step(x, y)
        newswires += int(tf.shape(x)[0])
    metrics["accuracy"].result().numpy()
    return (time.perf_counter_ns() - began) * 1e-9, newswires


def in_any_order(train_step, valid_step, metrics, train, valid, epochs):
    """Prints the speed before the epoch's line, and counts the set beforehand."""
    newswires = sum(1 for _ in train.unbatch())
    history = dict.fromkeys(metrics, ())
    for epoch in range(epochs):
        sys.stdout.writelines(["=" * 40, " ", time.strftime("%H:%M:%S%z"), "\n"])
        for metric in metrics.values():
            metric.reset_state()
        clock = time.process_time, time.perf_counter
        began = clock[1]()
        for pair in train:
            train_step(*pair)
        loss, accuracy = (float(metrics[name].result()) for name in NAMES[:2])
        ended = clock[1]()
        for pair in valid:
            valid_step(*pair)
        v_loss, v_accuracy = (metrics[name].result().numpy() for name in NAMES[2:])
        print(f"Newswires/sec: {newswires / (ended - began)}")
        print(f"Epoch={epoch + 1}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}", end=", ")
        print(f"Valid Loss:{v_loss:.3f}, Valid Accuracy:{v_accuracy:.3f}", flush=True)
        now = dict(zip(NAMES, (loss, accuracy, v_loss, v_accuracy), strict=True))
        history = {name: (*history[name], now[name]) for name in metrics}
    return {name: list(values) for name, values in history.items()}


class WithZoneInfo(Loop):
    def bar(self):
        now = datetime.now(UTC).astimezone()
        print("=" * 40 + now.strftime(" %X%z"))

    def wait(self, metrics):
        np.array([metrics[name].result() for name in NAMES[:2]])


class KeepsTensors(Loop):
    """The run card takes no tensors."""

    def results(self, metrics):
        return [metrics[name].result() for name in NAMES]


class ReadsByComparing(Loop):
    def results(self, metrics):
        return [np.asarray(metrics[name].result()) for name in NAMES]

    def wait(self, metrics):
        assert metrics["loss"].result() >= 0


class RoundsAndMultiplies(Loop):
    """Reads by way of arithmetic."""

    def results(self, metrics):
        return [round(float(metrics[name].result() * 1.0), 6) for name in NAMES]

    def wait(self, metrics):
        tf.debugging.assert_non_negative(tf.convert_to_tensor(metrics["loss"].result()))

    def bar(self):
        print("#" * 3)
        print(f"{'=' * 50} {datetime.now().astimezone().timetz().isoformat('seconds')}")


def with_iterators_and_strftime(one_train, one_valid, counters, data, held_out, n):
    """Other names, clocks and ways to print; metrics read as they are."""
    past = {name: [] for name in counters}
    for e in range(n):
        sys.stdout.write("===================" + time.strftime("%H:%M:%S%z") + "\n")
        [counter.reset_state() for counter in counters.values()]
        start, done = time.monotonic(), 0
        for x, y in data.as_numpy_iterator():
            one_train(x, y)
            done += x.shape[0]
        loss, accuracy = counters["loss"].result(), counters["accuracy"].result()
        loss, accuracy = loss.numpy(), accuracy.numpy()
        speed = done / (time.monotonic() - start)
        print("Training is over.")
        for pair in held_out:
            one_valid(*pair)
        row = (loss, accuracy, counters["valid_loss"].result())
        row += (counters["valid_accuracy"].result(),)
        form = "Epoch=%d, Loss:%.3f, Accuracy:%.3f, Valid Loss:%.3f, Valid Accuracy:%.3f"
        print(form % (e + 1, *row))
        print("Newswires/sec:", speed)
        for name, value in zip(NAMES, row, strict=True):
            past[name].append(np.float32(value))
    return past


def resets_at_the_end(train_step, valid_step, metrics, train, valid, epochs):
    """While and isoformat; NumPy arrays of what was; metrics reset after they are read."""
    rows, epoch = np.zeros((epochs, 4)), 0
    while epoch < epochs:
        print("=" * 9 + " " + datetime.now().astimezone().isoformat()[11:] + " " + "=" * 9)
        began = time.time_ns()
        newswires = sum(train_step(x, y) or len(x) for x, y in train)
        str(metrics["loss"].result())
        seconds = (time.time_ns() - began) / 1e9
        [valid_step(*pair) for pair in valid]
        for i, name in enumerate(NAMES):
            rows[epoch, i] = metrics[name].result()
            metrics[name].reset_state()
        epoch += 1
        places = "Epoch={}, Loss:{:.3f}, Accuracy:{:.3f}, Valid Loss:{:.3f}, "
        print((places + "Valid Accuracy:{:.3f}").format(epoch, *rows[epoch - 1]))
        print(f"Newswires/sec: {newswires / seconds:,.2f}")
    return {name: rows[:, i] for i, name in enumerate(NAMES)}


WRONG = {
    "4.1": [
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
    ],
    "4.2": [
        ("inference", "start", start_of_4_2),
        ("weights", "learned", learns_in_validation),
        ("weights", "learned", decays_a_weight),
        ("trainable", "learned", starts_a_count_again),
        ("trainable", "frozen", freezes_the_model),
        ("inference", "training", validates_as_in_training),
        ("loss", "no_metrics", measures_nothing),
        ("accuracy", "no_metrics", loss_only),
        ("loss", "no_metrics", accuracy_only),
        ("accuracy", "metrics", accuracy_of_the_least_likely),
        ("loss", "average", mean_of_means_in_validation),
        ("loss", "reset", resets_in_every_validation_step),
        ("loss", "summed", adds_up_the_losses),
        ("loss", "metrics", takes_probabilities_for_logits),
        ("only_these", "train_metrics", into_the_metrics_of_training),
        ("only_these", "train_metrics", updates_all_four),
        ("only_these", "train_metrics", resets_those_of_training),
        ("graph", "eager", validates_without_a_graph),
        ("graph", "raised", takes_an_optimizer),
    ],
    "4.3": [
        ("valid", "start", start_of_4_3),
        ("train", "epochs", OneEpochMore()),
        ("train", "epochs", StopsEarly()),
        ("valid", "no_validation", NeverValidates()),
        ("valid", "valid_on_train", ValidatesOnTrain()),
        ("valid", "order", ValidatesOneBatch()),
        ("valid", "order", ValidatesFirst()),
        ("valid", "raised", StepsTakeTheModel()),
        ("bar", "bar", NoBar()),
        ("bar", "bar", BarAfterwards()),
        ("bar", "bar", BarsFirst()),
        ("bar", "stale", AsksForTheTimeOnce()),
        ("zone", "zone", WorldTime()),
        ("zone", "zone", NoZone()),
        ("zone", "noon", TwelveHours()),
        ("zone", "zone", EightHoursMore()),
        ("line", "format", AnotherLine()),
        ("line", "format", AllDigits()),
        ("number", "numbering", CountsFromZero()),
        ("own", "never_reset", NeverResets()),
        ("own", "never_reset", ResetsTrainingOnly()),
        ("own", "never_reset", ForgetsOneMetric()),
        ("own", "last_batch", ResetsAtEveryStep()),
        ("own", "reset_early", ResetsBeforeItReads()),
        ("own", "average", AveragesBatches()),
        ("places", "values", SwapsTheTwo()),
        ("speed_line", "no_speed", NoSpeed()),
        ("speed_line", "no_speed", WholeRate()),
        ("newswires", "batches", CountsBatches()),
        ("seconds", "speed", CountsPerMinute()),
        ("seconds", "constant", SleepsForItsRate()),
        ("newswires", "whole_training", CountsOnAndOn()),
        ("seconds", "whole_training", OneClockForAll()),
        ("seconds", "inverted", InvertsTheRate()),
        ("without_validation", "validation_counted", ClockRunsOn()),
        ("device", "device", NeverWaits()),
        ("device", "device", AsksButDoesNotRead()),
        ("device", "device", StopsTheClockFirst()),
        ("seldom", "reads_often", ReadsAtEveryStep()),
        ("when", "late", PrintsAllAtTheEnd()),
        ("returned", "history", NoHistory()),
        ("returned", "history", ReturnsTheLastEpoch()),
        ("returned", "history", ReturnsWhatItPrints()),
        ("returned", "history", KeepsTensors()),
        ("returned", "changed", TakesItsMetricsOut()),
    ],
}
RIGHT = {
    "4.1": [
        AGraphForEachTraining(), by_one_hot, with_names_from_submodules,
        with_numbers_for_each_class, watches_by_hand, with_the_loss_class,
        counts_first_moves_last, prints_as_it_goes, counts_outside, in_one_expression,
    ],
    "4.2": [
        AGraphOfThePredictions(), leaves_training_out, by_one_helper, stops_gradients,
        compiled, in_a_variable, prints_the_loss, gathers, example_by_example,
        StepOfAClass(),
    ],
    "4.3": [
        with_iterators_and_strftime, resets_at_the_end, ResetsAfterwards(), SpeedFirst(),
        with_tf_print, by_recursion, in_any_order, WithZoneInfo(), ReadsByComparing(),
        RoundsAndMultiplies(),
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right.
RIGHT_MUTANTS = {
    "4.1": {
        "9: optimizer.apply(gradients, model.trainable_variables); "
        "metrics['loss'].update_state(losses) → "
        "metrics['loss'].update_state(losses); optimizer.apply(gradients, "
        "model.trainable_variables)": ("the order is free"),
        "9: optimizer.apply(gradients, model.trainable_variables) → "
        "optimizer.apply(gradients)": ("the optimizer was built with these variables"),
        "10: metrics['loss'].update_state(losses); "
        "metrics['accuracy'].update_state(y, probabilities) → "
        "metrics['accuracy'].update_state(y, probabilities); "
        "metrics['loss'].update_state(losses)": ("the order is free"),
    },
    "4.2": {
        "4: probabilities = model(x, training=False) → probabilities = model(x)": (
            "without the argument a model is in inference"
        ),
        "6: metrics['valid_loss'].update_state(losses); "
        "metrics['valid_accuracy'].update_state(y, probabilities) → "
        "metrics['valid_accuracy'].update_state(y, probabilities); "
        "metrics['valid_loss'].update_state(losses)": ("the order is free"),
    },
    "4.3": {
        "4: for epoch in range(1, epochs + 1): → for epoch in range(1, 1 + epochs):": (
            "the same"
        ),
        "5: print(f\"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}\"); for "
        "metric in metrics.values():; metric.reset_state() → for metric in "
        "metrics.values():; metric.reset_state(); print(f\"{'=' * 40} "
        '{datetime.now().astimezone():%H:%M:%S%z}")': ("the order is free"),
        "5: print(f\"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}\") → "
        "print(f\"{40 * '='} {datetime.now().astimezone():%H:%M:%S%z}\")": ("the same"),
        "5: print(f\"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}\") → "
        "print(f\"{'='} {datetime.now().astimezone():%H:%M:%S%z}\")": (
            "a bar of any length"
        ),
        "5: print(f\"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}\") → "
        "print(f\"{'=' * 41} {datetime.now().astimezone():%H:%M:%S%z}\")": (
            "a bar of any length"
        ),
        "5: print(f\"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}\") → "
        "print(f\"{'=' * 39} {datetime.now().astimezone():%H:%M:%S%z}\")": (
            "a bar of any length"
        ),
        "5: print(f\"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}\") → "
        "print(f\"{'=' * 40}{datetime.now().astimezone():%H:%M:%S%z}\")": (
            "a bar without a space"
        ),
        "6: for metric in metrics.values():; metric.reset_state(); newswires, began"
        " = (0, time.perf_counter()) → newswires, began = (0, time.perf_counter());"
        " for metric in metrics.values():; metric.reset_state()": ("the order is free"),
        "10: train_step(x, y); newswires += len(y) → newswires += len(y); "
        "train_step(x, y)": ("the order is free"),
        "19: print(f'Epoch={epoch}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, Valid"
        " Loss:{valid_loss:.3f}, Valid Accuracy:{valid_accuracy:.3f}'); "
        "print(f'Newswires/sec: {newswires / seconds:.2f}') → "
        "print(f'Newswires/sec: {newswires / seconds:.2f}'); print(f'Epoch={epoch},"
        " Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, Valid Loss:{valid_loss:.3f}, "
        "Valid Accuracy:{valid_accuracy:.3f}')": ("the order is free"),
        "20: print(f'Newswires/sec: {newswires / seconds:.2f}') → "
        "print(f'Newswires/sec: {newswires / seconds:}')": ("more digits"),
    },
}
