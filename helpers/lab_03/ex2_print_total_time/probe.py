"""Exercise 3.2: drives an answer, expects nothing."""

import itertools
from collections.abc import Callable

import keras

from helpers.checks.probing.printed import Printed
from helpers.checks.probing.training import train


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """Train some time after the callback is made, and later again, with an early stop.

    Other callbacks of the same class take part, too; what they print is not kept.
    """
    callback, *others = (answer() for _ in range(question["callbacks"]))
    for other, name in itertools.product(others, dir(keras.callbacks.Callback)):
        if name.startswith("on_"):
            setattr(other, name, Printed()(getattr(other, name)))
    epochs, start_ups = question["epochs"], iter(question["start_up_seconds"])

    # It runs after the answer, whose clock has then started.
    def start_up(epoch, logs):
        if epoch == 0:
            wait(next(start_ups))

    def between_epochs(epoch, logs):
        if epoch == 0:
            wait(question["seconds_between_epochs"])

    # When training begins, as near as can be seen: `fit` itself prepares much before.
    first = keras.callbacks.LambdaCallback(on_train_begin=lambda logs: wait(0))
    # After a validation, and before the answer hears that the epoch has ended.
    after_validation = question["seconds_after_validation"]
    first.on_epoch_end = lambda epoch, logs: epoch or wait(after_validation)
    waits = keras.callbacks.LambdaCallback(start_up, between_epochs)
    together = keras.callbacks.CallbackList([first, *others, callback, waits])
    wait(question["seconds_before_fit"])
    whole = train(together, epochs, wait, [True])
    wait(question["seconds_before_fit"])
    # Without a validation nothing comes after it, but the judge counts a wait.
    first.on_epoch_end = lambda epoch, logs: epoch or wait(0)
    # With the pause in each epoch.
    last = sum(len(e["batch_seconds"]) + 1 for e in epochs[: question["stopped_after"]])
    stopped = train(together, epochs, _stopping(callback, wait, last), [False])
    return {"printed": whole["printed"] + stopped["printed"]}


def _stopping(callback, wait, last):
    """A `wait` that also stops training, in the last of so many waits."""
    number = itertools.count()  # the first one comes before training

    def wait_and_stop(seconds):
        wait(seconds)
        if next(number) == last:
            callback.model.stop_training = True

    return wait_and_stop
