"""Whether other programs kept the processors busy while a cell measured something.

Only their processor time counts. The load average is noted on the run card, but does not
decide: our own trainings raise it, too.
"""

import contextlib
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil

# A fifth of the processors is more than a browser and an editor need.
BUSY_PERCENT = 20
# A shorter cell measures nothing, and the picture that the browser draws would count.
SECONDS = 2
LINE = "Busy machine: other programs used {up_to}{percent}% of the CPUs{when}."


class Reading(NamedTuple):
    """Seconds of processor time until now, and the clock.

    Attributes
    ----------
    busy, idle : float
        Of all processors that this process may use; time that the host of a virtual
        machine gave to other machines is busy, too.
    own : float
        Of this process and those that it has started.
    clock : float
    """

    busy: float
    idle: float
    own: float
    clock: float


def reading() -> Reading:
    """The system's counters at this moment."""
    processors = psutil.cpu_times(percpu=True)
    with contextlib.suppress(AttributeError, psutil.Error):  # macOS
        allowed = psutil.Process().cpu_affinity()
        processors = [processors[n] for n in allowed if n < len(processors)]
    names = ("user", "nice", "system", "irq", "softirq", "steal")
    busy = sum(getattr(one, name, 0.0) for one in processors for name in names)
    idle = sum(one.idle + getattr(one, "iowait", 0.0) for one in processors)
    return Reading(busy, idle, _own_seconds(), time.monotonic())


def _own_seconds():
    """Also of processes that have ended: the system adds them to the one that waited."""
    own, seconds = psutil.Process(), 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it has ended
            times = process.cpu_times()
            seconds += times.user + times.system
            seconds += times.children_user + times.children_system
    return seconds


def others_percent(before: Reading, now: Reading) -> int:
    """The part of the processors' time that other programs took between two readings."""
    busy = now.busy - before.busy
    whole = busy + now.idle - before.idle
    others = busy - (now.own - before.own)
    return round(100 * min(1, max(0, others) / whole)) if whole > 0 else 0


def report(content: dict) -> str:
    """A sentence on a whole run, and how many figures say so; nothing if it was quiet.

    Parameters
    ----------
    content : dict
        A run card's.
    """
    noted = content.get("other_load")
    if not noted:
        return ""
    warning = line(noted["percent"], " during this run", "up to ")
    if n := len(noted["figures"]):
        one = "1 figure says so in its caption."
        warning += f" {one if n == 1 else f'{n} figures say so in their captions.'}"
    return warning


def line(percent: int, when: str = "", up_to: str = "") -> str:
    """The sentence for people; nbval ignores it (kit/authoring/nbval.cfg)."""
    return LINE.format(percent=percent, when=when, up_to=up_to)


class Watch:
    """Takes a reading before and after each cell of a notebook.

    A figure shows what the last long cells have measured, those since the figures before
    them. So it is spoiled if one of these cells was.

    Parameters
    ----------
    note : callable
        ``note(percent, load_average, figure)`` at each cell and each figure for which
        other programs took too much; for a cell, the figure is None.
    """

    def __init__(self, note: Callable[[int, float, str | None], None]) -> None:
        self._note, self._before, self._load = note, reading(), _load_average()
        self._percent, self._drawn = 0, False

    def cell_begins(self, info: object = None) -> None:
        """IPython calls this before a cell."""
        self._before, self._load = reading(), _load_average()

    def cell_ends(self, result: Any) -> None:
        """IPython calls this after a cell: prints a line if it measured beside others."""
        percent = self._this_cell()
        if percent is None:
            return
        if self._drawn:
            self._percent, self._drawn = 0, False
        self._percent = max(self._percent, percent)
        if percent >= BUSY_PERCENT:
            self._note(percent, self._load, None)
            if result.success:
                print(line(percent, " while this cell ran"))

    def percent(self) -> int:
        """Other programs' share while the newest figures were measured; 0 if little."""
        percent = max(self._percent, self._this_cell() or 0)
        return percent if percent >= BUSY_PERCENT else 0

    def figure(self, summary: str) -> str:
        """Note that a figure is drawn; a line for its caption if it may be spoiled."""
        self._drawn = True
        if percent := self.percent():
            self._note(percent, self._load, summary)
            return line(percent, " while this was measured")
        return ""

    def _this_cell(self):
        now = reading()
        if now.clock - self._before.clock < SECONDS:
            return None
        return others_percent(self._before, now)


def _load_average():
    return round(os.getloadavg()[0], 1)


_watch: Watch | None = None
_registered = []


def watch(note: Callable[[int, float, str | None], None] | None) -> None:
    """From here on watch the cells of this kernel; see `Watch`.

    Without `note`, and outside of a notebook, nothing is watched.
    """
    global _watch
    from IPython import get_ipython

    shell = get_ipython()
    _watch = None
    if shell is None:
        return
    while _registered:  # by an earlier setup cell of this kernel
        name, function = _registered.pop()
        shell.events.unregister(name, function)
    if note is None:
        return
    _watch = Watch(note)
    for name, function in (
        ("pre_run_cell", _watch.cell_begins),
        ("post_run_cell", _watch.cell_ends),
    ):
        shell.events.register(name, function)
        _registered.append((name, function))


def busy_percent() -> int:
    """`Watch.percent` of this notebook; 0 outside of notebooks."""
    return _watch.percent() if _watch else 0


def note_figure(summary: str) -> str:
    """`Watch.figure` of this notebook; nothing outside of notebooks."""
    return _watch.figure(summary) if _watch else ""
