"""The processes that run students' code: their start, their memory, their end."""

import contextlib
import functools
import json
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
from kit.grading import sandbox
from kit.grading.temporary import temporary_folder

START_SECONDS = 300


def memory_mib(pids, enough):
    """Main memory of some processes, shared pages split between those that share.

    The kernel needs some time for the exact figure. So this asks for it only where the
    sum of what each process maps is more than `enough`.
    """
    rough = sum(_rough_mib(pid) for pid in pids)
    return rough if rough <= enough else sum(_exact_mib(pid) for pid in pids)


def _rough_mib(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / sandbox.MIB
    except (OSError, IndexError):
        return 0


def _exact_mib(pid):
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss: +(\d+)", text, re.M)[1]) / 1024
    except (OSError, TypeError):
        return 0


@functools.lru_cache(maxsize=1)
def _fork_server(modules):
    """Start the process that has TensorFlow imported; it ends with this one."""
    ours, theirs = socket.socketpair()
    with temporary_folder() as home:
        process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("fork_server.py")),
             str(theirs.fileno()), str(REPOSITORY), json.dumps(modules)],
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


def fork(modules, descriptors):
    """Have a child forked that gets the descriptors; return its process number."""
    for _ in range(2):
        control, process = _fork_server(modules)
        try:
            socket.send_fds(control, [b"f"], descriptors)
            if told := control.recv(8):
                return int.from_bytes(told, "big")
        except OSError:
            pass
        process.kill()
        process.wait()
        _fork_server.cache_clear()
    raise LabError("the process that imports TensorFlow for the judges ended twice")


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
