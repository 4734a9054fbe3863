"""Lab 11's counts by hand, compared with the network and with XLA."""

import pytest

from helpers.lab_11.memory import compiled_memory, newswire_batch, transformer_sizes
from helpers.lab_11.memory.transformer import decoder

# One process compiles or trains for all of these tests.
pytestmark = pytest.mark.xdist_group("transformer_sizes")

SMALL = transformer_sizes.Sizes(
    blocks=2, width=32, heads=4, words=16, vocabulary=100, batch_size=3
)


@pytest.fixture(scope="module")
def compiled():
    words = newswire_batch.draw([[*range(90)]], 3, 16, 100, 0)
    return compiled_memory.measure(SMALL, words, repeats=2, seed=0)


@pytest.mark.parametrize("blocks", [1, 3])
def test_the_parameters_are_those_of_the_network(blocks):
    sizes = SMALL._replace(blocks=blocks)
    counted = decoder(**sizes.decoder).count_params()
    assert transformer_sizes.parameters(sizes) == counted


def test_llama_has_seventy_billion_parameters():
    counted = transformer_sizes.llama_parameters(transformer_sizes.Llama())
    assert 70e9 < counted < 71e9


@pytest.mark.weekly
def test_the_compiler_holds_the_training_state_that_was_counted(compiled):
    state = 4 * transformer_sizes.parameters(SMALL)
    held = compiled["bytes"]
    for kind, times in {"weights": 1, "gradients": 1, "optimizer": 2}.items():
        assert times * state <= held[kind] <= times * state + 1000


@pytest.mark.weekly
def test_the_compiler_plans_at_least_the_activations_that_were_counted(compiled):
    counted = sum(map(sum, transformer_sizes.block_bytes(SMALL)))
    assert counted <= compiled["bytes"]["activations"] < 4 * counted


@pytest.mark.weekly
def test_each_repetition_takes_the_same_first_step(compiled):
    first, second, third = compiled["losses"]
    assert first == second == third
    assert len(compiled["process_bytes"]) in (0, 2)
