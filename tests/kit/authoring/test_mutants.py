"""The mutants of a reference: what they are, and what the checks say of them."""

import ast
import contextlib
import random
from types import SimpleNamespace

import pytest

from helpers.errors import LabError
from helpers.exercise import find_exercise
from kit.authoring.mutants import ask
from kit.authoring.mutants.changes import mutants
from kit.authoring.mutants.table import build_table, score
from kit.authoring.recorded_answers import recorded_answers, stored_mutants
from kit.labs import all_labs
from kit.todo_cells import todo_cells
from tests.asked import asked_again

NUMBERS = [e.number for lab in all_labs() for e in todo_cells(lab)]
LEAST = 0.95  # of the wrong mutants of each exercise


@pytest.mark.parametrize("exercise", NUMBERS)
def test_the_stored_mutants_are_of_the_checks_as_they_are(exercise):
    """Else run `labs mutants`."""
    stored = stored_mutants(exercise)
    assert stored["fingerprint"] == ask.fingerprint(exercise)
    assert stored["mutants"] == len(list(mutants(ask.source_of(exercise))))
    assert score(exercise) >= LEAST


def test_the_table_is_as_the_stored_results_say():
    assert build_table(write=False) == []


@pytest.fixture(scope="module")
def asker():
    with ask.Asker() as running:
        yield running


@pytest.mark.slow
@pytest.mark.xdist_group("mutants")
@pytest.mark.parametrize("exercise", asked_again(NUMBERS))
def test_a_mutant_is_judged_as_stored(exercise, asker):
    """Another one whenever the check or its reference changes; `labs mutants` asks all."""
    found = list(mutants(ask.source_of(exercise)))
    stored = stored_mutants(exercise)
    change, source = random.Random(stored["fingerprint"]).choice(found)
    assert asker.passes(exercise, source) == (change in stored["passed"]), change


def test_every_mutant_is_another_program_and_says_what_changed():
    for exercise in NUMBERS:
        source = ask.source_of(exercise)
        found = dict(mutants(source))
        before = ast.unparse(ast.parse(source))
        assert before not in found.values()
        assert len(set(found.values())) == len(found)
        assert all(" → " in change for change in found)


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("def f(a, b):\n    return a < b", "return a <= b"),
        ("def f(a, b):\n    return a - b", "return b - a"),
        ("def f(a):\n    a = a + 1\n    return a", "a = a + 2"),
        ("def f(a):\n    g(a)\n    return a", "pass"),
        ("def f(a):\n    return g(a, n=1)", "return g(a)"),
        ("def f(a):\n    return sum(a)", "return mean(a)"),
        ("def f(a):\n    return -a", "return a"),
        ("def f(a, b):\n    return a", "return b"),
        ("@d\ndef f(a):\n    return a", "def f(a):"),
        ("def f(a):\n    for i in a:\n        break", "continue"),
    ],
)
def test_each_kind_of_slip_is_made(source, changed):
    lines = [line.strip() for _, new in mutants(source) for line in new.splitlines()]
    assert changed in lines


@pytest.mark.slow
@pytest.mark.xdist_group("mutants")
def test_a_check_that_refuses_its_own_reference_is_no_measure(monkeypatch, asker):
    wrong = "def fit_throughput(points): pass"
    monkeypatch.setattr(ask, "Asker", lambda: contextlib.nullcontext(asker))
    monkeypatch.setattr(ask, "source_of", lambda exercise: wrong)
    with pytest.raises(LabError, match="its own reference"):
        ask.ask_mutants("2.3")


@pytest.mark.slow
@pytest.mark.xdist_group("mutants")
def test_nor_is_one_that_does_not_judge_recorded_answers_as_recorded(monkeypatch, asker):
    name = recorded_answers("2.3").WRONG[0][-1].__name__
    monkeypatch.setattr(ask, "Asker", lambda: contextlib.nullcontext(asker))
    monkeypatch.setattr(asker, "is_as_recorded", lambda exercise, number: number > 0)
    with pytest.raises(LabError, match=f"does not judge `{name}` as recorded"):
        ask.ask_mutants("2.3")


@pytest.mark.slow
@pytest.mark.xdist_group("mutants")
def test_each_recorded_answer_is_asked_about(asker):
    recorded = recorded_answers("2.3")
    both = len(recorded.WRONG) + len(recorded.RIGHT)
    assert all(asker.is_as_recorded("2.3", number) for number in range(both))
    assert not asker.is_as_recorded("2.3", both), "there is none"


def test_what_is_recorded_of_an_answer_is_compared(monkeypatch):
    recorded = recorded_answers("2.3")
    (requirement, mistake, wrong), right = recorded.WRONG[0], recorded.RIGHT[0]
    other = next(one for one in recorded.WRONG if one[0] != requirement)
    for said in (
        (other[0], mistake, wrong), (requirement, other[1], wrong),
        (requirement, mistake, right),
    ):  # fmt: skip
        held = SimpleNamespace(WRONG=[said], RIGHT=[wrong])
        monkeypatch.setattr(ask, "recorded_answers", lambda exercise, held=held: held)
        assert not ask._is_as_recorded("2.3", 0)
        assert not ask._is_as_recorded("2.3", 1), "it is wrong"


def test_a_fingerprint_is_of_the_check_and_of_its_recorded_answers():
    files = {str(path) for path in ask.deciding_files("5.1")}
    assert files >= {
        "helpers/lab_05/ex1_build/judge.py", "helpers/lab_05/ex1_build/probe.py",
        "helpers/lab_05/probing.py", "helpers/checks/judging/verdicts.py",
        "tests/answers/lab_05/ex1_build.py", "tests/answers/lab_05/shared.py",
    }  # fmt: skip
    assert not [path for path in files if "ex2" in path or "lab_06" in path]


def test_a_fingerprint_is_of_which_sentences_a_mistake_breaks_and_not_of_words(monkeypatch):
    before, mistakes = ask.fingerprint("2.1"), find_exercise("2.1").mistakes
    mistake = mistakes["part"]
    monkeypatch.setitem(mistakes, "part", mistake._replace(reaction="Which part?"))
    assert ask.fingerprint("2.1") == before
    monkeypatch.setitem(mistakes, "part", mistake._replace(breaks=["images"]))
    assert ask.fingerprint("2.1") != before


@pytest.mark.weekly
@pytest.mark.xdist_group("mutants")
@pytest.mark.parametrize("source", ["while True: pass", "import os; os._exit(0)"])
def test_a_mutant_that_does_not_end_or_ends_python_does_not_pass(
    monkeypatch, asker, source
):
    with monkeypatch.context() as impatient:
        impatient.setattr(ask, "MUTANT_SECONDS", 1)
        assert not asker.passes("2.3", f"def fit_throughput(points):\n    {source}")
    assert asker.passes("2.3", ask.source_of("2.3"))


def test_every_sentence_reads_as_a_sentence():
    for exercise in NUMBERS:
        for sentence in find_exercise(exercise).requirements.values():
            assert sentence[0].isupper() or sentence[0] == "`"
            assert sentence.endswith(".")
