"""A mesh of devices on JAX: where arrays are, and the messages of a compiled program.

All functions run in a process whose Keras computes with JAX: see `jax_process`. So only
functions that need JAX import it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import jax

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all",
               "collective-permute")  # fmt: skip
# An instruction of a compiled program: "%name = f32[512,10]{1,0} all-reduce(%operand)".
INSTRUCTION = re.compile(
    rf"^\s*(?:ROOT )?%[\w.-]+ = (.+?) ({'|'.join(COLLECTIVES)})(?:-start)?\(", re.MULTILINE
)
ARRAY = re.compile(r"[a-z]+(\d+)\[([\d,]*)\]")  # f32[512,10]


def prepare(layout: dict) -> "jax.sharding.Mesh":
    """Tell Keras where the variables of the next model go; the mesh, as JAX has it.

    Parameters
    ----------
    layout : dict
        `mesh`, the sizes of its axes by their names; `weights`, a tuple of axis names and
        None for each weight that is split, by its path such as "hidden/kernel". The
        batch is split along the first axis of the mesh.
    """
    import jax
    from keras import distribution

    names, sizes = list(layout["mesh"]), tuple(layout["mesh"].values())
    devices = jax.devices()[: math.prod(sizes)]
    mesh = distribution.DeviceMesh(sizes, names, [f"cpu:{d.id}" for d in devices])
    placed = distribution.LayoutMap(mesh)
    for path, spec in layout["weights"].items():
        placed[path] = tuple(spec)
    chosen = distribution.ModelParallel(layout_map=placed, batch_dim_name=names[0])
    distribution.set_distribution(chosen)
    return jax.sharding.Mesh(np.array(devices).reshape(sizes), names)


def placement(array: "jax.Array") -> dict:
    """An array's `shape` and `spec`, and the `parts` of its devices: (start, stop)."""
    shards = sorted(array.addressable_shards, key=lambda shard: shard.device.id)
    spec = list(getattr(array.sharding, "spec", ()))
    return {
        "shape": list(array.shape),
        "spec": spec + [None] * (array.ndim - len(spec)),
        "parts": [
            [list(cut.indices(size)[:2])
             for cut, size in zip(shard.index, array.shape, strict=True)]
            for shard in shards
        ],
    }  # fmt: skip


def bytes_by_device(arrays: Iterable["jax.Array"]) -> list[int]:
    """The bytes of these arrays on each device."""
    found = Counter()
    for array in arrays:
        for shard in array.addressable_shards:
            found[shard.device.id] += shard.data.nbytes
    return [found[device] for device in sorted(found)]


def collectives(program: str) -> dict:
    """The messages between devices, read from the text of a compiled program.

    Returns
    -------
    dict
        `collectives`, how many instructions of each kind there are; `messages`, what each
        of these carries: kind, arrays, and bytes of its result on one device.
    """
    messages = []
    for types, kind in INSTRUCTION.findall(program):
        arrays = ARRAY.findall(types)
        sizes = [math.prod(map(int, filter(None, dims.split(",")))) for _, dims in arrays]
        total = sum(n * int(bits) // 8 for n, (bits, _) in zip(sizes, arrays, strict=True))
        messages.append({"kind": kind, "arrays": len(arrays), "bytes": total})
    counts = Counter(one["kind"] for one in messages)
    # The first two kinds are always listed, so that a reader sees their zeros.
    kinds = [kind for i, kind in enumerate(COLLECTIVES) if i < 2 or counts[kind]]
    return {"collectives": {kind: counts[kind] for kind in kinds}, "messages": messages}
