"""What stored runs say in README.md: lab 08's changes, and one scored prediction."""

import copy
import json
import math

from helpers.run_card.predictions import meet
from kit.labs import find_lab


def faster_section() -> str:
    """How much faster lab 08's stored run became, and by which of its changes.

    Returns
    -------
    str
        Markdown.
    """
    card = _stored_card("08")
    measured, sizes = card["measurements"], card["parameters"]
    gains, seconds = measured["gains"], measured["seconds_to_target"]
    whole = seconds["original"] / seconds["fast"]
    best = max(gains, key=gains.__getitem__)
    epochs = card["predictions"]["original_epochs"]["outcome"]
    cells = [f"**{g:.2f}**" if name == best else f"{g:.2f}" for name, g in gains.items()]
    device = card["environment"]["device"]["name"]
    return (
        f"The time to accuracy {sizes['target_accuracy']:g} fell from "
        f"{seconds['original']:.1f} s to {seconds['fast']:.1f} s, which is {whole:.1f} "
        f"times as fast. One change, *{best}*, gained a factor of {gains[best]:.1f}, and "
        f"all the others together a factor of {whole / gains[best]:.1f}.\n\n"
        f"| {' | '.join(gains)} |\n|{'---|' * len(gains)}\n| {' | '.join(cells)} |\n\n"
        f"(How many times as fast each change made the training, in this order, on "
        f"{device}.{_not_kept(gains, whole)} *Fewer steps* is a better recipe: it reaches "
        f"the target in {sizes['fast_epochs']} epochs, and the original in {epochs:g}.)\n"
    )


def _not_kept(gains, whole):
    """A sentence on changes that made it slower, if the factors say they were undone."""
    slower = [name for name, gain in gains.items() if gain < 1]
    kept = math.prod(gain for gain in gains.values() if gain >= 1)
    if not slower or not math.isclose(kept, whole, rel_tol=1e-6):
        return ""
    names = " and ".join(f"*{name}*" for name in slower)
    return f" A factor below 1 means slower, so {names} did not stay."


def prediction_section() -> str:
    """The line that lab 06's stored run printed for a prediction.

    Returns
    -------
    str
        Markdown.
    """
    entry = _stored_card("06")["predictions"]["array_over_files"]
    return f"    {meet(copy.deepcopy(entry), None, False, 0.0)}\n"


def _stored_card(number):
    return json.loads(find_lab(number).stored_card.read_text(encoding="utf-8"))
