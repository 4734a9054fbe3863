# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 02: How many images a second?
#
# You have a network that takes hours to train. Somebody says: "make the batch
# larger, it runs faster". Is that true? How much faster, and where does it end?
#
# In this lab you train a real network, measure its throughput, find the law
# behind the batch size, and use it to predict a number before you measure it.
#
# Every exercise marked **TODO** has a check under it. Until it passes, the
# reference solution is used, so you can always go on. Stuck?
# `hint("2.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 5  # 40 for the full run
batch_size: int = 32
valid_batch_size: int = 32
sweep_batch_sizes: list = [8, 16, 32, 64, 128, 256, 512, 700]
patience_seconds: float = None  # after these sizes: go on doubling for so long
train_images: int = None  # None here and below: what the scale says
valid_images: int = None
depth: int = None
width: int = None
dropout: float = 0.01
learning_rate: float = 0.01
learning_rate_drop_epochs: list = [15, 25, 35]  # divided by 10 after each of them
momentum: float = 0.0
weight_decay: float = 5e-6
shift: float = 0.2  # of the height and width, for augmentation
flip: bool = True
target_accuracy: float = 0.85  # training stops above it ...
patience: int = 2  # ... after so many epochs in a row
log_dir: str = ""  # a folder for TensorBoard

# %% [markdown]
# ## Set up
#
# The parameters above can be changed by hand or from the command line. The scale sets the
# sizes: `smoke` to see that everything runs, `laptop` for two CPU cores and a few
# minutes, `gpu` for the lab as it is meant: a wide network and 10,000 images. The *run
# card*, a file under `runs/`, keeps your guesses, the verdicts and what was measured.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("02_throughput", globals())

# %%
# For your answers: bind them to what you like. Our own cells use other names.
import math
import time

import keras
import numpy as np

card = lab.card

# %%
from math import ceil
from statistics import median
from time import perf_counter

import numpy
import tensorflow
from keras import layers, optimizers
from keras.callbacks import LambdaCallback, TensorBoard
from keras.models import clone_model

# %%
from callbacks import EpochRecorder, StopAtAccuracy, TrainingDashboard, counted
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.data.fashion_mnist import FASHION_MNIST_CLASSES
from helpers.errors import LabError
from helpers.figures import image_grid, show_figure, use_figures
from helpers.lab_02 import figures
from helpers.lab_02.memory import memory_held_bytes
from helpers.machine.memory import memory_guard, memory_needed_bytes
from helpers.network import models, pipelines

use_figures()

# %% [markdown]
# ## The data
#
# Fashion-MNIST: 28x28 grey pixels, ten kinds of clothing (Xiao, Rasul and
# Vollgraf 2017). A pixel is one byte.

# %%
x_train, y_train, x_valid, y_valid = session.load_images()
figure = image_grid(x_train, y_train, FASHION_MNIST_CLASSES)
show_figure(figure, "The first eight training images with their classes.", session.caption())

# %% [markdown]
# ## The model
#
# A wide residual network, after Zagoruyko and Komodakis (2016). Its building block is
# two convolutions and a shortcut around them: the block learns what to *add* to
# its input. Read it; its `unit` is the first function. Which line is the shortcut? And
# can this block add a negative number?

# %%
session.show_source(models.conv_bn_relu, models.residual_block)

# %% [markdown]
# The last line adds it, and what it adds comes out of a ReLU: it is never negative.
# (*Batch normalisation* brings each channel to mean 0 and deviation 1 over the batch,
# then gives it a learned scale and shift.) The paper's block is another one: there batch
# normalisation and ReLU stand in front of each convolution, and nothing follows the last
# (He et al. 2016, who also tried a ReLU before the addition and found it worse). Both
# have the same convolutions, and this lab is about speed, so we keep ours.

# %% [markdown]
# A network is a first convolution, three stages of such blocks, and an average over what
# remains of the image. Where do the channels change, and what makes the shortcut fit?

# %%
session.show_source(models.three_stages)

# %% [markdown]
# WRN-16-10 has 16 convolutions (the first, two in each of six blocks, one for each
# of three shortcuts) and is 10 times as wide as the narrowest: 160, 320 and 640
# channels. Ours halves the image by pooling where the paper's has strides.
#
# Before you run the cell: a 3x3 convolution from 640 to 640 channels, how many
# weights is that? Is it most of the model, or little of it?

# %%
full_model = models.wide_resnet(depth=16, width=10)
part = 3 * 3 * 640 * 640 / full_model.count_params()
print(f"WRN-16-10 has {full_model.count_params():,} parameters")
print(f"One 3x3 convolution of 640 channels has {100 * part:.1f}% of them")
this_model = models.wide_resnet(lab.depth, lab.width, dropout=lab.dropout)
print(f"Here we train {this_model.name}: {this_model.count_params():,} parameters")
del full_model

# %% [markdown]
# ## The input pipeline
#
# The *host*, the processor that reads the data, only shuffles numbers and gathers
# whole batches of bytes. Everything that needs arithmetic is done by the first
# layers of the model, on the *device* that trains.

# %%
session.show_source(pipelines.batches)

# %% [markdown]
# The layers in front of the network flip and shift each image at random, so that no epoch
# shows quite the same ones (*augmentation*). And they scale the pixels to mean 0 and
# deviation 1. A float32 pixel is four times as large as a byte: what does it save to
# scale on the device? On a laptop host and device are one, and nothing travels. What
# whole batches buy there is measured in the README.

# %%
session.show_source(pipelines.with_preprocessing)
train = pipelines.batches(x_train, y_train, lab.batch_size, seed=lab.seed)
valid = pipelines.batches(x_valid, y_valid, lab.valid_batch_size)
images, labels = next(iter(train))
print(f"A batch: {images.shape}, {images.dtype.name}; labels: {labels.dtype.name}")

# %% [markdown]
# Put together. The learning rate is divided by 10 after some epochs; Keras counts
# those in steps.

# %%
def build_model():
    """A new network with its preprocessing, compiled."""
    steps_per_epoch = ceil(lab.train_images / lab.batch_size)
    drops = [epoch * steps_per_epoch for epoch in lab.learning_rate_drop_epochs]
    rates = [lab.learning_rate * 0.1**i for i in range(len(drops) + 1)]
    rate = optimizers.schedules.PiecewiseConstantDecay(drops, rates)
    # Keras takes None, not 0, for no weight decay.
    sgd = optimizers.SGD(rate, lab.momentum, weight_decay=lab.weight_decay or None)
    network = models.wide_resnet(lab.depth, lab.width, dropout=lab.dropout)
    model = pipelines.with_preprocessing(network, x_train, lab.shift, lab.flip, lab.seed)
    # XLA, a compiler, is on by default on some devices: off, so that all compare.
    model.compile(sgd, "categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
    return model

# %% [markdown]
# ## Exercise 2.1: print the throughput
#
# A Keras callback is called at fixed moments: `on_train_begin`,
# `on_epoch_begin`, `on_train_batch_end`, `on_epoch_end` and so on. Write one
# that prints after every epoch how many images a second it trained:
#
#     Images/sec: 812.35
#
# It is made with the number of images in an epoch: `PrintThroughput(10_000)`. The
# seconds are those of this epoch, from its first batch to its last, with all that passes
# between. Validation trains nothing: Keras calls `on_test_begin` when it begins, so stop
# the clock there. A `fit` without validation may come before or after. About nine
# lines. Use `time.perf_counter()`.

# %% name="2.1-throughput" points=2
# TODO 2.1: print how many images a second each epoch trained.
#: start
class PrintThroughput(keras.callbacks.Callback):
    """Print `Images/sec: 812.35` at the end of each epoch."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images
#: solution
class PrintThroughput(keras.callbacks.Callback):
    """Print `Images/sec: 812.35` at the end of each epoch."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()
        self.trained = None

    def on_test_begin(self, logs=None):
        self.trained = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        epoch_seconds = (self.trained or time.perf_counter()) - self.began
        print(f"Images/sec: {self.total_images / epoch_seconds:.2f}")
#: end

# %%
PrintThroughput = check("2.1", PrintThroughput)

# %% [markdown]
# Now train. On a laptop this takes a minute or two. `TrainingDashboard` is a callback
# of ours: it shows how far training is, and draws the curves as they grow. To stop,
# press the square in the notebook's toolbar.
#
# **Predict** first: will the first epoch be as fast as the others? Guess its
# throughput divided by that of a usual epoch.

# %%
my_first_epoch_guess = None  # change this; 0.5: half as fast, 2.0: twice as fast
card.predict("first_epoch_over_others", my_first_epoch_guess)

# %%
card.lock("first_epoch_over_others")
trained_model, recorder = build_model(), EpochRecorder()
callbacks = [TrainingDashboard(session.caption()), PrintThroughput(lab.train_images), recorder]
# This one ends training at the target; you will write it in lab 03.
callbacks.append(StopAtAccuracy(lab.target_accuracy, lab.patience))
step_ends = []
def note_time(batch, logs):
    step_ends.append(perf_counter())
callbacks.append(LambdaCallback(on_train_batch_end=note_time))
if lab.log_dir:
    callbacks.append(TensorBoard(lab.log_dir))
training_began = perf_counter()
training_history = trained_model.fit(
    train, validation_data=valid, epochs=lab.epochs, callbacks=callbacks, verbose=0
)

# %%
seconds = recorder.epochs["train_seconds"]
usual_seconds = median(seconds[1:] or seconds)
usual = lab.train_images / usual_seconds
card.measure("epochs", recorder.epochs)
card.measure("images_per_second", usual)
card.measure("val_accuracy", recorder.epochs["val_accuracy"][-1])
print(f"Images/sec, median without the first epoch: {usual:.2f}")
print(f"First epoch / usual: {usual_seconds / seconds[0]:.2f}")
print(f"The first epoch took {seconds[0] - usual_seconds:.2f} s longer")
print(f"The first step came after {step_ends[0] - training_began:.2f} s")
card.outcome("first_epoch_over_others", usual_seconds / seconds[0])

# %% [markdown]
# Was it slower, and is that about the time until its first step was done? In the first
# step TensorFlow runs your Python code once to record a graph (*tracing*), plans that
# graph, and allocates memory. This is paid once, so a short epoch suffers most. (The two
# numbers need not be equal: on a busy machine epochs differ among themselves, as the
# lines above show.) From here on we leave the start-up out, and take a median of what
# remains, which one hiccup of the machine hardly moves.

# %% [markdown]
# ## Exercise 2.2: sweep the batch size
#
# **Predict** first: the throughput at each batch size, in multiples of what you
# just measured. A straight line? A plateau? A peak?

# %%
my_curve = {  # change these; 2.0: twice the throughput above
    8: None, 16: None, 32: None, 64: None, 128: None, 256: None, 512: None, 700: None
}
predicted = card.predict("throughput_over_usual", my_curve) or {}
guess = {size: times * usual for size, times in predicted.items()}

# %% [markdown]
# This is how one point is measured, with the model that you have trained: one step that
# does not count, then the time of a short epoch, which our callback `EpochRecorder`
# takes. The data set repeats without end, so a batch may be as large as you like. If
# there is no room in memory it raises `MemoryError`; on a CPU, where the system would
# kill the notebook, the guard refuses beforehand, by an estimate. `held` notes how much
# memory has been taken since.

# %%
held, held_before = card.points("memory_held_bytes"), memory_held_bytes()

def measure(batch_size, network=trained_model):
    """Images per second of training at one batch size, start-up left out."""
    data = pipelines.batches(x_train, y_train, batch_size, lab.seed, repeat=True)
    steps, timer = max(1, round(lab.images_per_point / batch_size)), EpochRecorder()
    with memory_guard(network, batch_size):
        network.fit(data, steps_per_epoch=1, verbose=0)
        network.fit(data, steps_per_epoch=steps, callbacks=[timer], verbose=0)
    held.setdefault(batch_size, memory_held_bytes() - held_before)
    return steps * batch_size / timer.epochs["train_seconds"][0]

# %% [markdown]
# Write the sweep: call `measure` for each size in turn and keep the result in
# `points[batch_size]`. `points` works like a dict, and each assignment is saved to
# disk. So:
#
# - store a point as soon as you have it, and skip sizes that have one: an
#   interrupted sweep then resumes;
# - a size that raises `MemoryError` did not fit: store `None`, and stop, for larger
#   ones will not fit either. Stop too where that `None` is from an earlier run;
# - let every other error through: a mistake in `measure` is no full memory.
#
# About nine lines.

# %% name="2.2-sweep" points=2
# TODO 2.2: measure every size not yet in points, until one does not fit.
#: start
def sweep(batch_sizes, measure, points):
    """Measure images per second at each batch size into points."""
    for batch_size in batch_sizes:
        points[batch_size] = measure(batch_size)
#: solution
def sweep(batch_sizes, measure, points):
    """Measure images per second at each batch size into points."""
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break
#: end

# %%
sweep = check("2.2", sweep)

# %% [markdown]
# Run it. We go on doubling, until memory or patience ends. Then we sweep twice more:
# three measurements of one size, some time apart, say more about this machine than three
# in a row. On a laptop that takes a minute or two. To measure all of it again, for
# instance with a sweep of your own that passes at last, put `for one_round in rounds:
# one_round.clear()` under the first line.

# %%
rounds = [card.points(f"sweep_round_{number}") for number in (1, 2, 3)]
first_round = rounds[0]
card.lock("throughput_over_usual")
sizes_given = lab.sweep_batch_sizes
sweep(sizes_given, counted(measure, len(sizes_given), "size"), first_round)
largest = max(first_round)
# Two steps in each round: the next size takes six steps of twice the largest batch.
while first_round[largest] and 12 * largest / first_round[largest] < lab.patience_seconds:
    largest *= 2
    sweep([largest], counted(measure, 1, "size"), first_round)
for later_round in rounds[1:]:
    sweep(list(first_round), counted(measure, len(first_round), "size"), later_round)

# %%
points = card.points("sweep_images_per_second")
for size in first_round:
    speeds = [one_round.get(size) for one_round in rounds]
    points[size] = None if None in speeds else median(speeds)
measured = {size: speed for size, speed in sorted(points.items()) if speed}
if not measured:
    raise LabError("no batch size fits in memory: give smaller sweep_batch_sizes")
smallest, fastest = min(measured), max(measured, key=measured.get)

# %%
refused = [f"{size:,}" for size, speed in points.items() if speed is None]
print(f"Did not fit in memory: {', '.join(refused) or 'none'}")
summary = (
    f"Batch size {smallest} trains {measured[smallest]:.1f} images/s; "
    f"batch size {fastest} is the fastest with {measured[fastest]:.1f} images/s."
)
show_figure(figures.throughput_bars(points, guess), summary, session.caption())
card.outcome("throughput_over_usual", {b: speed / usual for b, speed in measured.items()})

# %% [markdown]
# Where is the bend in your figure, and where does it pay no more to double? Some bars
# may break the pattern. Is that the batch size, or was the machine busy just then? One
# number for each size cannot say. We come back to this with all three rounds.

# %% [markdown]
# ## Exercise 2.3: why it saturates
#
# Suppose a step costs a fixed time `t0`, whatever the batch: starting every operation
# on the device, Python, updating the weights. And each image adds `1 / peak` seconds,
# where `peak` is the images per second that you approach with ever larger batches:
#
#     step_seconds(b) = t0 + b / peak
#     throughput(b)   = b / (t0 + b / peak)
#
# What kind of curve is the first line, drawn over `b`? Where do you see `t0` in it? Look
# right in the next figure: would a line through these points start at zero?

# %%
step_seconds = {size: size / speed for size, speed in measured.items()}
largest = max(measured)
summary = (
    f"A step takes {step_seconds[smallest]:.3f} s at batch size {smallest} and "
    f"{step_seconds[largest]:.3f} s at batch size {largest}."
)
show_figure(figures.step_times(step_seconds), summary, session.caption())

# %% [markdown]
# The law is a straight line, and `t0` is where it starts.
# Write `fit_throughput(points)`: from `{batch_size:
# images_per_second}` to the pair `(t0_seconds, peak)`. Points that did not fit in
# memory are `None`, in any place; leave them out, and leave `points` as it is. Of all
# lines take that of *least squares*: for each point divide the error of the line by the
# step's measured time, so that an error of 1% weighs the same at every size; the sum of
# their squares is to be the smallest. Example: `fit_throughput({10: 500.0, 90: 900.0,
# 180: None})` is `(0.01, 1000.0)`. About five lines.

# %% [markdown]
# `np.polyfit(x, y, 1)` fits a line and returns its slope and its start. Steps of
# large batches take longest, so a plain fit follows them most: with `w=1 / y` an
# error of 1% weighs the same at every size.

# %% name="2.3-fit" points=2
# TODO 2.3: fit the fixed cost per step in seconds and the peak in images/s.
#: start
def fit_throughput(points):
    """From {batch_size: images_per_second or None} to (t0_seconds, peak)."""
    return 0.0, max(speed for speed in points.values() if speed)
#: solution
def fit_throughput(points):
    """From {batch_size: images_per_second or None} to (t0_seconds, peak)."""
    fitting = {b: speed for b, speed in points.items() if speed is not None}
    sizes = np.array(list(fitting))
    step_seconds = sizes / np.array(list(fitting.values()))
    slope, t0_seconds = np.polyfit(sizes, step_seconds, 1, w=1 / step_seconds)
    return t0_seconds, 1 / slope
#: end

# %%
fit_throughput = check("2.3", fit_throughput)

# %%
fit = t0_seconds, peak = fit_throughput(points)
card.measure("fit", {"t0_seconds": t0_seconds, "peak_images_per_second": peak})
print(f"Fixed cost of a step: {1000 * t0_seconds:.2f} ms")
print(f"Peak: {peak:.1f} images/s; half of it at batch size {t0_seconds * peak:.1f}")
original = {8: 328, 16: 551, 32: 808, 64: 1002, 128: 1165, 256: 1273, 512: 1329, 700: 1332}
original_t0, original_peak = original_fit = fit_throughput(original)
print(f"The original table: {1000 * original_t0:.2f} ms and {original_peak:.1f} images/s")

# %%
def fitted(batch_size):
    """The law with the two numbers just found."""
    return batch_size / (t0_seconds + batch_size / peak)

error = median([abs(fitted(b) / speed - 1) for b, speed in measured.items()])
figure = figures.fitted_law(points, guess, fit, original, original_fit)
summary = f"Half of the sizes lie within {100 * error:.1f}% of the fitted law."
show_figure(figure, summary, session.caption())

# %% [markdown]
# On the right each machine is drawn in units of its own fit. There the law is one curve
# for all machines, between two straight lines. At 1 it bends: this batch size,
# `t0 * peak`, has half of the peak. Far below, a step is mostly fixed cost, and doubling
# the batch nearly doubles the speed; at 9 it has 90% of the peak. The triangles are the
# table that was printed by the lab that this one follows, on a GPU that it does not name.

# %% [markdown]
# By the law no batch reaches the peak. A measured point may still lie above it: the
# peak is fitted to all points, and each has its error.
#
# Now the weights. Suppose that your longest step is off by 5%. How much is that, next
# to the fixed cost?

# %%
steps_seen = numpy.array([step_seconds[size] for size in measured])
slope, start = numpy.polyfit(list(measured), steps_seen, 1)
print(f"5% of the longest step: {50 * steps_seen[-1]:.2f} ms")
print(f"Without weights: fixed cost {1000 * start:.2f} ms, peak {1 / slope:.1f} images/s")
print(f"A step of {smallest} images takes {1000 * steps_seen[0]:.2f} ms;")
print(f"  the line without weights says {1000 * (start + slope * smallest):.2f} ms,")
print(f"  your fit says {1000 * smallest / fitted(smallest):.2f} ms")

# %% [markdown]
# Small batches are where the fixed cost shows, and a plain fit can miss it altogether. If
# it says a fixed cost below zero, that is no time that anything could take.

# %% [markdown]
# ## How sure is the fit?
#
# Three rounds give three fits. How far are they apart? That is one answer. The other
# redraws the sweep: take the law, put on each size an error drawn from those that were
# found, and fit again, 300 times (a *bootstrap*, Efron 1979). `wider` makes up for the
# two numbers that the fit was free to choose: they bring the law closer to its points.

# %%
for number, one_round in enumerate(rounds, start=1):
    a, b = fit_throughput({size: one_round[size] for size in measured})
    print(f"Round {number} alone: {1000 * a:.2f} ms and {b:.1f} images/s")
wider = (len(measured) / max(1, len(measured) - 2)) ** 0.5
errors = [1 + wider * (speed / fitted(size) - 1) for size, speed in measured.items()]
generator, redrawn = numpy.random.default_rng(lab.seed), []
for _ in range(300):
    drawn = {size: fitted(size) * generator.choice(errors) for size in measured}
    redrawn.append([*fit_throughput(drawn), generator.choice(errors)])
low, high = numpy.percentile(redrawn, [5, 95], axis=0)
card.measure("fit_interval", {"t0_seconds": [low[0], high[0]], "peak": [low[1], high[1]]})
print(f"Nine of ten redrawn sweeps: {1000 * low[0]:.2f} to {1000 * high[0]:.2f} ms,")
print(f"  and {low[1]:.1f} to {high[1]:.1f} images/s")

# %% [markdown]
# Do the three rounds lie within the range of the redrawn sweeps? That range takes each
# error for an accident of one size. A machine that is fast or slow for a whole round
# breaks this: then believe the rounds.
#
# The *residuals* are what the law leaves over. Where all three rounds lie on one side of
# zero, the law may miss something at that size. Where they scatter around it, the machine
# was faster or slower at that moment. Is one round above the others nearly everywhere?
# Which sizes would you measure again?

# %%
def band(batch_size, error=1):
    """Between which speeds nine of ten redrawn laws lie; `error` for each of them."""
    a, b = numpy.array(redrawn).T[:2]
    return numpy.percentile(error * batch_size / (a + batch_size / b), [5, 95])

by_size = {size: [one_round[size] for one_round in rounds] for size in measured}
figure = figures.residuals(by_size, fit, {size: band(size) for size in measured})
spread = median([max(of_size) / min(of_size) for of_size in by_size.values()])
summary = f"Half of the sizes: fastest round at most {spread:.2f} times the slowest."
show_figure(figure, summary, session.caption())

# %% [markdown]
# ## Try to break the law
#
# A law is worth something if it predicts what it has not seen, and if it could fail.
# **Choose** a batch size that was not in the sweep, one where you think the law is wrong:
# 1? 47? 3000? In turn with it we measure a known size again. This *control* says how fast
# the machine is now, and we correct by it.
#
# The law says a range, from redrawn fits and errors. Nine of ten such ranges should hold
# the next measurement; with few sizes, on a busy machine, fewer may. **Predict**: yours?

# %%
unseen_batch_size = 48  # change this
my_law_holds_guess = None  # change this: True, it holds; False, it does not
card.predict(f"law_holds_at_{unseen_batch_size}", my_law_holds_guess)

# %%
card.lock(f"law_holds_at_{unseen_batch_size}")
control = min(measured, key=lambda size: abs(size - unseen_batch_size))
pairs = [(measure(unseen_batch_size), measure(control)) for _ in range(5)]
actual = median([speed for speed, _ in pairs])
corrected = fitted(control) * median([speed / known for speed, known in pairs])
predicted_speed = fitted(unseen_batch_size)
lowest, highest = band(unseen_batch_size, numpy.array(redrawn).T[2])
holds = bool(lowest <= corrected <= highest)
card.measure("unseen_point", {"predicted": predicted_speed, "measured": corrected})
print(f"Predicted at batch size {unseen_batch_size}: {predicted_speed:.1f} images/s")
print(f"  with its range: {lowest:.1f} to {highest:.1f} images/s")
print(f"Measured: {actual:.1f} images/s; {corrected:.1f} images/s by the control,")
off = corrected / predicted_speed - 1
print(f"  {100 * off:+.1f}%: the law {'holds' if holds else 'fails'}")
card.outcome(f"law_holds_at_{unseen_batch_size}", holds)

# %% [markdown]
# A law that holds at one size is not proven. One size that fails again and again is
# enough to say that it misses something. Change the size and run the two cells again.
# A range for `t0` that reaches down to zero says that these points cannot tell
# the fixed cost from none.

# %% [markdown]
# ## What share of the machine is that?
#
# The peak of the law is the peak of *this network*. How much could the machine do? As a
# yardstick we take a large matrix product, as in lab 00: much arithmetic, little else. We
# count the network's multiplications and additions, and compare. **Predict**: at your
# fastest batch size, training reaches what share of the product's speed?

# %%
my_share_guess = None  # change this; 0.5: half as many operations a second
share_guess = card.predict("share_of_peak", my_share_guess)

# %%
def product_speed(n, at_least_seconds=0.5):
    """Operations per second of a float32 product of two n x n matrices, the median."""
    left, right = tensorflow.random.normal((2, n, n))
    took = []
    while len(took) < 6 or sum(took) < at_least_seconds:
        began = perf_counter()
        (left @ right)[0, 0].numpy()  # a value: so it waits until the product is done
        took.append(perf_counter() - began)
    # Each of n * n results takes n products and n sums. The first time has the start-up.
    return 2 * n**3 / median(took[1:])

card.lock("share_of_peak")
# In turn, so that both are measured on the same machine: it may be busier than before.
turns = [(measure(fastest), product_speed(lab.product)) for _ in range(3)]
machine_peak = median([speed for _, speed in turns])
card.measure("matrix_product_operations_per_second", machine_peak)
print(f"A matrix product: {machine_peak / 1e9:.1f} billion operations a second")

# %% [markdown]
# Is that what lab 00 gave for a product of this size? If it is less, other programs have
# a part of the machine, and we measure shares of the rest.

# %% [markdown]
# A convolution computes each value of its output from all weights of one filter, so the
# count is outputs times weights, and two operations for each. A training step takes three
# times as much: forward, then backward once for the gradients of the weights and once for
# those of the inputs. Left out are batch normalisation, ReLU, dropout, pooling,
# augmentation and the update; and the first layer needs no gradient of its input.

# %%
def operations_per_image(network):
    """Multiplications and additions of a training step for one image."""
    forward = 0
    for layer in network.layers:
        if isinstance(layer, (layers.Conv2D, layers.Dense)):
            positions = numpy.prod(layer.output.shape[1:-1])  # 1 for a dense layer
            forward += 2 * positions * numpy.prod(layer.kernel.shape)
    return 3 * forward

operations = operations_per_image(this_model)
share = median([speed * operations / product for speed, product in turns])
shares = {size: share * speed / measured[fastest] for size, speed in measured.items()}

# %%
figure = figures.share_of_peak(shares, share_guess)
summary = f"Training reaches {100 * shares[smallest]:.1f}% of the product's speed at batch "
summary += f"size {smallest}, and {100 * share:.1f}% at batch size {fastest}."
show_figure(figure, summary, session.caption())
print(f"An image takes {operations / 1e9:.3f} billion operations")
card.measure("share_of_peak", {str(size): share for size, share in shares.items()})
card.outcome("share_of_peak", share)

# %% [markdown]
# The larger the batch, the less of its time is fixed cost. But where the curve is flat
# that cost is nearly gone, and what is still missing has other reasons. One candidate
# are the layers whose operations we did not count. **Ask yourself** how much faster
# training would be without them. Then try it: the same convolutions, with nothing
# between them. It learns nothing useful, but it takes its time.

# %%
class Nothing(layers.Layer):
    """Hand on what comes in."""
    def call(self, inputs, **ignored):
        return inputs

def stripped(layer):
    """A copy of a layer, or nothing in its place."""
    if isinstance(layer, (layers.BatchNormalization, layers.ReLU, layers.Dropout)):
        return Nothing()
    return layer.from_config(layer.get_config())

bare = clone_model(this_model, clone_function=stripped)
bare = pipelines.with_preprocessing(bare, x_train, lab.shift, lab.flip, lab.seed)
bare.compile("sgd", "categorical_crossentropy", metrics=["accuracy"], jit_compile=False)

# %%
pairs = [(measure(fastest), measure(fastest, bare)) for _ in range(3)]
whole_speed, bare_speed = (median(speeds) for speeds in zip(*pairs, strict=True))
gains = [without / whole for whole, without in pairs]
gain = median(gains)
card.measure("bare_over_whole", gain)
print(f"Batch size {fastest}, all layers: {whole_speed:.1f} images/s")
print(f"Without the layers in between: {bare_speed:.1f} images/s, {gain:.2f} times as many")
print("In turns, times as many:", ", ".join(f"{each:.2f}" for each in gains))
print(f"Then the share would be {100 * gain * share:.1f}%")

# %% [markdown]
# The factor is the median of the three in the third line. Each compares two measurements
# in a row. It need not be the quotient of the two medians beside it. What the
# bare network gained is time that the layers in between took: batch normalisation, ReLU
# and dropout. They read and write every value for little arithmetic, so memory may be
# their limit; this lab does not measure that. What the bare network still lacks is
# missing in the convolutions, and in what is left around them.

# %% [markdown]
# A share of this kind, of the peak in the data sheet, is called *model FLOPs utilization*
# (Chowdhery et al. 2022). On newer NVIDIA GPUs TensorFlow rounds the inputs of float32
# products and convolutions to TF32, which keeps 10 of 23 binary digits after the point:
# so both sides of our share do. It was not measured on a GPU yet.

# %% [markdown]
# ## What does a larger batch cost?
#
# The weights are there once, however large the batch. What else does a step have to keep
# in memory, and until when? **Ask yourself** before you run the next code: at your
# largest batch, do the weights take most of the memory, half, or hardly any?

# %% [markdown]
# The estimate counts the values in the outputs of all layers, and takes three bytes for
# each. A float32 has four, but some layers work in place; three is what such a
# measurement gave for WRN-16-1 on a CPU. So for that network an agreement proves little.
#
# The points are measured: by how much the memory held had grown since before the sweep.
# What the training at `batch_size` took is held already: so only larger sizes show, and
# the first of them too low.

# %%
mib = 2**20
weights_mib = 2 * 4 * this_model.count_params() / mib  # and gradients; float32
estimated = {size: memory_needed_bytes(trained_model, size) / mib for size in measured}
grown = {b: held[b] / mib for b in measured if b > lab.batch_size and held[b] > 0}
largest = max(measured)
figure = figures.memory_by_batch(estimated, grown, lab.batch_size, weights_mib)
summary = f"At batch size {largest} a step needs about {estimated[largest]:.1f} MiB by the "
summary += f"estimate; weights and gradients take {weights_mib:.1f} MiB."
show_figure(figure, summary, session.caption())
print(f"Estimate for an image: {estimated[largest] / largest:.2f} MiB")
growth = grown.get(largest, 0) / max(1, largest - lab.batch_size)
print(f"Measured at batch size {largest}: {growth:.2f} MiB for each image more")

# %% [markdown]
# The backward pass needs what the layers put out in the forward pass. So a step keeps
# these outputs, for every image of the batch, until it is through. They grow with the
# batch; weights and gradients do not. Lab 05 takes this apart for one replica.

# %% [markdown]
# Beyond the bend, by the law, doubling the batch from `k * t0 * peak` gains a factor
# `(2 * k + 2) / (2 * k + 1)`: 1.33 at the bend, 1.05 at nine times. It takes twice the
# memory, and halves the updates of an epoch. What those were worth is for lab 03.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("02")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure of the fitted law. Up to which batch size does your machine get faster?
# What do the two numbers of the law stand for, and where does it miss your points?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="2.figure" points=2
# **2.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Throughput is images per second of wall time, measured after the start-up. A
# step has a fixed cost and a cost per image, and these two numbers, with their
# intervals, say what a batch size can buy. Beyond the bend a larger batch buys little
# speed, takes memory in proportion, and leaves fewer updates in an epoch.
#
# Two questions to take along. If a GPU twice as fast halves only the cost per
# image, what happens to the batch size that gives half the peak? And: is the
# fastest epoch the fastest *training*? That is lab 03.
#
# To read on: Zagoruyko and Komodakis, "Wide Residual Networks" (2016); He et al.,
# "Identity Mappings in Deep Residual Networks" (2016); Efron, "Bootstrap Methods"
# (1979); Shallue et al., "Measuring the Effects of Data Parallelism on Neural Network
# Training" (2019); Williams, Waterman and Patterson, "Roofline" (2009).
