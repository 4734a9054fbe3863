"""For test_tensor_parallel: the decoder with biases, compiled in several layouts."""

from functools import partial

from helpers.lab_11.memory import transformer
from helpers.lab_11.sharding import tensor_parallel


def work(job: dict) -> dict:
    """As `tensor_parallel.work`, but all dense layers have a bias."""
    dense = transformer.layers.Dense

    def with_bias(units, **others):
        return dense(units, **(others | {"use_bias": True}))

    # This process does nothing else, so nothing has to be undone.
    transformer.layers.Dense = partial(with_bias)
    return tensor_parallel.work(job)
