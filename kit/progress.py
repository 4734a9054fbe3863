"""A progress bar on a terminal; in a log file, lines that are at least a minute apart."""

import sys
import time
from collections.abc import Iterable, Iterator

from tqdm import tqdm

WAIT_SECONDS = 60


class Progress(tqdm):
    """Like `tqdm`, but where stderr is no terminal, it writes lines and draws no bar.

    One line says that it begins, one that it has ended, and in between one says how far it
    has come, at most once in `WAIT_SECONDS`.

    Parameters
    ----------
    iterable : iterable, optional
        What is looped over; or call `update`.
    what : str
        What is being done, for the lines.
    total : int, optional
        How many there are; None: nobody knows yet.
    unit : str
        What one of them is called.
    leave : bool
        Whether the bar stays.
    quiet : bool
        True: neither a bar nor lines.
    """

    _in_words, _said = False, 0.0

    def __init__(
        self,
        iterable: Iterable | None = None,
        *,
        what: str,
        total: int | None = None,
        unit: str,
        leave: bool = False,
        quiet: bool = False,
    ) -> None:
        draw = {"leave": leave, "disable": quiet or None}  # None: tqdm asks for a terminal
        super().__init__(iterable, what, total=total, unit=unit, **draw)
        self._began, self._unit, self._what = time.monotonic(), unit, what
        self._in_words = bool(self.disable and not quiet and self.total != 0)
        if self._in_words:
            self._say("started")

    def _say(self, otherwise, end=""):
        self._said = time.monotonic()
        unit = f"{self._unit}s" if self.total != 1 else self._unit
        counted = f"{self.n} of {self.total} {unit}" if self.total else otherwise
        what = (getattr(self, "desc", "") or self._what).removesuffix(": ")
        print(f"{what}: {counted}{end}", file=sys.stderr, flush=True)

    def __iter__(self) -> Iterator:
        if not self._in_words:
            yield from super().__iter__()
            return
        try:
            for one in self.iterable or ():
                yield one
                self.update()
        finally:
            self.close()

    def update(self, n: float = 1) -> bool | None:
        """Count `n` more as done."""
        if not self._in_words:
            return super().update(n)
        self.n += n
        if self.n != self.total and self._is_silent():
            self._say("under way", f", {self._seconds()} s")
        return None

    def _is_silent(self):
        return time.monotonic() - self._said > WAIT_SECONDS

    def _seconds(self):
        return f"{time.monotonic() - self._began:.0f}"

    def wait_for(self, words: str) -> None:
        """Say what keeps the bar where it is; in a log file, once in `WAIT_SECONDS`."""
        if not self._in_words:
            self.set_postfix_str(words)
        elif words and self._is_silent():
            self._say("waiting", f", waiting for {words}")

    def close(self) -> None:
        """Remove the bar, or write the last line."""
        if self._in_words:
            self._in_words = False
            self._say("ended", f", {self._seconds()} s")
        super().close()
