"""Start one script as several worker processes on this machine, as a cluster would.

Each worker gets ``TF_CONFIG``, as `tf.distribute.MultiWorkerMirroredStrategy` reads it,
and writes to a log of its own. No wait is without a limit, and no process outlives the
one that started it, however that ends.
"""

import contextlib
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from signal import SIGKILL

from helpers.errors import LabError
from helpers.files import REPOSITORY, why_not_writable
from helpers.machine.computer import cores, nvidia_gpus
from helpers.plain_json import as_json

LOOPBACK = "127.0.0.1"
# Below those that systems give to outgoing connections: only a server takes one of these.
PORTS = range(20_000, 32_000)
PORT_TRIES = 3  # of starting all workers with other ports
# For the environment of workers: on one machine all would take the same GPU.
ON_THE_CPU = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
LOOK_SECONDS = 0.05
END_SECONDS = 10  # until a killed process is gone; longer only where a disk hangs
LOG_LINES = 5  # of a failed worker's log, in the message
# It waits until the pipe to the starting process closes, and kills its process group.
GUARD = "import os, sys; sys.stdin.read(); os.killpg(0, 9)"


@contextlib.contextmanager
def start(
    command: Sequence[str | Path],
    workers: int,
    log_dir: Path,
    environment: dict[str, str] | None = None,
) -> "Generator[Job]":
    """Start a command as several workers on this machine; end them with the block.

    Parameters
    ----------
    command : list of str
        Such as ``[sys.executable, "-m", "package.module", folder]``. It
        runs in the repository's root: give absolute paths.
    workers : int
    log_dir : Path
        Gets ``worker-0.log`` and so on; a log that is there is continued.
    environment : dict of str, optional
        More variables for the workers.

    Yields
    ------
    Job

    Raises
    ------
    LabError
        If the folder cannot be written, or the command is not there.
    """
    with _started(command, range(workers), log_dir, environment) as job:
        yield job


@contextlib.contextmanager
def start_one(
    command: Sequence[str | Path],
    tf_config: dict,
    log_dir: Path,
    environment: dict[str, str] | None = None,
) -> "Generator[Job]":
    """As `start`, but only the one worker of a larger cluster that runs on this host.

    Parameters
    ----------
    command, log_dir, environment
    tf_config : dict
        With the addresses of all workers, and this worker's index.
    """
    rank = tf_config["task"]["index"]
    addresses = tf_config["cluster"]["worker"]
    with _started(command, [rank], log_dir, environment, addresses) as job:
        yield job


@contextlib.contextmanager
def _started(command, ranks, log_dir, environment, addresses=None):
    if error := why_not_writable(log_dir):
        raise LabError(
            f"the workers' logs cannot be written to {log_dir} ({error.strerror}): free "
            "some space there, or choose another folder."
        )
    job = Job([str(part) for part in command], ranks, log_dir, environment, addresses)
    try:
        job.launch()
        yield job
    finally:
        job.end()


class Job:
    """Workers that `start` has started: see there.

    Attributes
    ----------
    ranks : list of int
        Of the workers that run here; what a method gets as `rank` is one of them.
    pids : list of int
        Their process numbers, by `ranks`.
    addresses : list of str
        ``host:port`` of every worker of the cluster.
    """

    def __init__(
        self,
        command: list[str],
        ranks: Iterable[int],
        log_dir: Path,
        environment: dict[str, str] | None,
        addresses: list[str] | None,
    ) -> None:
        self.ranks, self.addresses = list(ranks), addresses or []
        self._command, self._log_dir = command, Path(log_dir)
        self._environment, self._choose_ports = environment or {}, addresses is None
        self._processes, self._guard, self._signalled = {}, None, set()
        self._logs_from, self._read_to, self._tries = {}, {}, 0

    @property
    def pids(self) -> list[int]:
        return [self._processes[rank].pid for rank in self.ranks]

    def launch(self) -> None:
        """Start the workers; `start` has done so."""
        self._tries += 1
        if self._choose_ports:
            ports = free_ports(len(self.ranks))
            self.addresses = [f"{LOOPBACK}:{port}" for port in ports]
        # All workers are of the guard's process group: so its number stays theirs.
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", GUARD],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, process_group=0,
        )  # fmt: skip
        for place, rank in enumerate(self.ranks):
            with open(self._log_file(rank), "ab") as file:
                self._logs_from[rank] = self._read_to[rank] = file.tell()
                try:
                    self._processes[rank] = subprocess.Popen(
                        self._command,
                        stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                        env=self._variables(rank, place), cwd=REPOSITORY,
                        process_group=self._guard.pid,
                    )  # fmt: skip
                except OSError as error:
                    raise LabError(
                        f"worker {rank} could not start: {self._command[0]}: "
                        f"{error.strerror}. Is there such a program?"
                    ) from error

    def _variables(self, rank, place):
        config = {
            "cluster": {"worker": self.addresses},
            "task": {"type": "worker", "index": rank},
        }
        here = len(self.ranks)
        threads = str(max(1, cores() // here))
        hosts = [address.rpartition(":")[0] for address in self.addresses]
        # gRPC would ask a web proxy for the other workers.
        direct = ",".join(dict.fromkeys([*_listed("no_proxy"), *hosts]))
        own = {
            "TF_CONFIG": as_json(config),
            "PYTHONUNBUFFERED": "1",
            "TF_NUM_INTRAOP_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "no_proxy": direct,
            "no_grpc_proxy": direct,
        }
        return os.environ | own | _gpu_share(place, here) | self._environment

    def alive(self) -> list[bool]:
        """Which workers still run: a list of bool, by `ranks`."""
        self._look()
        return [code is None for code in self._codes()]

    def kill(self, rank: int) -> None:
        """Kill a worker with SIGKILL: it can do nothing about it, as if its host died."""
        self._signalled.add(rank)
        self._processes[rank].kill()
        self._processes[rank].wait(END_SECONDS)

    def terminate(self, rank: int) -> None:
        """Ask a worker with SIGTERM to end, as a cluster does before it takes a host."""
        self._signalled.add(rank)
        self._processes[rank].terminate()

    def log(self, rank: int) -> str:
        """The text that a worker has written since it was started: str."""
        with open(self._log_file(rank), "rb") as file:
            file.seek(self._logs_from[rank])
            return file.read().decode(errors="replace")

    def new_lines(self, rank: int) -> list[str]:
        """The lines that a worker has written since the last call: list of str."""
        with open(self._log_file(rank), "rb") as file:
            file.seek(self._read_to[rank])
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to[rank] += len(whole + newline)
        return whole.decode(errors="replace").splitlines()

    def wait(self, limit_seconds: float, check: bool = True) -> list[int]:
        """Wait until all workers have ended.

        Parameters
        ----------
        limit_seconds : float
        check : bool
            False: a worker may fail, and the others are waited for.

        Returns
        -------
        list of int
            Exit codes by `ranks`; -9 for a worker that was killed with SIGKILL.

        Raises
        ------
        LabError
            As soon as a worker has failed, with the end of its log; or if some still run
            at the limit.
        """
        deadline = time.monotonic() + limit_seconds
        while True:
            if check:
                self.raise_failure()
            self._look()
            codes = self._codes()
            if None not in codes:
                return codes
            if time.monotonic() > deadline:
                running = self.ranks[codes.index(None)]
                raise LabError(
                    f"worker {running} still runs after {limit_seconds:g} s: give a higher "
                    f"limit, or read why it waits. {self._end_of_log(running)}"
                )
            time.sleep(LOOK_SECONDS)

    def raise_failure(self) -> None:
        """Raise a `LabError` about the worker that failed first, if one has failed."""
        self._look()
        failed = [r for r, c in zip(self.ranks, self._codes(), strict=True) if c]
        if failed:
            # The others wrote later: that they miss it.
            first = min(failed, key=lambda rank: self._log_file(rank).stat().st_mtime)
            raise LabError(self._failure(first))

    def wait_for(self, text: str, rank: int, limit_seconds: float) -> None:
        """Wait until a worker has written a text, as ``"step 3 of 10"``.

        Parameters
        ----------
        text : str
        rank : int
        limit_seconds : float

        Raises
        ------
        LabError
            If the worker ends before, or the limit passes.
        """
        deadline = time.monotonic() + limit_seconds
        while True:
            self._look()
            ended = self._processes[rank].poll() is not None
            if text in self.log(rank):
                return
            if ended:
                raise LabError(self._failure(rank))
            if time.monotonic() > deadline:
                raise LabError(
                    f"worker {rank} has not written {text!r} in {limit_seconds:g} s: give "
                    f"a higher limit, or read what it does. {self._end_of_log(rank)}"
                )
            time.sleep(LOOK_SECONDS)

    def end(self) -> None:
        """Kill all that still runs here, the workers' own processes too."""
        if self._guard is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, SIGKILL)
        assert self._guard.stdin
        self._guard.stdin.close()
        for process in (*self._processes.values(), self._guard):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)

    def _log_file(self, rank):
        return self._log_dir / f"worker-{rank}.log"

    def _codes(self):
        return [self._processes[rank].poll() for rank in self.ranks]

    def _look(self):
        """Start all workers again if one has failed because its port was taken."""
        if not self._choose_ports or self._tries == PORT_TRIES:
            return
        for rank, code in zip(self.ranks, self._codes(), strict=True):
            port = int(self.addresses[rank].rpartition(":")[2])
            if code and rank not in self._signalled and not _is_free(port):
                self.end()
                self.launch()
                return

    def _failure(self, rank):
        code = self._processes[rank].returncode
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"worker {rank} {how}. {self._end_of_log(rank)}"

    def _end_of_log(self, rank):
        lines = self.log(rank).strip().splitlines()[-LOG_LINES:]
        log_end = "".join(f"\n  {line}" for line in lines) or "\n  nothing"
        return f"Its log, {self._log_file(rank)}, ends with:{log_end}"


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that no server listens on.

    Parameters
    ----------
    count : int

    Returns
    -------
    list of int
        Another process may take one before it is used.

    Raises
    ------
    LabError
        If there are fewer.
    """
    found = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        if len(found) == count:
            return found
        if _is_free(port):
            found.append(port)
    raise LabError(
        f"{count} ports are needed, but of {PORTS.start} to {PORTS.stop - 1} only "
        f"{len(found)} are free: end some servers on this machine."
    )


def _is_free(port):
    with socket.socket() as tried:
        # A connection that has ended may keep a port for a minute; servers may have it.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _listed(variable):
    return [part for part in os.environ.get(variable, "").split(",") if part]


def _gpu_share(place, workers):
    """Each worker takes GPUs of its own; where there are too few, all take the CPU."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = nvidia_gpus()
    if not gpus:
        return {}
    names = _listed("CUDA_VISIBLE_DEVICES") if given else list(map(str, range(len(gpus))))
    each = len(names) // workers
    share = names[place * each : (place + 1) * each]
    return {"CUDA_VISIBLE_DEVICES": ",".join(share) or "-1"}
