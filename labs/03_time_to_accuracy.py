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
# In this lab you stop training when it is good enough, take the time until then,
# and find out which batch size gets there first. You will also see why one run is
# not an answer.
#
# Stuck? `hint("3.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = None  # at the most, for each run; None: what the scale says
batch_size: int = 32  # of the first training
valid_batch_size: int = 250
batch_sizes: list = [8, 32, 128, 512]  # that are compared
repeats: int = 3  # runs of each batch size, with other seeds
target_accuracy: float = 0.82
patience: int = 2  # epochs in a row above the target, for exercise 3.1
train_images: int = None  # None here and below: what the scale says
valid_images: int = None
depth: int = None
width: int = None
dropout: float = 0.01
learning_rate: float = 0.02  # at batch size 32; grows with the square root of the batch
momentum: float = 0.9
weight_decay: float = 5e-6
shift: float = 0.0  # no augmentation: it pays off in long trainings only
flip: bool = False

# %% [markdown]
# ## Set up
#
# The same data and the same family of networks as in lab 02. On a laptop the network
# is shallow and pools the image after its first convolution, so that the blocks work
# on a quarter of the positions: it is going to be trained a dozen times. The
# optimizer has momentum now, so that a few epochs are enough.

# %% tags=["setup"]
from helpers import session

sizes = {
    "smoke": {"depth": 10, "width": 1, "train_images": 512, "valid_images": 64},
    "laptop": {"depth": 10, "width": 1, "train_images": 5000, "valid_images": 1000},
    "gpu": {"depth": 16, "width": 4, "train_images": 10_000, "valid_images": 10_000},
}
sizes["smoke"] |= {"stem_pool": 4, "epochs": 3}
sizes["laptop"] |= {"stem_pool": 2, "epochs": 12}
sizes["gpu"] |= {"stem_pool": 1, "epochs": 20}
lab = session.start("03_time_to_accuracy", globals(), sizes)

# %%
# For your answers: bind them to what you like. Our own cells use other names.
import random
import statistics
import time

import keras

card = lab.card

# %%
from collections import Counter
from random import Random
from statistics import median

from keras import ops, optimizers, utils

from callbacks import EpochRecorder, PrintThroughput, TrainingDashboard, TrainingProgress
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_03 import figures
from helpers.models import wide_resnet
from helpers.pipelines import batches, with_preprocessing

use_figures()
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
# memory, and the learning rate for the batch size.

# %%
def restart(batch_size, seed):
    """Forget all training, as if the model had just been made with this seed."""
    fresh = new_network(seed)
    for variable, new in zip(compiled_model.variables, fresh.variables, strict=True):
        variable.assign(new)
    for variable in sgd.variables:
        variable.assign(ops.zeros_like(variable))
    sgd.learning_rate = lab.learning_rate * (batch_size / 32) ** 0.5

# %% [markdown]
# A larger batch takes fewer steps in an epoch, and each follows a less noisy
# gradient. Such steps may be longer: here the learning rate grows with the square
# root of the batch size, as Krizhevsky (2014) derives it. Others let it grow in
# proportion (Goyal et al. 2017). The rule is a choice, and it can decide the race.

# %% [markdown]
# ## Exercise 3.1: stop when it is good enough
#
# Write a callback that ends training after `patience` epochs *in a row* whose
# validation accuracy is *above* `target`. An epoch at or below the target sets the
# count back to zero; so does a new `fit`. It prints
#
#     Early stopping after epoch 7
#
# where the first epoch is 1. If `logs` has no `val_accuracy`, it prints what is
# missing and goes on. About fourteen lines; `self.model.stop_training` helps.

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
        self.met = self.met + 1 if accuracy > self.target else 0
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
# included, after every epoch and once more at the end:
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
my_last_epoch_guess = 1  # change this
card.predict("last_epoch_of_easy_target", my_last_epoch_guess)

# %%
restart(lab.batch_size, lab.seed)
recorder = EpochRecorder()
train = batches(x_train, y_train, lab.batch_size, lab.seed)
training_history = compiled_model.fit(
    train,
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
print(f"It stopped after epoch {last_epoch}; you guessed {my_last_epoch_guess}")

# %% [markdown]
# `patience` epochs in a row have to be good, so it cannot stop before epoch
# `patience`. Why ask for more than one? The accuracy after an epoch is a noisy number, and one lucky epoch above
# the target is no trained network.

# %%
speeds = [lab.train_images / seconds for seconds in recorder.epochs["train_seconds"]]
card.measure("images_per_second", speeds[-1])
print(f"Images/sec in the last epoch: {speeds[-1]:.2f}")

# %% [markdown]
# ## Which batch size gets there first?
#
# Now the race. For each batch size a few runs with different seeds; on a laptop that
# takes some minutes. The rule is another one: a run has arrived after the first epoch
# with *at least* the target, because that is the moment we time. What `patience` did
# against luck, repeats with other seeds do here. **Predict:** who will be first?

# %%
my_winner = 512  # change this: one of the batch sizes
card.predict("fastest_batch_size", my_winner)

# %% [markdown]
# One run: start with new weights and train; `EpochRecorder` ends the training at the target. It
# keeps the wall time, validation included, and the validation accuracy after every
# epoch.

# %%
def run(batch_size, seed):
    """Train until the target; wall seconds and accuracy after every epoch."""
    restart(batch_size, seed)
    recorder = EpochRecorder(lab.target_accuracy)
    compiled_model.fit(
        batches(x_train, y_train, batch_size, seed),
        validation_data=valid,
        epochs=lab.epochs,
        callbacks=[TrainingProgress(), recorder],
        verbose=0,
    )
    return {"batch_size": batch_size, "seed": seed} | recorder.epochs

# %%
finished = card.points("runs")
for this_seed in range(lab.seed, lab.seed + lab.repeats):
    for size in lab.batch_sizes:
        key = f"batch {size}, seed {this_seed}"
        if key not in finished:
            finished[key] = run(size, this_seed)
        best, last = max(finished[key]["val_accuracy"]), finished[key]["wall_seconds"][-1]
        print(f"{key}: best accuracy {best:.3f}, ended after {last:.2f} s")
runs = list(finished.values())
card.measure("val_accuracy", max(max(run["val_accuracy"]) for run in runs))

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
    f"Validation accuracy of every run over its wall time; the best had {accuracy:.3f}.",
    session.caption(),
)

# %% [markdown]
# ## Exercise 3.3: median and spread
#
# Write `summarize(runs, target)`. It gets the list of runs you just made: dicts
# with `batch_size`, `wall_seconds` and `val_accuracy` (lists, an entry per epoch).
# The *time to accuracy* of a run is the wall time after its first epoch with at
# least the target. Return for every batch size
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
times = {size: [] for size in lab.batch_sizes}
for one in runs:
    row = summarize([one], lab.target_accuracy)[one["batch_size"]]
    # The median of a single run is its time.
    times[one["batch_size"]].append(row["median_seconds"])
medians = {b: row["median_seconds"] for b, row in table.items() if row["median_seconds"]}
winner = min(medians, key=medians.get) if medians else None
text = f"batch size {winner} has the lowest median" if winner else "no median exists"
figure = figures.time_to_accuracy_spread(times, my_winner)
show_figure(figure, f"Time to {lab.target_accuracy}: {text}.", session.caption())
print(f"Your bet was {my_winner}: {'right' if my_winner == winner else 'not this time'}")

# %% [markdown]
# ## What goes wrong at the ends
#
# Time is epochs times seconds per epoch. Going down this table, which column rises,
# and which falls?

# %%
for size in lab.batch_sizes:
    own = [run for run in runs if run["batch_size"] == size]
    seconds = median(s for run in own for s in run["train_seconds"])
    epochs_taken = median(len(run["val_accuracy"]) for run in own)
    print(f"Batch {size}: {lab.train_images / seconds:.2f} images/s, ", end="")
    print(f"{epochs_taken:.1f} epochs")

# %% [markdown]
# A very small batch pays the fixed cost of lab 02 for few images: its epochs are slow.
# A very large batch has fast epochs with few steps in them, so it needs more epochs.
# Where the epochs grow faster than the speed, a larger batch loses. Longer steps
# would help it, up to a length: with a learning rate that is too large training
# does not settle at all. Try `learning_rate = 1.0`.

# %% [markdown]
# ## Why one run proves nothing
#
# Take one run of each batch size and declare a winner. Take others: is it the same?
# The cell does that a thousand times, with one run of each size, drawn at random.

# %%
chance, wins = Random(lab.seed), Counter()
never = float("inf")
for _ in range(1000):
    drawn = [(chance.choice(column) or never, size) for size, column in times.items()]
    first, size = min(drawn)
    wins["nobody" if first == never else f"batch {size}"] += 1
[(name, count)] = wins.most_common(1)
print(f"Of 1,000 single-run comparisons {count / 10:.1f}% are won by {name}.")

# %% [markdown]
# If this says less than 100%, somebody with one run each could have told you another
# winner, in good faith. If it says 100%, the sizes lie further apart than the seeds
# scatter, as far as so few runs can tell. A published claim should rest on many more,
# and show its spread.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("03")

# %%
session.finish()

# %% [markdown]
# ## What you learned
#
# Throughput counts images; time to accuracy counts what you want. The batch size
# trades steps against speed, and the best one is found by measuring to a target,
# over several seeds. Runs that fail are results and stay in the statistics.
#
# Two questions to take along. If you raise the target from .82 to .85, which batch
# sizes suffer most? And what would you change so that the largest batch wins?
#
# To read on: Krizhevsky, "One weird trick for parallelizing convolutional neural
# networks" (2014); Coleman et al., "DAWNBench" (2017); McCandlish et al., "An
# Empirical Model of Large-Batch Training" (2018).
