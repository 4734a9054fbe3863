"""A student's way through lab 02 in JupyterLab, in a real browser."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from helpers.files import REPOSITORY
from kit.build import generate
from kit.labs import all_labs

CHROMIUM = shutil.which("chromium")
SCREENSHOTS = REPOSITORY / "reports" / "screenshots"


# An empty canvas is visible too: look for pixels that are neither white nor clear.
FIGURE_IS_DRAWN = """() => {
    const canvas = document.querySelector(".jupyter-matplotlib canvas");
    if (!canvas || !canvas.width) return false;
    const pixels = canvas.getContext("2d")
        .getImageData(0, 0, canvas.width, canvas.height).data;
    let dark = 0;
    for (let i = 0; i < pixels.length; i += 4)
        if (pixels[i + 3] > 0 && pixels[i] + pixels[i + 1] + pixels[i + 2] < 600) dark++;
    return dark > 1000;
}"""


@pytest.fixture
def lab_server(tmp_path, lab):
    """`labs lab` on a copy of the notebooks' place, without opening a browser."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (tmp_path / "lab.log").open("w")
    # A copy: the test types into the notebook, and JupyterLab saves it.
    notebook = REPOSITORY / "build" / "browser_test.ipynb"
    notebook.parent.mkdir(exist_ok=True)
    shutil.copy(lab.notebook, notebook)
    server = subprocess.Popen(
        [
            Path(sys.executable).with_name("labs"), "lab", "--no-browser",
            f"--port={port}", "--IdentityProvider.token=test",
            "--LabApp.expose_app_in_browser=True",
        ],
        stdout=log, stderr=log, env=os.environ | {"HOME": str(tmp_path)},
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            time.sleep(0.5)
            try:
                urllib.request.urlopen(f"{address}/api?token=test", timeout=5)
                break
            except OSError:
                assert server.poll() is None, (tmp_path / "lab.log").read_text()
        yield address
    finally:
        server.terminate()
        server.wait(30)
        notebook.unlink()


@pytest.fixture
def page():
    """A page as tall as the notebook, so that every cell is drawn."""
    if CHROMIUM is None:
        pytest.fail("chromium is missing: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1200, "height": 16_000})
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def command(page, name):
    """Run a JupyterLab command and wait for its promise."""
    page.evaluate("name => window.jupyterapp.commands.execute(name)", name)


def type_into_cell(page, before, after):
    """Replace the source of the cell that holds `before`, as typing would."""
    changed = page.evaluate(
        """([before, after]) => {
            const panel = window.jupyterapp.shell.currentWidget;
            for (const [i, cell] of panel.content.widgets.entries()) {
                if (cell.model.sharedModel.getSource() !== before) continue;
                cell.model.sharedModel.setSource(after);
                panel.content.activeCellIndex = i;
                return true;
            }
            return false;
        }""",
        [before, after],
    )
    assert changed, "the cell to type into is not there"


def outputs(page):
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output")


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_student_goes_through_a_lab(lab, lab_server, page):
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    page.goto(f"{lab_server}/?token=test")  # as `labs lab` opens it
    start = page.locator(".jp-RenderedMarkdown")
    expect(start.get_by_role("heading", name=re.compile("^Scaling Labs"))).to_be_visible()
    expect(start.get_by_text("How many images a second?").first).to_be_visible()
    page.screenshot(
        path=SCREENSHOTS / "start.png", clip={"x": 0, "y": 0, "width": 1200, "height": 700}
    )

    page.goto(f"{lab_server}/lab/tree/build/browser_test.ipynb?token=test")
    expect(page.locator(".jp-NotebookPanel .jp-RenderedMarkdown h1").first).to_be_visible()
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel"
        "?.status === 'idle'"
    )
    assert not page.get_by_role("dialog").is_visible(), "something asks a question"

    command(page, "notebook:run-all-cells")
    shown = outputs(page)
    exercises = re.findall(r"# TODO (\d+\.\d+):", lab.source.read_text())
    for exercise in exercises:
        expect(shown.get_by_text(f"✗ {exercise} not yet: ").first).to_be_visible()
    expect(shown.get_by_text("Images/sec: ").first).to_be_visible()
    expect(shown.get_by_text(f"Checks passed: 0 of {len(exercises)}")).to_be_visible(
        timeout=180_000
    )
    page.wait_for_function(FIGURE_IS_DRAWN)
    expect(page.locator('[data-mime-type="application/vnd.jupyter.error"]')).to_have_count(
        0
    )
    page.screenshot(path=SCREENSHOTS / f"{lab.number}-unsolved.png")

    student, solution = generate(lab)
    for asked, solved in zip(student.cells, solution.cells, strict=True):
        if asked.source != solved.source:
            type_into_cell(page, asked.source, solved.source)
    command(page, "notebook:run-all-cells")
    for exercise in exercises:
        expect(shown.get_by_text(f"✓ {exercise} ").first).to_be_visible()
    expect(
        shown.get_by_text("Checks passed: {0} of {0}".format(len(exercises)))
    ).to_be_visible(timeout=180_000)
    expect(shown.get_by_text("✗")).to_have_count(0)
    expect(page.locator('[data-mime-type="application/vnd.jupyter.error"]')).to_have_count(
        0
    )
    page.screenshot(path=SCREENSHOTS / f"{lab.number}-solved.png")
    assert not errors
