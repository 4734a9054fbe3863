# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 03: Is the fastest epoch the fastest training?
#
# In [lab 02](02_throughput.ipynb), larger batches processed more images per second, up to
# a point, so their epochs ended sooner. But a runner who is twice as fast still loses if
# the track is three times as long. In training, each batch size has a track of its own:
# the number of images that the network must see until it is good enough. Does the size
# with the highest [throughput](../docs/glossary.md) also get there first?
#
# 1. *A fair race.* Several batch sizes race to the same accuracy.
# 2. *Which size won?* You decide what the result is worth.
# 3. *Why does the winner win?* You take its time apart.
# 4. *Which size would be faster still?* You calculate it, and test your forecast.
#
# If you are stuck in exercise 3.1, press *Hint* below its check, or call `hint("3.1")` in
# a new cell. Each further hint tells you more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = None  # at most, for each run; None: chosen by the scale
batch_size: int = 32  # of the first training
valid_batch_size: int = 250
batch_sizes: list = [16, 64, 256, 1024]  # of the race
repeats: int = 5  # runs of each batch size, each with another seed
patience: int = 2  # epochs in a row above the target, for exercise 3.1
target_accuracy: float = None  # None: chosen by the scale, as above (also the next five)
look_images: int = None  # images to train on between two looks at the accuracy
train_images: int = None
valid_images: int = None
depth: int = None
width: int = None
dropout: float = 0.01
learning_rate: float = 0.007  # at batch size 32; the ladders of rates are based on it
momentum: float = 0.9
weight_decay: float = 5e-6
shift: float = 0.0  # no augmentation, which pays off only in long trainings
flip: bool = False

# %% [markdown]
# ## Set up
#
# The data and the kind of network come from lab 02. You will train it more than forty
# times, so on a laptop the network is smaller. Its
# [optimizer](https://keras.io/api/optimizers/sgd/) now has *momentum*, which carries a
# part of each step over into the following steps, so that a few epochs are enough.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("03_time_to_accuracy", globals())

# %%
# random, statistics, time and keras are for your answers, which may overwrite them. The
# lab's own cells use other names.
import random
import statistics
import time

import keras

card = lab.card

# %%
from collections import Counter
from itertools import accumulate
from random import Random
from statistics import median

import numpy
import tensorflow
from keras import losses, ops, optimizers, utils

from callbacks import EpochRecorder, PrintThroughput, TrainingDashboard, TrainingProgress
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_03 import figures, ladder
from helpers.network.models import wide_resnet
from helpers.network.pipelines import batches, with_preprocessing

use_figures()

# %%
x_train, y_train, x_valid, y_valid = session.load_images()
valid = batches(x_valid, y_valid, lab.valid_batch_size)

# %%
def new_network(seed):
    """A network with its preprocessing; each seed gives other initial weights."""
    utils.set_random_seed(seed)
    shape = {"dropout": lab.dropout, "stem_pool": lab.stem_pool}
    network = wide_resnet(lab.depth, lab.width, **shape)
    return with_preprocessing(network, x_train, lab.shift, lab.flip, seed)

compiled_model = new_network(lab.seed)
# For no weight decay, Keras expects None instead of 0.
sgd = optimizers.SGD(0.0, lab.momentum, weight_decay=lab.weight_decay or None)
# Without the compiler XLA, which Keras uses by default on some devices only.
compiled_model.compile(
    sgd, "categorical_crossentropy", metrics=["accuracy"], jit_compile=False
)
one_batch = batches(x_train, y_train, lab.batch_size, lab.seed).take(1)
_ = compiled_model.fit(one_batch, validation_data=valid, verbose=0)

# %% [markdown]
# A newly compiled model pays the start-up cost of lab 02. So we compile only one model,
# before any clock runs, and restart it for every training with new weights, a reset
# optimizer and its own [learning rate](../docs/glossary.md).

# %%
def restart(rate, seed):
    """Forget all training, as if the model had just been made with this seed."""
    fresh = new_network(seed)
    for variable, new in zip(compiled_model.variables, fresh.variables, strict=True):
        variable.assign(new)
    for variable in sgd.variables:
        variable.assign(ops.zeros_like(variable))
    sgd.learning_rate = rate

def rate_by_rule(batch_size):
    """A learning rate that grows with the square root of the batch size."""
    return lab.learning_rate * (batch_size / 32) ** 0.5

# %% [markdown]
# ## 1. A fair race
#
# A learning rate that suits batches of 16 may be much too small for batches of 1,024. If
# all sizes raced with one rate, it would decide the race. So each size must first find its
# own rate.
#
# The gradient of a larger batch is less noisy, so you can trust it with a larger rate. If
# the batch is $k$ times as large, two rules of thumb disagree about how much:
#
# - The *square-root rule* multiplies the rate by $\sqrt{k}$, which keeps the variance of a
#   step constant ([Krizhevsky 2014](https://arxiv.org/abs/1404.5997), who found that the
#   other rule worked better).
# - The *linear rule* multiplies it by $k$ ([Goyal et al.
#   2017](https://arxiv.org/abs/1706.02677)).

# %% [markdown]
# We trust neither rule. Each batch size tries a *ladder* of rates: the rate by the
# square-root rule, a third of it, and three times it. A rate of 0.007 suits batches of 32.
# So for batch size 64 the rule gives $0.007 \sqrt{64 / 32} = 0.0099$, and the ladder is
# 0.0033, 0.0099, 0.0297. If the best of them is at an end, the ladder grows on that side,
# up to six rates: after 0.0297 comes 0.0891.
#
# Two words have a fixed meaning in this lab:
#
# | word | purpose | trains on | is judged on |
# |---|---|---|---|
# | *trial* | tests one rate of the ladder | four fifths of the training images | the other fifth |
# | *run* | takes part in the race, with the best rate of its size | all training images | the validation images |
#
# After every `look_images` images, a *look* measures the accuracy. A trial or run *reaches
# the target* at its first look with at least the target accuracy, and ends there. A trial
# also ends early when another rate has already been faster.

# %%
def steps_per_look(batch_size):
    return max(1, round(lab.look_images / batch_size))

def most_looks(batch_size):
    images = lab.epochs * lab.train_images
    return max(1, images // (steps_per_look(batch_size) * batch_size))

# %%
def train_to_target(batch_size, rate, seed, train_set, valid_set, looks):
    """Train until the target; return training seconds and accuracy at every look."""
    restart(rate, seed)
    recorder = EpochRecorder(lab.target_accuracy)
    compiled_model.fit(
        batches(*train_set, batch_size, seed, repeat=True),
        validation_data=batches(*valid_set, lab.valid_batch_size),
        steps_per_epoch=steps_per_look(batch_size),  # an "epoch" ends with a look
        epochs=looks,
        callbacks=[TrainingProgress(), recorder],
        verbose=0,
    )
    seconds = list(accumulate(recorder.epochs["train_seconds"]))
    accuracies = {"val_accuracy": recorder.epochs["val_accuracy"]}
    return {"batch_size": batch_size, "seed": seed, "wall_seconds": seconds} | accuracies

# %%
fifth = lab.train_images // 5
split = (x_train[fifth:], y_train[fifth:]), (x_train[:fifth], y_train[:fifth])
never = float("inf")

def reached_target(run):
    return run["val_accuracy"][-1] >= lab.target_accuracy

def tune(batch_size):
    """Climb the ladder: the rate, the looks and the last accuracy of each trial."""
    def accuracies(rate, looks):
        return train_to_target(batch_size, rate, lab.seed, *split, looks)["val_accuracy"]
    first_rate, looks = rate_by_rule(batch_size), most_looks(batch_size)
    return ladder.climb(accuracies, first_rate, looks, lab.target_accuracy)

# %% [markdown]
# **Predict:** what is the best rate of the largest batch size, divided by the best rate
# of the smallest? From 16 to 1,024, the square-root rule says 8 and the linear rule says
# 64.

# %%
my_rate_ratio_guess = None  # change this: rate at the largest / rate at the smallest
rate_ratio_guess = card.predict("rate_ratio", my_rate_ratio_guess)

# %%
card.lock("rate_ratio")
trials, rates = card.points("trials"), {}
for size in lab.batch_sizes:
    if size not in trials:
        trials[size] = tune(size)
    best_trial = ladder.best_of(trials[size], lab.target_accuracy)
    if best_trial["accuracy"] >= lab.target_accuracy:
        rates[size] = best_trial["rate"]
    each = []
    for trial in sorted(trials[size], key=lambda trial: trial["rate"]):
        how = "reached at" if trial["accuracy"] >= lab.target_accuracy else "not reached by"
        each.append(f"{trial['rate']:.4f} {how} look {trial['looks']}")
    print(f"Batch {size}, target at each rate: {', '.join(each)}")

# %%
tuned = {size: rates.get(size, rate_by_rule(size)) for size in lab.batch_sizes}
for size, rate in tuned.items():
    over_rule = rate / rate_by_rule(size)
    print(f"Batch {size}: rate {rate:.4f}, {over_rule:.2f} times the square-root rule's")
card.measure("tuned_rates", tuned)
both = {lab.batch_sizes[0], lab.batch_sizes[-1]} <= rates.keys()
rate_ratio = tuned[lab.batch_sizes[-1]] / tuned[lab.batch_sizes[0]]
lowest_ratio, highest_ratio = rate_ratio / ladder.FACTOR, rate_ratio * ladder.FACTOR
print(f"Rate of the largest batch, divided by that of the smallest: {rate_ratio:.1f}")
print(f"  range: {lowest_ratio:.1f} to {highest_ratio:.1f}")
inside = bool(rate_ratio_guess) and lowest_ratio <= rate_ratio_guess <= highest_ratio
card.outcome("rate_ratio", rate_ratio if both else None, accepted=inside)

# %% [markdown]
# In the stored run, for example, batch 64 reached the target at look 8 with the rate 0.0099,
# and at look 6 with 0.0297, so 0.0297 is the better rate. *Not reached by look 36* need not
# mean that a rate is bad: once one rate has reached the target, a trial is cut off when it
# can no longer be faster. But if a loss became `nan` (not a number), or an accuracy stayed
# near 0.1, training diverged.
#
# Read the ratio with caution: each rate had only one trial, and neighbouring rates differ
# by a factor of three. That is why the cell prints a range, and any guess inside it counts
# as right.
#
# **Question.** Which of the two rules agrees with your range?

# %% [markdown]
# ### On your marks
#
# Every size now has its rate, and starts several times with different seeds.
#
# **Predict:** which batch size will reach the target first? And what is the number of
# *steps* that the smallest batch size takes, divided by the steps of the largest?

# %%
my_winner = None  # change this: one of the batch sizes
my_steps_ratio_guess = None  # change this: steps of the smallest / steps of the largest
winner_guess = card.predict("fastest_batch_size", my_winner)
card.predict("steps_ratio", my_steps_ratio_guess)

# %%
card.lock("fastest_batch_size", "steps_ratio")
finished = card.points("runs")
race = (x_train, y_train), (x_valid, y_valid)
for this_seed in range(lab.seed, lab.seed + lab.repeats):
    for size in lab.batch_sizes:
        key = f"batch {size}, seed {this_seed}"
        if key not in finished:
            finished[key] = train_to_target(
                size, tuned[size], this_seed, *race, most_looks(size)
            )
runs = list(finished.values())
card.measure("val_accuracy", max(max(run["val_accuracy"]) for run in runs))
share_there = sum(map(reached_target, runs)) / len(runs)
print(f"{len(runs)} runs, {share_there:.1%} reached the target")

# %% [markdown]
# <details><summary>What if the machine slows down, or you interrupt the race?</summary>
#
# All sizes run with one seed before the next seed begins, so a slow machine slows all of
# them. An interrupted race resumes where it stopped. One unfair advantage remains: a size
# that needs more images gets more looks, and each is another chance to reach the target by
# luck.
#
# </details>

# %% [markdown]
# Each curve is a run, which ends when it reaches the horizontal line.
#
# **Question.** Do the fastest runs all belong to the same batch size?

# %%
figure = figures.accuracy_against_time(runs, lab.target_accuracy)
best = max(runs, key=lambda run: max(run["val_accuracy"]))
accuracy = max(best["val_accuracy"])
show_figure(
    figure,
    f"Accuracy of every run over its training time; the best had {accuracy:.3f}.",
    session.caption(),
)

# %% [markdown]
# ## 2. Which size won?
#
# Before you name a winner, settle three things: when has a run reached its
# target, which of its seconds count, and which number speaks for several runs?
#
# First, the finishing line. With other validation images you would measure a different
# accuracy. If the true accuracy is $p$, the accuracy measured on $n$ images has the
# standard deviation
#
# $$ \sigma = \sqrt{\frac{p\,(1 - p)}{n}}, $$
#
# and about one measurement in three is off by more than that.

# %%
p = lab.target_accuracy
points = 100 * (p * (1 - p) / lab.valid_images) ** 0.5
print(f"One standard deviation at accuracy {p:.2f}: {points:.2f} percentage points")

# %% [markdown]
# ### Exercise 3.1: stop when it is good enough
#
# There is a second error. The weights jitter from look to look, so a run may cross the line
# by a lucky jump. In the race, this can happen to every size, and the median keeps one such
# jump from deciding. A training that you run only once should wait for several good epochs in
# a row. (This helps only against the jitter: all looks use the same validation images, so
# their error stays.)

# %% [markdown]
# **Write** `StopAtAccuracy(target, patience)`, a [Keras
# callback](https://keras.io/api/callbacks/base_callback/) that ends training after
# `patience` epochs *in a row* whose validation accuracy is *above* `target`.
#
# **Rules**
#
# - An epoch at or below the target sets the count back to zero.
# - A new `fit` also starts counting at zero, whatever its `initial_epoch`, and even if the
#   previous `fit` was interrupted.
# - When the callback stops the training, it prints one line, as in the example (the first
#   epoch is 1).
# - If `logs`, the dict with the metrics of the epoch, has no `val_accuracy`, print what is
#   missing and let the training continue. You may decide whether such an epoch sets the
#   count back to zero.
#
# **Example:** with a target of 0.80 and a patience of 2, the validation accuracies 0.79,
# 0.83, 0.80, 0.82 and 0.84 lead to
#
#     Early stopping after epoch 5
#
# You need about fourteen lines, and `self.model.stop_training` helps.

# %% [markdown]
# <details><summary>Should you round the accuracy?</summary>
#
# You may round it to six decimals, as this course does. In float32, 850 right answers out
# of 1,000 become 0.8500000238, which would count as above a target of 0.85.
#
# </details>

# %% name="3.1-stop-at-accuracy" points=2
# TODO 3.1: stop after `patience` epochs in a row above the target.
#: start
class StopAtAccuracy(keras.callbacks.Callback):
    """Stop after `patience` epochs in a row above `target`."""

    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience
#: solution
class StopAtAccuracy(keras.callbacks.Callback):
    """Stop after `patience` epochs in a row above `target`."""

    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.met = 0

    def on_epoch_end(self, epoch, logs=None):
        accuracy = (logs or {}).get("val_accuracy")
        if accuracy is None:
            print("StopAtAccuracy needs metrics=['accuracy'] and validation_data.")
            return
        # Six decimals: in float32 850 of 1,000 is 0.8500000238.
        self.met = self.met + 1 if round(accuracy, 6) > self.target else 0
        if self.met >= self.patience:
            self.model.stop_training = True
            print(f"Early stopping after epoch {epoch + 1}")
#: end

# %%
StopAtAccuracy = check("3.1", StopAtAccuracy)

# %% [markdown]
# ### Exercise 3.2: where did the time go?
#
# Second, the clock. A `fit` does more than train. It begins with a *start-up*, in which
# TensorFlow traces the graph of the training step, plans it and allocates memory, and it
# ends each epoch with a *validation*. Start-up and validation say nothing about how fast a
# batch size learns, so the race left them out. But in your own trainings you wait for them,
# so measure them.

# %% [markdown]
# **Write** `PrintTotalTime`, a callback that prints how the time of a `fit` was spent:
#
#     Cumulative training time after epoch 3: 12.34
#     Cumulative training time: 40.21
#     Start-up: 6.43, training: 28.10, validation: 5.68
#
# **Rules for the total**
#
# - Print the first line after every epoch, where the first epoch is 1.
# - Print the other two once, at the end, even if the training is stopped early.
# - Measure from the moment when training began, including validation and the time between
#   epochs. Each `fit` starts again from zero.
# - Give all seconds with two decimals: 12.30, not 12.3.

# %% [markdown]
# **Rules for its parts**
#
# - *Start-up* lasts from the beginning of training to the end of its first batch.
# - *Validation* is the time of all validations together, or 0.00 if there are none.
# - *Training* is all the rest, so the three parts add up to the total.
#
# You need about twenty lines. Keras calls [`on_test_begin` and
# `on_test_end`](https://keras.io/guides/writing_your_own_callbacks/) around each
# validation.

# %% name="3.2-print-total-time" points=2
# TODO 3.2: print the seconds since training began, and what they went into.
#: start
class PrintTotalTime(keras.callbacks.Callback):
    """Print the time since training began, and at the end its parts."""
#: solution
class PrintTotalTime(keras.callbacks.Callback):
    """Print the time since training began, and at the end its parts."""

    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()
        self.start_up = self.validation = 0.0

    def on_train_batch_end(self, batch, logs=None):
        if not self.start_up:
            self.start_up = time.perf_counter() - self.began

    def on_test_begin(self, logs=None):
        self.test_began = time.perf_counter()

    def on_test_end(self, logs=None):
        self.validation += time.perf_counter() - self.test_began

    def on_epoch_end(self, epoch, logs=None):
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time after epoch {epoch + 1}: {wall_seconds:.2f}")

    def on_train_end(self, logs=None):
        wall_seconds = time.perf_counter() - self.began
        training = wall_seconds - self.start_up - self.validation
        print(f"Cumulative training time: {wall_seconds:.2f}")
        print(f"Start-up: {self.start_up:.2f}, training: {training:.2f}, ", end="")
        print(f"validation: {self.validation:.2f}")
#: end

# %%
PrintTotalTime = check("3.2", PrintTotalTime)

# %% [markdown]
# Now use both callbacks with a newly compiled model. Even guessing reaches the target of
# 1%, so you will see the early stop.
#
# **Question.** Which of the three parts will take longest?

# %%
fresh_model = new_network(lab.seed)
fresh_model.compile(
    optimizers.SGD(rate_by_rule(lab.batch_size), lab.momentum),
    "categorical_crossentropy", metrics=["accuracy"], jit_compile=False,
)

# %%
recorder = EpochRecorder()
training_history = fresh_model.fit(
    batches(x_train, y_train, lab.batch_size, lab.seed),
    validation_data=valid,
    epochs=lab.epochs,
    callbacks=[
        TrainingDashboard(session.caption()),
        PrintThroughput(lab.train_images),
        PrintTotalTime(),
        StopAtAccuracy(0.01, lab.patience),
        recorder,
    ],
    verbose=0,
)
last_epoch_seconds = recorder.epochs["train_seconds"][-1]
card.measure("images_per_second", lab.train_images / last_epoch_seconds)

# %% [markdown]
# ### Exercise 3.3: median and spread
#
# Third, the verdict. Another seed gives another curve, so you need one number for several
# runs, even if some of them never reach the target.
#
# The race has left a list of runs. Each run is a dict with its `batch_size` and two lists,
# `wall_seconds` and `val_accuracy`, with one entry per look (at least one). The seconds
# count all training since the start of the run, but no validation.
#
# The *time to accuracy* of a run is the entry of `wall_seconds` at its first look with at
# least the target accuracy. (You may round accuracies to six decimals.)

# %% [markdown]
# **Write** `summarize(runs, target)`, which returns a dict with a row for every batch
# size: how many of its runs reached the target, how many there are, and the median, the
# fastest and the slowest time to accuracy.
#
#     {32: {"reached": 2, "runs": 3, "median_seconds": 9.1,
#           "fastest_seconds": 7.5, "slowest_seconds": 9.1}, ...}
#
# **Rules**
#
# - A run that never reaches the target counts in the median as infinitely slow.
# - Such a run never counts in `fastest_seconds` and `slowest_seconds`.
# - If a value does not exist or is infinite, it is `None`.

# %% [markdown]
# **Example:** consider the list
#
#     runs = [{"batch_size": 32, "wall_seconds": [4.0, 7.5],
#              "val_accuracy": [0.70, 0.83]}]
#
# With a target of 0.82, this run reaches it, and all three times are 7.5. With a target
# of 0.9 it does not, and all three are `None`.
#
# You need about fifteen lines.
# [`statistics.median`](https://docs.python.org/3/library/statistics.html#statistics.median)
# and `float("inf")` help.

# %% name="3.3-summarize" points=2
# TODO 3.3: time to accuracy of each batch size: count, median, fastest, slowest.
#: start
def summarize(runs, target):
    """Count, median and spread of the time to accuracy of each batch size."""
    times = {}
    for run in runs:
        times.setdefault(run["batch_size"], []).append(run["wall_seconds"][-1])
    return {
        batch_size: {
            "reached": len(seconds),
            "runs": len(seconds),
            "median_seconds": statistics.mean(seconds),
            "fastest_seconds": min(seconds),
            "slowest_seconds": max(seconds),
        }
        for batch_size, seconds in times.items()
    }
#: solution
def summarize(runs, target):
    """Count, median and spread of the time to accuracy of each batch size."""
    times = {}
    for run in runs:
        epochs = zip(run["wall_seconds"], run["val_accuracy"], strict=True)
        first = next((t for t, accuracy in epochs if accuracy >= target), float("inf"))
        times.setdefault(run["batch_size"], []).append(first)

    def row(all_times):
        reached = [t for t in all_times if t < float("inf")]
        # All runs count: one that never reaches the target is slower than all that do.
        median = statistics.median(all_times)
        return {
            "reached": len(reached),
            "runs": len(all_times),
            "median_seconds": median if median < float("inf") else None,
            "fastest_seconds": min(reached, default=None),
            "slowest_seconds": max(reached, default=None),
        }

    return {batch_size: row(all_times) for batch_size, all_times in times.items()}
#: end

# %%
summarize = check("3.3", summarize)

# %%
def seconds_or_never(seconds):
    return "never" if seconds is None else f"{seconds:.2f} s"

table = summarize(runs, lab.target_accuracy)
card.measure("time_to_accuracy", {str(size): row for size, row in table.items()})
for size, row in sorted(table.items()):
    median_time = seconds_or_never(row["median_seconds"])
    fastest = seconds_or_never(row["fastest_seconds"])
    slowest = seconds_or_never(row["slowest_seconds"])
    print(f"Batch {size}: {row['reached']} of {row['runs']} runs ", end="")
    print(f"reached the target, median {median_time}, fastest {fastest}, slowest {slowest}")

# %%
times, steps = ({size: [] for size in lab.batch_sizes} for _ in range(2))
for run in runs:
    size, done = run["batch_size"], reached_target(run)
    times[size].append(run["wall_seconds"][-1] if done else never)
    looks = len(run["val_accuracy"])
    steps[size].append(looks * steps_per_look(size) if done else never)
medians = {b: row["median_seconds"] for b, row in table.items() if row["median_seconds"]}
winner = min(medians, key=medians.get) if medians else None
text = f"batch size {winner} has the lowest median" if winner else "no median exists"
figure = figures.time_to_accuracy_spread(times, winner_guess)
show_figure(figure, f"Time to {lab.target_accuracy}: {text}.", session.caption())

# %% [markdown]
# ### Would it win again?
#
# The size with the lowest median may just have been lucky. To find out, draw new races from
# the runs that you have, with the [*bootstrap*](../docs/glossary.md) of lab 02.
#
# For example, let one size have runs of 3 s and 6 s, and another size runs of 4 s and 5 s.
# If you draw one run of each, there are four possible races: 3 against 4, 3 against 5, 6
# against 4, and 6 against 5. The first size wins two of them, which is 50%.
#
# The next cell draws a thousand races of one run each, and then a thousand in which each
# size has `repeats` runs and the lowest median wins. Because all are drawn from the same
# few runs, the percentages are rough.

# %%
def share_of_firsts(runs_drawn):
    """How often each size comes first, in percent, by the median of `runs_drawn` runs."""
    chance, firsts = Random(lab.seed), Counter()
    for _ in range(1000):
        drawn = {b: median(chance.choices(t, k=runs_drawn)) for b, t in times.items()}
        best = min(drawn, key=drawn.get)
        firsts[best if drawn[best] < never else None] += 1
    return {size: firsts[size] / 10 for size in lab.batch_sizes}

by_one, by_median = share_of_firsts(1), share_of_firsts(lab.repeats)
for size in lab.batch_sizes:
    print(f"Batch {size} comes first: {by_one[size]:.1f}% by one run, ", end="")
    print(f"{by_median[size]:.1f}% by the median of {lab.repeats} runs")

# %% [markdown]
# A race of one run each is partly luck, which is why the medians decide. But even a median
# can be lucky. So if two or more sizes each win at least 5% of the races by the median, we
# call the race undecided, and naming any of them counts as right.

# %%
possible = [size for size, share in by_median.items() if share >= 5]
print(f"Possible winners: {', '.join(map(str, possible)) or 'none'}")
card.outcome(
    "fastest_batch_size", winner, choices=True, accepted=winner_guess in possible
)

# %% [markdown]
# In the stored run, batch 256 won 59% of the races by the median, and batch 64 won 41%. So
# we would bet on 256, but not much.

# %% [markdown]
# ## 3. Why does the winner win?
#
# The time of a run is the length of its track, divided by its speed:
#
# $$ \text{seconds to the target} =
# \frac{\text{images that the training needs}}{\text{images per second}}. $$
#
# **Question.** As the batch grows, which of the three numbers below falls, and which two
# rise?

# %%
def in_words(value, unit):
    digits = {"s": 2, "steps": 0, "images": 0}.get(unit, 1)
    return f"{value:,.{digits}f} {unit}" if value < never else "never"

typical_steps, speed_of = {size: median(steps[size]) for size in lab.batch_sizes}, {}
for size, needed in typical_steps.items():
    own = [run for run in runs if run["batch_size"] == size]
    trained = sum(len(run["val_accuracy"]) for run in own) * steps_per_look(size) * size
    speed_of[size] = trained / sum(run["wall_seconds"][-1] for run in own)
    print(f"Batch {size}: {in_words(needed, 'steps')}, ", end="")
    print(f"{in_words(needed * size, 'images')}, {speed_of[size]:,.1f} images/s")

# %%
quickest = max(speed_of, key=speed_of.get)
if winner in (None, quickest):
    answer = "which also won" if winner else "but no size has won"
else:
    faster = speed_of[quickest] / speed_of[winner]
    longer = typical_steps[quickest] * quickest / (typical_steps[winner] * winner)
    track = f"and {longer:.1f} times its track" if longer < never else "but never arrived"
    answer = f"{faster:.1f} times the speed of the winner, batch {winner}, {track}"
print(f"Fastest epochs: batch {quickest}, {answer}")

# %% [markdown]
# That line is the answer for your race. In the stored run it is no: the epochs of batch
# 1,024 were 1.3 times as fast as those of batch 256, but its track was 2.1 times as long,
# with 51,200 images instead of 24,576. So batch 256 won.
#
# To calculate where speed and track balance, you need a law for each.

# %% [markdown]
# ### A law for the steps
#
# If twice the batch took half the steps, scaling would be [*perfect*](../docs/glossary.md#perfect-scaling),
# like the dashed line in the figure below. [McCandlish et al.
# (2018)](https://arxiv.org/abs/1812.06162) expect less. By their approximate law, which you
# met in [lab 01](01_gradient_descent.ipynb), training with batches of $b$ images takes
#
# $$ n(b) = n_0 \left(1 + \frac{B}{b}\right) \quad\text{steps.} $$
#
# - The *floor* $n_0$ is the number of steps that even an infinitely large batch needs.
# - The *bend* $B$ is the batch size, in images, at which the training takes $2 n_0$ steps.
#   Far below $B$, scaling is nearly perfect. Far above $B$, more images per batch save almost
#   no steps. (In lab 01, $B$ was the noise scale. Here we fit it to the measurements; "Going
#   deeper" compares the two.)
#
# For example, if batches of 100 take 300 steps and batches of 200 take 200 steps, then $n_0 =
# 100$ and $B = 200$, because $100\,(1 + 200/100) = 300$ and $100\,(1 + 200/200) = 200$.
#
# With more sizes, no pair of numbers fits exactly. So the next cell takes the pair with the
# smallest relative errors, as in exercise 2.3, and prints each size's measured steps divided
# by the fitted ones. If such a ratio is far from 1, either the law misses something, or the
# ladder gave this size a poor rate. In the stored run, the ratios lie between 0.9 and 1.2.

# %%
def relative_fit(rows, measured):
    """Two numbers by least squares of the relative errors."""
    measured = numpy.array(measured)
    scaled = numpy.array(rows) / measured[:, None]
    return numpy.linalg.lstsq(scaled, numpy.ones(len(measured)), rcond=None)[0]

def fit_bend(steps_by_size):
    """The floor and the bend that fit the steps of each batch size."""
    known = {size: needed for size, needed in steps_by_size.items() if needed < never}
    if len(known) < 3:
        return never, never
    floor, images = relative_fit([[1, 1 / size] for size in known], list(known.values()))
    return floor, images / floor if floor > 0 else never

floor, bend = fit_bend(typical_steps)
for size, needed in typical_steps.items():
    off = needed / (floor * (1 + bend / size)) if floor < never else never
    print(f"Batch {size}: measured steps, relative to the fit: {in_words(off, 'times')}")

# %%
of_smallest, of_largest = (typical_steps[pick(typical_steps)] for pick in (min, max))
ratio = of_smallest / of_largest if max(of_smallest, of_largest) < never else None
card.outcome("steps_ratio", ratio)
print(f"Floor: {in_words(floor, 'steps')}; bend: {in_words(bend, 'images')}")
figure = figures.steps_to_target(steps, floor, bend)
summary = "Steps to the target by batch size, beside perfect scaling and the fit."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The speed belongs to your machine, but the number of steps does not. So on another
# computer, at the same scale, the bend should be similar, within a range that part 4
# prints.

# %% [markdown]
# ## 4. The best batch size, predicted
#
# Your two laws pull in opposite directions:
#
# - Reaching the target takes $n_0 (1 + B / b)$ steps, which favours large batches.
# - By the law of [lab 02](02_throughput.ipynb), a step takes $t_0 + b / r_\infty$
#   seconds, which favours small batches. Here $t_0$ is the fixed cost of a step, and
#   $r_\infty$ is the speed of an infinitely large batch, in images per second.
#
# The time $T$ of the whole training is the product of both:
#
# ![The steps to the target, which fall and then level off, times the seconds per step, which are level and then rise, give a time to the target with a minimum in between.](../helpers/lab_03/diagrams/time_to_target.svg)
#
# $$ T(b) = n_0 \left(1 + \frac{B}{b}\right) \left(t_0 + \frac{b}{r_\infty}\right)
# \quad\text{seconds.} $$
#
# For $t_0$ and $r_\infty$, the next cell fits a line to the seconds per step of the race.

# %%
def fit_step(some_runs):
    """The fixed cost of a step in seconds, and the peak in images per second."""
    by_size = {size: [] for size in lab.batch_sizes}
    for run in some_runs:
        trained = len(run["val_accuracy"]) * steps_per_look(run["batch_size"])
        by_size[run["batch_size"]].append(run["wall_seconds"][-1] / trained)
    per_step = [median(seconds) for seconds in by_size.values()]
    fixed, per_image = relative_fit([[1, size] for size in by_size], per_step)
    return fixed, 1 / per_image

def seconds_by_laws(size, floor, bend, t0_seconds, peak):
    if not all(0 < number < never for number in (floor, bend, t0_seconds, peak)):
        return never  # without four positive numbers there is no forecast
    return floor * (1 + bend / size) * (t0_seconds + size / peak)

# %%
laws = floor, bend, *fit_step(runs)
names = ("floor", "bend", "t0_seconds", "peak")
card.measure("laws", dict(zip(names, laws, strict=True)))
print(f"Fixed cost of a step: {1000 * laws[2]:.2f} ms; peak: {laws[3]:,.1f} images/s")
for size in lab.batch_sizes:
    expected = in_words(seconds_by_laws(size, *laws), "s")
    print(f"Batch {size}: {expected} by both laws, ", end="")
    print(f"{in_words(medians.get(size, never), 's')} measured")

# %% [markdown]
# Both laws were fitted to these very runs, so even perfect agreement would prove little.
# And it is far from perfect: in the stored run, the four times were off by 6% to 15%. A
# harder test is a batch size that did not race, and the most interesting one is the size at
# which $T$ is smallest. To find it, multiply out the two factors:
#
# $$ T(b) = n_0 \left(t_0 + \frac{B}{r_\infty} + \frac{b}{r_\infty} + \frac{B\,t_0}{b}\right) $$
#
# **Question.** Which of the four terms are the same for all batch sizes? And which of the
# other two is larger for a very small batch?

# %% [markdown]
# ### Exercise 3.4: derive the best batch size
#
# **Write** `best_batch_size(floor, bend, t0_seconds, peak, devices=1)`, which returns the
# pair `(batch_size, seconds)`: the batch size at which $T$ is smallest, and the value of
# $T$ there. The arguments are $n_0$, $B$, $t_0$, $r_\infty$ and the number of devices
# $N$.
#
# **Rules**
#
# - With $N$ devices, each computes $b$ images of its own in every step, so a step uses
#   $N b$ images together. In the law for the steps, $B/b$ therefore becomes $B/(Nb)$.
# - A step still takes $t_0 + b/r_\infty$ seconds.
# - Return the batch size $b$ of *one* device.
# - Do not round anything, not even a batch size below 1.

# %% [markdown]
# **Example:** with a floor of 100 steps, a bend of 90 images, 0.01 s and 1,000 images/s,
#
#     best_batch_size(100, 90, 0.01, 1000)     # (30.0, 16.0)
#     best_batch_size(100, 90, 0.01, 1000, 4)  # (15.0, 6.25)
#
# In the first line, the training takes $100\,(1 + 90/30) = 400$ steps of
# $0.01 + 30/1000 = 0.04$ s each.
#
# Start with pencil and paper: at the best batch size $b^*$ the derivative of $T$ is zero.
# Then you need about three lines.

# %% name="3.4-best-batch-size" points=2
# TODO 3.4: the batch size of a device with the least time, and that time.
#: start
def best_batch_size(floor, bend, t0_seconds, peak, devices=1):
    """The batch size of a device with the least time to the target, and that time."""
    return bend, floor * t0_seconds
#: solution
def best_batch_size(floor, bend, t0_seconds, peak, devices=1):
    """The batch size of a device with the least time to the target, and that time."""
    bend = bend / devices
    batch_size = (bend * t0_seconds * peak) ** 0.5
    return batch_size, floor * (1 + bend / batch_size) * (t0_seconds + batch_size / peak)
#: end

# %%
best_batch_size = check("3.4", best_batch_size)

# %% [markdown]
# At the best batch size, the two terms that depend on $b$ are equal, so
# $b/r_\infty = B\,t_0/b$ and
#
# $$ b^* = \sqrt{B \cdot t_0\, r_\infty}. $$
#
# Here $B$ is the bend of the steps, and $t_0 r_\infty$ is the bend of the speed in lab
# 02. The best batch size is their geometric mean: large enough for the machine, but small
# enough for the learning.
#
# Probably no batch in your race had this size, so this is a genuine forecast. How far may
# the seeds have moved it? The next cell draws 200 times from the runs that you have, and
# fits all four numbers to each draw.

# %%
def redrawn_laws(chance):
    """The four numbers, fitted to runs of each size that are drawn with replacement."""
    chosen = []
    for size in lab.batch_sizes:
        own = [run for run in runs if run["batch_size"] == size]
        chosen += chance.choices(own, k=len(own))
    needed = {size: [] for size in lab.batch_sizes}
    for run in chosen:
        taken = len(run["val_accuracy"]) * steps_per_look(run["batch_size"])
        needed[run["batch_size"]].append(taken if reached_target(run) else never)
    return *fit_bend({b: median(s) for b, s in needed.items()}), *fit_step(chosen)

def best_size_by(laws):
    """The best batch size as a whole number; if a law is missing, the race's winner."""
    if seconds_by_laws(1, *laws) == never:
        return winner or lab.batch_sizes[0]
    return min(max(1, round(best_batch_size(*laws)[0])), lab.train_images)

# %%
best_size, chance_of_laws = best_size_by(laws), Random(lab.seed)
draws = [redrawn_laws(chance_of_laws) for _ in range(200)]
best_sizes = sorted(map(best_size_by, draws))
bends = sorted(drawn[1] for drawn in draws)
forecasts = sorted(seconds_by_laws(best_size, *drawn) for drawn in draws)
forecast = seconds_by_laws(best_size, *laws)
card.measure("best_batch_size", best_size)
card.measure("bend", [value for value in (bends[10], bend, bends[-11]) if value < never])
print(f"Bend: {in_words(bend, 'images')}; in nine of ten draws ", end="")
print(f"{in_words(bends[10], 'images')} to {in_words(bends[-11], 'images')}")
print(f"Best batch size by the laws: {best_size}; ", end="")
print(f"in nine of ten draws {best_sizes[10]} to {best_sizes[-11]}")
print(f"Forecast of its time: {in_words(forecast, 's')}; in nine of ten draws ", end="")
print(f"{in_words(forecasts[10], 's')} to {in_words(forecasts[-11], 's')}")

# %% [markdown]
# The test trains several times with this batch size, at a rate between those of its
# neighbours in the race. The winner of the race runs again in turns with it, as a
# *control*: if its time has changed, the machine may have changed, too.
#
# **Predict:** how many seconds will the new size take, as the median of its runs? Enter
# the forecast, or a better number if you distrust it.

# %%
my_best_seconds_guess = None  # change this: seconds, such as the forecast above
best_seconds_guess = card.predict("seconds_at_best_batch", my_best_seconds_guess)

# %%
card.lock("seconds_at_best_batch")
def rate_between(batch_size):
    """A rate interpolated between the neighbours in the race, on logarithmic scales."""
    logs = numpy.log(list(tuned)), numpy.log(list(tuned.values()))
    return float(numpy.exp(numpy.interp(numpy.log(batch_size), *logs)))

control, tests = winner or lab.batch_sizes[0], card.points("best_batch_runs")
for test_seed in range(lab.seed, lab.seed + lab.repeats):
    for size in (best_size, control):
        key = f"batch {size}, seed {test_seed}"
        if key not in tests:
            tests[key] = train_to_target(
                size, rate_between(size), test_seed, *race, most_looks(size)
            )

# %%
def seconds_of(some_runs, batch_size):
    """The seconds until the target, for each run of a batch size."""
    own = [run for run in some_runs if run["batch_size"] == batch_size]
    return [run["wall_seconds"][-1] if reached_target(run) else never for run in own]

best_runs = [run for run in tests.values() if run["batch_size"] == best_size]
best_needed = [len(run["val_accuracy"]) * steps_per_look(best_size) for run in best_runs]
needed_by_run = zip(best_runs, best_needed, strict=True)
step_seconds = [run["wall_seconds"][-1] / needed for run, needed in needed_by_run]
best_seconds = seconds_of(best_runs, best_size)
now, before = (median(seconds_of(rows, control)) for rows in (tests.values(), runs))

# %%
law_steps = floor * (1 + bend / best_size) if forecast < never else never
law_step_ms = 1000 * forecast / law_steps if forecast < never else never
print(f"Batch {best_size}: {in_words(median(best_needed), 'steps')}, ", end="")
print(f"by the law {in_words(law_steps, 'steps')}")
print(f"Batch {best_size}: {1000 * median(step_seconds):.2f} ms for each step, ", end="")
print(f"by the law {in_words(law_step_ms, 'ms')}")
print(f"Batch {best_size}: {in_words(median(best_seconds), 's')}, ", end="")
print(f"by both laws {in_words(forecast, 's')}")
print(f"Batch {control} again: {in_words(now, 's')}, in the race {in_words(before, 's')}")
reached = median(best_seconds)
card.outcome("seconds_at_best_batch", reached if reached < never else None)

# %%
curve = lambda size: seconds_by_laws(size, *laws)  # noqa: E731
figure = figures.time_by_laws(times, curve, best_size, best_seconds, best_seconds_guess)
text = f"Batch size {best_size} took {in_words(reached, 's')}, "
text += f"and the laws predicted {in_words(forecast, 's')}."
show_figure(figure, text, session.caption())

# %% [markdown]
# If the forecast is wrong, the first two printed lines show which law is to blame. In the
# stored run, the test took 2.79 s instead of 2.13 s, although nine of ten draws lay between
# 1.96 s and 2.36 s. Two things went wrong. A step took 11% longer than predicted, but the
# control, too, took 12% longer than in the race, so the machine may simply have slowed down.
# And the new size needed 133 steps instead of 112, which a slow machine cannot explain.
# Either the law for the steps missed something, or a rate was poor. The bootstrap cannot see
# poor rates, because it redraws only the runs, and each rate was chosen by a single trial.
#
# **Question.** Is the new size faster than the control by more than the scatter of the
# runs?
#
# In the stored run it is not. The median of the new size was 2.79 s and that of the control
# 3.02 s, a gain of 8%, while in the race the control's own runs took anything from 1.90 s to
# 4.41 s. A large gain was never to be had, because the curve is flat near its lowest point.
# By the formula, half or twice $b^*$ costs at most 12.5% more time. So you need $b^*$ only
# roughly, and the laws can give you that.

# %% [markdown]
# ### Exercise 3.5: find the bug
#
# One thing could still have fooled you: the clock. The script below is a race like yours.
# Here `new_run(batch_size)` creates a run, `train` trains it up to its next look,
# `validate` takes the look, and `clock()` returns the time in seconds. The docstring is
# right, but because of **one line** the script does something else.

# %%
from timeit import default_timer

from helpers.lab_03.ex5_find_the_bug import script
from helpers.notebook.listing import show_listing

show_listing(script.race)

# %% [markdown]
# **Write** `find_the_bug(looks, train_seconds, valid_seconds)`, which returns three
# things:
#
# - the number of the line,
# - the corrected line as a string,
# - the cost of the bug: the time that the script reports, divided by the seconds of
#   training.
#
# Compute the cost for a run that reaches the target at look number `looks`. Each call of
# `train` takes `train_seconds`, and each call of `validate` takes `valid_seconds`.

# %% [markdown]
# **Rules**
#
# - Lines are numbered as in the listing. One line is replaced by exactly one line, and
#   the spaces in front of it do not matter.
# - With the new line the script does what its docstring says, whatever the runs do.
#
# **Example:** `return 6, "", 1.0` says that line 6 should be empty and that the bug costs
# nothing.
#
# Go through the loop by hand for a run with three looks: which seconds does `spent`
# contain after each turn?

# %% name="3.5-find-the-bug" points=2
# TODO 3.5: the number of the line, the corrected line, and the factor that the bug costs.
#: start
def find_the_bug(looks, train_seconds, valid_seconds):
    """The line with the bug, the corrected line, and the factor that the bug costs."""
    line, repaired = 0, ""
    factor = 1.0
    return line, repaired, factor
#: solution
def find_the_bug(looks, train_seconds, valid_seconds):
    """The line with the bug, the corrected line, and the factor that the bug costs."""
    training = looks * train_seconds
    factor = (training + (looks - 1) * valid_seconds) / training
    return 22, "began = clock()", factor
#: end

# %%
find_the_bug = check("3.5", find_the_bug)

# %% [markdown]
# The next cell measures a look on your machine, and calls your function for each run.
#
# **Question.** With the bug in your race, would the same batch size have won?

# %%
def seconds_of_a_look():
    began = default_timer()
    compiled_model.evaluate(valid, verbose=0)
    return default_timer() - began

def seconds_with_the_bug(run):
    looks, seconds = len(run["val_accuracy"]), run["wall_seconds"][-1]
    factor = find_the_bug(looks, seconds / looks, look_seconds)[2]
    return factor * seconds if reached_target(run) else never

look_seconds = median(seconds_of_a_look() for _ in range(3))
print(f"Seconds of a look: {look_seconds:.2f}")
for size in lab.batch_sizes:
    wrong = median(seconds_with_the_bug(run) for run in runs if run["batch_size"] == size)
    print(f"Batch {size}: median {in_words(median(times[size]), 's')}, ", end="")
    print(f"with the bug {in_words(wrong, 's')}")

# %% [markdown]
# The bug costs most where the training between two looks is short and a run needs many
# looks. In the stored run it hands the victory to batch 64. You will meet it often, because
# a timer around the whole of `fit` measures validation, too.

# %% [markdown]
# ### Is the fastest epoch the fastest training?
#
# Not necessarily. Up to your $b^*$, a larger batch gains more time by its speed than it
# loses by its longer track. Beyond it, the epochs still get faster, but the training gets
# slower.

# %% [markdown]
# ## Going deeper: the bend without a race
#
# A single training might find the bend without a race, by its [*noise
# scale*](../docs/glossary.md). In [lab 01](01_gradient_descent.ipynb) this was the batch
# size at which a gradient contains as much noise as signal.

# %% [markdown]
# <details><summary>The noise scale as a formula, and how to measure it</summary>
#
# The mean $G$ of the gradients of all images is the signal, and their scatter around $G$
# is the noise. If $V$ is the variance of this noise, summed over all weights, the mean
# gradient of $b$ images has a variance of only $V / b$. It is as large as $|G|^2$, the
# squared length of the signal, if the batch size is
#
# $$ B = \frac{V}{|G|^2}. $$
#
# On average, the squared length of a batch's gradient is $|G|^2 + V/b$, so two batch sizes
# give two equations for the two unknowns ([McCandlish et al.
# 2018](https://arxiv.org/abs/1812.06162), appendix A). For example, if it is 5 for batches
# of 10 and 3 for batches of 20, then $|G|^2 = 1$, $V = 40$ and $B = 40$.
#
# </details>

# %%
labels = numpy.eye(10, dtype="float32")[y_train]

@tensorflow.function(reduce_retracing=True)
def squared_length(images, one_hot):
    """The squared length of the gradient of a batch, as training computes it."""
    with tensorflow.GradientTape() as tape:
        probabilities = compiled_model(images, training=True)
        value = ops.mean(losses.categorical_crossentropy(one_hot, probabilities))
    gradients = tape.gradient(value, compiled_model.trainable_variables)
    return sum(ops.sum(ops.square(gradient)) for gradient in gradients)

# %%
def noise_scale(lengths, small, big):
    """The noise scale, from the mean squared lengths at two batch sizes."""
    of_small, of_big = numpy.mean(lengths, axis=0)
    signal = (big * of_big - small * of_small) / (big - small)
    return float((of_small - of_big) / (1 / small - 1 / big) / signal)

# %%
def measure_noise(small, big):
    """The noise scale at the current weights, from all draws and from each quarter."""
    kept = [variable.numpy() for variable in compiled_model.variables]
    # With replacement, so that the variance is V / b (but for batch normalisation).
    drawn = [rng.integers(0, len(labels), (lab.noise_draws, size)) for size in (small, big)]
    lengths = [
        [float(squared_length(x_train[i], labels[i])) for i in pair]
        for pair in zip(*drawn, strict=True)
    ]
    for variable, value in zip(compiled_model.variables, kept, strict=True):
        variable.assign(value)  # training=True changes batch normalisation's averages
    quarters = numpy.array_split(lengths, 4)
    return [noise_scale(part, small, big) for part in (lengths, *quarters)]

# %% [markdown]
# We measure the noise scale five times during one training, from many gradients of 64 and
# of 512 images. Each quarter of them gives an estimate of its own: the further the four lie
# apart, the less you should trust the measurement. The last line repeats the last
# measurement with 16 and 256 images. If the two disagree, suspect batch normalisation,
# because it uses the statistics of each batch.
#
# **Predict:** what is the median of the five noise scales? You already know the bend.

# %%
my_noise_guess = None  # change this: a batch size
noise_guess = card.predict("noise_scale", my_noise_guess)

# %%
card.lock("noise_scale")
rng = numpy.random.default_rng(lab.seed)
middle = lab.batch_sizes[(len(lab.batch_sizes) - 1) // 2]
part = max(1, round(min(typical_steps[middle], 200) / 4))
scales = []
restart(tuned[middle], lab.seed)
images = batches(x_train, y_train, middle, lab.seed, repeat=True)
for done in range(5):
    if done:
        compiled_model.fit(images, steps_per_epoch=part, verbose=0)
    scale_now, *parts = measure_noise(64, 512)
    scales.append(scale_now)
    spread = f"quarters of the draws {min(parts):.1f} to {max(parts):.1f}"
    print(f"After {part * done} steps: noise scale {scale_now:.1f}, {spread}")
other, *parts = measure_noise(16, 256)
print(f"Batches of 16 and 256: {other:.1f}, quarters {min(parts):.1f} to {max(parts):.1f}")

# %%
typical_scale = median(scales)
card.measure("noise_scales", scales)
card.outcome("noise_scale", typical_scale)
summary = f"Bend: {in_words(bend, 'images')}. Noise scales: {min(scales):.1f} to "
summary += f"{max(scales):.1f}, their median {typical_scale:.1f}."
figure = figures.steps_to_target(steps, floor, bend, scales, noise_guess)
show_figure(figure, summary, session.caption())

# %% [markdown]
# **Question.** McCandlish et al. promise only that the noise scale and the bend have the
# same order of magnitude. Is your bend within a factor of ten of the median?
#
# If so, a single training tells you whether your batch is far too small or far too large.
# With a batch of a tenth of the noise scale, doubling the batch saves nearly half of the
# steps, so more hardware would pay off. With a batch of ten times the noise scale, about nine
# in ten of its images are wasted, compared with a very small batch. The noise scale cannot
# tell you more than this, because it changes as the network learns. It is also a quotient:
# where the estimated signal is close to zero, it can jump (in the stored run from 146 to 727,
# and back to 206) or even turn negative.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("03")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure of exercise 3.3. Which batch size reached the target first on your
# machine? Was it the size with the most images per second? Why, or why not?
#
# Write three to six sentences in the cell below, with numbers from your run. No check
# reads them, but your instructor may.

# %% [markdown] name="3.figure" points=2
# **3.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# - The fastest epoch need not be the fastest training. [Time to
#   accuracy](../docs/glossary.md) is the length of the track divided by the speed, and a
#   larger batch usually makes both larger.
# - Four numbers, two for the machine and two for the learning, find a good batch size, but
#   not exactly its time: in the stored run, the test took 31% longer than forecast.
# - A fair race needs several seeds and a suitable learning rate for each size. Runs that
#   fail count, too.
#
# **Question.** If a new GPU computes each image four times as fast, but has the same fixed
# cost per step, what happens to the best batch size?

# %% [markdown]
# <details><summary>Answer</summary>
#
# The peak becomes four times as high, so $b^* = \sqrt{B \cdot t_0\, r_\infty}$ doubles.
#
# </details>

# %% [markdown]
# ## Going further
#
# You may stop here: this part has no points and no predictions.
#
# ### And with several devices?
#
# How large is the best batch on 1, 4, 16 and 64 devices? The next cell asks your function,
# as if exchanging gradients took no time and the law held for larger batches than yours.

# %%
for devices in (1, 4, 16, 64):
    if forecast < never:
        each_size, total = best_batch_size(*laws, devices)
    else:
        each_size = total = never
    print(f"{devices} device{'s' * (devices > 1)}: ", end="")
    print(f"{in_words(each_size, 'images')} on each, ", end="")
    print(f"{in_words(devices * each_size, 'images')} together, {in_words(total, 's')}")

# %% [markdown]
# With four times as many devices, the best batch of each device is halved, so the best
# [*global* batch](../docs/glossary.md), which is the batch of all devices together, only
# doubles. Nor does the time fall to a quarter. It is never less than $n_0 t_0$, because
# even the fewest possible steps pay their fixed cost.

# %% [markdown]
# To read on: [Coleman et al., "DAWNBench"
# (2017)](https://dawn.cs.stanford.edu/publications/dawnbench/dawnbench-end-end-deep-learning-benchmark-and-competition);
# [Shallue et al., "Measuring the Effects of Data Parallelism on Neural Network Training"
# (2019)](https://arxiv.org/abs/1811.03600).
