"""Exercise 3.1: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.verdicts import draw_apart, first_wrong, which
from helpers.lab_03.lines import STOPPED
from helpers.verdict import Phrase, Wrong, phrase, wrong


def make_stopping(rng: Random) -> dict:
    """Trainings that must stop and that must not, some with a second `fit`."""

    def case(accuracies, target, patience, fits=(True,), **more):
        # Training looks better than validation: the answer must not use it.
        metrics = [
            {"accuracy": target + 0.06, "loss": 0.1}
            | ({} if value is None else {"val_accuracy": value})
            for value in accuracies
        ]
        return {
            "target": target,
            "patience": patience,
            "metrics": metrics,
            "fits": fits,
        } | more

    def drawn(above=0.0002):  # as two of 10,000 images
        target = round(rng.uniform(0.5, 0.9), 2)
        return target, round(target - 0.1, 3), round(target + above, 4), rng.randint(2, 3)

    cases = []
    target, low, high, patience = drawn()
    almost = [high] * (patience - 1)
    # Good enough, but worse from epoch to epoch.
    enough = [round(high + 0.0001 * i, 4) for i in reversed(range(patience))]
    # An answer that missed those stops here, if it asks for more but not for better ones.
    late = [round(high + 0.01 * (9 - i), 4) for i in range(patience)]
    # It is due after an epoch that is no multiple of `patience`.
    first = [low, *almost, low, *almost, target, *enough, *late, low]
    cases.append(case(first, target, patience))
    # Another callback, whose target nobody reaches, takes part in the same training. And
    # the mean of several epochs is above the target while the last of them is not.
    target, low, high, patience = drawn()
    above = [round(target + 0.05, 3)] * (patience - 1)
    both = [*above, round(target - 0.01, 3), low, *[high] * patience, low, low]
    cases.append(case(both, target, patience, other_target=1.5))
    target, low, high, patience = drawn()
    almost = [high] * (patience - 1)
    never = [low, *almost, target, *almost]
    cases.append(case(never, target, patience))
    # No accuracy is too low to be one.
    cases.append(case([*almost, 0.0, *almost], target, patience, [True, True]))
    # The first fit is interrupted after `almost`: Keras does not end it.
    target, low, high, patience = drawn()
    almost = [high] * (patience - 1)
    again = [*almost, low, *almost]
    cases.append(
        case(again, target, patience, [True, True], interrupted_after=patience - 1)
    )
    # So is this one, and the second fit begins again with the last of these epochs.
    target, low, high, _ = drawn()
    patience = rng.randint(3, 4)
    almost = [high] * (patience - 1)
    resumed = {"interrupted_after": patience - 1, "initial_epochs": [0, patience - 2]}
    cases.append(case([*almost, low, low], target, patience, [True, True], **resumed))
    # A fit that begins with a later epoch has seen no epoch yet.
    target, low, high, patience = drawn()
    begins = [low] * rng.randint(4, 6)
    later = {"initial_epochs": [0, len(begins)]}
    epochs = [*begins, *[high] * (patience - 1), low]
    cases.append(case(epochs, target, patience, [True, True], **later))
    target, low, high, _ = drawn(above=0.05)
    patience = rng.choice([1, 4])
    stopped = [high] * (patience + 2)
    cases.append(case(stopped, target, patience, [True, True]))
    cases.append(case([None] * (patience + 1), target, patience, [False]))
    rng.shuffle(cases)
    return {"cases": cases}


def stopping_epochs(case: dict, mistake: str = "") -> list:
    """For each `fit` the epoch after which training stops, or None."""
    patience = case["patience"] + {"early": -1, "late": 1}.get(mistake, 0)
    stops, met = [], 0
    for fit, _ in enumerate(case["fits"]):
        interrupted = case.get("interrupted_after") if fit == 0 else None
        kept = mistake == "again" or (
            mistake == "interrupted" and case.get("interrupted_after")
        )
        met, stopped, before = met if kept else 0, None, 0
        first = case["initial_epochs"][fit] if "initial_epochs" in case else 0
        epochs = case["metrics"][first:interrupted]
        for number, metrics in enumerate(epochs, start=1):
            accuracy = metrics.get("accuracy" if mistake == "metric" else "val_accuracy", 2)
            shift = {"exceed": -1e-9, "coarse": 0.005}.get(mistake, 0)
            above = accuracy > case["target"] + shift
            above = above and (mistake != "falling" or accuracy >= before)
            before = accuracy
            kept = mistake == "reset" or (
                mistake == "at_target" and accuracy == case["target"]
            )
            if accuracy <= 1:  # else there is none
                met = met + 1 if above else met if kept else 0
            if met >= patience:
                # After the last epoch nobody sees whether it was stopped.
                stopped = number if number < len(epochs) else None
                break
        stops.append(stopped)
    return stops


STOP_MISTAKES = [
    "exceed",
    "coarse",
    "at_target",
    "falling",
    "metric",
    "reset",
    "again",
    "interrupted",
    "early",
    "late",
]


def stopping_ways(question: dict) -> dict:
    """For each way of stopping, the last epochs of all cases."""
    ways = {"right": [stopping_epochs(case) for case in question["cases"]]}
    ways["start"] = [[None] * len(case["fits"]) for case in question["cases"]]
    return ways | {
        name: [stopping_epochs(case, name) for case in question["cases"]]
        for name in STOP_MISTAKES
    }


def draw_question(rng: Random) -> dict:
    """Trainings in which every usual mistake stops somewhere else."""
    return draw_apart(rng, make_stopping, stopping_ways, lambda one, other: one != other)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Each training stopped after the right epoch or not at all, and said so once."""
    ways, cases = stopping_ways(question), question["cases"]
    said = [
        _ends(case, seen) for case, seen in zip(cases, observation["cases"], strict=True)
    ]
    lines = [
        [[line for part in fit for line in part] for fit in seen["printed"]]
        for seen in observation["cases"]
    ]
    mistake = which(said, ways, lambda one, other: one == other)
    if mistake == "start" and "Early stopping" in str(lines):
        mistake = "never"
    for case, ends, due in zip(cases, said, ways["right"], strict=True):
        if ends != due:
            if mistake == "other" and case["fits"] == [False]:
                mistake = "goes_on"
            if mistake == "other" and _right_without_another(cases, said, ways):
                mistake = "shared"
            if mistake == "other" and _averages(case) == ends:
                mistake = "averages"
            if mistake == "other" and len(case["fits"]) > 1 and ends[0] == due[0]:
                mistake = "again"
            facts = {"epochs": _epochs(ends), "due": _epochs(due), "case": _case(case)}
            return wrong(mistake, "stopped", **facts)
    pairs = [
        (stop, fit)
        for due, printed in zip(ways["right"], lines, strict=True)
        for stop, fit in zip(due, printed, strict=True)
    ]
    return _wrong_message(pairs) or first_wrong(cases, lines, _says_what_is_missing)


def _ends(case, seen):
    """After which epoch each fit was stopped by the answer, or None."""
    whole = [len(case["metrics"])] * len(case["fits"])
    if "interrupted_after" in case:
        whole[0] = case["interrupted_after"]
    if "initial_epochs" in case:
        whole[1] -= case["initial_epochs"][1]
    pairs = zip(seen["epochs_run"], whole, strict=True)
    return [ran if ran < all_of_them else None for ran, all_of_them in pairs]


def _right_without_another(cases, said, ways):
    """Whether it goes wrong only where another callback takes part."""
    rows = zip(cases, said, ways["right"], strict=True)
    return all(ends == due for case, ends, due in rows if "other_target" not in case)


def _averages(case):
    """Where it stops whose mean of the last `patience` accuracies is above the target."""
    accuracies = [metrics.get("val_accuracy", 0) for metrics in case["metrics"]]
    patience, stops = case["patience"], None
    for end in range(patience, len(accuracies)):
        if sum(accuracies[end - patience : end]) > patience * case["target"]:
            stops = end
            break
    return [stops] * len(case["fits"])


def _wrong_message(pairs):
    """The line is there once where training stopped, and nowhere else."""
    told = [
        [found["epoch"] for line in fit if (found := STOPPED.read(line))]
        for _, fit in pairs
    ]
    for (stop, fit), numbers in zip(pairs, told, strict=True):
        if stop is None and numbers:
            return wrong("unasked", "went_on", line=fit[-1])
    for (stop, fit), numbers in zip(pairs, told, strict=True):
        if stop is None or numbers == [stop]:
            continue
        if not fit:
            return wrong("message", "silent", stop=stop)
        if len(numbers) > 1:
            return wrong("message", "several_lines", count=len(numbers), stop=stop)
        return wrong("message", "other_line", line=fit[-1], stop=stop)
    return None


def _says_what_is_missing(case, printed):
    if case["fits"] == [False] and "val" not in str(printed).lower():
        return wrong("missing", "nothing_missing", case=_case(case))
    return None


def _case(case) -> Phrase:
    accuracies = [metrics.get("val_accuracy", "none") for metrics in case["metrics"]]
    facts = {name: case[name] for name in ("target", "patience")}
    if len(case["fits"]) > 1:
        return phrase("case_of_two_fits", accuracies=accuracies, **facts)
    return phrase("case", accuracies=accuracies, **facts)


def _epochs(stops):
    return " and ".join("none" if stop is None else str(stop) for stop in stops)
