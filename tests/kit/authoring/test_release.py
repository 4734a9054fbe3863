"""The hand-out: no solution beyond the references that checks need, and it works alone."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.authoring import release
from kit.grading.classroom.similar import reference_cells
from kit.labs import all_labs
from kit.todo_cells import todo_cells
from tests.started_modules import started_modules

# Besides each lab's reference.py: callbacks and devices, which later labs import.
# `test_style` holds them equal to the references.
TAUGHT = {
    "callbacks/early_stopping.py", "callbacks/throughput.py", "callbacks/total_time.py",
    "helpers/machine/devices.py",
}  # fmt: skip


@pytest.fixture(scope="module")
def hand_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "course"
    release.release(folder)
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python with all packages but this kit: a gap in the hand-out must show.

    The kit's own installation is a .pth file, which counts in a site folder only.
    """
    folder = tmp_path_factory.mktemp("python") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    place = "lib/python{}.{}/site-packages/packages.pth".format(*sys.version_info)
    (folder / place).write_text(sysconfig.get_path("purelib") + "\n")
    templates = Path("share", "jupyter", "nbconvert")  # of the reports
    (folder / templates.parent).mkdir(parents=True, exist_ok=True)
    (folder / templates).symlink_to(Path(sys.prefix) / templates)
    return folder / "bin" / "python"


LINKS = re.compile(r"""\]\(([^)\s]+)\)|(?:src|srcset|href)=["']([^"']+)["']""")


def test_every_link_of_a_notebook_and_of_a_page_leads_to_a_file(hand_out):
    notebooks = [*(hand_out / "notebooks").glob("*.ipynb")]
    texts = {
        path: path.read_text(encoding="utf-8") for path in (hand_out / "docs").glob("*.md")
    }
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts[path] = "\n".join(
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )
    assert len(notebooks) > len(all_labs())
    found = 0
    for path, text in texts.items():
        for link in LINKS.finditer(text):
            target = (link[1] or link[2]).partition("#")[0]
            if target and not target.startswith(("http", "mailto:", "/")):
                found += 1
                assert (path.parent / target).exists(), (path.name, target)
    assert found > 200


def test_pages_for_students_do_not_lead_to_solved_notebooks(hand_out):
    for path in (hand_out / "docs").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert "solutions/" not in text, path.name
        assert "solved notebook" not in text, path.name
    terms = (hand_out / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert "](../notebooks/01_gradient_descent.ipynb)" in terms


def own_lines(lab, exercise):
    """The lines that only the solution of an exercise has, but for the shortest."""
    start = {line.strip() for line in exercise.start.splitlines()}
    solved = reference_cells(lab)[exercise.number].splitlines()[1:]
    lines = {line.strip() for line in solved}
    return {line for line in lines - start if len(line) > 20}


def test_no_file_has_a_solution_but_those_that_checks_and_labs_need(hand_out):
    texts = {
        str(path.relative_to(hand_out)): path.read_text(encoding="utf-8", errors="replace")
        for path in hand_out.rglob("*")
        if path.is_file()
    }
    found = set()
    for lab in all_labs():
        for exercise in todo_cells(lab):
            lines = own_lines(lab, exercise)
            assert lines, exercise.number
            for name, text in texts.items():
                # As it is, and as a notebook's JSON has it.
                forms = [(one, json.dumps(one)[1:-1]) for one in lines]
                seen = [one for one in forms if any(form in text for form in one)]
                if len(seen) > 0.75 * len(lines):
                    found.add((name, exercise.number))
    names = {name for name, _ in found}
    references = {str(lab.reference.relative_to(REPOSITORY)) for lab in all_labs()}
    assert references <= names, "else this test could not find a solution"
    assert names - references <= TAUGHT


def test_it_has_no_folder_and_no_tool_that_is_not_for_students(hand_out):
    names = {str(path.relative_to(hand_out)) for path in hand_out.rglob("*")}
    for absent in (
        "labs", "solutions", "tests", "docs/teaching", "docs/run_cards",
        "docs/leaderboard/entries", "kit/grading", "kit/platforms",
    ):  # fmt: skip
        assert absent not in names
    last = {name.rpartition("/")[2] for name in names}
    assert "nbval.cfg" not in last
    assert {"judge.py", "probe.py", "words.toml"} <= last
    assert {f"notebooks/{lab.name}.ipynb" for lab in all_labs()} <= names
    for name in names:
        if name.endswith(".ipynb"):
            cells = json.loads((hand_out / name).read_text(encoding="utf-8"))["cells"]
            assert not any(c.get("outputs") for c in cells if "index" not in name)


def command(python, hand_out, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LABS_")}
    return subprocess.run(
        [python, "-m", "kit.cli", *arguments],
        cwd=hand_out, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_hand_out_has_the_modules_that_its_files_start(hand_out):
    started = started_modules(hand_out.rglob("*.py"))
    assert {"kit.jupyter.jupyterlab", "helpers.workers.ring"} <= started
    assert "helpers.lab_11.sharding.zero_worker" in started
    for name in started:
        assert hand_out.joinpath(*name.split(".")).with_suffix(".py").is_file(), name


@pytest.mark.slow
def test_a_lab_runs_in_it_to_its_end_with_its_own_files(python, hand_out):
    ended = command(python, hand_out, "run", "01", "-p", "scale=smoke")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [card] = (hand_out / "runs" / "01_gradient_descent").glob("*.json")
    stored = json.loads(card.read_text())
    assert stored["finished"]
    assert not any(check["passed"] for check in stored["checks"].values())
    assert (hand_out / "reports" / "index.html").is_file()


@pytest.mark.slow
@pytest.mark.weekly
def test_a_lab_is_swept_in_it(python, hand_out):
    swept = command(python, hand_out, "sweep", "01", "-p", "scale=smoke", "-p", "seed=1")
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert "reports/sweep-01_gradient_descent/index.html" in swept.stdout


@pytest.mark.slow
def test_the_commands_for_students_and_operators_find_their_files(python, hand_out):
    """Each stops before it runs a lab, and says something of its own."""
    for arguments, says in (
        (["parameters", "03"], "The batch sizes of the race."),
        (["run", "02", "-p", "epochs=0"], "epochs must be a whole number"),
        (["sweep", "00", "-p", "epochs=1,2"], "epochs has no effect in lab 00"),
        (["launch", "02"], "trains in one process"),
        (["plan", "--devices", "8", "--link", "25Gbit"], "run card"),
        (["plan", "--devices", "64", "--model", "llama-3-70b"], "64 "),
        (["update"], "notebooks"),
        (["reset", "2.1"], "2.1 is as it was handed out"),
        (["certificate"], "certificate"),
        (["doctor"], "Keras"),
    ):
        ended = command(python, hand_out, *arguments)
        assert "Traceback" not in ended.stderr, (arguments, ended.stderr[-600:])
        assert says in " ".join((ended.stdout + ended.stderr).split()), (arguments, ended)


def test_a_command_that_is_not_for_students_says_so(python, hand_out):
    ended = command(python, hand_out, "grade", ".")
    assert ended.returncode == 1
    assert ended.stderr == "labs: this copy is for students and lacks that command.\n"


def test_the_files_that_jupyterlab_loads_for_the_start_page_exist(python, hand_out):
    [configuration] = (hand_out / "kit" / "jupyter").glob("jupyter_server_config.d/*.json")
    stored = json.loads(configuration.read_text())
    [name] = stored["ServerApp"]["jpserver_extensions"]
    code = f"import {name} as server; print(server.PAGE.read_text()[:15])"
    ended = subprocess.run(
        [python, "-c", code], cwd=hand_out, capture_output=True, text=True, check=False
    )
    assert ended.stdout == "<!doctype html>\n", ended.stderr


def test_it_overwrites_nothing_and_stays_out_of_the_repository(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(LabError, match="not empty"):
        release.release(tmp_path)
    (tmp_path / "course.zip").write_text("mine")
    with pytest.raises(LabError, match=r"course\.zip is there already"):
        release.release(tmp_path / "course")
    with pytest.raises(LabError, match="outside"):
        release.release(REPOSITORY / "hand_out_of_a_test")


def test_the_command_makes_the_zip_and_updates_the_folder(tmp_path):
    """What is not ours stays, what the course has no longer goes; it shows its progress."""
    labs, course = Path(sys.executable).with_name("labs"), tmp_path / "course"

    def written():
        ended = subprocess.run(
            [labs, "release", course], capture_output=True, text=True, check=True
        )
        assert re.sub(r"\d+", "N", ended.stderr).splitlines() == [
            "hand-out: N of N files", "hand-out: N of N files, N s",
            "zip: N of N files", "zip: N of N files, N s",
        ], "no bar in a log"  # fmt: skip
        return ended.stdout

    first = written()
    assert f"{course} and course.zip beside it" in first
    ours = {p.relative_to(tmp_path).as_posix() for p in course.rglob("*") if p.is_file()}
    with zipfile.ZipFile(tmp_path / "course.zip") as made:
        assert set(made.namelist()) == ours
        assert made.read("course/README.md") == (course / "README.md").read_bytes()
    (course / "work").mkdir()
    (course / "work" / "mine.ipynb").write_text("mine")
    (course / "kit" / "old.py").write_text("gone")
    listed = course / release.LIST
    stored = json.loads(listed.read_text())
    stored["files"] += ["kit/old.py", "../outside.txt"]
    listed.write_text(json.dumps(stored))
    (tmp_path / "outside.txt").write_text("not ours")
    (course / "README.md").write_text("older")
    (course / "LICENSE").unlink()
    unchanged = (course / "kit" / "cli.py").stat().st_mtime_ns
    again = written()
    assert "removed kit/old.py\n" in again
    assert "2 of them new or changed" in again
    assert (course / "kit" / "cli.py").stat().st_mtime_ns == unchanged
    assert (course / "work" / "mine.ipynb").read_text() == "mine"
    assert (tmp_path / "outside.txt").exists()
    with zipfile.ZipFile(tmp_path / "course.zip") as made:
        assert set(made.namelist()) == ours, "nothing of anybody's"
    assert not list(tmp_path.glob(".*"))
