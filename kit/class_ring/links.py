"""The two links of a member: to the next laptop of the ring, and from the one before."""

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from helpers.errors import LabError
from helpers.workers.collectives import all_gather, reduce_scatter
from kit.class_ring import LINK, LINK_PORTS, join_code
from kit.class_ring.frames import receive_array, receive_json, send_array, send_json
from kit.class_ring.link_law import SMALL_BYTES

FORM_SECONDS, LIMIT_SECONDS = 10.0, 60.0
RETRY_SECONDS = 0.1
PINGS, REPEATS = 15, 3
SMALLEST_PROBE, LARGEST_PROBE = 2**16, 2**24  # bytes; each size is twice the one before
LONG_SECONDS = 0.2  # of a probe: larger ones would only take longer


class Links:
    """Listens for the laptop before, and connects to the next one, again for each ring.

    Parameters
    ----------
    key, salt : bytes
        Of the join code: a stranger who connects is turned away.
    """

    def __init__(self, key: bytes, salt: bytes) -> None:
        self._key, self._salt = key, salt
        self._server = _listening()
        self.port = self._server.getsockname()[1]
        self._guests: queue.Queue = queue.Queue(16)
        # The connections of the ring; None between two rings, and as soon as another
        # thread has closed them: `_open` says so.
        self._next: Any = None
        self._before: Any = None
        self._sender = ThreadPoolExecutor(1)
        self._sent: Future | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def form(self, generation: int, rank: int, addresses: list[tuple[str, int]]) -> None:
        """Connect to the next member, and wait for the one before.

        Parameters
        ----------
        generation : int
            Which ring this is: a member that still is in an earlier one is turned away.
        rank : int
        addresses : list of tuple
            Host and port of every member.

        Raises
        ------
        LabError
            If one of them cannot be reached.
        """
        self.close()
        self._workers, self._rank = len(addresses), rank
        after, before = (rank + 1) % self._workers, (rank - 1) % self._workers
        deadline = time.monotonic() + FORM_SECONDS
        self._next = _connected(addresses[after], self._key, deadline)
        send_json(_open(self._next), {"generation": generation, "rank": rank})
        while self._before is None:
            try:
                left = max(0, deadline - time.monotonic())
                connection, hello = self._guests.get(timeout=left)
            except queue.Empty:
                raise LabError(
                    "the laptop before did not connect: can it reach this one?"
                ) from None
            if hello == {"generation": generation, "rank": before}:
                self._before = connection
            else:
                connection.close()

    def close(self) -> None:
        """End both links; a thread that waits on one of them gets an error."""
        for connection in (self._next, self._before):
            if connection:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()
        self._next = self._before = self._sent = None

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        """The sum of the arrays of all members, around the ring."""
        ring = self._rank, self._workers, self._send, self._receive
        total = all_gather(reduce_scatter(array, *ring), *ring)
        self._wait_until_sent()
        return total

    def measure(self) -> list[tuple[int, float]]:
        """Time arrays of several sizes on the link to the next member, which answers.

        Returns
        -------
        list of (bytes, seconds)
            Until the answer is here.
        """
        points = [self._probe(SMALL_BYTES) for _ in range(PINGS)]
        size, seconds = SMALLEST_PROBE, 0.0
        # Two sizes at least, else there is no slope.
        second = 2 * SMALLEST_PROBE
        while size <= LARGEST_PROBE and (seconds < LONG_SECONDS or size <= second):
            points += [self._probe(size) for _ in range(REPEATS)]
            seconds, size = points[-1][1], 2 * size
        send_array(_open(self._next), np.empty(0, "uint8"))
        return points

    def answer(self) -> None:
        """Answer the laptop before, which measures its link."""
        tiny = np.zeros(1, "uint8")
        while receive_array(_open(self._before), LIMIT_SECONDS, LARGEST_PROBE).size:
            send_array(_open(self._before), tiny)

    def _probe(self, size):
        array = np.zeros(size, "uint8")
        began = time.perf_counter()
        send_array(_open(self._next), array)
        receive_array(_open(self._next), LIMIT_SECONDS, 1)
        return size, time.perf_counter() - began

    def _send(self, to, array):
        # In a thread: if all waited until the network has their array, nobody would read.
        self._wait_until_sent()
        self._sent = self._sender.submit(send_array, _open(self._next), array.copy())

    def _wait_until_sent(self):
        if sent := self._sent:  # read once: another thread may close the links
            sent.result(LIMIT_SECONDS)

    def _receive(self, sender):
        return receive_array(_open(self._before), LIMIT_SECONDS)

    def _listen(self):
        while True:
            connection, _ = self._server.accept()
            threading.Thread(target=self._admit, args=(connection,), daemon=True).start()

    def _admit(self, connection):
        try:
            _prepare(connection)
            join_code.admit(connection, self._key, self._salt, LINK)
            hello = receive_json(connection, FORM_SECONDS, 100)
            self._guests.put_nowait((connection, hello))
        except (LabError, OSError, queue.Full):
            connection.close()


def _open(connection):
    if connection is None:
        raise ConnectionError("the links of this ring have been closed")
    return connection


def _listening():
    """At a port that a firewall's rule can name; at any other if all of these are taken."""
    for port in (*LINK_PORTS, 0):
        with contextlib.suppress(OSError):
            return socket.create_server(("", port))
    raise LabError("this laptop has no free port on which the one before could connect.")


def _connected(address, key, deadline):
    while True:
        try:
            connection = socket.create_connection(address, 2)
            _prepare(connection)
            join_code.enter(connection, lambda salt: key, LINK)
            return connection
        except OSError as error:
            if time.monotonic() > deadline:
                raise LabError(
                    f"the next laptop cannot be reached ({error}): a firewall, or a Wi-Fi "
                    "that keeps its guests apart?"
                ) from error
            time.sleep(RETRY_SECONDS)


def _prepare(connection):
    connection.settimeout(LIMIT_SECONDS)
    # Else the network gathers small messages before it sends them.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def quietly(function: Callable, *arguments: object) -> None:
    """Call a function whose connection may have ended already."""
    with contextlib.suppress(OSError):
        function(*arguments)
