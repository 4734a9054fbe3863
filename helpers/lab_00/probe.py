"""Probes of lab 00: devices."""

import contextlib
import time
from unittest import mock

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.ops import (
    array_ops,
    gen_array_ops,
    gen_linalg_ops,
    gen_math_ops,
)

from helpers.checks.probing.arguments import call
from helpers.checks.probing.printed import Printed

CONFIGURES = (
    "list_physical_devices", "list_logical_devices", "get_visible_devices",
    "set_visible_devices", "get_memory_growth", "set_memory_growth",
    "get_logical_device_configuration", "set_logical_device_configuration",
)  # fmt: skip
MOST_PRODUCTS = 50  # that are made late and reported


def claim_gpu(answer, question, wait):
    """Call the answer on machines whose GPUs are only pretended."""
    return {"cases": [_claim(answer, case) for case in question["cases"]]}


def _claim(answer, case):
    machine = PretendedMachine(case["gpus"], case["started"])
    arguments, returned, raised = dict(case["arguments"]), None, None
    by_position = [arguments.pop(name) for name in list(arguments)[: case["by_position"]]]
    with machine.pretend(), Printed() as printed:
        try:
            returned = answer(*by_position, **arguments)
        except Exception as error:
            raised = [kind.__name__ for kind in type(error).__mro__] + [str(error)]
    return {"printed": printed.lines(), "raised": raised, "returned": returned} | (
        machine.state()
    )


class PretendedMachine:
    """A machine with some GPUs, as the functions of `tf.config` see it.

    It behaves as TensorFlow does: after the start nothing can be changed any more.
    """

    def __init__(self, gpus, started):
        kinds = [("CPU", 0), *(("GPU", i) for i in range(gpus))]
        self.devices = [
            tf.config.PhysicalDevice(f"/physical_device:{kind}:{i}", kind)
            for kind, i in kinds
        ]
        self.started, self.visible = started, list(self.devices)
        self.growth, self.limits = {}, {}

    def pretend(self):
        """Put this machine in the place of the real one for a while."""
        ours = {name: getattr(self, name) for name in CONFIGURES}
        # All of tf.config asks this object, under whichever name it was imported.
        return mock.patch.multiple(context.context(), **ours)

    def state(self):
        """What is set on which GPU; None stands for the CPU."""
        number = {device: i - 1 if i else None for i, device in enumerate(self.devices)}
        return {
            "visible": [number[device] for device in self.visible],
            "growing": [number[device] for device, grows in self.growth.items() if grows],
            "limits_mib": [
                [number[device], [part.memory_limit for part in parts]]
                for device, parts in self.limits.items()
            ],
        }

    def list_physical_devices(self, device_type=None):
        return [d for d in self.devices if device_type in (None, d.device_type)]

    def list_logical_devices(self, device_type=None):
        self.started = True  # asking for them starts TensorFlow
        return [
            tf.config.LogicalDevice(d.name.replace("physical_", ""), d.device_type)
            for d in self.get_visible_devices(device_type)
        ]

    def get_visible_devices(self, device_type=None):
        return [d for d in self.visible if device_type in (None, d.device_type)]

    def set_visible_devices(self, devices, device_type=None):
        devices = devices if isinstance(devices, list) else [devices]
        for device in devices:
            self._look_up(device, device_type)
        others = [d for d in self.visible if device_type not in (None, d.device_type)]
        if self.visible != others + devices:
            self._refuse_if_started("Visible")
            self.visible = others + devices

    def get_memory_growth(self, device):
        self._look_up(device)
        return self.growth.get(device)

    def set_memory_growth(self, device, enable):
        self._look_up(device, "GPU")
        if device in self.limits:
            raise ValueError("Cannot set memory growth on device with virtual devices")
        if self.growth.get(device) != enable:
            self._refuse_if_started("Physical")
            self.growth[device] = enable

    def get_logical_device_configuration(self, device):
        self._look_up(device)
        return self.limits.get(device)

    def set_logical_device_configuration(self, device, logical_devices):
        self._look_up(device, "GPU")
        if any(part.memory_limit is None for part in logical_devices):
            raise ValueError("Setting memory limit is required for GPU virtual devices")
        if self.limits.get(device) != logical_devices:
            self._refuse_if_started("Virtual")
            self.limits[device] = logical_devices

    def _look_up(self, device, kind=None):
        if device not in self.devices or kind not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")

    def _refuse_if_started(self, what):
        if self.started:
            raise RuntimeError(f"{what} devices cannot be modified after being initialized")


def time_matmul(answer, question, wait):
    """Let the answer time products that queue up, as on a GPU, and take their time."""

    done = []  # the times that have passed

    def pass_here(seconds):
        wait(float(seconds))
        done.append(seconds)
        return seconds

    @tf.function(input_signature=[tf.TensorSpec([], tf.float64)])
    def pass_time(seconds):
        tf.numpy_function(pass_here, [seconds], [tf.float64])

    pass_time = pass_time.get_concrete_function()
    was_synchronous = tf.config.experimental.get_synchronous_execution()
    was_eager = tf.config.functions_run_eagerly()
    tf.config.experimental.set_synchronous_execution(False)
    tf.config.run_functions_eagerly(True)  # a graph would hide its products
    try:
        wait(0)
        cases = []
        for case in question["cases"]:
            cases.append(_time_products(answer, case, pass_time, done))
            wait(0)
            done.clear()
        return {"cases": cases}
    finally:
        context.async_clear_error()
        tf.config.run_functions_eagerly(was_eager)
        tf.config.experimental.set_synchronous_execution(was_synchronous)


def _time_products(answer, case, pass_time, done):
    m, k, n = case["m"], case["k"], case["n"]
    # Ready before anything queues: a new tensor would have to queue as well.
    first, *others = (tf.constant(s, tf.float64) for s in case["seconds"])
    # On a GPU nobody waits for what the CPU knows.
    known = {
        (gen_array_ops, "shape"): tf.constant([m, n]),
        (array_ops, "size_internal"): tf.constant(m * n),
        (array_ops, "rank_internal"): tf.constant(2),
    }
    context.async_wait()
    scopes, products, real_scope = [""], [], context.device

    @contextlib.contextmanager
    def scope(name):
        """Any device that is asked for is there."""
        scopes.append(str(name))
        try:
            with real_scope(None):
                yield
        finally:
            scopes.pop()

    def queued(product):
        def late(*inputs, **options):
            number = len(products)
            if number == MOST_PRODUCTS:
                return product(*inputs, **options)
            matrices = [part for part in tf.nest.flatten(inputs) if tf.is_tensor(part)]
            products.append((scopes[-1], number - len(done), matrices))
            pass_time(others[(number - 1) % len(others)] if number else first)
            result = product(*inputs, **options)
            if [list(matrix.shape) for matrix in matrices] == [[m, k], [k, n]]:
                _tell_shape(result, m, n)
            return result

        return late

    def at_once(real, value):
        def ask(x, *arguments, **options):
            told = getattr(x, "_tensor_shape", None) == (m, n)
            return value if told else real(x, *arguments, **options)

        return ask

    replaced = {
        (context, "device"): scope,
        # All of TensorFlow and Keras multiplies by these, under whichever name.
        (gen_math_ops, "mat_mul"): queued(gen_math_ops.mat_mul),
        (gen_linalg_ops, "einsum"): queued(gen_linalg_ops.einsum),
        (tf, "timestamp"): lambda name=None: tf.constant(time.time(), tf.float64),
    }
    replaced |= {
        (module, name): at_once(getattr(module, name), value)
        for (module, name), value in known.items()
    }
    with contextlib.ExitStack() as patches:
        for (module, name), function in replaced.items():
            patches.enter_context(mock.patch.object(module, name, function))
        try:
            seconds, gflops = answer(case["device"], m, k, n, case["repeats"])
            said = {"seconds": float(seconds), "gflops": float(gflops)}
        finally:
            context.async_wait()
    return said | _report(products)


def _tell_shape(product, rows, columns):
    """As on a GPU, where the shape of a product is known before its numbers."""
    product._tensor_shape = tf.TensorShape((rows, columns))
    product._shape_tuple = lambda: (rows, columns)
    product._rank = lambda: 2
    product._num_elements = lambda: rows * columns


def _report(products):
    pairs = []

    def pair_of(matrices):
        found = (i for i, pair in enumerate(pairs) if all(map(_same, matrices, pair)))
        if (number := next(found, None)) is None:
            number = len(pairs)
            pairs.append(matrices)
        return number

    seen = [
        {
            "device": device,
            "queue": queue,
            "shapes": [list(matrix.shape) for matrix in matrices],
            "pair": pair_of(matrices),
        }
        for device, queue, matrices in products
    ]
    spreads = [float(np.std(matrix)) for pair in pairs[:1] for matrix in pair]
    return {"products": seen, "spreads": spreads}


def _same(one, other):
    # The value of a variable is a new object each time, with the same memory.
    return one is other or np.shares_memory(np.asarray(one), np.asarray(other))


def crossover(answer, question, wait):
    """Report the size that the answer gives for each case."""
    found, changed = [], ""
    for sizes, slow_seconds, fast_seconds in question["cases"]:
        size, changed = call(
            answer, sizes=sizes, slow_seconds=slow_seconds, fast_seconds=fast_seconds
        )
        found.append(size.item() if hasattr(size, "item") else size)
        if changed:
            break
    return {"sizes": found, "changed": changed}


PROBES = {"0.1": claim_gpu, "0.2": time_matmul, "0.3": crossover}
