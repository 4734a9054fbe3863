"""Several devices: prepared once, refused in one line where it is too late."""

import subprocess
import sys
import textwrap

import pytest

from helpers.files import REPOSITORY

# TensorFlow is imported once; each script runs in a fork, in which it can be started.
FORKS = """
import os, sys
from helpers.machine.quiet_tensorflow import silence_tensorflow; silence_tensorflow()
import keras, numpy as np, tensorflow as tf
from helpers.machine import devices
from helpers.errors import DeviceError
from helpers.machine.watchdog import no_hang
for path in map(str.strip, sys.stdin):
    pid = os.fork()
    if pid == 0:
        with open(path + ".out", "wb") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        try:
            exec(compile(open(path).read(), path, "exec"), globals())
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", flush=True)
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def forks():
    """A process that has imported TensorFlow and runs scripts in forks of itself."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKS],
        cwd=REPOSITORY, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        yield process
        process.stdin.close()


@pytest.fixture
def run(forks, tmp_path):
    """Run a script in a process of its own and return what it prints."""

    def run(script, status=0):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(script))
        print(path, file=forks.stdin, flush=True)
        ended = int(forks.stdout.readline())
        said = (tmp_path / "script.py.out").read_text()
        assert ended == status, said
        return said

    return run


@pytest.mark.parametrize("replicas", [2, 8])
def test_the_cpu_is_split_and_called_simulated(run, replicas):
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


def test_a_layer_works_after_the_cell_of_its_strategy_is_run_again(run):
    printed = run("""
        devices.prepare_devices(2)
        with devices.new_strategy().scope():
            layer = keras.layers.BatchNormalization()
            layer.build((None, 1))
        again = devices.new_strategy()
        again.run(tf.function(lambda: layer(tf.ones((4, 1)), training=True)))
        print("trained on", again.num_replicas_in_sync)
    """)
    assert "trained on 2" in printed


def test_strategies_of_several_sizes_train_in_one_process(run):
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


def test_an_all_reduce_adds_up_all_replicas_of_any_number(run):
    printed = run("""
        devices.prepare_devices(5)
        def added():
            return tf.distribute.get_replica_context().all_reduce("SUM", tf.ones(()))
        for replicas in (1, 2, 3, 5):
            strategy = devices.new_strategy(replicas)
            sums = tf.function(lambda: strategy.run(added))()
            print(*map(float, strategy.experimental_local_results(sums)))
    """)
    assert printed.splitlines() == ["1.0", "2.0 2.0", "3.0 3.0 3.0", "5.0 5.0 5.0 5.0 5.0"]


def test_devices_that_are_not_available_are_refused_in_one_line(run):
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


def test_other_or_more_replicas_than_prepared_are_refused_in_one_line(run):
    printed = run("""
        def refuse(ask, *arguments):
            try:
                ask(*arguments)
            except DeviceError as error:
                print(error)
        devices.prepare_devices(2)
        refuse(devices.prepare_devices, 4)
        refuse(devices.new_strategy, 3)
        refuse(devices.simulated_strategy, 5)
    """)
    lines = printed.splitlines()
    for line, words in zip(
        lines, ("already has 2 replicas", "has prepared 2", "there are 4"), strict=True
    ):
        assert words in line


def test_no_iterator_of_a_replica_has_a_tuning_thread(run):
    """The end of an epoch would wait for it, about as long as the epoch took."""
    printed = run("""
        from tensorflow.python.data.ops import multi_device_iterator_ops as iterators
        devices.prepare_devices(4)
        create, tuned = iterators._create_device_dataset, []
        def record(*arguments):
            dataset = create(*arguments)
            tuned.append(dataset.options().autotune.enabled)
            return dataset
        iterators._create_device_dataset = record
        batches = tf.data.Dataset.range(64).batch(16)
        next(iter(devices.new_strategy().experimental_distribute_dataset(batches)))
        print(tuned)
    """)
    assert printed == "[False, False, False, False]\n"


HANGS = """
# The default all-reduce waits for a device that does not exist.
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse", jit_compile=False)
with no_hang("training", seconds=8):
    model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
"""


def test_a_run_that_hangs_ends_and_names_cause_and_remedy(run):
    printed = run(HANGS, status=70)
    assert "Stopped: training made no progress for" in printed
    assert "in which it used the processor for" in printed
    assert "Restart the kernel" in printed


def test_work_is_no_hang_and_neither_is_an_idle_kernel_after_it(run):
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


def test_slow_work_and_a_paused_process_are_no_hang(run):
    printed = run("""
        import signal, time
        with no_hang("slow work", seconds=1):
            for _ in range(15):
                began = time.process_time()
                while time.process_time() - began < 0.005:
                    pass
                time.sleep(0.195)  # 2.5% of a core
        parent = os.getpid()
        if os.fork() == 0:
            time.sleep(0.5)
            os.kill(parent, signal.SIGSTOP)
            time.sleep(2.5)
            os.kill(parent, signal.SIGCONT)
            os._exit(0)
        with no_hang("work that is paused", seconds=1):
            until = time.monotonic() + 4
            while time.monotonic() < until:
                pass
        print("still here")
    """)
    assert printed == "still here\n"


def test_the_message_of_a_hang_is_seen_where_training_prints_into_a_file(run):
    printed = run(
        """
        import contextlib, io, time
        with no_hang("training", seconds=1), contextlib.redirect_stdout(io.StringIO()):
            time.sleep(60)
        """,
        status=70,
    )
    assert "Stopped: training made no progress for" in printed


def test_another_tensorflow_costs_one_sentence_and_no_lab(run):
    printed = run("""
        from tensorflow.python.data.ops import multi_device_iterator_ops as iterators
        del iterators._create_device_dataset
        assert devices.prepare_devices(2)["replicas"] == 2
    """)
    assert "is not the version that the kit pins" in printed
    assert len(printed.splitlines()) == 1
