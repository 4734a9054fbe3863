"""What this computer has, found without TensorFlow, which takes seconds to import."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import psutil

NVIDIA_SECONDS = 10  # a driver that takes longer will not answer at all


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
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()  # macOS


def memory_bytes():
    """The most main memory that a process may take."""
    total = psutil.virtual_memory().total
    try:  # a container has its own limit
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return total
    return total if limit == "max" else min(total, int(limit))


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
