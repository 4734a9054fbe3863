"""Answers to lab 00 that must fail, each with its hint, and odd ones that must pass."""

import statistics
import time
import timeit

import keras
import numpy as np
import tensorflow as tf

NOTHING = {"gpu": None, "memory_growth": False, "memory_limit_mib": None}


def _claim(
    index, growth, limit, visible=True, all_grow=False, refuse=True, no_gpu=True, again=True
):
    """A right claim, of which one part can be left out."""
    gpus = tf.config.list_physical_devices("GPU")
    if refuse and growth and limit:
        raise ValueError("both at once")
    if no_gpu and not gpus:
        print("No GPU: the CPU it is.")
        return dict(NOTHING)
    if index >= len(gpus):
        raise ValueError("no such GPU")
    try:
        if visible:
            tf.config.set_visible_devices(gpus[index], "GPU")
        for gpu in gpus if all_grow else [gpus[index]]:
            if growth:
                tf.config.experimental.set_memory_growth(gpu, True)
        if limit and not growth:
            tf.config.set_logical_device_configuration(
                gpus[index], [tf.config.LogicalDeviceConfiguration(memory_limit=limit)]
            )
    except RuntimeError:
        if again:
            raise RuntimeError("Restart the kernel.") from None
        raise
    return {"gpu": index, "memory_growth": growth, "memory_limit_mib": limit}


def leaves_all_visible(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib, visible=False)


def grows_everywhere(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib, all_grow=True)


def always_grows(index=0, memory_growth=True, memory_limit_mib=None):
    _claim(index, memory_growth or not memory_limit_mib, memory_limit_mib)
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }


def limit_in_bytes(index=0, memory_growth=True, memory_limit_mib=None):
    in_bytes = memory_limit_mib and memory_limit_mib * 2**20
    return _claim(index, memory_growth, in_bytes)


def forgets_that_both_are_refused(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib, refuse=False)


def needs_a_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        raise RuntimeError("no GPU, no course")
    return _claim(index, memory_growth, memory_limit_mib)


def says_nothing_without_a_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    if not tf.config.list_physical_devices("GPU"):
        return dict(NOTHING)
    return _claim(index, memory_growth, memory_limit_mib)


def takes_any_index(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    return _claim(index % max(1, len(gpus)), memory_growth, memory_limit_mib)


def leaves_tensorflows_own_words(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib, again=False)


def returns_nothing(index=0, memory_growth=True, memory_limit_mib=None):
    _claim(index, memory_growth, memory_limit_mib)


def takes_no_arguments():
    return _claim(0, True, None)


def with_experimental_names_and_print(index=0, memory_growth=True, memory_limit_mib=None):
    """The older names in TensorFlow, a list of one, and a printed line, not raised."""
    assert_both = bool(memory_growth) and memory_limit_mib is not None
    if assert_both:
        raise ValueError
    config = tf.config.experimental
    gpus = config.list_physical_devices("GPU")
    if len(gpus) == 0:
        print("only a cpu here")
        return {"memory_limit_mib": None, "gpu": None, "memory_growth": False}
    if not 0 <= index < len(gpus):
        raise ValueError(index)
    try:
        config.set_visible_devices([gpus[index]], "GPU")
        config.set_memory_growth(gpus[index], bool(memory_growth))
        if memory_limit_mib is not None:
            config.set_virtual_device_configuration(
                gpus[index],
                [config.VirtualDeviceConfiguration(memory_limit=memory_limit_mib)],
            )
    except RuntimeError:
        print("please restart your kernel")
        return None
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }


def keeps_the_cpu_in_the_list(index=0, memory_growth=True, memory_limit_mib=None):
    both = tf.config.list_physical_devices("CPU")
    done = _claim(index, memory_growth, memory_limit_mib)
    if done["gpu"] is not None:
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices([*both, gpus[index]])
    return done


def _random(m, k, n):
    return tf.random.normal((m, k)), tf.random.normal((k, n))


def _timed(device, m, k, n, repeats, finish, warm=True, middle=statistics.median):
    with tf.device(device):
        a, b = _random(m, k, n)
        if warm:
            finish(tf.matmul(a, b))
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            finish(tf.matmul(a, b))
            times.append(time.perf_counter() - began)
    seconds = middle(times)
    return seconds, 2 * m * k * n / seconds / 1e9


def does_not_wait(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda product: None)


def times_the_start_only(device, m, k, n, repeats):
    return _timed(
        device, m, k, n, repeats, lambda p: p.numpy(), False, middle=lambda times: times[0]
    )


def counts_the_first(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, lambda p: p.numpy(), warm=False)


def takes_the_mean(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, lambda p: p.numpy(), middle=statistics.mean)


def gives_milliseconds(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats, lambda p: p.numpy())
    return 1000 * seconds, gflops


def gives_flops(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats, lambda p: p.numpy())
    return seconds, gflops * 1e9


def counts_products_only(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats, lambda p: p.numpy())
    return seconds, gflops / 2


def ignores_the_device(device, m, k, n, repeats):
    return _timed("CPU", m, k, n, repeats, lambda p: p.numpy())


def gives_seconds_only(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, lambda p: p.numpy())[0]


def with_timeit_and_at(device, m, k, n, repeats):
    with tf.device(device):
        rng = np.random.default_rng()
        a = tf.constant(rng.random((m, k)), tf.float32)
        b = tf.constant(rng.random((k, n)), tf.float32)
        times = timeit.repeat(
            lambda: float(tf.reduce_sum(a @ b)), number=1, repeat=repeats + 1
        )[1:]
    middle = sorted(times)[len(times) // 2]
    return np.array([middle, 2e-9 * m * n * k / middle])


def with_keras_and_a_barrier(device, m, k, n, repeats):
    with keras.device(device):
        a, b = keras.random.normal((m, k)), keras.random.normal((k, n))
        times = []
        for _ in range(repeats + 3):
            began = time.monotonic_ns()
            keras.ops.matmul(a, b)
            tf.test.experimental.sync_devices()
            times.append((time.monotonic_ns() - began) / 1e9)
    seconds = float(np.median(times[3:]))
    return seconds, m * k * n * 2 / 1e9 / seconds


def first_win(sizes, slow_seconds, fast_seconds):
    rows = zip(sizes, slow_seconds, fast_seconds, strict=True)
    return next((n for n, slow, fast in rows if fast < slow), None)


def counts_a_tie(sizes, slow_seconds, fast_seconds):
    winner = None
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast > slow:
            return winner
        winner = n
    return winner


def the_other_way_round(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, fast_seconds, slow_seconds)


def gives_the_place(sizes, slow_seconds, fast_seconds):
    found = backwards(sizes, slow_seconds, fast_seconds)
    return None if found is None else sizes.index(found)


def largest_where_nobody_wins(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, slow_seconds, fast_seconds) or sizes[-1]


def index_error(sizes, slow_seconds, fast_seconds):
    i = len(sizes) - 1
    while fast_seconds[i] < slow_seconds[i]:
        i -= 1
    return sizes[i + 1]


def backwards(sizes, slow_seconds, fast_seconds):
    best = None
    for i in range(len(sizes) - 1, -1, -1):
        if fast_seconds[i] >= slow_seconds[i]:
            return best
        best = sizes[i]
    return best


def with_numpy(sizes, slow_seconds, fast_seconds):
    loses = np.flatnonzero(np.array(fast_seconds) >= np.array(slow_seconds))
    place = loses[-1] + 1 if len(loses) else 0
    return None if place == len(sizes) else np.int64(sizes[place])


WRONG = {
    "0.1": [
        ("visible", leaves_all_visible),
        ("growth", grows_everywhere),
        ("growth", always_grows),
        ("limit", limit_in_bytes),
        ("both", forgets_that_both_are_refused),
        ("no_gpu", needs_a_gpu),
        ("no_gpu", says_nothing_without_a_gpu),
        ("index", takes_any_index),
        ("started", leaves_tensorflows_own_words),
        ("returned", returns_nothing),
        ("raised", takes_no_arguments),
    ],
    "0.2": [
        ("not_waited", does_not_wait),
        ("first", times_the_start_only),
        ("first", counts_the_first),
        ("mean", takes_the_mean),
        ("units", gives_milliseconds),
        ("units", gives_flops),
        ("flops", counts_products_only),
        ("device", ignores_the_device),
        ("raised", gives_seconds_only),
    ],
    "0.3": [
        ("first_win", first_win),
        ("tie", counts_a_tie),
        ("swapped", the_other_way_round),
        ("index", gives_the_place),
        ("never", largest_where_nobody_wins),
        ("raised", index_error),
    ],
}
UNUSUAL = {
    "0.1": [with_experimental_names_and_print, keeps_the_cpu_in_the_list],
    "0.2": [with_timeit_and_at, with_keras_and_a_barrier],
    "0.3": [backwards, with_numpy],
}
