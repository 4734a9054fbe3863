"""Tensor parallelism in lab 11: the judge's rule, and the programs that JAX compiles."""

import math

import pytest

from helpers.errors import LabError
from helpers.lab_11.ex4_layout.judge import SIX, split_of
from helpers.lab_11.sharding import tensor_parallel
from helpers.machine import jax_process

if jax_process.why_not():
    pytest.skip("there is no JAX here", allow_module_level=True)

# One process compiles or trains for all of these tests.
pytestmark = pytest.mark.xdist_group("tensor_parallel")

WIDTH, BLOCKS = 32, 1
SIZES = {"blocks": BLOCKS, "width": WIDTH, "heads": 4, "words": 8, "vocabulary": 64}
WORDS = [[(7 * row + word) % 64 for word in range(9)] for row in range(4)]
MESH = {"data": 2, "model": 4}
# Each of these has to cost the forward pass more messages than the right layout.
MORE_MESSAGES = (
    "swapped", "bias_split", "attention_swapped", "feed_forward_swapped", "all_columns",
    "all_rows", "value_by_rows", "attention_by_columns", "norms",
)  # fmt: skip
# And each of these leaves more bytes on a device.
MORE_BYTES = ("bias_whole", "start")


def shapes():
    inputs = dict.fromkeys(SIX, WIDTH) | {"down": 4 * WIDTH}
    outputs = dict.fromkeys(SIX, WIDTH) | {"up": 4 * WIDTH}
    found = {"words/embeddings": (64, WIDTH), "places/embeddings": (8, WIDTH)}
    found |= {"logits/kernel": (WIDTH, 64), "norm/gamma": (WIDTH,), "norm/beta": (WIDTH,)}
    for block in range(BLOCKS):
        for layer in SIX:
            found[f"block_{block}/{layer}/kernel"] = inputs[layer], outputs[layer]
            found[f"block_{block}/{layer}/bias"] = (outputs[layer],)
        for norm in ("norm_1", "norm_2"):
            found[f"block_{block}/{norm}/gamma"] = found[f"block_{block}/{norm}/beta"] = (
                WIDTH,
            )
    return found


def layout(mistake):
    split = {path: split_of([path, shape], mistake) for path, shape in shapes().items()}
    return {"mesh": MESH, "weights": {p: spec for p, spec in split.items() if any(spec)}}


@pytest.fixture(scope="module")
def compiled():
    """What JAX compiles for each layout; lab 11's notebook compiles the right one, too."""
    layouts = {name: layout(name) for name in ("", *MORE_MESSAGES, *MORE_BYTES)}
    layouts["one device"] = {"mesh": {"data": 1}, "weights": {}}
    job = {"layouts": layouts, "sizes": SIZES, "words": WORDS, "steps": 2, "seed": 0}
    return jax_process.call("tests.helpers.lab_11.biased_layouts", job, 8)


@pytest.mark.weekly
def test_the_right_layout_has_two_all_reduces_in_the_forward_pass_of_a_block(compiled):
    right = compiled[""]
    assert right["forward"]["collectives"] == {"all-reduce": 2 * BLOCKS, "all-gather": 0}
    assert right["step"]["collectives"] == {"all-reduce": 4 * BLOCKS + 1, "all-gather": 0}


@pytest.mark.weekly
@pytest.mark.parametrize("mistake", MORE_MESSAGES)
def test_a_mistake_costs_more_messages(compiled, mistake):
    counts = compiled[mistake]["forward"]["collectives"]
    assert sum(counts.values()) > 2 * BLOCKS, counts


@pytest.mark.weekly
@pytest.mark.parametrize("mistake", MORE_BYTES)
def test_a_mistake_leaves_more_bytes_on_a_device(compiled, mistake):
    assert max(compiled[mistake]["weights"]) > max(compiled[""]["weights"])


@pytest.mark.weekly
def test_a_device_holds_a_quarter_of_what_is_split_and_all_of_the_rest(compiled):
    whole, mine = compiled["one device"], compiled[""]
    due = 0
    for path, shape in shapes().items():
        size = 4 * math.prod(shape)
        due += size // 4 if "model" in split_of([path, shape]) else size
    due += 4 * 64  # the bias of the logits
    assert mine["weights"] == [due] * 8
    # Adam keeps two values for each weight, and two numbers of its own.
    assert all(0 <= one - 2 * due <= 16 for one in mine["moments"])
    assert whole["weights"][0] > due


@pytest.mark.weekly
def test_all_layouts_train_alike(compiled):
    due = compiled["one device"]["losses"]
    for name, one in compiled.items():
        assert one["losses"] == pytest.approx(due, rel=1e-4), name


def test_without_jax_a_line_says_why(monkeypatch, capsys):
    monkeypatch.setattr(jax_process, "find_spec", lambda name: None)
    assert tensor_parallel.compare({"a": layout("")}, SIZES, WORDS, steps=1, seed=0) == {}
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("JAX is not installed here")


def test_a_layout_for_a_weight_that_is_not_there_is_a_line():
    wrong = {"mesh": {"data": 8}, "weights": {"block_0/upp/kernel": ("data", None)}}
    with pytest.raises(LabError, match="the network has no weight block_0/upp/kernel"):
        tensor_parallel.compare({"typo": wrong}, SIZES, WORDS, steps=1, seed=0)


def test_bytes_are_added_up_by_kind():
    messages = [
        {"kind": "all-reduce", "bytes": 3}, {"kind": "all-gather", "bytes": 5},
        {"kind": "all-reduce", "bytes": 4},
    ]  # fmt: skip
    found = tensor_parallel.bytes_by_kind(messages)
    assert found["all-reduce"] == 7
    assert found["all-gather"] == 5
