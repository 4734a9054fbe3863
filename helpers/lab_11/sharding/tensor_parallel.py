"""Section 4 of lab 11: training steps of a decoder, compiled by JAX in several layouts.

The notebook calls `compare`. The work is done in a process of its own, by `work`: see
`helpers/machine/jax_process.py`. So only functions that run there import JAX.
"""

import numpy as np

from helpers.lab_11.memory import transformer
from helpers.lab_11.memory.next_word import training_step
from helpers.machine import jax_process, meshes

DEVICES = 8


def compare(
    layouts: dict[str, dict],
    sizes: dict[str, int],
    words: list[list[int]],
    steps: int,
    seed: int,
) -> dict[str, dict]:
    """Compile and train a decoder in each layout on JAX; without JAX, print why not.

    Parameters
    ----------
    layouts : dict of dict
        By name: `mesh`, the sizes of its axes by their names; `weights`, a tuple of axis
        names and None for each weight that is split, by its path. The batch is split
        along the first axis of the mesh.
    sizes : dict of int
        The arguments of `transformer.decoder`.
    words : list of list of int
        The sequences of a step, of all devices together, as `newswire_batch.draw`
        returns them.
    steps : int
        To train. 0 compiles alone.
    seed : int

    Returns
    -------
    dict of dict
        Empty without JAX, else by name: `weights` and `moments`, the bytes on each device
        of the weights and of the optimizer's state; `forward` and `step`, the messages of
        the two compiled programs (see `meshes.collectives`); `losses` of the steps.
    """
    job = {"layouts": layouts, "sizes": sizes, "words": words, "steps": steps}
    try:
        return jax_process.call(__name__, job | {"seed": seed}, DEVICES)
    except jax_process.NoJaxError as error:
        print(f"{error} So this section measures nothing here.")
        return {}


def bytes_by_kind(messages: list[dict]) -> dict[str, int]:
    """Add up the bytes of messages by the kind of collective."""
    return {
        kind: sum(one["bytes"] for one in messages if one["kind"] == kind)
        for kind in meshes.COLLECTIVES
    }


def work(job: dict) -> dict:
    """The results of `compare`, from inside the process with JAX."""
    return {name: _train(layout, job) for name, layout in job["layouts"].items()}


def _train(layout, job):
    import jax
    import keras
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = meshes.prepare(layout)
    keras.utils.set_random_seed(job["seed"])
    model = transformer.decoder(**job["sizes"])
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    if unknown := set(layout["weights"]) - {v.path for v in model.trainable_variables}:
        raise ValueError(f"the network has no weight {min(unknown)}")
    weights = [variable.value for variable in model.trainable_variables]
    moments = [variable.value for variable in optimizer.variables]
    split = NamedSharding(mesh, PartitionSpec(next(iter(layout["mesh"]))))
    words = jax.device_put(np.array(job["words"], "int32"), split)
    found = {
        "weights": meshes.bytes_by_device(weights),
        "moments": meshes.bytes_by_device(moments),
    }

    def forward(weights, words):
        return model.stateless_call(weights, [], words[:, :-1])[0]

    program = jax.jit(forward).lower(weights, words).compile().as_text()
    found["forward"] = meshes.collectives(program)
    whole = NamedSharding(mesh, PartitionSpec())
    kept = whole, [w.sharding for w in weights], [m.sharding for m in moments]
    step = jax.jit(training_step(model, optimizer), out_shardings=kept)
    compiled = step.lower(weights, moments, words).compile()
    found["step"] = meshes.collectives(compiled.as_text())
    losses = []
    for _ in range(job["steps"]):
        loss, weights, moments = compiled(weights, moments, words)
        losses.append(float(loss))
    return found | {"losses": losses}
