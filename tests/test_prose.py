"""Each lab has formulas and links, and sentences that are tied together."""

import re
from itertools import pairwise

import pytest

from kit.authoring.diagrams.pictures import DIAGRAMS
from kit.generate import generate
from kit.labs import all_labs
from tests.prose import measure, sentences


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_has_formulas_links_connectives_and_its_diagrams(lab):
    found = measure(lab)
    assert found.formulas
    assert found.links
    assert found.connectives
    assert found.diagrams == len(DIAGRAMS.get(lab.number, ()))


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_an_aside_is_a_cell_of_its_own_that_renders(lab):
    """Markdown is read again after an empty line, but never within the summary."""
    for cell in generate(lab)[0].cells:
        if cell.cell_type == "markdown" and "details>" in cell.source:
            aside = r"<details><summary>[^<>`*$[]+</summary>\n\n(?!#)[^\n].*\n\n</details>"
            assert re.fullmatch(aside, cell.source, re.DOTALL), cell.source
            assert cell.source.count("details>") == 2, cell.source


def test_only_running_text_is_counted():
    text = """# A heading

It grows, because $x = 2$. See [a page](page.md) for `code` and more.

    some = code

| a | table |

- An entry is a sentence of its own
"""
    assert sentences(text) == [
        "It grows, because X.",
        "See a page for X and more.",
        "An entry is a sentence of its own",
    ]


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_no_line_break_turns_a_formula_into_a_list(lab):
    """In Markdown, a line that begins with `- ` or `1) ` begins a list."""
    lines = [line.removeprefix("# ") for line in lab.source.read_text().splitlines()]
    for before, line in pairwise(lines):
        is_open = "$$" not in before and before.count("$") % 2
        assert not (is_open and re.match(r"([-+*]|\d+[.)])\s", line)), f"{before}\n{line}"
