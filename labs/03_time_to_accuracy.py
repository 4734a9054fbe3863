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
# You let several batch sizes race to the same accuracy, in four parts:
#
# 1. You build a clock for the race.
# 2. You start the race. Which batch size wins?
# 3. You take its time apart. Why does it win?
# 4. You calculate the best batch size, and train with it to test the theory.
#
# The end of a part is a good place for a break. If you are stuck, for example in exercise
# 3.1, call `hint("3.1")` in a new cell. Each further call tells you more.

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
# times, so on a laptop it has fewer layers, and pools the image right after its first
# convolution. The [optimizer](https://keras.io/api/optimizers/sgd/) now has *momentum*:
# it carries a part of each step over into the following steps, so that a few epochs are
# enough.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("03_time_to_accuracy", globals())

# %%
# Your answers may rebind random, statistics, time and keras. The lab's own cells use
# other names.
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
from helpers.lab_03 import figures
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

# %% [markdown]
# A newly compiled model pays the start-up cost that you measured in lab 02, so we compile
# a single model, and restart it for every training with new weights, a reset optimizer,
# and its own [learning rate](../docs/glossary.md).

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
# ## 1. A clock that you can trust
#
# The finishing line of our race is a target accuracy, and it is blurred, for two reasons.
# The first is how a computer stores numbers: if 820 of 1,000 images are classified
# correctly, the accuracy is 0.82, but Keras computes it as a float32 number, which has
# only about seven digits.
#
# **Question.** Is this float32 number at least 0.82, so that the training has reached its
# target?

# %%
share = float(numpy.float32(820 / 1000))
print(f"As a float32 number: {share:.10f}")
print(f"At least 0.82: {share >= 0.82}; rounded to six decimals: {round(share, 6) >= 0.82}")

# %% [markdown]
# The number is slightly below 0.82, so a network at its target might keep training for
# nothing. That is why this course **rounds an accuracy to six decimals** before comparing
# it with a target. Rounding never lets a network pass that has missed the target. Even with
# 10,000 images, one more right answer changes the accuracy by 0.0001. Rounding to six
# decimals changes it by at most 0.0000005.
#
# Chance blurs the line much more: with other test images, you would measure a different
# accuracy. If the true accuracy is $p$, the accuracy measured on $n$ images has the
# standard deviation
#
# $$ \sigma = \sqrt{\frac{p\,(1 - p)}{n}}. $$

# %%
p = lab.target_accuracy
points = 100 * (p * (1 - p) / lab.valid_images) ** 0.5
print(f"One standard deviation at accuracy {p:.2f}: {points:.2f} percentage points")

# %% [markdown]
# ### Exercise 3.1: stop when it is good enough
#
# About one measurement in three is off by more than this standard deviation, and the
# accuracy also goes up and down from epoch to epoch. A single good epoch may be luck, so
# a careful callback waits for several good epochs in a row.

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
#   missing and let the training continue. (You may decide whether such an epoch sets the
#   count back to zero.)
#
# **Example:** with a target of 0.80 and a patience of 2, the validation accuracies 0.79,
# 0.83, 0.80, 0.82 and 0.84 lead to
#
#     Early stopping after epoch 5
#
# You need about fourteen lines, and `self.model.stop_training` helps. You may round the
# accuracy to six decimals first.

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
# You know when to stop the clock, but not yet which seconds it should count. A `fit` does
# more than train:
#
# - *Start-up* comes first: TensorFlow traces the graph of the training step, plans it and
#   allocates memory. A model does this only once, but in a short training it can take a
#   third of the time, or more.
# - *Validation* takes time after each epoch, although it trains nothing.

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
# validation. When does training begin: when the callback is constructed, or later?

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
# Now use both callbacks in a real training. The target is an accuracy of only 1%, which
# even guessing reaches, so you will see the early stop on any machine.
#
# **Question.** After which epoch will the training stop? And which of the three parts
# will take longest?

# %%
restart(rate_by_rule(lab.batch_size), lab.seed)
recorder = EpochRecorder()
training_history = compiled_model.fit(
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

# %%
last_epoch = len(training_history.epoch)
print(f"The training stopped after epoch {last_epoch}")

# %% [markdown]
# Neither start-up nor validation says how fast a batch size learns, so neither counts in
# the race: all runs use one compiled model, and the clock stops during validation.

# %%
speeds = [lab.train_images / seconds for seconds in recorder.epochs["train_seconds"]]
card.measure("images_per_second", speeds[-1])
print(f"Images/sec in the last epoch: {speeds[-1]:.2f}")

# %% [markdown]
# ## 2. A fair race
#
# If all batch sizes used the same learning rate, the winner would be the size that this
# rate happens to suit.
#
# The gradient of a larger batch is less noisy, so you can trust it with a larger rate. How
# much larger, if the batch is $k$ times as large? Two rules of thumb disagree:
#
# - The *square-root rule* multiplies the rate by $\sqrt{k}$. This keeps the variance of a
#   step constant ([Krizhevsky 2014](https://arxiv.org/abs/1404.5997)).
# - The *linear rule* multiplies it by $k$ ([Goyal et al.
#   2017](https://arxiv.org/abs/1706.02677)). [Lab 05](05_many_gpus_fit.ipynb) puts it to
#   the test.

# %% [markdown]
# We trust neither rule, and let each batch size try a *ladder* of learning rates. From
# here on, five words have a fixed meaning:
#
# | Word | Meaning |
# |---|---|
# | *ladder* | the learning rates that one batch size tries |
# | *rung* | one rate of the ladder; the next rung is three times as large |
# | *trial* | a training with one of these rates, on a part of the training images |
# | *run* | a training of the race, on all training images, with the best rate |
# | *look* | a measurement of the accuracy, after every `look_images` images |
#
# A ladder begins with three rungs: the rate by the square-root rule, a third of it, and
# three times it. For batch size 64, the rule gives $0.007 \sqrt{64 / 32} = 0.0099$, so the
# ladder begins with 0.0033, 0.0099 and 0.0297. If the best rate is at an end, the ladder
# grows on that side, up to six rungs in all: here, if the trial at 0.0297 needs the fewest
# looks, the next trial takes 0.0891.

# %% [markdown]
# Two details keep the comparison fair:
#
# - **The test images, which Keras calls validation data, must not choose the rate**,
#   because a rate chosen on them would look better than it is. Each trial therefore
#   trains on four fifths of the *training* images, and is judged on the other fifth.
# - **Every batch size is measured after about the same number of images.** A fast run may
#   reach the target in two or three epochs, so one look per epoch would be too coarse. We
#   look after every `look_images` images instead. (Keras calls the training between two
#   looks an epoch.)

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
        steps_per_epoch=steps_per_look(batch_size),
        epochs=looks,
        callbacks=[TrainingProgress(), recorder],
        verbose=0,
    )
    seconds = list(accumulate(recorder.epochs["train_seconds"]))
    accuracies = {"val_accuracy": recorder.epochs["val_accuracy"]}
    return {"batch_size": batch_size, "seed": seed, "wall_seconds": seconds} | accuracies

# %% [markdown]
# A trial or run *reaches the target* at its first look with at least the target accuracy,
# and ends there. The race does not need the patience of exercise 3.1, because each batch
# size has several runs. A trial may also end without reaching the target, as soon as it
# can no longer beat the best rate so far.

# %%
fifth = lab.train_images // 5
split = (x_train[fifth:], y_train[fifth:]), (x_train[:fifth], y_train[:fifth])

never = float("inf")
RUNG = 3  # factor between neighbouring rates of a ladder

def reached_target(run):
    return run["val_accuracy"][-1] >= lab.target_accuracy

def best_of(trials):
    """The trial that reached the target soonest; if none did, the most accurate trial."""
    successful = [trial for trial in trials if trial["accuracy"] >= lab.target_accuracy]
    if successful:
        return min(successful, key=lambda trial: trial["looks"])
    return max(trials, key=lambda trial: trial["accuracy"])

# %%
def tune(batch_size):
    """Try a ladder of rates on the split; return looks and last accuracy of each rate."""
    looks, tried, to_try = most_looks(batch_size), {}, [0, -1, 1]
    while to_try:
        rung = to_try.pop(0)
        rate = rate_by_rule(batch_size) * RUNG**rung
        run = train_to_target(batch_size, rate, lab.seed, *split, looks)
        taken, accuracy = len(run["val_accuracy"]), run["val_accuracy"][-1]
        tried[rung] = {"rate": rate, "looks": taken, "accuracy": accuracy}
        looks = max(1, taken - 1) if reached_target(run) else looks
        low, high = min(tried), max(tried)
        ends = {tried[low]["rate"]: low - 1, tried[high]["rate"]: high + 1}
        best = best_of(tried.values())["rate"]
        if not to_try and best in ends and len(tried) < 6:
            to_try = [ends[best]]
    return list(tried.values())

# %% [markdown]
# **Predict:** what is the best rate of the largest batch size, divided by the best rate
# of the smallest? Batch sizes 16 and 1,024 differ by a factor of 64, so the square-root
# rule says 8 and the linear rule says 64.

# %%
my_rate_ratio_guess = None  # change this: rate at the largest / rate at the smallest
rate_ratio_guess = card.predict("rate_ratio", my_rate_ratio_guess)

# %%
card.lock("rate_ratio")
trials, rates = card.points("trials"), {}
for size in lab.batch_sizes:
    if size not in trials:
        trials[size] = tune(size)
    best_trial = best_of(trials[size])
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
lowest_ratio, highest_ratio = rate_ratio / RUNG, rate_ratio * RUNG
print(f"Rate of the largest batch, divided by that of the smallest: {rate_ratio:.1f}")
print(f"  range: {lowest_ratio:.1f} to {highest_ratio:.1f}")
inside = rate_ratio_guess and lowest_ratio <= rate_ratio_guess <= highest_ratio
card.outcome("rate_ratio", (rate_ratio_guess if inside else rate_ratio) if both else None)

# %% [markdown]
# For each rate of the ladder, you see whether its trial reached the target, and after how
# many looks it ended. *Not reached* may only mean that the trial could no longer beat the
# best rate so far. If a loss became `nan` (not a number), or an accuracy stayed near 0.1,
# the rate was too large: above some ceiling training diverges, however large the batch.
#
# Neighbouring rungs differ by a factor of 3, and each rate had only one trial. That is why
# the cell also prints a range, from a third of the ratio to three times the ratio. Any
# prediction in it counts as right.
#
# **Question.** Which of the two rules agrees with your range?

# %% [markdown]
# ### Which batch size gets there first?
#
# The race trains on all training images, and measures the accuracy on the test images.
# Each size has several runs, with different seeds. On a laptop this takes some minutes,
# so place your bets first.
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
# All sizes run with one seed before the next seed begins, so if the machine slows down,
# they suffer alike. Each run is saved to the [run card](../docs/glossary.md), so an
# interrupted race resumes where it stopped.
#
# One unfair advantage remains: each look is another chance to reach the target by luck,
# and a size that needs more images gets more looks.
#
# </details>

# %% [markdown]
# Each curve is a run, which reaches the target at the horizontal line.
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
# ### Exercise 3.3: median and spread
#
# No single run can speak for its batch size, because another seed gives another curve.
#
# The race has left a list of runs. Each run is a dict with its `batch_size` and two
# lists, `wall_seconds` and `val_accuracy`, with one entry per look (at least one). The
# seconds are counted from the start of the run, without validation.
#
# The *time to accuracy* of a run is the entry of `wall_seconds` at its first look with at
# least the target accuracy. (You may round the accuracy to six decimals.)
#
# **Question.** What is the time of a batch size if some of its runs never get there?

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
# The size with the lowest median may just have been lucky. How often would it win again?
# The next cell draws a thousand new races from the runs that you have. For each race it
# picks one run of each size at random, and notes which size comes first. Then it draws a
# thousand more races, but with `repeats` runs of each size, and the lowest median wins.
#
# The same run may be drawn twice. This way of reusing runs is called the
# [*bootstrap*](../docs/glossary.md), and with so few runs, its answer is rough.

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
# If no share "by one run" is 100%, luck helps to decide a race in which each size runs only
# once.
#
# In the second thousand races, the lowest median won. We say that a size is *in front* if
# it came first in at least 5% of them. If several sizes are in front, the race is
# undecided, and each of them counts as a right prediction.

# %%
in_front = [size for size, share in by_median.items() if share >= 5]
print(f"In front: {', '.join(map(str, in_front)) or 'no size'}")
first = winner_guess if winner_guess in in_front else winner
card.outcome("fastest_batch_size", first, choices=True)

# %% [markdown]
# ## 3. Why does the winner win?
#
# The time of a run is the length of its track, divided by its speed:
#
# $$ \text{seconds to the target} =
# \frac{\text{images that the training needs}}{\text{images per second}}. $$
#
# The next cell prints both for each batch size, and the steps to the target as well.
#
# **Question.** As the batch grows, which of the three numbers falls, and which two rise?

# %%
def in_words(value, unit):
    digits = 2 if unit == "s" else 1
    return f"{value:,.{digits}f} {unit}" if value < never else "never"

typical_steps = {size: median(steps[size]) for size in lab.batch_sizes}
for size, needed in typical_steps.items():
    own = [run for run in runs if run["batch_size"] == size]
    trained = sum(len(run["val_accuracy"]) for run in own) * steps_per_look(size) * size
    speed = trained / sum(run["wall_seconds"][-1] for run in own)
    print(f"Batch {size}: {in_words(needed, 'steps')}, ", end="")
    print(f"{in_words(needed * size, 'images')}, {speed:,.1f} images/s")

# %% [markdown]
# These lines answer the question of the lab. The size with the most images per second has
# the fastest epochs. Compare this size with the winner of part 2:
#
# - If they are the same size, the answer is yes, at least among the sizes of your race.
# - If they differ, the answer is no. The size with the fastest epochs has the higher speed,
#   but its track is longer by an even larger factor. To see both factors, compare it with
#   the winner: divide the two speeds, and then the two numbers of images to the target.
#
# (If several sizes are in front, compare it with each of them. Your answer is certain only
# if all comparisons agree.)

# %% [markdown]
# A very small batch is slow, because it pays the fixed cost of each step for only a few
# images. A very large batch is fast, but its number of steps no longer falls in proportion,
# so its track is longer. With the law of lab 02 for the speed and another law for the
# steps, you can calculate where gain and loss balance.

# %% [markdown]
# ### A law for the steps
#
# If twice the batch took half the steps, scaling would be
# [*perfect*](../docs/glossary.md), like the dashed line in the figure below. [McCandlish
# et al. (2018)](https://arxiv.org/abs/1812.06162) expect less. By their law, which you
# met in [lab 01](01_gradient_descent.ipynb), training with batches of $b$ images takes
#
# $$ n(b) = n_0 \left(1 + \frac{B}{b}\right) \quad\text{steps.} $$
#
# - The *floor* $n_0$ is the number of steps that even an infinitely large batch needs.
# - The *bend* $B$ is the batch size, in images, at which the training takes $2 n_0$
#   steps. Far below $B$, scaling is nearly perfect. Far above $B$, more images per batch
#   save almost no steps.
#
# The next cell fits $n_0$ and $B$ to the medians of the race, and prints the measured
# steps divided by the steps of the fit. If such a ratio is far from 1, either the law
# misses something, or the ladder gave this size a poor rate.

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

# %% [markdown]
# How certain is the bend? The next cell fits the law to 200 draws of the bootstrap, and
# prints the range of their bends.

# %%
chance = Random(lab.seed)
bends = []
for _ in range(200):
    drawn = {b: median(chance.choices(s, k=len(s))) for b, s in steps.items()}
    bends.append(fit_bend(drawn)[1])
low, high = sorted(bends)[10], sorted(bends)[-11]
card.measure("bend", [value for value in (low, bend, high) if value < never])
print(f"Floor: {in_words(floor, 'steps')}; bend: {in_words(bend, 'images')}")
print(f"In 90% of the draws the bend is {in_words(low, 'images')} to ", end="")
print(in_words(high, "images"))

# %%
of_smallest, of_largest = (typical_steps[pick(typical_steps)] for pick in (min, max))
ratio = of_smallest / of_largest if max(of_smallest, of_largest) < never else None
card.outcome("steps_ratio", ratio)
figure = figures.steps_to_target(steps, floor, bend)
summary = "Steps to the target by batch size, beside perfect scaling and the fit."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The speed belongs to your machine, but the number of steps does not: if a friend runs
# this lab at the same scale on another computer, their bend should be similar to yours.
#
# The bend should also explain the rates that you found on the ladder. In [lab
# 01](01_gradient_descent.ipynb), batches of $b$ points needed $1 + B/b$ times the steps
# of the exact gradient, and their best learning rate was smaller by the same factor.

# %%
lab_01_ratio = (1 + bend / min(tuned)) / (1 + bend / max(tuned)) if bend < never else never
print(f"Best rates, largest batch divided by smallest: {rate_ratio:.1f} by the ladder,")
print(f"  {in_words(lab_01_ratio, 'times')} by the law of lab 01 with this bend")

# %% [markdown]
# **Question.** Is the second number inside the range that the ladder gave? (This is a
# weak test, because the range spans a factor of 9. [Lab 05](05_many_gpus_fit.ipynb) has a
# sharper one.)

# %% [markdown]
# ## 4. The best batch size, predicted
#
# The best batch size may lie between those of the race. You can calculate it, because
# your two laws pull in opposite directions:
#
# - Reaching the target takes $n_0 (1 + B / b)$ steps, which favours large batches.
# - By the law of [lab 02](02_throughput.ipynb), a step takes $t_0 + b / r_\infty$
#   seconds, which favours small batches. Here $t_0$ is the fixed cost of a step in
#   seconds, and $r_\infty$ is the speed of an infinitely large batch, in images per
#   second.
#
# The time $T$ of the whole training is the product of both:
#
# ![The steps to the target, which fall and then level off, times the seconds per step, which are level and then rise, give a time to the target with a minimum in between.](../helpers/lab_03/diagrams/time_to_target.svg)
#
# $$ T(b) = n_0 \left(1 + \frac{B}{b}\right) \left(t_0 + \frac{b}{r_\infty}\right)
# \quad\text{seconds.} $$
#
# For $t_0$ and $r_\infty$, the next cell fits a line to the seconds per step of the race,
# as in exercise 2.3.

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
# Both laws were fitted to these very runs, so their agreement proves little. A harder
# test is a batch size that did not take part, best of all the size at which $T$ is
# smallest. To find this minimum, multiply out the two factors:
#
# $$ T(b) = n_0 \left(t_0 + \frac{B}{r_\infty} + \frac{b}{r_\infty} + \frac{B\,t_0}{b}\right) $$
#
# **Question.** Which of the four terms are the same for all batch sizes? What do the
# other two mean, and which of them is larger for a very small batch?

# %% [markdown]
# ### Exercise 3.4: derive the best batch size
#
# Your function turns the four fitted numbers into the fastest batch size.
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
#
# Start with pencil and paper: at the best batch size $b^*$ the derivative of $T$ is zero.

# %% [markdown]
# **Example:** with a floor of 100 steps, a bend of 90 images, 0.01 s and 1,000 images/s,
#
#     best_batch_size(100, 90, 0.01, 1000)     # (30.0, 16.0)
#     best_batch_size(100, 90, 0.01, 1000, 4)  # (15.0, 6.25)
#
# Once you have the formula, you need about three lines.

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
# Probably no batch in your race had this size, so this is a genuine forecast. To show how
# certain it is, the next cells fit all four numbers to each draw of the bootstrap.

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
forecasts = sorted(seconds_by_laws(best_size, *drawn) for drawn in draws)
forecast = seconds_by_laws(best_size, *laws)
card.measure("best_batch_size", best_size)
print(f"Best batch size by the laws: {best_size}; ", end="")
print(f"in nine of ten draws {best_sizes[10]} to {best_sizes[-11]}")
print(f"Forecast of its time: {in_words(forecast, 's')}; in nine of ten draws ", end="")
print(f"{in_words(forecasts[10], 's')} to {in_words(forecasts[-11], 's')}")

# %% [markdown]
# The test trains several times with this batch size, at a rate between the rates of its
# neighbours in the race. The winner of the race runs again, in alternation with the new
# size. This winner is the *control*: if its time has changed, so has the machine.
#
# **Predict:** how many seconds will the new size take, as the median of its runs? Enter
# the forecast of the theory, or a better one if you distrust it.

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
# If your forecast is wrong, the first two printed lines show where the error comes from:
# one tests the law for the steps, and the other the law for the time of a step. But if
# the control's time has changed, too, the machine is probably part of the reason.
#
# **Question.** Is the new size faster than the control by more than the scatter of the
# runs?
#
# Often it is not, because the curve is flat near its lowest point: by this formula, any
# batch size from half to twice $b^*$ costs at most 12.5% more time. A theory need not be
# exact to be useful.

# %% [markdown]
# ### And with several devices?
#
# How large is the best batch on 1, 4, 16 and 64 devices, and how long does training take?
# The next cell asks your function. It assumes that each device is as fast as this machine,
# and that exchanging gradients takes no time. It also assumes that the law for the steps
# holds for larger batches than yours.

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
# even the fewest possible steps pay their fixed cost. Real devices also need time to
# exchange gradients, which [lab 05](05_many_gpus_fit.ipynb) and [lab
# 09](09_many_machines.ipynb) measure.

# %% [markdown]
# ### Is the fastest epoch the fastest training?
#
# For the batch sizes of your race, part 3 gave the answer. For all other sizes, your two
# laws give it: up to $b^*$, a larger batch gains more time by its speed than it loses by
# its longer track. Beyond $b^*$ its epochs may be faster still, and yet the training is
# slower.

# %% [markdown]
# ## Going deeper: the bend without a race
#
# This section is for a second reading. For now you can run its cells, skip its text, and
# continue with exercise 3.5.
#
# A race finds the bend, but it trains every batch size several times. A single training
# might tell you as much, if you measure its [*noise scale*](../docs/glossary.md) on the
# way. In [lab 01](01_gradient_descent.ipynb) this was the batch size at which a gradient
# contains as much noise as signal.

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
# You can measure it without the gradient of any single image. On average, the squared
# length of a batch's gradient is
#
# $$ |G|^2 + \frac{V}{b}, $$
#
# so two batch sizes give two equations for the two unknowns ([McCandlish et al.
# 2018](https://arxiv.org/abs/1812.06162), appendix A). We draw the images with
# replacement, because only then is the variance exactly $V / b$.
# [`GradientTape`](https://www.tensorflow.org/api_docs/python/tf/GradientTape) computes
# the gradient, as [lab 04](04_custom_training_loop.ipynb) explains.
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
# We train once, and measure the noise scale five times on the way, each time from many
# gradients of 64 and of 512 images. Four quarters of these draws give four more
# estimates: the further they lie apart, the less you should trust the measurement. The
# last line repeats the last measurement with 16 and 256 images.
#
# **Predict:** what is the median of the five noise scales from the batches of 64 and 512?
# You already know the bend.

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
# same order of magnitude. Is your bend within a factor of ten of the median? (This is a
# weak test, because the sizes of the race span only a factor of 64.) Is it even within the
# range of the noise scales?
#
# If so, a single training and a few hundred gradients have told you about as much as the
# whole race. In practice that is enough to tell two cases apart. If your batch size is ten
# times below the noise scale, twice the batch saves nearly half of the steps, so more
# hardware would pay off. If it is ten times above, most of its images are wasted.

# %% [markdown]
# <details><summary>Why the bend and the noise scale need not agree exactly</summary>
#
# - The noise scale changes as the network learns, while the bend is one number for the
#   whole training.
# - The theory assumes plain gradient descent with the best rate at every step. We use
#   momentum and a few rates.
# - Batch normalisation mixes the images of a batch, so even the mean gradient depends on
#   the batch size.
# - If the signal is weak, a few draws may miss it. Then the formula divides by almost
#   nothing, and the result may even be negative.
#
# </details>

# %% [markdown]
# ## Exercise 3.5: find the bug
#
# How much harm can a wrong clock do? The script below runs without an error, and is wrong
# all the same. It is a race like yours: `new_run(batch_size)` creates a run, `train`
# trains it up to its next look, `validate` takes the look, and `clock()` returns the time
# in seconds. The docstring is right, but because of **one line** the script does
# something else.

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
# The verdict does not say whether the line or its correction is wrong, so go through the
# loop by hand for a run with three looks: which seconds does `spent` contain after each
# turn?

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
# The next cell measures the time of a look on your machine, and calls your function for
# the typical run of each batch size.
#
# **Question.** With the bug in your race, would the fastest batch size still be the
# fastest?

# %%
def seconds_of_a_look():
    began = default_timer()
    compiled_model.evaluate(valid, verbose=0)
    return default_timer() - began

look_seconds = median(seconds_of_a_look() for _ in range(3))
print(f"Seconds of a look: {look_seconds:.2f}")
for size in lab.batch_sizes:
    of_size = [run for run in runs if run["batch_size"] == size and reached_target(run)]
    factor_text = "never"
    if of_size:
        looks = median(len(run["val_accuracy"]) for run in of_size)
        per_look = [run["wall_seconds"][-1] / len(run["val_accuracy"]) for run in of_size]
        factor = find_the_bug(looks, median(per_look), look_seconds)[2]
        factor_text = f"{factor:.2f} times"
    print(f"Batch {size}, time with the bug, relative to without: {factor_text}")

# %% [markdown]
# The factor is largest if the training between two looks takes little time and a run
# needs many looks. So the bug favours some batch sizes, and may hand the victory to the
# wrong size. You will meet this bug often, because a timer around the whole of `fit`
# measures validation, too.

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
# - The fastest epoch is the fastest training only as long as a larger batch gains more
#   time by its speed than it loses by needing more images.
# - [Time to accuracy](../docs/glossary.md), not throughput, tells you how soon you have a
#   good network.
# - A larger batch needs fewer steps, but only up to a size that depends on the noise of
#   the gradients.
# - Four numbers, two for the machine and two for the learning, predict the fastest batch
#   size.
# - A fair race needs several seeds and a suitable learning rate for each size. Runs that
#   fail count, too.
#
# **Question.** If you raise the target by three percentage points, which batch sizes
# suffer most? (Remember that the noise scale grows as the loss falls.) And if a new GPU
# computes each image four times as fast, but has the same fixed cost per step, what
# happens to the best batch size?
#
# To read on: [Krizhevsky, "One weird trick for parallelizing convolutional neural
# networks" (2014)](https://arxiv.org/abs/1404.5997); [Goyal et al., "Accurate, Large
# Minibatch SGD" (2017)](https://arxiv.org/abs/1706.02677); [Coleman et al., "DAWNBench"
# (2017)](https://dawn.cs.stanford.edu/publications/dawnbench/dawnbench-end-end-deep-learning-benchmark-and-competition);
# [McCandlish et al., "An Empirical Model of Large-Batch Training"
# (2018)](https://arxiv.org/abs/1812.06162); [Shallue et al., "Measuring the Effects of
# Data Parallelism on Neural Network Training" (2019)](https://arxiv.org/abs/1811.03600).
