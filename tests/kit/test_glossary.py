"""A link to the glossary leads to its term, in JupyterLab as on GitHub."""

import re

import nbformat
import pytest

from kit.glossary import PAGE, anchor, lead_to_terms, term_of, terms_of
from kit.labs import all_labs

TERMS = terms_of(PAGE.read_text(encoding="utf-8"))
LINK = re.compile(r"\[([^\]]+)\]\(\.\./docs/glossary\.md(#[^)\s]+)?\)")


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_each_link_of_a_lab_leads_to_a_term(lab):
    places = {f"#{anchor(term)}" for term in TERMS}
    for path in (lab.notebook, lab.solution):
        cells = nbformat.read(path, as_version=4).cells
        text = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        for words, place in LINK.findall(text):
            assert place in places or (words, place) == ("glossary", ""), words


@pytest.mark.parametrize(
    ("words", "term"),
    [
        ("*all-reduces*", "all-reduce"),
        ("*global* batch", "global batch"),
        ("ragged\nbatch", "ragged batch"),
        ("mini-batches", "mini-batch"),
        ("`prefetch`", "prefetch"),
        ("prefetching", "prefetch"),
        ("1F1B", "1F1B"),
        ("glossary", None),
    ],
)
def test_the_text_of_a_link_says_which_term_it_means(words, term):
    assert term_of(words) == term


def test_a_term_has_the_address_that_github_gives_to_its_heading():
    assert anchor("Amdahl's law") == "amdahls-law"
    assert anchor("model FLOPs utilization") == "model-flops-utilization"
    assert lead_to_terms("[XLA](../docs/glossary.md)") == "[XLA](../docs/glossary.md#xla)"


def test_a_place_that_is_given_stays():
    given = "[*traces*](../docs/glossary.md#tracing), [all](../docs/glossary.md)"
    assert lead_to_terms(given) == given
    assert lead_to_terms("[a *ring*](../docs/x.md)") == "[a *ring*](../docs/x.md)"


def test_no_two_terms_share_an_address_and_each_has_its_letter():
    places = {anchor(term).casefold() for term in TERMS}
    assert len(places) == len(TERMS) > 70
    letters = re.findall(r"^## (.)$", PAGE.read_text(encoding="utf-8"), re.M)
    assert letters == sorted({term[0].upper() for term in TERMS})
