"""The class ring from the command line: host it, or join it."""

import secrets
from pathlib import Path

from rich.console import Console

from helpers.errors import LabError
from helpers.machine.computer import cores, cpu_name
from helpers.run_card.documents import open_card, versions
from kit.class_ring import host, member

LAB = "class_ring"  # of its run cards
LARGEST_RING = 64


def join(code: str) -> None:
    """Join the ring of the host that shows this code; `LabError` if that fails."""
    member.join(code)


def host_ring(size: int | None, hosts: Path | None) -> None:
    """Host a ring until its rounds are done, and keep it on a run card.

    Parameters
    ----------
    size : int, optional
        How many laptops to wait for; by default as many as the file has hosts.
    hosts : Path, optional
        The only hosts that may join; by default every host that has the code.

    Raises
    ------
    LabError
        If the ring cannot start, or a laptop cannot do its part.
    """
    allowed = host.hosts_in(hosts) if hosts else {}
    size = size or len(allowed)
    if not 2 <= size <= LARGEST_RING:
        raise LabError(
            f"a ring has 2 to {LARGEST_RING} laptops, not {size}: change --ring."
        )
    room = host.Room(allowed)
    parameters = {"session": secrets.token_hex(8), "laptops": size, "rounds": host.ROUNDS}
    device = {
        "kind": "cpu", "name": f"{cpu_name()}, {cores()} cores", "replicas": size,
        "simulated": False,
    }  # fmt: skip
    card = open_card(LAB, parameters, {"device": device, "versions": versions()})
    ended = "The host has ended the ring."
    try:
        with host.Record(card, Console(), f"Join with: {room.joining}") as record:
            room.open(record.show)
            ended = host.run_ring(room, record, size)
            record.show(f"{ended} Kept in {card.path}; `labs pool` reads it.")
    finally:
        room.end(ended)
