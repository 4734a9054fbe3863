"""Updating never hurts: new versions come in, and what a student wrote stays."""

import json
import os
import random
import re
import resource
import shutil
import stat
import subprocess
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from typer.testing import CliRunner

from helpers.errors import LabError
from helpers.files import REPOSITORY, write_atomically
from helpers.notebook import notebooks, session
from helpers.notebook.notebooks import about_the_original, note_run
from helpers.run_card import reset_exercises
from helpers.run_card.documents import open_card
from kit import labs
from kit.authoring import build
from kit.cli import app
from kit.jupyter import start_page
from kit.labs import all_labs, find_lab
from kit.student import merge, update, working_copy

EXERCISES = {"2.1": ("2-1-throughput", "check-2-1"), "2.figure": ("2-figure",)}
NAMES = ("00_devices", "02_throughput")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A hand-out with two labs, from which `labs` takes all."""
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    for name in (*NAMES, "index"):
        shutil.copy(REPOSITORY / "notebooks" / f"{name}.ipynb", folder / "notebooks")
    monkeypatch.setattr(labs, "REPOSITORY", folder)
    monkeypatch.setattr(working_copy, "REPOSITORY", folder)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    for module in (working_copy, update, notebooks):
        monkeypatch.setattr(module, "WORK", folder / "work")
    return folder


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def texts(notebook):
    """All that can be read: a set-up cell of the student's is quoted below ours."""
    quoted = [s.removeprefix(f"{merge.YOURS}\n\n````python\n").removesuffix("\n````")
              for s in sources(notebook) if s.startswith(merge.YOURS)]  # fmt: skip
    return {*sources(notebook), *quoted}


def by_id(notebook):
    return {cell.id: cell for cell in notebook.cells}


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def newer(lab, chance):
    """Hand out another version: texts changed, cells new and gone, numbers moved."""
    notebook = read(lab.notebook)
    cells = []
    for cell in notebook.cells:
        named = "nbgrader" in cell.metadata or "tags" in cell.metadata
        if chance.random() < 0.1:
            cells.append(new_markdown_cell(f"New in the course: {chance.random()}"))
        if not named and chance.random() < 0.1:
            continue
        if chance.random() < 0.3:
            cell.source += f"\n# changed by the course: {chance.random()}"
        cells.append(cell)
    for place, cell in enumerate(cells):
        if "nbgrader" not in cell.metadata:
            cell.id = f"{lab.number}-{place:02d}"
    notebook.cells = cells
    lab.notebook.unlink()
    build.write_students(lab.notebook, notebook)
    return read(lab.notebook)


def work_on(path, chance):
    """What students do to a notebook; returns the sources that they wrote."""
    notebook = read(path)
    cells, written = [], set()
    for cell in notebook.cells:
        if chance.random() < 0.2:
            own = chance.choice([new_code_cell, new_markdown_cell])(f"{chance.random()}")
            cells.append(own)
            written.add(own.source)
        if chance.random() < 0.05:
            continue  # deleted
        if chance.random() < 0.3:
            cell.source = f"{cell.source}\nmine = {chance.random()}"
            written.add(cell.source)
        if cell.cell_type == "code":
            cell.outputs = [new_output("stream", text=f"out {chance.random()}")]
        cells.append(cell)
    for _ in range(3):  # moved
        one = chance.randrange(len(cells) - 1)
        cells[one], cells[one + 1] = cells[one + 1], cells[one]
    notebook.cells = cells
    notebook.metadata["mine"] = True
    nbformat.write(notebook, path)
    return written


@pytest.mark.parametrize("base", ["known", "unknown"])
@pytest.mark.parametrize("seed", range(8))
def test_whatever_both_have_changed_nothing_of_the_students_is_lost(course, seed, base):
    chance = random.Random(seed)
    working_copy.make()
    lab = find_lab("02")
    path = course / "work" / lab.notebook.name
    given = read(path)
    written = work_on(path, chance)
    before, mine = path.read_bytes(), by_id(read(path))
    new = newer(lab, chance)
    if base == "unknown":
        shutil.rmtree(course / "work" / ".base")
    [line] = update.update(all_labs())

    merged = read(path)
    assert written <= texts(merged)
    assert [cell.id for cell in merged.cells if cell.id in by_id(new)] == list(by_id(new))
    assert merged.metadata.mine
    [copy] = (course / "work" / "backups").iterdir()
    assert copy.read_bytes() == before
    assert str(copy.relative_to(course)) in line
    after = contents(course)
    assert list(update.update(all_labs())) == []
    assert contents(course) == after, "the second time nothing changes"
    if base == "known":
        added = set(sources(merged)) - set(sources(new)) - written
        assert all(source.startswith((merge.NOTICE, merge.YOURS)) for source in added)
        for name, cell in by_id(merged).items():
            if "nbgrader" in cell.metadata and name in by_id(given) and name in mine:
                theirs = mine[name].source in written
                assert cell.source == (mine if theirs else by_id(new))[name].source


def of(*cells):
    """A small notebook: `name: text`, in which a name `2-1-x` is an answer's."""
    made = []
    for cell in cells:
        name, text = cell.split(": ", 1)
        marked = {"grade_id": name, "solution": True} if name[0] == "2" else {}
        made.append(new_code_cell(text, id=name, metadata={"nbgrader": marked}))
    return nbformat.v4.new_notebook(cells=made, metadata={"labs": {"generated": "x"}})


def test_each_text_is_where_it_belongs():
    base = of(
        "01: import keras", "02: guess = None", "2-1-x: start", "03: plot", "04: gone"
    )
    mine = of(
        "01: import keras", "02: guess = 3", "n: note", "2-1-x: answer", "03: plot",
        "m: remark", "04: gone", "o: last words",
    )  # fmt: skip
    mine.cells[4].outputs = [new_output("stream", text="a plot")]
    new = of(
        "01: what is new", "02: import keras", "03: guess = None", "2-1-y: easier start",
        "04: plot", "05: the end",
    )  # fmt: skip
    merged = merge.merge(base, mine, new)
    notice = f"{merge.NOTICE}\n\n````python\neasier start\n````"
    assert sources(merged) == [
        "what is new", "import keras", "guess = 3", "note", "answer", notice,
        "plot", "remark", "last words", "the end",
    ]  # fmt: skip
    assert [cell.id for cell in merged.cells if cell.id in by_id(new)] == list(by_id(new))
    assert merged.cells[6].outputs == mine.cells[4].outputs
    assert merged.cells[5].cell_type == "markdown", "else it would run, and count"

    newest = of(*(f"{cell.id}: {cell.source}" for cell in new.cells))
    newest.cells[3].source = "easiest start"
    again = merge.merge(new, merged, newest)
    expected = [text.replace("easier", "easiest") for text in sources(merged)]
    assert sources(again) == expected, "one notice, not one for each version"


@pytest.mark.parametrize("course_changes_it", [True, False])
def test_the_set_up_is_the_new_one_where_both_have_changed_it(course, course_changes_it):
    working_copy.make()
    lab = find_lab("02")
    path = course / "work" / lab.notebook.name
    mine, new = read(path), read(lab.notebook)
    [place] = (n for n, c in enumerate(mine.cells) if "setup" in c.metadata.get("tags", ()))
    given = mine.cells[place].source
    mine.cells[place].source = f"{given}\nlab.epochs = 2"
    nbformat.write(mine, path)
    if course_changes_it:
        new.cells[place].source = f"{given}\nmore = 1"
    new.cells[0].source += " New."
    lab.notebook.unlink()
    build.write_students(lab.notebook, new)
    [line] = update.update([lab])
    merged = read(path)
    told = "the set-up: it is ours now, and yours is below it." in line
    assert told == course_changes_it
    setup, below = merged.cells[place : place + 2]
    if course_changes_it:
        assert setup.source == new.cells[place].source
        assert below.cell_type == "markdown"
        assert "lab.epochs = 2" in below.source
    else:
        assert setup.source == mine.cells[place].source
        assert sources(merged)[place + 1 :] == sources(new)[place + 1 :]


def test_a_link_to_nothing_is_one_line_that_says_what_to_do(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    path.unlink()
    path.symlink_to(course / "gone.ipynb")
    [line] = update.update(all_labs())
    assert "gone.ipynb, which does not exist: restore that file, or delete the link" in line
    for name in ("02", "2.1"):
        with pytest.raises(LabError, match="which does not exist"):
            update.reset(name)
    path.unlink()
    [line] = update.update(all_labs())
    assert line == "New in work/: 02_throughput.ipynb."
    assert read(path)
    (course / "work").rename(course / "elsewhere")
    (course / "work").symlink_to(course / "gone")
    with pytest.raises(LabError, match=r"work/ is a link to .*gone, which does not exist"):
        working_copy.make()


def test_cells_that_another_program_has_stripped_of_their_ids_are_known(course):
    working_copy.make()
    lab = find_lab("00")
    path = course / "work" / lab.notebook.name
    stored = json.loads(path.read_text())
    for cell in stored["cells"]:
        del cell["id"]
        if "".join(cell["source"]).startswith("# TODO 0.1"):
            cell["source"] = "# TODO 0.1: mine"
    path.write_text(json.dumps(stored | {"nbformat_minor": 4}))
    new = newer(lab, random.Random(1))
    list(update.update([lab]))
    expected = [
        "# TODO 0.1: mine" if source.startswith("# TODO 0.1") else source
        for source in sources(new)
    ]
    kept = [s for s in sources(read(path)) if not s.startswith(merge.NOTICE)]
    assert kept == expected


def test_a_lab_is_copied_once_and_only_what_is_missing_comes_later(course):
    assert working_copy.make() == ["Your own notebooks are in work/."]
    for name in (*NAMES, "index"):
        handed_out = course / "notebooks" / f"{name}.ipynb"
        assert (course / "work" / handed_out.name).read_bytes() == handed_out.read_bytes()
    (course / "work" / "02_throughput.ipynb").rename(course / "work" / "mine.ipynb")
    (course / "work" / "00_devices.ipynb").unlink()
    assert working_copy.make() == ["New in work/: 00_devices.ipynb."]
    assert (course / "work" / "00_devices.ipynb").exists()
    assert working_copy.make() == []
    assert not (course / "work" / "02_throughput.ipynb").exists(), "it is there: renamed"
    newer(find_lab("02"), random.Random(2))
    [line] = working_copy.make()
    assert line == "New versions of 02: `labs update` brings them in."


def test_of_several_copies_the_one_that_ran_last_is_changed_or_none(course, monkeypatch):
    working_copy.make()
    work, lab = course / "work", find_lab("02")
    mine, backup = work / "my throughput.ipynb", work / "my throughput-Copy1.ipynb"
    shutil.copy(work / lab.notebook.name, backup)
    (work / lab.notebook.name).rename(mine)
    newer(lab, random.Random(2))
    before = {path: path.read_bytes() for path in (mine, backup)}
    said = CliRunner().invoke(app, ["reset", "2.1"])
    assert said.exit_code != 0
    [line] = update.update(all_labs())
    for text in (str(said.exception), line):
        assert f"several notebooks of lab 02: {backup.name} and {mine.name}. Which" in text
    assert contents(work).items() >= before.items()

    monkeypatch.setenv("JPY_SESSION_NAME", str(mine))
    note_run(lab.name)
    # A run of the solution, or of a file somewhere else, is not of one of these.
    for elsewhere in (lab.solution, lab.notebook, work / "no_such_file.ipynb"):
        monkeypatch.setenv("JPY_SESSION_NAME", str(elsewhere))
        note_run(lab.name)
    [line] = update.update(all_labs())
    assert line.startswith(f"work/{mine.name} has the new version")
    said = CliRunner().invoke(app, ["reset", "2.1"])
    assert f"in work/{mine.name}: nothing to do." in " ".join(said.output.split())
    assert backup.read_bytes() == before[backup]

    monkeypatch.setenv("JPY_SESSION_NAME", str(backup))
    note_run(lab.name)
    assert notebooks.labs_in(work)[lab.name].path == backup, "its run is the newest now"
    backup.unlink()
    assert notebooks.labs_in(work)[lab.name].path == mine, "it is the only one"


def test_who_works_in_an_original_is_told_of_the_copy(course, monkeypatch):
    monkeypatch.setattr(notebooks, "REPOSITORY", course)
    lab, work = find_lab("02"), course / "work"

    def said(path):
        monkeypatch.setenv("JPY_SESSION_NAME", str(path))
        return about_the_original(lab.name)

    assert not said(lab.notebook), "there is no copy yet"
    working_copy.make()
    assert f"Your copy is work/{lab.notebook.name};" in said(lab.notebook)
    mine = (work / lab.notebook.name).rename(work / "my throughput.ipynb")
    assert "Your copy is work/my throughput.ipynb;" in said(lab.notebook)
    elsewhere = shutil.copy(lab.notebook, course)
    for path in (mine, elsewhere, course / "notebooks" / "no_such_file.ipynb"):
        assert not said(path)


def test_nothing_is_written_where_no_copy_of_it_can_be(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    work_on(path, random.Random(3))
    newer(find_lab("02"), random.Random(3))
    (course / "work" / "backups").write_text("a file where the folder should be")
    before = path.read_bytes()
    with pytest.raises(OSError):
        list(update.update(all_labs()))
    with pytest.raises(OSError):
        update.reset("02")
    assert path.read_bytes() == before


HALF_A_CHARACTER = json.dumps(
    {
        "cells": [{"cell_type": "raw", "metadata": {}, "source": "\ud83d"}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 4,
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", '{"cells": 1}', '{"cells": [1]}', '{"cells": [{"source": null}]}',
        "<<<<<<< mine", HALF_A_CHARACTER,
    ],
)  # fmt: skip
def test_a_damaged_notebook_stays_and_can_be_given_back(course, text):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    path.write_text(text)
    newer(find_lab("02"), random.Random(4))
    assert working_copy.make(), "`labs lab` starts all the same"
    [line] = update.update(all_labs())
    assert "cannot be read as a notebook, so it stays as it is" in line
    with pytest.raises(LabError, match="`labs reset 02` gives a new one"):
        update.reset("2.1")
    assert path.read_text() == text
    update.reset("02")
    assert path.read_bytes() == (course / "notebooks" / path.name).read_bytes()
    [copy] = (course / "work" / "backups").iterdir()
    assert copy.read_text() == text


def strip_counts(notebook):
    for cell in notebook["cells"]:
        cell.pop("execution_count", None)


def end_lines_as_windows(notebook):
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


OTHER_PROGRAMS = {
    "ids before 4.5": lambda notebook: notebook.update(nbformat_minor=4),
    "no counts": strip_counts,
    "a key more": lambda notebook: notebook["cells"][5].update(theirs=1),
    "other metadata": lambda notebook: notebook["metadata"].update(labs="x"),
    "ends of lines": end_lines_as_windows,
}


@pytest.mark.parametrize("change", OTHER_PROGRAMS)
def test_a_notebook_that_another_program_has_stored_is_updated(course, change):
    working_copy.make()
    lab = find_lab("02")
    path = course / "work" / lab.notebook.name
    stored = json.loads(path.read_text())
    [answer] = (c for c in stored["cells"] if c["id"] == "2-1-throughput")
    answer["source"] = "# TODO 2.1: mine"
    OTHER_PROGRAMS[change](stored)
    path.write_text(json.dumps(stored))
    new = newer(lab, random.Random(10))
    [line] = update.update([lab])
    assert "has the new version" in line
    merged = nbformat.read(path, as_version=4)
    nbformat.validate(merged, relax_add_props=True)
    assert by_id(merged)["2-1-throughput"].source == "# TODO 2.1: mine"
    kept = [s for s in sources(merged) if s not in sources(new)]
    if change == "other metadata":  # what was handed out is not known
        assert len(kept) > 1
    else:
        assert {s for s in kept if not s.startswith(merge.NOTICE)} == {"# TODO 2.1: mine"}


def test_a_lab_that_is_stored_under_the_name_of_another_is_left_alone(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    shutil.copy(course / "work" / "00_devices.ipynb", path)
    before = path.read_bytes()
    working_copy.make()
    assert "in work/02_throughput-2.ipynb:" in update.reset("2.1")
    assert path.read_bytes() == before


def test_a_link_stays_one_and_what_is_read_only_stays_as_it_is(course):
    working_copy.make()
    linked, locked = (course / "work" / f"{name}.ipynb" for name in NAMES)
    elsewhere = course / "elsewhere.ipynb"
    linked.rename(elsewhere)
    linked.symlink_to(elsewhere)
    elsewhere.chmod(0o600)
    locked.chmod(0o444)
    before = elsewhere.read_bytes(), locked.read_bytes()
    for lab in all_labs():
        newer(lab, random.Random(11))
    first, second = update.update(all_labs())
    assert linked.is_symlink()
    assert elsewhere.read_bytes() != before[0]
    assert "work/backups/00_devices-" in first
    [copy] = (course / "work" / "backups").iterdir()
    assert [stat.S_IMODE(f.stat().st_mode) for f in (elsewhere, copy)] == [0o600, 0o600]
    assert second == "work/02_throughput.ipynb is read-only, so it stays as it is."
    assert locked.read_bytes() == before[1]


def test_two_at_once_are_one_after_the_other(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    work_on(path, random.Random(12))
    before = path.read_bytes()
    newer(find_lab("02"), random.Random(12))
    with ThreadPoolExecutor(4) as threads:
        said = list(threads.map(lambda _: list(update.update(all_labs())), range(4)))
    assert sorted(map(len, said)) == [0, 0, 0, 1]
    [copy] = (course / "work" / "backups").iterdir()
    assert copy.read_bytes() == before


def test_a_full_disk_ends_with_a_line_on_the_work_done_until_then(course):
    working_copy.make()
    paths = [course / "work" / f"{name}.ipynb" for name in NAMES]
    before = paths[1].read_bytes()
    chance = random.Random(13)
    for lab in all_labs():
        newer(lab, chance)
    # So that of the second lab only the copy of the student's notebook does not fit.
    while all_labs()[1].notebook.stat().st_size >= len(before):
        newer(all_labs()[1], chance)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    said = []
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) - 1, usual[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            said.extend(update.update(all_labs()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert [line.split()[0] for line in said] == ["work/00_devices.ipynb"]
    assert paths[1].read_bytes() == before
    [line] = update.update(all_labs())
    assert line.startswith("work/02_throughput.ipynb has the new version")


def test_no_part_of_an_exercise_is_left_that_jupyterlab_has_split(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    given = read(path)
    notebook = read(path)
    [place] = (n for n, c in enumerate(notebook.cells) if c.id == "2-1-throughput")
    whole = notebook.cells[place]
    lines = whole.source.splitlines()
    notebook.cells[place : place + 1] = [  # as JupyterLab: new ids, the same metadata
        new_code_cell("\n".join(part), metadata=whole.metadata)
        for part in (lines[:3], lines[3:])
    ]
    nbformat.write(notebook, path)
    update.reset("2.1")
    assert sources(read(path)) == sources(given)


@pytest.mark.parametrize("seed", range(4))
def test_an_exercise_is_given_back_and_all_else_stays(course, seed):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    given = by_id(read(path))
    work_on(path, random.Random(seed))
    newer(find_lab("02"), random.Random(seed))  # not what this notebook began with
    for number, names in EXERCISES.items():
        before = path.read_bytes()
        mine = by_id(read(path))
        said = update.reset(number)
        after = by_id(read(path))
        if after == mine:  # nothing was changed
            assert path.read_bytes() == before
            assert said.endswith("nothing to do.")
            continue
        assert {name: after.pop(name) for name in names} == {n: given[n] for n in names}
        assert after == {name: cell for name, cell in mine.items() if name not in names}
        [copy] = re.findall(r"work/backups/\S+\.ipynb", said)
        assert (course / copy).read_bytes() == before


def test_a_lab_that_is_as_handed_out_is_left_alone(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    before = path.read_bytes()
    assert update.reset("02").endswith("nothing to do.")
    assert path.read_bytes() == before
    assert not (course / "work" / "backups").exists()
    work_on(path, random.Random(1))
    mine = path.read_bytes()
    assert "what you had is in work/backups/" in update.reset("02")
    [copy] = (course / "work" / "backups").iterdir()
    assert copy.read_bytes() == mine


def open_in(lab):
    [state] = [state for state in start_page.lab_states() if state.name == lab.name]
    return state.work.open_exercises


def test_an_exercise_that_is_reset_is_open_until_it_is_passed_again(
    course, monkeypatch, capsys
):
    monkeypatch.setattr(start_page, "REPOSITORY", course)
    lab = find_lab("02")
    working_copy.make()
    old = open_card(lab.name, {"seed": 1}, {})  # of a version that noted no times
    old.content["checks"] = {"2.1": {"passed": True, "reason": ""}}
    old.finish()
    card = open_card(lab.name, {"seed": 2}, {})  # of a kernel that is still there
    for number in ("2.1", "2.2", "2.3"):
        card.check(number, True)
    assert open_in(lab) == []
    update.reset("2.1")
    assert open_in(lab) == ["2.1"]
    assert start_page.way_on(start_page.lab_states())[0] == "Continue: Lab 02, exercise 2.1"
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    session.finish()
    said = capsys.readouterr().out
    assert "Checks passed: 2 of 3\n  still open: 2.1\n" in said
    card.check("2.1", True)
    assert open_in(lab) == []
    update.reset("2.figure")
    assert open_in(lab) == []
    update.reset("02")
    assert open_in(lab) == ["2.1", "2.2", "2.3"]
    card.check("2.2", True)
    assert open_in(lab) == ["2.1", "2.3"]


def test_a_damaged_note_of_what_was_given_back_hides_nothing(course, monkeypatch):
    monkeypatch.setattr(start_page, "REPOSITORY", course)
    lab = find_lab("02")
    working_copy.make()
    card = open_card(lab.name, {}, {})
    for damaged in ("{", "[1]", '{"2.1": "x"}', '{"2.1": null}'):
        card.check("2.1", True)
        write_atomically(card.path.with_name(reset_exercises.FILE), damaged)
        assert open_in(lab) == ["2.2", "2.3"]
        update.reset("2.1")
        assert open_in(lab) == ["2.1", "2.2", "2.3"]


@pytest.mark.parametrize("trusted", [True, False])
def test_jupyterlab_trusts_a_notebook_as_before(course, trusted):
    working_copy.make()
    lab = find_lab("02")
    path = course / "work" / lab.notebook.name
    work_on(path, random.Random(9))
    if trusted:
        NotebookNotary().sign(read(path))
    newer(lab, random.Random(9))
    for change in (lambda: list(update.update([lab])), lambda: update.reset("2.1")):
        change()
        assert NotebookNotary().check_signature(read(path)) == trusted


def test_a_wrong_number_is_one_line(course):
    for name, says in (("2.9", "there are 2.1, 2.2, 2.3, 2.figure"), ("7", "no lab '7'")):
        with pytest.raises(LabError, match=says):
            update.reset(name)
    assert not (course / "work" / "backups").exists()


def git(folder, *arguments):
    named = ("-c", "user.name=A Student", "-c", "user.email=student@example.org")
    subprocess.run(
        ["git", "-C", folder, *named, *arguments], check=True, capture_output=True
    )


@pytest.mark.parametrize(
    "how", ["edited in notebooks/", "edited and committed", "copied by hand"]
)
def test_a_student_who_worked_in_notebooks_loses_nothing_by_git_pull(course, how):
    (course / ".gitignore").write_text("work/\n")
    git(course, "init", "--quiet")
    git(course, "add", ".")
    git(course, "commit", "--quiet", "-m", "Handed out")
    teacher = course.with_name("teacher")
    git(course.parent, "clone", "--quiet", "course", "teacher")
    lab = find_lab("02")
    new = newer(lab, random.Random(5))
    shutil.copy(lab.notebook, teacher / "notebooks")
    git(teacher, "commit", "--quiet", "-a", "-m", "A new version")
    git(course, "checkout", "--quiet", "notebooks")

    written = work_on(lab.notebook, random.Random(6))
    if how == "copied by hand":
        (course / "work").mkdir()
        shutil.copy(lab.notebook, course / "work" / "my lab.ipynb")
        git(course, "checkout", "--quiet", "notebooks")
    else:
        said = working_copy.make()[-1]
        assert said.startswith("work/ has what you wrote in notebooks/ (02).")
        if how == "edited and committed":
            git(course, "commit", "--quiet", "-a", "-m", "My answers")
            [said] = update.update([lab])
        [first, *more] = re.findall("`git ((?:stash|checkout|pull --).*?)`", said)
        assert first.startswith("checkout" if more else "stash")
        git(course, *first.split())
        if more:
            git(course, "commit", "--quiet", "-m", "As handed out")
    git(course, "pull", "--quiet", "--no-rebase", teacher, "HEAD")
    assert list(update.update([lab]))
    name = "my lab.ipynb" if how == "copied by hand" else lab.notebook.name
    merged = read(course / "work" / name)
    assert written <= texts(merged)
    added = set(sources(merged)) - set(sources(new)) - written
    notices = merge.NOTICE, merge.YOURS
    assert all(source.startswith(notices) for source in added), "the old one is known"
    assert list(update.update([lab])) == []


def test_a_notebook_that_is_edited_where_it_is_handed_out_is_named(course):
    working_copy.make()
    work_on(find_lab("02").notebook, random.Random(7))
    before = contents(course)
    [line] = update.update(all_labs())
    assert line == (
        "In notebooks/ 02 is not as handed out, so nothing new comes from there: "
        "unpack the course again."
    )
    assert contents(course) == before


def test_the_commands_say_what_they_did_in_a_line(course):
    def said(*arguments):
        ended = CliRunner().invoke(app, arguments)
        assert ended.exit_code == 0, ended.output
        return ended.output.splitlines()

    assert said("update") == ["Your own notebooks are in work/."]
    assert said("update") == ["Nothing to do: your notebooks are up to date."]
    before = contents(course / "work")
    [line] = said("reset", "2.1")
    assert line.endswith("handed out, in work/02_throughput.ipynb: nothing to do.")
    assert contents(course / "work") == before
    [line] = said("reset", "02")
    assert line.endswith("handed out, in work/02_throughput.ipynb: nothing to do.")
    newer(find_lab("02"), random.Random(8))
    [line] = said("update", "02")
    assert line.startswith("work/02_throughput.ipynb has the new version")
    assert line.endswith("choose Revert.")


def test_a_students_own_notebook_with_a_number_is_no_lab(course, monkeypatch):
    monkeypatch.setattr(start_page, "REPOSITORY", course)
    working_copy.make()
    before = start_page.lab_states()
    nbformat.write(nbformat.v4.new_notebook(), course / "work" / "02_notes.ipynb")
    assert start_page.lab_states() == before


def test_a_name_that_is_no_utf_8_does_not_take_the_start_page_down(course, monkeypatch):
    monkeypatch.setattr(start_page, "REPOSITORY", course)
    working_copy.make()
    mine = course / "work" / "02_throughput.ipynb"
    mine.rename(course / "work" / os.fsdecode(b"L\xf6sung 02.ipynb"))
    page = start_page.page().encode().decode()
    assert "L%F6sung%2002.ipynb" in page


def test_a_notebook_without_ids_is_reset_without_a_warning(course):
    working_copy.make()
    path = course / "work" / "02_throughput.ipynb"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["nbformat_minor"] = 4
    for cell in content["cells"]:
        del cell["id"]
        if "".join(cell["source"]).startswith("# TODO 2.1"):
            cell["source"] = "# TODO 2.1: mine"
    path.write_text(json.dumps(content), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "what you had is in work/backups/" in update.reset("2.1")
        assert "# TODO 2.1: mine" not in sources(read(path))
        assert update.reset("2.1").endswith("nothing to do.")


def test_a_list_of_labs_that_jupyterlab_saved_is_not_older(course):
    working_copy.make()
    path = course / "work" / "index.ipynb"
    notebook = read(path)
    notebook.metadata["kernelspec"] = {"name": "other", "display_name": "Other"}
    nbformat.write(notebook, path)
    assert list(update.update(all_labs())) == []
    notebook.cells[0].source = "An older list"
    nbformat.write(notebook, path)
    [line] = update.update(all_labs())
    assert "index.ipynb is new" in line
