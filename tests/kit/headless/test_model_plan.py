"""`labs plan --model`: the fastest plan that fits, or a line that says why none does."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from helpers.errors import LabError
from kit.cli import app
from kit.headless import model_plan

COMMAND = ["plan", "--model=llama-3-70b", "--devices=64", "--memory=80GB"]


def labs_plan(*options):
    return CliRunner().invoke(app, [*COMMAND, *options])


def test_the_command_prints_the_fastest_plan_and_the_others_in_a_line_each():
    ended = subprocess.run(
        [sys.executable, "-m", "kit.cli", *COMMAND],
        env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert "64 h100 with 80 GB each at 400 Gbit/s" in ended.stdout
    assert "Fastest plan that fits: data " in ended.stdout
    assert "other plans also fit:" in ended.stdout
    assert "GB, of which " in ended.stdout
    assert "Assumed: with a perfect network, the fastest plan has an MFU of" in ended.stdout


def test_json_has_all_plans_and_the_sources_of_the_range():
    planned = json.loads(labs_plan("--json").output)
    best, *others = planned["plans"]
    assert best["fits"]
    fit = [row for row in others if row["fits"]]
    assert all(row["step_seconds"][1] >= best["step_seconds"][1] - 1e-6 for row in fit)
    assert any(row["reason"] for row in others)
    assert all(source["url"] for source in planned["sources"])
    low, middle, high = planned["device_hours"]
    assert low < middle < high
    assert planned["dollars"][0] == pytest.approx(2 * low)


def test_fewer_tokens_a_slower_link_and_a_price_change_the_plan():
    planned, less, slower, free = (
        json.loads(labs_plan("--json", *options).output)
        for options in ([], ["--tokens=1.5e12"], ["--link=1Gbit"], ["--price=0"])
    )
    days = planned["plans"][0]["training_days"][1]
    assert less["plans"][0]["training_days"][1] == pytest.approx(days / 10)
    assert slower["plans"][0]["training_days"][1] > days
    assert free["dollars"] == [0, 0, 0]


@pytest.mark.parametrize("tokens", ["0", "1.5", "nan", "inf", "1e16", "many"])
def test_other_tokens_than_a_whole_number_are_refused(tokens):
    ended = labs_plan(f"--tokens={tokens}")
    assert ended.exit_code == 2
    assert "give a whole number" in ended.output


def test_what_does_not_fit_is_refused_with_a_number_that_does():
    with pytest.raises(LabError, match="24 devices are enough") as error:
        model_plan.plan_for("llama-3-70b", 8)
    assert "does not fit in 8 devices of 80 GB" in str(error.value)
    assert model_plan.plan_for("llama-3-70b", 24)["plans"][0]["fits"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "gpt-5"}, "one of mt-nlg-530b, gpt-neox-20b, .*, but is 'gpt-5'"),
        ({"device": "p100"}, "--device must be one of .*h100"),
        ({"memory": "80"}, "such as 80GB"),
        ({"memory": "0GB"}, "such as 80GB"),
        ({"link": "fast"}, "such as 25Gbit"),
        ({"devices": 999_983}, "999,983 devices cannot share"),
        ({"memory": "1GB"}, "give devices more memory"),
    ],
)
def test_a_mistake_ends_in_one_line(asked, words):
    with pytest.raises(LabError, match=words) as error:
        model_plan.plan_for(**{"name": "llama-3-405b", "devices": 1024} | asked)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "size"), [("80GB", 80e9), ("0.5 TB", 5e11), ("80gib", 80 * 2**30)]
)
def test_memory_is_read_with_its_unit(text, size):
    assert model_plan.bytes_of(text) == pytest.approx(size)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give --devices and --link, such as"),
        (["--devices=8"], "give --link, such as"),
        (["--model=llama-3-70b"], "give --devices, such as"),
        (["--devices=8", "--link=25Gbit", "--memory=80GB"], "need --model"),
        (
            ["--devices=64", "--model=llama-3-70b", "--parameters=7"],
            "takes no --parameters;",
        ),
        (["--devices=64", "--model=llama-3-70b", "--watts=7"], "takes no --watts;"),
    ],
)
def test_options_of_the_other_kind_of_plan_are_refused(options, words):
    error = CliRunner().invoke(app, ["plan", *options]).exception
    assert isinstance(error, LabError)
    assert words in str(error)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3_919_826, "3,920,000"), (1.4388e10, "14,400,000,000"), (123.4, "123"), (0.5, "0.5")],
)
def test_a_cost_is_as_exact_as_its_forecast(value, shown):
    assert model_plan._three_digits(value) == shown
