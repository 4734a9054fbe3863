"""A ring all-reduce and its halves, in threads."""

import numpy as np
import pytest

from helpers.workers.collectives import all_gather, reduce_scatter, ring_all_reduce
from helpers.workers.threads import run_in_threads

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("workers", range(1, 7))
@pytest.mark.parametrize("values", [0, 1, 5, 12, 23])
def test_each_worker_has_its_chunk_of_the_sum_and_then_all_of_it(workers, values):
    arrays = list(RNG.integers(-99, 99, (workers, values)).astype("float32"))
    given = [array.copy() for array in arrays]
    chunks, sent = run_in_threads([reduce_scatter] * workers, arrays)
    for chunk, right in zip(chunks, np.array_split(sum(given), workers), strict=True):
        assert np.array_equal(chunk, right)
    assert all(map(np.array_equal, arrays, given))
    assert not any(map(np.shares_memory, chunks, arrays))
    wholes, sent_again = run_in_threads([all_gather] * workers, chunks)
    assert all(np.array_equal(whole, sum(given)) for whole in wholes)
    for messages in (sent, sent_again):
        assert len(messages) == workers * (workers - 1)
        assert sum(m.array.size for m in messages) == (workers - 1) * values
        assert all(m.receiver == (m.sender + 1) % workers for m in messages)
    sums, all_sent = run_in_threads([ring_all_reduce] * workers, arrays)
    assert all(np.array_equal(whole, sum(given)) for whole in sums)
    assert len(all_sent) == len(sent) + len(sent_again)
    assert all(map(np.array_equal, arrays, given))
