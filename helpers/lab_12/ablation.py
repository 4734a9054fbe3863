"""Take the ingredients of the fast recipe out, one at a time, and race to a target."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import keras
import numpy as np
from keras import losses, optimizers

from callbacks import EpochRecorder, TrainingProgress
from helpers.network.models import conv_bn_relu, lean_conv_bn_relu, plain_network
from helpers.network.pipelines import batches, with_preprocessing
from helpers.network.recipes import LABEL_SMOOTHING, WEIGHT_DECAY, one_cycle

ORIGINAL_LEARNING_RATE = 0.01  # of the recipe without any ingredient, for 32 images
RESOLUTION = 10_000  # steps of the cycle that is stretched
SHIFT = 0.2
INGREDIENTS = (
    "momentum", "one cycle", "label smoothing", "plain images", "initialisation",
)  # fmt: skip


class Sizes(NamedTuple):
    """What all recipes share: data, batches, the target, and where they look.

    Attributes
    ----------
    data : tuple of array
        x_train, y_train, x_valid, y_valid.
    batch_size : int
    peak_learning_rate : float
        For batches of 32 images; both learning rates grow with the root of the batch size.
    target_accuracy : float
    lengths : tuple of int
        The trainings to try, in steps, from short to long.
    """

    data: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    batch_size: int
    peak_learning_rate: float
    target_accuracy: float
    lengths: tuple[int, ...]


class Attempt(NamedTuple):
    """A training: how long it was, how long it took, and how good it became."""

    steps: int
    seconds: float
    accuracy: float


class StretchedCycle(optimizers.schedules.LearningRateSchedule):
    """One cycle whose length can change, so that a compiled training can be used again."""

    def __init__(self, peak_learning_rate: float) -> None:
        self.cycle = one_cycle(peak_learning_rate, RESOLUTION)
        self.steps = keras.Variable(1.0, trainable=False, dtype="float32")

    def __call__(self, step: int) -> keras.KerasTensor:
        return self.cycle(keras.ops.cast(step, "float32") * RESOLUTION / self.steps)

    def get_config(self) -> dict:
        return {}


def lengths_to_try(images: int, batch_size: int, epochs: int) -> tuple[int, ...]:
    """Steps of the trainings to try: from one epoch up, each about 1.4 times as long."""
    of_epoch = max(1, images // batch_size)
    count = 2 * int(np.log2(max(1, epochs)))
    tried = {round(of_epoch * 2 ** (k / 2)) for k in range(count + 1)}
    return tuple(sorted(tried | {of_epoch * epochs}))


class Recipe:
    """The fast recipe without some of its ingredients, compiled once for all trainings.

    Parameters
    ----------
    sizes : Sizes
    dropped : iterable of str
        Of `INGREDIENTS`; each is replaced by what the original recipe has there.
    """

    def __init__(self, sizes: Sizes, dropped: Iterable[str] = ()) -> None:
        self.sizes, self.dropped = sizes, set(dropped)
        scale = (sizes.batch_size / 32) ** 0.5
        self.cycle = None
        rate: float | StretchedCycle = ORIGINAL_LEARNING_RATE * scale
        if "one cycle" not in self.dropped:
            rate = self.cycle = StretchedCycle(sizes.peak_learning_rate * scale)
        momentum = 0.0 if "momentum" in self.dropped else 0.9
        self.optimizer = optimizers.SGD(
            rate, momentum, nesterov=momentum > 0, weight_decay=WEIGHT_DECAY
        )
        self.optimizer.exclude_from_weight_decay(var_names=["gamma", "beta", "bias"])
        smoothing = 0.0 if "label smoothing" in self.dropped else LABEL_SMOOTHING
        self.model = self._network()
        self.model.compile(
            self.optimizer,
            losses.CategoricalCrossentropy(label_smoothing=smoothing),
            metrics=["accuracy"],
            jit_compile=False,
        )
        self.optimizer.build(self.model.trainable_variables)
        self.begin = [variable.numpy() for variable in self.optimizer.variables]
        self._start(0, 1)
        self._fit(1, 0, [])  # compiles: no training counts the time for that

    def race(self, seed: int) -> list[Attempt]:
        """Train longer and longer, until the target is reached; the last one counts.

        With one cycle, each length is a training of its own, because a cycle is complete
        only at its end. Without it, one training goes on from length to length.
        """
        attempts, done, seconds = [], 0, 0.0
        for steps in self.sizes.lengths:
            if self.cycle or not attempts:
                self._start(seed, steps)
                done, seconds = 0, 0.0
            took, accuracy = self._fit(steps - done, seed, [TrainingProgress()])
            done, seconds = steps, seconds + took
            attempts.append(Attempt(steps, seconds, accuracy))
            if accuracy >= self.sizes.target_accuracy:
                break
        return attempts

    def _network(self):
        augmented = "plain images" in self.dropped
        unit = conv_bn_relu if "initialisation" in self.dropped else lean_conv_bn_relu
        shift = SHIFT if augmented else 0
        return with_preprocessing(plain_network(unit), self.sizes.data[0], shift, augmented)

    def _start(self, seed, steps):
        """New weights, and an optimizer that remembers nothing."""
        keras.utils.set_random_seed(seed)
        self.model.set_weights(self._network().get_weights())
        for variable, value in zip(self.optimizer.variables, self.begin, strict=True):
            variable.assign(value)
        if self.cycle:
            self.cycle.steps.assign(steps)

    def _fit(self, steps, seed, shown):
        """Train for so many steps: their seconds, and the accuracy afterwards."""
        x, y, x_valid, y_valid = self.sizes.data
        recorder = EpochRecorder()
        self.model.fit(
            batches(x, y, self.sizes.batch_size, seed, repeat=True),
            steps_per_epoch=steps,
            validation_data=batches(x_valid, y_valid, 500),
            callbacks=[*shown, recorder],
            verbose=0,
        )
        [seconds], [accuracy] = (
            recorder.epochs[name] for name in ("train_seconds", "val_accuracy")
        )
        return seconds, accuracy


def seconds_to_target(attempts: Sequence[Sequence], target: float) -> float | None:
    """Seconds of the last attempt, or None if it missed the target.

    Parameters
    ----------
    attempts : sequence of sequence
        Of one seed, as `Recipe.race` returns them, or as lists, from a run card.
    target : float
    """
    last = Attempt(*attempts[-1])
    return last.seconds if last.accuracy >= target else None
