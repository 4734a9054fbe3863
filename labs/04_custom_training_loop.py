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
# as `fit`, measure what a graph and a compiler buy, and see a network get worse
# while its accuracy stays.
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
patience: int = 2  # epochs without a better validation loss, at the end of the lab

# %% [markdown]
# ## Set up
#
# The network is small, so `laptop` and `gpu` train it on all newswires. `smoke` takes
# a few, and looks at 2,000 words only.

# %% tags=["setup"]
from helpers import session

everything = {"train_newswires": 8982, "valid_newswires": 2246}
everything |= {"vocabulary": 30_982, "words": 300}
few = {"train_newswires": 330, "valid_newswires": 70, "vocabulary": 2000, "words": 100}
sizes = {
    "smoke": few | {"eager_steps": 2, "graph_steps": 10},
    "laptop": everything | {"eager_steps": 20, "graph_steps": 100},
    "gpu": everything | {"eager_steps": 50, "graph_steps": 500},
}
lab = session.start("04_custom_training_loop", globals(), sizes)

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

# %% [markdown]
# A batch is a rectangle, and newswires have many lengths. So they are cut and filled
# up with zeros. At which end would *you* cut? Where does a reporter say what it is
# about?

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
# ## The input pipeline: in which order?
#
# `tf.data` has a step for each task: `shuffle` mixes, `batch` groups, `prefetch`
# prepares the next batch while this one trains. `cache` keeps what comes in, and
# from the second epoch on gives that out again.
#
# The lab that this one follows shuffles first, and then caches. **Predict:** is
# epoch 2 in another order than epoch 1?

# %%
my_guess = {  # change these: True, if epoch 2 has another order than epoch 1
    "cache, then shuffle": True,
    "shuffle, then cache": True,
}
card.predict("another_order", my_guess)

# %%
numbers = tensorflow.data.Dataset.range(1000)
pipelines = {
    "cache, then shuffle": numbers.cache().shuffle(1000, lab.seed),
    "shuffle, then cache": numbers.shuffle(1000, lab.seed).cache(),
}
for name, pipeline in pipelines.items():
    epoch_1, epoch_2 = (list(pipeline.as_numpy_iterator()) for _ in range(2))
    another = epoch_1 != epoch_2
    print(f"{name}: epoch 2 has {'another' if another else 'the same'} order, ", end="")
    print(f"you were {'right' if my_guess[name] == another else 'wrong'}")

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
# text. Before you run the cell after this one: which layer has most of the
# parameters?

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
# topics `(batch,)`. It moves the weights along the gradient of the batch's *mean*
# loss, and updates two metrics: `metrics["loss"]` has to become the mean over all
# newswires so far, and `metrics["accuracy"]` takes topics and probabilities. Call
# the model once.
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
# `metrics["valid_loss"]` and `metrics["valid_accuracy"]`. What has to become of
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
# a list for each name: the value after every epoch. About twenty lines.

# %% [markdown]
# The first line comes *before* the epoch. It says the local time, and how far that is
# from world time (UTC), so that it is right wherever the log is read:
# `f"{datetime.now().astimezone():%H:%M:%S%z}"`. The lab that this one follows adds
# eight hours to world time, which is right in one time zone.
#
# Count the newswires that come by, and divide by the seconds of training, without
# validation. A GPU may still be busy when `train_step` returns: reading a metric,
# `float(metrics["loss"].result())`, waits for it. Do that, then stop the clock.

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
# Now train; on a laptop this takes a minute. `follow` lets the dashboard of lab 02 watch
# your loop, by the two functions that it calls.
#
# Training loss will fall in every epoch, or nearly. **Predict:** after which epoch is
# the *validation* loss lowest?

# %%
my_turn_guess = 10  # change this
card.predict("epoch_of_lowest_valid_loss", my_turn_guess)

# %%
def new_dashboard():
    return TrainingDashboard(session.caption(), len(x_train), "newswires", print_epochs=False)

def logs(_):
    return {name.replace("valid", "val"): m.result() for name, m in epoch_metrics.items()}

# %%
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
my_difference_guess = 0.1  # change this
card.predict("last_valid_loss_apart", my_difference_guess)

# %% [markdown]
# `fit` asks for a new order of the newswires twice in an epoch, and uses every second
# one. With `repeat()` it gets them one after the other, as your loop does.

# %%
def fit(*callbacks):
    """Train a new network with fit; return it and the metrics of every epoch."""
    model, optimizer, _ = new_training()
    loss = "sparse_categorical_crossentropy"
    # XLA, a compiler, is on by default on some devices: off, so that both compare.
    model.compile(optimizer, loss, metrics=["accuracy"], jit_compile=False)
    train = pipeline(x_train, y_train, shuffle=True)
    history = model.fit(
        train.repeat(), steps_per_epoch=len(train), validation_data=valid,
        epochs=lab.epochs, callbacks=[new_dashboard(), *callbacks], verbose=0,
    )  # fmt: skip
    return model, {name.replace("val_", "valid_"): v for name, v in history.history.items()}

# %%
trained_model, by_fit = fit()
card.measure("fit", by_fit)
card.measure("val_accuracy", by_fit["valid_accuracy"][-1])
apart = {name: numpy.abs(numpy.subtract(by_loop[name], by_fit[name])) for name in by_loop}
for name, differences in apart.items():
    print(f"{name}: largest difference {differences.max():.7f}")
print(f"Last validation losses: {apart['valid_loss'][-1]:.7f} apart, ", end="")
print(f"you guessed {my_difference_guess:.7f}")

# %%
figure = figures.learning_curves(by_loop, by_fit)
turn = int(numpy.argmin(by_loop["valid_loss"])) + 1
text = f"The loop ends with training accuracy {by_loop['accuracy'][-1]:.3f} and validation"
text += f" accuracy {by_loop['valid_accuracy'][-1]:.3f}, fit with "
text += f"{by_fit['accuracy'][-1]:.3f} and {by_fit['valid_accuracy'][-1]:.3f}."
show_figure(figure, text, session.caption())

# %% [markdown]
# On one CPU the curves often agree in every digit. On a GPU sums are added up in
# another order each time; a difference in the seventh digit then grows from step to
# step. Either way: `fit` does what you wrote, and adds callbacks, progress bars,
# class weights, several devices. You write the loop when a *step* is not this one:
# two networks against each other, gradients added up over batches, a loss that
# needs a second look at the input.

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
my_speed_ups = {"eager": 1.0, "graph": 1.0, "jit_compile": 1.0}  # change the last two
card.predict("times_as_fast_as_eager", my_speed_ups)

# %%
batch = x_train[: lab.batch_size], y_train[: lab.batch_size]

def measure(step, steps):
    """Seconds of the first call, and milliseconds of each that follows."""
    model, optimizer, metrics = new_training()
    seconds = []
    for calls in (1, steps):
        began = perf_counter()
        for _ in range(calls):
            step(model, optimizer, metrics, *map(tensorflow.constant, batch))
        float(metrics["loss"].result())  # waits for the device
        seconds.append(perf_counter() - began)
    return seconds[0], 1000 * seconds[1] / steps

# %%
# What stands under @tf.function: the plain Python of the step.
in_python = getattr(train_step, "python_function", train_step)
compiled = tensorflow.function(in_python, jit_compile=True)
measured = {
    "eager": measure(in_python, lab.eager_steps),
    "graph": measure(tensorflow.function(in_python), lab.graph_steps),
    "jit_compile": measure(compiled, lab.graph_steps),
}
for name, (first_seconds, milliseconds) in measured.items():
    print(f"{name}: first call {first_seconds:.2f} s, then {milliseconds:.2f} ms a step")
firsts, steps = ({name: pair[i] for name, pair in measured.items()} for i in (0, 1))
card.measure("step_milliseconds", steps)
card.measure("newswires_per_second", 1000 * lab.batch_size / steps["graph"])

# %%
figure = figures.step_modes(steps, my_speed_ups)
times = steps["eager"] / steps["graph"]
show_figure(figure, f"The graph is {times:.1f} times as fast as eager.", session.caption())
saved = (steps["graph"] - steps["jit_compile"]) / steps["graph"]
wait = firsts["jit_compile"] - firsts["graph"]
even = f"{max(0, wait) / saved:.1f} s" if saved > 0 else "never"
print(f"XLA has paid for its compilation after training for: {even}")

# %% [markdown]
# The first call of a graph is slow: Python runs, and everything is planned. XLA takes
# longer still. Both pay that once for each *shape*: the smaller last batch is a second
# shape.
#
# XLA merges operations, which saves trips to memory: much on a GPU. On a CPU its
# convolutions can be slower than those that TensorFlow has by hand, and then it
# never pays. Neither is fast by name; the measurement decides.

# %% [markdown]
# ## When validation turns
#
# Look at the curves again. What does the validation loss do, while the accuracy
# hardly moves?

# %%
lowest, last = by_loop["valid_loss"][turn - 1], by_loop["valid_loss"][-1]
accuracies = by_loop["valid_accuracy"]
print(f"Validation loss was lowest after epoch {turn}: {lowest:.3f}; at the end {last:.3f}")
print(f"Your guess was epoch {my_turn_guess}")
print(f"Validation accuracy: {accuracies[turn - 1]:.3f} there, {accuracies[-1]:.3f} at the end")

# %% [markdown]
# After the turn the network learns its training set by heart. What shall end the
# training? `StopAtAccuracy` of lab 03 does not see the turn: accuracy stays where it
# is, and its target has to be known before. The criterion is the validation *loss*:
# end when it has not fallen for `patience` epochs, and go back to the best weights.
# In Keras that is `EarlyStopping`.
#
# **Question** before you run the cell: how many epochs more than needed will it
# train?

# %%
stopper = EarlyStopping("val_loss", patience=lab.patience, restore_best_weights=True)
stopped_model, by_stopped = fit(stopper)
print(f"EarlyStopping trained to epoch {len(by_stopped['loss'])}", end="")
print(f" and kept the weights of epoch {stopper.best_epoch + 1}")

# %% [markdown]
# Two networks: the one that stopped, and the one that trained to the end. For each
# validation newswire a network gives a probability to every topic. How sure is it of
# its answer where that answer is wrong?

# %%
def report(name, model):
    """Print loss, accuracy, and the mean probability of the wrong answers."""
    loss, accuracy = model.evaluate(valid, verbose=0)
    probabilities = model.predict(x_valid, verbose=0)
    wrong = probabilities.argmax(axis=1) != y_valid
    sure = probabilities.max(axis=1)
    sure_and_wrong = 100 * sure[wrong].mean() if wrong.any() else 0.0
    print(f"{name}: loss {loss:.3f}, accuracy {accuracy:.3f}, ", end="")
    print(f"{sure_and_wrong:.1f}% sure where it is wrong")

report("Stopped", stopped_model)
report("Trained to the end", trained_model)

# %% [markdown]
# Cross-entropy is the negative logarithm of the probability of the right topic, so it
# grows without bound when a network is sure and wrong. Accuracy counts only which
# topic comes first. Does anybody use the probabilities, to sort, to set a threshold,
# to ask a person when in doubt? Then stop by the loss. If only the first topic counts,
# more epochs may even be a little better, and `EarlyStopping("val_accuracy")` says so.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("04")

# %%
session.finish()

# %% [markdown]
# ## What you learned
#
# `fit` is a loop over batches: predict, gradient, move, count; then validate, print,
# start counting again. Written by hand it does the same to the last digits, and the
# graph, not the loop, is what makes it fast. Validation loss tells when to stop, also
# where accuracy does not move.
#
# Two questions to take along. We chose when to stop by looking at the validation set:
# is its loss at that point still an honest estimate for new newswires? And which
# line of your loop would you change to train with batches twice as large as memory
# holds?
#
# To read on: Kim, "Convolutional Neural Networks for Sentence Classification" (2014);
# Prechelt, "Early Stopping - But When?" (1998); Guo et al., "On Calibration of Modern
# Neural Networks" (2017).
