"""Let `fit` trace a training step once, where a trace costs more than the steps.

Keras creates the variables of the optimizer, of the loss and of the metrics in the first
trace of a training step, unless a strategy is used. TensorFlow traces a function that
creates variables a second time, without them. A trace is Python and takes a second or two
for a residual network, while the steps of a smoke run take a tenth of that.
"""

import keras

_USUAL = keras.Model._maybe_symbolic_build


def build_before_tracing() -> None:
    """Make each model of this process create its variables before `fit` traces a step.

    What a model computes stays the same; the time of its first epoch does not. So nothing
    that measures a first epoch may call this.
    """
    keras.Model._maybe_symbolic_build = _build


def _build(model, iterator=None, data_batch=None):
    if iterator is None or model._distribute_strategy is not None:
        return _USUAL(model, iterator=iterator, data_batch=data_batch)
    # Shapes and types are enough, so that no batch is taken from the data.
    return model._symbolic_build(data_batch=iterator._distributed_dataset.element_spec)
