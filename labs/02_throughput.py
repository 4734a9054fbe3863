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
# The parameters above can be changed by hand or from the command line. The
# scale sets the sizes: `smoke` to see that everything runs, `laptop` for two CPU
# cores and a few minutes, `gpu` for the lab as it is meant: WRN-16-10 and 10,000
# images. The *run card*, a file under `runs/`, keeps your guesses, the verdicts and
# what was measured.

# %% tags=["setup"]
from helpers import session

sizes = {
    "smoke": {"depth": 10, "width": 1, "train_images": 256, "valid_images": 64},
    "laptop": {"depth": 16, "width": 1, "train_images": 5000, "valid_images": 1000},
    "gpu": {"depth": 16, "width": 10, "train_images": 10_000, "valid_images": 10_000},
}
sizes["smoke"] |= {"images_per_point": 100, "patience_seconds": 1}
sizes["laptop"] |= {"images_per_point": 2000, "patience_seconds": 20}
sizes["gpu"] |= {"images_per_point": 20_000, "patience_seconds": 60}
lab = session.start("02_throughput", globals(), sizes)

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

from keras import optimizers
from keras.callbacks import TensorBoard

from callbacks import EpochRecorder, StopAtAccuracy, TrainingDashboard, counted
from helpers import models, pipelines
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.data.fashion_mnist import FASHION_MNIST_CLASSES
from helpers.errors import LabError
from helpers.figures import image_grid, show_figure, use_figures
from helpers.lab_02 import figures
from helpers.machine.memory import memory_guard

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
# A wide residual network (Zagoruyko and Komodakis 2016). Its building block is
# two convolutions and a shortcut around them: the block learns what to *add* to
# its input. Read it. Which line is the shortcut?

# %%
session.show_source(models.conv_bn_relu, models.residual_block)

# %% [markdown]
# The last line adds it. A network is a first convolution, three stages of such
# blocks, and an average over what remains of the image. Where do the channels
# change, and what makes the shortcut fit there?

# %%
session.show_source(models.three_stages)

# %% [markdown]
# WRN-16-10 has 16 convolutions (the first, two in each of six blocks, one for each
# of three shortcuts) and is 10 times as wide as the narrowest: 160, 320 and 640
# channels.
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
# The layers in front of the network flip and shift each image at random, and scale
# the pixels to mean 0 and deviation 1. A float32 pixel is four times as large as a
# byte: what does it save to scale on the device? On a laptop host and device are
# one, and nothing travels; there it is the work on whole batches that pays.

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
# It is made with the number of images in an epoch: `PrintThroughput(10_000)`.
# Validation trains nothing: Keras calls `on_test_begin` when it begins, so stop the
# clock there. About nine lines. Use `time.perf_counter()`.

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
my_first_epoch_guess = 1.0  # change this; 0.5: half as fast, 2.0: twice as fast
card.predict("first_epoch_over_others", my_first_epoch_guess)

# %%
trained_model, recorder = build_model(), EpochRecorder()
callbacks = [TrainingDashboard(session.caption()), PrintThroughput(lab.train_images), recorder]
# This one ends training at the target; you will write it in lab 03.
callbacks.append(StopAtAccuracy(lab.target_accuracy, lab.patience))
if lab.log_dir:
    callbacks.append(TensorBoard(lab.log_dir))
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
print(f"First / usual: {usual_seconds / seconds[0]:.2f}, guess {my_first_epoch_guess:.2f}")
print(f"The first epoch took {seconds[0] - usual_seconds:.2f} s longer")

# %% [markdown]
# Was it slower? Usually it is. In the first step TensorFlow runs your Python code
# once to record a graph (*tracing*), plans that graph, and allocates memory. This is
# paid once, so a short epoch suffers most. From here on we leave the start-up out,
# and take a median of what remains, which one hiccup of the machine hardly moves.

# %% [markdown]
# ## Exercise 2.2: sweep the batch size
#
# **Predict** first: the throughput at each batch size, in multiples of what you
# just measured. A straight line? A plateau? A peak?

# %%
my_curve = {  # change these; 2.0: twice the throughput above
    8: 1.0, 16: 1.0, 32: 1.0, 64: 1.0, 128: 1.0, 256: 1.0, 512: 1.0, 700: 1.0
}
guess = {size: times * usual for size, times in my_curve.items()}
card.predict("images_per_second", {str(size): speed for size, speed in guess.items()})

# %% [markdown]
# This is how one point is measured, with the model that you have trained: one step
# that does not count, then the median of three short trainings. The data set repeats
# without end, so a batch may be as large as you like. If there is no room in memory
# it raises `MemoryError`; on a CPU, where the system would kill the notebook, the
# guard refuses beforehand, by an estimate.

# %%
def measure(batch_size):
    """Images per second of training at one batch size, start-up left out."""
    data = pipelines.batches(x_train, y_train, batch_size, lab.seed, repeat=True)
    steps = max(1, lab.images_per_point // (3 * batch_size))
    speeds = []
    with memory_guard(trained_model, batch_size):
        trained_model.fit(data, steps_per_epoch=1, verbose=0)
        for _ in range(3):
            began = perf_counter()
            trained_model.fit(data, steps_per_epoch=steps, verbose=0)
            speeds.append(steps * batch_size / (perf_counter() - began))
    return median(speeds)

# %% [markdown]
# Write the sweep: call `measure` for each size in turn and keep the result in
# `points[batch_size]`. `points` works like a dict, and each assignment is saved to
# disk. So:
#
# - store a point as soon as you have it, and skip sizes that have one: an
#   interrupted sweep then resumes;
# - a size that raises `MemoryError` did not fit: store `None`, and stop, for larger
#   ones will not fit either. Stop too where that `None` is from an earlier run.
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
# Run it; on a laptop it takes a minute or two. Then we go on doubling, until memory
# or patience ends. To measure all of it again, for instance with a sweep of your own
# that passes at last, put `points.clear()` under the first line.

# %%
points = card.points("sweep_images_per_second")
sweep(lab.sweep_batch_sizes, counted(measure, len(lab.sweep_batch_sizes), "size"), points)
largest = max(points)
# The next point takes four steps of twice the size.
while points[largest] and 4 * 2 * largest / points[largest] < lab.patience_seconds:
    largest *= 2
    sweep([largest], counted(measure, 1, "size"), points)

# %%
original = {8: 328, 16: 551, 32: 808, 64: 1002, 128: 1165, 256: 1273, 512: 1329, 700: 1332}
measured = {size: speed for size, speed in sorted(points.items()) if speed}
if not measured:
    raise LabError("no batch size fits in memory: give smaller sweep_batch_sizes")
smallest, fastest = min(measured), max(measured, key=measured.get)
summary = (
    f"Batch size {smallest} trains {measured[smallest]:.1f} images/s; "
    f"batch size {fastest} is the fastest with {measured[fastest]:.1f} images/s."
)
figure = figures.throughput_bars(points, guess, None, original)
show_figure(figure, summary, session.caption())

# %%
close = [b for b in guess if b in measured and abs(guess[b] / measured[b] - 1) <= 0.2]
print(f"You were within 20% at {len(close)} of {len(guess)} sizes")
refused = [f"{size:,}" for size, speed in points.items() if speed is None]
print(f"Did not fit in memory: {', '.join(refused) or 'none'}")

# %% [markdown]
# Usually small batches are slow, then the curve bends, then it is nearly flat. Where
# is the bend in your figure? On a fast GPU one image is little work, so the bend
# comes late; on a laptop it comes early, and other programs make bumps. The dotted
# line with triangles was printed by the lab that this one follows, on a GPU that it
# does not name: compare its *shape* with yours.

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
# What kind of curve is the first line, drawn over `b`? Look at your points.

# %%
step_seconds = {size: size / speed for size, speed in measured.items()}
figure = figures.step_times(step_seconds)
summary = f"A step takes {step_seconds[smallest]:.3f} s at batch size {smallest}, and longer"
show_figure(figure, f"{summary} the larger the batch.", session.caption())

# %% [markdown]
# A straight line. Write `fit_throughput(points)`: from `{batch_size:
# images_per_second}` to the pair `(t0_seconds, peak)`. Points that did not fit in
# memory are `None`; leave them out. Example: `fit_throughput({10: 500.0, 90: 900.0,
# 180: None})` is `(0.01, 1000.0)`. About five lines.

# %% [markdown]
# `np.polyfit(x, y, 1)` fits a line and returns its slope and its start. Steps of
# large batches take longest, so a plain fit cares for them only: with `w=1 / y` an
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
t0_seconds, peak = fit_throughput(points)
card.measure("fit", {"t0_seconds": t0_seconds, "peak_images_per_second": peak})
print(f"Fixed cost of a step: {1000 * t0_seconds:.2f} ms")
print(f"Peak: {peak:.1f} images/s; half of it at batch size {t0_seconds * peak:.1f}")
original_t0, original_peak = fit_throughput(original)
print(f"The original table: {1000 * original_t0:.2f} ms and {original_peak:.1f} images/s")

# %%
def fitted(batch_size):
    """The law with the two numbers just found."""
    return batch_size / (t0_seconds + batch_size / peak)

error = median([abs(fitted(b) / speed - 1) for b, speed in measured.items()])
figure = figures.throughput_bars(points, guess, fitted, original)
summary = f"Half of the sizes lie within {100 * error:.1f}% of the fitted law."
show_figure(figure, summary, session.caption())

# %% [markdown]
# A law is worth something if it predicts what it has not seen. **Choose** a batch
# size that was not in the sweep. The law says a number; then we measure.

# %%
unseen_batch_size = 48  # change this
predicted = fitted(unseen_batch_size)
actual = measure(unseen_batch_size)
card.measure("unseen_point", {"predicted": predicted, "measured": actual})
print(f"Predicted at batch size {unseen_batch_size}: {predicted:.1f} images/s")
print(f"Measured: {actual:.1f} images/s, {100 * (actual / predicted - 1):+.1f}%")

# %% [markdown]
# Far below `t0 * peak` images a step is mostly fixed cost, and doubling the
# batch nearly doubles the speed. Far above it the device is busy all the time, and
# nothing is left to gain. Where the fit is bad, the law misses something: caches,
# or a processor that does other things as well. A fixed cost near zero, or below,
# says that it could not be told from the bumps.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("02")

# %%
session.finish()

# %% [markdown]
# ## What you learned
#
# Throughput is images per second of wall time, measured after the start-up. A
# step has a fixed cost and a cost per image, and these two numbers say what the
# batch size can buy. Beyond the bend a larger batch only costs memory.
#
# Two questions to take along. If a GPU twice as fast halves only the cost per
# image, what happens to the batch size that gives half the peak? And: is the
# fastest epoch the fastest *training*? That is lab 03.
#
# To read on: Zagoruyko and Komodakis, "Wide Residual Networks" (2016); Shallue
# et al., "Measuring the Effects of Data Parallelism on Neural Network Training"
# (2019); Williams, Waterman and Patterson, "Roofline" (2009).
