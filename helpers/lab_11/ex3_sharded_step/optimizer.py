"""The optimizer of the check: momentum, weight decay, and a count of its steps."""

import numpy as np

HALF, KEPT = np.float32(0.5), np.float32(0.9)


def after_step(
    part: np.ndarray,
    gradient: np.ndarray,
    momentum: np.ndarray,
    steps: int,
    rate: float,
) -> tuple[np.ndarray, np.ndarray]:
    """One step, value by value and in float32.

    Parameters
    ----------
    part, gradient, momentum : numpy.ndarray
        Of the same weights.
    steps : int
        How many there are with this one.
    rate : float

    Returns
    -------
    part, momentum : numpy.ndarray
        New ones. The change is no linear function of the gradient: the mean of the
        changes is not the change by the mean. And old weights plus a rounded change are
        often not the new weights, to the last bit.
    """
    momentum = HALF * momentum + gradient
    change = momentum / (np.abs(momentum) + np.float32(steps))
    return KEPT * part - np.float32(rate) * change, momentum
