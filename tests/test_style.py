"""The labs and the repository keep the style that docs and readers rely on."""

import ast
import dis
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import CodeType

import grimp
import jupytext
import pytest

from callbacks import PrintThroughput, PrintTotalTime, StopAtAccuracy
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from helpers.machine import devices
from kit.authoring.pages.readme import build_readme
from kit.generate import generate
from kit.guesses import NOTE
from kit.labs import all_labs

LABS = all_labs()
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
CODE_LINES, PROSE_WORDS, EXERCISE_LINES = 16, 120, 32
REST = re.compile(r"!\[|\$|^\|.*\|$|\?(\s|$)", re.MULTILINE)


@each_lab
def test_a_cell_holds_one_idea(lab):
    _, solution = generate(lab)
    for cell in solution.cells:
        if cell.cell_type == "markdown" and "To read on:" not in cell.source:
            own = cell.source.replace(NOTE, "")
            short = len(own.split()) <= PROSE_WORDS
            # A picture, a formula, a table or a question is a rest for the reader.
            exercise = re.match(r"###? Exercise|\*\*(Write\*\*|Rules)", own)
            assert short or exercise or REST.search(own), cell.source
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
def test_a_name_that_cells_share_is_bound_in_one_of_them(lab):
    """Else a cell that is run again changes what later cells read.

    In a loop, a `with` or an import, too. Only a check may bind its answer again. The
    setup reads all parameters, through `globals()`.
    """
    sources = [c.source for c in generate(lab)[1].cells if c.cell_type == "code"]
    cells = [names_bound_and_read(compile(source, "cell", "exec")) for source in sources]
    parameters, _ = cells[0]
    for name in parameters.union(*(read for _, read in cells)):
        binders = [
            source
            for source, (bound, _) in zip(sources, cells, strict=True)
            if name in bound and f"{name} = check(" not in source
        ]
        assert len(binders) <= 1, "\n\n".join([f"{name}:", *binders])


def names_bound_and_read(code):
    """The global names that code binds, and those that it reads without binding first.

    Functions and classes read when they are called; lambdas and comprehensions, at once.
    """
    bound, read = set(), set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME":
            bound.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            read |= {step.argval} - bound
        elif isinstance(step.argval, CodeType):
            _, inner = names_bound_and_read(step.argval)
            at_once = step.argval.co_name.startswith("<")
            read |= inner - bound if at_once else inner
    return bound, read


@pytest.mark.parametrize(
    ("exercise", "ours"),
    [
        ("0.1", devices.claim_gpu),
        ("2.1", PrintThroughput),
        ("3.1", StopAtAccuracy),
        ("3.2", PrintTotalTime),
    ],
)
def test_the_kit_uses_the_functions_that_its_labs_teach(exercise, ours):
    reference = find_exercise(exercise).reference
    assert reference is not ours
    assert body_of(reference) == body_of(ours)


def body_of(function):
    """The code of a function or class, without its docstring and its annotations."""
    [node] = ast.parse(inspect.getsource(function)).body
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            part.annotation = None
        if isinstance(part, ast.FunctionDef):
            part.returns = None
    return [ast.unparse(statement) for statement in node.body[1:]]


def test_the_readme_has_every_lab_with_the_minutes_measured():
    assert build_readme(write=False) == [], "run `make build` and commit what it wrote"
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\w+)\].* (\S+) \|$", text, re.M)
    assert [name for name, _ in rows] == [lab.name for lab in LABS]
    assert all(float(minutes) > 0 for _, minutes in rows)


@pytest.mark.parametrize(
    "page",
    [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")],
    ids=lambda page: page.name,
)
def test_no_link_between_files_is_broken(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        # The badges' addresses begin where GitHub shows the README.
        if not target.startswith(("http", "../../actions/")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", REPOSITORY.glob("docs/**/*.md"), ids=lambda page: page.name
)
def test_the_site_links_only_to_notebooks_that_it_shows(page):
    """Those of solutions/: a link to another one stops `make site`."""
    text = page.read_text(encoding="utf-8")
    # In the glossary, `for_the_site` replaces them: in JupyterLab it leads to no solution.
    assert "../notebooks/" not in text or page.name == "glossary.md"


def test_the_page_on_measurements_quotes_the_stored_benchmark():
    stored = json.loads((REPOSITORY / "docs" / "bench" / "pipeline.json").read_text())
    page = (REPOSITORY / "docs" / "measurements.md").read_text(encoding="utf-8")
    for row in stored["rows"]:
        ours, theirs = row["ours_images_per_second"], row["original_images_per_second"]
        quoted = f"| {row['what']} | {ours:,.0f} | {theirs:,.0f} | {row['ratio']:.2f} |"
        assert quoted in page


def test_the_page_on_measurements_quotes_what_the_dashboard_costs():
    stored = json.loads((REPOSITORY / "docs" / "bench" / "dashboard.json").read_text())
    page = (REPOSITORY / "docs" / "measurements.md").read_text(encoding="utf-8")
    row = stored["rows"]["the dashboard"]
    assert f"{row['own_percent']:.1f}% of the training time" in page
    assert f"changed by {row['added_wall_percent']:+.1f}%" in page
    assert f"CPU time by {row['added_cpu_percent']:+.1f}%" in page
    assert row["own_percent"] < 2


def test_the_page_on_grading_quotes_the_stored_benchmark():
    stored = json.loads((REPOSITORY / "docs" / "bench" / "grading.json").read_text())
    page = (REPOSITORY / "docs" / "teaching" / "grading.md").read_text(encoding="utf-8")
    assert f"That is {stored['ratio']:.1f} times" in page
    for row in (stored["ours"], stored["nbgrader"]):
        rate = row["submissions_per_minute"]
        assert f"| {row['submissions']} | {row['seconds']:.0f} | {rate:.1f} |" in page
    assert stored["ours"]["full_marks"] == stored["ours"]["submissions"]


def test_imports_keep_to_the_contracts():
    """Those in pyproject.toml; import-linter follows imports through every module."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    ended = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout


def test_no_module_of_one_lab_imports_another_labs():
    graph = grimp.build_graph("helpers")
    for module in graph.modules:
        if own := re.match(r"helpers\.lab_\d\d", module):
            others = graph.find_modules_directly_imported_by(module)
            labs = {found[0] for o in others if (found := re.match(own.re, o))}
            assert labs <= {own[0]}, module


def test_labs_import_neither_the_kit_nor_tests():
    for lab in LABS:
        for node in ast.walk(ast.parse(lab.source.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module]
            assert not {name.split(".")[0] for name in names} & {"kit", "tests"}


def test_ruff_finds_nothing():
    for command in (["check"], ["format", "--check", "--exclude", "labs"]):
        ended = run("ruff", *command, ".")
        assert ended.returncode == 0, ended.stdout


def test_types_agree():
    ended = run("ty", "check", "--output-format", "concise")
    assert ended.returncode == 0, ended.stdout


SOURCES = [
    path.relative_to(REPOSITORY)
    for top in ("callbacks", "helpers", "kit")
    for path in sorted((REPOSITORY / top).rglob("*.py"))
    if path.name != "reference.py" and "template" not in path.parts
]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_public_functions_are_annotated(path):
    for definition in public_functions(ast.parse((REPOSITORY / path).read_text())):
        arguments = definition.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        bare = [
            one.arg for one in named
            if one.annotation is None and one.arg not in ("self", "cls")
        ]  # fmt: skip
        assert definition.returns, f"{definition.name} in line {definition.lineno}"
        assert not bare, f"{definition.name}: {', '.join(bare)}"


def public_functions(tree):
    """Those of a module and of its public classes, but hooks that Keras calls."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node)


def run(module, *arguments):
    """Run a Python module as a command, in the repository."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
