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


# Solution 9.3: train, save after every `save_every` steps, and resume from the last save.
def train_with_saves(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    """Train; return the number of steps in the save from which it resumes, or 0."""
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


# Solution 9.4: the interval between two saves that loses the least time, and this loss.
def best_interval(save_seconds, restart_seconds, failure_seconds):
    """The best interval, and the seconds lost for each second of training."""
    intervals = np.geomspace(0.1, failure_seconds, 20_000)
    saving = save_seconds / intervals
    failing = (intervals / 2 + restart_seconds) / failure_seconds
    best = np.argmin(saving + failing)
    return intervals[best], saving[best] + failing[best]


# Solution 9.5: the wrong line's number, the corrected line, and the share that nobody sees.
def find_the_bug(workers, epochs):
    """The number of the wrong line, the corrected line, and the share of unseen images."""
    nobody = (1 - 1 / workers) ** workers  # in one epoch
    return 10, "shuffling = np.random.default_rng(seed)", nobody**epochs


REFERENCES = {
    "9.1": ring_all_reduce,
    "9.2": worker_shard,
    "9.3": train_with_saves,
    "9.4": best_interval,
    "9.5": find_the_bug,
}
