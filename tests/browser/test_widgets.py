"""Live widgets in JupyterLab, for a reader who hears them, or has no mouse."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.browser import student
from tests.browser.accessibility import violations
from tests.browser.test_layout import KERNEL, SCREENSHOTS, SLIDERS

QUIZ = "from helpers.coach import quiz\nquiz('02')"
TRAINING = """import keras
from callbacks import TrainingDashboard
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((64, 2)), np.ones(64), epochs=2, verbose=0,
          callbacks=[TrainingDashboard("no device")])"""
# As axe takes them.
LIVE = [".widget-slider", ".jupyter-matplotlib", ".labs-quiz", ".labs-dashboard"]


FOCUS_FIGURE = """() => {
    const canvas = document.querySelector(".jupyter-matplotlib-canvas-div");
    canvas.focus();
    return document.activeElement === canvas;
}"""
IS_IN_FIGURE = """() =>
    !!document.activeElement.closest(".jupyter-matplotlib-canvas-div")"""


@pytest.fixture(scope="module")
def notebook(course, lab_server):
    """A notebook with every kind of live widget that the course has."""
    path = course / "course" / "work" / "widgets.ipynb"
    cells = [new_code_cell(source) for source in (*SLIDERS, QUIZ, TRAINING)]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    return path.name


@pytest.mark.weekly
def test_live_widgets_have_names_and_values_and_answer_to_keys(notebook, lab_server, page):
    page.set_viewport_size({"width": 1280, "height": 6000})
    student.open_notebook(page, lab_server, notebook)
    shown = student.run_and_look(page)
    rate = page.get_by_role("slider", name="learning rate")
    expect(rate).to_have_attribute("aria-valuetext", "0.100")
    rate.focus()
    page.keyboard.press("ArrowLeft")
    expect(rate).to_have_attribute("aria-valuetext", "0.0891")
    expect(page.get_by_role("slider", name="link")).to_have_attribute(
        "aria-valuetext", "25.0 Gbit/s"
    )
    figures = shown.get_by_role("img", name="learning rate 0.0891, batch size 1: loss")
    expect(figures.first).to_be_visible()

    # A figure is no trap: it is no stop, and Tab leads on from one that was clicked.
    canvas = page.locator(".jupyter-matplotlib-canvas-div").first
    expect(canvas).to_have_attribute("tabindex", "-1")
    canvas.click(position={"x": 40, "y": 40})
    assert page.evaluate(FOCUS_FIGURE)
    page.keyboard.press("Tab")
    assert not page.evaluate(IS_IN_FIGURE)

    button = page.get_by_role("button", name="Draw step by step")
    button.click()
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    expect(button).to_be_visible()  # at the end of the path

    choices = page.get_by_role("radiogroup").first.get_by_role("radio")
    choices.first.focus()
    page.keyboard.press("ArrowDown")
    expect(choices.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(choices.last).to_be_focused()
    page.keyboard.press("Tab")  # a question is one stop
    second = page.get_by_role("radiogroup").nth(1).get_by_role("radio")
    expect(second.first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(choices.last).to_be_focused()
    assert not any(choice.is_checked() for choice in choices.all())
    page.keyboard.press("Space")
    expect(choices.last).to_be_checked()
    assert not violations(page, LIVE)


WIDTHS = """() => [...document.querySelectorAll(
    ".jupyter-matplotlib canvas")].map(canvas => {
    const room = canvas.closest(".jp-OutputArea-output").getBoundingClientRect();
    return [canvas.getBoundingClientRect().right - room.left, room.width];
})"""
# A figure that is cut has ink in its last column.
WHOLE = """() => [...document.querySelectorAll(".jupyter-matplotlib")].every(figure => {
    const canvas = figure.querySelector("canvas");
    const {data} = canvas.getContext("2d").getImageData(
        canvas.width - 2, 0, 1, canvas.height);
    return data.every(value => value > 250);
})"""
SCROLLED = """() => [...document.querySelectorAll(".jp-OutputArea-output *")]
    .filter(one => ["auto", "scroll"].includes(getComputedStyle(one).overflowX))
    .filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => one.className)"""
FITS = f"() => ({WIDTHS})().every(([right, room]) => right <= room + 1)"
LONG = """import matplotlib.pyplot as plt
from helpers.figures import show_figure
figure, axes = plt.subplots()
axes.plot([1, 2])
show_figure(figure, "A line.", "a caption with many words, " * 4)"""


@pytest.mark.weekly
@pytest.mark.parametrize("zoom", [1, 1.5])
def test_live_figures_are_as_wide_as_the_window_lets_them(
    lab_server, course, browser, zoom
):
    path = course / "course" / "work" / "narrow.ipynb"
    cells = [new_code_cell(source) for source in (*SLIDERS, LONG, TRAINING)]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    wide, narrow = {"width": 1280, "height": 4000}, {"width": 800, "height": 4000}
    page = browser.new_page(viewport=wide, device_scale_factor=zoom)
    page.set_default_timeout(180_000)
    student.open_notebook(page, lab_server, path.name)
    student.run_and_look(page)
    usual = page.evaluate(WIDTHS)
    assert page.evaluate(SCROLLED) == []
    page.set_viewport_size(narrow)
    page.wait_for_function(FITS)
    page.wait_for_function(WHOLE)
    student.look(page, page.locator(".labs-dashboard"), SCREENSHOTS / f"narrow-{zoom}.png")
    page.set_viewport_size(wide)
    page.wait_for_function(
        f"usual => ({WIDTHS})().every(([right], n) => Math.abs(right - usual[n][0]) < 3)",
        arg=usual,
    )
    page.close()


@pytest.mark.weekly
def test_on_a_telephone_readouts_choices_and_folded_cells_are_in_place(
    lab_server, course, page
):
    folded = new_code_cell(f"a = 1  # {'long ' * 60}")
    folded.metadata["jupyter"] = {"source_hidden": True}
    cells = [*(new_code_cell(source) for source in (*SLIDERS, QUIZ)), folded]
    path = course / "course" / "work" / "telephone.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    page.set_viewport_size({"width": 390, "height": 844})
    student.open_notebook(page, lab_server, path.name)
    page.evaluate("jupyterapp.shell.collapseLeft()")
    student.run_and_look(page)
    page.wait_for_function(WHOLE)
    assert page.evaluate(SCROLLED) == []
    panel = page.locator(student.PANEL)
    beyond = """all => all.map(one => one.getBoundingClientRect().right
        - one.closest(".jp-OutputArea-output").getBoundingClientRect().right)"""
    assert max(panel.locator(".widget-readout").evaluate_all(beyond)) <= 0
    wider = "all => all.map(one => one.offsetWidth - one.parentElement.offsetWidth)"
    [wider] = panel.locator(".jp-Placeholder-content").evaluate_all(wider)
    assert wider <= 0

    labels = panel.locator(".labs-quiz .widget-radio-box label")
    assert max(labels.evaluate_all("all => all.map(one => one.offsetHeight)")) > 50
    student.look(page, labels.first, SCREENSHOTS / "telephone-quiz.png")
    for side in ("top", "left"):
        place = f"one.querySelector('input').getBoundingClientRect().{side}"
        place = f"{place} - one.getBoundingClientRect().{side}"
        assert max(labels.evaluate_all(f"all => all.map(one => {place})")) < 5
