"""Exercise 9.3: the questions, and the verdict on what the probe saw."""

import numpy as np

from helpers.checks.judging.verdicts import draw_apart, near, number_of, quoted, which
from helpers.lab_09.judging import cannot_travel


def make_restart(rng):
    """A training that is killed twice, in the middle of an epoch, between two saves."""
    epochs, per_epoch, every = 4, rng.randint(5, 7), rng.randint(3, 4)
    stops = [rng.randint(per_epoch + 1, 2 * per_epoch), rng.randint(every + 1, per_epoch)]
    values = rng.randint(2, 4)
    draws = lambda: [round(rng.uniform(-1, 1), 3) for _ in range(values)]  # noqa: E731
    return {
        "epochs": epochs,
        "steps_per_epoch": per_epoch,
        "save_every": every,
        "stops": stops,
        "weights": [draws() for _ in range(3)],
        "gradients": [[draws() for _ in range(per_epoch)] for _ in range(epochs)],
        "learning_rate": round(rng.uniform(0.05, 0.2), 3),
        "momentum": round(rng.uniform(0.5, 0.9), 2),
        "pull": round(rng.uniform(0.1, 0.3), 3),
    }


def lives(question, mistake=""):
    """The batches of each life, if one makes this mistake."""
    every, per_epoch = question["save_every"], question["steps_per_epoch"]
    all_lives, saved = [], (0, 0, 0)
    for stop in [*question["stops"], None]:
        step, epoch, place = _begins(*saved, mistake)
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
            }.get(mistake, step % every == 0)
            if due:
                early = mistake == "repeats_one"
                saved = (step - early, epoch, place - early - skipped)
        all_lives.append(batches)
    return all_lives


def _begins(step, epoch, place, mistake):
    """Steps done, epoch and place with which a start goes on."""
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
]  # fmt: skip


def restart_ways(question):
    """For each way of saving and going on, the batches of all lives."""
    return {name: lives(question, name) for name in ("right", *RESTART_MISTAKES)}


def draw_question(rng):
    """Kills after which every usual mistake trains on other batches."""
    return draw_apart(rng, make_restart, restart_ways, lambda a, b: a != b)


def end_weights(question, mistake=""):
    """Weights and averages at the end: SGD with momentum as Keras has it, in NumPy."""
    all_lives, per_epoch = lives(question), question["steps_per_epoch"]
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


WEIGHT_MISTAKES = ("no_model", "no_averages", "no_optimizer")


def judge(question, observation):
    """What each life trained on, then the weights, then what is in the folder."""
    if verdict := cannot_travel(observation):
        return verdict
    ways = restart_ways(question)
    said = [life["batches"] for life in observation["lives"]]
    due = ways["right"]
    if said != due:
        hint = which(said, ways, lambda a, b: a == b)
        number, reason = next(
            (i, _batches_reason(i, one, right))
            for i, (one, right) in enumerate(zip(said, due, strict=True))
            if one != right
        )
        if hint == "other" and number == 2 and said[2][:1] == [[0, 0]]:
            hint = "half"  # only that start found a half-written save
        return reason, hint
    right = end_weights(question)
    weights = observation["lives"][-1]["weights"]
    same = near(1e-3, 1e-4)
    if not same(weights, right):
        mistakes = {name: end_weights(question, name) for name in WEIGHT_MISTAKES}
        hint = which(weights, {"right": right} | mistakes, same, "weights")
        return "every batch was right, and yet the weights at the end are others", hint
    began_at = observation["lives"][-1]["began_at"]
    steps = due[-1][0][0] * question["steps_per_epoch"] + due[-1][0][1]
    if began_at != steps:
        return f"it returned {quoted(began_at)} and went on at step {steps}", "returned"
    if observation["first_began_at"] != 0:
        said = quoted(observation["first_began_at"])
        return f"at its first start, which nobody killed, it returned {said}", "returned"
    if observation["written_at_first"]:
        return "at its first start a worker that is not the chief wrote files", "chief"
    if observation["other"]["batches"] != due[-1] or not same(
        observation["other"]["weights"], right
    ):
        return "a worker that is not the chief did not go on from the last save", "others"
    if not observation["unchanged"]:
        return "a worker that is not the chief changed files in the folder", "chief"
    if observation["kept"] != 2:
        saves = number_of(observation["kept"], "save")
        return f"at the end the folder has {saves}, not 2", "two"
    return None


def _batches_reason(number, said, due):
    which_start = (
        "the first start",
        "the start after one kill",
        "the start after two kills",
    )
    shorter = min(len(said), len(due))
    at = next((i for i in range(shorter) if said[i] != due[i]), shorter)
    seen, right = (_batch(batches, at) for batches in (said, due))
    if not at:
        return f"{which_start[number]} should go on with {right}; it began with {seen}"
    return (
        f"{which_start[number]} should train on {right} after {at} batches, not on {seen}"
    )


def _batch(batches, at):
    if at >= len(batches):
        return "no batch"
    epoch, place = batches[at]
    return f"batch {place} of epoch {epoch}"
