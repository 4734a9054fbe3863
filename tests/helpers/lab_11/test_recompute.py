"""Lab 11's recomputation: what JAX compiles, and what the formula says of it."""

import math

import pytest

from helpers.lab_11.ex2_segments.judge import least, parts_of, peak
from helpers.lab_11.recomputation import recompute_figures
from helpers.lab_11.recomputation import recompute_on_jax as recompute
from helpers.machine import jax_process

# One process compiles or trains for all of these tests.
pytestmark = pytest.mark.xdist_group("recompute")


@pytest.fixture(scope="module")
def measured():
    return recompute.measure(layers=16, batch_size=2, repeats=2, seed=0)


@pytest.mark.weekly  # lab 11 compares them, too
def test_recomputation_saves_memory_and_changes_no_gradient(measured):
    assert min(measured["bytes"].values()) < measured["kept"]
    assert measured["off"] < 1e-4


@pytest.mark.weekly
def test_every_round_has_a_time_for_each_number_of_segments(measured):
    ratios = recompute.slower(measured)
    assert sorted(ratios) == [2, 4, 8]
    assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in ratios.values())


@pytest.mark.parametrize("layers", [8, 12, 20, 28, 64, 1024])
def test_all_numbers_of_segments_divide_the_layers(layers):
    chosen = recompute.numbers_of_segments(layers)
    assert all(layers % segments == 0 for segments in chosen)
    assert {1, 2, layers // 2, layers} <= set(chosen)
    assert recompute.middle(layers) in recompute.between(layers)


@pytest.mark.parametrize("layers", [4, 9, 16])
def test_equal_layers_need_least_with_a_square_root_of_segments(layers):
    root = math.isqrt(layers)
    assert least((7,) * layers) == 7 * (2 * root - 1)
    firsts = tuple(range(0, layers, root))
    assert peak(parts_of((7,) * layers, firsts)) == 7 * (2 * root - 1)


@pytest.mark.parametrize("layers", [4, 9, 16])
def test_the_formula_is_the_peak_that_exercise_2_asks_for(layers):
    root = math.isqrt(layers)
    firsts = tuple(range(0, layers, root))
    share = peak(parts_of((7,) * layers, firsts)) / (7 * layers)
    assert recompute.formula(layers, root) == pytest.approx(share)


def test_without_jax_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr(jax_process, "find_spec", lambda name: None)
    assert recompute.measure(layers=8, batch_size=1, repeats=2, seed=0) is None
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("JAX is not installed here")


def test_the_figure_shows_memory_and_time():
    times = {2: [1.2, 1.4], 4: [1.1, 1.5]}
    figure = recompute_figures.price({2: 0.4, 4: 0.3}, {1: 1, 2: 0.5, 4: 0.4}, times)
    memory, time = figure.axes
    assert memory.get_ylabel() == "peak memory / plain step"
    assert time.get_ylim()[1] > 1.5
