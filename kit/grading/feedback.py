"""Write grades up: CSV and JSON for a gradebook, HTML for students and the instructor."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import jinja2

from helpers.checks.exercise import exercise_record
from helpers.files import write_atomically
from kit.exercises import exercises
from kit.labs import title_and_question

LONGEST_SHOWN = 1500  # characters of a question or a reply


def write(results, labs, unassigned, out):
    """Write grades.csv, grades.json, overview.html and the students' pages.

    Parameters
    ----------
    results : list of dict
        As `kit.grading.grade.grade_one` makes them.
    labs : list of kit.labs.Lab
    unassigned : list of (name, problem)
        Files that belong to no student.
    out : Path
    """
    by_name = {lab.name: lab for lab in labs}
    numbers = [exercise.number for lab in labs for exercise in exercises(lab)]
    write_atomically(out / "grades.csv", as_csv(results, numbers))
    public = [
        {k: v for k, v in result.items() if k not in ("key", "seconds")}
        for result in results
    ]
    document = {"results": public, "unassigned": unassigned}
    write_atomically(out / "grades.json", json.dumps(document, indent=1) + "\n")
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    templates.filters["shown"] = shown
    page = templates.get_template("feedback.html.j2")
    for result in results:
        if result["status"] != "graded":
            continue
        lab = by_name[result["lab"]]
        heading = title_and_question(lab)[0]
        titles = {e.number: exercise_record(e.number).title for e in exercises(lab)}
        html = page.render(result=result, heading=heading, titles=titles)
        write_atomically(out / feedback_path(result), html)
    overview = templates.get_template("overview.html.j2").render(
        results=results,
        rows=distribution(results, labs),
        unassigned=unassigned,
        feedback_path=feedback_path,
        isolated=all(result["isolated"] for result in results),
    )
    write_atomically(out / "overview.html", overview)


def feedback_path(result):
    """Where a student's page is, relative to the out folder."""
    return Path("feedback") / result["file_name"] / f"{result['lab']}.html"


def as_csv(results, numbers):
    """One row for each student and lab."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["student", "lab", *numbers, "total", "of", "status"])
    for result in results:
        points = {n: verdict["points"] for n, verdict in result["exercises"].items()}
        table.writerow(
            [
                harmless(result["student"]),
                result["lab"],
                *(points.get(number, "") for number in numbers),
                result["total"],
                result["of"],
                harmless(status(result)),
            ]
        )
    return text.getvalue()


def harmless(text):
    """Keep a spreadsheet from reading a text as a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def status(result):
    """In words: graded or why not, and what an instructor has to look at."""
    borrowed = [n for n, verdict in result["exercises"].items() if verdict["borrowed"]]
    return "; ".join(
        [
            result["status"] + (f": {result['problem']}" if result["problem"] else ""),
            *([f"borrowed {', '.join(borrowed)}"] if borrowed else []),
            *([] if result["isolated"] else ["isolation was off"]),
        ]
    )


def distribution(results, labs):
    """For each exercise how many passed, and the hints that the others got."""
    rows = []
    for lab in labs:
        for exercise in exercises(lab):
            verdicts = [
                result["exercises"][exercise.number]
                for result in results
                if result["lab"] == lab.name and result["status"] == "graded"
            ]
            failed = Counter(v["hint"] for v in verdicts if not v["passed"])
            rows.append(
                {
                    "number": exercise.number,
                    "title": exercise_record(exercise.number).title,
                    "passed": sum(verdict["passed"] for verdict in verdicts),
                    "graded": len(verdicts),
                    "hints": failed.most_common(5),
                }
            )
    return rows


def shown(value):
    """Format a question or a reply for a reader: indented, no longer than a screen."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    # A list of numbers on one line.
    text = _joined(text)
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " ..."


def _joined(text):
    return re.sub(r"\[\s*([^\[\]{}]*?)\s*\]", lambda m: f"[{' '.join(m[1].split())}]", text)
