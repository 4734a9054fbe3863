"""A progress bar on a terminal; in a log file, a line at its start and one at its end."""

import sys
import time
from collections.abc import Iterable, Iterator

from tqdm import tqdm

WAIT_SECONDS = 60


class Progress(tqdm):
    """Like `tqdm`, but where stderr is no terminal, it writes two lines and draws no bar.

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

    _in_words, _waited_for = False, 0.0

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
        return None

    def wait_for(self, words: str) -> None:
        """Say what keeps the bar where it is; in a log file, once in `WAIT_SECONDS`."""
        if not self._in_words:
            self.set_postfix_str(words)
        elif words and time.monotonic() - max(self._began, self._waited_for) > WAIT_SECONDS:
            self._waited_for = time.monotonic()
            self._say("waiting", f", waiting for {words}")

    def close(self) -> None:
        """Remove the bar, or write the last line."""
        if self._in_words:
            self._in_words = False
            self._say("ended", f", {time.monotonic() - self._began:.0f} s")
        super().close()
