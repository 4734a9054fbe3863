"""Frames from strangers: what is no frame, or too large, is refused at its header."""

import json
import socket
import struct
import threading
import time

import numpy as np
import pytest

from kit.class_ring import frames
from kit.class_ring.frames import FrameError


@pytest.fixture
def pair():
    """Two ends of a connection."""
    ours, its = socket.socketpair()
    with ours, its:
        yield ours, its


@pytest.mark.parametrize(
    "array",
    [np.arange(6, dtype="float32").reshape(2, 3), np.zeros(0, "u1"), np.array(7, "<i8"),
     np.arange(12.0).reshape(3, 4).T],
    ids=["two axes", "empty", "no axis", "not contiguous"],
)  # fmt: skip
def test_an_array_is_received_as_it_was_sent(pair, array):
    frames.send_array(pair[0], array)
    received = frames.receive_array(pair[1], 1)
    assert received.dtype == array.dtype
    np.testing.assert_array_equal(received, array)
    received += 1  # its receiver owns it


def header(mark=frames.ARRAY_MARK, dtype=b"<f4", axes=1, shape=(4, 0, 0, 0)):
    return frames.ARRAY_HEADER.pack(mark, dtype, axes, *shape)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n" * 2, "header is missing"),
        (b"\x80\x04\x95" + bytes(60), "header is missing"),  # a pickle
        (header(dtype=b"|O"), "dtype '|O'"),
        (header(dtype=b"\xff\xfe"), "dtype"),
        (header(axes=9), "shape"),
        (header(shape=(-1, 0, 0, 0)), "shape"),
        (header(axes=1, shape=(4, 4, 0, 0)), "shape"),
        (header(shape=(2**62, 0, 0, 0)), "is more than"),
        (header(axes=4, shape=(2**30, 2**30, 2**30, 2**30)), "is more than"),
        (header(shape=(26, 0, 0, 0)), "104 bytes is more than the 100"),
    ],
    ids=["HTTP", "a pickle", "objects", "no dtype", "nine axes", "negative",
         "more axes than it says", "overflow", "overflow of four", "too large"],
)  # fmt: skip
def test_what_is_no_array_is_refused_by_its_header(pair, sent, why):
    pair[0].sendall(sent)
    with pytest.raises(FrameError) as refused:
        frames.receive_array(pair[1], 1, 100)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"[1]", b'{"a": NaN}', b"[" * 5000, b"\xff", b"null", b""],
    ids=["a list", "nan", "nested deep", "no UTF-8", "null", "nothing"],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(pair, content):
    pair[0].sendall(struct.pack("<4sI", frames.JSON_MARK, len(content)) + content)
    with pytest.raises(FrameError):
        frames.receive_json(pair[1], 1)


def test_an_oversized_message_is_refused_before_it_is_read(pair):
    pair[0].sendall(struct.pack("<4sI", frames.JSON_MARK, 2**32 - 1))
    with pytest.raises(FrameError, match="at most 65536 bytes"):
        frames.receive_json(pair[1], 1)


def test_a_sender_cannot_dawdle_byte_by_byte(pair):
    content = json.dumps({"a": "b" * 50}).encode()
    message = struct.pack("<4sI", frames.JSON_MARK, len(content)) + content
    stop = threading.Event()

    def dawdle():
        for byte in message:
            pair[0].send(bytes([byte]))
            if stop.wait(0.05):
                return

    thread = threading.Thread(target=dawdle)
    thread.start()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        frames.receive_json(pair[1], 0.4)
    assert time.monotonic() - began < 2
    stop.set()
    thread.join()


def test_an_end_in_the_middle_is_no_frame(pair):
    pair[0].sendall(header() + b"123")
    pair[0].close()
    with pytest.raises(ConnectionError):
        frames.receive_array(pair[1], 1)
