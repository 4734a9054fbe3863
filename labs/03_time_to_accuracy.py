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
# In lab 02 larger batches mostly trained more images a second, up to a point. But
# nobody wants images per second. You want a network that is good enough, soon.
#
# In this lab you stop training when it is good enough, take the time until then, and
# find out which batch size gets there first. You will see why one run is not an answer,
# and measure on the network itself how large a batch can be of use.
#
# Stuck? `hint("3.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = None  # at the most, for each run; None: what the scale says
batch_size: int = 32  # of the first training
valid_batch_size: int = 250
batch_sizes: list = [16, 64, 256, 1024]  # that are compared
repeats: int = 5  # runs of each batch size, with other seeds
patience: int = 2  # epochs in a row above the target, for exercise 3.1
target_accuracy: float = None  # None here and in the next five: what the scale says
look_images: int = None  # images to train on between two looks at the accuracy
train_images: int = None
valid_images: int = None
depth: int = None
width: int = None
dropout: float = 0.01
learning_rate: float = 0.02  # a rule's, at batch size 32; each size tries rates around it
momentum: float = 0.9
weight_decay: float = 5e-6
shift: float = 0.0  # no augmentation: it pays off in long trainings only
flip: bool = False

# %% [markdown]
# ## Set up
#
# The same data and the same family of networks as in lab 02. On a laptop the network is
# shallow and pools the image after its first convolution, so that the blocks work on a
# sixteenth of the positions: it is going to be trained some thirty times. The optimizer
# has *momentum* now: a part of each step goes on into the next ones. So a few epochs are
# enough.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("03_time_to_accuracy", globals())

# %%
# For your answers: bind them to what you like. Our own cells use other names.
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
    """A network with its preprocessing; every seed starts from other weights."""
    utils.set_random_seed(seed)
    shape = {"dropout": lab.dropout, "stem_pool": lab.stem_pool}
    network = wide_resnet(lab.depth, lab.width, **shape)
    return with_preprocessing(network, x_train, lab.shift, lab.flip, seed)

compiled_model = new_network(lab.seed)
# Keras takes None, not 0, for no weight decay.
sgd = optimizers.SGD(0.0, lab.momentum, weight_decay=lab.weight_decay or None)
# XLA, a compiler, is on by default on some devices: off, so that all compare.
compiled_model.compile(
    sgd, "categorical_crossentropy", metrics=["accuracy"], jit_compile=False
)

# %% [markdown]
# The start-up that you met in lab 02 is paid once for each compiled model. So we keep
# this one, and start it again for every training: new weights, an optimizer without
# memory, and a learning rate.

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
# A larger batch takes fewer steps in an epoch, and each follows a less noisy gradient.
# Such steps may be longer. How much longer, if the batch is `k` times as large?
# Krizhevsky (2014) gives a factor of `k ** 0.5` from theory: it keeps the variance of a
# step. But he used a factor of `k`. Goyal et al. (2017), who say so, use `k` too, after a
# warm-up: at first the rate rises step by step. A rule is where to start from. Later you
# let each batch size try rates around it.

# %% [markdown]
# ## When is good enough?
#
# 820 right of 1,000 are 0.82. Keras computes accuracies as float32 numbers. Is such an
# accuracy at least 0.82?

# %%
share = float(numpy.float32(820 / 1000))
print(f"As a float32 number: {share:.10f}")
print(f"At least 0.82: {share >= 0.82}; rounded to six decimals: {round(share, 6) >= 0.82}")

# %% [markdown]
# A run that got there would train on for nothing. So this course has one rule: an
# accuracy is **rounded to six decimals**, then compared. One image of 10,000 is 0.0001,
# so nothing else changes.
#
# How well do we know an accuracy at all? Another set of test images would give another
# one. The standard deviation of a share `p` among `n` images is `(p (1 - p) / n) ** 0.5`.

# %%
p = lab.target_accuracy
points = 100 * (p * (1 - p) / lab.valid_images) ** 0.5
print(f"One standard deviation at accuracy {p:.2f}: {points:.2f} points")

# %% [markdown]
# ## Exercise 3.1: stop when it is good enough
#
# Write a callback that ends training after `patience` epochs *in a row* whose
# validation accuracy is *above* `target`. An epoch at or below the target sets the
# count back to zero; so does a new `fit`. It prints
#
#     Early stopping after epoch 7
#
# where the first epoch is 1. If `logs`, the epoch's figures in a dict, has no
# `val_accuracy`, it prints what is missing and goes on. About fourteen lines;
# `self.model.stop_training` helps. Our solution rounds the accuracy first, as above;
# yours may leave that to us.

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
# ## Exercise 3.2: the time so far
#
# Write a callback that prints the seconds since training began, validation
# included, after every epoch and once more at the end, also of a training that is
# stopped early:
#
#     Cumulative training time after epoch 3: 12.34
#     Cumulative training time: 40.21
#
# Two decimals. Each call of `fit` starts again from zero. About eight lines. When does
# training begin: when the callback is made, or later?

# %% name="3.2-print-total-time" points=2
# TODO 3.2: print the seconds since training began.
#: start
class PrintTotalTime(keras.callbacks.Callback):
    """Print the time since training began, every epoch and at the end."""
#: solution
class PrintTotalTime(keras.callbacks.Callback):
    """Print the time since training began, every epoch and at the end."""

    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time after epoch {epoch + 1}: {wall_seconds:.2f}")

    def on_train_end(self, logs=None):
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time: {wall_seconds:.2f}")
#: end

# %%
PrintTotalTime = check("3.2", PrintTotalTime)

# %% [markdown]
# Both at work. To see the early stop whatever your machine and scale, the target
# of this first training is set so low that guessing would pass it: ten classes,
# and 1% is asked. **Predict:** after which epoch will it stop?

# %%
my_last_epoch_guess = None  # change this: the number of an epoch, the first is 1
card.predict("last_epoch_of_easy_target", my_last_epoch_guess)

# %%
card.lock("last_epoch_of_easy_target")
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
print(f"It stopped after epoch {last_epoch}")
card.outcome("last_epoch_of_easy_target", last_epoch)

# %% [markdown]
# `patience` epochs in a row have to be good, so it cannot stop before epoch
# `patience`. Why ask for more than one? The accuracy after an epoch is a noisy number,
# and one lucky epoch above the target is no trained network.

# %%
speeds = [lab.train_images / seconds for seconds in recorder.epochs["train_seconds"]]
card.measure("images_per_second", speeds[-1])
print(f"Images/sec in the last epoch: {speeds[-1]:.2f}")

# %% [markdown]
# ## A learning rate for each batch size
#
# Now the race. If all sizes had to run at one rate, it would be a race of the rate's
# favourite. So each size tries three: the square-root rule's, a third of it, three times
# it. To choose by the test images would be to learn from them. So we set a fifth of the
# *training* images aside, train on the others, and look at these.

# %% [markdown]
# An epoch is a coarse clock: with batches of 1,024 an epoch of 5,000 images has five
# steps. So we look at the accuracy after every `look_images` images, whatever the batch
# size. To Keras a look is the end of an epoch of so many steps. The clock stands still
# while we look: it counts training only.

# %%
def steps_per_look(batch_size):
    return max(1, round(lab.look_images / batch_size))

def most_looks(batch_size):
    images = lab.epochs * lab.train_images
    return max(1, images // (steps_per_look(batch_size) * batch_size))

# %%
def train_to_target(batch_size, rate, seed, train_set, valid_set, looks):
    """Train until the target; training seconds and accuracy at every look."""
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
# A run has arrived at its first look with at least the target, and ends there. (One look
# is enough here, and so is the target itself: your callback of 3.1 asks for more.) A rate
# that takes longer than the best one so far is given up.

# %%
fifth = lab.train_images // 5
split = (x_train[fifth:], y_train[fifth:]), (x_train[:fifth], y_train[:fifth])

def arrived(run):
    return run["val_accuracy"][-1] >= lab.target_accuracy

def tune(batch_size):
    """Try three rates on the split; the looks and the last accuracy of each."""
    rule, looks, tried = rate_by_rule(batch_size), most_looks(batch_size), []
    for rate in (rule, rule / 3, 3 * rule):
        run = train_to_target(batch_size, rate, lab.seed, *split, looks)
        accuracy = run["val_accuracy"]
        tried.append({"rate": rate, "looks": len(accuracy), "accuracy": accuracy[-1]})
        if arrived(run):
            looks = max(1, len(accuracy) - 1)
    return tried

# %% [markdown]
# **Predict:** how many times larger is the best rate of the largest batch size than that
# of the smallest? Batch sizes 16 and 1,024 differ by 64: the square root says 8,
# proportion says 64.

# %%
my_rate_ratio_guess = None  # change this: rate at the largest / rate at the smallest
card.predict("rate_ratio", my_rate_ratio_guess)

# %%
card.lock("rate_ratio")
trials, rates = card.points("trials"), {}
for size in lab.batch_sizes:
    if size not in trials:
        trials[size] = tune(size)
    for trial in trials[size]:
        words = f"{trial['accuracy']:.3f} after {trial['looks']} looks"
        print(f"Batch {size}, rate {trial['rate']:.4f}: accuracy {words}")
    there = [trial for trial in trials[size] if trial["accuracy"] >= lab.target_accuracy]
    if there:
        rates[size] = min(there, key=lambda trial: trial["looks"])["rate"]

# %%
low, high = (rates.get(size) for size in (lab.batch_sizes[0], lab.batch_sizes[-1]))
card.outcome("rate_ratio", high / low if low and high else None)
for size in lab.batch_sizes:
    rule = rate_by_rule(size)
    rate = rates.setdefault(size, rule)  # the rule's, if none of the three arrived
    print(f"Batch {size}: rate {rate:.4f}, {rate / rule:.2f} times the rule's")
card.measure("tuned_rates", rates)

# %% [markdown]
# Three rates and one run of each is a coarse choice: another seed may choose another
# rate, above all where two rates needed nearly the same number of looks. And where the
# smallest or the largest of the three was chosen, a better one may lie beyond it. Did
# that happen to you?

# %% [markdown]
# A rate has a ceiling as well, and a larger batch does not raise it for ever. Beyond it
# training does not settle, however exact the gradient is: an accuracy near 0.1 after many
# looks is mere guessing, and a loss of `nan` is no number any more.

# %% [markdown]
# ## Which batch size gets there first?
#
# The race: all training images, the test images to look at, and a few runs of each size
# with different seeds. It takes some minutes on a laptop. The first look at the target
# may be a lucky one. All sizes look after as many images, so one that needs more images
# has more chances of luck. Two predictions. **Predict:** who will be first? And how many
# times *fewer steps* will the largest batch take than the smallest?

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
                size, rates[size], this_seed, *race, most_looks(size)
            )
runs = list(finished.values())
card.measure("val_accuracy", max(max(run["val_accuracy"]) for run in runs))
print(f"{len(runs)} runs, {sum(map(arrived, runs)) / len(runs):.1%} of them arrived")

# %% [markdown]
# Each run goes to the run card as it ends, so an interrupted race resumes. The
# seeds are the outer loop: if the machine becomes slower on the way, all batch
# sizes suffer alike.
#
# Accuracy against time. A run that gets to the horizontal line has arrived.

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
# ## Exercise 3.3: median and spread
#
# Write `summarize(runs, target)`. It gets the list of runs you just made: dicts
# with `batch_size`, `wall_seconds` and `val_accuracy` (lists, an entry for each look).
# The *time to accuracy* of a run is the wall time at its first look with at least
# the target. Return for every batch size
#
#     {32: {"reached": 2, "runs": 3, "median_seconds": 9.1,
#           "fastest_seconds": 7.5, "slowest_seconds": 9.1}, ...}

# %% [markdown]
# A run that never arrives is slower than any that does. So it counts in the
# median, as infinitely slow, and never in `fastest` and `slowest`. Where a figure
# does not exist, or is infinite, give `None`. About fifteen lines;
# `statistics.median` and `float("inf")` help.

# %% [markdown]
# Example: with `runs = [{"batch_size": 32, "wall_seconds": [4.0, 7.5],
# "val_accuracy": [0.70, 0.83]}]` and target 0.82 one run of one reached it, and all
# seconds are 7.5; with target 0.9 none did, and all seconds are `None`.

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
        # Over all runs: one that never arrives is slower than any that does.
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
    print(f"Batch {size}: {row['reached']} of {row['runs']} runs arrived, ", end="")
    print(f"median {median_time}, fastest {fastest}, slowest {slowest}")

# %%
never = float("inf")
times, steps = ({size: [] for size in lab.batch_sizes} for _ in range(2))
for one in runs:
    size, done = one["batch_size"], arrived(one)
    times[size].append(one["wall_seconds"][-1] if done else never)
    looks = len(one["val_accuracy"])
    steps[size].append(looks * steps_per_look(size) if done else never)
medians = {b: row["median_seconds"] for b, row in table.items() if row["median_seconds"]}
winner = min(medians, key=medians.get) if medians else None
text = f"batch size {winner} has the lowest median" if winner else "no median exists"
figure = figures.time_to_accuracy_spread(times, winner_guess)
show_figure(figure, f"Time to {lab.target_accuracy}: {text}.", session.caption())

# %% [markdown]
# ## Is there a winner?
#
# One size has the lowest median. Would it have it again? Take one run of each size at
# random, a thousand times: how often is each size first? Then the same with medians of
# `repeats` runs, drawn from ours with replacement. That is the *bootstrap*: draws from
# what we have stand for new runs. With so few runs it is rough.

# %%
def share_of_firsts(runs_drawn):
    """How often each size is first, in percent, by the median of so many runs."""
    chance, firsts = Random(lab.seed), Counter()
    for _ in range(1000):
        drawn = {b: median(chance.choices(t, k=runs_drawn)) for b, t in times.items()}
        best = min(drawn, key=drawn.get)
        firsts[best if drawn[best] < never else None] += 1
    return {size: firsts[size] / 10 for size in lab.batch_sizes}

by_one, by_median = share_of_firsts(1), share_of_firsts(lab.repeats)
for size in lab.batch_sizes:
    print(f"Batch {size}: {by_one[size]:.1f}% by one run, ", end="")
    print(f"{by_median[size]:.1f}% by the median of {lab.repeats}")

# %% [markdown]
# Where the first column says less than 100%, somebody with one run each could have told
# you another winner, in good faith. In the second column we call a size *in front* if it
# is first in at least 5% of the draws. If several are, this race did not decide between
# them, whatever their medians say. Then any of them counts as the right prediction.

# %%
in_front = [size for size, share in by_median.items() if share >= 5]
print(f"In front: {', '.join(map(str, in_front)) or 'nobody'}")
first = winner_guess if winner_guess in in_front else winner
card.outcome("fastest_batch_size", first, choices=True)

# %% [markdown]
# ## What goes wrong at the ends
#
# Time is images needed, divided by images a second. From the first line to the last,
# which column falls, and which two rise?

# %%
def in_words(value, unit):
    return f"{value:,.1f} {unit}" if value < never else "never"

typical_steps = {size: median(steps[size]) for size in lab.batch_sizes}
for size, needed in typical_steps.items():
    own = [run for run in runs if run["batch_size"] == size]
    trained = sum(len(run["val_accuracy"]) for run in own) * steps_per_look(size) * size
    speed = trained / sum(run["wall_seconds"][-1] for run in own)
    print(f"Batch {size}: {in_words(needed, 'steps')}, ", end="")
    print(f"{in_words(needed * size, 'images')}, {speed:,.1f} images/s")

# %% [markdown]
# A very small batch pays the fixed cost of lab 02 for few images: it is slow. A very
# large batch is fast, but the steps do not become fewer in the same measure, so it needs
# more images. Where the images grow faster than the speed, a larger batch loses.

# %% [markdown]
# ## Steps to target
#
# Speed belongs to the machine. Steps do not: with the same network, data and rates they
# should be about the same on any. If twice the batch took half the steps, scaling would
# be *perfect*: the dashed line. McCandlish et al. (2018) expect
#
#     steps = floor * (1 + bend / batch_size)
#
# (Lab 02's bend was about speed, this one is about learning.) Far below `bend`, scaling
# is perfect. At `bend` twice the `floor` is needed. Far above, more images in a batch
# save nothing. We fit both numbers to the medians.

# %%
def fit_bend(steps_by_size):
    """The floor and the bend that fit the steps of each batch size."""
    known = {size: needed for size, needed in steps_by_size.items() if needed < never}
    if len(known) < 3:
        return never, never
    rows = numpy.array([[1, 1 / size] for size in known])
    needed = numpy.array(list(known.values()))
    # Relative: 10% of few steps count as much as 10% of many.
    rows, ones = rows / needed[:, None], numpy.ones(len(needed))
    floor, images = numpy.linalg.lstsq(rows, ones, rcond=None)[0]
    return floor, images / floor if floor > 0 else never

floor, bend = fit_bend(typical_steps)
for size, needed in typical_steps.items():
    off = needed / (floor * (1 + bend / size)) if floor < never else never
    print(f"Batch {size}: measured steps over those of the fit: {in_words(off, 'times')}")

# %% [markdown]
# How sure is the bend? The bootstrap again: other draws of our runs, other bends. Look at
# the factors above as well. One far from 1 says that the formula misses something, or
# that this size got a poor rate in the trials: an error that no bootstrap of the race
# can show. Four points do not tell which.

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
fastest, largest = typical_steps[min(typical_steps)], typical_steps[max(typical_steps)]
ratio = fastest / largest if max(fastest, largest) < never else None
card.outcome("steps_ratio", ratio)
figure = figures.steps_to_target(steps, floor, bend)
summary = "Steps to the target by batch size, beside perfect scaling and the fit."
show_figure(figure, summary, session.caption())

# %% [markdown]
# ## How large a batch can be of use?
#
# Can one foresee the bend without a race? Every image has a gradient of its own. Their
# mean `G` is the signal. What scatters around it is noise: let `V` be its variance,
# summed over all weights. In the mean of `b` images the noise is `V / b`. It equals the
# signal, `|G|²`, at the *noise scale* that you met in lab 01:
#
#     B = V / |G|²
#
# With smaller batches each step is mostly noise, and more images help. With larger ones
# it is nearly exact already.

# %% [markdown]
# No single image's gradient is needed. On average the squared length of a batch's
# gradient is `|G|² + V / b`. Take it at two batch sizes: two equations, two unknowns
# (McCandlish et al. 2018, appendix A). We draw the images with replacement, because only
# then is the noise exactly `V / b`.

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
    """The noise scale of the present weights: of all draws, and of each quarter."""
    kept = [variable.numpy() for variable in compiled_model.variables]
    drawn = [rng.integers(0, len(labels), (lab.noise_draws, size)) for size in (small, big)]
    lengths = [
        [float(squared_length(x_train[i], labels[i])) for i in pair]
        for pair in zip(*drawn, strict=True)
    ]
    for variable, value in zip(compiled_model.variables, kept, strict=True):
        variable.assign(value)  # training=True moves batch normalisation's averages
    quarters = numpy.array_split(lengths, 4)
    return [noise_scale(part, small, big) for part in (lengths, *quarters)]

# %% [markdown]
# One training, of a size in the middle, in four parts; we measure before, between and
# after them, with batches of 64 and 512, and at the end once more with 16 and 256. A
# quarter of the draws by itself gives another number: four of them show how sure it is.
# **Predict:** what is the median of these noise scales? You know the bend.

# %%
my_noise_guess = None  # change this: a batch size
noise_guess = card.predict("noise_scale", my_noise_guess)

# %%
card.lock("noise_scale")
rng = numpy.random.default_rng(lab.seed)
middle = lab.batch_sizes[(len(lab.batch_sizes) - 1) // 2]
part = max(1, round(min(typical_steps[middle], 200) / 4))
scales = []
restart(rates[middle], lab.seed)
images = batches(x_train, y_train, middle, lab.seed, repeat=True)
for done in range(5):
    if done:
        compiled_model.fit(images, steps_per_epoch=part, verbose=0)
    scale_now, *parts = measure_noise(64, 512)
    scales.append(scale_now)
    spread = f"quarters of the draws {min(parts):.1f} to {max(parts):.1f}"
    print(f"After {part * done} steps: {scale_now:.1f}, {spread}")
other, *parts = measure_noise(16, 256)
print(f"Batches of 16, 256: {other:.1f}, quarters {min(parts):.1f} to {max(parts):.1f}")

# %%
typical_scale = median(scales)
card.measure("noise_scales", scales)
card.outcome("noise_scale", typical_scale)
summary = f"Bend: {in_words(bend, 'images')}. Noise scales: {min(scales):.1f} to "
summary += f"{max(scales):.1f}, their median {typical_scale:.1f}."
figure = figures.steps_to_target(steps, floor, bend, scales, noise_guess)
show_figure(figure, summary, session.caption())

# %% [markdown]
# McCandlish et al. promise the order of magnitude, and no more. Is the bend within a
# factor of ten of the median? That is a weak test: the batch sizes of this race span only
# a factor of 64. Is it within the range? Then a few dozen pairs of gradients have told
# you roughly what the whole race did.

# %% [markdown]
# What does not fit?
#
# - The noise scale changes while the network learns; the bend is one number for all of
#   the training.
# - The theory has plain gradient descent with the best rate at each step. We have
#   momentum, and three rates to choose from.
# - Batch normalisation mixes the images of a batch, so the mean gradient itself depends
#   on the batch size: the last two lines above need not agree.
# - Where the signal is weak, a few draws may miss it. Then the formula divides by nearly
#   nothing, and may even give a negative number.

# %% [markdown]
# So use it as what it is. A batch ten times below the noise scale wastes hardware that
# could work in parallel. A batch ten times above it wastes images.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("03")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure of exercise 3.3. Which batch size reached the target first on your
# machine? Was it the one with the most images a second? Why, or why not?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="3.figure" points=2
# **3.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Throughput counts images; time to accuracy counts what you want. A larger batch needs
# fewer steps, but only up to a size that the noise of the gradients sets; the best one
# for the clock is found by measuring to a target, over several seeds, each size at a
# rate of its own. Runs that fail are results and stay in the statistics.
#
# Two questions to take along. If you raise the target by three points, which batch
# sizes suffer most? And lab 02 says that a step takes `a + c * batch_size` seconds: with
# the formula for the steps, which batch size makes the time smallest?
#
# To read on: Krizhevsky, "One weird trick for parallelizing convolutional neural
# networks" (2014); Goyal et al., "Accurate, Large Minibatch SGD" (2017); Coleman et al.,
# "DAWNBench" (2017); McCandlish et al., "An Empirical Model of Large-Batch Training"
# (2018); Shallue et al., "Measuring the Effects of Data Parallelism on Neural Network
# Training" (2019).
