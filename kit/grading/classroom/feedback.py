"""Write grades up: CSV and JSON for a gradebook, HTML for students and the instructor."""

import contextlib
import functools
import html
import operator
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from helpers.exercise import find_exercise
from helpers.files import write_atomically
from helpers.plain_json import write_json
from kit import look
from kit.grading.classroom import item_statistics, marks
from kit.grading.classroom.class_files import ClassFiles, as_csv, read_class_files
from kit.grading.classroom.given_for import Given, Key, outdated
from kit.grading.classroom.in_words import Plot, in_words
from kit.grading.classroom.marking import link as marking_link
from kit.grading.classroom.marking.rubric import read_rubric, with_points
from kit.grading.classroom.similar import similar
from kit.grading.contracts import Marked, Result
from kit.labs import Lab, all_labs, find_lab, title_and_question
from kit.parallel import exercise_pool
from kit.todo_cells import points_of, todo_cells, unchanged, written
from kit.version import kit_version

PAGES = Path(__file__).parent / "pages"
PAGE_CPU_SECONDS = 10
MOST_FILES = 5  # that belong to no student, in the terminal
_version = functools.cache(kit_version)
ABOUT = ("late", "penalty", "name", "id", "submitted", "file_date", "sha256", "kit")


def read_files(out: Path) -> ClassFiles:
    """The instructor's own files in a folder of grades: see `class_files`."""
    return read_class_files(out, all_points(), find_lab)


def all_points() -> dict[str, int]:
    """The points of everything that the course asks, by number."""
    return functools.reduce(operator.or_, map(points_of, all_labs()))


def write(
    results: list[Result],
    labs: list[Lab],
    unassigned: list[tuple[str, str]],
    out: Path,
    class_files: ClassFiles | None = None,
    given: Mapping[Key, Given] | None = None,
) -> list[str]:
    """Write the grades, the instructor's pages and the students' pages.

    Parameters
    ----------
    results : list of dict
        As `kit.grading.one_submission.grade_one` makes them, with what `about` says.
    labs : list of kit.labs.Lab
    unassigned : list of (name, problem)
        Files that belong to no student.
    out : Path
    class_files : kit.grading.classroom.class_files.ClassFiles, optional

    Returns
    -------
    list of str
        What the instructor has to look at, for the terminal.
    """
    class_files = class_files or ClassFiles()
    results = [{"about": {}} | result for result in results]
    texts = {lab.name: written(lab) for lab in labs}
    old = outdated(out, results, class_files, given)
    marked = marks.marked(results, texts, class_files, old)
    write_atomically(out / "grades.csv", grades_csv(marked, labs))
    public = [
        {k: v for k, v in result.items() if k not in ("key", "seconds")}
        | {"person": result["person"] and result["person"]._asdict()}
        for result in marked
    ]
    document = {"kit": _version(), "results": public, "unassigned": unassigned}
    document["decisions"] = dict(class_files.digests)
    write_json(out / "grades.json", document, indent=None, default=datetime.isoformat)
    # Loaded here, once, and not in each process below.
    _template("feedback.html.j2")
    for result in marked:
        _titles(result)
    # With a limit and each by itself: they show what submissions said.
    rubric = read_rubric(out)
    pages = [functools.partial(_write_page, out, result, rubric) for result in marked]
    done = exercise_pool.run_each(pages, PAGE_CPU_SECONDS, os.cpu_count() or 1)
    problems = []
    for result, is_written in zip(marked, done, strict=True):
        if is_written is not True:
            nothing = {"question": None, "observation": None}
            short = {n: verdict | nothing for n, verdict in result["exercises"].items()}
            with _isolated(out / feedback_path(result), problems):
                _write_page(out, result | {"exercises": short}, rubric)
    strangers = [*marks.strangers(marked, class_files), *problems]
    needs = sum(bool(result["needs"]) for result in marked)
    alike = []
    with _isolated(out / "similar.html", strangers):
        alike = similar(marked, labs)
        page = _template("similar.html.j2").render(rows=alike, version=_version())
        write_atomically(out / "similar.html", page)
    with _isolated(out / "overview.html", strangers):
        _write_overview(marked, labs, unassigned, out, needs, strangers, alike)
    are_open = "submission is" if needs == 1 else "submissions are"
    where = "open: look under “Needs you” in overview.html"
    counted = [f"{needs} {are_open} {where}"] if needs else []
    changed = marks.lines_of_outdated(marked)
    return [*strangers, *_in_short(unassigned), *changed, *counted]


def _in_short(unassigned):
    """The first files that belong to no student, for the terminal."""
    lines = [f"not graded: {file}: {problem}" for file, problem in unassigned[:MOST_FILES]]
    more = len(unassigned) - MOST_FILES
    return lines + [f"not graded: {more} more, at the end of overview.html"] * (more > 0)


@contextlib.contextmanager
def _isolated(page, problems):
    """If a page cannot be written, report it, and leave no older one in its place."""
    try:
        yield
    except Exception as error:
        with contextlib.suppress(OSError):
            page.unlink()
        problems.append(
            f"{page} could not be written ({type(error).__name__}: {str(error)[:200]}); "
            "all others were"
        )


def _write_overview(marked, labs, unassigned, out, needs, strangers, alike):
    script = (PAGES / "table.js").read_text(encoding="utf-8")
    overview = _template("overview.html.j2").render(
        script=script,
        script_hash=look.content_hash(script),
        version=_version(),
        results=sorted(marked, key=lambda result: result["total"] is not None),
        needs=needs,
        to_look_at=[
            result
            for result in marked
            if noticed(result) and not (result["is_given"] or result["excused"])
        ],
        strangers=strangers,
        rows=item_statistics.by_exercise(marked, labs),
        labs=item_statistics.by_lab(marked, labs),
        texts=item_statistics.by_text(marked),
        out=shlex.quote(str(out)),
        unassigned=unassigned,
        same=_same_files(marked),
        alike=sum(len(row["groups"]) for row in alike),
        isolated=all(result["isolated"] for result in marked),
    )
    write_atomically(out / "overview.html", overview)
    if not (out / marking_link.NAME).exists():  # else `labs mark` is running
        marking_link.write(out)


def _same_files(marked):
    """For each student and lab, whose file is the same to the last byte.

    A notebook without an answer is as handed out, for everybody.
    """
    owners = defaultdict(list)
    for result in marked:
        texts = [text["text"] for text in result["texts"]]
        if any([*texts, *(one["passed"] for one in result["exercises"].values())]):
            owners[result["lab"], result["about"].get("sha256")].append(result["student"])
    return {
        (student, lab): [one for one in students if one != student]
        for (lab, digest), students in owners.items()
        for student in students
        if digest and len(students) > 1
    }


def _write_page(out, result, rubric):
    heading = title_and_question(find_lab(result["lab"]))[0]
    exercises = {n: v for n, v in result["exercises"].items() if _says_something(v, result)}
    tables = {
        number: in_words(number, verdict["question"], verdict["observation"])
        for number, verdict in exercises.items()
    }
    # An empty answer has a row, too, as soon as the total counts its 0 points.
    texts = [
        text | {"comment": with_points(text, rubric)}
        for text in result["texts"]
        if text["text"] or text["comment"] or (text["counted"] and not result["is_given"])
    ]
    page = _template("feedback.html.j2").render(
        result=result,
        exercises=exercises,
        texts=texts,
        heading=heading,
        titles=_titles(result),
        tables=tables,
        version=_version(),
    )
    write_atomically(out / feedback_path(result), page)
    return True


def _says_something(verdict, result):
    """Without points of its own, an exercise that was not begun says nothing."""
    begun = verdict["code"] and verdict.get("mistake") != "start"
    own = verdict["overridden"] or verdict["comment"]
    return bool(begun or own or not result["is_given"])


def _titles(result):
    return {number: find_exercise(number).title for number in result["exercises"]}


@functools.cache
def _template(name):
    templates = look.environment(PAGES)
    templates.filters |= {"points": points, "code": with_code, "borrowed": borrowed}
    templates.tests["plot"] = lambda value: isinstance(value, Plot)
    own = {
        "feedback_path": feedback_path,
        "state": state,
        "noticed": noticed,
        "is_unchanged": _is_unchanged,
        "came": came,
        "left_out": marks.left_out,
        "failing_row": failing_row,
    }
    templates.globals |= own  # ty: ignore[unsupported-operator] - jinja2 has no type
    return templates.get_template(name)


def with_code(text: str) -> str:
    """A text of ours as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def borrowed(names: list[str]) -> str:
    """Sentences, as HTML, on what an answer takes from the course material."""
    named = [f"<code>{html.escape(n)}</code>" for n in names if not n.endswith(".*")]
    missing = [name for name in named if name.endswith(".reference</code>")]
    named = [name for name in named if name not in missing]
    whole = [f"<code>{html.escape(n[:-2])}</code>" for n in names if n.endswith(".*")]
    return " ".join([
        *([f"This answer uses our own solution: {', '.join(named)}."] if named else []),
        *([f"This answer imports our own solution, {', '.join(missing)}, which is not "
           "there when you are graded."] if missing else []),
        *([f"This notebook imports all of {' and of '.join(whole)}, which is course "
           "material, and this answer may use a name from there."] if whole else []),
    ])  # fmt: skip


def failing_row(reason: str, row: str = "set") -> str:
    """The number of the row that a reason is about; empty where it names none."""
    found = re.search(rf"\b{row} (\d+) of ", reason)
    return found[1] if found else ""


def feedback_path(result: Marked) -> Path:
    """Where a student's page is, relative to the out folder."""
    return Path("feedback") / result["file_name"] / f"{result['lab']}.html"


def grades_csv(marked: list[Marked], labs: list[Lab]) -> str:
    """One row for each student and lab; a cell that nobody has decided on is empty."""
    numbers = [e.number for lab in labs for e in (*todo_cells(lab), *written(lab))]
    columns = ["student", "lab", *numbers, "total", "of", "status", *ABOUT]
    table = []
    for result in marked:
        own = {number: v["points"] for number, v in result["exercises"].items()}
        own |= {text["number"]: text["points"] for text in result["texts"]}
        person, about = result["person"], result["about"]
        table.append(
            [
                result["student"],
                result["lab"],
                *(points(own.get(number)) for number in numbers),
                points(result["total"]),
                points(result["of"]),
                status(result),
                result["late"]["words"],
                points(result["penalty"]),
                person.name if person else "",
                person.id if person else "",
                came(result),
                about.get("file_date", ""),
                about.get("sha256", ""),
                _version(),
            ]
        )
    return as_csv(columns, table)


def points(value: float | None) -> str:
    """Points without superfluous zeros; None is an empty text."""
    return "" if value is None else f"{marks.to_cents(value):.2f}".rstrip("0").rstrip(".")


def came(result: Marked) -> str:
    """When a submission came, as far as the roster knows."""
    person = result["person"]
    return person.submitted.isoformat(" ", "minutes") if person and person.submitted else ""


def status(result: Marked) -> str:
    """In words: graded or why not, and what an instructor has to look at."""
    problem = result["problem"]
    return "; ".join(
        [
            result["status"] + (f": {problem}" if problem else ""),
            *(["excused"] if result["excused"] else []),
            *(need for need in result["needs"] if need != problem),
            *noticed(result),
            *([] if result["isolated"] else ["isolation was off"]),
        ]
    )


def noticed(result: Marked) -> list[str]:
    """Decisions that an instructor has to make about answers, although they have points."""
    verdicts = result["exercises"].items()
    borrowed = [n for n, verdict in verdicts if verdict["borrowed"]]
    changed = [n for n, verdict in verdicts if verdict.get("changed_check")]
    return [
        *(
            ["unchanged: the notebook as it was handed out"]
            if _is_unchanged(result)
            else []
        ),
        *([f"borrowed {', '.join(borrowed)}"] if borrowed else []),
        *([f"changed the check of {', '.join(changed)}"] if changed else []),
    ]


def _is_unchanged(result):
    """Whether nothing was answered, neither in code nor in words."""
    codes = {number: verdict["code"] for number, verdict in result["exercises"].items()}
    is_written = any(text["text"] for text in result["texts"])
    return len(unchanged(find_lab(result["lab"]), codes)) == len(codes) and not is_written


def state(result: Marked) -> str:
    """The word for a submission's colour."""
    if result["status"] != "graded":
        return "missing" if result["status"] == "missing" else "unreadable"
    if result["needs"] or noticed(result):
        return "open"
    return "late" if result["late"]["words"] else "graded"
