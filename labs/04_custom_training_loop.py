# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 04: What does fit do for me?
#
# `model.fit(...)` trains a network in one line, and one line can hide a puzzle. When we ran
# this lab, the validation loss first fell, then turned, and ended more than twice as high
# as at its lowest point. Yet the network gave more right answers at the end than at that
# turn. Has it become better or worse?
#
# To decide, you have to know what happens inside that line, so you build it: the training
# step, the validation, and the loop over the epochs. On the way you measure what makes a
# step fast. Then you check whether
# [`fit`](https://keras.io/api/models/model_training_apis/) gets the same losses, and solve
# the puzzle.
#
# While you work, keep a list with two columns: what does `fit` do for you, and what does it
# leave to you?
#
# If you are stuck in exercise 4.1, press *Hint* below its check, or call `hint("4.1")` in
# a new cell. Each further hint tells you more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 10
batch_size: int = 32
train_newswires: int = None  # at most; None: chosen by the scale (also the next three)
valid_newswires: int = None
vocabulary: int = None  # rarer words become one "unknown" word
words: int = None  # per newswire; longer ones are cut, shorter ones padded
learning_rate: float = 0.001
patience: int = 2  # of EarlyStopping: epochs without improvement before it stops

# %% [markdown]
# ## Set up
#
# The network is small, so `laptop` and `gpu` train it on all newswires. The scale `smoke`
# takes only a few of them, with a vocabulary of 2,000 words.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("04_custom_training_loop", globals())

# %%
# keras, np, tf, time and datetime are for your answers, which may overwrite them. The lab's
# own cells use other names.
import time
from datetime import datetime
from functools import partial
from time import perf_counter

import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf
from keras import optimizers, utils
from keras.callbacks import EarlyStopping
from keras.metrics import Mean, SparseCategoricalAccuracy

card = lab.card

# %%
from callbacks import TrainingDashboard, follow
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.data.reuters import decode
from helpers.figures import show_figure, use_figures
from helpers.lab_04 import figures, models
from helpers.lab_04.newswires import load_newswires

use_figures()

# %% [markdown]
# ## The data
#
# The [Reuters newswires of 1987](https://doi.org/10.24432/C52G6M) (Lewis 1997) each have
# one of 46 topics, which the network has to recognise from the words. Only the words of a
# text are stored, each as a number: the more frequent the word, the smaller the number.
#
# A network has to do better than somebody who always guesses the most frequent topic. The
# next cell prints how often such a guess is right. (Your counts may differ from our stored
# outputs, which used 10,254 newswires of Lewis' collection. Keras' copy has 11,228.)
#
# **Question.** How much of the newswire below can you still understand?

# %%
data = load_newswires(lab)
text = decode(data.x_train[0][:60], data.word_index)
print(f"A newswire about {data.topics[data.y_train[0]]}: {text}")
share = numpy.bincount(data.y_train).max() / len(data.y_train)
print(f"Always guessing the most frequent topic is right in {100 * share:.1f}%")
known = {tuple(newswire) for newswire in data.x_train}
twice = sum(tuple(newswire) in known for newswire in data.x_valid)
print(f"Validation newswires that are also in the training set, word for word: {twice}")

# %% [markdown]
# For validation, Keras shuffles all newswires and sets a fifth aside. After a shuffle, the
# same text can be on both sides (the last line above counts how often), and so can two
# reports of the same event. That may make a network look better than it is, though we have
# not measured by how much. A newsroom would split by date, because its network has to
# classify newswires that are newer than its training set. `fit` leaves this decision to
# you.

# %% [markdown]
# A batch has to be a rectangular array, so we cut a long newswire after a fixed number of
# words, and pad a short one with zeros at its end.

# %%
def rectangle(newswires):
    """Word numbers of shape (n, words); each newswire is cut or padded at its end."""
    return utils.pad_sequences(newswires, lab.words, padding="post", truncating="post")

x_train, y_train = rectangle(data.x_train), data.y_train
x_valid, y_valid = rectangle(data.x_valid), data.y_valid

# %% [markdown]
# ## The input pipeline: in which order?
#
# [`tf.data`](https://www.tensorflow.org/api_docs/python/tf/data/Dataset) has a method for
# each task of an input pipeline: `shuffle` mixes the examples, `batch` groups them, and
# [`prefetch`](../docs/glossary.md) prepares the next batch while the current one trains.
# `cache` stores everything that passes through it, and delivers this stored copy from the
# second epoch on.
#
# We want `shuffle`, so that the batches differ from epoch to epoch, and `cache`, so that no
# example has to be read and decoded twice. (Here the arrays are in memory, so `cache` saves
# nothing.) Does it matter which of the two comes first?
#
# **Predict:** for each of the two pipelines in the next cell, will epoch 2 deliver the
# examples in a different order than epoch 1?

# %%
my_guess = {  # change these: True if epoch 2 has a different order than epoch 1
    "cache, then shuffle": None,
    "shuffle, then cache": None,
}
card.predict("another_order", my_guess)

# %%
card.lock("another_order")
numbers = tensorflow.data.Dataset.range(1000)
pipelines = {
    "cache, then shuffle": numbers.cache().shuffle(1000, lab.seed),
    "shuffle, then cache": numbers.shuffle(1000, lab.seed).cache(),
}
differs = {}
for name, rows in pipelines.items():
    epoch_1, epoch_2 = (list(rows.as_numpy_iterator()) for _ in range(2))
    differs[name] = epoch_1 != epoch_2
    print(f"{name}: epoch 2 has {'a different' if differs[name] else 'the same'} order")
card.outcome("another_order", differs)

# %% [markdown]
# A cache freezes everything that comes before it, including the order. If you shuffle
# before the cache, every epoch repeats the order of the first, and `fit` trains on such a
# pipeline without an error or a warning.
#
# So put everything that is the same in every epoch before `cache`, and everything random
# after it. `batch` belongs after `shuffle`, because otherwise each batch would have the
# same members in every epoch.

# %%
def pipeline(x, y, shuffle):
    """Batches of newswires and topics; shuffled in every epoch, or in order."""
    rows = tensorflow.data.Dataset.from_tensor_slices((x, y)).cache()
    if shuffle:
        rows = rows.shuffle(len(x), lab.seed)
    # Without autotuning: in TensorFlow 2.21 its thread sleeps longer and longer, and the
    # end of an epoch would have to wait for it, up to several seconds.
    options = tensorflow.data.Options()
    options.autotune.enabled = False
    return rows.batch(lab.batch_size).prefetch(2).with_options(options)

# %% [markdown]
# ## The model
#
# Our network is modelled loosely on [Kim 2014](https://arxiv.org/abs/1408.5882), who
# classified sentences with convolutions that slide along the text. Its first layer is an
# [*embedding*](../docs/glossary.md), a table with a row of learned numbers for each word.
# After each convolution, we keep only the larger of every two neighbouring values. This
# shortens the text but keeps its order, so the last layer still knows roughly where a
# value came from.
#
# **Question.** Before you run the next two cells: which layer has most of the parameters?

# %%
session.show_source(models.look_at_neighbours)

# %%
full_model = models.text_cnn(vocabulary=30_982, classes=46, words=300)
part = 7 * 30_982 / full_model.count_params()
print(f"text_cnn has {full_model.count_params():,} parameters")
print(f"Its embedding has {100 * part:.1f}% of them")

# %% [markdown]
# Besides the network, training needs an optimizer and [metrics](../docs/glossary.md). Our
# optimizer is [Nadam](https://keras.io/api/optimizers/Nadam/), which is Adam with
# Nesterov's momentum ([Dozat
# 2016](https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ)). A *metric* accumulates a
# mean: `update_state` adds to it, `result` reads it, and `reset_state` sets it back to
# zero.

# %%
def new_training():
    """A network, its optimizer and its metrics; every call starts from the same weights."""
    utils.set_random_seed(lab.seed)
    model = models.text_cnn(lab.vocabulary, len(data.topics), lab.words)
    optimizer = optimizers.Nadam(lab.learning_rate)
    # Create all variables now, because a graph may create them only in its first call.
    optimizer.build(model.trainable_variables)
    metrics = {
        "loss": Mean(),
        "accuracy": SparseCategoricalAccuracy(),
        "valid_loss": Mean(),
        "valid_accuracy": SparseCategoricalAccuracy(),
    }
    return model, optimizer, metrics

# %% [markdown]
# ## Exercise 4.1: one training step
#
# A training step makes the network a little better at one batch, and counts how well it
# did. To compute gradients, TensorFlow records its computations on a *tape*
# ([`GradientTape`](https://www.tensorflow.org/api_docs/python/tf/GradientTape)) and plays
# it backwards:
#
#     with tf.GradientTape() as tape:
#         loss = ...
#     gradients = tape.gradient(loss, variables)
#
# Afterwards `optimizer.apply(gradients, variables)` changes the variables, which you find
# in `model.trainable_variables`.
#
# ![A training step: a batch goes forward through the model to predictions and a loss, which
# the tape records; the gradients go back to the optimizer, and the optimizer changes the
# weights of the model.](../helpers/lab_04/diagrams/training_step.svg)

# %% [markdown]
# <details><summary>If you know PyTorch</summary>
#
# | PyTorch | here |
# |---|---|
# | `loss.backward()` | `tape.gradient(loss, variables)`, which returns the gradients |
# | `optimizer.step()` | `optimizer.apply(gradients, variables)` |
# | `optimizer.zero_grad()` | not needed, because gradients are returned and not accumulated |
# | `model.train()`, `model.eval()` | `training=True` or `False` in each call |
# | `torch.compile` | `@tf.function`, with `jit_compile=True` for a compiler |
#
# </details>

# %% [markdown]
# **Write** `train_step(model, optimizer, metrics, x, y)`, which trains on one batch of word
# numbers `x`, of shape `(batch, words)`, and topics `y`, of shape `(batch,)`. You need
# about eight lines.
#
# **Rules**
#
# - Call the model once, as `model(x, training=True)`, because layers such as dropout act
#   only in training.
# - Let the optimizer apply the gradient of the batch's *mean* loss with respect to all
#   trainable variables of the model.
# - `metrics["loss"]` becomes the mean loss over all newswires so far.
# - `metrics["accuracy"]` is updated with the topics and the probabilities.
# - The other metrics stay as they are.
# - The whole step is one graph: keep
#   [`@tf.function`](https://www.tensorflow.org/api_docs/python/tf/function) above the line
#   `def`, or write `train_step = tf.function(...)` below it.
#
# [`keras.losses.sparse_categorical_crossentropy(y, probabilities)`](https://keras.io/api/losses/probabilistic_losses/)
# gives one loss for each newswire.
#
# **Example:** after batches of 32 and 8 newswires, `metrics["loss"]` is the mean of 40
# losses.

# %% name="4.1-train-step" points=2
# TODO 4.1: train on one batch, and update two metrics.
#: start
@tf.function
def train_step(model, optimizer, metrics, x, y):
    """Train on one batch, and update the metrics `loss` and `accuracy`."""
    probabilities = model(x)
    metrics["accuracy"].update_state(y, probabilities)
#: solution
@tf.function
def train_step(model, optimizer, metrics, x, y):
    """Train on one batch, and update the metrics `loss` and `accuracy`."""
    with tf.GradientTape() as tape:
        probabilities = model(x, training=True)
        losses = keras.losses.sparse_categorical_crossentropy(y, probabilities)
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    # All losses instead of their mean, so that every newswire counts the same.
    metrics["loss"].update_state(losses)
    metrics["accuracy"].update_state(y, probabilities)
#: end

# %%
train_step = check("4.1", train_step)

# %% [markdown]
# ## Exercise 4.2: one validation step
#
# Validation measures how good the network is on newswires from which it does not learn, so
# this step needs neither a tape nor an optimizer.
#
# **Write** `valid_step(model, metrics, x, y)`, which measures one batch and changes nothing
# in the model. You need about five lines.
#
# **Rules**
#
# - `metrics["valid_loss"]` and `metrics["valid_accuracy"]` each become the mean over all
#   newswires so far.
# - The other metrics stay as they are.
# - The model does not run in training mode: give the argument `training` the right value.
# - The whole step is one graph, as before.
#
# **Example:** after one batch of three newswires, two of them classified correctly,
# `metrics["valid_accuracy"].result()` is about 0.667.

# %% name="4.2-valid-step" points=2
# TODO 4.2: measure one batch, and update two metrics.
#: start
@tf.function
def valid_step(model, metrics, x, y):
    """Validate on one batch: update `valid_loss` and `valid_accuracy`."""
    metrics["valid_accuracy"].update_state(y, model(x, training=True))
#: solution
@tf.function
def valid_step(model, metrics, x, y):
    """Validate on one batch: update `valid_loss` and `valid_accuracy`."""
    probabilities = model(x, training=False)
    losses = keras.losses.sparse_categorical_crossentropy(y, probabilities)
    metrics["valid_loss"].update_state(losses)
    metrics["valid_accuracy"].update_state(y, probabilities)
#: end

# %%
valid_step = check("4.2", valid_step)

# %% [markdown]
# ## What the graph buys
#
# Both exercises asked for one graph. What would you lose without it?
#
# Python is slow at starting many small operations. Without
# [`@tf.function`](https://www.tensorflow.org/guide/function), Python launches every
# operation of the step itself, which is called *eager* execution. With it, Python runs once
# to record a graph ([tracing](../docs/glossary.md)), which TensorFlow then executes without
# Python. `jit_compile=True` goes further: [XLA](../docs/glossary.md) compiles the graph
# into a program for this particular device and these shapes.
#
# **Predict:** how many times as fast as eager execution are the graph and the program that
# XLA compiles?

# %%
my_speed_ups = {"graph": None, "jit_compile": None}  # change these: 2.0 is half the time
speed_ups_guess = card.predict("times_as_fast_as_eager", my_speed_ups)

# %%
batch = x_train[: lab.batch_size], y_train[: lab.batch_size]

def stopwatch(step):
    """A function that runs some steps, and returns the mean milliseconds of a step."""
    model, optimizer, metrics = new_training()
    tensors = [tensorflow.constant(part) for part in batch]
    def milliseconds(calls):
        began = perf_counter()
        for _ in range(calls):
            step(model, optimizer, metrics, *tensors)
        float(metrics["loss"].result())  # waits for the device
        return 1000 * (perf_counter() - began) / calls
    return milliseconds

# %% [markdown]
# The three versions take turns, five times each, so that a busy moment of the machine
# affects all of them.

# %%
card.lock("times_as_fast_as_eager")
# The step without @tf.function, as plain Python.
in_python = getattr(train_step, "python_function", train_step)
compiled = tensorflow.function(in_python, jit_compile=True)
calls = {"eager": lab.eager_steps, "graph": lab.graph_steps, "jit_compile": lab.graph_steps}
kinds = (in_python, tensorflow.function(in_python), compiled)
watches = {name: stopwatch(kind) for name, kind in zip(calls, kinds, strict=True)}
first_seconds = {name: watch(1) / 1000 for name, watch in watches.items()}
rounds = [{name: watches[name](n) for name, n in calls.items()} for _ in range(5)]
times = {name: [one[name] for one in rounds] for name in calls}
step_ms = {name: numpy.median(several) for name, several in times.items()}
card.measure("step_milliseconds", times)
card.measure("newswires_per_second", 1000 * lab.batch_size / step_ms["graph"])

# %%
for name, several in times.items():
    print(f"{name}: first call {first_seconds[name]:.2f} s, then ", end="")
    print(f"{step_ms[name]:.2f} ms a step ({min(several):.2f} to {max(several):.2f})")
ratios = {name: step_ms["eager"] / step_ms[name] for name in ("graph", "jit_compile")}
figure = figures.step_modes(times, speed_ups_guess)
text = f"The graph is {ratios['graph']:.1f} times as fast as eager."
show_figure(figure, text, session.caption())
card.outcome("times_as_fast_as_eager", ratios)

# %% [markdown]
# Is XLA worth it? Compiling takes time, and only faster steps can win it back. But are the
# steps faster at all? Compare the difference with the scatter of the five rounds.

# %%
saved = [one["graph"] - one["jit_compile"] for one in rounds]
faster = sum(one > 0 for one in saved)
print(f"XLA's steps were faster than the graph's in {faster} of 5 rounds")
compiling = max(0, first_seconds["jit_compile"] - first_seconds["graph"])
break_even = "never" if faster == 0 else "unclear, because XLA was not always faster"
if min(saved) > 0:
    break_even = f"{compiling * step_ms['graph'] / numpy.median(saved):.1f} s"
print(f"XLA makes up for its compilation after training for: {break_even}")

# %% [markdown]
# What the graph saves is the overhead of launching operations. Our network is tiny, so in
# the stored run this overhead was most of an eager step, and the graph was 7.2 times as
# fast. The longer the operations of a network take, the less there is to gain. Only the
# first call is slow, because TensorFlow traces the graph.
#
# XLA also compiles it, and gained nothing that we could measure: in the stored run it won
# only 3 of 5 rounds. (We have not measured this comparison on a GPU.)

# %% [markdown]
# <details><summary>How often does a training pay for a first call?</summary>
#
# In a loop of your own, TensorFlow traces the step once for each *shape* of a batch. The
# last batch is smaller, so it costs a second trace. `fit` avoids this, because it fetches
# the batches inside its graph, where their size is left open (`None`). XLA compiles once
# for each shape, in your loop as well as in `fit`.
#
# XLA merges operations, which saves trips to memory. But on a CPU, its code for an
# operation such as a convolution may be slower than TensorFlow's.
#
# </details>

# %% [markdown]
# ## Exercise 4.3: the epoch loop
#
# A step knows only its own batch. The loop around the steps decides when a metric starts
# again from zero, when to validate, and when to stop the clock.
#
# **Write** `train_model(train_step, valid_step, metrics, train, valid, epochs)`, which
# trains and validates, reports every epoch, and returns the history. The steps already
# contain the model and the optimizer, so call `train_step(x, y)` and `valid_step(x, y)`.
# You need about twenty lines.
#
# **Rules**
#
# - In every epoch, go once through `train`, and then once through `valid`.
# - The values of an epoch cover this epoch only. Do not assume that the metrics begin at
#   zero, because an interrupted call may have left counts in them.
# - Return a dict with the same names as `metrics`, where each name has a list of numbers:
#   the value of this metric after every epoch.
#
# **Example:** each epoch prints
#
#     ======================================== 10:02:03+0100
#     Epoch=1, Loss:1.967, Accuracy:0.489, Valid Loss:1.641, Valid Accuracy:0.583
#     Newswires/sec: 812.35

# %% [markdown]
# **Rules for the lines and the clock**
#
# - Print the first line *before* the epoch: a row of `=`, then the local time with its
#   offset from UTC, which `f"{datetime.now().astimezone():%H:%M:%S%z}"` gives you.
# - Print the other two lines after the epoch, before the next one begins.
# - For the speed, divide the newswires by the seconds of this epoch's training, without
#   validation.
# - After the last training batch, read a metric with `float(metrics["loss"].result())`, and
#   only then stop the clock. A GPU may still be busy, and reading waits for it.
# - Read no metric between two batches.

# %% name="4.3-train-model" points=3
# TODO 4.3: train, validate and print, epoch by epoch.
#: start
def train_model(train_step, valid_step, metrics, train, valid, epochs):
    """Train and validate, print three lines an epoch, return every epoch's metrics."""
    for epoch in range(epochs):
        print(f"Epoch {epoch}")
        for x, y in train:
            train_step(x, y)
    return {}
#: solution
def train_model(train_step, valid_step, metrics, train, valid, epochs):
    """Train and validate, print three lines an epoch, return every epoch's metrics."""
    history = {name: [] for name in metrics}
    for epoch in range(1, epochs + 1):
        print(f"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}")
        for metric in metrics.values():
            metric.reset_state()
        newswires, began = 0, time.perf_counter()
        for x, y in train:
            train_step(x, y)
            newswires += len(y)
        # A device may still be busy: reading a result waits until it has finished.
        float(metrics["loss"].result())
        seconds = time.perf_counter() - began
        for x, y in valid:
            valid_step(x, y)
        for name, metric in metrics.items():
            history[name].append(float(metric.result()))
        loss, accuracy, valid_loss, valid_accuracy = (
            history[name][-1] for name in ("loss", "accuracy", "valid_loss", "valid_accuracy")
        )
        print(
            f"Epoch={epoch}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, "
            f"Valid Loss:{valid_loss:.3f}, Valid Accuracy:{valid_accuracy:.3f}"
        )
        print(f"Newswires/sec: {newswires / seconds:.2f}")
    return history
#: end

# %%
train_model = check("4.3", train_model)

# %% [markdown]
# Now train with your own loop. Our helper `follow` lets the dashboard watch it. The
# training loss will fall in every epoch, or nearly so. The validation loss is harder to
# predict.
#
# **Predict:** after which epoch is the *validation* loss lowest?

# %%
my_turn_guess = None  # change this: an epoch, from 1 up
card.predict("epoch_of_lowest_valid_loss", my_turn_guess)

# %%
def new_dashboard():
    return TrainingDashboard(session.caption(), len(x_train), "newswires", print_epochs=False)

def logs(_):
    return {name.replace("valid", "val"): m.result() for name, m in epoch_metrics.items()}

# %%
card.lock("epoch_of_lowest_valid_loss")
model, optimizer, epoch_metrics = new_training()
valid = pipeline(x_valid, y_valid, shuffle=False)
train = pipeline(x_train, y_train, shuffle=True)
steps = (
    partial(train_step, model, optimizer, epoch_metrics),
    partial(valid_step, model, epoch_metrics),
)
lengths = lab.epochs, len(train), len(valid)
with follow(new_dashboard(), *steps, logs, *lengths) as watched:
    by_loop = train_model(*watched, epoch_metrics, train, valid, lab.epochs)
card.measure("loop", by_loop)

# %% [markdown]
# Do you have the puzzle of the first paragraph, too? Here is the turn of your validation
# loss, with the accuracies beside it.

# %%
losses, accuracies = by_loop["valid_loss"], by_loop["valid_accuracy"]
turn = int(numpy.argmin(losses)) + 1
best = int(numpy.argmax(accuracies)) + 1
print(f"Validation loss was lowest after epoch {turn}: {losses[turn - 1]:.3f}; ", end="")
print(f"at the end {losses[-1]:.3f}")
print(f"Validation accuracy there: {accuracies[turn - 1]:.3f}; at the end ", end="")
print(f"{accuracies[-1]:.3f}, and best after epoch {best}: {accuracies[best - 1]:.3f}")
card.outcome("epoch_of_lowest_valid_loss", turn)

# %% [markdown]
# If the loss rose after its turn while the accuracy did not fall, two measures of the same
# network disagree. Before you ask which of them is right, rule out a mistake in your loop.

# %% [markdown]
# ## The same with `fit`
#
# Does `fit` get the same losses, or does it know a trick that you left out? To find out,
# both trainings have to start from the same weights and see the newswires in the same
# order.
#
# **Predict:** how far apart are the two validation losses after the last epoch?

# %%
my_difference_guess = None  # change this: a difference of two losses, such as 0.1
card.predict("last_valid_loss_apart", my_difference_guess)

# %% [markdown]
# <details><summary>Why does the next cell repeat the pipeline?</summary>
#
# The pipeline draws a new order each time that it is started. Your loop starts it once in
# every epoch, but `fit` would start it twice, and skip one of the two orders. So we give
# `fit` one endless stream: with `repeat()`, the orders follow each other as in your loop.
#
# </details>

# %%
def fit(*callbacks, x=x_train, x_val=x_valid):
    """Train a new network with fit; return it and the metrics of every epoch."""
    model, optimizer, _ = new_training()
    loss = "sparse_categorical_crossentropy"
    # Without the compiler XLA, which Keras uses by default on some devices only.
    model.compile(optimizer, loss, metrics=["accuracy"], jit_compile=False)
    train = pipeline(x, y_train, shuffle=True)
    history = model.fit(
        train.repeat(), steps_per_epoch=len(train), epochs=lab.epochs,
        validation_data=pipeline(x_val, y_valid, shuffle=False),
        callbacks=[new_dashboard(), *callbacks], verbose=0,
    )  # fmt: skip
    return model, {name.replace("val_", "valid_"): v for name, v in history.history.items()}

# %%
card.lock("last_valid_loss_apart")
trained_model, by_fit = fit()
card.measure("fit", by_fit)
card.measure("val_accuracy", by_fit["valid_accuracy"][-1])
apart = {name: numpy.abs(numpy.subtract(by_loop[name], by_fit[name])) for name in by_loop}
for name, differences in apart.items():
    print(f"{name}: largest difference {differences.max():.7f}")
print(f"Last validation losses: {apart['valid_loss'][-1]:.7f} apart")
card.outcome("last_valid_loss_apart", apart["valid_loss"][-1])

# %%
figure = figures.learning_curves(by_loop, by_fit)
text = f"The loop ends with training accuracy {by_loop['accuracy'][-1]:.3f} and validation"
text += f" accuracy {by_loop['valid_accuracy'][-1]:.3f}, fit with "
text += f"{by_fit['accuracy'][-1]:.3f} and {by_fit['valid_accuracy'][-1]:.3f}."
show_figure(figure, text, session.caption())

# %% [markdown]
# If the curves agree, `fit` hides no trick, and everything that your loop does belongs in
# the first column of your list. On a CPU the curves often agree in every digit. A GPU may
# add up numbers in a different order each time (we have not measured this), and then they
# can drift apart. TensorFlow can prevent this, but may then run slower
# ([`enable_op_determinism`](https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_op_determinism)).

# %% [markdown]
# ## When validation turns
#
# If the validation loss turns with `fit` as well, your loop is not to blame. When should the
# training end, then? `StopAtAccuracy` of [lab 03](03_time_to_accuracy.ipynb) has to know its
# target in advance. Keras' [`EarlyStopping`](https://keras.io/api/callbacks/early_stopping/)
# does not. It stops when a chosen number, by default the validation loss, has not improved
# for `patience` epochs, and on request it restores the best weights.
#
# **Predict:** one training is stopped by its validation loss, and a second one by its
# validation accuracy. How many percentage points of validation accuracy does the second
# gain over the first?

# %%
my_points_guess = None  # change this: points, such as 0.5 or -0.5
card.predict("points_gained_by_stopping_at_accuracy", my_points_guess)

# %%
def stopped_by(metric):
    """Train until `metric` stops improving; return the network of its best epoch."""
    stopper = EarlyStopping(metric, patience=lab.patience, restore_best_weights=True)
    model, by_epoch = fit(stopper)
    print(f"EarlyStopping by {metric} trained to epoch {len(by_epoch['loss'])}", end="")
    print(f" and kept the weights of epoch {stopper.best_epoch + 1}")
    return model

card.lock("points_gained_by_stopping_at_accuracy")
networks = {name: stopped_by(name) for name in ("val_loss", "val_accuracy")}
titles = {name: f"Stopped by {name}" for name in networks}
networks["last epoch"], titles["last epoch"] = trained_model, "Trained to the last epoch"

# %% [markdown]
# With the network of the last epoch, you now have three networks. When one of them is
# wrong, how sure is it of its answer?

# %%
probabilities = {name: m.predict(x_valid, verbose=0) for name, m in networks.items()}
right = {name: p.argmax(axis=1) == y_valid for name, p in probabilities.items()}
for name, network in networks.items():
    valid_loss, accuracy = network.evaluate(valid, verbose=0)
    sure = probabilities[name].max(axis=1)[~right[name]]
    print(f"{titles[name]}: loss {valid_loss:.3f}, accuracy {accuracy:.3f}, ", end="")
    percent = 100 * sure.mean() if len(sure) else 0.0
    print(f"on average {percent:.1f}% sure when it is wrong")

# %% [markdown]
# Could the difference in accuracy be chance? If both stopped networks are right about a
# newswire, or both are wrong, it cannot tell them apart. So we count only the $n$
# newswires that exactly one of them classified correctly. If the networks are equally
# good, each of these is like the toss of a coin. On average each network then wins $n/2$
# of them, with a standard deviation of
#
# $$ \frac{\sqrt{n}}{2}. $$

# %%
loss_only = int((right["val_loss"] & ~right["val_accuracy"]).sum())
accuracy_only = int((right["val_accuracy"] & ~right["val_loss"]).sum())
tosses = loss_only + accuracy_only
print(f"Newswires that only the network stopped by val_loss gets right: {loss_only}")
print(f"  and only the network stopped by val_accuracy: {accuracy_only}")
print(f"By chance: {tosses / 2:.1f} each, standard deviation {numpy.sqrt(tosses) / 2:.1f}")
points = 100 * (accuracy_only - loss_only) / len(y_valid)
print(f"Stopping by accuracy gained {points:.2f} percentage points of accuracy")
card.outcome("points_gained_by_stopping_at_accuracy", points)

# %% [markdown]
# A count that lies more than two standard deviations from $n/2$ is hardly chance. In the
# stored run, the network stopped by accuracy won 134 newswires and the other 70. A fair coin
# would give 102 to each, with a standard deviation of 7.1, so 134 lies four and a half of
# these above it. That is hardly chance, but this network had an advantage: its epoch was
# chosen by its accuracy on these very newswires. So expect less than 3.12 points on new ones.

# %% [markdown]
# Loss and accuracy measure different things, which solves the puzzle. If the network gives
# the probability $p$ to the right topic, the cross-entropy of this newswire is $-\log p$,
# which grows without bound when a network is sure and wrong. Accuracy counts only which
# topic comes first. In the stored run, the network at the turn of the loss was 30% sure, on
# average, when it was wrong; at the end it was 78% sure. It was wrong less often, but each mistake
# cost more. So the loss rose while the accuracy rose, too. (Keras lets no newswire count more than
# 16.1, because it clips $p$ at $10^{-7}$.)
#
# Which number should stop your training depends on the people who use the predictions:
#
# - If they need only the first topic, stop by the accuracy.
# - If they use the probabilities, for example to set a threshold or to ask a person in
#   doubtful cases, stop by the loss.

# %% [markdown]
# No callback can make this choice, because it does not know what the network is for.
# Compare your list with ours:
#
# | What `fit` does for you | What it leaves to you |
# |---|---|
# | for each batch: predictions, gradient, new weights, metrics | the newswires on which you validate |
# | for each epoch: metrics reset, validation, a report | the order of the pipeline |
# | one fast graph for the whole step | the number by which you stop |
#
# Nothing in the second column raises an error if it is wrong.

# %% [markdown]
# <details><summary>When should you write a loop of your own?</summary>
#
# Only when a *step* is different, for example because two networks train against each
# other. Even then, you can often keep `fit`, with its callbacks and several devices, if you
# give the model a [`train_step` of its
# own](https://keras.io/guides/custom_train_step_in_tensorflow/). To accumulate gradients,
# an argument of the optimizer is enough ([lab 05](05_many_gpus_fit.ipynb)). A whole loop
# pays off only if you also have to decide what happens between the steps.
#
# </details>

# %% [markdown]
# ## Going deeper: two things that we took for granted
#
# Is the end of a newswire the right place to cut? And does the loss rise only because the
# network is too sure of itself? This part is optional.

# %% [markdown]
# ### A: at which end should a text be cut?
#
# We cut and pad at the end, whereas
# [`pad_sequences`](https://www.tensorflow.org/api_docs/python/tf/keras/utils/pad_sequences)
# does both at the front, unless you tell it otherwise. Where in a report does a journalist
# say what it is about?

# %%
lengths = [len(newswire) for newswire in data.x_train]
cut = numpy.mean(numpy.array(lengths) > lab.words)
figure = figures.text_lengths(lengths, lab.words)
show_figure(figure, f"Newswires that are cut: {100 * cut:.1f}%.", session.caption())

# %% [markdown]
# Now repeat the training with newswires that are cut and padded at the front.
#
# **Question.** At the best epoch, how many percentage points of validation accuracy will
# the network gain or lose?

# %%
at_the_front = partial(utils.pad_sequences, maxlen=lab.words)  # the default is the front
stopper = EarlyStopping("val_accuracy", patience=lab.patience)
_, by_front = fit(stopper, x=at_the_front(data.x_train), x_val=at_the_front(data.x_valid))
front = numpy.array(by_front["valid_accuracy"])
end = by_loop["valid_accuracy"][: len(front)]
print(f"Best accuracy of the first {len(front)} epochs: ", end="")
print(f"cut at the end {max(end):.3f}, cut at the front {max(front):.3f}")
card.measure("points_gained_at_the_front", 100 * (max(front) - max(end)))

# %% [markdown]
# In the stored run, cutting at the front cost 3.5 points: 0.694 instead of 0.729. But a
# single training of each kind proves little, so repeat both with other values of `seed`.
# Besides, two things have changed at once: which words of a long newswire are kept, and where
# in its row a short newswire begins. The position matters, because the last layer has
# separate weights for each position.

# %% [markdown]
# <details><summary>How can you tell the two causes apart?</summary>
#
# If the position makes the difference, a network that ignores positions should hardly be
# affected. To try that, replace `Flatten` by
# [`GlobalMaxPool1D`](https://keras.io/api/layers/pooling_layers/global_max_pooling1d/) in
# `helpers/lab_04/models.py`.
#
# </details>

# %% [markdown]
# ### B: is a network that is too sure still a good one?
#
# If the loss rises only because the network becomes too sure of itself, a single number can
# repair it. Divide the logarithm of each probability $p_i$ by a *temperature* $T$ and
# normalise again, so that $p_i$ becomes $p_i^{1/T} / \sum_j p_j^{1/T}$ ([Guo et al.
# 2017](https://arxiv.org/abs/1706.04599)). The order of the topics stays the same, and so
# does the accuracy. We choose $T$ on one half of the validation set, and evaluate the loss
# on the other half.
#
# **Question.** Take the network that was trained to the end, and adjust its temperature.
# Will its loss be as low as the loss of the network that was stopped by its loss?

# %%
half = numpy.arange(len(y_valid)) % 2 == 0

def half_loss(logarithms, topics, temperature=1.0):
    """Mean cross-entropy after all logarithms are divided by a temperature."""
    scaled = logarithms / temperature
    of_right_topic = scaled[numpy.arange(len(topics)), topics]
    return numpy.mean(numpy.log(numpy.exp(scaled).sum(axis=1)) - of_right_topic)

def cooled(name):
    """Loss of the second half before and after, and the temperature of the first half."""
    logarithms = numpy.log(numpy.maximum(probabilities[name], 1e-7))  # as Keras clips
    tried = numpy.linspace(0.5, 10, 96)
    on_first = [half_loss(logarithms[half], y_valid[half], t) for t in tried]
    best_temperature = tried[numpy.argmin(on_first)]
    other = logarithms[~half], y_valid[~half]
    return half_loss(*other), half_loss(*other, best_temperature), best_temperature

# %%
before, after = {}, {}
for name in networks:
    before[name], after[name], temperature = cooled(name)
    print(f"{titles[name]}: loss {before[name]:.3f}, ", end="")
    print(f"at temperature {temperature:.1f} it is {after[name]:.3f}")
cooled_ratio = after["last epoch"] / before["val_loss"]
print(f"Adjusted loss after the last epoch: {cooled_ratio:.2f} times the loss ", end="")
print("of the network stopped by val_loss")
card.measure("loss_when_cooled", cooled_ratio)

# %% [markdown]
# If the last ratio is about 1, the network of the last epoch was only too sure of itself. In the
# stored run it is 1.13. So most of the rise was this overconfidence, and a smaller part has a
# different reason.
#
# Finally, compare the two stopped networks. With adjusted temperatures, their losses are almost
# equal in the stored run: 1.031 for the one stopped by its accuracy, and 1.035 for the other. So
# there you could stop by the accuracy, and repair the probabilities afterwards. Is it the same in
# your run?

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("04")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "The same with `fit`". What does it show on your machine, and what
# did you expect?
#
# Write three to six sentences in the cell below, with numbers from your run. No check reads
# them, but your instructor may.
#
# > **Limits.** Your figures come from one machine and a few trainings. Another seed, device
# > or split may change which curve is in front.

# %% [markdown] name="4.figure" points=2
# **4.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# What does `fit` do for you? If the losses agree, it computes just what your loop
# computes. Both are fast because the step runs as a graph, which matters most for a network
# as small as ours.
#
# If the validation loss rises, the probabilities get worse, but the answers may still get
# better. So first ask which of the two you need.
#
# **Question.** We chose when to stop by looking at the validation set: is its accuracy at
# that point still an honest estimate for new newswires? And how would you change your step
# to train with batches twice as large as your memory can hold?
#
# To read on: [Prechelt, "Early Stopping - But When?"
# (1998)](https://doi.org/10.1007/3-540-49430-8_3); [Guo et al., "On Calibration of Modern
# Neural Networks" (2017)](https://arxiv.org/abs/1706.04599).
