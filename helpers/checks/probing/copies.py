"""Give a probe copies of the answer, as other processes have them."""

import functools
from collections.abc import Callable

from helpers.workers.own_functions import CannotTravelError, packed, unpacked


def by_copies(probe: Callable) -> Callable:
    """Give a probe what makes copies of the answer, each as a new process has it.

    What one of them keeps, no other sees. And an answer that the lab could not give to
    its workers is told so here.
    """

    @functools.wraps(probe)
    def run(answer, question, wait):
        try:
            content = packed(answer=answer)
        except CannotTravelError as error:
            return {"cannot_travel": str(error.__cause__)}
        return probe(lambda: unpacked(content)["answer"], question, wait)

    return run
