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
# To find out, you write the loop yourself, in five parts:
#
# 1. one line of the loss, which is right on one device and wrong on two;
# 2. a step for any number of replicas, and the damage that the wrong line does;
# 3. a whole training loop, a test for it, and a bug that this test misses;
# 4. a deep network, whose copies you compare;
# 5. the reasons why eight GPUs are not eight times as fast.

# %% [markdown]
# > **Limits.** Without a GPU, the CPU is split into *simulated* devices, which compete for
# > the same cores. They show whether your code is right, but not how fast it would be on
# > several devices. What the lab says about waiting for a GPU has not been tested on one.

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
# (LeCun, Cortes and Burges 1998), in grey and with 28x28 pixels. If you are stuck, press
# *Hint* below a check, or call `hint("6.1")` in a new cell. Each further hint tells you
# more.

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
from keras import optimizers, utils
from keras.metrics import CategoricalAccuracy, Mean

from callbacks import TrainingDashboard, follow, progress

card = lab.card

# %%
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.data.mnist import MNIST_CLASSES
from helpers.errors import LabError
from helpers.figures import image_grid, show_figure, use_figures
from helpers.lab_06 import figures
from helpers.lab_06.class_folders import full_batches, read_folder, write_class_folders
from helpers.lab_06.epochs import make_valid_step, seconds_of_steps
from helpers.lab_06.ex4_find_the_bug import script
from helpers.lab_06.models import mobilenet_v2
from helpers.lab_06.small import flat_weights, small_network, train_on_simulated
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
# ## 1. One line of the loss
#
# On one device, the loss of a batch is the mean over its images, so you would write
# `tf.reduce_mean(losses)`.
#
# On several devices, the [strategy](../docs/glossary.md) keeps a copy of the network on
# each of them, a [replica](../docs/glossary.md), and cuts each [global
# batch](../docs/glossary.md) into one part per replica. Each replica works out a loss from
# its own images, and its gradient. The optimizer then **adds up** all gradients, so the
# step follows the *sum* of the losses.
#
# Suppose that four images have the losses 1, 2, 3 and 6, whose mean is 3. One replica gets
# the first three, and the other gets the last.
#
# **Question.** If each replica runs the line above, what do their results add up to?

# %%
losses_of_two = [1.0, 2.0, 3.0], [6.0]
own_means = [float(tensorflow.reduce_mean(own)) for own in losses_of_two]
print("The replicas return {:.2f} and {:.2f}".format(*own_means), end=", ")
print(f"together {sum(own_means):.2f}; the mean over all images is {numpy.mean([1, 2, 3, 6]):.2f}")

# %% [markdown]
# ### Exercise 6.1: whose mean?
#
# No error, no warning, and almost three times as much as it should be. What should each
# replica return?
#
# The step should follow the gradient of the *mean* loss over the global batch,
#
# $$ L = \frac{1}{B} \sum_{i=1}^{B} \ell_i, $$
#
# where $B$ is the number of images in the global batch and $\ell_i$ is the loss of image
# $i$. From its own images, replica $r$ can compute only a *share* $s_r$ of this loss. So
# the shares must add up to the whole: $\sum_r s_r = L$.

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
# **Example.** For the four images above, the shares are 1.5 and 1.5. One line is enough.

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
# does the same. But inside `strategy.run`, its second argument can be left out, and then
# each replica assumes that all others have as many images as itself.

# %% [markdown]
# Does that matter? Take nine images with the losses 1, 2, ..., 9, whose mean is 5. Of four
# replicas, three get three images each (9/4, rounded up), and the last one gets none.
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
# images, and an empty replica counts as a loss of 0. On a [*ragged*
# batch](../docs/glossary.md), which does not divide evenly, training silently follows a
# different loss.

# %% [markdown]
# <details><summary>The loss objects of Keras divide, too</summary>
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
# A training step consists of two functions:
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
# **Question.** Neither function mentions it: where are the gradients added up?

# %% [markdown]
# They are added up in [`optimizer.apply`](https://keras.io/api/optimizers/), which waits
# for the gradients of all replicas before it changes a weight. Every replica has to take
# part in this exchange, an [*all-reduce*](../docs/glossary.md), so `apply` belongs in
# `replica_step`.
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
# ### Exercise 6.2: a step on all replicas
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
# - `train_step` returns one number, the mean loss of the batch. You may return the sum of the
#   shares, which is the same if `global_loss` is right.
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
# How much harm does the wrong line do? A small network takes its first step with your
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
def mean_of_own(losses, global_batch):
    """The mean over a replica's own images: wrong on more than one replica."""
    return tensorflow.reduce_mean(losses)

def new_small(optimizer_class=optimizers.SGD, rate=0.2):
    """A small network, always with the same first weights, and its optimizer."""
    network, its_optimizer = small_network(lab.seed), optimizer_class(rate)
    its_optimizer.build(network.trainable_variables)
    return network, its_optimizer

def small_training(n, loss, *way):
    """Train it for 40 steps on n replicas: its first step's length, and all losses."""
    data = batches(x_train, y_train, 64, lab.seed, repeat=True).take(40)
    return train_on_simulated(
        n, lambda: (*new_small(*way), new_metrics()),
        lambda *given: make_train_step(*given, loss, 64), data,
    )  # fmt: skip

# %%
card.lock("wrong_step_over_right")
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
# So SGD, without weight decay or clipping, makes exactly the step of a learning rate $n$
# times as large. On a machine with more devices, the same script trains differently, and
# you look for the reason everywhere but in the loss.

# %% [markdown]
# <details><summary>If you know PyTorch</summary>
#
# [DDP](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
# does not add up the gradients of its processes, but *averages* them. So there, each
# process's own mean loss is right, if all have the same number of images.
#
# </details>

# %% [markdown]
# Would you see it in the curves? In the stored run, on four replicas, the loss leapt from 0.85
# to 2.26 between steps 17 and 22, and was back at 0.72 in step 25. On two replicas, it leapt
# to 1.36 in step 24, and yet it ended at 0.640, lower than the 0.681 of the right loss. So
# the end of a run can hide the mistake, and you might blame a bad batch for a leap. In
# [another measurement with 20 seeds](../docs/measurements.md#lab-06-does-the-wrong-loss-show),
# 17 runs on two replicas and 19 on four had a leap of more than 0.5 within three steps, but
# only one with the right loss. What do your curves show?

# %% [markdown]
# [Adam](https://keras.io/api/optimizers/adam/) ([Kingma and Ba
# 2014](https://arxiv.org/abs/1412.6980)) hides the mistake. For each weight, it divides a
# running average of the gradient, $\hat m$, by the square root of a running average of the
# squared gradient, $\hat v$. A factor of $n$ on every gradient cancels, up to the small
# number $\epsilon$ in the denominator (here $\eta$ is the learning rate, which labs 01 and
# 05 called $\varepsilon$):
#
# $$ \eta\, \frac{n \hat m}{n \sqrt{\hat v} + \epsilon} \approx \eta\, \frac{\hat m}{\sqrt{\hat v} + \epsilon}. $$

# %% [markdown]
# So the mistake comes to light only when the size of the gradient matters, for example when
# somebody switches to SGD.
#
# ### The right loss, clipped
#
# Is the right loss always safe, then? Not if somebody clips the gradients. Keras 3.15 clips
# on each replica, *before* it adds the gradients up
# ([source](https://github.com/keras-team/keras/blob/master/keras/src/optimizers/base_optimizer.py)).
# So with `clipnorm`, the limit holds for each share instead of for their sum.

# %%
def clipping_sgd(rate):
    """SGD that shortens each variable's gradient to a norm of at most 0.01."""
    return optimizers.SGD(rate, clipnorm=0.01)

with no_hang("training with clipped gradients"):
    clipped = [small_training(n, global_loss, clipping_sgd, 0.2)[0] for n in (1, 4)]
print("With your loss and clipping, the first step on 4 simulated replicas is "
      f"{clipped[1] / clipped[0]:.2f} times as long as on one device")

# %% [markdown]
# So even the right loss does not give the step of one device. Each of the $n$ shares has at
# most the norm $c$, but the norm of their sum can be up to $n c$. (A limit of $c/n$ for each
# keeps the sum at $c$ or below, but may cut too much.)

# %% [markdown]
# ## 3. A whole training loop
#
# A correct step does not yet make a correct training run. So far, the lab created the
# network and distributed the data. Now you do this yourself, without dropping an image.

# %% [markdown]
# ### Exercise 6.3: from a strategy to epochs
#
# Compared with exercise 6.2, three things are new:
#
# 1. *The scope.* Inside
#    [`strategy.scope()`](https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope)
#    every variable is *mirrored*: each replica has a copy, and all copies start equal. So
#    create everything that has variables there: the network, the metrics and the
#    optimizer. The function `build()`, which you are given, makes the network and the
#    optimizer with all of their variables. A
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
# lab. But with dropout, ordinary batch normalisation ([lab 05](05_many_gpus_fit.ipynb)) or
# clipping, the weights differ even if the loop is right.

# %% [markdown]
# ### Exercise 6.4: find the bug
#
# Such a test does not find every bug. Suppose that you inherit the script below at work,
# and that it passes the test. Its replicas share a batch, and add up their gradients. Each
# step takes several *micro-batches* (the small batches of [lab
# 05](05_many_gpus_fit.ipynb)), and the learning rate falls from step to step. But **one
# line** does not do what the docstring says.

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
# Guessing does not help, because the check does not say whether the line or its repair is
# wrong. Run the script with sizes that you can follow by hand:
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
# Would you have noticed? The loss falls, nothing becomes `nan`, and with one micro-batch in
# a step the script is right on any number of devices. The bug appears only on the day when
# a batch no longer fits into memory, and somebody sets `accumulate` to more than 1. Log the
# learning rate in every run, and look at it at least once.

# %% [markdown]
# ## 4. A deep network
#
# Does your step from 6.2 also train a deep network, and do its copies stay equal? A hard
# test is [MobileNetV2](https://keras.io/api/applications/mobilenet/) ([Sandler et al.
# 2018](https://arxiv.org/abs/1801.04381)), because its many layers of batch normalisation
# keep running averages, which no sum of gradients holds together. At `gpu` scale it has its
# full width, and gets all digits at 112x112 pixels. Otherwise it has about a third of the
# width, and fewer digits at 64x64.

# %%
utils.set_random_seed(lab.seed)
with strategy.scope():
    mobilenet = mobilenet_v2(lab.image_size, classes=10, alpha=lab.alpha)
    adam = optimizers.Adam(lab.learning_rate)
    adam.build(mobilenet.trainable_variables)
    epoch_metrics = new_metrics()
print(f"The network has {mobilenet.count_params():,} parameters")

# %% [markdown]
# In training, each replica will see different images.
#
# **Predict:** after the last epoch, how many of the trained variables differ between the
# replicas: none, some or all? And how many of the other variables, the running averages of
# batch normalisation?

# %%
trained, others = mobilenet.trainable_variables, mobilenet.non_trainable_variables
# Replace both None by "none", "some" or "all".
my_variables_guess = {"trained": None, "others": None}
card.predict("variables_that_differ", my_variables_guess)

# %% [markdown]
# Exercise 6.3 dropped no image. But in TensorFlow, convolutions and batch normalisation
# fail on a replica without images, so here we drop the images that do not fill a global
# batch.

# %%
per_replica_batch = max(1, lab.batch_size // lab.replicas)
global_batch = per_replica_batch * lab.replicas
steps = lab.train_images // global_batch
if global_batch > min(lab.train_images, lab.valid_images):
    raise LabError(f"a global batch of {global_batch} needs more images, or fewer replicas")

# %%
given = global_batch, lab.from_folders  # full batches, from arrays or from image files
train_data = full_batches(x_train, y_train, *given, seed=lab.seed)
valid_data = full_batches(x_valid, y_valid, *given)
train = strategy.experimental_distribute_dataset(train_data)
valid = strategy.experimental_distribute_dataset(valid_data)
images, one_hot = next(iter(train))
parts = [len(part) for part in strategy.experimental_local_results(images)]
print(f"Global batch: {global_batch} images, of which the replicas get {parts}")
left_out = [n % global_batch for n in (lab.train_images, lab.valid_images)]
print("Images left out of an epoch: {} in training, {} in validation".format(*left_out))

# %% [markdown]
# The lab puts your step from 6.2 into a loop that also validates.
#
# **Question.** Which line of `train_epoch` waits for the devices, and why must it come
# before the clock stops?

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
# While a GPU works, Python runs ahead, and waits only when it reads a result. So the loop
# reads a metric before it stops the clock. Reading one after every step would leave the GPU
# without new work.

# %% [markdown]
# The first epoch will take longer (19 s instead of 7 s in the stored run), because
# TensorFlow first runs your Python code once *for every replica*, and builds one large
# graph.
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
print(f"Images/sec in the last epoch: {speeds[-1]:.2f}")
print(f"First epoch: {epoch_seconds[0]:.2f} s, last: {epoch_seconds[-1]:.2f} s")
figure = figures.epoch_curves(training_history, accuracy_guess)
show_figure(figure, f"Validation accuracy ends at {accuracy:.3f}.", session.caption())
card.outcome("val_accuracy", accuracy)

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
unequal = {"trained": differ(trained), "others": differ(others)}
for name, (found, word) in unequal.items():
    print(f"Variables that differ between replicas, {name}: {found} ({word})")
card.outcome("variables_that_differ", {name: word for name, (_, word) in unequal.items()})
mib = 4 * sum(numpy.prod(v.shape) for v in trained) / 2**20
card.measure("gradient_mib", float(mib))
print(f"Size of the gradients that each step adds up: {mib:.2f} MiB")

# %% [markdown]
# In the stored run not one weight differs, but every running average does. All copies of a
# weight start equal, and the optimizer of each replica works with the same sum of
# gradients, so only the gradients have to travel. Running averages have no gradient, so
# each replica averages over its own images, and a saved network has the averages of the
# first replica. (If that matters, use `BatchNormalization(synchronized=True)`.)

# %% [markdown]
# ## 5. Why are eight GPUs not eight times as fast?
#
# Suppose that eight devices share one global batch, which [lab 05](05_many_gpus_fit.ipynb)
# called [*strong scaling*](../docs/glossary.md). However few images each of them gets, a
# step has a fixed cost $t_0$ ([lab 02](02_throughput.ipynb)). To find yours, we time a step
# on one device, with a whole batch and with an eighth of it, and draw a straight line
# through both times. Its height at zero images is $t_0$.

# %%
one = tensorflow.distribute.get_strategy()  # the default: a single device
few_images = max(1, global_batch // 8)
with one.scope(), no_hang("timing a step on one device"):
    alone = mobilenet_v2(lab.image_size, classes=10, alpha=lab.alpha)
    its_adam = optimizers.Adam(lab.learning_rate)
    its_adam.build(alone.trainable_variables)
    step_alone = make_train_step(
        one, alone, its_adam, new_metrics(), global_loss, 8 * few_images
    )
    two_sizes = {n: next(iter(batches(x_train, y_train, n))) for n in (few_images, 8 * few_images)}
    short, full = seconds_of_steps(step_alone, two_sizes).values()
fixed_part = min(1.0, max(0.0, (8 * short - full) / (7 * full)))
print(f"Seconds of a step: {short:.4f} with {few_images} images, {full:.4f} with 8 times as many")
print(f"Fixed part of the longer step: {100 * fixed_part:.1f}%")

# %% [markdown]
# Let $f = t_0 / t$ be the fixed part of a step that takes $t$ seconds on one device. If $n$
# replicas share the rest, a step takes $f + (1 - f)/n$ times as long. The inverse is the speed-up,
# by [Amdahl's law (1967)](https://doi.org/10.1145/1465482.1465560):
#
# $$ S(n) = \frac{1}{f + (1 - f)/n}. $$
#
# **Question.** If only a tenth is fixed, how many times as fast can a thousand replicas be?

# %%
def speed_up(fixed, replicas):
    """Amdahl's law: how many times as fast, if this part of a step is not shared."""
    return 1 / (fixed + (1 - fixed) / replicas)

print("Fixed part: times as fast with 2, 8 and 1,000 replicas")
for name, fixed in {"yours": fixed_part, "low": 0.01, "middle": 0.1, "high": 0.3}.items():
    times = [f"{speed_up(fixed, n):.2f}" for n in (2, 8, 1000)]
    print(f"{100 * fixed:.1f}% ({name}): {', '.join(times)}")
rate = 8 * few_images / full
print(f"Images/sec on one device: {rate:.2f}")
print(f"By Amdahl's law, at most {rate * speed_up(fixed_part, 8):.2f} on 8 replicas")

# %% [markdown]
# With a tenth fixed, even a thousand replicas are not ten times as fast as one. And the law
# leaves out what more replicas *add*. A step's time has four parts:
#
# - *Computation* becomes shorter. But each of eight replicas has 8 of 64 images, which may be too
#   few to keep a GPU busy.
# - *Launch overhead*, a part of $t_0$, stays: it takes as long for 8 images as for 64.
# - *Communication* is added: each replica sends up to twice the size of the gradients ([lab
#   05](05_many_gpus_fit.ipynb)). Some libraries hide part of this behind the backward pass.
# - *Waiting* is added, too: for the slowest replica, and for the [host](../docs/glossary.md).
#
# So take these speed-ups as limits that you will not reach. They rest on two batch sizes,
# measured on one machine. In the stored run, the law allowed two replicas to be 1.68 times as
# fast as one device. They were 1.10 times as fast, but then they were simulated, and shared a
# processor.

# %% [markdown]
# The remedy for a fixed part is [*weak scaling*](../docs/glossary.md): each replica keeps
# the batch size that it would have alone, so a step has more work over which to spread it.
# But the global batch grows, so [lab 05](05_many_gpus_fit.ipynb) scales the learning rate,
# and training may need more epochs ([lab 03](03_time_to_accuracy.ipynb)).

# %% [markdown]
# ### How fast can the host read?
#
# One limit remains, and weak scaling brings it nearer: the more images the replicas train
# on in a second, the more their one host must read. So far it read an array in memory. But
# images are often files, in one folder for each class. The next cell writes such files, and
# reads them with
# [`image_dataset_from_directory`](https://keras.io/api/data_loading/image/). By default
# Keras shuffles them, but here we switch that off.
#
# **Question.** In which order will Keras read the images now?

# %%
folder = write_class_folders("mnist", MNIST_CLASSES, images=(x_train, y_train)) / "images"
print(f"Folders: {', '.join(sorted(path.name for path in folder.glob('*')))}")
print(f"Image files: {sum(1 for _ in folder.glob('*/*.png')):,} to train on")
files = read_folder(folder, MNIST_CLASSES, shuffle=False, batch_size=lab.batch_size)
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
# Without shuffling, the files are sorted by class: at first, the network would see nothing
# but the digit 0. So leave Keras' shuffling on when you train.
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
spare = input_speeds["files"] / speeds[-1]
print(f"The host reads image files {spare:.1f} times as fast as your replicas train")
card.outcome("array_over_files", ratio)

# %% [markdown]
# Your files came from the operating system's memory; a slow disk would take even longer. As
# long as the host reads faster than the GPUs train, they hardly ever wait. In the stored
# run it reads ten times as fast as the two replicas train. With GPUs more than ten times as
# fast, the host would be the limit, and in practice sooner, because it has other work, too.

# %% [markdown]
# ## The answer in your numbers
#
# What does the strategy do for you, what is left to you, and what can neither of you
# change?

# %%
print(f"The strategy: {unequal['trained'][0]} trained variables differ between replicas")
print(f"You: weights that differ from one device's by at most {max(differences.values()):.1e}")
print(f"Without your division: a first step {outcome['SGD']:.2f} times as long with SGD")
limit = speed_up(fixed_part, 8)
print(f"Nobody: by Amdahl's law, eight devices are at most {limit:.2f} times as fast")

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
# The strategy copies, splits and adds up; you divide. If your one line is right, several
# devices take the step of one, and end with the same weights, up to rounding (unless there is
# dropout, ordinary batch normalisation or clipping). If it is wrong, the step is too long,
# and nobody tells you: on four replicas, it was four times as long with SGD, and with Adam
# you could not even see it.
#
# Neither of you can share the fixed part of a step. Even if adding up cost nothing, this part
# alone would keep eight devices from being eight times as fast.

# %% [markdown]
# **Question.** In [lab 04](04_custom_training_loop.ipynb), `train_step` averages with
# `tf.reduce_mean`. What would that do here, and would you notice it with Nadam, the
# optimizer of lab 04?

# %% [markdown]
# <details><summary>Answer</summary>
#
# On $n$ replicas, every gradient becomes $n$ times as large. Nadam divides by the size of the
# gradients, as Adam does, so you would hardly notice it. With SGD, each step would be $n$ times
# as long.
#
# </details>

# %% [markdown]
# To read on: [Goyal et al. 2017](https://arxiv.org/abs/1706.02677), whose section 3 lists
# such pitfalls, and TensorFlow's tutorial on [custom training with a
# strategy](https://www.tensorflow.org/tutorials/distribute/custom_training).
