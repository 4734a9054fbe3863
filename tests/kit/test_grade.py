"""Grading: the corpus of submissions, what is written, interruption, and the walls."""

import os
import re
import socket
from pathlib import Path

import psutil
import pytest

from helpers.files import REPOSITORY
from kit import sandbox
from kit.grade import grade
from kit.labs import find_lab
from kit.submissions import file_name
from tests.submissions import corpus
from tests.submissions.corpus import MARK, World

LAB = find_lab("02")
# Small, so that bombs go off soon; the default is for honest work on a busy machine.
SMALL = sandbox.Limits(
    wall_seconds=8, cpu_seconds=5, memory_mib=1200, disk_mib=32, processes=64
)
needs_box = pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The corpus graded, in one run each: its cases, their results, and where."""
    base = tmp_path_factory.mktemp("corpus")
    folder, slow, out = base / "in", base / "slow", base / "out"
    folder.mkdir()
    slow.mkdir()
    listening = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    name = f"\0labs-corpus-{os.getpid()}"
    abstract.bind(name)
    abstract.listen()
    world = World(folder, out, REPOSITORY, listening.getsockname()[1], name, os.getpid())
    cases = corpus.write(folder, world, corpus.KINDS)
    patient = corpus.write(slow, world, corpus.PATIENT)
    os.environ["LABS_SECRET"] = "LABS_SECRET"
    with listening, abstract:
        results = grade(folder, [LAB], out, seed="corpus", limits=SMALL)
        results += grade(slow, [LAB], base / "slow-out", seed="corpus")
    del os.environ["LABS_SECRET"]
    by_file = {(r["file_name"], r["lab"]): r for r in results}
    return cases | patient, by_file, out


ANYWHERE = World(Path("/in"), Path("/out"), REPOSITORY, 1, "\0x", 1)
STUDENTS = [
    pytest.param(kind, name, id=f"{kind}-{number}" if kind == "names" else f"{kind}-{name}")
    for kind, make in (corpus.KINDS | corpus.PATIENT).items()
    for number, name in enumerate(make(ANYWHERE))
]


@needs_box
@pytest.mark.parametrize(("kind", "name"), STUDENTS)
def test_each_submission_of_the_corpus_ends_as_it_must(graded, kind, name):
    cases, results, out = graded
    student = name if kind == "names" else f"{kind}-{name}"
    case = cases[student]
    result = results[file_name(student), LAB.name]
    verdicts = result["exercises"]
    passed = tuple(number for number, verdict in verdicts.items() if verdict["passed"])
    reason = result["problem"] or verdicts["2.3"]["reason"]
    assert result["status"] == case.status, result["problem"]
    assert passed == case.passed, {n: v["reason"] for n, v in verdicts.items()}
    assert re.search(case.says, reason), reason
    assert all(v["hint"] for v in verdicts.values() if not v["passed"])
    borrowed = {name for verdict in verdicts.values() for name in verdict["borrowed"]}
    assert borrowed == set(case.borrowed)
    if case.status == "graded" and kind != "patient":
        page = (out / "feedback" / file_name(student) / f"{LAB.name}.html").read_text()
        assert "<script" not in page


@needs_box
def test_there_are_enough_of_them_and_nothing_of_them_is_left(graded):
    cases, results, out = graded
    assert len(cases) == len(results) >= 60
    assert not [p for p in psutil.process_iter() if MARK in " ".join(_command(p))]
    for place in ("/tmp", "/dev/shm", "/var/tmp", REPOSITORY):
        assert not list(Path(place).glob(f"*{MARK}*"))
    assert not Path("/tmp/owned").exists()
    written = {path.relative_to(out).parts[0] for path in out.rglob("*")}
    assert written == {
        "feedback", "results", "grades.csv", "grades.json", "overview.html", "seed.txt",
        ".lock",
    }  # fmt: skip


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
