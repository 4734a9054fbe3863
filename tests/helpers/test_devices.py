"""Several devices: prepared once, refused in one line where it is too late."""

import subprocess
import sys
import textwrap

import pytest

from helpers.files import REPOSITORY

START = """
from helpers.quiet import silence_tensorflow; silence_tensorflow()
import keras, numpy as np, tensorflow as tf
from helpers import devices
from helpers.errors import DeviceError
from helpers.watchdog import no_hang
"""


def run(script, status=0):
    """What a script prints in a process of its own: TensorFlow starts only once."""
    ended = subprocess.run(
        [sys.executable, "-c", START + textwrap.dedent(script)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == status, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("replicas", [2, 8])
def test_the_cpu_is_split_and_called_simulated(replicas):
    printed = run(f"""
        device = devices.prepare_devices({replicas})
        assert device == devices.prepare_devices({replicas}), "a cell is run twice"
        assert device["simulated"] and device["replicas"] == {replicas}
        strategy = devices.new_strategy()
        total = strategy.run(lambda: tf.constant(1.0))
        print(strategy.num_replicas_in_sync, strategy.reduce("SUM", total, axis=None))
        print(devices.replica_counts())
        print(tf.config.threading.get_intra_op_parallelism_threads())
    """)
    counts = [1, 2] if replicas == 2 else [1, 2, 4, 8]
    assert f"{replicas} tf.Tensor({replicas}.0" in printed
    assert f"{counts}\n1" in printed


def test_strategies_of_several_sizes_train_in_one_process():
    run("""
        devices.prepare_devices(4)
        for replicas in (1, 4, 2):
            with devices.new_strategy(replicas).scope():
                model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(replicas)])
                model.compile("sgd", "mse", jit_compile=False)
            with no_hang("training"):
                x, y = np.ones((16, 3)), np.ones((16, replicas))
                model.fit(x, y, batch_size=8, verbose=0)
    """)


def test_what_cannot_be_had_is_refused_in_one_line():
    printed = run("""
        def refuse(ask, *arguments):
            try:
                ask(*arguments)
            except DeviceError as error:
                print(error)
        refuse(devices.new_strategy)
        tf.constant(1)
        refuse(devices.prepare_devices, 2)
    """)
    words = ["No devices are prepared", "TensorFlow has started"]
    assert [
        line[: len(w)] for line, w in zip(printed.splitlines(), words, strict=True)
    ] == words


def test_other_or_more_replicas_than_prepared_are_refused_in_one_line():
    printed = run("""
        def refuse(ask, *arguments):
            try:
                ask(*arguments)
            except DeviceError as error:
                print(error)
        devices.prepare_devices(2)
        refuse(devices.prepare_devices, 4)
        refuse(devices.new_strategy, 3)
        refuse(devices.simulated_strategy, 3)
    """)
    lines = printed.splitlines()
    for line, words in zip(
        lines, ("has 2 replicas already", "this kernel has 2", "there are 2"), strict=True
    ):
        assert words in line


def test_the_end_of_an_epoch_does_not_wait_for_a_tuning_thread():
    """Each epoch makes and ends iterators on all replicas; with tuning on, each waits
    about as long as it lived, so that epochs become longer and longer."""
    printed = run("""
        import time
        devices.prepare_devices(4)
        strategy = devices.new_strategy()
        numbers = tf.data.Dataset.range(64).batch(16)
        options = tf.data.Options()
        options.autotune.enabled = False
        batches = strategy.experimental_distribute_dataset(numbers.with_options(options))
        waited = []
        for epoch in range(2):
            iterator = iter(batches)
            next(iterator)
            time.sleep(3)  # an epoch
            began = time.monotonic()
            del iterator
            waited.append(time.monotonic() - began)
        print(max(waited))
    """)
    # A tuning thread that has lived for 3 s sleeps for about as long once more.
    assert float(printed) < 1.0


HANGS = """
# The default all-reduce waits for a device that does not exist.
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse", jit_compile=False)
with no_hang("training", seconds=8):
    model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
"""


def test_a_run_that_hangs_ends_and_names_cause_and_remedy():
    printed = run(HANGS, status=70)
    assert "Stopped: training made no progress for" in printed
    assert "Restart the kernel" in printed


def test_work_is_no_hang_and_neither_is_an_idle_kernel_after_it():
    printed = run("""
        import time
        def work(seconds):
            began = time.process_time()
            while time.process_time() - began < seconds:
                pass
        with no_hang("work", seconds=1):
            work(3)
        try:
            with no_hang("training that was interrupted", seconds=1):
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        time.sleep(2.5)
        print("still here")
    """)
    assert printed == "still here\n"
