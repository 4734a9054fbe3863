"""The fork server: has TensorFlow imported, nothing started and no secrets; forks children.

Run as a script, `python -I fork_server.py SOCKET REPOSITORY MODULES FILTER`, outside of
every box. Each message on the socket is a number of seconds, and comes with the child's
socket, its output pipe and the box. Then it forks a child that enters the box,
gives up all privileges, and only then reads the student's code from its socket. It reads
nothing from a child. The grader gets the child's process number on the child's socket,
before the child says anything.
"""

import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import re
import resource
import signal
import socket
import sys
from pathlib import Path

# -I hides the script's folder. Under their own names, so that no box has a module of `kit`.
sys.path.insert(0, str(Path(__file__).parent))
import cells_in_box
import own_code
from filter_in_box import load_filter, step_back

del sys.path[0]

NAMESPACES = {
    "mnt": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
NS_GET_USERNS = 0xB701
MS_NOSUID, MS_NODEV, MS_REMOUNT = 2, 4, 32
FILES = 20_000  # in each of the box's two disks
CORES = 2  # of an exercise
LINUX_CAPABILITY_VERSION_3 = 0x20080522


def main() -> None:
    """Import what the labs import; then fork on demand until the socket closes."""
    control, code = socket.socket(fileno=int(sys.argv[1])), bytes.fromhex(sys.argv[4])
    sys.path.insert(0, sys.argv[2])
    with contextlib.suppress(ImportError):  # not every machine has TensorFlow
        from helpers.machine.quiet_tensorflow import silence_tensorflow

        silence_tensorflow(figures=False)
        from helpers.machine.small_graphs import spend_less_on_graphs

        spend_less_on_graphs()  # an answer's graphs run a few times
    for name in json.loads(sys.argv[3]):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _let_checks_pass()
    # The children share these pages as long as no reference count in them changes.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control.sendall(b"r")
    while True:
        seconds, descriptors, _, _ = socket.recv_fds(control, 8, 3)
        if not seconds:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            _child(code, int.from_bytes(seconds, "big"), *descriptors)
        with contextlib.suppress(OSError):  # the worker that asked has ended
            os.write(descriptors[0], pid.to_bytes(8, "big"))
        for descriptor in descriptors:
            os.close(descriptor)


def _let_checks_pass():
    """A check that was copied into a TODO cell does no harm: the grader judges outside."""
    import helpers.checks

    helpers.checks.check = lambda exercise, answer: answer


def _child(code, seconds, channel, output, box=None):
    """Enter the box, drop all privileges, and do what the channel says; never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        if box is not None:
            _enter(box, code, seconds)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(channel, 3)
        os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        with socket.socket(fileno=3) as parent:
            serve(parent.makefile("rwb"), boxed=box is not None)
    except BaseException as error:  # whatever happened, the child must end here
        with contextlib.suppress(BaseException):
            os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(0)


def _enter(box, code, seconds):
    """Join the box's namespaces, fork into its process numbers, drop every privilege."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name, *arguments):
        if getattr(libc, name)(*arguments):
            raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")

    root, server, number = os.geteuid() == 0, os.getppid(), os.getpid()
    uid = 64000
    proc = os.open("/proc", os.O_PATH)
    if not root:  # as root bubblewrap makes no user namespace
        call("setns", _owner(box), NAMESPACES["user"])
    call("setns", box, sum(NAMESPACES.values()) - NAMESPACES["user"])
    flags = MS_REMOUNT | MS_NOSUID | MS_NODEV
    for place in (b"/tmp", b"/dev/shm"):  # empty files take the kernel's memory too
        call("mount", b"tmpfs", place, None, flags, b"nr_inodes=%d" % FILES)
    inner = os.fork()
    if inner:
        _guard(box, server, seconds, call)
        os.waitpid(inner, 0)
        os._exit(0)
    os.setsid()
    step_back(number, CORES)
    if root:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    # From in here no other process of the box can be traced or written to.
    own_gid, own_uid = os.getegid(), os.geteuid()
    call("unshare", NAMESPACES["user"])
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)  # it must own its files in /proc
    # Through the outer /proc: that of the box is read only.
    _write("self/setgroups", "deny", proc)
    _write("self/gid_map", f"{uid} {own_gid} 1", proc)
    _write("self/uid_map", f"{uid} {own_uid} 1", proc)
    # No process in here may make a user namespace again.
    _write("sys/user/max_user_namespaces", "0", proc)
    os.close(proc)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(LINUX_CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())
    load_filter(code)
    os.chdir("/tmp/work")
    os.environ.update(HOME="/tmp/home", KERAS_HOME="/tmp/home/.keras", TMPDIR="/tmp")
    os.environ.update(MPLCONFIGDIR="/tmp/home", XDG_CACHE_HOME="/tmp/home/.cache")


def _owner(box):
    """The user namespace in which the box's file system was mounted."""
    [pid] = re.findall(r"^Pid:\s*(\d+)", Path(f"/proc/self/fdinfo/{box}").read_text(), re.M)
    with open(f"/proc/{pid}/ns/mnt") as mounted:
        return fcntl.ioctl(mounted, NS_GET_USERNS)


def _guard(box, server, seconds, call):
    """Out of the submission's reach: end the box after its time, even where the worker gets
    none of the processors; and if the fork server ends, as it does when its worker is
    killed. (In the box a submission may have stopped the `cat`.)"""
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, lambda *_: signal.pidfd_send_signal(box, signal.SIGKILL))
    with contextlib.suppress(OSError):  # root may run before all others
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    signal.alarm(seconds)
    call("prctl", PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != server:  # it ended before the line above
        signal.pidfd_send_signal(box, signal.SIGKILL)
    os.closerange(0, box)
    os.closerange(box + 1, 64)


def _write(path, text, dir_fd):
    descriptor = os.open(path, os.O_WRONLY, dir_fd=dir_fd)
    os.write(descriptor, text.encode())
    os.close(descriptor)


def serve(parent: io.BufferedRWPair, boxed: bool) -> None:
    """Take one exercise from the grader and answer its questions until it hangs up."""

    def say(message):
        parent.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        parent.flush()

    job = json.loads(parent.readline())
    for name, value in job["limits"].items():
        if boxed or name != "RLIMIT_NPROC":  # outside it counts all of the user's
            resource.setrlimit(getattr(resource, name), (value, value))
    exercise, name, setup = job["exercise"], job["name"], job["setup"]
    own = dict(job["code"])[exercise]
    pieces = cells_in_box.pieces_before(job["code"], exercise, name, setup)
    # Before any of the student's code runs: later messages may be forged.
    say({"borrowed": cells_in_box.borrowed(pieces, own, name, job["references"])})
    seconds = job["limits"]["RLIMIT_CPU"]
    # Bound and kept before the student's code, which may replace them.
    from helpers.checks.observe import observe

    probe = importlib.import_module(job["probe"]).probe
    originals, put_back, reports = own_code.keep(), own_code.put_back, []

    def tell_changes():
        names = put_back(originals)
        if names and not reports:
            reports.append(names)
            say({"changed_check": names[:9]})

    answer, problem = cells_in_box.answer_of(pieces, own, exercise, name, setup, seconds)
    if problem:
        return say(problem)
    # A submission can forge this one; it finds what no import statement shows.
    parts = [answer, getattr(answer, "func", None), *getattr(answer, "__mro__", ())]
    parts += type(answer).__mro__
    say({"borrowed": [part.__name__ for part in parts if _is_reference(part, job)]})

    def wait(seconds_or_message):
        say({"wait": seconds_or_message})
        return json.loads(parent.readline())

    tell_changes()
    while line := parent.readline():
        question = json.loads(line)["question"]
        observation = observe(probe, answer, question, wait)
        tell_changes()
        say({"observation": observation})


def _is_reference(part, job):
    ours = str(getattr(part, "__module__", "")).split(".")[0] in cells_in_box.OURS
    return ours and getattr(part, "__name__", "") in job["references"]


if __name__ == "__main__":
    main()
