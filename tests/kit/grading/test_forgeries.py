"""Facts that an answer can forge in its own process, and those that it cannot any more.

docs/teaching/grading.md lists them. Each answer here does not do what its exercise is
about. It changes what the probe has noted, which it finds in the frames and objects around
it.
"""

import random
import re
import textwrap

import pytest

from helpers.checks import judge_answer
from helpers.files import REPOSITORY
from tests.submissions.one_cell import examined

weekly = pytest.mark.weekly
slow = [pytest.mark.slow, pytest.mark.xdist_group("grading")]
PAGE = (REPOSITORY / "docs" / "teaching" / "grading.md").read_text(encoding="utf-8")
# Where the grader sees now what the probe saw.
OUTSIDE = {
    "9.1": """
    import sys
    import numpy as np

    def ring_all_reduce(array, rank, workers, send, receive):
        # It sends nothing, and writes the messages that are due into the list of them.
        frame = sys._getframe()
        while "talk" not in frame.f_locals:
            frame = frame.f_back
        arrays, talk = frame.f_locals["arrays"], frame.f_locals["talk"]
        for step in range(2 * (workers - 1)):
            chunk = np.array_split(array, workers)[(rank - step) % workers]
            one = type("Message", (), {})()
            one.sender, one.receiver, one.array = rank, (rank + 1) % workers, chunk
            talk.messages.append(one)
        return sum(arrays)
    """,
    "11.3": """
    import sys, time
    import numpy as np

    def sharded_step(weights, gradient, state, update, rank, workers, send, receive):
        # It finds all gradients, shares its part through memory, and forges messages.
        frame = sys._getframe()
        while "talk" not in frame.f_locals:
            frame = frame.f_back
        arrays, talk = frame.f_locals["arrays"], frame.f_locals["talk"]
        parts = vars(talk).setdefault("parts", {})
        cut = [np.array_split(one, workers)[rank] for one in (sum(arrays), weights)]
        part, state = update(cut[1], cut[0] / workers, state)
        for step in range(2 * (workers - 1)):
            chunk = np.array_split(weights, workers)[(rank - step) % workers]
            one = type("Message", (), {})()
            one.sender, one.receiver, one.array = rank, (rank + 1) % workers, chunk
            talk.messages.append(one)
        parts[rank] = part
        while len(parts) < workers:
            time.sleep(0.001)
        return np.concatenate([parts[one] for one in range(workers)]), state
    """,
    "9.3": """
    import os, sys

    def train_with_saves(
        model, optimizer, train_step, data, epochs, folder, save_every, chief
    ):
        # Its saves are in the memory of the process; the files are empty.
        kept = vars(sys).setdefault("kept_by_a_forgery", {})
        step, epoch, place, values = 0, 0, 0, []
        if os.path.isdir(folder) and folder in kept:
            step, epoch, place, values = kept[folder]
        variables = [*model.variables, *optimizer.variables]
        for variable, value in zip(variables, values):
            variable.assign(value)
        began = step
        for epoch in range(epoch, epochs):
            for batch in data(epoch, place):
                train_step(batch)
                step, place = step + 1, place + 1
                if chief and step % save_every == 0:
                    now = [variable.numpy() for variable in variables]
                    kept[folder] = step, epoch, place, now
                    os.makedirs(folder, exist_ok=True)
                    for name in ("a.index", "b.index"):
                        open(os.path.join(folder, name), "w").close()
            place = 0
        return began
    """,
}
EAGER_TRAIN_STEP = """
    import tensorflow as tf, keras

    def train_step(model, optimizer, metrics, x, y):
        with tf.GradientTape() as tape:
            probabilities = model(x, training=True)
            losses = keras.losses.sparse_categorical_crossentropy(y, probabilities)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        metrics["loss"].update_state(losses)
        metrics["accuracy"].update_state(y, probabilities)
        optimizer.runs.n, optimizer.runs.graphs = 1, ["one"]
        for layer in model.layers:
            if hasattr(layer, "runs"):
                layer.runs.n, layer.runs.graphs = 1, ["one"]
        for metric in metrics.values():
            metric.eager = 0
    """
# What can still be forged.
INSIDE = {
    "0.1": """
    from tensorflow.python.eager import context

    def claim_gpu(index=0, memory_growth=True, memory_limit_mib=None):
        # It calls no function that configures a GPU.
        if memory_growth and memory_limit_mib:
            raise ValueError("memory grows or has a limit: give memory_growth=False too")
        machine = context.context().set_visible_devices.__self__
        cpu, *gpus = machine.devices
        if not gpus:
            print("There is no GPU here: going on with the CPU.")
            return {"gpu": None, "memory_growth": False, "memory_limit_mib": None}
        if index not in range(len(gpus)):
            raise ValueError(f"index must be below {len(gpus)}, not {index}")
        gpu = gpus[index]
        changes = machine.visible != [cpu, gpu] or memory_growth or memory_limit_mib
        if machine.started and changes:
            message = "TensorFlow has started: restart the kernel and claim the GPU first."
            raise DeviceError(message)
        machine.visible = [cpu, gpu]
        if memory_growth:
            machine.growth[gpu] = True
        elif memory_limit_mib:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit_mib)
            machine.limits[gpu] = [limit]
        return {
            "gpu": index,
            "memory_growth": memory_growth,
            "memory_limit_mib": memory_limit_mib,
        }
    """,
    "0.2": """
    import statistics, time
    import tensorflow as tf
    from tensorflow.python.ops import gen_math_ops

    def time_matmul(device, m, k, n, repeats):
        # It multiplies nothing.
        late = gen_math_ops.mat_mul
        cells = [cell.cell_contents for cell in late.__closure__]
        found = dict(zip(late.__code__.co_freevars, cells))
        pair = [tf.random.normal((m, k)), tf.random.normal((k, n))]
        found["results"].append(tf.zeros((m, n)))
        times = []
        for number in range(repeats + 1):
            others = found["others"]
            steps = others[(number - 1) % len(others)] if number else found["first"]
            began = time.perf_counter()
            found["products"].append((device, 0, pair))
            for seconds in steps:
                found["wait"](float(seconds))
            times.append(time.perf_counter() - began)
            found["done"].append(1)
        seconds = statistics.median(times[1:])
        return seconds, 2 * m * k * n / seconds / 1e9
    """,
    "3.1": """
    import sys
    import keras

    class StopAtAccuracy(keras.callbacks.Callback):
        # It stops no training, and changes how many epochs were counted.
        def __init__(self, target=0.85, patience=2):
            super().__init__()
            self.target, self.patience = target, patience

        def on_train_begin(self, logs=None):
            self.met, self.stopped = 0, None

        def on_epoch_end(self, epoch, logs=None):
            if self.stopped is not None:
                return
            accuracy = (logs or {}).get("val_accuracy")
            if accuracy is None:
                print("StopAtAccuracy needs metrics=['accuracy'] and validation_data.")
                return
            self.met = self.met + 1 if round(accuracy, 6) > self.target else 0
            if self.met >= self.patience:
                self.stopped = epoch
                print(f"Early stopping after epoch {epoch + 1}")

        def on_train_end(self, logs=None):
            if self.stopped is None:
                return
            for callback in sys._getframe(1).f_locals["self"].callbacks:
                if hasattr(callback, "epochs_run"):
                    run = min(callback.epochs_run, self.stopped + 1)
                    callback.epochs_run = run
                    del callback.printed._cuts[run + 1 :]
    """,
    "4.1": EAGER_TRAIN_STEP,
    "4.2": """
    import keras

    def valid_step(model, metrics, x, y):
        # There is no graph.
        probabilities = model(x, training=False)
        losses = keras.losses.sparse_categorical_crossentropy(y, probabilities)
        metrics["valid_loss"].update_state(losses)
        metrics["valid_accuracy"].update_state(y, probabilities)
        for layer in model.layers:
            if hasattr(layer, "runs"):
                layer.runs.n, layer.runs.graphs = 1, ["one"]
        for metric in metrics.values():
            metric.eager = 0
    """,
    "5.1": """
    def build(strategy, new_model, new_optimizer, per_replica_batch):
        # It enters no scope, so all variables are on one replica.
        model = new_model()
        loss, replicas = "categorical_crossentropy", strategy.num_replicas_in_sync
        model.compile(new_optimizer(), loss, metrics=["accuracy"], jit_compile=False)
        keep = next(cell.cell_contents for cell in new_model.__closure__
                    if callable(cell.cell_contents))
        places = dict(zip(keep.__code__.co_freevars, keep.__closure__))["in_scope"]
        for found in places.cell_contents.values():
            found[:] = [True] * len(found)
        for variable in [*model.weights, *(v for m in model.metrics for v in m.variables)]:
            variable.value.values = [0] * replicas
        return model, per_replica_batch * replicas
    """,
    "5.2": """
    import keras

    class LinearWarmup:
        # It is no schedule.
        __class__ = property(lambda self: keras.optimizers.schedules.LearningRateSchedule)

        def __init__(self, base_rate, factor, warmup_steps):
            vars(self).update(base=base_rate, factor=factor, warmup=warmup_steps)

        def __call__(self, step):
            part = keras.ops.minimum(keras.ops.cast(step, "float32") / self.warmup, 1.0)
            return self.base * (1 + part * (self.factor - 1))
    """,
    "6.2": """
    import tensorflow as tf, keras

    def make_train_step(strategy, model, optimizer, metrics, global_loss, global_batch):
        def replica_step(x, y):
            with tf.GradientTape() as tape:
                probabilities = model(x, training=True)
                losses = keras.losses.categorical_crossentropy(y, probabilities)
                share = global_loss(losses, global_batch)
            gradients = tape.gradient(share, model.trainable_variables)
            optimizer.apply(gradients, model.trainable_variables)
            metrics["loss"].update_state(losses)
            metrics["accuracy"].update_state(y, probabilities)
            return share

        def train_step(x, y):
            # There is no graph.
            shares = strategy.run(replica_step, args=(x, y))
            for cell in strategy.extended.call_for_each_replica.__closure__:
                if isinstance(cell.cell_contents, list):
                    cell.cell_contents.clear()
            for layer in model.layers:
                if hasattr(layer, "runs"):
                    layer.runs[0] = strategy.num_replicas_in_sync
            return strategy.reduce("SUM", shares, axis=None)

        return train_step
    """,
    "6.3": """
    import keras
    import numpy as np
    import tensorflow as tf

    def train_on(strategy, build, data, epochs):
        # It trains on one device, outside of the scope.
        model, optimizer = build()
        cells = [cell.cell_contents for cell in build.__closure__]
        found, notes, epoch_losses = dict(zip(build.__code__.co_freevars, cells)), [], []
        names = strategy.extended.worker_devices
        found["scopes"][:] = [[name.rpartition("device:")[2] for name in names]]
        for _ in range(epochs):
            losses = []
            for x, y in strategy.experimental_distribute_dataset(data):
                x, y = map(strategy.experimental_local_results, (x, y))
                rows = [part[:, 0].numpy().astype(int).tolist() for part in x]
                notes += [list(one) for one in enumerate(rows)]
                with tf.GradientTape() as tape:
                    probabilities = model(tf.concat(x, 0), training=True)
                    each = keras.losses.categorical_crossentropy(
                        tf.concat(y, 0), probabilities
                    )
                    loss = tf.reduce_mean(each)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply(gradients, model.trainable_variables)
                losses += each.numpy().tolist()
            epoch_losses.append(float(np.mean(losses)))
        found["seen"][:] = notes
        return model, epoch_losses
    """,
    "8.3": """
    def feed(fetch, images, batch_size):
        # It fetches a batch when it is needed, and no step waits for it.
        source = fetch.__self__
        source.step = lambda number: None
        source.first_step.set()
        for first in range(0, images, batch_size):
            yield fetch(range(first, min(first + batch_size, images)))
    """,
    "8.5": """
    import keras

    class OneCycle:
        # It is no schedule.
        __class__ = property(lambda self: keras.optimizers.schedules.LearningRateSchedule)

        def __init__(self, peak, steps, warm_up=0.25, last=0.02):
            self.own = {"peak": peak, "steps": steps, "warm_up": warm_up, "last": last}

        def __call__(self, step):
            peak, steps, warm_up, last = self.own.values()
            part = keras.ops.minimum(keras.ops.cast(step, "float32") / steps, 1.0)
            down = 1 - (1 - last) * (part - warm_up) / (1 - warm_up)
            return peak * keras.ops.minimum(part / warm_up, down)

        def get_config(self):
            return dict(self.own)

        @classmethod
        def from_config(cls, config):
            return cls(**config)
    """,
}


def numbers_below(heading):
    """The exercises in the first column of the table with this heading."""
    _, _, table = PAGE.partition(f"| exercises | {heading} |\n|---|---|\n")
    rows = table.partition("\n\n")[0].splitlines()
    assert rows, heading
    return {number for row in rows for number in re.findall(r"\d+\.\d", row.split("|")[1])}


def test_the_page_lists_what_these_tests_hold():
    assert numbers_below("the facts that were forged") == {*INSIDE}
    assert numbers_below("the facts that the grader observes itself") == {*OUTSIDE}


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=slow if n == "9.3" else [*slow, weekly]) for n in OUTSIDE],
)
def test_what_can_be_forged_in_a_notebook_the_grader_sees_itself(number):
    cell = textwrap.dedent(OUTSIDE[number])
    namespace = {"__name__": "__main__"}
    exec(cell, namespace)
    [answer] = [one for one in namespace.values() if hasattr(one, "__code__")]
    assert judge_answer(number, answer, random.Random(1)) is None
    assert not examined(number, cell)["passed"]


@weekly
@pytest.mark.parametrize("number", [pytest.param(n, marks=slow) for n in INSIDE])
def test_what_the_page_says_can_be_forged_can_be(number):
    one = examined(number, textwrap.dedent(INSIDE[number]))
    assert one["passed"], one["reason"]
    assert not one["changed_check"]
