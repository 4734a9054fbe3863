"""The parts of this computer, found without TensorFlow, which takes seconds to import."""

import math
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import psutil

NVIDIA_SECONDS = 10  # a driver that takes longer will not answer at all
CPU_INFO = Path("/proc/cpuinfo")
# What oneDNN chooses its kernels by, on x86 and on ARM.
WIDE_UNITS = (
    "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_bf16", "amx_int8", "asimd", "sve", "bf16", "svebf16",
)  # fmt: skip
CPUS = Path("/sys/devices/system/cpu")
OWN_GROUP, CGROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def cpu_name() -> str:
    """The processor's name, in short form."""
    try:
        with open(CPU_INFO, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    name = re.sub(r"\((R|TM)\)|Processor|CPU", "", line.split(":")[1])
                    return " ".join(name.split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cpu_features() -> list[str]:
    """Which of its wide units a training can use the processor has.

    Returns
    -------
    list of str
        Linux' names of them, such as "avx512f" or "amx_bf16"; empty on other systems.
    """
    try:
        text = CPU_INFO.read_text(encoding="utf-8")
    except OSError:
        return []
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.M)
    there = set(flags[1].split()) if flags else set()
    return [name for name in WIDE_UNITS if name in there]


def cache_bytes() -> int:
    """Bytes of the processor's last-level caches together; 0 where Linux does not say it.

    A processor may have several of them, each shared by some of its cores.
    """
    found = {}
    for cache in CPUS.glob("cpu[0-9]*/cache/index[0-9]*"):
        try:
            level, kind, size, shared_by = (
                (cache / name).read_text(encoding="utf-8").strip()
                for name in ("level", "type", "size", "shared_cpu_list")
            )
        except OSError:
            continue
        if kind != "Instruction" and re.fullmatch(r"\d+K", size):
            found[int(level), shared_by] = 1024 * int(size[:-1])
    last = max((level for level, _ in found), default=0)
    return sum(size for (level, _), size in found.items() if level == last)


def cores() -> int:
    """Processor cores that this process may use: a whole number, at least 1."""
    allowed = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        allowed = len(os.sched_getaffinity(0))
    quotas = [text.split() for _, text in _limits("cpu.max")]
    shares = [int(quota) / int(period) for quota, period in quotas if quota != "max"]
    return max(1, min(allowed, *map(math.ceil, shares)) if shares else allowed)


def memory_bytes() -> float:
    """The most main memory that a process may take."""
    limits = [int(text) for _, text in _limits("memory.max") if text != "max"]
    return min(psutil.virtual_memory().total, *limits, float("inf"))


def memory_free_bytes() -> int:
    """Main memory that a process can still take, without swapping."""
    free = [psutil.virtual_memory().available]
    for group, limit in _limits("memory.max"):
        if limit != "max":
            used = int((group / "memory.current").read_text())
            free.append(int(limit) - used)
    return max(0, min(free))


def _limits(name):
    """The limits of a resource by the control groups above this process (cgroup v2).

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


def nvidia_gpus() -> list[str]:
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
