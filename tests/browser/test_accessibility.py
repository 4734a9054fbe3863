"""The pages that the kit writes pass axe-core without a serious violation."""

import re
import shutil

import nbformat
import pytest

from kit.authoring.pages import sample_pages
from kit.grading.classroom import feedback
from kit.grading.classroom.marking import server as marking_server
from kit.grading.classroom.marking.rubric import Item
from kit.headless.report import write_report
from kit.labs import all_labs, find_lab
from kit.todo_cells import todo_cells
from tests.asked import only
from tests.browser.accessibility import violations

LABS = all_labs()
each_lab = pytest.mark.parametrize(
    "lab", only({find_lab("08")}, LABS), ids=lambda lab: lab.name
)


def report_on(labs, folder):
    """Pages of stored solutions, of which the last failed, and their index."""
    (folder / "run").mkdir()
    for lab in labs:
        shutil.copy(lab.solution, folder / "run")
    errors = [*[None] * (len(labs) - 1), "a cell raised"]
    return write_report(
        [
            {"lab": lab, "given": {"seed": 1}, "card": None, "seconds": 1.0, "error": error}
            for lab, error in zip(labs, errors, strict=True)
        ],
        folder,
        "run",
    ).parent


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """Pages of one who passed, one who did not, and what could not be graded."""
    out = tmp_path_factory.mktemp("grades")
    lab, *_ = LABS
    asked = {"question": {"sizes": [1, 2]}, "observation": {"printed": ["x" * 200]}}
    right = asked | {
        "passed": True,
        "points": 2,
        "reason": "",
        "reaction": "",
        "borrowed": [],
    }
    wrong = asked | {
        "passed": False, "points": 0, "reason": "it printed nothing",
        "reaction": "Who calls it?", "borrowed": ["PrintThroughput"],
    }  # fmt: skip
    results = [
        {
            "student": student, "file_name": student, "lab": lab.name, "status": status,
            "problem": problem, "total": verdict["points"], "of": 2, "isolated": False,
            "exercises": {
                exercise.number: verdict | {"of": 2, "code": "answer = 1\n" + "y" * 200}
                for exercise in todo_cells(lab)
            },
        }
        for student, verdict, status, problem in (
            ("ada", right, "graded", ""),
            ("bob", wrong, "graded", ""),
            ("cyd", wrong, "not graded", "no notebook"),
        )
    ]  # fmt: skip
    feedback.write(results, [lab], [("notes.txt", "is no notebook")], out)
    answer = {"student": "ada", "name": "", "number": "0.figure", "question": "Explain.",
              "of": 2, "text": "It grows.", "group": 0, "members": 2,
              "figure": {}}  # fmt: skip
    form = {"points-0": "3", "comment-0": "Why?"}
    marked = marking_server.page(
        [answer], [], form, {0: "give 0 to 2 points"}, True, [Item("0.figure", 1, "So.")]
    )
    (out / "mark.html").write_text(marked)
    return out


@each_lab
def test_reports_can_be_read_by_everybody(page, lab, tmp_path):
    report = report_on([find_lab("01"), lab], tmp_path)
    for name in ("index", f"run/{lab.name}"):
        page.emulate_media(color_scheme="light")
        page.goto((report / f"{name}.html").as_uri())
        assert not violations(page)
        page.emulate_media(color_scheme="dark")
        assert not violations(page)


@pytest.mark.parametrize(
    "path",
    [
        "overview.html",
        f"feedback/ada/{LABS[0].name}.html",
        f"feedback/bob/{LABS[0].name}.html",
        f"feedback/cyd/{LABS[0].name}.html",
        "similar.html",
        "mark.html",
    ],
    ids=["overview", "right", "wrong", "missing", "similar", "mark"],
)
def test_grades_can_be_read_by_everybody(page, grades, path):
    page.goto((grades / path).as_uri())
    assert not violations(page)
    light = background(page)
    page.emulate_media(color_scheme="dark")
    assert not violations(page)
    assert max(background(page)) < 64 < 192 < min(light)


def test_the_leaderboard_can_be_read_by_everybody(page, tmp_path):
    page.goto(sample_pages.leaderboard(tmp_path / "board").as_uri())
    assert page.locator("section").count() >= 2
    assert not violations(page)
    page.emulate_media(color_scheme="dark")
    assert not violations(page)


def test_a_faint_word_of_a_listing_is_found_among_others_of_its_kind(page):
    word = '<span class="k" style="color: {}">word</span> '
    head = '<html lang="en"><title>A listing</title>'
    listing = head + '<main><pre class="highlight">{}</pre></main>'
    page.set_content(listing.format(100 * word.format("black")))
    assert not violations(page)
    page.set_content(listing.format(99 * word.format("black") + word.format("#ddd")))
    [found] = violations(page)
    assert found.startswith("color-contrast: ")


def background(page):
    """Red, green and blue behind the page's text, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return [int(part) for part in re.findall(r"\d+", colour)]


@each_lab
def test_a_report_has_the_text_of_every_figure(page, lab, tmp_path):
    page.goto((report_on([lab], tmp_path) / "run" / f"{lab.name}.html").as_uri())
    cells = nbformat.read(lab.solution, as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    diagrams = sum(text.count("![") for text in texts)
    drawn = sum(
        "<img " in output.get("data", {}).get("text/html", "")
        for cell in cells
        for output in cell.get("outputs", ())
    )
    described = page.locator("img[alt]:not([alt=''])")
    assert described.count() == page.locator("img").count() == diagrams + drawn


def test_axe_finds_what_is_wrong(page):
    pale = "<p style='color: #aaa'>pale</p>"
    page.set_content(f"<title>x</title><main><img>{pale}<details>{pale}</details></main>")
    found = {violation.partition(":")[0] for violation in violations(page)}
    assert found == {"color-contrast", "html-has-lang", "image-alt"}
