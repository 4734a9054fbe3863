"""The site's figures that move without a kernel, with the site's own script and style."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from kit.authoring.pages import live_parts
from kit.authoring.pages.site_page import site_page
from kit.labs import find_lab
from tests.browser.accessibility import violations

PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<style>{style} body {{ background: var(--paper); font-family: var(--font); }}</style>
</head><body><main><h1>A lab</h1>{part}</main>
<script>{script}</script></body></html>"""


@pytest.fixture
def shown(page):
    """Show a part as the site does."""

    def show(part):
        style = "".join(
            (REPOSITORY / place).read_text(encoding="utf-8")
            for place in ("kit/look/tokens.css", "docs/site/site.css")
        )
        script = (REPOSITORY / "docs/site/live.js").read_text(encoding="utf-8")
        page.set_content(PAGE.format(style=style, part=part, script=script))
        return page

    return show


def test_each_part_is_below_its_figure_and_without_a_blank_line():
    for number in ("01", "09"):
        lab = find_lab(number)
        cells = json.loads(site_page(lab.name, lab.solution.read_text(encoding="utf-8")))
        [place] = [i for i, c in enumerate(cells["cells"]) if c["id"] == "live"]
        assert cells["cells"][place - 1]["outputs"]
        assert "\n\n" not in cells["cells"][place]["source"]


def test_the_ring_is_played_to_its_end_and_can_be_stepped_by_key(shown):
    page = shown(live_parts.ring(3))
    expect(page.locator("table:visible caption")).to_have_text("Before round 1")
    page.get_by_role("button", name="Play all rounds").click()
    last = page.locator("table:visible", has_text="After round 4")
    expect(last).to_be_visible(timeout=10_000)
    assert last.locator("td").all_inner_texts()[1:].count("all") == 9
    expect(page.get_by_role("button", name="Play all rounds")).to_be_visible()
    page.get_by_role("slider", name="round").press("ArrowLeft")
    expect(page.locator("table:visible caption")).to_contain_text("After round 3")


def test_the_path_follows_the_sliders_and_is_drawn_step_by_step(shown):
    page = shown(live_parts.descent())
    text, path = page.get_by_role("status"), page.locator("polyline.path")
    expect(text).to_contain_text("learning rate 0.1, batch size 16: loss 0.2")
    before = path.get_attribute("points")
    rate = page.get_by_role("slider", name="learning rate")
    rate.press("End")
    expect(text).to_contain_text("learning rate 1.2, batch size 16: thrown out")
    assert path.get_attribute("points") != before
    rate.press("Home")
    page.get_by_role("button", name="Draw step by step").click()
    expect(text).to_contain_text("After")
    page.get_by_role("button", name="Stop").click()
    drawn = len(path.get_attribute("points").split())
    assert 0 < drawn < live_parts.STEPS + 1
    page.get_by_role("slider", name="batch size").press("ArrowRight")
    expect(text).to_contain_text("learning rate 0.02, batch size 32: loss")
    assert len(path.get_attribute("points").split()) == live_parts.STEPS + 1


@pytest.mark.parametrize("part", [live_parts.ring, live_parts.descent])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_use_them_also_on_a_telephone(shown, part, theme):
    page = shown(part())
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    page.set_viewport_size({"width": 390, "height": 800})
    assert not violations(page)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_the_contours_are_lines_of_equal_loss():
    """Half a turn around an ellipse, at whatever angle, the loss is the same."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-1, 2, 50), rng.normal(0, 1, 50)
    gradient = find_exercise("1.1").reference
    best = np.polyfit(x, y, 1)
    assert np.allclose(gradient(best, x, y), 0, atol=1e-9)
    side = (live_parts.HIGH - live_parts.LOW) / live_parts.SIDE
    for ellipse in live_parts._contours(x, y):
        given = {k: float(v.split()[0]) for k, v in attributes(ellipse).items()}
        angle = np.radians(given["transform"])
        losses = []
        for turn in np.linspace(0, 2 * np.pi, 7):
            along, across = given["rx"] * np.cos(turn), given["ry"] * np.sin(turn)
            shift = np.array([
                along * np.cos(angle) - across * np.sin(angle),
                -(along * np.sin(angle) + across * np.cos(angle)),
            ])  # fmt: skip
            slope, intercept = best + shift * side
            losses.append(np.mean((slope * x + intercept - y) ** 2))
        assert np.ptp(losses) < 0.01 * np.mean(losses)


def attributes(element):
    """The numbers of an ellipse; of its transform the angle."""
    found = {}
    for name in ("rx", "ry"):
        found[name] = element.split(f' {name}="')[1].split('"')[0]
    found["transform"] = element.split("rotate(")[1].split(")")[0]
    return found


def test_the_path_is_the_one_of_the_stored_figure():
    """The lab's own data and shuffle, so both say the same loss."""
    stored = find_lab("01").solution.read_text(encoding="utf-8")
    [numbers] = re.findall(r'<script type="application/json">(.*?)</script>',
                           live_parts.descent())  # fmt: skip
    texts = json.loads(numbers)["texts"]
    for setting in ("batch size 256", "batch size 16", "batch size 1"):
        [said] = [one for one in texts if one.startswith(f"learning rate 0.1, {setting}:")]
        assert said.removesuffix(".") in stored
