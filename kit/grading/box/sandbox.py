"""A bubblewrap box: namespaces that hold only the system and parts of the course.

docs/teaching/grading.md says what it keeps out, and why that is enough.
"""

import contextlib
import functools
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.grading.box.system_calls import allowed

MIB = 2**20
UID = 64000  # no user of the machine has it
WORK, HOME = "/tmp/work", "/tmp/home"
START_SECONDS = 20


class Limits(NamedTuple):
    """The limits of one exercise; most are some ten times what honest work needs."""

    wall_seconds: float = 300  # on a busy machine; `cpu_seconds` ends what computes
    cpu_seconds: int = 120
    memory_mib: int = 3072  # of all its processes; TensorFlow alone takes about 600
    disk_mib: int = 64  # of /tmp, and as much again of /dev/shm
    processes: int = 64  # threads count; the references of lab 05 have 35
    judge_cpu_seconds: int = 60  # for asking and judging, outside of the box
    printed_bytes: int = MIB
    reply_bytes: int = 2**18
    full_seconds: float = 900  # for a whole notebook
    full_processes: int = 512


class Box(NamedTuple):
    """An open box; `pidfd` is that of its process 1."""

    pidfd: int
    pid: int
    monitor: subprocess.Popen

    def pids(self) -> list[int]:
        """The processes in the box, by their numbers outside of it."""
        own = _namespace(self.pid)
        return [pid for pid in _all_pids() if own and _namespace(pid) == own]


@functools.cache
def problem() -> str | None:
    """Why this machine cannot open a box, in a few words, or None."""
    if sys.platform != "linux":
        return f"there is no bubblewrap for {sys.platform}"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed (apt-get install bubblewrap)"
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        return "setpriv is not installed (apt-get install util-linux)"
    if not importlib.util.find_spec("pyseccomp"):
        return "the Python package pyseccomp is not installed (make setup-grading)"
    try:
        allowed()
    except (ImportError, OSError, RuntimeError):
        return "libseccomp is not installed (apt-get install libseccomp2)"
    try:
        with open_box(Limits()):
            return None
    except LabError as error:
        return str(error)


@contextlib.contextmanager
def open_box(
    limits: Limits,
    hide: Sequence[str | Path] = (),
    show: Sequence[str | Path] = (),
    files: dict[str, bytes] | None = None,
    command: Sequence[str] = ("cat",),
) -> Generator[Box]:
    """Open a box; when the block ends, everything in it is dead.

    Parameters
    ----------
    limits : Limits
        Here only the size of its disks; the process that enters sets the others.
    hide : sequence of Path
        Folders that must not be visible in the box, wherever they are.
    show : sequence of Path
        Files and folders that are also visible, read only.
    files : dict of str to bytes, optional
        Files to put into the box, by their path in it.
    command : sequence of str
        Runs in the box and keeps it open. `cat` ends with the grader.

    Yields
    ------
    Box

    Raises
    ------
    LabError
        If bubblewrap cannot make it, with what bubblewrap says.
    """
    # A file, not a pipe: if bubblewrap could not write to it, it would die half done.
    info = os.memfd_create("info")
    given = {path: _file_of(content) for path, content in (files or {}).items()}
    copied = {Path(path): os.open(path, os.O_RDONLY) for path in show if _is_copied(path)}
    inherited = [info, *given.values(), *copied.values()]
    try:
        monitor = subprocess.Popen(
            # With `cat` no --die-with-parent: `cat` ends by itself, and a bubblewrap that
            # is killed while it builds the box can leave a part of itself behind.
            [
                *bubblewrap(limits, hide, show, copied, given, info, command == ("cat",)),
                *command,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=inherited,
            start_new_session=True,  # Ctrl-C is for the grader, which then closes it
            env={},
        )
    except BaseException:
        os.close(info)
        raise
    finally:
        for descriptor in (*given.values(), *copied.values()):
            os.close(descriptor)
    try:
        if command == ("cat",):
            _wait_until_ready(monitor)
        pid = _first_process(info, monitor)
        pidfd = os.pidfd_open(pid)
        try:
            yield Box(pidfd, pid, monitor)
        finally:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            # Readable once it has ended: then all others in its namespace have ended too.
            select.select([pidfd], [], [], START_SECONDS)
            os.close(pidfd)
    finally:
        os.close(info)
        for pipe in filter(None, (monitor.stdin, monitor.stdout, monitor.stderr)):
            with contextlib.suppress(OSError):
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            monitor.wait(START_SECONDS)
        monitor.kill()
        monitor.wait()


def bubblewrap(
    limits: Limits,
    hide: Sequence[str | Path],
    show: Sequence[str | Path],
    copied: dict[Path, int],
    files: dict[str, int],
    info: int,
    is_entered: bool,
) -> list[str]:
    """The command line: what is new in the box, and what is visible from outside.

    A process that enters makes a user namespace below the box's: so it cannot reach
    those that keep the box open, which have none of its limits. Else the command is
    process 1 and sets the limits, so that there is no process without them.
    """
    root = os.geteuid() == 0
    size = str(limits.disk_mib * MIB)
    words = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--unshare-net", "--new-session", "--clearenv",
    ]  # fmt: skip
    if not root:
        words += ["--unshare-user", "--uid", str(UID), "--gid", str(UID)]
    if not is_entered:
        words += ["--die-with-parent", "--as-pid-1"]
        words += [] if root else ["--disable-userns"]
    words += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if Path("/", name).is_symlink():
            words += ["--symlink", str(Path("/", name).readlink()), f"/{name}"]
        elif Path("/", name).exists():
            words += ["--ro-bind", f"/{name}", f"/{name}"]
    words += ["--perms", "0755", "--dir", "/etc"]
    for name in ("ld.so.cache", "ld.so.conf", "localtime", "fonts", "alternatives"):
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    words += ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]
    # Else it could raise its session's share of the processors again.
    words += ["--remount-ro", "/dev", "--remount-ro", "/proc"]
    words += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
    for folder in (WORK, HOME):
        words += ["--perms", "1777", "--dir", folder]
    words += _walls(hide, show, copied)
    for path, descriptor in files.items():
        words += ["--perms", "0444", "--ro-bind-data", str(descriptor), path]
    words += ["--info-fd", str(info), "--chdir", WORK, "--remount-ro", "/", "--"]
    if root:
        words += [
            "setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups",
            "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all",
        ]  # fmt: skip
    return words


def _is_copied(path):
    """A small file that can be read, and not where the box's own processes may write.

    For each mount bubblewrap reads the list of all mounts: for the hundred files of a
    lab that took 48 of 60 ms.
    """
    path = Path(path)
    own = any(path.is_relative_to(folder) for folder in ("/tmp", "/dev/shm"))
    small = path.is_file() and path.stat().st_size < MIB
    return small and not own and os.access(path, os.R_OK)


def _walls(hide, show, copied):
    """Show Python and the given files of the kit; hide all else of the kit."""
    prefixes = {Path(sys.prefix), Path(sys.base_prefix).resolve()}
    python = [path for path in sorted(prefixes) if not path.is_relative_to("/usr")]
    mounts = [Path("/usr"), *python]
    words = []
    for path in python:
        words += _see(path)
    # Only what is inside a visible folder must be hidden.
    covers = [
        path
        for path in (REPOSITORY, *map(Path, hide))
        if any(path.is_relative_to(outer) for outer in mounts)
    ]
    for path in covers:
        words += ["--tmpfs", str(path)]
    for path in python:  # again, if it is inside of what was just hidden
        if any(path.is_relative_to(outer) for outer in covers):
            words += _see(path)
    for path in map(Path, show):
        if path in copied:
            words += [*_parents(path), "--perms", "0444"]
            words += ["--file", str(copied[path]), str(path)]
        else:
            words += _see(path)
    for path in covers:
        words += ["--remount-ro", str(path)]
    return words


def _see(path):
    return [*_parents(path), "--ro-bind", str(path), str(path)]


def _parents(path):
    """Make the folders above: those that bubblewrap makes are open only to root."""
    words = []
    for parent in reversed(path.parents[:-1]):
        words += ["--perms", "0755", "--dir", str(parent)]
    return words


def _file_of(content):
    descriptor = os.memfd_create("given")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _wait_until_ready(monitor):
    """Wait until `cat` repeats what it was sent: then the box is complete."""
    with contextlib.suppress(BrokenPipeError):
        monitor.stdin.write(b"?")
        monitor.stdin.flush()
    ready, _, _ = select.select([monitor.stdout], [], [], START_SECONDS)
    if not ready or os.read(monitor.stdout.fileno(), 1) != b"?":
        raise LabError(f"bubblewrap cannot run here: {_last_words(monitor)}")


def _first_process(info, monitor):
    """The number of the box's process 1, as soon as bubblewrap has written it."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(ValueError):
            return json.loads(os.pread(info, 4096, 0))["child-pid"]
        if monitor.poll() is not None:
            break
        time.sleep(0.002)
    raise LabError(f"bubblewrap says: {_last_words(monitor)}")


def _last_words(monitor):
    monitor.kill()
    words = monitor.stderr.read().decode(errors="replace").split()
    return " ".join(words)[:200] or "it printed nothing"


def _all_pids():
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _namespace(pid):
    try:
        return Path(f"/proc/{pid}/ns/pid").readlink()
    except OSError:
        return None
