"""Times are clearly longer only if tossed coins would rarely show the same."""

import pytest

from helpers.lab_12.sign_test import clearly_longer

FIVE = dict.fromkeys(range(5), 2.0)


@pytest.mark.parametrize(
    ("ours", "alpha", "clear"),
    [
        ({0: 3.0, 1: 3.0, 2: 3.0, 3: 3.0, 4: 3.0}, 0.04, True),  # P = 1/32
        ({0: 3.0, 1: 3.0, 2: 3.0, 3: 3.0, 4: 3.0}, 0.03, False),
        ({4: 3.0, 3: 3.0, 2: 3.0, 1: 3.0, 0: 1.0}, 0.19, True),  # P = 6/32
        ({4: 3.0, 3: 3.0, 2: 3.0, 1: 3.0, 0: 1.0}, 0.18, False),
        ({0: 3.0, 1: 3.0, 2: 3.0, 3: None, 4: None}, 0.04, True),  # never is longest
        ({0: 3.0, 1: 3.0, 2: 2.0, 7: 1.0}, 0.3, True),  # one tie, one without a partner
        ({0: 3.0, 1: 3.0, 2: 2.0, 7: 1.0}, 0.25, False),  # P = 1/4 is not below
        ({7: 9.0}, 0.5, False),  # no pair: no coin, and P = 1
    ],
)
def test_a_time_is_compared_only_with_the_same_seed(ours, alpha, clear):
    assert clearly_longer(ours, FIVE, alpha) is clear


def test_two_runs_that_failed_do_not_differ():
    never = dict.fromkeys(range(5))
    assert not clearly_longer(never, never, 0.5)
    assert not clearly_longer(FIVE, never, 0.5)
    assert clearly_longer(never, FIVE, 0.05)
