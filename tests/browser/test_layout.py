"""The labs in JupyterLab, in a window of 1280x720: nothing is cut, sliders are in sight."""

import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import expect

from helpers.files import REPOSITORY
from kit.labs import all_labs
from tests.browser import student

SCREENSHOTS = REPOSITORY / "reports" / "screenshots"
WITHOUT_KERNELS = """async () => {
    await window.jupyterapp.restored;
    window.jupyterapp.docRegistry.getWidgetFactory("Notebook")._preferKernel = false;
}"""
# The widgets' manager misses the kernel, and says so in the console.
KERNEL_MISSED = """addEventListener("unhandledrejection", event =>
    /null \\(reading 'kernel'\\)/.test(event.reason) && event.preventDefault())"""
OPEN = "path => void window.jupyterapp.commands.execute('docmanager:open', {path})"
# Not the command: it asks about what is not stored, and JupyterLab changes what it opens.
CLOSE = "() => window.jupyterapp.shell.currentWidget.dispose()"
# Cells outside the window are drawn when the browser has time.
DRAWN = """path => {
    const panel = window.jupyterapp.shell.currentWidget;
    return panel?.context?.path === path && panel.context.isReady &&
        panel.content.widgets.every(cell => !cell.isPlaceholder()) &&
        [...panel.node.querySelectorAll("img")].every(image => image.complete);
}"""
# What is wider than the place that it has, everything unfolded: by cell, the outermost
# element. A box that scrolls by itself counts: nobody should have to.
CUT = """() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.node.querySelectorAll("details").forEach(details => details.open = true);
    // What a screen reader gets of a formula is clipped, and nobody sees how wide it is.
    notebook.node.querySelectorAll("mjx-assistive-mml").forEach(unseen => unseen.remove());
    const right = notebook.node.getBoundingClientRect().right;
    const apart = "svg, mjx-container, .cm-cursorLayer, .jp-cell-menu";
    const isCut = element => {
        const box = element.getBoundingClientRect();
        return box.width && !element.closest(apart) && (
            box.right > right ||
            (element.clientWidth && element.scrollWidth > element.clientWidth + 1));
    };
    const found = {};
    for (const cell of notebook.widgets) {
        const [first] = [...cell.node.querySelectorAll("*")].filter(isCut);
        if (first) found[cell.model.id] =
            `${first.tagName} ${first.className}: ${first.innerText.slice(0, 60)}`;
    }
    return found;
}"""


@pytest.fixture
def jupyterlab(lab_server, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.add_init_script(KERNEL_MISSED)
    page.goto(f"{lab_server}/lab?token={student.TOKEN}&reset")
    page.wait_for_function("() => window.jupyterapp?.restored")
    page.evaluate(WITHOUT_KERNELS)
    return page


def cut(page, path):
    page.evaluate(OPEN, path)
    page.wait_for_function(DRAWN, arg=path)
    return page.evaluate(CUT)


@pytest.mark.weekly
def test_no_lab_is_cut(jupyterlab):
    found = {}
    for lab in all_labs():
        for path in (lab.notebook, lab.solution):
            name = str(path.relative_to(REPOSITORY))
            found[name] = cut(jupyterlab, name)
            jupyterlab.evaluate(CLOSE)
    assert not {name: what for name, what in found.items() if what}


@pytest.mark.weekly
def test_it_would_be_seen(jupyterlab, course):
    table = f"<table><tr>{'<td>wide</td>' * 60}</tr></table>"
    outputs = {
        "page": "<div style='width: 2000px'>wide</div>",
        "folded": f"<details><summary>The data as a table</summary>{table}</details>",
        "narrow": "<p>" + "narrow " * 100,
    }
    cells = [
        new_code_cell(
            "1", id=name, outputs=[new_output("display_data", {"text/html": page})]
        )
        for name, page in outputs.items()
    ]
    cells.append(new_code_cell("wide = 1  # " + "wide " * 50, id="code"))
    path = course / "course" / "notebooks" / "wide.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    assert set(cut(jupyterlab, "notebooks/wide.ipynb")) == {"page", "folded", "code"}


CUT_LABELS = """labels => labels.filter(label => label.scrollWidth > label.clientWidth)
    .map(label => label.innerText)"""
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
SLIDERS = [
    """import numpy as np
from helpers.figures import use_figures
from helpers.lab_01.sliders import explore
use_figures()
def train(rate, size, steps):
    return (1 - 2 * rate) ** np.arange(steps + 1)[:, None] * (1, 1 / size)
def bowl(weights):
    return float(np.sum(np.square(weights)))
explore(train, bowl, [(0.1, 8), (0.1, 1)], 20, ((-2, 2), (-2, 2)), "no device")""",
    """from helpers.exercise import find_exercise
from helpers.lab_10 import explorer, forecast
explorer.explore(forecast.DEFAULTS, find_exercise("10.2").reference, "no device")""",
    """from helpers.lab_09.ring_picture import show_ring
show_ring(find_exercise("9.1").reference, 4, "no device")""",
]


@pytest.mark.weekly
def test_sliders_are_beside_their_plot(lab_server, course, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    path = course / "course" / "work" / "sliders.ipynb"
    cells = [new_code_cell(source) for source in SLIDERS]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    student.open_notebook(page, lab_server, path.name)
    student.run_and_look(page)
    shown = page.locator(f"{student.PANEL} .jp-Notebook-cell")
    for place, lab in enumerate(("01", "10", "09-ring")):
        canvas = shown.nth(place).locator(".jupyter-matplotlib").first
        controls = shown.nth(place).locator(".widget-vbox", has=page.get_by_role("slider"))
        student.look(page, canvas, SCREENSHOTS / f"{lab}-beside.png")
        plot, sliders = canvas.bounding_box(), controls.first.bounding_box()
        assert sliders["x"] + sliders["width"] <= plot["x"]
        assert abs(sliders["y"] - plot["y"]) < 20
        assert max(plot["height"], sliders["height"]) < 600, "both are seen at once"
        room = shown.nth(place).locator(".jp-OutputArea-output").first.bounding_box()
        assert plot["x"] + plot["width"] <= room["x"] + room["width"]
        assert controls.first.locator(".widget-label").evaluate_all(CUT_LABELS) == []
        kept = shown.nth(place).locator(".labs-kept img")
        before = kept.get_attribute("alt")
        controls.get_by_role("slider").first.focus()
        page.keyboard.press("ArrowRight")
        expect(kept).not_to_have_attribute("alt", before)
    # The sentence about all rounds stands below the figure already.
    expect(kept).to_have_attribute("alt", "Round 1 of 6.")


@pytest.mark.weekly
def test_a_narrow_window_shows_a_notebook_without_the_panels(lab_server, page):
    """Also where JupyterLab remembers them from a wide window."""
    name = "02_throughput.ipynb"
    files = page.locator(".jp-FileBrowser")
    page.set_viewport_size({"width": 1920, "height": 844})
    student.open_notebook(page, lab_server, name)
    expect(files).to_be_visible()
    cell = page.locator(f"{student.PANEL} .jp-Notebook-cell").first
    expect(cell).to_have_css("width", "1040px")  # a line can be read
    page.set_viewport_size({"width": 390, "height": 844})
    student.open_start_page(page, lab_server)
    card = page.get_by_role("listitem").filter(has_text="Lab 02")
    card.get_by_role("link").click()
    student.wait_for_notebook(page, name)
    expect(files).to_be_hidden()
    student.open_notebook(page, lab_server, name)
    expect(files).to_be_hidden()
    # Not even where a cell is folded, whose first line is longer than the window is wide.
    page.locator(".jp-Placeholder-content").first.wait_for()
    outer = "document.querySelector('.jp-WindowedPanel-outer')"
    assert page.evaluate(f"{outer}.scrollWidth - {outer}.clientWidth") <= 0


@pytest.mark.weekly
def test_the_start_page_leads_to_pages_to_look_up(lab_server, course, page):
    """Only where they are: a hand-out is without them."""
    student.open_start_page(page, lab_server)
    links = page.get_by_role("navigation").get_by_role("link")
    expect(links).to_have_count(0)
    shutil.copytree(REPOSITORY / "docs", course / "course" / "docs")
    page.reload()
    expect(links).to_have_text(["Glossary", "Leaderboard", "Help"])
    links.nth(1).click()
    expect(page.locator(".jp-MarkdownViewer h1").first).to_be_visible()


@pytest.mark.weekly
def test_a_word_in_a_lab_leads_to_its_place_in_the_glossary(lab_server, course, page):
    shutil.copytree(REPOSITORY / "docs", course / "course" / "docs", dirs_exist_ok=True)
    student.open_notebook(page, lab_server, "00_devices.ipynb")
    page.locator(".jp-RenderedMarkdown a", has_text="memory growth").first.click()
    terms = page.locator(".jp-MarkdownViewer h3")
    expect(terms.filter(has_text="memory growth")).to_be_in_viewport()
    expect(terms.first).not_to_be_in_viewport()
    entry = page.locator(".jp-MarkdownViewer h3:has-text('memory growth') + p")
    entry.get_by_role("link", name="Lab 00").click()
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget?.context.path"
        " === 'work/00_devices.ipynb'"
    )  # the student's own copy


@pytest.mark.weekly
def test_a_link_to_a_section_leads_there_from_another_page_and_from_its_own(
    lab_server, course, page
):
    shutil.copytree(REPOSITORY / "docs", course / "course" / "docs", dirs_exist_ok=True)
    page.goto(f"{lab_server}/lab/tree/docs/your-notebooks.md?token={student.TOKEN}&reset")
    page.locator(".jp-MarkdownViewer a", has_text="without a network").click()
    heading = page.locator(".jp-MarkdownViewer h3", has_text="Without a network")
    expect(heading).to_be_in_viewport()
    top = page.locator(".jp-MarkdownViewer h1", has_text="For operators")
    top.scroll_into_view_if_needed()
    expect(heading).not_to_be_in_viewport()
    page.locator(".jp-MarkdownViewer td a", has_text="Plans").click()
    expect(page.locator(".jp-MarkdownViewer h3", has_text="Plans")).to_be_in_viewport()
    expect(top).not_to_be_in_viewport()


PANELS = """from helpers.figures import show_figure, use_figures
from helpers.lab_00.figures import matmul_curves
use_figures()
sizes = [16, 64, 256, 1024]
seconds = {"one CPU thread": [1e-4, 1e-4, 4e-4, 2e-2], "all": [1e-4, 1e-4, 4e-4, 1e-2]}
show_figure(matmul_curves(sizes, seconds, 1024, 256), "Two panels.", "no device")"""


@pytest.mark.weekly
def test_in_a_narrow_window_panels_stand_below_each_other(lab_server, course, page):
    path = course / "course" / "work" / "panels.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(PANELS)], metadata=KERNEL), path)
    student.open_notebook(page, lab_server, path.name)
    student.run_and_look(page)
    canvas = page.locator(f"{student.PANEL} .jupyter-matplotlib canvas").first
    wide = canvas.bounding_box()
    assert wide["width"] > wide["height"]
    page.set_viewport_size({"width": 800, "height": 1000})
    expect(canvas).not_to_have_css("width", f"{wide['width']:g}px")
    page.wait_for_timeout(1500)
    student.look(page, canvas, SCREENSHOTS / "panels-800.png")
    narrow = canvas.bounding_box()
    assert narrow["height"] > wide["height"]
    room = page.locator(f"{student.PANEL} .jp-OutputArea-output").first.bounding_box()
    assert narrow["x"] + narrow["width"] <= room["x"] + room["width"] + 1
