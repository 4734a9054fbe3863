"""What XLA plans for a training step of the decoder, and what a process really takes.

The notebook calls `measure`. The work is done in a process of its own, by `work`: see
`helpers/machine/jax_process.py`. So only functions that run there import JAX.
"""

import numpy as np

from helpers.lab_11.memory import process_memory
from helpers.lab_11.memory.next_word import next_word_loss, training_step
from helpers.lab_11.memory.transformer import decoder
from helpers.lab_11.memory.transformer_sizes import Sizes
from helpers.machine import jax_process


def measure(sizes: Sizes, words: list[list[int]], repeats: int, seed: int) -> dict | None:
    """Compile a training step with Adam, and run it; None without JAX, with a line.

    Parameters
    ----------
    sizes : Sizes
    words : list of list of int
        The batch, as `newswire_batch.draw` returns it.
    repeats : int
        How often the memory of the running step is measured, after a first step.
    seed : int
        Of the weights.

    Returns
    -------
    dict or None
        `bytes` by kind as in exercise 11.1; `step_bytes` of the whole compiled step;
        `process_bytes`, by which the process grew in each repetition, empty where the
        system does not tell; `losses` of the steps.
    """
    job = {"sizes": list(sizes), "words": words, "repeats": repeats, "seed": seed}
    try:
        return jax_process.call(__name__, job, devices=1)
    except jax_process.NoJaxError as error:
        print(f"{error} So this section compares its predictions with nothing.")
        return None


def work(job: dict) -> dict:
    """The results of `measure`, from inside the process with JAX."""
    sizes = Sizes(*job["sizes"])
    words = np.array(job["words"], "int32")
    gradients, model = _gradients(sizes, words, job["seed"])
    step, arguments = _step(model, words)
    planned, whole = gradients.memory_analysis(), step.memory_analysis()
    step_bytes = whole.argument_size_in_bytes + whole.temp_size_in_bytes
    step_bytes += whole.output_size_in_bytes - whole.alias_size_in_bytes
    optimizer = whole.argument_size_in_bytes - planned.argument_size_in_bytes
    found = {
        "bytes": {
            "weights": planned.argument_size_in_bytes - words.nbytes,
            "gradients": planned.output_size_in_bytes,
            "optimizer": optimizer,
            "activations": planned.temp_size_in_bytes,
        },
        "step_bytes": step_bytes,
    }
    return found | _run(step, arguments, words, job["repeats"] + 1)


def _gradients(sizes, words, seed):
    """Compile the loss and its gradients, which are its output."""
    import jax
    import keras

    keras.utils.set_random_seed(seed)
    model = decoder(**sizes.decoder)
    weights = [variable.value for variable in model.trainable_variables]
    loss = jax.value_and_grad(next_word_loss(model))
    return jax.jit(loss).lower(weights, words).compile(), model


def _step(model, words):
    """Compile a whole step with Adam, which gives its arguments' memory to its results."""
    import jax
    import keras

    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)

    def arguments():
        return [
            [jax.numpy.array(variable.value) for variable in variables]
            for variables in (model.trainable_variables, optimizer.variables)
        ]

    step = jax.jit(training_step(model, optimizer), donate_argnums=(0, 1))
    return step.lower(*arguments(), words).compile(), arguments


def _run(step, arguments, words, repeats):
    """Take the first step again and again, and measure by how much the process grows.

    The first time does not count, because JAX then allocates what it keeps for later.
    """
    grown, losses = [], []
    for _ in range(repeats):
        before = process_memory.held()
        state = arguments()
        process_memory.reset_peak()
        value, *state = step(*state, words)
        losses.append(float(value))
        peak = process_memory.peak()
        del state
        if peak is not None and before is not None:
            grown.append(peak - before)
    return {"process_bytes": grown[1:], "losses": losses}
