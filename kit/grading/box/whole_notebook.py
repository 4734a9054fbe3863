"""Execute a whole submitted notebook in its own box, and bring it back."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from helpers.data.places import user_cache
from helpers.files import REPOSITORY
from helpers.plain_json import as_json
from kit.grading.box import sandbox
from kit.grading.box.conversation import plain_text
from kit.grading.box.processes import let_others_first, memory_mib
from kit.grading.box.system_calls import allowed
from kit.grading.box.temporary import temporary_folder

MOST_BYTES = 50 * sandbox.MIB
# For its files, one of which may take half: lab 09 saves 64 MiB, and again beside it.
DISK_MIB = 256
# The box's own deadline comes first: a kernel that is killed leaves no notebook.
GRACE_SECONDS = 30
LOOK_SECONDS = 0.5  # between two looks at the box's memory
SCRIPT, FILTER = "/tmp/whole_notebook_in_box.py", "/tmp/filter_in_box.py"


def run_notebook(
    text: str,
    limits: sandbox.Limits,
    boxed: bool,
    hide: Sequence[str],
    visible: Sequence[str],
) -> tuple[str, str | None]:
    """Execute a notebook, whatever is in it.

    Parameters
    ----------
    text : str
    limits : kit.grading.box.sandbox.Limits
    boxed : bool
    hide : sequence of Path
        See `kit.grading.box.sandbox.open_box`.
    visible : sequence of str
        The files of the kit that it may read.

    Returns
    -------
    tuple of str
        The outcome in a few words, and the executed notebook or None. Nothing
        here reads that notebook: it comes from the box.
    """
    script = Path(__file__).with_name("whole_notebook_in_box.py")
    # The notebook runs with another HOME: its cache gets links to the files of this one.
    cache = user_cache().resolve()
    own = os.environ.get("LABS_DATA_DIR")
    folders = [cache, *([Path(own).resolve()] if own else [])]
    data = [path for path in folders if path.is_dir()]
    job = {
        "repository": str(REPOSITORY),
        "notebook": text,
        "cache": str(cache),
        "seconds": limits.full_seconds,
        "limits": {
            "RLIMIT_FSIZE": DISK_MIB // 2 * sandbox.MIB,
            "RLIMIT_DATA": limits.memory_mib * sandbox.MIB,
            "RLIMIT_CORE": 0,
        },
        "environment": {
            "LABS_SCALE": "smoke", "CUDA_VISIBLE_DEVICES": "-1", "LANG": "C.UTF-8",
            "PYTHONPATH": str(REPOSITORY), "TF_CPP_MIN_LOG_LEVEL": "3",
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            **({"LABS_DATA_DIR": str(Path(own).resolve())} if own else {}),
        },
    }  # fmt: skip
    if boxed:
        # In a box the limit counts its own processes; outside, all of the user.
        job["limits"]["RLIMIT_NPROC"] = limits.full_processes
        show = [*visible, *data]
        command = (sys.executable, "-I", SCRIPT, sandbox.HOME, sandbox.WORK)
        job["filter"] = allowed(notebook=True, sessions=True).hex()
        job["kernel"] = [
            sys.executable, "-I", FILTER, allowed(notebook=True).hex(),
            "-m", "ipykernel_launcher", "-f", "{connection_file}",
        ]  # fmt: skip
        files = {
            place: script.with_name(Path(place).name).read_bytes()
            for place in (SCRIPT, FILTER)
        }
        roomy = limits._replace(disk_mib=DISK_MIB)
        place = sandbox.open_box(roomy, hide, show, files, command)
        with place as box:
            return _follow(box.monitor, job, limits, box.pids)
    with temporary_folder() as home, _unboxed(script, home) as process:
        return _follow(process, job, limits, list)


@contextlib.contextmanager
def _unboxed(script, home):
    with subprocess.Popen(
        [sys.executable, "-I", script, home, home],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)


def _follow(process, job, limits, pids):
    """Send the job, read the output, and stop when the process takes too much."""
    request, output = memoryview(as_json(job).encode()), bytearray()
    given, taken = process.stdin.fileno(), process.stdout.fileno()
    for pipe in (given, taken):
        os.set_blocking(pipe, False)
    weigh_at = time.monotonic()
    deadline = weigh_at + limits.full_seconds + GRACE_SECONDS
    while (now := time.monotonic()) < deadline:
        if now >= weigh_at:
            weigh_at = now + LOOK_SECONDS
            there = pids()
            let_others_first(there)
            if memory_mib(there, limits.memory_mib) > limits.memory_mib:
                return f"it took more than {limits.memory_mib:,} MiB of memory", None
        writing = [given] if request else []
        readable, writable, _ = select.select([taken], writing, [], LOOK_SECONDS)
        try:
            if writable:
                request = request[os.write(given, request) :]
                if not request:
                    process.stdin.close()
            if readable:
                part = os.read(taken, 2**20)
                if not part:
                    break
                output += part
        except BlockingIOError:
            continue
        except BrokenPipeError:
            break
        if len(output) > MOST_BYTES:
            return "its outputs are larger than 50 MB", None
    else:
        return f"it had not finished after {limits.full_seconds:g} seconds", None
    verdict, _, notebook = output.decode(errors="replace").partition("\n")
    if not notebook:
        return "its process ended early", None
    # A cell can write to the same pipe.
    return plain_text(verdict, 100), notebook
