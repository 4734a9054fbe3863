"""A month of many machines that fail: what is left of the training."""

import math

import numpy as np

DAY_SECONDS = 86_400


def lost_seconds(
    interval: float,
    save: float,
    restart: float,
    machine_days: float,
    machines: int,
    days: int,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Simulate a job that stops with each failure of a machine and resumes from a save.

    Parameters
    ----------
    interval, save, restart : float
        Seconds of training between two saves, of a save, and from a failure until
        training resumes. A failure during a save or a restart counts as any other.
    machine_days : float
        Mean days between two failures of one machine; failures come at any time alike.
    machines, days : int
    rng : numpy.random.Generator

    Returns
    -------
    lost : float
        Seconds lost for each second of training that was kept; infinite if none was.
    failures : int
    """
    counts = rng.poisson(days / machine_days, machines)
    failures = np.sort(rng.uniform(0, days * DAY_SECONDS, counts.sum()))
    ends = np.append(failures, days * DAY_SECONDS)
    begins = np.concatenate([[0.0], failures + restart])
    up = np.maximum(ends - begins, 0)
    kept_seconds = interval * np.floor(up / (interval + save)).sum()
    lost = (
        (days * DAY_SECONDS - kept_seconds) / kept_seconds if kept_seconds > 0 else math.inf
    )
    return float(lost), len(failures)
