"""`labs plan`: from run cards, with a line for what is missing or wrong."""

import json
import os
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from helpers.errors import LabError
from helpers.files import runs_folder
from helpers.run_card.documents import open_card, read_card
from kit.cli import app
from kit.generate import generate
from kit.headless import plan
from kit.labs import find_lab

LAW = {"t0_seconds": 0.01, "peak_images_per_second": 1000.0}


@pytest.fixture
def fit():
    """A run of lab 02 with a law."""
    a_fit("laptop")


def a_fit(scale):
    card = open_card("02_throughput", {"depth": 10, "width": 1, "scale": scale}, {})
    card.measure("fit", LAW)
    card.finish()


@pytest.mark.parametrize(
    ("text", "gbit"),
    [("25Gbit", 25), ("100 Mbit/s", 0.1), ("2.5gbit", 2.5), ("400Gbit/s", 400)],
)
def test_a_link_is_read_with_its_unit(text, gbit):
    assert plan.gbit(text) == pytest.approx(gbit)


@pytest.mark.parametrize("text", ["25", "25GB", "fast", "-1Gbit", "0Gbit", ""])
def test_a_link_without_a_known_unit_is_refused_with_an_example(text):
    with pytest.raises(LabError, match="25Gbit"):
        plan.gbit(text)


def lines_of(*arguments, **others):
    return plan.lines(plan.plan_for(*arguments, **others))


def labs_plan(devices, *options):
    command = ["plan", "--devices", str(devices), "--link", "25Gbit", *options]
    return CliRunner().invoke(app, command)


def test_a_plan_says_its_sources_and_what_it_assumes(fit):
    result = labs_plan(1)
    # One device, 64 images: 64 / (0.01 + 0.064) images per second, and nobody waits.
    assert (
        "1 device at 25 Gbit/s: 865 images per second, efficiency 100.0%" in result.output
    )
    [card] = runs_folder().glob("02_throughput/*.json")
    began = time.localtime(read_card(card)["started_unix_seconds"])
    date = time.strftime("%Y-%m-%d %H:%M", began)
    assert f"From t0, peak and parameters of lab 02 ({date}, laptop scale, {card})." in (
        result.output
    )
    assert "Assumed: critical_batch 1,000, images 1,000,000" in result.output


def test_a_plan_from_a_run_at_smoke_scale_says_that_it_is_rough():
    a_fit("smoke")
    assert "smoke scale, so only a rough guess, " in labs_plan(1).output


def test_a_bend_of_lab_03_is_the_critical_batch(fit):
    before = lines_of(8, "25Gbit", 64)
    open_card("03_time_to_accuracy", {}, {}).measure("bend", [50.0, 60.0, 70.0])
    after = lines_of(8, "25Gbit", 64)
    assert "the bend of lab 03" in after[-2]
    assert "critical_batch" not in after[-1]
    assert after[2] != before[2]  # more steps


def test_a_plan_is_still_made_after_the_setup_cell_of_lab_02_is_run_again(fit):
    before = labs_plan(8).output
    open_card("02_throughput", {"depth": 16, "width": 4}, {})  # measured nothing yet
    assert labs_plan(8).output == before


def test_speed_and_parameters_are_those_of_one_network():
    card = open_card("10_more_machines", {}, {})
    card.measure("fit", LAW | {"parameters": 203_530})
    said = labs_plan(8).output
    assert "From t0, peak and parameters of lab 10 (" in said
    assert "Assumed: critical_batch" in said
    assert said == labs_plan(8, "--parameters", "203530").output
    larger = labs_plan(8, "--parameters", "25000000").output
    assert "Assumed: parameters 25,000,000, critical_batch" in larger
    assert larger.splitlines()[1] != said.splitlines()[1]


def test_lab_10_keeps_the_parameters_of_the_network_that_it_times():
    cells = [cell.source for cell in generate(find_lab("10"))[1].cells]
    [source] = [source for source in cells if 'card.measure("fit"' in source]
    law = (0.01, 1000.0, 814_120, 1e-4, 1e9)
    card = open_card("10_more_machines", {}, {})
    keeps = source[source.index("fit = ") :]
    exec(keeps, {"law": law, "measured": {"parameters": 203_530}, "card": card})
    assert plan.law_of_lab_10() == {
        "t0_seconds": 0.01,
        "peak": 1000.0,
        "parameters": 203_530,
    }


def test_speed_of_an_unknown_network_is_not_used():
    """Cards of the lab had no parameters before."""
    open_card("10_more_machines", {}, {}).measure("fit", LAW)
    with pytest.raises(LabError, match="labs run 02"):
        lines_of(8, "25Gbit", 64)


def test_devices_that_fail_before_they_have_restarted_are_refused(fit):
    with pytest.raises(LabError) as error:
        lines_of(100_000_000, "25Gbit", 64)
    assert str(error.value) == (
        "100,000,000 devices would fail every 1.82 s, but a restart takes 600 s: "
        "ask for at most 304,062 devices."
    )
    long = lines_of(304_062, "25Gbit", 64, images=1e12)
    assert long[3].startswith("Save every 1 min 50 s: ")


def test_times_are_in_units_that_suit_their_length(fit):
    short = lines_of(8, "25Gbit", 64)
    assert short[0].startswith("8 devices at 25 Gbit/s: 6,460 images per second, ")
    assert short[3].endswith(" 3 min 54 s, 31 min 16 s of device time")
    long = lines_of(8, "25Gbit", 64, images=1e10)
    assert long[3].startswith("Save every 5 h 55 min: for each second trained, ")
    assert long[4].endswith("hours of device time")


def test_a_training_that_ends_before_the_first_save_has_no_interval(fit):
    assert not [line for line in lines_of(8, "25Gbit", 64) if "Save every" in line]


def test_the_spread_that_slows_a_plan_is_among_what_it_assumes(fit):
    assert (
        "step times that differ by 5% (straggler_spread: the slowest of 8 devices takes "
        "1.07 times the mean)"
    ) in lines_of(8, "25Gbit", 64)[-1]
    assert "straggler" not in lines_of(1, "25Gbit", 64)[-1]
    assert "straggler_spread" in plan.plan_for(8, "25Gbit", 64)["assumed"]


def test_a_plan_says_how_gradients_are_added_up(fit):
    in_machines = lines_of(1024, "25Gbit", 64)
    assert in_machines[1].startswith("All-reduce by two levels: ")
    assert "8 devices in a machine at 2,400 Gbit/s" in in_machines[-1]
    alone = lines_of(1024, "25Gbit", 64, machine_devices=1)
    assert alone[1].startswith("All-reduce by tree: ")
    assert "in a machine" not in alone[-1]


def test_a_plan_has_a_price_and_an_energy(fit):
    def cost(*options):
        return labs_plan(64, *options).output.splitlines()[4]

    assert "dollars at 2 per device hour" in cost()
    assert "kWh at 700 W per device" in cost()
    free = cost("--price", "0", "--watts", "0")
    assert free == "Cost: 0 dollars at 0 per device hour, 0 kWh at 0 W per device"


def test_without_a_law_it_says_what_to_run():
    with pytest.raises(LabError, match="labs run 02"):
        lines_of(8, "25Gbit", 64)


def test_a_plan_names_the_accuracy_of_lab_03_and_takes_its_images(fit):
    before = labs_plan(8).output
    assert "To an accuracy that takes 1,000,000 images with small batches: " in before
    card = open_card("03_time_to_accuracy", {"target_accuracy": 0.8}, {})
    card.measure("laws", {"floor": 30.0, "bend": 1000.0, "t0_seconds": 1, "peak": 1})
    after = labs_plan(8)
    assert "To accuracy 0.8: " in after.output
    assert "the goal of lab 03, and its images to it" in after.output
    assert "images 1,000,000" not in after.output
    # 30,000 images with small batches; the critical batch of this card is assumed.
    assert json.loads(labs_plan(8, "--json").output)["settings"]["images"] == 30_000


def test_a_race_without_a_law_gives_no_goal(fit):
    card = open_card("03_time_to_accuracy", {"target_accuracy": 0.8}, {})
    card.measure("laws", {"floor": 30.0, "bend": 0.0, "t0_seconds": 1, "peak": 1})
    assert (
        "To an accuracy that takes 1,000,000 images with small batches: "
        in labs_plan(8).output
    )


def test_the_command_prints_the_plan_alone(fit):
    """With a TensorFlow that logs, as it does on most machines."""
    command = [sys.executable, "-m", "kit.cli", "plan", "--devices=8", "--link=25Gbit"]
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    ended = subprocess.run(
        [*command, "--json"], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stderr == ""
    said = json.loads(ended.stdout)
    assert said["plan"]["global_batch"] == 512
    assert "images" in said["assumed"]
