"""What a student does in JupyterLab, for tests and for pictures: look, type, run."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from playwright.sync_api import Error, TimeoutError, expect, sync_playwright

from helpers.files import REPOSITORY, WORK
from kit.generate import generate

COURSE = ("callbacks", "helpers", "kit", "labs", "notebooks", "solutions")
TOKEN = "test"
START_SECONDS = 200
# Longer than what is tried here takes: only for a kernel that hangs.
RUN_MS = 300_000
EXPECT_MS = 60_000
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
# Of the notebook, not of the page: that draws an output some time after the cell ended.
ERRORS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .flatMap(cell => cell.model.outputs ? cell.model.outputs.toJSON() : [])
    .filter(output => output.output_type === "error")
    .map(output => `${output.ename}: ${output.evalue}`)"""
# An empty canvas is visible too: count what is neither white nor clear, in each figure.
# The second canvas of a figure is for the mouse.
DARK_PIXELS = """() => [...document.querySelectorAll(
    ".jp-NotebookPanel:not(.lm-mod-hidden) .jupyter-matplotlib")].map(figure => {
    const canvas = figure.querySelector("canvas");
    if (!canvas || !canvas.width || !canvas.height) return 0;
    const pixels = canvas.getContext("2d")
        .getImageData(0, 0, canvas.width, canvas.height).data;
    let dark = 0;
    for (let i = 0; i < pixels.length; i += 4)
        if (pixels[i + 3] > 0 && pixels[i] + pixels[i + 1] + pixels[i + 2] < 600) dark++;
    return dark;
})"""


@contextlib.contextmanager
def jupyterlab(folder, scale="smoke"):
    """Start `labs lab` on a copy of the course, since a student writes into it.

    Parameters
    ----------
    folder : Path
        Gets the copy, the run cards, the server's log, and whatever Jupyter keeps at home.
    scale : str

    Yields
    ------
    str
        The address of the server.
    """
    for name in COURSE:
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, folder / "course" / name, ignore=without)
    home = folder / "home"
    home.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "server.log"
    with log.open("w") as file:
        server = subprocess.Popen(
            [
                sys.executable, "-m", "kit.cli", "lab", "--no-browser", f"--port={port}",
                f"--IdentityProvider.token={TOKEN}",
            ],
            stdout=file, stderr=file, cwd=folder / "course",
            env=os.environ | {
                "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"),
                "PYTHONPATH": str(folder / "course"),
                "LABS_SCALE": scale, "LABS_RUNS_DIR": str(folder / "runs"),
            },
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api?token={TOKEN}", server, log)
        yield address
    finally:
        server.terminate()
        server.wait(120)


def _wait_for(url, server, log):
    for _ in range(2 * START_SECONDS):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        assert server.poll() is None, log.read_text()
        time.sleep(0.5)
    raise AssertionError(f"JupyterLab does not answer:\n{log.read_text()}")


def browser_path():
    """Debian's Chromium, without a window's parts where it is there so; or None."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


@contextlib.contextmanager
def chromium():
    """Debian's Chromium; Playwright's own browsers are not used."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        expect.set_options(timeout=EXPECT_MS)
        browser = playwright.chromium.launch(executable_path=browser_path(), args=arguments)
        yield browser
        browser.close()


def open_start_page(page, address):
    """Go where `labs lab` leads."""
    page.goto(f"{address}/?token={TOKEN}")
    expect(page).to_have_title("Scaling Labs")


def open_notebook(page, address, name):
    """Go to a notebook by its address; `name` is that of the file."""
    page.goto(f"{address}/lab/tree/{WORK.name}/{name}?token={TOKEN}&reset")
    wait_for_notebook(page, name)


def wait_for_notebook(page, name):
    """Wait until the notebook is in front and its kernel waits for work."""
    page.wait_for_function(
        """name => {
            const panel = window.jupyterapp?.shell?.currentWidget;
            return panel?.context?.path?.endsWith(name) && panel.context.isReady &&
                panel.sessionContext?.session?.kernel?.status === "idle";
        }""",
        arg=name,
    )


def start_all(page):
    """ "Run All Cells" in the menu, without waiting for what it does."""
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")


def run_all(page):
    """ "Run All Cells" in the menu; wait until the last has ended, or one has raised."""
    page.evaluate(
        """milliseconds => Promise.race([
            window.jupyterapp.commands.execute("notebook:run-all-cells"),
            new Promise((_, fail) => setTimeout(
                () => fail(new Error("the cells do not end")), milliseconds)),
        ])""",
        RUN_MS,
    )


def type_into_cell(page, before, after):
    """Replace the source of a cell by typing.

    Parameters
    ----------
    page : playwright.sync_api.Page
    before, after : str
        The source of the cell now, and then.
    """
    index = page.evaluate(
        """before => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
            cell => cell.model.sharedModel.getSource() === before)""",
        before,
    )
    assert index >= 0, "the cell to type into is not there"
    cell = page.locator(f"{PANEL} .jp-Notebook-cell").nth(index)
    cell.locator(".cm-content").first.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(after)
    typed = page.evaluate(
        """index => window.jupyterapp.shell.currentWidget.content.widgets[index]
            .model.sharedModel.getSource()""",
        index,
    )
    assert typed == after


def solve(page, lab, *numbers):
    """Type the solutions of a lab's exercises into the notebook in front.

    Parameters
    ----------
    page : playwright.sync_api.Page
    lab : kit.labs.Lab
    *numbers : str
        Such as ``"2.1"``.
    """
    for asked, solved in zip(*(notebook.cells for notebook in generate(lab)), strict=True):
        if asked.source.startswith(tuple(f"# TODO {number}:" for number in numbers)):
            type_into_cell(page, asked.source, solved.source)


def run_and_look(page, *lines):
    """Run all cells: the lines are there, every figure is drawn, and nothing raised.

    Returns
    -------
    playwright.sync_api.Locator
        What the cells of the notebook in front show.
    """
    run_all(page)
    shown = page.locator(f"{PANEL} .jp-OutputArea-output")
    raised = page.evaluate(ERRORS)
    assert not raised, f"cells raised: {raised}"
    for line in lines:
        expect(shown.get_by_text(line).first).to_be_visible()
    # The browser asks the kernel for the pictures when it is idle at last.
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(f"() => ({DARK_PIXELS})().every(n => n > 1000)")
    pixels = page.evaluate(DARK_PIXELS)
    assert pixels and min(pixels) > 1000, f"a figure is blank; dark pixels: {pixels}"
    return shown


def watch_progress(page):
    """Write down every width that the dashboard's bar gets, for `progress_seen`."""
    page.evaluate(
        """() => {
            window.widthsSeen = [];
            const look = () => document.querySelectorAll(".labs-dashboard .progress-bar")
                .forEach(bar => window.widthsSeen.push(parseFloat(bar.style.width)));
            const all = {subtree: true, childList: true, attributeFilter: ["style"]};
            new MutationObserver(look).observe(document.body, all);
        }"""
    )


def progress_seen(page):
    """The widths that the bar had, in percent."""
    return page.evaluate("window.widthsSeen")


def look(page, locator, file):
    """Scroll there and keep a picture of the window."""
    # JupyterLab may draw a cell again meanwhile: `expect` finds its element again.
    expect(locator).to_be_attached()
    try:
        locator.scroll_into_view_if_needed()
    except Error:
        locator.scroll_into_view_if_needed()
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file)
