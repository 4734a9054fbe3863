"""Recorded answers to 6.1: wrong ones, and right ones in other styles."""

import keras
import tensorflow as tf

from tests.answers.lab_06.shared import divided_twice, in_tensorflows_words, mean_of_own


def mean_by_replicas(losses, global_batch):
    context = tf.distribute.get_replica_context()
    return tf.reduce_mean(losses) / context.num_replicas_in_sync


def sum_of_all(losses, global_batch):
    return tf.reduce_sum(losses)


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


def by_share_of_examples(losses, global_batch):
    """The mean here, times the part of the batch that is here; but none has no mean."""
    part = keras.ops.cast(keras.ops.shape(losses)[0], "float32") / float(global_batch)
    return keras.ops.mean(losses) * part


def one_by_one(losses, global_batch):
    shares = [loss / global_batch for loss in tf.unstack(losses)]
    return tf.add_n([tf.constant(0.0), *shares])


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


WRONG = [
    ("mean", "start", mean_of_own),
    ("mean", "sum", sum_of_all),
    ("mean", "twice", divided_twice),
    ("mean", "averaged", averages_and_divides),
    ("mean", "other", squared),
    ("replicas", "two", mean_by_two),
    ("ragged", "ragged", mean_by_replicas),
    ("ragged", "ragged", leaves_the_size_to_tensorflow),
    ("ragged", "empty", by_share_of_examples),
    ("share", "whole", whole_mean_on_each),
    ("share", "shares", mean_shown_instead),
    ("share", "coarse", in_half_precision),
    ("number", "number", every_loss),
    ("number", "number", keeps_a_dimension),
    ("gradient", "constant", cut_off),
    ("gradient", "raised", with_numpy_in_a_graph),
]
RIGHT = [
    in_tensorflows_words, one_by_one, divides_first,
    with_pythons_sum, as_a_product, in_double_precision, by_einsum, by_lambda,
    in_a_graph_of_its_own, in_a_loop_of_tensorflow,
]  # fmt: skip
