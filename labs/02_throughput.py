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
# You have a network that takes hours to train, and a colleague says: "Make the batches
# larger, then it runs faster." Is that true? How much faster does it get, and where does
# the gain end?
#
# In this lab you train a real network and measure its [throughput](../docs/glossary.md),
# the number of images that it trains on per second. Two numbers are enough to predict it
# at every batch size. You find them in four parts:
#
# 1. *How fast is a first training?* You build a clock, and train.
# 2. *What does the batch size change?* You sweep it, and find the two numbers.
# 3. *Can you trust the law?* You try to prove it wrong.
# 4. *How much is left, and what does it cost?* You compare the training with your
#    machine's limits.
#
# Every exercise marked **TODO** has a check below it. Until your answer passes, the lab
# uses the reference solution, so you can always continue. If you are stuck in exercise
# 2.1, press *Hint* below its check, or call `hint("2.1")` in a new cell. Each further
# hint tells you more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 5  # 40 for the full run
batch_size: int = 32
valid_batch_size: int = 32
sweep_batch_sizes: list = [8, 16, 32, 64, 128, 256, 512, 700]
patience_seconds: float = None  # then double until a size would take longer than this
train_images: int = None  # None, above and below: chosen by the scale
valid_images: int = None
depth: int = None
width: int = None
dropout: float = 0.01
learning_rate: float = 0.01
learning_rate_drop_epochs: list = [15, 25, 35]  # divided by 10 after each of them
momentum: float = 0.0
weight_decay: float = 5e-6
shift: float = 0.2  # augmentation: largest shift, as a share of height and width
flip: bool = True
target_accuracy: float = 0.85  # training stops above it ...
patience: int = 2  # ... for this many epochs in a row
log_dir: str = ""  # a folder for TensorBoard

# %% [markdown]
# ## Set up
#
# The most important of the parameters above is `scale`: `smoke` only shows that everything
# runs, `laptop` suits two CPU cores and a few minutes, and `gpu` is the full lab, with a
# wide network and 10,000 images. The [run card](../docs/glossary.md), a file under
# `runs/`, keeps your guesses, verdicts and measurements.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("02_throughput", globals())

# %%
# math, time, keras and np are for your answers, which may overwrite them. The lab's own
# cells use other names.
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
# ## 1. How fast is a first training?
#
# We train on [Fashion-MNIST (Xiao et al. 2017)](https://arxiv.org/abs/1708.07747): grey
# images of 28x28 pixels that show ten kinds of clothing. Each pixel is one byte.

# %%
x_train, y_train, x_valid, y_valid = session.load_images()
figure = image_grid(x_train, y_train, FASHION_MNIST_CLASSES)
summary = "The first eight training images with their classes."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The network is a *wide residual network*, after [Zagoruyko and Komodakis
# (2016)](https://arxiv.org/abs/1605.07146). It is a stack of blocks like the one below.
# Each has two convolutions and a shortcut around them, so the convolutions only have to
# learn what to *add* to the block's input.
#
# ![A residual block: the input passes two convolutions, each with batch normalisation and ReLU, and a shortcut adds the input to their result.](../helpers/lab_02/diagrams/residual_block.svg)

# %% [markdown]
# <details><summary>The network in detail</summary>
#
# After a first convolution come three stages of blocks with pooling between them, an
# average over the pixels that remain, and a dense layer that gives a probability to each
# class. WRN-16-1 has 16 convolutions, and WRN-16-10 has ten times as many channels in each
# block. *Going further* shows the source.
#
# [Batch
# normalisation](https://keras.io/api/layers/normalization_layers/batch_normalization/)
# brings each channel to mean 0 and standard deviation 1 over the batch, and then applies a
# scale and a shift that are learned. In the paper, it comes before each convolution, as
# does the ReLU. [He et al. (2016)](https://arxiv.org/abs/1603.05027) found that a ReLU
# directly before the addition, as in our block, costs accuracy, but not speed: the
# convolutions are the same.
#
# </details>

# %% [markdown]
# The [host](../docs/glossary.md), the computer with the CPU that feeds the training, only
# copies the bytes of each batch. The first layers of the model then flip, shift
# (*augmentation*) and scale the images, on the *device* that trains. If that is a GPU, each
# batch has to travel there, and as bytes it is only a quarter as large as in float32.

# %%
train = pipelines.batches(x_train, y_train, lab.batch_size, seed=lab.seed)
valid = pipelines.batches(x_valid, y_valid, lab.valid_batch_size)
images, labels = next(iter(train))
print(f"A batch: {images.shape}, {images.dtype.name}; labels: {labels.dtype.name}")
this_model = models.wide_resnet(lab.depth, lab.width, dropout=lab.dropout)
print(f"Here we train {this_model.name}: {this_model.count_params():,} parameters")

# %%
def build_model():
    """A new network with its preprocessing, compiled."""
    steps_per_epoch = ceil(lab.train_images / lab.batch_size)
    # The rate falls after certain epochs, but Keras' schedule counts in steps.
    drops = [epoch * steps_per_epoch for epoch in lab.learning_rate_drop_epochs]
    rates = [lab.learning_rate * 0.1**i for i in range(len(drops) + 1)]
    rate = optimizers.schedules.PiecewiseConstantDecay(drops, rates)
    # For no weight decay, Keras expects None instead of 0.
    sgd = optimizers.SGD(rate, lab.momentum, weight_decay=lab.weight_decay or None)
    network = models.wide_resnet(lab.depth, lab.width, dropout=lab.dropout)
    model = pipelines.with_preprocessing(network, x_train, lab.shift, lab.flip, lab.seed)
    # Without the compiler XLA, which Keras uses by default on some devices only.
    model.compile(sgd, "categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
    return model

# %% [markdown]
# ### Exercise 2.1: print the throughput
#
# A Keras [callback](https://keras.io/api/callbacks/base_callback/) can print the throughput
# after every epoch, because [`fit`](https://keras.io/api/models/model_training_apis/) calls
# its methods at fixed moments:
#
# ![A time line of fit, with the moments at which it calls on_train_begin, on_epoch_begin, on_test_begin, on_epoch_end and on_train_end.](../helpers/lab_02/diagrams/time_of_fit.svg)
#
# **Write** a callback `PrintThroughput`, which prints the throughput of every epoch. Its
# constructor takes the number of images in an epoch.
#
# **Rules**
#
# - After each epoch, print one line with the number of images divided by the seconds of
#   this epoch.
# - Start the clock when the epoch begins.
# - Stop it when Keras calls `on_test_begin`, because validation trains nothing. If there is
#   no validation, stop it when the epoch ends.
# - Count everything between these two moments, including the time between batches.
# - The same callback may serve several calls of `fit`, some with validation and some
#   without, and a call may be interrupted. So let no time from an earlier epoch remain.
#
# **Example:** with `PrintThroughput(10_000)` among its callbacks, `fit` prints for each
# epoch a line such as
#
#     Images/sec: 812.35
#
# You need about nine lines. Use
# [`time.perf_counter()`](https://docs.python.org/3/library/time.html#time.perf_counter),
# which returns seconds.

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
# <details><summary>Would this clock be right on a GPU?</summary>
#
# A GPU works from a queue, like the products in [lab 00](00_devices.ipynb). `fit` may
# therefore call `on_test_begin` while many batches are still in the queue, and then your
# clock stops too early. In this lab it is right: another callback, `note_time` below, is
# called after each batch, and Keras waits for the batch before it makes the call. Our
# `EpochRecorder` waits in another way: it reads the metrics before it stops its clock.
#
# </details>

# %% [markdown]
# Now train. (This took 41 s in the stored run, whose outputs are in the solved notebook.)
# To stop early, press the square in the notebook's toolbar. Two complete epochs are enough
# for the next cells, although the message then asks you to run this cell again.
#
# **Predict:** will the first epoch be as fast as the others? Guess the throughput of the
# first epoch, divided by the throughput of a typical epoch.

# %%
my_first_epoch_guess = None  # change this; 0.5: half as fast, 2.0: twice as fast
card.predict("first_epoch_over_others", my_first_epoch_guess)

# %%
card.lock("first_epoch_over_others")
trained_model, recorder = build_model(), EpochRecorder()
callbacks = [TrainingDashboard(session.caption()), PrintThroughput(lab.train_images), recorder]
# This callback stops training at the target; you will write it in lab 03.
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
# The sweep trains the model further, so "Going deeper" will need these weights.
trained_weights = trained_model.get_weights()
seconds = recorder.epochs["train_seconds"]
usual_seconds = median(seconds[1:] or seconds)
usual = lab.train_images / usual_seconds
card.measure("epochs", recorder.epochs)
card.measure("images_per_second", usual)
card.measure("val_accuracy", recorder.epochs["val_accuracy"][-1])
print(f"Images/sec, median without the first epoch: {usual:.2f}")
print(f"Speed of the first epoch divided by this median: {usual_seconds / seconds[0]:.2f}")
print(f"The first epoch took {seconds[0] - usual_seconds:.2f} s longer than the median")
print(f"The first step ended after {step_ends[0] - training_began:.2f} s")
card.outcome("first_epoch_over_others", usual_seconds / seconds[0])

# %% [markdown]
# **Question.** Was your first epoch slower? If so, is the difference about as long as the
# time until its first step ended?
#
# In the first step, TensorFlow runs your Python code once to record a graph
# ([tracing](../docs/glossary.md)), plans its execution, and allocates memory. A training
# pays for this start-up only once, so from here on we leave it out. Of the remaining
# values we take the median, because a single hiccup of the machine hardly moves it.
#
# (If your validation accuracy jumps from one epoch to the next, that has nothing to do
# with speed. *Going deeper* near the end of this lab looks for the cause.)

# %% [markdown]
# ## 2. What does the batch size change?
#
# Now put your colleague to the test: train with many batch sizes, and compare.

# %% [markdown]
# ### Exercise 2.2: sweep the batch size
#
# **Predict:** what will the throughput be at each batch size, as a multiple of the
# throughput that you just measured? Will it follow a straight line, level off, or reach a
# peak and fall again?

# %%
my_curve = {  # change these; 2.0: twice the throughput above
    8: None, 16: None, 32: None, 64: None, 128: None, 256: None, 512: None, 700: None
}
predicted = card.predict("throughput_over_usual", my_curve) or {}
guess = {size: times * usual for size, times in predicted.items()}

# %% [markdown]
# The function `measure` below measures one batch size. It trains the model for one step
# without a clock, and then our callback `EpochRecorder` times a short epoch. The data set
# repeats without end, so a batch may even be larger than the data set.
#
# If a batch does not fit in memory, `measure` raises `MemoryError`. (On a CPU the
# operating system would kill the notebook's kernel instead, so `memory_guard` refuses
# batches that it estimates to be too large.)

# %%
held, held_before = card.points("memory_held_bytes"), memory_held_bytes()

def measure(batch_size, network=trained_model):
    """Images per second of training at one batch size, without the start-up."""
    data = pipelines.batches(x_train, y_train, batch_size, lab.seed, repeat=True)
    steps, timer = max(1, round(lab.images_per_point / batch_size)), EpochRecorder()
    with memory_guard(network, batch_size):
        network.fit(data, steps_per_epoch=1, verbose=0)
        network.fit(data, steps_per_epoch=steps, callbacks=[timer], verbose=0)
    held.setdefault(batch_size, memory_held_bytes() - held_before)
    return steps * batch_size / timer.epochs["train_seconds"][0]

# %% [markdown]
# **Write** `sweep(batch_sizes, measure, points)`, which calls `measure` for one size after
# another and stores each result in `points[batch_size]`. A sweep takes a while and has to
# survive an interruption, so `points`, which you can use like a dict, also saves every
# assignment to disk.
#
# **Rules**
#
# - Measure the sizes in their given order, and skip sizes that have a point.
# - Store each point as soon as you have it.
# - If a size raises `MemoryError`, store `None` for it and stop, because larger sizes will
#   not fit either.
# - Also stop when you come to a size with such a `None` from an earlier run.
# - Do not catch any other exception: a bug in `measure` must not be recorded as "out of
#   memory".

# %% [markdown]
# **Example:** suppose that `measure(16)` returns 800.0 and `measure(32)` runs out of
# memory.
#
# ```python
# points = {8: 500.0}
# sweep([8, 16, 32, 64], measure, points)
# points   # {8: 500.0, 16: 800.0, 32: None}
# ```
#
# You need about nine lines.

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
# The next cell runs your sweep over the given sizes. Then it keeps doubling the batch,
# until it no longer fits in memory or the next size would take longer than
# `patience_seconds`. It repeats the whole sweep twice, because three measurements some time
# apart tell you more than three in a row. On a laptop this takes a minute or two.

# %%
rounds = [card.points(f"sweep_round_{number}") for number in (1, 2, 3)]
first_round = rounds[0]
card.lock("throughput_over_usual")
sizes_given = lab.sweep_batch_sizes
sweep(sizes_given, counted(measure, len(sizes_given), "size"), first_round)
largest = max(first_round)
# The next size is twice as large, and takes two steps in each of the three rounds.
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
# **Question.** Is your colleague right? Where does the curve bend, and beyond which size
# is it no longer worth doubling the batch?

# %% [markdown]
# ### Exercise 2.3: why it saturates
#
# Every training step pays a fixed price of $t_0$ seconds, however many images it has:
# Python prepares the call, TensorFlow launches several hundred operations, and the
# optimizer updates every weight. On top of it, each image costs $1/r_\infty$ seconds, where
# $r_\infty$ is the number of images per second that the device could process without this
# price. A step with $b$ images therefore takes $t(b)$ seconds, and the throughput is $r(b)$
# images per second:
#
# $$ t(b) = t_0 + \frac{b}{r_\infty}, \qquad
# r(b) = \frac{b}{t(b)} = \frac{b}{t_0 + b/r_\infty} $$
#
# Simply adding the two costs is an approximation. On a GPU, for example, the launches can
# run ahead of the computation, and then a step takes the *longer* of the two times instead
# of their sum. In part 3 you look for a size at which the sum is wrong.
#
# **Question.** What kind of curve is $t(b)$, and where on it do you see $t_0$? Would a line
# through the points in the right panel start at zero?

# %%
step_seconds = {size: size / speed for size, speed in measured.items()}
largest = max(measured)
summary = (
    f"A step takes {step_seconds[smallest]:.3f} s at batch size {smallest} and "
    f"{step_seconds[largest]:.3f} s at batch size {largest}."
)
show_figure(figures.step_times(step_seconds), summary, session.caption())

# %% [markdown]
# By the law, the points lie on a straight line. Its height at $b = 0$ is the fixed cost
# $t_0$, and its slope is the time per image.
#
# **Write** `fit_throughput(points)`, which takes a dict `{batch_size: images_per_second}`
# and returns the pair `(t0_seconds, peak)`, where `peak` is $r_\infty$.
#
# **Rules**
#
# - Ignore sizes that ran out of memory and have the value `None`, wherever they are. At
#   least two have a throughput.
# - All other points count: at batch size $b_i$ the throughput was $r_i$ images per second,
#   so a step took $t_i = b_i / r_i$ seconds.
# - Fit a straight line $\hat t(b)$ to these step times by weighted least squares, that is,
#   minimise $\sum_i \big((\hat t(b_i) - t_i) / t_i\big)^2$.
# - Return what this line gives, even if it starts below zero.
# - Do not modify `points`.
#
# **Example**
#
# ```python
# fit_throughput({10: 500.0, 90: 900.0, 180: None})   # (0.01, 1000.0)
# ```
#
# You need about five lines.

# %% [markdown]
# Why the weights? Only small batches reveal the fixed cost. But their steps are short, so
# their errors in seconds are tiny, and a plain fit would almost ignore them. If each error is
# divided by the measured time $t_i$, an error of 1% counts the same at every size.
#
# [`np.polyfit(x, y, 1)`](https://numpy.org/doc/stable/reference/generated/numpy.polyfit.html)
# fits a straight line, and returns its slope first and then its height at zero. It
# multiplies each error by its weight *before* squaring it, so `w=1 / y` minimises the sum
# above.

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

# %% [markdown]
# The next cell fits your points. For comparison, it also fits the table of an older lab,
# which does not say on which GPU it was measured.

# %%
fit = t0_seconds, peak = fit_throughput(points)
card.measure("fit", {"t0_seconds": t0_seconds, "peak_images_per_second": peak})
print(f"Fixed cost of a step: {1000 * t0_seconds:.2f} ms")
print(f"Peak: {peak:.1f} images/s; half of it at batch size {t0_seconds * peak:.1f}")
original = {8: 328, 16: 551, 32: 808, 64: 1002, 128: 1165, 256: 1273, 512: 1329, 700: 1332}
original_t0, original_peak = original_fit = fit_throughput(original)
print(f"The older lab: {1000 * original_t0:.2f} ms and {original_peak:.1f} images/s")

# %%
def fitted(batch_size):
    """Images per second at a batch size, by the fitted law."""
    return batch_size / (t0_seconds + batch_size / peak)

error = median([abs(fitted(b) / speed - 1) for b, speed in measured.items()])
figure = figures.fitted_law(points, guess, fit, original, original_fit)
summary = f"Half of the sizes lie within {100 * error:.1f}% of the fitted law."
show_figure(figure, summary, session.caption())

# %% [markdown]
# So your colleague is right, up to a point, and your own numbers say where this point lies.
# The batch size $b_{1/2} = t_0\, r_\infty$ reaches half of the peak. Far below it, a step
# is mostly fixed cost, so doubling the batch nearly doubles the throughput. At
# $9\, b_{1/2}$ you have 90% of the peak, and there is little left to gain. (In the stored
# run, $b_{1/2}$ was about 16 images, and $9\, b_{1/2}$ about 148.)
#
# No batch size reaches the peak of the law, but a measured point can lie above it, since
# every measurement has an error.
#
# In the right panel, each batch size is divided by the machine's own $b_{1/2}$, and each
# throughput by its own peak, so every machine that obeys the law lies on the same curve.

# %% [markdown]
# ## 3. Can you trust the law?
#
# ### How certain are the two numbers?
#
# With two numbers you can now predict every batch size. But would the same sweep give the
# same two numbers tomorrow? Your sweep had three rounds, so let each of them answer alone.

# %%
for number, one_round in enumerate(rounds, start=1):
    a, b = fit_throughput({size: one_round[size] for size in measured})
    print(f"Round {number} alone: fixed cost {1000 * a:.2f} ms, peak {b:.1f} images/s")

# %% [markdown]
# In the stored run, the three peaks lay within 0.2% of each other, at about 1,085 images/s.
# But the fit of the medians gave 1,106, more than each round alone. How can that be? Each
# round was slow at one large size or another, the first at 700 images, for example, and the
# second at 1,400. These slow points pull down the peak of their own round, but the medians
# leave them out. But by how much might your fit still be wrong?
#
# More sweeps would tell you, but they take time. Instead, invent 300 sweeps that could have
# happened just as well. At each size, your sweep missed the law by some factor, the measured
# speed divided by the fitted one: 1.02, for example, or 0.97. Write all these factors on slips of
# paper. To invent a sweep, draw a slip for each size, put it back, and multiply the speed of the
# law by it. If the law gives 800 images/s and you draw 1.02, the invented speed is
# $1.02 \cdot 800 = 816$ images/s. Then fit the invented sweep. If all 300 fits lie close
# together, chance has moved your own fit only a little.
#
# This *redrawing* of the data is called the [bootstrap](../docs/glossary.md) ([Efron
# 1979](https://doi.org/10.1214/aos/1176344552)).

# %%
# A fit lies a little too close to its own points; the factor `wider` makes up for that.
wider = (len(measured) / max(1, len(measured) - 2)) ** 0.5
errors = [1 + wider * (speed / fitted(size) - 1) for size, speed in measured.items()]
generator, redrawn = numpy.random.default_rng(lab.seed), []
for _ in range(300):
    drawn = {size: fitted(size) * generator.choice(errors) for size in measured}
    redrawn.append([*fit_throughput(drawn), generator.choice(errors)])
low, high = numpy.percentile(redrawn, [5, 95], axis=0)
card.measure("fit_interval", {"t0_seconds": [low[0], high[0]], "peak": [low[1], high[1]]})
print("Nine of ten redrawn sweeps:")
print(f"  fixed cost {1000 * low[0]:.2f} to {1000 * high[0]:.2f} ms")
print(f"  peak {low[1]:.1f} to {high[1]:.1f} images/s")

# %%
alone = [fit_throughput({b: each[b] for b in measured}) for each in rounds]
figure = figures.redrawn_fits(measured, fit, drawn, redrawn, alone)
summary = f"The fits of 300 redrawn sweeps: nine of ten peaks lie within {low[1]:.1f} to "
summary += f"{high[1]:.1f} images/s, and the three rounds gave "
summary += ", ".join(f"{round_peak:.1f}" for _, round_peak in alone) + "."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The left panel shows one invented sweep with its own fit. In the right panel, each small
# dot is such a fit.
#
# **Question.** Do the three rounds lie within the cloud of dots? And which of your two
# numbers is better known?
#
# In the stored run, the peak was better known: nine of ten lay within 2.3% of the fitted
# 1,106 images/s, while the fixed costs reached from 5% below the fitted 14.85 ms to 8% above
# it. A single round may lie a little outside the cloud, because the cloud shows medians of
# three rounds, which scatter less. If a round lies far outside, the whole machine was
# probably slow at the time. Redrawing assumes that the errors at different sizes are
# independent. A slow machine moves them all together, and then the range is too narrow.

# %% [markdown]
# ### Try to break the law
#
# A law is worth something only if new measurements could prove it wrong, so look for its
# weakest place. A *residual* is the difference between a measurement and the law. If all
# three residuals at one size lie on the same side of zero, the law may be wrong there. But
# chance alone does this at one size in four, because three coins show the same face in two
# of the eight possible throws. So look for several neighbouring sizes that lean the same
# way.
#
# **Question.** In the next figure, does one round lie above or below the others at nearly
# every size? And at which sizes would you doubt the law?

# %%
def band(batch_size, error=1):
    """The speeds between which nine of ten redrawn laws lie, each multiplied by `error`."""
    a, b = numpy.array(redrawn).T[:2]
    return numpy.percentile(error * batch_size / (a + batch_size / b), [5, 95])

by_size = {size: [one_round[size] for one_round in rounds] for size in measured}
figure = figures.residuals(by_size, fit, {size: band(size) for size in measured})
spread = median([max(of_size) / min(of_size) for of_size in by_size.values()])
summary = f"At half of the sizes, the rounds differ by a factor of at most {spread:.2f}."
show_figure(figure, summary, session.caption())

# %% [markdown]
# Now choose a batch size that was not in the sweep, and at which you expect the law to fail:
# 1? 47? 3000? But the machine may be faster or slower now than it was during the sweep. So
# the lab measures your size in turns with a *control*, the nearest size from the sweep. If
# the control runs 3% slower than the law says, the lab blames the machine, and raises your
# result by 3%. (If the law itself is wrong at the control, the lab blames the wrong one.)
#
# The redrawn sweeps also give a range for the result. A single measurement misses the law by
# a factor of its own, so each redrawn law is multiplied by one more slip. If the law holds,
# nine of ten such measurements should lie inside. On a busy machine, or after a sweep of few
# sizes, expect fewer.
#
# **Predict:** will the range contain your measurement?

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
print(f"  range: {lowest:.1f} to {highest:.1f} images/s")
print(f"Measured: {actual:.1f} images/s; corrected by the control: {corrected:.1f}")
off = corrected / predicted_speed - 1
print(f"  {100 * off:+.1f}% from the prediction: the law {'holds' if holds else 'fails'}")
card.outcome(f"law_holds_at_{unseen_batch_size}", holds)

# %% [markdown]
# In the stored run, all three rounds lay below the law at 32 and at 64 images. At 48 the law
# predicted 824 images/s. The lab measured 818, and because the control ran 1% faster than the
# law says, it lowered this to 808. So the law passed. But look at the control, size 32: in
# the sweep it had run about 5% *slower* than the law says. So compared with the sweep, the
# machine was now about 6% faster, and a lab that knew this would have lowered the result to
# about 769: still inside the range, but 7% below the law. So around these sizes the law seems
# to promise too much.

# %% [markdown]
# Try another size in the two cells above. If the law fails there, measure again: once may be
# chance, but if it fails every time, something is missing in the law.

# %% [markdown]
# ## 4. How much is left, and what does it cost?
#
# ### How much of the machine do you use?
#
# The peak that you know is the peak of *this network*. How much more could the machine
# do? Our yardstick is a large matrix product, as in [lab 00](00_devices.ipynb), which is
# almost pure arithmetic. If it reaches $P$ operations per second, and training on one
# image takes $F$ operations, then $r(b)$ images per second reach the share
#
# $$ u(b) = \frac{F\, r(b)}{P} $$
#
# **Predict:** what share of the product's speed does training reach at your fastest batch
# size?

# %%
my_share_guess = None  # change this; 0.5: half as many operations a second
share_guess = card.predict("share_of_peak", my_share_guess)

# %%
def product_speed(n, at_least_seconds=0.5):
    """Median operations per second of a float32 product of two n x n matrices."""
    left, right = tensorflow.random.normal((2, n, n))
    times = []
    while len(times) < 6 or sum(times) < at_least_seconds:
        began = perf_counter()
        (left @ right)[0, 0].numpy()  # reading a value waits until the product is done
        times.append(perf_counter() - began)
    # Each of the n * n results takes n multiplications and n additions.
    return 2 * n**3 / median(times[1:])  # the first product includes the start-up

card.lock("share_of_peak")
# Measured in turns, so that other programs slow both down alike.
turns = [(measure(fastest), product_speed(lab.product)) for _ in range(3)]
machine_peak = median([speed for _, speed in turns])
card.measure("matrix_product_operations_per_second", machine_peak)
print(f"A matrix product: {machine_peak / 1e9:.1f} billion operations a second")

# %% [markdown]
# Now count $F$, the operations for one image. A convolution computes each value of its
# output from all weights of one filter, and each of these weights takes a multiplication
# and an addition. A training step takes three times as many operations as the forward
# pass alone, because the backward pass computes two gradients, for the weights and for
# the inputs, and each of them takes as many operations as the forward pass.

# %% [markdown]
# <details><summary>How we count at the border of an image, and what we leave out</summary>
#
# At the border, a filter hangs over the edge, where *padding* has put zeros. Unlike most
# published counts, ours leaves out the products with these zeros. Along a side of $n$
# pixels, a filter of width 3 has $3 n$ products, but the first and the last position each
# lose one, so $3 n - 2$ remain. For any odd width $k$, $k n - (k^2 - 1) / 4$ remain.
#
# Only convolutions and dense layers are counted. One gradient too many is included:
# training does not need the gradient with respect to the input of the first layer.
#
# </details>

# %%
def operations_per_image(network):
    """Multiplications and additions of a training step for one image."""
    forward = 0
    for layer in network.layers:
        if isinstance(layer, (layers.Conv2D, layers.Dense)):
            *widths, inputs, outputs = layer.kernel.shape  # a dense layer has no widths
            # Pixels that the filter covers along each side, without the padding.
            sides = zip(layer.output.shape[1:-1], widths, strict=True)
            pixels = numpy.prod([k * n - (k * k - 1) // 4 for n, k in sides])
            forward += 2 * pixels * inputs * outputs
    return 3 * forward

operations = operations_per_image(this_model)
share = median([speed * operations / product for speed, product in turns])
shares = {size: share * speed / measured[fastest] for size, speed in measured.items()}

# %%
figure = figures.share_of_peak(shares, share_guess)
summary = f"Training reaches {100 * shares[smallest]:.1f}% of the product's speed at batch "
summary += f"size {smallest}, and {100 * share:.1f}% at batch size {fastest}."
show_figure(figure, summary, session.caption())
print(f"Training on one image takes {operations / 1e9:.3f} billion operations")
card.measure("share_of_peak", {str(size): share for size, share in shares.items()})
card.outcome("share_of_peak", share)

# %% [markdown]
# The best batch size of the stored run reached 34% of the product's speed. In practice, the
# yardstick is often the peak in the device's data sheet, which no real product quite
# reaches. Then the share is called the [model FLOPs utilization](../docs/glossary.md), or
# MFU. [Chowdhery et al. (2022)](https://arxiv.org/abs/2204.02311) report 46.2% for the
# language model PaLM, and 21.3% for GPT-3. On that stricter yardstick, our 34% would be
# lower.
#
# The main suspects are the layers whose operations we did not count. *Going further*
# removes them.

# %% [markdown]
# ### What does a larger batch cost?
#
# The first price of speed is memory. The weights are stored once, however large the batch
# is.
#
# **Question.** What else does a step have to keep in memory, and until when? At your
# largest batch, do the weights take most of the memory, half of it, or hardly any?
#
# In the next figure, the dashed line is an estimate: three bytes for each value in the
# outputs of all layers. (A float32 number takes four, but some layers reuse the memory of
# their input.) The points are measured, but they show only what the sweep added to the memory
# of your first training, so all lie too low by about the same amount. Compare the MiB for
# each additional image instead, printed below the figure.

# %%
mib = 2**20
weights_mib = 2 * 4 * this_model.count_params() / mib  # weights and gradients, float32
estimated = {size: memory_needed_bytes(trained_model, size) / mib for size in measured}
grown = {b: held[b] / mib for b in measured if b > lab.batch_size and held[b] > 0}
largest = max(measured)
figure = figures.memory_by_batch(estimated, grown, lab.batch_size, weights_mib)
summary = f"At batch size {largest} a step needs about {estimated[largest]:.1f} MiB by the "
summary += f"estimate; weights and gradients take {weights_mib:.1f} MiB."
show_figure(figure, summary, session.caption())
print(f"Estimate for each image: {estimated[largest] / largest:.2f} MiB")
growth = grown.get(largest, 0) / max(1, largest - lab.batch_size)
print(f"Measured at batch size {largest}: {growth:.2f} MiB for each additional image")

# %% [markdown]
# The backward pass needs the outputs that the layers computed in the forward pass, so a
# step keeps them for every image of the batch. In the stored run each image took 1.36 MiB,
# as much as all weights and gradients together ([lab 11](11_does_not_fit.ipynb) counts them
# all).

# %% [markdown]
# The second price is updates. Take a batch that is $c$ times as large as $b_{1/2}$. If you
# double it, the law says that the throughput is multiplied by
#
# $$ \frac{r(2 c\, b_{1/2})}{r(c\, b_{1/2})} = \frac{2c + 2}{2c + 1}, $$
#
# which is 1.33 at the bend $b_{1/2}$, where $c = 1$, and only 1.05 at $c = 9$. These 5%
# cost you about twice the memory, and in each epoch the weights are updated only half as
# often. [Lab 03](03_time_to_accuracy.ipynb) asks how much those updates were worth.
#
# > **Limits.** This text is based on runs on CPUs; only the table from the older lab was
# > measured on a GPU. On newer NVIDIA GPUs, TensorFlow rounds the inputs of float32
# > products and convolutions to TF32. It does so in the training and in the product, so the
# > share still compares like with like.

# %% [markdown]
# ## Going deeper: why does the validation accuracy jump?
#
# In the last epoch of the stored run, the validation accuracy fell from 0.68 to 0.47,
# although the training accuracy rose steadily. Had the network forgotten what it had
# learned?
#
# There is a second suspect. During training, batch normalisation uses the mean and the
# variance of the current batch. During validation it uses *running averages* instead,
# which every training step updates with the value $m_b$ of its own batch:
#
# $$ m \leftarrow 0.9\, m + 0.1\, m_b $$
#
# So an average $m$ describes roughly the last ten batches, each computed with the weights
# that the network had at that time.
#
# To tell the suspects apart, validate again with the weights that your network had after
# its training, but let each batch use its own statistics, as in training.
#
# **Predict:** what will the validation accuracy be if each batch uses its own statistics?

# %%
my_own_statistics_guess = None  # change this: an accuracy between 0 and 1
card.predict("accuracy_with_own_statistics", my_own_statistics_guess)

# %%
card.lock("accuracy_with_own_statistics")
trained_model.set_weights(trained_weights)  # as they were before the sweep
*preprocessing, network = trained_model.layers
right = 0
for some_images, some_labels in pipelines.batches(x_valid, y_valid, 250):
    scaled = preprocessing[-1](some_images)
    answers = numpy.argmax(network(scaled, training=True), axis=1)
    right += int((answers == numpy.argmax(some_labels, axis=1)).sum())
own_accuracy = right / lab.valid_images
card.measure("val_accuracy_with_own_statistics", own_accuracy)
print(f"Validation accuracy, running averages: {recorder.epochs['val_accuracy'][-1]:.3f}")
print(f"Validation accuracy, each batch's own statistics: {own_accuracy:.3f}")
card.outcome("accuracy_with_own_statistics", own_accuracy)

# %% [markdown]
# If the second number is far above the first, the network has forgotten nothing: the
# weights are good, but the running averages are not. Perhaps they are out of date, because
# older weights have processed their batches. To find out, the next cell freezes the
# weights, and lets the last thirty batches of an epoch refresh the averages. If the
# accuracy then rises to the second number, the averages were out of date.

# %%
trained_model.set_weights(trained_weights)  # training=True has changed the averages
often = ceil(30 / len(train))  # a short epoch is repeated
last_thirty = train.repeat(often).skip(often * len(train) - 30)
for some_images, _ in last_thirty:  # the epoch's last batch is short; it is one of them
    trained_model(some_images, training=True)
settled_accuracy = trained_model.evaluate(valid, verbose=0)[1]
print(f"Validation accuracy, averages updated by 30 more batches: {settled_accuracy:.3f}")

# %% [markdown]
# In the stored run it did, to 0.746. If your accuracy is still low, ten batches may be too
# few for a good average.
#
# So never trust the validation accuracy of a single epoch. In labs
# [05](05_many_gpus_fit.ipynb) and [06](06_many_gpus_loop.ipynb), where each replica sees
# only its share of a batch, you have to choose which statistics to use.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("02")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure with the fitted law. Up to which batch size does your machine get faster?
# What do the two numbers of the law mean, and at which of your points is the law wrong?
#
# Write three to six sentences in the cell below, with numbers from your run. No check reads
# them, but your instructor may.

# %% [markdown] name="2.figure" points=2
# **2.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# How many images a second? A batch of $b$ images gives $b / (t_0 + b / r_\infty)$, so two
# numbers answer for every batch size. A batch of $t_0\, r_\infty$ images reaches half of
# the peak, and nine times as many reach 90%. Beyond that, your colleague's advice buys
# little speed, needs more memory, and leaves fewer updates in an epoch.
#
# **Question.** If a GPU that is twice as fast halves only the cost per image, what
# happens to the batch size that reaches half of the peak? And is the fastest epoch also
# the fastest *training*? That is the subject of [lab 03](03_time_to_accuracy.ipynb).

# %% [markdown]
# ## Going further
#
# You may stop here: this part has no points and no predictions.
#
# ### How is the network built?
#
# `residual_block` builds a block. Its argument `unit` is the function `conv_bn_relu`, whose
# output has passed through a ReLU, so the block can only add zero or positive values to its
# shortcut. At the start of a stage, a 1x1 convolution gives the shortcut its new number of
# channels.

# %%
session.show_source(models.conv_bn_relu, models.residual_block, models.three_stages)
session.show_source(pipelines.batches, pipelines.with_preprocessing)

# %% [markdown]
# ### Which layers keep training below the peak?
#
# The suspects of part 4 are the batch normalisation, ReLU and dropout between the
# convolutions. The next cell builds a network without them. It learns nothing useful, but
# we only want to know its running time.
#
# **Question.** How much faster will training be?

# %%
class Nothing(layers.Layer):
    """Return the input unchanged."""
    def call(self, inputs, **ignored):
        return inputs

def stripped(layer):
    """A copy of a layer, or a layer that does nothing."""
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
print(f"Batch size {fastest}, all layers: {whole_speed:.1f} images/s")
print(f"Without the layers in between: {bare_speed:.1f} images/s, {gain:.2f} times as fast")
print("The same ratio in each turn:", ", ".join(f"{each:.2f}" for each in gains))
print(f"The share of the product's speed would then be {100 * gain * share:.1f}%")

# %% [markdown]
# In the stored run, training was 1.53 times as fast without these layers, and reached 52%
# of the product's speed. They read and write every value but compute little with it, so the
# speed of memory may limit them.

# %% [markdown]
# To read on: Shallue et al., ["Measuring the Effects of Data Parallelism on Neural Network
# Training"](https://arxiv.org/abs/1811.03600) (2019); Williams, Waterman and Patterson,
# ["Roofline"](https://doi.org/10.1145/1498765.1498785) (2009).
