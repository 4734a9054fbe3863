"""Questions, verdicts and hints of lab 00: devices."""

TITLES = {
    "0.1": "one GPU is claimed, its memory grows or is capped, and none is fine too",
    "0.2": "the product is timed until it is done, without the start-up",
    "0.3": "the size from which on the faster device always wins",
}

HINTS = {
    "0.1": {
        "visible": "TensorFlow takes every GPU that it sees. Which call says what it sees?",
        "growth": "For which GPU do you turn memory growth on, and in which case?",
        "limit": "Which call gives a GPU a logical device with a `memory_limit`, in MiB?",
        "both": "Memory cannot both grow and have a limit. Do you check that before you change anything?",
        "no_gpu": "What is `gpus[0]` if the list is empty? What should the user of a laptop read?",
        "index": "There are two GPUs, and a user asks for the fifth. What should the error say?",
        "started": "Which exception do the `tf.config` calls raise once TensorFlow runs? What must the reader do then?",
        "returned": "Compare what you return with the example, key by key.",
        "raised": "Read Python's error above. What was the call that led to it?",
    },
    "0.2": {
        "not_waited": "The call returned, but is the product done? Which method needs its numbers?",
        "first": "What happens in the very first product that never happens again?",
        "mean": "One product was slow, by bad luck. Which kind of average does not change then?",
        "units": "Seconds, or milliseconds? Operations, or billions of them?",
        "flops": "Each of the m * n results needs k products, and how many sums?",
        "device": "Which line of yours makes TensorFlow compute on `device`?",
        "raised": "Read Python's error above. Does it return two numbers, (seconds, gflops)?",
        "other": "Print all the times that you measured. Which of them looks wrong?",
    },
    "0.3": {
        "first_win": "It won there once, and lost again at a larger size. From which size on does it always win?",
        "never": "Which device is faster at the largest size? If it is not `fast`, which value says so?",
        "tie": "If both take the same time, is `fast` faster?",
        "swapped": "Which of the two lists is the slow device's?",
        "index": "Do you return the size, or its place in the list?",
        "raised": "Try it by hand with one size. What do you return if `fast` never wins?",
        "other": "Go through the sizes from the largest down. When do you stop?",
    },
}


def claim_question(rng):
    """Machines with some GPUs and with none, each way of sharing memory."""

    def case(kind, gpus=None, index=0, started=False, **arguments):
        gpus = rng.randint(3, 8) if gpus is None else gpus
        index = rng.randrange(1, gpus) if gpus and not index else index
        arguments = {"index": index} | arguments
        return {"kind": kind, "gpus": gpus, "started": started, "arguments": arguments}

    limit = rng.randint(500, 50_000)
    return {
        "cases": [
            case("grow"),
            case("limit", memory_growth=False, memory_limit_mib=limit),
            case("neither", memory_growth=False),
            case("both", memory_growth=True, memory_limit_mib=limit),
            case("both", memory_limit_mib=limit),
            case("no_gpu", gpus=0),
            case("index", index=rng.randint(8, 12)),
            case("started", started=True),
        ]
    }


def judge_claim(question, observation):
    """Each case changed the pretended machine correctly, and reported it."""
    for case, seen in zip(question["cases"], observation["cases"], strict=True):
        if verdict := CASES[case["kind"]](case, seen):
            reason, hint = verdict
            call = ", ".join(f"{k}={v}" for k, v in case["arguments"].items())
            started = ", TensorFlow started" if case["started"] else ""
            return f"claim_gpu({call}) with {case['gpus']} GPUs{started}: {reason}", hint
    return None


def _judge_claimed(case, seen):
    index = case["arguments"]["index"]
    growth = case["arguments"].get("memory_growth", True)
    limit = case["arguments"].get("memory_limit_mib")
    if seen["raised"]:
        return _raised(seen), "raised"
    if seen["visible"] != [index]:
        return f"visible are {seen['visible']}, not [{index}]", "visible"
    if set(seen["growing"]) != ({index} if growth else set()):
        return f"memory grows on {seen['growing'] or 'none'}", "growth"
    if seen["limits_mib"] != ({str(index): [limit]} if limit else {}):
        return f"limits are {seen['limits_mib'] or 'none'}, in MiB", "limit"
    right = {"gpu": index, "memory_growth": growth, "memory_limit_mib": limit}
    return _judge_returned(right, seen)


def _judge_no_gpu(case, seen):
    if seen["raised"]:
        return _raised(seen), "no_gpu"
    if "cpu" not in seen["printed"].lower():
        return "it does not say that it goes on with the CPU", "no_gpu"
    right = {"gpu": None, "memory_growth": False, "memory_limit_mib": None}
    return _judge_returned(right, seen)


def _judge_refused(case, seen):
    if "ValueError" not in (seen["raised"] or ()):
        said = _raised(seen) if seen["raised"] else "it raised nothing"
        return f"{said}, not a ValueError", case["kind"]
    return None


def _judge_started(case, seen):
    message = seen["raised"][-1] if seen["raised"] else ""
    said = message + seen["printed"]
    if "restart" not in said.lower() or len(message.splitlines()) > 1:
        said = _raised(seen) if seen["raised"] else "it raised nothing"
        return f"{said}; the line must say to restart the kernel", "started"
    if seen["raised"] and "RuntimeError" not in seen["raised"]:
        return f"{_raised(seen)}, not a RuntimeError", "started"
    return None


def _raised(seen):
    return f"it raised {seen['raised'][0]}: {seen['raised'][-1].strip()[:200]}"


def _judge_returned(right, seen):
    if seen["returned"] != right:
        return f"it returned {seen['returned']}, not {right}", "returned"
    return None


CASES = {
    "grow": _judge_claimed,
    "limit": _judge_claimed,
    "neither": _judge_claimed,
    "both": _judge_refused,
    "no_gpu": _judge_no_gpu,
    "index": _judge_refused,
    "started": _judge_started,
}


def matmul_question(rng):
    """A product that takes a while, and how late two of them start."""
    return {
        "device": rng.choice(["CPU:0", "/CPU:0", "/device:CPU:0"]),
        "m": rng.randint(700, 900),
        "k": rng.randint(400, 600),
        "n": rng.randint(700, 900),
        "repeats": 5,
        "late_seconds": 0.5,
    }


def judge_matmul(question, observation):
    """The time lies between half of the shortest product and a part of a late one."""
    seconds, gflops = observation["seconds"], observation["gflops"]
    fastest, slowest = (
        min(observation["finished_seconds"]),
        max(observation["finished_seconds"]),
    )
    if question["device"] not in observation["devices"]:
        return f"nothing was computed on {question['device']!r} as asked", "device"
    reason = f"it says {seconds:.6f} s, a product takes about {fastest:.6f} s"
    # More than all products with both late ones: no wrong count of repeats gives that.
    if seconds > max(200 * fastest, 2.5 * question["late_seconds"]):
        return reason, "units"
    if seconds < 0.5 * fastest:
        return reason, "not_waited"
    if seconds > 0.9 * question["late_seconds"]:
        return f"{reason}; the first was made to take {question['late_seconds']} s", "first"
    # Zero: it multiplies in another way, which is not counted.
    if 0 < observation["products"] <= question["repeats"]:
        made, repeats = observation["products"], question["repeats"]
        return f"it made {made} products for {repeats} repeats, no start-up run", "first"
    # A mean of the repeats includes its part of the late one. On a busy machine a
    # normal product may take as long.
    part = 0.9 * question["late_seconds"] / question["repeats"]
    if seconds > max(part, 3 * slowest):
        return f"{reason}; one of them was made slow", "mean"
    operations = 2 * question["m"] * question["k"] * question["n"]
    right = operations / seconds / 1e9
    if abs(gflops - right) <= 0.02 * right:
        return None
    reason = f"{operations:,} operations in {seconds:.6f} s are {right:.2f} GFLOP/s"
    reason += f", it says {gflops:.2f}"
    if abs(gflops - right / 2) <= 0.02 * right:
        return reason, "flops"
    return reason, "units"


def crossover_question(rng):
    """Curves that cross once, never, at once, in a tie, and more than once."""
    sizes = [2**i for i in range(3, 11)]

    def curves(signs):
        slow = [rng.randint(10, 1000) for _ in signs]
        fast = [s - sign * rng.randint(1, 9) for s, sign in zip(slow, signs, strict=True)]
        return [sizes, slow, fast]

    at = rng.randint(2, 6)
    return {
        "cases": [
            curves([-1] * at + [1] * (8 - at)),
            curves([-1, 1] + [-1] * (at - 1) + [1] * (7 - at)),
            curves([-1] * at + [0] + [1] * (7 - at)),
            curves([1] * 8),
            curves([1] * at + [-1] * (8 - at)),
            curves([-1] * 7 + [0]),
        ]
    }


def always_faster_from(sizes, slow, fast):
    """The first size from which on fast is below slow, or None."""
    wins = [
        size
        for i, size in enumerate(sizes)
        if all(f < s for s, f in zip(slow[i:], fast[i:], strict=True))
    ]
    return wins[0] if wins else None


def judge_crossover(question, observation):
    """Each case: the first size from which on fast is always faster."""
    pairs = list(zip(question["cases"], observation["sizes"], strict=True))
    right = [always_faster_from(*case) for case, _ in pairs]
    wrong = [i for i, (_, said) in enumerate(pairs) if said != right[i]]
    if not wrong:
        return None
    (sizes, slow, fast), said = pairs[wrong[0]]
    reason = f"crossover({sizes}, {slow}, {fast}) gave {said}, not {right[wrong[0]]}"
    all_said = [said for _, said in pairs]
    if all(
        said == (None if size is None else question["cases"][i][0].index(size))
        for i, (said, size) in enumerate(zip(all_said, right, strict=True))
    ):
        return reason, "index"
    if all_said == [always_faster_from(s, f, w) for s, w, f in question["cases"]]:
        return reason, "swapped"
    if said in sizes and slow[sizes.index(said)] == fast[sizes.index(said)]:
        return reason, "tie"
    if right[wrong[0]] is None:
        return reason, "never"
    first = next(size for size, s, f in zip(sizes, slow, fast, strict=True) if f < s)
    return reason, "first_win" if said == first else "other"


CHALLENGES = {"0.1": claim_question, "0.2": matmul_question, "0.3": crossover_question}
JUDGES = {"0.1": judge_claim, "0.2": judge_matmul, "0.3": judge_crossover}
