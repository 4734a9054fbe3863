"""What stored runs say in README.md: lab 08's changes, and one scored prediction."""

import copy
import json
import math
from itertools import combinations

from helpers.errors import LabError
from helpers.run_card.predictions import meet
from kit.labs import find_lab

# The changes of lab 08, for a reader who has not seen it.
MEANING = {
    "whole batches": "shift and flip images a batch at a time, not one by one",
    "fused batch norm": "one operation for batch normalisation, in place of several",
    "no dropout": "leave dropout out",
    "fewer bits": "compute in 16 bits instead of 32",
    "fewer steps": "a better recipe: one-cycle learning rate, momentum, plain images",
    "steps together": "several steps in each call from Python",
    "compiler": "compile each step with XLA",
}


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
    factors = {n: f"{gains[n]:.2f}" if gains[n] < best else f"**{best:.2f}**" for n in kept}
    rows = [f"| {name} | {MEANING[name]} | {factors[name]} |\n" for name in kept]
    device = card["environment"]["device"]["name"]
    return (
        "On Fashion-MNIST, training to an accuracy of "
        f"{sizes['target_accuracy']:g} fell from {seconds['original']:.1f} s to "
        f"{seconds['fast']:.1f} s: {whole:.1f} times as fast. (Both times are calculated, "
        "from the measured speeds and numbers of epochs.) "
        f"One change did most of it. A better recipe needs {sizes['fast_epochs']} epochs "
        f"instead of {epochs:g}{_of_a_step(step_gain * sizes['fast_epochs'] / epochs)}, "
        f"which gains a factor of {step_gain:.1f}. The other {len(kept) - 1} together gain "
        f"{whole / step_gain:.1f}.\n\n"
        f"| change | what it means | gain |\n|---|---|---|\n{''.join(rows)}"
        f"| in all | | {whole:.1f} |\n\n"
        f"The changes were made in this order, on {device}. *Gain* says how many times as "
        f"fast each made the training, without start-up.{_exceptions(gains, kept)}\n"
    )


def _of_a_step(ratio):
    """How the recipe changes a step's speed, where it does by half a percent or more."""
    if abs(ratio - 1) < 0.005:
        return ""
    return f" and makes each step slightly {'faster' if ratio > 1 else 'slower'}"


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
        said += f" We also tried *{name}* ({gains[name]:.2f}), and left it out"
        if gains[name] >= 1:
            said += (
                ", because in so short a training run its start-up costs more than it saves"
            )
        said += "."
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
