"""Latency and bandwidth are recovered from the times that arrays took."""

import pytest

from kit.class_ring.link_law import fit_link

SIZES = [2**n for n in range(16, 21)]


def points(latency, rate, late=()):
    small = [(64, 2 * latency)] * 5
    return small + [
        (size, 2 * latency + size / rate + (0.5 if number in late else 0))
        for number, size in enumerate(size for size in SIZES for _ in range(3))
    ]


def test_a_law_without_noise_is_recovered_exactly():
    link = fit_link(points(0.003, 2.5e6))
    assert link == pytest.approx((0.003, 2.5e6))


def test_single_pauses_change_little():
    link = fit_link(points(0.003, 2.5e6, late=(4, 11)))
    assert link.bytes_per_second == pytest.approx(2.5e6, rel=0.1)


def test_a_burst_at_first_changes_nothing():
    link = fit_link([(n, s - 0.005 if n > 64 else s) for n, s in points(0.003, 2.5e6)])
    assert link.bytes_per_second == pytest.approx(2.5e6)


@pytest.mark.parametrize(
    "given", [[], [(64, 0.1)], [(64, 0.1), (2**16, 1.0)], [(2**16, 1.0), (2**17, 2.0)]]
)
def test_points_without_a_law_are_refused(given):
    with pytest.raises(ValueError, match="too few points"):
        fit_link(given)


def test_pauses_that_hide_the_slope_leave_what_was_reached():
    """On a fast link that other programs share; a ring must not end because of it."""
    given = [(64, 0.1), (2**16, 2.0), (2**17, 1.0), (2**17, 0.5)]
    assert fit_link(given) == (0.05, 2**18)
    assert fit_link([(64, 0), (2**16, 0), (2**17, 0)]).bytes_per_second > 0
