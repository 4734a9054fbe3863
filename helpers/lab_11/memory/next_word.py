"""A training step that predicts each next word, as functions of arrays, for JAX."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import keras


def next_word_loss(model: "keras.Model") -> Callable:
    """The mean loss of each next word, as a function of the weights and of sequences."""
    import jax
    import jax.numpy as jnp

    def loss_of(weights, words):
        logits, _ = model.stateless_call(weights, [], words[:, :-1])
        chances = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(chances, words[:, 1:, None], axis=2))

    return loss_of


def training_step(model: "keras.Model", optimizer: "keras.Optimizer") -> Callable:
    """One step with this loss, as a function of arrays."""
    import jax

    loss = jax.value_and_grad(next_word_loss(model))

    def step(weights, moments, words):
        value, gradients = loss(weights, words)
        return value, *optimizer.stateless_apply(moments, gradients, weights)

    return step
