"""The solutions in labs/09_many_machines.py, written by `labs build`: edit there."""

import numpy as np
import tensorflow as tf


# Solution 9.1: the sum of all workers' arrays, by chunks that travel round a ring.
def ring_all_reduce(array, rank, workers, send, receive):
    """The sum of the arrays of all workers."""
    chunks = np.array_split(array.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):  # reduce-scatter
        send(after, chunks[(rank - step) % workers])
        chunks[(rank - step - 1) % workers] += receive(before)
    for step in range(workers - 1):  # all-gather
        send(after, chunks[(rank + 1 - step) % workers])
        chunks[(rank - step) % workers][:] = receive(before)
    return np.concatenate(chunks)


# Solution 9.2: the examples that a worker reads in an epoch.
def worker_shard(examples, epoch, rank, workers, seed):
    """Numbers of the examples that this worker reads in this epoch, in order."""
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return order[rank::workers]


# Solution 9.3: train, save every so many steps, and go on from the last save.
def train_with_saves(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    """Train; return how many steps were done before this start."""
    step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in range(3))
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    done_before = int(step)
    while int(epoch) < epochs:
        for batch in data(int(epoch), int(place)):
            train_step(batch)
            step.assign_add(1)
            place.assign_add(1)
            if chief and int(step) % save_every == 0:
                manager.save()
        epoch.assign_add(1)
        place.assign(0)
    return done_before


# Solution 9.4: Young's and Daly's interval, and the seconds lost for each second trained.
def save_interval(save_seconds, restart_seconds, machine_days, machines):
    """Young's and Daly's interval, and the seconds lost for each second trained."""
    between = machine_days * 24 * 3600 / machines
    part = save_seconds / (2 * between)
    young = (2 * save_seconds * between) ** 0.5
    daly = between
    if part < 1:
        daly = young * (1 + part**0.5 / 3 + part / 9) - save_seconds
    lost = save_seconds / daly + (daly / 2 + restart_seconds) / between
    return young, daly, lost


# Solution 9.5: images per second and efficiency of n devices, with and without overlap.
def forecast(
    devices, batch_size, t0_seconds, peak, gradient_bytes, latency_seconds, bytes_per_second
):
    """Images per second and efficiency: {"in_turn": (a, b), "overlapped": (c, d)}."""
    computing = t0_seconds + batch_size / peak
    message = latency_seconds + gradient_bytes / devices / bytes_per_second
    sending = 2 * (devices - 1) * message
    hidden = min(sending, 2 / 3 * batch_size / peak)
    steps = {"in_turn": computing + sending, "overlapped": computing + sending - hidden}
    return {
        way: (devices * batch_size / step, computing / step)
        for way, step in steps.items()
    }


REFERENCES = {
    "9.1": ring_all_reduce,
    "9.2": worker_shard,
    "9.3": train_with_saves,
    "9.4": save_interval,
    "9.5": forecast,
}
