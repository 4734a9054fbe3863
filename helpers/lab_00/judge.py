"""Questions, verdicts and hints of lab 00: devices."""

import functools
import itertools
import re

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.timing import constant
from helpers.checks.judging.verdicts import (
    between,
    draw_apart,
    first_wrong,
    near,
    number_of,
    which,
)

RESTARTED = ("kernel", "notebook", "python")  # what a reader can restart
NOTHING = {"gpu": None, "memory_growth": False, "memory_limit_mib": None}


def claim_question(rng):
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


def judge_claim(question, observation):
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

POWERS = (-9, -6, -3, 3, 6, 9)  # of ten: other units
ROUNDING = 0.0006  # what may be rounded away of the seconds
# What a list of all times becomes, the first product's included, and the hint for it.
AVERAGES = [
    ("average", lambda times: np.mean(times[1:])),
    ("average", np.median),
    ("average", np.mean),
    ("min", lambda times: min(times[1:])),
]


def matmul_question(rng):
    """Three shapes on two devices; how long each product is made to take."""
    scale = rng.uniform(0.7, 0.9)
    # The first is slow, as on a device that starts up. Of the others the median is far
    # from the mean, the fastest, in one case from the second, in the next from the last,
    # and from the other cases': a constant is not right in all. There are three, because
    # two can take the same on a busy machine. The timed ones are odd in number, as the text
    # says: many take sorted(times)[n // 2]. No median is less than half of its mean: on a
    # busy machine, where all products take longer, it would come to be just half.
    patterns = [
        [0.11, 0.024, 0.2, 0.056],
        [0.11, 0.024, 0.045, 0.2, 0.028, 0.12],
        [0.06, 0.15, 0.09, 0.012],
    ]
    # So few columns that 2k - 1 operations in place of 2k show.
    flat = [rng.randint(1200, 1390), rng.randint(14, 18), rng.randint(1410, 1600)]
    deep = [rng.randint(350, 400), rng.randint(200, 340), rng.randint(410, 500)]
    shapes = [flat, deep]
    rng.shuffle(shapes)
    shapes.append([rng.randint(100, 200) for _ in "mkn"])
    cases = [
        {
            "device": device, "m": m, "k": k, "n": n, "repeats": len(seconds) - 1,
            "seconds": [scale * s for s in seconds],
        }
        for device, (m, k, n), seconds in zip(
            ["CPU:0", rng.choice(["GPU:0", "GPU:1"]), "CPU:0"],
            shapes,
            patterns,
            strict=True,
        )
    ]  # fmt: skip
    rng.shuffle(cases)
    return {"cases": cases}


def judge_matmul(question, observation):
    """The right products were made, and the time lies within the time from outside."""
    cases, seen, waits = question["cases"], observation["cases"], observation["waits"]
    made = [len(one["products"]) for one in seen]
    quick = [
        one["seconds"] < case["seconds"][0] for case, one in zip(cases, seen, strict=True)
    ]
    if set(made) == {1} and any(quick):
        return "it made one product, and did not wait until it was done", "start"
    if wrong := first_wrong(cases, seen, _wrong_products):
        return wrong
    # Counted from outside: one wait before each case, in each product, and at the end.
    ends = [n + i + 1 for i, n in enumerate(itertools.accumulate(made))]
    if len(waits) != ends[-1] + 1:
        raise ValueError(f"{sum(made)} products in {len(waits)} waits")
    waits = [waits[a : b + 1] for a, b in itertools.pairwise([0, *ends])]

    def wrong_numbers(case, one):
        return _wrong_seconds(case, *one) or _wrong_speed(case, one[0])

    if wrong := first_wrong(cases, list(zip(seen, waits, strict=True)), wrong_numbers):
        return wrong
    said = [one["seconds"] for one in seen]
    if constant(said):
        return f"it says {said[0]:.4f} s for very different products", "other"
    return None


def _wrong_products(case, seen):
    """What is wrong with the products, whatever time they took."""
    repeats, m, k, n = (case[name] for name in ("repeats", "m", "k", "n"))
    products = seen["products"]
    if not products:
        return "it made no product of two tensors", "shapes"
    first, *timed = products
    # Before the number: who times two products as one also makes too many.
    if any(product["queue"] for product in timed[1:]):
        return "it began a product before the one before was done", "not_waited"
    if len(timed) != repeats:
        made = number_of(len(products), "product")
        reason = f"it made {made} for {number_of(repeats, 'repeat')} and one before"
        return reason, "first" if len(products) == repeats else "repeats"
    if timed[0]["queue"]:
        return "its clock started before the first product was done", "first"
    right = sorted([sorted([m, k]), sorted([k, n])])
    for product in products:
        device = product["device"].upper().rpartition("/")[2].removeprefix("DEVICE:")
        if device != case["device"]:
            where = f"on {device}" if device else "wherever TensorFlow likes"
            return f"asked for {case['device']} it multiplied {where}", "device"
        if sorted(map(sorted, product["shapes"])) != right:
            said = " by ".join(map(str, product["shapes"]))
            return f"for m={m}, k={k}, n={n} it multiplied {said}", "shapes"
        if product["pair"] != first["pair"]:
            return "not all products are of the same two matrices", "once"
    if len(seen["spreads"]) != 2 or not all(seen["spreads"]):
        return "the numbers in a matrix are all the same", "random"
    return None


def _wrong_seconds(case, seen, waits):
    """Each time lies between its own wait and all that passes between its neighbours."""
    said, timed = seen["seconds"], slice(1, None)
    inner = [ended - began for began, ended in waits[1:-1]]
    outer = [waits[i + 1][0] - waits[i - 1][1] for i in range(1, len(waits) - 1)]

    def like(said, average):
        return between(said, average(inner), average(outer), ROUNDING)

    def median(times):  # of the timed products: the first is made without a clock
        return np.median(times[timed])

    if like(said, median):
        return None
    took = ", ".join(f"{seconds:.3f}" for seconds in inner[timed])
    reason = f"it says {said:.4f} s for products that took {took} s"
    if any(like(said * 10.0**power, median) for power in POWERS):
        return reason, "units"
    if said > sum(outer[timed]) and like(seen["gflops"], median):
        return reason, "swapped"
    if said < min(inner[timed]):
        return reason, "not_waited"
    return reason, next(
        (hint for hint, average in AVERAGES if like(said, average)), "other"
    )


def _wrong_speed(case, seen):
    """The speed follows from the seconds that it says."""
    m, k, n, seconds = case["m"], case["k"], case["n"], seen["seconds"]
    right = 2e-9 * m * k * n / seconds
    # Rounded to two digits it is still right.
    if near(0.01, 0.006)(seen["gflops"], right):
        return None
    factors = [("operations", 0.5), ("operations", 1 - 0.5 / k), ("units", 1e9 / 2**30)]
    factors += [("units", 10.0**power) for power in POWERS]
    same = near(0.01)
    hints = (hint for hint, factor in factors if same(seen["gflops"], factor * right))
    reason = f"2 * {m} * {k} * {n} operations in {seconds:.4f} s are {right:.2f} GFLOP/s"
    return f"{reason}, it says {seen['gflops']:g}", next(hints, "speed")


NEAR = 3e-6  # by what part one device is faster than the other where it is close


def make_crossover(rng):
    """Curves of any length that cross anywhere, touch, or never meet."""

    def case(signs, part=None):
        sizes = sorted(rng.sample(range(1, 20_000), len(signs)))
        slow = [10 ** rng.uniform(-5, 0) for _ in signs]
        parts = [sign * (part or 10 ** rng.uniform(-1.5, -0.3)) for sign in signs]
        return [sizes, slow, [s * (1 - part) for s, part in zip(slow, parts, strict=True)]]

    def some(least=0):
        return rng.randint(least, 4)

    def mixed():
        return [rng.choice([-1, 0, 1]) for _ in range(some())]

    # 1: fast wins there; 0: a tie.
    signs = [[1], [-1], [0], [1] * 6, [1] * some(1) + [0], [1] * some(1) + [-1]]
    signs += [[*mixed(), 1, loss, *[1] * some(1)] for loss in (-1, 0) for _ in range(3)]
    cases = [case(pattern) for pattern in signs]
    # So near that who rounds, even to float16, sees a tie; float32 is fine enough.
    cases += [case([1] * some(1), part=NEAR), case([1, -1], part=NEAR)]
    rng.shuffle(cases)
    return {"cases": cases}


def always_faster_from(sizes, slow, fast, ties=False):
    """The first size from which on fast is below slow, or None."""
    winner = None
    for size, s, f in reversed(list(zip(sizes, slow, fast, strict=True))):
        if f > s or (f == s and not ties):
            break
        winner = size
    return winner


def clearly_faster_from(sizes, slow, fast):
    """As `always_faster_from`, if times that differ by 1% are taken for equal."""
    return always_faster_from(sizes, [0.99 * s for s in slow], fast)


def won(sizes, slow, fast):
    """The sizes at which fast wins, wherever else it loses."""
    return [n for n, s, f in zip(sizes, slow, fast, strict=True) if f < s]


def crossover_ways(question):
    """For each way of looking for the crossover, what it finds in all cases."""
    right = always_faster_from

    def last_loss(*case):
        return max(set(case[0]) - set(won(*case)), default=None)

    def place(*case):
        size = right(*case)
        return None if size is None else case[0].index(size)

    ways = {
        "right": right,
        "start": lambda *case: case[0][0],
        "first_win": lambda *case: min(won(*case), default=None),
        "tie": functools.partial(right, ties=True),
        "close": clearly_faster_from,
        "swapped": lambda sizes, slow, fast: right(sizes, fast, slow),
        "index": place,
        "never": lambda *case: right(*case) or case[0][-1],
        "last_loss": last_loss,
    }
    return {name: [way(*case) for case in question["cases"]] for name, way in ways.items()}


def crossover_question(rng):
    """Cases in which every usual mistake finds something else."""
    return draw_apart(rng, make_crossover, crossover_ways, lambda a, b: a != b)


def judge_crossover(question, observation):
    """In each case the first size from which on fast is always faster."""
    said, ways = observation["sizes"], crossover_ways(question)
    cases = zip(question["cases"], said, ways["right"], strict=True)
    wrong = [(case, one, right) for case, one, right in cases if one != right]
    if not wrong:
        return None
    (sizes, slow, fast), one, right = min(wrong, key=lambda case: len(case[0][0]))
    shown = ", ".join(str([float(f"{t:.4g}") for t in times]) for times in (slow, fast))
    reason = f"crossover({sizes}, {shown}) gave {str(one)[:50]}, not {right}"
    hint = which(said, ways, lambda one, other: one == other)
    # No one mistake alone: is there one that explains all cases that are wrong?
    if hint == "other" and all(
        one == always_faster_from(*case, ties=True) for case, one, _ in wrong
    ):
        return reason, "tie"
    if hint == "other" and all(one in won(*case) for case, one, _ in wrong):
        return reason, "first_win"
    return reason, hint


CROSSOVER_HINTS = {
    "start": "It gives the smallest size, whatever the times are. Where in the lists do you see which device wins?",
    "first_win": "It won there once, and lost again at a larger size. From which size on does it always win?",
    "never": "Which device is faster at the largest size? If it is not `fast`, which value says so?",
    "tie": "If both take the same time, is `fast` faster?",
    "close": "Do you round the times, or ask for a clear win? What if one is faster by a millionth?",
    "swapped": "Which of the two lists is the slow device's?",
    "index": "Do you return the size, or its place in the list?",
    "last_loss": "Is that the last size at which `fast` loses, or the first of those at which it wins?",
    "raised": "Try it by hand with lists of one size. Where does your loop begin, and what do you return if `fast` never wins?",
    "other": "Go through the sizes from the largest down. When do you stop?",
}

EXERCISES = {
    "0.1": Exercise(
        title="one GPU is claimed, its memory grows or is capped, and none is fine too",
        requirements={
            "visible": "Of the GPUs only `index` is visible afterwards.",
            "cpu": "The CPU stays visible.",
            "growth": "With `memory_growth` the memory of this GPU grows as needed.",
            "limit": "With `memory_limit_mib` it is capped at so many MiB.",
            "neither": "With neither of them both settings stay as they are.",
            "both": "Both at once is a `ValueError`.",
            "index": "A GPU that is not there is a `ValueError`, also if `index` is negative.",
            "unchanged": "Before a `ValueError` nothing is changed.",
            "no_gpu": "Without any GPU, whatever `index` is, it prints that it goes on with the CPU.",
            "nothing": "Then it returns that there is no GPU, no growth and no limit.",
            "started": "The `RuntimeError` of a started TensorFlow becomes a `DeviceError`.",
            "message": "It says in one line to restart the kernel.",
            "returned": "It returns the GPU's number and how its memory is shared.",
            "defaults": "It can be called as it is written, with these defaults.",
        },
        question=claim_question,
        judge=judge_claim,
        hints={
            "start": "It makes one GPU visible, and that is all so far. Which call lets its memory grow, which one caps it, and which of the two does `memory_growth` ask for?",
            "visible": "TensorFlow takes every GPU that it sees. Which call says what it sees?",
            "cpu": "TensorFlow needs the CPU, too. For which kind of device does your `set_visible_devices` speak?",
            "growth": "For which GPU do you turn memory growth on, and in which case?",
            "limit": "Which call gives a GPU a logical device with a `memory_limit`, in MiB?",
            "both": "Memory cannot both grow and have a limit. Do you look at both arguments before you use one of them?",
            "no_gpu": "What is `gpus[0]` if the list is empty? What should the user of a laptop read, whatever `index` is?",
            "index": "With four GPUs, which values of `index` name one of them? What does `gpus[4]` do, and what does `gpus[-1]` do?",
            "too_late": "The error is right, but something has been changed by then. What do you check first?",
            "started": "Which exception do the `tf.config` calls raise once TensorFlow runs? Where do you catch it, and what do you raise then?",
            "always": "Who has a GPU reads that line as well. In which case does it go on with the CPU?",
            "message": "What must the reader restart if TensorFlow has started? Does your error say that, in one line?",
            "returned": "Compare what you return with the examples, key by key: with a limit, with neither, and without a GPU.",
            "raised": "Read Python's error above. Which call led to it, and does your function take all three arguments, with their defaults?",
        },
    ),
    "0.2": Exercise(
        title="the product is timed until it is done, without the start-up",
        requirements={
            "shapes": "It multiplies an m x k matrix with a k x n one.",
            "random": "Both are random.",
            "once": "They are made once, before any clock runs.",
            "device": "The product is computed on `device`.",
            "first": "The first product is made, and done, before a clock runs.",
            "repeats": "Then `repeats` products are timed, each by itself.",
            "done": "Each is timed until it is done.",
            "median": "The first number is the median, in seconds.",
            "speed": "The second is the speed in GFLOP/s: `2 * m * k * n` operations in that time.",
        },
        question=matmul_question,
        judge=judge_matmul,
        hints={
            "start": "One product, and the clock stops when the call returns. Is the product done then? What happens in a first product that never happens again?",
            "not_waited": "The call returned, but is the product done, and did your clock go on meanwhile? Which method needs the product's numbers?",
            "first": "What happens in the very first product that never happens again? Is it over when your clock starts for the first time?",
            "repeats": "How often does your loop multiply, and who says how often?",
            "average": "The first product is always slow, and another one was, by bad luck. Which kind of average does not change then, and which times belong in it?",
            "min": "You return the fastest time. Which one is the median?",
            "units": "Seconds, or milliseconds? Operations, or billions of them?",
            "swapped": "Which of the two numbers comes first?",
            "operations": "Each of the m * n results needs k products, and how many sums? Compare with the formula in the text.",
            "speed": "How many operations does one product take, and in which of your times? Is it the time that you return?",
            "device": "Which line of yours makes TensorFlow compute on `device`? Is the product inside of it?",
            "shapes": "Which shapes have your two matrices? Does TensorFlow multiply them?",
            "random": "What is in your matrices?",
            "once": "Who makes the matrices, or turns them into tensors, for the second product? Is your clock running then?",
            "raised": "Read Python's error above. Does it return two numbers, (seconds, gflops)?",
            "other": "Print all the times that you measured. Which of them do you return, and what else passes while the clock runs?",
        },
    ),
    "0.3": Exercise(
        title="the size from which on the faster device always wins",
        requirements={
            "every_larger": "It returns the smallest size from which on `fast` is faster at every size.",
            "size": "It returns the size, as it is in `sizes`.",
            "tie": "Equal times are no win.",
            "none": "It returns `None` if `fast` is not faster at the largest size.",
            "slow_fast": "The slow device's times come before those of the fast one.",
            "unchanged": "The lists stay as they are.",
        },
        question=crossover_question,
        judge=judge_crossover,
        hints=CROSSOVER_HINTS,
    ),
}
