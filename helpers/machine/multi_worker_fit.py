"""Make `model.fit` work on several workers (keras issue 20585).

In Keras 3.15 `fit` and `evaluate` fail under
`tf.distribute.MultiWorkerMirroredStrategy` for two reasons. Before the first step Keras
averages a batch over the workers, in a place where TensorFlow cannot. After each step it
averages the metrics along their first axis, and they are numbers without one.
"""

import inspect

import keras
import tensorflow as tf
from keras.src.backend.tensorflow import trainer

FAULTY = 'strategy.reduce("MEAN", v, axis=0)'


def needed() -> bool:
    """Whether this Keras still has the fault, read from its source: bool."""
    return FAULTY in inspect.getsource(trainer.reduce_per_replica)


class MultiWorkerModel(keras.Model):
    """A model whose `fit` and `evaluate` work on several workers too.

    Made under the strategy's scope, as ``MultiWorkerModel(inputs, outputs)``. Where Keras
    no longer has the fault this is `keras.Model` itself. `predict` is as in Keras.
    """

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        # What one replica gets is enough to build from: only shapes and types count.
        if iterator is not None:
            _, _, batches = next(iter(iterator))
            local = self.distribute_strategy.experimental_local_results
            data_batch = tf.nest.map_structure(lambda part: local(part)[0], next(batches))
        super()._maybe_symbolic_build(data_batch=data_batch)

    def train_step(self, data: tuple) -> dict:
        return _with_an_axis(super().train_step(data))

    def test_step(self, data: tuple) -> dict:
        return _with_an_axis(super().test_step(data))


def _with_an_axis(metrics):
    """The axis that Keras then averages along."""
    return tf.nest.map_structure(lambda value: tf.reshape(value, [1]), metrics)


if not needed():
    MultiWorkerModel = keras.Model  # ty: ignore[invalid-assignment] - as good, then
