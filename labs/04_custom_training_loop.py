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
# One line, `model.fit(...)`, and a network is trained. What happens inside it? And
# what do you have to do when it cannot do what you want?
#
# In this lab you write the training loop by hand, find out whether it does the same
# as `fit`, measure what a graph and a compiler buy, and see what it means when the
# validation loss turns and rises.
#
# Stuck? `hint("4.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 10
batch_size: int = 32
train_newswires: int = None  # at the most; None here and below: what the scale says
valid_newswires: int = None
vocabulary: int = None  # rarer words become one "unknown" word
words: int = None  # of each newswire: longer ones are cut, shorter ones filled up
learning_rate: float = 0.001
patience: int = 2  # epochs without a better validation, at the end of the lab

# %% [markdown]
# ## Set up
#
# The network is small, so `laptop` and `gpu` train it on all newswires. `smoke` takes
# a few, and looks at 2,000 words only.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("04_custom_training_loop", globals())

# %%
# keras, np, tf, time and datetime are for your answers: bind them to what you like. Our
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
# Reuters newswires of 1987 (Lewis 1997). Each has one of 46 topics, which the
# network shall tell from the words. Of the text only words are left, each a number:
# the more frequent, the smaller. What can you still read?

# %%
data = load_newswires(lab)
text = decode(data.x_train[0][:60], data.word_index)
print(f"A newswire about {data.topics[data.y_train[0]]}: {text}")
share = numpy.bincount(data.y_train).max() / len(data.y_train)
print(f"Always guessing the most frequent topic is right in {100 * share:.1f}%")
known = {tuple(newswire) for newswire in data.x_train}
twice = sum(tuple(newswire) in known for newswire in data.x_valid)
print(f"Newswires to validate that are also in the training set, word for word: {twice}")

# %% [markdown]
# Which newswires are for validation? Here, as in the lab that this one follows, it is
# Keras' choice: all are shuffled, and a fifth is taken. The collection has a split of its
# own (Lewis 1997), by date: train on the older ones, test on the newer ones. That is what
# a newsroom needs. After a shuffle there can be repeats (the last line counts them) and
# reports of the same event on both sides. So this validation may flatter a network. By
# how much was not measured here.

# %% [markdown]
# How many newswires does the first line name? Keras' copy has 11,228 in all. The stored
# run of this lab used one with 10,254, made from Lewis' collection: so your numbers may
# differ from its.

# %% [markdown]
# A batch is a rectangle, and newswires have many lengths. So they are cut and filled
# up with zeros. At which end would *you* cut, and at which one would you fill? Where
# does a reporter say what it is about?

# %%
def rectangle(newswires):
    """Word numbers (n, words): cut, or filled up with zeros, at the end."""
    return utils.pad_sequences(newswires, lab.words, padding="post", truncating="post")

x_train, y_train = rectangle(data.x_train), data.y_train
x_valid, y_valid = rectangle(data.x_valid), data.y_valid
lengths = [len(newswire) for newswire in data.x_train]
cut = numpy.mean(numpy.array(lengths) > lab.words)
figure = figures.text_lengths(lengths, lab.words)
show_figure(figure, f"Newswires that are cut: {100 * cut:.1f}%.", session.caption())

# %% [markdown]
# We cut and fill at the end. The lab that this one follows does both at the front, as
# `pad_sequences` does where nobody asks for anything else. Does it matter, where so few
# newswires are cut? We shall measure it, once there is a training.

# %% [markdown]
# ## The input pipeline: in which order?
#
# `tf.data` has a step for each task: `shuffle` mixes, `batch` groups, `prefetch`
# prepares the next batch while this one trains. `cache` keeps what comes in, and
# from the second epoch on gives that out again.
#
# The lab that this one follows shuffles first, and then caches. **Predict:** is
# epoch 2 in another order than epoch 1?

# %%
my_guess = {  # change these: True if epoch 2 has another order than epoch 1, else False
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
another = {}
for name, rows in pipelines.items():
    epoch_1, epoch_2 = (list(rows.as_numpy_iterator()) for _ in range(2))
    another[name] = epoch_1 != epoch_2
    print(f"{name}: epoch 2 has {'another' if another[name] else 'the same'} order")
card.outcome("another_order", another)

# %% [markdown]
# What is cached is fixed. Shuffled first, every epoch repeats the order of the first:
# it still trains, no error, no warning, and nobody notices. So: what is the same in
# every epoch (reading, decoding) before `cache`, what is chance after it. And
# `batch` after `shuffle`: else whole batches are mixed, each with the same members.

# %%
def pipeline(x, y, shuffle):
    """Batches of newswires and topics; shuffled in every epoch, or in order."""
    rows = tensorflow.data.Dataset.from_tensor_slices((x, y)).cache()
    if shuffle:
        rows = rows.shuffle(len(x), lab.seed)
    # TensorFlow 2.21 tunes buffers in a thread that sleeps twice as long each time;
    # an epoch that ends during its sleep waits for it, for seconds.
    options = tensorflow.data.Options()
    options.autotune.enabled = False
    return rows.batch(lab.batch_size).prefetch(2).with_options(options)

# %% [markdown]
# ## The model
#
# Kim (2014) showed that convolutions can classify sentences. An *embedding* is a
# table: a row of learned numbers for each word. A convolution then slides along the
# text. (Kim's network then keeps only the largest value of all places. This one, that of
# the lab that we follow, keeps the places apart.) Before you run the cell after this
# one: which layer has most of the parameters?

# %%
session.show_source(models.look_at_neighbours)

# %%
full_model = models.text_cnn(vocabulary=30_982, classes=46, words=300)
part = 7 * 30_982 / full_model.count_params()
print(f"text_cnn has {full_model.count_params():,} parameters")
print(f"Its embedding has {100 * part:.1f}% of them")

# %% [markdown]
# A training needs three things: the network, the optimizer (Nadam, which is Adam with
# Nesterov's momentum: Dozat 2016), and metrics. A *metric* is a small counter:
# `update_state` adds to it, `result` reads it, `reset_state` sets it to zero.

# %%
def new_training():
    """A network, its optimizer and its metrics; every call starts from the same weights."""
    utils.set_random_seed(lab.seed)
    model = models.text_cnn(lab.vocabulary, len(data.topics), lab.words)
    optimizer = optimizers.Nadam(lab.learning_rate)
    # All variables are made now: a graph may make some in its very first call only.
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
# TensorFlow can record what it computes on a *tape*, and play it backwards to get
# gradients:
#
#     with tf.GradientTape() as tape:
#         loss = ...
#     gradients = tape.gradient(loss, variables)
#
# `optimizer.apply(gradients, variables)` then moves the variables. Which are these?
# `model.trainable_variables`. Layers such as dropout do their work in training only:
# `model(x, training=True)` tells them.

# %% [markdown]
# Write `train_step`. It gets one batch: `x`, word numbers `(batch, words)`, and `y`,
# topics `(batch,)`. The optimizer moves the weights along the gradient of the batch's
# *mean* loss. The step updates two metrics: `metrics["loss"]` has to become the mean over
# all newswires so far, and `metrics["accuracy"]` takes topics and probabilities. The
# others stay as they are. Call the model once.
#
# `keras.losses.sparse_categorical_crossentropy(y, probabilities)` gives one loss for
# each newswire. `@tf.function` above the line `def` makes a graph of it: keep that.
# About eight lines.

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
    # The losses, not their mean: so every newswire counts once, whatever its batch.
    metrics["loss"].update_state(losses)
    metrics["accuracy"].update_state(y, probabilities)
#: end

# %%
train_step = check("4.1", train_step)

# %% [markdown]
# ## Exercise 4.2: one validation step
#
# Write `valid_step`. It gets one batch, changes nothing in the model, and updates
# `metrics["valid_loss"]` and `metrics["valid_accuracy"]`, each over all newswires so far.
# The other metrics stay as they are, and the step stays a graph. What has to become of
# `training`? About five lines.

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
# ## Exercise 4.3: the epoch loop
#
# Write `train_model(train_step, valid_step, metrics, train, valid, epochs)`. Here
# model and optimizer are inside the steps already: call `train_step(x, y)`. Every
# epoch goes once through `train`, then once through `valid`, and prints
#
#     ======================================== 10:02:03+0100
#     Epoch=1, Loss:1.967, Accuracy:0.489, Valid Loss:1.641, Valid Accuracy:0.583
#     Newswires/sec: 812.35
#
# Each epoch's figures are its own. The function returns a dict like `metrics`, with
# a list for each name: the value after every epoch, a number. About twenty lines.

# %% [markdown]
# The first line comes *before* the epoch. It says the local time, and how far that is
# from world time (UTC): `f"{datetime.now().astimezone():%H:%M:%S%z}"`. The lab that this
# one follows adds eight hours, right in one time zone. The other two lines come when the
# epoch is over, before the next one begins.
#
# Count the newswires that come by, and divide by the seconds of training, without
# validation. A GPU may still be busy when `train_step` returns: reading a metric,
# `float(metrics["loss"].result())`, waits for it. Do that after the last batch, then stop
# the clock; between two batches read none.

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
# Now train; the dashboard says how long it takes. `follow` lets it watch your loop, by
# the two functions that it calls.
#
# Training loss will fall in every epoch, or nearly. **Predict:** after which epoch is
# the *validation* loss lowest?

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
# ## The same with `fit`
#
# Same seed, so the same first weights and the same order of newswires. **Predict:**
# how far apart are the two validation losses after the last epoch?

# %%
my_difference_guess = None  # change this: a difference of two losses, such as 0.1
card.predict("last_valid_loss_apart", my_difference_guess)

# %% [markdown]
# `fit` asks for a new order of the newswires twice in an epoch, and uses every second
# one. With `repeat()` it gets them one after the other, as your loop does.

# %%
def fit(*callbacks, x=x_train, x_val=x_valid):
    """Train a new network with fit; return it and the metrics of every epoch."""
    model, optimizer, _ = new_training()
    loss = "sparse_categorical_crossentropy"
    # XLA, a compiler, is on by default on some devices: off, so that both compare.
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
turn = int(numpy.argmin(by_loop["valid_loss"])) + 1
text = f"The loop ends with training accuracy {by_loop['accuracy'][-1]:.3f} and validation"
text += f" accuracy {by_loop['valid_accuracy'][-1]:.3f}, fit with "
text += f"{by_fit['accuracy'][-1]:.3f} and {by_fit['valid_accuracy'][-1]:.3f}."
show_figure(figure, text, session.caption())

# %% [markdown]
# On one CPU the curves often agree in every digit. A GPU may add up sums in another
# order each time (not measured here); a difference in the seventh digit can then grow
# from step to step. Where the curves agree, `fit` does what you wrote, and adds
# callbacks, progress bars, class weights, several devices. You write the loop when a
# *step* is not this one: two networks against each other, gradients added up over
# batches, a loss that needs a second look at the input.

# %% [markdown]
# ## Front or end?
#
# Now to the question of the beginning. The same training, but with newswires that are
# cut and filled at the front. **Predict:** how many percentage points of validation
# accuracy will that gain or lose, at the best epoch?

# %%
my_front_guess = None  # change this: points, such as 0.5 or -0.5
card.predict("points_gained_at_the_front", my_front_guess)

# %%
card.lock("points_gained_at_the_front")
at_the_front = partial(utils.pad_sequences, maxlen=lab.words)  # its defaults
stopper = EarlyStopping("val_accuracy", patience=lab.patience)
_, by_front = fit(stopper, x=at_the_front(data.x_train), x_val=at_the_front(data.x_valid))
front = numpy.array(by_front["valid_accuracy"])
end = by_loop["valid_accuracy"][: len(front)]
print(f"Best of the first {len(front)} epochs: at the end {max(end):.3f}, ", end="")
print(f"at the front {max(front):.3f}")
card.outcome("points_gained_at_the_front", 100 * (max(front) - max(end)))

# %% [markdown]
# One training each is little: before you believe a difference, train with other values
# of `seed`. Two things have changed at once: which words are left of a long newswire,
# and where a short one lies. The last layer has weights of its own for every place in
# the text. Filled at the end, all newswires begin at the same place; filled at the
# front, each begins where its length puts it.

# %% [markdown]
# If the place makes the difference, a network that forgets it should hardly care. Put
# `GlobalMaxPool1D` in place of `Flatten` in `helpers/lab_04/models.py`, and try. And
# compare your accuracy with somebody else's only where data, split, cutting and filling
# are the same.

# %% [markdown]
# ## What the graph buys
#
# Without `@tf.function` Python starts every operation of the step itself: *eager*.
# With it, Python runs once and leaves a graph, which TensorFlow runs without it.
# `jit_compile=True` goes further: XLA compiles the graph into a program for this
# very device and these shapes.
#
# **Predict** how many times as fast as eager the other two are.

# %%
my_speed_ups = {"graph": None, "jit_compile": None}  # change these: 2.0 is half the time
speed_ups_guess = card.predict("times_as_fast_as_eager", my_speed_ups)

# %%
batch = x_train[: lab.batch_size], y_train[: lab.batch_size]

def stopwatch(step):
    """A function that takes some steps, and returns the milliseconds of each."""
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
# The three are measured five times, in turn: so a busy moment of the machine meets all
# of them, and you see how far the times scatter.

# %%
card.lock("times_as_fast_as_eager")
# What stands under @tf.function: the plain Python of the step.
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
# Does XLA pay? It has to win back the time of its first call. **Look** at the ranges
# first: is there a difference between graph and XLA that is larger than the scatter?

# %%
saved = [one["graph"] - one["jit_compile"] for one in rounds]
faster = sum(one > 0 for one in saved)
print(f"XLA's steps were faster than the graph's in {faster} of 5 rounds")
wait = max(0, first_seconds["jit_compile"] - first_seconds["graph"])
even = "never" if faster == 0 else "unclear, for it was not faster in every round"
if min(saved) > 0:
    even = f"{wait * step_ms['graph'] / numpy.median(saved):.1f} s"
print(f"XLA has paid for its compilation after training for: {even}")

# %% [markdown]
# The first call of a graph is slow: Python runs, and everything is planned. XLA compiles
# on top of that. Both pay once for each *shape*: the smaller last batch is a second
# shape.
#
# XLA merges operations, which saves trips to memory. And it makes code of its own where
# TensorFlow calls a library that people tuned by hand. Which of the two wins depends on
# the device and the network: your lines say it for yours. On a GPU it was not measured
# for this text. Nothing is fast by its name.

# %% [markdown]
# ## When validation turns
#
# Look at the curves again. The validation loss falls, turns, and rises. Does the network
# get worse from there? What does its accuracy say?

# %%
losses, accuracies = by_loop["valid_loss"], by_loop["valid_accuracy"]
best = int(numpy.argmax(accuracies)) + 1
print(f"Validation loss was lowest after epoch {turn}: {losses[turn - 1]:.3f}; ", end="")
print(f"at the end {losses[-1]:.3f}")
print(f"Validation accuracy there: {accuracies[turn - 1]:.3f}; at the end ", end="")
print(f"{accuracies[-1]:.3f}, and best after epoch {best}: {accuracies[best - 1]:.3f}")
card.outcome("epoch_of_lowest_valid_loss", turn)

# %% [markdown]
# What shall end the training? `StopAtAccuracy` of lab 03 has to know its target before.
# `EarlyStopping` of Keras does not: it ends when a number has not become better for
# `patience` epochs, and goes back to the best weights. Which number?
#
# **Predict:** one training stops by the validation loss, another one by the validation
# accuracy. By how many percentage points do their validation accuracies differ?

# %%
my_points_guess = None  # change this: points, such as 0.5; negative if the loss is better
card.predict("points_gained_by_stopping_at_accuracy", my_points_guess)

# %%
def stopped_by(what):
    """Train until the metric `what` gets no better; return the best network."""
    stopper = EarlyStopping(what, patience=lab.patience, restore_best_weights=True)
    model, by_epoch = fit(stopper)
    print(f"EarlyStopping by {what} trained to epoch {len(by_epoch['loss'])}", end="")
    print(f" and kept the weights of epoch {stopper.best_epoch + 1}")
    return model

card.lock("points_gained_by_stopping_at_accuracy")
networks = {name: stopped_by(name) for name in ("val_loss", "val_accuracy")}
networks["the last epoch"] = trained_model

# %% [markdown]
# Three networks. For each validation newswire a network gives a probability to every
# topic. How sure is it of its answer where that answer is wrong?

# %%
probabilities = {name: m.predict(x_valid, verbose=0) for name, m in networks.items()}
right = {name: p.argmax(axis=1) == y_valid for name, p in probabilities.items()}
for name, network in networks.items():
    valid_loss, accuracy = network.evaluate(valid, verbose=0)
    sure = probabilities[name].max(axis=1)[~right[name]]
    print(f"Stopped by {name}: loss {valid_loss:.3f}, accuracy {accuracy:.3f}, ", end="")
    print(f"{100 * sure.mean() if len(sure) else 0.0:.1f}% sure where it is wrong")

# %% [markdown]
# Are some points of accuracy chance? The networks answered the same newswires. Where
# both are right, or both wrong, nothing is decided. Count the others, as in a toss of
# coins: of `n` tosses about half fall on each side, give or take `sqrt(n) / 2`.

# %%
loss_only = int((right["val_loss"] & ~right["val_accuracy"]).sum())
accuracy_only = int((right["val_accuracy"] & ~right["val_loss"]).sum())
tosses = loss_only + accuracy_only
print(f"Right with val_loss only: {loss_only}, with val_accuracy only: {accuracy_only}")
print(f"By chance: {tosses / 2:.1f} each, give or take {numpy.sqrt(tosses) / 2:.1f}")
points = 100 * (accuracy_only - loss_only) / len(y_valid)
print(f"Stopping by accuracy gained {points:.2f} points")
card.outcome("points_gained_by_stopping_at_accuracy", points)

# %% [markdown]
# A part of such a gain is luck all the same: the best of several epochs was chosen on the
# very newswires that now judge it.
#
# ## Why does the loss rise?
#
# Cross-entropy is the negative logarithm of the probability of the right topic: it grows
# without bound when a network is sure and wrong. Accuracy counts only which topic comes
# first. If the rise is nothing but too much certainty, one number can repair it. Divide
# all logarithms of the probabilities by a *temperature* (Guo et al. 2017): the order of
# the topics stays, and so does the accuracy.

# %% [markdown]
# We choose the temperature on one half of the validation set, and look at the loss of the
# other half. **Predict:** the network that was trained to the end, cooled down: how many
# times the loss of the network that stopped by its loss?

# %%
my_cooled_guess = None  # change this: a ratio; 1.0 is the same loss
card.predict("loss_when_cooled", my_cooled_guess)

# %%
half = numpy.arange(len(y_valid)) % 2 == 0

def half_loss(logarithms, topics, temperature=1.0):
    """Mean cross-entropy after all logarithms were divided by a temperature."""
    scaled = logarithms / temperature
    of_right_topic = scaled[numpy.arange(len(topics)), topics]
    return numpy.mean(numpy.log(numpy.exp(scaled).sum(axis=1)) - of_right_topic)

def cooled(name):
    """Loss of the second half, before and after; the temperature is from the first."""
    logarithms = numpy.log(numpy.maximum(probabilities[name], 1e-7))  # Keras' limit, too
    tried = numpy.linspace(0.5, 10, 96)
    on_first = [half_loss(logarithms[half], y_valid[half], t) for t in tried]
    best_temperature = tried[numpy.argmin(on_first)]
    other = logarithms[~half], y_valid[~half]
    return half_loss(*other), half_loss(*other, best_temperature), best_temperature

# %%
card.lock("loss_when_cooled")
before, after = {}, {}
for name in networks:
    before[name], after[name], temperature = cooled(name)
    print(f"Stopped by {name}: loss {before[name]:.3f}, ", end="")
    print(f"at temperature {temperature:.1f} it is {after[name]:.3f}")
card.outcome("loss_when_cooled", after["the last epoch"] / before["val_loss"])

# %% [markdown]
# Compare the last loss, cooled down, with that of the network that stopped early. As far
# as they are equal, the network had not become worse: it had become too sure. What is
# left of the rise has another reason. Look at the second line as well: what does the
# network that stopped by its accuracy lose, once it is cooled down?

# %% [markdown]
# So what ends a training? It depends on who uses the answers. If only the first topic
# counts, stop by the accuracy. If somebody uses the probabilities, to sort, to set a
# threshold, to ask a person when in doubt, stop by the loss, or cool down afterwards.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("04")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "The same with `fit`" or the one under "What the graph buys". What
# does it show on your machine, and what would you have expected before?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="4.figure" points=2
# **4.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# `fit` is a loop over batches: predict, gradient, move, count; then validate, print,
# start counting again. Written by hand it does the same, and the graph, not the loop, is
# what makes it fast. A validation loss that rises says that the probabilities get worse:
# the answers may still get better.
#
# Two questions to take along. We chose when to stop by looking at the validation set:
# is its accuracy at that point still an honest estimate for new newswires? And which
# line of your loop would you change to train with batches twice as large as memory
# holds?
#
# To read on: Kim, "Convolutional Neural Networks for Sentence Classification" (2014);
# Prechelt, "Early Stopping - But When?" (1998); Guo et al., "On Calibration of Modern
# Neural Networks" (2017).
