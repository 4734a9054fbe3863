"""Lab 00, and part 1 of lab 08: products, sums, copies and empty calls of a device."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

GIB = 2**30


def limits(size: int = 8192, array_bytes: int = GIB) -> dict:
    """Products, sums, copies and empty calls: what no training can beat."""
    products = {}
    for name, dtype, precision in (
        ("float32", "float32", "highest"),
        ("float32 as Keras asks", "float32", None),
        ("bfloat16", "bfloat16", None),
    ):
        left, right = jax.random.normal(jax.random.key(0), (2, size, size), dtype)
        product = jax.jit(partial(jnp.matmul, precision=precision))
        products[name] = 2 * size**3 / seconds_of(partial(product, left, right), min)
    values = jnp.zeros(array_bytes // 4)
    add = partial(jax.jit(jnp.add), values, jnp.ones_like(values))
    copy = partial(jax.device_put, np.zeros(array_bytes, "uint8"))
    empty = partial(jax.jit(lambda x: x + 1), jnp.zeros(()))
    return {
        "product_operations_per_second": products,
        "sum_bytes_per_second": 3 * array_bytes / seconds_of(add, min),
        "copy_to_device_bytes_per_second": array_bytes / seconds_of(copy, min),
        "empty_call_seconds": seconds_of(empty),
        "empty_call_returned_seconds": _returned(empty),
    }


def seconds_of(
    call: Callable[[], Any], choose: Callable[[list[float]], float] = median
) -> float:
    """Seconds of a call until its result is there, without the first two calls."""
    took: list[float] = []
    while len(took) < 7 or sum(took) < 0.3:
        began = time.perf_counter()
        jax.block_until_ready(call())
        took.append(time.perf_counter() - began)
    return choose(took[2:])


def _returned(call):
    """Median seconds until a call returns, whether or not its result is there."""
    took = []
    for _ in range(20):
        began = time.perf_counter()
        result = call()
        took.append(time.perf_counter() - began)
        jax.block_until_ready(result)
    return median(took)


def products(largest: int = 8192, rows: int = 10_000, columns: int = 100_000) -> dict:
    """Lab 00: the product of square matrices in float32, on the GPU and on the CPU."""
    sizes = [2**i for i in range(4, largest.bit_length())]
    product = jax.jit(lambda a, b: jnp.matmul(a, b, precision="highest"))
    found: dict[str, Any] = {"sizes": sizes}
    for kind, device in (("gpu", jax.devices()[0]), ("cpu", jax.devices("cpu")[0])):
        seconds = []
        for size in sizes:
            left, right = _random(device, (size, size), (size, size))
            seconds.append(seconds_of(lambda a=left, b=right: product(a, b)))
        found[f"{kind}_seconds"] = seconds
    square = round((100 * rows * columns) ** (1 / 3))
    for name, shapes in (
        ("flat", ((rows, 100), (100, columns))),
        ("square", ((square, square), (square, square))),
    ):
        left, right = _random(jax.devices()[0], *shapes)
        took = seconds_of(lambda a=left, b=right: product(a, b))
        found[f"{name}_operations_per_second"] = (
            2 * shapes[0][0] * shapes[0][1] * shapes[1][1] / took
        )
    left, right = _random(jax.devices()[0], (1000, 1000), (1000, 1000))
    finished = seconds_of(lambda: product(left, right))
    return found | {
        "finished_over_returned": finished / _returned(lambda: product(left, right))
    }


def _random(device, *shapes):
    rng = np.random.default_rng(0)
    return [jax.device_put(rng.standard_normal(s, "float32"), device) for s in shapes]
