"""The processes that run students' code: their start, their memory, their end."""

import contextlib
import functools
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.plain_json import as_json
from kit.grading.box import sandbox
from kit.grading.box.system_calls import allowed
from kit.grading.box.temporary import temporary_folder

START_SECONDS = 300
SHARE = 3  # of the processors: how "nice" the kernel's group of a box's processes is
AREA_BYTES = 210  # measured on Linux 6 as growth of /proc/meminfo's SUnreclaim


def memory_mib(pids: list[int], enough: float) -> float:
    """Main memory of some processes, shared pages split between those that share.

    The kernel needs some time for the exact figure. So this asks for it only where the
    sum of what each process maps is more than `enough`.
    """
    rough = sum(_rough_mib(pid) for pid in pids)
    return rough if rough <= enough else sum(_exact_mib(pid) for pid in pids)


def computed_seconds(pids: list[int]) -> float:
    """Processor time of the one of some processes that has had most."""
    seconds = [0.0]
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            seconds.append(sum(psutil.Process(pid).cpu_times()[:2]))
    return max(seconds)


def let_others_first(pids: list[int]) -> None:
    """Give the sessions of a box a smaller share of the processors than the grader's.

    Of two sessions each gets the same share, however many processes it has and whatever
    their priority, where the kernel has `sched_autogroup`. A box cannot undo this: it may
    not write to /proc. (In cgroups with shares of their own, the priority counts.)
    """
    for pid in pids:
        with contextlib.suppress(OSError):  # no autogroup, gone, or asked too often
            group = Path(f"/proc/{pid}/autogroup")
            is_leader = os.getsid(pid) == pid
            if is_leader and not group.read_text().endswith(f" nice {SHARE}\n"):
                group.write_text(str(SHARE))


def was_starved(pids: list[int], seconds: float) -> bool:
    """Whether other processes of the machine kept a box's from running.

    Parameters
    ----------
    pids : list of int
        The box's.
    seconds : float
        Since when it has run.

    Returns
    -------
    bool
        True if it was ready to run for more than half of the time and had to wait; and
        got less than a tenth of a core, which is what honest work needs of its time. (One
        that waits for processes of its own has run more.)
    """
    tasks = [task for pid in pids for task in Path(f"/proc/{pid}/task").glob("*")]
    run, waited = zip((0, 0), *map(_run_and_waited, tasks), strict=True)
    return sum(run) < seconds / 10 and max(waited) > seconds / 2


def _run_and_waited(task):
    """The seconds that a thread has run, and that it was ready to run and did not."""
    try:
        run, waited, _ = (task / "schedstat").read_text().split()
    except (OSError, ValueError):  # it has ended, or this kernel does not count
        return 0, 0
    return int(run) / 1e9, int(waited) / 1e9


def _rough_mib(pid):
    return _kib(pid, "status", "VmRSS", "VmPTE") / 1024 + _areas_mib(pid)


def _exact_mib(pid):
    # Page tables too: a gigabyte that is only read needs two MiB of them and nothing else.
    own = _kib(pid, "smaps_rollup", "Pss") + _kib(pid, "status", "VmPTE")
    return own / 1024 + _areas_mib(pid)


def _areas_mib(pid):
    """What the kernel keeps for a process's mapped areas: 13 MiB for the most it can have,
    and as much again for each fork of it."""
    try:
        areas = Path(f"/proc/{pid}/maps").read_bytes().count(b"\n")
    except OSError:
        return 0
    return areas * AREA_BYTES / 2**20


def _kib(pid, file, *names):
    try:
        text = Path(f"/proc/{pid}/{file}").read_text()
    except OSError:
        return 0
    found = [re.search(rf"^{name}:\s+(\d+)", text, re.M) for name in names]
    return sum(int(one[1]) for one in found if one)


@functools.lru_cache(maxsize=1)
def _fork_server(modules):
    """Start the process that has TensorFlow imported; it ends with this one."""
    code = allowed() if sandbox.problem() is None else b""
    ours, theirs = socket.socketpair()
    with temporary_folder() as home:
        process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("fork_server.py")),
             str(theirs.fileno()), str(REPOSITORY), as_json(modules), code.hex()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            cwd="/",
            env={
                "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": home,
                "KERAS_HOME": home, "MPLCONFIGDIR": home, "MPLBACKEND": "Agg",
                "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3",
                "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                "TF_NUM_INTRAOP_THREADS": "2", "TF_NUM_INTEROP_THREADS": "2",
                "LABS_SCALE": "smoke", "PYTHONHASHSEED": "0",
            },
        )  # fmt: skip
        theirs.close()
        ours.settimeout(START_SECONDS)
        started = ours.recv(1)
    if started != b"r":
        raise LabError(
            "the process that imports TensorFlow for the judges did not start: "
            "`labs doctor` says what is missing."
        )
    return ours, process


def prepare(modules: tuple[str, ...]) -> None:
    """Start the process that has TensorFlow imported, unless it runs."""
    _, process = _fork_server(modules)
    if process.poll() is not None:
        _fork_server.cache_clear()
        _fork_server(modules)


def fork(
    modules: tuple[str, ...], channel: socket.socket, descriptors: list[int], seconds: int
) -> int:
    """Have a child forked that gets the descriptors; return its process number.

    Parameters
    ----------
    modules : tuple of str
        As for `prepare`, which was called with them in this process or its parent.
    channel : socket.socket
        The other end of the first descriptor.
    descriptors : list of int
    seconds : int
        After which the box is ended, if this process does not end it before.
    """
    control, _ = _fork_server(modules)
    with contextlib.suppress(OSError):
        socket.send_fds(control, [seconds.to_bytes(8, "big")], descriptors)
        channel.settimeout(START_SECONDS)
        if told := channel.recv(8, socket.MSG_WAITALL):
            return int.from_bytes(told, "big")
    raise LabError(
        "the process that imports TensorFlow for the judges has ended, perhaps because "
        "memory ran out: give the same command again, with fewer --jobs."
    )


def family(pid: int) -> list[int]:
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.Error:
        return []


def kill_family(pid: int) -> None:
    """Kill all processes that can be found; without a box a process can hide."""
    members = family(pid)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    for member in members:
        with contextlib.suppress(OSError):
            os.kill(member, signal.SIGKILL)
