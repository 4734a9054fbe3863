"""Start a lab's training as several workers, show what they say, start them again.

The workers are all on this machine; or one of them is here, and `TF_CONFIG` or Slurm's
variables say which.
"""

import importlib.util
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from helpers.errors import LabError
from helpers.files import REPOSITORY, reports_folder
from helpers.machine import cluster
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.parameters import at_scale, scale_asked_for
from helpers.plain_json import as_json, write_json
from kit.headless.given_parameters import declared
from kit.labs import Lab
from kit.progress import Progress

# What the folder `workers` of a lab has for them: a module that is one worker.
ENGINES = {"tensorflow": "launched", "jax": "launched_on_jax"}
# What a worker says after each step.
PROGRESS = re.compile(r"(epoch \d+)?(?:, )?step (\d+) of (\d+)\b")
LOOK_SECONDS = 0.1
SILENT_SECONDS = 300  # of all workers: then they wait for something that will not come
HOSTS_PORT = 29_500  # of the first worker; the next has the next
# Of a Slurm job: so that two jobs of a host seldom choose the same.
SLURM_PORTS, PORTS_OF_A_JOB = range(20_000, 29_000), 64


def start(
    lab: Lab,
    given: dict,
    workers: int = 2,
    hosts: Sequence[str] = (),
    folder: Path | None = None,
    restarts: int = 0,
    engine: str = "tensorflow",
) -> None:
    """Launch a lab's training from the command line.

    Parameters
    ----------
    lab : kit.labs.Lab
    given : dict
        The lab's parameters, as `kit.headless.given_parameters.parsed` returns them.
    workers : int
        On this machine, where no other place is given.
    hosts : sequence of str
        Print what to start where, and start nothing.
    folder : Path, optional
        Where the workers keep their checkpoints and logs; by default a new one in reports/.
        With a `worker.py`, which the lab has written, that is what runs.
    restarts : int
    engine : str
        Of `ENGINES`.

    Raises
    ------
    LabError
        As `launch`; or if the lab has no such training.
    KeyboardInterrupt
        After all workers have ended; with a line on where the training is, and how to
        resume it.
    """
    place = own_place()
    folder = (folder or _new_folder(lab, shared=place or hosts)).absolute()
    command = _prepare(lab, given, folder, engine)
    if hosts:
        print("\n".join(lines_for_hosts(hosts, lab, folder, restarts, engine)))
        return
    try:
        launch(command, folder, workers, place, restarts)
    except KeyboardInterrupt:
        here = None if place else workers
        line = _how_to_resume(lab, folder, here, restarts, engine)
        raise KeyboardInterrupt(line) from None
    who = f"Worker {place['task']['index']} has" if place else "All workers have"
    print(f"{who} ended without an error. Logs and results: {folder}")
    if not place and (last := _last_line(folder / "worker-0.log")):
        print(f"Worker 0 wrote last: {last}")


def _last_line(log):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


def _how_to_resume(lab, folder, workers, restarts, engine):
    options = _options(lab, folder, restarts, engine)
    again = shlex.join(
        ["labs", *options, *(["--workers", str(workers)] if workers else [])]
    )
    ends = {
        "tensorflow": "resumes from the last checkpoint",
        "jax": "starts again from the beginning, because it saves no checkpoints",
    }
    return f"Logs and checkpoints: {folder}. `{again}` {ends[engine]}."


def _options(lab, folder, restarts, engine):
    """What to write after `labs` for a training that has a folder."""
    return [
        "launch", lab.number, "--folder", str(folder),
        *(["--restart", str(restarts)] if restarts else []),
        *(["--engine", engine] if engine != "tensorflow" else []),
    ]  # fmt: skip


def _new_folder(lab, shared):
    name = (
        os.environ.get("SLURM_JOB_ID")
        if shared
        else f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
    )
    if shared and not name:
        raise LabError("several hosts need --folder, a folder that all of them see.")
    return reports_folder() / f"launch-{lab.number}-{name}"


def _prepare(lab, given, folder, engine):
    """Write what the workers read, unless it is there; return their command."""
    if (folder / "worker.py").is_file():
        if given or engine != "tensorflow":
            raise LabError(
                f"the script in {folder} has its own settings: change its settings.json, "
                "and leave out -p and --engine."
            )
        return [sys.executable, str(folder / "worker.py")]
    module = ENGINES[engine]
    if not (lab.folder / "workers" / f"{module}.py").is_file():
        raise LabError(f"{lab.name} trains in one process: `labs run {lab.number}`.")
    if not importlib.util.find_spec(engine):
        raise LabError(
            f"{engine} is not installed: `make setup` installs it where there is a release "
            "for this platform."
        )
    _keep_settings(lab, given, folder / "settings.json", engine)
    return [sys.executable, "-m", f"helpers.lab_{lab.number}.workers.{module}", str(folder)]


def _keep_settings(lab, given, file, engine):
    """Write them; where a training has begun, nothing may change it."""
    usual, sizes = declared(lab)
    known = usual | given
    scale = scale_asked_for(known, lab.name)
    values = at_scale(known, sizes, "laptop" if scale == "auto" else scale)
    values["engine"] = engine
    if not file.is_file():
        write_json(file, values)
        return
    begun = json.loads(file.read_text(encoding="utf-8"))
    asked = values if given else {"engine": engine}
    other = [name for name, value in asked.items() if begun.get(name) != value]
    if other:
        raise LabError(
            f"the training in {file.parent} began with {other[0]} "
            f"{begun.get(other[0])}: resume it with the same value, or choose another "
            "--folder."
        )


def lines_for_hosts(
    hosts: Sequence[str], lab: Lab, folder: Path, restarts: int, engine: str
) -> list[str]:
    """The commands that start the workers, host by host.

    Parameters
    ----------
    hosts : list of str
        One for each worker; a host may have several.
    lab : kit.labs.Lab
    folder : Path
        That all hosts see under this path.
    restarts : int
        Of each worker.
    engine : str

    Returns
    -------
    list of str
    """
    # TensorFlow listens on all addresses of a host: two names may be the same host.
    addresses = [f"{host}:{HOSTS_PORT + rank}" for rank, host in enumerate(hosts)]
    program = str(Path(sys.executable).with_name("labs"))
    command = [program, *_options(lab, folder, restarts, engine)]
    return [
        f"{host}: TF_CONFIG={shlex.quote(as_json(_config(addresses, rank)))} "
        f"{shlex.join(command)}"
        for rank, host in enumerate(hosts)
    ]


def own_place() -> dict | None:
    """The place in a larger cluster that this process was given.

    Returns
    -------
    dict or None
        As in ``TF_CONFIG``; None: this process may start all workers itself.

    Raises
    ------
    LabError
        If what the environment says gives no place.
    """
    if text := os.environ.get("TF_CONFIG"):
        try:
            config = json.loads(text)
            assert config["task"]["type"] == "worker"
            assert config["cluster"]["worker"][config["task"]["index"]]
        except (ValueError, LookupError, TypeError, AssertionError) as error:
            raise LabError(
                "TF_CONFIG does not say which worker this is: unset it, or start what "
                "`labs launch --hosts` prints."
            ) from error
        return config
    return _place_in_slurm(os.environ) if _in_slurm() else None


def _in_slurm():
    return int(os.environ.get("SLURM_STEP_NUM_TASKS", 1)) > 1


def _place_in_slurm(variables):
    silence_tensorflow()
    # SlurmClusterResolver itself sorts the hosts by name: n10 before n9, other than the
    # ranks. And without a GPU it divides by zero.
    from tensorflow.python.distribute.cluster_resolver.slurm_cluster_resolver import (
        expand_hostlist,
        expand_tasks_per_node,
    )

    first = SLURM_PORTS[int(variables["SLURM_JOB_ID"]) * PORTS_OF_A_JOB % len(SLURM_PORTS)]
    hosts = expand_hostlist(variables["SLURM_STEP_NODELIST"])
    tasks = expand_tasks_per_node(variables["SLURM_STEP_TASKS_PER_NODE"])
    places = [
        (node, f"{host}:{first + task}")
        for node, (host, count) in enumerate(zip(hosts, tasks, strict=True))
        for task in range(count)
    ]
    rank = int(variables["SLURM_PROCID"])
    if places[rank][0] != int(variables["SLURM_NODEID"]):
        raise LabError(
            "Slurm deals the tasks to the hosts in turn, but the workers count them host "
            "by host: start them with `srun --distribution=block`."
        )
    return _config([address for _, address in places], rank)


def _config(addresses, rank):
    return {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": rank}}


def launch(
    command: list[str],
    folder: Path,
    workers: int,
    place: dict | None = None,
    restarts: int = 0,
) -> None:
    """Run workers to their end, and start all again if one dies.

    Parameters
    ----------
    command : list of str
    folder : Path
        Gets the logs.
    workers : int
    place : dict, optional
        As `own_place`: start only this one, and not `workers`.
    restarts : int
        How often at most.

    Raises
    ------
    LabError
        If a worker has died and may not be started again, or all are silent too long.
    """
    # A script finds only what lies beside it.
    environment = {"PYTHONPATH": str(REPOSITORY), "TF_CPP_MIN_LOG_LEVEL": "3"}
    for left in range(restarts, -1, -1):
        if place:
            job = cluster.start_one(command, place, folder, environment)
        else:
            job = cluster.start(command, workers, folder, environment)
        try:
            with job as started:
                _follow(started)
            return
        except LabError as error:
            if not left:
                raise
            why = str(error).partition(". Its log")[0]
            more = f"{left - 1} more restart{'s' * (left != 2)}"
            print(f"{why}: starting all again, with {more}.", flush=True)


def _follow(job):
    """Show what the workers write until all have ended, with one bar for all."""
    heard = time.monotonic()
    # srun shows what all tasks write: there only the first has a bar.
    quiet = _in_slurm() and job.ranks[0] > 0
    with Progress(what="training", unit="step", leave=True, quiet=quiet) as bar:
        while True:
            running = any(job.alive())
            for rank in job.ranks:
                for line in job.new_lines(rank):
                    heard = time.monotonic()
                    _show(line, rank, job.ranks[0], bar)
            job.raise_failure()
            if not running:
                return
            if time.monotonic() - heard > SILENT_SECONDS:
                raise LabError(
                    f"no worker has written anything for {SILENT_SECONDS} s: each seems to "
                    "be waiting for another one. Can all hosts reach each other?"
                )
            time.sleep(LOOK_SECONDS)


def _show(line, rank, leader, bar):
    if step := PROGRESS.match(line):
        if rank == leader:
            bar.set_description(step[1], refresh=False)
            bar.total = int(step[3])
            bar.update(int(step[2]) - bar.n)
    else:
        tqdm.write(f"[worker {rank}] {line}")
