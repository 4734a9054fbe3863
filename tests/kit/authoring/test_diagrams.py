"""A diagram is what its code draws, is shown in its lab, and keeps inside its sheet."""

import re
import xml.etree.ElementTree as ET

import pytest

from helpers.files import REPOSITORY
from kit.authoring.diagrams.pictures import DIAGRAMS
from kit.labs import all_labs, find_lab

EACH = [(number, name) for number, drawn in DIAGRAMS.items() for name in drawn]


@pytest.mark.parametrize(("number", "name"), EACH)
def test_a_stored_diagram_is_what_the_code_draws(number, name):
    drawing = DIAGRAMS[number][name]()
    stored = find_lab(number).folder / "diagrams" / f"{name}.svg"
    assert stored.read_text(encoding="utf-8") == drawing.svg(), "labs build draws it again"
    ET.fromstring(drawing.svg())
    for left, right, text in drawing.texts:
        assert left >= 2, text
        assert right <= drawing.width - 2, text


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_shows_its_diagrams_with_words_for_those_who_cannot_see(lab):
    source = lab.source.read_text(encoding="utf-8").replace("\n# ", " ")
    shown = re.findall(r"!\[([^\]]*)\]\(\.\./(helpers/[^)]+\.svg)\)", source)
    for alt, path in shown:
        assert len(alt.split()) >= 5, path
        assert (REPOSITORY / path).is_file(), path
    folder = f"helpers/lab_{lab.number}/diagrams"
    drawn = {f"{folder}/{name}.svg" for name in DIAGRAMS.get(lab.number, ())}
    assert {path for _, path in shown} == drawn


def test_no_diagram_is_left_over():
    stored = REPOSITORY.glob("helpers/lab_*/diagrams/*.svg")
    assert {(path.parts[-3][-2:], path.stem) for path in stored} == set(EACH)
