"""The pages of `labs run` need nothing from the network."""

import base64
import io
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from helpers.run_card import predictions
from helpers.run_card.documents import open_card
from helpers.texts import read_texts
from kit.headless.report import page, write_report
from kit.labs import all_labs, find_lab
from kit.pictures import main_picture
from tests.asked import only
from tests.browser import student

FORMULAS = r"""A step takes $t_0 + b / r_\infty$ seconds, which a table compares:

| law | at the bend |
|---|---|
| $n_0 (1 + B / b)$ | `cost = "$5"` |

Both together give

$$ b^* = \sqrt{B\, t_0\, r_\infty} $$

images, so $b^*$ is the best size."""
LONG = r"$$" + " + ".join(rf"\frac{{x_{{{n}}}}}{{y_{{{n}}}}}" for n in range(40)) + "$$"
WIDE = "\n".join(["|a_long_word" * 20 + "|", "|---" * 20 + "|", "|a_long_word" * 20 + "|"])


def report_page(*texts):
    cells = [*map(new_markdown_cell, texts), new_code_cell("price = '$1 or $2'")]
    return page(new_notebook(cells=cells), find_lab("02"), {"scale": "smoke"})


def test_a_report_has_its_formulas_without_the_network():
    html = report_page(FORMULAS)
    assert html.count("<math") == 4
    assert html.count('class="formula"') == html.count('display="block"') == 1
    assert 'cost = "$5"' in html.replace("&quot;", '"')  # code keeps its dollar signs
    assert "$1 or $2" in html
    shown = re.sub(r"<(code|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert "$" not in re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?:https?:)?//[^"]+\.(?:js|css)', html)


@pytest.mark.parametrize(
    "lab", only({find_lab("02")}, all_labs()), ids=lambda lab: lab.name
)
def test_no_link_of_a_report_leads_nowhere(lab):
    notebook = nbformat.read(lab.solution, as_version=4)
    html = page(notebook, lab, {}, "../index.html", {"03_time_to_accuracy", lab.name})
    links = re.findall(r'<a [^>]*href="(?![a-z]+:|#)([^"]+)"', html)
    names = {link.partition("#")[0] for link in links}
    assert names <= {"../index.html", "03_time_to_accuracy.html", f"{lab.name}.html"}
    assert "../index.html" in names
    assert lab.number != "02" or "03_time_to_accuracy.html" in names
    assert "docs/glossary.md" not in html


@pytest.mark.slow
def test_a_report_on_a_telephone_scrolls_long_formulas_and_tables_alone(tmp_path):
    if not student.browser_path():
        pytest.skip("chromium is not installed")
    path = tmp_path / "report.html"
    path.write_text(report_page(FORMULAS, LONG, WIDE), encoding="utf-8")
    with student.chromium() as browser:
        window = browser.new_page(viewport={"width": 390, "height": 900})
        window.goto(path.as_uri())
        assert window.evaluate("document.documentElement.scrollWidth") == 390
        wider = "element => element.scrollWidth > element.clientWidth"
        assert window.locator(".formula").last.evaluate(wider)
        assert window.locator("main table").last.evaluate(wider)


def drawn(text):
    html = f'<img alt="{text}" src="data:image/png;base64,{text}">'
    output = new_output("display_data", data={"text/html": html})
    return new_code_cell("show", outputs=[output])


@pytest.mark.parametrize(
    ("cells", "main"),
    [
        ([drawn("a"), drawn("b"), "## Explain your figure", drawn("c")], "b"),
        ([drawn("a"), "## Going further", drawn("b")], "a"),
        (["## Explain your figure", drawn("c")], "c"),
        ([drawn("a"), drawn("b")], "b"),
        (["no figure"], None),
    ],
)
def test_the_main_figure_is_the_last_one_before_the_closing_parts(cells, main):
    cells = [new_markdown_cell(one) if isinstance(one, str) else one for one in cells]
    found = main_picture(new_notebook(cells=cells))
    assert (found and found[1]) == main


def test_a_figure_that_is_named_is_the_main_one_and_a_wrong_name_changes_nothing():
    cells = [drawn("step times"), drawn("speeds, small"), drawn("speeds"), drawn("memory")]
    notebook = new_notebook(cells=cells)
    assert main_picture(notebook, "speeds")[1] == "speeds, small"
    assert main_picture(notebook, "accuracy")[1] == "memory"


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.number)
def test_a_lab_names_a_figure_of_its_solution_for_the_report(lab):
    named = read_texts(lab.number)["report_figure"]
    assert named
    found = main_picture(nbformat.read(lab.solution, as_version=4), named)
    assert named in found[1]


def a_run(size, speed, busy=False):
    environment = {"device": {"name": "a toy"}, "versions": {}}
    parameters = {"scale": "smoke", "batch_size": size}
    card = open_card("02_throughput", parameters, environment)
    card.measure("images_per_second", speed)
    if busy:
        card.note_other_load(60, 3.0, None)
    card.finish()
    return card.content


@pytest.mark.parametrize(
    ("earlier", "says"),
    [
        ([(64, 50.0), (32, 100.0)], "images per second +20%."),
        ([(32, 100.0), (64, 50.0)], "images per second +20%."),  # one of a sweep between
        ([(64, 50.0)], "images per second +140%; batch_size was 64."),
        ([], ""),
    ],
)
def test_a_run_is_compared_with_one_that_had_the_same_parameters(
    tmp_path, monkeypatch, earlier, says
):
    for size, speed in earlier:
        a_run(size, speed)
    monkeypatch.setenv("LABS_RUN", "now")
    html = report_of(a_run(32, 120.0), tmp_path / "reports")
    found = re.search(r"Since the run of [^:]*:\d\d: (.*?)</p>", html)
    assert (found[1] if found else "") == says


@pytest.mark.parametrize(
    ("busy_runs", "says"),
    [
        ((), ""),
        ((0,), "; other programs used up to 60% of the CPUs during the earlier run"),
        ((1,), "; other programs used up to 60% of the CPUs during this run"),
    ],
)
def test_a_change_of_speed_says_which_run_was_on_a_busy_machine(
    tmp_path, monkeypatch, busy_runs, says
):
    a_run(32, 100.0, 0 in busy_runs)
    monkeypatch.setenv("LABS_RUN", "now")
    html = report_of(a_run(32, 45.0, 1 in busy_runs), tmp_path)
    assert f"images per second -55%{says}.</p>" in html


def report_of(card, folder):
    result = {
        "lab": find_lab("02"), "given": {}, "card": card, "seconds": 1.0, "error": "",
    }  # fmt: skip
    return write_report([result], folder, "now").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_table_that_is_too_wide_fades_at_its_edge_until_its_end(tmp_path):
    if not student.browser_path():
        pytest.skip("chromium is not installed")
    result = {
        "lab": find_lab("02"), "given": {}, "card": a_run(32, 1.0), "seconds": 1.0,
        "error": "",
    }  # fmt: skip
    path = write_report([result], tmp_path, "now")
    with student.chromium() as browser:
        window = browser.new_page(viewport={"width": 390, "height": 900})
        window.goto(path.as_uri())
        window.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        table = window.locator(".scroll").last
        fade = "e => getComputedStyle(e).getPropertyValue('--fade')"
        assert table.evaluate("e => e.scrollWidth > e.clientWidth")
        assert table.evaluate(fade) == "48px"
        table.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
        window.wait_for_function("() => true")
        assert table.evaluate(fade) == "0px"
        window.set_viewport_size({"width": 1280, "height": 900})
        assert table.evaluate(fade) == "0px"


@pytest.mark.slow
def test_on_a_telephone_each_prediction_has_its_outcome_in_sight(tmp_path):
    if not student.browser_path():
        pytest.skip("chromium is not installed")
    card = a_run(32, 1.0)
    entry = {"value": 2.0, "outcome": 4.0, "factor_off": 2.0}
    card["predictions"] = {"a_speed_over_another": predictions.new_entry() | entry}
    (tmp_path / "now").mkdir()
    png = io.BytesIO()
    Image.new("1", (1, 1)).save(png, "png")
    cells = [drawn(base64.b64encode(png.getvalue()).decode())]
    path = tmp_path / "now/02_throughput.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    report_of(card, tmp_path)
    with student.chromium() as browser:
        window = browser.new_page(viewport={"width": 390, "height": 900})
        window.goto((tmp_path / "index.html").as_uri())
        figure = window.locator("figure > .scroll")
        width = "e => e.scrollWidth - e.clientWidth"
        assert figure.evaluate(width) == 0
        figure.click()
        assert figure.evaluate(width) > 300, "it is enlarged"
        cells = window.locator(".stacked td")
        right_edges = cells.evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().right)"
        )
        assert len(right_edges) == 3 and max(right_edges) <= 390
        label = "e => getComputedStyle(e, '::before').content"
        assert cells.last.evaluate(label) == '"how near: "'


@pytest.mark.slow
def test_figures_are_light_on_dark_on_a_dark_page_alone(tmp_path):
    if not student.browser_path():
        pytest.skip("chromium is not installed")
    path = tmp_path / "lab.html"
    photograph = drawn("The first eight images.")
    notebook = new_notebook(cells=[drawn("a"), photograph])
    path.write_text(page(notebook, find_lab("02"), {}), encoding="utf-8")
    with student.chromium() as browser:
        for scheme, turned in (("dark", True), ("light", False)):
            window = browser.new_page(color_scheme=scheme)
            window.goto(path.as_uri())
            style = "e => getComputedStyle(e).filter"
            figure, unturned = window.locator(".output_html img").all()
            assert ("invert" in figure.evaluate(style)) == turned
            assert unturned.evaluate(style) == "none"
