"""An array as plain JSON, between a worker in a box and the grader."""

import base64
import math

import numpy as np

DTYPES = (
    "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8",
    "<c8", "<c16",
)  # fmt: skip
MOST_BYTES = 2**10  # the whole array of a worker has some 60
MOST_AXES = 8


def packed(array: np.ndarray) -> dict:
    """An array as plain JSON.

    Raises
    ------
    TypeError, ValueError
        If its dtype is none that travels, or it is too large.
    """
    if array.dtype.str not in DTYPES:
        raise TypeError(f"an array of dtype {array.dtype} cannot be sent")
    if array.nbytes > MOST_BYTES or array.ndim > MOST_AXES:
        raise ValueError(f"an array of shape {array.shape} is too large to be sent")
    content = base64.b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "content": content}


def unpacked(message: dict) -> np.ndarray:
    """An array from what `packed` returned, which a stranger may have written.

    Raises
    ------
    ValueError, TypeError, KeyError
        If it is nothing that `packed` returns.
    """
    dtype, shape = message["dtype"], message["shape"]
    whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    if dtype not in DTYPES or not whole or len(shape) > MOST_AXES:
        raise ValueError("no array")
    content = base64.b64decode(message["content"], validate=True)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if len(content) != size or size > MOST_BYTES:
        raise ValueError(f"{len(content)} bytes for an array of {size}")
    return np.frombuffer(content, dtype).reshape(shape).copy()
