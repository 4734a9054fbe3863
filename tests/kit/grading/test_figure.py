"""The figure of a submission is made from its pixels, or refused unread."""

import base64
import io
import json
import struct

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from helpers.texts import read_texts
from kit.grading.figure import LONGEST_ALT, NONE, figure_of
from kit.labs import all_labs, find_lab

LAB = find_lab("02")
ALT = "Half of the sizes lie within 1.9% of the fitted law."


def png(width=1800, height=900, cut=False, note=""):
    """A PNG in base64; if it is cut, only its header is right."""
    if cut:
        header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
        return base64.b64encode(header + bytes(9)).decode()
    content, info = io.BytesIO(), PngInfo()
    info.add_text("Author", note)
    image = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    image.putpixel((0, 0), (200, 0, 0, 255))
    image.save(content, "PNG", pnginfo=info, icc_profile=note.encode())
    return base64.b64encode(content.getvalue()).decode()


def figure_cell(alt, image, printed=""):
    shown = f'<img alt="{alt}" src="data:image/png;base64,{image}">'
    stream = {"output_type": "stream", "name": "stdout", "text": [printed]}
    output = {"output_type": "display_data", "data": {"text/html": [shown]}}
    outputs = [{**output, "metadata": {}}, stream]
    return {"cell_type": "code", "source": "", "metadata": {}, "outputs": outputs}


def test_the_figure_that_the_question_is_about_is_made_from_its_pixels():
    printed = "".join(f"line {n}\n\n" for n in range(30))
    cells = [
        figure_cell("before", png(10, 10)),
        figure_cell(ALT + "x" * LONGEST_ALT, png(note="ada"), printed),
        figure_cell("after", png(10, 10)),
    ]
    said, content = figure_of(cells, LAB)
    assert said["alt"].startswith(ALT)
    assert len(said["alt"]) == LONGEST_ALT
    assert said["printed"] == [*(f"line {n}" for n in range(24)), "(and 6 more lines)"]
    with Image.open(io.BytesIO(content)) as image:
        assert image.size == (said["width"], said["height"]) == (900, 450)
        assert not {"Author", "icc_profile"} & image.info.keys()
        assert image.convert("RGB").getpixel((800, 400)) == (255, 255, 255)
    assert b"ada" not in content


def test_a_figure_without_a_name_is_the_last_before_the_closing_parts():
    own = {"output_type": "display_data", "data": {"image/png": png(30, 30)}}
    closing = {"cell_type": "markdown", "source": ["## Explain your figure\n", "Why?"]}
    cells = [
        {"cell_type": "code", "source": "", "outputs": [own]},
        closing,
        figure_cell("after", png(10, 10)),
    ]
    said, _ = figure_of(cells, LAB)
    assert (said["width"], said["alt"]) == (30, "")


ODD = [
    {}, {"outputs": 1}, {"outputs": [1, {"data": 1}, {"data": {"text/html": 1}}]},
    {"source": {"a": 1}, "outputs": [{"name": "stdout", "text": 1}]},
]  # fmt: skip


def test_a_notebook_without_a_figure_says_so():
    assert figure_of([], LAB) == figure_of(ODD, LAB) == ({"problem": NONE}, b"")


TWO_HEADERS = base64.b64decode(png(10, 10))
TWO_HEADERS = TWO_HEADERS[:33] + base64.b64decode(png(3000, 3000))[8:]


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (png(4_000_000, 4_000_000, cut=True), ": it has more than 4,000,000 pixels"),
        (png(3000, 3000), ": it has more than 4,000,000 pixels"),
        ("A" * 2_000_001, ": its file is too large"),
        (png(10, 10, cut=True), ""),
        (png(10, 10)[:-40], ""),
        (base64.b64encode(TWO_HEADERS).decode(), ""),
        ("###", ""),
        (base64.b64encode(b"<svg/>").decode(), ""),
        (png(0, 10, cut=True), ""),
    ],
)
def test_a_hostile_figure_is_not_shown(image, why):
    said, content = figure_of([*ODD, figure_cell(ALT, image)], LAB)
    assert said == {"problem": f"the figure in the notebook cannot be shown{why}"}
    assert content == b""


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.number)
def test_the_figure_of_a_solution_is_the_one_that_the_lab_names(lab):
    notebook = json.loads(lab.solution.read_text(encoding="utf-8"))
    said, _ = figure_of(notebook["cells"], lab)
    assert said["width"] <= 900
    assert said["printed"]
    assert not said["printed"][-1].startswith("(and "), (
        "no line that an answer needs is lost"
    )
    texts = read_texts(lab.number)
    assert (texts["explained_figure"] or texts["report_figure"]) in said["alt"]
