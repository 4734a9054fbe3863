"""Count how often a loss leaps if a step is n times too long: figures in lab 06.

``python -m kit.bench.wrong_loss`` takes a minute. With plain SGD, the wrong loss on n
replicas is the right one with n times the learning rate, so one device is enough.
"""

import os
from statistics import median

import numpy as np

from helpers.run_card.documents import versions
from kit.bench.measurement import store

BATCH, STEPS, SEEDS = 64, 40, 20
RATE, REPLICAS = 0.2, (1, 2, 4)  # as in the lab
SOON, LEAP = 3, 0.5  # a leap: the loss is higher by so much within so many steps


def main() -> None:
    """Train with each rate and seed; write docs/bench/wrong_loss.json, print the counts."""
    found = {}
    for n in REPLICAS:
        losses = [losses_of(RATE * n, seed) for seed in range(SEEDS)]
        ends = [float(np.mean(one[-10:])) for one in losses]
        leaps = sum(largest_rise(one) > LEAP for one in losses)
        found[n] = {"leaps": leaps, "ends": ends}
        print(
            f"{n} replicas: {leaps} of {SEEDS} leap by more than {LEAP}; the last ten "
            f"steps have {median(ends):.2f} ({min(ends):.2f} to {max(ends):.2f})"
        )
    load = round(os.getloadavg()[0], 1)
    store("wrong_loss", found | {"load_average": load, "versions": versions()})


def losses_of(rate: float, seed: int) -> list[float]:
    """The mean loss of each step of lab 06's small network, with plain SGD."""
    from helpers.machine.quiet_tensorflow import silence_tensorflow

    silence_tensorflow()
    import keras

    from helpers.data.mnist import mnist
    from helpers.lab_06.small import small_network

    data = mnist()
    order = np.random.default_rng(seed).permutation(len(data.x_train))
    network = small_network(seed)
    network.compile(keras.optimizers.SGD(rate), "sparse_categorical_crossentropy")
    losses = []
    for batch in order[: BATCH * STEPS].reshape(STEPS, BATCH):
        network.reset_metrics()
        x = data.x_train[batch].reshape(-1, 28, 28, 1)
        losses.append(float(network.train_on_batch(x, data.y_train[batch])))
    return losses


def largest_rise(losses: list[float]) -> float:
    """By how much the loss is higher at most within `SOON` steps, after the first two."""
    places = range(2, len(losses) - SOON)
    return max(max(losses[place : place + SOON + 1]) - losses[place] for place in places)


if __name__ == "__main__":
    main()
