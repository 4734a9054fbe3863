"""An answer that never ends is ended, and its line is named; others are left alone."""

import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from jupyter_client.manager import start_new_kernel

from helpers.checks import endless, judge_answer
from helpers.checks.observe import observe
from helpers.files import REPOSITORY

# One kernel for all of them: in several workers each would start its own.
pytestmark = pytest.mark.xdist_group("endless")

# Before it: the notebook's first lines. Each loops for ever in the line that says so.
ENDLESS = {
    "computes": """
    while True:  # here
        n += 1  # or here""",
    "sleeps": """
    while True:
        time.sleep(0.1)  # here""",
    "waits for a lock": """
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()  # here""",
    "calls a library": """
    while True:  # here
        numpy.linalg.svd(numpy.ones((50, 50)))  # or here""",
    "consumes": """
    return sum(1 for n in itertools.count())  # here""",
    "catches everything": """
    while True:  # here
        try:
            time.sleep(0.1)  # or here
        except:
            pass""",
    "answers when it is stopped": """
    try:
        while True:  # here
            pass  # or here
    except BaseException:
        return 0.0, 1.0""",
    "waits for its thread": """
    thread = threading.Thread(target=loop)
    thread.start()
    thread.join()  # here""",
    "a graph is made": """
    tf.function(loop)()  # here""",
}
FIRST = """import itertools, signal, threading, time, numpy, tensorflow as tf
from helpers.checks import check, endless
endless.LIMIT_SECONDS, endless.ASLEEP = 0.3, 0.5
OURS = "(_watch)", "(loop)"  # the names of threads that may not stay
def loop():
    while True:
        pass
"""
ANSWER = "# TODO 2.3: fit\ndef fit_throughput(points):\n    n = 0"


@pytest.fixture(scope="module")
def run():
    """Runs a cell in a kernel, and gives what it showed."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(REPOSITORY))

    def run(source, look=lambda said: None):
        said = []

        def hear(message):
            content = message["content"]
            shown = content.get("data", {}).get("text/plain", "")
            said.append(content.get("text") or shown or content.get("evalue", ""))
            look(said[-1])

        client.execute_interactive(source, timeout=100, output_hook=hear)
        return "".join(said)

    run.interrupt = manager.interrupt_kernel
    run(FIRST)
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def lines_of(source):
    return [n for n, line in enumerate(source.splitlines(), 1) if "here" in line]


@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_answer_is_ended_and_its_line_is_named(run, body):
    run(ANSWER + body)
    said = run('check("2.3", fit_throughput)')
    assert "✗ 2.3 not yet: it had not ended after 0.3 s of computing or waiting" in said
    lines = lines_of(ANSWER + body)
    assert any(f"(line {line} of your cell)" in said for line in lines), said
    assert "Your turn: Which loop or wait does not end" in said
    run("while any(t.name.endswith(OURS) for t in threading.enumerate()): time.sleep(0.01)")
    assert run("print(signal.getsignal(signal.SIGURG) == signal.SIG_DFL)") == "True\n"


@pytest.mark.weekly
def test_after_twenty_seconds_an_endless_answer_is_ended(run):
    run(f"endless.LIMIT_SECONDS, endless.ASLEEP = 20, 0.05\n{ANSWER + ENDLESS['computes']}")
    said = run('check("2.3", fit_throughput)')
    run("endless.LIMIT_SECONDS, endless.ASLEEP = 0.3, 0.5")
    assert "✗ 2.3 not yet: it had not ended after 20 s of computing or waiting" in said


def test_the_stop_button_stops_a_check_as_any_other_cell(run):
    run(f"endless.LIMIT_SECONDS = 20\n{ANSWER}\n    print('waiting')\n    time.sleep(60)")
    said = run(
        'check("2.3", fit_throughput)',
        lambda said: run.interrupt() if "waiting" in said else None,
    )
    run("endless.LIMIT_SECONDS = 0.3")
    assert "not yet" not in said
    assert run("print('the kernel goes on')") == "the kernel goes on\n"


@pytest.fixture
def short_limit(monkeypatch):
    monkeypatch.setattr(endless, "LIMIT_SECONDS", 0.3)
    monkeypatch.setattr(endless, "ASLEEP", 0.5)


def for_ever(points):
    while True:
        time.sleep(0.01)


def ended(answer=for_ever):
    return judge_answer("2.3", answer, random.Random(1))


def test_an_endless_answer_is_ended_outside_of_the_main_thread(short_limit):
    with ThreadPoolExecutor(1) as other:
        assert other.submit(ended).result()[1] == "endless"
        assert other.submit(sum, [1, 2]).result() == 3, "nothing comes afterwards"


def test_an_endless_answer_is_ended_where_there_are_no_signals(short_limit, monkeypatch):
    monkeypatch.setattr(endless, "CAN_SIGNAL", False)
    assert ended()[1] == "endless"


def test_a_check_restores_the_settings_it_found(short_limit):
    handlers = signal.getsignal(signal.SIGURG), signal.getsignal(signal.SIGINT)
    trace = sys.gettrace()
    assert ended()[1] == "endless"
    assert handlers == (signal.getsignal(signal.SIGURG), signal.getsignal(signal.SIGINT))
    assert sys.gettrace() is trace
    assert not [t for t in threading.enumerate() if "_watch)" in t.name]


def test_an_answer_that_cannot_be_stopped_is_reported(short_limit, monkeypatch, capsys):
    monkeypatch.setattr(endless, "TRIES", 2)

    def computes(points):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])  # as if it were in C
        said, until = "", time.monotonic() + 60
        while "Restart Kernel" not in said:
            assert time.monotonic() < until
            said += capsys.readouterr().out
            time.sleep(0.01)  # else the thread that says it gets few turns
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGURG])
        for_ever(points)

    assert ended(computes)[1] == "endless"


@pytest.mark.parametrize(
    ("seconds", "computed", "endless_by_now"),
    [
        (19, 19, False),
        (21, 21, True),
        (60, 3.1, False),  # a right answer on a machine that is busy
        (21, 0.1, True),  # it sleeps
        (101, 10, True),
    ],
)
def test_a_busy_machine_makes_no_answer_endless(seconds, computed, endless_by_now):
    assert endless._is_endless(seconds, computed) == endless_by_now


def test_a_judge_elsewhere_keeps_the_time_itself(short_limit):
    seen = observe(lambda *_: time.sleep(1) or {"n": 1}, None, {}, wait=time.sleep)
    assert seen == {"n": 1}
