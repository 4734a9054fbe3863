"""Bounds for the time that a callback's clock can show, from the judge's own waits."""


def training_spans(question, waits, fit=0):
    """When each epoch ran, from inside and from outside.

    The judge knows only when the waits began and ended; the callback's clock
    was started and stopped somewhere between two of them.

    Parameters
    ----------
    question : dict
        With `epochs`, as for `probing.training.train`.
    waits : list of [began, ended]
        One before `fit`; for each epoch one per batch and one for validation;
        one after `fit`. With several fits the last three repeat.
    fit : int
        Which one.

    Returns
    -------
    list of dict
        Per epoch, in seconds: `before`, the end of the wait before it; `began`, the
        start of its first batch; `trained` and `validated`, the ends of its last
        batch and of its validation; `after`, the start of the next wait.
    """
    batches = len(question["epochs"][0]["batch_seconds"])
    a_fit = len(question["epochs"]) * (batches + 1) + 1
    spans = []
    for epoch in range(len(question["epochs"])):
        i = 1 + fit * a_fit + epoch * (batches + 1)
        spans.append(
            {
                "before": waits[i - 1][1],
                "began": waits[i][0],
                "trained": waits[i + batches - 1][1],
                "validated": waits[i + batches][1],
                "after": waits[i + batches + 1][0],
            }
        )
    return spans


def numbers_after(lines, label):
    """The numbers printed as ``label 12.34``, one for each line that has them."""
    found = []
    for line in lines:
        if line.startswith(label):
            try:
                found.append(float(line.removeprefix(label).strip().replace(",", "")))
            except ValueError:
                continue
    return found
