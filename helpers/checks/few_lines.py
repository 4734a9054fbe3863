"""A print in an answer's loop shows its first lines, and the verdict stays in sight."""

import contextlib
import io
import sys
from typing import Any, Self

MOST_LINES = 20


class FewLines(contextlib.AbstractContextManager):
    """Stands in for `sys.stdout` within the `with`, shows few lines and counts the rest.

    What a probe keeps for its judge (`helpers.checks.probing.printed`) never comes here.
    """

    def __enter__(self) -> Self:
        self._stdout, sys.stdout = sys.stdout, self
        self._lines, self._is_begun, self._counts = 0, False, True
        return self

    def __exit__(self, *_) -> None:
        sys.stdout, self._counts = self._stdout, False
        if more := max(0, self._lines + self._is_begun - MOST_LINES):
            lines = "more line" + "s" * (more > 1)
            print(f"… and {more:,} {lines} that your function printed")

    def write(self, text: str) -> int:
        """Show the text, unless there were enough lines; returns its length."""
        if not self._counts:  # something of the answer's has kept this stream
            return self._stdout.write(text)
        for part in io.StringIO(text):
            if self._lines < MOST_LINES:
                self._stdout.write(part)
            ends = part.endswith("\n")
            self._lines, self._is_begun = self._lines + ends, not ends
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)
