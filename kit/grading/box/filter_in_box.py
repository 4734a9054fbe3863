"""What a process does before it runs a student's code, in a box where nothing else of the
grader is: it steps back, and loads a seccomp filter.

As a script, `python -I filter_in_box.py FILTER ARGUMENTS`, it becomes Python with these.
"""

import ctypes
import os
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
NICE = 3  # the grader and its user's other programs run first


class _Program(ctypes.Structure):
    _fields_ = [("instructions", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def step_back(number: int, cores: int) -> None:
    """Let the grader run first, and use only some of the cores.

    On 64 cores TensorFlow would start hundreds of threads. The filter forbids to take more
    cores later.

    Parameters
    ----------
    number : int
        Any: so that not all processes take the same cores.
    cores : int
    """
    os.nice(NICE)
    available = sorted(os.sched_getaffinity(0))
    first = number * cores % len(available)
    os.sched_setaffinity(0, (2 * available)[first : first + cores])


def load_filter(code: bytes) -> None:
    """Forbid this process and its children all calls but some, for ever.

    Parameters
    ----------
    code : bytes
        The BPF program, as `kit.grading.box.system_calls.allowed` makes it.

    Raises
    ------
    OSError
        If the kernel refuses it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(code) // 8, code)
    for call in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)),
    ):
        if libc.prctl(*call):
            raise OSError(ctypes.get_errno(), f"prctl: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    load_filter(bytes.fromhex(sys.argv[1]))
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
