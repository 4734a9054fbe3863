"""The jobs of the GPU's bench run with Keras on JAX."""

import json
import os
import subprocess
import sys

import pytest

from helpers.files import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.weekly]

SMALL = """
import json

from helpers.lab_03.parameters import SIZES as lab_03
from helpers.lab_08.parameters import SIZES as lab_08
from kit.bench.gpu import changes, limits, race, throughput

sizes = lab_08["smoke"] | {"train_images": 512}
forecast = race.forecast(looks=2)
found = {
    "limits": limits.limits(256, 2**20),
    "products": limits.products(64, 100, 100),
    "forecast": forecast,
    "race": race.race(100.0, seeds=1, epochs=1),
    "sweep": throughput.sweep(10, 1, "mixed_bfloat16", (8, 16, 32), 16, 32, 1),
    "whole race": race.whole_race(lab_03["smoke"], (16, 64), 0.007, seeds=1),
    "changes": changes.changes(sizes, 8, 1, 2),
    "recipes": changes.recipes(sizes, (0,)),
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    ended = subprocess.run(
        [sys.executable, "-c", SMALL], capture_output=True, text=True, check=False,
        cwd=REPOSITORY, env=os.environ | {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def test_each_job_finds_what_its_lab_asks(found):
    assert min(found["limits"]["product_operations_per_second"].values()) > 0
    assert len(found["products"]["gpu_seconds"]) == len(found["products"]["sizes"]) == 3
    assert set(found["forecast"]["step_seconds"]) == {"16", "64", "256", "1024"}
    assert {"16", "64", "146", "256", "1024"} <= found["race"]["sizes"].keys()
    assert found["sweep"]["images_per_second"].keys() == {"8", "16", "32"}
    assert set(found["whole race"]["rates"]) == {"16", "64"}
    assert {run["recipe"] for run in found["recipes"]["runs"]} == {"original", "fast"}


def test_a_gain_is_that_of_one_round(found):
    speeds, gains = found["changes"]["images_per_second"], found["changes"]["gains"]
    assert gains["no dropout"] == speeds["no dropout"] / speeds["whole batches"]


def test_a_run_that_missed_the_target_has_no_time(found):
    for race in (found["race"], found["whole race"]):
        for row in race["sizes"].values():
            assert len(row["seconds"]) == row["runs"]
            assert sum(s < float("inf") for s in row["seconds"]) == row["reached"]
