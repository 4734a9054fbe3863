"""What a person decides: files read, marks merged, lateness, words, likeness."""

import ast
import builtins
import contextlib
import html
import inspect
import itertools
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import nbformat
import pytest

from helpers.errors import LabError
from helpers.exercise import find_exercise
from kit.authoring.recorded_answers import recorded_answers
from kit.generate import generate
from kit.grading.classroom import class_files, feedback, given_for, marks, similar
from kit.grading.classroom.class_files import Override, read_roster, write_overrides
from kit.grading.classroom.feedback import all_points, failing_row, with_code
from kit.grading.classroom.in_words import in_words
from kit.labs import all_labs, find_lab
from kit.todo_cells import todo_cells, written
from tests.submissions import corpus

LAB = find_lab("02")
EXERCISES = [e.number for lab in all_labs() for e in todo_cells(lab)]


def result(student="ada", status="graded", points=2, **about):
    verdict = {"points": points, "of": 2, "passed": points > 0}
    return {
        "student": student, "lab": LAB.name, "status": status, "problem": "none there",
        "exercises": {e.number: verdict for e in todo_cells(LAB)}, "about": about,
    }  # fmt: skip


def marked(folder, *results, **files):
    for name, text in files.items():
        ending = "toml" if name == "rules" else "csv"
        (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    read = class_files.read_class_files(folder, all_points(), find_lab)
    return marks.marked(results, {LAB.name: written(LAB)}, read)


def test_a_missing_notebook_has_no_points_until_all_of_it_is_decided(tmp_path):
    [one] = marked(tmp_path, result(status="missing", points=0))
    assert (one["total"], one["needs"]) == (None, ["none there"])
    rows = "student,exercise,points,comment\n"
    for count, exercise in enumerate(todo_cells(LAB), start=1):
        rows += f"ada,{exercise.number},1,\n"
        [one] = marked(tmp_path, result(status="missing", points=0), overrides=rows)
        assert one["total"] == (3 if count == 3 else None)
    assert one["needs"] == []


@pytest.mark.parametrize(
    ("submitted", "rules", "total"),
    [
        ("2026-11-20 23:59", "percent_per_day = 10", 6),
        ("2026-11-21 00:00", "percent_per_day = 10", 5.4),
        ("2026-11-21 00:00", "percent_per_day = 10\ngrace_minutes = 1", 6),
        ("2026-11-22 00:00", "percent_per_day = 10", 4.8),
        ("2026-12-24 00:00", "percent_per_day = 10\nat_most_percent = 50", 3),
        ("2026-12-24 00:00", "", 6),
    ],
)
def test_lateness_costs_what_the_rules_say(tmp_path, submitted, rules, total):
    roster = f"student;id;due;submitted\nada;7;2026-11-20 23:59;{submitted}\n"
    [one] = marked(tmp_path, result(), roster=roster, rules=rules)
    assert one["total"] == total
    assert (one["late"]["days"] == 0) == (
        submitted == "2026-11-20 23:59" or "grace" in rules
    )


@pytest.mark.parametrize(
    ("submitted", "words"),
    [
        ("2026-11-21 00:00", "1 minute late"),
        ("2026-11-21 01:04", "1 hour 5 minutes late"),
        ("2026-11-21 23:59", "1 day late"),
        ("2026-11-22 10:17", "1 day 10 hours late"),
        ("2026-12-24 01:59", "33 days 2 hours late"),
    ],
)
def test_lateness_is_said_in_whole_units(tmp_path, submitted, words):
    roster = f"student;id;due;submitted\nada;7;2026-11-20 23:59;{submitted}\n"
    [one] = marked(tmp_path, result(), roster=roster)
    assert one["late"]["words"] == words


def test_points_by_hand_are_for_the_submission_that_the_last_grades_showed(tmp_path):
    nothing = result(status="missing", points=0)
    first, second = (result(texts={"2.figure": text}) for text in ("A law.", "Two laws."))
    for other in (nothing, first, second):
        for number in other["exercises"]:
            code = {"code": f"{number} of {other['status']}"}
            other["exercises"][number] = other["exercises"][number] | code
    rows = "student,exercise,points,comment\n"

    def graded(one, overrides):
        (tmp_path / "overrides.csv").write_text(rows + overrides, encoding="utf-8")
        read = class_files.read_class_files(tmp_path, all_points(), find_lab)
        old = given_for.outdated(tmp_path, [one], read)
        [done] = marks.marked([one], {LAB.name: written(LAB)}, read, old)
        document = {"results": [one]}
        (tmp_path / "grades.json").write_text(json.dumps(document), encoding="utf-8")
        return done["total"], done["needs"]

    assert graded(nothing, "ada,02,3,\n") == (3, [])
    changed = "the submission has changed since you gave 3 points"
    assert graded(first, "ada,02,3,\n") == (None, [changed])
    assert graded(nothing, "ada,02,3,\n") == (3, []), "as it was"
    # A new comment makes a new decision, about what the last grades showed.
    assert graded(first, "ada,02,3,\n")[0] is None
    assert graded(first, "ada,02,3,late\n") == (3, [])
    assert graded(second, "ada,02,3,late\n")[0] is None
    # So does a line of given_for.csv that somebody deletes.
    (tmp_path / given_for.NAME).unlink()
    assert graded(second, "ada,02,3,late\n") == (3, [])
    # One that is written after the last grading is about what that grading showed.
    texts = "ada,2.figure,1,\n"
    assert graded(first, texts) == (None, ["2.figure has changed since you gave 1 point"])
    assert graded(first, "ada,2.1,1,\n") == (5, [])
    assert graded(nothing, "ada,2.1,1,\n") == (
        None, ["none there", "2.1 has changed since you gave 1 point"],
    )  # fmt: skip


def test_an_answer_that_changed_leaves_only_itself_open_and_says_so(tmp_path):
    folder = tmp_path / "grades"
    for code, text in (("first", "A law."), ("second", "Two laws.")):
        one = result(texts={"2.figure": text}) | {
            "problem": "", "file_name": "ada", "isolated": True, "of": 6,
        }  # fmt: skip
        for number, verdict in one["exercises"].items():
            own = {"code": f"{code} = {number}", "borrowed": [], "reason": "",
                   "reaction": "", "question": None, "observation": None}  # fmt: skip
            one["exercises"][number] = verdict | own
        folder.mkdir(exist_ok=True)
        rows = "student,exercise,points,comment\nada,2.1,1,\nada,2.figure,2,\n"
        (folder / "overrides.csv").write_text(rows, encoding="utf-8")
        read = feedback.read_files(folder)
        said = feedback.write([one], [LAB], [], folder, read)
    assert "these answers are open: ada (2.1, 2.figure)" in said[0]
    page = (folder / "feedback" / "ada" / f"{LAB.name}.html").read_text()
    assert "4 points so far, without 2.1 and 2.figure." in page
    assert page.count("<td>open: you changed it after it was marked</td>") == 2
    assert page.count("You changed this answer after your instructor marked it") == 2
    assert page.count("✓ Right: 2 of 2 points") == 2, "not at 2.1"
    assert "has given" not in page
    overview = (folder / "overview.html").read_text()
    assert "2.figure changed since it was read" in overview
    assert "2.1 ✓ changed since you gave points" in overview
    assert "2.figure unread" not in overview
    assert "open<br>4 so far" in overview


def test_a_name_that_nobody_has_gets_the_name_that_it_may_mean(tmp_path):
    rows = "student,exercise,points,comment\nCem,02,1,\nCyd Wrogn_1,02,1,\nZoe,02,1,\n"
    (tmp_path / "overrides.csv").write_text(rows)
    read = class_files.read_class_files(tmp_path, all_points(), find_lab)
    found = [result(name) for name in ("Cem Wrong_103", "Cyd Wrong_1")]
    done = marks.marked(found, {LAB.name: written(LAB)}, read)
    assert [line.partition("there is no ")[2] for line in marks.strangers(done, read)] == [
        "student 'Cem': did you mean 'Cem Wrong_103'?",
        "student 'Cyd Wrogn_1': did you mean 'Cyd Wrong_1'?",
        "student 'Zoe'",
    ]


def test_a_text_counts_for_everybody_once_somebody_has_read_one(tmp_path):
    said = [result(name, texts={"2.figure": "A law."}) for name in ("ada", "bob")]
    both = marked(tmp_path, *said, result("cyd"))
    assert [one["total"] for one in both] == [6, 6, 6]
    row = "student,exercise,points,comment\nada,2.figure,1.5,because\n"
    ada, bob, cyd = marked(tmp_path, *said, result("cyd"), overrides=row)
    assert (ada["total"], ada["of"]) == (7.5, 8)
    assert (bob["total"], bob["needs"]) == (None, ["read 2.figure"])
    assert (cyd["total"], cyd["of"]) == (6, 8)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("overrides", "student,exercise,points,comment\nada,2.9,1,\n", "no exercise '2.9'"),
        ("overrides", "student,exercise,points,comment\nada,2. Jan,1,\n", "made a date"),
        (
            "overrides",
            "student,exercise,points,comment\nada;2.1;1;\n",
            "line 2: has 1 of 4",
        ),
        (
            "overrides",
            "\ufeffstudent;exercise;points;comment\r\na\r\n",
            "line 2: has 1 of 4",
        ),
        (
            "overrides",
            "student;exercise;points;comment\nada;2.1;1,5;Fast; gut\n",
            "line 2: has 5 cells, but the first line has 4: put a text with ; in quotes",
        ),
        ("roster", "name,student\nAda\n", "line 2: has 1 of 2"),
        ("overrides", "student,exercise,points,comment\nada,2.1,3,\n", "0 to 2"),
        ("overrides", "student,exercise,points,comment\nada,2.1,nan,\n", "0 to 2"),
        ("overrides", "student,exercise,points\nada,2.1,1\n", "no column 'comment'"),
        ("overrides", "student,exercise,points,comment\na,2.1,1,\na,2.1,2,\n", "2 and 3"),
        ("roster", "student,due\nada,tomorrow\n", "line 2: due is 'tomorrow'"),
        ("roster", "student\nada\nada\n", "line 3: a second row"),
        ("rules", "percent_per_day = 101", "is 101; it must be a number from 0 to 100."),
        ("rules", "per_day = 1", "'per_day' is none of"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(tmp_path, name, text, says):
    with pytest.raises(LabError, match=says):
        marked(tmp_path, result(), **{name: text})


def test_a_file_that_excel_saved_half_edited_is_read(tmp_path):
    rows = "\ufeffStudent;Exercise;Points;Comment;;\r\nada;2.1;1,5;gut; \r\n;;;\r\n"
    [one] = marked(tmp_path, result(), overrides=rows)
    assert one["exercises"]["2.1"]["points"] == 1.5
    assert (one["total"], one["exercises"]["2.1"]["comment"]) == (5.5, "gut")


def test_no_text_of_a_csv_is_a_formula_and_each_comes_back_as_it_was(tmp_path):
    texts = ["=cmd()", "+1", "-x", "@a", "'quoted'", "plain", "-", "a,b;c", '"', "＝cmd()"]
    texts += [
        "'=x",
        "''=x",
        "ada ",
        " ada",
        " =x",
        "a;=x",
        "a\t+1",
        "a\n@x",
        "a;'＋1",
        "\t=x",
    ]
    path = tmp_path / "x.csv"
    path.write_text(class_files.as_csv(["student"], [[text] for text in texts]))
    for separator in ",;\t\n":
        cells = path.read_text().replace("\n", separator).split(separator)
        assert not [cell for cell in cells if cell.strip(' "\t')[:1] in tuple("=+@＝＋")]
    assert [row["student"] for _, row in class_files.rows(path, ["student"])] == texts


def test_blanks_that_a_person_typed_around_a_name_cost_nobody_a_mark(tmp_path):
    text = "student,exercise,points,comment\nada ,2.1,1,\n bob , 2.1 , 1 ,\n"
    (tmp_path / "overrides.csv").write_text(text)
    read = class_files.read_class_files(tmp_path, all_points(), find_lab)
    meant = class_files.for_students(read, {"ada", "ada ", "bob"})
    assert [one.student for one in meant.overrides] == ["ada ", "bob"]


def renamed(code):
    """The same code under other names, in another layout, its statements turned round."""
    tree = ast.parse(code)
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    own = {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            node.id = f"other_{node.id}"
        elif isinstance(node, ast.Attribute) and node.attr in own:
            node.attr = f"other_{node.attr}"
        elif isinstance(node, ast.arg):
            node.arg = f"other_{node.arg}"
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.name = f"Other{node.name}"
            node.body.reverse()
    return ast.unparse(tree)


@pytest.mark.parametrize("number", EXERCISES)
def test_a_copy_is_alike_and_answers_of_other_people_are_not(number):
    lab = find_lab(f"{int(number.split('.')[0]):02d}")
    solved = similar.reference_cells(lab)[number]
    [start] = [e.start for e in todo_cells(lab) if e.number == number]
    given = similar.bag(start)
    reference = similar.bag(solved) - given
    if reference.total() < similar.FEWEST:
        pytest.skip("too short: the page says so")
    copy = similar.bag(renamed(solved)) - given
    assert similar.alike(reference, copy) >= similar.ALIKE
    sources = set()  # answers that one function makes have the same
    for answer in recorded_answers(number).RIGHT:
        with contextlib.suppress(TypeError, OSError):  # not written out
            sources.add(textwrap.dedent(inspect.getsource(answer)))
    others = [bag - given for bag in similar.bags(dict(enumerate(sources))).values()]
    pairs = itertools.combinations([reference, *others], 2)
    assert all(similar.alike(one, two) < similar.ALIKE for one, two in pairs if one and two)


@pytest.mark.parametrize("number", EXERCISES)
def test_every_exercise_has_words_for_what_it_was_asked(number):
    question = find_exercise(number).draw_question(Random(number))
    question.pop("secret", None)
    tables = in_words(number, question, None)
    assert tables
    assert all(any(table.rows) for table in tables), "no heading stands alone"
    assert not [t for t in tables if not t.caption.endswith((".", ":", ")"))]
    assert all(len(str(cell)) < 6000 for t in tables for row in t.rows for cell in row)


@pytest.mark.parametrize("number", EXERCISES)
def test_no_table_of_feedback_is_mostly_empty(number):
    question = find_exercise(number).draw_question(Random(number))
    for table in in_words(number, question, None):
        cells = [cell for row in table.rows for cell in row]
        assert cells.count("–") <= len(cells) / 3, table.head


def test_a_page_shows_what_a_sweep_did_as_code(tmp_path):
    """Not ``("measure", 16)``, and sizes that differ from case to case are no columns."""
    notebook = generate(LAB)[1]
    [cell] = [c for c in notebook.cells if c.source.startswith("# Solution 2.2")]
    cell.source = cell.source.replace("except MemoryError", "except Exception")
    notebook.cells = [cell]
    path = tmp_path / "in" / "ada" / LAB.notebook.name
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(notebook))
    command = [Path(sys.executable).with_name("labs"), "grade", "in", "--lab", "02",
               "--no-sandbox", "--jobs", "1"]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    page = html.unescape((tmp_path / "grades/feedback/ada/02_throughput.html").read_text())
    assert re.search(r"<td>measure\(\d+\), points\[\d+\] = \d+", page)
    assert "“measure”" not in page
    assert "failing" not in page.partition("</style>")[2], "no row can be told"
    heads = re.findall('<th scope="col">(.*?)</th>', page.partition("Columns with →")[2])
    assert heads[:6] == [
        "no.", "batch sizes", "sizes at which measure fails", "what measure returns",
        "in points before", "→ what it did",
    ]  # fmt: skip


def test_the_page_marks_the_epoch_that_failed_and_says_what_its_columns_are(tmp_path):
    code = corpus.CELLS["2.1"].replace("# Solution", "# TODO")
    code = code.replace("def on_test_begin", "def no_validation")
    path = tmp_path / "in" / "ada" / LAB.notebook.name
    path.parent.mkdir(parents=True)
    path.write_bytes(corpus.notebook({"2.1": code}, ("2.1",)))
    command = [Path(sys.executable).with_name("labs"), "grade", "in", "--lab", "02",
               "--no-sandbox", "--jobs", "1"]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    page = html.unescape((tmp_path / "grades/feedback/ada/02_throughput.html").read_text())
    [epoch] = re.findall(r"epoch (\d) of a fit with validation", page)
    assert re.findall('<tr class="failing"><td>(.*?)</td>', page) == [f"✗ {epoch}"]
    heads = re.findall('<th scope="col">(.*?)</th>', page.partition("2.1, table 1")[2])
    assert heads[:3] == [
        "no.", "seconds of each batch", "seconds between the first two batches",
    ]  # fmt: skip
    assert "kept on fitting" not in page, "the label of another exercise"


def test_an_answer_that_never_replied_is_not_said_to_have_done_anything():
    question = {"cases": [{"points": 31, "batch_size": 5, "epochs": 2, "seed": 1}]}
    [table] = in_words("1.2", question, None)
    assert table.caption == "It was asked this, and gave no reply."
    assert table.rows[0][-3:] == ("31", "5", "2")


def test_the_row_that_a_judge_names_is_found():
    assert failing_row("for set 3 of the points, with 1 of them None, it") == "3"
    assert failing_row("after `points[16] = 2` came `measure(24)`") == ""
    assert failing_row("epoch 2 of a fit with validation trained", "epoch") == "2"


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_asks_for_one_answer_in_words(lab):
    [question] = written(lab)
    assert question.number == f"{int(lab.number)}.figure"
    assert question.question.startswith("## Explain your figure")


def test_a_hint_shows_code_as_code_and_nothing_else_as_html():
    said = with_code('Does `x[a<b]` work? <script> is "no" `')
    assert said == ("Does <code>x[a&lt;b]</code> work? &lt;script&gt; is &quot;no&quot; `")


def test_two_students_with_one_id_are_refused(tmp_path):
    (tmp_path / "roster.csv").write_text("student,id,lab\nada,7,\nada,7,02\nbob,7,\n")
    with pytest.raises(LabError, match="line 4: 'ada' has the id 7 as well"):
        read_roster(tmp_path, find_lab)


def test_a_name_and_an_id_are_not_two_decisions(tmp_path):
    (tmp_path / "roster.csv").write_text("student,id\nada,7\n")
    rows = "student,exercise,points,comment\n7,2.1,0,\nada,2.1,2,\n"
    (tmp_path / "overrides.csv").write_text(rows)
    files = feedback.read_files(tmp_path)
    with pytest.raises(LabError, match="lines 2 and 3 are about the same answer of ada"):
        class_files.for_students(files, {"ada"})


@pytest.mark.parametrize("day", ["2026-11-20", "20261120", "2026-W47-5"])
def test_a_day_without_a_time_is_no_due_date(tmp_path, day):
    (tmp_path / "roster.csv").write_text(f"student,due\nada,{day}\n")
    with pytest.raises(LabError, match=r"line 2: due is .*; write it as 2026-11-20 23:59"):
        read_roster(tmp_path, find_lab)


def test_rules_may_begin_with_the_mark_that_notepad_writes(tmp_path):
    (tmp_path / "rules.toml").write_bytes(b"\xef\xbb\xbfpercent_per_day = 10\n")
    assert feedback.read_files(tmp_path).rules.percent_per_day == 10


def with_words(words):
    one = result(texts={"2.figure": words})
    exercises = {name: value | {"code": ""} for name, value in one["exercises"].items()}
    return one | {"exercises": exercises}


def test_a_mark_that_is_saved_while_grading_runs_stays_with_its_answer(tmp_path):
    first, second = with_words("A law."), with_words("Two laws.")
    (tmp_path / "grades.json").write_text(json.dumps({"results": [first]}))
    known, files = given_for.read_given(tmp_path), feedback.read_files(tmp_path)
    mark = Override("ada", "2.figure", 2, "", 0)  # as `labs mark` saves it meanwhile
    given = given_for.Given(
        given_for.decision_digest(mark), given_for.text_digest("A law.")
    )
    given_for.write_given(tmp_path, {("ada", "2.figure"): given})
    write_overrides(tmp_path, [mark])
    assert not given_for.outdated(tmp_path, [second], files, known)
    (tmp_path / "grades.json").write_text(json.dumps({"results": [second]}))
    files = feedback.read_files(tmp_path)
    assert given_for.outdated(tmp_path, [second], files) == {("ada", "2.figure")}


def test_an_interrupted_grading_forgets_no_answer(tmp_path):
    (tmp_path / "grades.json").write_text(json.dumps({"results": [with_words("A law.")]}))
    write_overrides(tmp_path, [Override("ada", "2.figure", 2, "", 0)])
    files = feedback.read_files(tmp_path)
    given_for.outdated(tmp_path, [], files)  # interrupted before ada
    (tmp_path / "grades.json").write_text(json.dumps({"results": []}))
    later = given_for.outdated(tmp_path, [with_words("Two laws.")], files)
    assert later == {("ada", "2.figure")}
