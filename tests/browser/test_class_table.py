"""The class table is sorted and searched as an instructor does."""

import pytest
from playwright.sync_api import expect

from kit.grading.classroom import class_files, feedback
from kit.labs import find_lab
from kit.todo_cells import todo_cells

LAB = find_lab("02")
# Points; None is open. As text "5.25" is after "5.5", and "10" before "9".
POINTS = {"Zoë": 5.5, "Émile": 5.25, "ada": 0, "Bob": None, "Cyd-10": 6, "Cyd-9": 4.8}
CODE = """def sweep(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break
"""


@pytest.fixture(scope="module")
def overview(tmp_path_factory):
    out = tmp_path_factory.mktemp("grades")
    verdict = {
        "passed": True, "of": 2, "reason": "", "reaction": "",
        "borrowed": [], "code": CODE,
        "question": None, "observation": None,
    }  # fmt: skip
    results, given = [], []
    for student, total in POINTS.items():
        handed_in = total is not None
        results.append({
            "student": student, "file_name": f"file-{len(results)}", "lab": LAB.name,
            "status": "graded" if handed_in else "missing",
            "problem": "" if handed_in else "nothing was handed in", "isolated": True,
            "exercises": {e.number: verdict | {"points": 2} for e in todo_cells(LAB)},
            "about": {"hints": ["2.1"]} if student == "ada" else {},
        })  # fmt: skip
        # Two points for each of two exercises at most: the rest is an override's.
        left = total or 0
        for exercise in todo_cells(LAB) if handed_in else ():
            points = min(left, 2)
            given.append(class_files.Override(student, exercise.number, points, "", 2))
            left -= points
    files = class_files.ClassFiles(overrides=tuple(given))
    feedback.write(results, [LAB], [], out, files)
    return out / "overview.html"


def names(table):
    return table.locator("tbody tr:visible th a").all_text_contents()


def test_a_heading_sorts_by_the_values_below_it(page, overview):
    page.goto(overview.as_uri())
    table = page.locator("table[data-search]")
    points = table.get_by_role("button", name="points")
    heading = table.get_by_role("columnheader", name="points")
    upwards = sorted(POINTS, key=lambda name: -1 if POINTS[name] is None else POINTS[name])
    box = heading.bounding_box()  # its whole cell takes the click
    heading.click(position={"x": box["width"] - 2, "y": box["height"] - 2})
    assert names(table) == upwards
    expect(heading).to_have_attribute("aria-sort", "ascending")
    points.press("Enter")
    assert names(table) == upwards[::-1]
    expect(heading).to_have_attribute("aria-sort", "descending")
    table.get_by_role("button", name="student").click()
    assert names(table) == ["ada", "Bob", "Cyd-9", "Cyd-10", "Émile", "Zoë"]
    assert heading.get_attribute("aria-sort") is None


def test_the_search_leaves_the_rows_that_have_every_word(page, overview):
    page.goto(overview.as_uri())
    table, search = page.locator("table[data-search]"), page.get_by_label("Search")
    search.fill("CYD")
    assert sorted(names(table)) == ["Cyd-10", "Cyd-9"]
    search.fill("cyd 4.8 graded")
    assert names(table) == ["Cyd-9"]
    search.fill("nothing was handed")
    assert names(table) == ["Bob"]
    # The table of exercises is not searched, and sorting brings no row back.
    assert page.locator("table.sorted").first.locator("tbody tr:visible").count() == 3
    table.get_by_role("button", name="student").click()
    assert names(table) == ["Bob"]
    search.fill("nobody")
    assert names(table) == []
    search.fill("")
    assert len(names(table)) == len(POINTS)


def test_the_footer_begins_where_the_tables_do(page, overview):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(overview.as_uri())
    text = page.locator("footer").evaluate(TEXT_BEGINS)
    assert text == page.locator("h1").evaluate(TEXT_BEGINS)


TEXT_BEGINS = """one => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect().left;
}"""


def test_on_a_telephone_answers_that_are_alike_stand_below_each_other(page, overview):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(overview.with_name("similar.html").as_uri())
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    boxes = [one.bounding_box() for one in page.locator(".pair").first.locator("pre").all()]
    assert len(boxes) == 2
    assert all(box["width"] > 300 for box in boxes)
    assert boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"]


IN_SIGHT = """all => all.every(one => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.left >= 0 && box.right <= innerWidth;
})"""
SCROLL = "all => all.forEach(box => { box.scrollLeft = 200; })"


def test_on_a_telephone_tables_scroll_inside_the_page_under_their_captions(page, overview):
    page.set_viewport_size({"width": 390, "height": 844})
    pages = [overview, *sorted(overview.parent.glob("feedback/*/*.html"))]
    assert len(pages) == 1 + len(POINTS)
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("document.scrollingElement.scrollWidth") == 390, path
        page.locator(".scroll, .wide").evaluate_all(SCROLL)
        assert page.locator("caption").evaluate_all(IN_SIGHT), path
    page.goto(overview.as_uri())
    reasons = page.get_by_role("table", name="Open submissions").locator("td")
    assert "nothing was handed in" in reasons.last.text_content()
    assert reasons.evaluate_all(IN_SIGHT)
