"""Each lab has formulas and links, and sentences that are tied together."""

import pytest

from kit.authoring.diagrams.pictures import DIAGRAMS
from kit.labs import all_labs
from tests.prose import measure, sentences


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_has_formulas_links_connectives_and_its_diagrams(lab):
    found = measure(lab)
    assert found.formulas
    assert found.links
    assert found.connectives
    assert found.diagrams == len(DIAGRAMS.get(lab.number, ()))


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
