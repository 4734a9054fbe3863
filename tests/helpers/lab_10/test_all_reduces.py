"""Ring, tree and two levels: what they cost, and which one is the quickest."""

import pytest

from helpers.lab_10 import all_reduces

LINK = 1e8, 1e-5, 3.125e9  # bytes of the gradient, seconds, bytes per second


def test_one_device_sends_nothing():
    assert all_reduces.ring_seconds(1, *LINK) == 0
    assert all_reduces.tree_seconds(1, *LINK) == 0
    assert all_reduces.two_levels_seconds(1, *LINK, 8, 1e11) == 0


def test_without_latency_a_ring_is_never_slower_than_a_tree():
    for devices in (2, 3, 64, 1024):
        link = 1e8, 0.0, 1e9
        assert all_reduces.ring_seconds(devices, *link) < all_reduces.tree_seconds(
            devices, *link
        )


def test_without_bytes_only_messages_count():
    link = 0.0, 1.0, 1e9
    assert all_reduces.ring_seconds(1024, *link) == 2046
    assert all_reduces.tree_seconds(1024, *link) == 20
    assert all_reduces.two_levels_seconds(1024, *link, 8, 1e9) == 14 + 14


def test_within_one_machine_only_its_link_counts():
    inside = all_reduces.ring_seconds(8, 1e8, 1e-5, 3e11)
    assert all_reduces.two_levels_seconds(8, *LINK, 8, 3e11) == pytest.approx(inside)


def test_from_the_crossover_on_a_tree_is_quicker():
    found = all_reduces.crossover(*LINK)
    for devices in range(2, 4 * found):
        ways = all_reduces.seconds_by_way(devices, *LINK)
        assert (ways["tree"] < ways["ring"]) == (devices >= found)


def test_machines_of_one_device_have_no_two_levels():
    assert set(all_reduces.seconds_by_way(16, *LINK)) == {"ring", "tree"}
    ways = all_reduces.seconds_by_way(16, *LINK, 8, 1e11)
    assert min(ways, key=ways.get) == "two levels"
