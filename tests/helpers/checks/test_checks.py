"""Every check rejects the start code, accepts right answers, and names what is wrong."""

import ast
import functools
import inspect
import json
import linecache
import random
import re
import sys
import time
import tomllib
from string import Formatter
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.checks import check, judge_answer, judge_replies
from helpers.checks.observe import observe
from helpers.errors import CheckError
from helpers.exercise import HELPERS, exercise_folders, find_exercise, numbers_of
from helpers.notebook import session
from helpers.run_card import documents
from kit.authoring.recorded_answers import recorded_answers, verdict_on
from kit.generate import generate
from kit.labs import all_labs, find_lab
from tests.asked import (
    TRAINED_ONCE,
    asked_again,
    most_right,
    right_answers,
    wrong_answers,
)


def exercises():
    """(exercise, source of the student's cell, source of the solution's cell)."""
    found = []
    for lab in all_labs():
        student, solution = generate(lab)
        for asked, solved in zip(student.cells, solution.cells, strict=True):
            if asked.source.startswith("# TODO"):
                exercise = asked.source.split()[2].rstrip(":")
                found.append((exercise, asked.source, solved.source))
    return found


def answer_in(source, exercise):
    """Run a TODO cell with what its notebook has imported; return what it defines."""
    namespace = {}
    exec(imports(find_lab(exercise.split(".")[0])), namespace)
    # So that tf.function finds the source, as it does in a notebook.
    name = f"<exercise {exercise}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), namespace)
    return namespace[find_exercise(exercise).reference.__name__]


@functools.cache
def imports(lab):
    """All import statements of a lab."""
    cells = [cell for cell in generate(lab)[0].cells if cell.cell_type == "code"]
    nodes = ast.walk(ast.parse("\n".join(cell.source for cell in cells)))
    return "\n".join(
        ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)
    )


EXERCISES = exercises()
# One thing in the plural, but at the end of a list: "batches of 3, 3, 1 images".
MISCOUNTED = re.compile(
    r"\bit were\b|(?<![\w.,-])(?<!, )1 (?:were|batches|fetches|(?:epoch|example|image|"
    r"line|message|number|parameter|point|product|repeat|replica|save|step|tensor|time|value|"
    r"weight|worker)s)\b"
)
NUMBERS = [exercise for exercise, _, _ in EXERCISES]
WRONG = [
    pytest.param(exercise, *one, id=f"{exercise}-{one[-1].__name__}", marks=marks)
    for exercise in NUMBERS
    for one, marks in wrong_answers(recorded_answers(exercise).WRONG)
]
RIGHT = [
    pytest.param(exercise, answer, id=f"{exercise}-{answer.__name__}", marks=marks)
    for exercise in NUMBERS
    for answer, marks in right_answers(
        recorded_answers(exercise).RIGHT, most_right(exercise)
    )
]


@pytest.mark.parametrize(("exercise", "asked", "solved"), EXERCISES, ids=lambda v: v[:3])
def test_start_code_has_its_own_hint_and_the_solution_passes(exercise, asked, solved):
    verdict = judge_answer(exercise, answer_in(asked, exercise), random.Random(1))
    assert verdict is not None
    assert verdict.mistake == "start", verdict
    # It is the reference, which is asked other questions below.
    assert judge_answer(exercise, answer_in(solved, exercise), random.Random(1), 1) is None


@pytest.mark.parametrize("exercise", asked_again(NUMBERS))
def test_the_reference_passes_whatever_is_asked(exercise):
    reference, until = find_exercise(exercise).reference, time.monotonic() + 1
    for seed in range(3):
        assert judge_answer(exercise, reference, random.Random(seed), 1) is None
        if time.monotonic() > until:
            break


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "requirement", "mistake", "answer"), WRONG)
def test_a_wrong_answer_is_refused_with_its_mistake_and_the_sentence_it_breaks(
    exercise, requirement, mistake, answer
):
    verdict = verdict_on(exercise, answer, mistake)
    assert verdict is not None
    assert verdict.mistake == mistake, verdict
    assert not MISCOUNTED.search(verdict.reason)
    asked = find_exercise(exercise)
    assert requirement in asked.mistakes[mistake].breaks
    assert verdict.requirement == asked.requirements[requirement]


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_an_answer_in_another_style_passes(exercise, answer):
    # Other questions to each answer; where they cost nothing, as many as a class gets.
    rng, until = random.Random(answer.__name__), time.monotonic() + 0.05
    for _ in range(300):
        assert judge_answer(exercise, answer, rng, 1) is None
        if time.monotonic() > until:
            break


@pytest.mark.slow
@pytest.mark.parametrize("exercise", NUMBERS)
def test_an_answer_that_keeps_results_between_calls_is_refused(exercise):
    reference = find_exercise(exercise).reference
    if inspect.isclass(reference):
        assert judge_answer(exercise, with_one_state(reference), random.Random(1), 1)
        return
    if not inspect.isfunction(reference):
        pytest.skip("a graph")
    calls, answered = [], []

    def listens(*values):
        calls.append(values)
        assert is_plain(values)  # or no more is asked
        result = reference(*values)
        answered.append(values)
        return result

    judge_answer(exercise, listens, random.Random(1), 1)
    if not calls:
        pytest.skip("called in other processes")
    if not all(map(is_plain, calls)):
        if exercise in TRAINED_ONCE:
            pytest.skip("a call trains: none is repeated with other objects alone")
        assert judge_answer(exercise, remembering(reference), random.Random(1), 1)
        return
    returned, again = (reference(*answered[0]) for _ in range(2))
    if repr(returned) != repr(again):
        pytest.skip("its arguments do not decide what it returns")
    if isinstance(returned, list | dict):
        for seed in range(3):
            answer = with_one_result(reference, type(returned)())
            assert judge_answer(exercise, answer, random.Random(seed), 1)
    for forgotten in inspect.signature(reference).parameters:
        for seed in range(3):
            answer = remembering(reference, forgotten)
            assert judge_answer(exercise, answer, random.Random(seed), 1), forgotten


def with_one_result(reference, result):
    """An answer that always returns this list or dict, with what is right for now."""

    def answer(*values):
        right = reference(*values)
        result.clear()
        (result.update if isinstance(result, dict) else result.extend)(right)
        return result

    return answer


def with_one_state(reference):
    """A class that keeps in itself what each of its objects should keep."""

    class Answer(reference):
        def __setattr__(self, name, value):
            if callable(value):  # a probe may replace a method of one object
                super().__setattr__(name, value)
            else:
                setattr(type(self), name, value)

    return Answer


def remembering(reference, forgotten=None):
    """An answer that finds its results again by all plain arguments but one."""
    known, signature = {}, inspect.signature(reference)

    def answer(*values):
        given = signature.bind(*values).arguments
        key = repr([v for name, v in given.items() if name != forgotten and is_plain(v)])
        if key not in known:
            known[key] = reference(*values)
        return known[key]

    return answer


def is_plain(value):
    """Whether it is JSON, or a tuple or an array: as text it can be found again."""
    if isinstance(value, np.ndarray):
        return value.size < 1000  # NumPy writes a larger one with gaps
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, [*value, *value.values()]))
    return value is None or isinstance(value, bool | int | float | str)


@pytest.mark.parametrize("exercise", NUMBERS)
def test_questions_are_plain_json_and_differ(exercise):
    rng, draw = random.Random(0), find_exercise(exercise).draw_question
    first, second = (json.dumps(draw(rng), allow_nan=False) for _ in range(2))
    assert first != second


@pytest.mark.parametrize("exercise", NUMBERS)
def test_each_sentence_is_broken_by_a_wrong_answer_and_each_mistake_is_recorded(exercise):
    asked = find_exercise(exercise)
    recorded = recorded_answers(exercise).WRONG
    assert {requirement for requirement, _, _ in recorded} == set(asked.requirements)
    mistakes = {mistake for _, mistake, _ in recorded}
    own = {key for key, mistake in asked.mistakes.items() if mistake.breaks}
    # Every exercise may raise, change an argument or return what JSON lacks.
    assert own - {"raised"} <= mistakes <= own
    assert {"start", "raised"} <= own
    for mistake in asked.mistakes.values():
        assert set(mistake.breaks) <= set(asked.requirements)
        assert mistake.reaction.endswith((".", "?", "`."))


def test_make_test_asks_about_each_sentence_and_several_right_answers():
    asked = {one.values[:2] for one in WRONG if not one.marks}
    sentences = {(n, key) for n in NUMBERS for key in find_exercise(n).requirements}
    assert asked == sentences
    right = [one.values[0] for one in RIGHT if not one.marks]
    assert all(right.count(number) == most_right(number) for number in NUMBERS)


@pytest.mark.parametrize("exercise", NUMBERS)
def test_an_answer_with_other_arguments_gets_advice_about_its_first_line(exercise):
    def answer(*, nobody_gives_this):
        """Not called at all."""

    verdict = judge_answer(exercise, answer, random.Random(0))
    reaction = find_exercise(exercise).reaction(verdict.mistake, verdict.reason)
    assert reaction.startswith("Does the first line of your function have"), verdict


@pytest.mark.parametrize("exercise", NUMBERS)
def test_the_words_of_an_exercise_are_exactly_those_that_its_judge_uses(exercise):
    folder = HELPERS.joinpath(*find_exercise(exercise).package.split(".")[1:])
    shared = [folder.parent / "judging.py", *HELPERS.glob("checks/judging/*.py")]
    said = [call for path in (folder / "judge.py", *shared) for call in sentences_of(path)]
    gaps = {
        key: {name for _, name, _, _ in Formatter().parse(text) if name}
        for key, text in find_exercise(exercise).seen.items()
    }
    for key, facts in sentences_of(folder / "judge.py"):
        assert key in gaps, key
        assert facts is None or gaps[key] <= facts, (key, facts)
    with open(folder / "words.toml", "rb") as file:
        own = tomllib.load(file).get("seen", {})
    assert set(own) <= {key for key, _ in said}, "no judge says it"


def sentences_of(path):
    """The keys that a judge names, each with its facts; None where these are computed."""
    if not path.is_file():
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in PLACE_OF_KEY:
            key = call.args[PLACE_OF_KEY[call.func.id]]
            names = {keyword.arg for keyword in call.keywords}
            # `"a" if seen else "b"` names two.
            for one in ast.walk(key):
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield one.value, None if None in names else names


PLACE_OF_KEY = {"wrong": 1, "phrase": 0}


@pytest.mark.parametrize("path", sorted(HELPERS.glob("lab_*/**/judg*.py")), ids=str)
def test_a_judge_has_no_words(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = ast.Module | ast.FunctionDef | ast.ClassDef
    docstrings = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, documented)
    }
    errors = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise)
              for part in ast.walk(node)}  # fmt: skip
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in errors and node.value not in docstrings
    ]
    assert not [text for text in texts if len(text.split()) > 3]


@pytest.mark.parametrize("exercise", NUMBERS)
def test_every_exercise_has_at_least_ten_right_answers(exercise):
    assert len(set(recorded_answers(exercise).RIGHT)) >= 10


def test_the_folders_of_exercises_are_those_of_the_labs():
    assert [n for lab in all_labs() for n in numbers_of(lab.number)] == NUMBERS
    folders = [p for lab in all_labs() for p in exercise_folders(lab.number)]
    assert len(folders) == len(NUMBERS)


def test_a_failed_check_quotes_the_sentence_that_was_broken(card, capsys):
    wrong = recorded_answers("2.3")
    [requirement] = [r for r, _, answer in wrong.WRONG if answer is wrong.milliseconds]
    check("2.3", wrong.milliseconds)
    sentence = find_exercise("2.3").requirements[requirement]
    assert f"  Required: {sentence}\n" in capsys.readouterr().out


@pytest.fixture
def card(monkeypatch):
    card = documents.open_card("02_throughput", {}, {})
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    return card


def test_a_failed_check_explains_and_gives_the_reference(card, capsys):
    def sweep(batch_sizes, measure, points):
        pass

    got = check("2.2", sweep)
    assert got is find_exercise("2.2").reference
    printed = capsys.readouterr().out
    assert printed.startswith("✗ 2.2 not yet: ")
    assert "Your turn:" in printed
    assert card.content["checks"]["2.2"]["passed"] is False


def test_a_passed_check_gives_the_students_own(card, capsys):
    mine = recorded_answers("2.3").by_regression
    assert check("2.3", mine) is mine
    assert capsys.readouterr().out.startswith("✓ 2.3 ")
    assert documents.read_card(card.path)["checks"]["2.3"]["passed"] is True


@pytest.mark.parametrize("lines", [1, 20, 21, 1496])
def test_a_print_in_an_answer_leaves_the_verdict_in_sight(card, capsys, lines):
    mine = recorded_answers("2.3").by_regression
    left = list(range(lines))

    def prints(*arguments):
        while left:
            print("line", left.pop(0))
        return mine(*arguments)

    assert check("2.3", prints) is prints
    *shown, verdict = capsys.readouterr().out.splitlines()
    assert verdict.startswith("✓ 2.3 ")
    assert shown[:20] == [f"line {n}" for n in range(lines)][:20]
    more = {21: ["… and 1 more line that your function printed"],
            1496: ["… and 1,476 more lines that your function printed"]}  # fmt: skip
    assert shown[20:] == more.get(lines, [])


def test_the_reference_handed_in_again_is_not_an_answer(card, capsys):
    reference = check("2.3", None)
    assert check("2.3", reference) is reference
    said = capsys.readouterr().out
    assert "this is the reference" in said
    assert "Your turn: Run your cell for 2.3 again, and then this one." in said
    assert card.content["checks"]["2.3"]["passed"] is False


def test_a_check_raises_only_where_strictness_is_asked_for(card, monkeypatch):
    assert check("2.3", None)
    monkeypatch.setenv("LABS_STRICT", "1")
    with pytest.raises(CheckError, match=r"2\.3 not yet"):
        check("2.3", None)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: sys.exit(0),
        lambda: float("nan"),
        lambda: {1, 2},
        lambda: (_ for _ in ()).throw(MemoryError),
    ],
)
def test_an_answer_that_leaves_or_speaks_no_json_is_an_error_in_one_line(answer):
    seen = observe(lambda answer, question, wait: {"value": answer()}, answer, {})
    assert list(seen) == ["error", "mistake"]
    assert "\n" not in seen["error"]


def test_a_reply_that_was_written_before_the_question_is_none():
    asked, kept = find_exercise("2.3"), []

    def ask(question):
        kept.append(observe(asked.probe, asked.reference, question))
        return {**kept[-1], "nonce": kept[0]["nonce"]}

    assert judge_replies("2.3", ask, random.Random(1), 1) is None
    assert judge_replies("2.3", ask, random.Random(1), 2).mistake == "form"


def test_only_the_judge_may_call_a_reply_unclear():
    exercise = find_exercise("2.3")
    replies = [lambda _: {"error": "too hard", "mistake": "unclear"}]
    right = functools.partial(observe, exercise.probe, exercise.reference)
    replies += [right] * 3

    def ask(question):
        return replies.pop(0)(question)

    verdict = judge_replies("2.3", ask, random.Random(1), 3)
    assert verdict[:2] == ("too hard", "raised")


def test_a_student_who_replaces_the_clock_does_not_reach_the_judge(monkeypatch):
    import time

    def probe(answer, question, wait):
        monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
        wait(0.01)
        return {}

    [[began, ended]] = observe(probe, None, {})["waits"]
    assert ended - began >= 0.01
