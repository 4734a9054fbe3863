"""`labs plan`: time to accuracy on many devices, from the newest run cards."""

import re

from helpers.checks.exercise import reference_of
from helpers.errors import LabError
from helpers.lab_09.forecast import DEFAULTS, critical_batch_of_lab_03, in_words, plan
from helpers.records import latest_cards

LINK = re.compile(r"(\d+(?:\.\d+)?)\s*([MG])bit(?:/s)?", re.IGNORECASE)


def lines(devices, link, batch_size, parameters):
    """The plan in lines, and a line about where its figures come from.

    Parameters
    ----------
    devices, batch_size, parameters : int
    link : str
        Such as ``"25Gbit"``.

    Returns
    -------
    list of str

    Raises
    ------
    LabError
        If the link is not one, or no run card has a law of a step.
    """
    settings = DEFAULTS | {"devices": devices, "link_gbit": gbit(link)}
    settings |= {"batch_size": batch_size, "parameters": parameters}
    measured, sources = from_cards()
    settings |= measured
    said = plan(settings, reference_of("9.5"), reference_of("9.4"))
    assumed = [name for name in ("critical_batch", "images") if name not in measured]
    shown = ", ".join(f"{name} {settings[name]:,.0f}" for name in assumed)
    return [*in_words(settings, said), f"From {'; '.join(sources)}.", f"Assumed: {shown}."]


def gbit(text):
    """A link's speed in Gbit/s: ``"25Gbit"``, ``"100 Mbit/s"``."""
    found = LINK.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise LabError(f"{text!r} is no link: give one such as 25Gbit or 100Mbit.")
    return float(found[1]) * {"m": 1e-3, "g": 1.0}[found[2].lower()]


def from_cards():
    """What the newest run cards know of a plan's settings, and a line about each of them.

    Raises
    ------
    LabError
        If none has a law of a step.
    """
    cards, found, sources = latest_cards(), {}, []
    for lab in ("02_throughput", "09_many_machines"):
        fit = cards.get(lab, {}).get("measurements", {}).get("fit")
        if fit and not found:
            found = {"t0_seconds": fit["t0_seconds"], "peak": fit["peak_images_per_second"]}
            sources.append(f"t0 and peak of lab {lab[:2]}")
    if not found:
        raise LabError(
            "no run card has the fixed cost and the peak of a step: run lab 02 or lab 09 "
            "first, `labs run 02`."
        )
    if bend := critical_batch_of_lab_03():
        found |= bend
        sources.append("the bend of lab 03 as the critical batch")
    return found, sources
