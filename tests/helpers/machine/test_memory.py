"""A batch that does not fit is a MemoryError, on a processor and on an accelerator."""

import pytest

from helpers.machine.memory import memory_guard, memory_needed_bytes
from helpers.network.models import wide_resnet


def test_a_batch_that_cannot_fit_is_a_memory_error_before_it_is_tried():
    model = wide_resnet(10, 1)
    assert memory_needed_bytes(model, 64) == 64 * memory_needed_bytes(model, 1)
    with pytest.raises(MemoryError, match="GiB"), memory_guard(model, 10**9):
        pytest.fail("it was tried")
    with memory_guard(model, 1):
        pass


def test_an_accelerator_that_runs_out_is_a_memory_error():
    import tensorflow as tf

    with pytest.raises(MemoryError), memory_guard(wide_resnet(10, 1), 1):
        raise tf.errors.ResourceExhaustedError(None, None, "OOM")
