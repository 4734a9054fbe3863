"""The fork server and its children, each in a box of its own: what reaches whom."""

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from helpers.files import REPOSITORY
from kit.grading.box import processes, sandbox
from kit.grading.box.filter_in_box import NICE
from kit.grading.box.fork_server import CORES, FILES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("grading"),
    pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem())),
]
NAMESPACES = ("mnt", "cgroup", "uts", "ipc", "user", "pid", "net")
LIMITS = sandbox.Limits(disk_mib=16)
MODULES = ("helpers.lab_02.ex3_fit.probe",)  # a box has no other files of the course
PATIENCE = 120  # seconds, of which a test needs none: it would hang else
SECRET = secrets.token_hex(16)  # what the worker knows


class Child(NamedTuple):
    """A child of the fork server in its box, as the worker sees it."""

    pid: int
    box: sandbox.Box
    channel: socket.socket
    output: int
    theirs: dict  # what its own descriptors are

    def said(self):
        """The JSON that its cell printed, one value a line; waits for its end."""
        said = bytearray()
        while True:
            ready, _, _ = select.select([self.output], [], [], PATIENCE)
            assert ready, "it neither prints nor ends"
            part = os.read(self.output, 2**16)
            if not part:
                return [json.loads(line) for line in said.splitlines()]
            said += part

    def listen(self):
        """The first line that it prints, whatever it does then."""
        assert select.select([self.output], [], [], PATIENCE)[0]
        return json.loads(os.read(self.output, 2**16).splitlines()[0])


def job(cell):
    return {
        "limits": {"RLIMIT_CPU": PATIENCE, "RLIMIT_DATA": 2**31, "RLIMIT_NPROC": 64},
        "exercise": "2.3", "name": "answer", "setup": [], "references": [],
        "probe": MODULES[0], "code": [["2.3", cell]],
    }  # fmt: skip


SAY = """
import json, os
def say(value):
    os.write(1, json.dumps(value).encode() + b"\\n")
"""


@contextlib.contextmanager
def child(cell):
    """Have a child forked that runs a cell."""
    ours, theirs = socket.socketpair()
    output, end = os.pipe()
    with ours, theirs, sandbox.open_box(LIMITS) as box:
        descriptors = [theirs.fileno(), end, box.pidfd]
        pid = processes.fork(MODULES, ours, descriptors, PATIENCE)
        links = {fd: str(Path(f"/proc/self/fd/{fd}").readlink()) for fd in descriptors}
        theirs.close()
        os.close(end)
        ours.sendall(json.dumps(job(SAY + cell)).encode() + b"\n")
        pipe = links[end]
        own = {"0": "/dev/null", "1": pipe, "2": pipe, "3": links[descriptors[0]]}
        yield Child(pid, box, ours, output, own)
    os.close(output)


def eventually(is_true):
    until = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.02)


def open_files(pid):
    files = Path(f"/proc/{pid}/fd").iterdir()
    return {file.name: str(file.readlink()) for file in files}


@pytest.fixture(scope="module")
def server():
    """That of this process, which knows a secret; it must end with its channel."""
    processes._fork_server.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABS_SECRET", SECRET)
        control, server = processes._fork_server(MODULES)
        yield server
    processes._fork_server.cache_clear()
    control.close()
    try:
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()


@pytest.fixture(autouse=True)
def server_stays_as_it_is(server):
    """After each test it has what it had before: files, one thread, and no child."""
    before = open_files(server.pid)
    yield
    assert server.poll() is None
    process = psutil.Process(server.pid)
    eventually(lambda: not process.children())
    assert open_files(server.pid) == before
    assert process.num_threads() == 1


LOOKS = """
def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return None

found = {fd: link(f"/proc/self/fd/{fd}") for fd in map(str, range(256))}
status = open("/proc/self/status").read().splitlines()
import time
say({
    "files": {fd: name for fd, name in found.items() if name},
    "namespaces": {name: link(f"/proc/self/ns/{name}") for name in NAMESPACES},
    "status": dict(line.split(":\\t", 1) for line in status if ":\\t" in line),
    "environment": dict(os.environ),
    "nice": os.nice(0),
    "cores": len(os.sched_getaffinity(0)),
    "processes": len([name for name in os.listdir("/proc") if name.isdecimal()]),
    "inodes": [os.statvfs(place).f_files for place in ("/tmp", "/dev/shm")],
    "folder": os.getcwd(),
})
time.sleep(999)
""".replace("NAMESPACES", repr(NAMESPACES))


def test_children_side_by_side_have_their_own_box_and_nothing_else(server):
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(child(LOOKS)) for _ in range(3)]
        seen = [one.listen() for one in children]
        for one, saw in zip(children, seen, strict=True):
            assert saw["files"] == one.theirs
            assert psutil.Process(one.pid).ppid() == server.pid
            spaces = {name: _namespace(one.box.pid, name) for name in NAMESPACES}
            mine = {name: _namespace("self", name) for name in NAMESPACES}
            # It has a user namespace below that of its box.
            assert saw["namespaces"].pop("user") not in (spaces.pop("user"), mine["user"])
            assert saw["namespaces"] == spaces
            assert not set(spaces.values()) & set(mine.values())
            assert saw["processes"] == len(one.box.pids())
    for name in set(NAMESPACES) - {"user"}:
        assert len({saw["namespaces"][name] for saw in seen}) == len(children)


def test_a_child_has_given_up_every_right_before_its_cell_runs(server):
    with child(LOOKS) as one:
        saw = one.listen()
    status = saw["status"]
    rights = [status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")]
    assert {int(right, 16) for right in rights} == {0}
    assert status["Uid"].split() == status["Gid"].split() == [str(sandbox.UID)] * 4
    assert set(status["Groups"].split()) <= {"65534"}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert saw["cores"] == min(CORES, len(os.sched_getaffinity(0)))
    assert saw["nice"] == min(19, os.nice(0) + NICE)
    assert saw["inodes"] == [FILES, FILES]
    assert saw["folder"] == sandbox.WORK
    assert "LABS_SECRET" not in saw["environment"]


def _namespace(pid, name):
    return str(Path(f"/proc/{pid}/ns/{name}").readlink())


SCANS = """
def is_there(half, rest):
    # In this process a text is in one piece only if somebody else told it.
    half, rest = half.encode(), rest.encode()
    with open("/proc/self/maps") as maps:
        areas = [line.split()[:2] for line in maps]
    with open("/proc/self/mem", "rb", 0) as memory:
        for area, mode in areas:
            if mode.startswith("rw"):
                begin, end = (int(number, 16) for number in area.split("-"))
                memory.seek(begin)
                pieces = memory.read(end - begin).split(half)[1:]
                if any(piece.startswith(rest) for piece in pieces):
                    return True
    return False
"""


def test_no_secret_of_its_worker_or_of_another_child_is_in_a_childs_memory(server):
    others, own = secrets.token_hex(16), secrets.token_hex(16)
    knows = f"kept = '{others}'\nsay('ready')\nimport time\ntime.sleep(999)"
    halves = [[text[:16], text[16:]] for text in (SECRET, others, own)]
    asks = f"# {own}\n{SCANS}\nsay([is_there(*parts) for parts in {halves}])"
    with child(knows) as before:
        assert before.listen() == "ready"
        with child(asks) as scanning:
            assert scanning.said() == [[False, False, True]], "its own it finds"


ENDS = {
    "returns": "",
    "raises": "raise ValueError",
    "exits": "os._exit(9)",
    "is killed": "os.kill(os.getpid(), 9)",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "kills all it can": "os.kill(-1, 9)",
    "closes its files": "os.closerange(0, 256)",
    "wants all memory": "kept = bytearray(2**40)",
    "leaves processes": """
for _ in range(9):
    if os.fork() == 0:
        import time
        time.sleep(999)
""",
    "leaves files": """
for n in range(200):
    kept = [open(f"{place}/{n}", "w") for place in ("/tmp", "/dev/shm", "/tmp/home")]
""",
    "changes what the next one would use": """
import builtins, signal, sys
os.environ.clear()
os.chdir("/")
os.umask(0)
for name in ("json", "os", "helpers", "cells_in_box", "__main__"):
    if name in sys.modules:
        vars(sys.modules[name]).clear() if name != "os" else None
sys.modules.clear()
builtins.print = builtins.open = None
""",
    "writes nonsense to its worker": "os.write(3, bytes(range(256)) * 99)",
}
HANGS = {
    "loops": "while True: pass",
    "stops itself": "import signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "stops what keeps its box": """
import signal, time
os.kill(-1, signal.SIGSTOP)
time.sleep(999)
""",
    "hears no signal": """
import signal, time
for number in set(range(1, 65)) - {9, 19, 32, 33}:
    signal.signal(number, signal.SIG_IGN)
time.sleep(999)
""",
    "takes all descriptors": """
import time
try:
    while True: os.dup(1)
except OSError:
    pass
time.sleep(999)
""",
    "takes all processes": """
import time
try:
    while os.fork(): pass
except OSError:
    pass
time.sleep(999)
""",
}
STATE = """
import builtins, signal, sys
def names(place):
    return sorted(os.listdir(place))

say({
    "environment": dict(os.environ),
    "folder": os.getcwd(),
    "umask": os.umask(0o77),
    "signals": [str(signal.getsignal(n)) for n in range(1, 32)],
    "modules": sorted(sys.modules),
    "builtins": sorted(name for name, value in vars(builtins).items() if value is None),
    "files": [names(place) for place in ("/tmp", "/tmp/home", "/tmp/work", "/dev/shm")],
    "descriptors": len(names("/proc/self/fd")),
    "processes": len([name for name in names("/proc") if name.isdecimal()]),
    "ids": [os.getpid(), os.getuid(), os.getsid(0), os.getppid()],
})
"""


def state():
    with child(STATE) as one:
        [said] = one.said()
    return said


@pytest.fixture(scope="module")
def as_new(server):
    return state()


@pytest.mark.parametrize("end", ENDS)
def test_however_a_child_ends_the_next_one_is_as_the_first(as_new, end):
    with child(ENDS[end]) as one:
        guard = psutil.Process(one.pid)
        eventually(lambda: not guard.is_running())
        assert state() == as_new
    eventually(lambda: _has_ended(one.box.pid))


def _has_ended(pid):
    """Whether it runs no more; until the system has looked its number is there."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("hang", HANGS)
def test_while_a_child_hangs_the_next_one_is_as_the_first(as_new, hang):
    with child(f"say('there')\n{HANGS[hang]}") as one:
        assert one.listen() == "there"
        inside = [psutil.Process(pid) for pid in one.box.pids()]
        guard = psutil.Process(one.pid)
        assert state() == as_new
        assert guard.is_running()
    gone, alive = psutil.wait_procs([guard, *inside], timeout=PATIENCE)
    assert not alive
    assert len(gone) >= 3


def test_a_worker_that_leaves_before_the_fork_costs_nobody_else_anything(as_new):
    control, _ = processes._fork_server(MODULES)
    with sandbox.open_box(LIMITS) as box:
        ours, theirs = socket.socketpair()
        with open(os.devnull, "w") as output, theirs:
            ours.close()
            descriptors = [theirs.fileno(), output.fileno(), box.pidfd]
            socket.send_fds(control, [PATIENCE.to_bytes(8, "big")], descriptors)
        assert state() == as_new


def test_a_child_whose_box_is_gone_ends_and_runs_nothing_outside(as_new, tmp_path):
    with sandbox.open_box(LIMITS) as box:
        dead = os.dup(box.pidfd)
    ours, theirs = socket.socketpair()
    output, end = os.pipe()
    with ours:
        pid = processes.fork(MODULES, ours, [theirs.fileno(), end, dead], PATIENCE)
        theirs.close()
        os.close(end)
        os.close(dead)
        with contextlib.suppress(OSError):
            cell = f"{SAY}\nopen({str(tmp_path / 'x')!r}, 'w')\nsay('outside')"
            ours.sendall(json.dumps(job(cell)).encode() + b"\n")
        said = b""
        while part := os.read(output, 2**16):
            said += part
    os.close(output)
    assert b"outside" not in said
    assert b"setns" in said or b"Error" in said
    assert not list(tmp_path.iterdir())
    eventually(lambda: not psutil.pid_exists(pid))
    assert state() == as_new


def test_a_fork_server_and_its_children_end_with_their_worker(tmp_path):
    """Even where a child has stopped the process that ends its box when the worker ends."""
    cell = HANGS["stops what keeps its box"].replace(
        "time.sleep", "say('there')\ntime.sleep"
    )
    script = f"""
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("tests_of_the_server", {__file__!r})
tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tests)
_, server = tests.processes._fork_server(tests.MODULES)
with tests.child({cell!r}) as one:
    assert one.listen() == "there"
    family = [server.pid, one.pid, one.box.monitor.pid, *one.box.pids()]
    print(json.dumps(family), flush=True)
    sys.stdin.read()
"""
    worker = subprocess.Popen(
        [sys.executable, "-c", script], cwd=REPOSITORY,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with worker:
        family = [psutil.Process(pid) for pid in json.loads(worker.stdout.readline())]
        assert len(family) >= 6
        worker.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    assert not alive
