"""The labs command: what it prints, and that a mistake is one line."""

import html
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest
from rich.console import Console
from typer.testing import CliRunner

from helpers.errors import LabError, ParameterError
from helpers.files import REPOSITORY
from helpers.machine.own_keras import deviations
from helpers.run_card.documents import cards_of, latest_cards, open_card, versions
from kit.cli import app
from kit.headless import run as kit_run
from kit.headless.execute import execute
from kit.headless.given_parameters import declared, for_each, parsed, texts_of
from kit.headless.report import write_report
from kit.labs import all_labs, find_lab
from kit.place import doctor
from kit.place.environment import as_started
from kit.student import working_copy
from tests.terminal import on_a_terminal

LABS = Path(sys.executable).with_name("labs")


def labs(*arguments, **options):
    return subprocess.run(
        [LABS, *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "02", "-p", "batch_size=0"], "batch_size must be a whole number"),
        (["run", "02", "-p", "scale=huge"], "auto, gpu, laptop, smoke"),
        (["run", "02", "-p", "width"], "NAME=VALUE"),
        (["run", "02", "-p", "scale", "smoke"], "NAME=VALUE"),
        (["sweep", "02", "-p", "seed", "0..4"], "NAME=VALUE"),
        (["launch", "09", "-p", "epochs", "3"], "NAME=VALUE"),
        (["run", "02", "-p", "epochs=1", "-p", "epochs=2"], "-p gives epochs twice"),
        (["sweep", "02", "-p", "epochs=1", "-p", "epochs=2"], "-p gives epochs twice"),
        (["sweep", "10", "-p", "epochs=1,2"], "epochs has no effect in lab 10"),
        (["sweep", "02"], "values to combine, such as -p seed=0..4"),
        (["run", "02", "03", "-p", "train_images=100"], "1,024 is larger"),
        (
            [
                "run",
                "02",
                "-pdepth=100",
                "-pwidth=20",
                "-pbatch_size=60000",
                "-pscale=gpu",
                "-ptrain_images=60000",
            ],
            "GiB of memory",
        ),
        (["run", "02", "-p", "epochs=0"], "/labs parameters 02` explains the parameters."),
        (["parameters"], "of which lab? Name one, as in "),
        (["run", "77"], "there is no lab '77'"),
        (["collect", "a.zip", "b", "--due", "20.11.2026"], "--due takes a day and a time"),
        (["plan", "--model", "gpt5"], "--model must be one of mt-nlg-530b, "),
        (["run", "02", "03", "-p", "patience_seconds=5"], "no parameter of lab 03. To set"),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(arguments, says):
    ended = labs(*arguments)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert says in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_data_folder_that_is_not_there_is_one_line_before_anything_runs(
    command, tmp_path
):
    none = {
        "LABS_DATA_DIR": str(tmp_path / "none"),
        "LABS_RUNS_DIR": str(tmp_path / "runs"),
    }
    arguments = [command, "02", "-p", "scale=smoke"]
    ended = labs(*arguments, env=os.environ | none, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith("labs: LABS_DATA_DIR is ")
    assert not list((tmp_path / "runs").rglob("*.json"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "02", "--scale", "smoke"], "write -p scale=VALUE in place of --scale"),
        (["launch", "09", "--batch-size=8"], "write -p batch_size=VALUE in place of"),
        (["run", "02", "--jsno"], None),  # what it may be says typer
        (["plan", "--scale", "smoke"], None),  # it has no parameters of labs
        (["launch", "09", "--workers", "0"], None),  # an option, with a wrong value
    ],
)
def test_a_parameter_that_is_given_as_an_option_is_told_how(arguments, says):
    ended = labs(*arguments)
    assert ended.returncode == 2
    assert "No such option" in ended.stderr or "Invalid value" in ended.stderr
    if says:
        assert says in ended.stderr.splitlines()[-1]
    else:
        assert "write -p" not in ended.stderr


def test_a_mistake_is_answered_before_anything_slow_is_imported():
    script = (
        "import sys; from kit.cli import main; sys.argv[1:] = ['run', '02', '-pepochs=0']\n"
        "slow = {'tensorflow', 'keras', 'papermill', 'nbformat'}\n"
        "try: main()\n"
        "finally: print(slow & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "set()\n")
    assert "epochs must be a whole number" in ended.stderr


def test_to_read_notebooks_no_parsers_of_web_addresses_are_made():
    """See `kit/__init__.py`. The check of other formats stays."""
    script = (
        "import kit.headless.run, kit.jupyter.jupyterlab, sys, jsonschema, nbformat.v4\n"
        "print('lark' in sys.modules, 'date' in jsonschema.FormatChecker.checkers)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "False True\n", ended.stderr


def test_doctor_names_what_it_looks_at_and_what_to_do(tmp_path):
    own = {"COLUMNS": "600", "XDG_CACHE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    environment = {n: v for n, v in os.environ.items() if n != "LABS_DATA_DIR"} | own
    ended = labs("doctor", env=environment, cwd=REPOSITORY)
    for what in ("Python", "packages", "device", "Fashion-MNIST", "disk"):
        assert what in ended.stdout
    assert f"`{os.path.relpath(LABS, REPOSITORY)} data fetch` does so now" in ended.stdout
    assert ended.returncode == 0


def test_a_scale_that_is_none_is_named_by_its_variable(monkeypatch):
    monkeypatch.setenv("LABS_SCALE", "tiny")
    for ended in (labs("doctor"), labs("run", "01")):
        assert ended.returncode == 1
        assert "LABS_SCALE" in ended.stdout + ended.stderr
        assert "laptop" in ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr


def test_doctor_survives_what_it_diagnoses_and_names_the_cure(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABS_RUNS_DIR", str(tmp_path / "file"))
    hostile_environment(tmp_path, monkeypatch)
    monkeypatch.setenv("COLUMNS", "600")
    ended = labs("doctor")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    parts = re.split(r"^(?=\S)", ended.stdout, flags=re.M)[1:]
    rows = {re.match(r"(.*?)  ", part)[1]: part for part in parts}
    for what, state, says in (
        ("run cards", "missing", "set LABS_RUNS_DIR"),
        ("Keras", "ok", "computes with tensorflow"),
        ("environment", "note", "Unset KERAS_BACKEND"),
        ("environment", "note", f"Delete {tmp_path / 'home' / 'keras.json'}"),
        ("environment", "note", "Unset PYTHONPATH"),
        ("environment", "note", "Set LC_ALL=C.UTF-8"),
        ("kernel", "note", "/gone/python"),
        ("disk", "ok", "GiB free"),
    ):
        assert says in rows[what]
        assert f" {state} " in rows[what]


def test_advice_names_the_command_as_this_shell_finds_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(REPOSITORY / ".venv/bin/labs"), "plan"])
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert as_started("first, `labs run 02`.") == "first, `.venv/bin/labs run 02`."
    program = tmp_path / "labs"
    program.touch()
    program.chmod(0o755)
    assert as_started("first, `labs run 02`.") == "first, `labs run 02`."


def test_doctor_says_once_that_the_folder_of_the_data_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path / "none"))
    [(what, question)] = doctor.data_questions().items()
    state, found, remedy = question()
    assert (what, state, found) == ("LABS_DATA_DIR", "missing", "no such folder")
    assert "there is no such folder: create it, or unset" in remedy
    monkeypatch.delenv("LABS_DATA_DIR")
    assert list(doctor.data_questions()) == ["Fashion-MNIST", "MNIST", "Reuters"]


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("LABS_DATADIR", "Rename LABS_DATADIR to LABS_DATA_DIR"),
        ("LABS_XYZ", "Unset LABS_XYZ"),
    ],
)
def test_doctor_names_a_setting_that_nothing_reads(name, cure, monkeypatch):
    monkeypatch.setenv(name, "/data")
    state, found, remedy = doctor.surroundings()
    assert state == "note"
    assert name in found
    assert cure in remedy


def test_doctor_knows_every_setting_that_the_kit_reads():
    code = [*REPOSITORY.glob("kit/**/*.py"), *REPOSITORY.glob("helpers/**/*.py")]
    code += REPOSITORY.glob("callbacks/**/*.py")
    named = {
        name for path in code for name in re.findall(r"\bLABS_[A-Z_]+", path.read_text())
    }
    assert named == set(doctor.SETTINGS)


def test_doctor_says_of_a_part_of_a_set_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path))
    (tmp_path / "reuters.npz").touch()
    state, found, remedy = doctor.data_questions()["Reuters"]()
    assert (state, found) == ("missing", "cannot be used")
    assert "has only a part of Reuters: add reuters_word_index.json" in remedy


def hostile_environment(folder, monkeypatch):
    """What users have set for other work: each of these has ended a run before."""
    (folder / "home").mkdir()
    settings = {
        "backend": "torch",
        "floatx": "float16",
        "image_data_format": "channels_first",
    }
    (folder / "home" / "keras.json").write_text(json.dumps(settings))
    for name in ("numpy", "helpers", "keras"):
        (folder / "foreign" / name).mkdir(parents=True)
        (folder / "foreign" / name / "__init__.py").write_text("raise ImportError('other')")
    kernel = folder / "jupyter" / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text('{"argv": ["/gone/python", "-m", "ipykernel"], "display_name": "x"}')
    for name, value in {
        "KERAS_HOME": folder / "home", "KERAS_BACKEND": "torch", "KERAS_MAX_EPOCHS": "1",
        "PYTHONPATH": folder / "foreign", "JUPYTER_PATH": folder / "jupyter",
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))


@pytest.mark.parametrize(
    ("variables", "file", "found"),
    [
        ({}, None, []),
        ({"KERAS_BACKEND": "tensorflow"}, '{"backend": "tensorflow"}', []),
        ({"KERAS_BACKEND": "torch"}, None, ["Unset KERAS_BACKEND"]),
        ({}, '{"backend": "jax"}', ["Delete {}"]),
        ({}, '{"floatx": "float64"}', ["Delete {}"]),
        ({"KERAS_MAX_EPOCHS": "1"}, '{"backend', ["Unset KERAS_MAX_EPOCHS", "Delete {}"]),
    ],
)
def test_a_users_own_settings_for_keras_are_named_with_their_cure(
    variables, file, found, tmp_path
):
    if file:
        (tmp_path / "keras.json").write_text(file)
    cures = [cure for _, cure in deviations(variables | {"KERAS_HOME": str(tmp_path)})]
    assert cures == [text.format(tmp_path / "keras.json") for text in found]


def test_only_labs_and_notebooks_choose_keras_settings(tmp_path):
    """A program that imports models, checks and callbacks keeps its own settings."""
    (tmp_path / "keras.json").write_text('{"floatx": "float64"}')
    script = (
        "import os, callbacks, helpers.checks\n"
        "import helpers.network.models, helpers.notebook.session\n"
        "import keras; print(keras.config.floatx(), os.environ['KERAS_HOME'])\n"
        "from helpers.machine.own_keras import use_own_keras; use_own_keras()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False,
        env=os.environ | {"KERAS_HOME": str(tmp_path)},
    )  # fmt: skip
    assert ended.stdout == f"float64 {tmp_path}\n"
    assert "imported before this cell, with floatx float64: restart" in ended.stderr


def test_a_kernel_that_cannot_start_is_not_called_a_folder_that_cannot_be_written(
    tmp_path, monkeypatch
):
    hostile_environment(tmp_path, monkeypatch)
    with pytest.raises(LabError, match=r"could not start .* `labs doctor`"):
        execute(find_lab("01").solution, tmp_path / "out.ipynb", progress=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match=r"cannot write .* LABS_REPORTS_DIR"):
        execute(find_lab("01").solution, tmp_path / "file" / "out.ipynb")


@pytest.mark.parametrize("what", ["run cards", "reports"])
def test_a_folder_of_somebody_else_is_named_before_a_lab_runs(what, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    folders = {name: tmp_path / name for name in ("run cards", "reports")}
    folders[what] = tmp_path / "file" / "inside"
    monkeypatch.setenv("LABS_RUNS_DIR", str(folders["run cards"]))
    monkeypatch.setattr(kit_run, "REPORTS", folders["reports"])
    monkeypatch.setattr(kit_run, "execute", None)
    says = (
        f"^{what} cannot be written to .*/file/inside .*LABS_RUNS_DIR and LABS_REPORTS_DIR"
    )
    with pytest.raises(LabError, match=says):
        kit_run.run([find_lab("01")], [{}])


@pytest.mark.weekly
def test_two_runs_at_once_report_each_its_own_figures(tmp_path, monkeypatch):
    """In an environment on which neither of them may depend."""
    hostile_environment(tmp_path, monkeypatch)
    sizes = (16, 32)
    command = [LABS, "run", "01", "-p"]
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    started = [
        subprocess.Popen([*command, f"batch_size={size}"], text=True, **pipes)
        for size in sizes
    ]
    for running in started:
        said, told = running.communicate(timeout=600)
        assert running.returncode == 0, said + told
        for what in ("KERAS_BACKEND=torch", "keras.json", "KERAS_MAX_EPOCHS", "PYTHONPATH"):
            assert told.count(what) == 1
        assert "3 of 3" in said
    folders = [path for path in (tmp_path / "reports").iterdir() if path.is_dir()]
    assert len(folders) == len(sizes)
    for folder in folders:
        [card] = [c for c in cards_of("01_gradient_descent") if c["run"] == folder.name]
        page = (folder / "01_gradient_descent.html").read_text()
        speed = card["measurements"]["steps_per_second"]
        assert f"Steps/sec: {speed:.2f}" in page
        assert not list(folder.glob(".*")), "nothing half written is left"


def test_ctrl_c_ends_a_run_in_one_line(tmp_path):
    running = subprocess.Popen(
        [LABS, "run", "01", "-p", "scale=smoke", "-p", "seed=3"],
        text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while not list((tmp_path / "runs").glob("*/*.json")):  # until the lab has begun
        assert running.poll() is None
        time.sleep(0.1)
    family = psutil.Process(running.pid).children(recursive=True)
    assert family, "a kernel"
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=200)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert "died" not in errors
    # As it was started here, where no `labs` is on the path of programs.
    again = r"`\S*labs run 01 -p scale=smoke -p seed=3`"
    assert re.match(f"labs: interrupted. {again} runs what is", errors.splitlines()[-1])
    _, alive = psutil.wait_procs(family, timeout=120)
    assert not alive


def test_of_a_kernel_that_died_one_line_says_what_helps(tmp_path):
    running = subprocess.Popen(
        [LABS, "run", "01", "-p", "scale=smoke"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not list((tmp_path / "runs").glob("*/*.json")):  # until the lab has begun
        assert running.poll() is None
        time.sleep(0.1)
    for kernel in psutil.Process(running.pid).children(recursive=True):
        kernel.kill()
    printed, errors = running.communicate(timeout=200)
    assert running.returncode == 1
    assert re.findall(
        "^(the kernel of .*) died, perhaps because memory", printed, re.MULTILINE
    ) == ["the kernel of 01_gradient_descent.ipynb"]
    assert errors == ""


def test_ctrl_c_in_the_second_lab_keeps_the_report_of_the_first(tmp_path, monkeypatch):
    def stop_in_lab_00(lab, *_):
        if lab.number == "00":
            raise KeyboardInterrupt
        return None, 1.5

    monkeypatch.setattr(kit_run, "_try_to_run", stop_in_lab_00)
    monkeypatch.setattr(kit_run, "timed", lambda function, *given: function(*given))
    monkeypatch.setattr(kit_run, "REPORTS", tmp_path)
    with pytest.raises(KeyboardInterrupt, match="00 02"):
        kit_run.run([find_lab(n) for n in ("01", "00", "02")], [{}, {}, {}])
    report = (tmp_path / "index.html").read_text()
    assert "01_gradient_descent" in report
    assert "02_throughput" not in report
    assert "<strong>Interrupted</strong> before labs 00, 02 ended." in report
    # The next run does not take its report away.
    [first] = [path.parent for path in tmp_path.glob("*/index.html")]
    write_report([], tmp_path, "20990101T000000-1")
    newest = (tmp_path / "index.html").read_text()
    assert "Interrupted" not in newest
    assert f'<a href="{first.name}/index.html">' in newest
    assert "Interrupted" in (first / "index.html").read_text()


def test_run_passes_parameters_on_and_ends_with_a_table_and_a_report(tmp_path):
    log = tmp_path / "log"
    given = {"epochs": 1, "sweep_batch_sizes": [4, 8], "log_dir": str(log)}
    options = [f"-p{name}={value}" for name, value in given.items()]
    ended = labs("run", "02", *options)
    assert ended.returncode == 0, ended.stderr
    [line] = re.findall(r"^02_throughput: .+$", ended.stdout, re.MULTILINE)
    assert re.search(r"\d (s|ms), 3 of 3 checks passed$", line)
    assert "cell" not in ended.stderr, "no bar in a file"
    card = latest_cards()["02_throughput"]
    assert card["solution"], "no student's progress"
    device = f"\nDevice: {card['environment']['device']['name']}, "
    assert ended.stdout.count(device) == 1
    assert "\nGiven: epochs=1, sweep_batch_sizes=[4, 8]," in ended.stdout
    assert "…" not in ended.stdout, "no cell is cut, even in a file"
    assert {name: card["parameters"][name] for name in given} == given
    assert set(card["measurements"]["sweep_images_per_second"]) >= {"4", "8"}
    assert list(log.rglob("events.*")), "TensorBoard's files"
    report = (tmp_path / "reports" / "index.html").read_text()
    assert report.count("<img ") >= 2
    assert "epochs=1, sweep_batch_sizes=[4, 8]" in report
    [link] = re.findall(r'href="([^"]+/02_throughput.html)"', report)
    page = (tmp_path / "reports" / link).read_text()
    assert 'src="http' not in page, "a page must need nothing from the network"
    for name, value in card["parameters"].items():
        assert f"<code>{name}</code></th><td>{html.escape(str(value))}</td>" in page
    assert page.count("Epoch 1:") == 1
    assert "Epoch 2:" not in page


def completed(line):
    """What the shell offers for the last word of a line."""
    typed = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return labs(env=os.environ | typed | {"_LABS_COMPLETE": "complete_bash"}).stdout.split()


def test_the_shell_completes_labs_parameters_models_and_devices():
    beginning = [lab.name for lab in all_labs() if lab.name.startswith("0")]
    assert completed("labs run 0") == beginning
    for command, lab in [("run", "01"), ("sweep", "02"), ("launch", "09")]:
        known = [f"{name}=" for name in declared(find_lab(lab))[0]]
        assert completed(f"labs {command} {lab} -p ") == known
    assert "llama-3-70b" in completed("labs plan --model llama")
    assert "h100" in completed("labs plan --device h")


def test_an_error_is_json_too_where_that_is_asked_for():
    for command in (
        ["plan"],
        ["run", "77"],
        ["run", "02", "-p", "none=1"],
        ["sweep", "02"],
    ):
        assert_says_it_twice(labs(*command, "--json"))


@pytest.mark.parametrize("error", ["OSError(28, 'full', 'x')", "ImportError"])
def test_an_error_that_no_command_foresaw_is_json_too(error):
    """The package nbformat, which `labs run` imports, is missing or cannot be read."""
    code = (
        "import sys\n"
        "class Broken:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == 'nbformat': raise {error}\n"
        "sys.meta_path.insert(0, Broken())\n"
        "sys.argv = ['labs', 'run', '01', '--json']\n"
        "from kit.cli import main\n"
        "main()\n"
    ).replace("ImportError", "ModuleNotFoundError('no', name=name)")
    command = [sys.executable, "-c", code]
    assert_says_it_twice(
        subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    )


def assert_says_it_twice(ended):
    """In one line for people, and as JSON for a program."""
    assert ended.returncode == 1
    assert ended.stderr.strip() == "labs: " + json.loads(ended.stdout)["error"]


@pytest.mark.parametrize("source", ["synthetic", "mnist"])
def test_a_run_without_a_data_set_says_so_where_no_figure_is_seen(
    source, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(kit_run, "REPORTS", tmp_path)
    lab = find_lab("09")
    device = {"kind": "cpu", "name": "a CPU", "replicas": 1, "simulated": False}
    environment = {"device": device, "versions": versions()}
    open_card(lab.name, {"scale": "smoke"}, environment).measure("data_source", source)
    [card] = cards_of(lab.name)
    result = {"lab": lab, "given": {}, "card": card, "seconds": 1.0, "error": None}
    kit_run._show([result], "a run", Console())
    said = capsys.readouterr().out
    assert ("09_many_machines: its data are synthetic" in said) == (source == "synthetic")


@pytest.mark.weekly
def test_on_a_terminal_a_run_shows_its_cells_and_the_time_left():
    command = [sys.executable, "-m", "kit.cli", "run", "01"]
    printed = on_a_terminal(command)
    bars = re.findall(r"01_gradient_descent: +\d+%[^\r]* (\d+)/\d+ \[[\d:]+<", printed)
    assert len({int(done) for done in bars}) > 3
    # The bar goes, and a line stays.
    assert re.search(r"01_gradient_descent: \d+(\.\d+)? s, \d of \d checks", printed)


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_the_command_line_knows_every_parameter_of_a_lab_and_refuses_others(lab):
    usual, _ = declared(lab)
    by_scale = [f"{name}=None" for name, value in usual.items() if value is None]
    given = parsed(["scale=smoke", "seed=2", *by_scale], lab)
    assert (given["scale"], given["seed"]) == ("smoke", 2)
    with pytest.raises(ParameterError, match="has no parameter"):
        parsed(["bacth_size=8"], lab)


def test_a_parameter_that_is_nearly_right_is_asked_about():
    with pytest.raises(ParameterError, match=r"log_dir\. Did you mean sweep_batch_sizes\?"):
        parsed(["sweep_batch_size=8"], find_lab("02"))
    with pytest.raises(ParameterError, match=r"columns\. Did you mean repeats\?"):
        parsed(["repets=2"], find_lab("00"))
    with pytest.raises(ParameterError, match=r"columns\. `labs parameters 00` "):
        parsed(["something=2"], find_lab("00"))


def test_a_parameter_can_be_for_one_of_several_labs():
    texts, labs = ["scale=smoke", "00.repeats=2"], [find_lab("00"), find_lab("02")]
    smoke = {"scale": "smoke"}
    assert for_each(texts, labs) == [smoke | {"repeats": 2}, smoke]
    assert texts_of(texts, ["00", "02"]) == texts  # as a later command has to give them
    assert texts_of(texts, ["02", "03"]) == ["scale=smoke"]
    with pytest.raises(LabError, match="is for lab 03, but the labs to run are 00, 02"):
        for_each(["03.patience=2"], labs)
    with pytest.raises(LabError, match=r"no parameter of lab 02.*give -p 00\.repeats=2"):
        for_each(["repeats=2"], labs)
    with pytest.raises(ParameterError, match="has no parameter 'repets'"):
        for_each(["repets=2"], labs)


def test_a_text_stays_a_text_and_a_list_may_be_a_tuple(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = parsed(["log_dir=2026", "sweep_batch_sizes=4,8"], find_lab("02"))
    # Relative to this folder; the kernel has another one.
    assert given == {"log_dir": str(tmp_path / "2026"), "sweep_batch_sizes": [4, 8]}


def test_lab_opens_the_start_page_with_this_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.setattr(working_copy, "make", lambda: [])  # nothing into this checkout
    opened = []
    monkeypatch.setattr("os.execv", lambda _, arguments: opened.append(arguments))
    CliRunner().invoke(app, ["lab", "--port=1234"])
    [arguments] = opened
    # This environment's server, whatever comes first on PATH.
    for name in ("jupyter", "jupyter-lab", "jupyterlab", "python", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\necho another environment\n")
        (tmp_path / name).chmod(0o755)
    ended = subprocess.run(
        [*arguments, "--version"], capture_output=True, text=True, check=False,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert ended.stdout.strip() == version("jupyterlab")
    assert arguments[-1] == "--port=1234"
    assert "--LabApp.default_url=/start" in arguments
    assert "--ContentsManager.preferred_dir=work" in arguments
    kernels = Path(sys.prefix, "share", "jupyter", "kernels")
    assert f"--KernelSpecManager.kernel_dirs=['{kernels}']" in arguments


def test_setup_says_which_python_it_needs(tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1\nexit 1\n')
    old.chmod(0o755)
    ended = subprocess.run(
        ["/bin/sh", REPOSITORY / "kit/place/setup.sh"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHON": str(old)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13; found: Python 3.9.1" in ended.stderr


def test_the_help_is_grouped_by_who_needs_a_command(capsys):
    ended = labs("--help")
    assert ended.returncode == 0
    for people in ("students", "operators", "instructors", "authors of labs"):
        assert f"For {people}" in ended.stdout


def test_the_version_names_the_commit():
    assert re.fullmatch(r"Scaling Labs [\d.]+, commit \S+\n", labs("--version").stdout)


@pytest.mark.parametrize(
    ("address", "state"), [("mailto:me@example.org", "ok"), ("me@example.org", "note")]
)
def test_the_doctor_says_whether_the_address_for_feedback_is_one(address, state):
    said, found, _ = doctor.feedback(address)
    assert (said, address in found) == (state, True)


def test_the_doctors_findings_are_available_as_json(monkeypatch):
    monkeypatch.setenv("LABS_FEEDBACK_URL", "me@example.org")
    found = json.loads(labs("doctor", "--json").stdout)
    assert found["feedback"]["state"] == "note"
    assert found["Python"]["state"] == "ok"
    assert "commit" in found["kit"]["found"]
    assert platform.system() in found["system"]["found"]
    assert found["disk"].keys() == {"state", "found", "to_do"}


def test_ctrl_c_while_the_report_is_written_runs_no_lab_again(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    result = {"card": None, "seconds": 1.0, "error": None, "given": {}}
    monkeypatch.setattr(kit_run, "_run_one", lambda lab, *_: result | {"lab": lab})
    monkeypatch.setattr(kit_run, "write_report", interrupt)
    ended = CliRunner().invoke(app, ["run", "01", "-p", "scale=smoke"])
    assert ended.exit_code == 130
    assert "runs what is left" not in ended.output
