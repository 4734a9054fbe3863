"""The reference callbacks keep their promises under every way of calling fit."""

import re
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from callbacks import (
    EpochRecorder,
    PrintThroughput,
    PrintTotalTime,
    StopAtAccuracy,
    TrainingDashboard,
)

X, Y = np.zeros((12, 1), "float32"), np.zeros((12, 1), "float32")


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return X[:4], Y[:4]


WAYS = {
    "arrays": lambda: {"x": X, "y": Y, "batch_size": 4},
    "dataset": lambda: {"x": tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)},
    "pydataset": lambda: {"x": Batches()},
    "generator": lambda: {
        "x": ((X[:4], Y[:4]) for _ in range(99)),
        "steps_per_epoch": 3,
    },
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the dashboard leaves its picture there


@pytest.fixture(scope="module")
def model():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    # With labels and outputs of 0 the accuracy is 1 from the start.
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    return model


@pytest.mark.parametrize("way", WAYS)
def test_all_callbacks_work_with_whatever_fit_is_given(model, way, capsys):
    callbacks = [
        TrainingDashboard(),
        PrintThroughput(12),
        PrintTotalTime(),
        StopAtAccuracy(0.5, patience=2),
    ]
    for _ in range(2):  # with the same callbacks: nothing is left from the first fit
        model.fit(
            **WAYS[way](), validation_data=(X, Y), epochs=4, callbacks=callbacks, verbose=0
        )
        printed = re.sub(r"[^\n]*\r", "", capsys.readouterr().out)
        assert re.findall(r"Epoch (\d): .*val_accuracy", printed) == ["1", "2"]
        assert len(re.findall(r"^Images/sec: \d+\.\d\d$", printed, re.M)) == 2
        times = re.findall(
            r"training time(?: after epoch \d)?: (\d+\.\d\d)$", printed, re.M
        )
        assert len(times) == 3
        assert sorted(times, key=float) == times
        assert printed.count("Early stopping after epoch 2\n") == 1


def test_an_interrupted_training_leaves_the_callbacks_usable(model, capsys):
    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            raise KeyboardInterrupt

    callbacks = [
        TrainingDashboard(),
        PrintThroughput(12),
        PrintTotalTime(),
        StopAtAccuracy(),
    ]
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, callbacks=[*callbacks, Interrupt()], verbose=0)
    model.fit(X, Y, validation_data=(X, Y), callbacks=callbacks, verbose=0)
    assert "Cumulative training time: " in capsys.readouterr().out


def test_missing_validation_is_explained(model, capsys):
    model.fit(X, Y, callbacks=[StopAtAccuracy()], verbose=0)
    assert "validation_data" in capsys.readouterr().out


def test_throughput_leaves_validation_out(model, capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    class Clock(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            clock[0] += 2

        def on_test_batch_end(self, batch, logs=None):
            clock[0] += 50

    callbacks = [PrintThroughput(1000), Clock()]
    model.fit(X, Y, 4, validation_data=(X, Y), epochs=2, callbacks=callbacks, verbose=0)
    rates = re.findall(r"Images/sec: (.*)", capsys.readouterr().out)
    assert rates == [f"{1000 / (3 * 2):.2f}"] * 2


def test_early_stopping_counts_epochs_in_a_row_above_the_target():
    accuracies = [0.9, 0.8, 0.85, 0.9, 0.9, 0.9]
    callback = StopAtAccuracy(0.85, patience=2)
    callback.set_model(keras.Sequential())
    callback.on_train_begin()
    stopped = []
    for epoch, accuracy in enumerate(accuracies):
        callback.model.stop_training = False
        callback.on_epoch_end(epoch, {"val_accuracy": accuracy})
        stopped.append(callback.model.stop_training)
    assert stopped == [False, False, False, False, True, True]


@pytest.mark.parametrize("right", [0, 1, 7, 820, 850, 999, 1000])
def test_a_share_in_float32_is_compared_as_the_share_that_it_is(right):
    share, logs = right / 1000, {"val_accuracy": float(np.float32(right / 1000))}
    stop, recorder = StopAtAccuracy(share, patience=1), EpochRecorder(stop_at=share)
    for callback in (stop, recorder):
        callback.set_model(keras.Sequential())
        callback.on_train_begin()
        callback.on_epoch_begin(0)
        callback.model.stop_training = False
        callback.on_epoch_end(0, logs)
    assert not stop.model.stop_training  # at the target is not above it
    assert recorder.model.stop_training  # and it is at least the target
    assert recorder.epochs["val_accuracy"] == [share]
