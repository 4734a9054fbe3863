"""What XLA plans for a training step of the decoder, and what a process really takes.

The notebook calls `measure`. The work is done in a process of its own, by `work`: see
`helpers/machine/jax_process.py`. So only functions that run there import JAX.
"""

import numpy as np

from helpers.lab_11 import process_memory
from helpers.lab_11.transformer_sizes import Sizes
from helpers.machine import jax_process

RATE, DECAY_1, DECAY_2, EPSILON = 1e-3, 0.9, 0.999, 1e-8  # of Adam


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
        `bytes` by kind as in exercise 11.1; `small_bytes`, the activations of networks
        with one block, with two blocks, and with one block and twice the vocabulary;
        `step_bytes` of the whole compiled step;
        `operations` of the loss and its gradients; `process_bytes`, by which the process
        grew in each repetition, empty where the system does not tell; `losses` of the
        steps.
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
    numbers = np.array(job["words"], "int32")
    batch = numbers[:, :-1], numbers[:, 1:]
    small = (
        sizes._replace(blocks=1),
        sizes._replace(blocks=2),
        sizes._replace(blocks=1, vocabulary=2 * sizes.vocabulary),
    )
    gradients, model, loss = _gradients(sizes, batch, job["seed"])
    others = [_gradients(one, batch)[0] if one != sizes else gradients for one in small]
    step, arguments = _step(model, loss, batch)
    planned, whole = gradients.memory_analysis(), step.memory_analysis()
    of_batch = sum(array.nbytes for array in batch)
    step_bytes = whole.argument_size_in_bytes + whole.temp_size_in_bytes
    step_bytes += whole.output_size_in_bytes - whole.alias_size_in_bytes
    optimizer = whole.argument_size_in_bytes - planned.argument_size_in_bytes
    found = {
        "bytes": {
            "weights": planned.argument_size_in_bytes - of_batch,
            "gradients": planned.output_size_in_bytes,
            "optimizer": optimizer,
            "activations": planned.temp_size_in_bytes,
        },
        "small_bytes": [_temporary(one) for one in others],
        "step_bytes": step_bytes,
        "operations": gradients.cost_analysis()["flops"],
    }
    return found | _run(step, arguments, batch, job["repeats"] + 1)


def _temporary(compiled):
    return compiled.memory_analysis().temp_size_in_bytes


def _gradients(sizes, batch, seed=0):
    """Compile the loss and its gradients, which are its output."""
    import jax
    import keras
    from jax import numpy as jnp

    from helpers.lab_11.transformer import decoder

    keras.utils.set_random_seed(seed)
    model = decoder(**sizes.decoder)

    def loss_of(weights, numbers, following):
        logits, _ = model.stateless_call(weights, [], numbers)
        chances = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(chances, following[..., None], axis=-1))

    loss = jax.value_and_grad(loss_of)
    weights = [variable.value for variable in model.trainable_variables]
    return jax.jit(loss).lower(weights, *batch).compile(), model, loss


def _step(model, loss, batch):
    """Compile a whole step with Adam, which gives its arguments' memory to its results."""
    import jax
    from jax import numpy as jnp

    def step(weights, means, squares, count, numbers, following):
        value, gradients = loss(weights, numbers, following)
        pairs = list(zip(means, squares, gradients, strict=True))
        means = [DECAY_1 * m + (1 - DECAY_1) * g for m, _, g in pairs]
        squares = [DECAY_2 * s + (1 - DECAY_2) * g**2 for _, s, g in pairs]
        count = count + 1
        rate = RATE * jnp.sqrt(1 - DECAY_2**count) / (1 - DECAY_1**count)
        weights = [
            w - rate * m / (jnp.sqrt(s) + EPSILON)
            for w, m, s in zip(weights, means, squares, strict=True)
        ]
        return value, weights, means, squares, count

    def arguments():
        weights = [jnp.array(variable.value) for variable in model.trainable_variables]
        means, squares = ([jnp.zeros_like(w) for w in weights] for _ in range(2))
        return weights, means, squares, jnp.zeros(())

    jitted = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    return jitted.lower(*arguments(), *batch).compile(), arguments


def _run(step, arguments, batch, repeats):
    """Take the first step again and again, and measure by how much the process grows.

    The first time does not count, because JAX then allocates what it keeps for later.
    """
    grown, losses = [], []
    for _ in range(repeats):
        before = process_memory.held()
        state = arguments()
        process_memory.reset_peak()
        value, *state = step(*state, *batch)
        losses.append(float(value))
        peak = process_memory.peak()
        del state
        if peak is not None and before is not None:
            grown.append(peak - before)
    return {"process_bytes": grown[1:], "losses": losses}
