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
# replicas, a step that they do together, and the epochs around it. You also see what a
# wrong loss does. Without a GPU the CPU is split into *simulated*
# devices, threads of one processor: what they compute is real; how fast they are is real
# up to the number of cores.

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
from helpers import session

small = {"image_size": 64, "alpha": 0.35}
sizes = {
    "smoke": small | {"train_images": 256, "valid_images": 128},
    "laptop": small | {"train_images": 4096, "valid_images": 512},
    "gpu": {"image_size": 112, "alpha": 1.0, "train_images": 60_000, "valid_images": 10_000},
}
lab = session.start(
    "06_many_gpus_loop", globals(), sizes, devices="all", simulated_replicas=2
)

# %%
# keras, np, tf and time are for your answers: bind them to what you like. Our own cells
# use other names.
import time
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
from helpers.pipelines import batches

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
files = sum(1 for _ in folder.glob("train/*/*.png"))
print(f"Image files: {files:,} to train on")

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
my_array_guess = 1.0  # change this
card.predict("array_over_files", my_array_guess)

# %%
def images_per_second(data):
    """How fast a pipeline gives images, when nobody trains."""
    began = perf_counter()
    images = sum(len(labels) for _, labels in data)
    return images / (perf_counter() - began)

in_memory = batches(x_train, y_train, lab.batch_size, seed=lab.seed)
input_speeds = {"array": images_per_second(in_memory), "files": images_per_second(files)}
card.measure("input_images_per_second", input_speeds)
for name, speed in input_speeds.items():
    print(f"Images/sec from {name}: {speed:.2f}")
ratio = input_speeds["array"] / input_speeds["files"]
print(f"The array is {ratio:.1f} times as fast, you guessed {my_array_guess:.1f}")

# %% [markdown]
# Keep the speed of the files in mind. A network that trains slower than this does not
# notice. But every replica that you add wants its own images, at the same time, from the
# same host.

# %% [markdown]
# ## What a replica gets
#
# The *global batch* is what the optimizer takes one step for. The strategy hands every
# replica an equal part of it. The remainder at the end of an epoch is dropped: parts of
# unequal size are another shape, and some replicas might get nothing at all, which ends
# in an error. In validation, too: the last images, fewer than a batch, go unseen. Lab 07
# shows how none is lost.

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
    options.autotune.enabled = False  # as in helpers/pipelines.py
    return data.batch(global_batch, drop_remainder=True).prefetch(2).with_options(options)

# %%
train = strategy.experimental_distribute_dataset(pipeline("train", x_train, y_train, lab.seed))
valid = strategy.experimental_distribute_dataset(pipeline("test", x_valid, y_valid, None))
images, one_hot = next(iter(train))
parts = [len(part) for part in strategy.experimental_local_results(images)]
print(f"Global batch: {global_batch} images, of which the replicas get {parts}")

# %% [markdown]
# ## What the scope does
#
# Inside `strategy.scope()` every variable is *mirrored*: there is a copy on every
# replica, and all begin equal. So whatever has variables is made there: network,
# optimizer, metrics. The optimizer makes its own when it is built, so build it there,
# too. Later it would make them in the middle of a step.

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
# replicas together. Return one number, this replica's share of the mean.
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
# What a wrong share does to training, you measure further below.
#
# Keras' own loss objects know about strategies: inside `strategy.run`,
# `CategoricalCrossentropy()` divides by the number of replicas already. Divided once
# more, by you, it is wrong again. Functions such as
# `keras.losses.categorical_crossentropy`, and loss objects with `reduction="none"`, give
# one loss for each image, and leave the division to you. Use those.

# %% [markdown]
# ## Exercise 6.2: a step on all replicas
#
# Two functions, one inside the other:
#
# - `replica_step(x, y)` is what every replica does with its part: `GradientTape`,
#   `model(x, training=True)`, a loss for each image, its share, gradients,
#   `optimizer.apply`, and two metrics, `"loss"` (give it the losses of the images) and
#   `"accuracy"`;
# - `train_step(x, y)`, a `@tf.function`, hands it to all replicas with
#   `strategy.run(replica_step, args=(x, y))` and makes one number of what they return:
#   `strategy.reduce("SUM", shares, axis=None)`.

# %% [markdown]
# Write `make_train_step`, which gets all that they need and returns `train_step`. That
# takes a distributed batch and returns its mean loss. `global_loss(losses,
# global_batch)` is yours from 6.1; `optimizer.apply(gradients, variables)` is that of
# lab 04. `strategy.run` returns one object that holds a value of every replica: the
# *shares*. About fifteen lines.
#
# Where are the gradients added up? In `optimizer.apply`: it waits for all replicas
# (*all-reduce*). So it belongs in `replica_step`, and every replica must call it.

# %% [markdown]
# What lab 05 says to leave away under a strategy holds for a loop of your own, too:
# `jit_compile=True`, `gradient_accumulation_steps`, `mixed_float16`, and a last batch
# that does not divide.

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
# 1, 2, ... *simulated* replicas, whatever you have, for only the numbers count here, not
# the time.
#
# **Predict:** on two replicas, how many times as long is the step with the wrong loss as
# with the right one, with plain SGD, and with Adam?

# %%
my_times_guess = {"SGD": 1.0, "Adam": 1.0}  # change these
card.predict("wrong_step_over_right", my_times_guess)

# %%
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
def small_training(replicas, loss, optimizer_class, rate):
    """Length of the first step, and the mean loss of every step, of the small network."""
    some = simulated_strategy(replicas)
    with some.scope():
        utils.set_random_seed(lab.seed)
        network, counts, sgd = small_network(), new_metrics(), optimizer_class(rate)
        sgd.build(network.trainable_variables)
    step = make_train_step(some, network, sgd, counts, loss, 64)
    data = batches(x_train, y_train, 64, lab.seed, repeat=True).take(40)
    weights, losses = [numpy.concatenate([w.ravel() for w in network.get_weights()])], []
    for x, y in some.experimental_distribute_dataset(data):
        counts["loss"].reset_state()
        step(x, y)
        losses.append(float(counts["loss"].result()))
        weights.append(numpy.concatenate([w.ravel() for w in network.get_weights()]))
    return float(numpy.linalg.norm(weights[1] - weights[0])), losses

# %%
logical_cpus = len(tensorflow.config.list_logical_devices("CPU"))
counts = [n for n in (1, 2, 4, 8) if n <= logical_cpus]
ways = [("SGD", optimizers.SGD, 0.2), ("Adam", optimizers.Adam, 0.001)]
lengths, curves = {}, {}
with no_hang("training a small network"):
    for name, optimizer_class, rate in ways:
        [(right, curve)] = [small_training(1, global_loss, optimizer_class, rate)]
        curves[f"{name}, one device"] = curve
        for share, text in ((global_loss, "global mean"), (mean_of_own, "mean of own")):
            row = [small_training(n, share, optimizer_class, rate) for n in counts[1:]]
            lengths[f"{name}, {text}"] = [1.0] + [length / right for length, _ in row]
            curves[f"{name}, {text}"] = row[-1][1]

# %%
wrong = {name: lengths[f"{name}, mean of own"][-1] for name in ("SGD", "Adam")}
card.measure("step_length_over_one_device", lengths)
figure = figures.step_lengths(counts, lengths, {k: v for k, v in curves.items() if "SGD" in k})
text = f"On {counts[-1]} simulated replicas the first step with the wrong loss is "
text += f"{wrong['SGD']:.2f} times as long with SGD, and {wrong['Adam']:.2f} times with Adam."
show_figure(figure, text, session.caption())
on_two = {name: lengths[f"{name}, mean of own"][1] for name in wrong}
for name, times in on_two.items():
    print(f"{name} on two replicas: {times:.2f} times, you guessed {my_times_guess[name]:.2f}")
right = max(abs(times - 1) for name in wrong for times in lengths[f"{name}, global mean"])
print(f"With the right loss no first step differs by more than {100 * right:.4f}%")

# %% [markdown]
# A replica's mean divides by the images on the replica, which are too few by a factor of
# the number of replicas. So the sum of gradients is too long by that factor, and with SGD
# that *is* a learning rate so many times larger. Nothing fails. The same script just
# trains differently on other machines, on some perhaps faster and on others not at all,
# and you look for the reason anywhere else.

# %% [markdown]
# In the right panel the wrong loss may even fall *faster*: 0.2 is a small rate for this
# network, and it has been multiplied unawares. With a rate at its limit it would have run
# away (lab 01).

# %% [markdown]
# Adam hides the mistake. It divides the gradient by its own usual size, so a factor on
# every gradient cancels. (Not quite: a small number stands in the divisor.) It comes out
# where size matters: when gradients are clipped, when weight decay is part of the loss,
# or when somebody goes from Adam to SGD.

# %% [markdown]
# ## Exercise 6.3: the epoch loop
#
# Write `train_model`. Every epoch goes once through `train` with `train_step(x, y)`, then
# once through `valid` with `valid_step(x, y)`, and prints
#
#     Epoch 1: loss 0.512, accuracy 0.834, valid_loss 0.311, valid_accuracy 0.905
#
# Each epoch's figures are its own: all four metrics are reset before it. The function
# returns a dict of lists, a value for every epoch: one for each metric's name, and
# `"train_seconds"`, without validation.

# %% [markdown]
# While an epoch trains, a bar shows how far it is: `progress(train, total=steps,
# desc="Epoch 1")` is a `tqdm` that gives the batches one by one. (`steps`, because a
# distributed data set has no `len()`.) It also shows the loss and the accuracy so far:
# `bar.set_postfix(loss=..., accuracy=...)` with floats, every tenth step and at the last.
#
# Why not at every step? Reading a metric waits until the devices have finished, and while
# Python waits it hands them no new work. About fifteen lines.

# %% name="6.3-train-model" points=3
# TODO 6.3: train with a bar, validate and print, epoch by epoch.
#: start
def train_model(train_step, valid_step, metrics, train, valid, epochs, steps):
    """Train and validate, print a line an epoch, return every epoch's figures."""
    for epoch in range(epochs):
        for x, y in progress(train, total=steps):
            train_step(x, y)
        print(f"Epoch {epoch}")
    return {}
#: solution
def train_model(train_step, valid_step, metrics, train, valid, epochs, steps):
    """Train and validate, print a line an epoch, return every epoch's figures."""
    history = {name: [] for name in (*metrics, "train_seconds")}
    for epoch in range(1, epochs + 1):
        for metric in metrics.values():
            metric.reset_state()
        began = time.perf_counter()
        bar = progress(train, total=steps, desc=f"Epoch {epoch}")
        for step, (x, y) in enumerate(bar, start=1):
            train_step(x, y)
            # Reading a metric waits for the devices: not after every step.
            if step % 10 == 0 or step == steps:
                names = ("loss", "accuracy")
                bar.set_postfix({name: float(metrics[name].result()) for name in names})
        history["train_seconds"].append(time.perf_counter() - began)
        for x, y in valid:
            valid_step(x, y)
        for name, metric in metrics.items():
            history[name].append(float(metric.result()))
        print(f"Epoch {epoch}: " + ", ".join(f"{n} {history[n][-1]:.3f}" for n in metrics))
    return history
#: end

# %%
train_model = check("6.3", train_model)

# %% [markdown]
# Now train. The first step takes long: Python runs once *for every replica* and leaves
# one large graph. On a laptop that can be most of the first epoch's time, and with eight
# simulated replicas it takes minutes. Then the bar moves, and `follow` lets the
# dashboard watch, as in lab 04.
#
# **Predict** the validation accuracy after the last epoch.

# %%
my_accuracy_guess = 0.5  # change this
card.predict("val_accuracy", my_accuracy_guess)

# %%
train_step = make_train_step(
    strategy, mobilenet, adam, epoch_metrics, global_loss, global_batch
)
valid_step = make_valid_step(strategy, mobilenet, epoch_metrics)
dashboard = TrainingDashboard(session.caption(), steps * global_batch, print_epochs=False)

def logs(_):
    return {name.replace("valid", "val"): m.result() for name, m in epoch_metrics.items()}

lengths = lab.epochs, steps, lab.valid_images // global_batch
with (
    no_hang("training on all replicas"),
    follow(dashboard, train_step, valid_step, logs, *lengths) as watched,
):
    training_history = train_model(*watched, epoch_metrics, train, valid, lab.epochs, steps)

# %%
epoch_seconds = training_history["train_seconds"]
speeds = [steps * global_batch / seconds for seconds in epoch_seconds]
accuracy = training_history["valid_accuracy"][-1]
card.measure("epochs", training_history)
card.measure("images_per_second", speeds[-1])
card.measure("val_accuracy", accuracy)
print(f"Images/sec: {speeds[-1]:.2f}")
print(f"First epoch: {epoch_seconds[0]:.2f} s, last: {epoch_seconds[-1]:.2f} s")
figure = figures.epoch_curves(training_history)
text = f"Validation accuracy ends at {accuracy:.3f}; you guessed {my_accuracy_guess:.3f}."
show_figure(figure, text, session.caption())

# %% [markdown]
# Validation may be far behind training in the first epoch or two. One reason is batch
# normalisation. In training it uses the mean and the deviation of the images *on this
# replica*; in validation a running average of those, which trails behind while the
# weights change fast. It is also the one place where replicas are not one device: lab 05
# has the numbers.

# %% [markdown]
# Do the copies agree after all these steps? Each replica saw other images. **Question**
# before you run the cell: how many of the trained variables differ between the replicas?

# %%
different = 0
for variable in mobilenet.trainable_variables:
    first, *others = strategy.experimental_local_results(variable.value)
    different += any(numpy.any(first.numpy() != other.numpy()) for other in others)
print(f"Trained variables that differ between replicas: {different}")
mib = 4 * sum(numpy.prod(v.shape) for v in mobilenet.trainable_variables) / 2**20
card.measure("gradient_mib", float(mib))
print(f"Gradients of this network, in every step: {mib:.2f} MiB")

# %% [markdown]
# They start equal, and every step adds the same sum to each. So nobody ever copies
# weights around. What travels is the gradient: in every step, until everybody has the sum
# of all, and nobody goes on before it is there.

# %% [markdown]
# ## Why are eight GPUs not eight times as fast?
#
# Lab 05 kept the batch of each replica, so the global batch grew. Here the global batch
# stays, 64, and each replica gets less.

# %% [markdown]
# Split a step into what becomes shorter with more replicas, and what does not:
#
# - the images on a replica: 64 in all are 8 on each of eight replicas. That part shrinks;
# - starting every operation, `t0` in lab 02: the same for 8 images as for 64;
# - the all-reduce: none on one device, then up to twice the gradients from each replica
#   (lab 05), however few images each has;
# - waiting for the slowest replica, and for the host to read, decode and send images.

# %% [markdown]
# Let one tenth of a step stay as it is, while eight replicas share the rest. **Predict:**
# how many times as fast are they?

# %%
my_speed_up_guess = 8.0  # change this
card.predict("speed_up_of_eight", my_speed_up_guess)

# %% [markdown]
# Amdahl (1967) has the law: if a part `f` of a step stays and `n` replicas share the
# rest, the step takes `f + (1 - f) / n` of its time.

# %%
for stays in (0.01, 0.10, 0.30):
    times = [1 / (stays + (1 - stays) / n) for n in (2, 8, 1000)]
    print(f"If {100 * stays:.1f}% stays, {times[0]:.2f} times as fast on 2 replicas, ", end="")
    print(f"{times[1]:.2f} on 8, {times[2]:.2f} on a thousand")
print(f"You guessed {my_speed_up_guess:.2f} for one tenth on 8")
spare = input_speeds["files"] / speeds[-1]
print(f"The image files come {spare:.1f} times as fast as this training needs them")

# %% [markdown]
# Amdahl leaves out what more replicas *add*, the all-reduce and the waiting: real
# training lies below his numbers. The last line is a limit of its own: with so many times
# the speed, at best, the host and its files would be the slowest part, however many GPUs
# there are.

# %% [markdown]
# What helps? Let the global batch grow with the replicas, so that a step has more to
# share: that is why lab 05 scales the learning rate. Each epoch then takes less time; but
# training may need more epochs (lab 03). And simulated replicas on the cores of one CPU
# show that your code is right, and little about the speed of GPUs.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("06")

# %%
session.finish()

# %% [markdown]
# ## What you learned
#
# A strategy mirrors variables, splits batches and adds up gradients; what it cannot know
# is by how many images you meant to divide. Each replica contributes its losses divided
# by the global batch, whatever the optimizer hides. Communication, fixed costs and the
# host are what keeps eight devices from being eight times as fast.
#
# Two questions to take along. Lab 04's `train_step` averages with `tf.reduce_mean`: what
# would it do here, and would its Nadam let you notice? And which line of your loop would
# you look at first if two replicas trained no faster than one?
#
# To read on: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks"
# (2018); Goyal et al., "Accurate, Large Minibatch SGD" (2017), whose section 3 lists
# such pitfalls; Amdahl, "Validity of the Single Processor Approach" (1967).
