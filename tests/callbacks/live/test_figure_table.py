"""The data of a figure can be had as a table, with what the axes say."""

import html
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from callbacks.live.figure_table import MOST_ROWS, figure_table
from helpers import figures
from helpers.lab_02 import figures as lab_02
from helpers.lab_03 import figures as lab_03
from helpers.lab_05 import figures as lab_05
from helpers.lab_06 import figures as lab_06
from helpers.lab_07 import figures as lab_07


@pytest.fixture(autouse=True)
def static_figures():
    mpl.use("agg")
    yield
    plt.close("all")


def tables(figure):
    """Each table's rows as lists of text, the heads first; and the lines under them."""
    details = ET.fromstring(figure_table(figure))
    assert details.get("class") == "figure-data"
    cells = [
        [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
        for table in details.iter("table")
    ]
    return cells, [line.text for line in details.iter("p")]


def test_bars_and_lines_at_the_same_sizes_share_rows_that_the_ticks_name():
    figure = lab_02.throughput_bars({8: 300.1234, 1024: None}, {8: 1, 1024: 2})
    [table], _ = tables(figure)
    assert table == [
        ["batch size [images]", "measured here", "your prediction"],
        ["8", "300.1", "1"],
        ["1,024", "", "2"],
    ]


def test_a_table_that_does_not_follow_its_figure_says_of_when_it_is():
    figure = lab_02.throughput_bars({8: 300.1234}, {8: 1})
    page = figure_table(figure, ", as it was at the start")
    assert "<summary>The data as a table, as it was at the start</summary>" in page


def test_lines_across_the_axes_are_described_in_words():
    figure = lab_07.accuracy_by_epoch([1.5, 3], [0.51239, 0.7], target=0.9, guess=0.8)
    [table], [words] = tables(figure)
    assert table[1:] == [["1.5", "0.5124"], ["3", "0.7"]]
    assert words == "target 0.9: test accuracy 0.9; your guess 0.8: test accuracy 0.8"


def test_runs_at_one_size_share_one_cell_and_one_that_never_ended_has_no_time():
    figure = lab_03.time_to_accuracy_spread({8: [1.5, 2.5, None], 64: [None] * 2}, 64)
    [table], [words] = tables(figure)
    assert table == [
        ["batch size [images]", "each run", "median"], ["8", "1.5; 2.5", "2.5"],
    ]  # fmt: skip
    assert "1 of 3 never: batch size [images] 8; 2 of 2 never" in words


def test_runs_of_several_recipes_have_columns_of_their_own():
    runs = {"plain": {0.01: [0.8], 0.02: [0.1, 0.3, 0.2]}, "LAMB": {0.02: [0.5]}}
    [table], _ = tables(lab_05.accuracy_by_rate(runs, {"plain": 0.01, "LAMB": 0.02}))
    values = {name: row for name, *row in zip(*table, strict=True)}
    assert values["learning rate"] == ["0.0100", "0.0200"]
    assert values["plain, each run"] == ["0.8", "0.1; 0.3; 0.2"]


def test_bars_to_the_side_are_headed_by_their_names():
    [table], _ = tables(lab_05.weight_differences({"plain": 1e-7, "norm": 0.25}, 0.01))
    assert [row[:2] for row in table[1:]] == [["plain", "1e-07"], ["norm", "0.25"]]


def test_every_axes_has_its_own_table_and_every_run_the_name_of_its_size():
    runs = [
        {"batch_size": size, "wall_seconds": [1, 2], "val_accuracy": [0.1, 0.2]}
        for size in (8, 8, 16)
    ]
    [table], _ = tables(lab_03.accuracy_against_time(runs, 0.85))
    assert table[1] == ["1", "0.1; 0.1", "0.1"]
    lengths = {name: [1, 2] for name in ("SGD", "SGD, wrong", "Adam", "Adam, wrong")}
    found, _ = tables(lab_06.step_lengths([1, 2], lengths, {"one device": [2, 1]}))
    assert [table[0][0] for table in found] == ["simulated replicas", "step"]


def test_error_bars_points_and_a_path():
    figure, axes = plt.subplots()
    axes.errorbar([1, 2], [3, 4], yerr=[0.5, 0.25], label="mean")
    axes.scatter([1, 2], [7, 8], label="<dots>")
    axes.plot([3, 1, 2], [5, 6, 7], label="path")
    axes.set(xlabel="weight", ylabel="loss")
    (shared, path), _ = tables(figure)
    assert shared == [
        ["weight", "mean", "<dots>"],
        ["1", "3 (2.5 to 3.5)", "7"],
        ["2", "4 (3.75 to 4.25)", "8"],
    ]
    assert path == [["weight", "path"], ["3", "5"], ["1", "6"], ["2", "7"]]


def test_a_long_series_is_thinned_and_says_so():
    figure = lab_05.learning_rates({"constant": [0.1] * 1001})
    [table], _ = tables(figure)
    assert len(table) == MOST_ROWS + 1
    assert (table[1][0], table[-1][0]) == ("0", "1000")
    assert f"({MOST_ROWS} of 1,001 rows, evenly spaced)" in figure_table(figure)


def test_pictures_have_no_table():
    figure, axes = plt.subplots()
    axes.imshow([[0, 1], [1, 0]])
    assert figure_table(figure) == ""


@pytest.mark.parametrize("live", [False, True])
def test_a_figure_is_shown_with_its_table(live, monkeypatch, capsys):
    shown = []

    def display(what, raw=False, display_id=None):
        shown.append(what)
        return SimpleNamespace(update=lambda what, raw: kept.append(what["text/html"]))

    kept = []
    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(figures, "in_jupyterlab", lambda: live)
    figure = lab_02.step_times({8: 0.5})
    figures.show_figure(figure, "What it <shows>", "a caption")
    text = "".join(kept) + shown[-1].data
    assert html.escape("What it <shows>") in text
    assert re.search(r'<details class="figure-data">.*<td>0\.5</td>.*</details>$', text)
    assert capsys.readouterr().out == "What it <shows>\n"
    places = [what for what in shown if isinstance(what, dict)]
    views = [what for what in places if any("widget-view" in kind for kind in what)]
    assert len(views) == live, "one canvas in JupyterLab, none elsewhere"
