"""Exercise 10.2: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.formulas import COUNT, Formula
from helpers.verdict import Wrong, phrase, wrong

WHAT = (
    phrase("images_in_turn"), phrase("efficiency_in_turn"),
    phrase("images_overlapped"), phrase("efficiency_overlapped"),
)  # fmt: skip
UNUSUAL = "in_turn", "efficiency", "overlapped", "efficiency"


def make_clusters(rng: Random) -> dict:
    """Clusters bound by the processors and by the link, and one device alone."""
    cases = []
    for kind in ("compute", "link", "latency", "alone"):
        devices = 1 if kind == "alone" else rng.randint(3, 600)
        batch_size, t0 = rng.randint(8, 256), rng.uniform(0.002, 0.05)
        peak, latency = rng.uniform(100, 4000), rng.uniform(1e-6, 1e-5)
        compute, gradient = batch_size / peak, rng.uniform(1e6, 1e9)
        share = {"compute": rng.uniform(0.1, 0.5), "link": rng.uniform(1.2, 3)}.get(
            kind, 0.4
        )
        if kind == "latency":
            gradient /= 1e5  # so few bytes that a part of one shows
            latency = compute * rng.uniform(0.5, 1.5) / (2 * devices)
        case = [devices, batch_size, t0, peak, gradient, latency]
        bytes_per_second = 2 * gradient / (share * compute)
        cases.append([float(f"{n:.5g}") for n in [*case, bytes_per_second]])
        cases[-1][:2] = devices, batch_size
    rng.shuffle(cases)
    return {"cases": cases}


def speeds(case: list[float], mistake: str = "") -> list[float]:
    """Images/s and efficiency, in turn and overlapped, if one makes this mistake."""
    n, b, t0, peak, gradient, latency, bandwidth = case
    images_seconds = b / peak
    compute = {
        "no_fixed_cost": images_seconds,
        "global_batch": t0 + n * images_seconds,
        "shared_batch": t0 + images_seconds / n,
    }.get(mistake, t0 + images_seconds)
    messages = {"one_half": n - 1, "one_more": 2 * n, "no_ring": 2}.get(
        mistake, 2 * (n - 1)
    )
    each = {"whole_gradient": gradient, "whole_bytes": gradient // n}.get(
        mistake, gradient / n
    )
    send = messages * (latency + each / bandwidth)
    if mistake == "latency_once":
        send = latency + messages * each / bandwidth
    if mistake == "no_latency":
        send = messages * each / bandwidth
    if mistake == "two_gradients":
        send = messages * latency + 2 * gradient / bandwidth
    if mistake == "bits":
        send = messages * (latency + 8 * each / bandwidth)
    beside = {
        "hides_all": compute,
        "hides_fixed_cost": 2 / 3 * compute,
        "hides_a_third": images_seconds / 3,
        "hides_the_images": images_seconds,
    }.get(mistake, 2 / 3 * images_seconds)
    left = max(0.0, send - beside)
    if mistake == "below_nothing":
        left = send - beside
    if mistake == "all_or_nothing":
        left = send if send > beside else 0.0
    steps = [compute + send, compute + left]
    if mistake == "swapped":
        steps = steps[::-1]
    if mistake == "start":
        steps = [compute, compute]
    alone = b / peak if mistake == "of_the_peak" else compute
    devices = 1 if mistake == "one_device" else n
    said = []
    for step in steps:
        efficiency = alone / step
        if mistake == "percent":
            efficiency *= 100
        if mistake == "times_devices":
            efficiency *= n
        pair = [devices * b / step, efficiency]
        said += pair[::-1] if mistake == "efficiency_first" else pair
    return said


SPEEDS = Formula(
    speeds,
    (
        "start", "no_fixed_cost", "global_batch", "shared_batch", "one_half", "one_more",
        "no_ring", "whole_gradient", "whole_bytes", "latency_once", "no_latency", "bits",
        "hides_all", "hides_fixed_cost", "hides_a_third", "hides_the_images",
        "below_nothing", "all_or_nothing", "swapped", "of_the_peak", "one_device",
        "percent", "times_devices", "two_gradients", "efficiency_first",
    ),
    apart=5e-4,
    arguments=tuple(range(7)),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Clusters for which every usual mistake gives other numbers."""
    return SPEEDS.draw(rng, make_clusters)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Images/s and efficiency, in turn and overlapped."""
    different = SPEEDS.different(question, observation["said"])
    if different is None:
        return None
    case, part, said, due, mistake = different
    if all(one == observation["said"][0] for one in observation["said"]):
        return wrong("kept", "kept")
    if part == COUNT:
        return wrong("form", "count", numbers=len(said))
    what, unusual = WHAT[part], UNUSUAL[part]
    if case[0] == 1 and not mistake and unusual != "efficiency":
        return wrong("alone", "alone", what=what, value=said, right=due)
    given = [f"{n:.5g}" for n in case]
    return wrong(mistake or unusual, "value", what=what, case=given, value=said, right=due)
