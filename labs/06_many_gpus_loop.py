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
# In [lab 05](05_many_gpus_fit.ipynb) `fit` trained on several devices, and you changed
# hardly a line. Somebody must have split each batch, added up the gradients, and kept all
# copies of the network equal. How much of that is the strategy's work, and how much of it
# is yours?
#
# To find out, you write the loop yourself. One of its lines is a trap: written as for one
# device, it runs on four without an error message, but no longer makes the step that you
# wanted. There are four parts, and each ends at a good place for a break:
#
# 1. the trap, a single line of the loss;
# 2. a step for any number of replicas, and the damage that a wrong loss does;
# 3. a whole training loop, and a large network;
# 4. the reasons why eight GPUs are not eight times as fast.

# %% [markdown]
# > **Limits.** Without a GPU, the CPU is split into *simulated* devices, which are threads
# > of one processor. They compete for the same cores, so a simulation can show that your
# > code is right, but not how fast it would be on several devices. What the lab says about
# > waiting for a GPU has not been tested on one.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 3
batch_size: int = 64  # the global batch: split over the replicas
replicas: int = None  # None: all GPUs or TPU cores; without any, two simulated ones
gpu_indices: list = None  # which GPUs, such as [0, 2, 3]
train_images: int = None  # None here and below: set by the scale
valid_images: int = None
image_size: int = None  # digits are enlarged to this many pixels per side
alpha: float = None  # the width of MobileNetV2
learning_rate: float = 0.001
from_folders: bool = False  # train on image files, not on arrays

# %% [markdown]
# ## Set up
#
# The images are the handwritten digits of [MNIST](https://keras.io/api/datasets/mnist/)
# (LeCun, Cortes and Burges 1998), in grey and with 28x28 pixels. If you are stuck in
# exercise 6.1, call `hint("6.1")` in a new cell; each further call tells you more.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start(
    "06_many_gpus_loop", globals(), devices="all", simulated_replicas=2
)

# %%
# keras, np and tf are for your answers, which may overwrite them. The lab's own cells use
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
from helpers.lab_06.ex4_find_the_bug import script
from helpers.lab_06.models import enlarge_and_classify, mobilenet_v2
from helpers.machine.devices import new_strategy, simulated_strategy
from helpers.machine.watchdog import no_hang
from helpers.network.pipelines import batches
from helpers.notebook.listing import show_listing

use_figures()

# %%
if lab.device["simulated"]:
    # TensorFlow optimizes a graph before it runs. For several copies of this network,
    # this takes longer than it saves in such a short training.
    tensorflow.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
strategy = new_strategy()
print(f"Replicas: {strategy.num_replicas_in_sync}")

# %%
x_train, y_train, x_valid, y_valid = session.load_images(digits=True)

# %% [markdown]
# ## 1. The trap
#
# On one device, the loss of a batch is the mean over its images, so you would write
# `tf.reduce_mean(losses)`. On several devices, this line is the trap.
#
# The [strategy](../docs/glossary.md) keeps a copy of the network on each device, a
# [replica](../docs/glossary.md). It cuts each [global batch](../docs/glossary.md) into one
# part per replica, so a replica sees only some of the images.

# %% [markdown]
# ### Exercise 6.1: whose mean?
#
# The step should follow the gradient of the *mean* loss over the global batch,
#
# $$ L = \frac{1}{B} \sum_{i=1}^{B} \ell_i, $$
#
# where $B$ is the number of images in the global batch and $\ell_i$ is the loss of image
# $i$. From its own images, replica $r$ can compute only a *share* $s_r$ of this loss, and
# the gradient of its share. The optimizer then **adds up** the gradients of all replicas,
# and every copy of the network takes the same step. So if $\sum_r s_r = L$, the step
# follows the gradient of $L$.

# %% [markdown]
# **Write** `global_loss(losses, global_batch)`, which runs on one replica and returns its
# share $s_r$. Here `losses` is a tensor with the loss of each of *this replica's* images.
# `global_batch` is $B$, the number of images on all replicas together (at least two).
#
# **Rules**
#
# - The shares of all replicas add up to the mean over the global batch.
# - This holds for any number of replicas.
# - Replicas may have different numbers of images, and some may have none.
# - A share is one number, and it contains only what the replica's own images contribute.
# - The gradient flows through the share, so compute it with TensorFlow and not with NumPy.
#
# **Example.** The global batch has 4 images. One replica has the losses 1, 2 and 3, and
# the other has only one loss, 6. The mean is 3, and the shares are 1.5 and 1.5. One line
# is enough.

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
# ### How much does a remainder count?
#
# The share is a replica's sum of losses, divided by the size of the *global* batch:
#
# $$ s_r = \frac{1}{B} \sum_{i \in r} \ell_i. $$
#
# ![Two replicas with 3 and 1 images add up their losses, divide by the global batch of 4, and the sum of the two shares is the mean over all images.](../helpers/lab_06/diagrams/divided_loss.svg)
#
# TensorFlow's
# [`tf.nn.compute_average_loss`](https://www.tensorflow.org/api_docs/python/tf/nn/compute_average_loss)`(losses, global_batch_size=...)`
# does the same as your line. But if you leave out its second argument, each replica assumes
# that all others have as many images as itself.

# %% [markdown]
# Does that matter? Take nine images with the losses 1, 2, ..., 9, whose mean is 5. For four
# replicas, the strategy rounds 9/4 up to 3, so three replicas get three images each, and
# the last one gets none.
#
# **Question.** If the argument is left out, what do the four shares add up to?

# %%
nine = tensorflow.data.Dataset.range(1, 10, output_type=tensorflow.float32).batch(9)
for n in (1, 2, 3, 4):
    some = simulated_strategy(n)
    [losses_of_all] = some.experimental_distribute_dataset(nine)
    sizes = [len(part) for part in some.experimental_local_results(losses_of_all)]
    shares = some.run(tensorflow.nn.compute_average_loss, args=(losses_of_all,))
    total = float(some.reduce("SUM", shares, axis=None))
    print(f"Images on each replica {sizes}: the shares add up to {total:.2f}")

# %% [markdown]
# Without the argument, replica $r$ with $b_r$ images computes
#
# $$ \frac{1}{n\, b_r} \sum_{i \in r} \ell_i, $$
#
# where $n$ is the number of replicas. So an image counts more if its replica has few
# images, and a replica without images counts as if its loss were 0. On a [*ragged*
# batch](../docs/glossary.md), which does not divide evenly, training silently follows a
# different loss.

# %% [markdown]
# <details><summary>A similar trap in the loss objects of Keras</summary>
#
# Inside `strategy.run`, `CategoricalCrossentropy()` already divides by the number of
# replicas. Use
# [`keras.losses.categorical_crossentropy`](https://keras.io/api/losses/probabilistic_losses/)
# instead: it returns one loss for each image, and leaves the division to you.
#
# </details>

# %% [markdown]
# ## 2. From a share to a step
#
# Now your share becomes a training step, which consists of two functions:
#
# - `replica_step(x, y)` is what every replica does with its own part of the batch. It is
#   the step of [lab 04](04_custom_training_loop.ipynb), with a
#   [`GradientTape`](https://www.tensorflow.org/api_docs/python/tf/GradientTape), and
#   returns the replica's share.
# - `train_step(x, y)` is a
#   [`@tf.function`](https://www.tensorflow.org/api_docs/python/tf/function). It calls
#   [`strategy.run(replica_step, args=(x, y))`](https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#run),
#   which runs the first function on all replicas and returns one object with all shares.
#   Then
#   [`strategy.reduce("SUM", shares, axis=None)`](https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#reduce)
#   adds them up to one number.
#
# **Question.** Where are the gradients added up? Neither of these two functions mentions
# it.

# %% [markdown]
# They are added up in [`optimizer.apply`](https://keras.io/api/optimizers/), which waits
# for the gradients of all replicas before it changes a weight. This exchange is called an
# [*all-reduce*](../docs/glossary.md). Every replica has to take part in it, so `apply`
# belongs in `replica_step`.
#
# Your step also updates the training metrics in this dict:

# %%
def new_metrics():
    """Metrics of training and of validation; call this inside the scope."""
    return {
        "loss": Mean(),
        "accuracy": CategoricalAccuracy(),
        "valid_loss": Mean(),
        "valid_accuracy": CategoricalAccuracy(),
    }

# %% [markdown]
# <details><summary>Three options that you should leave out</summary>
#
# On simulated replicas, `jit_compile=True` and `gradient_accumulation_steps` end in an
# error. With `mixed_float16`, an overflow on one replica could silently ruin the weights,
# which we did not measure. The reasons are the same as with `fit` in [lab
# 05](05_many_gpus_fit.ipynb).
#
# </details>

# %% [markdown]
# ### Exercise 6.2: a step on all replicas
#
# Your step works for any network and any strategy, and the lab will train two networks
# with it.
#
# **Write**
# `make_train_step(strategy, model, optimizer, metrics, global_loss, global_batch)`, which
# returns `train_step`, a function of a distributed batch.
#
# **Rules**
#
# - Every replica works on its own part of the batch.
# - Each image goes through the network once, with `training=True`.
# - The given optimizer follows the gradient of the sum of the shares, and updates all
#   trainable variables.
# - A share comes from the `global_loss` that is given, because the lab will also pass a
#   wrong one.
# - `metrics["loss"]` gets the losses of the images, and `metrics["accuracy"]` gets the
#   predictions of the same pass.
# - Leave the two validation metrics alone, and reset no metric.
# - `train_step` returns one number, the mean loss of the batch. With the right
#   `global_loss`, the sum of the shares is the same. (With a wrong one, this sum differs
#   from the mean loss, and the check accepts both.)
# - `train_step` is a `tf.function`, so that Python does not run for every batch.
#
# **Example.** With an untrained network for ten classes, the first call of
# `train_step(x, y)` returns about 2.3, because $-\ln 0.1 \approx 2.3$. You need about
# fifteen lines.

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
# ### The wrong loss, measured
#
# How much harm does the trap do? A small network takes its first step with your
# `make_train_step`, once with your loss and once with the mean over each replica's own
# images, on 1, 2 and 4 *simulated* replicas.
#
# **Predict:** on four replicas, by what factor does the wrong loss make this step longer,
# with plain SGD and with Adam?

# %%
# Replace both None by: length of the wrong step / length of the right step.
my_times_guess = {"SGD": None, "Adam": None}
times_guess = card.predict("wrong_step_over_right", my_times_guess)

# %%
card.lock("wrong_step_over_right")

def mean_of_own(losses, global_batch):
    """The mean over a replica's own images: wrong on more than one replica."""
    return tensorflow.reduce_mean(losses)

def small_network():
    """A network with one hidden layer, which is traced quickly."""
    return Sequential([
        Input((28, 28, 1)), layers.Rescaling(1 / 255), layers.Flatten(),
        layers.Dense(32, activation="relu"), layers.Dense(10, activation="softmax"),
    ])  # fmt: skip

# %%
def new_small(optimizer_class=optimizers.SGD, rate=0.2):
    """The small network, always with the same first weights, and its optimizer."""
    utils.set_random_seed(lab.seed)
    network, its_optimizer = small_network(), optimizer_class(rate)
    its_optimizer.build(network.trainable_variables)
    return network, its_optimizer

def flat_weights(network):
    """All weights in one array."""
    return numpy.concatenate([array.ravel() for array in network.get_weights()])

# %%
def small_training(replicas, loss, optimizer_class, rate):
    """Train the small network; return its first step's length and each step's loss."""
    some = simulated_strategy(replicas)
    with some.scope():
        (network, its_optimizer), metrics = new_small(optimizer_class, rate), new_metrics()
    step = make_train_step(some, network, its_optimizer, metrics, loss, 64)
    data = batches(x_train, y_train, 64, lab.seed, repeat=True).take(40)
    weights, losses = [flat_weights(network)], []
    for batch in some.experimental_distribute_dataset(data):
        metrics["loss"].reset_state()
        step(*batch)
        losses.append(float(metrics["loss"].result()))
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
print("With the right loss, the length of the first step differs from that on one device "
      f"by at most {100 * right:.4f}%")
for name, curve in shown.items():
    print(f"{name}: mean loss {numpy.mean(curve[-10:]):.3f} in the last ten steps")

# %% [markdown]
# With equal parts, a replica's own mean divides by $B/n$ instead of $B$. Summed over the
# replicas, the gradient is therefore $n$ times too long:
#
# $$ \sum_{r=1}^{n} \nabla \Big( \frac{1}{B/n} \sum_{i \in r} \ell_i \Big) = n\, \nabla L. $$
#
# Let $\eta$ be the learning rate (which labs 01 and 05 call $\varepsilon$). Without weight
# decay or clipping, SGD then makes exactly the step of the rate $n \eta$. The same script
# simply trains differently on a machine with more devices, and you look for the reason
# everywhere but in the loss.

# %% [markdown]
# <details><summary>If you know PyTorch</summary>
#
# [DDP](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
# does not add up the gradients of its processes, but *averages* them. So there, each
# process's own mean loss is right, as long as all processes have the same number of images.
# The share from exercise 6.1 would make the gradient $n$ times too short.
#
# </details>

# %% [markdown]
# A rate of 0.2 is small for this network. On two devices the mistake doubles it, so the
# script can even seem to train better. On four devices, training may suffer. Do your curves
# show that? (Each is a single run, so other initial weights may reverse a small
# difference.)

# %% [markdown]
# [Adam](https://keras.io/api/optimizers/adam/) ([Kingma and Ba
# 2014](https://arxiv.org/abs/1412.6980)) hides the mistake. For each weight, it divides a
# running average of the gradient, $\hat m$, by the typical size of this gradient,
# $\sqrt{\hat v}$, where $\hat v$ is a running average of the squared gradient. A factor of
# $n$ on every gradient therefore cancels, up to the small number $\epsilon$ in the
# denominator:
#
# $$ \eta\, \frac{n \hat m}{n \sqrt{\hat v} + \epsilon} \approx \eta\, \frac{\hat m}{\sqrt{\hat v} + \epsilon}. $$
#
# The mistake comes to light when the size of the gradient matters, for example when
# somebody clips the gradients or switches to SGD.

# %% [markdown]
# ## 3. A whole training loop
#
# A right step is not yet a right training. So far, the lab created the network and
# distributed the data for you. Now you do this yourself, without dropping an image.

# %% [markdown]
# ### Exercise 6.3: from a strategy to epochs
#
# Compared with exercise 6.2, three things are new:
#
# 1. *The scope.* Inside
#    [`strategy.scope()`](https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope)
#    every variable is *mirrored*: each replica has a copy, and all copies start equal. So
#    create everything that has variables there: the network, the metrics, and the
#    optimizer, whose variables, such as Adam's running averages, `optimizer.build` creates
#    (here `build()` calls it). A
#    [`keras.metrics.Mean()`](https://keras.io/api/metrics/reduction_metrics/) from the
#    scope combines the values of all replicas by itself.
# 2. *The data.*
#    [`strategy.experimental_distribute_dataset(data)`](https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#experimental_distribute_dataset)
#    cuts each global batch into one part for each replica.
# 3. *The division.* In the last batch, a replica may have fewer images than the others, or
#    none at all. So divide by the number of images that *this* batch really has. Python can
#    count them before each step:
#    `sum(len(part) for part in strategy.experimental_local_results(y))`.

# %% [markdown]
# **Write** `train_on(strategy, build, data, epochs)`, which returns the network and a list
# with the mean loss of each epoch, as floats. `build()` makes a network that ends in a
# softmax, and its optimizer. `data` is a
# [`tf.data.Dataset`](https://www.tensorflow.org/api_docs/python/tf/data/Dataset) of
# `len(data)` global batches, each with images and one-hot labels.
#
# **Rules**
#
# - Call `build` once, inside the scope of the strategy that is given.
# - Go through `data` once in every epoch.
# - Each image goes once through the network, on one replica, in `strategy.run` and in
#   training mode.
# - Each batch is one step of the optimizer that `build` made, along the gradient of the
#   *mean* cross-entropy over the images in this batch.
# - An epoch's loss is the mean over all images of this epoch. For each image, take the loss
#   from the step that trained on it.
#
# **Example.** `train_on(strategy, new_small, data, 3)` returns a network and a list of
# three floats. You need about 20 lines, many of which you wrote in 6.2. Which of them run
# once, which once in an epoch, and which once in a batch?

# %% name="6.3-train-on" points=3
# TODO 6.3: train on a strategy's replicas, from the scope to every epoch's mean loss.
#: start
def train_on(strategy, build, data, epochs):
    """Train on all replicas; return the network and every epoch's mean loss."""
    model, optimizer = build()
    epoch_losses = []
    for _ in range(epochs):
        for x, y in data:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
        epoch_losses.append(float(tf.reduce_mean(losses)))
    return model, epoch_losses
#: solution
def train_on(strategy, build, data, epochs):
    """Train on all replicas; return the network and every epoch's mean loss."""
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
# Does your function give the same weights on any number of devices? The small network
# trains for three epochs on 201 images in global batches of 64. The last batch has only
# nine, and three replicas cannot even share 64 equally.
#
# **Predict:** compare each weight after training on two, three or four devices with the
# same weight after training on one. How large is the largest difference?

# %%
print(f"The largest weight starts as {abs(flat_weights(new_small()[0])).max():.4f}")
my_difference_guess = None  # change this, for example to 0.1 or 0.0001
card.predict("largest_weight_difference", my_difference_guess)

# %%
card.lock("largest_weight_difference")
few = batches(x_train[:201], y_train[:201], 64)
final_weights = {}
with no_hang("training on one to four devices"):
    for n in (1, 2, 3, 4):
        network, epoch_losses = train_on(simulated_strategy(n), new_small, few, 3)
        final_weights[n] = flat_weights(network)
        print(f"Devices: {n}, loss of each epoch:", *(f"{loss:.4f}" for loss in epoch_losses))
differences = {n: float(abs(final_weights[n] - final_weights[1]).max()) for n in (2, 3, 4)}
card.measure("largest_weight_difference", differences)
for n, difference in differences.items():
    print(f"Largest difference of a weight between {n} devices and 1: {difference:.1e}")
card.outcome("largest_weight_difference", max(differences.values()))

# %% [markdown]
# Only rounding remains: float32 keeps about seven digits, and a sum in a different order
# is rounded differently.
#
# Test every loop like this: train a small network with plain SGD on one device and on
# several, with a remainder, and compare the weights. That exposes every wrong loss of this
# lab. But with dropout or ordinary batch normalisation, the weights differ even if the
# loop is right ([lab 05](05_many_gpus_fit.ipynb)).

# %% [markdown]
# <details><summary>A bug in TensorFlow that this test found</summary>
#
# In our test on three simulated replicas, `HierarchicalCopyAllReduce` in TensorFlow 2.21
# added up the gradients of only two, without any message. (Several GPUs use NCCL by
# default, which is other code.) That is why `simulated_strategy` asks for
# [`ReductionToOneDevice`](https://www.tensorflow.org/api_docs/python/tf/distribute/ReductionToOneDevice)
# instead.
#
# </details>

# %% [markdown]
# ### The large network
#
# Your code gives the right weights, so now train a large network on all devices. `train_on`
# reports only the training loss, but here we also validate after each epoch, so the lab
# puts your step from 6.2 into a loop of its own. Convolutions and batch normalisation fail
# on a replica without images, so our pipeline drops images that do not fill a global batch,
# in training and in validation. ([Lab 07](07_tpu_cores.ipynb) shows how to test without
# losing an image.)

# %% [markdown]
# The network is [MobileNetV2](https://keras.io/api/applications/mobilenet/) ([Sandler et
# al. 2018](https://arxiv.org/abs/1801.04381)), which needs few operations, but has many
# layers. At `gpu` scale it has its full width, and gets all digits at 112x112 pixels.
# `smoke` and `laptop` use 64x64 pixels, about a third of the width, and fewer digits. The
# layers around it enlarge a digit, copy it to three channels, pool, and classify.

# %%
utils.set_random_seed(lab.seed)
with strategy.scope():
    mobilenet = mobilenet_v2(lab.image_size, classes=10, alpha=lab.alpha)
    adam = optimizers.Adam(lab.learning_rate)
    adam.build(mobilenet.trainable_variables)
    epoch_metrics = new_metrics()
print(f"The network has {mobilenet.count_params():,} parameters")

# %%
session.show_source(enlarge_and_classify)

# %% [markdown]
# The next cell writes the digits as image files, which part 4 reads. (If you set
# `from_folders`, the network trains on these files, too.)

# %%
parts_of_data = {"train": (x_train, y_train), "test": (x_valid, y_valid)}
folder = write_class_folders("mnist", MNIST_CLASSES, **parts_of_data)
print(f"Image files in {len(MNIST_CLASSES)} folders: {len(y_train):,} to train on")

def read_folder(part, **options):
    """Batches of float32 images (28, 28, 1) and one-hot labels, read from files."""
    return utils.image_dataset_from_directory(
        folder / part, label_mode="categorical", class_names=MNIST_CLASSES, color_mode="grayscale",
        image_size=(28, 28), verbose=False, **options,
    )  # fmt: skip

# %%
per_replica_batch = max(1, lab.batch_size // lab.replicas)
global_batch = per_replica_batch * lab.replicas
steps = lab.train_images // global_batch
if global_batch > min(lab.train_images, lab.valid_images):
    raise LabError(f"a global batch of {global_batch} needs more images, or fewer replicas")

def pipeline(part, images, labels, seed):
    """Full global batches, shuffled in every epoch if there is a seed."""
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
# A validation step needs no tape, no optimizer and no shares, because the metrics keep
# count.
#
# **Question.** Which line of `train_epoch` waits for the devices, and why must it come
# before the clock stops?

# %%
def make_valid_step(strategy, model, metrics):
    """A function that updates the validation metrics with a distributed batch."""

    def replica_step(x, y):
        probabilities = model(x, training=False)
        losses = categorical_crossentropy(y, probabilities)
        metrics["valid_loss"].update_state(losses)
        metrics["valid_accuracy"].update_state(y, probabilities)

    @tensorflow.function
    def valid_step(x, y):
        strategy.run(replica_step, args=(x, y))

    return valid_step

# %%
def train_epoch(number, train_step, valid_step):
    """Train and validate; return the epoch's metrics, and its seconds of training."""
    for metric in epoch_metrics.values():
        metric.reset_state()
    began = perf_counter()
    for batch in progress(train, total=steps, desc=f"Epoch {number}"):
        train_step(*batch)
    float(epoch_metrics["loss"].result())
    seconds = perf_counter() - began
    for batch in valid:
        valid_step(*batch)
    values = {name: float(metric.result()) for name, metric in epoch_metrics.items()}
    print(f"Epoch {number}: " + ", ".join(f"{n} {v:.3f}" for n, v in values.items()))
    return values | {"train_seconds": seconds}

# %% [markdown]
# While a GPU works, Python runs ahead, and waits only when it reads a result. That is why
# the loop reads a metric before it stops the clock: otherwise the measured time would not
# include the last steps. If it read one after every step, the GPU would get no new work
# while Python waits. (On a CPU, TensorFlow finishes the step before Python continues.)

# %% [markdown]
# The first epoch will take longer than the last one, because TensorFlow first runs your
# Python code once *for every replica* and builds one large graph from all of it.
#
# **Predict** the validation accuracy after the last epoch.

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
# <details><summary>Why the curves of training and validation do not measure the same thing</summary>
#
# A training value is the mean over an epoch in which the weights kept changing, whereas a
# validation value is measured at its end. Besides, batch normalisation ([Ioffe and Szegedy
# 2015](https://arxiv.org/abs/1502.03167)) uses the mean and the standard deviation of the
# images *on this replica* in training, but running averages of them in validation. In a
# short training these averages lag behind the weights, so that validation looks worse than
# the network is ([lab 02](02_throughput.ipynb)).
#
# </details>

# %% [markdown]
# In all these steps, each replica saw different images.
#
# **Predict:** how many of the trained variables differ between the replicas: none, some or
# all? And how many of the other variables, the running averages of batch normalisation?

# %%
trained, others = mobilenet.trainable_variables, mobilenet.non_trainable_variables
# Replace both None by "none", "some" or "all".
my_variables_guess = {"trained": None, "others": None}
card.predict("variables_that_differ", my_variables_guess)

# %%
card.lock("variables_that_differ")

def differ(variables):
    """How many variables differ between replicas, as a number and as a word."""
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
print(f"Size of the gradients that each step adds up: {mib:.2f} MiB")

# %% [markdown]
# All copies of a weight start equal, and the optimizer of each replica works with the same
# sum of gradients. So no weight ever has to be copied: only the gradients travel.
#
# Running averages have no gradient, so each replica averages over its own images, and a
# saved network has the averages of the first replica. If that is not good enough, use
# `BatchNormalization(synchronized=True)` from [lab 05](05_many_gpus_fit.ipynb).

# %% [markdown]
# **What does the strategy do for you, then?** It mirrors the variables, splits the batches
# and adds up the gradients, so that the copies of every weight stay equal. The division is
# yours: each replica has to divide the sum of its losses by the number of images on *all*
# replicas, even in a ragged batch.

# %% [markdown]
# ## 4. Why are eight GPUs not eight times as fast?
#
# Your loop is right on any number of devices, but is it also fast? Suppose that eight
# replicas share one global batch, which [lab 05](05_many_gpus_fit.ipynb) called [*strong
# scaling*](../docs/glossary.md). The time of a step has four parts, and with more
# replicas, only the first of them becomes shorter:
#
# - *Computation*: if eight replicas share 64 images, each has 8 to work on.
# - *Launch overhead*, a part of the fixed cost $t_0$ in [lab 02](02_throughput.ipynb),
#   takes as long for 8 images as for 64.
# - *Communication*: each replica sends up to twice the size of the gradients, however few
#   images it has ([lab 05](05_many_gpus_fit.ipynb)). Some libraries hide a part of this
#   time behind the backward pass ([lab 10](10_more_machines.ipynb)).
# - *Waiting*: each replica waits for the slowest one, and for the
#   [host](../docs/glossary.md) to read, decode and send images.

# %% [markdown]
# ### How fast can the host read?
#
# So far your images came from one array in memory. But most people keep them as files in
# one folder for each class, and each file has to be found, opened and decoded. In part 3
# the lab wrote such files (`train/0/00001.png` and so on) into your cache. Keras reads them
# with [`image_dataset_from_directory`](https://keras.io/api/data_loading/image/), which
# takes the folder's name as the class.
#
# **Question.** In which order will Keras read the images?

# %%
print(f"Folders for training: {', '.join(sorted(p.name for p in folder.glob('train/*')))}")
file_count = sum(1 for _ in folder.glob("train/*/*.png"))
print(f"Image files: {file_count:,} to train on")
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
# The files keep every pixel, but they are sorted by class: at first, the network would see
# nothing but the digit 0. So always shuffle images that you read from folders.
#
# **Predict:** how many times as fast can you read images from the array as from the files?

# %%
my_array_guess = None  # change this: images/s from the array / images/s from the files
card.predict("array_over_files", my_array_guess)

# %%
card.lock("array_over_files")

def images_per_second(data):
    """Images per second from a pipeline, without training: the median of three passes."""
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
# Your files came from the operating system's memory; from a slow disk, reading would take
# even longer. As long as the host reads faster than the GPUs train, they hardly ever wait,
# because the host prepares the next batch in the meantime. But with each replica that you
# add, the one host has to read more images per second.

# %% [markdown]
# ### How much is left to gain?
#
# **Question.** On one device, a tenth of each step is work that cannot be shared. If eight
# replicas share the other nine tenths, by what factor does training get faster?
#
# If a fraction $f$ of a step's time cannot be shared, and $n$ replicas share the rest, the
# step takes $f + (1 - f)/n$ times as long as on one device. The speed-up is the inverse,
# which is [Amdahl's law (1967)](https://doi.org/10.1145/1465482.1465560):
#
# $$ S(n) = \frac{1}{f + (1 - f)/n}. $$

# %%
def speed_up(fixed, replicas):
    """Amdahl's law: how many times as fast, if this part of a step is not shared."""
    return 1 / (fixed + (1 - fixed) / replicas)

for fixed in (0.01, 0.10, 0.30):
    times = [speed_up(fixed, n) for n in (2, 8, 1000)]
    print(f"If {100 * fixed:.1f}% of a step cannot be shared, 2 replicas are ", end="")
    print(f"{times[0]:.2f}, 8 are {times[1]:.2f}, 1,000 are {times[2]:.2f} times as fast")
spare = input_speeds["files"] / speeds[-1]
print(f"The host reads image files {spare:.1f} times as fast as this training needs them")

# %% [markdown]
# With a tenth that cannot be shared, even a thousand replicas are not ten times as fast as
# one. And the law still leaves out the costs that more replicas *add*: the all-reduce, the
# waiting, and the reading. Look at the last printed factor: once training is that much
# faster, and perhaps earlier, reading is the slowest part, and more GPUs no longer help.
#
# The remedy is [*weak scaling*](../docs/glossary.md): each replica keeps its batch, so the
# global batch grows, and each step has more work to share. That is why [lab
# 05](05_many_gpus_fit.ipynb) scales the learning rate. Training may then need more epochs,
# as you saw in [lab 03](03_time_to_accuracy.ipynb).

# %% [markdown]
# ## Exercise 6.4: find the bug
#
# The wrong loss is not the only silent mistake. You may have inherited a script like the
# next one at work. Its replicas share a batch, and add up their gradients. Each step takes
# several *micro-batches* (the small batches of [lab 05](05_many_gpus_fit.ipynb)), and the
# learning rate falls from step to step. The docstring says what the script should do, but
# **one line** does something else.

# %%
show_listing(script.train)

# %% [markdown]
# **Write** `find_the_bug(steps, accumulate)`, which returns three things: the number of
# the wrong line, the line as it should be (a text), and the cost of the bug. The cost is
# the number of optimizer steps that change no weight, in a training run of `steps` steps
# with `accumulate` micro-batches each.
#
# **Rules**
#
# - Lines are numbered as in the listing.
# - You replace one line by one line, and its indentation does not matter.
# - With the new line the script does what its docstring says, whatever the arguments.
# - A step changes the weights as long as its rate is above 0.

# %% [markdown]
# **Example.** `return 6, "", 0` says that line 6 should be empty, and that the bug costs
# nothing.
#
# Guessing does not help, because a wrong line and a wrong repair get the same verdict.
# Instead, run the script with sizes that you can follow by hand:
# `script.train(np.zeros(2), np.ones((8, 2)), np.ones(8), 1, 2, 4, 0.1)` makes 4 steps of 2
# micro-batches, and returns the weights and the rates.

# %% name="6.4-find-the-bug" points=2
# TODO 6.4: the number of the line, the line as it should be, and the wasted steps.
#: start
def find_the_bug(steps, accumulate):
    """The line with the bug, the line that repairs it, and the steps that it wastes."""
    line, repaired = 0, ""
    wasted = 0
    return line, repaired, wasted
#: solution
def find_the_bug(steps, accumulate):
    """The line with the bug, the line that repairs it, and the steps that it wastes."""
    repaired = "rate = peak_rate * (1 - batches_done / (accumulate * steps))"
    wasted = sum(step * accumulate >= steps for step in range(steps))
    return 13, repaired, wasted
#: end

# %%
find_the_bug = check("6.4", find_the_bug)

# %%
for accumulate in (1, 2, 4, 8):
    _, _, wasted = find_the_bug(1000, accumulate)
    print(f"Micro-batches per step: {accumulate}. Of 1,000 steps {wasted} change no weight")

# %% [markdown]
# Would you have noticed? The loss falls, nothing becomes `nan`, and with one micro-batch
# in a step the script is right, so every test on a small machine passes. The bug appears
# only on the day when a batch no longer fits into memory, and somebody sets `accumulate`
# to more than 1. Log the learning rate in every training, and look at it at least once.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("06")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "The wrong loss, measured". What goes wrong when every replica
# takes the mean over its own part of the batch, and how does the figure show it?
#
# Write three to six sentences in the cell below, in your own words and with numbers from
# your run. No check reads them, but your instructor may.

# %% [markdown] name="6.figure" points=2
# **6.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# The strategy's work is to mirror, split and add up; yours is the division. With it,
# several devices make the same steps as one, up to rounding, as long as the network has
# neither dropout nor ordinary batch normalisation. Without it, SGD's steps are too long,
# while Adam hides the mistake. Eight devices are not eight times as fast, because launch
# overhead, communication and waiting do not shrink when more devices share a batch.

# %% [markdown]
# **Question.** In [lab 04](04_custom_training_loop.ipynb), `train_step` averages with
# `tf.reduce_mean`. What would that do here, and would you notice it with Nadam, the
# optimizer of lab 04? And if two replicas trained no faster than one, which line of your
# loop would you check first?
#
# To read on: [Sandler et al. 2018](https://arxiv.org/abs/1801.04381) on MobileNetV2; [Goyal
# et al. 2017](https://arxiv.org/abs/1706.02677), whose section 3 lists such pitfalls;
# [Amdahl 1967](https://doi.org/10.1145/1465482.1465560), "Validity of the Single Processor
# Approach"; and TensorFlow's tutorial on [custom training with a
# strategy](https://www.tensorflow.org/tutorials/distribute/custom_training).
