"""Judge exercises whose answer is a formula.

The right formula is written down once, as a function that can also make each usual
mistake. So a judge knows what every mistake would give, draws cases for which all of
these differ, and names the mistake that was made.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

from helpers.checks.judging.verdicts import draw_apart, near, which


class Different(NamedTuple):
    """The first value of a reply that is not the right one."""

    case: object
    part: int  # its place among the values of the case; -1: there are too few or too many
    said: object  # the value, or all of the case where `part` is -1
    due: object
    mistake: str  # "" if no usual mistake gives the whole reply


class Formula(NamedTuple):
    """A formula, and the usual mistakes in it.

    Attributes
    ----------
    work_out : callable
        ``work_out(case, mistake) -> list``: the values for a case, right if the mistake is
        ``""``, else as one who makes this mistake would have them.
    mistakes : sequence of str
        Their keys.
    same : callable
        ``same(said, due) -> bool``: whether a value is right.
    apart : callable
        ``apart(one, other) -> bool``: whether two lists of values differ so much that a
        judge can distinguish them.
    """

    work_out: Callable
    mistakes: tuple[str, ...]
    same: Callable = near(1e-5)
    apart: Callable = lambda one, other: not near(2e-4)(one, other)

    def ways(self, question: dict) -> dict[str, list]:
        """For the right way and each mistake, the values of all cases."""
        return {
            mistake or "right": [self.work_out(case, mistake) for case in question["cases"]]
            for mistake in ("", *self.mistakes)
        }

    def draw(self, rng, make: Callable) -> dict:
        """Draw a question, a dict with `cases`, in which every mistake shows."""
        return draw_apart(rng, make, self.ways, self._apart)

    def different(self, question: dict, said: list) -> Different | None:
        """Find the first value that is not right.

        Raises
        ------
        ValueError
            If there are values for more or fewer cases.
        """
        ways = self.ways(question)
        mistake = which(said, ways, self._alike, "")
        for case, one, due in zip(question["cases"], said, ways["right"], strict=True):
            if len(one) != len(due):
                return Different(case, -1, one, due, mistake)
            for part, (value, right) in enumerate(zip(one, due, strict=True)):
                if not self.same(value, right):
                    return Different(case, part, value, right, mistake)
        return None

    def _apart(self, one, other):
        pairs = itertools.zip_longest(one, other, fillvalue=[])
        return any(self.apart(a, b) for a, b in pairs)

    def _alike(self, said, way):
        return len(said) == len(way) and all(
            len(one) == len(due) and all(map(self.same, one, due))
            for one, due in zip(said, way, strict=True)
        )
