"""One page of each kind that the kit writes, from stored runs: for people to look at."""

import itertools
import json
import os
import shutil
from pathlib import Path

from rich.console import Console

from helpers.files import REPOSITORY, WORK
from helpers.plain_json import write_json
from helpers.speed_record import rule
from helpers.speed_record.source_rules import source_problems
from helpers.speed_record.splits import code_hash
from kit import look
from kit.grading.classroom import feedback
from kit.grading.classroom.marking import server as marking_server
from kit.headless.report import write_report
from kit.headless.sweep import write_sweep
from kit.jupyter import certificate, jupyter_server, start_page
from kit.labs import Lab, all_labs
from kit.leaderboard.box_run import Outcome
from kit.leaderboard.header import Header, header
from kit.leaderboard.judge import Settings, decide
from kit.leaderboard.machine import this_machine
from kit.leaderboard.page import write_page
from kit.leaderboard.store import Store
from kit.pool.pool import pool
from kit.todo_cells import todo_cells

# Of a lab and of a student: the pages of the others look the same.
SHOWN_LAB, SHOWN_STUDENT = "02_throughput", "Émile-van-den-Broek"
BATCH_SIZES, SEEDS = (32, 128, 512), (0, 1, 2)
ANSWER = (
    "The fixed cost of a step is shared by more images, until the arithmetic units are "
    "busy all the time. Beyond that point a larger batch only takes longer."
)


def write_sample_pages(folder: Path, site: Path) -> dict[str, Path]:
    """Write the pages into a folder.

    The runs are those that are stored with the solutions. The class, the repeats of the
    sweep and the points are made up: they show the form of a page, and measure nothing.

    Parameters
    ----------
    folder : Path
        A new one.
    site : Path
        What `make site` has built. Without it the pages of the site are left out.

    Returns
    -------
    dict of str to Path
        The files to open, by the name of the page.
    """
    report = _report(folder / "report")
    grades = _grades(folder / "grades")
    lab_page = Path("run", f"{SHOWN_LAB}.html")
    of_the_site = {
        "site, first page": "docs/index.html",
        "site, a lab": f"solutions/{SHOWN_LAB}.html",
        "site, glossary": "docs/glossary.html",
        "site, an unsolved lab": f"notebooks/{SHOWN_LAB}.html",
    }
    pages = {
        "start page": _start_page(folder / "start.html"),
        "certificate": folder / certificate.FILE,
        "report": report,
        "report, a lab": report.parent / lab_page,
        "sweep": _sweep(folder / "sweep"),
        "pooled class": _pool(folder / "class"),
        "leaderboard": leaderboard(folder / "leaderboard"),
        "grading, overview": grades / "overview.html",
        "grading, feedback": next(grades.glob(f"feedback/*/{SHOWN_LAB}.html")),
        "grading, similar answers": grades / "similar.html",
        "grading, marking": grades / "mark.html",
        **{name: site / path for name, path in of_the_site.items()},
    }
    return {name: path for name, path in pages.items() if path.is_file()}


def _card(lab):
    """A stored card is what figures are about; checks and times are made up."""
    passed = {"passed": True, "reason": ""}
    return json.loads(lab.stored_card.read_text(encoding="utf-8")) | {
        "owner": {"pid": 1}, "run": "run", "solution": True, "finished": True,
        "started_unix_seconds": 1_767_322_800.0, "wall_seconds": 1800.0,
        "checks": {exercise.number: passed for exercise in todo_cells(lab)},
        "hints": {}, "quiz": {},
    }  # fmt: skip


def _start_page(path):
    """With the stored runs as a student's own; the certificate is beside it."""
    runs = path.with_name("runs")
    for place, lab in enumerate(all_labs()[:3]):
        card_file = runs / lab.name / f"20260102T03040{place}-000.json"
        write_json(card_file, _card(lab) | {"solution": False})
    before = os.environ.get("LABS_RUNS_DIR")
    os.environ["LABS_RUNS_DIR"] = str(runs)
    try:
        html = look.render(
            jupyter_server.PAGE,
            page=start_page.page(f"lab/tree/{WORK.name}/"),
            docs="lab/tree/docs/",
        )
        path.with_name(certificate.FILE).write_text(certificate.page(), encoding="utf-8")
    finally:
        del os.environ["LABS_RUNS_DIR"]
        if before is not None:
            os.environ["LABS_RUNS_DIR"] = before
    path.write_text(html, encoding="utf-8")
    return path


def _report(folder):
    (folder / "run").mkdir(parents=True)
    results = []
    for lab in all_labs():
        shutil.copy(lab.solution, folder / "run")
        card = _card(lab)
        results.append(
            {"lab": lab, "given": {"seed": 1}, "card": card, "seconds": 61.0, "error": None}
        )
    results[-1] |= {"given": {}, "error": "ValueError in a cell: a sample of a failed lab"}
    return write_report(results, folder, "run")


def _sweep(folder):
    lab = Lab(SHOWN_LAB)
    card = _card(lab)
    known = []
    for size, seed in itertools.product(BATCH_SIZES, SEEDS):
        changed = {
            name: value * (1 + seed / 50 + size / 1000)
            for name, value in card["measurements"].items()
            if isinstance(value, float)
        }
        given = {"batch_size": size, "seed": seed}
        ran = card | {
            "measurements": card["measurements"] | changed,
            "parameters": card["parameters"] | given,
        }
        known.append((given, {"card": ran, "seconds": 60.0, "error": None}, "key"))
    known[-1][1]["error"] = "the kernel died: a sample of a failed run"
    folder.mkdir()
    write_sweep(folder, lab, list(given), known, Console(quiet=True))
    return folder / "index.html"


def _pool(folder):
    """With the stored runs as those of each student, one of whom adds a file of notes."""
    for place, student in enumerate(("ada", SHOWN_STUDENT, "cyd")):
        for lab in all_labs():
            own = {"solution": False, "wall_seconds": 60.0 + place}
            own["parameters"] = _card(lab)["parameters"] | {"student": place}
            write_json(folder / student / f"{lab.name}.json", _card(lab) | own)
    (folder / "ada" / "notes.txt").write_text("Ask about the first epoch.", "utf-8")
    return pool([folder], folder.with_name("pooled")).page


def leaderboard(folder: Path) -> Path:
    """The page of the entries that the kit ships, with made-up seconds and accuracies."""
    settings = Settings("laptop")
    files = sorted((REPOSITORY / "docs" / "leaderboard" / "entries").glob("*.py"))
    with Store(folder / "board.sqlite") as store:
        for place, file in enumerate(files, start=1):
            code = file.read_text(encoding="utf-8")
            about = header(code)._asdict()
            number = store.begin(code, settings._asdict(), about, this_machine())
            _log_runs(store, number, code_hash(code), 200.0 * place)
            result = decide(store.entry(number)).result
            store.decide(number, "record", "The first entry of its board.", result)
        code = "import requests"
        number = store.begin(code, settings._asdict(), Header()._asdict(), this_machine())
        store.decide(number, "refused", source_problems(code)[0], {})
        return write_page(store, folder)


def _log_runs(store, number, code, seconds):
    seeds = [("judged", place) for place in range(rule.SEEDS)]
    for kind, place in [*seeds, ("held out", 0), ("public", 0)]:
        outcome = Outcome(
            0.934 + place / 5000, seconds, 0.95 * seconds, 0.05 * seconds, 1.9 * seconds
        )
        rest = {"seed": place, "code": code, "load": 0.5, "busy": False, "repeats": 0}
        loads = {"before": 20.0, "after": 20.1 + place / 50}
        store.log(number, kind, place, outcome._asdict() | rest | loads)


def _grades(folder):
    lab = Lab(SHOWN_LAB)
    verdicts = {
        "ada": (True, "graded", ""),
        SHOWN_STUDENT: (False, "graded", ""),
        "cyd": (False, "not graded", "no notebook was handed in"),
    }
    results = [_result(student, lab, *verdict) for student, verdict in verdicts.items()]
    feedback.write(results, [lab], [("notes.txt", "not a notebook")], folder)
    collected = [
        {
            "student": student, "name": "", "number": "2.1", "of": 2, "text": ANSWER,
            "question": "Why does the rate level off?", "figure": {},
        }
        for student in verdicts
    ]  # fmt: skip
    form = {"points-0": "3", "comment-0": "Which units?"}
    problems: dict[int | str, str] = {0: "give 0 to 2 points"}
    html = marking_server.page(collected, [], form, problems, is_saved=True)
    (folder / "mark.html").write_text(html, encoding="utf-8")
    return folder


def _result(student, lab, passed, status, problem):
    verdict = {
        "passed": passed, "points": 2 * passed, "of": 2,
        "reason": "" if passed else "it printed nothing at the end of an epoch",
        "reaction": "" if passed else "Which method does Keras call after an epoch?",
        "borrowed": [] if passed else ["PrintThroughput"],
        "code": "class PrintThroughput(keras.callbacks.Callback):\n" + 5 * "    pass\n",
        "question": {"sizes": [1, 2]}, "observation": {"printed": ["x" * 200]},
    }  # fmt: skip
    exercises = {exercise.number: verdict for exercise in todo_cells(lab)}
    return {
        "student": student, "file_name": student, "lab": lab.name, "status": status,
        "problem": problem, "total": 2 * passed * len(exercises),
        "of": 2 * len(exercises), "isolated": True, "exercises": exercises,
    }  # fmt: skip
