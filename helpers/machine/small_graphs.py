"""Spend less on a graph, where it runs too few times to be worth the time.

TensorFlow optimises each graph before its first run. And Keras creates the variables of the
optimizer, of the loss and of the metrics in the first trace of a training step, unless a
strategy is used. TensorFlow traces a function that creates variables a second time, without
them. A trace is Python and takes a second or two for a residual network, while the steps of
a smoke run take a tenth of that.
"""

import keras
import tensorflow as tf

_USUAL = keras.Model._maybe_symbolic_build


def spend_less_on_graphs() -> None:
    """Do not optimise graphs, and let each model create its variables before the trace.

    What a model computes stays the same; the time of its steps does not. So nothing that
    measures at another scale than smoke may call this.
    """
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    keras.Model._maybe_symbolic_build = _build


def _build(model, iterator=None, data_batch=None):
    if iterator is None or model._distribute_strategy is not None:
        return _USUAL(model, iterator=iterator, data_batch=data_batch)
    # Shapes and types are enough, so that no batch is taken from the data.
    return model._symbolic_build(data_batch=iterator._distributed_dataset.element_spec)
