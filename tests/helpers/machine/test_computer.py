"""What this computer has: also what a container or a job leaves of it."""

import os
import subprocess
import sys

import psutil
import pytest

from helpers.files import REPOSITORY
from helpers.machine import computer


@pytest.fixture
def group(monkeypatch, tmp_path):
    """A control group two levels down, with files of its limits."""
    own = tmp_path / "cgroup" / "batch" / "job"
    own.mkdir(parents=True)
    (tmp_path / "own").write_text("4:memory:/old\n0::/batch/job\n")
    monkeypatch.setattr(computer, "OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(computer, "CGROUPS", tmp_path / "cgroup")
    return own


@pytest.mark.parametrize(
    ("own", "parent", "cores"),
    [
        ("max 100000", "max 100000", 8),
        ("150000 100000", "max 100000", 2),
        ("50000 100000", "max 100000", 1),
        ("max 100000", "300000 100000", 3),
        ("1000000 100000", "max 100000", 8),
    ],
)
def test_cores_are_those_that_a_job_may_use(group, monkeypatch, own, parent, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    (group / "cpu.max").write_text(own + "\n")
    (group.parent / "cpu.max").write_text(parent + "\n")
    assert computer.cores() == cores


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("flags\t\t: fpu amx_bf16 avx2x avx512f\nflags: avx2\n", ["avx512f", "amx_bf16"]),
        ("Features\t: fp asimd bf16\n", ["asimd", "bf16"]),
        ("model name: none\n", []),
    ],
)
def test_wide_units_are_read_by_their_whole_name(tmp_path, monkeypatch, text, features):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(computer, "CPU_INFO", tmp_path / "cpuinfo")
    assert computer.cpu_features() == features


def test_one_core_of_taskset_is_one_core():
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from helpers.machine import computer; print(computer.cores())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ended.stdout == "1\n"


def test_memory_is_what_the_tightest_group_leaves(group):
    everything = computer.memory_bytes()
    assert everything == psutil.virtual_memory().total
    for folder, limit, used in ((group, "max", 5), (group.parent, "1000000", 400_000)):
        (folder / "memory.max").write_text(limit + "\n")
        (folder / "memory.current").write_text(f"{used}\n")
    assert computer.memory_bytes() == 1_000_000
    assert computer.memory_free_bytes() == 600_000
    (group / "memory.max").write_text("300\n")
    assert computer.memory_bytes() == 300
    assert computer.memory_free_bytes() == 295


def test_the_last_caches_are_added_up_once_each(monkeypatch, tmp_path):
    """Two cores share one, and two others share the next."""
    monkeypatch.setattr(computer, "CPUS", tmp_path)
    assert computer.cache_bytes() == 0
    for core, shared_by in ((0, "0-1"), (1, "0-1"), (2, "2-3"), (3, "2-3")):
        caches = [(1, "Data", "32K", core), (1, "Instruction", "32K", core)]
        caches += [(2, "Unified", "512K", core), (3, "Unified", "16384K", shared_by)]
        for index, (level, kind, size, cores) in enumerate(caches):
            folder = tmp_path / f"cpu{core}" / "cache" / f"index{index}"
            folder.mkdir(parents=True)
            says = {"level": level, "type": kind, "size": size, "shared_cpu_list": cores}
            for name, text in says.items():
                (folder / name).write_text(f"{text}\n")
    (tmp_path / "cpu3" / "cache" / "index3" / "size").unlink()
    assert computer.cache_bytes() == 2 * 16 * 2**20
