"""Published trainings: forecasts of their days, and plans for what-if questions."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helpers.errors import LabError
from helpers.lab_11.plans import planner
from helpers.parameters import number, one_of, whole

FILE = Path(__file__).with_name("published.toml")
# MFUs, end to end, in table 3 of Chowdhery et al. (2022). The lowest is that of GPT-3, the
# highest that of PaLM; Gopher and MT-NLG lie between them. Read again in reviews of the
# paper. PaLM's counts operations of attention, too.
MFUS = 0.213, 0.462
RANGE_SOURCE = {
    "title": "table 3 of Chowdhery et al., PaLM",
    "year": 2022,
    "url": "https://arxiv.org/abs/2204.02311",
}


@dataclass(frozen=True)
class Training:
    """A published training, and how long it took."""

    name: str
    title: str
    year: int
    used: str  # "scored" or "model"
    model: planner.Model
    cluster: planner.Cluster
    device: str
    days: float
    quote: str
    url: str
    checked: str
    assumed: tuple[str, ...]


@functools.cache
def trainings() -> dict[str, Training]:
    """All of published.toml, by name."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: _training(name, entry, content["devices"])
        for name, entry in content["trainings"].items()
    }


def _training(name, entry, kinds):
    model = planner.Model(**entry["model"])
    link = entry["link_gbit"] * 1e9 / 8
    cluster = planner.Cluster(
        devices=entry["devices"], across_bytes_per_second=link, **kinds[entry["device"]]
    )
    steps = model.training_tokens / model.batch_tokens
    if "days" in entry:
        days = entry["days"]
    elif "gpu_hours" in entry:
        days = entry["gpu_hours"] / entry["devices"] / 24
    else:
        days = entry["step_seconds"] * steps / planner.DAY_SECONDS
    texts = ("title", "year", "used", "device", "quote", "url", "checked")
    shown = {key: entry[key] for key in texts}
    return Training(
        name=name, model=model, cluster=cluster, days=float(days),
        assumed=tuple(entry["assumed"]), **shown,
    )  # fmt: skip


def forecasts() -> list[dict[str, Any]]:
    """Forecast the trainings from 2023 on: 6 P D operations at an MFU of `MFUS`.

    An MFU contains bubbles, messages and recomputation, so nothing is added for them.

    Returns
    -------
    list of dict
        `name`, `days` (published), `peak_days` (each device at its peak: 6 P D operations),
        the `range` of days that is forecast, and whether it is a `hit`.
    """
    return [_forecast(one) for one in trainings().values() if one.used == "scored"]


def _forecast(training):
    model, cluster, days = training.model, training.cluster, training.days
    peak = cluster.devices * cluster.peak_operations_per_second
    operations = 6 * model.parameters * model.training_tokens
    peak_days = operations / peak / planner.DAY_SECONDS
    low, high = (peak_days / mfu for mfu in reversed(MFUS))
    return {
        "name": training.title,
        "days": days,
        "peak_days": peak_days,
        "range": (low, high),
        "hit": low <= days <= high,
    }


SETTINGS = {
    "devices": whole(1, 1_000_000),
    "memory_gb": number(0.001, 100_000),
    "link_gbit": number(0.001, 100_000),
    "training_tokens": number(1, 1e16),
}


def what_if(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Plans for a published transformer on other devices of the same kind.

    Parameters
    ----------
    settings : dict
        `model`, a name in published.toml; `devices`; `memory_gb` of a device;
        `link_gbit` of a device; `training_tokens`.

    Returns
    -------
    list of dict
        As `planner.plans`, with `MFUS`.

    Raises
    ------
    LabError
        If a setting is missing, unknown or impossible.
    """
    known = trainings()
    rules = {"model": one_of(*known)} | SETTINGS
    if settings.keys() != rules.keys():
        raise LabError(f"the settings must be {', '.join(rules)}.")
    for name, rule in rules.items():
        if not rule.allows(settings[name]):
            raise LabError(f"{name} must be {rule.text}, but is {settings[name]!r}.")
    training = known[settings["model"]]
    cluster = replace(
        training.cluster,
        devices=settings["devices"],
        memory_bytes=1e9 * settings["memory_gb"],
        across_bytes_per_second=1e9 / 8 * settings["link_gbit"],
    )
    model = replace(training.model, training_tokens=settings["training_tokens"])
    return planner.plans(model, cluster, MFUS)


def in_words(rows: list[dict[str, Any]], shown: int = 4) -> list[str]:
    """Plans as lines: the fastest that fit, and the smallest that do not."""
    fit = [row for row in rows if row["fits"]]
    too_large = [row for row in rows if not row["fits"]]
    found = [f"{len(fit)} of {len(rows)} plans fit"]
    for row in fit[:shown]:
        low, _, high = row["training_days"]
        found.append(
            f"{row['plan'].in_words()}: {row['memory_bytes'] / 1e9:.1f} GB, a step "
            f"{row['sum_seconds']:.1f} s, {low:,.0f} to {high:,.0f} days"
        )
    for row in too_large[:shown]:
        found.append(f"does not fit: {row['plan'].in_words()} {row['reason']}")
    return found
