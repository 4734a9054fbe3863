"""The generated notebooks agree with their sources, and bad sources are refused."""

import re

import nbformat
import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.authoring import build as builder
from kit.authoring import index
from kit.authoring.build import build, keep_outputs
from kit.authoring.index import build_index
from kit.generate import choose, generate, lint
from kit.guesses import COMMENT, NOTE
from kit.labs import all_labs, find_lab

LABS = all_labs()


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_rebuild_changes_no_byte(lab):
    assert build(lab, write=False) == [], "run `make build` and commit what it wrote"


def test_the_list_is_up_to_date_and_lists_every_lab():
    assert build_index(write=False) == [], "run `make build` and commit what it wrote"
    page = (REPOSITORY / "notebooks" / "index.ipynb").read_text()
    assert all(f"({lab.notebook.name})" in page for lab in LABS)


@pytest.mark.parametrize("how", ["a cell", "damaged"])
def test_a_list_that_somebody_has_written_on_is_kept(tmp_path, monkeypatch, how):
    page = tmp_path / "notebooks" / "index.ipynb"
    monkeypatch.setattr(index, "INDEX", page)
    build_index()
    written = nbformat.read(page, as_version=4)
    written.cells.append(nbformat.v4.new_markdown_cell("my note", id="mine"))
    page.write_text(nbformat.writes(written) if how == "a cell" else "my note {")
    before = page.read_bytes()
    build_index()
    [kept] = page.parent.glob("*.kept-*")
    assert kept.read_bytes() == before
    assert "my note" not in page.read_text()
    build_index()
    assert [kept] == list(page.parent.glob("*.kept-*"))


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_both_notebooks_have_the_same_cells_and_stable_ids(lab):
    student, solution = generate(lab)
    ids = [cell.id for cell in student.cells]
    assert ids == [cell.id for cell in solution.cells]
    assert len(set(ids)) == len(ids)
    assert not any("#: " in cell.source for cell in student.cells + solution.cells)
    assert not any("# TODO" in cell.source for cell in solution.cells)
    for asked, solved in zip(student.cells, solution.cells, strict=True):
        guessed = NOTE in solved.source or solved.source.startswith(COMMENT)
        solves = asked.source.startswith("# TODO")
        assert (asked.source != solved.source) == (solves or guessed)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_only_cells_that_prepare_a_lab_are_folded(lab):
    for notebook in generate(lab):
        folded = [c for c in notebook.cells if c.metadata.get("jupyter")]
        assert all(cell.metadata.jupyter == {"source_hidden": True} for cell in folded)
        assert {tag for c in folded for tag in c.metadata.get("tags", ())} == {
            "parameters", "setup",
        }  # fmt: skip
        assert any("use_figures()" in cell.source for cell in folded)
        works_on = ("# TODO", "# Solution", "my_", "card.predict(", 'quiz("')
        assert not [c.id for c in folded if any(w in c.source for w in works_on)]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_the_notebooks_carry_what_nbgrader_asks_for(lab):
    student, _ = generate(lab)
    cells = [cell for cell in student.cells if "nbgrader" in cell.metadata]
    marked = [cell.metadata.nbgrader for cell in cells if cell.cell_type == "code"]
    graded = [cell for cell in marked if cell["grade"]]
    assert len(graded) == len(marked) / 2 >= 1
    assert len({cell.metadata.nbgrader["grade_id"] for cell in cells}) == len(cells)
    assert all(cell["points"] > 0 and cell["locked"] for cell in graded)
    # What a person grades: students write where the points are.
    texts = [c.metadata.nbgrader for c in cells if c.cell_type == "markdown"]
    assert all(text["grade"] and text["solution"] and text["points"] for text in texts)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_below_the_heading_of_an_exercise_stands_how_hard_it_is(lab):
    student, _ = generate(lab)
    points = {
        cell.metadata.nbgrader["grade_id"].removeprefix("check-").replace("-", "."):
            cell.metadata.nbgrader["points"]
        for cell in student.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("check-")
    }  # fmt: skip
    headings = re.findall(
        r"^#+ Exercise (\d+\.\d+): .*\n\n\*(?:Easy|Medium|Hard): (\d)",
        "\n".join(cell.source for cell in student.cells if cell.cell_type == "markdown"),
        re.M,
    )
    assert {number: int(worth) for number, worth in headings} == points


GOOD = """
# %% name="2.1-x" points=1
# TODO 2.1: do it.
#: start
a = 1
#: solution
a = 2
#: end

# %%
a = check("2.1", a)

# %% tags=["parameters"]
# %% tags=["setup"]
"""


def test_a_good_source_is_not_refused():
    lint(GOOD, "x.py")


@pytest.mark.parametrize(
    ("before", "after", "line", "says"),
    [
        ("#: end\n", "", 5 + 1, "not closed"),
        ("#: solution\n", "", 7 - 1, "in the place of `#: solution`"),
        ("#: start\n", "", 5 - 1, "in the place of `#: start`"),
        ("a = 1\n", "#: start\n", 5, "in the place of `#: solution`"),
        ("#: end", "#: stop", 8, "is not a marker"),
        ("#: start", "  #: start", 4, "is not a marker"),
        ("# %%\n", '# %% name="2.1-x"\n', 10, "already"),
        ('check("2.1", a)', "a", 3, "no `check"),
        (' name="2.1-x"', "", 3, "has no name"),
        ('tags=["setup"]', "", 1, "one cell with"),
        ('# %% tags=["setup"]', '# %% tags=["parameters"]', 1, "one cell with"),
    ],
)
def test_a_bad_source_is_refused_with_file_and_line(before, after, line, says):
    assert before in GOOD
    with pytest.raises(LabError, match=says) as error:
        lint(GOOD.replace(before, after, 1), "labs/x.py")
    assert str(error.value).startswith("labs/x.py:")
    assert int(str(error.value).split(":")[1]) in (line, line + 1)


def test_a_cell_is_solved_or_open():
    cell = "before\n#: start\nnaive\n#: solution\nright\n#: end\nafter"
    assert choose(cell, solved=False) == "before\nnaive\nafter"
    assert choose(cell, solved=True) == "before\nright\nafter"


def test_outputs_are_kept_up_to_the_first_changed_cell():
    def notebook(*sources):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        return nbformat.v4.new_notebook(cells=cells)

    stored = notebook("a", "b  # that is b", "c")
    for number, cell in enumerate(stored.cells, start=1):
        cell.execution_count = number
        cell.outputs = [nbformat.v4.new_output("stream", text=cell.source)]
    rebuilt = notebook("a", "# Here is b.\nb", "C")
    keep_outputs(rebuilt, stored)
    assert [len(cell.outputs) for cell in rebuilt.cells] == [1, 1, 0]
    assert [cell.execution_count for cell in rebuilt.cells] == [1, 2, None]


def notebook_of(*sources):
    cells = [nbformat.v4.new_code_cell(s, id=f"c{n}") for n, s in enumerate(sources)]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("ours", "my answer"),
        lambda text: text.replace('"outputs": []', '"outputs": [ ]'),
        lambda text: f"<<<<<<< HEAD\n{text}=======\nmy answer\n>>>>>>> other\n",
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace("ours", "\udcff"),
    ],
    ids=[
        "edited",
        "saved by another program",
        "merge markers",
        "cut short",
        "empty",
        "bytes",
    ],
)
def test_whatever_a_student_has_changed_is_kept_when_a_new_version_is_built(
    tmp_path, change, capsys
):
    path = tmp_path / "02_x.ipynb"
    assert builder.write_students(path, notebook_of("ours"))
    changed = change(path.read_text()).encode("utf-8", "surrogateescape")
    path.write_bytes(changed)
    for version in ("newer", "newest"):
        assert builder.write_students(path, notebook_of(version))
    [kept] = tmp_path.glob("*.kept-*.ipynb")
    assert kept.read_bytes() == changed
    assert f"kept your own {path.name} as {kept.name}" in capsys.readouterr().out
    assert "newest" in path.read_text()


def test_an_edited_notebook_of_this_version_stays_where_it_is(tmp_path, capsys):
    path = tmp_path / "02_x.ipynb"
    builder.write_students(path, notebook_of("ours"))
    edited = path.read_text().replace("ours", "my answer")
    path.write_text(edited)
    assert builder.write_students(path, notebook_of("ours"), write=False), "it differs"
    assert not builder.write_students(path, notebook_of("ours"))
    assert path.read_text() == edited
    assert "left your own" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [path]


def test_two_edits_in_one_second_are_both_kept(tmp_path):
    path = tmp_path / "02_x.ipynb"
    for answer in ("mine", "mine too"):
        path.write_text(answer)
        builder.write_students(path, notebook_of(answer))
    kept = {copy.read_text() for copy in tmp_path.glob("*.kept-*.ipynb")}
    assert kept == {"mine", "mine too"}


def test_an_unknown_lab_is_refused_with_those_that_there_are():
    with pytest.raises(LabError, match="02_throughput"):
        find_lab("77")
    assert find_lab("2") == find_lab("02") == find_lab("02_throughput")


def test_writing_twice_writes_once(tmp_path):
    notebook, _ = generate(LABS[0])
    assert builder.write_notebook(tmp_path / "x.ipynb", notebook)
    assert not builder.write_notebook(tmp_path / "x.ipynb", notebook)
