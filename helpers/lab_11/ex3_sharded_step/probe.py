"""Exercise 11.3: drives an answer, expects nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checks.probing.copies import by_copies
from helpers.lab_11.ex3_sharded_step.optimizer import after_step
from helpers.workers.threads import DeadlockError, SelfSendError, run_in_threads

MOST_VALUES = 1000  # of an array that is reported value by value
MOST_UPDATES = 50  # in one step of a worker
MOST_MESSAGES = 1000  # of all workers in one step


@by_copies
def probe(copy: Callable, question: dict, wait: Callable) -> dict:
    """Let threads be the workers, and note every message and every update."""
    teams, steps = {}, []
    for at, training in enumerate(question["trainings"]):
        # Where as many workers are asked again, they are the same ones.
        workers = training["workers"]
        if workers not in teams:
            teams[workers] = [Worker(copy(), rank) for rank in range(workers)]
        training["number"], training["done"] = at, 0
    for number in question["order"]:
        training = question["trainings"][number]
        steps.append(_one_step(teams[training["workers"]], training))
        training["done"] += 1
    everyone = [worker for team in teams.values() for worker in team]
    changed = next((w.changed for w in everyone if w.changed), "")
    stay = all(worker.results_stay() for worker in everyone)
    return {"steps": steps, "changed": changed, "results_stay": stay}


def _one_step(team, training):
    given = training["number"], training["rate"], np.array(training["weights"], "float32")
    gradients = np.array(training["gradients"][training["done"]], "float32")
    functions = [
        lambda gradient, rank, *ring, worker=worker: worker.step(*given, gradient, *ring)
        for worker in team
    ]
    try:
        reports, messages = run_in_threads(functions, list(gradients), MOST_MESSAGES)
    except DeadlockError:
        return {"deadlock": True}
    except SelfSendError as error:
        return {"deadlock": False, "to_itself": error.worker}
    sent = [
        [m.sender, m.receiver, m.array.size, m.array.nbytes, m.array.dtype.name]
        for m in messages
    ]
    return {"deadlock": False, "workers": reports, "messages": sent}


class State:
    """What an update has to remember, and which step of which worker has made it."""

    def __init__(self, made_by: list[int], steps: int, momentum: np.ndarray) -> None:
        self.made_by, self.steps, self.momentum = made_by, steps, momentum


class Worker:
    """A copy of the answer, with its weights and its state in each training.

    Parameters
    ----------
    answer : callable
    rank : int

    Attributes
    ----------
    changed : str
        The arguments that the answer has changed.
    """

    def __init__(self, answer: Callable, rank: int) -> None:
        self._answer, self._rank = answer, rank
        self._trainings, self._returned, self.changed = {}, [], ""

    def step(
        self,
        training: int,
        rate: float,
        weights: np.ndarray,
        gradient: np.ndarray,
        workers: int,
        send: Callable,
        receive: Callable,
    ) -> dict:
        """What the answer returns and gives to `update` in a training's next step: JSON.

        `weights` are those with which the training, of this number, begins.
        """
        now, state, done = self._trainings.get(training, (weights, None, 0))
        calls = []
        update = _recorded(calls, [training, done, self._rank], rate)
        given, own = now.copy(), gradient.copy()
        ring = self._rank, workers, send, receive
        result = self._answer(given, own, state, update, *ring)
        if not (np.array_equal(given, now) and np.array_equal(own, gradient)):
            which = "`gradient`" if np.array_equal(given, now) else "`weights`"
            self.changed = self.changed or which
        if not (isinstance(result, tuple | list) and len(result) == 2):
            return {"pair": False, "updates": list(calls)}
        new, state = result
        report = {"pair": True, "updates": list(calls)} | _as_data(new)
        if isinstance(new, np.ndarray):
            self._returned.append((new, new.copy()))
            if new.shape == now.shape and new.dtype.kind == "f":
                now = new.astype("float32")
        self._trainings[training] = now, state, done + 1
        return report

    def results_stay(self) -> bool:
        """Whether the arrays that it returned are as they were."""
        return all(np.array_equal(now, then) for now, then in self._returned)


def _recorded(calls, made_by, rate):
    def update(part, mean_gradient, state):
        """The new part, and its new state; notes what it is given."""
        part, gradient = np.asarray(part), np.asarray(mean_gradient)
        made = state.made_by if isinstance(state, State) else None
        dtypes = part.dtype.name, gradient.dtype.name
        other = next((dtype for dtype in dtypes if dtype != "float32"), "float32")
        calls.append({"values": part.size, "dtype": other, "state": made})
        if len(calls) > MOST_UPDATES:
            raise RuntimeError(f"`update` was called more than {MOST_UPDATES} times")
        _refuse(part, gradient, state)
        part, gradient = part.astype("float32"), gradient.astype("float32")
        if state is None:
            state = State([], 0, np.zeros_like(part))
        steps = state.steps + 1
        part, momentum = after_step(part, gradient, state.momentum, steps, rate)
        return part, State(made_by, steps, momentum)

    return update


def _refuse(part: np.ndarray, gradient: np.ndarray, state: Any) -> None:
    if part.ndim != 1 or gradient.shape != part.shape:
        shapes = f"{part.shape} and a gradient of shape {gradient.shape}"
        raise ValueError(f"`update` got a part of shape {shapes}")
    if {part.dtype.kind, gradient.dtype.kind} - set("fiu"):
        raise TypeError("`update` got something other than numbers")
    if state is None:
        return
    if not isinstance(state, State):
        kind = type(state).__name__
        raise TypeError(f"`update` got a state that it has not returned: {kind}")
    if len(state.momentum) != len(part):
        held = f"{len(part)} values with the state of {len(state.momentum)}"
        raise ValueError(f"`update` got a part of {held}")


def _as_data(result):
    """What a worker returned as weights: plain data, and nothing that is too long."""
    report = {"shape": None, "values": None, "dtype": str(getattr(result, "dtype", "none"))}
    try:
        array = np.asarray(result)
    except (ValueError, TypeError):  # lists of different lengths
        return report
    if array.dtype.kind in "fiu" and array.size <= MOST_VALUES:
        report["values"] = array.tolist()
    return report | {"shape": list(array.shape)[:8]}
