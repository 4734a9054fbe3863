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
# reference solution stands in, so you can always go on.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto takes what this machine can bear
seed: int = 0
epochs: int = 5  # 40 for the full run
batch_size: int = 32
valid_batch_size: int = 32
batch_sizes: list = [8, 16, 32, 64, 128, 256, 512, 700]  # of the sweep
patience_seconds: float = None  # no point of the sweep may take longer
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
# images.

# %%
from helpers import lab as labs

sizes = {
    "smoke": {"depth": 10, "width": 1, "train_images": 256, "valid_images": 64},
    "laptop": {"depth": 16, "width": 1, "train_images": 5000, "valid_images": 1000},
    "gpu": {"depth": 16, "width": 10, "train_images": 10_000, "valid_images": 10_000},
}
for name, images, seconds in ("smoke", 64, 1), ("laptop", 2000, 20), ("gpu", 20_000, 60):
    sizes[name] |= {"images_per_point": images, "patience_seconds": seconds}
lab = labs.start("02_throughput", globals(), sizes)

# %%
import inspect
import time

import keras
import numpy as np

from callbacks import StopAtAccuracy, TrainingProgress, progress
from helpers import plots
from helpers.checks import check
from helpers.datasets import FASHION_MNIST_CLASSES
from helpers.models import residual_block, wide_resnet
from helpers.pipelines import batches, with_preprocessing

plots.use_figures()
card = lab.card

# %% [markdown]
# ## The data
#
# Fashion-MNIST: 28x28 grey pixels, ten kinds of clothing (Xiao, Rasul and
# Vollgraf 2017). A pixel is one byte.

# %%
x_train, y_train, x_valid, y_valid = labs.load_images()
figure = plots.image_grid(x_train, y_train, FASHION_MNIST_CLASSES)
plots.show(figure, "The first eight training images with their classes.", "")

# %% [markdown]
# ## The model
#
# A wide residual network (Zagoruyko and Komodakis 2016). Its building block is
# two convolutions and a shortcut around them: the block learns what to *add* to
# its input. Read the block. Which line is the shortcut?

# %%
print(inspect.getsource(residual_block))

# %% [markdown]
# WRN-16-10 stacks six such blocks in three stages, with 160, 320 and 640
# channels, and halves the image between the stages. 16 counts its layers with
# weights, 10 its width.
#
# Before you run the cell: a 3x3 convolution from 640 to 640 channels, how many
# weights is that? Is it most of the model, or little of it?

# %%
full_model = wide_resnet(depth=16, width=10)
print(f"WRN-16-10 has {full_model.count_params():,} parameters")
this_model = wide_resnet(lab.depth, lab.width, dropout=lab.dropout)
print(f"Here we train {this_model.name}: {this_model.count_params():,} parameters")
del full_model

# %% [markdown]
# ## The input pipeline
#
# The host only shuffles and hands out whole batches of *bytes*. Everything that
# needs arithmetic, the random flips and shifts and the scaling to mean 0, is done
# by the first layers of the model, on the device. A float32 pixel is four times
# as large as a byte: what does that save on the way to a GPU?

# %%
train = batches(x_train, y_train, lab.batch_size, seed=lab.seed)
valid = batches(x_valid, y_valid, lab.valid_batch_size)
images, labels = next(iter(train))
print(f"A batch: {images.shape}, {images.dtype.name}; labels: {labels.dtype.name}")

# %%
def build_model():
    """A new network with its preprocessing, compiled."""
    steps = -(-lab.train_images // lab.batch_size)
    drops = [epoch * steps for epoch in lab.learning_rate_drop_epochs]
    rates = [lab.learning_rate * 0.1**i for i in range(len(drops) + 1)]
    network = wide_resnet(lab.depth, lab.width, dropout=lab.dropout)
    model = with_preprocessing(network, x_train, lab.shift, lab.flip, lab.seed)
    rate = keras.optimizers.schedules.PiecewiseConstantDecay(drops, rates)
    sgd = keras.optimizers.SGD(rate, lab.momentum, weight_decay=lab.weight_decay or None)
    # No compilation by XLA: it is on by default on some devices only.
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
# About six lines. Use `time.perf_counter()`.

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

    def on_epoch_end(self, epoch, logs=None):
        epoch_seconds = time.perf_counter() - self.began
        print(f"Images/sec: {self.total_images / epoch_seconds:.2f}")
#: end

# %%
PrintThroughput = check("2.1", PrintThroughput)

# %% [markdown]
# Now train. One epoch is not like the others: which one, and is it slower or
# faster? Write down your guess: the first epoch's throughput, as a part of the
# others'.

# %%
my_first_epoch_guess = 1.0  # 1.0: the same; 0.5: half as fast; 2.0: twice as fast
card.predict("first_epoch_over_others", my_first_epoch_guess)

# %%
from helpers.recorder import EpochRecorder

model, recorder = build_model(), EpochRecorder()
callbacks = [TrainingProgress(), PrintThroughput(lab.train_images), recorder]
callbacks.append(StopAtAccuracy(lab.target_accuracy, lab.patience))
if lab.log_dir:
    callbacks.append(keras.callbacks.TensorBoard(lab.log_dir))
history = model.fit(
    train, validation_data=valid, epochs=lab.epochs, callbacks=callbacks, verbose=0
)

# %%
speeds = [lab.train_images / seconds for seconds in recorder.epochs["train_seconds"]]
usual = float(np.median(speeds[1:] or speeds))
card.measure("epochs", recorder.epochs)
card.measure("images_per_second", usual)
card.measure("val_accuracy", recorder.epochs["val_accuracy"][-1])
print(f"Images/sec, median without the first epoch: {usual:.2f}")
print(f"First epoch / the others: {speeds[0] / usual:.2f}, guess {my_first_epoch_guess:.2f}")

# %% [markdown]
# The first epoch is slower. In its first step TensorFlow runs your Python code
# once to record a graph (*tracing*), plans that graph, and allocates memory.
# This is paid once, so a short first epoch suffers most. From here on we leave the
# start-up out, and take the median of what remains: one hiccup of the machine
# cannot move it.

# %% [markdown]
# ## Exercise 2.2: sweep the batch size
#
# First your prediction: images per second at each size, as a part of what you
# just measured at the batch size above. A straight line? A plateau? A peak?

# %%
my_curve = dict.fromkeys(lab.batch_sizes, 1.0)  # 2.0: twice as fast as above
card.predict("throughput_curve", {str(b): part for b, part in my_curve.items()})

# %% [markdown]
# This is how one point is measured, with the model that you have trained. One
# step comes first and does not count: you know why. The data set repeats without
# end, so a batch may be as large as you like. A batch that finds no room in memory raises `MemoryError`.

# %%
from helpers.devices import memory_guard


def measure(batch_size):
    """Images per second of training at one batch size, start-up left out."""
    data = batches(x_train, y_train, batch_size, lab.seed, repeat=True)
    steps = max(2, lab.images_per_point // batch_size)
    with memory_guard(model, batch_size):
        model.fit(data, steps_per_epoch=1, verbose=0)
        began = time.perf_counter()
        model.fit(data, steps_per_epoch=steps, verbose=0)
        return steps * batch_size / (time.perf_counter() - began)

# %% [markdown]
# Write the sweep: call `measure` for each size in turn and keep the result in
# `points[batch_size]`. Each assignment is saved to disk, so
#
# - store a point as soon as you have it, and skip sizes that have one: an
#   interrupted sweep then resumes;
# - a size that raises `MemoryError` did not fit: store `None`, and stop, for
#   larger ones will not fit either.
#
# About eight lines.

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
        if batch_size in points:
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            break
#: end

# %%
sweep = check("2.2", sweep)

# %% [markdown]
# Run it. Then we go on doubling, until memory or patience ends. To measure all
# again later, call `points.clear()` first.

# %%
points = card.points("sweep_images_per_second")
sweep(progress(lab.batch_sizes, unit="size"), measure, points)
largest = max(points)
while points[largest] and 6 * largest / points[largest] < lab.patience_seconds:
    largest *= 2
    sweep([largest], measure, points)

# %%
original = {8: 328, 16: 551, 32: 808, 64: 1002, 128: 1165, 256: 1273, 512: 1329, 700: 1332}
guess = {size: part * usual for size, part in my_curve.items()}
measured = {size: speed for size, speed in sorted(points.items()) if speed}
fastest = max(measured, key=measured.get)
smallest = min(measured)
summary = (
    f"From batch size {smallest} to {fastest:,} the throughput rises from "
    f"{measured[smallest]:.1f} to {measured[fastest]:.1f} images/s."
)
figure = plots.throughput_bars(points, guess, None, original)
plots.show(figure, summary, labs.caption())

# %%
close = [b for b in guess if b in measured and abs(guess[b] / measured[b] - 1) <= 0.2]
print(f"You were within 20% at {len(close)} of {len(guess)} sizes")
refused = [f"{size:,}" for size, speed in points.items() if speed is None]
print(f"Did not fit in memory: {', '.join(refused) or 'none'}")

# %% [markdown]
# Small batches are slow, then the curve bends, then it is flat: more images at a
# time buy nothing. On a GPU the bend comes late and the climb is steep; on two CPU
# cores a single image is nearly enough work, and a very large batch can even lose
# a little, when it no longer fits the cache. The red table was printed by another
# course on a GPU that it does not name: compare its *shape* with yours.

# %% [markdown]
# ## Exercise 2.3: why it saturates
#
# Suppose a step costs a fixed time `t0`, whatever the batch: launching kernels,
# Python, moving the weights. And each image adds `1 / peak` seconds. Then
#
#     step_seconds(b) = t0 + b / peak
#     throughput(b)   = b / (t0 + b / peak)
#
# Look at the first line: what kind of curve is that, drawn over `b`?

# %% [markdown]
# Write `fit_throughput(points)`: from `{batch_size: images_per_second}` to the
# pair `(t0_seconds, peak)`. Points that did not fit are `None`; leave them out.
# Example: `fit_throughput({10: 500.0, 90: 900.0, 180: None})` is
# `(0.01, 1000.0)`. About four lines; `np.polyfit` fits a line.

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
    # A straight line over b; weights make the error relative at every size.
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

error = np.median([abs(fitted(b) / speed - 1) for b, speed in measured.items()])
figure = plots.throughput_bars(points, guess, fitted, original)
summary = f"The fitted law is off by {100 * error:.1f}% at the median size."
plots.show(figure, summary, labs.caption())

# %% [markdown]
# A law is worth something if it predicts what it has not seen. Choose a batch
# size that was not in the sweep. The law says a number; then we measure.

# %%
unseen_batch_size = 48
predicted = fitted(unseen_batch_size)
actual = measure(unseen_batch_size)
card.measure("unseen_point", {"predicted": predicted, "measured": actual})
print(f"Predicted at batch size {unseen_batch_size}: {predicted:.1f} images/s")
print(f"Measured: {actual:.1f} images/s, {100 * (actual / predicted - 1):+.1f}%")

# %% [markdown]
# Far below `t0 * peak` images a step is mostly fixed cost, and doubling the
# batch nearly doubles the speed. Far above it the device is busy all the time, and
# nothing is left to gain. Where the fit is bad, the law misses something: caches,
# or a processor that does other things as well.

# %%
labs.finish()

# %% [markdown]
# ## What you learned
#
# Throughput is images per second of wall time, measured after the start-up. A
# step has a fixed cost and a cost per image, and these two numbers say what the
# batch size can buy. Beyond the knee a larger batch only costs memory.
#
# Two questions to take along. If a GPU twice as fast halves only the cost per
# image, what happens to the best batch size? And: is the fastest epoch the fastest
# *training*? That is lab 03.
#
# To read on: Zagoruyko and Komodakis, "Wide Residual Networks" (2016); Shallue
# et al., "Measuring the Effects of Data Parallelism on Neural Network Training"
# (2019); Williams, Waterman and Patterson, "Roofline" (2009).
