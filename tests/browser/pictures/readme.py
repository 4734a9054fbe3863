"""Take the README's pictures at laptop scale: python -m tests.browser.pictures.readme."""

import tempfile
from pathlib import Path

from playwright.sync_api import expect

from helpers.files import REPOSITORY
from kit.labs import find_lab
from tests.browser import student

FOLDER = REPOSITORY / "docs" / "images"


def take():
    """Lab 01 with its sliders, and lab 02 with 2.1 solved while its network trains."""
    with (
        tempfile.TemporaryDirectory() as folder,
        student.jupyterlab(Path(folder), scale="laptop") as address,
        student.chromium() as browser,
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        student.open_notebook(page, address, find_lab("01").notebook.name)
        student.run_and_look(page)
        controls = page.locator(".labs-descent").first
        student.look(page, controls, FOLDER / "jupyterlab-sliders.png")

        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        lab = find_lab("02")
        student.open_notebook(page, address, lab.notebook.name)
        student.solve(page, lab, "2.1")
        student.start_all(page)
        dashboard = page.locator(".labs-dashboard")
        expect(dashboard).to_contain_text("Epoch 4 of 5", timeout=student.RUN_MS)
        student.look(page, dashboard, FOLDER / "jupyterlab-training.png")


if __name__ == "__main__":
    take()
