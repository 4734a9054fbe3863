"""`labs launch`: shows its workers, starts them again, and leaves none behind."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from typer.testing import CliRunner

from helpers.errors import LabError
from kit import cli
from kit.headless import launch
from kit.labs import find_lab

LABS = Path(sys.executable).with_name("labs")
LIMIT = 120
# A lab's script without TensorFlow. Each worker waits for the one before it.
TALKING = """
import json, os, socket, time
config = json.loads(os.environ["TF_CONFIG"])
rank, addresses = config["task"]["index"], config["cluster"]["worker"]
host, port = addresses[rank].split(":")
with socket.create_server((host, int(port))) as own:
    if rank:
        own.accept()
    else:
        host, port = addresses[1].split(":")
        until = time.monotonic() + 300
        while time.monotonic() < until:
            try:
                socket.create_connection((host, int(port))).close()
                break
            except OSError:
                time.sleep(0.05)
print("worker", rank, "has met the other")
"""
WAITING = "import time\nprint('begun', flush=True)\ntime.sleep(600)"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "a folder"
    made.mkdir()
    return made


def labs_launch(*arguments, **variables):
    return subprocess.Popen(
        [LABS, "launch", "09", *map(str, arguments)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=launch.os.environ | variables,
        # Tests that run in the background ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def python(source):
    return [sys.executable, "-c", source]


def test_lines_have_the_workers_number_and_steps_are_for_the_bar(folder, capsys):
    source = """
import json, os
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
for step in range(3):
    print(f"step {step + 1} of 3: loss {rank}")
print("done", rank)
"""
    launch.launch(python(source), folder, 2)
    out, bar = capsys.readouterr()
    assert sorted(out.split("\n")) == ["", "[worker 0] done 0", "[worker 1] done 1"]
    first, last = bar.splitlines()
    assert first == "training: started"
    assert re.fullmatch(r"training: 3 of 3 steps, \d+ s", last), "a log has no bar"
    assert "done" in (folder / "worker-1.log").read_text()


@pytest.mark.parametrize("victim", [0, 1], ids=["chief", "worker"])
def test_a_killed_worker_starts_all_again(folder, capsys, victim):
    """Each start notes itself; the victim of the first two kills itself."""
    source = f"""
import json, os, pathlib, signal, time
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
notes = pathlib.Path({str(folder)!r}, f"starts-{{rank}}")
with open(notes, "a") as file:
    file.write("x")
starts = len(notes.read_text())
other = notes.with_name(f"starts-{{1 - rank}}")
while rank == {victim} and not (other.exists() and len(other.read_text()) >= starts):
    time.sleep(0.01)  # the launcher ends the other at once: also before it wrote
if starts < 3 and rank == {victim}:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(600 * (starts < 3))
"""
    with pytest.raises(LabError, match=f"worker {victim} was ended by signal 9"):
        launch.launch(python(source), folder, 2)
    launch.launch(python(source), folder, 2, restarts=2)
    assert (folder / "starts-0").read_text() == (folder / "starts-1").read_text() == "xxx"
    assert "starting all again, with 1 more restart." in capsys.readouterr().out


def test_workers_that_are_all_silent_are_ended(folder, monkeypatch):
    monkeypatch.setattr(launch, "SILENT_SECONDS", 1)
    with pytest.raises(LabError, match="no worker has written anything for 1 s"):
        launch.launch(python("import time; time.sleep(600)"), folder, 2)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_the_command_ends_no_worker_is_left(folder, ending):
    (folder / "worker.py").write_text(WAITING)
    running = labs_launch("--folder", folder, "--workers", "4")
    begun = [running.stdout.readline() for _ in range(4)]
    assert sorted(begun) == [f"[worker {rank}] begun\n" for rank in range(4)]
    family = psutil.Process(running.pid).children(recursive=True)
    assert len(family) == 5, "four workers and their guard"
    running.send_signal(ending)
    _, errors = running.communicate(timeout=LIMIT)
    assert running.returncode == (130 if ending == signal.SIGINT else -ending)
    assert "Traceback" not in errors
    if ending == signal.SIGINT:
        assert f"all workers have ended. Logs and checkpoints: {folder}. `" in errors
        again = f"labs launch 09 --folder '{folder}' --workers 4` resumes from the last"
        assert again in errors
    _, alive = psutil.wait_procs(family, timeout=LIMIT)
    assert not alive


def test_the_commands_for_hosts_run_as_workers_of_one_cluster(folder):
    (folder / "worker.py").write_text(TALKING)
    said, _ = labs_launch(
        "--hosts", "127.0.0.1, 127.0.0.2", "--folder", folder
    ).communicate(timeout=LIMIT)
    lines = said.splitlines()
    assert len(lines) == 2
    for rank, line in enumerate(lines, 1):
        assert line.startswith(f"127.0.0.{rank}: TF_CONFIG=")
    hosts = [
        subprocess.Popen(["sh", "-c", line.partition(": ")[2]], stdout=subprocess.PIPE)
        for line in lines
    ]
    for rank, host in enumerate(hosts):
        out, _ = host.communicate(timeout=LIMIT)
        assert host.returncode == 0
        assert f"[worker {rank}] worker {rank} has met the other" in out.decode()
        assert f"Worker {rank} has ended without an error" in out.decode()


def test_no_two_workers_of_hosts_have_the_same_port(folder):
    """Two names may be one host, and TensorFlow listens on all its addresses."""
    lines = launch.lines_for_hosts(["a", "b", "a"], find_lab("09"), folder, 0, "jax")
    [config] = {re.search(r'"worker": (\[.*?\])', line)[1] for line in lines}
    addresses = [address.split(":") for address in json.loads(config)]
    assert [host for host, _ in addresses] == ["a", "b", "a"]
    assert len({port for _, port in addresses}) == 3
    assert all(line.endswith("--engine jax") for line in lines)


def test_in_srun_each_task_is_the_worker_that_slurm_says(folder):
    (folder / "worker.py").write_text(TALKING)
    step = {
        "SLURM_JOB_ID": str(time.time_ns() // 1000 % 1_000_000),
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_TASKS_PER_NODE": "2",
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_NODEID": "0",
    }
    tasks = [
        labs_launch("--folder", folder, SLURM_PROCID=str(rank), **step) for rank in range(2)
    ]
    for rank, task in enumerate(tasks):
        out, errors = task.communicate(timeout=2 * LIMIT)
        assert task.returncode == 0, errors
        assert f"[worker {rank}] worker {rank} has met the other" in out
        assert ("training: started" in errors) == (rank == 0), "one bar for all"


def test_hosts_of_slurm_are_counted_in_its_own_order(monkeypatch):
    step = {
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_NUM_TASKS": "5",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
        "SLURM_STEP_NODELIST": "n[9-10],m1",
    }
    for name, value in step.items():
        monkeypatch.setenv(name, value)
    for rank, node in enumerate([0, 0, 1, 1, 2]):
        monkeypatch.setenv("SLURM_PROCID", str(rank))
        monkeypatch.setenv("SLURM_NODEID", str(node))
        place = launch.own_place()
        assert place["task"]["index"] == rank
        hosts, ports = zip(
            *(address.split(":") for address in place["cluster"]["worker"]), strict=True
        )
        assert hosts == ("n9", "n9", "n10", "n10", "m1")
        assert len(set(place["cluster"]["worker"])) == 5
        assert ports[0] == ports[2] == ports[4]
    monkeypatch.setenv("SLURM_NODEID", "0")
    with pytest.raises(LabError, match="distribution=block"):
        launch.own_place()


@pytest.mark.parametrize("text", ["{", "[]", '{"task": {"type": "worker", "index": 3}}'])
def test_a_place_that_cannot_be_is_a_line(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(LabError, match="TF_CONFIG does not say which worker"):
        launch.own_place()


def test_other_labs_and_hosts_without_a_folder_are_lines():
    with pytest.raises(LabError, match="trains in one process: `labs run 02`"):
        launch.start(find_lab("02"), {})
    with pytest.raises(LabError, match="several hosts need --folder"):
        launch.start(find_lab("09"), {}, hosts=["a", "b"])


def test_a_training_that_has_begun_keeps_its_settings(folder):
    def prepare(epochs=None, engine="tensorflow", hosts=("a", "b")):
        given = {"epochs": epochs} if epochs else {}
        launch.start(find_lab("09"), given, hosts=hosts, folder=folder, engine=engine)

    prepare(epochs=3)
    begun = (folder / "settings.json").read_text()
    prepare()
    prepare(epochs=3)
    with pytest.raises(LabError, match=r"began with epochs 3: .* another --folder"):
        prepare(epochs=4)
    assert (folder / "settings.json").read_text() == begun
    (folder / "worker.py").touch()
    for changed in ({"epochs": 3}, {"engine": "jax"}):
        with pytest.raises(LabError, match="has its own settings"):
            prepare(**changed)


def test_an_engine_that_is_not_installed_is_a_line(folder, monkeypatch):
    monkeypatch.setattr(launch.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LabError, match="jax is not installed: `make setup`"):
        launch.start(find_lab("09"), {}, folder=folder, engine="jax")
    assert not list(folder.iterdir())


@pytest.mark.weekly
def test_two_processes_train_on_jax_as_one_does(folder):
    given = ["--engine", "jax", "-p", "epochs=2", "-p", "train_images=500"]
    trainings = [
        labs_launch("--folder", folder / str(n), "--workers", n, *given) for n in (1, 2)
    ]
    for training in trainings:
        _, errors = training.communicate(timeout=4 * LIMIT)
        assert training.returncode == 0, errors
    alone, *both = (
        json.loads((folder / name).read_text())["losses"]
        for name in ("1/result-0.json", "2/result-0.json", "2/result-1.json")
    )
    assert len(alone) == 2 * (500 // 64), "whole batches only"
    assert alone[-1] < alone[0] / 2
    assert both[0] == both[1]
    np.testing.assert_allclose(both[0], alone, rtol=1e-4)
    alone, *both = (
        np.load(folder / name)
        for name in ("1/weights-0.npz", "2/weights-0.npz", "2/weights-1.npz")
    )
    for name in alone:
        np.testing.assert_array_equal(both[0][name], both[1][name])
        np.testing.assert_allclose(both[0][name], alone[name], atol=1e-5)


@pytest.mark.weekly
def test_after_a_kill_the_training_ends_as_in_one_process(folder):
    """The whole: TensorFlow, checkpoints, a restart; by the weights."""
    given = ["-p", "epochs=3", "-p", "train_images=512", "-p", "batch_size=32"]
    alone = labs_launch("--folder", folder / "1", "--workers", "1", *given)
    running = labs_launch("--folder", folder / "2", "--restart", "1", *given)
    log = folder / "2" / "worker-1.log"
    until = time.monotonic() + 4 * LIMIT
    while not (log.is_file() and "step 25 of 48" in log.read_text()):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    [victim] = [
        process
        for process in psutil.Process(running.pid).children()
        if json.loads(process.environ().get("TF_CONFIG", "{}")).get("task", {}).get("index")
    ]
    victim.kill()
    said, errors = running.communicate(timeout=4 * LIMIT)
    assert running.returncode == 0, errors
    assert alone.communicate(timeout=4 * LIMIT) and alone.returncode == 0
    assert "worker 1 was ended by signal 9: starting all again" in said
    resumed = {int(n) for n in re.findall(r"resumes after step (\d+)", said)}
    assert resumed in ({20}, {40})
    found = [np.load(folder / name) for name in (
        "1/weights-0.npz", "2/weights-0.npz", "2/weights-1.npz")]  # fmt: skip
    for name in found[0]:
        np.testing.assert_array_equal(found[1][name], found[2][name])
        np.testing.assert_allclose(found[1][name], found[0][name], atol=1e-5)


def test_names_of_many_hosts_are_no_name_of_a_file(tmp_path):
    hosts = ",".join(f"node{number:03}" for number in range(40))
    command = ["launch", "09", "--folder", str(tmp_path), "--hosts"]
    ended = CliRunner().invoke(cli.app, [*command, hosts])
    assert ended.exit_code == 0, ended.exception
    assert len(ended.output.splitlines()) == 40
    for empty in ("a,b,", ",", ""):
        ended = CliRunner().invoke(cli.app, [*command, empty])
        assert isinstance(ended.exception, LabError), empty
        assert "--hosts takes names such as a,b" in str(ended.exception)
