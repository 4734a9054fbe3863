"""The memory that this process holds, and the most that it held: Linux counts both."""

import contextlib
import ctypes
import gc
import re
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # written to `CLEAR`, see proc(5)


def held() -> int | None:
    """Bytes without those that were freed; None on a system that does not tell."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only glibc has this function
        ctypes.CDLL(None).malloc_trim(0)
    return _status("VmRSS")


def reset_peak() -> None:
    """Forget the most memory that this process ever held, where the system can."""
    with contextlib.suppress(OSError):
        CLEAR.write_text(RESET_PEAK, encoding="utf-8")


def peak() -> int | None:
    """The most bytes since `reset_peak`; None on a system that does not tell."""
    return _status("VmHWM") if CLEAR.exists() else None


def _status(name):
    if not STATUS.exists():
        return None
    found = re.search(rf"^{name}:\s*(\d+) kB$", STATUS.read_text(encoding="utf-8"), re.M)
    return 1024 * int(found[1]) if found else None
