"""The filter of system calls, asked in a box: which calls the kernel still takes."""

import errno
import fcntl
import functools
import itertools
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from kit.grading.box import filter_in_box, sandbox, system_calls
from kit.grading.box.system_calls import allowed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("grading"),
    pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem())),
]
FILTER_IN_BOX = Path(filter_in_box.__file__)
SCRIPT, FILTER = "/tmp/calls.py", "/tmp/filter_in_box.py"

# What no box may ever do. Written out here again: a name that gets into the lists of
# `system_calls.py` by mistake must be seen.
FORBIDDEN = """
    memfd_create memfd_secret shmget shmat shmctl semget semop semctl msgget msgsnd msgrcv
    mq_open mq_unlink ptrace process_vm_readv process_vm_writev kcmp pidfd_open
    pidfd_getfd pidfd_send_signal perf_event_open bpf io_uring_setup io_uring_enter
    io_uring_register io_setup io_submit userfaultfd keyctl add_key request_key unshare
    setns clone3 mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount
    mount_setattr name_to_handle_at open_by_handle_at sched_setaffinity sched_setattr
    mlockall mlock2 ioprio_set personality seccomp init_module finit_module delete_module
    kexec_load reboot swapon swapoff acct quotactl sethostname setdomainname settimeofday
    clock_settime adjtimex clock_adjtime syslog iopl ioperm modify_ldt vmsplice splice tee
    fanotify_init inotify_init inotify_init1 inotify_add_watch setxattr chown fchown lchown
    fchownat mknod mknodat setreuid setregid setresuid setresgid setgroups setfsuid setfsgid
    capset vhangup sync syncfs process_madvise move_pages migrate_pages remap_file_pages
    landlock_create_ruleset rt_sigqueueinfo rt_tgsigqueueinfo sendmmsg recvmmsg
    nfsservctl lookup_dcookie
"""
SOCKETS = """
    socket socketpair bind listen accept accept4 connect setsockopt sendmsg recvmsg
"""
# They end or stop the process that calls them, or return twice.
UNTRIED = "exit exit_group fork vfork pause rt_sigreturn clone fcntl"
FILTERS = {
    "exercise": {},
    "notebook's kernel": {"notebook": True},
    "what starts the kernel": {"notebook": True, "sessions": True},
}
each_filter = pytest.mark.parametrize("kind", FILTERS)

# Of uretprobe and uprobe: Linux asks no filter about them, and ends the process that calls
# them from another place than its own.
PROBES = {335, 336}
MANY = ("sync", "vhangup")  # without a filter they would reach further than the box
SIGCHLD = 17
NEW = {
    "time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000,
    "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000,
}  # fmt: skip
REFUSED_OF_FCNTL = {
    "F_SETPIPE_SZ": 1031, "F_GETPIPE_SZ": 1032, "F_SETLEASE": 1024, "F_NOTIFY": 1026,
    "F_ADD_SEALS": 1033, "F_SETOWN": 8, "F_SETSIG": 10, "F_GETLK": 5,
}  # fmt: skip
USED_OF_FCNTL = {"F_GETFD": 1, "F_GETFL": 3, "F_DUPFD": 0}

# In the box: all calls in a process of their own; if one ends it, the others in another.
CALLS = """
import ctypes, json, os, sys
sys.path.insert(0, "/tmp")
from filter_in_box import load_filter

job = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
if job["filter"]:
    load_filter(bytes.fromhex(job["filter"]))
calls, said = job["calls"], {}

def make(left, writes):
    own = os.getpid()
    for name in left:
        done = libc.syscall(*map(ctypes.c_long, calls[name]))
        if done == 0 and os.getpid() != own:  # a call that returns twice
            os._exit(0)
        answer = ctypes.get_errno() if done == -1 else 0
        os.write(writes, (json.dumps([name, answer]) + chr(10)).encode())

while left := [name for name in calls if name not in said]:
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        make(left, writes)
        os._exit(0)
    os.close(writes)
    with open(reads) as lines:
        said |= map(json.loads, lines)
    _, status = os.waitpid(pid, 0)
    if status:
        said[next(name for name in left if name not in said)] = f"ended with {status}"
print(json.dumps(said))
"""


def in_box(script, job, *arguments, show=()):
    """What a script prints in a box, where a filter that has a hole does no harm."""
    files = {SCRIPT: script.encode(), FILTER: FILTER_IN_BOX.read_bytes()}
    command = (sys.executable, "-I", "-S", SCRIPT, *arguments)
    place = sandbox.open_box(sandbox.Limits(), (), show, files, command)
    with place as box:
        said, errors = box.monitor.communicate(json.dumps(job).encode(), timeout=300)
    assert said, errors.decode()
    return json.loads(said)


def number_of(name):
    import pyseccomp

    return pyseccomp.resolve_syscall(pyseccomp.system_arch(), name)


def numbered(names):
    """The calls of these names that this machine has, each with arguments of no sense."""
    numbers = {name: number_of(name) for name in names}
    return {name: (n, *[-1] * 6) for name, n in numbers.items() if n >= 0}


def filter_of(kind):
    """A filter as a box gets it; "" for none."""
    return allowed(**FILTERS[kind]).hex() if kind else ""


def named(kind):
    lists = [
        system_calls.FILES, system_calls.MEMORY, system_calls.PROCESSES,
        system_calls.SIGNALS_AND_TIME, system_calls.CHANNEL,
    ]  # fmt: skip
    more = [system_calls.NOTEBOOK] if kind != "exercise" else []
    return " ".join([*lists, *more]).split()


def clones():
    """`clone` as `fork` asks for it, and with some of the flags for new namespaces."""
    sizes = (0, 1, 2, len(NEW))
    for names in itertools.chain(*(itertools.combinations(NEW, size) for size in sizes)):
        flags = SIGCHLD | sum(NEW[name] for name in names)
        yield "+".join(["clone", *names]), (number_of("clone"), flags, 0, 0, 0, 0)


def fcntls():
    commands = REFUSED_OF_FCNTL | USED_OF_FCNTL
    # The kernel looks at 32 bits of the command.
    commands["F_SETPIPE_SZ, hidden"] = commands["F_SETPIPE_SZ"] | 1 << 40
    return {name: (number_of("fcntl"), 1, n, 0) for name, n in commands.items()}


def unnamed():
    """The numbers of all calls that no list names."""
    names = [*named(None), "clone", "fcntl", "flock", "setsid", "setpgid"]
    known = {number_of(name) for name in names}
    known |= PROBES if platform.machine() == "x86_64" else set()
    return {str(n): (n, *[-1] * 6) for n in range(700) if n not in known}


@functools.cache
def answers(kind):
    """The number of the error of each call under a filter, 0 for none."""
    tried = {*named(None), *FORBIDDEN.split()} - {*UNTRIED.split(), "setpgid"}
    tried -= set() if kind else set(MANY)
    calls = numbered(sorted(tried))
    if kind:
        calls |= {**unnamed(), **dict(clones()), **fcntls()}
        calls["setsid"] = (number_of("setsid"),)
        # In another process: who leads a session gets no group.
        calls["its end"] = (number_of("exit_group"), 1)
        calls["setpgid"] = (number_of("setpgid"), 0, 0)
    return in_box(CALLS, {"filter": filter_of(kind), "calls": calls})


def of(kind, names):
    return {name: answers(kind)[name] for name in names if name in answers(kind)}


def test_without_a_filter_the_kernel_has_most_of_what_is_forbidden():
    """Else the next test would say nothing."""
    said = of("", f"{FORBIDDEN} {SOCKETS}".split())
    there = {name for name, error in said.items() if error != errno.ENOSYS}
    assert {"memfd_create", "ptrace", "unshare", "socket", "shmget", "clone3"} <= there
    assert len(there) > 70


@each_filter
def test_a_forbidden_call_fails_as_if_the_kernel_did_not_have_it(kind):
    said = of(kind, FORBIDDEN.split())
    assert len(said) > 90
    assert {name for name, error in said.items() if error != errno.ENOSYS} == set()
    if kind == "exercise":
        assert set(of(kind, SOCKETS.split()).values()) == {errno.ENOSYS}


@each_filter
def test_every_number_that_no_list_names_is_refused(kind):
    """Also those of calls that are newer than this test."""
    said = of(kind, unnamed())
    assert len(said) > 400
    assert {n for n, error in said.items() if error != errno.ENOSYS} == set()


@each_filter
def test_an_allowed_call_answers_as_it_does_without_the_filter(kind):
    names = {*named(kind)} - {*UNTRIED.split(), "setpgid"}
    said = of(kind, names)
    assert len(said) > 150
    assert said == of("", names)


@each_filter
def test_only_boxes_that_need_them_may_make_sessions_and_groups(kind):
    refused = {
        "exercise": {"setsid", "setpgid"},
        "notebook's kernel": {"setsid"},
        "what starts the kernel": set(),
    }[kind]
    said = of(kind, ["setsid", "setpgid"])
    assert said == {name: errno.EPERM if name in refused else 0 for name in said}
    assert len(said) == 2


@each_filter
def test_clone_makes_processes_and_no_namespace_in_any_combination(kind):
    said = of(kind, dict(clones()))
    assert said.pop("clone") == 0
    assert len(said) > 30
    assert set(said.values()) == {errno.ENOSYS}, said


@each_filter
def test_fcntl_does_what_files_need_and_nothing_that_the_kernel_remembers(kind):
    said = of(kind, fcntls())
    assert {name for name, error in said.items() if error == 0} == set(USED_OF_FCNTL)
    assert {error for error in said.values() if error} == {errno.ENOSYS}


LOCKS = """
import fcntl, json, os, sys
sys.path.insert(0, "/tmp")
from filter_in_box import load_filter

job = json.load(sys.stdin)
if job["filter"]:
    load_filter(bytes.fromhex(job["filter"]))
said, files = {}, []
for name in ("flock", "lockf"):
    try:
        files.append(open(job["locked"]))
        way = fcntl.LOCK_EX if name == "flock" else fcntl.LOCK_SH
        getattr(fcntl, name)(files[-1], way | fcntl.LOCK_NB)
        said[name] = "locked"
    except BlockingIOError:
        said[name] = "another process has locked it"
mine = open("/tmp/mine", "w")
fcntl.lockf(mine, fcntl.LOCK_EX)
said["own"] = open("/proc/locks").read().count(" %d " % os.getpid())
print(json.dumps(said), flush=True)
sys.stdin.close()
"""


@pytest.mark.parametrize("kind", [*FILTERS, ""])
def test_a_lock_in_a_box_neither_waits_nor_keeps_another_process_waiting(kind, tmp_path):
    """Without the filter it does both: then this test can tell."""
    locked = tmp_path / "locked"
    locked.write_text("x")
    job = {"filter": filter_of(kind), "locked": str(locked)}
    with open(locked, "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fcntl.lockf(held, fcntl.LOCK_EX)
        said = in_box(LOCKS, job, show=[locked])
    waits = "another process has locked it"
    if kind:
        assert said == {"flock": "locked", "lockf": "locked", "own": 0}
    else:
        assert said["flock"] == said["lockf"] == waits
        assert said["own"] == 1


HIDDEN_NUMBERS = """
import ctypes, json, mmap, os, signal, sys
sys.path.insert(0, "/tmp")
from filter_in_box import load_filter

job = json.load(sys.stdin)
if job["filter"]:
    load_filter(bytes.fromhex(job["filter"]))
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(bytes.fromhex(job["machine_code"]))
begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
reads, writes = os.pipe()
if os.fork() == 0:
    os.write(writes, b"%d" % ctypes.CFUNCTYPE(ctypes.c_int)(begin)())
    os._exit(0)
os.close(writes)
_, status = os.wait()
print(json.dumps([os.read(reads, 99).decode(), status]))
"""
# As mmap: 32-bit numbers and x32's are other tables, with other calls at each number.
OTHER_TABLES = {
    "int 0x80": "b814000000cd80c3",  # mov eax, 20 (getpid); int 0x80; ret
    "x32": "b8270000400f05c3",  # mov eax, 39 (getpid) | 1 << 30; syscall; ret
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of x86-64")
@pytest.mark.parametrize("table", OTHER_TABLES)
@each_filter
def test_the_processors_other_tables_of_calls_are_no_way_around_it(kind, table):
    job = {"filter": filter_of(kind), "machine_code": OTHER_TABLES[table]}
    said, status = in_box(HIDDEN_NUMBERS, job)
    assert status or int(said) in (-1, -errno.ENOSYS), f"it is process {said}"


BECOMES = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def error(number):
    return ctypes.get_errno() if libc.syscall(number, -1, -1, -1, -1, -1) < 0 else 0
def status():
    lines = open("/proc/self/status").read().splitlines()
    return dict(line.split(":\\t", 1) for line in lines if ":\\t" in line)
own = error(int(sys.argv[1])), status()["Seccomp"], status()["NoNewPrivs"]
if len(sys.argv) == 2:
    again = [sys.executable, "-I", "-S", *sys.orig_argv[-3:], *map(str, own)]
    os.execv(sys.executable, again)
print(json.dumps([sys.argv[1:], own]))
"""


def test_a_program_that_the_filtered_one_becomes_has_the_filter_too():
    """`filter_in_box.py` as a script, and once more into another program."""
    number = str(number_of("ptrace"))
    made = subprocess.run(
        [sys.executable, "-I", FILTER_IN_BOX, allowed().hex(), "-I", "-S", "-c", BECOMES,
         number],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    arguments, own = json.loads(made.stdout)
    assert own == [errno.ENOSYS, "2", "1"]
    assert arguments == [number, *map(str, own)]


LOADS = """
import sys
sys.path.insert(0, sys.argv[1])
from filter_in_box import load_filter
try:
    load_filter(bytes.fromhex(sys.argv[2]))
except OSError as error:
    print(error)
else:
    print("loaded")
"""


def test_a_filter_that_the_kernel_refuses_is_an_error():
    """Without a filter nothing of a submission runs."""

    def loaded(code):
        command = [sys.executable, "-I", "-S", "-c", LOADS, FILTER_IN_BOX.parent]
        said = subprocess.check_output([*command, code.hex()], text=True, timeout=300)
        return said.strip()

    code = allowed()
    assert loaded(code) == "loaded"
    for broken in (b"", code[:8], code[:-80], bytes(80), b"\xff" * len(code)):
        assert "prctl: Invalid argument" in loaded(broken)


STEPS_BACK = """
import itertools, json, os, sys
sys.path.insert(0, sys.argv[1])
from filter_in_box import step_back
said = []
for kept in json.loads(sys.argv[2]):
    for number, cores in itertools.product(range(7), (1, 2, 3, 4, 9)):
        reads, writes = os.pipe()
        if os.fork() == 0:
            os.sched_setaffinity(0, kept)
            step_back(number, cores)
            now = [kept, number, cores, sorted(os.sched_getaffinity(0)), os.nice(0)]
            os.write(writes, json.dumps(now).encode())
            os._exit(0)
        said.append(json.loads(os.read(reads, 4096)))
        os.wait()
print(json.dumps(said))
"""


def test_a_box_takes_as_many_cores_as_it_may_and_each_core_has_its_boxes():
    there = sorted(os.sched_getaffinity(0))[:4]
    sets = [there[:size] for size in range(1, len(there) + 1)]
    said = subprocess.check_output(
        [sys.executable, "-I", "-S", "-c", STEPS_BACK, FILTER_IN_BOX.parent,
         json.dumps(sets)],
        text=True, timeout=300,
    )  # fmt: skip
    used = {}
    for kept, _, cores, taken, nice in json.loads(said):
        assert set(taken) <= set(kept)
        assert len(taken) == min(cores, len(kept))
        assert nice == os.nice(0) + filter_in_box.NICE
        used.setdefault((len(kept), cores), set()).update(taken)
    assert all(len(taken) == size for (size, _), taken in used.items())
