"""Write grades up: CSV and JSON for a gradebook, HTML for students and the instructor."""

import csv
import functools
import io
import json
import os
from collections import Counter
from pathlib import Path

import jinja2

from helpers.checks.exercise import exercise_record
from helpers.files import write_atomically
from kit.exercises import exercises
from kit.grading import bounded
from kit.labs import find_lab, title_and_question

PAGE_CPU_SECONDS = 10
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
    numbers = [exercise.number for lab in labs for exercise in exercises(lab)]
    write_atomically(out / "grades.csv", as_csv(results, numbers))
    public = [
        {k: v for k, v in result.items() if k not in ("key", "seconds")}
        for result in results
    ]
    document = {"results": public, "unassigned": unassigned}
    write_atomically(out / "grades.json", json.dumps(document, indent=1) + "\n")
    graded = [result for result in results if result["status"] == "graded"]
    # One at a time and with a limit: they show what submissions said.
    pages = [functools.partial(_write_page, out, result) for result in graded]
    done = bounded.run_all(pages, PAGE_CPU_SECONDS, os.cpu_count())
    for result, is_written in zip(graded, done, strict=True):
        if not is_written:
            nothing = {"question": None, "observation": None}
            short = {n: verdict | nothing for n, verdict in result["exercises"].items()}
            _write_page(out, result | {"exercises": short})
    overview = _template("overview.html.j2").render(
        results=results,
        rows=distribution(results, labs),
        unassigned=unassigned,
        feedback_path=feedback_path,
        isolated=all(result["isolated"] for result in results),
    )
    write_atomically(out / "overview.html", overview)


def _write_page(out, result):
    titles = {number: exercise_record(number).title for number in result["exercises"]}
    heading = title_and_question(find_lab(result["lab"]))[0]
    page = _template("feedback.html.j2").render(
        result=result, heading=heading, titles=titles
    )
    write_atomically(out / feedback_path(result), page)
    return True


def _template(name):
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    templates.filters["shown"] = shown
    return templates.get_template(name)


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
    text = _lines(value, 0).encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " ..."


def _lines(value, depth):
    """As `json.dumps(indent=1)`, but a list of numbers and texts is one line."""
    if isinstance(value, dict) and value:
        parts = [f"{_lines(k, depth)}: {_lines(v, depth + 1)}" for k, v in value.items()]
    elif isinstance(value, list) and any(isinstance(one, (list, dict)) for one in value):
        parts = [_lines(one, depth + 1) for one in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    first, last = "{}" if isinstance(value, dict) else "[]"
    new_line = "\n" + " " * depth
    return f"{first}{new_line} " + f",{new_line} ".join(parts) + f"{new_line}{last}"
