"""A room of laptops on this machine: network namespaces on one bridge, with slow links."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from helpers.files import REPOSITORY

NETWORK = "10.77.0"
LABS = str(Path(sys.executable).with_name("labs"))


def why_no_namespaces():
    """Why there can be no namespaces here; empty where there can be."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    if not shutil.which("ip") or not shutil.which("tc"):
        return "there is no ip or tc: Debian's package iproute2 has both"
    name = f"labs-try-{os.getpid()}"  # its own: another run may be trying as well
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True)
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return made.stderr.decode().strip() if made.returncode else ""


class Room:
    """Namespaces that are removed, with what runs in them, when the block ends.

    Parameters
    ----------
    laptops : int
        Besides the host, which is laptop 0 and has the bridge.
    """

    def __init__(self, laptops):
        self.name, self.laptops = f"labs{os.getpid()}", laptops
        self._started, self.folder = [], Path(tempfile.mkdtemp())

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            undo.callback(self.__exit__)
            for n in range(self.laptops + 1):
                ip("netns", "add", self._of(n))
                ip("-n", self._of(n), "link", "set", "lo", "up")
            hub = self._of(0)
            ip("-n", hub, "link", "add", "bridge", "type", "bridge")
            ip("-n", hub, "addr", "add", f"{NETWORK}.1/24", "dev", "bridge")
            ip("-n", hub, "link", "set", "bridge", "up")
            for n in range(1, self.laptops + 1):
                pair = ("type", "veth", "peer", "name", f"port{n}", "netns", hub)
                ip("link", "add", "eth", "netns", self._of(n), *pair)
                ip("-n", hub, "link", "set", f"port{n}", "master", "bridge", "up")
                ip("-n", self._of(n), "addr", "add", f"{self.address(n)}/24", "dev", "eth")
                ip("-n", self._of(n), "link", "set", "eth", "up")
            undo.pop_all()
        return self

    def __exit__(self, *_):
        for process in self._started:
            process.kill()
            process.wait()
        for n in range(self.laptops + 1):
            subprocess.run(["ip", "netns", "del", self._of(n)], capture_output=True)
        shutil.rmtree(self.folder)

    def address(self, laptop):
        """The address of a laptop; 0 is the host."""
        return f"{NETWORK}.{laptop + 1}"

    def throttle(self, laptop, megabits):
        """Limit what a laptop sends, in megabits per second."""
        rate = ("rate", f"{megabits}mbit", "burst", "16kb", "latency", "400ms")
        ip("netns", "exec", self._of(laptop), "tc", "qdisc", "add", "dev", "eth", "root",
           "tbf", *rate)  # fmt: skip

    def pull_out(self, laptop):
        """Take a laptop's cable out: nobody is told."""
        ip("-n", self._of(0), "link", "set", f"port{laptop}", "down")

    def start(self, laptop, *command, says=""):
        """Start a program on a laptop; its output goes to a file."""
        said = self.folder / f"{laptop}-{len(self._started)}.txt"
        with said.open("w") as file:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self._of(laptop), *map(str, command)],
                stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT, text=True,
                cwd=REPOSITORY,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
        process.said = said
        self._started.append(process)
        process.stdin.write(says)
        process.stdin.close()
        return process

    def host(self, *options):
        """Start the host of a ring; return it and its join code with the address."""
        process = self.start(0, LABS, "launch", "09", *options)
        [code] = wait_for(process, r"--join (\S+)").groups()
        return process, code

    def join(self, laptop, code, guess="0.5\n100\n"):
        """Start a laptop that joins."""
        return self.start(laptop, LABS, "launch", "09", "--join", code, says=guess)

    def _of(self, laptop):
        return f"{self.name}-{laptop}"


def ip(*arguments):
    """Run `ip`, which has to succeed."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def wait_for(process, pattern, seconds=90):
    """Wait until a program has printed something; return the match."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := re.search(pattern, text := process.said.read_text().replace("\n", " ")):
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {pattern!r} in: {text}")
