"""Read the numbers of printed lines."""

import re
from string import Formatter

LONGEST = 500  # characters of a line that are looked at


class Template:
    """A line with numbers in it, such as ``"Epoch={epoch:d}, Loss:{loss:.3f}"``.

    Parameters
    ----------
    text : str
        As for `str.format`; ``d`` is a whole number, ``.3f`` one with three
        digits after the point.
    """

    def __init__(self, text):
        pattern = ""
        for literal, name, kind, _ in Formatter().parse(text):
            pattern += re.escape(literal)
            if name is not None:
                pattern += f"(?P<{name}>{_number(kind)})"
        self._pattern = re.compile(pattern)

    def read(self, line: str) -> dict[str, float] | None:
        """The numbers of a line by their names, or None if the line is not like this."""
        found = self._pattern.fullmatch(line[:LONGEST].strip())
        return found and {name: float(n) for name, n in found.groupdict().items()}


def _number(kind):
    if kind == "d":
        return r"-?\d{1,12}"
    return rf"-?\d{{1,15}}\.\d{{{int(kind.strip('.f'))}}}"


def numbers_after(lines: list[str], label: str) -> list[float]:
    """The numbers printed as ``label 12.34``, one for each line that has them."""
    found = []
    for line in lines:
        if line.startswith(label):
            try:
                text = line[:LONGEST].removeprefix(label).strip()
                found.append(float(text.replace(",", "")))
            except ValueError:
                continue
    return found
