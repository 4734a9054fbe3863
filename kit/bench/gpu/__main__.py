"""`python -m kit.bench.gpu`: do the jobs, each in a process of its own."""

import json
import os
import subprocess
import sys
import time
import warnings
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from helpers.lab_03 import parameters as of_lab_03
from helpers.lab_08 import parameters as of_lab_08
from helpers.machine.computer import cores, cpu_name, nvidia_gpus
from helpers.plain_json import write_json

LIMIT_SECONDS = 580  # of a job
NETWORKS = {  # of the sweeps: depth, width, dtype policy
    "sweep WRN-16-1": (16, 1, "float32"),
    "sweep WRN-16-10": (16, 10, "float32"),
    "sweep WRN-16-10 bfloat16": (16, 10, "mixed_bfloat16"),
}


def job(name: str, done: dict[str, Any]) -> dict:
    """Do one job in this process; the jobs before it are in `done`."""
    from kit.bench.gpu import changes, limits, race, throughput

    lab_03, lab_08 = (of.SIZES["gpu"] for of in (of_lab_03, of_lab_08))
    jobs = {
        "limits": limits.limits,
        "products": limits.products,
        "forecast": race.forecast,
        "race": lambda: race.race(done.get("forecast", {}).get("best_batch_size")),
        "changes": lambda: changes.changes(lab_08),
        "recipes": lambda: changes.recipes(lab_08),
        "whole race": lambda: race.whole_race(lab_03, (16, 64, 256, 1024), 0.007),
    } | {key: partial(throughput.sweep, *shape) for key, shape in NETWORKS.items()}
    return jobs[name]()


JOBS = (
    "limits", "products", "forecast", "race", *NETWORKS, "changes", "recipes", "whole race",
)  # fmt: skip


def machine() -> dict:
    """The GPUs, the processor beside them, and the versions."""
    names = ("jax", "jaxlib", "keras", "numpy")
    return {
        "gpus": nvidia_gpus(),
        "cpu": cpu_name(),
        "cores": cores(),
        "versions": {name: version(name) for name in names},
    }


def main() -> None:
    """Do the jobs that are named, each in a process, and store each result at once."""
    if len(sys.argv) < 2:
        raise SystemExit("give a file for the results, such as gpu.json.")
    path, *names = sys.argv[1:]
    if path == "--job":
        # Keras warns that it does not shuffle a generator's batches again: so intended.
        warnings.filterwarnings("ignore", message=".*`shuffle=True` was passed")
        done = json.loads(Path(names[1]).read_text(encoding="utf-8"))["jobs"]
        write_json(Path(names[2]), job(names[0], done))
        return
    if unknown := [name for name in names if name not in JOBS]:
        raise SystemExit(f"no job is named {unknown[0]!r}: there are {', '.join(JOBS)}.")
    out, result = Path(path), Path(path).with_suffix(".job")
    state = {"machine": machine(), "jobs": {}}
    if out.exists():
        state = json.loads(out.read_text(encoding="utf-8"))
    for name in names or JOBS:
        if name in state["jobs"]:
            continue
        write_json(out, state)
        began = time.perf_counter()
        own = [sys.executable, "-m", "kit.bench.gpu", "--job", name, str(out), str(result)]
        try:
            code = subprocess.run(own, check=False, timeout=LIMIT_SECONDS).returncode
        except subprocess.TimeoutExpired:
            code = None
        took = round(time.perf_counter() - began, 1)
        print(f"{name}: {took} s{'' if code == 0 else f', failed ({code})'}", flush=True)
        if code == 0:
            found = json.loads(result.read_text(encoding="utf-8"))
            load = round(os.getloadavg()[0], 2)
            state["jobs"][name] = found | {"job_seconds": took, "load_average": load}
            write_json(out, state)
    result.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
