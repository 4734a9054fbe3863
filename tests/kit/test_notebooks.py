"""Every lab runs headless, solved and unsolved, and prints what is stored."""

import re

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from helpers.errors import LabError, ParameterError
from helpers.files import REPOSITORY
from helpers.newswires import reuters
from helpers.records import latest_cards
from kit.execute import check_lab_parameters, execute
from kit.labs import all_labs, find_lab
from kit.verify import verify

LABS = all_labs()
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


def printed(notebook):
    return "".join(
        output.text
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("name") == "stdout"
    )


def speeds(text):
    """What is printed with a rate: {"Images/sec"}, for instance."""
    return set(re.findall(r"^(\w[\w ]*/sec): \d[\d,]*\.\d\d$", text, re.M))


def exercises(lab):
    return re.findall(r"# TODO (\d+\.\d+):", lab.source.read_text())


@each_lab
def test_an_unsolved_notebook_trains_and_says_what_is_open(lab, tmp_path):
    text = printed(execute(lab.notebook, tmp_path / "out.ipynb", progress=False))
    for exercise in exercises(lab):
        assert f"✗ {exercise} not yet: " in text
        assert f"still open: {exercise}" in text
    assert text.count("Hint: ") == len(exercises(lab))
    solved = printed(nbformat.read(lab.solution, as_version=4))
    assert speeds(text) == speeds(solved), "the reference has to stand in"
    card = latest_cards()[lab.name]
    assert card["finished"]
    measured = card["measurements"]
    rates = {name for name in measured if name.endswith("_per_second")}
    assert rates, "a run card says how fast something went"
    assert all(measured[name] > 0 for name in rates if isinstance(measured[name], float))
    assert not any(check["passed"] for check in card["checks"].values())


@each_lab
def test_a_solution_prints_what_its_stored_outputs_say(lab):
    assert verify([lab.solution])


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
    assert all(f"✓ {exercise} " in text for exercise in exercises(lab))
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


# A solution that takes no time, with every kind of line that nbval is to look at.
SMALL = [
    "print('Running at laptop scale on a machine')",
    "print('✓ 2.1 every epoch prints its images per second')",
    "print('Epoch 1: loss 0.5000, val_accuracy 0.5000')\nprint('Images/sec: 812.35')",
]


def stored(tmp_path, sources=SMALL, **changed):
    """A solution whose outputs were stored by running it."""
    path = tmp_path / "small.ipynb"
    cells = [new_code_cell(source) for source in sources]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), path)
    papermill.execute_notebook(str(path), str(path), progress_bar=False)
    return path


def rewrite(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_nbval_passes_other_figures_and_another_scale(tmp_path):
    path = stored(tmp_path)
    rewrite(path, "'Images/sec: 812.35'", "'Images/sec: 9.87'")
    rewrite(path, "'Running at laptop", "'Running at smoke")
    assert verify([path])


SHOWS_A_FIGURE = """
from IPython.display import HTML, display
rows = '<tr><td>0.5</td></tr>' * 2
picture = '<img alt="Bars." src="data:image/png;base64,AAAA">'
table = f'<details class="figure-data"><table>{rows}</table></details>'
display(HTML(picture + table))
"""


@pytest.mark.parametrize(
    ("after", "passes"), [("picture + table + ''", True), ("picture", False)]
)
def test_nbval_wants_the_table_of_a_figure_with_any_rows(tmp_path, after, passes):
    path = stored(tmp_path, [SHOWS_A_FIGURE])
    notebook = nbformat.read(path, as_version=4)
    source = notebook.cells[0].source.replace("</tr>' * 2", "</tr>' * 3")
    notebook.cells[0].source = source.replace("picture + table", after)
    nbformat.write(notebook, path)
    assert verify([path]) == passes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'✓ 2.1 every", "'✗ 2.1 not yet: every"),
        ("'✓ 2.1 every", "'✓ 2.2 every"),
        ("\nprint('Images/sec: 812.35')", ""),
        ("'Images/sec: 812.35'", "'Images/sec: nan'"),
        ("loss 0.5000, ", ""),
        ("'Epoch 1", "'Epoch 2"),
    ],
    ids=["verdict", "exercise", "line", "nan", "field", "epochs"],
)
def test_nbval_fails_when_something_that_matters_changes(tmp_path, before, after):
    path = stored(tmp_path)
    # Only the source changes, not what is stored.
    notebook = nbformat.read(path, as_version=4)
    assert sum(before in cell.source for cell in notebook.cells) == 1
    for cell in notebook.cells:
        cell.source = cell.source.replace(before, after)
    nbformat.write(notebook, path)
    assert not verify([path])


@pytest.mark.parametrize("keep_count", [True, False])
def test_a_missing_stored_output_fails(tmp_path, keep_count):
    path = stored(tmp_path)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[2].outputs = []
    if not keep_count:
        notebook.cells[2].execution_count = None
    nbformat.write(notebook, path)
    if keep_count:
        assert not verify([path])
    else:
        with pytest.raises(LabError, match="no stored output"):
            verify([path])


@pytest.mark.parametrize("ending", ["import os; os._exit(0)", "import sys; sys.exit(0)"])
def test_a_kernel_that_ends_early_is_no_success(tmp_path, ending):
    path = tmp_path / "ends.ipynb"
    cells = [new_code_cell(source) for source in ("a = 1", ending, "print(a)")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), path)
    with pytest.raises(LabError):
        execute(path, tmp_path / "out.ipynb", progress=False)


@each_lab
@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 0},
        {"epochs": -1},
        {"scale": "huge"},
        {"target_accuracy": 85},
        {"batch_size": 10**6},
        {"bacth_size": 8},
    ],
    ids=str,
)
def test_papermill_ends_in_one_line_before_any_training(lab, wrong, tmp_path):
    if lab.number != "02" and "bacth_size" not in wrong:
        pytest.skip("the rules are the same for every lab")
    with pytest.raises(ParameterError) as error:
        execute(lab.notebook, tmp_path / "out.ipynb", wrong, progress=False)
    assert "\n" not in str(error.value)
    assert not latest_cards()


@each_lab
def test_the_command_line_knows_every_parameter_and_refuses_others(lab):
    stored = papermill.inspect_notebook(str(lab.notebook))
    # Those that are None by default may be given as None.
    by_scale = {name: None for name, found in stored.items() if found["default"] == "None"}
    check_lab_parameters(lab, {"scale": "smoke", "seed": 2} | by_scale)
    with pytest.raises(ParameterError, match="has no parameter"):
        check_lab_parameters(lab, {"bacth_size": 8})


def test_without_its_data_a_lab_prints_the_same_lines(monkeypatch):
    lab = find_lab("04")
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # no network
    assert reuters().source == "synthetic"
    assert verify([lab.solution])


def test_other_parameters_reach_the_lab_and_its_run_card(tmp_path):
    lab = find_lab("02")
    given = {"epochs": 1, "sweep_batch_sizes": [4, 8], "log_dir": str(tmp_path / "log")}
    text = printed(execute(lab.solution, tmp_path / "out.ipynb", given, progress=False))
    card = latest_cards()[lab.name]
    assert {name: card["parameters"][name] for name in given} == given
    assert text.count("Epoch ") == 1
    assert set(card["measurements"]["sweep_images_per_second"]) >= {"4", "8"}
    assert list((tmp_path / "log").rglob("events.*")), "TensorBoard's files"
