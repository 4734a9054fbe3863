"""Measure what the training dashboard costs at 1,000 small batches per epoch.

It runs in a real kernel that is set up as JupyterLab's: it makes widgets and canvas and
sends their messages. The training lasts about a minute: in a shorter one the dashboard's
start and end, some tenths of a second, would count more.
"""

import json
import os
import statistics
import time

import keras
import numpy as np
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from rich.console import Console
from rich.table import Table

from callbacks import TrainingDashboard
from helpers.files import REPOSITORY
from helpers.machine.devices import describe_device
from helpers.plain_json import as_json, write_json
from helpers.run_card.documents import versions
from kit.generate import KERNEL
from kit.headless.execute import KERNEL_ARGUMENTS

REPEATS = 3
STEPS, BATCH, EPOCHS = 1000, 16, 25
PATH = REPOSITORY / "docs" / "bench" / "dashboard.json"
MONITORS = {
    "nothing": lambda: [],
    "the dashboard": lambda: [TimedDashboard()],
}
CELL = """from helpers.machine.quiet_tensorflow import silence_tensorflow
silence_tensorflow()
from kit.bench.dashboard import measure
print("RESULT", measure())"""


class TimedDashboard(TrainingDashboard):
    """A dashboard that adds up the seconds spent in its own hooks."""

    own_seconds = 0.0


def _timed(hook):
    def timed(self, *arguments, **options):
        began = time.perf_counter()
        hook(self, *arguments, **options)
        self.own_seconds += time.perf_counter() - began

    return timed


for _name, _hook in vars(TrainingDashboard).items():
    if _name.startswith("on_"):
        setattr(TimedDashboard, _name, _timed(_hook))


def bench() -> None:
    """Write docs/bench/dashboard.json and print it as a table."""
    cells = [new_code_cell(CELL)]
    client = NotebookClient(
        new_notebook(cells=cells, metadata=KERNEL),
        timeout=None,
        extra_arguments=KERNEL_ARGUMENTS,
        resources={"metadata": {"path": str(REPOSITORY)}},
    )
    print(f"{REPEATS} times each, {EPOCHS} epochs of {STEPS} batches: some minutes ...")
    os.environ["JPY_SESSION_NAME"] = "bench.ipynb"
    try:
        notebook = client.execute()
    finally:
        del os.environ["JPY_SESSION_NAME"]
    text = "".join(o.get("text", "") for o in notebook.cells[0].outputs)
    rows = json.loads(text.partition("RESULT ")[2])
    result = {
        "device": describe_device()["name"],
        "versions": versions(),
        "repeats": REPEATS,
        "epochs": EPOCHS,
        "steps_per_epoch": STEPS,
        "batch_size": BATCH,
        "rows": rows,
    }
    write_json(PATH, result)
    table = Table("monitor", "ms per batch", "more wall time", "more CPU time")
    for name, row in rows.items():
        table.add_row(
            name,
            f"{row['milliseconds_per_batch']:.3f}",
            f"{row['added_wall_percent']:+.2f}%",
            f"{row['added_cpu_percent']:+.2f}%",
        )
    Console().print(table)
    own = rows["the dashboard"]["own_percent"]
    print(f"In the dashboard's own hooks: {own:.2f}% of training time; {PATH.name}")


def measure() -> str:
    """Train with each monitor in turn, several times; return what each adds, as JSON."""
    x = np.random.default_rng(0).random((STEPS * BATCH, 20), "float32")
    y = (x.sum(axis=1) > 10).astype("float32")
    model = keras.Sequential(
        [keras.Input((20,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse", metrics=["mae"], jit_compile=False)
    model.fit(x, y, batch_size=BATCH, verbose=0)  # start-up does not count
    taken = {name: [] for name in MONITORS}
    for _ in range(REPEATS):
        for name, monitors in MONITORS.items():
            callbacks = monitors()
            wall, cpu = time.perf_counter(), time.process_time()
            model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, callbacks=callbacks, verbose=0)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            own = sum(getattr(callback, "own_seconds", 0) for callback in callbacks)
            taken[name].append({"wall": wall, "cpu": cpu, "own": own})
    return as_json({name: _row(runs, taken["nothing"]) for name, runs in taken.items()})


def _row(runs, bare):
    pairs = list(zip(runs, bare, strict=True))

    def added(clock):
        return 100 * statistics.median(a[clock] / b[clock] - 1 for a, b in pairs)

    wall = statistics.median(run["wall"] for run in runs)
    return {
        "milliseconds_per_batch": 1000 * wall / (EPOCHS * STEPS),
        "added_wall_percent": added("wall"),
        "added_cpu_percent": added("cpu"),
        "own_percent": 100 * statistics.median(run["own"] / run["wall"] for run in runs),
        "runs": runs,
    }
