"""Run a function in a process of its own, where Keras computes with JAX on several devices.

A process has one Keras backend, and the labs' kernel computes with TensorFlow. JAX counts
its devices once, when it starts: here the host's processor becomes as many as are asked
for. So the work goes to a new process as JSON, and the result comes back as JSON.

    result = jax_process.call("helpers.lab_07.mesh_on_jax", job, devices=8)

imports that module there and returns ``work(job)``.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.plain_json import as_json

LIMIT_SECONDS = 300
NO_JAX = 3  # the exit code of a process that cannot import JAX


class NoJaxError(LabError):
    """JAX cannot be imported on this machine."""


def call(
    module: str, job: dict, devices: int = 8, limit_seconds: float = LIMIT_SECONDS
) -> Any:
    """Run ``work(job)`` of a module in a new process, where Keras computes with JAX.

    Parameters
    ----------
    module : str
        Such as ``"helpers.lab_07.mesh_on_jax"``. It may import JAX, and Keras, at its top.
    job : dict
        Plain JSON.
    devices : int
        As many devices as JAX is to find; all are this computer's processor.
    limit_seconds : float
        After which the process is killed.

    Returns
    -------
    object
        What ``work`` returned, as JSON represents it.

    Raises
    ------
    NoJaxError
        If JAX cannot be imported: no release for this platform, or not installed.
    LabError
        If the work fails or takes too long; with the last line of the error.
    """
    if problem := why_not():
        raise NoJaxError(problem)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "helpers.machine.jax_process", module],
            input=as_json(job), capture_output=True, text=True, errors="replace",
            cwd=REPOSITORY, env=_environment(devices), timeout=limit_seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise LabError(
            f"the work on JAX was stopped, because it was still running after "
            f"{limit_seconds:g} s: close other programs, and run the cell again."
        ) from None
    lines = ended.stderr.strip().splitlines() or ["it printed nothing."]
    if ended.returncode == NO_JAX:
        raise NoJaxError(lines[-1])
    if ended.returncode:
        raise LabError(f"the work on JAX failed: {lines[-1]}")
    return json.loads(ended.stdout)


def why_not() -> str:
    """Why there is no JAX here, in one line; an empty text if it is installed."""
    if find_spec("jax") and find_spec("jaxlib"):
        return ""
    return "JAX is not installed here; `make setup` installs it where there is a release."


def _environment(devices):
    settings = {
        "KERAS_BACKEND": "jax",
        "JAX_PLATFORMS": "cpu",  # with a GPU, too: the devices are all alike
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONWARNINGS": "ignore",
    }
    # Without the user's own flags, which may change the program.
    flags = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    return os.environ | settings | flags


def _main(module):
    """Read the job, do the work, print its result: nothing else may be printed there."""
    job = json.load(sys.stdin)
    # To seed its random numbers, Keras would load TensorFlow too: three seconds.
    sys.modules["tensorflow"] = None  # ty: ignore[invalid-assignment] - Python's own way
    with contextlib.redirect_stdout(sys.stderr):
        try:
            import jax  # noqa: F401
        except Exception as error:  # a library for another processor raises others
            line = " ".join(str(error).split())
            print(f"JAX cannot be imported here: {line}", file=sys.stderr)
            sys.exit(NO_JAX)
        result = importlib.import_module(module).work(job)
    print(as_json(result))


if __name__ == "__main__":
    _main(sys.argv[1])
