"""Exercise 3.4: the questions, and the verdict on what the probe saw."""

import math
from random import Random

from helpers.checks.judging.formulas import COUNT, Formula
from helpers.verdict import Wrong, wrong

BATCH, SECONDS = range(2)  # places in a reply


def make_cases(rng: Random) -> dict:
    """Trainings on one device, then on several; some differ in one number only."""
    alone = [_numbers(rng, bend=(50, 5000), half=(2, 200)) for _ in range(2)]
    # Smallest where a batch is a few images, or less than one: nothing is rounded.
    alone.append(_numbers(rng, bend=(3, 9), half=(0.5, 2)))
    # Smallest far above the bend.
    alone.append(_numbers(rng, bend=(3, 9), half=(60, 200)))
    several = [alone[0] | {"devices": rng.choice([3, 5, 7])}]
    several.append(alone[1] | {"devices": rng.choice([2, 64, 1024])})
    several.append(_numbers(rng, bend=(10, 40), half=(2, 4)) | {"devices": 512})
    return {"cases": [*alone, *several]}


def _numbers(rng, bend, half):
    """The four numbers of the two laws, with bends in these ranges, in images."""
    peak = rng.uniform(200, 20_000)
    return {
        "floor": rng.uniform(10, 200),
        "bend": rng.uniform(*bend),
        "t0_seconds": rng.uniform(*half) / peak,
        "peak": peak,
    }


def training(case: dict, mistake: str) -> list:
    """The best batch size of a device and the seconds there, if one makes this mistake."""
    floor, bend, t0, peak = (case[k] for k in ("floor", "bend", "t0_seconds", "peak"))
    devices = 1 if mistake == "one_device" else case.get("devices", 1)
    if mistake == "default" and "devices" not in case:
        devices = 2
    if mistake == "start":
        return [bend, floor * t0]
    batch = _batch(mistake, bend, t0 * peak, devices)
    counted = 1 if mistake in ("steps_of_one", "divided alone") else devices
    loaded = devices * batch if mistake == "divided alone" else batch
    steps = 1 + bend / (counted * loaded)
    step_seconds = t0 + loaded / peak
    seconds = {
        "cross": floor * (t0 + bend / (devices * peak)),
        "steps": floor * steps,
        "step": step_seconds,
        "floor_only": floor * step_seconds,
        "no_floor": steps * step_seconds,
        "scaled": floor * steps * step_seconds / devices,
        "milliseconds": 1000 * floor * steps * step_seconds,
    }.get(mistake, floor * steps * step_seconds)
    return [devices * batch if mistake == "global" else batch, seconds]


def _batch(mistake, bend, half, devices):
    best = math.sqrt(bend * half / devices)
    return {
        "half_peak": half,
        "bend": bend,
        "bend shared": bend / devices,
        "no_root": bend * half / devices,
        "mean": (bend + half) / 2,
        "mean harmonic": 2 * bend * half / (bend + half),
        "divided": math.sqrt(bend * half) / devices,
        "divided alone": math.sqrt(bend * half) / devices,
        "below_one": max(1.0, best),
        "whole": max(1, round(best)),
        "whole down": max(1, math.floor(best)),
        "whole up": math.ceil(best),
        "whole power": 2.0 ** round(math.log2(best)),
    }.get(mistake, best)


TRAINING = Formula(
    training,
    (
        "start", "half_peak", "bend", "bend shared", "no_root", "mean", "mean harmonic",
        "one_device", "default", "steps_of_one", "global", "divided", "divided alone",
        "cross", "steps", "step", "floor_only", "no_floor", "scaled", "milliseconds",
        "below_one", "whole", "whole down", "whole up", "whole power",
    ),
    relative=1e-3,  # found by a search, too: near its lowest point the time is flat
    apart=0.02,
    arguments=("floor", "bend", "t0_seconds", "peak", "devices"),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Trainings for which every usual mistake gives other numbers."""
    return TRAINING.draw(rng, make_cases)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The batch size with the least time, and that time, for each training."""
    said = observation["replies"]
    found = TRAINING.different(question, said)
    if found is None:
        return None
    case, due = found.case, training(found.case, "")
    assert isinstance(case, dict)
    facts = {
        "floor": case["floor"], "bend": case["bend"], "peak": case["peak"],
        "t0": case["t0_seconds"], "devices": case.get("devices", 1), "said": said[
            question["cases"].index(case)], "due": due,
    }  # fmt: skip
    if found.part == COUNT:
        return wrong("other", "reply", requirement="seconds", **facts)
    mistake = found.mistake.split(" ")[0] or "other"
    if mistake == "other" and all(float(batch).is_integer() for batch, _ in said):
        mistake = "whole"
    if mistake != "other":
        return wrong(mistake, "reply", **facts)
    broken = "batch" if found.part == BATCH else "seconds"
    broken = "devices" if "devices" in case else broken
    return wrong("other", "reply", requirement=broken, **facts)
