"""What this computer has, found without TensorFlow, which takes seconds to import."""

import math
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import psutil

NVIDIA_SECONDS = 10  # a driver that takes longer will not answer at all
OWN_GROUP, CGROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def cpu_name():
    """The processor's name, in short form."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    name = re.sub(r"\((R|TM)\)|Processor|CPU", "", line.split(":")[1])
                    return " ".join(name.split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cores():
    """Processor cores that this process may use: a whole number, at least 1."""
    allowed = os.cpu_count()
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        allowed = len(os.sched_getaffinity(0))
    quotas = [text.split() for _, text in _limits("cpu.max")]
    shares = [int(quota) / int(period) for quota, period in quotas if quota != "max"]
    return max(1, min(allowed, *map(math.ceil, shares)) if shares else allowed)


def memory_bytes():
    """The most main memory that a process may take."""
    limits = [int(text) for _, text in _limits("memory.max") if text != "max"]
    return min(psutil.virtual_memory().total, *limits, float("inf"))


def memory_free_bytes():
    """Main memory that a process can still take, without swapping."""
    free = [psutil.virtual_memory().available]
    for group, limit in _limits("memory.max"):
        if limit != "max":
            used = int((group / "memory.current").read_text())
            free.append(int(limit) - used)
    return max(0, min(free))


def _limits(name):
    """What the control groups above this process say of a resource (cgroup v2).

    Yields
    ------
    tuple of Path and str
        A group's folder, and the text of its file of that name.
    """
    try:
        own = OWN_GROUP.read_text().partition("::")[2].strip()
    except OSError:  # no Linux
        return
    group = CGROUPS / own.lstrip("/")
    for folder in (group, *group.parents):
        if folder.is_relative_to(CGROUPS) and (folder / name).is_file():
            yield folder, (folder / name).read_text().strip()


def nvidia_gpus():
    """The names of the NVIDIA GPUs that the driver lists; TensorFlow may see fewer."""
    if not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        listed = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=NVIDIA_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return listed.stdout.splitlines() if listed.returncode == 0 else []
