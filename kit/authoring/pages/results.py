"""What stored runs say in README.md: lab 08's changes, and one scored prediction."""

import copy
import json
import math
from itertools import combinations

from helpers.errors import LabError
from helpers.run_card.predictions import meet
from kit.labs import find_lab


def faster_section() -> str:
    """How much faster lab 08's stored run became, and by which of its changes.

    Returns
    -------
    str
        Markdown.

    Raises
    ------
    LabError
        If its times are not explained by any of its changes.
    """
    card = _stored_card("08")
    measured, sizes = card["measurements"], card["parameters"]
    gains, seconds = measured["gains"], measured["seconds_to_target"]
    whole = seconds["original"] / seconds["fast"]
    kept = _kept(gains, whole)
    step_gain, best = gains["fewer steps"], max(gains[name] for name in kept)
    epochs = card["predictions"]["original_epochs"]["outcome"]
    faster_step = step_gain * sizes["fast_epochs"] / epochs
    cells = [f"{gains[n]:.2f}" if gains[n] < best else f"**{best:.2f}**" for n in kept]
    device = card["environment"]["device"]["name"]
    return (
        f"The time to accuracy {sizes['target_accuracy']:g} fell from "
        f"{seconds['original']:.1f} s to {seconds['fast']:.1f} s, which is {whole:.1f} "
        f"times as fast. A better recipe (*fewer steps*) needs {sizes['fast_epochs']} "
        f"epochs instead of {epochs:g}, and each of its steps is {faster_step:.2f} times "
        f"as fast, which makes a factor of {step_gain:.1f}. All other changes that we kept "
        f"gained {whole / step_gain:.1f} together.\n\n"
        f"| {' | '.join(kept)} | in all |\n|{'---|' * (len(kept) + 1)}\n"
        f"| {' | '.join(cells)} | {whole:.1f} |\n\n"
        f"Each factor says how many times as fast a change made the training, in this "
        f"order, on {device}.{_exceptions(gains, kept)}\n"
    )


def _kept(gains, whole):
    """The changes that lab 08 kept: those whose factors multiply to the whole."""
    for count in range(len(gains), 0, -1):
        for names in combinations(gains, count):
            if math.isclose(math.prod(gains[n] for n in names), whole, rel_tol=1e-6):
                return names
    message = "the gains of lab 08's stored run do not give its times: `labs outputs 08`."
    raise LabError(message)


def _exceptions(gains, kept):
    """Sentences on changes that stayed although slower, or did not stay."""
    said = ""
    if slower := [f"*{name}*" for name in kept if gains[name] < 1]:
        names = " and ".join(slower)
        said += f" {names[0]}{names[1].upper()}{names[2:]} stayed, although slower here."
    for name in [name for name in gains if name not in kept]:
        why = "it made the training slower"
        if gains[name] >= 1:
            why = "its start-up costs more than it saves in so short a training"
        said += f" *{name.capitalize()}* ({gains[name]:.2f}) did not stay: {why}."
    return said


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
