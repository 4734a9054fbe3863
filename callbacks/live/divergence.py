"""Tell that a training has diverged, and what to change."""

import keras
import numpy as np


def divergence(metrics: dict, epoch: int, model: keras.Model | None = None) -> str | None:
    """Make one line for the student if a loss is not finite.

    Parameters
    ----------
    metrics : dict
        The newest values by name: `loss`, `val_loss`, and others, which do not count.
    epoch : int
        From 1.
    model : keras.Model, optional
        Its optimizer tells the learning rate.

    Returns
    -------
    str or None
    """
    for name in ("loss", "val_loss"):
        if (lost := _not_finite(metrics.get(name))) is not None:
            rate = learning_rate(model)
            now = "" if rate is None else f" (now {rate:.3g})"
            return (
                f"The {name} became {lost} in epoch {epoch}: training has diverged, and "
                "more epochs do not help. Train a new model with a smaller "
                f"learning_rate{now}."
            )
    return None


def learning_rate(model: keras.Model | None) -> float | None:
    """The learning rate of a model's next step; None if it cannot be read."""
    if model is None:
        return None
    try:
        return float(keras.ops.convert_to_numpy(model.optimizer.learning_rate))
    except Exception:  # no optimizer, or a schedule that works in graphs only
        return None


def _not_finite(loss):
    """The first number in a loss, or in those of all replicas, that is nan or infinite."""
    try:
        numbers = np.ravel(loss)
        lost = numbers[~np.isfinite(numbers)]
    except Exception:  # a hand-written step may return anything
        return None
    return float(lost[0]) if len(lost) else None
