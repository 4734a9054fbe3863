"""Compare printed lines with a template."""

import re
from string import Formatter

LONGEST = 500  # characters of a line that are looked at


class Template:
    """A line with numbers in it, such as ``"Epoch={epoch:d}, Loss:{loss:.3f}"``.

    Parameters
    ----------
    text : str
        As for `str.format`; ``d`` is a whole number, ``.3f`` one with three
        digits after the point, ``g`` any number.
    """

    def __init__(self, text):
        self.text, pattern = text, ""
        for literal, name, kind, _ in Formatter().parse(text):
            pattern += re.escape(literal)
            if name is not None:
                pattern += f"(?P<{name}>{_number(kind)})"
        self._pattern = re.compile(pattern)
        self.start = text.partition("{")[0]

    def read(self, line):
        """The numbers of a line by their names, or None if the line is not like this."""
        found = self._pattern.fullmatch(line[:LONGEST].strip())
        return found and {name: float(n) for name, n in found.groupdict().items()}

    def find(self, lines):
        """The numbers of all lines that are like this, in their order."""
        return [numbers for line in lines if (numbers := self.read(line))]

    def due(self, **numbers):
        """The line that has these numbers."""
        return self.text.format(**numbers)


def _number(kind):
    if kind == "d":
        return r"-?\d{1,12}"
    if kind == "g":
        return r"-?\d{1,15}(?:\.\d{0,20})?(?:e[+-]?\d{1,3})?"
    digits = int(kind.strip(".f"))
    return rf"-?\d{{1,15}}\.\d{{{digits}}}"
