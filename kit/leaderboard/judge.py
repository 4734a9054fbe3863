"""Judge a submission: ten seeds in the box, the calibration load between, the verdict.

Every run is logged as soon as it has ended, so that a judging that was interrupted
continues with the next run.
"""

import ast
import functools
import hmac
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from helpers.data.fashion_mnist import fashion_mnist
from helpers.data.images import Images
from helpers.errors import LabError
from helpers.speed_record import rule, scores
from helpers.speed_record.source_rules import source_problems, without_docstrings
from helpers.speed_record.splits import (
    Pool,
    Split,
    code_hash,
    held_out,
    pool,
    seed_of,
    split,
)
from kit.grading.classroom.similar import alike, safe_bags
from kit.leaderboard.box_run import Outcome, pinned, run_in_box
from kit.leaderboard.header import Header, header
from kit.leaderboard.machine import board_of, this_machine
from kit.leaderboard.store import Store
from kit.progress import Progress

MOST_BYTES = 100_000  # of a file that is kept at all, to show why it was refused
SAME = 0.999  # alike: the same code, whatever its names, comments and order
JUDGED, HELD_OUT, PUBLIC, OWN, HOLDER = "judged", "held out", "public", "own", "holder"
# The reasons for which the same code may be judged again under another name.
ACCIDENTS = ("crash", "predicting", "source")


class Settings(NamedTuple):
    """How a submission is judged; other numbers than the rule's make it a trial."""

    target: str
    seeds: int = rule.SEEDS
    train_images: int = rule.TRAIN_IMAGES
    test_images: int = rule.TEST_IMAGES
    warm: bool = False

    @property
    def is_trial(self) -> bool:
        """Whether fewer seeds or images are judged than the rule asks for."""
        full = (rule.SEEDS, rule.TRAIN_IMAGES, rule.TEST_IMAGES)
        return (self.seeds, self.train_images, self.test_images) != full


class Verdict(NamedTuple):
    """What an entry is, why, and which figures the page shows."""

    state: str
    reason: str
    result: dict


def add(
    store: Store,
    code: str,
    settings: Settings,
    calibrate: Callable[[], float],
    quiet: bool = False,
    again: bool = False,
) -> dict:
    """Judge a submission, or continue to judge it.

    Parameters
    ----------
    store : Store
    code : str
        The whole file.
    settings : Settings
    calibrate : callable
        Gives the seconds of the calibration load, now.
    quiet : bool
        True: no progress bar.
    again : bool
        True: forget a verdict that an accident may have caused, such as a crash.

    Returns
    -------
    dict
        Its entry, whose `state` is no longer "judging".

    Raises
    ------
    LabError
        If the file is too large to keep, or the machine cannot judge.
    """
    if len(code.encode(errors="replace")) > MOST_BYTES:
        raise LabError(f"a submission has at most {rule.SOURCE_BYTES:,} bytes: shorten it.")
    problems = source_problems(code)
    about = Header() if problems else header(code)
    machine = this_machine()
    number = store.begin(code, settings._asdict(), about._asdict(), machine)
    if again and store.entry(number)["result"].get("why") in ACCIDENTS:
        store.forget(number)
    entry = store.entry(number)
    if entry["state"] != "judging" and not entry["result"].get("elsewhere"):
        return entry
    verdict = _before(store, entry, problems)
    if verdict is None:
        left = _plan(settings, entry["runs"])
        total = len(left) + len(entry["runs"])
        with Progress(what=about.title[:40], total=total, unit="run", quiet=quiet) as bar:
            bar.update(len(entry["runs"]))
            if any(kind == JUDGED for kind, _ in left) and not quiet:
                bar.write(calibrating(), file=sys.stderr)
            measure(store, entry, left, calibrate, bar.update)
        verdict = decide(store.entry(number))
        if verdict.state == "entry":
            verdict = _against_the_holder(store, number, verdict, calibrate, quiet)
    store.decide(number, *verdict)
    return store.entry(number)


def calibrating() -> str:
    """A line for those who wait, because this takes minutes on a busy machine."""
    return (
        f"calibrating: {rule.CALIBRATION_STEPS:,} steps of a fixed training on "
        f"{len(pinned())} CPUs, before the first run and after each seed. The machine's "
        f"load average is {os.getloadavg()[0]:.1f}."
    )


def _before(store, entry, problems):
    """A verdict that needs no training, or None."""
    if problems:
        return Verdict("refused", " ".join(problems), {"why": "source"})
    others = [
        other
        for other in store.entries()
        if other["hash"] != entry["hash"]
        and other["state"] != "trial"
        and other["result"].get("why") not in ACCIDENTS
        and other["number"] < entry["number"]
        # The comparison replaces texts, but "bfloat16" for "float32" is a change.
        and _texts(other["code"]) == _texts(entry["code"])
    ]
    likeness = most_alike(entry["code"], others)
    if likeness and likeness[0] >= SAME and not Settings(**entry["settings"]).is_trial:
        reason = (
            f"This is the code of entry {likeness[1]['number']}, whatever its names, "
            "comments and order: a record needs a change."
        )
        return Verdict("refused", reason, {"why": "same"})
    return None


def _texts(code):
    """The texts in some code, in alphabetical order: a copy can change their places."""
    nodes = ast.walk(without_docstrings(code))
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return sorted(value for value in values if isinstance(value, str))


def most_alike(code: str, entries: list[dict]) -> tuple[float, dict] | None:
    """The entry whose code is most like some code, and how alike they are, from 0 to 1."""
    texts = {str(one["number"]): one["code"] for one in entries} | {"own": code}
    bags = safe_bags(texts)
    own = bags.pop("own")
    measured = [
        (alike(own, bags[str(one["number"])]), one)
        for one in entries
        if own and bags[str(one["number"])]
    ]
    return max(measured, key=lambda pair: pair[0], default=None)


def _plan(settings, runs):
    """The runs that are left, each as its kind and its place."""
    plan = [(JUDGED, place) for place in range(settings.seeds)]
    plan += [(HELD_OUT, 0), (PUBLIC, 0)]
    done = {(run["kind"], run["place"]) for run in runs}
    if any(_ends_it(run["log"]) for run in runs):
        return []
    return [one for one in plan if one not in done]


def _ends_it(log):
    """A crash counts as a guess, which no mean of ten outweighs; a cheat ends it, too."""
    return log["cheats"] or log["predicts_long"] or log["accuracy"] is None


def measure(
    store: Store,
    entry: dict,
    plan: list[tuple[str, int]],
    calibrate: Callable[[], float],
    done: Callable[[], object],
) -> None:
    """Run what is left of an entry, and log each run."""
    settings, before = Settings(**entry["settings"]), None
    code = ast.unparse(without_docstrings(entry["code"]))
    for kind, place in plan:
        number = seed_for(store.secret, entry, kind, place)
        data = data_of(store.secret, entry, kind, place)
        run = functools.partial(run_in_box, code, number, data, settings.warm)
        if kind == JUDGED:
            log, before = timed(run, before or calibrate(), calibrate)
        else:
            log = run()._asdict()
        log |= {
            "seed": number,
            "code": code_hash(entry["code"]),
            "load": os.getloadavg()[0],
        }
        store.log(entry["number"], kind, place, log)
        done()
        if kind in (JUDGED, HELD_OUT) and _ends_it(log):
            return


def timed(
    run: Callable[[], Outcome], before: float, calibrate: Callable[[], float]
) -> tuple[dict, float]:
    """Run between two calibrations; repeat while the machine's speed changes in between.

    The accuracy of the first run counts, so that repeating cannot improve it; a crash
    counts in any of them.

    Returns
    -------
    dict
        The outcome, with `before`, `after`, `repeats`, and whether the machine was `busy`.
    float
        The calibration after the last run.
    """
    first = None
    for repeats in range(rule.MOST_REPEATS + 1):
        outcome = run()
        first = first or outcome
        after = calibrate()
        log = outcome._asdict() | {
            "accuracy": None if outcome.accuracy is None else first.accuracy,
            "before": before, "after": after,
            "cheats": first.cheats or outcome.cheats,
            "repeats": repeats,
            "busy": scores.has_drifted(before, after, rule.CALIBRATION_DRIFT),
        }  # fmt: skip
        before = after
        if not log["busy"] or log["cheats"] or log["accuracy"] is None:
            break
    return log, before


def _secret(secret, entry, kind, place):
    """Of one run: comments and names of files change nothing."""
    code = ast.unparse(without_docstrings(entry["code"]))
    text = f"{code_hash(code)} {kind} {place}"
    return hmac.digest(secret, text.encode(), "sha256")


def seed_for(secret: bytes, entry: dict, kind: str, place: int) -> int:
    """The seed of one run."""
    return seed_of(_secret(secret, entry, kind, place), "seed")


def data_of(secret: bytes, entry: dict, kind: str, place: int) -> Split:
    """The images of one run."""
    settings = Settings(**entry["settings"])
    if kind == PUBLIC:
        images = fashion_mnist()
        train, test = settings.train_images, settings.test_images
        return Split(
            images.x_train[:train], images.y_train[:train],
            images.x_test[:test], images.y_test[:test],
        )  # fmt: skip
    own = _secret(secret, entry, kind, place)
    pooled = pooled_images(settings.train_images + settings.test_images)
    data = split(pooled, own, settings.train_images, settings.test_images)
    return held_out(data, own) if kind == HELD_OUT else data


@functools.lru_cache(maxsize=1)
def pooled_images(most: int) -> Pool:
    """All images, or the first ones for a trial that needs no more."""
    images = fashion_mnist()
    if most == rule.TRAIN_IMAGES + rule.TEST_IMAGES and images.source == "synthetic":
        raise LabError("Fashion-MNIST is not on this machine: `labs data fetch` gets it.")
    if most < len(images.x_train):
        x, y = images.x_train, images.y_train
        images = Images(x[:most], y[:most], x[:0], y[:0], images.source)
    return pool(images)


def decide(entry: dict) -> Verdict:
    """The verdict by an entry's logs alone."""
    settings = Settings(**entry["settings"])
    target = rule.TARGETS[settings.target]
    judged = [run["log"] for run in entry["runs"] if run["kind"] == JUDGED]
    result = figures(entry)
    for run in entry["runs"]:
        if not run["log"]["code"] == entry["hash"] == code_hash(entry["code"]):
            reason = f"Run {run['place']} was made with other code than the entry shows."
            return Verdict("refused", reason, {"why": "code"})
        if run["kind"] in (JUDGED, HELD_OUT) and run["log"]["cheats"]:
            return Verdict("refused", run["log"]["problem"], result | {"why": "cheat"})
        if run["kind"] in (JUDGED, HELD_OUT) and run["log"]["predicts_long"]:
            return Verdict("refused", run["log"]["problem"], result | {"why": "predicting"})
    for log in judged:
        if log["accuracy"] is None:
            reason = f"{log['problem']} A crash counts as accuracy {rule.CRASH_ACCURACY}."
            return Verdict("refused", reason, result | {"why": "crash"})
    if settings.is_trial:
        return Verdict("trial", "Fewer seeds or images than the rule asks for.", result)
    if not scores.reaches([log["accuracy"] for log in judged], target):
        reason = (
            f"The mean accuracy is {result['accuracy']:.4f} over {len(judged)} seeds, with "
            f"p = {result['p']:.2g}, if the true one were only {target}; p < "
            f"{rule.P_VALUE} is needed."
        )
        return Verdict("refused", reason, result | {"why": "target"})
    if reason := _held_out_problem(entry, judged, target):
        return Verdict("refused", reason, result | {"why": "held out"})
    return Verdict("entry", "", result)


def _held_out_problem(entry, judged, target):
    [log] = [run["log"] for run in entry["runs"] if run["kind"] == HELD_OUT]
    needed = rule.HELD_OUT_SHARE * target
    if log["accuracy"] is None or log["accuracy"] < needed:
        got = log["problem"] or f"Its accuracy is {log['accuracy']:.4f}."
        return f"{got} On the held-out workload {needed:.4f} are needed."
    most = rule.HELD_OUT_TIMES * max(one["seconds"] for one in judged)
    if log["seconds"] > most:
        return f"The held-out workload took {log['seconds']:.0f} s, and {most:.0f} may be."
    return None


def figures(entry: dict) -> dict:
    """What the page shows of an entry's runs, as far as there are any."""
    target = rule.TARGETS[entry["settings"]["target"]]
    logs = {
        kind: [run["log"] for run in entry["runs"] if run["kind"] == kind]
        for kind in (JUDGED, HELD_OUT, PUBLIC)
    }
    accuracies = [log["accuracy"] for log in logs[JUDGED]]
    clocked = [log for log in logs[JUDGED] if log["seconds"] is not None]
    seconds = [log["seconds"] for log in clocked]
    loads = [(log["before"] + log["after"]) / 2 for log in clocked]
    values = scores.with_crashes(accuracies)
    return {
        "accuracy": scores.mean_interval(values).middle,
        "accuracy_interval": list(scores.mean_interval(values)),
        "p": scores.p_value(accuracies, target),
        "score": list(scores.score(seconds, loads)) if seconds else None,
        "seconds": sum(seconds) / len(seconds) if seconds else None,
        "cpu_seconds": sum(log["cpu_seconds"] for log in clocked) / len(seconds)
        if seconds
        else None,
        "busy": sum(log["busy"] for log in clocked),
        "held_out": next((log["accuracy"] for log in logs[HELD_OUT]), None),
        "public": next((log["accuracy"] for log in logs[PUBLIC]), None),
    }


def holder_of(store: Store, entry: dict) -> dict | None:
    """The entry that holds the record of an entry's board, before that entry."""
    board = board_of(entry["machine"], entry["settings"])
    records = [
        other
        for other in store.entries()
        if other["state"] == "record"
        and other["number"] != entry["number"]
        and board_of(other["machine"], other["settings"]) == board
    ]
    return min(records, key=lambda one: one["result"]["score"][1], default=None)


def _against_the_holder(store, number, verdict, calibrate, quiet):
    """A record, if it is surely faster than the holder, in turn with it."""
    entry = store.entry(number)
    holder = holder_of(store, entry)
    if holder is None:
        return verdict._replace(state="record", reason="The first entry of its board.")
    if verdict.result["score"][1] >= holder["result"]["score"][1]:
        return verdict._replace(reason=f"Entry {holder['number']} is faster.")
    if _beside_another(entry, holder):  # a record was set while this was interrupted
        store.forget_pairs(number)
    with Progress(
        what="against the holder", total=2 * rule.PAIRS, unit="run", quiet=quiet
    ) as bar:
        pairs = [
            _pair(store, entry, holder, place, bar.update) for place in range(rule.PAIRS)
        ]
    result = verdict.result | {"holder": holder["number"]}
    if any(None in pair for pair in pairs):
        reason = f"A run beside entry {holder['number']} crashed."
        return verdict._replace(reason=reason, result=result)
    ratio = scores.ratio(*zip(*pairs, strict=True))
    result |= {"ratio": list(ratio)}
    words = (
        f"{ratio.middle:.3f} times as long as entry {holder['number']}, with an interval "
        f"from {ratio.low:.3f} to {ratio.high:.3f}"
    )
    if scores.is_record(ratio):
        return Verdict("record", f"It takes {words}.", result)
    return Verdict("entry", f"It takes {words}, which is not surely below 1.", result)


def _beside_another(entry, holder):
    """Whether pairs that are kept were run beside another holder than this one."""
    kept = [run["log"] for run in entry["runs"] if run["kind"] in (OWN, HOLDER)]
    return any(log.get("holder", holder["number"]) != holder["number"] for log in kept)


def _pair(store, entry, holder, place, done):
    """The seconds of both on the same images; every other time the holder runs first."""
    sides = [(OWN, entry), (HOLDER, holder)]
    for kind, side in sides if place % 2 else sides[::-1]:
        kept = {(run["kind"], run["place"]) for run in store.runs(entry["number"])}
        if (kind, place) not in kept:
            code = ast.unparse(without_docstrings(side["code"]))
            data = data_of(store.secret, entry, OWN, place)
            seed = seed_for(store.secret, entry, OWN, place)
            outcome = run_in_box(code, seed, data, entry["settings"]["warm"])
            log = outcome._asdict() | {
                "seed": seed, "code": entry["hash"], "holder": holder["number"],
            }  # fmt: skip
            store.log(entry["number"], kind, place, log)
        done()
    logs = {
        run["kind"]: run["log"]["seconds"]
        for run in store.runs(entry["number"])
        if run["place"] == place
    }
    return logs[OWN], logs[HOLDER]
