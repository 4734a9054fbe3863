"""`labs plan`: from run cards, with a line for what is missing or wrong."""

import pytest
from typer.testing import CliRunner

from helpers.errors import LabError
from helpers.lab_09.forecast import law_of_lab_09
from helpers.run_card.records import open_card
from kit.cli import app
from kit.generate import generate
from kit.headless import plan
from kit.labs import find_lab

LAW = {"t0_seconds": 0.01, "peak_images_per_second": 1000.0}


@pytest.fixture
def fit():
    """A run of lab 02 with a law."""
    card = open_card("02_throughput", {"depth": 10, "width": 1}, {})
    card.measure("fit", LAW)
    card.finish()


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


def labs_plan(devices, *options):
    command = ["plan", "--devices", str(devices), "--link", "25Gbit", *options]
    return CliRunner().invoke(app, command)


def test_a_plan_says_its_sources_and_what_it_assumes(fit):
    result = labs_plan(1)
    # One device, 64 images: 64 / (0.01 + 0.064) images per second, and nobody waits.
    assert "1 devices at 25 Gbit/s: 864.9 images/s, efficiency 100.0%" in result.output
    assert "From t0, peak and parameters of lab 02." in result.output
    assert "Assumed: critical_batch 1,000, images 1,000,000" in result.output


def test_a_bend_of_lab_03_is_the_critical_batch(fit):
    before = plan.lines(8, "25Gbit", 64)
    open_card("03_time_to_accuracy", {}, {}).measure("bend", [50.0, 60.0, 70.0])
    after = plan.lines(8, "25Gbit", 64)
    assert "the bend of lab 03" in after[-2]
    assert "critical_batch" not in after[-1]
    assert after[1] != before[1]  # more steps


def test_a_plan_stands_after_the_setup_cell_of_lab_02_is_run_again(fit):
    before = labs_plan(8).output
    open_card("02_throughput", {"depth": 16, "width": 4}, {})  # measured nothing yet
    assert labs_plan(8).output == before


def test_speed_and_parameters_are_those_of_one_network():
    card = open_card("09_many_machines", {}, {})
    card.measure("fit", LAW | {"parameters": 203_530})
    said = labs_plan(8).output
    assert "From t0, peak and parameters of lab 09." in said
    assert "Assumed: critical_batch" in said
    assert said == labs_plan(8, "--parameters", "203530").output
    larger = labs_plan(8, "--parameters", "25000000").output
    assert "Assumed: parameters 25,000,000, critical_batch" in larger
    assert larger.splitlines()[0] != said.splitlines()[0]


def test_lab_09_keeps_the_parameters_of_the_network_that_it_times():
    cells = [cell.source for cell in generate(find_lab("09"))[1].cells]
    [source] = [source for source in cells if 'card.measure("fit"' in source]
    law = (0.01, 1000.0, 814_120, 1e-4, 1e9)
    card = open_card("09_many_machines", {}, {})
    keeps = source[source.index("fit = ") :]
    exec(keeps, {"law": law, "measured": {"parameters": 203_530}, "card": card})
    assert law_of_lab_09() == {"t0_seconds": 0.01, "peak": 1000.0, "parameters": 203_530}


def test_speed_of_an_unknown_network_is_not_used():
    """Cards of lab 09 had no parameters before."""
    open_card("09_many_machines", {}, {}).measure("fit", LAW)
    with pytest.raises(LabError, match="labs run 02"):
        plan.lines(8, "25Gbit", 64)


def test_devices_that_fail_before_they_have_restarted_are_refused(fit):
    with pytest.raises(LabError) as error:
        plan.lines(100_000_000, "25Gbit", 64)
    assert str(error.value) == (
        "100,000,000 devices would fail every 0.228 s, and a restart takes 600 s: "
        "ask for at most 38,016 devices."
    )
    assert "Save every 103 s" in plan.lines(38_016, "25Gbit", 64)[2]


def test_without_a_law_it_says_what_to_run():
    with pytest.raises(LabError, match="labs run 02"):
        plan.lines(8, "25Gbit", 64)
