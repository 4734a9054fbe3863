"""Published trainings: sources, an older range, and hits."""

import pytest

from helpers.errors import LabError
from helpers.lab_11.plans import planner, published_trainings

TRAININGS = published_trainings.trainings()
ASKED = {
    "model": "llama-3-70b", "devices": 64, "memory_gb": 80, "link_gbit": 400,
    "training_tokens": 15e12,
}  # fmt: skip


@pytest.mark.parametrize("training", TRAININGS.values(), ids=lambda one: one.name)
def test_a_training_has_a_source_and_a_time_that_its_devices_can_reach(training):
    assert training.url.startswith("https://")
    assert training.quote
    assert training.checked
    model, cluster = training.model, training.cluster
    operations = 6 * model.parameters * model.training_tokens
    peak = cluster.devices * cluster.peak_operations_per_second
    mfu = operations / peak / (training.days * planner.DAY_SECONDS)
    assert 0.15 < mfu < 0.6
    # 12 l h^2 and two tables of words, as every transformer of this kind has.
    width, layers = model.hidden_width, model.layers
    estimate = 12 * layers * width**2 + model.vocabulary * width
    assert model.parameters == pytest.approx(estimate, rel=0.25)
    assert model.hidden_width % model.heads == 0


def test_the_range_is_older_than_what_it_is_scored_on():
    assert all(
        one.year > published_trainings.RANGE_SOURCE["year"]
        for one in TRAININGS.values()
        if one.used == "scored"
    )


def test_a_hit_lies_in_the_range_and_no_device_works_above_its_peak():
    rows = published_trainings.forecasts()
    assert len(rows) == sum(one.used == "scored" for one in TRAININGS.values())
    for row in rows:
        low, high = row["range"]
        assert row["hit"] == (low <= row["days"] <= high)
        assert low * max(published_trainings.MFUS) == pytest.approx(row["peak_days"])
        assert high * min(published_trainings.MFUS) == pytest.approx(row["peak_days"])


def test_a_plan_fits_on_the_devices_of_each_scored_training():
    for one in TRAININGS.values():
        if one.used == "scored":
            assert planner.fastest(one.model, one.cluster, published_trainings.MFUS)


def test_what_if_plans_for_the_devices_that_were_asked_for():
    rows = published_trainings.what_if(ASKED)
    fit = sum(row["fits"] for row in rows)
    words = published_trainings.in_words(rows, 2)
    assert words[0] == f"{fit} of {len(rows)} plans fit"
    assert len(words) == 5
    half = published_trainings.what_if(ASKED | {"training_tokens": 7.5e12})
    assert half[0]["training_days"][1] == pytest.approx(rows[0]["training_days"][1] / 2)


def test_what_if_says_that_nothing_fits():
    words = published_trainings.in_words(
        published_trainings.what_if(ASKED | {"devices": 8})
    )
    assert words[0].startswith("0 of ")
    assert all(word.startswith("does not fit: ") for word in words[1:])


@pytest.mark.parametrize(
    "changed",
    [
        {"devices": 0}, {"devices": 2.5}, {"devices": "64"}, {"devices": True},
        {"devices": 10**7}, {"devices": float("nan")}, {"memory_gb": -1},
        {"memory_gb": float("inf")}, {"link_gbit": None}, {"training_tokens": 0},
        {"model": "llama"}, {"model": ["llama-3-70b"]}, {"colour": "red"},
    ],
    ids=str,
)  # fmt: skip
def test_what_if_refuses_an_impossible_setting_in_one_line(changed):
    with pytest.raises(LabError) as error:
        published_trainings.what_if(ASKED | changed)
    assert "\n" not in str(error.value)
