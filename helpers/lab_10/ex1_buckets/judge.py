"""Exercise 10.1: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, wrong

KINDS = (
    "link", "computing", "exact", "large", "together", "each", "one", "single", "alike",
)  # fmt: skip


def make_steps(rng: Random) -> dict:
    """Steps that wait for the link or for gradients, and buckets that fit or do not."""
    cases = [make_step(rng, kind) for kind in KINDS]
    rng.shuffle(cases)
    return {"cases": cases}


def make_step(rng: Random, kind: str) -> list:
    """Gradients, when they are ready, a link, and the least size of a bucket."""
    count = 1 if kind == "single" else rng.randint(7, 12)
    sizes = [rng.randint(1000, 90_000) for _ in range(count)]
    bucket_bytes = rng.randint(60_000, 120_000)
    if kind == "each":
        bucket_bytes = rng.randint(500, 900)
    if kind == "one":
        bucket_bytes = 2 * sum(sizes)
    if kind == "exact":  # two buckets are exactly full, and nothing is left over
        first, second = rng.randint(2, count - 4), count - 1
        bucket_bytes = sum(sizes[: first + 1])
        filled = sum(sizes[first + 1 : second])
        while filled >= bucket_bytes:
            sizes[first + 1 : second] = [size // 2 for size in sizes[first + 1 : second]]
            filled = sum(sizes[first + 1 : second])
        sizes[second] = bucket_bytes - filled
    if kind == "large":  # one comes while a bucket is open, and is larger than it
        sizes[0], sizes[1] = bucket_bytes // 3, 2 * bucket_bytes + rng.randint(1, 9999)
        # So is the last but one: what comes after it is short.
        sizes[-2:] = 3 * bucket_bytes + rng.randint(1, 9999), rng.randint(1000, 9999)
    if kind == "alike":  # some gradients are of one size
        sizes = rng.choices(sizes[:3], k=count)
    gaps = [rng.uniform(0.001, 0.02) for _ in sizes]
    if kind == "together":  # a layer's gradients are ready at one time
        gaps = [gap if place % 3 == 0 else 0.0 for place, gap in enumerate(gaps)]
    ready_at, now = [], 0.0
    for gap in gaps:
        now = round(now + gap, 6)
        ready_at.append(now)
    # Of the time of backward, how long the link needs for the bytes.
    share = {"computing": 0.1, "link": 2.5, "large": 2.5}.get(kind, rng.uniform(0.5, 1.2))
    bandwidth = float(round(sum(sizes) / (share * now)))
    latency = round(rng.uniform(0.02, 0.15) * now / (1 if kind == "single" else 4), 6)
    return [sizes, ready_at, latency, bandwidth, bucket_bytes]


def pack(sizes: list, ready_at: list, least: int, mistake: str) -> list[tuple]:
    """Buckets as (when its first and its last gradient is ready, bytes)."""
    held, first, previous = 0, 0.0, 0.0
    buckets = []
    for size, ready in zip(sizes, ready_at, strict=True):
        if held and (
            (mistake == "at_most" and held + size > least)
            or (mistake == "large_alone" and size >= least)
        ):
            buckets.append((first, previous, held))
            held = 0
        first, previous = first if held else ready, ready
        held += size
        while mistake == "split" and held > least:
            buckets.append((first, ready, least))
            held -= least
        full = held > least if mistake in ("above", "at_most") else held >= least
        if full or mistake == "each_alone":
            buckets.append((first, ready, held))
            held = held - least if mistake == "carries_over" else 0
    if (held or mistake == "empty") and mistake != "drops_rest":
        buckets.append((first, ready_at[-1], held))
    return buckets


def ends(case: list, mistake: str = "") -> list[float]:
    """When the last all-reduce ends, if one makes this mistake."""
    sizes, ready_at, latency, bandwidth, least = case
    if mistake == "from_the_front":
        sizes = sizes[::-1]
    if mistake == "start":
        least = sum(sizes)
    free, spans = 0.0, []
    for first, ready, held in pack(sizes, ready_at, least, mistake):
        ready = {"first_ready": first, "after_backward": ready_at[-1], "no_ready": 0.0}.get(
            mistake, ready
        )
        bytes_sent = min(held, least) if mistake == "nominal" else held
        took = latency + bytes_sent / bandwidth
        took = {
            "no_latency": bytes_sent / bandwidth,
            "latency_once": bytes_sent / bandwidth + (0 if spans else latency),
            "bits": latency + 8 * bytes_sent / bandwidth,
            "latency_for_each_byte": latency * bytes_sent + bytes_sent / bandwidth,
        }.get(mistake, took)
        begin = ready if mistake.startswith("side_by_side") else max(ready, free)
        free = begin + took
        spans.append((begin, free))
    end = spans[-1][1] if spans else 0.0
    return [
        {
            "begins": spans[-1][0] if spans else 0.0,
            "on_top": end - ready_at[-1],
            "side_by_side_longest": max((stop for _, stop in spans), default=0.0),
        }.get(mistake, end)
    ]


ENDS = Formula(
    ends,
    (
        "start", "each_alone", "at_most", "above", "large_alone", "split", "carries_over",
        "drops_rest", "empty", "from_the_front", "first_ready", "after_backward",
        "no_ready", "no_latency", "latency_once", "bits", "latency_for_each_byte",
        "nominal", "side_by_side", "side_by_side_longest", "begins", "on_top",
    ),
    arguments=tuple(range(5)),
    sound=lambda case: len(case[0]) == len(case[1]),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Steps for which every usual mistake gives another end."""
    return ENDS.draw(rng, make_steps)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The end of the last all-reduce of each step."""
    different = ENDS.different(question, observation["said"])
    if different is None:
        return None
    (sizes, ready_at, latency, bandwidth, least), _, said, due, mistake = different
    shown = {
        "sizes": sizes, "ready": ready_at, "latency": latency, "bandwidth": bandwidth,
        "least": least, "value": said, "right": due,
    }  # fmt: skip
    return wrong(mistake or "other", "value", **shown)
