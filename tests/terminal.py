"""Commands on a terminal of their own, where they draw progress bars."""

import contextlib
import os
import pty
import subprocess
import termios

from helpers.files import REPOSITORY


def on_a_terminal(command):
    """What a command writes there, controls and all."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (40, 120))
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, cwd=REPOSITORY) as it:
        os.close(its)
        parts = []
        with contextlib.suppress(OSError):  # at its end
            while part := os.read(ours, 65_536):
                parts.append(part)
    os.close(ours)
    assert it.returncode == 0
    return b"".join(parts).decode()
