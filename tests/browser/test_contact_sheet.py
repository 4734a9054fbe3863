"""`labs contact-sheet`: every kind of page, and a line for each that is too wide."""

import re

import pytest
from PIL import Image

from kit.authoring.pages import contact_sheet
from kit.jupyter import certificate

KINDS = (
    "start page", "report", "sweep", "pooled class", "leaderboard",
    "grading, overview", "grading, marking",
)  # fmt: skip


@pytest.mark.weekly
def test_no_page_of_the_kit_scrolls_sideways_on_a_telephone(tmp_path, monkeypatch):
    monkeypatch.setattr(contact_sheet, "SIZES", {390: 844})
    out, site = tmp_path / "sheet", tmp_path / "none"
    problems = contact_sheet.contact_sheet(out, site)
    assert problems == [f"there is no {site}: `make site` first, to see its pages, too."]
    html = (out / "index.html").read_text(encoding="utf-8")
    assert set(KINDS) <= set(re.findall("<h2>(.+)</h2>", html))
    files = re.findall('src="([^"]+.jpeg)"', html)
    assert len(files) == len(set(files)) >= 16, "light and dark"
    for file in files:
        with Image.open(out / file) as picture:
            assert picture.width == 390


@pytest.mark.parametrize(
    ("html", "wider"),
    [
        ("<div style='width: 500px'>wide</div>", "div."),
        ("<div style='overflow: auto'><p style='width: 500px'>in a box</div>", ""),
    ],
)
def test_what_is_too_wide_is_named(page, html, wider):
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content(f"<!doctype html><body>{html}")
    assert page.evaluate(contact_sheet.WIDER) == wider


def test_a_button_prints_the_certificate(page):
    page.set_content(certificate.page())
    page.evaluate("() => { window.print = () => { document.title = 'printed'; }; }")
    page.get_by_role("button", name="Print").click()
    assert page.title() == "printed"
    assert page.get_by_role("heading", name="Certificate").is_visible()
