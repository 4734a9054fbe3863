"""Recorded answers to 0.1: wrong ones, and right ones in other styles."""

import functools
import itertools
import sys

import tensorflow as tf
from tensorflow.config import LogicalDeviceConfiguration, list_physical_devices
from tensorflow.config import set_visible_devices as show_only

from helpers.errors import DeviceError

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


def switches_growth_off(index=0, memory_growth=True, memory_limit_mib=None):
    def set_up(gpus, i, growth, limit):
        tf.config.set_visible_devices(gpus[i], "GPU")
        if limit:
            _share(gpus[i], False, limit)
        else:
            tf.config.experimental.set_memory_growth(gpus[i], growth)

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
    """A line that lists the devices names the CPU, but does not say that it is used."""
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
        if memory_growth:
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

WRONG = [
    ("growth", "start", start_claim),
    ("visible", "visible", leaves_all_visible),
    ("visible", "visible", shows_the_first_ones),
    ("visible", "visible", by_the_environment),
    ("cpu", "cpu", hides_the_cpu),
    ("growth", "growth", grows_everywhere),
    ("growth", "growth", grows_on_the_first),
    ("neither", "growth", always_grows),
    ("neither", "growth", grows_then_has_a_limit),
    ("neither", "growth", switches_growth_off),
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
    ("visible", "visible", counts_from_one),
    ("index", "index", leaves_the_index_error),
    ("started", "started", leaves_tensorflows_own_words),
    ("started", "started", prints_instead),
    ("started", "started", raises_another_error),
    ("started", "started", catches_the_first_call_only),
    ("both", "both", catches_everything),
    ("message", "message", says_what_not_why),
    ("message", "message", says_to_restart_tensorflow),
    ("message", "message", says_it_in_two_lines),
    ("returned", "returned", returns_nothing),
    ("returned", "returned", returns_the_device),
    ("returned", "returned", always_says_that_it_grows),
    ("returned", "returned", forgets_to_say_the_limit),
    ("defaults", "raised", takes_no_arguments),
    ("defaults", "raised", wants_an_index),
    ("growth", "growth", does_not_grow_by_itself),
    ("defaults", "growth", other_order),
]
RIGHT = [
    with_experimental_names, keeps_the_cpu_in_the_list, names_imported_before,
    shares_first_and_looks_afterwards, claims_as_an_object, with_early_returns,
    with_a_decorator, by_names, with_an_error_of_its_own, by_lambda,
    says_which_device_it_takes,
]  # fmt: skip
