"""Measure what `tf.recompute_grad` saves and costs, around the blocks of lab 11's decoder.

``python -m kit.bench.recompute_grad`` starts a process for each measurement, because
TensorFlow keeps memory that it has allocated. It takes a few minutes.
"""

import json
import os
import statistics
import subprocess
import sys
import time

from helpers.lab_11.memory import process_memory
from helpers.run_card.documents import versions
from kit.bench.measurement import store

WAYS = "keep", "recompute"
REPEATS, STEPS = 5, 3
BLOCKS, WIDTH, HEADS, WORDS, BATCH = 16, 256, 4, 64, 32


def main() -> None:
    """Measure both ways in turn; write docs/bench/recompute_grad.json, print the ratios."""
    found = {way: [] for way in WAYS}
    for _ in range(REPEATS):
        for way in WAYS:
            command = [sys.executable, "-m", "kit.bench.recompute_grad", way]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[way].append(json.loads(done.stdout.splitlines()[-1]))
    pairs = list(zip(*found.values(), strict=True))
    for kind in ("bytes", "cpu_seconds"):
        ratios = [again[kind] / kept[kind] for kept, again in pairs]
        print(f"{kind}: {statistics.median(ratios):.3f} times as many, ", end="")
        print(f"from {min(ratios):.3f} to {max(ratios):.3f}")
    load = round(os.getloadavg()[0], 1)
    store("recompute_grad", found | {"load_average": load, "versions": versions()})


def measure(way: str) -> dict:
    """By how much this process grows in a step, its CPU time, its loss and gradient."""
    from helpers.machine.quiet_tensorflow import silence_tensorflow

    silence_tensorflow()
    import keras
    import tensorflow as tf

    from helpers.lab_11.memory.transformer import Block

    keras.utils.set_random_seed(0)
    x = tf.random.normal((BATCH, WORDS, WIDTH), seed=0)
    blocks = [Block(HEADS, name=f"block_{i}") for i in range(BLOCKS)]
    for block in blocks:
        block.build(x.shape)
    weights = [one.value for block in blocks for one in block.trainable_variables]
    again = tf.recompute_grad if way == "recompute" else lambda block: block
    calls = [again(block) for block in blocks]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = x
            for call in calls:
                y = call(y)
            loss = tf.reduce_mean(y * y)
        return loss, tf.linalg.global_norm(tape.gradient(loss, weights))

    step.get_concrete_function(x)  # traces, but allocates none of the activations
    before, seconds = process_memory.held(), []
    process_memory.reset_peak()
    for _ in range(STEPS):
        began = time.process_time()  # another program on the machine does not count
        loss, norm = step(x)
        results = {"loss": float(loss), "norm": float(norm)}
        seconds.append(time.process_time() - began)
    grown = process_memory.peak() - before
    return {"bytes": grown, "cpu_seconds": statistics.median(seconds)} | results


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure(sys.argv[1]), allow_nan=False))
    else:
        main()
