"""The dashboard shows what happens, in every place where a lab may run."""

import re
import time

import keras
import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from callbacks import TrainingDashboard, follow
from callbacks.live.dashboard import device_memory_bytes
from callbacks.live.progress import hide_bars, progress
from callbacks.live.views import Curves
from helpers.files import REPOSITORY
from helpers.machine.devices import simulated_strategy

X, Y = np.zeros((100, 1), "float32"), np.zeros((100, 1), "float32")
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
TRAIN = """
import keras, numpy as np
from callbacks import TrainingDashboard
x = y = np.zeros((100, 1), "float32")
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
"""
FIT = """model.fit(x, y, batch_size=16, validation_data=(x, y), epochs=3, verbose=0,
    callbacks=[TrainingDashboard(){more}])"""
STOP = """, keras.callbacks.LambdaCallback(
    on_epoch_begin=lambda epoch, logs: 1 / (1 - epoch))"""


def new_model(**options):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"], **options)
    return model


class Watched(TrainingDashboard):
    """A dashboard that keeps what its view is told."""

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.said, self.drawn_series = [], []
        self.view.say = lambda part, text: self.said.append((part, text))
        self.view.draw = self.drawn_series.append


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(monkeypatch, in_lab, *sources):
    """Run cells in a kernel, as JupyterLab or as papermill starts one."""
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    if in_lab:
        monkeypatch.setenv("JPY_SESSION_NAME", "lab.ipynb")
    notebook = new_notebook(cells=[new_code_cell(s) for s in sources], metadata=KERNEL)
    resources = {"metadata": {"path": str(REPOSITORY)}}
    client = NotebookClient(notebook, timeout=120, allow_errors=True, resources=resources)
    client.execute()
    return notebook


def text_of(cell):
    text = "".join(o.text for o in cell.outputs if o.get("name") == "stdout")
    return re.sub(r"[^\n]*\r", "", text)  # as a screen shows it, without bars


def html_of(cell):
    return [o.data["text/html"] for o in cell.outputs if "text/html" in o.get("data", {})]


@pytest.mark.parametrize("replicas", [1, 2])
def test_throughput_counts_every_example_once(replicas, monkeypatch):
    # 100 examples in batches of 16: the last has 4.
    monkeypatch.setattr(time, "perf_counter", iter(range(10**6)).__next__)
    dashboard = Watched()
    counted = []
    count = dashboard._examples
    dashboard._examples = lambda: counted.append(count()) or counted[-1]
    with simulated_strategy(replicas).scope():
        model = new_model(jit_compile=False)
    data = {"batch_size": 16, "validation_data": (X[:50], Y[:50])}
    model.fit(X, Y, epochs=3, callbacks=[dashboard], verbose=0, **data)
    assert counted.count(100.0) >= 3
    assert max(counted) == 100.0


def test_a_model_that_keeps_no_loss_shows_steps(capsys):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            return {"nothing": 0.0}

    model = Own()
    model.compile("sgd", jit_compile=False)
    model.fit(X, Y, callbacks=[TrainingDashboard()], verbose=0)
    assert re.search(r"\d steps/s", capsys.readouterr().out)


def test_throughput_leaves_validation_out(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    class Tick(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            clock[0] += 1

        def on_test_batch_begin(self, batch, logs=None):
            clock[0] += 1000

    dashboard = Watched()
    data = {"batch_size": 50, "epochs": 2, "validation_data": (X, Y)}
    new_model().fit(X, Y, callbacks=[dashboard, Tick()], verbose=0, **data)
    assert dashboard.series["images_per_second"] == [(1, 50.0), (2, 50.0)]


def trained_by_a_clock(monkeypatch, batch_seconds, draw_seconds):
    """A dashboard that saw ten epochs of 100 batches, and where its drawings ended."""
    clock, ends = [0.0], []
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(time, "thread_time", lambda: clock[0])

    class Tick(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            keep = dashboard.view.draw

            def draw(series):
                clock[0] += draw_seconds
                ends.append(series["loss"][-1][0])
                keep(series)

            dashboard.view.draw = draw

        def on_train_batch_begin(self, batch, logs=None):
            clock[0] += batch_seconds

    dashboard = Watched()
    data = {"batch_size": 1, "epochs": 10}
    new_model().fit(X, Y, callbacks=[dashboard, Tick()], verbose=0, **data)
    return dashboard, ends


def test_it_redraws_by_the_clock_and_not_by_the_batch(monkeypatch):
    dashboard, ends = trained_by_a_clock(monkeypatch, 0.01, 0.05)
    assert 8 <= len(dashboard.said) <= 14
    assert 2 <= len(ends) <= 5  # and one when training ends
    parts = [part for part, _ in dashboard.said]
    assert parts == sorted(parts)
    assert "left" in dashboard.said[-2][1]
    assert "learning rate 0.01" in dashboard.said[-2][1]


def test_the_end_of_a_long_epoch_is_drawn(monkeypatch):
    _, ends = trained_by_a_clock(monkeypatch, 0.2, 0.2)
    assert set(ends) >= set(range(1, 11))


def test_an_epoch_under_way_is_the_last_point_of_the_curves():
    seen = []

    class Look(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if dashboard.epoch == 1 and batch == 2:
                time.sleep(0.6)  # shorter ones are left out
                seen.append(dashboard._so_far())

    dashboard = Watched()
    new_model().fit(X, Y, batch_size=25, epochs=2, callbacks=[dashboard, Look()], verbose=0)
    assert [epoch for epoch, _ in seen[0]["loss"]] == [1, 1.5]
    assert [epoch for epoch, _ in seen[0]["images_per_second"]] == [1, 1.5]
    assert [epoch for epoch, _ in dashboard.series["loss"]] == [1, 2]


PLACES = [
    pytest.param(False, id="papermill", marks=pytest.mark.weekly),
    pytest.param(True, id="JupyterLab"),
]


@pytest.mark.parametrize("in_lab", PLACES)
def test_a_notebook_keeps_lines_a_picture_and_a_summary(in_lab, monkeypatch):
    sources = (TRAIN, FIT.format(more=""), FIT.format(more=STOP))
    _, whole, stopped = run(monkeypatch, in_lab, *sources).cells
    for cell, said, done in ((whole, "Trained", 3), (stopped, "Stopped after", 1)):
        text = text_of(cell)
        assert re.findall(r"^Epoch (\d): .*val_loss \d", text, re.M) == [*"123"[:done]]
        summary = re.search(
            rf"^{said} {done} epochs? in .*images/s without, .*val_loss.*$", text, re.M
        )
        picture = "".join(html_of(cell))
        assert f'<img alt="{summary[0]}" src="data:image/png;base64,' in picture
        assert picture.count("<img ") == 1
        assert "<td>" in picture, "the data as a table"
        live = [o for o in cell.outputs if "widget-view" in str(o.get("data"))]
        assert len(live) == in_lab


@pytest.mark.weekly  # `test_divergence.py` asks it of loops, and of `fit` in a script
@pytest.mark.parametrize("in_lab", PLACES)
def test_a_notebook_says_that_a_training_diverged(in_lab, monkeypatch):
    diverge = "x = np.full((100, 1), 1e30, 'float32')\n" + FIT.format(more="")
    notebook = run(monkeypatch, in_lab, TRAIN, diverge, FIT.format(more=""))
    line = r"The loss became (?:nan|inf) in epoch 1: training has diverged, .*"
    line += r"a smaller learning_rate \(now 0\.01\)\."
    for cell in notebook.cells[1:]:  # the weights stay nan
        lines = text_of(cell).splitlines()
        [said] = [text for text in lines if re.fullmatch(line, text)]
        assert lines.index(said) in (0, 1)  # first, where a redraw has seen it
        lines.remove(said)
        starts = ["Epoch 1: ", "Epoch 2: ", "Epoch 3: ", "Trained 3"]
        assert [text[:9] for text in lines] == starts
        picture = "".join(html_of(cell))
        assert re.search(r'alt="Trained 3 .* without, but diverged in epoch 1\."', picture)
        assert "<td>none</td>" in picture
        assert "<td></td>" not in picture
    if in_lab:
        widgets = notebook.metadata["widgets"].values()
        states = [w["state"] for these in widgets for w in these["state"].values()]
        assert not [s for s in states if "Trained" in str(s.get("value"))], "it is printed"
        assert [s["bar_style"] for s in states if s.get("bar_style")] == ["danger"] * 2


def test_a_terminal_gets_a_picture_in_a_file_also_when_interrupted(tmp_path, capsys):
    class Interrupt(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                time.sleep(2.1)  # before, nothing is drawn
            if epoch == 2:
                raise KeyboardInterrupt

    model = new_model()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, epochs=3, callbacks=[TrainingDashboard(), Interrupt()], verbose=0)
    picture = tmp_path / "training.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    picture.unlink()
    model.fit(X, Y, epochs=3, callbacks=[TrainingDashboard()], verbose=0)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "Curves: " in capsys.readouterr().out


@pytest.mark.parametrize("epochs", [0, 2])
def test_a_loop_of_ones_own_is_watched_by_its_functions(epochs, capsys):
    calls = []
    dashboard = Watched(examples_per_epoch=12, unit="words")

    def logs(result):
        return {"loss": 0.5, "val_loss": result}

    with follow(dashboard, calls.append, lambda x: 0.25, logs, epochs, 3, 2) as watched:
        train_step, test = watched
        for _ in range(epochs):
            for x in "abc":
                train_step(x)
            assert [test(x) for x in "de"] == [0.25, 0.25]
    assert calls == [*"abc"] * epochs
    text = capsys.readouterr().out
    assert re.findall(r"Epoch (\d): loss 0.5000, val_loss 0.2500", text) == [*"12"[:epochs]]
    assert f"Trained {epochs} epochs" in text
    assert ("words/s" in text) == bool(epochs)


def test_a_loop_that_fails_keeps_its_error():
    def fail():
        raise ValueError("mine")

    with (
        pytest.raises(ValueError, match="mine"),
        follow(TrainingDashboard(examples_per_epoch=1), fail, None, None, 1, 1) as (
            step,
            _,
        ),
    ):
        step()


def test_each_line_stays_in_its_panel_when_metrics_come_later():
    curves = Curves(3, "a caption")
    rate, loss = [(0.5, 3.0)], [(1, 2.0)]
    assert curves.update({"words_per_second": rate})
    assert curves.update({"words_per_second": rate, "accuracy": rate, "val_loss": loss})
    assert not curves.update({"words_per_second": rate, "val_loss": loss})
    assert {name: line.axes.get_title("left") for name, line in curves.lines.items()} == {
        "words_per_second": "words/s", "accuracy": "accuracy", "val_loss": "loss",
    }  # fmt: skip
    assert curves.update({"words_per_second": [*rate, (1, 9.0)]}), "beyond the axes"
    curves.figure.draw_without_rendering()
    [legend] = curves.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["training", "validation"]
    highest = max(axes._left_title.get_window_extent().y1 for axes in curves.axes)
    assert legend.get_window_extent().y0 >= highest, "it covers no curve and no title"


def test_a_loop_that_a_live_dashboard_follows_has_no_second_bar():
    hide_bars(True)
    try:
        assert progress([1]).disable
    finally:
        hide_bars(False)
    assert not progress([1]).disable


def test_without_a_loss_the_panels_fill_the_figure():
    curves = Curves(3, "a caption")
    curves.update({"val_accuracy": [(1, 0.7)], "images_per_second": [(1, 300.0)]})
    curves.close_ranks()
    drawn = [axes.get_position() for axes in curves.axes if axes.get_visible()]
    between = curves.axes[0].get_position().width
    assert len(drawn) == 2
    assert drawn[1].x0 - drawn[0].x1 < between / 2


def test_a_processor_has_no_device_memory_to_tell():
    assert device_memory_bytes() is None
