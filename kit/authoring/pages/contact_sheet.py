"""Screenshots of every kind of page on one sheet: small and large, light and dark."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, sync_playwright

from helpers.errors import LabError
from helpers.files import REPOSITORY, write_atomically
from kit import look
from kit.authoring.pages.sample_pages import write_sample_pages

OUT = REPOSITORY / "build" / "contact_sheet"
SITE = REPOSITORY / "build" / "site"
SIZES = {390: 844, 800: 1000, 1280: 800, 1920: 1080}  # of a window
SCHEMES = ("light", "dark")
MOST_HEIGHT = 2400  # of a picture: the rest of a page looks like its beginning
# The outermost element that reaches beyond the window; boxes that scroll are no problem.
WIDER = """() => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= innerWidth) return "";
    const beyond = [...document.body.querySelectorAll("*")].find(element =>
        element.getBoundingClientRect().right > innerWidth + 1);
    return beyond ? `${beyond.tagName.toLowerCase()}.${beyond.className}` : "the page";
}"""


def contact_sheet(out: Path = OUT, site: Path = SITE) -> list[str]:
    """Take the pictures, and write index.html with all of them.

    Parameters
    ----------
    out, site : Path
        Where the sheet goes, and what `make site` has built.

    Returns
    -------
    list of str
        What is wrong, a line each: pages that scroll sideways, and a missing site.

    Raises
    ------
    LabError
        If there is no Chromium.
    """
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not chromium:
        raise LabError("chromium is not installed: `labs doctor` says how to get it.")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        sheet = [
            _pictures(browser, name, path, out)
            for name, path in write_sample_pages(Path(folder), site).items()
        ]
        browser.close()
    problems = [
        f"{page['name']}, {shot['width']} px, {shot['scheme']}: {shot['wider']} is wider"
        for page in sheet
        for shot in page["shots"]
        if shot["wider"]
    ]
    if not site.is_dir():
        problems.append(f"there is no {site}: `make site` first, to see its pages, too.")
    template = Path(__file__).with_name("contact_sheet.html.j2")
    html = look.render(template, sheet=sheet, problems=problems)
    write_atomically(out / "index.html", html)
    return problems


def _pictures(browser, name, path, out) -> dict[str, Any]:
    """A page at each size, light and dark."""
    shots = []
    for scheme in SCHEMES:
        for width, height in SIZES.items():
            size = {"width": width, "height": height}
            page = browser.new_page(color_scheme=scheme, viewport=size)
            page.goto(path.as_uri())
            file = f"{name.replace(', ', '-').replace(' ', '_')}-{width}-{scheme}.jpeg"
            wider = page.evaluate(WIDER)
            tall = page.evaluate("document.scrollingElement.scrollHeight")
            # Not Chromium's picture of a whole page, which fails for the tallest.
            page.set_viewport_size(size | {"height": min(tall, MOST_HEIGHT)})
            _shoot(page, out / file)
            shots.append({"file": file, "width": width, "scheme": scheme, "wider": wider})
            page.close()
    return {"name": name, "shots": shots}


def _shoot(page, path):
    """Take the picture; on a busy machine Chromium fails now and then."""
    for again in (True, True, True, False):
        try:
            page.screenshot(path=path, type="jpeg", quality=80, animations="disabled")
            return
        except Error:
            if not again:
                raise
            page.wait_for_timeout(1000)
