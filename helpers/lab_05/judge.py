"""Questions, verdicts and hints of lab 05: many GPUs with fit."""

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import all_near, draw_apart, first_wrong, near, which


def make_build(rng):
    """Two, three and one replica, all with the same two batches to train on."""
    cases = [
        {"replicas": replicas, "per_replica_batch": rng.randint(4, 300)}
        for replicas in (2, 3, 1)
    ]
    rng.shuffle(cases)
    return {
        "cases": cases,
        "learning_rate": round(rng.uniform(0.3, 0.6), 3),
        "momentum": round(rng.uniform(0.5, 0.9), 2),
        "weights": trainer.draw_weights(rng, 3, 3),
        "batches": trainer.draw_batches(rng, [12, 12]),
    }


def built_ways(question):
    """Each way of training, as arguments of `trainer.train`; then other accuracies."""
    names = "weights", "batches", "learning_rate", "momentum"
    right = {name: question[name] for name in names}
    ways = {
        name: _flat(trainer.train(**right | way).weights) for name, way in BUILT.items()
    }
    kernel, bias = question["weights"]
    [first, _] = question["batches"]
    scores = np.exp(np.array(first["x"]) @ np.array(kernel) + np.array(bias))
    chances, truth = scores / scores.sum(axis=1, keepdims=True), np.eye(3)[first["y"]]
    accuracies = (
        (scores.argmax(axis=1) == first["y"]).mean(),
        ((chances > 0.5) == truth).mean(),
        1.0,
        0.0,
    )
    return ways | dict(enumerate(accuracies))


BUILT = {
    "right": {},
    "frozen": {"learning_rate": 0.0},
    "one_step": {"momentum": 0.0},
}


def _flat(weights):
    return np.concatenate([np.ravel(values) for values in weights])


def build_question(rng):
    """As `make_build`; the accuracy cannot be taken for something else."""
    return draw_apart(rng, make_build, built_ways, lambda a, b: not near(0.01)(a, b))


def judge_build(question, observation):
    """On every strategy everything is in its scope, compiled as asked, and trains so."""
    cases = question["cases"], observation["cases"]
    return first_wrong(*cases, _wrong_build) or first_wrong(
        *cases, lambda case, seen: _wrong_training(question, seen)
    )


def _wrong_build(case, seen):
    replicas, batch = case["replicas"], case["per_replica_batch"]
    right, of = replicas * batch, f"with {replicas} replica{'s' * (replicas > 1)}"
    models, optimizers = seen["in_scope"]["model"], seen["in_scope"]["optimizer"]
    if models is not None and not (models and seen["copies"] == replicas):
        hint = "start" if seen["global_batch"] == batch else "model"
        return f"{of} each weight has {seen['copies']}: a copy on each was due", hint
    if not (models and seen["own_model"]):
        return f"{of} the model is not one that new_model() gave", "own_model"
    if not seen["compiled"]:
        return f"{of} the model is not compiled", "compiled"
    if optimizers is None or not seen["own_optimizer"]:
        return f"{of} it is not compiled with what new_optimizer() gave", "own_optimizer"
    if not optimizers:
        return f"{of} the optimizer was made outside the strategy's scope", "optimizer"
    if seen["copies_of_metrics"] != replicas:
        return f"{of} compile made its metrics outside the strategy's scope", "compile"
    if not (seen["whole_number"] and seen["global_batch"] == right):
        said = f"{seen['global_batch']:g}"
        if seen["global_batch"] == right:
            return f"{of} the global batch {said} is not a whole number in Python", "whole"
        return f"{of}, {batch} images on each: it says {said}, not {right}", "global_batch"
    if seen["jit_compile"] and replicas > 1:
        return f"{of} the model is compiled with XLA", "jit_compile"
    if more := set(seen["options"].split(", ")) - ASKED_FOR:
        return f"{of} `compile` was given `{min(more)}`, too", "others"
    if not seen["settings_kept"]:
        return f"{of} a setting of the optimizer is another one", "settings"
    return None


ASKED_FOR = {"", "self", "optimizer", "loss", "metrics", "jit_compile"}


def _wrong_training(question, seen):
    """The loss and the accuracy that training reports, and what it does to the weights."""
    [first, _], weights = question["batches"], question["weights"]
    [losses], [right] = trainer.evaluate(weights, [first])
    logs, loss, accuracy = dict(seen["logs"]), losses.mean(), right.mean()
    if "accuracy" not in logs:
        return f"training reports {', '.join(logs)}, no accuracy", "metrics"
    if not near(1e-4)(logs.pop("loss"), loss):
        return f"the loss is {seen['logs']['loss']:.4f} where {loss:.4f} was due", "loss"
    if not near(1e-4)(said := logs.pop("accuracy"), accuracy):
        return f"the accuracy is {said:.3f} where {accuracy:.3f} was due", "metrics"
    if logs:
        return f"training reports {', '.join(logs)}, too", "others"
    ways = {name: way for name, way in built_ways(question).items() if name in BUILT}
    hint = which(_flat(seen["weights"]), ways, near(1e-3, 1e-3), "settings")
    if hint == "right":
        return None
    if hint == "frozen":
        return "nothing in the model learns", "frozen"
    return "two steps of training do not lead where the optimizer goes", "settings"


def make_schedules(rng):
    """Several warm-ups, and steps before, at and after the end of each, in any order."""
    cases = []
    # One of them is no whole number.
    for factor in [rng.choice([1.5, 2.5]), *rng.sample([2, 3, 4, 8, 16], 2)]:
        warmup = rng.randint(6, 50)
        steps = [0, 1, warmup // 3, warmup - 1, warmup, warmup + 1, 10 * warmup]
        rng.shuffle(steps)
        base = round(rng.uniform(0.001, 0.2), 4)
        cases.append({"base_rate": base, "factor": factor, "warmup_steps": warmup})
        cases[-1]["steps"] = steps
    cases[0] |= {"warmup_steps": 1, "steps": [2, 1, 0]}
    return {"cases": cases}


def _rates(question, rate):
    return [[float(rate(step=step, **_of(case))) for step in case["steps"]]
            for case in question["cases"]]  # fmt: skip


def _of(case):
    return {"base": case["base_rate"], "factor": case["factor"], "n": case["warmup_steps"]}


def warmup(base, factor, n, step):
    """The right rate."""
    return base * (1 + min(step / n, 1) * (factor - 1))


WARMUP_MISTAKES = {
    "start": lambda base, factor, n, step: base * factor,
    "from_zero": lambda base, factor, n, step: base * factor * min(step / n, 1),
    "after": lambda base, factor, n, step: base * (1 + step / n * (factor - 1)),
    "one_off": lambda base, factor, n, step: warmup(base, factor, n, step + 1),
    "peak": lambda base, factor, n, step: base * (1 + min(step / n, 1) * factor),
    "added": lambda base, factor, n, step: base + min(step / n, 1) * (factor - base),
    "jump": lambda base, factor, n, step: base * (factor if step >= n else 1),
    "curve": lambda base, factor, n, step: base * factor ** min(step / n, 1),
    "back": lambda base, factor, n, step: warmup(base, factor, n, step if step <= n else 0),
}


def warmup_ways(question):
    """For each way of warming up, the rates at all steps."""
    ways = {"right": warmup} | WARMUP_MISTAKES
    return {name: _rates(question, rate) for name, rate in ways.items()}


def _same_rates(said, right):
    return all_near(1e-3)(said, right)


RATE = near(3e-5)  # float32 keeps more digits, and float16 fewer


def schedule_question(rng):
    """Warm-ups in which every usual mistake gives other rates."""
    return draw_apart(
        rng, make_schedules, warmup_ways, lambda one, other: not _same_rates(one, other)
    )


def judge_schedule(question, observation):
    """The rate at each step, as float32 gives it, eagerly and in a graph."""
    if not observation["is_schedule"]:
        return "it is not a Keras LearningRateSchedule", "schedule"
    ways = warmup_ways(question)
    if verdict := _wrong_rates(question, observation["eager"], ways, ""):
        return verdict
    if observation["graph_error"]:
        return f"in a graph it raised {observation['graph_error']}", "graph"
    wrong = _wrong_rates(question, observation["graph"], ways, " in a graph")
    return wrong and (wrong[0], "graph")


def _wrong_rates(question, said, ways, where):
    hint = which(said, ways, _same_rates)
    hint = "coarse" if hint == "right" else hint
    for case, rates, due in zip(question["cases"], said, ways["right"], strict=True):
        for step, rate, right in zip(case["steps"], rates, due, strict=True):
            if not RATE(rate, right):
                base, factor, n = _of(case).values()
                schedule = f"LinearWarmup({base}, {factor}, {n})"
                return (
                    f"{schedule} gives {rate:.7g} at step {step}{where}, not {right:.7g}",
                    hint,
                )
    return None


def make_training(rng):
    """Over several replicas and on one device, with a last batch that does not divide."""
    cases = []
    for replicas in (rng.choice([2, 3]), 1):
        batch = {1: 4, 2: 8, 3: 9}[replicas]
        divides_badly = [k for k in range(replicas + 1, batch) if k % replicas]
        left = rng.choice(divides_badly or [1, 2, 3])
        [data] = trainer.draw_batches(rng, [3 * batch + left])
        cases.append(
            {
                "replicas": replicas,
                "global_batch": batch,
                "learning_rate": round(rng.uniform(0.3, 0.6), 2),
                "momentum": round(rng.uniform(0.5, 0.9), 2),
                "start": [
                    [rng.randint(20, 90), rng.uniform(5, 9)],
                    *trainer.draw_weights(rng, 3, 3),
                ],
                **data,
            }
        )
    return {"cases": cases}


def trained(case, batch=None, epochs=1, shared=True, dropped=False, counted=True):
    """The weights after training in some way, the running average first."""
    batch, replicas = batch or case["global_batch"], case["replicas"] if shared else 1
    rows = len(case["y"])
    batches = [
        {name: case[name][i : i + batch] for name in ("x", "y")}
        for i in range(0, rows - batch + 1 if dropped else rows, batch)
    ] * epochs
    averages, *weights = case["start"]
    averages = np.array(averages) * counted
    for part in batches:
        seen = len(part["y"]), np.sum(part["x"], axis=0)[0]
        averages = averages / 2 + np.array(seen) / replicas
    weights = trainer.train(
        weights,
        batches,
        case["learning_rate"],
        case["momentum"],
        share=lambda part: _shares(len(part["y"]), replicas),
    ).weights
    return [averages, *weights]


def _shares(images, replicas):
    """The mean of the shares' means, as `fit` takes it: what each image counts for."""
    largest = -(-images // replicas)
    sizes = [min(largest, images - i) for i in range(0, images, largest)]
    return np.concatenate([np.full(size, 1 / (replicas * size)) for size in sizes])


TRAINING_WAYS = {
    "right": lambda case: {},
    "untrained": lambda case: {"epochs": 0},
    "epochs": lambda case: {"epochs": 2},
    "epochs 3": lambda case: {"epochs": 3},
    "batch": lambda case: {"batch": case["global_batch"] // case["replicas"]},
    "batch larger": lambda case: {"batch": case["global_batch"] * case["replicas"]},
    "last": lambda case: {"dropped": True},
    "shares": lambda case: {"shared": False},
    "averages": lambda case: {"counted": False},
}


def training_ways(question):
    """For each way of training, the weights of all cases, in one list."""
    return {
        name: [w for case in question["cases"] for w in trained(case, **way(case))]
        for name, way in TRAINING_WAYS.items()
    }


SAME_WEIGHTS = all_near(1e-4, 1e-4)


def train_question(rng):
    """Trainings in which every usual mistake gives other weights."""
    return draw_apart(
        rng, make_training, training_ways, lambda a, b: not all_near(0.01, 0.01)(a, b)
    )


def judge_train(question, observation):
    """The weights that one epoch gives over each strategy, up to rounding."""
    seen = observation["cases"]
    said = [weights for one in seen for weights in one["weights"]]
    hint = which(said, training_ways(question), SAME_WEIGHTS)

    def judge(case, one):
        of = f"with {case['replicas']} replica{'s' * (case['replicas'] > 1)}"
        if one["in_scope"] is None:
            return f"{of} it does not call `new_model`", "scope"
        if not one["in_scope"]:
            alone = SAME_WEIGHTS(one["weights"], trained(case, shared=False))
            return f"{of} the model was made outside the strategy's scope", (
                "scope" if alone else "start"
            )
        if not one["own_compile"]:
            return f"{of} the model has another optimizer or loss", "compiled"
        right = trained(case)
        shapes = [np.shape(weights) for weights in one["weights"]]
        if shapes != [np.shape(weights) for weights in right]:
            return f"{of} the weights that it returns have the shapes {shapes}", "shapes"
        if not SAME_WEIGHTS(one["weights"], right):
            return f"{of} {_apart(one['weights'], right)}", (
                _training_hint(one["weights"], case) if hint == "other" else hint.split()[0]
            )
        if one["fits"] != 1:
            return f"{of} it calls `fit` {one['fits']} times", "fits"
        if not one["arrays"]:
            return f"{of} the weights that it returns are not NumPy arrays", "arrays"
        if any("loss:" in line or "/step" in line for line in one["printed"]):
            return f"{of} `fit` prints how far it is", "silent"
        return None

    return first_wrong(question["cases"], seen, judge)


def _apart(weights, right):
    apart = [np.abs(np.subtract(a, b)).max() for a, b in zip(weights, right, strict=True)]
    most = f"weights differ from the right ones by up to {max(apart[1:]):.3f}"
    return f"{most}, the model's running averages by {apart[0]:.3f}"


def _training_hint(weights, case):
    # How many images a batch had, and which, the averages know.
    rows, images = (
        near(5e-3)(*pair) for pair in zip(weights[0], trained(case)[0], strict=True)
    )
    if rows and images:
        return "settings"
    return "shuffle" if rows else "from"


EXERCISES = {
    "5.1": Exercise(
        title="the model lives on every replica, and the global batch is theirs together",
        requirements={
            "model": "The model is made by `new_model()` inside the strategy's scope.",
            "optimizer": "The optimizer is made inside the scope, too.",
            "own_optimizer": "The model is compiled with the optimizer of `new_optimizer()`.",
            "as_given": "Both stay as they are given: what learns, and with which settings.",
            "compile": "`compile` is called inside the scope.",
            "loss": "The loss is the categorical cross-entropy.",
            "metrics": "`fit` reports the accuracy.",
            "jit_compile": "XLA is off over several replicas.",
            "others": "The other arguments of `compile` stay as they are.",
            "returns_model": "It returns the model first.",
            "global_batch": "The global batch is that of all replicas, a whole number.",
            "any_number": "The strategy may have any number of replicas, also one.",
        },
        question=build_question,
        judge=judge_build,
        hints={
            "start": "Your model is on one device, and the batch is that of one. What has to stand inside `with strategy.scope():`, and how many images do all replicas take in a step?",
            "model": "Where do variables have to be made, so that each replica gets a copy?",
            "own_model": "What does `new_model` give you? Is this what you compile and return?",
            "compiled": "Which call tells Keras the optimizer, the loss and the metrics?",
            "optimizer": "An optimizer has variables, too, such as its step count. Where is it made?",
            "own_optimizer": "You are given `new_optimizer`. Does `compile` get what it returns?",
            "frozen": "Which of the model's layers may still learn? Your function only compiles it.",
            "settings": "Train with your model and with one of your own: which setting of the optimizer, or which weight, does your function change? The text asks for no other rate.",
            "compile": "The model and the optimizer are made in the scope. And where does `compile` make its metrics?",
            "global_batch": "Each replica takes `per_replica_batch` images in a step. How many do all take, if there are two, or three, or one?",
            "whole": "`fit` wants a whole number of images. Which operation gave you another kind of number?",
            "jit_compile": "XLA does not work over several replicas. Which argument of `compile` switches it off?",
            "others": "Which of `compile`'s arguments does the text ask for, and which more did you give?",
            "loss": "Compare your loss with the text: labels are one-hot, outputs are probabilities. Which loss is asked for, and does anything scale or smooth it?",
            "metrics": "What should `fit` report besides the loss, and under which name?",
            "raised": "Read Python's error above. Does it return two things, (model, global_batch), also for a strategy of one device?",
        },
    ),
    "5.2": Exercise(
        title="the learning rate warms up step by step, in a graph too",
        requirements={
            "schedule": "It is a Keras learning-rate schedule.",
            "start": "At step 0 the rate is `base_rate`.",
            "line": "From there it rises in a straight line, with every step.",
            "peak": "At step `warmup_steps` it is `factor * base_rate`.",
            "after": "It stays there.",
            "graph": "The step may be a tensor in a graph, without a value yet.",
        },
        question=schedule_question,
        judge=judge_schedule,
        hints={
            "start": "Your rate is the same at every step. Which rate should step 0 have, and which part of the warm-up is over at `step`?",
            "from_zero": "Which rate does the very first step, step 0, have: none, or that of one replica?",
            "peak": "At `warmup_steps` the rate should be `factor * base_rate`. How much has been *added* to `base_rate` by then?",
            "added": "The line ends at a rate. Is `factor` a rate, or by what the rate is multiplied?",
            "after": "What limits the rise once the warm-up is over?",
            "back": "Which rate does your schedule give long after the warm-up?",
            "one_off": "The first step has the number 0. Which part of the warm-up is over then, and at which step is all of it?",
            "jump": "Does your rate rise with every step? What does `//` do to a part that is below 1?",
            "coarse": "The first digits are right. Do you round, or in which type of number do you compute?",
            "curve": "At half of the warm-up the rate should lie in the middle between the two. Is yours a straight line?",
            "graph": "In a graph `step` is a tensor without a value. Which of your lines needs its value, and which function of `keras.ops` does not?",
            "schedule": "From which class of `keras.optimizers.schedules` does yours inherit?",
            "raised": "Try it by hand: `LinearWarmup(0.1, 4, 10)(5)`. Which line fails?",
            "other": "Work out `LinearWarmup(0.1, 4, 10)` by hand at steps 0, 5, 10 and 20. Does yours give the same, in any order, also when there are two schedules?",
        },
    ),
    "5.3": Exercise(
        title="from the same start, in the same order, with the same global batch",
        requirements={
            "scope": "The model is made inside the scope of `strategy`.",
            "start": "Training begins with the weights `start`, all of them.",
            "compiled": "The model keeps the optimizer and the loss that it is compiled with.",
            "epoch": "It trains one epoch.",
            "batch": "`global_batch` is the batch of `fit`.",
            "fit": "One call of `fit` shares each batch out among the replicas.",
            "order": "The images are taken in their order.",
            "last": "A smaller last batch is trained, too.",
            "silent": "`fit` prints nothing.",
            "returns": "It returns all the new weights, as `get_weights` gives them.",
            "unchanged": "`start`, `images` and `labels` stay as they are.",
        },
        question=train_question,
        judge=judge_train,
        hints={
            "start": "Three things are open: under which strategy is the model made, with which weights does it begin, and does `fit` keep the order?",
            "from": "With which weights does training begin: those of `new_model()`, or `start`? And what has trained before you return them?",
            "averages": "`start` holds weights that are not trained, too, such as running averages. Does the model get those?",
            "scope": "Under which strategy was the model made?",
            "compiled": "The model comes compiled. What does another `compile` do to its optimizer and its loss?",
            "untrained": "You return the weights that it began with. What happens first: training, or reading the weights?",
            "epochs": "How often did it go through the images?",
            "batch": "Which batch size does `fit` want under a strategy: that of all replicas, or of each?",
            "fits": "One `fit` goes through all images, and knows itself where a batch ends. How often do you call it?",
            "shares": "Does each replica work on its share of a batch, or on all of it? Which of Keras' methods shares batches out?",
            "shuffle": "`fit` shuffles unless it is told not to. Does it see the images as they are, and in their order?",
            "settings": "The right images came in the right order, and yet the steps were others. What do you give to `fit` besides the images, and does the optimizer keep its settings?",
            "last": "How many images are left for the last batch, and are they trained?",
            "silent": "Which argument of `fit` switches its progress bar off?",
            "shapes": "Which arrays does `get_weights()` give, and in which order? Do you return them all?",
            "arrays": "The weights will be subtracted from others, as NumPy arrays. Which method of a model gives arrays?",
            "raised": "Read Python's error above. Does it return a list of arrays, as `get_weights()` gives it? Does one call of `fit` get all images, and the size of a batch?",
        },
    ),
}
