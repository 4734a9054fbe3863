"""Submissions that are hostile, broken or unusual, each with what must happen.

A generator: `write(folder, world)` makes them all. Every bomb is bounded, so that it
does no harm where a wall is missing. Most attacks are in exercise 2.3, which needs
no training. Where one could harm another exercise, an honest answer to 2.2 must pass
beside it.
"""

import json
import os
import re
import textwrap
from typing import NamedTuple

from kit.generate import generate
from kit.labs import find_lab
from kit.todo_cells import todo_cells

LAB = find_lab("02")
CELLS = {
    cell.source.split()[2].rstrip(":"): cell.source
    for cell in generate(LAB)[1].cells
    if cell.source.startswith("# Solution")
}
HONEST = re.sub("^#.*\n", "", CELLS["2.3"].replace("def fit_throughput", "def honest"))
CALLS_HONEST = "# TODO 2.3: x\ndef fit_throughput(p):\n    return honest(p)"
CHECK = 'fit_throughput = check("2.3", fit_throughput)'
[START] = [exercise.start for exercise in todo_cells(LAB) if exercise.number == "2.3"]
MARK = "labs-corpus-mark"  # in whatever must not outlive its submission


# Texts that take an expression with two repeats long to read.
TIRING = {
    "brackets": "[" * 2**16,
    "an_open_bracket": "[" + " " * 2500,
    "quotes": '"\\' * 2**13,
    "equals": "=" * 2**16,
    "spaces": " " * 2**16,
    "digits": "1" * 2**16,
}
# Numbers of calls on x86-64.
CALLS = {
    "memfd_create": 319, "shmget": 29, "io_uring_setup": 425, "userfaultfd": 323,
    "keyctl": 250, "ptrace": 101, "bpf": 321, "msgget": 68, "process_vm_writev": 311,
    "memfd_secret": 447, "clone3": 435,
}  # fmt: skip


class Case(NamedTuple):
    """A submission, and what has to come of it."""

    content: bytes | str | None  # of the notebook; None: `special` makes it
    passed: tuple = ()  # the exercises that pass, all others fail
    says: str = ""  # a pattern in the reason of 2.3, or in the file's problem
    borrowed: tuple = ()
    changed: bool = False  # whether it is told to have changed the check
    status: str = "graded"
    special: object = None  # a function of the path
    place: str = ""  # in the student's folder; default: as platforms name it
    out_of_time: bool = False  # a limit of time ends it, or a part of it: graded apart


class World(NamedTuple):
    """What the attacks aim at; `tests/kit/grading/test_grade.py` sets it up."""

    folder: object
    out: object
    repository: object
    port: int  # somebody listens there
    abstract: str  # and on this abstract socket
    parent: int  # the grader's process


def notebook(cells=None, order=("2.2", "2.3"), **changes):
    """A submission as bytes; without 2.1, which takes seconds to judge.

    Parameters
    ----------
    cells : dict of str to str, optional
        Instead of the solution's.
    order : sequence of str
        The exercises that it has.
    """
    sources = CELLS | (cells or {})
    made = [code(sources[n], id=n.replace(".", "-")) for n in order]
    document = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document | changes).encode()


def code(source, **changes):
    cell = {"cell_type": "code", "id": "x", "metadata": {}, "source": source}
    return cell | {"outputs": [], "execution_count": None} | changes


def fit(body):
    """An answer to 2.3 that does something first and then answers right."""
    return (
        f"# TODO 2.3: fit.\n{HONEST}\n\ndef fit_throughput(points):\n"
        f"{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
        "    return honest(points)\n"
    )


def attack(body, says, passed=("2.2",), **more):
    """Fails, if the walls stand: with an error, or because the attack found nothing."""
    return Case(notebook({"2.3": fit(body)}), passed, says, **more)


def alone(body, says, **more):
    """An attack on nothing that another exercise needs; none is beside it."""
    return Case(notebook({"2.3": fit(body)}, ("2.3",)), (), says, **more)


def forged(message, says):
    """Speaks to the grader itself, over the channel that it finds."""
    body = f"import os\nos.write(3, {message!r} + b'\\n')\nos._exit(0)"
    return alone(body, says)


def hostile(world):
    """Attacks: to read, to stay, to break something, or to be graded for nothing."""
    repository, both = str(world.repository), ("2.2", "2.3")
    barred = "No such file|not found|denied|Read-only"

    def reads(path):
        return alone(f"open({str(path)!r}).read()", "No such file|Permission denied")

    cases = {
        # What it may not read.
        "reads_judges": alone("import helpers.lab_02.ex3_fit.judge", "ModuleNotFound"),
        "reads_references": alone(
            "import helpers.lab_02.reference",
            "ModuleNotFound.*without an import of our own solution",
            borrowed=("helpers.lab_02.reference",),
        ),
        "reads_wrong_answers": alone(
            "import tests.answers.lab_02.ex3_fit", "ModuleNotFound"
        ),
        "reads_folder": alone(
            f"""
            import os
            names = [name for _, _, files in os.walk({repository + "/helpers"!r}) for name in files]
            assert "probe.py" in names
            assert {{"judge.py", "reference.py"}} & set(names), "not in here"
            """,
            "not in here",
        ),
        "reads_judge_file": reads(f"{repository}/helpers/lab_02/ex3_fit/judge.py"),
        "reads_solutions": reads(LAB.solution),
        "reads_source": reads(LAB.source),
        "reads_answers": reads(f"{repository}/tests/answers/lab_02/ex3_fit.py"),
        "reads_git": alone(f"import os; os.stat({repository + '/.git'!r})", barred),
        "reads_kit": alone("import kit.grading.grade", "ModuleNotFound"),
        "reads_others": alone(f"import os; os.listdir({str(world.folder)!r})", barred),
        "reads_seed": reads(world.out / "seed.txt"),
        "reads_grades": alone(f"import os; os.listdir({str(world.out)!r})", barred),
        "reads_shadow": reads("/etc/shadow"),
        "reads_passwd": reads("/etc/passwd"),
        "reads_environment": alone(
            "import os; assert 'LABS_SECRET' in os.environ, 'no secret'", "no secret"
        ),
        "reads_all_environments": alone(
            """
            import glob
            seen = b""
            for path in glob.glob("/proc/[0-9]*/environ"):
                try:
                    seen += open(path, "rb").read()
                except OSError:
                    pass
            assert b"LABS_SECRET" in seen, "no secret"
            """,
            "no secret",
        ),
        "reads_root_of_others": alone(
            """
            import os
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                try:
                    assert "home" not in os.listdir(f"/proc/{pid}/root"), "open"
                except OSError:
                    pass
            raise OSError("denied")
            """,
            "denied",
        ),
        "reads_memory": alone(
            """
            import gc, sys
            judges = [n for n in sys.modules if n.endswith((".judge", ".reference", ".answers"))]
            graders = [name for name in sys.modules if name.startswith("kit")]
            assert judges or graders, "not in here"
            """,
            "not in here",
        ),
        "reads_open_files": alone(
            """
            import os
            names = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                     if os.path.lexists(f"/proc/self/fd/{fd}")}
            others = [n for n in names if not n.startswith(("pipe:", "socket:", "/dev/null", "/proc"))]
            assert others, "none open"
            """,
            "none open",
        ),
        # Whom it may not reach.
        "network": alone(
            "import socket; socket.create_connection(('1.1.1.1', 53), 2)", "not implemented"
        ),
        "network_name": alone(
            "import socket; socket.getaddrinfo('example.org', 80)", "gaierror"
        ),
        "network_local": alone(
            f"import socket; socket.create_connection(('127.0.0.1', {world.port}), 2)",
            "not implemented",
        ),
        "network_abstract": alone(
            f"""
            import socket
            socket.socket(socket.AF_UNIX).connect({world.abstract!r})
            """,
            "not implemented",
        ),
        "sees_processes": alone(
            """
            import os
            pids = [name for name in os.listdir("/proc") if name.isdecimal()]
            assert len(pids) > 5, f"alone with {len(pids)}"
            """,
            "alone with",
        ),
        "kills_parent": attack(f"import os; os.kill({world.parent}, 9)", "No such process"),
        "kills_parent_by_ppid": attack(
            "import os; assert os.getppid(), 'no parent'; os.kill(os.getppid(), 9)",
            "no parent|not permitted|ended",
        ),
        # It spares itself, and dies with the box a moment later.
        "kills_everybody": attack("import os, time; os.kill(-1, 9); time.sleep(60)", ""),
        "kills_init": attack(
            """
            import os
            try:
                os.kill(1, 9)
            except PermissionError:
                pass
            """,
            "",
            both,
        ),
        "stops_itself": attack(
            "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
            "finished",
            out_of_time=True,
        ),
        # What it may not become.
        "becomes_root": attack("import os; os.setuid(0)", "not permitted|Invalid"),
        "makes_user_namespace": attack(
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            assert libc.unshare(0x10000000) == 0, os.strerror(ctypes.get_errno())
            """,
            "not implemented",
        ),
        "mounts": attack(
            """
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            done = libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
            assert done == 0, os.strerror(ctypes.get_errno())
            """,
            "not implemented",
        ),
        # Processes that have none of its limits, and would do what it writes there.
        "writes_to_the_boxs_own_processes": attack(
            """
            import os
            opened = 0
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                if int(pid) != os.getpid():
                    try:
                        opened += bool(open(f"/proc/{pid}/mem", "r+b"))
                    except OSError:
                        pass
            assert opened, "none can be opened"
            """,
            "none can be opened",
        ),
        "raises_its_limits": attack(
            "import resource; resource.setrlimit(resource.RLIMIT_CPU, (9999, 9999))",
            "exceed|not allowed|limit",
        ),
        "has_capabilities": alone(
            """
            status = open("/proc/self/status").read()
            caps = [l for l in status.splitlines() if l.startswith(("CapEff", "CapPrm", "CapBnd"))]
            assert any(int(line.split()[1], 16) for line in caps), "none"
            """,
            "none",
        ),
        "takes_the_processor": attack(
            "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
            "not permitted",
        ),
        "goes_before_others": attack("import os; os.nice(-5)", "not permitted|denied"),
        # Each session has the same share of the processors.
        "makes_a_session": attack(
            """
            import subprocess
            subprocess.run(["true"], start_new_session=True)
            """,
            "not permitted",
        ),
        "makes_a_process_group": attack(
            "import subprocess; subprocess.run(['true'], process_group=0)", "not permitted"
        ),
        "raises_its_sessions_share": attack(
            "open('/proc/self/autogroup', 'w').write('0')", "Read-only"
        ),
        "takes_more_cores": attack(
            "import os; os.sched_setaffinity(0, range(1024))", "not implemented"
        ),
        # What it may not change or leave behind.
        "writes_kit": attack(f"open({repository + '/helpers/x.py'!r}, 'w')", barred),
        "unlocks_a_file_of_the_course": alone(
            """
            import os
            from helpers.lab_02.ex3_fit import probe
            os.chmod(probe.__file__, 0o666)
            """,
            "Read-only",
        ),
        "removes_a_file_of_the_course": alone(
            """
            import os
            from helpers.lab_02.ex3_fit import probe
            os.unlink(probe.__file__)
            """,
            "Read-only",
        ),
        "writes_callbacks": attack(
            "import callbacks; open(callbacks.__file__, 'a')",
            barred,
            borrowed=("callbacks",),
        ),
        "writes_python": attack("import keras; open(keras.__file__, 'a')", barred),
        "writes_usr": attack("open('/usr/lib/x', 'w')", barred),
        "writes_root": attack("open('/x', 'w')", barred),
        "leaves_a_file": attack(
            f"""
            import os
            os.makedirs(os.path.expanduser("~/.ipython"), exist_ok=True)
            for place in ("/tmp", "/dev/shm", "/var/tmp", ".", os.path.expanduser("~")):
                try:
                    open(os.path.join(place, {MARK!r}), "w").write("x")
                except OSError:
                    pass
            """,
            "",
            both,
        ),
        "leaves_a_process": attack(
            f"""
            import contextlib, os, subprocess, sys
            command = [sys.executable, "-c", "import time; time.sleep(600)", {MARK!r}]
            subprocess.Popen(command)
            if os.fork() == 0:
                with contextlib.suppress(OSError):
                    os.setsid()
                if os.fork() == 0:
                    os.execv(sys.executable, command)
                os._exit(0)
            """,
            "",
            both,
        ),
        "leaves_a_key": attack(
            """
            import ctypes
            libc = ctypes.CDLL(None)
            libc.syscall(248, b"user", b"labs-corpus-mark", b"x", 1, -4)
            """,
            "",
            both,
        ),
        "looks_for_what_was_left": attack(
            f"""
            import ctypes, glob
            libc = ctypes.CDLL(None)
            found = glob.glob("/tmp/*/{MARK}") + glob.glob("/*/{MARK}") + glob.glob("/dev/shm/*")
            key = libc.syscall(249, b"user", b"{MARK}", None, 0)
            assert found or key > 0, "nothing"
            """,
            "nothing",
        ),
        # Bombs, all bounded.
        "fork_bomb": attack(
            """
            import os, time
            for _ in range(1000):
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
            """,
            "unavailable",
        ),
        "thread_bomb": attack(
            """
            import threading, time
            for _ in range(1000):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            """,
            "can't start new thread",
        ),
        "memory_bomb": attack("kept = bytearray(2**32)", "MemoryError|MiB of memory"),
        "memory_of_many": attack(
            """
            import os, time
            for _ in range(8):
                if os.fork() == 0:
                    kept = bytearray(os.urandom(2**20)) * 500
                    time.sleep(60)
                    os._exit(0)
            time.sleep(60)
            """,
            "MiB of memory",
        ),
        # Memory that is in no process's account.
        **{
            f"calls_{name}": alone(
                f"""
                import ctypes, os
                libc = ctypes.CDLL(None, use_errno=True)
                done = libc.syscall({number}, 0, 0, 0, 0, 0)
                assert done >= 0, os.strerror(ctypes.get_errno())
                """,
                "not implemented",
            )
            for name, number in CALLS.items()
        },
        "memory_of_memfd": attack(
            """
            import os
            for _ in range(160):
                os.write(os.memfd_create("kept"), bytes(2**24))
            """,
            "not implemented",
        ),
        "memory_of_sockets": attack(
            """
            import socket
            pairs = [socket.socketpair() for _ in range(100)]
            """,
            "not implemented",
        ),
        "memory_of_locks": attack(
            """
            import fcntl
            with open("/tmp/locked", "wb") as file:
                for place in range(20_000):
                    fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
            with open("/proc/locks") as locks:
                assert len(locks.readlines()) > 1000, "none was kept"
            """,
            "none was kept",
        ),
        # What locks a file of the machine keeps others outside waiting.
        "locks_a_file_that_another_process_has_locked": attack(
            """
            import fcntl
            from helpers.lab_02.ex3_fit import probe
            with open(probe.__file__) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            """,
            "",
            both,
        ),
        "memory_of_pipes": attack(
            """
            import fcntl, os
            for _ in range(60):
                _, end = os.pipe()
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 2**20)
                os.write(end, bytes(2**20))
            """,
            "not implemented",
        ),
        "memory_of_empty_files": attack(
            """
            for number in range(10**5):
                open(f"/tmp/{number}", "w").close()
            """,
            "No space",
        ),
        "disk_bomb": attack(
            """
            for number in range(40):
                open(f"/tmp/{number}", "wb").write(bytes(2**23))
            """,
            "No space|too large",
        ),
        "shared_memory_bomb": attack(
            """
            for number in range(40):
                open(f"/dev/shm/{number}", "wb").write(bytes(2**23))
            """,
            "No space|too large",
        ),
        "large_file": attack(
            "open('/tmp/large', 'wb').truncate(2**33)", "too large|File size|No space|ended"
        ),
        "printing_bomb": attack(
            "import os\nfor _ in range(500): os.write(1, b'x' * 2**16)", "printed more than"
        ),
        "error_bomb": attack(
            "import os\nfor _ in range(500): os.write(2, b'x' * 2**16)", "printed more than"
        ),
        "endless_loop": attack(  # 20 by the clock, where a busy machine gives it less
            "while True: pass", "finished after (3|20) seconds", out_of_time=True
        ),
        "endless_cell": Case(
            notebook({"2.3": "# TODO 2.3: x\nwhile True: pass\n"}),
            ("2.2",),
            "finished|ended",
            out_of_time=True,
        ),
        "sleeps": attack("import time; time.sleep(600)", "finished", out_of_time=True),
        "stops_what_keeps_its_box": attack(
            "import os, signal; os.kill(-1, signal.SIGSTOP)", "", both
        ),
        "ignores_signals": attack(
            """
            import signal, time
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            time.sleep(600)
            """,
            "finished",
            out_of_time=True,
        ),
        "recursion_bomb": attack("f = lambda: f()\nf()", "RecursionError"),
        "parser_bomb": Case(
            notebook({"2.3": "# TODO 2.3: x\nfit_throughput = " + "(" * 5000}),
            ("2.2",),
            ".",
        ),
        "parser_bomb_deep": Case(
            notebook({"2.3": "# TODO 2.3: x\nfit_throughput = " + "-" * 90_000 + "1"}),
            ("2.2",),
            ".",
        ),
        "regex_bomb": attack(
            "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
            "finished|ended",
            out_of_time=True,
        ),
        # How it ends.
        "exits": attack("import sys; sys.exit(0)", "SystemExit"),
        "exits_hard": attack("import os; os._exit(0)", "ended early"),
        "exits_in_cell": Case(
            notebook({"2.3": "# TODO 2.3: x\nimport os; os._exit(0)"}), ("2.2",), "ended"
        ),
        "segfaults": attack("import ctypes; ctypes.string_at(0)", "ended early"),
        "aborts": attack("import os; os.abort()", "ended early"),
        "raises_base_exception": alone(
            "class E(BaseException): pass\nraise E('bye')", "E: bye"
        ),
        "raises_interrupt": alone(
            "raise KeyboardInterrupt('bye')", "ended|KeyboardInterrupt"
        ),
        "raises_an_evil_error": alone(
            """
            class Evil(Exception):
                def __str__(self):
                    raise ValueError
            raise Evil
            """,
            ".",
        ),
        "raises_a_long_error": alone("raise ValueError('x' * 10**7)", "ValueError: x+"),
        "raises_html": alone("raise ValueError('<script>alert(1)</script>')", "<script>"),
        # Replies that are not what they seem.
        "gives_nan": alone("return float('nan'), 1.0", "infinity, nan"),
        "gives_infinity": alone("return float('inf'), 1.0", "infinity, nan"),
        "gives_evil_floats": alone(
            """
            class Evil(float):
                def __eq__(self, other): return True
                def __lt__(self, other): return False
                __gt__ = __le__ = __ge__ = lambda self, other: True
                def __sub__(self, other): return 0.0
                __rsub__ = __abs__ = __sub__
                def __float__(self): return 0.0
            return Evil(1), Evil(1)
            """,
            "peak",
        ),
        "forges_nan": forged(
            b'{"observation": {"t0_seconds": NaN, "peak": NaN}}', "plain JSON"
        ),
        "forges_infinity": forged(
            b'{"observation": {"t0_seconds": 0, "peak": 1e999}}', "plain JSON"
        ),
        "forges_depth": forged(
            b'{"observation": ' + b"[" * 9999 + b"]" * 9999 + b"}", "plain JSON"
        ),
        "forges_size": alone(
            "import os\nwhile True: os.write(3, b'[' * 2**16)", "longer than"
        ),
        "forges_bytes": forged(b"\xff\xfe\x00", "plain JSON"),
        "forges_pickle": forged(b"cos\nsystem\n(S'touch /tmp/owned'\ntR.", "plain JSON"),
        "forges_a_list": forged(b'[{"passed": true}]', "plain JSON"),
        "forges_a_pass": forged(b'{"passed": true}', "not what a probe says"),
        "forges_nothing": forged(b'{"observation": {}}', "not what the probe"),
        "forges_types": forged(
            b'{"observation": {"t0_seconds": "0", "peak": []}}', "not what the probe"
        ),
        "forges_a_large_number": forged(
            b'{"observation": {"t0_seconds": 0, "peak": 1' + b"0" * 5000 + b"}}",
            "plain JSON",
        ),
        "forges_an_error": forged(b'{"error": {"a": 1}, "mistake": ["x"]}', "."),
        # Then the judge would ask another question in place of this one.
        "forges_an_unclear_question": alone(
            """
            import json, os
            from helpers.checks.observe import observe
            from helpers.lab_02.ex3_fit.probe import probe
            os.write(3, b'{"error": "too hard", "mistake": "unclear"}\\n')
            while line := os.read(3, 2**16):
                question = json.loads(line)["question"]
                reply = observe(probe, honest, question, wait=print)
                os.write(3, json.dumps({"observation": reply}).encode() + b"\\n")
            """,
            "too hard",
        ),
        "forges_surrogates": forged(
            b'{"error": "\\ud800\\u0000\\u202e", "mistake": "\\ud800"}', "."
        ),
        "gives_back_surrogates": alone(
            """
            found = honest(points)
            points["\\ud800"] = "\\udfff"
            return found
            """,
            "\N{REPLACEMENT CHARACTER}|changed|.",
        ),
        "forges_keys_with_surrogates": forged(
            b'{"observation": {"\\ud800": [{"\\udfff": "\\ud800\\u0000"}]}}',
            "not what the probe",
        ),
        "forges_waits": forged(b'{"wait": -1}', "not what a probe says"),
        "forges_long_waits": forged(b'{"wait": 1e9}', "not what a probe says"),
        "forges_many_waits": alone(
            """
            import os, threading
            threading.Thread(target=lambda: [os.read(3, 999) for _ in range(10**6)]).start()
            for _ in range(10**6): os.write(3, b'{"wait": 1}\\n')
            """,
            "finished|longer than|ended",
            out_of_time=True,
        ),
        "floods_with_waits": attack(
            """
            import os, threading
            threading.Thread(target=lambda: [os.read(3, 999) for _ in range(10**6)]).start()
            for _ in range(60_000): os.write(3, b'{"wait": 0}\\n')
            """,
            "not what a probe says",
        ),
        "floods_with_names": attack(
            """
            import os
            for _ in range(10**6): os.write(3, b'{"borrowed": ["PrintThroughput"]}\\n')
            """,
            "not what a probe says",
        ),
        "forges_names": forged(
            b'{"borrowed": ["<b>", "x", "PrintThroughput"]}', "not what a probe says"
        ),
        "trickles": attack(
            "import os\nfor _ in range(300 * 2**10): os.write(3, b'[')", "longer than"
        ),
        # The right nonce, and numbers whose squares and sums no float holds.
        "forges_extremes_with_the_nonce": alone(
            """
            import json, os, sys
            frame = sys._getframe()
            while "nonce" not in frame.f_locals:
                frame = frame.f_back
            reply = {"fits": [[1e308, -1e308]] * 9, "nonce": frame.f_locals["nonce"]}
            os.write(3, json.dumps({"observation": reply}).encode() + b"\\n")
            os._exit(0)
            """,
            "not what the probe|peak|t0",
        ),
        # What it did not read makes the end of the channel an error.
        "reads_no_replies": alone(
            """
            import os, time
            for _ in range(20): os.write(3, b'{"wait": 0}\\n')
            time.sleep(1)
            os._exit(0)
            """,
            "ended early",
        ),
        # What a judge or a page would read for ever, or for long.
        **{
            f"forges_{name}": forged(
                b'{"observation": {"printed": [' + json.dumps(text).encode() + b"]}}",
                "not what the probe gives",
            )
            for name, text in TIRING.items()
        },
        "forges_a_guess": forged(
            b'{"observation": {"t0_seconds": 0.01, "peak": 900.0}}',
            "not what the probe gives",
        ),
        "closes_the_channel": attack("import os; os.close(3)", "ended early"),
        "reads_no_questions": alone(
            "import os\nwhile True: os.read(3, 1)", "finished|ended", out_of_time=True
        ),
        "patches_json": attack(
            'import json; json.dumps = lambda *a, **k: \'{"observation": {"passed": true}}\'',
            "not what the probe|not plain|not what a probe",
        ),
        "patches_the_check": attack(
            """
            import helpers.checks, helpers.checks.observe
            helpers.checks.judge_answer = lambda *a, **k: None
            helpers.checks.observe.observe = lambda *a, **k: {"passed": True}
            return 0, 0
            """,
            "peak",
            changed=True,
        ),
        # It is put back before a question is asked, so the wrong answer is judged.
        "patches_the_probe_in_its_cell": Case(
            notebook(
                {
                    "2.3": "# TODO 2.3: x\nfrom helpers.lab_02.ex3_fit import probe\n"
                    "def forged(answer, question, wait): return {'fits': [], 'changed': ''}\n"
                    "probe.probe.__code__ = forged.__code__\nprobe.call = forged\n"
                    "def fit_throughput(points): return 0.0, 1.0"
                }
            ),
            ("2.2",),
            "peak",
            changed=True,
        ),
        "patches_builtins": attack(
            "import builtins; builtins.float = builtins.abs = lambda x: 0\nreturn 1, 1", "."
        ),
        "leaves_threads": attack(
            """
            import threading, time
            threading.Thread(target=time.sleep, args=(600,)).start()
            """,
            "",
            both,
        ),
        # Notebooks that claim marks, in their metadata or in stored outputs.
        "claims_full_marks": Case(
            notebook(
                {"2.3": CELLS["2.3"].replace("1 / slope", "0.0")},
                metadata={"grade": 100, "nbgrader": {"score": 462}},
            ),
            ("2.2",),
            "peak",
        ),
        "forged_outputs": Case(
            json.dumps(
                json.loads(notebook(order=("2.2",)))
                | {
                    "cells": [
                        code(CELLS["2.2"], id="2-2"),
                        code(
                            "# TODO 2.3: x\nfit_throughput = None",
                            outputs=[
                                {"output_type": "stream", "text": "✓ 2.3", "name": "stdout"}
                            ],
                            metadata={"points": 99, "tags": ["skip-execution"]},
                        ),
                        code("check = lambda *a: print('✓ 2.3')"),
                    ]
                }
            ),
            ("2.2",),
            "is None, where a function or a class is asked for",
        ),
    }
    return cases


def broken(world):
    """Files that are no notebook of the lab: reported with what to do."""

    def unreadable(content, says, **more):
        return Case(content, (), says, status="unreadable", **more)

    def outputs_of_50_mb():
        cells = [
            code(
                CELLS["2.3"], outputs=[{"output_type": "stream", "text": "x" * 50 * 2**20}]
            )
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})

    def a_link_out(path):
        path.symlink_to(LAB.solution)

    honest = notebook()
    copied = json.loads(honest)
    copied["cells"].append(code(CELLS["2.3"]))
    return {
        "invalid_json": unreadable(honest[:-20], "not valid JSON"),
        "empty": unreadable(b"", "empty"),
        "white_space": unreadable(b"\n \n", "empty"),
        "format_2": unreadable(json.dumps({"nbformat": 2, "worksheets": []}), "format 2"),
        "format_3": Case(
            json.dumps({"nbformat": 3, "worksheets": [1, {"cells": 2}]}), (), "missing"
        ),
        "format_text": unreadable(json.dumps({"nbformat": "4" * 99, "cells": []}), "format"),
        "latin_1": unreadable(b'{"cells": "\xe9"}', "UTF-8"),
        "half_utf_16": unreadable(honest.decode().encode("utf-16")[:-1], "UTF-8"),
        "large": unreadable(outputs_of_50_mb(), "clear its outputs"),
        "merge_conflict": unreadable(
            honest[:50] + b"\n<<<<<<< HEAD\n=======\n>>>>>>> x\n" + honest[50:], "merge-conflict"
        ),
        "a_zip": unreadable(b"PK\x03\x04" + bytes(99), "zip"),
        "a_folder": unreadable(None, "not a file", special=lambda path: path.mkdir()),
        "a_fifo": unreadable(None, "not a file", special=os.mkfifo),
        "a_link": unreadable(None, "symbolic link", special=a_link_out),
        "a_dangling_link": unreadable(
            None, "symbolic link", special=lambda path: path.symlink_to("/nowhere")
        ),
        "deep_folders": Case(
            honest,
            (),
            "there is h .more than 8 folders deep: move the notebook up",
            status="missing",
            place="a/b/c/d/e/f/g/h/i/mine.ipynb",
        ),
        "unknown_name": Case(
            "{}", (), r"there is \\xff.ipynb", status="missing", place=os.fsdecode(b"\xff.ipynb")
        ),
        "unknown_cells": Case(
            json.dumps({"nbformat": 4, "cells": [code("1")]}),
            (),
            "there is notes.IPYNB",
            status="missing",
            place="notes.IPYNB",
        ),
        "not_utf_8": unreadable(
            honest[:-20], "not valid JSON", place=os.fsdecode(b"\xff_02_throughput.ipynb")
        ),
        "deep_json": unreadable(b"[" * 10**6, "not valid JSON"),
        "a_list": unreadable(b"[1, 2]", "not a notebook"),
        "a_word": unreadable(b"null", "not a notebook"),
        "large_number": unreadable(b'{"nbformat": 1' + b"0" * 9999 + b"}", "not valid JSON"),
        "no_cells": unreadable(json.dumps({"nbformat": 4}), "without cells"),
        "odd_cells": Case(
            json.dumps(
                {
                    "nbformat": 4,
                    "cells": [
                        None, 3, {"cell_type": "code"}, code(7), code([1]),
                        {"cell_type": "code", "source": "x", "metadata": 1, "id": []},
                        *json.loads(honest)["cells"],
                    ],
                }
            ),
            ("2.2", "2.3"),
        ),
        "many_cells": unreadable(
            json.dumps({"nbformat": 4, "cells": [code("x")] * 10**5}),
            "100,000 cells, more than",
        ),
        "cells_of_blanks": unreadable(
            json.dumps({"nbformat": 4, "cells": [code(" " * 100_000)] * 190}),
            "characters of code: remove what",
        ),
        "cell_missing": Case(notebook(order=("2.2",)), ("2.2",), "missing"),
        "cell_copied": Case(json.dumps(copied), ("2.2", "2.3")),
        "cell_huge": Case(notebook({"2.3": CELLS["2.3"] + "#" * 10**6}), ("2.2",), "longer than"),
        "cell_with_surrogates": Case(
            notebook({"2.3": CELLS["2.3"] + "\nx = '\ud800'"}), ("2.2", "2.3")
        ),
        "cell_with_null_bytes": Case(
            notebook({"2.3": CELLS["2.3"] + "\0"}), ("2.2",), "SyntaxError"
        ),
    }  # fmt: skip


def older(cell):
    """A cell as notebooks of format 3 have it."""
    return {"cell_type": "code", "language": "python", "input": cell["source"]}


def unusual(world):
    """Honest work that looks odd, and passes."""
    both = ("2.2", "2.3")
    start = json.loads(notebook())["cells"]
    solution = CELLS["2.3"]

    def cells(*more, **changes):
        document = {"cells": [*start, *more], "metadata": {}, "nbformat": 4}
        return json.dumps(document | changes)

    def cells_of(*made, **changes):
        return json.dumps({"cells": made, "nbformat": 4} | changes)

    def split(*sources):
        """2.2, and what belongs to 2.3 in cells without an id."""
        return Case(cells_of(start[0], *map(code, sources)), both)

    def fitting(source):
        return Case(notebook({"2.3": source}, ("2.3",)), ("2.3",))

    def parted(*sources):
        """2.3 after JupyterLab's "split cell", which copies the metadata."""
        name = {"metadata": {"nbgrader": {"grade_id": "2-3-fit"}}}
        return Case(cells_of(start[0], *(code(source) | name for source in sources)), both)

    without_names = [
        cell | {"source": re.sub(r"^#.*\n", "", cell["source"])} for cell in start
    ]
    for cell in without_names:
        cell["id"] = "removed"
    lines = [cell | {"source": cell["source"].splitlines(True)} for cell in start]
    words = {"cell_type": "markdown", "source": "2.figure: \ud800\0", "metadata": {}}
    return {
        "words_with_surrogates": Case(cells(words), both),
        "extra_cells": Case(
            cells(code("raise ValueError"), code("1 / 0"), code("!rm -rf x")), both
        ),
        "other_kernel": Case(cells(metadata={"kernelspec": {"name": "julia-1.9"}}), both),
        "renamed": Case(notebook(), both, place="My Work (final).ipynb"),
        "renamed_without_utf_8": Case(notebook(), both, place=os.fsdecode(b"\xff.ipynb")),
        "capitals": Case(notebook(), both, place="02_Throughput.IPYNB"),
        "deep_folders": Case(notebook(), both, place="a/b/c/d/e/f/g/02_throughput.ipynb"),
        "utf_16": Case(notebook().decode().encode("utf-16"), both),
        "format_3": Case(
            json.dumps(
                {
                    "nbformat": 3,
                    "metadata": {},
                    "worksheets": [{"cells": [older(cell) for cell in start]}],
                }
            ),
            both,
        ),
        "byte_order_mark": Case("\ufeff".encode() + notebook(), both),
        "source_in_lines": Case(json.dumps({"cells": lines, "nbformat": 4}), both),
        "names_removed": Case(json.dumps({"cells": without_names, "nbformat": 4}), both),
        "other_order": Case(notebook(order=("2.3", "2.2")), both),
        "windows_lines": fitting(solution.replace("\n", "\r\n")),
        "syntax_error_elsewhere": Case(
            notebook({"2.2": "# TODO 2.2: x\ndef sweep(:"}), ("2.3",)
        ),
        "syntax_error": Case(
            notebook({"2.3": "# TODO 2.3: x\ndef fit_throughput(:"}),
            ("2.2",),
            "SyntaxError",
        ),
        "prints": fitting("print('hello ' * 999)\n" + fit("print(points)")),
        "magics": fitting(f"%%time\n{solution}\n%matplotlib inline\n!ls"),
        "absolute_imports": fitting("import numpy\nimport numpy as np\n" + solution),
        "imports_tensorflow": fitting(
            fit("import tensorflow as tf\nprint(tf.reduce_sum(tf.ones(3)))")
        ),
        "imports_from_the_course": fitting("from callbacks import counted\n" + solution),
        "a_lambda": fitting(
            "# TODO 2.3: x\n" + HONEST + "\nfit_throughput = lambda points: honest(points)"
        ),
        "a_callable_object": fitting(
            f"# TODO 2.3: x\n{HONEST}\nclass Fit:\n    def __call__(self, points):\n"
            "        return honest(points)\nfit_throughput = Fit()"
        ),
        "helper_in_earlier_exercise": Case(
            notebook(
                {
                    "2.2": CELLS["2.2"] + "\n\n" + HONEST,
                    "2.3": "# TODO 2.3: x\ndef fit_throughput(points):\n    return honest(points)",
                }
            ),
            both,
        ),
        "parted_before_a_trial": parted(solution, "fit_throughput({8: 10.0, 16: 18.0})"),
        "parted_in_the_middle": parted(
            f"# TODO 2.3: x\n{HONEST}", "def fit_throughput(p):\n    return honest(p)"
        ),
        "helper_in_another_cell": split(HONEST, CALLS_HONEST),
        "helper_below": split(CALLS_HONEST, HONEST),
        "helper_of_a_helper": split(
            f"from math import *\nimport numpy as mine, json\nFACTOR = 1.0\n{HONEST}",
            "first = lambda p: [FACTOR * x for x in mine.array(honest(p)) + floor(0.5)]",
            CALLS_HONEST.replace("honest(p)", "first(p)"),
        ),
        # What runs of these cells needs no value that is missing, and never ends.
        "helper_among_trials": split(
            f"x_train = x_train / 255\n{HONEST}\nwhile True: pass", CALLS_HONEST
        ),
        "endless_class_that_nothing_needs": split(
            "class Endless:\n    while True: pass", solution
        ),
        "endless_class_that_it_needs": Case(
            split("class Endless:\n    while True: pass", fit("Endless")).content,
            ("2.2",),
            "NameError: name 'Endless'",
            out_of_time=True,
        ),
        "helper_above_an_endless_line": Case(
            notebook(
                {
                    "2.2": f"# TODO 2.2: x\n{HONEST}\nwhile True: pass",
                    "2.3": CALLS_HONEST,
                }
            ),
            ("2.3",),
            out_of_time=True,
        ),
        "value_that_is_computed": split("factor = max(1, 1)", fit("print(factor)")),
        "value_that_needs_the_data": Case(
            split("factor = x_train.max()", fit("print(factor)")).content,
            ("2.2",),
            "NameError.*without the lab's data",
        ),
        "values_that_are_filled_and_counted": split(
            "calls = 0\nS = {}",
            "S['eps'] = 0.0\ntry:\n    import missing as m\nexcept ImportError:\n    m = None",
            solution.replace(
                "def fit_throughput(points):",
                "def fit_throughput(points):\n    global calls\n    calls += S['eps'] == 0",
            ),
        ),
        "another_lab_and_points": split(
            "lab = None\nmeasured = None\ndef fit_throughput(points): return 0, 0", solution
        ),
        "later_attempt_below_the_check": split(
            solution, CHECK, "def fit_throughput(points):\n    return 0.0, 1.0"
        ),
        "helper_of_that_name_below": split(
            fit(""), CHECK, "def honest(points):\n    return 0.0, 1.0"
        ),
        "reference_imported_below": split(
            solution, CHECK, "from callbacks import PrintThroughput"
        ),
        # One cell in several, and several attempts.
        "split_cell": split(
            f"# TODO 2.3: fit.\nfactor = max(1, 1)\n{HONEST}",
            "import math\ntwice = [factor, factor]",
            "def fit_throughput(points):\n    return [twice[0] * x for x in honest(points)]",
            CHECK,
            "1 / 0",
        ),
        "answer_in_a_cell_of_its_own": split(START, solution.split("\n", 1)[1], CHECK),
        "answer_above_an_empty_cell": split(solution.split("\n", 1)[1], "# TODO 2.3: x"),
        "old_attempt_above": split(
            "# TODO 2.3: x\ndef fit_throughput(points):\n    return 0.0, 1.0",
            CHECK,
            solution,
            CHECK,
        ),
        "start_code_kept_below": split(solution, START),
        "old_attempt_below_the_check": split(
            solution,
            CHECK,
            "# TODO 2.3: x\ndef fit_throughput(points):\n    return 0.0, 1.0",
        ),
        "the_last_attempt_counts": Case(
            split(
                solution, "# TODO 2.3: x\ndef fit_throughput(points):\n    return 0.0, 1.0"
            ).content,
            ("2.2",),
            "it found t0 = 0 s",
        ),
        "cells_merged": Case(
            cells_of(start[0] | {"source": f"{CELLS['2.2']}\n\n{solution}"}), both
        ),
        # Lines that try the answer.
        "trial_line": fitting(f"{solution}\nprint(fit_throughput(points))\n"),
        "trial_line_above": fitting(f"print(points)\n{solution}\nassert False"),
        "trial_that_trains": fitting(
            f"{solution}\nmodel.fit(x_train, y_train, epochs=1)\nimport sys\nsys.exit()"
        ),
        "trial_that_prints_2_mb": fitting(
            f"{solution}\nfor _ in range(2**15):\n    print('x' * 2**6)"
        ),
        "helper_below_a_loud_loop": split(
            f"loud = [print('x' * 2**10) for _ in range(2**11)]\n{HONEST}",
            CALLS_HONEST.replace("honest(p)", "honest(p) if loud else 0"),
        ),
        "trial_without_end": Case(
            notebook({"2.3": f"{solution}\nwhile True: pass"}), both, out_of_time=True
        ),
        "trial_in_a_block": fitting(
            f"with open('/dev/null') as file:\n{textwrap.indent(solution, '    ')}\n"
            "    print(fit_throughput(points), file=file)"
        ),
        "answer_that_a_line_fails_to_make": Case(
            notebook({"2.3": solution + "\nfit_throughput = missing(fit_throughput)"}),
            ("2.2",),
            "NameError: name 'missing'",
        ),
        "asks_ipython": fitting(
            f"get_ipython().run_line_magic('matplotlib', 'inline')\n{solution}\n"
            "fit_throughput?\nnp.polyfit??\n?print\nfiles = !ls\n%timeit -n 1 print(1)\n"
            "%time result = 3\nassert 'IPKernelApp' not in get_ipython().config\n"
            "display(3, display_id=True)"
        ),
        "magic_before_the_answer": fitting(
            "get_ipython().system('ls')\nif get_ipython() is None: raise SystemExit\n"
            + solution
        ),
        "tf_print_and_a_log_line": fitting(
            fit(
                "import logging, sys, tensorflow as tf\ntf.print(points)\n"
                "logging.warning('here')\nprint('there', file=sys.stderr)"
            )
        ),
        "check_in_the_cell": fitting(
            solution + '\nfit_throughput = check("2.3", fit_throughput)'
        ),
        "future_annotations": fitting("from __future__ import annotations\n" + solution),
        "slow": fitting(fit("import time; time.sleep(0.3)")),
        "writes_a_file": fitting(fit("open('mine.txt', 'w').write('x')")),
        "starts_a_process": fitting(
            fit("import subprocess; subprocess.run(['true'], check=True)")
        ),
        "uses_threads": fitting(
            fit(
                "from concurrent.futures import ThreadPoolExecutor\n"
                "with ThreadPoolExecutor(4) as pool: list(pool.map(str, range(99)))"
            )
        ),
        "unicode": fitting(fit("größe = '日本語'\nprint(größe)")),
        "uses_the_labs_names": fitting(fit("print(lab.seed, seed, time, keras, math)")),
        "start_code": Case(
            notebook(
                {"2.3": "# TODO 2.3: x\ndef fit_throughput(points):\n    return 0.0, 1.0"}
            ),
            ("2.2",),
            "it found t0 = 0 s",
        ),
    }


def patient(world):
    """What trains, and so takes its time; or what takes much memory."""
    every = ("2.1", "2.2", "2.3")
    return {
        "solution": Case(notebook(order=every), every),
        "without_outputs_or_text": Case(LAB.notebook.read_bytes(), (), "."),
        "prints_while_training": Case(
            notebook(
                {
                    "2.1": CELLS["2.1"].replace(
                        "self.trained = None", "self.trained = None; print('go')"
                    )
                },
                order=("2.1",),
            ),
            ("2.1",),
        ),
        "prints_by_tensorflow": Case(
            notebook(
                {
                    "2.1": "import tensorflow as tf\n"
                    + CELLS["2.1"].replace(" print(", " tf.print(")
                },
                order=("2.1",),
            ),
            ("2.1",),
        ),
        "logs_while_training": Case(
            notebook(
                {
                    "2.1": CELLS["2.1"].replace(
                        "        print(",
                        "        import sys, logging, warnings, tensorflow as tf\n"
                        "        sys.stderr.write('here\\n')\n"
                        "        logging.getLogger('mine').warning('here')\n"
                        "        tf.get_logger().warning('here')\n"
                        "        warnings.warn('here')\n"
                        "        print(",
                    )
                },
                order=("2.1",),
            ),
            ("2.1",),
        ),
        "replaces_the_clock": Case(
            notebook(
                {
                    "2.1": "# TODO 2.1: x\nticks = iter(range(10**9))\n"
                    "time.perf_counter = time.time = time.monotonic = lambda: next(ticks)\n"
                    + CELLS["2.1"]
                },
                order=("2.1",),
            ),
            (),
        ),
        "does_not_let_time_pass": Case(
            notebook(
                {
                    "2.1": "# TODO 2.1: x\ntime.sleep = lambda seconds: None\n"
                    + CELLS["2.1"]
                },
                order=("2.1",),
            ),
            ("2.1",),
        ),
        "memory_of_page_tables": attack(
            """
            import ctypes, mmap, os
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.restype = ctypes.c_void_p
            libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
            libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
            place = libc.mmap(None, 2**40, mmap.PROT_READ, 0x4022, -1, 0)
            libc.madvise(place, 2**40, mmap.MADV_NOHUGEPAGE)
            for start in range(place, place + 2**40, 2**21):
                done = libc.madvise(start, 4096, 22)
                assert done == 0, os.strerror(ctypes.get_errno())
            """,
            "MiB of memory",
        ),
        # For the instructor to decide.
        "borrows": Case(
            notebook(
                {"2.1": "# TODO 2.1: x\nfrom callbacks import PrintThroughput"},
                order=("2.1",),
            ),
            ("2.1",),
            borrowed=("PrintThroughput",),
        ),
        "borrows_by_subclass": Case(
            notebook(
                {
                    "2.1": "# TODO 2.1: x\nimport importlib\n"
                    "theirs = importlib.import_module('callbacks.through' + 'put')\n"
                    "class PrintThroughput(theirs.PrintThroughput): pass"
                },
                order=("2.1",),
            ),
            ("2.1",),
            borrowed=("PrintThroughput",),
        ),
    }


# Names that a platform may let through; all hand in the same honest notebook.
NAMES = [
    "=1+1", "+1", "-rf", "@SUM(A1)", "<script>alert(1)<", "a,b", 'quo"te', "two\nlines",
    "..%2f..%2fx", "...", "x" * 180, "Ada", "ada", "ÅSA", "\u202egnp", "a'b; rm -rf ~", "{{ 7*7 }}",
    "$(touch x)", "tab\there", os.fsdecode(b"bad\xff"), "con", "a b c",
]  # fmt: skip


def names(world):
    content = notebook(order=("2.3",))
    return {name: Case(content, ("2.3",)) for name in NAMES}


KINDS = {
    "hostile": hostile, "broken": broken, "unusual": unusual, "names": names,
    "patient": patient,
}  # fmt: skip


def write(folder, world, out_of_time):
    """Write the submissions that a limit of time ends, or all others.

    Returns
    -------
    dict of str to Case
        By student.
    """
    cases = {}
    for kind, make in KINDS.items():
        for name, case in make(world).items():
            if case.out_of_time != out_of_time:
                continue
            student = name if kind == "names" else f"{kind}-{name}"
            # As platforms export it, and as a folder for each student, in turn.
            if case.place:
                path = folder / student / case.place
                path.parent.mkdir(parents=True)
            elif len(cases) % 2 or kind == "broken" or student.startswith("."):
                path = folder / f"{student}_{LAB.name}.ipynb"
            else:
                path = folder / student / f"{LAB.name}.ipynb"
                path.parent.mkdir()
            if case.special:
                case.special(path)
            else:
                content = case.content
                path.write_bytes(
                    content if isinstance(content, bytes) else content.encode()
                )
            cases[student] = case
    return cases
