"""Exercise 8.3: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.verdict import Wrong, phrase, wrong

MOST_AHEAD = 8


def draw_question(rng: Random) -> dict:
    """More batches than anybody should hold, three whole ones, and less than one batch.

    A loop over three whole batches is stopped early; then a new loop asks for three.
    """
    cases = []
    for batches, rest in ((23, 1), (3, 0), (0, 1)):
        size = rng.randint(3, 6)
        images = batches * size + rest * rng.randint(1, size - 1)
        cases.append({"batch_size": size, "images": images, "offset": rng.randint(10, 49)})
    broken_off = {"offset": rng.randint(50, 99), "stop_after": rng.randint(1, 2)}
    cases.insert(1, cases[1] | broken_off)
    return {"cases": cases}


def judge(question: dict, observation: dict) -> Wrong | None:
    """Judge each source by itself; after one that never overlaps, the probe stops."""
    seen, broken_off = observation["cases"], False
    for case, one in zip(question["cases"], seen, strict=False):
        if verdict := _judge_feed(case, one, broken_off):
            return verdict
        broken_off = "stop_after" in case
    if len(seen) != len(question["cases"]):
        raise ValueError(f"{len(seen)} sources")
    return None


def _judge_feed(case, observation, after_one_broken_off):
    """Right batches, one fetch for each, the next one while a step runs, few ahead."""
    size, images = case["batch_size"], case["images"]
    due = [
        [[n + case["offset"], 2 * n] for n in range(first, min(first + size, images))]
        for first in range(0, images, size)
    ]
    batches, calls = observation["batches"], observation["calls"]
    right = batches == due[: case.get("stop_after")]
    if after_one_broken_off and batches[:1] != due[:1]:
        return wrong("again", "again")
    if not right:
        return _wrong_batches(due, batches)
    if number := observation["overwritten"]:
        return wrong("overwritten", "overwritten", number=number)
    if "stop_after" in case:
        return None if observation["overlaps"] else wrong("no_overlap", "no_overlap")
    if len(calls) != len(due):
        many = phrase("fetches", fetches=len(calls), batches=len(due))
        if observation["overlaps"]:
            return wrong("one_by_one", "many", fetches=many)
        return wrong("start", "many_between_steps", fetches=many)
    fetched = sum(map(len, calls))
    if fetched != images:
        return wrong("other", "fetched", requirement="rest", fetched=fetched, images=images)
    if not observation["overlaps"]:
        return wrong("no_overlap", "no_overlap")
    if observation["ahead"] > MOST_AHEAD:
        return wrong("too_far", "ahead", ahead=observation["ahead"], batches=len(due))
    return None


def _wrong_batches(due, batches):
    lists = [batch for batch in batches if isinstance(batch, list)]
    sizes = [len(batch) if isinstance(batch, list) else 0 for batch in batches]
    came = phrase(
        "came", sizes=[*sizes[:3], "...", *sizes[-1:]], batches=len(batches),
        due=len(due), batch_size=len(due[0]),
    )  # fmt: skip
    if batches == due[:-1]:
        return wrong("rest", "no_rest", came=came)
    if not lists or not all(isinstance(row, list) for row in _rows(lists)):
        return wrong("other", "no_arrays", requirement="sizes", came=came)
    rows = _rows(batches)
    broken = "rest" if batches[: len(due) - 1] == due[:-1] else "sizes"
    if rows == _rows(due)[: len(rows)]:
        return wrong("sizes", "sizes", requirement=broken, came=came)
    if len(batches) == len(due) and sorted(rows) == sorted(_rows(due)):
        return wrong("order", "order")
    return wrong("other", "sizes", requirement=broken, came=came)


def _rows(batches):
    return [row for batch in batches for row in batch]
