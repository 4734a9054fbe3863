"""A laptop of the class ring: joins by the code, and does what the host asks for."""

import queue
import socket
import threading
import time
from collections.abc import Callable

import numpy as np

from helpers.errors import LabError
from kit.class_ring import BEAT_SECONDS, CONTROL, MOST_NAME, join_code
from kit.class_ring.frames import receive_json, send_json
from kit.class_ring.links import LIMIT_SECONDS, Links, quietly
from kit.class_ring.questions import QUESTIONS

CONNECT_SECONDS, HOST_SECONDS = 5.0, 20.0  # a host sends a sign of life, too


def join(
    text: str, ask: Callable[[str], str] = input, tell: Callable[[str], None] = print
) -> None:
    """Join a class ring, and stay until the host ends it.

    Parameters
    ----------
    text : str
        What the host shows: code, host and port.
    ask : callable
        Asks the student a question, and returns the reply. The predictions are sent
        before anything is measured, and the host locks them.
    tell : callable
        Gets the lines to show.

    Raises
    ------
    LabError
        If the host cannot be reached, refuses, or is lost.
    """
    code, host, port = join_code.parsed(text)
    connection, key, salt = _enter(code, host, port)
    links = Links(key, salt)
    guess = _predictions(ask, tell)
    hello = {"name": socket.gethostname()[:MOST_NAME], "port": links.port, "guess": guess}
    lock, orders = threading.Lock(), queue.Queue()

    def say(message):
        with lock:
            send_json(connection, message)

    say(hello)
    for work in (lambda: _beat(say), lambda: _listen(connection, orders, links)):
        threading.Thread(target=work, daemon=True).start()
    tell("Joined. The ring starts when all are here; Ctrl+C leaves it.")
    try:
        _serve(orders, links, say, tell)
    finally:
        links.close()
        connection.close()


def _enter(code, host, port):
    salts = []

    def find_key(salt):
        salts.append(salt)
        return join_code.key_of(code, salt)

    try:
        connection = socket.create_connection((host, port), CONNECT_SECONDS)
        connection.settimeout(LIMIT_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, join_code.enter(connection, find_key, CONTROL), salts[0]
    except OSError as error:
        raise LabError(
            f"no ring at {host}, port {port} ({error}): does the host still wait, and are "
            "you in the same network?"
        ) from error


def _predictions(ask, tell):
    """What the student expects of the link to the next laptop; None for no prediction."""
    tell("Predict the link from your laptop to the next one; Enter skips a question.")
    found = {}
    for name, question in QUESTIONS.items():
        try:
            found[name] = float(ask(f"{question}? "))
        except (ValueError, EOFError):
            found[name] = None
    return found


def _beat(say):
    while True:
        try:
            say({"beat": True})
        except OSError:
            return
        time.sleep(BEAT_SECONDS)


def _listen(connection, orders, links):
    """Take in what the host wants, also while the main thread waits for a neighbour."""
    try:
        while True:
            order = receive_json(connection, HOST_SECONDS)
            if order.get("do") == "beat":
                continue
            if order.get("do") in ("form", "end"):
                links.close()  # a laptop is missing, and a wait for it should end
            orders.put(order)
    except (OSError, LabError):
        links.close()
        orders.put({"do": "lost"})


def _serve(orders, links, say, tell):
    while True:
        order = orders.get()
        what = order.get("do")
        if what == "tell":
            tell(_line(order))
            continue
        if what == "end":
            return tell(_line(order))
        if what == "lost":
            raise LabError(
                "the host is gone, or has refused this laptop. Join again with the code "
                "that it shows."
            )
        try:
            reply = _obey(order, links)
        except (OSError, LabError, RuntimeError, ValueError) as error:
            # The host decides: it knows who is missing.
            reply = {"failed": str(error)[:200]}
        quietly(say, reply | {"number": order.get("number")})


def _line(order):
    return "".join(c for c in str(order.get("text", ""))[:300] if c.isprintable())


def _obey(order, links):
    if order["do"] == "form":
        addresses = [(str(host), int(port)) for host, port in order["addresses"]]
        links.form(order["generation"], order["rank"], addresses)
        return {}
    if order["do"] == "measure":
        return {"points": links.measure()}
    if order["do"] == "answer":
        links.answer()
        return {}
    if order["do"] == "reduce":
        return _reduce(links, order["values"], order["own"])
    raise LabError("the host asks for something unknown: update the kit on both sides.")


def _reduce(links, values, own):
    links.all_reduce(np.ones(64, "float32"))  # everybody is here
    array = np.full(values, own, "float32")
    began = time.perf_counter()
    total = links.all_reduce(array)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "range": [float(total.min()), float(total.max())]}
