"""Exercise 0.1: drives an answer, expects nothing."""

import contextlib
from collections.abc import Callable
from unittest import mock

import tensorflow as tf
from tensorflow.python.eager import context

from helpers.checks.probing.printed import Printed

CONFIGURES = (
    "list_physical_devices", "list_logical_devices", "get_visible_devices",
    "set_visible_devices", "get_memory_growth", "set_memory_growth",
    "get_logical_device_configuration", "set_logical_device_configuration",
)  # fmt: skip


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Call the answer on machines whose GPUs are simulated."""
    return {"cases": [_claim(answer, case) for case in question["cases"]]}


def _claim(answer, case):
    machine = PretendedMachine(case["gpus"], case["started"], case["grew"])
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

    def __init__(self, gpus: int, started: bool, growing: list[int]) -> None:
        kinds = [("CPU", 0), *(("GPU", i) for i in range(gpus))]
        self.devices = [
            tf.config.PhysicalDevice(f"/physical_device:{kind}:{i}", kind)
            for kind, i in kinds
        ]
        self.started, self.visible = started, list(self.devices)
        self.growth = {self.devices[1 + gpu]: True for gpu in growing}
        self.limits = {}

    def pretend(self) -> contextlib.AbstractContextManager:
        """Let this machine replace the real one for a while."""
        ours = {name: getattr(self, name) for name in CONFIGURES}
        # All of tf.config asks this object, under whichever name it was imported.
        return mock.patch.multiple(context.context(), **ours)

    def state(self) -> dict[str, list]:
        """The settings of each GPU; None stands for the CPU."""
        number = {device: i - 1 if i else None for i, device in enumerate(self.devices)}
        return {
            "visible": [number[device] for device in self.visible],
            "growing": [number[device] for device, grows in self.growth.items() if grows],
            "limits_mib": [
                [number[device], [part.memory_limit for part in parts]]
                for device, parts in self.limits.items()
            ],
        }

    def list_physical_devices(
        self, device_type: str | None = None
    ) -> list[tf.config.PhysicalDevice]:
        return [d for d in self.devices if device_type in (None, d.device_type)]

    def list_logical_devices(
        self, device_type: str | None = None
    ) -> list[tf.config.LogicalDevice]:
        self.started = True  # asking for them starts TensorFlow
        return [
            tf.config.LogicalDevice(d.name.replace("physical_", ""), d.device_type)
            for d in self.get_visible_devices(device_type)
        ]

    def get_visible_devices(
        self, device_type: str | None = None
    ) -> list[tf.config.PhysicalDevice]:
        return [d for d in self.visible if device_type in (None, d.device_type)]

    def set_visible_devices(
        self,
        devices: tf.config.PhysicalDevice | list[tf.config.PhysicalDevice],
        device_type: str | None = None,
    ) -> None:
        devices = devices if isinstance(devices, list) else [devices]
        for device in devices:
            self._look_up(device, device_type)
        others = [d for d in self.visible if device_type not in (None, d.device_type)]
        if self.visible != others + devices:
            self._refuse_if_started("Visible")
            self.visible = others + devices

    def get_memory_growth(self, device: tf.config.PhysicalDevice) -> bool | None:
        self._look_up(device)
        return self.growth.get(device)

    def set_memory_growth(self, device: tf.config.PhysicalDevice, enable: bool) -> None:
        self._look_up(device, "GPU")
        if device in self.limits:
            raise ValueError("Cannot set memory growth on device with virtual devices")
        if self.growth.get(device) != enable:
            self._refuse_if_started("Physical")
            self.growth[device] = enable

    def get_logical_device_configuration(
        self, device: tf.config.PhysicalDevice
    ) -> list[tf.config.LogicalDeviceConfiguration] | None:
        self._look_up(device)
        return self.limits.get(device)

    def set_logical_device_configuration(
        self,
        device: tf.config.PhysicalDevice,
        logical_devices: list[tf.config.LogicalDeviceConfiguration],
    ) -> None:
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
