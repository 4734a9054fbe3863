"""Exercise 9.3: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging.copies import cannot_travel
from helpers.checks.judging.verdicts import draw_apart, near, which
from helpers.verdict import Wrong, phrase, wrong

STARTS = (
    phrase("first_start"), phrase("second_start"), phrase("third_start"),
    phrase("fourth_start"), phrase("start_after_the_end"),
)  # fmt: skip


def make_restart(rng: Random) -> dict:
    """A training that is killed three times, and started again where all is done.

    The second kill is in the epoch in which its life began. It leaves saves of two steps
    of which one has more digits, and the third one the ninth save and the tenth: sorted as
    texts they stand in the other order. After the last step of all a save is due.
    """
    every, per_epoch = rng.choice([2, 3]), 7
    epochs = 2 * every
    saved = [every * (9 // every), every * (9 // every + 1), 10 * every]
    begins = [0, *saved[:-1]]
    stops = [
        end - begin + rng.randint(0, every - 1)
        for begin, end in zip(begins, saved, strict=True)
    ]
    values = rng.randint(2, 4)
    draws = lambda: [round(rng.uniform(-1, 1), 3) for _ in range(values)]  # noqa: E731
    return {
        "epochs": epochs,
        "steps_per_epoch": per_epoch,
        "save_every": every,
        "stops": stops,
        "weights": [draws() for _ in range(4)],
        "gradients": [[draws() for _ in range(per_epoch)] for _ in range(epochs)],
        "learning_rate": round(rng.uniform(0.05, 0.2), 3),
        "momentum": round(rng.uniform(0.5, 0.9), 2),
        "pull": round(rng.uniform(0.1, 0.3), 3),
    }


def lives(question: dict, mistake: str = "") -> list:
    """The batches of each life, if one makes this mistake."""
    every, per_epoch = question["save_every"], question["steps_per_epoch"]
    epochs = question["epochs"]
    all_lives, saves = [], [(0, 0, 0)]
    for stop in [*question["stops"], None, None]:
        step, epoch, place = _begins(*_newest(saves, mistake), mistake)
        batches, skipped = [], place if mistake == "counts_from_here" else 0
        while epoch < question["epochs"] and len(batches) != stop:
            if place >= per_epoch:
                epoch, place, skipped = epoch + 1, 0, 0
                continue
            batches.append([epoch, place])
            step, place = step + 1, place + 1
            due = {
                "start": False,
                "every_step": True,
                "each_epoch": place == per_epoch,
                "one_late": step % every == 1,
                "in_epoch": place % every == 0,
                "not_at_the_end": step % every == 0 and step < epochs * per_epoch,
            }.get(mistake, step % every == 0)
            if due:
                early = mistake == "repeats_one"
                saves.append((step - early, epoch, place - early - skipped))
        all_lives.append(batches)
    return all_lives


def _newest(saves, mistake):
    """The save, of the last two, from which a start resumes."""
    numbered = list(enumerate(saves))[-2:]
    names = {
        "by_name number": lambda one: f"{one[0]}",
        "by_name step": lambda one: f"{one[1][0]}",
    }
    return max(numbered, key=names.get(mistake, lambda one: one[0]))[1]


def _begins(step, epoch, place, mistake):
    """Steps done, epoch and place from which a start resumes."""
    if not step:
        return 0, 0, 0
    return {
        "no_place": (step, epoch, 0),
        "no_epoch": (step, 0, place),
        "leaves_one_out": (step, epoch, place + 1),
        "next_epoch": (step, epoch + 1, 0),
    }.get(mistake, (step, epoch, place))


RESTART_MISTAKES = [
    "start", "every_step", "each_epoch", "one_late", "in_epoch", "no_place", "no_epoch",
    "repeats_one", "leaves_one_out", "next_epoch", "counts_from_here",
    "by_name number", "by_name step", "not_at_the_end",
]  # fmt: skip


def restart_ways(question: dict) -> dict:
    """For each way of saving and resuming, the batches of all lives."""
    return {name: lives(question, name) for name in ("right", *RESTART_MISTAKES)}


def draw_question(rng: Random) -> dict:
    """Kills after which every usual mistake trains on other batches."""
    return draw_apart(rng, make_restart, restart_ways, lambda a, b: a != b)


def end_weights(question: dict, mistake: str = "") -> np.ndarray:
    """Weights and averages at the end: SGD with momentum as Keras has it, in NumPy."""
    all_lives, per_epoch = lives(question)[:ENDED], question["steps_per_epoch"]
    first = np.array(question["weights"][0])
    states = [(first, 0 * first, 0 * first)]
    for number, batches in enumerate(all_lives):
        epoch, place = batches[0]
        done = epoch * per_epoch + place
        w, v, average = states[done]
        if number and mistake == "no_model":
            w = np.array(question["weights"][number])
        if number and mistake in ("no_model", "no_averages"):
            average = 0 * average
        if number and mistake == "no_optimizer":
            v = 0 * v
        states = states[: done + 1]
        for e, n in batches:
            gradient = np.array(question["gradients"][e][n])
            g = gradient + question["pull"] * w
            v = question["momentum"] * v - question["learning_rate"] * g
            w, average = w + v, average + gradient
            states.append((w, v, average))
    return np.concatenate([states[-1][0], states[-1][2]])


ENDED = 4  # lives until the training has ended
WEIGHT_MISTAKES = ("no_model", "no_averages", "no_optimizer")


def judge(question: dict, observation: dict) -> Wrong | None:
    """What each life trained on, then the weights, then what is in the folder."""
    if verdict := cannot_travel(observation):
        return verdict
    ways = restart_ways(question)
    last_batches = ways["right"][ENDED - 1]
    right = end_weights(question)
    return (
        _wrong_batches(ways, observation["lives"])
        or _wrong_weights(question, observation["lives"][ENDED - 1]["weights"], right)
        or _wrong_return(question, observation, last_batches[0])
        or _wrong_files(observation, last_batches, right)
    )


def _wrong_batches(ways, lives):
    said, due = [life["batches"] for life in lives], ways["right"]
    first = next((i for i, one in enumerate(said) if one != due[i]), len(said)) + 1
    # A start that went wrong may spoil the later ones in ways of their own.
    mistake = which(said, ways, lambda a, b: a == b).split()[0]
    if mistake == "other":
        mistake = which(said, ways, lambda a, b: a[:first] == b[:first]).split()[0]
    for start, (one, right) in enumerate(zip(said, due, strict=True)):
        if one == right:
            continue
        if mistake == "other" and start == ENDED - 1 and one[:1] == [[0, 0]]:
            mistake = "half"  # only that start found a half-written save
        shorter = min(len(one), len(right))
        at = next((i for i in range(shorter) if one[i] != right[i]), shorter)
        return wrong(
            mistake, "train_on" if at else "go_on", start=STARTS[start],
            batches=at, batch=_batch(one, at), right=_batch(right, at),
        )  # fmt: skip
    return None


def _batch(batches, at):
    if at >= len(batches):
        return phrase("no_batch")
    epoch, place = batches[at]
    return phrase("batch", epoch=epoch, place=place)


def _wrong_weights(question, weights, right):
    if _same(weights, right):
        return None
    ways = {name: end_weights(question, name) for name in WEIGHT_MISTAKES}
    return wrong(which(weights, ways, _same, "weights"), "weights")


def _same(weights, right):
    return near(1e-3, 1e-4)(weights, right)


def _wrong_return(question, observation, first_batch):
    per_epoch = question["steps_per_epoch"]
    done = first_batch[0] * per_epoch + first_batch[1], question["epochs"] * per_epoch
    for life, steps in zip(observation["lives"][ENDED - 1 :], done, strict=True):
        if (returned := life["began_at"]) != steps:
            return wrong("returned", "returned", returned=returned, steps=steps)
    if observation["first_began_at"] != 0:
        returned = observation["first_began_at"]
        return wrong("returned", "returned_at_first", returned=returned)
    return None


def _wrong_files(observation, last_batches, right):
    if observation["written_at_first"]:
        return wrong("chief", "wrote")
    other = observation["other"]
    if other["batches"] != last_batches or not _same(other["weights"], right):
        return wrong("others", "other_start")
    if not observation["unchanged"]:
        return wrong("chief", "changed_files")
    if observation["kept"] != 2:
        return wrong("two", "saves", saves=observation["kept"])
    return None
