"""How long an all-reduce takes on many devices: a ring, a tree, or two levels."""

from itertools import count
from math import ceil, log2


def ring_seconds(
    devices: int, gradient_bytes: float, latency: float, bytes_per_second: float
) -> float:
    """2 (n - 1) messages, one after the other, each with an n-th of the gradient."""
    message = latency + gradient_bytes / devices / bytes_per_second
    return 2 * (devices - 1) * message


def tree_seconds(
    devices: int, gradient_bytes: float, latency: float, bytes_per_second: float
) -> float:
    """Up a tree and down again: 2 log2(n) latencies, and the gradient twice.

    The gradient is cut into so many pieces that all levels of the tree work at the same
    time, and two trees share the work, so that every link is busy in both directions.
    """
    levels = ceil(log2(devices))
    return 2 * levels * latency + min(levels, 1) * 2 * gradient_bytes / bytes_per_second


def two_levels_seconds(
    devices: int,
    gradient_bytes: float,
    latency: float,
    bytes_per_second: float,
    machine_devices: int,
    machine_bytes_per_second: float,
) -> float:
    """A ring inside each machine, and between machines the better of ring and tree.

    Inside, a reduce-scatter leaves each device with one part of the sum. Each device adds
    up its part with its partners in the other machines, over a link of its own; then an
    all-gather inside each machine hands out the parts.
    """
    inside = min(devices, machine_devices)
    machines = ceil(devices / machine_devices)
    across = machines, gradient_bytes / inside, latency, bytes_per_second
    ring_inside = ring_seconds(inside, gradient_bytes, latency, machine_bytes_per_second)
    return ring_inside + min(ring_seconds(*across), tree_seconds(*across))


def seconds_by_way(
    devices: int,
    gradient_bytes: float,
    latency: float,
    bytes_per_second: float,
    machine_devices: int = 1,
    machine_bytes_per_second: float = 0.0,
) -> dict[str, float]:
    """Seconds of an all-reduce in each of the three ways.

    Parameters
    ----------
    devices : int
    gradient_bytes : float
    latency : float
        Seconds of a message without its bytes, on any link.
    bytes_per_second : float
        Of the link that each device has to other machines.
    machine_devices : int
        Devices in a machine; with one, there are no two levels.
    machine_bytes_per_second : float
        Of the link between two devices of a machine.

    Returns
    -------
    dict of str to float
        ``"ring"``, ``"tree"`` and ``"two levels"``.
    """
    link = gradient_bytes, latency, bytes_per_second
    ways = {"ring": ring_seconds(devices, *link), "tree": tree_seconds(devices, *link)}
    if machine_devices > 1:
        machine = machine_devices, machine_bytes_per_second
        ways["two levels"] = two_levels_seconds(devices, *link, *machine)
    return ways


def crossover(gradient_bytes: float, latency: float, bytes_per_second: float) -> int:
    """The smallest number of devices at which a tree is faster than a ring."""
    link = gradient_bytes, latency, bytes_per_second
    return next(n for n in count(2) if tree_seconds(n, *link) < ring_seconds(n, *link))
