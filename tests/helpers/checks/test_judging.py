"""The words for judges: what they say is right is what Keras does."""

import random
import time

import keras
import numpy as np
import pytest

from helpers.checks.judging import trainer
from helpers.checks.judging.lines import Template, numbers_after
from helpers.checks.judging.verdicts import (
    all_near,
    between,
    draw_apart,
    first_wrong,
    near,
    which,
)
from helpers.verdict import Phrase, in_words, phrase, wrong


def network(weights, classes):
    """The same network in Keras."""
    layers = []
    for i in range(0, len(weights), 2):
        last = i + 2 >= len(weights)
        kind = ("softmax" if classes else "linear") if last else "tanh"
        layers.append(
            keras.layers.Dense(
                np.shape(weights[i])[1], activation=kind, use_bias=len(weights) > 1
            )
        )
    model = keras.Sequential([keras.Input((len(weights[0]),)), *layers])
    model.set_weights([np.array(w) for w in weights])
    return model


@pytest.mark.parametrize(
    ("sizes", "classes"), [((3, 4, 3), 3), ((4, 3), 3), ((3, 5, 4, 2), 2), ((3, 1), None)]
)
@pytest.mark.parametrize(
    ("momentum", "nesterov"), [(0.0, False), (0.9, False), (0.7, True)]
)
def test_the_trainer_does_what_keras_does(sizes, classes, momentum, nesterov):
    rng = random.Random(f"{sizes} {momentum}")
    weights = trainer.draw_weights(rng, *sizes)
    batches = trainer.draw_batches(rng, [5, 5, 2], sizes[0], classes)
    mine = trainer.train(weights, batches, 0.1, momentum, nesterov)
    model = network(weights, classes)
    loss = "sparse_categorical_crossentropy" if classes else "mse"
    model.compile(keras.optimizers.SGD(0.1, momentum, nesterov), loss)
    for batch, losses in zip(batches, mine.losses, strict=True):
        x, y = np.array(batch["x"]), np.array(batch["y"])
        seen = model.train_on_batch(x, y)
        np.testing.assert_allclose(losses.mean(), seen, rtol=1e-4)
    for ours, theirs in zip(mine.weights, model.get_weights(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_each_mistake_of_the_trainer_ends_elsewhere():
    rng = random.Random(1)
    weights = trainer.draw_weights(rng, 3, 4, 3)
    batches = trainer.draw_batches(rng, [4, 4, 4, 2])
    ways = [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "nesterov": True},
        {"mask": np.array([0.0, 2.0, 2.0, 0.0])},
        {"share": lambda batch: 1},
        {"share": lambda batch: 1 / 4},
        {"learning_rate": 0.2},
    ]
    ends = [
        trainer.train(weights, batches, **{"learning_rate": 0.1} | way).weights
        for way in ways
    ]
    same = all_near(1e-3)
    assert [same(a, b) for a in ends for b in ends].count(True) == len(ends)


def test_each_example_can_have_its_own_share():
    rng = random.Random(2)
    weights = trainer.draw_weights(rng, 3, 3)
    [batch] = trainer.draw_batches(rng, [3])
    alone = trainer.train(weights, [batch], 0.1, share=lambda _: np.array([1, 0, 0]))
    first = {name: rows[:1] for name, rows in batch.items()}
    assert all_near()(alone.weights, trainer.train(weights, [first], 0.1).weights)


def test_a_question_that_cannot_tell_is_an_error_and_the_ways_of_another_differ():
    def ways(question):
        return {"right": question["n"], "mistake": question["n"] % 10}

    def make(rng):
        return {"n": rng.randrange(20)}

    def apart(a, b):
        return a != b

    for seed in range(20):
        assert draw_apart(random.Random(seed), make, ways, apart)["n"] >= 10
    with pytest.raises(RuntimeError, match="no question"):
        draw_apart(random.Random(0), lambda rng: {"n": 3}, ways, apart)


def test_the_first_way_that_fits_gives_the_name():
    ways = {"right": 1.0, "twice": 2.0, "also": lambda: 2.0}
    assert which(1.00001, ways, near()) == "right"
    assert which(2.0, ways, near()) == "twice"
    assert which(3.0, ways, near()) == "other"


@pytest.mark.parametrize(
    "said", [None, "1", [1.0, 2.0], [[1.0], [1.0, 2.0]], float("nan"), 1.1, []]
)
def test_values_that_are_not_numbers_or_differ_in_shape_are_not_near(said):
    assert not near()(said, 1.0)
    assert not all_near()([said], [1.0])
    assert not all_near()([], [1.0])


def test_between_takes_its_bounds_and_no_infinities():
    assert between(1.0, 1.0, 2.0)
    assert between(2.004, 1.0, 2.0, 0.005)
    assert not between(2.006, 1.0, 2.0, 0.005)
    assert not between(float("nan"), 0.0, 1.0)
    assert not between(float("inf"), 0.0, float("inf"))


def test_the_first_wrong_case_is_named_and_lengths_must_agree():
    def judge(case, seen):
        return None if case == seen else wrong("other", "it_is", case=case, seen=seen)

    assert first_wrong([1, 2], [1, 2], judge) is None
    assert first_wrong([1, 2, 3], [1, 5, 6], judge) == wrong(
        "other", "it_is", case=2, seen=5
    )
    with pytest.raises(ValueError, match="shorter"):
        first_wrong([1, 2], [1], judge)


TEXT = "Epoch={epoch:d}, Loss:{loss:.3f}."
TEMPLATE = Template(TEXT)


def test_a_template_reads_what_its_text_writes():
    rng = random.Random(0)
    for _ in range(200):
        numbers = {
            "epoch": rng.randrange(1000),
            "loss": round(rng.uniform(-5, 5), 3),
        }
        assert TEMPLATE.read(TEXT.format(**numbers)) == pytest.approx(numbers)


@pytest.mark.parametrize(
    "line",
    ["", "Epoch=1, Loss:0.12.", "Epoch=1, Loss:0.1234.", "epoch=1, Loss:0.123.",
     "Epoch=1.5, Loss:0.123.", "Epoch=1, Loss:0.123. And more", "Epoch=1, Loss:0.123,"],
)  # fmt: skip
def test_another_line_is_not_read(line):
    assert TEMPLATE.read(line) is None


@pytest.mark.parametrize("letter", ["[", "\\", "=", " ", "1", "Epoch=1", "."])
def test_a_long_line_takes_no_time(letter):
    began = time.process_time()
    assert TEMPLATE.read(letter * 65_536) is None
    assert numbers_after([letter * 65_536] * 10, "Epoch=") == []
    assert len(in_words(phrase("a", text=letter * 65_536), {"a": "{text:quoted}"})) < 70
    # A bound on the work, not on the speed: what grows with the square takes minutes.
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("sentence", "facts", "due"),
    [
        ("it made {n:of save}", {"n": 1}, "it made 1 save"),
        ("it made {n:of save}", {"n": 0}, "it made 0 saves"),
        ("{n:of batch|batches}", {"n": 1500}, "1,500 batches"),
        ("{n:of parameter}", {"n": 1_234_567}, "1,234,567 parameters"),
        ("{names:list} are there", {"names": ["a", 2]}, "a, 2 are there"),
        ("{losses:list .2f}", {"losses": [1, 0.125]}, "1.00, 0.12"),
        ("it printed {line:quoted}", {"line": "a\nb  c"}, "it printed `a b c`"),
        ("{share:.1%} and {n:,}", {"share": 0.5, "n": 1000}, "50.0% and 1,000"),
        ("{where}: {n}", {"where": phrase("case", size=3), "n": 2}, "with 3 cores: 2"),
    ],
)
def test_gaps_of_a_sentence_are_filled(sentence, facts, due):
    sentences = {"sentence": sentence, "case": "with {size:of core}"}
    assert in_words(Phrase("sentence", facts), sentences) == due


def test_a_students_text_is_not_a_sentence_with_gaps():
    said = phrase("said", text="{text.__class__}")
    assert in_words(said, {"said": "{text:quoted}"}) == "`{text.__class__}`"
