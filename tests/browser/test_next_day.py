"""A student stops a training, comes back the next day, and meets no dead widget."""

import inspect
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from helpers.exercise import find_exercise
from helpers.files import REPOSITORY, WORK
from helpers.texts import read_texts
from kit.grading.submissions import about, notebook_of
from kit.labs import find_lab
from tests.browser import student
from tests.browser.accessibility import violations

SCREENSHOTS = REPOSITORY / "reports" / "screenshots"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
CELLS = [
    """import os, keras, numpy
from callbacks import TrainingDashboard
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import image_grid, show_figure, use_figures
from helpers.lab_02.figures import step_times
from helpers.notebook import messages, session
from helpers.run_card.documents import open_card
from types import SimpleNamespace
card = open_card("02_throughput", {}, {}, messages.show_prediction)
session._current = SimpleNamespace(card=card)
use_figures()""",
    "# TODO 2.3: fit\ndef fit_throughput(points):\n    return None",
    'fit_throughput = check("2.3", fit_throughput)',
    """card.predict("loss", 2.0)
card.outcome("loss", 1.0)""",
    'show_figure(step_times({8: 0.5, 16: 0.7}), "Steps.", "no device")',
    """images = numpy.zeros((2, 8, 8, 1))
show_figure(image_grid(images, [0, 0], ["a"], 2), "The first two.", "no device")""",
    'quiz("02")',
    "session.finish()",
    """x = numpy.zeros((10, 1), "float32")
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(x, x, epochs=10**6, verbose=0, callbacks=[TrainingDashboard()])""",
    "history.history",
]
INTERRUPT = "() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')"
pytestmark = pytest.mark.weekly
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
CUT = """canvas => canvas.getBoundingClientRect().right >
    canvas.closest(".jp-OutputArea-output").getBoundingClientRect().right + 1"""
THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"


@pytest.fixture
def notebook(course, lab_server, page):
    cells = [new_code_cell(source) for source in CELLS]
    path = course / "course" / "work" / "a_day.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    student.open_notebook(page, lab_server, path.name)
    return path


def test_the_next_day_everything_is_seen_and_nothing_is_dead(
    notebook, lab_server, page, browser
):
    student.start_all(page)
    shown = page.locator(f"{student.PANEL} .jp-OutputArea-output")
    page.get_by_role("button", name="Hint").first.click(timeout=student.RUN_MS)
    hint = find_exercise("2.3").hints[0].strip().splitlines()[0]
    # It is busy: what was clicked comes when the training is stopped.
    dashboard = page.locator(".labs-dashboard")
    expect(dashboard).to_contain_text("Epoch 1", timeout=student.RUN_MS)
    page.evaluate(INTERRUPT)
    expect(shown.get_by_text("Stopped in epoch").first).to_be_visible()
    expect(page.locator(".labs-dashboard")).to_contain_text("Stopped after")
    expect(page.get_by_text("Hint 1 of 3 for 2.3").first).to_be_visible()
    expect(page.get_by_text(hint[:40]).first).to_be_visible()
    quiz = page.locator(f"{student.PANEL} .labs-quiz")
    quiz.get_by_role("radio").nth(1).check()
    expect(quiz.get_by_role("alert").first).to_be_visible()
    cards = page.locator(f"{student.PANEL} .labs-message:not(.labs-message-quiz)")
    expect(cards).to_have_count(4)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        page.evaluate(THEME, theme)
        name = theme.split()[-1].lower()
        student.look(page, cards.nth(0), SCREENSHOTS / f"cards-{name}.png")
        student.look(page, cards.last, SCREENSHOTS / f"end-{name}.png")
        assert not violations(page, [".labs-message"])
    figure = page.locator(f"{student.PANEL} .jupyter-matplotlib canvas").first
    expect(figure).to_have_css("filter", "invert(1) hue-rotate(180deg)")
    photograph = page.locator(f'{student.PANEL} [aria-label^="The first"] canvas').first
    expect(photograph).to_have_css("filter", "none")
    student.look(page, photograph, SCREENSHOTS / "photograph-dark.png")
    student.look(page, figure, SCREENSHOTS / "figure-dark.png")
    assert not figure.evaluate(CUT), "a live figure is as wide as its place, or less"
    page.evaluate(THEME, "JupyterLab Light")
    expect(figure).to_have_css("filter", "none")
    page.wait_for_timeout(1000)
    page.evaluate(SAVE)

    stored = nbformat.read(notebook, as_version=4)
    texts = [str(output) for cell in stored.cells for output in cell.outputs]
    assert not [text for text in texts if "widget-view" in text or "<function" in text]
    # A hint of the button is in no cell's code; an instructor's overview counts it.
    assert about(notebook_of(notebook.read_bytes()), find_lab("02"))["hints"] == ["2.3"]

    again = browser.new_page(viewport={"width": 1280, "height": 1000})
    student.open_notebook(again, lab_server, notebook.name)
    panel = again.locator(student.PANEL)
    expect(panel.get_by_text("(your answer)").first).to_be_visible()
    expect(panel.locator("fieldset").first).to_have_css("border-top-width", "0px")
    expect(panel.get_by_text("Error displaying widget")).to_have_count(0)
    expect(panel.locator("img")).to_have_count(3)
    for picture in panel.locator("img").all():
        expect(picture).to_be_visible()
    expect(panel.get_by_text("Hint 1 of 3 for 2.3").first).to_be_visible()
    student.look(again, panel.locator("img").first, SCREENSHOTS / "next-day.png")
    again.close()
    nothing_is_dead_after_a_restart(page)


def nothing_is_dead_after_a_restart(page):
    """What is kept stands where the kernel's widgets were."""
    widgets = page.locator(f"{student.PANEL} .jupyter-widgets >> visible=true")
    assert widgets.count() > 20
    pictures = page.locator(f"{student.PANEL} .labs-kept img >> visible=true")
    expect(pictures).to_have_count(0)
    page.evaluate(RESTART)
    dead = page.locator(f"{student.PANEL} .jupyter-widgets-disconnected")
    expect(dead).not_to_have_count(0)
    expect(page.locator(f"{student.PANEL} .jupyter-widgets >> visible=true")).to_have_count(
        0
    )
    expect(pictures).to_have_count(3)
    expect(page.get_by_text("(your answer)").first).to_be_visible()
    expect(page.get_by_text("Hint 1 of 3 for 2.3").first).to_be_visible()
    student.look(page, pictures.first, SCREENSHOTS / "restarted.png")


def test_the_start_page_is_current_whenever_it_is_looked_at(
    notebook, course, lab_server, page, browser
):
    start = browser.new_page(viewport={"width": 1280, "height": 720})
    student.open_start_page(start, lab_server)
    lab = find_lab("03")
    cells = [
        "from helpers.run_card.documents import open_card",
        f"card = open_card({lab.name!r}, {{}}, {{}})",
        'card.check("3.1", True)',
    ]
    there = nbformat.read(notebook, as_version=4)
    there.cells = [new_code_cell(cell) for cell in cells]
    path = notebook.with_name("some_cells.ipynb")
    nbformat.write(there, path)
    student.open_notebook(page, lab_server, path.name)
    student.run_all(page)
    expect(start.get_by_role("link", name="Continue: Lab 03, exercise 3.2")).to_be_visible()
    assert not violations(start)
    student.look(start, start.locator("h1"), SCREENSHOTS / "start-light.png")
    start.emulate_media(color_scheme="dark")
    assert not violations(start)
    student.look(start, start.locator("h1"), SCREENSHOTS / "start-dark.png")
    (course / "course" / "work" / lab.notebook.name).rename(
        notebook.with_name("mine.ipynb")
    )
    start.reload()
    with start.expect_popup() as opened:
        start.get_by_role("link", name="Continue: Lab 03, exercise 3.2").click()
    student.wait_for_notebook(opened.value, "mine.ipynb")
    heading = opened.value.get_by_role("heading", name="Exercise 3.2")
    expect(heading).to_be_in_viewport()
    opened.value.close()
    notebook.with_name("mine.ipynb").rename(notebook.with_name(lab.notebook.name))
    start.close()


# What the set-up of a lab does first, without TensorFlow.
FIRST = """from helpers.notebook.notebooks import note_run
from helpers.run_card.documents import open_card
card = open_card("02_throughput", {"renamed": True}, {})
note_run("02_throughput")"""
RUN_LAST = """async () => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = notebook.widgets.length - 1;
    await window.jupyterapp.commands.execute("notebook:run-cell");
}"""
PRINTED_BY = """async code => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({code, store_history: false});
    let text = "";
    future.onIOPub = message => text += message.content.text || "";
    await future.done;
    return text;
}"""
RUN_FIRST = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    panel.content.activeCellIndex = 0;
    await window.jupyterapp.commands.execute("notebook:run-cell");
    await panel.context.save();
}"""
RUN_CHECK = """async () => {
    window.jupyterapp.shell.currentWidget.content.activeCellIndex = 4;
    await window.jupyterapp.commands.execute("notebook:run-cell");
}"""
RENAME = "name => window.jupyterapp.shell.currentWidget.context.rename(name)"
DUPLICATE = """path => window.jupyterapp.serviceManager.contents.copy(path, "work")"""


def labs_in_course(course, *arguments):
    """What the command `labs` says in the copy of the course."""
    folder = course / "course"
    environment = os.environ | {
        "PYTHONPATH": str(folder), "LABS_RUNS_DIR": str(course / "runs"),
        "HOME": str(course / "home"),
    }  # fmt: skip
    command = [sys.executable, "-m", "kit.cli", *arguments]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return " ".join((ended.stdout + ended.stderr).split())


def test_a_renamed_notebook_is_followed_and_its_backup_left_alone(
    course, lab_server, page, browser
):
    lab, work = find_lab("02"), course / "course" / "work"
    changed = nbformat.read(work / lab.notebook.name, as_version=4)
    changed.cells.insert(0, new_code_cell(FIRST))
    nbformat.write(changed, work / lab.notebook.name)
    student.open_notebook(page, lab_server, lab.notebook.name)
    page.evaluate(RUN_FIRST)
    page.evaluate(RENAME, "my throughput.ipynb")
    page.evaluate(DUPLICATE, "work/my throughput.ipynb")
    mine, backup = work / "my throughput.ipynb", work / "my throughput-Copy1.ipynb"
    kept = backup.read_bytes()

    start = browser.new_page(viewport={"width": 1280, "height": 720})
    student.open_start_page(start, lab_server)
    way_on = start.locator(".way-on a")
    expect(way_on).to_have_attribute("href", f"/lab/tree/{WORK.name}/my%20throughput.ipynb")
    assert f"in work/{mine.name}: nothing" in labs_in_course(course, "reset", "2.1")
    assert backup.read_bytes() == kept

    (course / "runs" / lab.name / ".ran_last").unlink()
    start.reload()
    expect(way_on).to_have_count(2)
    expect(
        start.get_by_text(f"exercise 2.1: {backup.name} or {mine.name}?")
    ).to_be_visible()
    before = mine.read_bytes()
    said = labs_in_course(course, "reset", "2.1")
    assert f"several notebooks of lab 02: {backup.name} and {mine.name}. Which one" in said
    assert (backup.read_bytes(), mine.read_bytes()) == (kept, before)

    student.open_notebook(page, lab_server, backup.name)
    page.evaluate(RUN_FIRST)
    start.reload()
    expect(way_on).to_have_attribute(
        "href", f"/lab/tree/{WORK.name}/my%20throughput-Copy1.ipynb"
    )
    start.close()


def solved(exercise):
    """The student's cell with a right answer; the lab's other cells import the rest."""
    code = inspect.getsource(find_exercise(exercise).reference)
    return f"# TODO {exercise}: mine\nimport numpy as np\n{code}"


UNSOLVED = "# TODO 2.3: mine\ndef fit_throughput(points):\n    return None"
CHECK = 'from helpers.checks import check\nfit_throughput = check("2.3", fit_throughput)'
GUESS = 'card.predict("share_of_peak", 0.5)'
QUIZ = "from helpers.coach import quiz\nquiz('02')"


@pytest.fixture
def own_lab(course, lab_server, page):
    """A short notebook of lab 02, with the real first and last cells; nothing is done."""
    shutil.rmtree(course / "runs" / "02_throughput", ignore_errors=True)
    given = nbformat.read(find_lab("02").notebook, as_version=4)
    parameters, setup = [cell for cell in given.cells if cell.cell_type == "code"][:2]
    rest = ["card = lab.card", solved("2.3"), CHECK, GUESS, QUIZ, "session.finish()"]
    cells = [parameters, setup, *map(new_code_cell, rest)]
    path = course / "course" / "work" / "two_days.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    student.open_notebook(page, lab_server, path.name)


USE_THEME = "theme => jupyterapp.commands.execute('apputils:change-theme', {theme})"
# Of a field that was refused, and has the focus: as [red, green, blue].
EDGES = """one => {
    const own = getComputedStyle(one);
    const page = getComputedStyle(one.closest(".jp-Notebook"));
    return [own.borderTopColor, own.outlineColor, page.backgroundColor].map(
        colour => colour.match(/[0-9.]+/g).slice(0, 3).map(Number));
}"""


def luminance(colour):
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [part / 255 for part in colour]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_prediction_can_be_locked_in_a_form(course, lab_server, page):
    shutil.rmtree(course / "runs" / "02_throughput", ignore_errors=True)
    given = nbformat.read(find_lab("02").notebook, as_version=4)
    parameters, setup = [cell for cell in given.cells if cell.cell_type == "code"][:2]
    names = "law_holds_at_48", "share_of_peak"
    asks = [new_code_cell(f'guess = lab.card.predict("{name}", None)') for name in names]
    several = 'lab.card.predict("throughput_over_usual", {8: None, 16: None, 64: None})'
    asks.insert(0, new_code_cell(several))
    path = course / "course" / "work" / "form.ipynb"
    notebook = new_notebook(cells=[parameters, setup, *asks], metadata=KERNEL)
    nbformat.write(notebook, path)
    student.open_notebook(page, lab_server, path.name)
    student.run_all(page)
    panel = page.locator(student.PANEL)
    field = panel.get_by_role("textbox", name="Your prediction")
    field.fill("much")
    lock = panel.get_by_role("button", name="Lock").last
    lock.click()
    reply = panel.get_by_role("alert").last
    expect(reply).to_contain_text("Write one number above 0, such as 0.5")
    expect(field).to_have_attribute("aria-invalid", "true")
    for name in ("aria-describedby", "aria-errormessage"):
        expect(field).to_have_attribute(name, reply.get_attribute("id"))
    above, below = field.bounding_box(), lock.bounding_box()
    assert above["y"] < reply.bounding_box()["y"] < below["y"], "it stands at its field"
    group = panel.get_by_role("group", name="Your prediction: throughput, divided by")
    for size, typed in ((8, "few"), (64, "many")):
        group.get_by_role("textbox", name=f"batch size {size}").fill(typed)
    group.get_by_role("button", name="Lock").click()
    for place, size, typed in ((0, 8, "few"), (1, 64, "many")):
        reason = group.get_by_role("alert").nth(place)
        expect(reason).to_contain_text("Write one number above 0")
        expect(reason).to_contain_text(typed)
        expect(group.get_by_role("textbox", name=f"batch size {size}")).to_have_attribute(
            "aria-describedby", reason.get_attribute("id")
        )
    expect(group.get_by_role("textbox", name="batch size 16")).not_to_have_attribute(
        "aria-describedby", re.compile(".")
    )
    student.look(page, group, SCREENSHOTS / "form-refused.png")
    expect(panel.get_by_role("group", name="Your prediction", exact=True)).to_be_visible()
    for title in ("the range contains", "share of the product"):  # two in a cell
        expect(panel.get_by_role("group", name=title)).to_be_visible()
        expect(panel.get_by_text(f"Your prediction: {title}")).to_be_visible()
    assert not violations(page, [".labs-prediction"])
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.evaluate(USE_THEME, theme)
        field.focus()
        student.look(page, field, SCREENSHOTS / f"form-{theme[11:].lower()}.png")
        edge, ring, ground = map(luminance, field.evaluate(EDGES))
        for colour in (edge, ring):
            low, high = sorted((colour, ground))
            assert (high + 0.05) / (low + 0.05) >= 3, theme
        assert field.evaluate("one => getComputedStyle(one).outlineWidth") == "3px"
    field.fill("0.4")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(field).not_to_have_attribute("aria-describedby", re.compile("."))
    expect(reply).to_contain_text("Locked.")
    expect(reply).to_be_focused()  # field and button have been disabled
    expect(lock).to_be_disabled()
    expect(panel.get_by_text("Your prediction 0.4 is locked")).to_be_visible()
    expect(panel.get_by_text("type it below and press Lock")).to_have_count(2)
    student.look(page, lock, SCREENSHOTS / "prediction-form.png")
    # Later cells read it under its name, as if it had been written into the cell.
    assert page.evaluate(PRINTED_BY, "print(guess)") == "0.4\n"
    page.evaluate(RUN_LAST)
    expect(panel.get_by_text("Your prediction 0.4 stands")).to_be_visible()
    page.wait_for_function("!jupyterapp.shell.leftCollapsed")
    page.set_viewport_size({"width": 700, "height": 1000})
    page.wait_for_function("jupyterapp.shell.leftCollapsed")
    page.evaluate("jupyterapp.shell.expandLeft()")
    page.set_viewport_size({"width": 690, "height": 1000})
    page.wait_for_timeout(100)
    assert not page.evaluate("jupyterapp.shell.leftCollapsed"), "only on the way down"
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.evaluate(RESTART)
    expect(panel.get_by_text("The form is not live any more").last).to_be_visible()
    expect(panel.locator(".jupyter-widgets >> visible=true")).to_have_count(0)


def test_the_next_day_what_was_done_comes_back(own_lab, lab_server, page, browser):
    shown = page.locator(f"{student.PANEL} .jp-OutputArea-output")
    radio = page.locator(f"{student.PANEL} .labs-quiz").get_by_role("radio")
    asked = len(read_texts("02")["quiz"]) + 3
    student.run_all(page)
    expect(shown.get_by_text(f"Lab 02: 0 of {asked} exercises").first).to_be_visible()
    expect(shown.get_by_text("0.5 is noted; it will be locked").first).to_be_visible()
    expect(shown.get_by_text("Checks passed: 1 of 3").first).to_be_visible()
    ended = page.locator(f"{student.PANEL} .labs-message-unfinished")
    expect(ended).to_contain_text("Quiz: 0 of 5 answered; still open")
    radio.nth(1).check()
    expect(ended).to_contain_text("Quiz: 1 of 5 answered")
    page.get_by_role("button", name="Show our solution").first.click()
    both = page.locator(f"{student.PANEL} .labs-solution")
    expect(both).to_contain_text("Your cell for 2.3")
    expect(both).to_contain_text("Our solution of 2.3")
    expect(both).to_be_focused()  # its button has been disabled
    student.look(page, both, SCREENSHOTS / "solution.png")
    assert not violations(page, [".labs-solution"])
    own, ours = both.locator(":scope > div").all()
    assert own.bounding_box()["y"] == ours.bounding_box()["y"], "side by side"

    page.evaluate(RESTART)
    student.type_into_cell(page, solved("2.3"), UNSOLVED)
    student.run_all(page)
    expect(shown.get_by_text(f"Lab 02: 2 of {asked} exercises").first).to_be_visible()
    expect(radio.nth(1)).to_be_checked()
    said = "✓ Right." if read_texts("02")["quiz"][0]["choices"][1].get("right") else "✗ Not"
    quiz = page.locator(f"{student.PANEL} .labs-quiz")
    expect(quiz).to_contain_text(said)
    end = page.locator(f"{student.PANEL} .labs-message-unfinished")
    expect(end).to_contain_text("Checks passed: 1 of 3 (1 in an earlier run)")
    expect(end).to_contain_text("Quiz: 1 of 5 answered")
    expect(end).to_contain_text("Predictions: 1 of 5 made")
    student.look(page, end, SCREENSHOTS / "next-day-end.png")
    assert not violations(page, [".labs-message"])
    expect(end.get_by_role("link", name="Start page")).to_have_attribute("href", "/start")

    # A check that is run again keeps what was read, folded, at one click.
    page.get_by_role("button", name="Hint 1 of 3").first.click()
    first_hint = shown.get_by_text("Hint 1 of 3 for 2.3")
    expect(first_hint.first).to_be_visible()
    page.evaluate(RUN_CHECK)
    expect(first_hint).not_to_be_visible()
    page.get_by_text("Hint 1, which you have read for 2.3").click()
    expect(first_hint).to_be_visible()
    expect(page.get_by_role("button", name="Hint 2 of 3").first).to_be_visible()

    with page.context.expect_page() as opened:
        end.get_by_role("link", name="Start page").click()
    start = opened.value
    expect(start.get_by_label(f"2 of {asked}", exact=True)).to_be_visible()
    start.get_by_role("link", name="Your certificate").click()
    expect(start.get_by_role("row").filter(has_text="1 of 5 made")).to_be_visible()
    assert not violations(start)
    student.look(start, start.locator("h1"), SCREENSHOTS / "certificate.png")
    start.emulate_media(color_scheme="dark")
    assert not violations(start)
    start.close()


A_RUN = """from types import SimpleNamespace
from helpers.notebook import messages, session
from helpers.run_card.documents import open_card
card = open_card("02_throughput", {}, {}, messages.show_prediction, ask=session._ask)
session._current = SimpleNamespace(card=card)"""
YESTERDAY = """card.predict("share_of_peak", 0.4)
card.outcome("share_of_peak", 0.5)
card.finish()"""


def test_what_an_earlier_run_predicted_stands_above_the_form(course, lab_server, page):
    cells = A_RUN, YESTERDAY, A_RUN, 'card.predict("share_of_peak", None)'
    path = course / "course" / "work" / "earlier_run.ipynb"
    content = new_notebook(cells=[new_code_cell(c) for c in cells], metadata=KERNEL)
    nbformat.write(content, path)
    student.open_notebook(page, lab_server, path.name)
    student.run_all(page)
    panel = page.locator(student.PANEL)
    said = panel.get_by_text("your prediction 0.4, measured 0.5").last
    expect(said).to_be_visible(timeout=student.RUN_MS)
    expect(panel.get_by_text("You may predict again").last).to_be_visible()
    student.look(page, said, SCREENSHOTS / "form-next-day.png")
    assert not violations(page, [".labs-message"])
    panel.locator("input[type=text] >> visible=true").fill("0.6")
    page.get_by_role("button", name="Lock").click()
    expect(panel.get_by_text("Your prediction 0.6 is locked").last).to_be_visible()
