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
from kit.grading import sandbox
from kit.grading.system_calls import allowed
from kit.grading.temporary import temporary_folder

START_SECONDS = 300
AREA_BYTES = 210  # measured on Linux 6 as growth of /proc/meminfo's SUnreclaim


def memory_mib(pids, enough):
    """Main memory of some processes, shared pages split between those that share.

    The kernel needs some time for the exact figure. So this asks for it only where the
    sum of what each process maps is more than `enough`.
    """
    rough = sum(_rough_mib(pid) for pid in pids)
    return rough if rough <= enough else sum(_exact_mib(pid) for pid in pids)


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
        raise LabError("the process that imports TensorFlow for the judges did not start")
    return ours, process


def prepare(modules):
    """Start the process that has TensorFlow imported, unless it runs."""
    _, process = _fork_server(modules)
    if process.poll() is not None:
        _fork_server.cache_clear()
        _fork_server(modules)


def fork(modules, channel, descriptors):
    """Have a child forked that gets the descriptors; return its process number.

    Parameters
    ----------
    modules : tuple of str
        As for `prepare`, which was called with them in this process or its parent.
    channel : socket.socket
        The other end of the first descriptor.
    descriptors : list of int
    """
    control, _ = _fork_server(modules)
    with contextlib.suppress(OSError):
        socket.send_fds(control, [b"f"], descriptors)
        channel.settimeout(START_SECONDS)
        if told := channel.recv(8, socket.MSG_WAITALL):
            return int.from_bytes(told, "big")
    raise LabError("the process that imports TensorFlow for the judges has ended")


def family(pid):
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.Error:
        return []


def kill_family(pid):
    """Kill all processes that can be found; without a box a process can hide."""
    members = family(pid)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    for member in members:
        with contextlib.suppress(OSError):
            os.kill(member, signal.SIGKILL)
