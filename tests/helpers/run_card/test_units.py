"""Numbers in reports are in the units that people use."""

import pytest

from helpers.run_card.units import in_heading, in_short, in_units, in_words


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("memory_bytes_per_second", 24_184_617_779.1, "24.2 GB per second"),
        ("images_per_second", 595.86, "596 images per second"),
        ("images_per_second", 30_615.3, "30,600 images per second"),
        ("products_per_second", 1_684_676_632.0, "1.68 billion products per second"),
        ("gflop_per_second", 83.12, "83.1 GFLOP/s"),
        ("square_gflop_per_second", 83.12, "83.1 GFLOP/s (square)"),
        ("training_seconds", 0.0031, "3.1 ms"),
        ("training_seconds", 47.25, "47.2 s"),
        ("training_seconds", 200.4, "3 min 20 s"),
        ("training_seconds", 7260.0, "2 h 01 min"),
        ("gradient_bytes", 4_000_000, "4 MB"),
        ("gradient_bytes", 12.0, "12 bytes"),
        ("val_accuracy", 0.85912, "0.859"),
        ("speedup", 1.5, "1.5"),
    ],
)
def test_a_measurement_has_the_unit_of_its_name(name, value, said):
    assert in_units(name, value) == said


def test_predictions_and_parameters_are_short():
    assert in_words({"two_workers": 0.25, "four": None}) == "two workers: 0.25, four: -"
    assert in_words([16, 64, 1024]) == "16, 64, 1,024"
    assert in_words({}) == "-"
    assert (in_words(True), in_words("auto")) == ("yes", "auto")


@pytest.mark.parametrize(
    ("name", "value", "heading", "cell"),
    [
        ("images_per_second", 624.6, "images per second", "625"),
        (
            "product_operations_per_second",
            1.881e11,
            "product operations per second",
            "188 billion",
        ),
        ("memory_bytes_per_second", 24.2e9, "memory bytes per second", "24.2 GB"),
        ("square_gflop_per_second", 83.12, "GFLOP/s (square)", "83.1"),
        ("val_accuracy", 0.859, "val accuracy", "0.859"),
    ],
)
def test_a_column_has_the_unit_in_its_heading(name, value, heading, cell):
    assert (in_heading(name), in_short(name, value)) == (heading, cell)
