"""Exercise 0.1: the questions, and the verdict on what the probe saw."""

import re

from helpers.checks.judging.verdicts import first_wrong

RESTARTED = ("kernel", "notebook", "python")  # what a reader can restart
NOTHING = {"gpu": None, "memory_growth": False, "memory_limit_mib": None}


def draw_question(rng):
    """Machines with some GPUs and with none, each way of sharing memory."""

    def case(gpus=None, started=False, by_position=0, **arguments):
        gpus = rng.randint(3, 8) if gpus is None else gpus
        if arguments.get("index") == "some":
            arguments["index"] = rng.randrange(1, gpus)
        return {
            "gpus": gpus, "started": started, "by_position": by_position,
            "arguments": arguments,
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
            # One GPU is visible already: the first call that fails is the second.
            case(1, started=True, index=0),
            case(1, started=True, index=0, **sharing),
        ]
    }


def judge(question, observation):
    """Each case changed the pretended machine correctly, and reported it."""
    cases, seen = question["cases"], observation["cases"]
    # The start code makes one GPU visible and leaves its memory as it is.
    claims = [one for case, one in zip(cases, seen, strict=True) if _kind(case) == "claim"]
    set_any = any(one["growing"] or one["limits_mib"] or one["raised"] for one in claims)

    # A line that comes with a GPU as well does not say that there is none.
    with_gpu = {_words(line) for one in claims for line in one["printed"]}

    def judge(case, one):
        verdict = JUDGE_CLAIM[_kind(case)](case, one)
        if (
            not verdict
            and _kind(case) == "no_gpu"
            and with_gpu >= set(map(_words, _about_cpu(one)))
        ):
            verdict = "what it prints about the CPU it prints with a GPU, too", "always"
        if not verdict:
            return None
        reason, hint = verdict
        call = ", ".join(f"{name}={value}" for name, value in case["arguments"].items())
        started = ", TensorFlow started" if case["started"] else ""
        reason = f"claim_gpu({call}) with {case['gpus']} GPUs{started}: {reason}"
        return reason, hint if set_any else "start"

    return first_wrong(cases, seen, judge)


def _asked(case):
    asked = {"index": 0, "memory_growth": True, "memory_limit_mib": None}
    return (asked | case["arguments"]).values()


def _kind(case):
    """What should happen in a case."""
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
        return _did(seen), "raised"
    visible = [number for number in seen["visible"] if number is not None]
    if visible != [index]:
        return f"the visible GPUs are {visible}, not [{index}]", "visible"
    if None not in seen["visible"]:
        return "the CPU is no longer visible", "cpu"
    if seen["growing"] != ([index] if growth else []):
        return f"memory grows on {seen['growing'] or 'none'}", "growth"
    if seen["limits_mib"] != ([[index, [limit]]] if limit else []):
        return f"limits are {seen['limits_mib'] or 'none'}, in MiB", "limit"
    right = {"gpu": index, "memory_growth": growth, "memory_limit_mib": limit}
    return _judge_returned(right, seen)


def _judge_no_gpu(case, seen):
    if seen["raised"]:
        return _did(seen), "no_gpu"
    if not _about_cpu(seen):
        return "it does not print that it goes on with the CPU", "no_gpu"
    if not _untouched(case, seen):
        return "the CPU is no longer visible, or no longer as it was", "cpu"
    return _judge_returned(NOTHING, seen)


def _about_cpu(seen):
    return [line for line in seen["printed"] if "cpu" in line.lower()]


def _words(line):
    """The words of a line: a list of devices has the same ones with a GPU and without."""
    return frozenset(re.findall("[a-z]+", line.lower())) - {"gpu"}


def _judge_refused(case, seen):
    if "ValueError" not in (seen["raised"] or ()):
        return f"{_did(seen)}, not a ValueError", _kind(case)
    if not _untouched(case, seen):
        return "before the ValueError it changed what is set", "too_late"
    return None


def _judge_started(case, seen):
    if "DeviceError" not in (seen["raised"] or ()):
        return f"{_did(seen)}, not a DeviceError", "started"
    if not _untouched(case, seen):
        return "TensorFlow had started, and yet something is changed", "started"
    message = seen["raised"][-1].strip()
    said = message.lower()
    what = any(name in said for name in RESTARTED)
    if "restart" not in said or not what or len(message.splitlines()) > 1:
        return f"{_did(seen)}: the one line must say to restart the kernel", "message"
    return None


def _untouched(case, seen):
    changed = seen["growing"] or seen["limits_mib"]
    return seen["visible"] == [None, *range(case["gpus"])] and not changed


def _did(seen):
    if not seen["raised"]:
        return "it raised nothing"
    return f"it raised {seen['raised'][0]}: {seen['raised'][-1].strip()[:200]}"


def _judge_returned(right, seen):
    if seen["returned"] != right:
        return f"it returned {str(seen['returned'])[:200]}, not {right}", "returned"
    return None


JUDGE_CLAIM = {
    "claim": _judge_claimed,
    "both": _judge_refused,
    "no_gpu": _judge_no_gpu,
    "index": _judge_refused,
    "started": _judge_started,
}
