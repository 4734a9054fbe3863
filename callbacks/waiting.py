"""Wait until a device has done what it was given."""

import keras
from keras import ops


def wait_for_device(model: keras.Model | None) -> None:
    """Return when the device has finished all steps that `fit` has given it.

    A GPU works from a queue, and so does every device of JAX. `fit` may then begin the
    validation while many batches still wait to be trained on; only at the end of the epoch
    it reads numbers, and waits. So a clock that stops at `on_test_begin` has to wait, too.

    Parameters
    ----------
    model : keras.Model or None
        Compiled; None waits for nothing.
    """
    if model is not None:
        for value in model.get_metrics_result().values():
            ops.convert_to_numpy(value)
