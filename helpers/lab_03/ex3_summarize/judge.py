"""Exercise 3.3: the questions, and the verdict on what the probe saw."""

import statistics
from random import Random

from helpers.checks.judging.formulas import KEEPS, Formula
from helpers.verdict import Wrong, wrong

NEVER = float("inf")
ROW = 5  # figures of a batch size


def make_summary(rng: Random) -> dict:
    """One case: runs that always, mostly, seldom and never reach the target."""
    target, runs = round(rng.uniform(0.7, 0.9), 2), []
    # How many reach it, of how many: medians of odd and even numbers differ.
    counts = rng.sample([(5, 5), (4, 4), (4, 5), (3, 7), (0, 3), (3, 6), (4, 6)], 7)
    sizes = rng.sample([8, 16, 32, 64, 128, 256, 512, 1024], len(counts))
    for batch_size, (reaching, repeats) in zip(sizes, counts, strict=True):
        for seed in range(repeats):
            pace, first = rng.uniform(1, 9), rng.randint(1, 2)
            low, near_it, high = (round(target + d, 3) for d in (-0.1, -0.002, 0.02))
            accuracy = [rng.choice([low, near_it]) for _ in range(rng.randint(5, 6))]
            if seed < reaching:
                # Exactly at it, then above and below it; or above it at single looks.
                looks = [[target, high, target], [high, low, high]][seed % 2]
                accuracy[first : first + 3] = looks
            runs.append(
                {
                    "batch_size": batch_size,
                    "seed": seed,
                    "wall_seconds": [
                        round(pace * (e + 1), 3) for e in range(len(accuracy))
                    ],
                    "val_accuracy": accuracy,
                }
            )
    rng.shuffle(runs)
    return {"cases": [{"target": target, "runs": runs}]}


def summary(question: dict, mistake: str) -> list:
    """The figures of the table, size by size, if one makes this mistake."""
    shift = {"at_target": 1e-9, "close": -0.005}.get(mistake, 0)
    target, times = question["target"] + shift, {}
    for run in question["runs"]:
        looks = list(zip(run["wall_seconds"], run["val_accuracy"], strict=True))
        reached = [t for t, accuracy in looks if accuracy >= target]
        first = min(reached, default=NEVER)
        if reached and mistake == "first":
            first = looks[-1][0]
        if reached and mistake == "last":
            first = max(reached)
        if mistake in ("start", "all_reach"):
            first = looks[-1][0] if mistake == "start" or not reached else first
        times.setdefault(run["batch_size"], []).append(first)
    rows = [_row(times[size], mistake) for size in sorted(times)]
    return [figure for row in rows for figure in row]


def _row(times, mistake):
    reached = sorted(t for t in times if t < NEVER)
    counted = reached if mistake == "dropped" else sorted(times)
    if mistake in ("start", "mean"):
        middle = statistics.mean(reached) if reached else NEVER
    elif mistake == "upper":
        middle = counted[len(counted) // 2]
    else:
        middle = statistics.median(counted) if counted else NEVER
    return [
        len(times) if mistake == "all_counted" else len(reached),
        len(reached) if mistake == "runs" else len(times),
        None if middle == NEVER else middle,
        min(reached, default=None),
        max(reached, default=None),
    ]


SUMMARY = Formula(
    summary,
    (
        "start", "first", "last", "dropped", "mean", "at_target", "upper", "all_counted",
        "runs", "all_reach", "close",
    ),
    relative=1e-6,
    absolute=0.0051,  # rounded to two decimals
    apart=1e-6,
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Runs of which every usual mistake makes other rows."""
    [question] = SUMMARY.draw(rng, make_summary)["cases"]
    [other] = make_summary(rng)["cases"]
    # The same runs with another target, and other runs with this one.
    later = [
        {"target": question["target"] + 0.01, "runs": question["runs"]},
        {"target": question["target"], "runs": other["runs"]},
    ]
    return question | {"later": later}


def judge(question: dict, observation: dict) -> Wrong | None:
    """Median over all runs; runs that never reach the target count as the slowest."""
    if found := _wrong_rows(question, observation["rows"]):
        return found
    for asked, rows in zip(question["later"], observation["later"], strict=True):
        if found := _wrong_rows(asked, rows):
            return Wrong(KEEPS, found.seen)
    return None


def _wrong_rows(question, rows):
    sizes = [run["batch_size"] for run in question["runs"]]
    keys = [key for key, _ in rows]
    if any(isinstance(key, str) for key in keys):
        return wrong("keys", "keys", keys=", ".join(map(str, keys)))
    if sorted(keys) != sorted(set(sizes)):
        return wrong("sizes", "sizes", sizes=sorted(keys), due=sorted(set(sizes)))
    reply = [figure for _, row in sorted(rows) for figure in row]
    found = SUMMARY.different({"cases": [question]}, [reply])
    if found is None:
        return None
    at, column = divmod(found.part, ROW)
    (size, row), due = sorted(rows)[at], summary(question, "")[at * ROW : (at + 1) * ROW]
    facts = {"runs": sizes.count(size), "size": size, "row": row, "due": due}
    if found.mistake:
        return wrong(found.mistake, "row", **facts)
    broken = _broken(column, found.said, found.due)
    return wrong("other", "row", requirement=broken, **facts)


def _broken(column, said, due):
    """The sentence that a wrong figure of a row breaks."""
    if column < 2:
        return "counts"
    if due is None:
        return "none"
    return "spread" if said is None else "first"
