"""The page of `labs mark` keeps what was typed, and its place, in a browser."""

from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.kit.grading.classroom.test_marking import RUBRIC, graded, graded_once, marking

__all__ = ["graded", "graded_once"]  # fixtures
# Whether a browser asks before it leaves the page.
IS_ASKED = """() => !dispatchEvent(new Event("beforeunload", {cancelable: true}))"""


def top(element):
    return element.bounding_box()["y"]


def bottom(element):
    return top(element) + element.bounding_box()["height"]


def test_marking_keeps_its_place_counts_and_warns_before_it_loses_points(graded, page):
    page.set_viewport_size({"width": 1280, "height": 500})
    with marking(graded) as address:
        page.goto(address)
        bar = page.locator(".save")
        expect(bar).to_contain_text("0 of 3 read")
        figure = page.get_by_role("img", name="half lie within")
        figure.scroll_into_view_if_needed()
        page.wait_for_function(
            "image => image.naturalWidth == 900", arg=figure.element_handle()
        )
        page.get_by_text("Rubric: comments to use again").click()
        page.get_by_role("button", name="Use these items").click()
        expect(page.get_by_label("Items of")).to_be_focused()
        suggested = page.get_by_label("Items of").input_value()
        assert suggested == page.locator("#suggested-2\\.figure").inner_text()
        page.get_by_label("Items of").fill(RUBRIC)
        page.get_by_role("button", name="Save all").click()
        expect(bar).to_contain_text("Saved.")
        page.get_by_role("checkbox", name="Names the cause").nth(1).check()
        expect(page.locator("#sum-1")).to_have_text("ticked: 1")
        fields = page.get_by_label("Points, of")
        fields.nth(1).fill("1")
        fields.nth(1).press("Enter")
        expect(page.get_by_role("checkbox", name="Names the cause").nth(2)).to_be_focused()
        page.keyboard.press("Enter")
        expect(fields.nth(2)).to_be_focused()
        assert bottom(fields.nth(2)) < top(bar), (
            "the bar covers no field that has the focus"
        )
        assert "0 of 3 read" in bar.inner_text(), "Enter has saved nothing"
        assert page.evaluate(IS_ASKED), "typed points would be lost"
        fields.nth(2).scroll_into_view_if_needed()
        before = page.evaluate("scrollY")
        assert before > 0
        page.get_by_role("button", name="Save all").click()
        expect(bar).to_contain_text("1 of 3 read")
        assert not page.evaluate(IS_ASKED)
        assert abs(page.evaluate("scrollY") - before) < 30
        expect(page.locator(".unread")).to_have_count(2)
        assert not violations(page)
