"""Do the checks ever refuse a right answer on a busy machine?

Right answers are judged again and again, by other seeds each time, while twice three
processes for each core compete for it: half of them judge, half of them only count.
"""

import inspect
import multiprocessing
import os
import random
import signal
import time

from rich.console import Console

from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from helpers.machine import computer
from helpers.plain_json import write_json
from kit.authoring.recorded_answers import recorded_answers
from kit.labs import all_labs
from kit.progress import Progress
from kit.todo_cells import todo_cells

RUNS = 1000
LOAD = 12
PATH = REPOSITORY / "docs" / "bench" / "checks.json"


def bench() -> None:
    """Judge 1,000 times under load, print and store how many were refused."""
    numbers = [n for n in _exercises() if rests_on_time(n)]
    jobs = [(numbers[i % len(numbers)], i) for i in range(RUNS)]
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=_count, daemon=True) for _ in range(LOAD // 2)]
    began, loads, refused = time.monotonic(), [], []
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which processes inherit
    with context.Pool(LOAD // 2) as judges:
        for process in busy:
            process.start()
        signal.signal(signal.SIGINT, usual)  # Ctrl-C ends this one, and it ends the others
        for verdict in Progress(
            judges.imap_unordered(_judge, jobs), what="checks", total=RUNS, unit="check"
        ):
            loads.append(os.getloadavg()[0])
            if verdict:
                refused.append(verdict)
                print(f"refused: {verdict}")
        for process in busy:
            process.kill()
    result = {
        "runs": RUNS,
        "refused": refused,
        "exercises": numbers,
        "load_average_mean": round(sum(loads) / len(loads), 1),
        "load_average_largest": round(max(loads), 1),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "cpu": computer.cpu_name(),
        "cores": computer.cores(),
    }
    write_json(PATH, result)
    Console().print(f"{len(refused)} of {RUNS} right answers were refused")


def rests_on_time(exercise: str) -> bool:
    """Whether the check of this exercise waits: then its judge compares times."""
    return inspect.getsource(find_exercise(exercise).probe).count("wait") > 1


def _exercises():
    return [e.number for lab in all_labs() for e in todo_cells(lab)]


def _judge(job):
    from helpers.checks import judge_answer
    from helpers.machine.quiet_tensorflow import silence_tensorflow

    exercise, seed = job
    silence_tensorflow()
    answers = [find_exercise(exercise).reference, *recorded_answers(exercise).RIGHT]
    answer = random.Random(seed).choice(answers)
    verdict = judge_answer(exercise, answer, random.Random(seed), 1)
    return verdict and f"{exercise} {answer.__name__}, seed {seed}: {verdict.reason}"


def _count():
    parent = os.getppid()
    while os.getppid() == parent:  # who is killed ends no other process
        sum(range(100_000))
