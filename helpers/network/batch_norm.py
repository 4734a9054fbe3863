"""Batch normalisation by one fused kernel, where the backend has one."""

import keras

# The smallest that TensorFlow's kernel computes with on a GPU (cuDNN).
SMALLEST_EPSILON = 1.001e-5


@keras.saving.register_keras_serializable("scaling_labs")
class BatchNormalization(keras.layers.BatchNormalization):
    """Keras' batch normalisation, computed by TensorFlow's fused kernel.

    On TensorFlow, Keras 3 casts to float32 and runs moments, scaling and shift as
    separate operations, each of which reads and writes the whole batch; the kernel of
    TensorFlow 1 does it in two passes and takes bfloat16 and float16 as they are.

    Parameters
    ----------
    **arguments
        As `keras.layers.BatchNormalization`.

    Notes
    -----
    Weights, their names in files, and moving statistics are those of Keras' layer, which
    can load what this one saved and the reverse. Where the kit is not imported, a whole
    model loads with ``custom_objects={"scaling_labs>BatchNormalization":
    keras.layers.BatchNormalization}``.

    Keras' own code runs where the kernel cannot replace it: on another backend,
    with ``synchronized=True`` or `renorm`, with a mask, for float64, for inputs that are
    not (batch, height, width, channels), and below an epsilon of 1.001e-5.
    """

    def call(
        self,
        inputs: keras.KerasTensor,
        training: bool | None = None,
        mask: keras.KerasTensor | None = None,
    ) -> keras.KerasTensor:
        if not self._kernel_can(inputs, mask):
            return super().call(inputs, training=training, mask=mask)
        # Imported here: elsewhere this is Keras' layer, on any backend.
        import tensorflow as tf

        in_training = bool(training and self.trainable)
        channels = inputs.shape[-1]
        moving = [tf.cast(x, "float32") for x in (self.moving_mean, self.moving_variance)]
        outputs, mean, variance = tf.compat.v1.nn.fused_batch_norm(
            inputs,
            tf.cast(self.gamma, "float32") if self.scale else tf.ones(channels),
            tf.cast(self.beta, "float32") if self.center else tf.zeros(channels),
            *([None, None] if in_training else moving),
            epsilon=self.epsilon,
            is_training=in_training,
        )
        if in_training:
            # The kernel divides by n - 1, Keras by n.
            n = tf.cast(tf.size(inputs) // channels, "float32")
            self._move(self.moving_mean, moving[0], mean)
            self._move(self.moving_variance, moving[1], variance * ((n - 1) / n))
        return keras.ops.cast(outputs, self.compute_dtype)

    def _move(self, average, old, new):
        average.assign(old * self.momentum + new * (1 - self.momentum))

    def _kernel_can(self, inputs, mask):
        return (
            keras.backend.backend() == "tensorflow"
            and not (self.synchronized or self.renorm)
            and mask is None
            and len(inputs.shape) == 4
            and self.axis in (-1, 3)
            and inputs.dtype in ("float32", "bfloat16", "float16")
            and self.epsilon >= SMALLEST_EPSILON
        )
