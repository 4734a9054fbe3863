"""A sign test: is one recipe clearly slower than another, or only unlucky?"""

from collections.abc import Mapping
from math import comb, inf


def clearly_longer(
    ours: Mapping[int, float | None], theirs: Mapping[int, float | None], alpha: float
) -> bool:
    """Say whether our times are longer than theirs in more pairs than luck explains.

    Two runs with the same seed are a pair, and a run without a partner is left out. So is
    a pair whose times are equal, such as two runs that never reached the target.

    Parameters
    ----------
    ours, theirs : mapping of int to float or None
        Seconds by seed; None, for a run that never reached the target, counts as infinite.
    alpha : float
        The times are clearly longer if coins would show as many heads, or more, with a
        probability below this.

    Returns
    -------
    bool
    """
    pairs = [(ours[seed], theirs[seed]) for seed in ours if seed in theirs]
    times = [tuple(inf if t is None else t for t in pair) for pair in pairs]
    heads = [a > b for a, b in times if a != b]
    n, k = len(heads), sum(heads)
    return sum(comb(n, i) for i in range(k, n + 1)) < alpha * 2**n
