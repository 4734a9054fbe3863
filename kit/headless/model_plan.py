"""`labs plan --model`: how to train a published transformer on your devices."""

import re
from dataclasses import replace

from helpers.errors import LabError
from helpers.lab_11.plans import planner
from helpers.lab_11.plans.published_trainings import MFUS, RANGE_SOURCE, Training, trainings
from kit.headless.plan import gbit

BYTES = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(G|T)(i?)B", re.IGNORECASE)
SHOWN = 10  # plans that fit, and plans that do not


def plan_for(
    name: str,
    devices: int,
    link: str | None = None,
    device: str | None = None,
    memory: str | None = None,
    tokens: int | None = None,
    machine_devices: int = 8,
    price: float = 2.0,
) -> dict:
    """All plans of a training, and the fastest that fits.

    Parameters
    ----------
    name : str
        Of a model in `helpers/lab_11/plans/published.toml`.
    devices : int
    link : str, optional
        Of each device to other machines, such as ``"400Gbit"``; None: the published one.
    device : str, optional
        Such as ``"h100"``; None: the one that the model was trained on.
    memory : str, optional
        Of a device, such as ``"80GB"``; None: the memory of `device`.
    tokens : int, optional
        Of the training; None: as many as were published.
    machine_devices : int
    price : float
        Dollars for an hour of a device.

    Returns
    -------
    dict
        `model`, `settings`, `mfus` (a range), its `sources`, `device_hours` and
        `dollars` (low, middle, high), and `plans`, as `planner.plans` returns them.

    Raises
    ------
    LabError
        If the name, a unit or a device is unknown, or if no plan fits.
    """
    known, training = trainings(), training_named(name)
    kinds = {one.device: one.cluster for one in known.values()}
    kind = device or training.device
    if kind not in kinds:
        raise LabError(f"--device must be one of {', '.join(kinds)}, but is {kind!r}.")
    model = training.model
    if tokens:
        model = replace(model, training_tokens=tokens)
    of_link = gbit(link) * 1e9 / 8 if link else training.cluster.across_bytes_per_second
    cluster = replace(
        kinds[kind],
        devices=devices,
        memory_bytes=bytes_of(memory) if memory else kinds[kind].memory_bytes,
        across_bytes_per_second=of_link,
        machine_devices=machine_devices,
    )
    rows = planner.plans(model, cluster, MFUS)
    refuse_none(name, model, cluster, rows)
    hours = [24 * days * devices for days in rows[0]["training_days"]]
    return {
        "model": {"name": name, "title": training.title} | vars(model),
        "settings": {"device": kind} | vars(cluster) | {"price": price},
        "mfus": list(MFUS),
        "sources": [RANGE_SOURCE],
        "device_hours": hours,
        "dollars": [price * one for one in hours],
        "plans": [row | {"plan": vars(row["plan"])} for row in rows],
    }


def training_named(name: str) -> Training:
    """A published training; `LabError` with all names if there is none of this name."""
    known = trainings()
    if name not in known:
        raise LabError(f"--model must be one of {', '.join(known)}, but is {name!r}.")
    return known[name]


def refuse_none(
    name: str, model: planner.Model, cluster: planner.Cluster, rows: list[dict]
) -> None:
    """`LabError` if no plan fits: with what the smallest needs, or how many are enough."""
    if not rows:
        raise LabError(
            f"{cluster.devices:,} devices cannot share {name} and its batch evenly: ask "
            "for a multiple of a machine's devices, with at most a few thousand."
        )
    if rows[0]["fits"]:
        return
    enough = planner.fewest_devices(model, cluster)
    remedy = f"{enough:,} devices are enough" if enough else "give devices more memory"
    devices = f"{cluster.devices:,} device{'s' * (cluster.devices > 1)}"
    raise LabError(
        f"{name} does not fit in {devices} of "
        f"{cluster.memory_bytes / 1e9:g} GB: the smallest plan needs "
        f"{rows[0]['memory_bytes'] / 1e9:,.0f} GB on each. Remedy: {remedy}."
    )


def lines(planned: dict) -> list[str]:
    """A plan in lines: the fastest, the other plans, and what is assumed.

    Parameters
    ----------
    planned : dict
        As `plan_for` returns it.

    Returns
    -------
    list of str
    """
    model, settings = planned["model"], planned["settings"]
    best, *others = planned["plans"]
    fit = [row for row in others if row["fits"]]
    too_large = [row for row in others if not row["fits"]]
    low, _, high = best["training_days"]
    lowest, _, highest = best["step_seconds"]
    shares = best["mfu"]
    across_gbit = settings["across_bytes_per_second"] * 8e-9
    hours, dollars = planned["device_hours"], planned["dollars"]
    assumed_low, assumed_high = planned["mfus"]
    billion_tokens = model["training_tokens"] / 1e9
    titles = ", ".join(source["title"] for source in planned["sources"])
    return [
        f"{model['title']}, {billion_tokens:,.6g} billion tokens in batches "
        f"of {model['batch_tokens']:,.0f}, on {settings['devices']:,} {settings['device']} "
        f"with {settings['memory_bytes'] / 1e9:g} GB each at {across_gbit:g} Gbit/s",
        f"Fastest plan that fits: {planner.Plan(**best['plan']).in_words()}",
        f"Memory of a device: {best['memory_bytes'] / 1e9:.1f} GB, "
        + ", ".join(f"{part} {n / 1e9:.1f}" for part, n in best["memory"].items()),
        f"A step: {lowest:.3g} to {highest:.3g} s; in the middle "
        + ", ".join(f"{part} {n:.3g} s" for part, n in best["step"].items()),
        f"The training: {_days(low)} to {_days(high)}, "
        f"MFU {shares[0]:.2f} to {shares[2]:.2f}",
        f"Cost: {_three_digits(hours[0])} to {_three_digits(hours[2])} device hours, "
        f"{_three_digits(dollars[0])} to {_three_digits(dollars[2])} dollars at "
        f"{settings['price']:g} per device hour",
        *_others(
            ("also fits", "also fit"),
            fit,
            lambda row: f"{row['step_seconds'][1]:.3g} s a step",
        ),
        *_others(("does not fit", "do not fit"), too_large, lambda row: row["reason"]),
        f"Assumed: with a perfect network, the fastest plan has an MFU of "
        f"{assumed_low:.2f} to {assumed_high:.2f}, as in {titles}; --json has its address. "
        "That plan may differ with other devices or memory, and with it all times, so "
        "compare plans within this list.",
        f"Assumed: {settings['machine_devices']} devices in a machine at "
        f"{settings['inside_bytes_per_second'] * 8e-9:,.0f} Gbit/s, "
        f"{'with' if model['flash_attention'] else 'without'} FlashAttention.",
    ]


def _others(headings, rows, words):
    if not rows:
        return
    one, several = headings
    yield (
        f"1 other plan {one}:" if len(rows) == 1 else f"{len(rows)} other plans {several}:"
    )
    for row in rows[:SHOWN]:
        yield f"  {planner.Plan(**row['plan']).in_words()}: {words(row)}"
    if len(rows) > SHOWN:
        yield f"  and {len(rows) - SHOWN} more, which --json prints"


def _three_digits(value):
    """An amount as exactly as a forecast knows it: 3,920,000, not 3,919,826."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def _days(days):
    return f"{days:.3g} days" if days < 1000 else f"{days / 365.25:.3g} years"


def bytes_of(text: str) -> float:
    """Bytes of memory: ``"80GB"``, ``"0.5 TB"``, ``"80GiB"``."""
    found = BYTES.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise LabError(f"--memory must be a number with GB, such as 80GB, but is {text!r}.")
    step = 1024 if found[3] else 1000
    return float(found[1]) * step ** {"g": 3, "t": 4}[found[2].lower()]
