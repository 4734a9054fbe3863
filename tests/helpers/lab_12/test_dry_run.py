"""A rehearsal resumes, survives a crash, and divides by the calibration load."""

import numpy as np
import pytest

from helpers.lab_12 import dry_run
from helpers.lab_12.figures import rehearsal
from helpers.speed_record.rule import CALIBRATION_STEPS


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, (40, 28, 28, 1)).astype("uint8")
    y = (np.arange(40) % 10).astype("uint8")
    return x[:30], y[:30], x[30:], y[30:]


@pytest.fixture
def rehearse(data, monkeypatch):
    """A rehearsal whose load takes 0.02 s for each step, by its own clock."""
    monkeypatch.setattr(dry_run, "calibration_load", lambda: None)
    monkeypatch.setattr(dry_run, "calibration_seconds", lambda load, steps: 0.02 * steps)

    def run(train, points, seeds=3):
        return dry_run.rehearse(train, data, seeds, 10, points, 0.05)

    return run


def perfect(seen=None):
    """It knows the labels by the images, as every image is another one."""

    def train(x, y, seed):
        if seen is not None:
            seen.append((seed, len(x), x.tobytes()))
        return lambda images: np.zeros(len(images), int)

    return train


def test_every_seed_gets_another_split_and_no_seed_is_measured_twice(rehearse):
    seen, points = [], {}
    rehearse(perfect(seen), points)
    assert [size for _, size, _ in seen] == [30] * 3
    assert len({seed for seed, _, _ in seen}) == len({images for _, _, images in seen}) == 3
    rehearse(perfect(seen), points, seeds=4)
    assert len(seen) == len(points) == 4


def test_seconds_are_divided_by_the_whole_load(rehearse):
    points = {}
    found = rehearse(perfect(), points)
    whole = pytest.approx(0.02 * CALIBRATION_STEPS)
    assert all(row["before"] == row["after"] == whole for row in points.values())
    seconds = [row["seconds"] for row in points.values()]
    ratios = [ratio for ratio, _ in dry_run.ratios(points)]
    assert ratios == pytest.approx([one / 0.02 / CALIBRATION_STEPS for one in seconds])
    assert found.score.low <= found.score.middle <= found.score.high
    assert found.crashes == found.drifted == 0


def test_a_crash_counts_as_a_guess_and_ends_nothing(rehearse, capsys):
    def train(x, y, seed):
        raise ValueError("no more memory")

    points = {}
    found = rehearse(train, points)
    assert found.crashes == 3
    assert found.accuracy.middle == pytest.approx(0.1)
    assert capsys.readouterr().out.count("A seed crashed with ValueError") == 3
    assert len(points) == 3


def test_the_figure_has_a_dot_for_each_seed():
    figure = rehearsal([(0.3, 0.9), (0.35, 0.91), (0.4, None)], 0.85)
    [dots] = [line for line in figure.axes[0].lines if line.get_label() == "a seed"]
    assert dots.get_xydata().tolist() == [[0.3, 0.9], [0.35, 0.91], [0.4, 0.1]]
