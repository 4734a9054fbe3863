"""The labs and the repository keep the style that docs and readers rely on."""

import ast
import inspect
import json
import re
import subprocess
import sys

import jupytext
import pytest

from helpers.checks import part
from helpers.files import REPOSITORY
from kit.build import generate
from kit.labs import all_labs

LABS = all_labs()
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
CODE_LINES, PROSE_WORDS, EXERCISE_LINES = 16, 100, 32


@each_lab
def test_a_cell_holds_one_idea(lab):
    _, solution = generate(lab)
    for cell in solution.cells:
        if cell.cell_type == "markdown" and "To read on:" not in cell.source:
            assert len(cell.source.split()) <= PROSE_WORDS, cell.source
        elif cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", ()):
            lines = [line for line in cell.source.splitlines() if line.strip()]
            exercise = cell.source.startswith("# Solution")
            assert len(lines) <= (EXERCISE_LINES if exercise else CODE_LINES), cell.source


@each_lab
def test_a_lab_has_one_title_and_a_question_first(lab):
    markdown = [c.source for c in generate(lab)[0].cells if c.cell_type == "markdown"]
    titles = re.findall(r"^# .+", "\n".join(markdown), re.M)
    assert len(titles) == 1
    assert titles[0].endswith("?")
    assert "To read on:" in markdown[-1]


@each_lab
def test_a_lab_takes_the_shared_parameters_first(lab):
    cells = jupytext.read(lab.source).cells
    [cell] = [c for c in cells if "parameters" in c.metadata.get("tags", ())]
    assert cell is next(c for c in cells if c.cell_type == "code")
    names = re.findall(r"^(\w+):", cell.source, re.M)
    assert {"scale", "seed", "epochs", "batch_size"} <= set(names)


@each_lab
def test_references_equal_the_labs_solutions(lab):
    """What stands in for a student is what the solution shows."""
    references = part("references", f"{int(lab.number)}.1").REFERENCES.values()
    solutions = "\n".join(
        cell.source for cell in generate(lab)[1].cells if cell.source.startswith("# Sol")
    )
    shown = {node.name: body_of(node) for node in ast.parse(solutions).body}
    assert {
        reference.__name__: body_of(ast.parse(inspect.getsource(reference)).body[0])
        for reference in references
    } == shown


def body_of(node):
    """The code of a function or class, without its docstring."""
    return [ast.unparse(statement) for statement in node.body[1:]]


@each_lab
def test_the_readme_has_a_row_with_the_minutes_measured(lab):
    import nbformat

    minutes = nbformat.read(lab.solution, as_version=4).metadata.labs.minutes
    [row] = re.findall(
        rf"^\| .*{lab.name}.*$", (REPOSITORY / "README.md").read_text(), re.M
    )
    assert f"| {minutes:g} |" in row


def test_the_readme_quotes_the_stored_benchmark():
    stored = json.loads((REPOSITORY / "docs" / "bench" / "pipeline.json").read_text())
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for row in stored["rows"]:
        ours, theirs = row["ours_images_per_second"], row["original_images_per_second"]
        quoted = f"| {row['what']} | {ours:,.0f} | {theirs:,.0f} | {row['ratio']:.2f} |"
        assert quoted in readme


def test_the_readme_quotes_what_the_dashboard_costs():
    stored = json.loads((REPOSITORY / "docs" / "bench" / "dashboard.json").read_text())
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    row = stored["rows"]["the dashboard"]
    assert f"{row['own_percent']:.1f}% of the training time" in readme
    assert f"changed by {row['added_wall_percent']:+.1f}%" in readme
    assert f"CPU time by {row['added_cpu_percent']:+.1f}%" in readme
    assert row["own_percent"] < 2


def test_the_page_on_grading_quotes_the_stored_benchmark():
    stored = json.loads((REPOSITORY / "docs" / "bench" / "grading.json").read_text())
    page = (REPOSITORY / "docs" / "grading.md").read_text(encoding="utf-8")
    assert f"That is {stored['ratio']:.1f} times" in page
    for row in (stored["ours"], stored["nbgrader"]):
        rate = row["submissions_per_minute"]
        assert f"| {row['submissions']} | {row['seconds']:.0f} | {rate:.1f} |" in page
    assert stored["ours"]["full_marks"] == stored["ours"]["submissions"]


def test_imports_point_one_way():
    for folder, forbidden in (
        ("callbacks", ("helpers", "kit", "labs")),
        ("helpers", ("kit", "labs")),
        ("kit", ("tests",)),
        ("labs", ("kit", "tests")),
    ):
        for path in (REPOSITORY / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names = [node.module]
                tops = {name.split(".")[0] for name in names}
                assert not tops & set(forbidden), path


def test_probes_know_neither_judges_nor_references():
    for path in (REPOSITORY / "helpers" / "checks" / "probes").glob("*.py"):
        assert not re.search(
            r"import.*(judges|references)|from callbacks", path.read_text()
        ), path


def test_ruff_finds_nothing():
    for command in (["check"], ["format", "--check", "--exclude", "labs"]):
        ended = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."],
            cwd=REPOSITORY, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout
