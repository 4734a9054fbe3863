"""`make hub`: three students at once get the course by a link, and run labs 01 and 02."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from helpers.files import REPOSITORY, WORK
from kit.labs import find_lab
from tests.browser import student

STUDENTS = ("ann", "ben", "eva")
COURSE = "scaling-labs"  # the folder that the link names
PASSWORD = "a shared password"
START_SECONDS = 600  # a first start installs the hub
MOST_GIB = 3  # of a student: what docs/places.md tells an operator to provide
# It does not wait, so that all students compute at the same time.
START_ALL = """() => { window.cellsEnd =
    window.jupyterapp.commands.execute("notebook:run-all-cells"); }"""
ALL_ENDED = """milliseconds => Promise.race([window.cellsEnd.then(() => true),
    new Promise((_, fail) => setTimeout(
        () => fail(new Error("the cells do not end")), milliseconds))])"""

pytestmark = [
    pytest.mark.weekly,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed"),
    pytest.mark.skipif(not shutil.which("git"), reason="git is not installed"),
]


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """The course as it is in this folder now, as a repository that students clone."""
    folder = tmp_path_factory.mktemp("origin") / "course"
    for name in student.COURSE:
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, folder / name, ignore=without)
    shutil.copy(REPOSITORY / ".gitignore", folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, *arguments], check=True)


def commit(folder):
    git(folder, "add", "--all")
    author = ("-c", "user.name=An author", "-c", "user.email=author@example.org")
    git(folder, *author, "commit", "--quiet", "--message=A version")


@pytest.fixture(scope="module")
def hub(browser, origin, tmp_path_factory):
    """The address of a hub, and the folder with a folder for each student.

    Without a browser no hub is set up, and the test is skipped.
    """
    folder = tmp_path_factory.mktemp("hub")
    (folder / "password").write_text(PASSWORD)
    for name in STUDENTS:  # so that the test can ask JupyterLab
        settings = folder / "students" / name / ".jupyter" / "jupyter_lab_config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"LabApp": {"expose_app_in_browser": True}}))
    address, log = f"http://127.0.0.1:{free_port()}", folder / "hub.log"
    with log.open("w") as file:
        running = subprocess.Popen(
            ["make", "hub"],
            cwd=REPOSITORY, stdout=file, stderr=file, start_new_session=True,
            env=os.environ | {
                "HUB_ADDRESS": address, "HUB_COURSE": str(origin),
                "HUB_FOLDER": str(folder), "LABS_SCALE": "smoke",
            },
        )  # fmt: skip
    try:
        wait_for(f"{address}/hub/health", running, log)
        yield address, folder / "students"
    finally:
        os.killpg(running.pid, signal.SIGINT)  # as Ctrl+C does
        running.wait(120)
    left = [pid for name in STUDENTS for pid in processes(folder / "students" / name)]
    assert not left, "the hub ends its servers and their kernels"


def free_port():
    """A port that is free together with the next two, which the hub uses itself."""
    while True:
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            first = opened.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            for other in (port + 1, port + 2):
                opened.enter_context(socket.socket()).bind(("127.0.0.1", other))
            return port


def wait_for(url, running, log):
    for _ in range(START_SECONDS):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        assert running.poll() is None, log.read_text()
        time.sleep(1)
    raise AssertionError(f"the hub does not answer:\n{log.read_text()}")


def processes(home):
    """The processes whose home is this folder."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"HOME={home}\0".encode() in path.read_bytes():
                yield path.parent.name


class Memory(threading.Thread):
    """Looks once a second how much memory each student uses, until it is stopped.

    Attributes
    ----------
    peaks : dict
        The largest of each student so far, and that of ``"all"`` together, in GiB. It is
        proportional: of memory that several processes share, each has its part.
    """

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.peaks, self.ended = folder, {}, threading.Event()

    def run(self):
        while not self.ended.wait(1):
            now = {
                name: sum(map(_proportional_gib, processes(self.folder / name)))
                for name in STUDENTS
            }
            for name, gib in {**now, "all": sum(now.values())}.items():
                self.peaks[name] = max(gib, self.peaks.get(name, 0))

    def tell(self, moment):
        print(f"GiB, {moment}:", {name: round(gib, 2) for name, gib in self.peaks.items()})


def _proportional_gib(pid):
    with contextlib.suppress(OSError):  # it has just ended
        lines = Path("/proc", pid, "smaps_rollup").read_text()
        return int(re.search(r"^Pss:\s+(\d+) kB", lines, re.M)[1]) / 2**20
    return 0


@pytest.fixture
def pages(browser):
    """For each student a browser of their own: no cookies are shared."""
    with contextlib.ExitStack() as opened:
        found = {}
        for name in STUDENTS:
            context = browser.new_context(viewport={"width": 1280, "height": 1000})
            opened.callback(context.close)
            found[name] = context.new_page()
            found[name].set_default_timeout(student.RUN_MS)
        yield found


def test_three_students_at_once(hub, origin, pages):
    address, folder = hub
    query = {"repo": str(origin), "targetPath": COURSE, "urlpath": "start"}
    link = f"{address}/hub/user-redirect/git-pull?{urlencode(query)}"
    memory = Memory(folder)
    memory.start()
    for name, page in pages.items():
        page.goto(link)
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click(no_wait_after=True)
    for name, page in pages.items():
        page.wait_for_url(f"{address}/user/{name}/start")
        expect(page).to_have_title("Scaling Labs")
    time.sleep(2)  # it has looked once
    memory.tell("on the start page")

    for lab in (find_lab("01"), find_lab("02")):
        for name, page in pages.items():
            notebook = f"{COURSE}/{WORK.name}/{lab.notebook.name}"
            page.goto(f"{address}/user/{name}/lab/tree/{notebook}?reset")
            student.wait_for_notebook(page, lab.notebook.name)
        if lab.number == "02":
            student.solve(pages["ann"], lab, "2.1")
        for page in pages.values():
            page.evaluate(START_ALL)
        for page in pages.values():
            page.evaluate(ALL_ENDED, student.RUN_MS)
            assert not page.evaluate(student.ERRORS)
            shown = page.locator(f"{student.PANEL} .jp-OutputArea-output")
            expect(shown.get_by_text("Checks passed: ").first).to_be_visible()
        memory.tell(f"up to the end of lab {lab.number}")
    memory.ended.set()
    assert max(memory.peaks[name] for name in STUDENTS) < MOST_GIB

    # Everybody's work is their own.
    for name, page in pages.items():
        page.goto(f"{address}/user/{name}/start")
        done = "1 of " if name == "ann" else "0 of "
        expect(page.locator(".total")).to_contain_text(done)
        runs = folder / name / COURSE / "runs"
        assert len(list(runs.glob("0[12]_*/*.json"))) == 2

    # The link brings what the course has changed, and leaves students' notebooks alone.
    (origin / "NEWS.md").write_text("A new page.\n")
    commit(origin)
    pages["ben"].goto(link)
    pages["ben"].wait_for_url(f"{address}/user/ben/start")
    assert (folder / "ben" / COURSE / "NEWS.md").exists()
    assert not (folder / "ann" / COURSE / "NEWS.md").exists()
