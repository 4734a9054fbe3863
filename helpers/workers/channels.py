"""Send arrays between processes over TCP."""

import math
import queue
import socket
import struct
import threading
import time

import numpy as np

from helpers.errors import LabError

HEADER = struct.Struct("<8sq")  # the dtype as NumPy writes it, and how many values
RANK = struct.Struct("<q")
RETRY_SECONDS = 0.02


class Channels:
    """The functions `send` and `receive` of a ring all-reduce between processes.

    A thread for each other process takes in what comes, so that `send` waits only until
    the network has the array, never until the receiver asks for it.

    Parameters
    ----------
    addresses : list of str
        ``host:port`` of every worker.
    rank : int
        Which of them this is.
    limit_seconds : float
        No wait is longer.
    latency_seconds, bytes_per_second : float
        Of a slower link, which is imitated: before each message its sender sleeps for
        the latency and for the time that the bytes would take.
    """

    def __init__(
        self,
        addresses: list[str],
        rank: int,
        limit_seconds: float = 60.0,
        latency_seconds: float = 0.0,
        bytes_per_second: float = math.inf,
    ) -> None:
        self._addresses, self._rank, self._limit = addresses, rank, limit_seconds
        self._latency, self._bandwidth = latency_seconds, bytes_per_second
        self._boxes = [queue.SimpleQueue() for _ in addresses]
        self._outgoing, self.bytes_sent = {}, 0
        self._server = socket.create_server(_pair(addresses[rank]))
        threading.Thread(target=self._take_connections, daemon=True).start()

    def send(self, to: int, array: np.ndarray) -> None:
        """Send an array of one axis to a worker."""
        array = np.ascontiguousarray(array)
        connection = self._outgoing.get(to) or self._connect(to)
        if link_seconds := self._latency + array.nbytes / self._bandwidth:
            time.sleep(link_seconds)
        try:
            connection.sendall(HEADER.pack(array.dtype.str.encode(), array.size))
            connection.sendall(array.view("uint8"))
        except OSError as error:
            raise self._lost(to) from error
        self.bytes_sent += array.nbytes

    def receive(self, sender: int) -> np.ndarray:
        """The next array of a worker: waits for it."""
        try:
            array = self._boxes[sender].get(timeout=self._limit)
        except queue.Empty:
            raise LabError(
                f"worker {self._rank} waited {self._limit:g} s for worker {sender}, which "
                "sent nothing: who sends to whom in your function?"
            ) from None
        if array is None:
            raise self._lost(sender)
        return array

    def _lost(self, other):
        return LabError(f"worker {self._rank} lost its connection to worker {other}")

    def _connect(self, to):
        deadline = time.monotonic() + self._limit
        while True:
            try:
                connection = socket.create_connection(_pair(self._addresses[to]), 5)
                break
            except OSError as error:  # it has not started yet
                if time.monotonic() > deadline:
                    raise self._lost(to) from error
                time.sleep(RETRY_SECONDS)
        connection.settimeout(self._limit)
        # Else the network gathers small messages before it sends them.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(RANK.pack(self._rank))
        self._outgoing[to] = connection
        return connection

    def _take_connections(self):
        while True:
            connection, _ = self._server.accept()
            threading.Thread(
                target=self._take_arrays, args=(connection,), daemon=True
            ).start()

    def _take_arrays(self, connection):
        stream = connection.makefile("rb")
        (sender,) = RANK.unpack(stream.read(RANK.size))
        while len(header := stream.read(HEADER.size)) == HEADER.size:
            dtype, values = HEADER.unpack(header)
            array = np.empty(values, dtype.rstrip(b"\0").decode())
            if stream.readinto(array.view("uint8")) < array.nbytes:
                break
            self._boxes[sender].put(array)
        self._boxes[sender].put(None)


def _pair(address):
    host, _, port = address.rpartition(":")
    return host, int(port)
