"""Exercise 0.1: the questions, and the verdict on what the probe saw."""

import re
from random import Random

from helpers.checks.judging.verdicts import first_wrong
from helpers.verdict import Phrase, Wrong, phrase, wrong

RESTARTED = ("kernel", "notebook", "python")  # what a reader can restart
NOTHING = {"gpu": None, "memory_growth": False, "memory_limit_mib": None}


def draw_question(rng: Random) -> dict:
    """Machines with and without GPUs, and every way of sharing memory."""

    def case(gpus=None, started=False, by_position=0, grew=False, **arguments):
        gpus = rng.randint(3, 8) if gpus is None else gpus
        if arguments.get("index") == "some":
            arguments["index"] = rng.randrange(1, gpus)
        return {
            "gpus": gpus, "started": started, "by_position": by_position,
            "grew": [arguments["index"]] if grew else [], "arguments": arguments,
        }  # fmt: skip

    gpus, limit = rng.randint(3, 8), rng.randint(500, 50_000)
    sharing = {"memory_growth": False, "memory_limit_mib": limit}
    absent = [gpus, -1, -gpus, rng.randint(gpus + 1, 12)]
    return {
        "cases": [
            case(index="some"),
            case(),
            case(gpus, by_position=1, index=gpus - 1),
            case(1, index=0),
            case(index="some", **sharing),
            case(by_position=3, index="some", **sharing),
            case(index="some", memory_growth=False),
            # As if an earlier cell or a variable of TensorFlow's had switched it on.
            case(grew=True, index="some", memory_growth=False),
            case(index="some", memory_growth=True, memory_limit_mib=limit),
            case(index="some", memory_limit_mib=limit),
            case(0),
            case(0, index=rng.randint(1, 5), **sharing),
            *(case(gpus, index=index) for index in absent),
            *(case(gpus, index=index, **sharing) for index in absent),
            case(1, index=1),
            case(0, index=-1),
            case(started=True, index="some"),
            case(started=True, index="some", **sharing),
            # One GPU is visible already, so it is the second call that fails first.
            case(1, started=True, index=0),
            case(1, started=True, index=0, **sharing),
        ]
    }


def judge(question: dict, observation: dict) -> Wrong | None:
    """Each case must change the simulated machine correctly, and report it."""
    cases, seen = question["cases"], observation["cases"]
    pairs = zip(cases, seen, strict=True)
    claims = [(case, one) for case, one in pairs if _kind(case) == "claim"]
    # A line that is also printed with a GPU does not say that there is none.
    with_gpu = {_words(line) for _, one in claims for line in one["printed"]}

    def judge_case(case, one):
        said = JUDGE_CLAIM[_kind(case)](case, one)
        if not said and _kind(case) == "no_gpu":
            said = _judge_line(with_gpu, one)
        return said and _with_call(case, said)

    said = first_wrong(cases, seen, judge_case)
    # The start code makes one GPU visible and leaves its memory as it is.
    if any(
        one["growing"] != case["grew"] or one["limits_mib"] or one["raised"]
        for case, one in claims
    ):
        return said
    return said and Wrong("start", said.seen)


def _with_call(case, said):
    """Add how the function was called, and on which machine."""
    arguments = [f"{name}={value}" for name, value in case["arguments"].items()]
    started = case["started"]
    return wrong(
        said.mistake, "call_after_start" if started else "call",
        requirement=said.requirement,
        arguments=arguments, gpus=case["gpus"], what=said.seen,
    )  # fmt: skip


def _asked(case):
    asked = {"index": 0, "memory_growth": True, "memory_limit_mib": None}
    return (asked | case["arguments"]).values()


def _kind(case):
    """The expected behaviour in a case."""
    index, growth, limit = _asked(case)
    if growth and limit:
        return "both"
    if not case["gpus"]:
        return "no_gpu"
    if not 0 <= index < case["gpus"]:
        return "index"
    return "started" if case["started"] else "claim"


def _judge_claimed(case, seen):
    index, growth, limit = _asked(case)
    if seen["raised"]:
        return Wrong("raised", _did(seen))
    visible = [number for number in seen["visible"] if number is not None]
    if visible != [index]:
        return wrong("visible", "visible", gpus=visible, index=index)
    if None not in seen["visible"]:
        return wrong("cpu", "cpu_hidden")
    if seen["growing"] != ([index] if growth else case["grew"]):
        return _judge_growth(case, growth, seen["growing"])
    if seen["limits_mib"] != ([[index, [limit]]] if limit else []):
        limits = seen["limits_mib"]
        return wrong("limit", "limits" if limits else "no_limit", limits_mib=limits)
    right = {"gpu": index, "memory_growth": growth, "memory_limit_mib": limit}
    if case["grew"]:  # whether it now returns that memory grows is open
        return None
    return _judge_returned(right, seen, "returned")


def _judge_growth(case, wanted, growing):
    # The same arguments as in an earlier case, but by position instead of by name.
    unwanted = "defaults" if case["by_position"] else "neither"
    if case["grew"] and not growing:
        return wrong("growth", "switched_off", requirement="neither")
    return wrong(
        "growth", "grows" if growing else "grows_nowhere",
        requirement="growth" if wanted else unwanted, gpus=growing,
    )  # fmt: skip


def _judge_no_gpu(case, seen):
    if seen["raised"]:
        return Wrong("no_gpu", _did(seen))
    if not _about_cpu(seen):
        return wrong("no_gpu", "no_line")
    if not _untouched(case, seen):
        return wrong("cpu", "cpu_changed")
    return _judge_returned(NOTHING, seen, "nothing")


def _judge_line(with_gpu, seen):
    if with_gpu >= set(map(_words, _about_cpu(seen))):
        return wrong("always", "line_with_gpu")
    return None


def _about_cpu(seen):
    return [line for line in seen["printed"] if "cpu" in line.lower()]


def _words(line):
    """The words of a line; a list of devices has the same words with and without a GPU."""
    return frozenset(re.findall("[a-z]+", line.lower())) - {"gpu"}


def _judge_refused(case, seen):
    if "ValueError" not in (seen["raised"] or ()):
        return wrong(_kind(case), "not_refused", did=_did(seen))
    if not _untouched(case, seen):
        return wrong("too_late", "changed_before")
    return None


def _judge_started(case, seen):
    if "DeviceError" not in (seen["raised"] or ()):
        return wrong("started", "no_device_error", did=_did(seen))
    if not _untouched(case, seen):
        return wrong("started", "changed_after_start")
    message = seen["raised"][-1].strip()
    said = message.lower()
    what = any(name in said for name in RESTARTED)
    if "restart" not in said or not what or len(message.splitlines()) > 1:
        return wrong("message", "not_to_restart", did=_did(seen))
    return None


def _untouched(case, seen):
    changed = seen["growing"] or seen["limits_mib"]
    return seen["visible"] == [None, *range(case["gpus"])] and not changed


def _did(seen) -> Phrase:
    if not seen["raised"]:
        return phrase("raised_nothing")
    error, *_, message = seen["raised"]
    return phrase("raised", error=error, message=message.strip())


def _judge_returned(right, seen, requirement):
    if seen["returned"] == right:
        return None
    returned = str(seen["returned"])
    return wrong(
        "returned", "returned", requirement=requirement, returned=returned, due=right
    )


JUDGE_CLAIM = {
    "claim": _judge_claimed,
    "both": _judge_refused,
    "no_gpu": _judge_no_gpu,
    "index": _judge_refused,
    "started": _judge_started,
}
