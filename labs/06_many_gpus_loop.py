# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 06: What does the strategy do for me?
#
# In lab 05 `fit` trained on several devices. Who split the batch? Who added up the
# gradients, and why did every copy of the network stay the same?

# %% [markdown]
# In this lab you write the loop yourself: a loss that is right on any number of
# replicas, a step that they do together, and then everything between the names of the
# devices and a trained network. You also see what a wrong loss does.
#
# Without a GPU the CPU is split into *simulated* devices, threads of one processor. The
# replicas, the host that reads the images, and the exchange of gradients then share its
# cores. A simulation shows that the code is right, not how fast several devices are.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 3
batch_size: int = 64  # the global batch: split over the replicas
replicas: int = None  # None: all GPUs or TPU cores; without any, two simulated ones
gpu_indices: list = None  # which GPUs, such as [0, 2, 3]
train_images: int = None  # None here and below: what the scale says
valid_images: int = None
image_size: int = None  # digits are enlarged to so many pixels a side
alpha: float = None  # the width of MobileNetV2
learning_rate: float = 0.001
from_folders: bool = False  # train on image files, not on arrays

# %% [markdown]
# ## Set up
#
# The network is MobileNetV2 (Sandler et al. 2018), built for telephones: few
# operations, many layers. At `gpu` scale it has its full width, all digits, and
# 112x112 pixels. `smoke` and `laptop` take 64x64 pixels, a third of the width, and
# fewer digits.
#
# Stuck? `hint("6.1")` asks you a question; call it again for more.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start(
    "06_many_gpus_loop", globals(), devices="all", simulated_replicas=2
)

# %%
# keras, np and tf are for your answers: bind them to what you like. Our own cells use
# other names.
from time import perf_counter

import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf
from keras import Input, Sequential, layers, optimizers, utils
from keras.losses import categorical_crossentropy
from keras.metrics import CategoricalAccuracy, Mean

card = lab.card

# %%
from callbacks import TrainingDashboard, follow, progress
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.data.mnist import MNIST_CLASSES
from helpers.errors import LabError
from helpers.figures import image_grid, show_figure, use_figures
from helpers.lab_06 import figures
from helpers.lab_06.class_folders import write_class_folders
from helpers.lab_06.models import enlarge_and_classify, mobilenet_v2
from helpers.machine.devices import new_strategy, simulated_strategy
from helpers.machine.watchdog import no_hang
from helpers.network.pipelines import batches

use_figures()

# %%
if lab.device["simulated"]:
    # TensorFlow improves a graph before it runs: for several copies of this network that
    # takes longer than it saves in so short a training.
    tensorflow.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
strategy = new_strategy()
print(f"Replicas: {strategy.num_replicas_in_sync}")

# %% [markdown]
# ## The data, twice
#
# MNIST (LeCun, Cortes and Burges 1998): 28x28 grey pixels, ten digits. It comes as one
# array. Yours probably do not: users keep images as files, with a folder for each class.
# The next cell writes such files, `train/0/00001.png` and so on, into your cache.

# %%
x_train, y_train, x_valid, y_valid = session.load_images(digits=True)
parts = {"train": (x_train, y_train), "test": (x_valid, y_valid)}
folder = write_class_folders("mnist", MNIST_CLASSES, **parts)
print(f"Folders for training: {', '.join(sorted(p.name for p in folder.glob('train/*')))}")
file_count = sum(1 for _ in folder.glob("train/*/*.png"))
print(f"Image files: {file_count:,} to train on")

# %% [markdown]
# Keras reads such folders: the name of the folder is the class. **Question** before you
# run the cell: in which order do the images come, and is it that of the array?

# %%
def read_folder(part, **options):
    """Images as float32 (28, 28, 1) with one-hot labels, from files."""
    return utils.image_dataset_from_directory(
        folder / part, label_mode="categorical", class_names=MNIST_CLASSES, color_mode="grayscale",
        image_size=(28, 28), verbose=False, **options,
    )  # fmt: skip

files = read_folder("train", shuffle=False, batch_size=lab.batch_size)
read = [(images.numpy(), one_hot.numpy()) for images, one_hot in files]
from_files = numpy.concatenate([images for images, _ in read])
classes = numpy.concatenate([one_hot.argmax(axis=1) for _, one_hot in read])

# %%
figure = image_grid(from_files, classes, MNIST_CLASSES)
show_figure(figure, "The first eight images from the folders: sorted by class.", session.caption())
order = numpy.argsort(y_train, kind="stable")  # files are sorted by class, then by name
different = (from_files != x_train[order]).any(axis=(1, 2, 3)).sum()
print(f"Images that differ between files and array: {different}")
print(f"Labels that differ: {(classes != y_train[order]).sum()}")

# %% [markdown]
# A PNG file keeps every pixel. (A JPEG file does not.) The order is another one, and
# that matters: in files the classes come one after the other. Who trains on them in that
# order shows the network nothing but zeros first. So shuffle.
#
# A file has to be found, opened and decoded. **Predict:** how many times as fast do
# images come out of the array?

# %%
my_array_guess = None  # change this: images/s from the array / images/s from the files
card.predict("array_over_files", my_array_guess)

# %%
card.lock("array_over_files")

def images_per_second(data):
    """How fast a pipeline gives images, when nobody trains: the median of three passes."""
    speeds = []
    for _ in range(3):
        began = perf_counter()
        images = sum(len(labels) for _, labels in data)
        speeds.append(images / (perf_counter() - began))
    return float(numpy.median(speeds))

# %%
in_memory = batches(x_train, y_train, lab.batch_size, seed=lab.seed)
input_speeds = {"array": images_per_second(in_memory), "files": images_per_second(files)}
card.measure("input_images_per_second", input_speeds)
for name, speed in input_speeds.items():
    print(f"Images/sec from {name}: {speed:.2f}")
ratio = input_speeds["array"] / input_speeds["files"]
print(f"The array is {ratio:.1f} times as fast")
card.outcome("array_over_files", ratio)

# %% [markdown]
# These files had been read a moment before, and the operating system still has them in
# memory. From a slow disk they may come later than that: we did not measure it.
#
# Keep the speed of the files in mind. On a GPU a network that trains more slowly than
# this need not wait: the host prepares the next batch meanwhile. On a CPU both want the
# same cores. And every replica that you add wants its own images, at the same time, from
# the same host.

# %% [markdown]
# ## What a replica gets
#
# The *global batch* is what the optimizer takes one step for. The strategy cuts it into
# one part for each replica. Our pipeline drops the remainder at the end of an epoch: a
# replica might get nothing at all of it, and a convolution with batch normalisation then
# ends in an error. In validation, too, the last images, fewer than a batch, go unseen.
# Lab 07 shows how none is lost; in exercise 6.3 you train on the remainder.

# %%
per_replica_batch = max(1, lab.batch_size // lab.replicas)
global_batch = per_replica_batch * lab.replicas
steps = lab.train_images // global_batch
if global_batch > min(lab.train_images, lab.valid_images):
    raise LabError(f"{global_batch} images in a global batch: give more images, or fewer replicas")

def pipeline(part, images, labels, seed):
    """Whole global batches; shuffled in every epoch where there is a seed."""
    if not lab.from_folders:
        return batches(images, labels, global_batch, seed, drop_remainder=True)
    data = read_folder(part, shuffle=seed is not None, seed=seed, batch_size=None)
    options = tensorflow.data.Options()
    options.autotune.enabled = False  # as in helpers/network/pipelines.py
    return data.batch(global_batch, drop_remainder=True).prefetch(2).with_options(options)

# %%
train = strategy.experimental_distribute_dataset(pipeline("train", x_train, y_train, lab.seed))
valid = strategy.experimental_distribute_dataset(pipeline("test", x_valid, y_valid, None))
images, one_hot = next(iter(train))
parts = [len(part) for part in strategy.experimental_local_results(images)]
print(f"Global batch: {global_batch} images, of which the replicas get {parts}")
left_out = [n % global_batch for n in (lab.train_images, lab.valid_images)]
print("Images left out of an epoch: {} in training, {} in validation".format(*left_out))

# %% [markdown]
# ## What the scope does
#
# Inside `strategy.scope()` every variable is *mirrored*: there is a copy on every
# replica, and all begin equal. So whatever has variables is made there: network,
# optimizer, metrics. The optimizer makes its own when it is built, so build it there,
# too. Later it would make them in the middle of a step. Here the lab opens the scope; in
# exercise 6.3 you do.

# %%
def new_metrics():
    """Metrics of training and of validation; call this inside the scope."""
    return {
        "loss": Mean(),
        "accuracy": CategoricalAccuracy(),
        "valid_loss": Mean(),
        "valid_accuracy": CategoricalAccuracy(),
    }

with strategy.scope():
    mobilenet = mobilenet_v2(lab.image_size, classes=10, alpha=lab.alpha)
    adam = optimizers.Adam(lab.learning_rate)
    adam.build(mobilenet.trainable_variables)
    epoch_metrics = new_metrics()
print(f"The network has {mobilenet.count_params():,} parameters")

# %% [markdown]
# The layers around MobileNetV2 enlarge a digit, repeat it to three channels, pool, and
# classify. 64 pixels a side leave 2x2 places before the pooling. (A metric has a copy on
# every replica that counts on its own; they are added up when you ask for the result.)

# %%
session.show_source(enlarge_and_classify)

# %% [markdown]
# ## Exercise 6.1: whose mean?
#
# A step follows the gradient of the batch's *mean* loss. But no replica sees the batch:
# each has its own part, and computes a gradient from that. The optimizer then **adds up**
# the gradients of all replicas, and every copy takes the same step.
#
# So what does a replica have to compute, that the *sum* over all replicas is the mean
# over the global batch?

# %% [markdown]
# Write `global_loss(losses, global_batch)`. It runs on a replica. `losses` is a tensor
# with the loss of each of *its* images; `global_batch` is the number of images on all
# replicas together, two or more. Return one number, this replica's share of the mean:
# what its own images contribute. The gradient flows through it.
#
# Example: the global batch has 4 images. One replica has losses 1, 2 and 3, the other
# only one loss, 6. The mean is 3, and the shares are 1.5 and 1.5. (Our pipeline makes
# equal parts; a right answer does not count on that.) One line.

# %% name="6.1-global-loss" points=2
# TODO 6.1: this replica's share of the mean loss over the global batch.
#: start
def global_loss(losses, global_batch):
    """This replica's share of the mean loss over the global batch."""
    return tf.reduce_mean(losses)
#: solution
def global_loss(losses, global_batch):
    """This replica's share of the mean loss over the global batch."""
    return tf.reduce_sum(losses) / global_batch
#: end

# %%
global_loss = check("6.1", global_loss)

# %% [markdown]
# ## How much does a remainder count?
#
# TensorFlow has this line, too: `tf.nn.compute_average_loss(losses,
# global_batch_size=...)`. The second argument may be left out. Then each replica assumes
# that all the others have as many images as itself.
#
# Nine images with losses 1, 2, ... 9 have the mean 5. On four replicas they are 3, 3, 3
# and none: a strategy fills one part after the other. **Predict:** what do the four
# shares add up to, if the argument is left out?

# %%
my_mean_guess = None  # change this: a number, 5 if nothing goes wrong
card.predict("mean_on_four_replicas", my_mean_guess)

# %%
card.lock("mean_on_four_replicas")
nine = tensorflow.data.Dataset.range(1, 10, output_type=tensorflow.float32).batch(9)
for n in (1, 2, 3, 4):
    some = simulated_strategy(n)
    [losses_of_all] = some.experimental_distribute_dataset(nine)
    sizes = [len(part) for part in some.experimental_local_results(losses_of_all)]
    shares = some.run(tensorflow.nn.compute_average_loss, args=(losses_of_all,))
    total = float(some.reduce("SUM", shares, axis=None))
    print(f"Losses on each replica {sizes}: the shares add up to {total:.2f}")
card.outcome("mean_on_four_replicas", total)

# %% [markdown]
# Each replica took the mean of its own losses and divided by the number of replicas. So
# an image counts more where fewer are, and a replica without any counts as a loss of 0.
# Nothing fails: a *ragged* batch, one that does not divide, silently trains something
# else. Divide by the images that all replicas have together.
#
# Keras' own loss objects do the same inside `strategy.run`: `CategoricalCrossentropy()`
# divides by the number of replicas already. Divided once more, by you, it is wrong again.
# `keras.losses.categorical_crossentropy` gives one loss for each image, and leaves the
# division to you. Use that.

# %% [markdown]
# ## Exercise 6.2: a step on all replicas
#
# Two functions, one inside the other:
#
# - `replica_step(x, y)` is what every replica does with its part, and with no other:
#   `GradientTape`, one pass `model(x, training=True)`, a loss for each image, its share,
#   gradients, `optimizer.apply`, and two metrics, `"loss"` (give it the losses of the
#   images) and `"accuracy"`;
# - `train_step(x, y)`, a `@tf.function`, hands it to all replicas with
#   `strategy.run(replica_step, args=(x, y))` and makes one number of what they return:
#   `strategy.reduce("SUM", shares, axis=None)`.

# %% [markdown]
# Write `make_train_step`, which gets all that they need and returns `train_step`. That
# takes a distributed batch and returns its mean loss. `global_loss(losses,
# global_batch)` is yours from 6.1, but call what you are given: the lab will also pass a
# wrong one. The caller resets the metrics, and `"valid_loss"` and `"valid_accuracy"` are
# not for this step. `strategy.run` returns one object that holds a value of every replica:
# the *shares*. About fifteen lines.
#
# Where are the gradients added up? In `optimizer.apply`: it waits for all replicas
# (*all-reduce*). So it belongs in `replica_step`, and every replica must call it.

# %% [markdown]
# What lab 05 says to leave away under a strategy holds for a loop of your own, too:
# `jit_compile=True`, `gradient_accumulation_steps` and `mixed_float16`.

# %% name="6.2-train-step" points=3
# TODO 6.2: a step that all replicas do together; it returns the mean loss.
#: start
def make_train_step(strategy, model, optimizer, metrics, global_loss, global_batch):
    """A function of a distributed batch that trains on it and returns its mean loss."""

    def replica_step(x, y):
        probabilities = model(x, training=True)
        losses = keras.losses.categorical_crossentropy(y, probabilities)
        return global_loss(losses, global_batch)

    @tf.function
    def train_step(x, y):
        return strategy.run(replica_step, args=(x, y))

    return train_step
#: solution
def make_train_step(strategy, model, optimizer, metrics, global_loss, global_batch):
    """A function of a distributed batch that trains on it and returns its mean loss."""

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            probabilities = model(x, training=True)
            losses = keras.losses.categorical_crossentropy(y, probabilities)
            share = global_loss(losses, global_batch)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        metrics["loss"].update_state(losses)
        metrics["accuracy"].update_state(y, probabilities)
        return share

    @tf.function
    def train_step(x, y):
        shares = strategy.run(replica_step, args=(x, y))
        return strategy.reduce("SUM", shares, axis=None)

    return train_step
#: end

# %%
make_train_step = check("6.2", make_train_step)

# %% [markdown]
# Validation is shorter: no tape, no optimizer, nothing to reduce, for the metrics keep
# count.

# %%
def make_valid_step(strategy, model, metrics):
    """A function of a distributed batch that measures it."""

    def replica_step(x, y):
        probabilities = model(x, training=False)
        losses = categorical_crossentropy(y, probabilities)
        metrics["valid_loss"].update_state(losses)
        metrics["valid_accuracy"].update_state(y, probabilities)

    @tensorflow.function
    def valid_step(x, y):
        strategy.run(replica_step, args=(x, y))

    return valid_step

# %% [markdown]
# ## The wrong loss, measured
#
# What happens if every replica averages over its own images? We let a small network take
# its first step, with your step and with two losses: yours, and the wrong one. It runs on
# 1, 2, 4 *simulated* replicas, whatever you have, for only the numbers count here, not
# the time.
#
# **Predict:** on four replicas, how many times as long is the step with the wrong loss as
# with the right one, with plain SGD, and with Adam?

# %%
# Change both None: length of the wrong step / length of the right one.
my_times_guess = {"SGD": None, "Adam": None}
times_guess = card.predict("wrong_step_over_right", my_times_guess)

# %%
card.lock("wrong_step_over_right")

def mean_of_own(losses, global_batch):
    """Wrong on more than one replica."""
    return tensorflow.reduce_mean(losses)

def small_network():
    """One hidden layer; it traces in no time."""
    return Sequential([
        Input((28, 28, 1)), layers.Rescaling(1 / 255), layers.Flatten(),
        layers.Dense(32, activation="relu"), layers.Dense(10, activation="softmax"),
    ])  # fmt: skip

# %%
def new_small(optimizer_class=optimizers.SGD, rate=0.2):
    """The small network, always with the same weights, and its optimizer."""
    utils.set_random_seed(lab.seed)
    network, its_optimizer = small_network(), optimizer_class(rate)
    its_optimizer.build(network.trainable_variables)
    return network, its_optimizer

def flat_weights(network):
    """All weights in one array."""
    return numpy.concatenate([array.ravel() for array in network.get_weights()])

# %%
def small_training(replicas, loss, optimizer_class, rate):
    """Length of the first step, and the mean loss of every step, of the small network."""
    some = simulated_strategy(replicas)
    with some.scope():
        (network, its_optimizer), counts = new_small(optimizer_class, rate), new_metrics()
    step = make_train_step(some, network, its_optimizer, counts, loss, 64)
    data = batches(x_train, y_train, 64, lab.seed, repeat=True).take(40)
    weights, losses = [flat_weights(network)], []
    for batch in some.experimental_distribute_dataset(data):
        counts["loss"].reset_state()
        step(*batch)
        losses.append(float(counts["loss"].result()))
        weights.append(flat_weights(network))
    return float(numpy.linalg.norm(weights[1] - weights[0])), losses

# %%
logical_cpus = len(tensorflow.config.list_logical_devices("CPU"))
counts = [n for n in (1, 2, 4, 8) if n <= logical_cpus]
ways = [("SGD", optimizers.SGD, 0.2), ("Adam", optimizers.Adam, 0.001)]
lengths, curves = {}, {}
with no_hang("training a small network"):
    for name, *way in ways:
        right, curves[f"{name}, one device"] = small_training(1, global_loss, *way)
        for share, text in ((global_loss, "global mean"), (mean_of_own, "mean of own")):
            row = [small_training(n, share, *way) for n in counts[1:]]
            lengths[f"{name}, {text}"] = [1.0] + [length / right for length, _ in row]
            for n, (_, curve) in zip(counts[1:], row, strict=True):
                curves[f"{name}, {text}, {n} replicas"] = curve

# %%
wrong = {name: lengths[f"{name}, mean of own"][-1] for name in ("SGD", "Adam")}
card.measure("step_length_over_one_device", lengths)
shown = {k: v for k, v in curves.items() if "SGD" in k and "global mean, 2" not in k}
figure = figures.step_lengths(counts, lengths, shown, times_guess)
text = f"On {counts[-1]} simulated replicas the first step with the wrong loss is "
text += f"{wrong['SGD']:.2f} times as long with SGD, and {wrong['Adam']:.2f} times with Adam."
show_figure(figure, text, session.caption())
on_four = counts.index(4)
outcome = {name: lengths[f"{name}, mean of own"][on_four] for name in wrong}
card.outcome("wrong_step_over_right", outcome)
right = max(abs(times - 1) for name in wrong for times in lengths[f"{name}, global mean"])
print(f"With the right loss no first step differs by more than {100 * right:.4f}%")
for name, curve in shown.items():
    print(f"{name}: mean loss {numpy.mean(curve[-10:]):.3f} in the last ten steps")

# %% [markdown]
# A replica's mean divides by the images on the replica, which are too few by a factor of
# the number of replicas. So the sum of gradients is too long by that factor, and with SGD
# that *is* a learning rate so many times larger. Nothing fails. The same script just
# trains differently on other machines, and you look for the reason anywhere else.

# %% [markdown]
# The right panel and the lines below it show what that does here. The rate, 0.2, is small
# for this network: twice as much may even be better. Four times as much may be more than
# it can take: does a loss jump up? So a script with this mistake can look like a good
# idea on two devices, and a bad one on four. But this is one run of each: other weights
# to start from may turn a small difference around.

# %% [markdown]
# Adam hides the mistake. It divides the gradient by its own usual size, so a factor on
# every gradient cancels. (Not quite: a small number is added to the divisor.) It comes out
# where somebody uses the size of the gradient, say to clip it, or goes from Adam to SGD.

# %% [markdown]
# ## Exercise 6.3: from devices to epochs
#
# So far the lab made the strategy, its scope and the distributed data. Now you do all of
# it. Write `train_on(devices, build, data, epochs)`. It returns the network and a list
# with the mean loss of each epoch, as floats.
#
# - Make a `tf.distribute.MirroredStrategy(devices=devices,
#   cross_device_ops=tf.distribute.ReductionToOneDevice())`. `devices` is a list of one or
#   more names, such as `["CPU:2", "CPU:0"]`.
# - `build()` makes a network with softmax and its optimizer. Call it once, inside the
#   strategy's scope.

# %% [markdown]
# - `data` is a `tf.data.Dataset` of global batches: images, one-hot labels. Let
#   `strategy.experimental_distribute_dataset` cut each into one part for each replica.
# - Every epoch goes once through `data`, which may shuffle each time. Each image goes once
#   through the network, in training mode, on one replica.
# - Each batch is one step of the optimizer, by the gradient of the mean cross-entropy of
#   its images. The last batch may be smaller, and a replica may have fewer images than
#   another, or none.
# - An epoch's loss is the mean over all its images, each measured in its own step.

# %% [markdown]
# `tf.nn.compute_average_loss(losses, global_batch_size=images)` is a replica's share. How
# many images all replicas have, Python can count before the step:
# `sum(len(part) for part in strategy.experimental_local_results(y))`. A
# `keras.metrics.Mean()`, made inside the scope, adds up over replicas by itself. About 25
# lines, of which you have written many in 6.2.
#
# Why `cross_device_ops`? With the default, TensorFlow 2.21 fails when a program has two
# strategies over CPUs, of different sizes. `HierarchicalCopyAllReduce` fails worse: with
# three replicas it adds up two, and says nothing. This kit used it until a comparison
# such as yours, below, showed that.

# %% name="6.3-train-on" points=3
# TODO 6.3: train on the named devices, from the strategy to every epoch's mean loss.
#: start
def train_on(devices, build, data, epochs):
    """Train on these devices; return the network and every epoch's mean loss."""
    model, optimizer = build()
    epoch_losses = []
    for _ in range(epochs):
        for x, y in data:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
        epoch_losses.append(float(tf.reduce_mean(losses)))
    return model, epoch_losses
#: solution
def train_on(devices, build, data, epochs):
    """Train on these devices; return the network and every epoch's mean loss."""
    strategy = tf.distribute.MirroredStrategy(
        devices=devices, cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model, optimizer = build()
        mean_loss = keras.metrics.Mean()

    def replica_step(x, y, images):
        with tf.GradientTape() as tape:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
            share = tf.nn.compute_average_loss(losses, global_batch_size=images)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        mean_loss.update_state(losses)

    @tf.function
    def train_step(x, y, images):
        strategy.run(replica_step, args=(x, y, images))

    epoch_losses = []
    for _ in range(epochs):
        mean_loss.reset_state()
        for x, y in strategy.experimental_distribute_dataset(data):
            images = sum(len(part) for part in strategy.experimental_local_results(y))
            train_step(x, y, images)
        epoch_losses.append(float(mean_loss.result()))
    return model, epoch_losses
#: end

# %%
train_on = check("6.3", train_on)

# %% [markdown]
# Now the comparison: the small network, 201 images, global batches of 64, three epochs.
# The last batch has nine images. Three replicas cannot even share 64 equally. **Predict:**
# on two, three or four devices instead of one, by how much does the weight that differs
# most differ at the end?

# %%
print(f"The largest weight starts as {abs(flat_weights(new_small()[0])).max():.4f}")
my_difference_guess = None  # change this: such as 0.1 or 0.0001
card.predict("largest_weight_difference", my_difference_guess)

# %%
card.lock("largest_weight_difference")
few = batches(x_train[:201], y_train[:201], 64)
ends = {}
with no_hang("training on one to four devices"):
    for n in (1, 2, 3, 4):
        network, epoch_losses = train_on([f"CPU:{i}" for i in range(n)], new_small, few, 3)
        ends[n] = flat_weights(network)
        print(f"Devices: {n}, loss of each epoch:", *(f"{loss:.4f}" for loss in epoch_losses))
differences = {n: float(abs(ends[n] - ends[1]).max()) for n in (2, 3, 4)}
card.measure("largest_weight_difference", differences)
for n, difference in differences.items():
    print(f"From 1 device to {n}, no weight differs by more than {difference:.1e}")
card.outcome("largest_weight_difference", max(differences.values()))

# %% [markdown]
# What is left comes from rounding: float32 keeps about seven digits, and a sum in another
# order is rounded differently. This is what a strategy promises, and the test of any loop
# for several devices: train a small network with plain SGD on one device and on several,
# with a remainder, and compare the weights. The wrong losses of this lab all show in it.

# %% [markdown]
# ## The large network
#
# Back to MobileNetV2, with all devices, your step from 6.2, and our loop for an epoch.
# Which line of it waits for the devices, and why does it stand before the clock stops?

# %%
def train_epoch(number, train_step, valid_step):
    """Train, validate and print; the epoch's figures, seconds without validation."""
    for metric in epoch_metrics.values():
        metric.reset_state()
    began = perf_counter()
    for batch in progress(train, total=steps, desc=f"Epoch {number}"):
        train_step(*batch)
    float(epoch_metrics["loss"].result())
    seconds = perf_counter() - began
    for batch in valid:
        valid_step(*batch)
    figures = {name: float(metric.result()) for name, metric in epoch_metrics.items()}
    print(f"Epoch {number}: " + ", ".join(f"{n} {v:.3f}" for n, v in figures.items()))
    return figures | {"train_seconds": seconds}

# %% [markdown]
# A GPU works while Python goes on, and whoever reads a metric waits for it. So the loop
# reads one before the clock stops: else the last steps would not be in the seconds. After
# every step it reads none: while Python waits, it gives the GPU no new work. (We measured
# this on no GPU. On a CPU, TensorFlow ends the step first.)

# %% [markdown]
# The first step takes long: Python runs once *for every replica* and leaves one large
# graph. How long, the first epoch will show. `follow` lets the dashboard watch, as in lab
# 04. **Predict** the validation accuracy after the last epoch.

# %%
my_accuracy_guess = None  # change this: from 0 to 1
accuracy_guess = card.predict("val_accuracy", my_accuracy_guess)

# %%
card.lock("val_accuracy")
train_step = make_train_step(
    strategy, mobilenet, adam, epoch_metrics, global_loss, global_batch
)
valid_step = make_valid_step(strategy, mobilenet, epoch_metrics)
dashboard = TrainingDashboard(session.caption(), steps * global_batch, print_epochs=False)

def logs(_):
    return {name.replace("valid", "val"): m.result() for name, m in epoch_metrics.items()}

epochs_and_steps = lab.epochs, steps, lab.valid_images // global_batch
with (
    no_hang("training on all replicas"),
    follow(dashboard, train_step, valid_step, logs, *epochs_and_steps) as watched,
):
    rows = [train_epoch(number, *watched) for number in range(1, lab.epochs + 1)]

# %%
training_history = {name: [row[name] for row in rows] for name in rows[0]}
epoch_seconds = training_history["train_seconds"]
speeds = [steps * global_batch / seconds for seconds in epoch_seconds]
accuracy = training_history["valid_accuracy"][-1]
card.measure("epochs", training_history)
card.measure("images_per_second", speeds[-1])
card.measure("val_accuracy", accuracy)
print(f"Images/sec: {speeds[-1]:.2f}")
print(f"First epoch: {epoch_seconds[0]:.2f} s, last: {epoch_seconds[-1]:.2f} s")
figure = figures.epoch_curves(training_history, accuracy_guess)
show_figure(figure, f"Validation accuracy ends at {accuracy:.3f}.", session.caption())
card.outcome("val_accuracy", accuracy)

# %% [markdown]
# A curve of training and one of validation do not measure the same. Training's figure is
# the mean over an epoch in which the weights changed; validation's comes after it. And
# batch normalisation uses the mean and the deviation of the images *on this replica* in
# training, and a running average of those in validation. Lab 05 has numbers for that.

# %% [markdown]
# Do the copies agree after all these steps? Each replica saw other images. **Predict:**
# which of the trained variables differ between the replicas? And which of the others,
# batch normalisation's running averages?

# %%
trained, others = mobilenet.trainable_variables, mobilenet.non_trainable_variables
# Change both: "none", "some" or "all".
my_variables_guess = {"trained": None, "others": None}
card.predict("variables_that_differ", my_variables_guess)

# %%
card.lock("variables_that_differ")

def differ(variables):
    """How many variables are not the same on all replicas, and that in a word."""
    found = 0
    for variable in variables:
        first, *rest = strategy.experimental_local_results(variable.value)
        found += any(numpy.any(first.numpy() != other.numpy()) for other in rest)
    return found, {0: "none", len(variables): "all"}.get(found, "some")

# %%
different = {"trained": differ(trained), "others": differ(others)}
for name, (found, word) in different.items():
    print(f"Variables that differ between replicas, {name}: {found} ({word})")
card.outcome("variables_that_differ", {name: word for name, (_, word) in different.items()})
mib = 4 * sum(numpy.prod(v.shape) for v in trained) / 2**20
card.measure("gradient_mib", float(mib))
print(f"Gradients of this network, in every step: {mib:.2f} MiB")

# %% [markdown]
# Weights start equal, and every step adds the same sum to each. So nobody ever copies
# weights around. What travels is the gradient: in every step, until everybody has the sum
# of all, and nobody goes on before it is there.
#
# Running averages have no gradient, and nothing travels for them. Each replica averages
# over its own images, and when you save the network, you save those of the first replica.

# %% [markdown]
# ## Why are eight GPUs not eight times as fast?
#
# Here the global batch stays, however many replicas there are, and each gets less: *strong
# scaling*. (Where each replica keeps its batch, and the global batch grows, it is *weak
# scaling*: lab 05.)

# %% [markdown]
# Split a step into what becomes shorter with more replicas, and what does not:
#
# - the images on a replica: of 64 in all each of eight replicas has 8. That part shrinks;
# - starting every operation, `t0` in lab 02: the same for 8 images as for 64;
# - the all-reduce: none on one device, then up to twice the gradients from each replica
#   (lab 05), however few images each has;
# - waiting for the slowest replica, and for the host to read, decode and send images.

# %% [markdown]
# Let one tenth of a step stay as it is, while eight replicas share the rest. **Predict:**
# how many times as fast are they?

# %%
my_speed_up_guess = None  # change this: from 1 to 8
card.predict("speed_up_of_eight", my_speed_up_guess)

# %% [markdown]
# The law that is named after Amdahl (1967) says: if a part `f` of a step stays and `n`
# replicas share the rest, the step takes `f + (1 - f) / n` of its time.

# %%
card.lock("speed_up_of_eight")

def speed_up(stays, replicas):
    """Amdahl's law: how many times as fast, if this part of a step stays."""
    return 1 / (stays + (1 - stays) / replicas)

for stays in (0.01, 0.10, 0.30):
    times = [speed_up(stays, n) for n in (2, 8, 1000)]
    print(f"If {100 * stays:.1f}% stays, {times[0]:.2f} times as fast on 2 replicas, ", end="")
    print(f"{times[1]:.2f} on 8, {times[2]:.2f} on a thousand")
card.outcome("speed_up_of_eight", speed_up(0.10, 8))
spare = input_speeds["files"] / speeds[-1]
print(f"The image files came {spare:.1f} times as fast as this training needed them")

# %% [markdown]
# Amdahl leaves out what more replicas *add*, the all-reduce and the waiting. The last
# line is a limit of its own. The files were read while nobody trained, with all cores of
# the host. With so many times the speed, at best, the host would be the slowest part,
# however many GPUs there are.

# %% [markdown]
# What helps? Let the global batch grow with the replicas, so that a step has more to
# share: that is why lab 05 scales the learning rate. Each epoch then has fewer steps, but
# training may need more epochs (lab 03). We measure no speed-up here: simulated replicas
# share the cores with the host and with each other, and so would the result.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("06")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "The wrong loss, measured". What goes wrong when every replica
# takes the mean of its own share, and how does the figure show it?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="6.figure" points=2
# **6.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# A strategy mirrors variables, splits batches and adds up gradients; what it cannot know
# is by how many images you meant to divide. Each replica contributes its losses divided
# by the images of all, also where a batch does not divide, and then one device and
# several train the same. Communication, fixed costs and the host are what keeps eight
# devices from being eight times as fast.
#
# Two questions to take along. Lab 04's `train_step` averages with `tf.reduce_mean`: what
# would it do here, and would its Nadam let you notice? And which line of your loop would
# you look at first if two replicas trained no faster than one?
#
# To read on: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks"
# (2018); Goyal et al., "Accurate, Large Minibatch SGD" (2017), whose section 3 lists
# such pitfalls; Amdahl, "Validity of the Single Processor Approach" (1967).
