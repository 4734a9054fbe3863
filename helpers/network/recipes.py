"""The fast recipe: what to change beside the software to reach an accuracy sooner.

Its parts are known: one cycle of the learning rate (Smith and Topin 2019), Nesterov's
momentum, label smoothing (Szegedy et al. 2016), no weight decay on batch normalisation
and biases (He et al. 2019), He's initial weights, no bias where batch normalisation
follows, and no dropout. `labs bench accuracy` compares it with the original recipe.
"""

import keras

from helpers.network.models import lean_conv_bn_relu, wide_resnet

# What `labs bench accuracy` chose on images of the training set that it did not train on.
PEAK_LEARNING_RATE = 0.1  # for batches of 32 images
WEIGHT_DECAY = 5e-4
LABEL_SMOOTHING = 0.1


def one_cycle(
    peak_learning_rate: float, steps: int, warm_up: float = 0.25, last: float = 0.02
) -> keras.optimizers.schedules.LearningRateSchedule:
    """Straight up to a peak, then down along half a cosine.

    Parameters
    ----------
    peak_learning_rate : float
    steps : int
        Of the whole training.
    warm_up : float
        Fraction of the steps on the way up, which starts at a 25th of the peak.
    last : float
        Where the way down ends, as a fraction of the peak.

    Returns
    -------
    keras.optimizers.schedules.LearningRateSchedule
    """
    rising = max(1, round(warm_up * steps))
    return keras.optimizers.schedules.CosineDecay(
        peak_learning_rate / 25,
        decay_steps=max(1, steps - rising),
        alpha=last,
        warmup_target=peak_learning_rate,
        warmup_steps=rising,
    )


def fast_network(depth: int = 16, width: int = 1, **shape) -> keras.Model:
    """The wide residual network of the recipe, not compiled.

    Parameters
    ----------
    depth, width : int
    **shape
        `input_shape`, `classes` and `stem_pool`: see
        `helpers.network.models.wide_resnet`.
    """
    return wide_resnet(depth, width, dropout=0.0, unit=lean_conv_bn_relu, **shape)


def fast_optimizer(
    steps: int,
    peak_learning_rate: float = PEAK_LEARNING_RATE,
    weight_decay: float = WEIGHT_DECAY,
    momentum: float = 0.9,
) -> keras.optimizers.SGD:
    """Nesterov's momentum with one cycle; weight decay on kernels only.

    Parameters
    ----------
    steps : int
        Of the whole training, for `one_cycle`.
    peak_learning_rate : float
    weight_decay : float
        Keras' kind: times the learning rate, in each step; 0 is none.
    momentum : float

    Returns
    -------
    keras.optimizers.SGD
    """
    sgd = keras.optimizers.SGD(
        one_cycle(peak_learning_rate, steps),
        momentum,
        nesterov=True,
        weight_decay=weight_decay or None,  # Keras takes None, not 0
    )
    if weight_decay:
        sgd.exclude_from_weight_decay(var_names=["gamma", "beta", "bias"])
    return sgd


def fast_loss(label_smoothing: float = LABEL_SMOOTHING) -> keras.losses.Loss:
    """Cross-entropy of one-hot labels that are smoothed."""
    return keras.losses.CategoricalCrossentropy(label_smoothing=label_smoothing)
