"""The pages of `labs run` need nothing from the network."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from kit.headless.report import page
from kit.labs import find_lab
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
