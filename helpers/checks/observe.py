"""Run a probe on the answer and return plain data, whatever happens."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from helpers.checks import endless

PROBES = Path(__file__).parents[1]  # they live in helpers/lab_NN and in checks/probing


def observe(
    probe: Callable, answer: object, question: dict, wait: Callable | None = None
) -> dict:
    """Ask an answer a question.

    Parameters
    ----------
    probe : callable
        ``probe(answer, question, wait) -> observation``. It calls
        ``wait(seconds)`` where time has to pass.
    answer : object
        The student's.
    question : dict
        Plain JSON.
    wait : callable, optional
        For a judge in another process, which waits there and keeps the times.

    Returns
    -------
    dict
        The observation, plain JSON, with the question's `nonce`, if it has one, and
        with `waits` (unless `wait` was given): when each wait began and ended, in
        seconds, by a clock that the answer does not control. Or `error`, one line,
        and the `mistake`, if the answer raised, did not end, or gave a value that
        JSON cannot represent; in a notebook also `line`, where in the student's cell.
    """
    # Bound before the answer runs: it may replace the clock.
    clock, sleep = time.perf_counter, time.sleep
    nonce, waits = question.get("nonce"), []

    def wait_here(seconds):
        began = clock()
        sleep(seconds)
        waits.append([began, clock()])

    def ask():
        return probe(answer, question, wait or wait_here)

    try:
        # A judge in another process ends this one when it likes.
        observation = ask() if wait else endless.within_limit(ask)
    except KeyboardInterrupt:
        raise
    except endless.EndlessError as error:
        seconds = f"{endless.LIMIT_SECONDS} s of computing or waiting"
        problem = f"it had not ended after {seconds}, so it was stopped"
        lines = filter(None, map(_own_line, error.args))
        return {"error": problem, "mistake": "endless"} | next(lines, {})
    except BaseException as error:  # even SystemExit must not end the lab
        lines = str(error).strip().splitlines() or ["no message"]
        # For a graph, TensorFlow first says where, and last what went wrong.
        line = lines[-1].strip() if lines[0] == "in user code:" else lines[0]
        kind = type(error).__name__
        problem = f"it raised {kind}: {line.removeprefix(f'{kind}: ')[:200]}"
        *_, frame = _frames(error)
        if "NoneType" in line and Path(frame.tb_frame.f_code.co_filename).is_relative_to(
            PROBES
        ):
            # The probe stumbled, not the answer.
            problem = "it gave None where a value was due: is a `return` missing?"
        return {"error": problem, "mistake": "raised"} | _own_line(error)
    try:
        plain = json.loads(json.dumps(observation, allow_nan=False))
    except (TypeError, ValueError):
        problem = "it gave infinity, nan, or a value that is neither number nor text"
        return {"error": problem, "mistake": "no_json"}
    if "nonce" in question:
        plain["nonce"] = nonce
    return plain if wait else plain | {"waits": waits}


def _frames(error):
    frame = error.__traceback__
    while frame:
        yield frame
        frame = frame.tb_next


def _own_line(error):
    """The last line of a notebook's cell that the error came through, if there is one."""
    own = [f.tb_lineno for f in _frames(error) if _of_a_notebook(f.tb_frame)]
    return {"line": own[-1]} if own else {}


def _of_a_notebook(frame):
    """Whether it runs a cell's code, or a copy of such code that has globals of its own.

    TensorFlow's copies have other lines.
    """
    path = Path(frame.f_code.co_filename)
    if path.name.startswith("__autograph_generated_file"):
        return False
    return "_oh" in frame.f_globals or path.parent.name.startswith("ipykernel_")
