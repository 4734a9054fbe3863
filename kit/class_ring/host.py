"""The host of the class ring: admits laptops, gives orders, and sees who is missing."""

import contextlib
import math
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from helpers.errors import LabError
from helpers.lab_10.all_reduces import ring_seconds
from kit.class_ring import (
    BEAT_SECONDS,
    CONTROL,
    PORT,
    SILENT_SECONDS,
    join_code,
    shown_name,
)
from kit.class_ring.frames import FrameError, receive_json, send_json
from kit.class_ring.link_law import fit_link
from kit.class_ring.links import LIMIT_SECONDS, quietly
from kit.class_ring.questions import accepted
from kit.class_ring.record import Record

HELLO_SECONDS = 300.0  # a student thinks about the predictions
WAIT_SECONDS = 900.0  # for all to join
ORDER_SECONDS = 120.0
ROUNDS, ROUND_SECONDS = 40, 1.0  # time enough to pull out a laptop
VALUES = (1_000, 100_000, 1_000_000)  # float32, in turn


class Member:
    """A laptop that has joined.

    Parameters
    ----------
    name : str
        As it may be shown.
    connection : socket.socket
    address : tuple of (str, int)
        Where it listens for the laptop before.
    guess : dict
        Its predictions by the names of `QUESTIONS`; those it skipped are missing.
    """

    def __init__(
        self, name: str, connection: socket.socket, address: tuple, guess: dict
    ) -> None:
        self.name, self.connection, self.address = name, connection, address
        self.guess, self.heard = guess, time.monotonic()
        self._lock = threading.Lock()

    def say(self, message: dict) -> None:
        """Send a message; a member that is gone is noticed where its reply is awaited."""
        with self._lock:
            quietly(send_json, self.connection, message)


class Missing(Exception):  # noqa: N818 - it is no error
    """Members that are gone, as its argument."""


class Room:
    """Where laptops join, and what they say.

    Parameters
    ----------
    hosts : dict of str to str
        The names of the only addresses that may join; if empty, every address may.
    port : int
        0: any that is free.
    """

    def __init__(self, hosts: dict[str, str], port: int = PORT) -> None:
        self._hosts = hosts
        self.code, self._salt = join_code.new_code(), secrets.token_bytes(16)
        self._key = join_code.key_of(self.code, self._salt)
        self.members: list[Member] = []
        self._is_open = True
        self._replies: queue.Queue = queue.Queue()
        self._joining = threading.Lock()
        try:
            self._server = socket.create_server(("", port))
        except OSError as error:
            raise LabError(
                f"port {port} cannot be used ({error.strerror}): is another ring here?"
            ) from error
        self.address = (own_address(), self._server.getsockname()[1])
        host, port = self.address
        self.joining = f"labs launch 09 --join {self.code}@{host}:{port}"

    def open(self, show: Callable[[str], None]) -> None:
        """Let laptops join; `show` gets a line on each that is refused."""
        self._show = show
        for work in (self._listen, self._beat):
            threading.Thread(target=work, daemon=True).start()

    def close(self) -> None:
        """The ring starts: nobody can join any more."""
        with self._joining:
            self._is_open = False

    def ask(self, orders: dict[Member, dict]) -> dict[Member, dict]:
        """Give members an order each, and wait for all replies.

        Raises
        ------
        Missing
            If members are gone, of those that have an order or not.
        LabError
            If somebody cannot do it although all are here.
        """
        number, replies = secrets.randbits(31), {}
        for member, order in orders.items():
            member.say(order | {"number": number})
        deadline = time.monotonic() + ORDER_SECONDS
        failed = None
        while len(replies) < len(orders):
            self._raise_missing()
            with contextlib.suppress(queue.Empty):
                member, reply = self._replies.get(timeout=0.1)
                if reply.get("number") == number and member in orders:
                    replies[member] = reply
                    if "failed" in reply and not failed:
                        failed = f"{member.name}: {shown_reason(reply['failed'])}"
                        # If a laptop is missing, its silence says so until then.
                        deadline = time.monotonic() + SILENT_SECONDS + 1
            if time.monotonic() > deadline:
                raise LabError(
                    failed
                    or "a laptop is here, but does not do its part: start the ring again."
                )
        while failed:
            self._raise_missing()
            if time.monotonic() > deadline:
                raise LabError(failed)
            time.sleep(0.1)
        return replies

    def tell(self, text: str) -> None:
        """Show a line on all laptops."""
        for member in self.members:
            member.say({"do": "tell", "text": text})

    def end(self, text: str) -> None:
        """Send everybody home."""
        self.close()
        for member in self.members:
            member.say({"do": "end", "text": text})
        self._server.close()

    def _raise_missing(self):
        late = time.monotonic() - SILENT_SECONDS
        if gone := [member for member in self.members if member.heard < late]:
            raise Missing(gone)

    def _listen(self):
        while True:
            try:
                connection, address = self._server.accept()
            except OSError:  # closed
                return
            who = (connection, address[0])
            threading.Thread(target=self._admit, args=who, daemon=True).start()

    def _admit(self, connection, address):
        try:
            member = self._newcomer(connection, address)
        except (LabError, OSError) as error:
            self._show(f"Refused {address}: {str(error).rstrip('.')}.")
            connection.close()
            return
        self._follow(member)

    def _newcomer(self, connection, address):
        connection.settimeout(LIMIT_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._hosts and address not in self._hosts:
            raise LabError("it is not in the file of hosts.")
        join_code.admit(connection, self._key, self._salt, CONTROL)
        name, port, guess = _hello(receive_json(connection, HELLO_SECONDS, 1000))
        # A laptop that joined on this machine is reached by the others from outside.
        where = self.address[0] if address.startswith("127.") else address
        with self._joining:
            name = self._hosts.get(address, name)
            same = sum(m.name.partition(" #")[0] == name for m in self.members)
            name += f" #{same + 1}" if same else ""
            member = Member(name, connection, (where, port), guess)
            if not self._is_open:
                member.say({"do": "end", "text": "The ring has started without you."})
                raise LabError("the ring has started.")
            self.members.append(member)
        return member

    def _follow(self, member):
        try:
            while True:
                message = receive_json(member.connection, SILENT_SECONDS)
                member.heard = time.monotonic()
                if "beat" not in message:
                    self._replies.put((member, message))
        except (OSError, LabError):
            member.heard = -math.inf  # not only late: gone

    def _beat(self):
        while True:
            for member in list(self.members):
                member.say({"do": "beat"})
            time.sleep(4 * BEAT_SECONDS)


def own_address() -> str:
    """The address by which others in the network reach this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: which way would it go?
            return probe.getsockname()[0]
        except OSError:
            found = (a for all_ in psutil.net_if_addrs().values() for a in all_)
            inet = [a.address for a in found if a.family == socket.AF_INET]
            return next((a for a in inet if not a.startswith("127.")), "127.0.0.1")


def hosts_in(path: Path) -> dict[str, str]:
    """The addresses in a file of hosts, and how to call them.

    Parameters
    ----------
    path : Path
        A name or an address on each line; ``#`` begins a comment.

    Raises
    ------
    LabError
        If there are fewer than two, or one is unknown.
    """
    found = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if name := line.partition("#")[0].strip():
            try:
                found[socket.gethostbyname(name)] = shown_name(name)
            except (OSError, UnicodeError) as error:
                raise LabError(
                    f"{path}: no host is called {shown_name(name)!r}: write its address."
                ) from error
    if len(found) < 2:
        raise LabError(f"{path} has {len(found)} hosts, but a ring needs two or more.")
    return found


def run_ring(
    room: Room, record: Record, size: int, rounds: int = ROUNDS,
    pause: float = ROUND_SECONDS, wait: float = WAIT_SECONDS,
) -> str:  # fmt: skip
    """Wait for laptops, measure their links, and all-reduce until the rounds are done.

    Parameters
    ----------
    room : Room
    record : Record
        Keeps what is measured.
    size : int
        Of laptops.
    rounds : int
    pause : float
        Least seconds from one round to the next.
    wait : float
        Seconds until the ring starts with those who are here.

    Returns
    -------
    str
        How it ended, in one line.
    """
    deadline = time.monotonic() + wait
    shown = 0
    while len(room.members) < size and time.monotonic() < deadline:
        time.sleep(0.1)
        shown = _show_new(room, record, shown)
        gone = [m for m in room.members if m.heard == -math.inf]
        _part_with(room, gone, record, "before the start")
        shown -= len(gone)
    room.close()
    _show_new(room, record, shown)
    record.lock()
    done, generation = 0, 0
    while done < rounds:
        if len(room.members) < 2:
            after = f"{done} round{'s' * (done != 1)}"
            return f"The ring ends after {after}: {len(room.members)} laptop is left."
        generation += 1
        try:
            form(room, generation)
            measure(room, record)
            while done < rounds:
                began = time.monotonic()
                reduce_once(room, record, done, VALUES[done % len(VALUES)])
                done += 1
                time.sleep(max(0, began + pause - time.monotonic()))
        except Missing as missing:
            _part_with(room, missing.args[0], record, f"in round {done + 1}")
    all_done = "The round is done" if done == 1 else f"All {done} rounds are done"
    return f"{all_done}, with {len(room.members)} laptops at the end."


def _show_new(room, record, shown):
    """Show who has joined since; return how many that are by now."""
    for member in room.members[shown:]:
        record.joined(member.name, member.guess)
        shown += 1
    return shown


def _part_with(room, gone, record, when):
    for member in gone:
        room.members.remove(member)
        member.connection.close()
        record.missing(member.name, when)
        room.tell(f"{member.name} is missing {when}; the ring closes the gap.")


def form(room: Room, generation: int) -> None:
    """Connect all members to a ring, in the order in which they joined."""
    addresses = [member.address for member in room.members]
    order = {"do": "form", "generation": generation, "addresses": addresses}
    try:
        room.ask({m: order | {"rank": rank} for rank, m in enumerate(room.members)})
    except LabError as error:  # which only says "the laptop before" or "the next one"
        ring = [*room.members, room.members[0]]
        names = " → ".join(member.name for member in ring)
        raise LabError(f"{error} The ring is {names}.") from error


def measure(room: Room, record: Record) -> None:
    """Measure the links that are new in this ring, one after the other.

    One at a time, because laptops on one Wi-Fi share it.
    """
    for member, after in _pairs(room.members):
        if record.knows(member.name, after.name):
            continue
        replies = room.ask({member: {"do": "measure"}, after: {"do": "answer"}})
        points = _points(replies[member].get("points"), member)
        try:
            link = fit_link(points)
        except ValueError as error:
            raise LabError(f"{member.name} cannot measure its link: {error}") from error
        line = record.link(member.name, after.name, points, link)
        member.say({"do": "tell", "text": line})


def reduce_once(room: Room, record: Record, number: int, values: int) -> None:
    """One all-reduce of all members, with its forecast made before."""
    members = room.members
    forecast = max(
        ring_seconds(len(members), 4 * values, *record.law(one.name, after.name))
        for one, after in _pairs(members)
    )
    orders = {
        member: {"do": "reduce", "values": values, "own": own}
        for own, member in enumerate(members, start=1)
    }
    replies = room.ask(orders)
    right = float(sum(range(1, len(members) + 1)))
    seconds = 0.0
    for member, reply in replies.items():
        if reply.get("range") != [right, right]:
            raise LabError(f"{member.name} has another sum than {right:g}")
        seconds = max(seconds, _amount(reply.get("seconds"), ORDER_SECONDS))
    record.round(number + 1, len(members), 4 * values, forecast, seconds)


def _pairs(members):
    return list(zip(members, [*members[1:], members[0]], strict=True))


def _hello(message):
    """Name, port and predictions of a newcomer, each checked."""
    port, guess = message.get("port"), message.get("guess")
    if type(port) is not int or not 0 < port < 2**16 or not isinstance(guess, dict):
        raise FrameError("it says neither where it listens nor what it predicts")
    return shown_name(message.get("name")), port, accepted(guess)


def _points(points, member):
    if not isinstance(points, list) or len(points) > 100:
        raise LabError(f"{member.name} has sent no measurement: start the ring again.")
    for point in points:
        if not isinstance(point, list) or len(point) != 2:
            raise LabError(f"{member.name} has sent no measurement: start the ring again.")
    return [(_amount(n, 2**30), _amount(seconds, LIMIT_SECONDS)) for n, seconds in points]


def _amount(value, most):
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise LabError(f"{value!r:.40} is no number from 0 to {most:g}")
    return value


def shown_reason(text: object) -> str:
    """A reason from a laptop as it may be shown: one line, printable."""
    return "".join(c for c in str(text)[:200] if c.isprintable())
