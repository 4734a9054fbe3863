"""A join code: short enough to type, and never sent. Each side proves that it knows it.

One side sends a challenge, and both answer with an HMAC over the challenges of both. The
key is the code after scrypt, so that somebody who has recorded a proof needs about 50 ms of
processor time, and 16 MiB, for each of the 31**8 codes.
"""

import hashlib
import hmac
import secrets
import socket
from collections.abc import Callable

from helpers.errors import LabError
from kit.class_ring.frames import FrameError, receive_json, send_json

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without I, L, O, 0 and 1
LENGTH = 8
SECRET_BYTES = 16  # of a salt and of a challenge
MOST_BYTES, SECONDS = 512, 10.0
WRONG = "the join code is wrong"


class JoinError(LabError):
    """A join code that the other side does not accept."""


def new_code() -> str:
    """A random code, such as ``"K7QF-M2XP"``."""
    letters = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    return f"{letters[:4]}-{letters[4:]}"


def parsed(text: str) -> tuple[str, str, int]:
    """Code, host and port of what a host shows, such as ``"K7QF-M2XP@10.0.0.5:29600"``.

    Raises
    ------
    LabError
        If it has another form.
    """
    code, _, address = text.strip().partition("@")
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise LabError(
            f"{text!r} is no join code: type what the host shows, such as "
            "K7QF-M2XP@192.168.1.20:29600."
        )
    return code, host, int(port)


def key_of(code: str, salt: bytes) -> bytes:
    """The key of a code, however it was typed: in small letters, or without the dash."""
    plain = code.upper().replace("-", "").encode(errors="replace")
    return hashlib.scrypt(plain, salt=salt, n=2**14, r=8, p=1, dklen=32)


def admit(connection: socket.socket, key: bytes, salt: bytes, purpose: str) -> None:
    """Challenge a guest, and prove to it in turn that this side has the key.

    Parameters
    ----------
    connection : socket.socket
    key, salt : bytes
        Of `key_of`.
    purpose : str
        A proof for one purpose is worth nothing for another.

    Raises
    ------
    JoinError, FrameError, OSError
        If the guest has another key, or does not answer as it should.
    """
    own = secrets.token_bytes(SECRET_BYTES)
    send_json(connection, {"salt": salt.hex(), "challenge": own.hex()})
    answer = receive_json(connection, SECONDS, MOST_BYTES)
    its = _bytes(answer, "challenge", SECRET_BYTES)
    proof = _bytes(answer, "proof", 32)
    if not hmac.compare_digest(proof, _proof(key, purpose, "guest", own, its)):
        send_json(connection, {"refused": WRONG})
        raise JoinError(WRONG)
    send_json(connection, {"proof": _proof(key, purpose, "host", own, its).hex()})


def enter(
    connection: socket.socket, find_key: Callable[[bytes], bytes], purpose: str
) -> bytes:
    """Answer a host's challenge, and check that the host has the key, too.

    Parameters
    ----------
    connection : socket.socket
    find_key : callable
        Gets the host's salt.
    purpose : str

    Returns
    -------
    bytes
        The key.

    Raises
    ------
    JoinError, FrameError, OSError
        As `admit`.
    """
    asked = receive_json(connection, SECONDS, MOST_BYTES)
    key = find_key(_bytes(asked, "salt", SECRET_BYTES))
    its, own = _bytes(asked, "challenge", SECRET_BYTES), secrets.token_bytes(SECRET_BYTES)
    proof = _proof(key, purpose, "guest", its, own)
    send_json(connection, {"challenge": own.hex(), "proof": proof.hex()})
    reply = receive_json(connection, SECONDS, MOST_BYTES)
    if "refused" in reply:
        raise JoinError(f"{WRONG}: compare it with the one that the host shows.")
    expected = _proof(key, purpose, "host", its, own)
    if not hmac.compare_digest(_bytes(reply, "proof", 32), expected):
        raise JoinError("the host does not know the join code: is the address right?")
    return key


def _proof(key, purpose, role, of_host, of_guest):
    said = f"{purpose} {role}".encode() + of_host + of_guest
    return hmac.digest(key, said, "sha256")


def _bytes(message, name, size):
    try:
        content = bytes.fromhex(message[name])
    except (KeyError, TypeError, ValueError) as error:
        raise FrameError(f"the message has no {name}") from error
    if len(content) != size:
        raise FrameError(f"the {name} has {len(content)} bytes, but should have {size}")
    return content
