"""Probes of lab 00: devices."""

import contextlib
import io
import time
from unittest import mock

import tensorflow as tf


def claim_gpu(answer, question, wait):
    """Call the answer on machines whose GPUs are only pretended."""
    return {"cases": [_claim(answer, case) for case in question["cases"]]}


def _claim(answer, case):
    machine = PretendedMachine(case["gpus"], case["started"])
    printed, raised, returned = io.StringIO(), None, None
    with machine.pretend(), contextlib.redirect_stdout(printed):
        try:
            returned = answer(**case["arguments"])
        except Exception as error:
            raised = [kind.__name__ for kind in type(error).__mro__] + [str(error)]
    return {
        "printed": printed.getvalue(),
        "raised": raised,
        "returned": returned if isinstance(returned, dict) else None,
        "visible": machine.visible,
        "growing": machine.growing,
        "limits_mib": machine.limits_mib,
    }


class PretendedMachine:
    """Replaces `tf.config`, as on a machine with some GPUs.

    It behaves as TensorFlow does: nothing can be changed after the start, and
    memory cannot both grow and have a limit.
    """

    def __init__(self, gpus, started):
        self.gpus = [
            tf.config.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU")
            for i in range(gpus)
        ]
        self.cpu = tf.config.PhysicalDevice("/physical_device:CPU:0", "CPU")
        self.started = started
        self.visible, self.growing, self.limits_mib = list(range(gpus)), [], {}

    @contextlib.contextmanager
    def pretend(self):
        """Put this machine's functions into `tf.config` for a while."""
        both = {
            "list_physical_devices": self.list_physical_devices,
            "get_visible_devices": self.get_visible_devices,
            "set_visible_devices": self.set_visible_devices,
        }
        cap = self.set_logical_device_configuration
        older = {
            "set_memory_growth": self.set_memory_growth,
            "set_virtual_device_configuration": cap,
        }
        with (
            mock.patch.multiple(tf.config, **both, set_logical_device_configuration=cap),
            mock.patch.multiple(tf.config.experimental, **both, **older),
        ):
            yield

    def list_physical_devices(self, device_type=None):
        devices = [self.cpu, *self.gpus]
        return [d for d in devices if device_type in (None, d.device_type)]

    def get_visible_devices(self, device_type=None):
        shown = [self.cpu, *(self.gpus[i] for i in self.visible)]
        return [d for d in shown if device_type in (None, d.device_type)]

    def set_visible_devices(self, devices, device_type=None):
        self._refuse_if_started("Visible devices")
        # A device is itself a named tuple: do not loop over a single one.
        if isinstance(devices, tf.config.PhysicalDevice):
            devices = [devices]
        if device_type in (None, "GPU"):
            self.visible = [self._gpu(d) for d in devices if d != self.cpu]

    def set_memory_growth(self, device, enable):
        self._refuse_if_started("Physical devices")
        index = self._gpu(device)
        if enable and str(index) in self.limits_mib:
            raise ValueError("Cannot set memory growth on device with virtual devices")
        if enable:
            self.growing.append(index)

    def set_logical_device_configuration(self, device, logical_devices):
        self._refuse_if_started("Virtual devices")
        index = self._gpu(device)
        if index in self.growing:
            raise ValueError("Cannot set virtual devices when memory growth is set")
        self.limits_mib[str(index)] = [d.memory_limit for d in logical_devices]

    def _gpu(self, device):
        if device not in self.gpus:
            raise ValueError(f"Unrecognized device: {device!r}")
        return self.gpus.index(device)

    def _refuse_if_started(self, what):
        if self.started:
            raise RuntimeError(f"{what} cannot be modified after being initialized")


def time_matmul(answer, question, wait):
    """Let the answer time products that go on after the call has returned.

    Two of them start late: the first, as on a device that has to start up, and
    one more, as on a machine that has other work too.
    """
    m, k, n = question["m"], question["k"], question["n"]
    product, calls, devices = tf.matmul, [], []
    device_scope = tf.device

    def late(*arguments, **options):
        calls.append(1)
        if len(calls) in (1, 3):
            wait(question["late_seconds"])
        return product(*arguments, **options)

    def scope(name):
        devices.append(str(name))
        return device_scope(name)

    was_synchronous = tf.config.experimental.get_synchronous_execution()
    tf.config.experimental.set_synchronous_execution(False)
    try:
        with (
            mock.patch.object(tf, "matmul", late),
            mock.patch.object(tf.linalg, "matmul", late),
            mock.patch.object(tf.Tensor, "__matmul__", late),
            mock.patch.object(tf, "device", scope),
        ):
            seconds, gflops = answer(question["device"], m, k, n, question["repeats"])
        finished = _seconds_of_products(question, product)
    finally:
        tf.config.experimental.set_synchronous_execution(was_synchronous)
    return {
        "seconds": float(seconds),
        "gflops": float(gflops),
        "devices": devices,
        "products": len(calls),
        "finished_seconds": finished,
    }


def _seconds_of_products(question, product):
    m, k, n = question["m"], question["k"], question["n"]
    seconds = []
    with tf.device(question["device"]):
        a, b = tf.random.normal((m, k)), tf.random.normal((k, n))
        for _ in range(8):
            began = time.perf_counter()
            product(a, b)[0, 0].numpy()
            seconds.append(time.perf_counter() - began)
    return seconds[1:]


def crossover(answer, question, wait):
    """Report the size that the answer gives for each case."""
    found = [answer(*case) for case in question["cases"]]
    return {"sizes": [None if size is None else int(size) for size in found]}


PROBES = {"0.1": claim_gpu, "0.2": time_matmul, "0.3": crossover}
