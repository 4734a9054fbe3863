"""A formula knows what each mistake gives, and finds the first value that is wrong."""

import itertools
import random

import pytest

from helpers.checks.judging.formulas import COUNT, Formula


def sum_and_larger(case, mistake):
    """The sum of two numbers, and the name of the larger one."""
    a, b = case
    total = {"difference": a - b, "no_second": a}.get(mistake, a + b)
    return [total, "a" if a >= b else "b"]


SUMS = Formula(sum_and_larger, ("difference", "no_second"))
QUESTION = {"cases": [[1, 0], [2, 3]]}
RIGHT = [[1, "a"], [5, "b"]]


def test_ways_are_the_values_of_all_cases_the_right_ones_first():
    assert list(SUMS.ways(QUESTION).items()) == [
        ("right", RIGHT),
        ("difference", [[1, "a"], [-1, "b"]]),
        ("no_second", [[1, "a"], [2, "b"]]),
    ]


def test_a_right_reply_is_right_up_to_the_tolerance():
    assert SUMS.different(QUESTION, RIGHT) is None
    assert SUMS.different(QUESTION, [[1 + 1e-6, "a"], [5.0, "b"]]) is None
    assert SUMS.different(QUESTION, [[1 + 1e-4, "a"], [5.0, "b"]]).part == 0


def test_near_zero_a_number_may_be_off_by_the_absolute_tolerance():
    question, reply = {"cases": [[0, 0]]}, [[1e-8, "a"]]
    assert SUMS.different(question, reply)
    assert SUMS._replace(absolute=1e-7).different(question, reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        # The first value is right by chance: a mistake shows in the second case only.
        ([[1, "a"], [-1, "b"]], ([2, 3], 0, -1, 5, "difference")),
        ([[1, "a"], [2, "b"]], ([2, 3], 0, 2, 5, "no_second")),
        ([[1, "a"], [7, "b"]], ([2, 3], 0, 7, 5, "")),
        ([[1, "b"], [-1, "b"]], ([1, 0], 1, "b", "a", "")),
        ([[1, None], [5, "b"]], ([1, 0], 1, None, "a", "")),
        ([[None, "a"], [5, "b"]], ([1, 0], 0, None, 1, "")),
        ([[1, "a"], [5]], ([2, 3], COUNT, [5], [5, "b"], "")),
        ([[1, "a", 0], [5, "b"]], ([1, 0], COUNT, [1, "a", 0], [1, "a"], "")),
    ],
)
def test_the_first_wrong_value_is_found_and_a_usual_mistake_has_its_name(reply, expected):
    assert SUMS.different(QUESTION, reply) == expected


@pytest.mark.parametrize("reply", [RIGHT[:1], [*RIGHT, [0, "a"]]])
def test_a_reply_for_fewer_or_more_cases_is_an_error(reply):
    with pytest.raises(ValueError, match="zip"):
        SUMS.different(QUESTION, reply)


def test_in_a_question_that_is_drawn_every_mistake_shows():
    def make(rng):
        return {"cases": [[rng.randint(0, 2), rng.randint(0, 2)]]}

    for seed in range(50):
        [[a, b]] = SUMS.draw(random.Random(seed), make)["cases"]
        assert len({a + b, a - b, a}) == 3


def test_ways_that_differ_by_less_than_what_was_asked_for_are_not_apart():
    nearly = Formula(lambda case, mistake: [1.001 if mistake else 1.0], ("thousandth",))
    question = {"cases": [0]}
    assert nearly.draw(random.Random(1), lambda rng: question) == question
    with pytest.raises(RuntimeError, match="all mistakes differ"):
        nearly._replace(apart=0.01).draw(random.Random(1), lambda rng: question)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (lambda rng: {"cases": [[rng.random(), rng.random()] for _ in range(2)]}, (0, 1)),
        (
            lambda rng: {"cases": [{"a": n} | {"b": n} for n in range(rng.randint(2, 3))]},
            "ab",
        ),
    ],
    ids=["places", "names"],
)
def test_for_each_argument_two_cases_differ_in_nothing_else(make, arguments):
    def work_out(case, mistake):
        a, b = case.values() if isinstance(case, dict) else case
        return [a - b if mistake else a + 2 * b]

    drawn = Formula(work_out, ("difference",), arguments=tuple(arguments))
    for seed in range(20):
        cases = drawn.draw(random.Random(seed), make)["cases"]
        for argument in arguments:
            assert any(
                work_out(one, "") != work_out(two, "")
                and {**as_dict(one), argument: 0} == {**as_dict(two), argument: 0}
                for one, two in itertools.combinations(cases, 2)
            )


def as_dict(case):
    return case if isinstance(case, dict) else dict(enumerate(case))


def test_a_case_that_makes_no_sense_is_not_asked():
    def make(rng):
        return {"cases": [[n, n + rng.random()] for n in rng.sample(range(9), 5)]}

    ordered = SUMS._replace(arguments=(0, 1), sound=lambda case: case[0] < case[1])
    for seed in range(20):
        assert all(a < b for a, b in ordered.draw(random.Random(seed), make)["cases"])
    with pytest.raises(RuntimeError, match="never matters alone"):
        ordered._replace(sound=lambda case: False).draw(random.Random(1), make)


def test_a_reply_with_the_result_of_an_earlier_case_but_for_one_argument_remembers():
    question = {"cases": [[1, 0], [1, 3], [2, 3]]}
    assert SUMS.different(question, [[1, "a"], [1, "a"], [5, "b"]]).mistake == "remembers"
    # Not of a later case, and not of one that differs in two arguments.
    assert SUMS.different(question, [[4, "b"], [4, "b"], [5, "b"]]).mistake == ""
    assert SUMS.different(question, [[1, "a"], [4, "b"], [1, "a"]]).mistake == ""
    # Nor where another result is wrong in another way.
    assert SUMS.different(question, [[1, "a"], [1, "a"], [7, "b"]]).mistake == ""


def test_a_reply_whose_wrong_results_are_all_the_last_one_shares_an_object():
    question = {"cases": [[1, 0], [7, 3], [2, 3]]}
    assert SUMS.different(question, [[5, "b"], [5, "b"], [5, "b"]]).mistake == "shares"
    assert SUMS.different(question, [[1, "a"], [5, "b"], [5, "b"]]).mistake == ""
    assert SUMS.different(question, [[10, "a"], [10, "a"], [10, "a"]]).mistake == ""
