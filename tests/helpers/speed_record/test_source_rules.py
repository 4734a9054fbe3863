"""Which sources may be judged, and which carry data or break another rule."""

import base64
import random

import pytest

from helpers.errors import LabError
from helpers.speed_record.source_rules import source_problems, without_docstrings
from kit.leaderboard.header import header

HONEST = '''"""Nearest mean

authors: A. Student
target: sprint
predicted gain: 1.3
based on: the fast recipe
"""

import numpy as np
from helpers.network.recipes import fast_network


def train(x, y, seed):
    """Train."""
    means = np.stack([x[y == k].mean(0) for k in range(10)])
    return lambda images: ((images[:, None] - means) ** 2).sum((2, 3, 4)).argmin(1)
'''
DATA = base64.b85encode(random.Random(0).randbytes(3000)).decode()


def test_an_honest_source_has_no_problem():
    assert source_problems(HONEST) == []


def smuggled(line):
    return f"{HONEST}\n{line}\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f'answers = "{DATA[:201]}"', "characters, and 200"),
        (f"answers = '{DATA[:120].replace(chr(39), '')}' '{'b' * 120}'", "200"),
        (f"answers = b'{'ab' * 101}'", "200"),
        (f"answers = {'7' * 201}", "200"),
        (f"answers = 0x{'f' * 180}", "200"),
        (f"answers = {list(range(120))}", "200"),
        (f"answers = ({'1, ' * 201})", "200"),
        (f"answers = '{'a' * 150}' + '{'b' * 150}'", "200"),
        (f"answers = {{1: '{'a' * 100}', 2: '{'b' * 100}'}}", "200"),
        (f"answers = [{', '.join(['-1'] * 201)}]", "200"),
        (f"answers = f'{'a' * 201}{{seed}}'", "200"),
        ("\n".join(f"a{k} = '{'x' * 190}'" for k in range(11)), "All literals"),
        (f"{'a' * 41} = 1", "more than 40 characters"),
        (f"# {'c' * 20_000}", "20,000 are allowed"),
        ("import requests", "imports requests"),
        ("from helpers.data.fashion_mnist import fashion_mnist", "imports helpers.data"),
        ("from . import labels", "imports ."),
        ("def train(x): ...", "train must take x, y and seed"),
        ("train = (", "not Python (line"),
        ("\0", "not Python"),
    ],
    ids=lambda text: text[:24],
)
def test_a_source_that_breaks_a_rule_is_told_which(line, problem):
    assert any(problem in one for one in source_problems(smuggled(line)))


def test_a_source_without_train_is_told_so():
    assert "defines no function train" in source_problems("x = 1")[0]


def test_docstrings_and_comments_do_not_reach_the_judged_code():
    text = HONEST + f'\n"""{"d" * 300}"""\n# {"c" * 300}\n'
    assert source_problems(text) == []
    names = {}
    exec(compile(without_docstrings(text), "<submission>", "exec"), names)
    assert names.get("__doc__") is None
    assert names["train"].__doc__ is None


def test_the_header_says_who_and_how_much_faster():
    found = header(HONEST)
    assert found.title == "Nearest mean"
    assert found.authors == "A. Student"
    assert found.target == "sprint"
    assert found.predicted_gain == 1.3
    assert found.based_on == "the fast recipe"
    assert header("x = 1").title == "untitled"


@pytest.mark.parametrize("line", ["target: moon", "predicted gain: lots"])
def test_a_header_that_cannot_be_read_is_refused(line):
    with pytest.raises(LabError, match="must be"):
        header(f'"""Title\n\n{line}\n"""')
