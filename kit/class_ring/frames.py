"""Frames on a socket between machines that do not trust each other: JSON, and arrays.

Nothing here can run code of the sender, as a pickle could. A frame begins with a header of
a known size, and the reader says how much may follow before a byte of it is kept.
"""

import json
import math
import select
import socket
import struct
import time
from typing import Any, NoReturn

import numpy as np

from helpers.errors import LabError
from helpers.plain_json import as_json
from helpers.workers.array_message import DTYPES

JSON_MARK, ARRAY_MARK = b"SLJ1", b"SLA1"
MOST_AXES = 4
JSON_HEADER = struct.Struct("<4sI")  # the mark, and the bytes that follow
ARRAY_HEADER = struct.Struct(f"<4s4sB{MOST_AXES}q")  # the mark, dtype, axes and shape
MOST_JSON_BYTES = 2**16
MOST_ARRAY_BYTES = 2**26


class FrameError(LabError):
    """Bytes that are no frame, or a frame that is refused."""


def send_json(connection: socket.socket, message: dict) -> None:
    """Send a dict as JSON."""
    content = as_json(message).encode()
    connection.sendall(JSON_HEADER.pack(JSON_MARK, len(content)) + content)


def receive_json(
    connection: socket.socket, seconds: float, most_bytes: int = MOST_JSON_BYTES
) -> dict[str, Any]:
    """The next frame, which has to be a dict.

    Parameters
    ----------
    connection : socket.socket
    seconds : float
        Until all of it has to be here, so that a sender cannot dawdle byte by byte.
    most_bytes : int

    Raises
    ------
    FrameError
        If it is something else, or longer.
    OSError
        If the connection ends, or the time is over.
    """
    deadline = time.monotonic() + seconds
    header = _exactly(connection, JSON_HEADER.size, deadline)
    mark, size = JSON_HEADER.unpack(header)
    if mark != JSON_MARK or size > most_bytes:
        raise FrameError(f"a message of at most {most_bytes} bytes was expected")
    try:
        message = json.loads(
            bytes(_exactly(connection, size, deadline)), parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        raise FrameError("the message is not JSON") from error
    if not isinstance(message, dict):
        raise FrameError("the message is no JSON object")
    return message


def send_array(connection: socket.socket, array: np.ndarray) -> None:
    """Send an array as its bytes, after a header that says what they are."""
    shape = (*array.shape, *[0] * (MOST_AXES - array.ndim))
    mark = array.dtype.str.encode()
    connection.sendall(ARRAY_HEADER.pack(ARRAY_MARK, mark, array.ndim, *shape))
    connection.sendall(array.tobytes())


def receive_array(
    connection: socket.socket, seconds: float, most_bytes: int = MOST_ARRAY_BYTES
) -> np.ndarray:
    """The next frame, which has to be an array.

    Parameters
    ----------
    connection : socket.socket
    seconds : float
        Until all of it has to be here.
    most_bytes : int
        Memory is taken only after the header has been checked against it.

    Raises
    ------
    FrameError, OSError
        As `receive_json`.
    """
    deadline = time.monotonic() + seconds
    header = _exactly(connection, ARRAY_HEADER.size, deadline)
    dtype, shape = _checked(ARRAY_HEADER.unpack(header), most_bytes)
    size = math.prod(shape) * dtype.itemsize
    return np.frombuffer(_exactly(connection, size, deadline), dtype).reshape(shape)


def _checked(header, most_bytes):
    mark, name, axes, *shape = header
    if mark != ARRAY_MARK:
        raise FrameError("an array was expected, but its header is missing")
    text = name.rstrip(b"\0").decode("ascii", "replace")
    if text not in DTYPES:
        raise FrameError(f"an array of dtype {text!r} is not accepted")
    if axes > MOST_AXES or any(shape[axes:]) or min(shape) < 0:
        raise FrameError(f"the shape {shape} with {axes} axes is not accepted")
    dtype = np.dtype(text)
    if (size := math.prod(shape[:axes]) * dtype.itemsize) > most_bytes:
        raise FrameError(f"an array of {size} bytes is more than the {most_bytes} accepted")
    return dtype, shape[:axes]


def _exactly(connection, size, deadline):
    """So many bytes. The socket's own timeout stays: another thread may be sending."""
    content = bytearray(size)
    view, got = memoryview(content), 0
    ready = select.poll()
    ready.register(connection, select.POLLIN)
    while got < size:
        if not ready.poll(max(0, 1000 * (deadline - time.monotonic()))):
            raise TimeoutError("nothing was received in time")
        if not (now := connection.recv_into(view[got:])):
            raise ConnectionError("the connection has ended")
        got += now
    return content


def _no_number(text) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
