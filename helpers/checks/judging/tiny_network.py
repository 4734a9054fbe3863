"""A network of two layers in NumPy: what one right training step does to its weights."""

import numpy as np

NAMES = ("kernel_1", "bias_1", "kernel_2", "bias_2")


def draw_weights(rng, sizes=(3, 4, 3)):
    """Weights as plain lists, large enough that every mistake shows."""
    inputs, hidden, classes = sizes

    def draw(*shape):
        count = int(np.prod(shape))
        return np.reshape([rng.gauss(0, 0.8) for _ in range(count)], shape).tolist()

    shapes = ((inputs, hidden), (hidden,), (hidden, classes), (classes,))
    return {name: draw(*shape) for name, shape in zip(NAMES, shapes, strict=True)}


def draw_batches(rng, sizes, inputs=3, classes=3):
    """Batches of numbers with labels, of these sizes."""
    return [
        {
            "x": [[rng.uniform(-2, 2) for _ in range(inputs)] for _ in range(size)],
            "y": [rng.randrange(classes) for _ in range(size)],
        }
        for size in sizes
    ]


def forward(weights, x, mask):
    """Hidden values and class probabilities; `mask` is what training multiplies by."""
    w1, b1, w2, b2 = (np.asarray(weights[name]) for name in NAMES)
    hidden = np.tanh(np.asarray(x) @ w1 + b1)
    logits = (hidden * mask) @ w2 + b2
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return hidden, powers / powers.sum(axis=1, keepdims=True)


def scores(weights, batches, mask):
    """Cross-entropy and whether the answer is right, an array for each batch."""
    losses, right = [], []
    for batch in batches:
        _, probabilities = forward(weights, batch["x"], mask)
        y = np.array(batch["y"])
        losses.append(-np.log(probabilities[np.arange(len(y)), y]))
        right.append((probabilities.argmax(axis=1) == y).astype(float))
    return losses, right


def train(question, mask, momentum=None, summed=False):
    """Train on all batches once with stochastic gradient descent.

    Parameters
    ----------
    question : dict
        `weights`, `batches`, `learning_rate` and `momentum`.
    mask : array, shape (hidden,)
    momentum : float, optional
        Instead of the question's.
    summed : bool
        Follow the gradient of the sum of a batch's losses, not of the mean.

    Returns
    -------
    tuple
        The weights after training, and for each batch its losses and whether
        its answers were right, as seen by the step before it moved the weights.
    """
    weights = {name: np.array(question["weights"][name]) for name in NAMES}
    speed = {name: np.zeros_like(weights[name]) for name in NAMES}
    momentum = question["momentum"] if momentum is None else momentum
    losses, right = [], []
    for batch in question["batches"]:
        [batch_losses], [batch_right] = scores(weights, [batch], mask)
        losses.append(batch_losses)
        right.append(batch_right)
        for name, gradient in _gradients(weights, batch, mask).items():
            size = len(batch["y"]) if summed else 1
            speed[name] = (
                momentum * speed[name] - question["learning_rate"] * size * gradient
            )
            weights[name] = weights[name] + speed[name]
    return weights, losses, right


def _gradients(weights, batch, mask):
    """Gradients of the mean loss of a batch, by the chain rule."""
    x, y = np.asarray(batch["x"]), np.asarray(batch["y"])
    hidden, probabilities = forward(weights, x, mask)
    of_logits = (probabilities - np.eye(probabilities.shape[1])[y]) / len(y)
    of_hidden = of_logits @ np.asarray(weights["kernel_2"]).T * mask
    of_sums = of_hidden * (1 - hidden**2)
    return {
        "kernel_1": x.T @ of_sums,
        "bias_1": of_sums.sum(axis=0),
        "kernel_2": (hidden * mask).T @ of_logits,
        "bias_2": of_logits.sum(axis=0),
    }


def mean(parts):
    """The mean of all examples, in whichever batch they are."""
    return float(np.concatenate(parts).mean())


def mean_of_means(parts):
    """The mean of the batches' means, which differs if the last batch is smaller."""
    return float(np.mean([part.mean() for part in parts]))
