"""Every lab runs headless, solved and unsolved, and prints what is stored."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from importlib import metadata

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbval.plugin import get_sanitize_patterns

from helpers.data.reuters import reuters
from helpers.errors import LabError, ParameterError
from helpers.files import REPOSITORY
from helpers.machine import other_load
from helpers.notebook import messages
from helpers.run_card.documents import latest_cards
from kit.authoring.verify import disagreeing_cells, rules_for, verify
from kit.generate import generate
from kit.headless.execute import execute
from kit.labs import all_labs, find_lab
from kit.todo_cells import todo_cells as lab_exercises
from tests.terminal import on_a_terminal

LABS = all_labs()
# What a student's cell may leave bound to something else.
BOUND = ("time", "np", "keras", "tf", "math", "random", "statistics", "model", "x", "y")
# To save time: the form of what these labs print does not depend on it.
FEWER = {"02": "sweep_batch_sizes = [8, 16, 32, 64, 128]", "03": "repeats = 2"}
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
SCORED = re.compile(r"^(SCORED PREDICTION|You predicted SCORES)\n?", re.M)


def printed(notebook):
    """Lines and the texts of cards."""
    return "".join(
        output.text if output.get("name") == "stdout" else f"{output.data['text/plain']}\n"
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("name") == "stdout"
        or "labs-message" in output.get("data", {}).get("text/html", "")
    )


def speeds(text):
    """What is printed with a rate: {"Images/sec"}, for instance."""
    return set(re.findall(r"^(\w[\w ]*/sec): \d[\d,]*\.\d\d$", text, re.M))


def todo_cells(lab):
    return re.findall(r"# TODO (\d+\.\d+):", lab.source.read_text())


# In `make test` all labs train the same, solved, and lab 02 unsolved in the browser.
@pytest.mark.weekly
@each_lab
def test_an_unsolved_notebook_trains_and_says_what_is_open(lab, tmp_path):
    text = printed(execute(lab.notebook, tmp_path / "out.ipynb", progress=False))
    for exercise in todo_cells(lab):
        assert f"✗ {exercise} not yet: " in text
        assert f"still open: {exercise}" in text
    assert text.count("Your turn: ") == len(todo_cells(lab))
    solved = printed(nbformat.read(lab.solution, as_version=4))
    assert speeds(text) == speeds(solved), "the reference must be used"
    card = latest_cards()[lab.name]
    assert card["finished"]
    measured = card["measurements"]
    rates = {name for name in measured if name.endswith("_per_second")}
    assert rates, "a run card says how fast something went"
    assert all(measured[name] > 0 for name in rates if isinstance(measured[name], float))
    assert not any(check["passed"] for check in card["checks"].values())


REFUSES = """
import importlib.abc, sys

class NotForStudents(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names}:
            raise ModuleNotFoundError(f"students have no {{name}}", name=name)

if "ipykernel_launcher" in sys.orig_argv:
    sys.meta_path.insert(0, NotForStudents())
"""


@pytest.fixture
def students_packages(tmp_path, monkeypatch):
    """Kernels that can import only what `requirements.txt` has."""
    pinned = re.findall(
        r"^([\w.-]+)(?:\[.*\])?==", (REPOSITORY / "requirements.txt").read_text(), re.M
    )
    theirs = {canonical(name) for name in [*pinned, "scaling-labs", "pip", "setuptools"]}
    refused = {
        name
        for name, packages in metadata.packages_distributions().items()
        if not theirs & {canonical(package) for package in packages}
    }
    assert {"nbval", "pytest", "jupytext"} <= refused, "else it refuses nothing"
    folder = tmp_path / "students"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(REFUSES.format(names=sorted(refused)))
    usual = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), usual])))


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@each_lab
def test_a_solution_prints_what_its_stored_outputs_say_whatever_else_it_binds(
    lab, tmp_path, students_packages
):
    """The solutions, each in a function of its own that leaves usual names changed."""
    notebook = nbformat.read(lab.solution, as_version=4)
    answers = {exercise.number: exercise.answer for exercise in lab_exercises(lab)}
    for cell in notebook.cells:
        if solved := re.match(r"# Solution (\d+\.\d+):", cell.source):
            cell.source = by_a_student(cell.source, answers[solved[1]], imports(lab))
        if "parameters" in cell.metadata.get("tags", ()):
            cell.source += "\n" + FEWER.get(lab.number, "")
    path = tmp_path / lab.solution.name
    nbformat.write(notebook, path)
    assert verify([path])


def by_a_student(solution, name, imports):
    """A cell that defines the answer as the solution does, and binds what it likes."""
    body = textwrap.indent(f"{imports}\n{solution}\nreturn {name}", "    ")
    return f"def my_own():\n{body}\n\n{name} = my_own()\n{' = '.join(BOUND)} = 'mine'"


def imports(lab):
    """What the lab's cells import, which a solution may use."""
    code = [c.source for c in generate(lab)[0].cells if c.cell_type == "code"]
    nodes = ast.parse("\n".join(code)).body
    found = [n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))]
    return "\n".join(map(ast.unparse, found))


@pytest.mark.weekly
@each_lab
def test_cells_that_are_run_again_print_what_they_printed(lab, tmp_path):
    """One kernel runs the lab, its halves again, and its first and last quarter again.

    Measured numbers may differ, and the last message counts only what a run has checked.
    """
    notebook = nbformat.read(lab.solution, as_version=4)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    end, quarter = len(code), len(code) // 4
    last = code.index("session.finish()")
    order = [*range(end), *range(end), *range(quarter), *range(end - quarter, last)]
    notebook.cells = [new_code_cell(code[place]) for place in order]
    path = tmp_path / lab.solution.name
    nbformat.write(notebook, path)
    cells = execute(path, tmp_path / "out.ipynb", progress=False).cells
    said = [without_figures(lab, printed(new_notebook(cells=[cell]))) for cell in cells]
    for place, again in zip(order[end : 2 * end], said[end:], strict=False):
        assert again == said[place], code[place]
    # The quarters begin a new run, and their predictions may stand between them.
    for place, again in zip(order[2 * end :], said[2 * end :], strict=True):
        assert again == SCORED.sub("", said[place]) or again == said[place], code[place]


def without_figures(lab, text):
    """A text as nbval compares it: measured numbers are replaced."""
    for pattern, replacement in get_sanitize_patterns(rules_for(lab.name)):
        text = re.sub(pattern, replacement, text)
    return text


@each_lab
@pytest.mark.parametrize(
    "line",
    [
        "The lab's forecast 34,700, measured 34,800: off by less than 1%.",
        "The lab's forecast 34,700, measured 42,900: off by a factor of 1.23.",
        "Your prediction 3, measured 3: exactly right.",
        "Your prediction 1.5, measured 2: within the uncertainty, so it counts as right.",
    ],
)
def test_how_well_a_forecast_did_may_differ_between_two_runs(lab, line):
    said = without_figures(lab, f"images/s: 1,200\n{line}\nnext line\n")
    assert said.splitlines()[1:] == ["SCORED PREDICTION", "next line"]


@each_lab
def test_stored_outputs_are_those_of_a_solved_lab_without_noise(lab):
    stored = nbformat.read(lab.solution, as_version=4)
    assert stored.metadata.labs.scale == "laptop"
    for cell in stored.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
    text = printed(stored)
    for cell in stored.cells:
        if re.search(r"session\.(load_images|note_data_source)\(", cell.source):
            # nbval takes a banner away, but not the only output of a cell.
            assert printed(new_notebook(cells=[cell])), "print a line after the banner"
    assert all(f"✓ {exercise} " in text for exercise in todo_cells(lab))
    assert "✗" not in text
    assert "SYNTHETIC" not in text
    assert str(REPOSITORY) not in text


def test_a_figure_carries_alternative_text_and_its_sentence():
    for lab in LABS:
        html = [
            output.data["text/html"]
            for cell in nbformat.read(lab.solution, as_version=4).cells
            for output in cell.get("outputs", ())
            if "<img" in output.get("data", {}).get("text/html", "")
        ]
        assert html
        assert all(re.match(r'<img alt="[^"]{20,}" src="data:image/png', h) for h in html)


# A solution that takes no time: what is stored, what it prints now, and whether nbval
# may let that pass. With every kind of line that nbval looks at.
SPEED, VERDICT = "Images/sec: 812.35", "✓ 2.1 every epoch prints its images per second"
EPOCH = "Epoch 1: loss 0.5000, val_accuracy 0.5000"
BUSY = other_load.line(45, " while this cell ran")
CHANGES = {
    "another figure": (SPEED, "Images/sec: 9.87", True),
    "another scale": ("Running at laptop scale on X", "Running at smoke scale on Y", True),
    "the verdict": (VERDICT, VERDICT.replace("✓ 2.1", "✗ 2.1 not yet:"), False),
    "the exercise": (VERDICT, VERDICT.replace("2.1", "2.2"), False),
    "a line is missing": (f"{EPOCH}\n{SPEED}", EPOCH, False),
    "all is missing": (SPEED, "", False),
    "no figure": (SPEED, "Images/sec: nan", False),
    "a field is missing": (EPOCH, EPOCH.replace("loss 0.5000, ", ""), False),
    "another epoch": (EPOCH, EPOCH.replace("Epoch 1", "Epoch 2"), False),
    "other programs": (SPEED, f"{SPEED}\n{BUSY}", True),
    "other programs, and no figure": (f"{SPEED}\n{EPOCH}", f"{BUSY}\n{EPOCH}", False),
    "the same": (f"{VERDICT}\n{EPOCH}\n{SPEED}", f"{VERDICT}\n{EPOCH}\n{SPEED}", True),
}
PICTURE = '<img alt="Bars." src="data:image/png;base64,AAAA">'
ROW = "<tr><td>0.5</td></tr>"
TABLE = '<details class="figure-data"><table>{}</table></details>'
FIGURES = {
    "a table with other rows": (TABLE.format(2 * ROW), TABLE.format(3 * ROW), True),
    "other programs, while a figure was measured": (
        PICTURE,
        PICTURE.replace("Bars.", f"Bars. {BUSY}"),
        True,
    ),
    "a figure without its table": (TABLE.format(2 * ROW), "", False),
}


def stored(path, prints, shows=()):
    """A solution whose outputs were stored by running it."""
    show = "from IPython.display import HTML, display\ndisplay(HTML({!r}))"
    sources = [f"print({text!r})" for text in prints]
    sources += [show.format(PICTURE + table) for table in shows]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [new_code_cell(source) for source in sources]
    nbformat.write(new_notebook(cells=cells, metadata=kernel), path)
    papermill.execute_notebook(str(path), str(path), progress_bar=False)
    return nbformat.read(path, as_version=4)


def test_nbval_passes_other_figures_and_nothing_that_matters(tmp_path):
    path = tmp_path / "small.ipynb"
    before = [[change[0] for change in table.values()] for table in (CHANGES, FIGURES)]
    now = [[change[1] for change in table.values()] for table in (CHANGES, FIGURES)]
    notebook = stored(path, *before)
    changed = stored(path, *now)
    for cell, other in zip(notebook.cells, changed.cells, strict=True):
        cell.source = other.source  # only the source, not what is stored
    nbformat.write(notebook, path)
    everything = [*CHANGES.items(), *FIGURES.items()]
    failing = disagreeing_cells(path)
    assert [everything[number][0] for number in failing] == [
        name for name, (_, _, passes) in everything if not passes
    ]
    assert not verify([path])


def test_nbval_reads_a_card_as_the_lines_that_it_says(tmp_path):
    """So outputs from before there were cards hold, and another verdict does not pass."""
    path = tmp_path / "small.ipynb"
    said = [(VERDICT, VERDICT), (VERDICT, VERDICT.replace("✓", "✗")), (VERDICT, None)]
    notebook = stored(path, [before for before, _ in said])
    for cell, (_, now) in zip(notebook.cells, said, strict=True):
        page = messages.box("passed", now or "")
        show = "from helpers.notebook.messages import show\n"
        cell.source = f"{show}show({now!r}, {page!r})" if now else "pass"
    notebook.cells.append(new_code_cell(f"print({BUSY!r})"))  # stored when it was quiet
    nbformat.write(notebook, path)
    assert disagreeing_cells(path) == [1, 2]


@pytest.mark.parametrize("keep_count", [True, False])
def test_a_missing_stored_output_fails(tmp_path, keep_count):
    path = tmp_path / "small.ipynb"
    notebook = stored(path, [VERDICT, SPEED])
    notebook.cells[1].outputs = []
    if not keep_count:
        notebook.cells[1].execution_count = None
    nbformat.write(notebook, path)
    if keep_count:
        assert not verify([path])
    else:
        with pytest.raises(LabError, match="no stored output"):
            verify([path])


@pytest.mark.parametrize("ending", ["import os; os._exit(0)", "import sys; sys.exit(0)"])
def test_a_kernel_that_ends_early_is_not_a_success(tmp_path, ending):
    path = tmp_path / "ends.ipynb"
    cells = [new_code_cell(source) for source in ("a = 1", ending, "print(a)")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), path)
    with pytest.raises(LabError):
        execute(path, tmp_path / "out.ipynb", progress=False)


def test_papermill_ends_in_one_line_before_any_training(tmp_path):
    with pytest.raises(ParameterError, match="has no parameter 'bacth_size'") as error:
        wrong = {"bacth_size": 8}
        execute(find_lab("02").solution, tmp_path / "out.ipynb", wrong, progress=False)
    assert "\n" not in str(error.value)
    assert not latest_cards()


REFUSED = """
import sys
from helpers.errors import ParameterError

for path in {sources!r}:
    # The lab up to its set-up, with the cell that papermill puts after the first.
    text, _, _ = open(path).read().partition("session.start(")
    start, injected = text.rindex("\\n") + 1, "# Parameters\\nbacth_size = 8"
    whole = open(path).read()
    setup = whole[: whole.index("# %%", start)]
    namespace = {{"In": ["", injected]}}
    try:
        exec(setup, namespace)
    except ParameterError as error:
        assert "has no parameter 'bacth_size'" in str(error), error
        print("refused")
assert "tensorflow" not in sys.modules, "too late"
"""


def test_every_lab_refuses_a_wrong_parameter_before_tensorflow_is_imported():
    script = REFUSED.format(sources=[str(lab.source) for lab in LABS])
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["refused"] * len(LABS)


@pytest.mark.weekly
def test_without_its_data_a_lab_prints_the_same_lines(monkeypatch):
    lab = find_lab("04")
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # no network
    assert reuters().source == "synthetic"
    assert verify([lab.solution])


@pytest.mark.weekly
def test_lab_03_runs_to_its_end_where_nothing_reaches_the_target(tmp_path):
    given = {"scale": "smoke", "target_accuracy": 0.999}
    solution = find_lab("03").solution
    text = printed(execute(solution, tmp_path / "out.ipynb", given, progress=False))
    assert "Floor: never; bend: never" in text
    assert "Checks passed: 5 of 5" in text
    assert latest_cards()["03_time_to_accuracy"]["measurements"]["laws"]["floor"] is None


TRAINS = """
import time
import keras, numpy
from callbacks import TrainingDashboard
x = numpy.zeros((4, 1))
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
wait = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: time.sleep(5))
model.fit(x, x, epochs=2, verbose=0, callbacks=[TrainingDashboard(), wait])
"""
EXECUTES = """
import sys
from pathlib import Path
from kit.headless.execute import execute
execute(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_the_bar_of_cells_says_which_epoch_is_trained(tmp_path):
    path = tmp_path / "trains.ipynb"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=[new_code_cell(TRAINS)], metadata=kernel), path)
    out = tmp_path / "out.ipynb"
    said = on_a_terminal([sys.executable, "-c", EXECUTES, path, out])
    assert "epoch 1 of 2]" in said
    assert said.index("epoch 1 of 2") < said.index("epoch 2 of 2")
