"""A training whose loss becomes nan says so once, and what to change."""

import re
import time
from contextlib import nullcontext, redirect_stdout

import keras
import numpy as np
import pytest
import tensorflow as tf

from callbacks import EpochRecorder, TrainingDashboard, TrainingProgress, follow
from callbacks.live.divergence import divergence
from callbacks.live.figure_table import figure_table
from callbacks.live.views import Curves
from helpers.machine.devices import simulated_strategy

X = np.linspace(-100, 100, 96, dtype="float32")[:, np.newaxis]
Y = 3 * X
LINE = (
    r"The loss became (?:nan|inf) in epoch {}: training has diverged, and more epochs do "
)
LINE += r"not help\. Train a new model with a smaller learning_rate{}\."
SECONDS = r"\d+\.\d\d s with start-up and validation, \d+\.\d\d images/s without"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class InGraphsOnly(keras.optimizers.schedules.LearningRateSchedule):
    """Like a student's: it takes the step as a tensor without a value."""

    def __call__(self, step):
        if tf.executing_eagerly():
            raise ValueError("no graph")
        return 10.0


RATES = {
    "a number": (10.0, r" \(now 10\)"),
    "a schedule": (keras.optimizers.schedules.ExponentialDecay(20.0, 6, 0.5, True),
                   r" \(now (?:10|5)\)"),
    "one that cannot be asked": (InGraphsOnly(), ""),
}  # fmt: skip


def new_model(rate, replicas=1, strategy=None):
    if strategy is None and replicas > 1:
        strategy = simulated_strategy(replicas)
    # No strategy of one replica: TensorFlow 2.21 crashed in some of many such fits.
    with strategy.scope() if strategy else nullcontext():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        sgd = keras.optimizers.SGD(rate)
        sgd.build(model.trainable_variables)
        model.compile(sgd, "mse", metrics=["mae"], jit_compile=False)
    return model


def fit(model, *callbacks, epochs=3):
    data = {"batch_size": 16, "validation_data": (X, Y), "shuffle": False}
    model.fit(X, Y, epochs=epochs, callbacks=callbacks, verbose=0, **data)


def lines_of(capsys):
    """What a screen shows, without bars."""
    return re.sub(r"[^\n]*\r", "", capsys.readouterr().out).splitlines()


@pytest.mark.parametrize("replicas", [1, pytest.param(2, marks=pytest.mark.weekly)])
@pytest.mark.parametrize("name", RATES)
def test_fit_says_it_once_and_trains_on(name, replicas, capsys):
    rate, now = RATES[name]
    recorder = EpochRecorder()
    fit(new_model(rate, replicas), TrainingDashboard(), recorder)
    lines = lines_of(capsys)
    [said] = [line for line in lines if re.search("became", line)]
    epoch = int(re.search(r"epoch (\d)", said)[1])
    assert re.fullmatch(LINE.format(epoch, now), said)
    assert lines.index(said) in (epoch - 1, epoch)  # sooner, where a redraw has seen it
    assert [line[:9] for line in lines if line != said][:3] == [
        "Epoch 1: ", "Epoch 2: ", "Epoch 3: ",
    ]  # fmt: skip
    ended = rf"Trained 3 epochs in {SECONDS}, but diverged in epoch {epoch}\."
    assert re.fullmatch(ended, lines[-1])
    assert len(recorder.epochs["train_seconds"]) == 3


def test_a_training_that_does_not_diverge_prints_what_it_always_did(capsys):
    dashboard = TrainingDashboard()
    fit(new_model(10.0), dashboard, epochs=2)
    capsys.readouterr()
    fit(new_model(1e-5), dashboard, epochs=2)  # nothing is left of the other
    metrics = r"loss \d+\.\d{4}, mae \d+\.\d{4}, val_loss \d+\.\d{4}, val_mae \d+\.\d{4}"
    wanted = [
        rf"Epoch 1: {metrics}",
        rf"Epoch 2: {metrics}",
        r"Curves: .*training\.png",
        rf"Trained 2 epochs in {SECONDS}, {metrics}\.",
    ]
    found = lines_of(capsys)
    assert len(found) == len(wanted)
    for line, pattern in zip(found, wanted, strict=True):
        assert re.fullmatch(pattern, line)


def test_a_bar_alone_says_it_too_and_without_need_nothing(capsys):
    bar = TrainingProgress()
    fit(new_model(10.0), bar)
    [said] = filter(None, map(str.strip, lines_of(capsys)))
    assert re.fullmatch(LINE.format(r"\d", r" \(now 10\)"), said)
    fit(new_model(1e-5), bar)
    assert not "".join(lines_of(capsys)).strip()


def loop(replicas, rate, logs_of):
    """Train with a hand-written loop as in labs 06 and 07, which prints into a file."""
    strategy = simulated_strategy(replicas)
    model = new_model(rate, strategy=strategy)
    with strategy.scope():
        mean = keras.metrics.Mean()

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.square(model(x, training=True) - y)
            loss = tf.reduce_sum(losses) / 32
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply(gradients, model.trainable_variables)
        mean.update_state(losses)
        return loss

    @tf.function
    def step(x, y):
        return strategy.run(replica_step, (x, y))

    def train_step(x, y):
        return strategy.experimental_local_results(step(x, y))

    batches = tf.data.Dataset.from_tensor_slices((X, Y)).batch(32)
    data = strategy.experimental_distribute_dataset(batches)
    dashboard = TrainingDashboard("", 96, print_epochs=False)
    logs = logs_of(mean)
    with (
        follow(dashboard, train_step, lambda: 0.5, logs, 4, 3) as (watched_step, test),
        open("log.txt", "w") as file,
        redirect_stdout(file),
    ):
        for epoch in range(4):
            mean.reset_state()
            for x, y in data:
                watched_step(x, y)
            test()
            print(f"Mine: {epoch}")


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(
    "logs_of",
    [
        lambda mean: lambda _: {"loss": mean.result()},
        lambda mean: lambda accuracy: {"val_accuracy": accuracy},
    ],
    ids=["the loss is in the logs", "the steps return it"],
)
def test_a_loop_says_it_in_the_cell_even_if_it_prints_into_a_file(
    logs_of, replicas, tmp_path, capsys
):
    loop(replicas, 10.0, logs_of)
    said, picture, ended = lines_of(capsys)
    epoch = re.search(r"epoch (\d)", said)[1]
    assert re.fullmatch(LINE.format(epoch, ""), said)
    assert picture.startswith("Curves: ")
    assert ended.endswith(f" images/s without, but diverged in epoch {epoch}.")
    assert (tmp_path / "log.txt").read_text() == "Mine: 0\nMine: 1\nMine: 2\nMine: 3\n"
    loop(replicas, 1e-5, logs_of)
    assert not re.search("became|diverged", "".join(lines_of(capsys)))


def test_a_long_epoch_says_it_before_it_ends(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    class Tick(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            clock[0] += 0.6

        def on_epoch_end(self, epoch, logs=None):
            print("An epoch ended")

    fit(new_model(1e9), TrainingDashboard(), Tick(), epochs=2)
    said, first, *rest = lines_of(capsys)
    assert re.fullmatch(LINE.format(1, r" \(now 1e\+09\)"), said)
    assert first.startswith("Epoch 1: loss nan")
    assert not re.search("became", "".join(rest))


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"loss": 1.0, "val_loss": float("nan")}, "The val_loss became nan in epoch 7: "),
        ({"loss": (np.float32(1), np.float32("inf"))}, "The loss became inf in epoch 7: "),
        ({"loss": 1e308, "images_per_second": float("inf")}, None),
        *[
            ({"loss": what}, None)
            for what in (None, "nan", {}, (), [[1], [2, 3]], object())
        ],
    ],
)
def test_only_a_loss_counts_and_what_is_no_number_does_not(metrics, said):
    line = divergence(metrics, 7)
    assert line.startswith(said) if said else line is None


@pytest.mark.parametrize(
    "losses",
    [
        [float("nan")] * 3,
        [2.0, float("inf"), float("nan")],
        [2.0, 3.4e38, float("nan")],
        [2.0, 1.7e308, float("-inf")],
    ],
)
def test_curves_and_table_bear_what_is_not_finite(losses):
    curves = Curves(3, "a caption")
    series = {"images_per_second": [(1, 5.0), (2, 5.0), (3, 5.0)]}
    for n in range(1, 4):
        series |= {"loss": [*enumerate(losses[:n], 1)], "val_loss": [(1, losses[0])]}
        curves.update(series)
        for axes in curves.figure.axes:
            assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
    assert curves.png().startswith(b"\x89PNG")
    cells = re.findall("<td>(.*?)</td>", figure_table(curves.figure))
    assert cells[0] == ("none" if np.isnan(losses[0]) else "2")
    assert all(len(cell) <= 9 for cell in cells)
