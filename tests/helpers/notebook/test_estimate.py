"""Time and memory are estimated before a lab starts."""

from math import prod

import keras
import pytest

from helpers.errors import ParameterError
from helpers.lab_04.models import text_cnn
from helpers.lab_04.parameters import text_cnn as size_of_text_cnn
from helpers.lab_06.models import mobilenet_v2
from helpers.lab_06.parameters import MOBILENET_V2
from helpers.lab_06.parameters import mobilenet_v2 as size_of_mobilenet_v2
from helpers.lab_07.models import small_cnn
from helpers.lab_07.parameters import SMALL_CNN
from helpers.machine.memory import memory_needed_bytes
from helpers.network import models
from helpers.notebook import estimate
from helpers.parameters import at_scale
from kit.headless.given_parameters import declared
from kit.labs import all_labs, find_lab


def size_of(model):
    """The size of a network, counted from its layers."""
    multiply_adds = 0
    layers = keras.layers
    for layer in model._flatten_layers(include_self=False):
        if isinstance(layer, (layers.Conv1D, layers.Conv2D, layers.Dense)):
            positions = prod(layer.output.shape[1:-1])
            multiply_adds += positions * prod(layer.kernel.shape)
        elif isinstance(layer, layers.DepthwiseConv2D):
            multiply_adds += prod(layer.output.shape[1:]) * prod(layer.kernel_size)
    values = memory_needed_bytes(model, 1) / estimate.BYTES_PER_VALUE
    return estimate.Network(multiply_adds, values, model.count_params())


@pytest.mark.parametrize(
    ("depth", "width", "stem_pool"), [(10, 1, 4), (10, 3, 2), (16, 1, 1), (22, 2, 1)]
)
def test_the_size_of_a_wide_resnet_is_that_of_its_layers(depth, width, stem_pool):
    counted = size_of(models.wide_resnet(depth, width, stem_pool=stem_pool))
    assert estimate.wide_resnet(depth, width, stem_pool) == counted


def test_the_other_networks_have_about_the_sizes_that_are_written_down():
    assert size_of(small_cnn()) == pytest.approx(SMALL_CNN, rel=0.05)
    counted = size_of(text_cnn(10_000, words=200))
    assert size_of_text_cnn(200, 10_000) == pytest.approx(counted, rel=0.15)
    model = mobilenet_v2(64, alpha=0.35)
    [network] = [layer for layer in model.layers if isinstance(layer, keras.Model)]
    counted = size_of(network)._replace(weights=model.count_params())
    assert size_of_mobilenet_v2(64, 0.35) == pytest.approx(counted, rel=0.15)
    assert len(MOBILENET_V2) == 6


def test_a_small_run_is_not_commented_and_a_long_one_is():
    for lab in all_labs():
        given, sizes = declared(lab)
        for scale in ("smoke", "laptop"):
            values = at_scale(given, sizes, scale)
            assert estimate.warning(lab.name, [values], sizes) is None
    given, sizes = declared(find_lab("02"))
    values = at_scale(given, sizes, "laptop") | {"epochs": 100_000}
    said = estimate.warning("02_throughput", [values], sizes)
    assert "This can take about" in said
    assert "days" in said
    assert "scale=laptop took" in said
    larger = values | {"width": 20, "depth": 100}
    assert "years" in estimate.warning("02_throughput", [larger], sizes)


def test_runs_that_are_short_one_by_one_and_long_together_are_added():
    given, sizes = declared(find_lab("03"))
    runs = [at_scale(given | {"seed": n}, sizes, "laptop") for n in range(15)]
    assert estimate.warning("03_time_to_accuracy", runs[:3], sizes) is None
    said = estimate.warning("03_time_to_accuracy", runs, sizes)
    stored = float(said.split("scale=laptop took ")[1].split()[0])
    together = float(said.split("These 15 runs can take about ")[1].split(" minutes")[0])
    assert together == pytest.approx(15 * stored, rel=0.2)


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        ("02", {"depth": 100, "width": 20, "batch_size": 5000}),
        ("03", {"depth": 100, "width": 20, "batch_sizes": [50_000]}),
        ("05", {"depth": 100, "width": 20, "global_batches": [2500]}),
        ("06", {"image_size": 512, "batch_size": 500}),
        ("00", {"rows": 100_000, "columns": 100_000}),
    ],
)
def test_a_step_that_fits_in_no_memory_is_refused(number, wrong, monkeypatch):
    monkeypatch.setattr(estimate, "memory_bytes", lambda: 64 * 2**30)
    lab = find_lab(number)
    given, sizes = declared(lab)
    values = at_scale(given, sizes, "laptop") | wrong
    with pytest.raises(ParameterError, match="GiB of memory") as error:
        estimate.warning(lab.name, [values], sizes)
    assert "\n" not in str(error.value)


def test_without_a_stored_run_nothing_is_said(monkeypatch, tmp_path):
    given, sizes = declared(find_lab("02"))
    values = at_scale(given, sizes, "gpu")
    assert estimate.warning("02_throughput", [values], sizes)
    monkeypatch.setattr(estimate, "REPOSITORY", tmp_path)
    assert estimate.warning("02_throughput", [values], sizes) is None
