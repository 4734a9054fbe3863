"""Answers to lab 04 that must fail, each with its hint, and odd ones that must pass."""

import sys
import time
from datetime import UTC, datetime

import keras
import numpy as np
import tensorflow as tf

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
def calls_the_model_twice(model, optimizer, metrics, x, y):
    count_me = model(x, training=True)
    gradients, losses, _ = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    count(metrics, losses, y, count_me)


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
def counts_after_the_step(model, optimizer, metrics, x, y):
    gradients, _, _ = gradients_of(model, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    probabilities = model(x, training=False)
    count(metrics, crossentropy(y, probabilities), y, probabilities)


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
    """Takes every batch's own result, and the mean of these."""

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        seen = {name: [] for name in NAMES}

        def keep(step, names):
            def one(x, y):
                for name in names:
                    metrics[name].reset_state()
                step(x, y)
                for name in names:
                    seen[name].append(float(metrics[name].result()))

            return one

        self.results = lambda metrics: [np.mean(seen[name]) for name in NAMES]
        self.reset = lambda metrics: [values.clear() for values in seen.values()]
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


class OneEpochOnly(Loop):
    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        return super().__call__(train_step, valid_step, metrics, train, valid, 1)


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


class CountsFullBatches(Loop):
    def newswires(self, y):
        return 4


class OneClockForAll(Loop):
    def clock(self, epoch):
        if epoch == 0:
            super().clock(epoch)


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
            past[name].append(value.numpy())
    return past


def resets_at_the_end(train_step, valid_step, metrics, train, valid, epochs):
    """While and isoformat; NumPy arrays of what was; metrics reset after they are read."""
    rows, epoch = np.zeros((epochs, 4)), 0
    while epoch < epochs:
        print("=" * 9 + " " + datetime.now().astimezone().isoformat()[11:] + " " + "=" * 9)
        began = time.time_ns()
        newswires = sum(train_step(x, y) or len(x) for x, y in train)
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
        ("unchanged", never_applies),
        ("inference", without_dropout),
        ("inference", says_nothing_of_training),
        ("sum", sums_the_losses),
        ("sum", gradient_of_all_losses),
        ("optimizer", descends_by_hand),
        ("other", climbs),
        ("other", last_layer_only),
        ("twice", calls_the_model_twice),
        ("no_metrics", counts_nothing),
        ("no_metrics", forgets_the_accuracy),
        ("valid_metrics", counts_for_validation),
        ("average", mean_of_means),
        ("reset", resets_in_every_step),
        ("metrics", counts_after_the_step),
        ("eager", no_graph),
        ("eager", a_new_graph_for_every_batch),
        ("raised", all_variables),
    ],
    "4.2": [
        ("changed", learns_in_validation),
        ("training", validates_as_in_training),
        ("nothing", measures_nothing),
        ("nothing", loss_only),
        ("train_metrics", into_the_metrics_of_training),
        ("average", mean_of_means_in_validation),
        ("reset", resets_in_every_validation_step),
        ("metrics", adds_up_the_losses),
        ("eager", validates_without_a_graph),
        ("raised", takes_an_optimizer),
    ],
    "4.3": [
        ("never_reset", NeverResets()),
        ("never_reset", ResetsTrainingOnly()),
        ("reset_early", ResetsBeforeItReads()),
        ("average", AveragesBatches()),
        ("no_validation", NeverValidates()),
        ("valid_on_train", ValidatesOnTrain()),
        ("order", ValidatesOneBatch()),
        ("epochs", OneEpochOnly()),
        ("numbering", CountsFromZero()),
        ("format", AnotherLine()),
        ("format", AllDigits()),
        ("values", SwapsTheTwo()),
        ("no_speed", NoSpeed()),
        ("validation_counted", ClockRunsOn()),
        ("batches", CountsBatches()),
        ("batches", CountsFullBatches()),
        ("whole_training", OneClockForAll()),
        ("bar", NoBar()),
        ("bar", BarAfterwards()),
        ("zone", WorldTime()),
        ("zone", NoZone()),
        ("zone", EightHoursMore()),
        ("history", NoHistory()),
        ("raised", StepsTakeTheModel()),
    ],
}

UNUSUAL = {
    "4.1": [AGraphForEachTraining(), by_one_hot],
    "4.2": [AGraphOfThePredictions(), leaves_training_out],
    "4.3": [with_iterators_and_strftime, resets_at_the_end],
}
