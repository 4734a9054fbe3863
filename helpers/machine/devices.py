"""The devices that the labs run on, with a description for every figure."""

import functools
import os

import tensorflow as tf

from helpers.errors import DeviceError
from helpers.machine.computer import cores, cpu_name

# The checks of labs with several devices need these on any machine.
FEWEST_LOGICAL_CPUS = 4

_prepared = None


def describe_device() -> dict:
    """Describe the device that Keras computes on here, as one replica.

    Returns
    -------
    dict
        `kind` ("cpu", "gpu" or "tpu"), `name`, `replicas` and `simulated`.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if has_tpu():
        kind, name = "tpu", "TPU"
    elif gpus:
        details = tf.config.experimental.get_device_details(gpus[0])
        kind, name = "gpu", details.get("device_name", "GPU")
    else:
        kind, name = "cpu", f"{cpu_name()}, {_cores()}"
    return {"kind": kind, "name": name, "replicas": 1, "simulated": False}


def _cores():
    """Those that this process may use: a container or a job may have few of them."""
    return f"{cores()} core{'s' * (cores() > 1)}"


def has_tpu() -> bool:
    """Whether there is a TPU, found without connecting to it."""
    return bool(os.environ.get("TPU_NAME") or tf.config.list_physical_devices("TPU"))


def prepare_devices(
    replicas: int | None = None,
    gpu_indices: list[int] | None = None,
    simulate: bool = False,
) -> dict:
    """Make several devices ready, before TensorFlow starts.

    Takes a TPU's cores if there is one, else the GPUs; else splits the CPU into
    logical devices with one thread each. This is a simulation: they share the CPU's
    cores. Any machine gets at least four logical CPUs, for the checks.

    Parameters
    ----------
    replicas : int, optional
        How many; None: all cores of the TPU, all GPUs, or a logical CPU for each
        core, at least two.
    gpu_indices : list of int, optional
        Which GPUs, such as ``[0, 2, 3]``; None: the first ones.
    simulate : bool
        Use logical CPUs even if there are GPUs.

    Returns
    -------
    dict
        As `describe_device`, with the number of replicas.

    Raises
    ------
    DeviceError
        If TensorFlow has started, or there are not enough devices.
    """
    global _prepared
    asked = {"replicas": replicas, "gpu_indices": gpu_indices, "simulate": simulate}
    if _prepared is None:
        try:
            _prepared = asked, _prepare(**asked)
        except RuntimeError as error:
            if isinstance(error, DeviceError):
                raise
            raise DeviceError(
                "TensorFlow has started, so its devices are fixed: restart the kernel "
                "and run the first cells first."
            ) from error
    if _prepared[0] != asked:
        raise DeviceError(
            f"This kernel already has {_prepared[1]['replicas']} replicas, and TensorFlow "
            "cannot change them: restart the kernel, and run the first cells first."
        )
    return _prepared[1]


def _prepare(replicas, gpu_indices, simulate):
    _end_iterators_at_once()
    device = describe_device()
    if device["kind"] == "tpu":
        return _connect_tpu(replicas)
    gpus = [] if simulate else tf.config.list_physical_devices("GPU")
    if not gpus:
        if gpu_indices:
            raise DeviceError(
                f"GPUs {gpu_indices} were asked for, but this machine has none: leave "
                "gpu_indices at None, and choose the simulated replicas by replicas."
            )
        tf.config.set_visible_devices([], "GPU")
        replicas = replicas or max(2, cores())
        _split_cpu(max(FEWEST_LOGICAL_CPUS, replicas))
        # One thread each: more would only slow each other down.
        tf.config.threading.set_intra_op_parallelism_threads(1)
        name = f"{cpu_name()}, {_cores()}"
        return {
            "kind": "cpu",
            "name": name,
            "replicas": replicas,
            "simulated": replicas > 1,
        }
    chosen = gpu_indices or list(range(len(gpus)))[:replicas]
    if not set(chosen) <= set(range(len(gpus))) or replicas not in (None, len(chosen)):
        raise DeviceError(
            f"{replicas or len(chosen)} replicas on GPUs {chosen} were asked for, but this "
            f"machine has GPUs 0 to {len(gpus) - 1}: change replicas or gpu_indices."
        )
    tf.config.set_visible_devices([gpus[i] for i in chosen], "GPU")
    for i in chosen:
        tf.config.experimental.set_memory_growth(gpus[i], True)
    _split_cpu(FEWEST_LOGICAL_CPUS)
    return device | {"replicas": len(chosen)}


def _split_cpu(pieces):
    [cpu] = tf.config.list_physical_devices("CPU")
    each = [tf.config.LogicalDeviceConfiguration() for _ in range(pieces)]
    tf.config.set_logical_device_configuration(cpu, each)


def _end_iterators_at_once():
    """Switch off the tuning of the iterators that hand batches to devices.

    TensorFlow 2.21 tunes each in a thread that sleeps twice as long each time, and
    the end of an epoch waits for this thread. With eight replicas an epoch of one
    step took 78 s, without the tuning under a second. These iterators take no options
    from the dataset, so there is no public way.
    """
    try:
        from tensorflow.python.data.ops import multi_device_iterator_ops as iterators

        tuned = iterators._create_device_dataset
    except (ImportError, AttributeError):
        print(
            f"TensorFlow {tf.__version__} is not the version that the kit pins: with "
            "several replicas an epoch may take longer to end."
        )
        return
    if hasattr(iterators, "_tuned_device_dataset"):
        return
    untuned = tf.data.Options()
    untuned.autotune.enabled = False

    def create(*arguments):
        return tuned(*arguments).with_options(untuned)

    # A private function of TensorFlow: see tests/test_canary.py.
    setattr(iterators, "_tuned_device_dataset", tuned)  # noqa: B010
    setattr(iterators, "_create_device_dataset", create)  # noqa: B010


def _connect_tpu(replicas):
    # Written from TensorFlow's guide; the kit was never run on a TPU.
    _split_cpu(FEWEST_LOGICAL_CPUS)
    name = os.environ.get("TPU_NAME") or "local"
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    found = len(tf.config.list_logical_devices("TPU"))
    if replicas not in (None, found):
        raise DeviceError(
            f"replicas must be {found}, the cores of the TPU, or None, but is {replicas}."
        )
    return {
        "kind": "tpu",
        "name": f"TPU, {found} cores",
        "replicas": found,
        "simulated": False,
        "resolver": resolver,
    }


def new_strategy(replicas: int | None = None) -> tf.distribute.Strategy:
    """A strategy over the devices that `prepare_devices` made ready.

    It is the same one whenever as many replicas are asked for, because a strategy refuses
    the variables of another one. So a lab still runs after its first cells are run again.

    Parameters
    ----------
    replicas : int, optional
        How many, from the first; None: all.

    Returns
    -------
    tf.distribute.Strategy

    Raises
    ------
    DeviceError
        If no devices, or too few, are prepared.
    """
    if _prepared is None:
        raise DeviceError("No devices are prepared: run the lab's first cells first.")
    device = _prepared[1]
    replicas = replicas or device["replicas"]
    if replicas > device["replicas"]:
        raise DeviceError(
            f"{replicas} replicas were asked for, but this kernel has prepared "
            f"{device['replicas']}: ask for fewer, or restart it with more replicas."
        )
    if device["kind"] == "tpu" and replicas < device["replicas"]:
        raise DeviceError(
            f"On a TPU the labs use all {device['replicas']} cores, not {replicas}: leave "
            "out the number."
        )
    return _strategy(replicas)


@functools.cache
def _strategy(replicas):
    assert _prepared
    device = _prepared[1]
    if device["kind"] == "tpu":
        return tf.distribute.TPUStrategy(device["resolver"])
    if device["kind"] == "cpu":
        return simulated_strategy(replicas)
    return tf.distribute.MirroredStrategy([f"GPU:{i}" for i in range(replicas)])


def simulated_strategy(replicas: int) -> tf.distribute.MirroredStrategy:
    """A strategy over logical CPUs, even if there are other devices.

    Parameters
    ----------
    replicas : int

    Returns
    -------
    tf.distribute.MirroredStrategy

    Raises
    ------
    DeviceError
        If there are too few logical CPUs.
    """
    there = len(tf.config.list_logical_devices("CPU"))
    # TensorFlow would wait forever for a missing device.
    if replicas > there:
        raise DeviceError(
            f"{replicas} logical CPUs were asked for, but there are {there}: restart the "
            "kernel and run the lab's first cells first."
        )
    # The default all-reduce fails when a second strategy has another size. In TensorFlow
    # 2.21 HierarchicalCopyAllReduce leaves out a replica where their number is odd.
    return tf.distribute.MirroredStrategy(
        [f"CPU:{i}" for i in range(replicas)],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )


def replica_counts() -> list[int]:
    """1, 2, 4, ... up to all prepared replicas, for a scaling experiment.

    Returns
    -------
    list of int
        On a TPU only the number of all its cores.
    """
    assert _prepared, "prepare_devices comes first"
    device = _prepared[1]
    if device["kind"] == "tpu":
        return [device["replicas"]]
    powers = [2**i for i in range(device["replicas"].bit_length())]
    return sorted({*powers, device["replicas"]})


def claim_gpu(
    index: int = 0, memory_growth: bool = True, memory_limit_mib: int | None = None
) -> dict:
    """Take one GPU and a share of its memory, before TensorFlow starts.

    Parameters
    ----------
    index : int
        Which of the GPUs that TensorFlow sees.
    memory_growth : bool
        Take memory as needed, instead of nearly all of it at the start.
    memory_limit_mib : int, optional
        Take this much and never more; needs ``memory_growth=False``.

    Returns
    -------
    dict
        What was done: `gpu` (the index, or None without any GPU),
        `memory_growth` and `memory_limit_mib`.

    Raises
    ------
    ValueError
        If memory should both grow and have a limit, which TensorFlow forbids,
        or if there is no such GPU.
    DeviceError
        If TensorFlow has started: its devices are fixed then.
    """
    if memory_growth and memory_limit_mib:
        raise ValueError("memory grows or has a limit: give memory_growth=False too")
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        print("There is no GPU here: going on with the CPU.")
        return {"gpu": None, "memory_growth": False, "memory_limit_mib": None}
    if index not in range(len(gpus)):
        raise ValueError(f"index must be below {len(gpus)}, not {index}")
    gpu = gpus[index]
    try:
        tf.config.set_visible_devices(gpu, "GPU")
        if memory_growth:
            tf.config.experimental.set_memory_growth(gpu, True)
        elif memory_limit_mib:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit_mib)
            tf.config.set_logical_device_configuration(gpu, [limit])
    except RuntimeError as error:
        message = "TensorFlow has started: restart the kernel and claim the GPU first."
        raise DeviceError(message) from error
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }
