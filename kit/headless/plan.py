"""`labs plan`: time to accuracy on many devices, from the newest run cards."""

import re

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.lab_09.forecast import (
    DEFAULTS,
    critical_batch_of_lab_03,
    in_words,
    law_of_lab_02,
    law_of_lab_09,
    plan,
)
from helpers.machine.quiet_tensorflow import silence_tensorflow

LINK = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([MG])bit(?:/s)?", re.IGNORECASE)


def lines(
    devices: int, link: str, batch_size: int, parameters: int | None = None
) -> list[str]:
    """The plan in lines, and a line about where its figures come from.

    Parameters
    ----------
    devices, batch_size : int
    link : str
        Such as ``"25Gbit"``.
    parameters : int, optional
        Of the network; None: those of the network whose speed was measured.

    Returns
    -------
    list of str

    Raises
    ------
    LabError
        If the link is not one, if so many devices fail all the time, or if no run card
        has a law of a step.
    """
    settings = DEFAULTS | {"devices": devices, "link_gbit": gbit(link)}
    settings["batch_size"] = batch_size
    refuse_constant_failure(settings)
    measured, sources = from_cards()
    settings |= measured
    if parameters:
        settings["parameters"] = parameters
    silence_tensorflow()  # the references import it
    laws = find_exercise("9.5").reference, find_exercise("9.4").reference
    said = plan(settings, *laws)
    assumed = [
        name
        for name in ("parameters", "critical_batch", "images")
        if settings[name] != measured.get(name)
    ]
    shown = ", ".join(f"{name} {settings[name]:,.0f}" for name in assumed)
    return [*in_words(settings, said), f"From {'; '.join(sources)}.", f"Assumed: {shown}."]


def refuse_constant_failure(settings: dict) -> None:
    """`LabError` where a job fails again before it has restarted: it would never end."""
    restart_seconds = settings["restart_seconds"]
    device_seconds = settings["machine_days"] * 86_400  # from one failure to the next
    if device_seconds < settings["devices"] * restart_seconds:
        raise LabError(
            f"{settings['devices']:,} devices would fail every "
            f"{device_seconds / settings['devices']:.3g} s, and a restart takes "
            f"{restart_seconds:.0f} s: ask for at most "
            f"{device_seconds // restart_seconds:,.0f} devices."
        )


def gbit(text: str) -> float:
    """A link's speed in Gbit/s: ``"25Gbit"``, ``"100 Mbit/s"``."""
    found = LINK.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise LabError(f"{text!r} is no link: give one such as 25Gbit or 100Mbit.")
    return float(found[1]) * {"m": 1e-3, "g": 1.0}[found[2].lower()]


def from_cards() -> tuple[dict, list[str]]:
    """What the run cards know of a plan's settings, and a line about each of them.

    Raises
    ------
    LabError
        If none has a law of a step.
    """
    laws = {"02": law_of_lab_02(), "09": law_of_lab_09()}
    lab = next((lab for lab, law in laws.items() if law), None)
    if not lab:
        raise LabError(
            "no run card has the fixed cost and the peak of a step: run lab 02 or lab 09 "
            "first, `labs run 02`."
        )
    sources = [f"t0, peak and parameters of lab {lab}"]
    if bend := critical_batch_of_lab_03():
        sources.append("the bend of lab 03 as the critical batch")
    return laws[lab] | bend, sources
