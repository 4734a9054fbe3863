"""`labs plan`: from run cards, with a line for what is missing or wrong."""

import pytest
from typer.testing import CliRunner

from helpers.errors import LabError
from helpers.records import open_card
from kit import plan
from kit.cli import app


@pytest.fixture
def fit():
    """A run of lab 02 with a law."""
    card = open_card("02_throughput", {}, {})
    card.measure("fit", {"t0_seconds": 0.01, "peak_images_per_second": 1000.0})


@pytest.mark.parametrize(
    ("text", "gbit"),
    [("25Gbit", 25), ("100 Mbit/s", 0.1), ("2.5gbit", 2.5), ("400Gbit/s", 400)],
)
def test_a_link_is_read_with_its_unit(text, gbit):
    assert plan.gbit(text) == pytest.approx(gbit)


@pytest.mark.parametrize("text", ["25", "25GB", "fast", "-1Gbit", "0Gbit", ""])
def test_what_is_no_link_is_refused_with_an_example(text):
    with pytest.raises(LabError, match="25Gbit"):
        plan.gbit(text)


def test_a_plan_says_its_sources_and_what_it_assumes(fit):
    result = CliRunner().invoke(app, ["plan", "--devices", "1", "--link", "25Gbit"])
    # One device, 64 images: 64 / (0.01 + 0.064) images per second, and nobody waits.
    assert "1 devices at 25 Gbit/s: 864.9 images/s, efficiency 100.0%" in result.output
    assert "lab 02" in result.output
    assert "Assumed: critical_batch 1,000, images 1,000,000" in result.output


def test_a_bend_of_lab_03_is_the_critical_batch(fit):
    before = plan.lines(8, "25Gbit", 64, 10**6)
    open_card("03_time_to_accuracy", {}, {}).measure("bend", [50.0, 60.0, 70.0])
    after = plan.lines(8, "25Gbit", 64, 10**6)
    assert "the bend of lab 03" in after[-2]
    assert "critical_batch" not in after[-1]
    assert after[1] != before[1]  # more steps


def test_without_a_law_it_says_what_to_run():
    with pytest.raises(LabError, match="labs run 02"):
        plan.lines(8, "25Gbit", 64, 10**6)
