"""What a box is told and what it may reply: no answer in a question, nothing left out."""

import copy
import functools
import itertools
import json
import random

import pytest

from helpers.checks import judge_replies
from helpers.checks.observe import observe
from helpers.exercise import find_exercise
from kit.labs import all_labs
from kit.todo_cells import todo_cells
from tests.asked import asked_again

NUMBERS = [exercise.number for lab in all_labs() for exercise in todo_cells(lab)]
# In one process, which keeps the reply.
each_exercise = pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(
            *one.values, marks=[*one.marks, pytest.mark.xdist_group(f"reply to {n}")]
        )
        for n, one in zip(NUMBERS, asked_again(NUMBERS), strict=True)
    ],
    ids=NUMBERS,
)
# The observation holds numbers that the answer was given: what it chose among, or did.
GIVEN = {
    "6.4": "the learning rate of the first step",
    "2.2": "what `measure` returned is stored as it is",
    "4.3": "the rows that it trains on and validates, as they come",
    "3.3": "the medians of odd numbers of times, the fastest, and the slowest",
}
# Lists that are as long as the answer likes: lines that it printed, an error's classes;
# and one that a judge need not look at, because the number of waits says the same.
FREE = {"printed", "raised", "epochs_run"}
# Lists with an entry for each event: how often a metric was read, who saw an image.
LOGS = {("4.3", "events"), ("6.3", "images")}
MOST_LISTS = 12  # that are changed in a reply


@functools.cache
def reply(exercise):
    """What a box is asked, and what the reference's process replies to it."""
    kept, asked = [], find_exercise(exercise)

    def ask(question):
        kept.append(copy.deepcopy(question))
        kept.append(observe(asked.probe, asked.reference, question))
        return copy.deepcopy(kept[-1])

    assert judge_replies(exercise, ask, random.Random(5), 1) is None
    return kept


def again(exercise, observation):
    """The verdict on another reply to the same question."""
    return judge_replies(exercise, lambda question: observation, random.Random(5), 1)


def parts(value, path=()):
    """All parts of a value, each with the way there."""
    yield path, value
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, part in value.items():
            yield from parts(part, (*path, key))


@each_exercise
def test_a_question_does_not_hold_what_the_answer_has_to_find(exercise):
    question, observation = reply(exercise)
    observation = {name: part for name, part in observation.items() if name != "waits"}
    asked, said = (
        # Not 0.75, which may be in both by chance.
        {value for _, value in parts(whole) if isinstance(value, float) and value * 64 % 1}
        for whole in (question, observation)
    )
    assert bool(asked & said) == (exercise in GIVEN), asked & said
    assert "secret" not in question


@each_exercise
def test_a_reply_with_a_list_that_is_shorter_or_longer_is_refused(exercise):
    _, observation = reply(exercise)
    lists = [
        path
        for path, part in parts(observation)
        if isinstance(part, list)
        and not FREE & set(path)
        and (exercise, *path[-1:]) not in LOGS
        # Without waits of its own an exercise is not asked about any.
        and (path[0] != "waits" or (len(path) == 1 and part))
    ]
    random.Random(exercise).shuffle(lists)
    changes = (lambda part: [], lambda part: part[:-1], lambda part: [*part, *part[-1:]])
    for path, change in itertools.product(lists[:MOST_LISTS], changes):
        forged = copy.deepcopy(observation)
        *way, last = path
        inside = functools.reduce(lambda whole, key: whole[key], way, forged)
        inside[last] = change(inside[last])
        if forged != observation:
            assert again(exercise, forged), (path, json.dumps(forged)[:500])


@each_exercise
def test_a_reply_without_one_of_its_parts_is_refused(exercise):
    _, observation = reply(exercise)
    needed = set(observation) - {"waits", "changed", *FREE}
    for name in needed:
        forged = {key: part for key, part in observation.items() if key != name}
        assert again(exercise, copy.deepcopy(forged)), name
