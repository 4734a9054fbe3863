"""The sliders of the pipeline change its time line and the words about it."""

import matplotlib.pyplot as plt
import pytest

from helpers import figures
from helpers.exercise import find_exercise
from helpers.lab_11.pipelines import pipeline_explorer, pipeline_schedule

ORDER = find_exercise("11.5").reference


@pytest.fixture(autouse=True)
def no_figures_left():
    figures.use_figures()
    yield
    plt.close("all")


def test_each_slider_changes_boxes_and_words():
    told = []
    figure, controls = pipeline_explorer.live(ORDER, [told.append])
    stages, micro_batches, text = controls.children
    for p, m in ((1, 1), (3, 1), (3, 20), (12, 20)):
        stages.value, micro_batches.value = p, m
        assert len(figure.axes[0].patches) == 2 * p * m
        assert f"{100 * pipeline_schedule.formula(p, m):.1f}%" in text.value
        assert f"held by stage 0: {min(p, m)}." in text.value
        assert told[-1] == text.value


def test_elsewhere_there_is_one_time_line(monkeypatch):
    shown = []
    monkeypatch.setattr(pipeline_explorer, "show_figure", lambda *args: shown.append(args))
    pipeline_explorer.explore(ORDER, "caption")
    [(figure, summary, caption)] = shown
    assert len(figure.axes[0].patches) == 2 * 8 * 8
    assert "46.7%" in summary
    assert caption == "caption"
