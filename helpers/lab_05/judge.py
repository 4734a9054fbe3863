"""Questions, verdicts and hints of lab 05: many GPUs with fit."""

import numpy as np

TITLES = {
    "5.1": "the model lives on every replica, and the global batch is theirs together",
    "5.2": "the learning rate warms up step by step, in a graph too",
    "5.3": "from the same start, in the same order, with the same global batch",
}

HINTS = {
    "5.1": {
        "model": "Where do variables have to be made, so that each replica gets a copy?",
        "optimizer": "An optimizer has variables, too, such as its step count. Where is it made?",
        "global_batch": "Each replica takes `per_replica_batch` images in a step. How many do all take?",
        "compiled": "Which call tells Keras the optimizer, the loss and the metrics?",
        "metrics": "What should `fit` report besides the loss? And does `compile` get the optimizer?",
        "jit_compile": "XLA does not work over several replicas. Which argument of `compile` switches it off?",
        "raised": "Read Python's error above. Does it return two things, (model, global_batch)?",
    },
    "5.2": {
        "start": "Which rate does the very first step, step 0, have?",
        "peak": "Which rate should be reached after `warmup_steps`: base_rate times what?",
        "after": "What limits the rise once the warm-up is over?",
        "early": "How many steps have been taken when half of the warm-up is over, and what is the rate then?",
        "graph": "In a graph `step` is a tensor without a value. Which function takes the smaller of two, without `if`?",
        "schedule": "From which class of keras.optimizers.schedules does yours inherit?",
        "raised": "Try it by hand: LinearWarmup(0.1, 4, 10)(5). Which line fails?",
    },
    "5.3": {
        "start": "Do both trainings begin with the weights `start`?",
        "shuffle": "`fit` shuffles unless it is told not to. Do both trainings see the same batches?",
        "batch": "Which batch size does `fit` want under a strategy: that of all replicas, or of each?",
        "epochs": "How often did it go through the images?",
        "scope": "Under which strategy was the model built?",
        "raised": "Read Python's error above. Does it return a list of arrays, as `get_weights()` gives it?",
        "other": "Three lines: build under the strategy, set the weights, fit. Which one differs?",
    },
}


def build_question(rng):
    """A batch for each replica, and a learning rate that identifies the optimizer."""
    return {
        "per_replica_batch": rng.randint(3, 300),
        "learning_rate": round(rng.uniform(0.01, 0.5), 3),
    }


def judge_build(question, observation):
    """Everything in the scope of two replicas, compiled, and the batch times two."""
    seen, batch = observation, question["per_replica_batch"]
    if seen["copies"] != 2 or not all(seen["built_in_scope"]["model"]):
        return f"each weight has {seen['copies']} copies for 2 replicas", "model"
    if not seen["compiled"]:
        return "the model is not compiled", "compiled"
    if not all(seen["built_in_scope"]["optimizer"]):
        return "the optimizer was made outside the strategy's scope", "optimizer"
    if seen["global_batch"] != 2 * batch:
        said = f"{seen['global_batch']:g}"
        return f"{batch} images on each of 2 replicas: it says {said}", "global_batch"
    if seen["jit_compile"]:
        return "the model is compiled with XLA (jit_compile is not False)", "jit_compile"
    if "accuracy" not in seen["logs"]:
        return f"fit reports {', '.join(seen['logs'])}, no accuracy", "metrics"
    if abs(seen["learning_rate"] - question["learning_rate"]) > 1e-6:
        return "it was not compiled with the optimizer of new_optimizer()", "metrics"
    return None


def schedule_question(rng):
    """A warm-up, and steps before, at and after its end."""
    warmup = rng.randint(4, 50)
    return {
        "base_rate": round(rng.uniform(0.001, 0.2), 4),
        "factor": rng.choice([2, 3, 4, 8, 16]),
        "warmup_steps": warmup,
        "steps": [0, 1, warmup // 2, warmup - 1, warmup, warmup + 1, 10 * warmup],
    }


def judge_schedule(question, observation):
    """The rate at each step to a thousandth, eagerly and in a graph."""
    if not observation["is_schedule"]:
        return "it is not a Keras LearningRateSchedule", "schedule"
    base, factor = question["base_rate"], question["factor"]
    for steps, rates in (("", observation["eager"]), (" in a graph", observation["graph"])):
        for step, rate in zip(question["steps"], rates, strict=False):
            part = min(step / question["warmup_steps"], 1)
            right = base * (1 + part * (factor - 1))
            if abs(rate - right) <= 1e-3 * right:
                continue
            reason = (
                f"LinearWarmup({base}, {factor}, {question['warmup_steps']}) gives {rate:g} "
                f"at step {step}{steps}, not {right:g}"
            )
            if step == 0:
                return reason, "start"
            if step < question["warmup_steps"]:
                return reason, "early"
            return reason, "after" if rate > base * factor * 1.001 else "peak"
    if observation["graph_error"]:
        return f"in a graph it raised {observation['graph_error']}", "graph"
    return None


def train_question(rng):
    """A tiny softmax regression: its weights, images, labels and batch."""

    def numbers(*shape):
        count = int(np.prod(shape))
        drawn = [round(rng.uniform(-1, 1), 3) for _ in range(count)]
        return np.reshape(drawn, shape).tolist()

    global_batch = rng.choice([4, 6, 8])
    n, features, classes = 3 * global_batch, 4, 3
    return {
        "kernel": numbers(features, classes),
        "bias": numbers(classes),
        "images": numbers(n, features),
        "labels": [rng.randrange(classes) for _ in range(n)],
        "global_batch": global_batch,
        "learning_rate": round(rng.uniform(0.5, 1.0), 2),
    }


def softmax_regression(question, global_batch, epochs=1):
    """Weights after plain SGD over the batches in their order, in NumPy."""
    kernel, bias = np.array(question["kernel"]), np.array(question["bias"])
    x, labels = np.array(question["images"]), np.array(question["labels"])
    for _ in range(epochs):
        for begin in range(0, len(x), global_batch):
            images = x[begin : begin + global_batch]
            scores = images @ kernel + bias
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            error = chances - np.eye(len(bias))[labels[begin : begin + global_batch]]
            error /= len(images)
            kernel = kernel - question["learning_rate"] * images.T @ error
            bias = bias - question["learning_rate"] * error.sum(axis=0)
    return kernel, bias


def judge_train(question, observation):
    """The weights of one device, up to rounding, from a model over two replicas."""
    weights = np.array(observation["kernel"]), np.array(observation["bias"])
    batch = question["global_batch"]

    def equal(others, tolerance=1e-5):
        return all(
            mine.shape == other.shape and np.abs(mine - other).max() < tolerance
            for mine, other in zip(weights, others, strict=True)
        )

    right = softmax_regression(question, batch)
    if equal(right):
        if all(observation["built_in_scope"]):
            return None
        return "the model was built outside the strategy's scope", "scope"
    if weights[0].shape != right[0].shape:
        return f"the kernel has the shape {weights[0].shape}", "raised"
    reason = f"weights differ by up to {np.abs(weights[0] - right[0]).max():.3f}"
    if equal(softmax_regression(question, batch // 2)) or (
        len(question["labels"]) % (2 * batch) == 0
        and equal(softmax_regression(question, 2 * batch))
    ):
        return f"{reason}: they fit a batch size other than {batch}", "batch"
    if any(equal(softmax_regression(question, batch, epochs)) for epochs in (0, 2, 3, 10)):
        return f"{reason}: they fit a number of epochs other than one", "epochs"
    # A shuffled epoch ends near the right weights; another start far from them.
    if np.abs(weights[0] - right[0]).max() < 0.33:
        return f"{reason}: nearly right, as with other batches", "shuffle"
    return f"{reason}: as from another start", "start"


CHALLENGES = {"5.1": build_question, "5.2": schedule_question, "5.3": train_question}
JUDGES = {"5.1": judge_build, "5.2": judge_schedule, "5.3": judge_train}
