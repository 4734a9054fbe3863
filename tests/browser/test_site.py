"""`make site`: whole links, no execution, and pages that everybody can read."""

import io
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import unquote, urldefrag, urlencode, urlsplit

import nbformat
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from helpers.files import REPOSITORY
from kit.authoring.pages.first_page import first_page
from kit.authoring.pages.site_page import site_page
from kit.glossary import terms_of
from kit.labs import all_labs, find_lab, title_and_question
from tests.browser.accessibility import violations

ADDRESS = "https://example.org/labs"
SITE = "https://labs.example.org/"
GLOSSARY = REPOSITORY / "docs" / "glossary.md"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The pages, built as `make site` builds them: a warning is an error."""
    pytest.importorskip("sphinx_book_theme", reason="`make site` installs what it needs")
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [
            sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going",
            "-c", "docs", ".", str(folder),
        ],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
        env=os.environ | {"LABS_REPOSITORY_URL": ADDRESS, "LABS_SITE_URL": SITE},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return folder


class Links(HTMLParser):
    """What a page links to or loads, and which places in it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.loaded, self.places = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.targets.append(given["href"])
        elif tag in ("script", "img", "link") and given.get("rel") != "canonical":
            self.loaded.append(given.get("src") or given.get("href") or "")


def test_no_internal_link_is_broken_and_nothing_is_loaded_from_elsewhere(site):
    pages = {path: Links(path) for path in site.glob("**/*.html")}
    seen = 0
    for path, links in pages.items():
        if "_static" in path.parts:
            continue
        for target in links.targets + links.loaded:
            if target.startswith("data:"):
                continue
            address, place = urldefrag(target)
            if urlsplit(target).scheme or target.startswith("//"):
                assert target not in links.loaded, (path.name, target)
                continue
            file = (path.parent / unquote(urlsplit(address).path)) if address else path
            assert file.resolve().exists(), (path.name, target)
            if place and (there := pages.get(file.resolve())):
                assert unquote(place) in there.places, (path.name, target)
            seen += 1
    assert seen > 100


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_is_shown_with_its_stored_outputs_and_figures(site, lab):
    html = (site / "solutions" / f"{lab.name}.html").read_text(encoding="utf-8")
    outputs = [
        output
        for cell in nbformat.read(lab.solution, as_version=4).cells
        for output in cell.get("outputs", ())
    ]
    figures = [o for o in outputs if "<img " in o.get("data", {}).get("text/html", "")]
    assert html.count('src="data:image/png;base64,') == len(figures) > 0
    assert html.count('class="output ') >= 20
    assert "Error displaying widget" not in html
    assert "application/vnd.jupyter.widget" not in html


def test_the_first_page_lists_pages_and_none_of_their_sections(site):
    html = (site / "docs" / "index.html").read_text(encoding="utf-8")
    assert "toctree-l1" in html
    article = html.partition("<article")[2]
    assert "toctree-l2" not in article


def test_the_first_page_leads_to_the_course(site):
    found = re.search(r'url=([^"]+)"', (site / "index.html").read_text(encoding="utf-8"))
    assert (site / found[1]).is_file()


def test_each_lab_has_a_card_that_leads_to_it(site):
    article = (site / "docs" / "index.html").read_text(encoding="utf-8")
    article = article.partition("<article")[2]
    cards = re.findall(r'<li><a href="([^"]+)"><span class="lab-picture"', article)
    assert cards == [f"../solutions/{lab.name}.html" for lab in all_labs()]
    for lab in all_labs():
        assert title_and_question(lab)[0].partition(": ")[2] in article
    folded = re.search(r"<details>.*?</details>", article, re.S)[0]
    assert "<em>Left:</em>" in folded
    assert "<em>Right:</em>" in folded


def test_a_page_says_what_it_is_about(site):
    for name, title, about in (
        ("docs/index", "Train neural networks fast", "Predict it. Measure it."),
        ("solutions/00_devices", "Lab 00: Which processor", ""),
        ("docs/teaching/grading", "How grading works", "labs grade takes only"),
    ):
        html = (site / f"{name}.html").read_text(encoding="utf-8")
        assert html.count('<meta name="description"') == 1
        assert "<title>" + title in html
        told = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]+)">', html))
        assert told["title"].startswith(title)
        assert told["description"].startswith(about)
        assert "Colab" not in told["description"]
        assert (site / told["image"].removeprefix(SITE)).is_file()
        assert (site / told["url"].removeprefix(SITE)).is_file()


def test_a_page_that_is_not_there_has_the_list_of_pages_and_the_search(site, page):
    def answer(route):
        path = urlsplit(route.request.url).path.lstrip("/")
        there = (site / path).is_file()
        route.fulfill(path=site / (path if there else "404.html"), status=200)

    page.route(f"{SITE}**", answer)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{SITE}docs/deep/nothing.html")
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1280, "height": 844})
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="the first page").click()
    page.wait_for_url(f"{SITE}docs/index.html")
    page.goto(f"{SITE}docs/deep/nothing.html")
    page.locator("#main-content").get_by_role("searchbox").fill("roofline")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{SITE}search.html?q=roofline")
    page.locator("#search-results a", has_text="roofline").first.wait_for()
    page.goto(f"{SITE}nothing.html")
    page.get_by_role("link", name="Throughput").click()
    page.wait_for_url(f"{SITE}solutions/02_throughput.html")


def test_an_answer_is_folded_below_its_open_exercise(site, page):
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    expect(page.get_by_text("# TODO 2.1:")).to_be_visible()
    answer = page.get_by_text("# Solution 2.1:")
    expect(answer).to_be_hidden()
    expect(page.get_by_text("sweep_batch_sizes: list")).to_be_hidden()
    page.get_by_text("Show our answer to 2.1").click()
    expect(answer).to_be_visible()
    expect(page.get_by_text("Hide our answer to 2.1")).to_be_visible()


def test_the_text_after_a_formula_keeps_its_distance_and_its_comma(site, page):
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    spaces = page.locator(".formula:visible").evaluate_all(
        """all => all.map(formula => {
          const after = document.createRange();
          after.setStartAfter(formula);
          after.setEndAfter(formula.closest("section"));
          const tops = [...after.getClientRects()].map(box => box.top);
          return Math.min(...tops) - formula.getBoundingClientRect().bottom;
        })"""
    )
    assert len(spaces) > 3
    assert min(spaces) >= 16
    page.set_viewport_size({"width": 800, "height": 900})
    page.goto((site / "docs" / "leaderboard.html").as_uri())
    marked = page.locator(".with-mark")
    assert marked.count() > 1
    assert set(marked.evaluate_all("all => all.map(e => e.getClientRects().length)")) == {1}
    for path in site.glob("*s/*.html"):
        html = path.read_text(encoding="utf-8")
        assert not re.search(r"</math>[,.;:](?![,.;:!?)]*</span>)", html), path.name


def test_no_output_is_an_empty_box(site, page):
    for lab in all_labs():
        page.goto((site / "solutions" / f"{lab.name}.html").as_uri())
        boxes = page.locator(".cell_output .output:not(:has(img, svg))")
        texts = boxes.evaluate_all("all => all.map(box => box.textContent.trim())")
        assert texts
        assert all(texts), lab.name


def test_the_quiz_is_smaller_than_a_heading_and_asks_for_no_kernel(site, page):
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    assert page.get_by_text("Open the answer that you would give.").count() == 1
    assert page.get_by_text("Run this cell before").count() == 0
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    heading = page.locator(".bd-article h3").first.evaluate(size)
    assert page.locator("legend").first.evaluate(size) < heading
    first, second = (page.locator("fieldset").nth(n).bounding_box() for n in (0, 1))
    assert second["y"] - first["y"] - first["height"] >= 30


def test_the_data_of_a_figure_are_a_table_whose_caption_is_in_sight(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((site / "solutions" / "08_faster.html").as_uri())
    unfold(page)
    folds = page.locator(".figure-data")
    aside = page.locator("section > details:not([class])").first
    for name in ("margin-top", "padding-left", "border-left-width"):
        style = f"e => getComputedStyle(e).getPropertyValue('{name}')"
        assert folds.first.evaluate(style) == aside.evaluate(style) != "0px"
    assert (
        folds.locator("td").first.evaluate("e => getComputedStyle(e).textAlign") == "right"
    )
    wide = folds.evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
    )
    assert wide
    ends = folds.locator("caption").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= 390


def test_links_have_one_colour(site, page):
    page.goto((site / "docs" / "index.html").as_uri())
    colour = "all => all.map(e => getComputedStyle(e).color)"
    inside = page.locator(".bd-article td a").evaluate_all(colour)
    assert inside
    assert set(inside) == set(
        page.locator(".bd-article li a.internal").evaluate_all(colour)
    )


BUILD_TWICE = """
import os, sys
from sphinx.cmd.build import build_main
for os.environ["LABS_REPOSITORY_URL"] in ("", sys.argv.pop()):
    build_main(sys.argv[1:])
"""


def test_pages_are_read_again_for_another_address(tmp_path):
    pytest.importorskip("sphinx_book_theme", reason="`make site` installs what it needs")
    subprocess.run(
        [
            sys.executable, "-c", BUILD_TWICE, "--quiet", "-c", "docs", ".", str(tmp_path),
            "-D", "include_patterns=solutions/00_devices.ipynb",
            "-D", "root_doc=solutions/00_devices", "https://github.com/me/labs",
        ],
        cwd=REPOSITORY, capture_output=True, check=True,
    )  # fmt: skip
    page = tmp_path / "solutions" / "00_devices.html"
    assert "Open in Colab" in page.read_text(encoding="utf-8")


def test_the_first_page_and_the_footer_link_to_the_repository(site):
    for name, links in (("docs/index", 2), ("solutions/02_throughput", 1)):
        path = site / f"{name}.html"
        assert Links(path).targets.count(ADDRESS) == links
        assert "Scaling Labs, MIT licence." in path.read_text(encoding="utf-8")
    source = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    assert first_page(source, ADDRESS).count(f"[clone the repository]({ADDRESS})") == 1
    assert "[clone the repository]" not in first_page(source)


def test_a_lab_can_be_downloaded_solved_and_unsolved(site):
    links = Links(site / "solutions" / "02_throughput.html").targets
    [source] = [link for link in links if "_sources/" in link]
    page = (site / "solutions" / "02_throughput.html").read_text(encoding="utf-8")
    button = page.partition(source)[2].partition("</a>")[0]
    assert '<span class="btn__text-container">Solved notebook</span>' in button
    [unsolved] = [link for link in links if "_downloads/" in link]
    lab = find_lab("02")
    for link, path in ((source, lab.solution), (unsolved, lab.notebook)):
        cells = nbformat.read(site / "solutions" / link, as_version=4).cells
        assert [c.source for c in cells] == [
            c.source for c in nbformat.read(path, as_version=4).cells
        ]


@pytest.mark.parametrize(
    ("repository", "linked"),
    [
        (
            "https://github.com/me/labs",
            ["Colab](https://colab", "Binder](https://mybinder"],
        ),
        ("", []),
        ("https://example.org/me/labs", []),
    ],
)
def test_buttons_lead_to_the_repository_that_was_given(repository, linked):
    lab = find_lab("02")
    source = lab.solution.read_text(encoding="utf-8")
    ways = json.loads(site_page(lab.name, source, repository))["cells"][0]["source"]
    assert re.findall(r"Open in (\w+\]\(https://[a-z]+)", ways) == linked
    assert ways.count("/me/labs/") == len(linked)
    cell = f'REPOSITORY = "{repository}"\n   !git clone'
    assert (cell in ways) == bool(linked), "the first cell of Colab can be copied as it is"
    assert ways.startswith("# Lab 02"), "the heading stays the first line"
    assert "This is the solved notebook" not in ways


def test_a_telephone_shows_the_whole_width_of_every_page(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    widths = {}
    for path in sorted(site.glob("**/*.html")):
        # One leads on, and one takes its style from the site's own address.
        special = path in (site / "index.html", site / "404.html")
        if "_static" not in path.parts and not special:
            page.goto(path.as_uri())
            width = page.evaluate("document.scrollingElement.scrollWidth")
            widths[path.relative_to(site).as_posix()] = width
    assert len(widths) > len(all_labs())
    assert not {name: width for name, width in widths.items() if width > 390}
    page.goto((site / "docs" / "teaching" / "grading.html").as_uri())
    table = page.locator(".pst-scrollable-table-container").first
    assert table.evaluate("e => e.scrollWidth === e.clientWidth"), "names of files break"
    ways_on = page.locator(".prev-next-area a")
    assert min(ways_on.evaluate_all("all => all.map(e => e.clientWidth)")) > 300


def test_on_a_telephone_a_figure_fits_and_one_that_is_tapped_scrolls_alone(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    pictures = page.locator(".cell_output .text_html > img").all()
    assert len(pictures) > 3
    for picture in pictures:
        box = picture.locator("..")
        assert box.evaluate("e => e.scrollWidth === e.clientWidth")
        picture.click()
        assert picture.evaluate("e => e.clientWidth >= Math.min(e.naturalWidth, 720)")
        assert box.evaluate("e => e.scrollWidth > e.clientWidth")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_button_for_the_search_opens_a_field(site, page, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto((site / "docs" / "glossary.html").as_uri())
    page.get_by_role("button", name="Search").locator("visible=true").first.click()
    field = page.locator("#pst-search-dialog").get_by_role("searchbox")
    expect(field).to_be_focused()


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_the_list_of_pages_has_a_line_for_each_lab(site, page, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    if width < 992:
        page.locator(".primary-toggle:visible").click()
    lines = page.locator(".bd-links a:has(.lab-number):visible")
    expect(lines).to_have_count(len(all_labs()))
    heights = lines.evaluate_all("all => all.map(line => line.getClientRects()[0].height)")
    assert max(heights) < 40, "one line of text"
    for line, lab in zip(lines.all(), all_labs(), strict=True):
        assert line.inner_text().split()[0] == lab.number
        assert line.get_attribute("title") == title_and_question(lab)[0]


def test_the_open_page_is_in_sight_in_the_list_of_pages(site, page, file_server):
    address = served(site, file_server)
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(f"{address}docs/glossary.html")
    sidebar = page.locator(".bd-sidebar-primary")
    sidebar.evaluate("list => { list.scrollTop = 0 }")
    names = "docs/teaching/grading", "docs/checks", "solutions/00_devices", "docs/index"
    for name in names:
        page.goto(f"{address}{name}.html")
        link = page.locator(".bd-links .current > a")
        expect(link).to_be_in_viewport(ratio=1)
    page.goto(f"{address}solutions/05_many_gpus_fit.html")
    sidebar.evaluate("list => { list.scrollTop = 150 }")
    page.goto(f"{address}solutions/06_many_gpus_loop.html")
    assert sidebar.evaluate("list => list.scrollTop") == 150


def test_the_heading_that_is_read_is_in_sight_in_the_list_of_headings(site, page):
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    expect(page.locator("#pst-secondary-sidebar")).to_contain_text("On this page")
    page.evaluate("document.getElementById('what-you-learned').scrollIntoView()")
    read = page.locator("#pst-secondary-sidebar a.active").last
    expect(read).to_have_text("What you learned")
    expect(read).to_be_in_viewport(ratio=1)


def test_code_is_copied_as_it_is_and_what_it_printed_has_no_button(
    site, browser, file_server
):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{served(site, file_server)}solutions/02_throughput.html")
    cell = page.locator(".cell_input:visible").first
    cell.hover()
    cell.locator(".copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == cell.locator("pre").text_content().strip()
    assert page.locator(".cell_output .copybtn").count() == 0
    context.close()
    for path in site.glob("*s/*.html"):
        prompts = re.findall(r"<pre><span></span>(?:\$|&gt;&gt;&gt;) ", path.read_text())
        assert not prompts, path.name


def test_the_keyboard_s_focus_is_seen_wherever_it_is(site, page):
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    unseen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        unseen += page.evaluate(
            """() => {
              const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement);
              const seen = outlineStyle !== "none" || boxShadow !== "none";
              return seen ? [] : [document.activeElement.outerHTML.slice(0, 80)];
            }"""
        )
    assert not unseen


def test_every_picture_has_a_text(site):
    for path in site.glob("*s/*.html"):
        article = path.read_text(encoding="utf-8").partition("<article")[2]
        pictures = re.findall(r"<img [^>]*>", article.partition("</article>")[0])
        assert all(re.search('alt="[^"]', picture) for picture in pictures), path.name


def test_each_lab_leads_to_those_before_and_after_it(site, page):
    for before, lab in pairwise(all_labs()):
        page.goto((site / "solutions" / f"{lab.name}.html").as_uri())
        link = page.locator(".prev-next-area a.left-prev")
        expect(link).to_have_attribute("href", f"{before.name}.html")
        page.goto((site / "solutions" / f"{before.name}.html").as_uri())
        link = page.locator(".prev-next-area a.right-next")
        expect(link).to_have_attribute("href", f"{lab.name}.html")


def test_on_paper_a_title_is_no_wider_than_the_page(site, page):
    page.set_viewport_size({"width": 700, "height": 1000})
    page.emulate_media(media="print")
    for name in ("solutions/02_throughput", "docs/teaching/instructor"):
        page.goto((site / f"{name}.html").as_uri())
        title = page.locator("#jb-print-docs-body h1")
        expect(title).to_be_visible()
        assert title.evaluate("e => getComputedStyle(e).fontWeight") == "700"
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 700
        expect(page.locator(".bd-sidebar-primary")).to_be_hidden()
        expect(page.locator(".prev-next-area")).to_be_hidden()


CODE = ".highlight pre:not(.cell_output *)"


def faded(box):
    """By how much an edge fades: before and after it scrolled to its end."""
    return box.evaluate(
        """async box => {
          const fade = () => new Promise(resolve => requestAnimationFrame(() =>
            requestAnimationFrame(() =>
              resolve(getComputedStyle(box).getPropertyValue("--fade")))));
          const before = await fade();
          box.scrollLeft = box.scrollWidth;
          return [before, await fade()];
        }"""
    )


def test_code_keeps_its_lines_and_fits_or_scrolls(site, page):
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    unfold(page)
    columns = """all => all.filter(box => box.scrollWidth > box.clientWidth)
        .map(box => Math.max(...box.textContent.split("\\n").map(line => line.length)))"""
    assert min(page.locator(CODE).evaluate_all(columns), default=89) > 88
    page.emulate_media(media="print")
    assert not page.locator(CODE).evaluate_all(columns)


def test_on_a_telephone_code_fades_and_can_be_reached_by_keyboard(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    unfold(page)
    wide = (
        "all => all.filter(box => box.scrollWidth > box.clientWidth).map(b => b.tabIndex)"
    )
    assert set(page.locator(CODE).evaluate_all(wide)) == {0}
    assert faded(page.locator(CODE).first) == ["48px", "0px"]


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


@pytest.mark.parametrize("name", ["index", "leaderboard"])
def test_on_a_telephone_the_edge_of_a_picture_that_scrolls_fades(site, page, name):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((site / "docs" / f"{name}.html").as_uri())
    picture = page.locator(".picture").first
    picture.click()
    assert faded(picture) == ["48px", "0px"]


def test_the_leaderboard_fits_into_a_window(site, page):
    page.goto((site / "docs" / "leaderboard.html").as_uri())
    boards = page.locator(".pst-scrollable-table-container:has(td .download)")
    assert boards.count() == 3
    assert boards.evaluate_all("all => all.every(b => b.scrollWidth === b.clientWidth)")
    heights = boards.locator("tbody tr").evaluate_all("all => all.map(r => r.clientHeight)")
    assert max(heights) < 120, "a title needs more than four lines"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["docs/index", "docs/glossary", "solutions/00_devices", "solutions/08_faster"]
)
def test_the_site_can_be_read_by_everybody(site, page, name, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto((site / f"{name}.html").as_uri())
    assert page.locator("html").get_attribute("data-theme") == scheme
    assert not violations(page)


def test_cards_and_tables_stand_on_the_dark_page_itself(site, page):
    page.emulate_media(color_scheme="dark")
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    shown = page.locator("body, .cell_output .text_html")
    assert page.locator(".cell_output .labs-message").count() > 3
    colours = shown.evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
    assert len(set(colours)) == 1
    frames = page.locator(".cell_output img").evaluate_all(
        "all => all.map(e => getComputedStyle(e).padding)"
    )
    assert set(frames) == {"0px"}
    assert not violations(page, [".bd-article"])


def test_a_dark_page_turns_figures_over_but_no_photographs(site, page):
    page.emulate_media(color_scheme="dark")
    page.goto((site / "solutions" / "02_throughput.html").as_uri())
    paper = [int(part, 16) for part in ("18", "22", "2c")]
    grounds = {}
    for name in ("The first eight", "Batch size 8"):
        figure = page.locator(f'.cell_output img[alt^="{name}"]')
        with Image.open(io.BytesIO(figure.screenshot())) as image:
            pixel = image.convert("RGB").getpixel((2, image.height // 2))
        grounds[name] = np.abs(np.subtract(pixel, paper)).max()
    assert grounds["Batch size 8"] <= 2, "the figure stands on the page itself"
    assert grounds["The first eight"] > 100


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_photographs_can_be_told_by_their_text(lab):
    for cell in nbformat.read(lab.solution, as_version=4).cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            for text in re.findall(r'<img alt="([^"]*)"', html):
                is_photograph = "image_grid(" in cell.source
                assert text.startswith("The first") == is_photograph, text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_page_shows_the_figure_of_its_theme(site, page, theme):
    page.emulate_media(color_scheme=theme)
    page.goto((site / "docs" / "index.html").as_uri())
    pictures = page.locator('article img[alt^="Left: images per second"] >> visible=true')
    expect(pictures).to_have_count(1)
    ending = "law-dark.png" if theme == "dark" else "law.png"
    expect(pictures).to_have_attribute("src", re.compile(f"/{ending}$"))


def served(site, file_server):
    """The site's address; over a file's the browser lets no page read another."""
    folder, address = file_server
    folder.rmdir()
    folder.symlink_to(site)
    return address


def test_a_dark_page_is_printed_on_white(site, page, file_server):
    address = served(site, file_server)
    page.emulate_media(color_scheme="dark")
    page.goto(f"{address}docs/glossary.html")
    page.evaluate(
        "addEventListener('beforeprint', () => {"
        "  window.printed = document.documentElement.dataset.theme })"
    )
    page.pdf()
    assert page.evaluate("window.printed") == "light"
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_the_search_finds_a_term(site, page, file_server):
    address = served(site, file_server)
    page.goto(f"{address}search.html?q=roofline")
    page.locator("#search-results a", has_text="Glossary").first.wait_for()
    page.get_by_text("Search finished").wait_for()


def test_the_search_leaves_out_the_list_of_changes(site, page, file_server):
    assert "noise scale" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    address = served(site, file_server)
    page.goto(f"{address}search.html?q=noise+scale")
    page.get_by_text("Search finished").wait_for()
    found = page.locator("#search-results a").all_inner_texts()
    assert "Glossary > noise scale" in found
    assert "Changes" not in found


def test_the_search_shows_a_term_once_and_an_extract_of_the_text(site, page, file_server):
    address = served(site, file_server)
    page.goto(f"{address}search.html?q=all-reduce")
    page.get_by_text("Search finished").wait_for()
    found = page.locator("#search-results a")
    titles = found.all_inner_texts()
    assert [t for t in titles if t.startswith("Glossary")] == ["Glossary > all-reduce"]
    assert "#term-all-reduce" in found.first.get_attribute("href")
    page.wait_for_load_state("networkidle")
    page.goto(f"{address}search.html?q=throughput")
    lab = page.locator("#search-results li", has_text="Lab 02: ").first
    expect(lab.locator(".context")).to_contain_text("In this lab you train")


# What people ask, and the page, or its place, that one of the first answers leads to.
ASKED = {
    "deadline": "docs/teaching/decide.html#three-files-of-yours",
    "late penalty": "docs/teaching/decide.html#three-files-of-yours",
    "plagiarism": "docs/teaching/decide.html#look-at-answers-that-are-alike",
    "cheating": "docs/teaching/decide.html#look-at-answers-that-are-alike",
    "autograder": "docs/teaching/grading.html",
    "bf16": "docs/glossary.html#term-bfloat16",
    "mixed precision training": "solutions/08_faster.html#fewer-bits",
    "float16": "solutions/08_faster.html#fewer-bits",
    "Mac": "docs/places.html",
    "how do I install it on Windows?": "docs/places.html",
    "install": "docs/index.html#what-you-need",
    "GPU": "docs/places.html",
    "Slurm": "docs/operators.html#several-processes-and-hosts",
    "FSDP": "docs/glossary.html#term-ZeRO",
    "ZeRO": "docs/glossary.html#term-ZeRO",
    "tensor parallel": "docs/glossary.html#term-tensor-parallelism",
    "pipeline parallelism": "docs/glossary.html#term-pipeline",
    "allreduce": "docs/glossary.html#term-all-reduce",
    "all reduce": "docs/glossary.html#term-all-reduce",
    "certificate": "docs/your-notebooks.html#what-to-do-if",
    "reset an exercise": "docs/your-notebooks.html#what-to-do-if",
    "start again": "docs/your-notebooks.html#what-to-do-if",
    "solutions": "docs/index.html#how-a-lab-works",
    "What is a replica": "docs/glossary.html#term-replica",
    "privacy": "docs/teaching/instructor.html#students-data",
    "two graders": "docs/teaching/decide.html#several-graders",
    "no internet": "docs/operators.html#without-a-network",
    "ssh": "docs/places.html#a-server-that-you-reach-by-ssh",
    "gradient checkpointing": "docs/glossary.html#term-recomputation",
    "how grading works": "docs/teaching/grading.html",
    "class ring": "docs/teaching/class-ring.html",
    "leaderboard": "docs/leaderboard.html",
    "lab 2": "solutions/02_throughput.html",
    "exercise 2.1": "solutions/02_throughput.html#exercise-2-1-print-the-throughput",
}


def answers(page, address, query):
    """Where the answers lead, relative to the site."""
    page.goto(f"{address}search.html?{urlencode({'q': query})}")
    page.get_by_text("Search finished").wait_for()
    page.wait_for_load_state("networkidle")  # the extracts
    links = page.locator("#search-results li > a").evaluate_all(
        "all => all.map(a => a.href)"
    )
    return [link.removeprefix(address) for link in links]


def test_the_search_knows_the_words_that_people_use(site, page, file_server):
    address = served(site, file_server)
    first = {query: answers(page, address, query)[:3] for query in ASKED}
    assert not {query: found for query, found in first.items() if ASKED[query] not in found}


def test_every_place_of_the_words_is_there(site):
    words = tomllib.loads((REPOSITORY / "docs" / "search_words.toml").read_text())
    for place in words["places"]:
        page, anchor = urldefrag(place)
        assert not anchor or anchor in Links(site / f"{page}.html").places, place


def test_a_page_is_found_twice_at_most_and_a_title_before_a_text(site, page, file_server):
    address = served(site, file_server)
    for query in ("grading", "batch size", "ring"):
        found = answers(page, address, query)
        kinds = page.locator("#search-results li").evaluate_all(
            "all => all.map(item => item.className === 'kind-text')"
        )
        assert found
        assert sorted(kinds) == kinds, query
        pages = Counter(urldefrag(link).url for link in found)
        assert max(pages.values()) <= 2, query


def test_a_question_whose_words_no_page_has_together_finds_some(site, page, file_server):
    address = served(site, file_server)
    assert "solutions/10_more_machines.html" in answers(
        page, address, "xylophone compression"
    )
    found = page.locator("#search-results")
    expect(found).to_contain_text("No page has all of these words")
    page.goto(f"{address}search.html?q=xylophone")
    expect(found).to_contain_text("No page has any of these words")


def test_an_extract_begins_and_ends_with_a_whole_word(site, page, file_server):
    address = served(site, file_server)
    answers(page, address, "throughput")
    extracts = page.locator("#search-results .context").all_inner_texts()
    assert len(extracts) > 3
    for extract in extracts:
        assert not re.match(r"\.\.\.|… ?$", extract)
        assert "..." not in extract[-3:]
    [term] = [e for e in extracts if "images that are processed per second" in e]
    assert term.startswith("The number of images")


def glossary():
    """Each term with its lab's number."""
    terms = terms_of(GLOSSARY.read_text(encoding="utf-8"))
    return [
        (term, number)
        for term, text in terms.items()
        for number in re.findall(r"\[Lab (\d\d)\]", text) or [None]
    ]


def test_the_lab_that_the_glossary_names_explains_the_term():
    terms = glossary()
    assert [term for term, number in terms if not number] == ["MFU"]
    assert [t for t, _ in terms] == sorted((t for t, _ in terms), key=str.casefold)
    for term, number in ((term, number) for term, number in terms if number):
        cells = nbformat.read(find_lab(number).notebook, as_version=4).cells
        text = " ".join(cell.source for cell in cells)
        assert plain(term) in plain(text), (term, number)


def test_a_link_to_the_glossary_leads_to_its_term(site):
    page = (site / "solutions/02_throughput.html").read_text(encoding="utf-8")
    assert re.search(r'glossary\.html#term-throughput">(<[^>]*>)*throughput<', page)
    links = re.findall(r"docs/glossary\.html(#term-)?", page)
    assert links.count("#term-") >= len(links) - 2, "two name the glossary itself"


def test_the_glossary_leads_to_the_first_term_of_each_letter(site):
    page = (site / "docs/glossary.html").read_text(encoding="utf-8")
    letters = page.partition('<div class="letters">')[2].partition("</div>")[0]
    shown = re.findall(r'href="#term-(.)[^"]*".*?>(\w)</span></a>', letters)
    assert [letter for _, letter in shown] == sorted({t[0].upper() for t, _ in glossary()})
    assert all(first.upper() == letter for first, letter in shown)


def test_every_lab_has_terms_and_labs_09_and_10_those_of_many_machines():
    by_lab = {lab.number: set() for lab in all_labs()}
    for term, number in glossary():
        if number:
            by_lab[number].add(term)
    assert all(by_lab.values()), by_lab
    # Words that other pages on training with many machines take for known.
    names = {"checkpoint", "efficiency", "latency", "rank", "ring", "straggler", "worker"}
    assert names <= by_lab["09"] | by_lab["10"]


def plain(text):
    return " ".join(["", *re.sub(r"\W|_", " ", text).casefold().split()])
