"""Recipes without an ingredient, trained again and again with one compiled step."""

import math

import pytest

from helpers.data.images import synthetic_images
from helpers.lab_12 import ablation
from helpers.network.recipes import one_cycle


def test_each_length_is_longer_and_the_last_is_the_longest_allowed():
    lengths = ablation.lengths_to_try(5000, 64, 6)
    assert lengths == (78, 110, 156, 221, 312, 468)
    assert ablation.lengths_to_try(100, 64, 1) == (1,)
    assert ablation.lengths_to_try(10, 64, 1) == (1,)


def test_a_stretched_cycle_is_one_cycle_of_any_length():
    stretched = ablation.StretchedCycle(0.3)
    for steps in (100, 400):
        stretched.steps.assign(steps)
        usual = one_cycle(0.3, steps)
        for step in (0, steps // 10, steps // 4, steps // 2, steps):
            assert math.isclose(float(stretched(step)), float(usual(step)), rel_tol=1e-4)


def test_only_a_run_that_reached_the_target_has_seconds():
    attempts = [ablation.Attempt(10, 1.5, 0.6), ablation.Attempt(20, 2.5, 0.8)]
    assert ablation.seconds_to_target(attempts, 0.8) == 2.5
    assert ablation.seconds_to_target([list(one) for one in attempts], 0.8) == 2.5
    assert ablation.seconds_to_target(attempts, 0.81) is None


@pytest.fixture(scope="module")
def sizes():
    data = synthetic_images(1)
    x, y = data.x_train[:96], data.y_train[:96]
    return ablation.Sizes((x, y, x[:32], y[:32]), 16, 0.1, 2.0, (2, 3))


@pytest.mark.parametrize(
    "dropped",
    [(), pytest.param(("one cycle",), marks=pytest.mark.weekly)],
    ids=["all", "constant rate"],
)
def test_a_race_begins_again_for_each_seed(sizes, dropped):
    recipe = ablation.Recipe(sizes, dropped)
    first, other, again = (
        [attempt.accuracy for attempt in recipe.race(seed)] for seed in (1, 2, 1)
    )
    assert first == again
    assert len(first) == len(other) == 2, "the target is out of reach"
    # With one cycle, each length begins again, and so do its steps.
    assert int(recipe.optimizer.iterations.numpy()) == 3
