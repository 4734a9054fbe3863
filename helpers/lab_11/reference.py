"""The solutions in labs/11_does_not_fit.py, written by `labs build`: edit there."""

import numpy as np


# Solution 11.1: the bytes of each kind on the device that holds the most.
def memory_budget(parameters, blocks, precision, states, devices, stage, recompute):
    """Bytes of weights, gradients, optimizer and activations on a device, as a dict."""
    share = -(-parameters // devices)
    value_bytes, master_bytes = (4, 0) if precision == "float32" else (2, 4)
    inputs = [input_bytes for input_bytes, _ in blocks]
    insides = [inside_bytes for _, inside_bytes in blocks]
    return {
        "weights": value_bytes * (share if stage >= 3 else parameters),
        "gradients": value_bytes * (share if stage >= 2 else parameters),
        "optimizer": (4 * states + master_bytes) * (share if stage >= 1 else parameters),
        "activations": sum(inputs) + (max(insides, default=0) if recompute else sum(insides)),
    }


# Solution 11.2: the first layer of each segment, so that the peak is at most the budget.
def segments(activation_bytes, budget):
    """The first layers of the segments; [] if no cut is needed, None if none is enough."""
    from itertools import combinations

    if sum(activation_bytes) <= budget:
        return []
    n = len(activation_bytes)
    for more in range(n):
        for rest in combinations(range(1, n), more):
            firsts = [0, *rest]
            kept = sum(activation_bytes[first] for first in firsts)
            ends = [*rest, n]
            again = [sum(activation_bytes[a + 1 : b]) for a, b in zip(firsts, ends, strict=True)]
            if kept + max(again) <= budget:
                return firsts
    return None


# Solution 11.3: one step of a training in which each worker updates only its part.
def sharded_step(weights, gradient, state, update, rank, workers, send, receive):
    """The new weights, and the new state of this worker's part."""
    sums = np.array_split(gradient.copy(), workers)
    parts = np.array_split(weights.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):  # reduce-scatter
        send(after, sums[(rank - step) % workers])
        sums[(rank - step - 1) % workers] += receive(before)
    parts[after], state = update(parts[after], sums[after] / workers, state)
    for step in range(workers - 1):  # all-gather
        send(after, parts[(rank + 1 - step) % workers])
        parts[(rank - step) % workers] = receive(before)
    return np.concatenate(parts), state


# Solution 11.4: along which axis each weight of a transformer is split.
def layout(path, shape):
    """For each axis of a weight: "model" if it is split, None if not."""
    *outer, layer, weight = path.split("/")
    if not any(part[:6] == "block_" and part[6:].isdigit() for part in outer):
        return (None,) * len(shape)
    if layer in ("query", "key", "value", "up"):
        return (None, "model") if weight == "kernel" else ("model",)
    if layer in ("output", "down") and weight == "kernel":
        return ("model", None)
    return (None,) * len(shape)


# Solution 11.5: the forwards and backwards of a stage, in an order that saves memory.
def order(stage, stages, micro_batches):
    """1F1B: some forwards, and then a backward and a forward in turn."""
    ahead = min(stages - stage, micro_batches)
    work = [("F", i) for i in range(ahead)]
    for i in range(micro_batches):
        work.append(("B", i))
        if i + ahead < micro_batches:
            work.append(("F", i + ahead))
    return work


REFERENCES = {
    "11.1": memory_budget,
    "11.2": segments,
    "11.3": sharded_step,
    "11.4": layout,
    "11.5": order,
}
