"""See a training while it runs."""

import statistics
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import keras

from callbacks.live import under_way
from callbacks.live.divergence import divergence, learning_rate
from callbacks.live.place import current_shell
from callbacks.live.views import new_view
from callbacks.stopping import stop_if_asked


class TrainingDashboard(keras.callbacks.Callback):
    """Show progress, time left, curves, throughput, learning rate and device memory.

    In JupyterLab: a bar and curves that move. Under papermill, in Colab or VS Code: a
    line for each epoch and a picture at the end. In a terminal: the same, with the
    picture in ``training.png``. Give it to `fit` before other callbacks that print,
    with ``verbose=0``.

    Parameters
    ----------
    caption : str
        Text under the curves: what the numbers are valid for, such as the device.
    examples_per_epoch : int, optional
        For a hand-written loop. `fit` counts the examples itself, as the weight of
        its mean loss. If a model's own `train_step` keeps no such loss, the dashboard
        shows steps per second instead.
    unit : str
        What an example is.
    print_epochs : bool
        False, for a loop that prints its own: no line for each epoch, no text bar.

    Notes
    -----
    Throughput is examples divided by seconds of training, without validation. Time
    decides when to redraw, not batches: text and bar each second, the curves after
    150 times as long as drawing them took, or 60 times at the end of an epoch.
    `labs bench dashboard` measures the cost.

    If the loss becomes nan or infinite, the dashboard says so once. It does not end the
    training: labs count epochs, measure their throughput, and compare them with those of
    a hand-written loop, which a callback cannot end.
    """

    params: dict  # Keras sets them before a training

    def __init__(
        self,
        caption: str = "",
        examples_per_epoch: int | None = None,
        unit: str = "images",
        print_epochs: bool = True,
    ) -> None:
        super().__init__()
        self.caption = caption
        self.examples_per_epoch, self.unit = examples_per_epoch, unit
        self.print_epochs = print_epochs
        self.view = None

    def on_train_begin(self, logs: dict | None = None) -> None:
        self.began = self.next_redraw = time.perf_counter()
        self.drawn = self.began + 2.0  # earlier there is little to see
        self.draw_seconds = 0.0
        self.series, self.shown, self.epoch_seconds = {}, {}, []
        self.done = self.epoch = self.batch = 0
        self.trained = None
        self.started, self.started_batch = None, 0
        self.diverged = self.step_loss = None
        self.view = new_view(self.params["epochs"], self.caption, self.print_epochs)
        self._watch_cell(True)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        # `fit` may begin at an epoch other than the first.
        self.done = self.epoch = epoch
        self.batch, self.trained = 0, None
        under_way.say(self, f"epoch {epoch + 1} of {self.params['epochs']}")
        self.epoch_began = time.perf_counter()

    # Not at a batch's end: such a hook makes Keras wait for each batch.
    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        stop_if_asked()
        self.batch = batch
        if not batch:
            return
        now = time.perf_counter()
        if self.started is None:
            self.started, self.started_batch = now, batch
        if now >= self.next_redraw:
            so_far = self._so_far()
            self._look_for_divergence({name: v[-1][1] for name, v in so_far.items()})
            self._redraw(so_far)

    def on_test_begin(self, logs: dict | None = None) -> None:
        if self.trained is None:  # not a later `evaluate`
            self._stop_clock()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        if self.trained is None:
            self._stop_clock()
        self.done = epoch + 1
        self.epoch_seconds.append(time.perf_counter() - self.epoch_began)
        metrics = {k: float(v) for k, v in (logs or {}).items() if k != "learning_rate"}
        for name, value in (metrics | {self.rate_name: self.rate}).items():
            self.series.setdefault(name, []).append((epoch + 1, value))
        # Here a point is final, so draw it sooner if epochs are long enough.
        curves_due = time.perf_counter() >= self.drawn + 60 * self.draw_seconds
        if curves_due or time.perf_counter() >= self.next_redraw:
            self._redraw(self.series, curves_due)
        assert self.view  # training has begun
        self.view.make_room()
        if self.print_epochs:
            words = ", ".join(f"{name} {value:.4f}" for name, value in metrics.items())
            print(f"Epoch {epoch + 1}: {words}")
        self._look_for_divergence({"loss": self.step_loss} | metrics)

    def on_train_end(self, logs: dict | None = None) -> None:
        self._finish("Trained")

    def _look_for_divergence(self, metrics):
        """Say it in the first epoch whose loss is not finite, and only there."""
        if self.diverged:
            return
        if line := divergence(metrics, self.epoch + 1, self.model):
            assert self.view
            self.diverged = self.epoch + 1
            self.view.warn(line)

    def _stop_clock(self):
        """Take the throughput of the epoch, before validation."""
        self.rate_name, self.rate = self._rate(self.batch + 1)
        self.trained = time.perf_counter()

    def _rate(self, steps):
        """The name of the throughput, and its value in this epoch so far."""
        if self.examples_per_epoch:
            examples = self.examples_per_epoch * steps / self.params["steps"]
        else:
            examples = self._examples()
        seconds = time.perf_counter() - self.epoch_began  # after `_examples`, which waits
        if examples:
            return f"{self.unit}_per_second", examples / seconds
        return "steps_per_second", steps / seconds

    def _examples(self):
        """Examples so far in this epoch: the weight of Keras' mean loss."""
        tracked = self.model.metrics[0] if self.model and self.model.metrics else None
        if tracked is None or tracked.name != "loss" or not hasattr(tracked, "count"):
            return 0
        return float(keras.ops.convert_to_numpy(tracked.count))

    def _so_far(self):
        """The curves, with a last point for the current epoch."""
        if self.series and time.perf_counter() - self.epoch_began < 0.5:
            return self.series  # a few steps say little
        name, rate = self._rate(self.batch)
        now = {name: rate}
        if self.model:
            results = self.model.get_metrics_result()
            now |= {key: float(value) for key, value in results.items()}
        names = [*dict.fromkeys([*self.series, *now])]
        return {
            name: self.series.get(name, [])
            + ([(self._position(), now[name])] if name in now else [])
            for name in names
        }

    def _position(self):
        """Epochs done, plus the finished part of the current one."""
        steps = self.params.get("steps")
        under_way = steps and self.epoch == self.done
        return self.done + (self.batch / steps if under_way else 0.0)

    def _redraw(self, series, curves_due=False):
        """Words and bar now, and the curves when they are due."""
        assert self.view
        self.shown = series
        steps, epochs = self.params.get("steps"), self.params["epochs"]
        position = self._position()
        self.view.step(round(position * (steps or 0)), steps and steps * epochs)
        self.view.say(position / epochs, self._words(series))
        now = time.perf_counter()
        if curves_due or now >= self.drawn + 150 * self.draw_seconds:
            # Processor time of this thread: time that other programs take does not count.
            began = time.thread_time()
            self.view.draw(series)
            self.drawn, self.draw_seconds = now, time.thread_time() - began
        self.next_redraw = now + 1.0

    def _words(self, series):
        epochs = self.params["epochs"]
        words = [f"Epoch {min(self.epoch + 1, epochs)} of {epochs}"]
        if each := self._seconds_per_epoch():
            left = round((epochs - self._position()) * each)
            words.append(f"{left // 60}:{left % 60:02d} left")
        name = next(name for name in series if name.endswith("_per_second"))
        words.append(f"{series[name][-1][1]:,.1f} {name.replace('_per_second', '/s')}")
        if (rate := learning_rate(self.model)) is not None:
            words.append(f"learning rate {rate:.3g}")
        if memory := device_memory_bytes():
            words.append(f"{memory / 2**30:.2f} GiB of device memory")
        return " · ".join(words)

    def _seconds_per_epoch(self):
        """Of the last epoch; in the first one, by its steps after the start-up."""
        if self.epoch_seconds:
            return self.epoch_seconds[-1]
        steps = self.params.get("steps")
        if not steps or self.started is None or self.batch <= self.started_batch:
            return None
        seconds = time.perf_counter() - self.started
        return steps * seconds / (self.batch - self.started_batch)

    def _finish(self, verb, aloud=True):
        self._watch_cell(False)
        under_way.say(self, "")
        view, self.view = self.view, None
        if view is None:
            return
        seconds = time.perf_counter() - self.began
        epochs = len(self.epoch_seconds)
        summary = f"{verb} {epochs} epoch{'s' * (epochs != 1)} in {seconds:.2f} s"
        if self.epoch_seconds:
            name = next(name for name in self.series if name.endswith("_per_second"))
            # The start-up is in the first epoch only.
            rates = [rate for _, rate in self.series[name]]
            usual = statistics.median(rates[1:] or rates)
            unit = name.replace("_per_second", "/s")
            summary += f" with start-up and validation, {usual:.2f} {unit} without"
            last = {k: v[-1][1] for k, v in self.series.items() if k != name}
            if not self.diverged:  # else the metrics mean nothing
                summary += "".join(f", {key} {value:.4f}" for key, value in last.items())
        if self.diverged:
            summary += f", but diverged in epoch {self.diverged}"
        whole = verb == "Trained"
        part = 1.0 if whole else self._position() / self.params["epochs"]
        # After an interrupt the curves include the current epoch.
        try:
            view.end(part, f"{summary}.", self.series if whole else self.shown, aloud)
        except KeyboardInterrupt:  # the picture is drawn when the cell has ended
            self.view = view
            self._watch_cell(True)
            raise
        if aloud:
            print(f"{summary}.")

    def _watch_cell(self, on):
        """Draw the last state if the cell ends without `on_train_end`."""
        if shell := current_shell():
            change = shell.events.register if on else shell.events.unregister
            # After an interrupt it is not registered any more.
            if on or self._cell_ended in shell.events.callbacks["post_run_cell"]:
                change("post_run_cell", self._cell_ended)

    def _cell_ended(self, result):
        # helpers/notebook/cell_errors.py has said already that the student stopped it.
        stopped = isinstance(result.error_in_exec, KeyboardInterrupt)
        self._finish("Stopped after", aloud=not stopped)


def device_memory_bytes() -> int | None:
    """Memory in use on the first accelerator; None if it cannot be read."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        if not tf.config.list_logical_devices("GPU"):
            return None
        return tf.config.experimental.get_memory_info("GPU:0")["current"]
    if keras.backend.backend() == "jax":
        import jax

        return (jax.local_devices()[0].memory_stats() or {}).get("bytes_in_use")
    return None


@contextmanager
def follow(
    dashboard: TrainingDashboard,
    train_step: Callable,
    test: Callable,
    logs: Callable,
    epochs: int,
    steps: int,
    tests: int = 1,
) -> Generator[tuple[Callable, Callable]]:
    """Watch a hand-written loop with a dashboard, through the functions that it calls.

    Parameters
    ----------
    dashboard : TrainingDashboard
        With `examples_per_epoch`.
    train_step : callable
        The loop calls it `steps` times in each epoch. What it returns counts as the
        loss, or the losses of all replicas, if `logs` gives none.
    test : callable
        The loop calls it `tests` times after the steps of an epoch.
    logs : callable
        Turns the last result of `test` into the epoch's metrics, a dict of str to float.
    epochs, steps, tests : int

    Yields
    ------
    tuple of callable
        Give these to the loop instead of `train_step` and `test`.
    """
    calls = {"train": 0, "test": 0}
    dashboard.set_params({"epochs": epochs, "steps": steps})

    def watched_train_step(*arguments):
        epoch, batch = divmod(calls["train"], steps)
        if batch == 0:
            dashboard.on_epoch_begin(epoch)
        dashboard.on_train_batch_begin(batch)
        calls["train"] += 1
        # Read at the end of an epoch: now it would wait for the device.
        dashboard.step_loss = train_step(*arguments)
        return dashboard.step_loss

    def watched_test(*arguments):
        if calls["test"] % tests == 0:
            dashboard.on_test_begin()
        result = test(*arguments)
        calls["test"] += 1
        if calls["test"] % tests == 0:
            dashboard.on_epoch_end(calls["test"] // tests - 1, logs(result))
        return result

    dashboard.on_train_begin()
    yield watched_train_step, watched_test
    dashboard.on_train_end()
