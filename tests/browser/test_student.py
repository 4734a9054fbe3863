"""A student's way through the course in JupyterLab, in a real browser."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from helpers.files import REPOSITORY
from helpers.run_card.documents import latest_cards
from helpers.texts import read_texts
from kit.labs import find_lab
from kit.todo_cells import todo_cells
from tests.browser import student
from tests.browser.accessibility import violations

SCREENSHOTS = REPOSITORY / "reports" / "screenshots"
HURRY = {
    "epochs: int = 5 ": "epochs: int = 2 ",
    "[8, 16, 32, 64, 128, 256, 512, 700]": "[8, 32, 128]",
}


def test_a_student_solves_lab_02(course, lab_server, page):
    lab = find_lab("02")
    # As somebody who is in a hurry; weekly tests run all of it.
    notebook = course / "course" / "work" / lab.notebook.name
    text = notebook.read_text()
    for all_of_it, a_part in HURRY.items():
        assert all_of_it in text
        text = text.replace(all_of_it, a_part)
    notebook.write_text(text)
    numbers = [exercise.number for exercise in todo_cells(lab)]
    student.open_start_page(page, lab_server)
    start = page.get_by_role("heading", level=1)
    expect(start).to_be_visible()
    assert not violations(page)
    student.look(page, start, SCREENSHOTS / "start.png")

    labs = page.get_by_role("listitem").filter(has_text="Lab 02")
    labs.get_by_role("link").click()
    student.wait_for_notebook(page, lab.notebook.name)
    student.watch_progress(page)
    open_lines = [f"✗ {number} not yet: " for number in numbers]
    shown = student.run_and_look(
        page, *open_lines, f"Checks passed: 0 of {len(numbers)}", "Images/sec: "
    )
    student.look(page, shown.get_by_text(open_lines[0]), SCREENSHOTS / "02-not-yet.png")
    assert any(0 < width < 100 for width in student.progress_seen(page))

    student.solve(page, lab, *numbers)
    passed_lines = [f"✓ {number} " for number in numbers]
    everything = "Checks passed: {0} of {0}".format(len(numbers))
    shown = student.run_and_look(page, *passed_lines, everything)
    expect(shown.get_by_text("not yet: ")).to_have_count(0)
    for printed in shown.locator(".jp-OutputArea-output pre").all():
        expect(printed).to_have_css("word-break", "normal")  # words are not cut
    student.look(page, shown.get_by_text(passed_lines[0]), SCREENSHOTS / "02-passed.png")

    dashboard = page.locator(f"{student.PANEL} .labs-dashboard")
    expect(dashboard.get_by_text("Epoch ")).to_be_hidden()  # its summary is printed
    expect(shown.get_by_text(re.compile("^Trained ")).first).to_be_visible()
    expect(dashboard.locator(".progress-bar")).to_have_attribute(
        "style", re.compile(r"width: 100%")
    )
    expect(dashboard.locator(".jupyter-matplotlib canvas").first).to_be_visible()
    student.look(page, dashboard, SCREENSHOTS / "02-dashboard.png")

    answer_the_first_question(page, lab)
    student.look(page, shown.get_by_text(everything), SCREENSHOTS / "02-end.png")


def answer_the_first_question(page, lab):
    """Choose each answer in turn, and read what is said of it."""
    quiz = page.locator(f"{student.PANEL} .labs-quiz")
    for number, choice in enumerate(read_texts(lab.number)["quiz"][0]["choices"]):
        quiz.get_by_role("radio").nth(number).check()
        said = "✓ Right." if choice.get("right") else "✗ Not right."
        expect(quiz.get_by_role("alert").first).to_contain_text(said)
    student.look(page, quiz, SCREENSHOTS / f"{lab.number}-quiz.png")


@pytest.mark.weekly
def test_a_slider_of_lab_01_moves_by_keyboard_and_the_text_tells(
    course, lab_server, page, monkeypatch
):
    lab = find_lab("01")
    student.open_notebook(page, lab_server, lab.notebook.name)
    open_lines = [f"✗ {exercise.number} not yet: " for exercise in todo_cells(lab)]
    nothing = f"Checks passed: 0 of {len(open_lines)}"
    student.run_and_look(page, *open_lines, nothing, "Steps/sec: ")
    monkeypatch.setenv("LABS_RUNS_DIR", str(course / "runs"))
    card = latest_cards()[lab.name]
    assert card["finished"]
    assert card["measurements"]["steps_per_second"] > 0
    assert not any(check["passed"] for check in card["checks"].values())
    controls = page.locator(f"{student.PANEL} .labs-descent").first
    text = controls.locator(".labs-descent-text")
    before = text.inner_text()
    assert before
    cell = page.locator(".jp-Notebook-cell", has=page.locator(".labs-descent")).first
    canvas = cell.locator(".jupyter-matplotlib canvas").first.element_handle()
    picture = canvas.evaluate("canvas => canvas.toDataURL()")
    controls.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(text).not_to_have_text(before)
    page.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before", arg=[canvas, picture]
    )
    student.look(page, controls, SCREENSHOTS / "01-slider.png")
    kept = cell.locator(".labs-kept")
    expect(kept.first).to_have_text(text.inner_text().strip())
    expect(kept.last.locator("img")).to_have_attribute("alt", text.inner_text().strip())


FIGURE = """
from helpers.figures import show_figure, use_figures
from helpers.lab_02.figures import step_times
use_figures()
show_figure(step_times({8: 0.5, 16: 0.7}), "Steps.", "no device")
"""
# Nothing to see on it, as when a picture never arrives.
BLANK = """
from ipympl.backend_nbagg import Canvas, FigureManager
from matplotlib.figure import Figure
canvas = Canvas(Figure())
FigureManager(canvas, 0)
display(canvas)
"""
PASSES, FAILS = "print('✓ 9.1 right')", "print('✗ 9.1 not yet: wrong')"


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ([PASSES, FIGURE], None),
        ([PASSES, FIGURE, "1 / 0"], "cells raised: .*ZeroDivisionError"),
        ([FAILS, FIGURE], "to be visible"),
        ([PASSES, FIGURE, BLANK], "a figure is blank"),
        ([PASSES], "a figure is blank"),
    ],
    ids=["sound", "a cell raises", "a check fails", "a blank canvas", "no figure"],
)
def test_this_would_fail_on_a_broken_notebook(course, lab_server, page, cells, problem):
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(cells=list(map(new_code_cell, cells)), metadata=kernel)
    nbformat.write(notebook, course / "course" / "work" / "broken.ipynb")
    student.open_notebook(page, lab_server, "broken.ipynb")
    if problem is None:
        student.run_and_look(page, "✓ 9.1 ")
        return
    # What will not come is not waited for long.
    page.set_default_timeout(10_000)
    expect.set_options(timeout=30_000)
    try:
        with pytest.raises(AssertionError, match=problem):
            student.run_and_look(page, "✓ 9.1 ")
    finally:
        expect.set_options(timeout=student.EXPECT_MS)
