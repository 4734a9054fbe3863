"""The README's results say what the stored run cards say."""

import math
import re

import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.authoring.pages import results


def test_the_gain_of_fewer_steps_in_lab_08_is_named_and_the_others_are_what_is_left():
    measured = results._stored_card("08")["measurements"]
    gains, seconds = measured["gains"], measured["seconds_to_target"]
    said = results.faster_section()
    whole = seconds["original"] / seconds["fast"]
    assert f" s: {whole:.1f} times as fast. (Both" in said
    step_gain = gains["fewer steps"]
    assert f"gains a factor of {step_gain:.1f}." in said
    assert f"together gain {whole / step_gain:.1f}." in said
    assert all(f"{gain:.2f}" in said for gain in gains.values())


def test_the_gain_of_fewer_steps_is_mostly_that_of_the_epochs():
    said = results.faster_section()
    found = re.search(r"needs (\d+) epochs instead of (\d+).*? factor of ([\d.]+)\.", said)
    few, many, step_gain = map(float, found.groups())
    assert many / few == pytest.approx(step_gain, rel=0.1)


def test_each_change_of_lab_08_is_explained():
    gains = results._stored_card("08")["measurements"]["gains"]
    assert set(gains) == set(results.MEANING)


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.004, ""), (1.02, "slightly faster"), (0.98, "slightly slower")]
)
def test_the_speed_of_a_step_is_named_where_it_changes(ratio, said):
    assert results._of_a_step(ratio).endswith(said)


def test_only_changes_that_were_kept_are_in_the_table():
    gains = {"a": 2.0, "b": 0.5, "c": 3.0, "d": 1.2}
    assert results._kept(gains, math.prod(gains.values())) == ("a", "b", "c", "d")
    assert results._kept(gains, 3.0) == ("a", "b", "c")
    assert results._kept(gains, 6.0) == ("a", "c")
    with pytest.raises(LabError, match="labs outputs 08"):
        results._kept(gains, 5.0)


def test_what_was_slower_or_undone_is_named():
    gains = {"a": 2.0, "b": 0.5, "d": 1.2}
    assert results._exceptions({"a": 2.0}, ("a",)) == ""
    assert results._exceptions(gains, ("a", "b", "d")).startswith(" *B* stayed, although")
    said = results._exceptions(gains, ("a", "d"))
    assert said == " We also tried *b* (0.50), and left it out."
    said = results._exceptions(gains, ("a", "b"))
    assert "We also tried *d* (1.20), and left it out, because in so short" in said


def test_a_scored_prediction_of_lab_06_is_quoted():
    entry = results._stored_card("06")["predictions"]["array_over_files"]
    said = results.prediction_section()
    assert said.startswith("    Your prediction ")
    assert f"{entry['value']:g}" in said


def test_the_readme_quotes_it_without_the_question_that_a_student_will_be_asked():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    before = readme.partition("## How a lab works")[2].partition("<!-- prediction:")[0]
    assert "we had guessed" in before
    assert not re.search(r"lab\s+\d\d|reading images", before)
