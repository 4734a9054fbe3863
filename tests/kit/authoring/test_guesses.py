"""Every prediction of a solution has an example guess of the kind that its lab asks for."""

import ast

import pytest

from helpers.run_card.prediction_kinds import check_kind, kind_of
from kit.generate import generate
from kit.guesses import COMMENT, NOTE, asked_in, fill_in, guesses_of
from kit.labs import all_labs

each_lab = pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)


def code_of(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def predictions_in(sources):
    """By the variable that holds the guess: the name of each prediction."""
    found = {}
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "card.predict":
                name, value = node.args
                # Of f"law_holds_at_{size}" only what is written out.
                parts = name.values if isinstance(name, ast.JoinedStr) else [name]
                texts = [part.value for part in parts if isinstance(part, ast.Constant)]
                found[ast.unparse(value)] = "".join(texts).rstrip("_")
    return found


@each_lab
def test_each_variable_that_waits_for_a_guess_has_one_and_none_is_left_over(lab):
    student, _ = generate(lab)
    asked = {name for source in code_of(student) for name in asked_in(source)}
    where = f"helpers/{lab.folder.name}/guesses.toml"
    missing, left_over = asked - set(guesses_of(lab)), set(guesses_of(lab)) - asked
    assert not missing, f"{where} has no example guess for {', '.join(sorted(missing))}"
    assert not left_over, f"{where}: no cell asks for {', '.join(sorted(left_over))}"


@each_lab
def test_each_prediction_of_a_solution_is_made_and_of_the_right_kind(lab):
    student, solution = generate(lab)
    asked = {name: None for source in code_of(student) for name in asked_in(source)}
    predictions = predictions_in(code_of(solution))
    for source in code_of(solution):
        assert not asked_in(source), f"there is a None left in:\n{source}"
        for node in ast.parse(source).body:
            name = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
            if name in asked and asked[name] is None:
                asked[name] = ast.literal_eval(node.value)
                assert source.startswith(COMMENT)
    assert asked.keys() <= predictions.keys(), "a guess that nobody locks"
    for variable, guess in asked.items():
        prediction = predictions[variable]
        check_kind(kind_of(lab.name, prediction), guess, f"{lab.name}, {variable}")


@each_lab
def test_the_solution_says_that_its_guesses_are_examples_and_the_notebook_has_none(lab):
    student, solution = generate(lab)
    assert NOTE in solution.cells[0].source
    for cell in student.cells:
        assert NOTE not in cell.source
        assert COMMENT not in cell.source


@pytest.mark.parametrize(
    ("source", "filled"),
    [
        ("my_a = None  # é: change this", f"{COMMENT}\nmy_a = 0.5  # é: change this"),
        (
            'my_b = {"é": None, 2: None}\ncard.predict("b", my_b)',
            f'{COMMENT}\nmy_b = {{"é": True, 2: 7}}\ncard.predict("b", my_b)',
        ),
        (
            "my_b = {\n  2: None,\n  3: None\n}",
            f"{COMMENT}\nmy_b = {{\n  2: 7,\n  3: None\n}}",
        ),
        ("my_c = None", "my_c = None"),
        ("other = None", "other = None"),
        ("my_a = card.predict('a', my_a)", "my_a = card.predict('a', my_a)"),
        ("%magic\nmy_a = None", "%magic\nmy_a = None"),
    ],
)  # fmt: skip
def test_a_guess_takes_the_place_of_none_and_nothing_else_changes(source, filled):
    guesses = {"my_a": 0.5, "my_b": {"é": True, "2": 7}, "other": 1}
    assert fill_in(source, guesses) == filled
