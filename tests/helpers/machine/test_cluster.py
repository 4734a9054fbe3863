"""Worker processes: started with their places, watched, and gone with their parent.

Workers are small scripts without TensorFlow: what is tested is the life of processes.
"""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.machine import cluster

LIMIT = 120
TIMES = 20
# Each has a process of its own, which must not be left behind either.
WITH_A_CHILD = ["sh", "-c", "sleep 600 & echo child $! ready; wait"]
LAUNCHER = """
import sys, time
from helpers.machine import cluster
with cluster.start(sys.argv[2:], 2, sys.argv[1]) as job:
    for rank in job.ranks:
        job.wait_for("ready", rank, 120)
        print(job.pids[rank], job.log(rank).split()[1], flush=True)
    print("ready", job._guard.pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def start(tmp_path):
    def begin(source, workers=2, **options):
        command = [sys.executable, "-c", textwrap.dedent(source)]
        return cluster.start(command, workers, tmp_path / "a log", **options)

    return begin


def test_every_worker_knows_all_addresses_and_its_place(start):
    source = "import os; print(os.environ['TF_CONFIG'], os.environ['COLOUR'])"
    with start(source, workers=3, environment={"COLOUR": "red"}) as job:
        assert job.wait(LIMIT) == [0, 0, 0]
        said = [job.log(rank).rsplit(maxsplit=1) for rank in job.ranks]
    places = [json.loads(text) for text, _ in said]
    assert {colour for _, colour in said} == {"red"}
    assert [place["task"] for place in places] == [
        {"type": "worker", "index": rank} for rank in range(3)
    ]
    assert all(place["cluster"] == {"worker": job.addresses} for place in places)
    assert len(set(job.addresses)) == 3


def test_a_failure_names_the_worker_that_failed_first_and_what_it_said(start, tmp_path):
    source = f"""
        import json, os, pathlib, psutil, sys, time
        rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
        print("hello from", rank)
        number = pathlib.Path({str(tmp_path)!r}, "number")
        while rank == 0 and not number.exists():
            time.sleep(0.1)
        if rank == 0:  # ends as soon as worker 1 has ended
            first = psutil.Process(int(os.readlink(number)))
            while first.is_running() and first.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
        if rank == 1:
            number.symlink_to(str(os.getpid()))
            time.sleep(1)
        time.sleep([0, 0, 600][rank])
        sys.exit(f"no disk for {{rank}}")
    """
    with start(source, workers=3) as job:
        with pytest.raises(LabError, match=r"worker 1 ended with exit code 1.*") as raised:
            job.wait(LIMIT)
        assert "no disk for 1" in str(raised.value)
        assert job.alive()[2]
    assert job.alive() == [False, False, False]


def test_without_check_the_others_are_waited_for(start):
    source = """
        import json, os, time
        rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
        time.sleep(0.5 * rank)
        raise SystemExit(rank)
    """
    with start(source, workers=3) as job:
        assert job.wait(LIMIT, check=False) == [0, 1, 2]


def test_no_wait_is_without_a_limit(start):
    with start("import time; print('begun'); time.sleep(600)") as job:
        job.wait_for("begun", 1, LIMIT)
        with pytest.raises(LabError, match=r"still runs after 0.2 s(?s:.*)begun"):
            job.wait(0.2)
        with pytest.raises(LabError, match=r"has not written 'ended' in 0.2 s"):
            job.wait_for("ended", 0, 0.2)


def test_waiting_for_words_ends_when_the_worker_ends(start):
    with (
        start("raise SystemExit(3)") as job,
        pytest.raises(LabError, match=r"worker 1 ended with exit code 3"),
    ):
        job.wait_for("words", 1, LIMIT)


def test_a_worker_can_end_politely(start):
    source = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(42))
        print("ready")
        time.sleep(600)
    """
    with start(source) as job:
        for rank in job.ranks:
            job.wait_for("ready", rank, LIMIT)
            job.terminate(rank)
        assert job.wait(LIMIT, check=False) == [42, 42]


def test_a_log_is_continued_and_read_from_the_start_of_the_job(start, tmp_path):
    for word in ("first", "second"):
        with start(f"print('{word}')", workers=1) as job:
            job.wait(LIMIT)
            assert job.log(0) == f"{word}\n"
    assert (tmp_path / "a log" / "worker-0.log").read_text() == "first\nsecond\n"


def test_a_port_that_another_takes_in_the_meantime_is_chosen_again(start, tmp_path):
    source = f"""
        import json, os, pathlib, socket, time
        config = json.loads(os.environ["TF_CONFIG"])
        while not pathlib.Path({str(tmp_path / "taken")!r}).exists():
            time.sleep(0.1)
        address = config["cluster"]["worker"][config["task"]["index"]]
        with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
            print("serves", address)
    """
    with start(source) as job:
        before = list(job.addresses)
        with socket.create_server(("127.0.0.1", int(before[1].rpartition(":")[2]))):
            (tmp_path / "taken").touch()
            assert job.wait(LIMIT) == [0, 0]
        assert job.addresses != before
        for rank in job.ranks:
            assert job.log(rank) == f"serves {job.addresses[rank]}\n"


def test_a_command_that_is_not_there_is_a_line(tmp_path):
    with (
        pytest.raises(LabError, match="worker 0 could not start: /no/such"),
        cluster.start(["/no/such"], 2, tmp_path),
    ):
        pass


def test_a_folder_that_cannot_be_written_is_a_line(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LabError, match="logs cannot be written"),
        cluster.start([sys.executable], 2, tmp_path / "file" / "logs"),
    ):
        pass


@pytest.mark.parametrize("victim", [0, 1], ids=["chief", "worker"])
def test_of_killed_workers_no_process_is_left(tmp_path, victim):
    for _ in range(TIMES):
        with cluster.start(WITH_A_CHILD, 2, tmp_path) as job:
            pids = []
            for rank in job.ranks:
                job.wait_for("ready", rank, LIMIT)
                pids += [job.pids[rank], int(job.log(rank).split()[1])]
            job.kill(victim)
            assert job.alive() == [rank != victim for rank in job.ranks]
        assert_gone(pids)


def test_of_a_killed_launcher_no_process_is_left(tmp_path):
    for time_ in range(TIMES):
        ends_it = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP][time_ % 4]
        with launched(tmp_path / str(time_)) as (launcher, pids):
            launcher.send_signal(ends_it)
            assert launcher.wait(LIMIT) != 0
            assert_gone(pids)


def test_without_its_guard_a_job_still_ends(tmp_path):
    with launched(tmp_path) as (launcher, pids):
        psutil.Process(pids[-1]).kill()
        launcher.send_signal(signal.SIGINT)
        launcher.wait(LIMIT)
        assert_gone(pids)


def hear_signals():
    """Tests that run in the background, or with nohup, ignore these signals."""
    for one in (signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


@contextlib.contextmanager
def launched(folder):
    """A process that has started workers, and the numbers of all that it has started."""
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(folder), *WITH_A_CHILD],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=REPOSITORY,
        preexec_fn=hear_signals,
    )  # fmt: skip
    with process:
        try:
            lines = [process.stdout.readline().split() for _ in range(3)]
            assert lines[2][0] == "ready"
            yield process, [int(pid) for line in lines for pid in line if pid != "ready"]
        finally:
            process.kill()


def assert_gone(pids):
    """All of them, soon: the kernel takes a moment for each."""
    until = time.monotonic() + LIMIT
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < until:
        time.sleep(0.01)
    assert not left


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
