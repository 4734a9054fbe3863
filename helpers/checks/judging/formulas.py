"""Judge exercises whose answer is a formula.

The right formula is written down once, as a function that can also make each usual
mistake. So a judge knows what every mistake would give, draws cases for which all of
these differ, and names the mistake that was made.

An answer may also keep results, and find one again although an argument has changed. So
for each argument two cases are asked that differ in nothing else.
"""

import math
from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import NamedTuple

from helpers.checks.judging.verdicts import DRAWS, draw_apart, which

COUNT = -1  # in place of a part: a case has too few values, or too many
# Mistakes of an answer that keeps something between two calls.
SHARES = "shares"  # all its results are one object
REMEMBERS = "remembers"  # it gives the result of an earlier case
KEEPS = "keeps"  # it is right when it is asked first, and then no more


class Different(NamedTuple):
    """The first value of a reply that is not the right one."""

    case: object
    part: int  # its place among the values of the case, or `COUNT`
    said: object  # the value; all values of the case if `part` is `COUNT`
    due: object
    mistake: str  # "" if no usual mistake gives the whole reply


class Formula(NamedTuple):
    """A formula, and the usual mistakes in it.

    Attributes
    ----------
    work_out : callable
        ``work_out(case, mistake) -> list``: the values for a case, right if the mistake is
        ``""``, else as one who makes this mistake would have them. Numbers are compared up
        to a tolerance, other values exactly.
    mistakes : tuple of str
        Their keys.
    relative, absolute : float
        How much a right number may be off, as for `math.isclose`.
    apart : float
        The relative difference by which some number must tell any two ways of answering
        apart in a question that is drawn.
    arguments : tuple
        Keys or places in a case: the arguments that can take the value of any other case.
        For each, a question that is drawn has two cases that differ in it alone.
    sound : callable
        ``sound(case) -> bool``: whether a case that was put together so may be asked.
    """

    work_out: Callable[[object, str], list]
    mistakes: tuple[str, ...]
    relative: float = 1e-5
    absolute: float = 0.0
    apart: float = 2e-4
    arguments: tuple = ()
    sound: Callable[[object], bool] = lambda case: True

    def ways(self, question: dict) -> dict[str, list]:
        """For the right way and each mistake, the values of all cases."""
        return {
            mistake or "right": [self.work_out(case, mistake) for case in question["cases"]]
            for mistake in ("", *self.mistakes)
        }

    def draw(self, rng: Random, make: Callable) -> dict:
        """Draw a question, a dict with `cases`, in which every mistake shows."""
        looser = self._replace(relative=self.apart)

        def make_with_pairs(rng):
            for _ in range(DRAWS):
                question = make(rng)
                pairs = [looser._changed(rng, question["cases"], n) for n in self.arguments]
                if None not in pairs:
                    return question | {"cases": [*question["cases"], *pairs]}
            raise RuntimeError(f"{make}: an argument that never matters alone")

        return draw_apart(
            rng, make_with_pairs, self.ways, lambda a, b: not looser.alike(a, b)
        )

    def _changed(self, rng, cases, argument):
        """A copy of a case with this argument of another one, for which it matters."""
        having = [one for one in cases if isinstance(one, list) or argument in one]
        pairs = list(permutations(having, 2))
        rng.shuffle(pairs)
        for case, other in pairs:
            changed = case.copy()
            changed[argument] = other[argument]
            if self.sound(changed) and self._results_differ(case, changed):
                return changed
        return None

    def _results_differ(self, case, other):
        return not self.alike([self.work_out(case, "")], [self.work_out(other, "")])

    def different(self, question: dict, said: list) -> Different | None:
        """Find the first value that is not right.

        Parameters
        ----------
        question : dict
            With `cases`.
        said : list
            The reply: for each case, a list of values.

        Raises
        ------
        ValueError
            If there are values for more or fewer cases.
        """
        ways = self.ways(question)
        mistake = which(said, ways, self.alike, "") or self._of_several_calls(
            question["cases"], said, ways["right"]
        )
        for case, one, due in zip(question["cases"], said, ways["right"], strict=True):
            if len(one) != len(due):
                return Different(case, COUNT, one, due, mistake)
            for part, (value, right) in enumerate(zip(one, due, strict=True)):
                if not self.same(value, right):
                    return Different(case, part, value, right, mistake)
        return None

    def _of_several_calls(self, cases, said, right):
        """The mistake of one whose every wrong result belongs to another call; or ""."""
        pairs = enumerate(zip(said, right, strict=True))
        wrong = [i for i, (one, due) in pairs if not self.alike([one], [due])]
        if len(wrong) > 1 and self.alike([said[i] for i in wrong], right[-1:] * len(wrong)):
            return SHARES
        remembers = wrong and all(
            any(
                self.alike([said[i]], [right[j]]) and _differ_in_one(cases[i], cases[j])
                for j in range(i)
            )
            for i in wrong
        )
        return REMEMBERS if remembers else ""

    def alike(self, said: list, due: list) -> bool:
        """Whether two replies have the same values for all cases."""
        return len(said) == len(due) and all(
            len(one) == len(other) and all(map(self.same, one, other))
            for one, other in zip(said, due, strict=True)
        )

    def same(self, said: object, due: object) -> bool:
        """Whether two values are the same, up to the tolerance."""
        if isinstance(said, int | float) and isinstance(due, int | float):
            return math.isclose(said, due, rel_tol=self.relative, abs_tol=self.absolute)
        return said == due


def _differ_in_one(case, other):
    """Whether two cases differ in one argument, or in whether it is given."""
    if isinstance(case, dict):
        names = case.keys() | other.keys()
        return sum(case.get(name) != other.get(name) for name in names) == 1
    return sum(one != two for one, two in zip(case, other, strict=True)) == 1
