"""Numbers as a platform's table writes them: with a decimal point or a decimal comma."""

import re
from collections.abc import Iterable
from typing import NamedTuple

# With exactly three digits behind it, a comma may also group thousands: it proves nothing.
WITH_COMMA = re.compile(r"[+-]?\d+,(?:\d{1,2}|\d{4,})")
WITH_POINT = re.compile(r"[+-]?[\d,]*\d\.\d+")


class Decimals(NamedTuple):
    """How a table writes numbers, so that grades go back in the same form."""

    mark: str = "."

    def read(self, text: str) -> float | None:
        """The number that a cell holds, or None."""
        groups = "." if self.mark == "," else ","
        try:
            return float(text.strip().replace(groups, "").replace(self.mark, "."))
        except ValueError:
            return None

    def write(self, value: float) -> str:
        """A number with two decimals."""
        return f"{value:.2f}".replace(".", self.mark)


def decimals_of(table: Iterable[Iterable[str]], delimiter: str) -> Decimals:
    """How a table writes numbers.

    Parameters
    ----------
    table : iterable of iterable of str
        All rows.
    delimiter : str
        What separates the cells. Where no cell has decimals, a semicolon says that the
        comma is taken.

    Returns
    -------
    Decimals
    """
    cells = [cell.strip() for row in table for cell in row]
    if any(map(WITH_POINT.fullmatch, cells)):
        return Decimals(".")
    if any(map(WITH_COMMA.fullmatch, cells)) or delimiter == ";":
        return Decimals(",")
    return Decimals(".")
