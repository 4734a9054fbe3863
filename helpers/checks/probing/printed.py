"""The lines that an answer prints, by Python or by TensorFlow."""

import contextlib
import io
import os
import sys
import tempfile
from typing import Self

LONGEST = 2**20  # bytes that are read


class Printed(contextlib.ContextDecorator):
    """Keeps what is printed within the `with`, and can be cut into parts.

    As a decorator it keeps what a function prints.

    `tf.print` writes past `sys.stdout`, so the process's own output is kept as well,
    in the same file: lines stay in their order.
    """

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile(buffering=0)
        self._kept = [os.dup(1), os.dup(2)]
        for descriptor in (1, 2):
            os.dup2(self._file.fileno(), descriptor)
        self._text = io.TextIOWrapper(self._file, "utf-8", "replace", write_through=True)
        self._stdout, sys.stdout = sys.stdout, self._text
        self._cuts = [0]
        return self

    def __exit__(self, *_) -> None:
        sys.stdout = self._stdout
        for descriptor, kept in zip((1, 2), self._kept, strict=True):
            os.dup2(kept, descriptor)
            os.close(kept)
        self._file.seek(0)
        self._printed = self._file.read(LONGEST)
        self._text.close()

    def cut(self) -> None:
        """Begin the next part."""
        self._cuts.append(self._file.tell())

    def parts(self) -> list[list[str]]:
        """The lines of each part, without those that are empty."""
        return [
            _lines(self._printed[begin:end])
            for begin, end in zip(self._cuts, [*self._cuts[1:], LONGEST], strict=True)
        ]

    def lines(self) -> list[str]:
        """All lines, without those that are empty."""
        return _lines(self._printed)


def _lines(printed):
    # A progress bar is drawn again and again in one line.
    text = printed.decode("utf-8", "replace").replace("\r", "\n")
    return [line.strip() for line in text.splitlines() if line.strip()]
