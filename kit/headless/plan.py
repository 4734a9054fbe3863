"""`labs plan`: time to accuracy on many devices, from the newest run cards."""

import math
import re
import time

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY, runs_folder
from helpers.lab_10.forecast import (
    DEFAULTS,
    critical_batch_of_lab_03,
    in_words,
    law_in,
    law_of_lab_02,
    plan,
    slowest,
)
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.run_card.documents import newest_card_with, read_card
from helpers.run_card.units import in_units

LINK = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([MG])bit(?:/s)?", re.IGNORECASE)


def plan_for(
    devices: int,
    link: str,
    batch_size: int,
    parameters: int | None = None,
    **others: float,
) -> dict:
    """Plan a training on many devices with the speeds of the newest run cards.

    Parameters
    ----------
    devices, batch_size : int
    link : str
        Such as ``"25Gbit"``.
    parameters : int, optional
        Of the network; None: those of the network whose speed was measured.
    others : float
        Other settings of a plan, such as `machine_devices`, `price` and `watts`.

    Returns
    -------
    dict
        `settings`, `plan` (as `helpers.lab_10.forecast.plan` returns it), `sources`, lines
        about the run cards, and `assumed`, the names of settings that no card has.

    Raises
    ------
    LabError
        If the link is not one, if so many devices fail all the time, or if no run card
        has a law of a step.
    """
    settings = DEFAULTS | {"devices": devices, "link_gbit": gbit(link)}
    settings |= others | {"batch_size": batch_size}
    refuse_constant_failure(settings)
    measured, sources = from_cards()
    settings |= measured
    if parameters:
        settings["parameters"] = parameters
    silence_tensorflow()  # the references import it
    planned = plan(settings, find_exercise("10.2").reference)
    images = f"{settings['images']:,.0f} images with small batches"
    settings.setdefault("goal", f"an accuracy that takes {images}")
    assumed = [
        name
        for name in ("parameters", "critical_batch", "images")
        if settings[name] != measured.get(name)
    ]
    return {
        "settings": settings,
        "plan": planned,
        "sources": sources,
        "assumed": [
            *assumed,
            "straggler_spread",
            "device_days",
            "machine_devices",
            "machine_gbit",
        ],
    }


def lines(planned: dict) -> list[str]:
    """A plan in lines, with its sources and the settings that it assumes.

    Parameters
    ----------
    planned : dict
        As `plan_for` returns it.

    Returns
    -------
    list of str
    """
    settings = planned["settings"]
    names = ("parameters", "critical_batch", "images")
    assumptions = [f"{n} {settings[n]:,.0f}" for n in names if n in planned["assumed"]]
    if settings["devices"] > 1:
        assumptions.append(_spread_in_words(settings))
    assumptions.append(f"a failure in {settings['device_days']:,.0f} days of a device")
    if settings["machine_devices"] > 1:
        machine_gbit = settings["machine_gbit"]
        assumptions.append(
            f"{settings['machine_devices']:g} devices in a machine at {machine_gbit:,.0f} "
            "Gbit/s"
        )
    words = ", ".join(assumptions)
    return [
        *_plan_in_words(settings, planned["plan"]),
        f"From {'; '.join(planned['sources'])}.",
        f"Assumed: {words}.",
    ]


def _plan_in_words(settings, planned):
    """As lab 10 prints it, but with times in units that suit their length."""
    _, all_reduce, batch, _, _, cost = in_words(settings, planned)
    devices, speed = settings["devices"], planned["images_per_second"]
    saved = []
    if planned["save_every_seconds"] < 3600 * planned["hours"]:  # else it ends before
        saved = [
            f"Save every {in_units('seconds', planned['save_every_seconds'])}: for each "
            f"second trained, {planned['lost_seconds']:.5f} s are lost"
        ]
    return [
        f"{devices:,} device{'s' if devices > 1 else ''} at {settings['link_gbit']:.3g} "
        f"Gbit/s: {in_units('images_per_second', speed)}, efficiency "
        f"{100 * planned['efficiency']:.1f}%",
        all_reduce,
        batch,
        *saved,
        f"To {settings['goal']}: {_span(planned['hours'])}, "
        f"{_span(planned['device_hours'])} of device time",
        cost,
    ]


def _span(hours):
    return f"{hours:,.0f} hours" if hours >= 100 else in_units("seconds", 3600 * hours)


def _spread_in_words(settings):
    """The cause of most of the loss where the network is fast."""
    spread, devices = settings["straggler_spread"], settings["devices"]
    return (
        f"step times that differ by {spread:.0%} (straggler_spread: the slowest of "
        f"{devices:,} devices takes {slowest(devices, spread):.2f} times the mean)"
    )


def refuse_constant_failure(settings: dict) -> None:
    """`LabError` where a job fails again before it has restarted: it would never end."""
    restart_seconds = settings["restart_seconds"]
    device_seconds = settings["device_days"] * 86_400  # from one failure to the next
    if device_seconds < settings["devices"] * restart_seconds:
        raise LabError(
            f"{settings['devices']:,} devices would fail every "
            f"{device_seconds / settings['devices']:.3g} s, but a restart takes "
            f"{restart_seconds:.0f} s: ask for at most "
            f"{device_seconds // restart_seconds:,.0f} devices."
        )


def gbit(text: str) -> float:
    """A link's speed in Gbit/s: ``"25Gbit"``, ``"100 Mbit/s"``."""
    found = LINK.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise LabError(
            f"--link must be a number with Gbit or Mbit, such as 25Gbit, but is {text!r}."
        )
    return float(found[1]) * {"m": 1e-3, "g": 1.0}[found[2].lower()]


def from_cards() -> tuple[dict, list[str]]:
    """A plan's settings as far as the run cards know them, and a line about each of them.

    Raises
    ------
    LabError
        If none has a law of a step.
    """
    laws = {"02": law_of_lab_02(), "10": law_of_lab_10()}
    lab = next((lab for lab, law in laws.items() if law), None)
    if not lab:
        raise LabError(
            "no run card has the fixed cost and the peak of a step: run lab 02 or lab 10 "
            "first, `labs run 02`."
        )
    name = {"02": "02_throughput", "10": "10_more_machines"}[lab]
    sources = [f"t0, peak and parameters of lab {lab} ({_run_card(name, 'fit')})"]
    if bend := critical_batch_of_lab_03():
        card = _run_card("03_time_to_accuracy", "bend")
        sources.append(f"the bend of lab 03 as the critical batch ({card})")
    if race := _race_of_lab_03():
        card = _run_card("03_time_to_accuracy", "laws")
        sources.append(f"the goal of lab 03, and its images to it ({card})")
    return laws[lab] | bend | race, sources


def law_of_lab_10() -> dict[str, float]:
    """Like `law_of_lab_02`, but of lab 10's workers and their network."""
    card = newest_card_with("10_more_machines", "fit")
    parameters = card["measurements"]["fit"].get("parameters") if card else None
    return law_in(card, parameters) if card and parameters else {}


def _race_of_lab_03():
    """The goal of lab 03's newest run with a law, and its images to that goal.

    Small batches need so many: the floor of the steps times the bend. Empty without such
    a run.
    """
    card = newest_card_with("03_time_to_accuracy", "laws")
    target = card and card["parameters"].get("target_accuracy")
    laws = card["measurements"]["laws"] if card else {}
    images = (laws.get("floor") or math.inf) * (laws.get("bend") or math.inf)
    if not target or not 0 < images < math.inf:
        return {}
    return {"goal": f"accuracy {target:g}", "images": images}


def _run_card(lab, measurement):
    """The date, scale and file of a lab's newest run card that has a measurement."""
    for path in sorted((runs_folder() / lab).glob("*.json"), reverse=True):
        if (card := read_card(path)) and card["measurements"].get(measurement):
            began = time.localtime(card["started_unix_seconds"])
            in_kit = path.absolute().is_relative_to(REPOSITORY)
            display_path = path.absolute().relative_to(REPOSITORY) if in_kit else path
            day = time.strftime("%Y-%m-%d %H:%M", began)
            scale = card["parameters"].get("scale", "unknown")
            small = ", so only a rough guess" * (scale == "smoke")
            return f"{day}, {scale} scale{small}, {display_path}"
    return "its run card has been removed since"
