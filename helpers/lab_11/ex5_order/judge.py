"""Exercise 11.5: the questions, and the verdict on what the probe saw."""

from collections import Counter
from random import Random

from helpers.checks.judging.copies import cannot_travel
from helpers.lab_11.pipelines.pipeline_schedule import Box, peak_held, simulate
from helpers.verdict import Wrong, phrase, wrong

BOTH = 3  # units of time of a forward, 1, and of a backward, 2, as `simulate` has them


def draw_question(rng: Random) -> dict:
    """Calls for all stages: fewer micro-batches than stages, as many, more, and one."""
    sizes = [(1, 1), (1, rng.randint(2, 5)), (2, rng.randint(3, 7))]
    fewer, equal, more, single = (rng.randint(3, 6) for _ in range(4))
    sizes += [(fewer, rng.randint(2, fewer - 1)), (equal, equal), (single, 1)]
    sizes += [(more, rng.randint(more + 1, 3 * more))]
    sizes += [(rng.randint(7, 9), rng.randint(15, 24))]
    # Two sizes could be the same only if both have the same number of micro-batches.
    sizes = list(dict.fromkeys(sizes))
    calls = [[stage, *size] for size in sizes for stage in range(size[0])]
    rng.shuffle(calls)
    return {"cases": calls}


def judge(question: dict, observation: dict) -> Wrong | None:
    """Whether the lists of all stages work together, within the limits."""
    if verdict := cannot_travel(observation):
        return verdict
    calls, said = question["cases"], observation["said"]
    for call, work, again in zip(calls, said, observation["again"], strict=True):
        for read in (work, again):
            if verdict := _wrong_form(call, read):
                return verdict
        if work != again:
            return wrong("state", "state", call=call)
    for call, work in zip(calls, said, strict=True):
        if verdict := _wrong_items(call, work):
            return verdict
    pipelines = {}
    for (stage, *size), work in zip(calls, said, strict=True):
        pipelines.setdefault(tuple(size), {})[stage] = [tuple(item) for item in work]
    lists = {size: [by[s] for s in sorted(by)] for size, by in sorted(pipelines.items())}
    for decide in (_too_many, _deadlock, _late):
        for (_, micro_batches), pipeline in lists.items():
            if verdict := decide(pipeline, micro_batches, lists):
                return verdict
    return None


def _wrong_form(call, work):
    if work is None:
        return wrong("form_list", "no_list", call=call)
    if None in work:
        return wrong("form_item", "no_item", call=call, place=work.index(None))
    return None


def _wrong_items(call, work):
    micro_batches = call[2]
    often = Counter(map(tuple, work))
    numbers = {number for _, number in often}
    if outside := sorted(numbers - set(range(micro_batches))):
        mistake = "from_one" if numbers == set(range(1, micro_batches + 1)) else "outside"
        return wrong(
            mistake, "outside", call=call, number=outside[0], last=micro_batches - 1
        )
    for kind in "FB":
        for number in range(micro_batches):
            facts = {"call": call, "number": number}
            what = phrase("F") if kind == "F" else phrase("B")
            if not often[kind, number]:
                return wrong("missing", "missing", what=what, **facts)
            if often[kind, number] > 1:
                return wrong("twice", "twice", what=what, **facts)
    return None


def _too_many(pipeline, micro_batches, lists):
    stages = len(pipeline)
    for stage, work in enumerate(pipeline):
        peak, limit = peak_held(work), min(stages - stage, micro_batches)
        if peak > limit:
            return wrong(
                _why_too_many(lists), "held", stage=stage, stages=stages,
                micro_batches=micro_batches, peak=peak, limit=limit,
            )  # fmt: skip
    return None


def _why_too_many(lists):
    if all(_is_gpipe(work) for one in lists.values() for work in one):
        return "start"
    peaks = {size: [peak_held(work) for work in one] for size, one in lists.items()}
    if all(set(one) == {min(size)} for size, one in peaks.items()):
        return "same_limit"
    over = [
        peak - (stages - stage)
        for (stages, _), one in peaks.items()
        for stage, peak in enumerate(one)
    ]
    return "one_more" if max(over) == 1 else "held"


def _is_gpipe(work):
    return [kind for kind, _ in work] == sorted((kind for kind, _ in work), reverse=True)


def _deadlock(pipeline, micro_batches, lists):
    waiting = waiting_in(pipeline, simulate(pipeline))
    if not waiting:
        return None
    early = any(
        work.index(("B", i)) < work.index(("F", i))
        for work in pipeline
        for i in range(micro_batches)
    )
    shown = [f"stage {stage} for {kind} {number}" for stage, kind, number in waiting]
    return wrong(
        "backward_first" if early else "deadlock", "deadlock",
        stages=len(pipeline), micro_batches=micro_batches, waiting=shown,
    )  # fmt: skip


def waiting_in(pipeline: list[list], boxes: list[Box]) -> list[tuple]:
    """The stages that wait forever, each with its item."""
    done = Counter(box.stage for box in boxes)
    return [
        (stage, *work[done[stage]])
        for stage, work in enumerate(pipeline)
        if done[stage] < len(work)
    ]


def _late(pipeline, micro_batches, lists):
    stages = len(pipeline)
    end = max(box.end for box in simulate(pipeline))
    # The last stage cannot begin before `stages - 1`, works for all micro-batches, and
    # then the last backward has to pass through all other stages.
    least = (micro_batches + stages - 1) * BOTH
    if end == least:
        return None
    peaks = [peak_held(work) for work in pipeline]
    fewer = [peak < min(stages - s, micro_batches) for s, peak in enumerate(peaks)]
    mistake = "too_few" if any(fewer) else "late"
    if all(peak_held(work) == 1 for one in lists.values() for work in one):
        mistake = "one_by_one"
    return wrong(
        mistake, "late", stages=stages, micro_batches=micro_batches, end=end, least=least
    )
