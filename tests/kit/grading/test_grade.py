"""Grading: the corpus of submissions, what is written, interruption, and the walls."""

import contextlib
import csv
import fcntl
import functools
import html
import itertools
import json
import multiprocessing
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import dask
import nbformat
import psutil
import pytest

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from kit.generate import generate
from kit.grading import examine, one_submission
from kit.grading import grade as grader
from kit.grading.box import conversation, processes, sandbox
from kit.grading.classroom import class_files, feedback, item_statistics, marks
from kit.grading.classroom.class_files import ClassFiles, Override
from kit.grading.grade import grade, slowest
from kit.grading.one_submission import result_of
from kit.grading.submissions import (
    Submission,
    code_of,
    file_name,
    notebook_of,
    shown_name,
)
from kit.labs import all_labs, find_lab
from kit.parallel import exercise_pool, workers
from kit.todo_cells import todo_cells
from tests.asked import TRAINED_ONCE, only
from tests.submissions import corpus
from tests.submissions.corpus import MARK, World

LAB = find_lab("02")
# Small, so that bombs go off soon. Not the limits of time: what ends otherwise must do so
# on a machine that is slow and busy too.
SMALL = sandbox.Limits(memory_mib=2048, disk_mib=32)
SOON = SMALL._replace(wall_seconds=20, cpu_seconds=3)  # honest work needs a second
needs_box = pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
# What grading finds on macOS, as far as Linux can show it: no bubblewrap, no prctl, none of
# the packages that are for Linux only, and another patch release of Python.
AS_ON_MACOS = """
import ctypes, importlib.metadata, platform, sys
import psutil  # as Linux needs it

class CDLL(ctypes.CDLL):
    def __getattr__(self, name):
        if name == "prctl":
            raise AttributeError("dlsym(RTLD_DEFAULT, prctl): symbol not found")
        return super().__getattr__(name)

packages = importlib.metadata.packages_distributions
def without_those_for_linux():
    return {top: of for top, of in packages().items() if top != "pyseccomp"}

sys.platform, ctypes.CDLL = "darwin", CDLL
platform.python_version = lambda: "%d.%d.99" % sys.version_info[:2]
importlib.metadata.packages_distributions = without_those_for_linux
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The corpus graded: its cases, their results, and where.

    What a limit of time ends is graded in a second run, into a folder beside.
    """
    base = tmp_path_factory.mktemp("corpus")
    folder, endless, out = base / "in", base / "endless", base / "out"
    folder.mkdir()
    endless.mkdir()
    listening = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    name = f"\0labs-corpus-{os.getpid()}"
    abstract.bind(name)
    abstract.listen()
    # In a process without TensorFlow, as `labs grade` is: it forks for each page.
    grader = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    probe = REPOSITORY / "helpers/lab_02/ex3_fit/probe.py"
    with (
        pytest.MonkeyPatch.context() as patch, grader, listening, abstract,
        open(probe) as locked,
    ):  # fmt: skip
        fcntl.flock(locked, fcntl.LOCK_EX)
        patch.setenv("LABS_SECRET", "LABS_SECRET")
        pid, port = grader.submit(os.getpid).result(), listening.getsockname()[1]
        world = World(folder, out, REPOSITORY, port, name, pid)
        cases = corpus.write(folder, world, out_of_time=False)
        out_of_time = corpus.write(endless, world, out_of_time=True)
        (folder / os.fsdecode(b"nobody\xff.ipynb")).write_bytes(corpus.notebook())
        (folder / "ada_03_time_to_accuracy.ipynb").write_bytes(b"")
        results = [
            result
            for given, into, limits in (
                (folder, out, SMALL), (endless, base / "endless-out", SOON),
            )
            for result in grader.submit(
                grade, given, [LAB], into, seed="corpus", limits=limits
            ).result()
        ]  # fmt: skip
    by_file = {(r["file_name"], r["lab"]): r for r in results}
    return cases | out_of_time, by_file, out


ANYWHERE = World(Path("/in"), Path("/out"), REPOSITORY, 1, "\0x", 1)
STUDENTS = [
    pytest.param(kind, name, id=f"{kind}-{number}" if kind == "names" else f"{kind}-{name}")
    for kind, make in corpus.KINDS.items()
    for number, name in enumerate(make(ANYWHERE))
]


def test_grading_stays_in_one_worker(request):
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    assert alone or request.node.nodeid.endswith("@grading")


@needs_box
@pytest.mark.parametrize(("kind", "name"), STUDENTS)
def test_each_submission_of_the_corpus_gets_its_expected_result(graded, kind, name):
    cases, results, out = graded
    student = name if kind == "names" else f"{kind}-{name}"
    case = cases[student]
    file = file_name(shown_name(student))
    result = results[file, LAB.name]
    verdicts = result["exercises"]
    passed = tuple(number for number, verdict in verdicts.items() if verdict["passed"])
    reason = result["problem"] or verdicts["2.3"]["reason"]
    assert result["status"] == case.status, result["problem"]
    assert passed == case.passed, {n: v["reason"] for n, v in verdicts.items()}
    assert re.search(case.says, f"{reason} {verdicts['2.3']['reaction']}"), reason
    assert all(v["reaction"] for v in verdicts.values() if not v["passed"])
    borrowed = {name for verdict in verdicts.values() for name in verdict["borrowed"]}
    assert borrowed == set(case.borrowed)
    assert any(v.get("changed_check") for v in verdicts.values()) == case.changed
    if case.status == "graded":
        pages = (out.with_name("endless-out") if case.out_of_time else out) / "feedback"
        page = (pages / file / f"{LAB.name}.html").read_text()
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
        "feedback", "results", "grades.csv", "grades.json", "overview.html",
        "marking.html", "similar.html", "seed.txt", ".lock",
    }  # fmt: skip


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def in_time(cases, results):
    """Those of the first run, whose tables and pages these tests read."""
    apart = {student for student, case in cases.items() if case.out_of_time}
    return [r for r in results.values() if r["student"] not in apart]


@needs_box
def test_no_cell_of_the_table_is_a_formula_and_every_submission_has_one_row(graded):
    cases, results, out = graded
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    exercises_of = ["2.1", "2.2", "2.3", "2.figure"]
    head = ["student", "lab", *exercises_of, "total", "of", "status", *feedback.ABOUT]
    assert rows[0] == head
    assert {row[7] for row in rows[1:]} == {str(sum(e.points for e in todo_cells(LAB)))}
    mine = in_time(cases, results)
    open_ones = {r["student"] for r in mine if r["status"] != "graded"}
    assert {row[0] for row in rows[1:] if row[6] == ""} >= set(
        map(class_files.harmless, open_ones)
    )
    assert len(rows) == len(mine) + 1
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t\r")]
    stored = json.loads((out / "grades.json").read_text())
    assert len(stored["results"]) == len(mine)
    # A notebook of a lab that was not to be graded is nobody's mistake.
    assert [name for name, _ in stored["unassigned"]] == [r"nobody\xff.ipynb"]


def _as_written(page):
    """A page's text as our sentences have it: with code between backticks."""
    return html.unescape(page).replace("<code>", "`").replace("</code>", "`")


@needs_box
def test_the_pages_teach_and_give_no_solution_away(graded):
    cases, results, out = graded
    page = (out / "feedback" / "unusual-start_code" / f"{LAB.name}.html").read_text()
    text = _as_written(page)
    verdict = results["unusual-start_code", LAB.name]["exercises"]["2.3"]
    for part_of_it in (
        verdict["reason"],
        verdict["reaction"],
        "return 0.0, 1.0",
        "it found",
    ):
        assert part_of_it in text
    assert "np.polyfit" not in text
    overview = _as_written((out / "overview.html").read_text())
    marked = marks.marked(in_time(cases, results), {LAB.name: ()}, class_files.ClassFiles())
    for row in item_statistics.by_exercise(marked, [LAB]):
        assert f"{row['passed']} of {row['graded']}" in overview
        for mistake in row["mistakes"][:1]:
            assert f"{mistake['count']} × {mistake['reaction']}" in overview
    assert "Isolation was off" not in overview
    for source in (page, overview):
        assert '<html lang="en">' in source
        assert source.count("<h1>") == 1
        levels = [int(level) for level in re.findall(r"<h(\d)", source)]
        assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
        assert "<th>" not in source, "every heading of a table says what it heads"


# Lab 06 is graded in `make test`, too, because its answers need several devices.
TRAINED = {number.partition(".")[0].zfill(2) for number in TRAINED_ONCE} - {"06"}


@needs_box
@pytest.mark.parametrize(
    "labs",
    [[lab for lab in all_labs() if lab.number not in TRAINED],
     pytest.param([lab for lab in all_labs() if lab.number in TRAINED],
                  marks=pytest.mark.weekly)],
    ids=["quick", "trained"],
)  # fmt: skip
def test_every_lab_is_graded_by_its_own_checks(tmp_path, labs):
    asked = [("solved", lab) for lab in labs]
    # With TensorFlow, with several devices, and with workers of their own.
    asked += [("start", lab) for lab in labs if lab.number in ("02", "05", "09")]
    for student, lab in asked:
        made = dict(zip(("start", "solved"), generate(lab), strict=True))[student]
        path = tmp_path / "in" / student / f"{lab.name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nbformat.writes(made), encoding="utf-8")
    found = grade(tmp_path / "in", all_labs(), tmp_path / "out", seed="every lab")
    results = [result for result in found if result["status"] == "graded"]
    assert len(results) == len(asked)
    for result in results:
        for number, verdict in result["exercises"].items():
            right = result["student"] == "solved"
            assert verdict["passed"] == right, (number, verdict["reason"])
            assert right or verdict["mistake"] not in ("undefined", "form", "ended", "time")
    # Now the replies say what takes long to read.
    judged = []
    for result in [one for one in results if one["student"] == "solved"]:
        path = tmp_path / "in" / "solved" / f"{result['lab']}.ipynb"
        code, _ = code_of(notebook_of(path.read_bytes()), find_lab(result["lab"]))
        judged += [
            functools.partial(judge_tiring_replies, result, number, code)
            for number in result["exercises"]
        ]
    assert all(exercise_pool.run_all(judged, JUDGE_CPU_SECONDS, os.cpu_count()))


JUDGE_CPU_SECONDS = 30  # for all texts at all places of one exercise's reply


def judge_tiring_replies(result, number, code):
    """Put each tiring text at each place of a right reply that has a text."""
    verdict, record = result["exercises"][number], find_exercise(number)
    job = {"lab": result["lab"], "exercise": number, "code": code}
    rng = examine.questions_rng(job, b"every lab", result["student"])
    for _ in range(examine.questions_of(number)):
        question = record.draw_question(rng)
        rng.getrandbits(64)  # the nonce
    asked = json.loads(json.dumps(question))
    assert verdict["question"].items() <= asked.items(), "the judge reads its own question"
    for place in places(verdict["observation"]):
        for text in corpus.TIRING.values():
            said = json.dumps(replaced(verdict["observation"], place, text))
            reply = conversation.parse_strictly(said.encode())
            with contextlib.suppress(Exception):
                record.verdict(record.judge(json.loads(json.dumps(question)), reply))
    return True


@pytest.mark.parametrize("text", corpus.TIRING.values(), ids=corpus.TIRING)
def test_a_page_that_shows_a_tiring_text_everywhere_is_written_in_its_time(text, tmp_path):
    common = {"limits": (), "seed": "s", "boxed": False, "full": False, "hide": []}
    nothing = Submission("ada", LAB, None, "no notebook")
    result = result_of(grader._task(nothing, grader.NOTHING, common | {"modules": []}), {})
    said = json.dumps({"printed": [[text] * 9, text], text: text})
    for verdict in result["exercises"].values():
        verdict |= {
            "code": examine.plain_text(text, len(text)),
            "reason": examine.plain_text(text, 500),
            "question": {"cases": [text, {"x": text}]},
            "observation": conversation.parse_strictly(said.encode()),
        }
    feedback.write([result | {"status": "graded"}], [LAB], [], tmp_path)
    page = (tmp_path / feedback.feedback_path(result)).read_text()
    # Without them the page took longer than PAGE_CPU_SECONDS.
    assert page.count("and what your code did") == len(result["exercises"])
    assert len(page) < 10 * len(html.escape(text)) + 10**5


def test_what_an_instructor_must_decide_is_in_the_status_of_the_overview(tmp_path):
    common = {"limits": (), "seed": "s", "boxed": True, "full": False, "hide": []}
    task = grader._task(
        Submission("ada", LAB, None, ""), grader.NOTHING, common | {"modules": []}
    )
    result = result_of(task, {}) | {"status": "graded"}
    passed = {"passed": True, "points": 2}
    result["exercises"]["2.1"] |= passed | {"borrowed": ["PrintThroughput"]}
    result["exercises"]["2.2"] |= passed | {"changed_check": True}
    result["exercises"]["2.3"] |= {"borrowed": ["helpers.lab_02.reference.*"]}
    feedback.write([result], [LAB], [], tmp_path)
    with open(tmp_path / "grades.csv", newline="") as file:
        [row] = csv.DictReader(file)
    assert row["status"] == "graded; borrowed 2.1, 2.3; changed the check of 2.2"
    overview = (tmp_path / "overview.html").read_text()
    assert f'<span class="state open">{row["status"]}</span>' in overview
    needs = overview.partition("<h2>Needs you</h2>")[2].partition("<h2>The labs</h2>")[0]
    assert row["status"].partition("; ")[2] in needs
    page = (tmp_path / feedback.feedback_path(result)).read_text()
    assert page.count("our own solution: <code>PrintThroughput</code>.") == 1
    assert page.count("imports all of <code>helpers.lab_02.reference</code>") == 1
    assert "*" not in page.partition("</style>")[2]
    # A notebook as it was handed out, and one with an answer in words.
    for exercise in todo_cells(LAB):
        result["exercises"][exercise.number] |= {
            "code": exercise.start, "borrowed": [], "changed_check": [],
        }  # fmt: skip
    for texts, colour, status in (
        ({}, "open", "graded; unchanged: the notebook as it was handed out"),
        ({"2.figure": "A law."}, "graded", "graded"),
    ):
        feedback.write([result | {"about": {"texts": texts}}], [LAB], [], tmp_path)
        overview = (tmp_path / "overview.html").read_text()
        assert f'<span class="state {colour}">{status}</span>' in overview
        assert "1 × left as it was handed out" in overview
        assert ("decide whether their points count" in overview) == (colour == "open")
        page = (tmp_path / feedback.feedback_path(result)).read_text()
        assert ("you have handed in the wrong file" in page) == (colour == "open")
    # Once it is decided, nobody has to look at it.
    own, out = ClassFiles(overrides=(Override("ada", "02", 0, "No.", 2),)), tmp_path / "out"
    feedback.write([result | {"about": {"texts": {}}}], [LAB], [], out, own)
    assert "decide whether their points" not in (out / "overview.html").read_text()


def test_exercise_that_nobody_could_judge_has_no_points_and_needs_you(tmp_path):
    common = {"limits": (), "seed": "s", "boxed": True, "full": False, "hide": []}
    nothing = Submission("ada", LAB, None, "")
    task = grader._task(nothing, grader.NOTHING, common | {"modules": []})
    result = result_of(task, {}) | {"status": "graded"}
    key = conversation.STARVED
    result["exercises"]["2.3"] |= {
        "mistake": key,
        "reaction": find_exercise("2.3").reaction(key, ""),
    }
    [to_look_at] = feedback.write([result], [LAB], [], tmp_path)
    assert "1 submission is open: look under" in to_look_at
    overview = (tmp_path / "overview.html").read_text()
    busy = "this machine was too busy to judge 2.3: run <code>labs grade</code> again"
    assert busy in overview
    assert "2.2 ✗, 2.3 not judged" in re.sub("<[^>]+>", "", overview)
    page = (tmp_path / feedback.feedback_path(result)).read_text()
    assert page.count("Not judged yet: the machine that grades was too busy.") == 1
    with open(tmp_path / "grades.csv", newline="") as file:
        [row] = csv.DictReader(file)
    assert (row["2.2"], row["2.3"], row["total"]) == ("0", "", "")


def places(value, place=()):
    """Where texts are: the names on the way, whatever the position in a list."""
    if isinstance(value, str):
        return {place}
    parts = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        parts = [("", one) for one in value]
    return set().union(*(places(one, (*place, name)) for name, one in parts))


def replaced(value, place, text):
    if isinstance(value, str) and not place:
        return text
    if isinstance(value, list) and place[:1] == ("",):
        return [replaced(one, place[1:], text) for one in value]
    if isinstance(value, dict) and place:
        first, *rest = place
        return {k: replaced(v, rest, text) if k == first else v for k, v in value.items()}
    return value


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a Dask cluster with TLS, whose worker imports TensorFlow once.

    Its user has a file in the cache of data sets.
    """
    from distributed import LocalCluster, Security

    cache = tmp_path_factory.mktemp("cache")
    (cache / "scaling-labs" / "mnist").mkdir(parents=True)
    (cache / "scaling-labs" / "mnist" / "mnist.npz").write_text("of the grader")
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(cache)
    security = Security.temporary()
    configuration = {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
        "distributed.comm.tls.client.key": security.tls_client_key,
    }
    with dask.config.set(configuration), LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit=None,
        security=security,
    ) as running:  # fmt: skip
        os.environ.pop("XDG_CACHE_HOME")
        os.environ |= {"XDG_CACHE_HOME": before} if before else {}
        yield running.scheduler_address


def write_class(folder, students, content=None):
    for student in students:
        (folder / student).mkdir(parents=True)
        path = folder / student / f"{LAB.name}.ipynb"
        path.write_bytes(content or corpus.notebook())


def passed(results):
    return {
        r["student"]: [n for n, v in r["exercises"].items() if v["passed"]] for r in results
    }


@needs_box
def test_the_same_submission_and_seed_give_the_same_questions(tmp_path, cluster):
    write_class(tmp_path / "in", ["ada", "bob"])

    def questions(seed, out):
        results = grade(
            tmp_path / "in", [LAB], tmp_path / out, seed=seed, scheduler=cluster
        )
        assert set(map(tuple, passed(results).values())) == {("2.2", "2.3")}
        return [r["exercises"]["2.3"]["question"] for r in results]

    first = questions("a", "1")
    assert first == questions("a", "2")
    assert first[0] != first[1], "each student gets questions of their own"
    assert first != questions("b", "3")
    changed = corpus.notebook({"2.2": corpus.CELLS["2.2"] + "\n# once more"})
    (tmp_path / "in" / "ada" / f"{LAB.name}.ipynb").write_bytes(changed)
    [again, same] = questions("a", "1")
    assert again != first[0], "what feedback showed is not asked again"
    assert same == first[1]
    assert (tmp_path / "1" / "seed.txt").stat().st_mode & 0o077 == 0


def labs_grade(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "kit.cli", "grade", *map(str, arguments)],
        cwd=REPOSITORY, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


@needs_box
@pytest.mark.parametrize("number", only({signal.SIGKILL}, [signal.SIGINT, signal.SIGKILL]))
def test_interrupted_grading_resumes_grades_nobody_twice_and_leaves_no_process(
    tmp_path, number
):
    # So slow that it is seen before all are graded; and without 2.2, which would cost more.
    slow = corpus.notebook({"2.3": corpus.fit("import time; time.sleep(1)")}, ("2.3",))
    students = [f"student{n}" for n in range(4)]
    write_class(tmp_path / "in", students, slow)
    out = tmp_path / "out"
    command = (tmp_path / "in", "--lab", "02", "--out", out, "--jobs", "1")

    def stored():
        return {p: p.stat().st_mtime_ns for p in (out / "results").glob("*/*.json")}

    # A shell lets its background jobs ignore Ctrl-C, and a test run may be one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    running = labs_grade(*command, start_new_session=True)
    while len(stored()) < 2:
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.1)
    family = psutil.Process(running.pid).children(recursive=True)
    assert len(family) >= 3, "a worker, TensorFlow's process, and a box"
    # A program that connects to a port of the grader may run code as the grader.
    assert not [
        port for one in [psutil.Process(running.pid), *family] for port in _ports(one)
    ]
    # As the terminal does it, to the whole group; and as the system does it, to one.
    if number == signal.SIGINT:
        os.killpg(running.pid, number)
    else:
        os.kill(running.pid, number)
    _, errors = running.communicate(timeout=200)
    if number == signal.SIGINT:
        assert running.returncode == 130, errors
        assert "labs: interrupted" in errors
        assert "Traceback" not in errors
    _, alive = psutil.wait_procs(family, timeout=120)
    assert not alive
    before = stored()
    assert 2 <= len(before) < len(students)
    again = labs_grade(*command)
    said, errors = again.communicate(timeout=600)
    assert again.returncode == 0, errors
    assert f"{len(before)} of {len(students)} were graded before" in said
    after = stored()
    assert len(after) == len(students)
    assert all(after[path] == before[path] for path in before)


def _ports(process):
    try:
        return process.net_connections("inet")
    except psutil.Error:  # it has ended
        return []


def test_a_worker_that_is_killed_costs_its_own_task_only():
    tasks = ["1 + 1", "__import__('os')._exit(9)", "1 / 0", "2 + 2", "3 + 3"]
    done = dict(workers.on_this_machine(eval, tasks, 2))
    assert [done.pop(index) for index in (0, 3, 4)] == [2, 4, 6]
    assert isinstance(done.pop(1), workers.DiedError)
    assert "ZeroDivisionError" in str(done.pop(2))
    assert not done


def test_somebody_watches_what_runs_and_since_when():
    """A work of two functions, one of which ends at once."""
    work = "(([lambda: 1, lambda: __import__('time').sleep(1.5)], 5) for _ in '1')"
    seen = []
    began = time.monotonic()
    done = workers.on_this_machine(
        eval, ["1", work], 1, watch=lambda r: seen.append(r | {})
    )
    assert dict(done) == {0: 1, 1: None}
    [(key, since)] = seen[-2].items()  # after the last one, all have ended
    assert key == (1, 1)
    assert since >= began


def test_the_answer_that_keeps_grading_waiting_is_named():
    exercises = [(number, "", 2, "f", "") for number in ("2.1", "2.2", "2.3")]
    tasks = [
        {"student": who, "exercises": exercises, "code": [("2.1", ""), ("2.3", "")]}
        for who in ("ada", "bob")
    ]
    now = time.monotonic()
    assert slowest(tasks, {}) == slowest(tasks, {(0, 0): now}) == ""
    assert slowest(tasks, {(0, 0): now, (1, 1): now - 44}) == "bob 2.3: 44 s"


def test_tasks_and_results_longer_than_a_pipe_holds_come_through():
    tasks = [repr(str(n) * 10**6) for n in range(7)]
    done = dict(workers.on_this_machine(eval, tasks, 2))
    assert done == {n: str(n) * 10**6 for n in range(7)}


def test_a_work_that_waits_keeps_no_other_one_waiting_and_one_that_fails_ends_alone():
    reads, writes = os.pipe()

    def work(*functions):
        return (yield functions, 5)

    with exercise_pool.Crew(3) as crew:
        crew.take("waits", work(lambda: os.read(reads, 1)))
        crew.take("fails", work(lambda: time.sleep(99), lambda: 1 / 0))
        crew.take("is waited for", work(lambda: os.write(writes, b"x")))
        ended = {}
        while len(ended) < 3:
            ended |= crew.wait()[1]
    assert ended.pop("waits") == [b"x"]
    assert ended.pop("is waited for") == [1]
    assert "ZeroDivisionError" in str(ended.pop("fails"))


def test_a_cluster_without_tls_is_refused():
    with pytest.raises(LabError, match="without TLS"):
        workers.tls("tcp://127.0.0.1:8786")
    no_certificate = dask.config.set({"distributed.comm.tls.client.cert": None})
    with no_certificate, pytest.raises(LabError, match="without TLS"):
        workers.tls("tls://127.0.0.1:8786")


def test_a_worker_that_has_a_judge_imported_forks_from_one_thread():
    task = (
        "[__import__('helpers.lab_02.ex3_fit.judge'), "
        "__import__('os').listdir('/proc/self/task')]"
    )
    [(_, said)] = workers.on_this_machine(eval, [f"len({task}[1])"], 1)
    assert said == 1


def test_an_exercise_that_takes_too_long_is_ended_alone():
    functions = [lambda: 1, lambda: sum(iter(int, 1)), lambda: 3]
    assert exercise_pool.run_all(functions, 1, 2) == [1, None, 3]
    with pytest.raises(exercise_pool.FailedError, match="ZeroDivisionError"):
        exercise_pool.run_all([lambda: 1 / 0], 1, 1)
    *results, failed = exercise_pool.run_each([*functions, lambda: 1 / 0], 1, 2)
    assert results == [1, None, 3]
    assert "ZeroDivisionError" in str(failed)


@needs_box
def test_only_a_new_submission_is_graded_again(tmp_path, capsys, cluster):
    write_class(tmp_path / "in", ["ada", "bob", "eve"])
    grade(tmp_path / "in", [LAB], tmp_path / "out", scheduler=cluster)
    path = tmp_path / "in" / "ada" / f"{LAB.name}.ipynb"
    path.write_bytes(corpus.notebook(order=("2.3",)))
    (tmp_path / "in" / "bob" / f"{LAB.name}.ipynb").touch()
    results = grade(tmp_path / "in", [LAB], tmp_path / "out", scheduler=cluster)
    assert "2 of 3 were graded before" in capsys.readouterr().out
    assert passed(results) == {"ada": ["2.3"], "bob": ["2.2", "2.3"], "eve": ["2.2", "2.3"]}


def test_a_worker_that_died_is_named_and_not_stored(tmp_path, monkeypatch):
    def work(tasks, jobs, scheduler):
        yield from (
            (stored, grader._not_graded(task, OSError("killed"))) for task, stored in tasks
        )

    write_class(tmp_path / "in", ["ada"])
    monkeypatch.setattr(grader, "_work", work)
    [result] = grade(tmp_path / "in", [LAB], tmp_path / "out", boxed=False)
    assert result["status"] == "not graded"
    assert "killed" in (tmp_path / "out" / "grades.csv").read_text()
    assert not list((tmp_path / "out" / "results").glob("*/*.json"))


def test_without_a_sandbox_the_report_says_so(tmp_path):
    write_class(tmp_path / "in", ["ada", "bob"])
    (tmp_path / "in" / "bob" / f"{LAB.name}.ipynb").write_bytes(
        corpus.notebook({"2.3": corpus.fit("return 1, 1")})
    )
    running = labs_grade(
        tmp_path / "in", "--lab", "2", "--out", tmp_path / "out", "--no-sandbox",
    )  # fmt: skip
    said, errors = running.communicate(timeout=600)
    assert running.returncode == 0, errors
    assert "Isolation was off" in said
    results = json.loads((tmp_path / "out" / "grades.json").read_text())["results"]
    assert passed(results) == {"ada": ["2.2", "2.3"], "bob": ["2.2"]}
    assert "Isolation was off" in (tmp_path / "out" / "overview.html").read_text()
    assert "isolation was off" in (tmp_path / "out" / "grades.csv").read_text()


@pytest.fixture
def boxless(tmp_path):
    """An environment in which no box can be made."""
    bwrap = tmp_path / "bin" / "bwrap"
    bwrap.parent.mkdir()
    bwrap.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create namespace' >&2\nexit 1\n"
    )
    bwrap.chmod(0o755)
    return os.environ | {"PATH": f"{bwrap.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("reason", "above"),
    [("it raised KeyError: 3", True), ("its `A` is of type str, not a function", False)],
)
def test_the_feedback_speaks_of_pythons_error_only_where_there_is_one(reason, above):
    said = one_submission._reaction("2.1", "raised", reason)
    assert said.startswith("Read Python's error above. ") == above
    assert said


def test_where_no_box_can_be_made_it_stops_in_one_line(tmp_path, boxless):
    write_class(tmp_path / "in", ["ada"])
    running = labs_grade(tmp_path / "in", "--out", tmp_path / "out", env=boxless)
    said, errors = running.communicate(timeout=200)
    assert (running.returncode, said) == (1, "")
    assert len(errors.splitlines()) == 1
    assert "No permissions" in errors
    assert "--no-sandbox" in errors
    assert not (tmp_path / "out").exists()


@needs_box
def test_what_was_graded_elsewhere_needs_no_box_to_put_marks_in(tmp_path, boxless):
    """On a laptop without bubblewrap, from a copy of the folder of grades."""
    write_class(tmp_path / "in", ["ada", "bob"])
    ada = tmp_path / "in" / "ada" / f"{LAB.name}.ipynb"
    first = labs_grade(tmp_path / "in", "--lab", "2", "--out", tmp_path / "first")
    assert first.communicate(timeout=600) and first.returncode == 0
    out = shutil.copytree(tmp_path / "first", tmp_path / "out")
    (out / "overrides.csv").write_text(
        "student,exercise,points,comment\nada,02,5,By hand\n"
    )
    running = labs_grade(tmp_path / "in", "--lab", "2", "--out", out, env=boxless)
    assert running.communicate(timeout=200) and running.returncode == 0
    ada_row = next(csv.DictReader((out / "grades.csv").open()))
    assert (ada_row["student"], ada_row["total"]) == ("ada", "5")
    # A new submission has to run.
    ada.write_bytes(corpus.notebook(order=("2.3",)))
    running = labs_grade(tmp_path / "in", "--lab", "2", "--out", out, env=boxless)
    _, errors = running.communicate(timeout=200)
    assert running.returncode == 1
    assert errors.splitlines()[-1].endswith(
        "1 submission has to run: ada 02. 1 earlier result is out of date, because the "
        "submission, the kit, Python or a package has changed."
    )


@needs_box
def test_what_linux_has_graded_keeps_its_points_on_macos(tmp_path):
    write_class(tmp_path / "in", ["ada"])
    (tmp_path / "sitecustomize.py").write_text(AS_ON_MACOS)
    out, as_on_macos = tmp_path / "out", os.environ | {"PYTHONPATH": str(tmp_path)}
    rows = []
    for env in (None, as_on_macos):
        running = labs_grade(tmp_path / "in", "--lab", "2", "--out", out, env=env)
        said, errors = running.communicate(timeout=600)
        assert running.returncode == 0, errors
        rows.append(next(csv.DictReader((out / "grades.csv").open())))
    assert "1 of 1 were graded before" in said
    assert rows[0] == rows[1]
    assert rows[0]["status"] == "graded"
    shutil.rmtree(out)
    running = labs_grade(tmp_path / "in", "--lab", "2", "--out", out, env=as_on_macos)
    assert "there is no bubblewrap for darwin" in running.communicate(timeout=200)[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["/nowhere"], "give the folder that has the submissions"),
        (["tests/submissions"], "holds no notebooks"),
        (["tests", "--lab", "77"], "there is no lab '77'"),
        (["notebooks", "--out", "notebooks"], "must not be"),
    ],
)
def test_a_mistake_in_grading_is_one_line(arguments, says, tmp_path):
    running = labs_grade("--out", tmp_path, *arguments)
    _, errors = running.communicate(timeout=200)
    assert running.returncode == 1
    assert says in errors
    assert len(errors.splitlines()) == 1


@needs_box
def test_a_whole_notebook_is_executed_and_kept(tmp_path, cluster):
    """Of lab 00, which starts processes of its own; and with the grader's data sets."""
    lab = find_lab("00")
    [answer] = [c for c in generate(lab)[1].cells if c.source.startswith("# Solution 0.3")]
    sources = [
        answer.source,
        "from helpers.checks import check\ncrossover = check('0.3', crossover)",
        "import os; print(os.listdir('/tmp/work'), 'LABS_SECRET' in os.environ)",
        "from helpers.lab_00 import one_thread\n"
        "print(len(one_thread.time_products([16, 32], 2, threads=1)), 'timed')",
        "from helpers.data.places import user_cache\n"
        "path = user_cache() / 'mnist' / 'mnist.npz'\n"
        "print('data', path.read_text())\n(path.parent / 'part').write_text('')",
        "path.write_text('changed')",
        "import fcntl, helpers.files\nwith open(helpers.files.__file__) as file:\n"
        "    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "print('locked nothing')",
        "import subprocess\nsubprocess.run(['true'], process_group=0)\n"
        "try:\n    subprocess.run(['true'], start_new_session=True)\n"
        "except PermissionError:\n    print('no new session')",
        "print('went on')",
    ]
    cells = [corpus.code(source, id=f"b{n}") for n, source in enumerate(sources)]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "in" / "ada" / f"{lab.name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document))
    with open(REPOSITORY / "helpers" / "files.py") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        [result] = grade(
            tmp_path / "in", [lab], tmp_path / "out", scheduler=cluster, full=True
        )
    executed = (tmp_path / "out" / "executed" / "ada" / path.name).read_text()
    assert result["full_run"] == "executed, 1 cell with errors", executed
    for seen in (
        "[] False", "2 timed", "data of the grader", "Read-only", "locked nothing",
        "no new session", "went on",
    ):  # fmt: skip
        assert seen in executed, seen


OWN_SIZE_MIB = 61  # tells these boxes from those of another run
OPENS_BOXES = f"""
from kit.grading.box import sandbox
print("go", flush=True)
while True:
    with sandbox.open_box(sandbox.Limits(disk_mib={OWN_SIZE_MIB})):
        pass
"""


@needs_box
def test_a_grader_killed_while_it_opens_a_box_leaves_none_half_open():
    for number in range(25):
        grading = subprocess.Popen(
            [sys.executable, "-c", OPENS_BOXES], cwd=REPOSITORY, stdout=subprocess.PIPE
        )
        assert grading.stdout.readline() == b"go\n"
        time.sleep(number / 500)
        grading.kill()
        grading.communicate()
    until = time.monotonic() + 60
    while left := [one for one in psutil.process_iter() if _is_own_box(one)]:
        assert time.monotonic() < until, left
        time.sleep(0.1)


def _is_own_box(process):
    try:
        own = str(OWN_SIZE_MIB * sandbox.MIB) in process.cmdline()
        return own and process.name() == "bwrap"
    except psutil.Error:  # it has ended, or is a zombie
        return False


def test_a_box_that_prints_all_the_time_is_weighed_by_the_clock():
    output, end = os.pipe()
    ours, theirs = socket.socketpair()
    stop, weighed = threading.Event(), []

    def print_all_the_time():
        while not stop.wait(0.01):
            os.write(end, b".")

    def pids():
        weighed.append(time.perf_counter())
        return []

    box = conversation.Box(ours, output, sandbox.Limits(), time.perf_counter() + 60, pids)
    printing = threading.Thread(target=print_all_the_time)
    printing.start()
    box._look(None, 15 * conversation.LOOK_SECONDS)
    stop.set()
    printing.join()
    for descriptor in (ours.detach(), theirs.detach(), output, end):
        os.close(descriptor)
    assert len(weighed) >= 5  # once is at the very end


def test_the_kernels_memory_for_many_mapped_areas_counts():
    """Untouched memory, of which each second page has other permissions."""
    script = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
begin = libc.mmap(None, 60_000 * 4096, 0, 0x4022, -1, 0)
print("ready", flush=True)
input()
assert not any(libc.mprotect(begin + 4096 * i, 4096, 1) for i in range(0, 60_000, 2))
print("ready", flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as bomb:
        weights = []
        for _ in range(2):
            bomb.stdout.readline()
            exact_and_rough = (0, 2**20)
            weights.append([processes.memory_mib([bomb.pid], n) for n in exact_and_rough])
            bomb.stdin.write(b"\n")
            bomb.stdin.flush()
        assert all(after - before > 10 for before, after in zip(*weights, strict=True))


@pytest.fixture(scope="module")
def fork_server():
    _, server = processes._fork_server(())
    yield server
    server.kill()
    server.wait()
    processes._fork_server.cache_clear()


@needs_box
def test_box_ends_in_time_even_if_its_worker_does_nothing(fork_server):
    ours, theirs = socket.socketpair()
    with (
        ours, theirs, open(os.devnull, "w") as output,
        sandbox.open_box(sandbox.Limits()) as box,
    ):  # fmt: skip
        processes.fork((), ours, [theirs.fileno(), output.fileno(), box.pidfd], 1)
        ended, _, _ = select.select([box.pidfd], [], [], 60)
        assert ended


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no autogroup")
def test_session_of_a_box_gets_a_smaller_share_of_the_processors():
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as sleeping:
        share, until = Path(f"/proc/{sleeping.pid}/autogroup"), time.monotonic() + 30
        while f"nice {processes.SHARE}\n" not in share.read_text():
            assert time.monotonic() < until
            processes.let_others_first([sleeping.pid])  # the kernel may say: not so often
        sleeping.kill()


@needs_box
def test_the_process_that_is_forked_shares_nothing_that_can_be_written(fork_server):
    server = fork_server
    proc = Path("/proc", str(server.pid))
    assert len(list((proc / "task").iterdir())) == 1, "a fork copies one thread only"
    for line in (proc / "maps").read_text().splitlines():
        mode = line.split()[1]
        assert "w" not in mode or mode.endswith("p"), line
    assert "LABS_" not in (proc / "environ").read_text().replace("LABS_SCALE", "")
    opened = {str((proc / "fd" / fd.name).readlink()) for fd in (proc / "fd").iterdir()}
    assert all(name == "/dev/null" or name.startswith("socket:") for name in opened)


# It sleeps until the test has seen its box; then it needs some processor time.
BUSY_LIMITS = sandbox.Limits(wall_seconds=10, disk_mib=OWN_SIZE_MIB)
WORKS = f"""# TODO 2.3: x
import time
time.sleep(1.5)
while time.process_time() < 1.2:
    pass
{corpus.CELLS["2.3"]}
"""
GRADES_ON_A_BUSY_MACHINE = f"""
import sys
from pathlib import Path
from kit.grading.box import sandbox
from kit.grading.grade import grade
from kit.labs import find_lab
given, out = map(Path, sys.argv[1:])
grade(given, [find_lab("02")], out, jobs=1, limits=sandbox.{BUSY_LIMITS!r})
"""


@pytest.fixture
def busy():
    """Call it to make a core busy, with sessions as other people's work has them."""
    hogs = []

    def start(core):
        for _ in range(10):
            command = [sys.executable, "-S", "-c", "while True: pass"]
            hogs.append(subprocess.Popen(command, start_new_session=True))
            psutil.Process(hogs[-1].pid).cpu_affinity([core])

    def end():
        while hogs:
            hog = hogs.pop()
            hog.kill()
            hog.wait()

    yield start, end
    end()


@pytest.mark.weekly
@needs_box
def test_answer_that_a_busy_machine_kept_from_running_is_asked_again(tmp_path, busy):
    start, end = busy
    write_class(tmp_path / "in", ["ada"], corpus.notebook({"2.3": WORKS}, ("2.3",)))
    grading = subprocess.Popen(
        [sys.executable, "-u", "-c", GRADES_ON_A_BUSY_MACHINE, tmp_path / "in",
         tmp_path / "out"],
        cwd=REPOSITORY, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    family, core = psutil.Process(grading.pid), min(os.sched_getaffinity(0))
    family.cpu_affinity([core])  # the others are for the other tests
    while not any(_is_own_box(one) for one in family.children(recursive=True)):
        assert grading.poll() is None
        time.sleep(0.05)
    start(core)
    assert "too busy for 1 exercise:" in grading.stdout.readline()
    end()
    grading.communicate(timeout=300)
    [result] = json.loads((tmp_path / "out" / "grades.json").read_text())["results"]
    verdict = result["exercises"]["2.3"]
    assert verdict["passed"], verdict["reason"]


@needs_box
def test_a_cell_that_python_cannot_read_is_not_blamed_for_what_it_returned(tmp_path):
    unread = "# TODO 2.3: x\ndef fit_throughput(:"
    write_class(tmp_path / "in", ["ada"], corpus.notebook({"2.3": unread}, ("2.3",)))
    labs_grade(tmp_path / "in", "--lab", "02", "--out", tmp_path / "out").communicate()
    [result] = json.loads((tmp_path / "out" / "grades.json").read_text())["results"]
    verdict = result["exercises"]["2.3"]
    assert verdict["reason"].startswith("the cell raised SyntaxError (line 2): ")
    assert "<unknown>" not in verdict["reason"]
    assert "none of it ran" in verdict["reaction"]
    assert not verdict["requirement"], "it broke none of them"
    assert verdict["question"] is None


def test_an_answer_with_another_name_is_asked_for_its_name(tmp_path):
    cells = {
        "2.2": "# TODO 2.2: x\ndef sweeps(measure, sizes):\n    return {}",
        "2.3": "# TODO 2.3: x\nfit_throughput = None",
    }
    write_class(tmp_path / "in", ["ada"], corpus.notebook(cells))
    labs_grade(tmp_path / "in", "--lab", "02", "--out", tmp_path / "out").communicate()
    [result] = json.loads((tmp_path / "out" / "grades.json").read_text())["results"]
    for number, reason in (
        ("2.2", "does not define `"),
        ("2.3", "`fit_throughput` is None"),
    ):
        verdict = result["exercises"][number]
        assert reason in verdict["reason"]
        assert verdict["reaction"].startswith("What must the function or class be called?")
        assert not verdict["requirement"], "it broke none of them"
        assert verdict["question"] is None


def test_a_borrowed_solution_that_no_box_has_is_named_to_the_student(tmp_path):
    cells = {
        "2.2": "# TODO 2.2: x\nfrom helpers.lab_02.reference import sweep",
        "2.3": "# TODO 2.3: x\ntry:\n    from helpers.lab_02 import reference\n"
        "except ImportError:\n    reference = None\n"
        "def fit_throughput(points):\n    return 0, 1",
    }
    write_class(tmp_path / "in", ["ada"], corpus.notebook(cells))
    labs_grade(tmp_path / "in", "--lab", "02", "--out", tmp_path / "out").communicate()
    [result] = json.loads((tmp_path / "out" / "grades.json").read_text())["results"]
    for number in cells:
        verdict = result["exercises"][number]
        assert not verdict["passed"]
        assert verdict["borrowed"] == ["helpers.lab_02.reference"], number
    asked = result["exercises"]["2.2"]["reaction"]
    assert asked.endswith("without an import of our own solution?")
    page = (tmp_path / "out" / "feedback" / "ada" / f"{LAB.name}.html").read_text()
    named = "imports our own solution, <code>helpers.lab_02.reference</code>, which is not"
    assert page.count(named) == 2


def test_the_hand_out_is_not_graded_as_a_class(tmp_path):
    for name in ("notebooks", "helpers", "kit"):
        (tmp_path / "course" / name).mkdir(parents=True)
    refused = labs_grade(tmp_path / "course", "--lab", "02", "--out", tmp_path / "out")
    _, errors = refused.communicate()
    assert refused.returncode == 1
    assert "is a copy of the course: give the folder that has" in errors
    assert not (tmp_path / "out").exists()
