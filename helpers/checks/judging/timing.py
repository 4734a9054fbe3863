"""Bounds for the time that an answer's clock can show, from the judge's own waits."""

from helpers.exercise import UNCLEAR
from helpers.verdict import Wrong, wrong


def training_spans(question: dict, waits: list) -> list[list[dict]]:
    """When each epoch of each fit ran, from inside and from outside.

    The judge knows only when the waits began and ended; the answer's clock
    was started and stopped somewhere between two of them.

    Parameters
    ----------
    question : dict
        With `epochs` and `fits`, as for `probing.training.train`: after how many epochs
        each fit validates, 0 for never.
    waits : list of [began, ended]
        One before the first `fit`; for each epoch one for each batch, one for its
        pause, one for its validation, and one for the time until the next epoch; one
        after each `fit`.

    Returns
    -------
    list of list of dict
        For each fit and epoch, in seconds: `before`, the end of the wait before it;
        `began`, the start of its first batch; `trained`, the end of its last batch;
        `stopped`, the start of the next wait; `validated`, the end of its validation, or
        `trained`; `after`, the start of the wait after the epoch.

    Raises
    ------
    ValueError
        If there are more or fewer waits.
    """
    at, fits = 0, []
    for validated in question["fits"]:
        spans = []
        for number, epoch in enumerate(question["epochs"], start=1):
            inside = len(epoch["batch_seconds"]) + bool(epoch.get("pause_seconds"))
            first, last = waits[at + 1], waits[at + inside]
            tested = bool(validated and number % validated == 0)
            end = waits[at + inside + 1] if tested else last
            spans.append(
                {
                    "before": waits[at][1],
                    "began": first[0],
                    "trained": last[1],
                    "stopped": waits[at + inside + 1][0],
                    "validated": end[1],
                    "after": waits[at + inside + 1 + tested][0],
                }
            )
            at += inside + tested + bool(epoch.get("between_seconds"))
        fits.append(spans)
        at += 1  # the wait after fit is the one before the next
    if at != len(waits) - 1:
        raise ValueError(f"{len(waits)} waits where {at + 1} were due")
    return fits


def constant(numbers: list[float], spread: float = 0.01) -> bool:
    """Whether a clock gave the same for every epoch, however long each was.

    An answer that sleeps widens the bounds, so that a constant lies between them, also one
    with a little chance added. So a question has epochs of very different lengths: a
    clock tells them apart.

    Parameters
    ----------
    numbers : list of float
        One for each epoch: its time or its rate.
    spread : float
        By which part of the largest they may differ.
    """
    return max(numbers) - min(numbers) <= spread * abs(max(numbers, key=abs))


def unclear(spans: list, spread: float = 0.01) -> Wrong | None:
    """Say so if these bounds would let through a clock that is `constant`.

    Then a table of numbers may lie between them as well, and nothing was measured. It
    takes a sleep in the answer, or a machine that is very busy: so it is asked again.

    Parameters
    ----------
    spans : list of (shortest, longest)
        For each epoch, what a right clock can show, in seconds.
    spread : float
        As for `constant`.

    Returns
    -------
    None or helpers.verdict.Wrong
    """
    shortest, longest = zip(*spans, strict=True)
    if min(longest) < (1 - spread) * max(shortest):
        return None
    seconds = {"least_seconds": min(longest), "needed_seconds": max(shortest)}
    return wrong(UNCLEAR, "nothing_to_see", **seconds)
