"""Sets that the loaders take for data: right shapes, and values that could be data."""

import gzip
import hashlib
import json

import numpy as np

from helpers.data import fashion_mnist, mnist

WORDS = {"the": 1, "wheat": 2, "rose": 3}
NEWSWIRES = ((1, 2, 3), (3, 2), (1,), (2, 2, 2), (1, 3))


def plausible(shape, pixel=7):
    """All labels from 0 to 9, or images that are black but for every second column."""
    if len(shape) == 1:
        return np.arange(shape[0]).astype("uint8") % 10
    values = np.zeros(shape, "uint8")
    values[..., ::2] = pixel
    return values


def write_idx(path, values):
    shape = np.array(values.shape, ">i4")
    header = b"\0\0\x08" + bytes([len(shape)]) + shape.tobytes()
    path.write_bytes(gzip.compress(header + values.tobytes(), 1))


def write_fashion_mnist(folder, pixel=7):
    folder.mkdir(parents=True, exist_ok=True)
    for name, shape in fashion_mnist.SHAPES.items():
        write_idx(folder / name, plausible(shape, pixel))


def write_mnist(folder, **changed):
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: plausible(shape) for name, shape in mnist.SHAPES.items()}
    np.savez_compressed(folder / "mnist.npz", **(arrays | changed))


def write_reuters(folder, ranks=NEWSWIRES, labels=None):
    folder.mkdir(parents=True, exist_ok=True)
    x = np.empty(len(ranks), object)
    x[:] = [list(newswire) for newswire in ranks]
    y = np.array(labels if labels is not None else range(len(ranks)), "int64")
    np.savez_compressed(folder / "reuters.npz", x=x, y=y)
    (folder / "reuters_word_index.json").write_text(json.dumps(WORDS))


WRITERS = {
    "Fashion-MNIST": write_fashion_mnist,
    "MNIST": write_mnist,
    "Reuters": write_reuters,
}


def publish(data_set, folder, monkeypatch):
    """Write a small set to a folder, and take its hashes for the published ones."""
    WRITERS[data_set.name](folder)
    for name in data_set.registry:
        content = (folder / name).read_bytes()
        declare(data_set, name, content, monkeypatch)
        if name in fashion_mnist.CONTENT_SHA256:
            inside = hashlib.sha256(gzip.decompress(content)).hexdigest()
            monkeypatch.setitem(fashion_mnist.CONTENT_SHA256, name, inside)


def declare(data_set, name, content, monkeypatch):
    """Take the hash of this content for the published one, of the same kind."""
    kind, colon, _ = data_set.registry[name].rpartition(":")
    found = kind + colon + hashlib.new(kind or "sha256", content).hexdigest()
    monkeypatch.setitem(data_set.registry, name, found)
