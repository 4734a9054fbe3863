"""Recorded answers to 4.2: wrong ones, and right ones in other styles."""

import keras
import numpy as np
import tensorflow as tf
from keras.losses import sparse_categorical_crossentropy
from tensorflow import function

from tests.answers.lab_04.shared import count, crossentropy, gradients_of


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


@tf.function(autograph=False)
def sums_with_weights(model, metrics, x, y):
    out = model(x, training=False)
    picked = tf.gather(out, y, axis=1, batch_dims=1)
    metrics["valid_loss"].update_state(-tf.math.log(picked))
    metrics["valid_accuracy"].update_state(y, out, sample_weight=tf.ones_like(picked))


def predicts(model, metrics, x, y):
    """Keras makes a graph of the predictions, and of nothing else."""
    probabilities = model.predict(x, verbose=0)
    count(metrics, crossentropy(y, probabilities), y, probabilities, "valid_")


@tf.function
def squeezes(model, metrics, x, y):
    """Without its axis, too, a batch of a single newswire gives the same figures."""
    squeezed = tf.squeeze(model(x, training=False))
    count(metrics, crossentropy(y, squeezed), y, squeezed, "valid_")


WRONG = [
    ("graph", "eager", predicts),
    ("graph", "eager", AGraphOfThePredictions()),
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
]
RIGHT = [
    squeezes,
    sums_with_weights, leaves_training_out, by_one_helper, stops_gradients,
    compiled, in_a_variable, prints_the_loss, gathers, example_by_example,
    StepOfAClass(),
]  # fmt: skip
