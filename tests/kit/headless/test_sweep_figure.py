"""The figure over a sweep: drawn for light and for dark pages."""

import base64
import io
import re

import pytest
from matplotlib.figure import Figure
from PIL import Image

from callbacks.live.style import DARK_STYLE
from helpers.run_card.units import in_heading
from kit.headless.report import write_table
from kit.headless.sweep_figure import draw, draw_panel

RUNS = [
    {"parameters": {"batch_size": size, "seed": seed}, "measured": {"accuracy": size / 100}}
    for size in (8, 16, 64)
    for seed in (0, 1)
]


@pytest.fixture
def figure():
    return draw(RUNS, ["batch_size", "seed"], ["accuracy"])


def paper(source):
    png = base64.b64decode(source.partition(",")[2])
    with Image.open(io.BytesIO(png)) as image:
        return bytes(image.convert("RGB").getpixel((0, 0))).hex()


def test_a_sweep_is_drawn_for_light_and_for_dark_pages(figure):
    assert paper(figure.light) == "ffffff"
    assert paper(figure.dark) == DARK_STYLE["figure.facecolor"].strip("#")
    assert figure.text.startswith("6 runs over batch size, a dot each")
    one = draw(RUNS[:1], ["batch_size", "seed"], ["accuracy"])
    assert one.text.startswith("1 run over batch size")


def test_noise_is_no_slope_and_each_swept_value_has_its_tick():
    rates = {1_000: 97_600.0, 2_000: 95_600.0, 32_000: 96_100.0}
    runs = [
        {"parameters": {"steps": steps}, "measured": {"steps_per_second": rate}}
        for steps, rate in rates.items()
    ]
    figure = Figure()
    axes = figure.add_subplot()
    draw_panel(axes, runs, "steps", [], "steps_per_second")
    figure.canvas.draw()
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "1,000", "2,000", "32,000",
    ]  # fmt: skip
    low, high = axes.get_ylim()
    assert low == 0
    assert (97_600 - 95_600) / (high - low) < 0.05
    assert "20,000" in [label.get_text() for label in axes.get_yticklabels()]


def test_seeds_have_no_order_so_no_line_joins_their_dots():
    figure = Figure()
    axes = figure.add_subplot()
    runs = [
        {"parameters": {"model": model, "seed": seed}, "measured": {"accuracy": value}}
        for model, values in {"small": (0.1, 0.3, 0.2), "large": (0.5, 0.7, 0.9)}.items()
        for seed, value in enumerate(values)
    ]
    draw_panel(axes, runs, "seed", ["model"], "accuracy")
    assert axes.get_xscale() == "linear"
    lines = {line.get_label(): line for line in axes.lines if line.get_linestyle() == "--"}
    assert {name: round(line.get_ydata()[0], 9) for name, line in lines.items()} == {
        "small": 0.2, "large": 0.7,
    }  # fmt: skip
    dots = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [dot.get_color() for dot in dots] == [
        line.get_color() for line in lines.values()
    ]
    assert "a line at their mean" in draw(runs, ["model", "seed"], ["accuracy"]).text


def test_a_page_of_runs_shows_the_figure_of_its_readers_theme(figure, tmp_path):
    rows = [{"name": "8", "cells": ["0.08"], "error": None, "page": None}]
    headings = ["run", in_heading("accuracy")]
    write_table(tmp_path / "index.html", "A sweep", ["fixed"], headings, rows, figure)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    dark = re.search(r'media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"', html)
    assert dark[1] == figure.dark
    assert f'src="{figure.light}" alt="{figure.text}"' in html
    write_table(tmp_path / "index.html", "A sweep", ["fixed"], headings, rows, None)
    assert "<figure" not in (tmp_path / "index.html").read_text(encoding="utf-8")
