"""The README's results say what the stored run cards say."""

import math

from kit.authoring.pages import results


def test_the_largest_gain_of_lab_08_is_named_and_the_others_are_what_is_left():
    measured = results._stored_card("08")["measurements"]
    gains, seconds = measured["gains"], measured["seconds_to_target"]
    said = results.faster_section()
    whole = seconds["original"] / seconds["fast"]
    assert f"which is {whole:.1f} times as fast" in said
    assert f"a factor of {max(gains.values()):.1f}" in said
    assert f"together a factor of {whole / max(gains.values()):.1f}" in said
    assert all(f"{gain:.2f}" in said for gain in gains.values())


def test_a_change_that_was_undone_is_named_only_if_the_factors_say_so():
    gains = {"a": 2.0, "b": 0.5, "c": 3.0}
    assert "*b* did not stay" in results._not_kept(gains, 6.0)
    assert results._not_kept(gains, math.prod(gains.values())) == ""
    assert results._not_kept({"a": 2.0}, 2.0) == ""


def test_a_scored_prediction_of_lab_06_is_quoted():
    entry = results._stored_card("06")["predictions"]["array_over_files"]
    said = results.prediction_section()
    assert said.startswith("    Your prediction ")
    assert f"{entry['value']:g}" in said
