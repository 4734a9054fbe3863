"""Recorded answers to 0.2: wrong ones, and right ones in other styles."""

import datetime
import functools
import statistics
import time
import timeit
from time import monotonic, perf_counter, sleep

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import matmul
from tensorflow.linalg import matmul as multiply
from tensorflow.random import normal

GENERATOR = np.random.default_rng()


def _random(m, k, n):
    return tf.random.normal((m, k)), tf.random.normal((k, n))


def _speed(m, k, n, seconds):
    return 2 * m * k * n / seconds / 1e9


def _all(product):
    return product.numpy()


def _times(device, m, k, n, repeats, finish=_all, warm=True, clock=time.perf_counter):
    with tf.device(device):
        a, b = _random(m, k, n)
        if warm:
            finish(tf.matmul(a, b))
        times = []
        for _ in range(repeats):
            began = clock()
            finish(tf.matmul(a, b))
            times.append(clock() - began)
    return times


def _timed(device, m, k, n, repeats, middle=statistics.median, **other):
    seconds = middle(_times(device, m, k, n, repeats, **other))
    return seconds, _speed(m, k, n, seconds)


def start_timing(device, m, k, n, repeats):
    with tf.device(device):
        a, b = tf.random.normal((m, k)), tf.random.normal((k, n))
        began = time.perf_counter()
        tf.matmul(a, b)
        seconds = time.perf_counter() - began
    return seconds, 2 * m * k * n / seconds / 1e9


def does_not_wait(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda product: None)


def asks_for_the_shape(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda product: product.shape)


def asks_how_many_rows(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=len)


def asks_tensorflow_for_the_shape(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda p: tf.shape(p).numpy())


def only_picks_one_number(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda product: product[0, 0])


def adds_up_without_asking(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=tf.reduce_sum)


def asks_for_the_size(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda product: int(tf.size(product)))


def asks_a_matrix(device, m, k, n, repeats):
    """Waits for the matrices, which were there before."""
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.matmul(a, b).numpy()
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            tf.matmul(a, b)
            float(np.asarray(a)[0, 0])
            times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    return seconds, _speed(m, k, n, seconds)


def asks_the_first_product(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        product = tf.matmul(a, b)
        product.numpy()
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            tf.matmul(a, b)
            product.numpy()
            times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    return seconds, _speed(m, k, n, seconds)


def waits_for_the_last_only(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.matmul(a, b).numpy()
        began = time.perf_counter()
        for _ in range(repeats):
            product = tf.matmul(a, b)
        product.numpy()
        seconds = (time.perf_counter() - began) / repeats
    return seconds, _speed(m, k, n, seconds)


def stops_the_clock_before_it_waits(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        times = []
        for _ in range(repeats + 1):
            began = time.perf_counter()
            product = tf.matmul(a, b)
            times.append(time.perf_counter() - began)
            product.numpy()
    seconds = statistics.median(times[1:])
    return seconds, _speed(m, k, n, seconds)


def asks_what_time_it_is(device, m, k, n, repeats):
    """On a GPU TensorFlow's time does not wait for the product."""
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.matmul(a, b).numpy()
        times = []
        for _ in range(repeats):
            began = tf.timestamp()
            tf.matmul(a, b)
            times.append(float(tf.timestamp() - began))
    seconds = statistics.median(times)
    return seconds, _speed(m, k, n, seconds)


def sleeps_a_little(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, finish=lambda product: time.sleep(0.002))


def counts_processor_time(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, clock=time.process_time)


def times_the_start_only(device, m, k, n, repeats):
    return _timed(device, m, k, n, 1, warm=False)


def counts_the_first(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, warm=False)


def counts_the_first_as_one_more(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats + 1, warm=False)


def takes_the_mean_with_the_first(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats + 1, warm=False, middle=statistics.mean)


def does_not_wait_for_the_first(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.matmul(a, b)
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            tf.matmul(a, b).numpy()
            times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    return seconds, _speed(m, k, n, seconds)


def warms_up_with_another_shape(device, m, k, n, repeats):
    with tf.device(device):
        tf.matmul(*_random(2, 2, 2)).numpy()
    return _timed(device, m, k, n, repeats, warm=False)


def always_five(device, m, k, n, repeats):
    return _timed(device, m, k, n, 5)


def one_repeat_less(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats - 1, middle=statistics.median_high)


def takes_the_mean(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, middle=statistics.mean)


def one_repeat_more(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats + 1)


def sleeps_for_its_constant(device, m, k, n, repeats):
    """No clock: the sleep makes room for the number."""
    with tf.device(device):
        a, b = _random(m, k, n)
        for _ in range(repeats + 1):
            tf.matmul(a, b).numpy()
            time.sleep(0.3)
    return 0.3, _speed(m, k, n, 0.3)


def times_all_at_once(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        (a @ b).numpy()
        seconds = timeit.timeit(lambda: (a @ b).numpy(), number=repeats) / repeats
    return seconds, _speed(m, k, n, seconds)


def takes_the_fastest(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, middle=min)


def takes_the_slowest(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, middle=max)


def takes_the_last(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, middle=lambda times: times[-1])


def forgets_to_sort(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, middle=lambda times: times[len(times) // 2])


def adds_them_up(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats, middle=sum)


def gives_milliseconds(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats)
    return 1000 * seconds, gflops


def reads_milliseconds_as_seconds(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats)
    return seconds / 1000, 1000 * gflops


def gives_flops(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats)
    return seconds, gflops * 1e9


def divides_by_2_to_the_30(device, m, k, n, repeats):
    seconds, _ = _timed(device, m, k, n, repeats)
    return seconds, 2 * m * k * n / seconds / 2**30


def gives_operations(device, m, k, n, repeats):
    seconds, _ = _timed(device, m, k, n, repeats)
    return seconds, 2 * m * k * n / 1e9


def counts_products_only(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats)
    return seconds, gflops / 2


def counts_one_sum_less(device, m, k, n, repeats):
    seconds, _ = _timed(device, m, k, n, repeats)
    return seconds, m * n * (2 * k - 1) / seconds / 1e9


def counts_all_repeats(device, m, k, n, repeats):
    seconds, gflops = _timed(device, m, k, n, repeats)
    return seconds, repeats * gflops


def speed_of_the_mean(device, m, k, n, repeats):
    times = _times(device, m, k, n, repeats)
    return statistics.median(times), _speed(m, k, n, statistics.mean(times))


def gives_the_speed_first(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats)[::-1]


def ignores_the_device(device, m, k, n, repeats):
    a, b = _random(m, k, n)
    return _products(lambda: tf.matmul(a, b), m, k, n, repeats)


def always_on_the_cpu(device, m, k, n, repeats):
    return _timed("CPU:0", m, k, n, repeats)


def makes_the_matrices_there_only(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
    return _products(lambda: tf.matmul(a, b), m, k, n, repeats)


def _products(product, m, k, n, repeats):
    product().numpy()
    times = timeit.repeat(lambda: product().numpy(), number=1, repeat=repeats)
    return statistics.median(times), _speed(m, k, n, statistics.median(times))


def square_matrices(device, m, k, n, repeats):
    with tf.device(device):
        a = tf.random.normal((n, n))
        return _products(lambda: tf.matmul(a, a), m, k, n, repeats)


def by_elements(device, m, k, n, repeats):
    with tf.device(device):
        a, b = tf.random.normal((m, n)), tf.random.normal((m, n))
        return _products(lambda: a * b, m, k, n, repeats)


def with_numpy_only(device, m, k, n, repeats):
    a, b = GENERATOR.random((m, k)), GENERATOR.random((k, n))
    times = timeit.repeat(lambda: a @ b, number=1, repeat=repeats + 1)[1:]
    return statistics.median(times), _speed(m, k, n, statistics.median(times))


def only_ones(device, m, k, n, repeats):
    with tf.device(device):
        a, b = tf.ones((m, k)), tf.ones((k, n))
        return _products(lambda: tf.matmul(a, b), m, k, n, repeats)


def one_of_them_is_zero(device, m, k, n, repeats):
    with tf.device(device):
        a, b = tf.random.uniform((m, k)), tf.zeros((k, n))
        return _products(lambda: tf.matmul(a, b), m, k, n, repeats)


def makes_them_in_the_clock(device, m, k, n, repeats):
    with tf.device(device):
        return _products(lambda: tf.matmul(*_random(m, k, n)), m, k, n, repeats)


def makes_one_of_them_in_the_clock(device, m, k, n, repeats):
    with tf.device(device):
        a = tf.random.normal((m, k))
        return _products(lambda: tf.matmul(a, tf.random.normal((k, n))), m, k, n, repeats)


def converts_in_the_clock(device, m, k, n, repeats):
    a, b = GENERATOR.random((m, k)), GENERATOR.random((k, n))
    with tf.device(device):
        return _products(lambda: tf.constant(a) @ tf.constant(b), m, k, n, repeats)


def copies_in_the_clock(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        return _products(lambda: tf.matmul(tf.identity(a) + 0.0, b), m, k, n, repeats)


def multiplies_twice(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        return _products(lambda: a @ b + a @ b, m, k, n, repeats)


def gives_seconds_only(device, m, k, n, repeats):
    return _timed(device, m, k, n, repeats)[0]


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
        for _ in range(repeats + 1):
            began = time.monotonic_ns()
            keras.ops.matmul(a, b)
            tf.test.experimental.sync_devices()
            times.append((time.monotonic_ns() - began) / 1e9)
    seconds = float(np.median(times[1:]))
    return seconds, m * k * n * 2 / 1e9 / seconds


def with_a_graph(device, m, k, n, repeats):
    @tf.function
    def product(a, b):
        return tf.matmul(a, b)

    with tf.device(device):
        a, b = tf.random.normal([m, k]), tf.random.normal([k, n])
        product(a, b).numpy()
        times = np.zeros(repeats)
        for i in range(repeats):
            start = time.time()
            product(a, b).numpy()
            times[i] = time.time() - start
    return np.median(times), 2 * m * k * n / np.median(times) * 1e-9


def with_a_compiled_graph(device, m, k, n, repeats):
    with tf.device(device):
        x, w = normal((m, k)), normal((k, n))
        total = tf.function(lambda: tf.reduce_sum(multiply(x, w)), jit_compile=True)
        float(total())
        times = []
        while len(times) < repeats:
            then = datetime.datetime.now()
            float(total())
            times.append((datetime.datetime.now() - then).total_seconds())
    seconds = sorted(times)[repeats // 2]
    return seconds, 2 * m * k * n / seconds / 10**9


def with_imported_names(device, m, k, n, repeats):
    def once():
        start = perf_counter()
        matmul(a, b)[-1, -1].numpy()
        return perf_counter() - start

    with tf.device(device):
        a, b = normal((m, k)), normal((k, n))
        once()
        median = statistics.median([once() for _ in range(repeats)])
    return median, (2 * m * k * n / 1e9) / median


def with_variables(device, m, k, n, repeats):
    with tf.device(device):
        a = tf.Variable(tf.random.uniform((m, k)))
        b = tf.Variable(tf.random.uniform((k, n)))
        bool(tf.matmul(a, b)[0, 0] > 0)
        times = []
        for _ in range(repeats):
            times.append(-monotonic())
            bool(tf.matmul(a, b)[0, 0] > 0)
            times[-1] += monotonic()
    seconds = np.percentile(times, 50)
    return seconds, 2 * m * n * k / seconds / 1e9


def with_einsum(device, m, k, n, repeats):
    with tf.device(device):
        generator = tf.random.Generator.from_seed(3)
        a, b = generator.normal((m, k)), generator.normal((k, n))
        times = []
        for i in range(-1, repeats):
            began = time.perf_counter_ns()
            np.asarray(tf.einsum("mk,kn->mn", a, b))
            if i >= 0:
                times.append((time.perf_counter_ns() - began) * 1e-9)
    return statistics.median(times), _speed(m, k, n, statistics.median(times))


def by_recursion(device, m, k, n, repeats):
    with tf.device(device):
        a = ops.convert_to_tensor(GENERATOR.normal(size=(m, k)))
        b = tf.convert_to_tensor(GENERATOR.normal(size=(k, n)))

        def times(left):
            began = timeit.default_timer()
            str(tf.tensordot(a, b, axes=1)[0, 0])
            seconds = timeit.default_timer() - began
            return [seconds, *times(left - 1)] if left else [seconds]

        seconds = statistics.median(times(repeats)[1:])
    return [seconds, 2 * m * k * n / (1e9 * seconds)]


def in_two_scopes(device, m, k, n, repeats):
    with tf.device(device):
        a, b = tf.random.truncated_normal((m, k)), tf.random.truncated_normal((k, n))

    def product():
        with tf.device(device):
            return tf.linalg.matmul(a, b)

    list(product()[0].numpy())
    print("warm")
    times = []
    for _ in range(repeats):
        began = time.time_ns()
        value = product()[0, 0]
        print(f"{value.numpy():.3f}")
        times.append((time.time_ns() - began) / 1e9)
    return tf.constant(np.median(times)), tf.constant(_speed(m, k, n, np.median(times)))


def by_lambda_and_map(device, m, k, n, repeats):
    scope = functools.partial(tf.device, device)
    with scope():
        a, b = map(tf.random.normal, [(m, k), (k, n)])
        job = lambda: ops.convert_to_numpy(ops.matmul(a, b)[:1, :1])  # noqa: E731
        job()
        times = [*map(lambda _: timeit.timeit(job, number=1), range(repeats))]  # noqa: C417
    times.sort()
    return times[len(times) // 2], 2e-9 * m * k * n / times[len(times) // 2]


class Stopwatch:
    def __init__(self):
        self.times = []

    def __enter__(self):
        self.began = perf_counter()

    def __exit__(self, *_):
        self.times.append(perf_counter() - self.began)

    @property
    def median(self):
        return statistics.quantiles(self.times, n=2, method="inclusive")[0]


def with_a_stopwatch(device, m, k, n, repeats):
    watch = Stopwatch()
    with tf.device(device):
        layer = tf.keras.random.normal((k, n))
        images = tf.keras.random.normal((m, k))
        tf.reduce_max(images @ layer).numpy()
        for _ in range(repeats):
            with watch:
                tf.reduce_max(images @ layer).numpy()
    return watch.median, 2 * m * k * n / 1e9 / watch.median


def waits_outside_the_product(device, m, k, n, repeats):
    """Makes new results in a list, transposed factors, and TensorFlow's own clock."""
    with tf.device(device):
        left, right = tf.random.normal((k, m)), tf.random.normal((n, k))

        def product():
            return tf.matmul(left, right, transpose_a=True, transpose_b=True)

        keep = [product()]
        keep[0].numpy()
        times = []
        for _ in range(repeats):
            began = tf.timestamp()
            keep.append(product())
            keep[-1][0, 0].numpy()
            times.append(float(tf.timestamp() - began))
    return float(np.median(times)), _speed(m, k, n, float(np.median(times)))


def multiplies_the_other_way_round(device, m, k, n, repeats):
    """An n x k matrix by a k x m matrix: as many operations, but another product."""
    with tf.device(device):
        a, b = _random(n, k, m)
        tf.matmul(a, b)[0, 0].numpy()
        times = []
        for _ in range(repeats):
            began = perf_counter()
            tf.matmul(a, b)[0, 0].numpy()
            times.append(perf_counter() - began)
    median = statistics.median(times)
    return median, _speed(m, k, n, median)


def starts_the_clock_after_the_call(device, m, k, n, repeats):
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.matmul(a, b).numpy()
        times = []
        for _ in range(repeats):
            product = tf.matmul(a, b)
            began = perf_counter()
            product.numpy()
            times.append(perf_counter() - began)
    median = statistics.median(times)
    return median, _speed(m, k, n, median)


def is_held_up_before_it_starts_the_clock(device, m, k, n, repeats):
    """As a busy machine does it: the work goes on in the meantime."""
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.matmul(a, b).numpy()
        times = []
        for _ in range(repeats):
            product = tf.matmul(a, b)
            sleep(0.003)
            began = perf_counter()
            product.numpy()
            times.append(perf_counter() - began)
    median = statistics.median(times)
    return median, _speed(m, k, n, median)


def with_raw_operations(device, m, k, n, repeats):
    """The operation itself, which takes its arguments by name only."""
    with tf.device(device):
        a, b = _random(m, k, n)
        tf.raw_ops.MatMul(a=a, b=b).numpy()
        times = []
        for _ in range(repeats):
            began = perf_counter()
            tf.raw_ops.MatMul(a=a, b=b, transpose_a=False).numpy()
            times.append(perf_counter() - began)
    return statistics.median(times), _speed(m, k, n, statistics.median(times))


WRONG = [
    ("done", "start", start_timing),
    ("done", "not_waited", does_not_wait),
    ("done", "not_waited", asks_for_the_shape),
    ("done", "not_waited", asks_how_many_rows),
    ("done", "not_waited", asks_tensorflow_for_the_shape),
    ("done", "not_waited", only_picks_one_number),
    ("done", "not_waited", adds_up_without_asking),
    ("done", "not_waited", asks_for_the_size),
    ("done", "not_waited", asks_a_matrix),
    ("done", "not_waited", asks_the_first_product),
    ("done", "not_waited", waits_for_the_last_only),
    ("done", "not_waited", stops_the_clock_before_it_waits),
    ("done", "not_waited", asks_what_time_it_is),
    ("done", "not_waited", sleeps_a_little),
    ("done", "not_waited", counts_processor_time),
    ("done", "late_clock", starts_the_clock_after_the_call),
    ("done", "late_clock", is_held_up_before_it_starts_the_clock),
    ("repeats", "repeats", times_the_start_only),
    ("repeats", "first", counts_the_first),
    ("median", "average", counts_the_first_as_one_more),
    ("median", "average", takes_the_mean_with_the_first),
    ("first", "first", does_not_wait_for_the_first),
    ("shapes", "shapes", warms_up_with_another_shape),
    ("shapes", "shapes", multiplies_the_other_way_round),
    ("repeats", "repeats", always_five),
    ("repeats", "first", one_repeat_less),
    ("repeats", "repeats", one_repeat_more),
    ("median", "other", sleeps_for_its_constant),
    ("median", "average", takes_the_mean),
    ("median", "average", times_all_at_once),
    ("median", "min", takes_the_fastest),
    ("median", "other", takes_the_slowest),
    ("median", "other", takes_the_last),
    ("median", "other", forgets_to_sort),
    ("median", "other", adds_them_up),
    ("median", "units", gives_milliseconds),
    ("median", "units", reads_milliseconds_as_seconds),
    ("speed", "units", gives_flops),
    ("speed", "units", divides_by_2_to_the_30),
    ("speed", "speed", gives_operations),
    ("speed", "operations", counts_products_only),
    ("speed", "operations", counts_one_sum_less),
    ("speed", "speed", counts_all_repeats),
    ("speed", "speed", speed_of_the_mean),
    ("speed", "swapped", gives_the_speed_first),
    ("device", "device", ignores_the_device),
    ("device", "device", always_on_the_cpu),
    ("device", "device", makes_the_matrices_there_only),
    ("shapes", "shapes", square_matrices),
    ("shapes", "shapes", by_elements),
    ("shapes", "shapes", with_numpy_only),
    ("random", "random", only_ones),
    ("random", "random", one_of_them_is_zero),
    ("once", "once", makes_them_in_the_clock),
    ("once", "once", makes_one_of_them_in_the_clock),
    ("once", "once", converts_in_the_clock),
    ("once", "once", copies_in_the_clock),
    ("repeats", "not_waited", multiplies_twice),
    ("speed", "raised", gives_seconds_only),
]
RIGHT = [
    with_timeit_and_at, with_keras_and_a_barrier, with_a_graph, with_a_compiled_graph,
    with_imported_names, with_variables, with_einsum, by_recursion, in_two_scopes,
    by_lambda_and_map, with_a_stopwatch, waits_outside_the_product,
    with_raw_operations,
]  # fmt: skip
