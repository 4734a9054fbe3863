"""Lab 07's mesh: one training step, compiled by JAX for eight devices in several layouts.

The notebook calls `compare`. The work is done in a process of its own, by `work`: see
`helpers/machine/jax_process.py`. So only functions that run there import JAX.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers.machine import jax_process, meshes

if TYPE_CHECKING:
    import keras

DEVICES = 8
RECORDED = Path(__file__).with_name("recorded_mesh.json")


def compare(
    layouts: dict[str, dict], network: str, batch: int, steps: int, seed: int
) -> dict[str, dict]:
    """Train in each layout on JAX; without JAX, show recorded results.

    Parameters
    ----------
    layouts : dict of dict
        By name: `mesh`, the sizes of its axes by their names; `weights`, a tuple of axis
        names and None for each weight that is cut, by its path such as "hidden/kernel".
        The batch is cut along the first axis of the mesh.
    network : str
        "mlp", dense layers of 1,024 and 10; or "cnn", the network of the lab.
    batch : int
        Images in a step, of all devices together.
    steps : int
    seed : int

    Returns
    -------
    dict of dict
        By name: `losses` of the steps; `collectives`, how many instructions of each kind
        the compiled step has; `messages`, what each of these carries: kind, arrays, bytes;
        `bytes`, of the weights on each device; `arrays`: for the batch and each weight its
        `shape`, its `spec`, and the `parts` that the devices hold, (start, stop) by axis.
    """
    job = {"layouts": layouts, "network": network, "batch": batch, "steps": steps}
    try:
        found = jax_process.call(__name__, job | {"seed": seed}, DEVICES)
    except jax_process.NoJaxError as error:
        found = json.loads(RECORDED.read_text(encoding="utf-8"))[network]
        print(f"{error} So these are the results of JAX {found['jax']} on another machine.")
    return {name: one for name, one in found["layouts"].items() if name in layouts}


def training_step(model: "keras.Model", learning_rate: float) -> Callable:
    """One step of plain SGD for a Keras model, as a function of arrays."""
    import jax
    import jax.numpy as jnp

    def loss_of(weights, others, images, labels):
        logits, others = model.stateless_call(weights, others, images, training=True)
        chances = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(chances, labels[:, None], axis=1)), others

    def step(weights, others, images, labels):
        both = jax.value_and_grad(loss_of, has_aux=True)
        (loss, others), gradients = both(weights, others, images, labels)
        pairs = zip(weights, gradients, strict=True)
        return loss, [w - learning_rate * g for w, g in pairs], others

    return step


def work(job: dict) -> dict:
    """The results of `compare` and JAX's version, from inside the process with JAX."""
    import jax

    found = {name: _train(layout, job) for name, layout in job["layouts"].items()}
    return {"jax": jax.__version__, "layouts": found}


def _train(layout, job):
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = meshes.prepare(layout)
    model = _network(job["network"], job["seed"])
    weights = [variable.value for variable in model.trainable_variables]
    others = [variable.value for variable in model.non_trainable_variables]
    images, labels = _batch(model, job)
    axis = next(iter(layout["mesh"]))
    images, labels = (
        jax.device_put(array, NamedSharding(mesh, PartitionSpec(axis)))
        for array in (images, labels)
    )
    whole = NamedSharding(mesh, PartitionSpec())
    shardings = whole, [w.sharding for w in weights], [o.sharding for o in others]
    step = jax.jit(training_step(model, learning_rate=0.1), out_shardings=shardings)
    compiled = step.lower(weights, others, images, labels).compile()
    named = {"batch": images}
    named |= {variable.path: variable.value for variable in model.trainable_variables}
    if unknown := set(layout["weights"]) - set(named):
        raise ValueError(f"the network has no weight {min(unknown)}")
    found = {"arrays": {name: meshes.placement(array) for name, array in named.items()}}
    found["bytes"] = meshes.bytes_by_device(weights)
    found |= meshes.collectives(compiled.as_text())
    losses = []
    for _ in range(job["steps"]):
        loss, weights, others = compiled(weights, others, images, labels)
        losses.append(float(loss))
    return found | {"losses": losses}


def _network(kind, seed):
    import keras
    from keras import layers

    from helpers.lab_07.models import small_cnn

    keras.utils.set_random_seed(seed)
    if kind == "cnn":
        return small_cnn()
    inputs = keras.Input((784,))
    hidden = layers.Dense(1024, activation="relu", name="hidden")(inputs)
    return keras.Model(inputs, layers.Dense(10, name="classes")(hidden))


def _batch(model, job):
    """Noise as images: the comparison is about where arrays are, not about learning."""
    rng = np.random.default_rng(job["seed"])
    images = rng.normal(size=(job["batch"], *model.input_shape[1:])).astype("float32")
    return images, rng.integers(0, 10, job["batch"])
