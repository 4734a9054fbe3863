"""Exercise 8.3: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.verdicts import number_of


def draw_question(rng):
    """More batches than anybody should hold, the last one smaller; and three whole ones."""
    cases = []
    for batches, rest in ((23, 1), (3, 0)):
        size = rng.randint(3, 6)
        images = batches * size + rest * rng.randint(1, size - 1)
        cases.append({"batch_size": size, "images": images, "offset": rng.randint(10, 99)})
    return {"cases": cases}


def judge(question, observation):
    """Each source by itself; after one that never overlaps the probe asks for no other."""
    seen = observation["cases"]
    for case, one in zip(question["cases"], seen, strict=False):
        if verdict := _judge_feed(case, one):
            return verdict
    if len(seen) != len(question["cases"]):
        raise ValueError(f"{len(seen)} sources")
    return None


def _judge_feed(case, observation):
    """Right batches, one fetch for each, the next one while a step runs, few ahead."""
    size, images = case["batch_size"], case["images"]
    due = [
        [[n + case["offset"], 2 * n] for n in range(first, min(first + size, images))]
        for first in range(0, images, size)
    ]
    batches, calls = observation["batches"], observation["calls"]
    if batches != due:
        return _wrong_batches(due, batches)
    if not observation["whole_numbers"]:
        return "it asks `fetch` for numbers that are not whole, such as 3.0", "numbers"
    if len(calls) != len(due):
        hint = "one_by_one" if observation["overlaps"] else "start"
        fetches = number_of(len(calls), "fetch", "fetches")
        said = f"{fetches} brought {number_of(len(due), 'batch', 'batches')}"
        return (said if observation["overlaps"] else f"{said}, none during a step"), hint
    if sum(map(len, calls)) != images:
        return f"its fetches brought {sum(map(len, calls))} images of {images}", "other"
    if not observation["overlaps"]:
        return "while a step ran, no fetch of the next batch did", "no_overlap"
    if observation["ahead"] > 8:
        said = f"at the first step it had begun {observation['ahead']} batches or more"
        return f"{said} of {len(due)}", "too_far"
    if observation["types"] != ["float32"]:
        kinds = ", ".join(observation["types"])
        return f"its batches are of the type {kinds}, not arrays of float32", "type"
    return None


def _wrong_batches(due, batches):
    def rows(of):
        return [row for batch in of for row in batch]

    sizes = [len(batch) if isinstance(batch, list) else 0 for batch in batches]
    reason = (
        f"batches of {', '.join(map(str, [*sizes[:3], '...', *sizes[-1:]]))} images came"
    )
    reason += f", {len(batches)} in all; due were {len(due)} of {len(due[0])}"
    flat = [batch for batch in batches if isinstance(batch, list)]
    if not flat or not all(isinstance(row, list) for batch in flat for row in batch):
        return f"its batches are not arrays of shape (images, 2): {reason}", "other"
    if batches == due[:-1]:
        return f"{reason}: the last images are missing", "rest"
    if rows(batches) == rows(due)[: len(rows(batches))]:
        return reason, "sizes"
    if len(batches) == len(due) and sorted(rows(batches)) == sorted(rows(due)):
        return "all images came, and not in the order of their numbers", "order"
    return reason, "other"
