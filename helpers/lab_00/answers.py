"""Answers to lab 00: wrong ones with the sentence they break and their hint, right ones."""

import bisect
import datetime
import functools
import itertools
import statistics
import sys
import time
import timeit
from operator import lt
from time import monotonic, perf_counter

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import matmul
from tensorflow.config import LogicalDeviceConfiguration, list_physical_devices
from tensorflow.config import set_visible_devices as show_only
from tensorflow.linalg import matmul as multiply
from tensorflow.random import normal

from helpers.errors import DeviceError

GENERATOR = np.random.default_rng()
NOTHING = {"gpu": None, "memory_growth": False, "memory_limit_mib": None}


def _claim(index, growth, limit, refuse=True, there=range, set_up=None, no_gpu=None):
    """A right claim, of which one part can be another one."""
    gpus = tf.config.list_physical_devices("GPU")
    if refuse and growth and limit:
        raise ValueError("both at once")
    if not gpus:
        if no_gpu:
            return no_gpu()
        print("No GPU: the CPU it is.")
        return dict(NOTHING)
    if index not in there(len(gpus)):
        raise ValueError("no such GPU")
    try:
        (set_up or _set_up)(gpus, index, growth, limit)
    except RuntimeError as error:
        raise DeviceError("Restart the kernel.") from error
    return {"gpu": index, "memory_growth": growth, "memory_limit_mib": limit}


def _set_up(gpus, index, growth, limit):
    tf.config.set_visible_devices(gpus[index], "GPU")
    _share(gpus[index], growth, limit)


def _share(gpu, growth, limit):
    if growth:
        tf.config.experimental.set_memory_growth(gpu, True)
    elif limit:
        configuration = tf.config.LogicalDeviceConfiguration(memory_limit=limit)
        tf.config.set_logical_device_configuration(gpu, [configuration])


def start_claim(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[index], "GPU")
    return {"gpu": index, "memory_growth": False, "memory_limit_mib": None}


def leaves_all_visible(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(
        index,
        memory_growth,
        memory_limit_mib,
        set_up=lambda gpus, i, growth, limit: _share(gpus[i], growth, limit),
    )


def shows_the_first_ones(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[: i + 1], "GPU")
        _share(gpus[i], growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def by_the_environment(index=0, memory_growth=True, memory_limit_mib=None):
    import os

    def set_up(gpus, i, growth, limit):
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": str(i)}
        assert environment
        _share(gpus[i], growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def hides_the_cpu(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[i])
        _share(gpus[i], growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def grows_everywhere(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[i], "GPU")
        for gpu in gpus if growth else [gpus[i]]:
            _share(gpu, growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def grows_on_the_first(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[i], "GPU")
        _share(gpus[0 if growth else i], growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def always_grows(index=0, memory_growth=True, memory_limit_mib=None):
    _claim(index, memory_growth or not memory_limit_mib, memory_limit_mib)
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }


def grows_then_has_a_limit(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[i], "GPU")
        if limit:
            _share(gpus[i], False, limit)
        else:
            _share(gpus[i], True, None)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def limit_in_bytes(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        _set_up(gpus, i, growth, limit and limit * 2**20)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def limits_the_first(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[i], "GPU")
        _share(gpus[i if growth else 0], growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def forgets_that_both_are_refused(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib, refuse=False)


def refuses_both_only_if_told(index=0, memory_growth=None, memory_limit_mib=None):
    """A limit alone goes without growth: convenient, but not what was asked."""
    if memory_growth is None:
        memory_growth = memory_limit_mib is None
    return _claim(index, memory_growth, memory_limit_mib)


def refuses_both_too_late(index=0, memory_growth=True, memory_limit_mib=None):
    done = _claim(index, memory_growth, memory_limit_mib, refuse=False)
    if memory_growth and memory_limit_mib:
        raise ValueError("both at once")
    return done


def shows_before_it_refuses(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    if 0 <= index < len(gpus):
        try:
            tf.config.set_visible_devices(gpus[index], "GPU")
        except RuntimeError:
            raise DeviceError("Restart the kernel.") from None
    return _claim(index, memory_growth, memory_limit_mib)


def hides_all_before_it_refuses(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    if gpus and not 0 <= index < len(gpus):
        tf.config.set_visible_devices([], "GPU")
    return _claim(index, memory_growth, memory_limit_mib)


def needs_a_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    def no_gpu():
        raise RuntimeError("no GPU, no course")

    return _claim(index, memory_growth, memory_limit_mib, no_gpu=no_gpu)


def says_nothing_without_a_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib, no_gpu=NOTHING.copy)


def says_only_that_there_is_none(index=0, memory_growth=True, memory_limit_mib=None):
    def no_gpu():
        print("There is no GPU.")
        return dict(NOTHING)

    return _claim(index, memory_growth, memory_limit_mib, no_gpu=no_gpu)


def always_speaks_of_the_cpu(index=0, memory_growth=True, memory_limit_mib=None):
    print("CPU")
    return _claim(index, memory_growth, memory_limit_mib, no_gpu=lambda: dict(NOTHING))


def refuses_an_index_without_gpus(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    if index and index >= len(gpus):
        raise ValueError("no such GPU")
    return _claim(index, memory_growth, memory_limit_mib)


def refuses_minus_one_without_gpus(index=0, memory_growth=True, memory_limit_mib=None):
    if index < 0:
        raise ValueError("an index is not negative")
    return _claim(index, memory_growth, memory_limit_mib)


def lists_the_devices(index=0, memory_growth=True, memory_limit_mib=None):
    """A line to see what is there names the CPU, and says nothing of going on with it."""
    print(tf.config.list_physical_devices())
    return _claim(index, memory_growth, memory_limit_mib, no_gpu=NOTHING.copy)


def counts_the_devices(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    print(f"{len(gpus)} GPUs, 1 CPU")
    return _claim(index, memory_growth, memory_limit_mib, no_gpu=NOTHING.copy)


def returns_nothing_without_a_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(
        index, memory_growth, memory_limit_mib, no_gpu=lambda: print("using the CPU")
    )


def returns_the_wishes_without_a_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    def no_gpu():
        print("using the CPU")
        return {
            "gpu": None,
            "memory_growth": memory_growth,
            "memory_limit_mib": memory_limit_mib,
        }

    return _claim(index, memory_growth, memory_limit_mib, no_gpu=no_gpu)


def takes_any_index(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    return _claim(index % max(1, len(gpus)), memory_growth, memory_limit_mib)


def one_too_high(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(
        index, memory_growth, memory_limit_mib, there=lambda count: range(count + 1)
    )


def counts_from_the_end(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(
        index, memory_growth, memory_limit_mib, there=lambda count: range(-count, count)
    )


def takes_the_only_one(index=0, memory_growth=True, memory_limit_mib=None):
    only = len(tf.config.list_physical_devices("GPU")) == 1
    return _claim(0 if only else index, memory_growth, memory_limit_mib)


def counts_from_one(index=0, memory_growth=True, memory_limit_mib=None):
    done = _claim(index - 1, memory_growth, memory_limit_mib)
    return done | {"gpu": index}


def leaves_the_index_error(index=0, memory_growth=True, memory_limit_mib=None):
    if index < 0:
        raise ValueError(index)
    return _claim(
        index, memory_growth, memory_limit_mib, there=lambda count: itertools.count()
    )


def leaves_tensorflows_own_words(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError as error:
        raise error.__cause__ from None


def prints_instead(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError:
        print("Please restart the kernel.")


def raises_another_error(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError as error:
        raise OSError("Restart the kernel.") from error


def catches_the_first_call_only(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.list_physical_devices("GPU")
    if gpus and index in range(len(gpus)) and not (memory_growth and memory_limit_mib):
        try:
            tf.config.set_visible_devices(gpus[index], "GPU")
        except RuntimeError:
            raise DeviceError("Restart the kernel.") from None
        _share(gpus[index], memory_growth, memory_limit_mib)
    return _claim(index, memory_growth, memory_limit_mib)


def catches_everything(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except Exception:
        raise DeviceError("Restart the kernel.") from None


def says_what_not_why(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError as error:
        raise DeviceError(str(error.__cause__)) from None


def says_to_restart_tensorflow(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError:
        raise DeviceError("Please restart TensorFlow.") from None


def says_it_in_two_lines(index=0, memory_growth=True, memory_limit_mib=None):
    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError as error:
        raise DeviceError(f"{error.__cause__}\nRestart the kernel.") from None


def returns_nothing(index=0, memory_growth=True, memory_limit_mib=None):
    _claim(index, memory_growth, memory_limit_mib)


def returns_the_device(index=0, memory_growth=True, memory_limit_mib=None):
    done = _claim(index, memory_growth, memory_limit_mib)
    return done if done["gpu"] is None else done | {"gpu": f"GPU:{index}"}


def always_says_that_it_grows(index=0, memory_growth=True, memory_limit_mib=None):
    done = _claim(index, memory_growth, memory_limit_mib)
    return done if done["gpu"] is None else done | {"memory_growth": True}


def forgets_to_say_the_limit(index=0, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib) | {"memory_limit_mib": None}


def takes_no_arguments():
    return _claim(0, True, None)


def wants_an_index(index, memory_growth=True, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib)


def does_not_grow_by_itself(index=0, memory_growth=False, memory_limit_mib=None):
    return _claim(index, memory_growth, memory_limit_mib)


def other_order(index=0, memory_limit_mib=None, memory_growth=True):
    return _claim(index, memory_growth, memory_limit_mib)


def with_experimental_names(index=0, memory_growth=True, memory_limit_mib=None):
    """The older names in TensorFlow, and a list of one."""
    if bool(memory_growth) and memory_limit_mib is not None:
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
        raise DeviceError("please restart your kernel") from None
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }


def keeps_the_cpu_in_the_list(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        cpus = tf.config.list_physical_devices("CPU")
        tf.config.set_visible_devices([*cpus, gpus[i]])
        _share(gpus[i], growth, limit)

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


def names_imported_before(index=0, memory_growth=True, memory_limit_mib=None):
    from tensorflow.config.experimental import set_memory_growth

    match memory_growth, memory_limit_mib:
        case True, int():
            raise ValueError("growth or a limit, not both")
    match list_physical_devices("GPU"):
        case []:
            print("Going on with the CPU.", file=sys.stdout)
            return dict(NOTHING)
        case [*gpus] if index in range(len(gpus)):
            gpu = gpus[index]
        case gpus:
            raise ValueError(f"{index} of {len(gpus)}")
    try:
        show_only(gpu, device_type="GPU")
        if memory_limit_mib:
            limit = [LogicalDeviceConfiguration(memory_limit_mib)]
            tf.config.set_logical_device_configuration(gpu, limit)
        elif memory_growth:
            set_memory_growth(gpu, enable=True)
    except RuntimeError as started:
        raise DeviceError(f"{started}: restart the kernel, then claim") from started
    return dict(zip(NOTHING, (index, memory_growth, memory_limit_mib), strict=True))


def shares_first_and_looks_afterwards(index=0, memory_growth=True, memory_limit_mib=None):
    """The order of the calls is free, and it looks at what TensorFlow then has."""

    def set_up(gpus, i, growth, limit):
        _share(gpus[i], growth, limit)
        tf.config.set_visible_devices([gpus[i]], "GPU")
        tf.print("GPUs:", len(tf.config.list_logical_devices("GPU")))

    return _claim(index, memory_growth, memory_limit_mib, set_up=set_up)


class GpuClaim:
    """An object that can be called."""

    def __call__(self, index=0, memory_growth=True, memory_limit_mib=None):
        self.wishes = {"memory_growth": memory_growth, "memory_limit_mib": memory_limit_mib}
        if all(self.wishes.values()):
            raise ValueError(f"one of {list(self.wishes)}")
        self.gpus = tf.config.list_physical_devices(device_type="GPU")
        return self.take(index) if self.gpus else self.go_without()

    def go_without(self):
        tf.print("no GPU: CPU", output_stream=sys.stdout)
        return NOTHING

    def take(self, index):
        if index < 0 or index > len(self.gpus) - 1:
            raise ValueError(f"GPUs are 0 to {len(self.gpus) - 1}")
        try:
            _set_up(self.gpus, index, *self.wishes.values())
        except RuntimeError as error:
            raise DeviceError("Restart kernel first") from error
        return {"gpu": index} | self.wishes


claims_as_an_object = GpuClaim()
claims_as_an_object.__name__ = "claims_as_an_object"


def with_early_returns(index=0, memory_growth=True, memory_limit_mib=None):
    gpus = tf.config.get_visible_devices("GPU")
    if memory_limit_mib is not None and memory_growth:
        raise ValueError("memory_growth=False, please")
    if gpus == []:
        return print("CPU only") or {**NOTHING}
    if index not in [i for i, _ in enumerate(gpus)]:
        raise ValueError(f"no GPU {index}")
    done = {"gpu": index, "memory_growth": False, "memory_limit_mib": None}
    try:
        tf.config.set_visible_devices(devices=[gpus[index]], device_type="GPU")
        if memory_growth:
            tf.config.experimental.set_memory_growth(gpus[index], True)
            return done | {"memory_growth": True}
        if memory_limit_mib is None:
            return done
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=memory_limit_mib)
        tf.config.set_logical_device_configuration(gpus[index], [limit])
        return done | {"memory_limit_mib": memory_limit_mib}
    except RuntimeError:
        raise DeviceError("Please restart the kernel and run this cell first.") from None


def says_which_device_it_takes(*args, **kwargs):
    """Its line about the CPU differs from the one about a GPU in one word only."""
    wishes = {"index": 0, "memory_growth": True, "memory_limit_mib": None}
    wishes |= dict(zip(wishes, args, strict=False)) | kwargs
    gpus = tf.config.list_physical_devices("GPU")
    both = wishes["memory_growth"] and wishes["memory_limit_mib"]
    if both or (gpus and wishes["index"] not in range(len(gpus))):
        raise ValueError(str(wishes))
    print("Devices:", tf.config.list_physical_devices())
    device = (gpus or tf.config.list_physical_devices("CPU"))[0]
    print("Going on with", device.name)
    return _claim(*wishes.values(), no_gpu=NOTHING.copy)


def translates(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:
            raise DeviceError("RESTART THE KERNEL") from error

    return wrapped


@translates
def with_a_decorator(index=0, memory_growth=True, memory_limit_mib=None):
    if memory_growth and memory_limit_mib:
        raise ValueError("both")
    gpus = {i: gpu for i, gpu in enumerate(tf.config.list_physical_devices("GPU"))}  # noqa: C416
    if not gpus:
        sys.stdout.write("cpu\n")
        return NOTHING
    try:
        gpu = gpus[index]
    except KeyError:
        raise ValueError(f"GPU {index} is not one of {list(gpus)}") from None
    tf.config.set_visible_devices(gpu, "GPU")
    _share(gpu, memory_growth, memory_limit_mib)
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }


def by_names(index=0, memory_growth=True, memory_limit_mib=None):
    """Finds the card by TensorFlow's own name of it."""
    wished = [memory_growth, memory_limit_mib is not None]
    if sum(wished) == 2:
        raise ValueError("2 wishes")
    gpus = tf.config.list_physical_devices("GPU")
    mine = [gpu for gpu in gpus if gpu.name.endswith(f":GPU:{index}")]
    if gpus and not mine:
        raise ValueError(f"{index} is not there")
    if not gpus:
        print(f"{len(gpus)} GPUs, so we go on with the CPU")
        index = None
    try:
        if mine:
            tf.config.set_visible_devices(mine, "GPU")
        for gpu in mine:
            _share(gpu, *[memory_growth, memory_limit_mib])
    except RuntimeError as error:
        raise DeviceError("TensorFlow runs: restart Python") from error
    return {
        "gpu": index,
        "memory_growth": memory_growth and bool(mine),
        "memory_limit_mib": memory_limit_mib if mine else None,
    }


def _own_error(index, memory_growth, memory_limit_mib):
    class KernelError(DeviceError):
        pass

    try:
        return _claim(index, memory_growth, memory_limit_mib)
    except DeviceError:
        raise KernelError("The kernel must be restarted.") from None


def with_an_error_of_its_own(index=0, memory_growth=True, memory_limit_mib=None):
    return _own_error(index, memory_growth, memory_limit_mib)


by_lambda = lambda index=0, memory_growth=True, memory_limit_mib=None: (  # noqa: E731
    _claim(index, memory_growth, memory_limit_mib)
)
by_lambda.__name__ = "by_lambda"


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


def start_crossover(sizes, slow_seconds, fast_seconds):
    return sizes[0]


def first_win(sizes, slow_seconds, fast_seconds):
    rows = zip(sizes, slow_seconds, fast_seconds, strict=True)
    return next((n for n, slow, fast in rows if fast < slow), None)


def first_win_that_lasts_one_more(sizes, slow_seconds, fast_seconds):
    wins = [f < s for s, f in zip(slow_seconds, fast_seconds, strict=True)]
    for i, win in enumerate(wins):
        if win and wins[min(i + 1, len(wins) - 1)]:
            return sizes[i]
    return None


def after_the_first_loss(sizes, slow_seconds, fast_seconds):
    """Forgets that it may win, lose, win and lose again."""
    won = False
    for n, slow, fast in zip(sizes, slow_seconds, fast_seconds, strict=True):
        if fast < slow and not won:
            winner, won = n, True
        elif fast >= slow and won:
            return first_win(
                sizes[sizes.index(n) + 1 :],
                slow_seconds[sizes.index(n) + 1 :],
                fast_seconds[sizes.index(n) + 1 :],
            )
    return winner if won else None


def by_bisection(sizes, slow_seconds, fast_seconds):
    rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True))
    at = bisect.bisect_left(rows, True, key=lambda row: row[2] < row[1])
    return sizes[at] if at < len(sizes) else None


def last_crossing(sizes, slow_seconds, fast_seconds):
    """None if fast wins everywhere: then nothing is crossed."""
    rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True))
    if fast_seconds[-1] >= slow_seconds[-1]:
        return None
    for i in range(len(rows) - 1, 0, -1):
        if rows[i - 1][2] >= rows[i - 1][1]:
            return rows[i][0]
    return None


def misses_the_smallest(sizes, slow_seconds, fast_seconds):
    winner = None
    for i in range(len(sizes) - 1, 0, -1):
        if fast_seconds[i] >= slow_seconds[i]:
            return winner
        winner = sizes[i]
    return winner


def gives_the_last_loss(sizes, slow_seconds, fast_seconds):
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast >= slow:
            return n
    return None


def goes_on_after_a_loss(sizes, slow_seconds, fast_seconds):
    """`continue` in place of `break`."""
    winner = None
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast >= slow:
            continue
        winner = n
    return winner


def by_sums(sizes, slow_seconds, fast_seconds):
    for i, n in enumerate(sizes):
        if sum(fast_seconds[i:]) < sum(slow_seconds[i:]):
            return n
    return None


def counts_a_tie(sizes, slow_seconds, fast_seconds):
    winner = None
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast > slow:
            return winner
        winner = n
    return winner


def counts_a_tie_at_the_end(sizes, slow_seconds, fast_seconds):
    if fast_seconds[-1] > slow_seconds[-1]:
        return None
    return backwards(sizes, [*slow_seconds[:-1], slow_seconds[-1] + 1], fast_seconds)


def wants_a_clear_win(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, [0.95 * slow for slow in slow_seconds], fast_seconds)


def in_float16(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, np.float16(slow_seconds), np.float16(fast_seconds))


def takes_close_ones_for_ties(sizes, slow_seconds, fast_seconds):
    """As `numpy.isclose` does by itself."""
    slow = [
        f if np.isclose(s, f) else s
        for s, f in zip(slow_seconds, fast_seconds, strict=True)
    ]
    return backwards(sizes, slow, fast_seconds)


def rounds_to_milliseconds(sizes, slow_seconds, fast_seconds):
    slow, fast = np.round(slow_seconds, 3), np.round(fast_seconds, 3)
    return backwards(sizes, slow, fast)


def the_other_way_round(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, fast_seconds, slow_seconds)


def gives_the_place(sizes, slow_seconds, fast_seconds):
    found = backwards(sizes, slow_seconds, fast_seconds)
    return None if found is None else sizes.index(found)


def gives_text(sizes, slow_seconds, fast_seconds):
    found = backwards(sizes, slow_seconds, fast_seconds)
    return None if found is None else str(found)


def between_two_sizes(sizes, slow_seconds, fast_seconds):
    """Where the lines between the points cross."""
    found = backwards(sizes, slow_seconds, fast_seconds)
    if found is None or found == sizes[0]:
        return found
    at = sizes.index(found)
    return (sizes[at - 1] + sizes[at]) / 2


def largest_where_nobody_wins(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, slow_seconds, fast_seconds) or sizes[-1]


def zero_where_nobody_wins(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, slow_seconds, fast_seconds) or 0


def index_error(sizes, slow_seconds, fast_seconds):
    i = len(sizes) - 1
    while fast_seconds[i] < slow_seconds[i]:
        i -= 1
    return sizes[i + 1]


def reverses_in_place(sizes, slow_seconds, fast_seconds):
    for times in (sizes, slow_seconds, fast_seconds):
        times.reverse()
    winner = None
    for n, slow, fast in zip(sizes, slow_seconds, fast_seconds, strict=True):
        if fast >= slow:
            break
        winner = n
    return winner


def takes_from_the_lists(sizes, slow_seconds, fast_seconds):
    winner = None
    while sizes and fast_seconds.pop() < slow_seconds.pop():
        winner = sizes.pop()
    return winner


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


def with_all(sizes, slow_seconds, fast_seconds):
    for i in range(len(sizes)):
        if all(f < s for s, f in zip(slow_seconds[i:], fast_seconds[i:], strict=True)):
            return sizes[i]


def with_takewhile(sizes, slow_seconds, fast_seconds):
    rows = zip(sizes[::-1], slow_seconds[::-1], fast_seconds[::-1], strict=True)
    won = [size for size, *_ in itertools.takewhile(lambda row: row[2] < row[1], rows)]
    return won[-1] if won else None


def forwards(sizes, slow_seconds, fast_seconds):
    winner = None
    for size, slow, fast in zip(sizes, slow_seconds, fast_seconds, strict=True):
        if fast >= slow:
            winner = None
        elif winner is None:
            winner = size
    return winner


def recursive(sizes, slow_seconds, fast_seconds):
    *sizes, size = sizes
    *slow_seconds, slow = slow_seconds
    *fast_seconds, fast = fast_seconds
    if not fast < slow:
        return None
    smaller = recursive(sizes, slow_seconds, fast_seconds) if sizes else None
    return size if smaller is None else smaller


def with_min(sizes, slow_seconds, fast_seconds):
    lost = [n for n, s, f in zip(sizes, slow_seconds, fast_seconds, strict=True) if f >= s]
    return min((n for n in sizes if n > max(lost, default=-1)), default=None)


def with_cumulative(sizes, slow_seconds, fast_seconds):
    wins = np.less(fast_seconds, slow_seconds)[::-1]
    count = int(np.logical_and.accumulate(wins).sum())
    return sizes[-count] if count else None


def with_tensorflow(sizes, slow_seconds, fast_seconds):
    ahead = tf.constant(slow_seconds, tf.float64) - tf.constant(fast_seconds, tf.float64)
    always = tf.math.cumprod(tf.cast(ahead > 0, tf.int32), reverse=True)
    found = tf.boolean_mask(tf.constant(sizes), tf.cast(always, tf.bool))
    return int(found[0]) if len(found) else None


def with_while(sizes, slow_seconds, fast_seconds):
    place = len(sizes)
    while place > 0 and slow_seconds[place - 1] > fast_seconds[place - 1]:
        place = place - 1
    return (list(sizes) + [None])[place]  # noqa: RUF005


def with_a_dict(sizes, slow_seconds, fast_seconds):
    won = dict(zip(sizes, map(lt, fast_seconds, slow_seconds), strict=True))
    candidates = [size for size in won if all(won[n] for n in won if n >= size)]
    try:
        return candidates[0]
    except IndexError:
        return None


by_reduce = lambda sizes, slow, fast: functools.reduce(  # noqa: E731
    lambda winner, row: (winner or row[0]) if row[1] > row[2] else None,
    zip(sizes, slow, fast, strict=True),
    None,
)
by_reduce.__name__ = "by_reduce"


WRONG = {
    "0.1": [
        ("growth", "start", start_claim),
        ("visible", "visible", leaves_all_visible),
        ("visible", "visible", shows_the_first_ones),
        ("visible", "visible", by_the_environment),
        ("cpu", "cpu", hides_the_cpu),
        ("growth", "growth", grows_everywhere),
        ("growth", "growth", grows_on_the_first),
        ("neither", "growth", always_grows),
        ("neither", "growth", grows_then_has_a_limit),
        ("limit", "limit", limit_in_bytes),
        ("limit", "limit", limits_the_first),
        ("both", "both", forgets_that_both_are_refused),
        ("both", "both", refuses_both_only_if_told),
        ("unchanged", "too_late", refuses_both_too_late),
        ("unchanged", "too_late", shows_before_it_refuses),
        ("unchanged", "too_late", hides_all_before_it_refuses),
        ("no_gpu", "no_gpu", needs_a_gpu),
        ("no_gpu", "no_gpu", says_nothing_without_a_gpu),
        ("no_gpu", "no_gpu", says_only_that_there_is_none),
        ("no_gpu", "always", always_speaks_of_the_cpu),
        ("no_gpu", "no_gpu", refuses_an_index_without_gpus),
        ("no_gpu", "no_gpu", refuses_minus_one_without_gpus),
        ("no_gpu", "always", lists_the_devices),
        ("no_gpu", "always", counts_the_devices),
        ("nothing", "returned", returns_nothing_without_a_gpu),
        ("nothing", "returned", returns_the_wishes_without_a_gpu),
        ("index", "index", takes_any_index),
        ("index", "index", one_too_high),
        ("index", "index", counts_from_the_end),
        ("index", "index", takes_the_only_one),
        ("index", "visible", counts_from_one),
        ("index", "index", leaves_the_index_error),
        ("started", "started", leaves_tensorflows_own_words),
        ("started", "started", prints_instead),
        ("started", "started", raises_another_error),
        ("started", "started", catches_the_first_call_only),
        ("started", "both", catches_everything),
        ("message", "message", says_what_not_why),
        ("message", "message", says_to_restart_tensorflow),
        ("message", "message", says_it_in_two_lines),
        ("returned", "returned", returns_nothing),
        ("returned", "returned", returns_the_device),
        ("returned", "returned", always_says_that_it_grows),
        ("returned", "returned", forgets_to_say_the_limit),
        ("defaults", "raised", takes_no_arguments),
        ("defaults", "raised", wants_an_index),
        ("defaults", "growth", does_not_grow_by_itself),
        ("defaults", "growth", other_order),
    ],
    "0.2": [
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
        ("first", "repeats", times_the_start_only),
        ("first", "first", counts_the_first),
        ("first", "average", counts_the_first_as_one_more),
        ("first", "average", takes_the_mean_with_the_first),
        ("first", "first", does_not_wait_for_the_first),
        ("first", "shapes", warms_up_with_another_shape),
        ("repeats", "repeats", always_five),
        ("repeats", "first", one_repeat_less),
        ("repeats", "repeats", one_repeat_more),
        ("median", "other", sleeps_for_its_constant),
        ("median", "average", takes_the_mean),
        ("repeats", "average", times_all_at_once),
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
    ],
    "0.3": [
        ("every_larger", "start", start_crossover),
        ("every_larger", "first_win", first_win),
        ("every_larger", "first_win", goes_on_after_a_loss),
        ("every_larger", "first_win", first_win_that_lasts_one_more),
        ("every_larger", "first_win", after_the_first_loss),
        ("every_larger", "first_win", by_bisection),
        ("every_larger", "other", last_crossing),
        ("every_larger", "other", misses_the_smallest),
        ("every_larger", "last_loss", gives_the_last_loss),
        ("every_larger", "other", by_sums),
        ("every_larger", "raised", index_error),
        ("tie", "tie", counts_a_tie),
        ("tie", "tie", counts_a_tie_at_the_end),
        ("every_larger", "other", wants_a_clear_win),
        ("every_larger", "other", rounds_to_milliseconds),
        ("every_larger", "close", in_float16),
        ("every_larger", "close", takes_close_ones_for_ties),
        ("slow_fast", "swapped", the_other_way_round),
        ("size", "index", gives_the_place),
        ("size", "other", gives_text),
        ("size", "other", between_two_sizes),
        ("none", "never", largest_where_nobody_wins),
        ("none", "other", zero_where_nobody_wins),
        ("unchanged", "changed", reverses_in_place),
        ("unchanged", "changed", takes_from_the_lists),
    ],
}
RIGHT = {
    "0.1": [
        with_experimental_names, keeps_the_cpu_in_the_list, names_imported_before,
        shares_first_and_looks_afterwards, claims_as_an_object, with_early_returns,
        with_a_decorator, by_names, with_an_error_of_its_own, by_lambda,
        says_which_device_it_takes,
    ],
    "0.2": [
        with_timeit_and_at, with_keras_and_a_barrier, with_a_graph, with_a_compiled_graph,
        with_imported_names, with_variables, with_einsum, by_recursion, in_two_scopes,
        by_lambda_and_map, with_a_stopwatch, waits_outside_the_product,
    ],
    "0.3": [
        backwards, with_numpy, with_all, with_takewhile, forwards, recursive, with_min,
        with_cumulative, with_tensorflow, with_while, with_a_dict, by_reduce,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right.
WORDS = "the words of a message are free"
ORDER = "the order is free"
ALONE = "these calls raise nothing else there"
ANY = "any number of the product will do"
FACTORS = "the order of factors is free"
LENGTH = "the lists are equally long"
RIGHT_MUTANTS = {
    "0.1": {
        "3: if memory_growth and memory_limit_mib:; raise ValueError('memory grows or "
        "has a limit: give memory_growth=False too'); gpus = "
        "tf.config.list_physical_devices('GPU') → gpus = "
        "tf.config.list_physical_devices('GPU'); if memory_growth and "
        "memory_limit_mib:; raise ValueError('memory grows or has a limit: give "
        "memory_growth=False too')": ORDER,
        "4: raise ValueError('memory grows or has a limit: give memory_growth=False "
        "too') → raise ValueError()": WORDS,
        "4: raise ValueError('memory grows or has a limit: give memory_growth=False "
        "too') → raise ValueError('memory grows or has a limit: give "
        "memory_growth=False toox')": WORDS,
        "4: raise ValueError('memory grows or has a limit: give memory_growth=False "
        "too') → raise ValueError('')": WORDS,
        "7: print('There is no GPU here: going on with the CPU.') → print('There is no "
        "GPU here: going on with the CPU.x')": WORDS,
        "10: raise ValueError(f'index must be below {len(gpus)}, not {index}') → raise "
        "ValueError()": WORDS,
        "10: raise ValueError(f'index must be below {len(gpus)}, not {index}') → raise "
        "ValueError(f'index must be below x{len(gpus)}, not {index}')": WORDS,
        "10: raise ValueError(f'index must be below {len(gpus)}, not {index}') → raise "
        "ValueError(f'{len(gpus)}, not {index}')": WORDS,
        "10: raise ValueError(f'index must be below {len(gpus)}, not {index}') → raise "
        "ValueError(f'index must be below {gpus}, not {index}')": WORDS,
        "10: raise ValueError(f'index must be below {len(gpus)}, not {index}') → raise "
        "ValueError(f'index must be below {len(gpus)}, not x{index}')": WORDS,
        "10: raise ValueError(f'index must be below {len(gpus)}, not {index}') → raise "
        "ValueError(f'index must be below {len(gpus)}{index}')": WORDS,
        "13: tf.config.set_visible_devices(gpu, 'GPU'); if memory_growth:; "
        "tf.config.experimental.set_memory_growth(gpu, True); elif memory_limit_mib:; "
        "limit = tf.config.LogicalDeviceConfiguration(memory_limit_mib); "
        "tf.config.set_logical_device_configuration(gpu, [limit]) → if memory_growth:; "
        "tf.config.experimental.set_memory_growth(gpu, True); elif memory_limit_mib:; "
        "limit = tf.config.LogicalDeviceConfiguration(memory_limit_mib); "
        "tf.config.set_logical_device_configuration(gpu, [limit]); "
        "tf.config.set_visible_devices(gpu, 'GPU')": ORDER,
        "19: except RuntimeError as error: → except Exception as error:": ALONE,
        "20: message = 'TensorFlow has started: restart the kernel and claim the GPU "
        "first.' → message = 'TensorFlow has started: restart the kernel and claim the "
        "GPU first.x'": WORDS,
    },
    "0.2": {
        "5: tf.matmul(a, b)[0, 0].numpy(); times = [] → times = []; tf.matmul(a, b)[0, "
        "0].numpy()": ORDER,
        "5: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[1, 0].numpy()": ANY,
        "5: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[-1, 0].numpy()": ANY,
        "5: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[0, 1].numpy()": ANY,
        "5: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[0, -1].numpy()": ANY,
        "9: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[1, 0].numpy()": ANY,
        "9: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[-1, 0].numpy()": ANY,
        "9: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[0, 1].numpy()": ANY,
        "9: tf.matmul(a, b)[0, 0].numpy() → tf.matmul(a, b)[0, -1].numpy()": ANY,
        "12: return (seconds, 2 * m * k * n / seconds / 1000000000.0) → return "
        "(seconds, n * (2 * m * k) / seconds / 1000000000.0)": FACTORS,
        "12: return (seconds, 2 * m * k * n / seconds / 1000000000.0) → return "
        "(seconds, k * (2 * m) * n / seconds / 1000000000.0)": FACTORS,
        "12: return (seconds, 2 * m * k * n / seconds / 1000000000.0) → return "
        "(seconds, m * 2 * k * n / seconds / 1000000000.0)": FACTORS,
    },
    "0.3": {
        "3: winner = None; rows = list(zip(sizes, slow_seconds, fast_seconds, "
        "strict=True)) → rows = list(zip(sizes, slow_seconds, fast_seconds, "
        "strict=True)); winner = None": ORDER,
        "4: rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True)) → rows = "
        "list(zip(sizes, slow_seconds, fast_seconds))": LENGTH,
        "4: rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True)) → rows = "
        "list(zip(sizes, slow_seconds, fast_seconds, strict=False))": LENGTH,
    },
}
