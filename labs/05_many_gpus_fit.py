# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 05: What changes in my code on many GPUs, and in my learning rate?
#
# In *data parallel* training every device holds a copy of the model, a *replica*. Each
# takes its share of the batch and works out the mean gradient of it. The mean of these
# means is, for shares of one size, the gradient of the whole batch. Then every copy makes
# the same step: so they stay equal.

# %% [markdown]
# In this lab you do that with `fit`, count what a replica holds in memory, test that
# several train what one device does, measure how fast they are, and find out what a larger
# batch does to learning.
#
# Stuck? `hint("5.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto takes what this machine can bear
seed: int = 0
replicas: int = None  # None here and below: what the scale says
gpu_indices: list = None  # which GPUs, such as [0, 2, 3]
batch_size: int = 32  # images per replica and step
epochs: int = 3
train_images: int = None
valid_images: int = None
depth: int = None
width: int = None
learning_rate: float = 0.01  # for a batch of 32
warmup_epochs: float = 1.0
global_batches: list = None  # of the large-batch experiment: multiples of the first
seeds: int = None  # how many runs of each learning rate there

# %% [markdown]
# ## Set up
#
# With several GPUs each is a replica; on a TPU each core. With neither, the CPU is cut
# into logical devices with one thread each. TensorFlow treats them as it treats GPUs.
# Such replicas are *simulated*, threads of one processor. They show that the code is
# right. How fast several devices are, they cannot show: they share the cores, with each
# other and with what feeds them.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("05_many_gpus_fit", globals(), devices="all")

# %%
# keras, np and statistics are for your answers: bind them to what you like. Our own
# cells use other names.
import statistics
from math import prod
from statistics import median
from time import perf_counter

import keras
import numpy
import numpy as np
import tensorflow
from keras import Input, Sequential, layers, ops, optimizers, utils
from keras.callbacks import Callback

card = lab.card

# %%
from callbacks import EpochRecorder, PrintThroughput, TrainingDashboard, counted
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.errors import ParameterError
from helpers.figures import show_figure, use_figures
from helpers.lab_05 import figures
from helpers.machine import devices
from helpers.machine.computer import cores
from helpers.machine.watchdog import no_hang
from helpers.network.models import wide_resnet
from helpers.network.pipelines import batches, with_preprocessing

use_figures()
x_train, y_train, x_valid, y_valid = session.load_images()

# %% [markdown]
# A *strategy* knows the replicas and adds up what they find. `new_strategy` is ours: it
# makes a `tf.distribute.MirroredStrategy` over the devices that the set-up has prepared
# (on a TPU a `TPUStrategy`). Everything after this line is TensorFlow and Keras.

# %%
strategy = devices.new_strategy()
print(f"Replicas: {strategy.num_replicas_in_sync}")

# %% [markdown]
# ## Exercise 5.1: a model on every replica
#
# Write `build(strategy, new_model, new_optimizer, per_replica_batch)`.
#
# - `new_model()` gives a network, `new_optimizer()` an optimizer; use both as they are.
#   Their variables get a copy on every replica only if made in `with strategy.scope():`.
# - `compile` makes metrics, with variables, too: call it in there. Take the loss
#   `"categorical_crossentropy"`, `metrics=["accuracy"]`, `jit_compile=False` (XLA ends in
#   an error over several replicas), nothing else.
# - Return the model and the *global batch*: how many images all replicas together take
#   in one step, a whole number.
#
# The strategy may have one replica. About eight lines.

# %% name="5.1-build" points=2
# TODO 5.1: build and compile for all replicas; return the model and the global batch.
#: start
def build(strategy, new_model, new_optimizer, per_replica_batch):
    """Build and compile for all replicas; give the model and the global batch."""
    model = new_model()
    model.compile(new_optimizer(), loss="categorical_crossentropy")
    return model, per_replica_batch
#: solution
def build(strategy, new_model, new_optimizer, per_replica_batch):
    """Build and compile for all replicas; give the model and the global batch."""
    with strategy.scope():
        model = new_model()
        model.compile(
            new_optimizer(),
            loss="categorical_crossentropy",
            metrics=["accuracy"],
            jit_compile=False,
        )
    return model, per_replica_batch * strategy.num_replicas_in_sync
#: end

# %%
build = check("5.1", build)

# %% [markdown]
# Now the wide residual network of lab 02, over all replicas. The rest is as on one
# device: the same `fit`, the same callbacks.

# %%
def new_network(seed=lab.seed):
    utils.set_random_seed(seed)
    network = wide_resnet(lab.depth, lab.width, dropout=0.0, stem_pool=lab.stem_pool)
    return with_preprocessing(network, x_train, shift=0, flip=False, seed=seed)

def new_sgd():
    return optimizers.SGD(lab.learning_rate, momentum=0.9, nesterov=True)

resnet, global_batch = build(strategy, new_network, new_sgd, lab.batch_size)
copies = len(getattr(resnet.weights[0].value, "values", [0]))
print(f"Copies of each weight: {copies}")
print(f"Global batch: {global_batch} = {lab.batch_size} x {strategy.num_replicas_in_sync}")

# %%
def training_batches(global_batch, seed=lab.seed, repeat=False):
    if global_batch > lab.train_images:
        raise ParameterError(f"a global batch of {global_batch} needs as many train_images")
    # A smaller last batch would not divide among the replicas.
    return batches(x_train, y_train, global_batch, seed, repeat, drop_remainder=True)

valid = batches(
    x_valid, y_valid, 16 * strategy.num_replicas_in_sync, drop_remainder=True
)
steps = lab.train_images // global_batch

# %%
progress = [TrainingDashboard(session.caption()), PrintThroughput(steps * global_batch)]
with no_hang("training with fit"):
    resnet.fit(
        training_batches(global_batch),
        validation_data=valid,
        epochs=lab.epochs,
        callbacks=progress,
        verbose=0,
    )

# %% [markdown]
# ## What does a replica hold?
#
# The memory of a device has to hold four things: the *weights*; a *gradient* for each
# weight that is trained; what the *optimizer* remembers, here a momentum for each; and the
# *activations*: what each layer gave for each image of the batch, which is needed again on
# the way back. **Predict:** how many times as much memory as the weights do the activations
# of one replica's batch take?

# %%
my_activations_guess = None  # change this: MiB of activations / MiB of weights
my_activations_guess = card.predict("activations_over_weights", my_activations_guess)

# %%
card.lock("activations_over_weights")
kept = (layers.Conv2D, layers.ReLU, layers.Add, layers.MaxPooling2D)  # not all outputs are
outputs = [x.output.shape[1:] for x in resnet.layers[-1].layers if isinstance(x, kept)]
trained_numbers = sum(prod(w.shape) for w in resnet.trainable_weights)
numbers = {
    "weights, with running averages": resnet.count_params(),
    "gradients": trained_numbers,
    "optimizer (momentum)": sum(prod(v.shape) for v in resnet.optimizer.variables),
    f"activations of {lab.batch_size} images": lab.batch_size * sum(map(prod, outputs)),
}
mib = {name: 4 * n / 2**20 for name, n in numbers.items()}  # float32 has 4 bytes
for name, size in mib.items():
    print(f"{size:.2f} MiB: {name}")
*fixed, activations = mib.values()
card.outcome("activations_over_weights", activations / fixed[0])
print(f"An image more on each replica: {activations / lab.batch_size:.2f} MiB")

# %% [markdown]
# These are counts of numbers, not a measurement. They leave out the working memory of
# each operation, and the outputs of batch normalisation, whose inputs are enough on the
# way back. The real peak is higher. (*Running averages* are mean and variance that batch
# normalisation keeps for validation: no gradient trains them. Adam remembers two numbers
# for each weight, not one.)

# %% [markdown]
# *Every* replica holds the first three in full: data parallelism makes room for a larger
# batch, not for a larger model. Only the activations are shared out. Where they are most
# of it, memory limits the per-replica batch. In a large language model weights, gradients
# and Adam's numbers alone can be more than a GPU has, and then these have to be cut up, too
# (Rajbhandari et al. 2020).

# %% [markdown]
# ## What does a larger batch ask of the learning rate?
#
# With N replicas and the same batch on each, an epoch has N times fewer steps. To get as
# far, each step would have to be N times as long. That is the *linear scaling rule*: N
# times the batch, N times the learning rate (Goyal et al. 2017). But at the start, when
# the weights change fast, such long steps can throw training off its path. So the same
# paper raises the rate step by step, from that of one replica: the *warm-up*.

# %% [markdown]
# ## Exercise 5.2: linear scaling with a warm-up
#
# Write a Keras learning-rate schedule `LinearWarmup(base_rate, factor, warmup_steps)`.
# An optimizer calls it with the number of the step, from 0. The rate rises in a straight
# line from `base_rate` at step 0 to `factor * base_rate` at step `warmup_steps`, and
# stays there. Example: `LinearWarmup(0.1, 4, 10)` gives 0.1, 0.25 and 0.4 at steps 0, 5
# and 10.

# %% [markdown]
# An optimizer gives it the step as a tensor in a graph, without a value yet, and so does
# the check: `keras.ops.cast` makes it a float, and `keras.ops.minimum` works where `if`
# and `min` do not. About four lines.

# %% name="5.2-linear-warmup" points=2
# TODO 5.2: the learning rate at each step.
#: start
class LinearWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """From `base_rate` to `factor` times that in `warmup_steps`, constant then."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base_rate, self.factor = base_rate, factor
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        return keras.ops.convert_to_tensor(self.base_rate * self.factor)
#: solution
class LinearWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """From `base_rate` to `factor` times that in `warmup_steps`, constant then."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base_rate, self.factor = base_rate, factor
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        part = keras.ops.cast(step, "float32") / self.warmup_steps
        part = keras.ops.minimum(part, 1.0)
        return self.base_rate * (1 + part * (self.factor - 1))
#: end

# %%
LinearWarmup = check("5.2", LinearWarmup)

# %%
factor = global_batch / 32  # learning_rate is meant for a batch of 32
warmup_steps = max(1, round(lab.warmup_epochs * steps))
schedule = LinearWarmup(lab.learning_rate, factor, warmup_steps)
rising = [float(schedule(step)) for step in range(3 * warmup_steps)]
lines = {
    "linear + warm-up": rising,
    "linear": [factor * lab.learning_rate] * len(rising),
    "as for a batch of 32": [lab.learning_rate] * len(rising),
}
top = f"The rate rises from {rising[0]:.3f} to {rising[-1]:.3f} in {warmup_steps} steps."
show_figure(figures.learning_rates(lines), top, session.caption())

# %% [markdown]
# ## Is it really the same training?
#
# The claim is strong: N replicas do what one device does with the same global batch. It
# can be tested. Train both from the same weights, on the same batches in the same order,
# and compare the weights afterwards.
#
# The batches come out equal only if nothing shuffles them, and the global batch is the
# same for both.

# %% [markdown]
# ## Exercise 5.3: the test of equality
#
# Write `train_from(start, strategy, new_model, images, labels, global_batch)`:
#
# - make the model with `new_model()` inside the scope of `strategy`, so that every
#   replica has a copy (it is compiled already: leave its optimizer and loss);
# - give it the weights `start`, a list of all its arrays (`set_weights`);
# - train one epoch with one `fit` in batches of `global_batch`, on `images` and `labels`
#   in their order; `fit` prints nothing. A smaller last batch is trained, too;
# - return all the new weights (`get_weights`). What you were given stays as it is. About
#   five lines.

# %% name="5.3-train-from" points=2
# TODO 5.3: train one epoch from given weights, in order; return the weights.
#: start
def train_from(start, strategy, new_model, images, labels, global_batch):
    """Train one epoch from the weights `start`, in order; give the new weights."""
    model = new_model()
    model.fit(images, labels, batch_size=global_batch, verbose=0)
    return model.get_weights()
#: solution
def train_from(start, strategy, new_model, images, labels, global_batch):
    """Train one epoch from the weights `start`, in order; give the new weights."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()
#: end

# %%
train_from = check("5.3", train_from)

# %% [markdown]
# Three small networks: a plain one; one with batch normalisation, which subtracts the
# mean of the images that a replica sees; and one whose batch normalisation is
# *synchronised*, and takes the mean over all replicas. Eight steps on one device, and
# eight with several replicas. Rounding alone makes a difference, too: the first network
# shows how much. We call less than 1e-3 the same. **Predict:** how large is the largest
# difference of a weight with batch normalisation?

# %%
my_difference_guess = None  # change this: such as 1e-7, or 1.0
my_difference_guess = card.predict("difference_with_batch_norm", my_difference_guess)

# %%
def small_network(*normalisation, accumulate=None):
    """A few filters, with what is to be tested behind them."""
    model = Sequential(
        [
            Input((28, 28, 1)),
            layers.Rescaling(1 / 255),
            layers.Conv2D(8, 3, strides=2),
            *[layer() for layer in normalisation],
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    optimizer = optimizers.SGD(0.1, gradient_accumulation_steps=accumulate)
    model.compile(optimizer, "sparse_categorical_crossentropy", jit_compile=False)
    return model

# %%
def synchronised():
    return layers.BatchNormalization(synchronized=True)

kinds = {
    "no batch norm": [],
    "batch norm": [layers.BatchNormalization],
    "synchronised batch norm": [synchronised],
}

# %%
# With one GPU, logical CPUs stand in for several.
several = strategy if lab.replicas > 1 else devices.simulated_strategy(2)
one_device = tensorflow.distribute.get_strategy()  # outside of any scope: no strategy
batch = 8 * several.num_replicas_in_sync
rows = [i % len(x_train) for i in range(8 * batch)]
eight_batches = x_train[rows], y_train[rows]

def differences_of(first, second):
    """The largest difference in each of two lists of weights."""
    return [float(abs(a - b).max()) for a, b in zip(first, second, strict=True)]

# %%
def largest_difference(normalisation):
    """Of a weight or running average, after eight steps on one device and on several."""
    def new_model():
        return small_network(*normalisation)

    start = new_model().get_weights()
    with no_hang("the test of equality"):
        alone = train_from(start, one_device, new_model, *eight_batches, batch)
        together = train_from(start, several, new_model, *eight_batches, batch)
    return max(differences_of(alone, together))

# %%
card.lock("difference_with_batch_norm")
measure = counted(lambda name: largest_difference(kinds[name]), len(kinds), "test")
differences = {name: measure(name) for name in kinds}

# %%
card.measure("largest_difference_of_a_weight", differences)
card.outcome("difference_with_batch_norm", differences["batch norm"])
for name, difference in differences.items():
    verdict = "the same to rounding" if difference < 1e-3 else "NOT the same training"
    print(f"{name}: {difference:.1e}, {verdict}")
figure = figures.weight_differences(differences, my_difference_guess)
others = ", ".join(name for name, value in differences.items() if value >= 1e-3)
show_figure(figure, f"Another network with: {others or 'none'}.", session.caption())

# %% [markdown]
# Batch normalisation takes mean and variance from the images that it sees, and each
# replica sees only its share: with 4 replicas, a quarter of the batch. What comes out of
# four normalisations is not what comes out of one, nor are the gradients. Goyal et al.
# (2017) leave it so on purpose: the per-replica batch is then the batch of batch
# normalisation, and if it stays, this stays, whatever the number of replicas.

# %% [markdown]
# With `synchronized=True` the replicas average their statistics in every such layer,
# forward and backward. That is equal again, and every layer waits for the slowest
# replica. It is meant for small per-replica batches, whose statistics are mostly noise
# (Wu and Johnson 2021).

# %% [markdown]
# ## A last batch that does not divide
#
# 19 images in batches of 8 leave 3 for the last batch. With two replicas, one gets two of
# them and the other one. Does `fit` end in an error? Does each image count for a third? A
# network of one layer tells: image `i` has a 1 at place `i` and zeros elsewhere, the loss
# is minus the output, the rate is 1. Then weight `i` ends as what image `i` counted for.
# **Predict:** how many times as much as the first of the three does the last one count?

# %%
my_last_image_guess = None  # change this: 1.0 is as much
my_last_image_guess = card.predict("last_image_over_the_first", my_last_image_guess)

# %%
def shares_of_the_last_batch(strategy, left):
    """What each image of a last batch counts for, after a batch of 8."""
    def new_model():
        row = layers.Dense(1, use_bias=False)
        model = Sequential([Input((8 + left,)), row])
        model.compile(optimizers.SGD(1.0), loss=lambda _, y: -y, jit_compile=False)
        return model

    images, zeros = numpy.eye(8 + left), numpy.zeros((8 + left, 1))
    [counted_for] = train_from([zeros], strategy, new_model, images, zeros, 8)
    return counted_for[8:, 0]

# %%
card.lock("last_image_over_the_first")
two = devices.simulated_strategy(2)  # the same numbers on every machine
for left in (4, 3, 1):
    alone, shared = (shares_of_the_last_batch(s, left) for s in (one_device, two))
    print(f"{left} left, one device:   {' '.join(f'{share:.3f}' for share in alone)}")
    print(f"{left} left, two replicas: {' '.join(f'{share:.3f}' for share in shared)}")
    if left == 3:
        card.outcome("last_image_over_the_first", shared[-1] / shared[0])

# %% [markdown]
# Nothing fails, and something else is trained. `fit` takes the mean of each share, and
# then the mean of these means. That is the mean of the batch only if all shares have one
# size: an image in a small share counts for more. And where a replica has no image at
# all, a gradient of zero goes into the mean: the step is half as long. Nothing in the log
# would tell you. (Some cases do end in an error, also with one image left: that depends
# on the layers. The end of this lab shows two.)

# %% [markdown]
# So we drop the remainder: `drop_remainder=True`. What is left out in one epoch has its
# chance in the next, because the order changes. In your own loop there is a better way: to
# divide by the size of the *global* batch, as in lab 06. Our validation loses its last
# images, too; lab 07 shows how none is lost.

# %% [markdown]
# ## The batch of a machine that you do not have
#
# An optimizer with `gradient_accumulation_steps=4` takes the gradients of four batches,
# one after the other, and then makes one step with their mean. So one device does in turn
# what four replicas do at once, and holds the activations of one share only. Is that the
# same training, even with batch normalisation? **Predict** it for the trained weights.

# %%
my_accumulation_guess = None  # change this: True (the same to rounding) or False
my_accumulation_guess = card.predict("accumulation_is_the_same", my_accumulation_guess)

# %%
card.lock("accumulation_is_the_same")
n = several.num_replicas_in_sync

def with_batch_norm(accumulate=None):
    return small_network(layers.BatchNormalization, accumulate=accumulate)

start = with_batch_norm().get_weights()
with no_hang("the test of accumulation"):
    at_once = train_from(start, several, with_batch_norm, *eight_batches, batch)
    in_turn = train_from(start, one_device, lambda: with_batch_norm(n), *eight_batches, 8)
each = differences_of(at_once, in_turn)
is_average = ["moving" in w.path for w in with_batch_norm().weights]
weights_apart = max(d for d, average in zip(each, is_average, strict=True) if not average)
averages_apart = max(d for d, average in zip(each, is_average, strict=True) if average)
card.outcome("accumulation_is_the_same", weights_apart < 1e-3)
print(f"Largest difference of a trained weight: {weights_apart:.1e}")
print(f"Largest difference of a running average: {averages_apart:.1e}")

# %% [markdown]
# Each small batch is normalised by itself, as each share is on its replica. Only the
# *running averages*, which validation uses, differ: they move with every small batch, so
# several times as often. What accumulation buys is the batch. On one device it saves no time,
# and it holds one more copy of the gradients. Over a link it can save time: of `k` small
# batches only the last one needs an all-reduce.

# %% [markdown]
# Two traps in Keras 3.15, by its source: a learning-rate schedule counts small batches, not
# steps; and what is left at the end of an epoch waits for the next one.

# %% [markdown]
# ## How much faster is it?
#
# Two questions that are easily confused. *Weak scaling*: each replica keeps its batch, so N
# of them do N times the work in a step. Does it take as long as before? *Strong scaling*:
# the global batch stays, and each replica gets an Nth of it. Does a step take an Nth of the
# time? *Efficiency* is, for both, the images per second divided by N times those of one
# replica. **Predict** it for all replicas.

# %%
my_efficiency_guess = {"weak": None, "strong": None}  # change these: 1.0 is perfect
my_efficiency_guess = card.predict("efficiency_of_all_replicas", my_efficiency_guess)

# %%
ready = {}  # by case: a model is traced once, and measured three times

def images_per_second(case):
    """Of one epoch, after one that includes the start-up."""
    replicas, per_replica_batch = case
    if case not in ready:
        strategy = devices.new_strategy(replicas)
        ready[case] = build(strategy, new_network, new_sgd, per_replica_batch)
    model, global_batch = ready[case]
    recorder = EpochRecorder()
    endless = batches(x_train, y_train, global_batch, lab.seed, True, True)
    model.fit(endless, steps_per_epoch=lab.steps, epochs=2, callbacks=[recorder], verbose=0)
    return lab.steps * global_batch / recorder.epochs["train_seconds"][1]

# %%
card.lock("efficiency_of_all_replicas")
counts = devices.replica_counts()
whole = counts[-1] * lab.batch_size
cases = {
    "weak": [(n, lab.batch_size) for n in counts],
    "strong": [(n, whole // n) for n in counts],
}
different = sorted({*cases["weak"], *cases["strong"]})
measure = counted(images_per_second, 3 * len(different), "replicas and batch")
# In turns: another program may be at work for a while.
with no_hang("the scaling experiment"):
    turns = [{case: measure(case) for case in different} for _ in "abc"]
rates = {case: [turn[case] for turn in turns] for case in different}
card.measure("images_per_second", median(rates[cases["weak"][-1]]))

# %%
efficiency = {}

def row(values, digits):
    return ", ".join(f"{v:.{digits}f} at {n}" for n, v in zip(counts, values, strict=True))

for kind, its_cases in cases.items():
    speeds = [median(rates[case]) for case in its_cases]
    steps_ms = [1000 * n * size / v for (n, size), v in zip(its_cases, speeds, strict=True)]
    of_one = speeds[0] / counts[0]
    efficiency[kind] = {n: v / n / of_one for n, v in zip(counts, speeds, strict=True)}
    print(f"{kind} scaling, images/s by replicas: {row(speeds, 1)}")
    print(f"{kind} scaling, milliseconds of a step: {row(steps_ms, 1)}")
    print(f"{kind} scaling, efficiency: {row(efficiency[kind].values(), 2)}")

# %%
card.measure("efficiency", efficiency)
found = {kind: by_count[counts[-1]] for kind, by_count in efficiency.items()}
card.outcome("efficiency_of_all_replicas", found)
apart = max(max(epochs) / min(epochs) for epochs in rates.values())
print(f"The three turns of a case differ by a factor of up to {apart:.2f}")

# %%
shared = cores() if lab.device["simulated"] else None
figure = figures.scaling(efficiency, my_efficiency_guess, shared)
summary = f"With {counts[-1]} replicas efficiency is {found['weak']:.2f} in weak scaling "
summary += f"and {found['strong']:.2f} in strong scaling."
show_figure(figure, summary, session.caption())

# %% [markdown]
# In both kinds the last case is the same training. It is compared with one replica that
# takes its own batch, or the whole batch, and these two have different speeds (the fixed
# cost of a step, lab 02). So always say which kind of scaling an efficiency means.

# %% [markdown]
# Before you say that one efficiency is better than another, look at how far the turns of
# one case differ. A step that takes as long with half the images is a sign of a busy
# machine: measure again.

# %% [markdown]
# Your first training gave other images/s with as many replicas. There an epoch is short,
# sets up its input again, and the dashboard looks on. Which part of the difference is due to
# what, we have not measured. Compare speeds only where one thing differs.

# %% [markdown]
# Simulated replicas are threads of one processor, and its cores also read the images and
# add up the gradients. All that several can gain is what one thread leaves idle. So this
# figure is about your processor: it says nothing about several GPUs.
#
# Replicas on devices of their own usually stay below 1, too (not measured here). Why are
# eight GPUs not eight times faster?

# %% [markdown]
# 1. **They talk.** In every step all gradients are added up over all replicas
#    (*all-reduce*). One replica alone does not do that at all.
# 2. **They wait.** A step ends when the slowest replica ends.
# 3. **They are fed by one host.** Reading and shuffling must be N times as fast, too.
# 4. **Some work is not divided**: Python, the start of each operation, saving.
#
# How long does the first take here? Let all replicas add up arrays as large as the
# gradients, and nothing else.

# %%
@tensorflow.function
def add_up():
    """All-reduce arrays of the size of all gradients."""
    def share():
        arrays = [tensorflow.identity(w.value) for w in resnet.trainable_weights]
        return tensorflow.distribute.get_replica_context().all_reduce("SUM", arrays)

    return strategy.run(share)

def milliseconds():
    began = perf_counter()
    first = add_up()[0]
    float(tensorflow.reduce_sum(strategy.experimental_local_results(first)[0]))  # waits
    return 1000 * (perf_counter() - began)

# %%
with no_hang("the all-reduce"):
    all_reduce_ms = [milliseconds() for _ in range(23)][3:]
step_ms = 1000 * whole / median(rates[cases["weak"][-1]])
card.measure("all_reduce_ms", median(all_reduce_ms))
print(f"All gradients: {4 * trained_numbers / 2**20:.2f} MiB")
n = strategy.num_replicas_in_sync
print(f"Added up over {n} replicas, by itself: {median(all_reduce_ms):.2f} ms")
print(f"A whole step with {n} replicas: {step_ms:.1f} ms")

# %% [markdown]
# Simulated replicas copy within one memory. Between real devices there is a link. In a
# *ring* all-reduce (Patarasuk and Yuan 2009) each of N replicas sends `2 (N - 1) / N` times
# the size of its gradients: once for two, never more than twice. For ResNet-50, with 25.6
# million weights (Keras' table of applications), over a link of 10 GB a second (we
# have none: this is arithmetic, not a measurement):

# %%
for n in (2, 8, 64):
    sent = 2 * (n - 1) / n * 4 * 25.6e6
    print(f"{n} replicas: each sends {sent / 1e6:.0f} MB, in {1000 * sent / 10e9:.1f} ms")

# %% [markdown]
# So from a few replicas on, their number hardly matters for what each sends; what counts
# is how long a step computes beside it. (The formula counts bytes only. The ring has
# `2 (N - 1)` rounds, and to start one takes time as well.) (A part can be sent while the
# rest of the gradients is still being worked out.) A larger per-replica batch computes
# longer and sends the same: it scales better. And that makes the global batch larger
# still, with the price that comes now.

# %% [markdown]
# ## How large may a batch be?
#
# How the batch of 16 devices learns can be found out with one of them: by accumulation.
# It takes small batches, always of the same size, so batch normalisation works alike in
# all runs. It makes a step after each, or after many. All train for the same number of
# epochs. So a batch 16 times as large makes a 16th of the steps: with 3,000 images and
# three epochs 18, where a batch of 32 makes 281.

# %% [markdown]
# A rule for the learning rate can only be judged beside other rates. So each batch gets
# several, and each rate gets `seeds` runs, from other weights and in another order. The
# largest batch is also trained with your warm-up. **Predict:** how many times as large as
# the best rate for the smallest batch is the best one for the largest?

# %%
small, large = lab.global_batches[0], lab.global_batches[-1]
print(f"Batches of {small} and {large}: the linear rule says {large / small:g}")
my_rate_guess = None  # change this: best rate of the largest / of the smallest batch
my_rate_guess = card.predict("best_rate_ratio", my_rate_guess)

# %% [markdown]
# As in lab 03, one model is compiled for each batch and started again for each run. A
# small callback gives the optimizer the rate of each *step*: here several small batches
# are one step.

# %%
class FollowSchedule(Callback):
    """Set the learning rate of each step, which takes several small batches."""

    def __init__(self, rate, accumulate):
        super().__init__()
        self.rate, self.accumulate = rate, accumulate

    def on_train_batch_begin(self, batch, logs=None):
        rate = self.rate(batch // self.accumulate)
        self.model.optimizer.learning_rate = float(rate)

def new_accumulating_sgd(accumulate):
    k = accumulate if accumulate > 1 else None
    return optimizers.SGD(
        lab.learning_rate, momentum=0.9, nesterov=True, gradient_accumulation_steps=k
    )

# %%
if any(size % small for size in lab.global_batches):
    raise ParameterError(f"global_batches have to be multiples of the first, {small}")
accumulated = {size: size // small for size in lab.global_batches}
trained = {
    size: build(one_device, new_network, lambda k=k: new_accumulating_sgd(k), small)[0]
    for size, k in accumulated.items()
}
first_weights = [new_network(lab.seed + i).get_weights() for i in range(lab.seeds)]

def steps_of(epochs, size):
    return max(1, round(epochs * lab.train_images / size))

# %%
def val_accuracy(size, factor, warm_up, i):
    """After all epochs with `factor` times the rate for a batch of 32."""
    model, k = trained[size], accumulated[size]
    model.set_weights(first_weights[i])
    for variable in model.optimizer.variables:  # as new: without momentum
        variable.assign(ops.zeros_like(variable))
    ramp = LinearWarmup(lab.learning_rate, factor, steps_of(lab.warmup_epochs, size))
    rate = ramp if warm_up else lambda step: lab.learning_rate * factor
    model.fit(
        training_batches(small, lab.seed + i, repeat=True),
        steps_per_epoch=steps_of(lab.epochs, size) * k,
        callbacks=[FollowSchedule(rate, k)],
        verbose=0,
    )
    return float(model.evaluate(valid, verbose=0)[1])

# %%
runs = {}
for size in lab.global_batches:
    linear = size / 32  # learning_rate is meant for a batch of 32
    ladder = (1, 2, 4, 8) if size == small else (1 / 8, 1 / 4, 1 / 2, 1)
    for warm_up in (False, True) if size == large else (False,):
        recipe = f"batch {size}{', warm-up' * warm_up}"
        for factor in (part * linear for part in ladder):
            for i in range(lab.seeds):
                name = f"{recipe}, rate {lab.learning_rate * factor:.4g}, run {i + 1}"
                runs[name] = recipe, size, factor, warm_up, i
done = card.points("val_accuracy_of_runs")
train = counted(lambda name: val_accuracy(*runs[name][1:]), len(runs), "run")

# %%
card.lock("best_rate_ratio")
with no_hang("training with a large batch"):
    for name in runs:
        if name not in done:
            done[name] = train(name)

# %%
accuracies = {}
for name, (recipe, _, factor, *_) in runs.items():
    by_rate = accuracies.setdefault(recipe, {})
    by_rate.setdefault(lab.learning_rate * factor, []).append(done[name])
for recipe, by_rate in accuracies.items():
    each = [f"{' '.join(f'{a:.3f}' for a in by_rate[r])} at {r:.4f}" for r in by_rate]
    print(f"{recipe}: {', '.join(each)}")
rule = {recipe: lab.learning_rate * size / 32 for recipe, size, *_ in runs.values()}
figure = figures.accuracy_by_rate(accuracies, rule)
summary = "Medians and single runs of each learning rate; triangles mark the linear rule."
show_figure(figure, summary, session.caption())

# %%
best = {}
for recipe, size in {recipe: size for recipe, size, *_ in runs.values()}.items():
    by_rate = accuracies[recipe]
    rate = max(by_rate, key=lambda r: median(by_rate[r]))
    top = median(by_rate[rate])
    best[size] = max(best.get(size, (0, 0)), (top, rate))
    overlap = sum(max(each) >= min(by_rate[rate]) for each in by_rate.values()) - 1
    lost = sum(accuracy < 0.2 for each in by_rate.values() for accuracy in each)
    print(f"{recipe}: best median {top:.3f} at rate {rate:.4f}. Rates whose runs overlap "
          f"with its runs: {overlap}. Runs that learned next to nothing: {lost}.")
card.measure("val_accuracy", max(best.values())[0])
ratio = best[large][1] / best[small][1]
card.outcome("best_rate_ratio", ratio)
print(f"Best rate of batch {large} over that of {small}: {ratio:.1f}, "
      f"by the linear rule {large / small:.1f}")

# %% [markdown]
# How many of the rates of one batch overlap with its best? If all do, its best rate may be
# chance, and so is the ratio in the last line. If the best is the smallest or the largest
# that was tried, a better one may lie beyond.

# %% [markdown]
# Go along a line from left to right. Where does it rise, where is it flat, where does it
# fall? A run near 0.1 guesses among ten classes: a rate that is too large does not cost a
# little. Is the fall of the large batch as far to the right as the linear rule needs? And
# look at how far runs of one rate lie apart, before you say that one recipe beats
# another: of 1,000 images, ten are 0.01.

# %% [markdown]
# The rule is an argument: 16 short steps and one that is 16 times as long end at about the
# same place, *if* the gradient hardly changes on the way. In the first epochs it changes
# much. Goyal et al. (2017) found that with a warm-up the rule held on ImageNet up to a
# batch of 8,192. Shallue et al. (2019) tuned every batch size of several tasks: no simple
# rule gave the best rate for all of them. So take a rule as the first rate to try.

# %% [markdown]
# Nor is a tuned rate a promise. The best rate of three epochs is not that of thirty, and an
# optimizer made for large batches, such as LAMB (You et al. 2020), would have to be tuned
# in the same way before it may be compared. We leave it out rather than draw it from runs
# that cannot decide.

# %% [markdown]
# ## What does not work over replicas, today
#
# Four things that `fit` does on one device. The same small network tries them over two
# simulated replicas. Which of them work depends on your versions: run the cell again after
# an update.

# %%
def attempt(images=8, jit_compile=False, **options):
    """Whether a small network trains over two replicas, in batches of 8."""
    with two.scope():
        model = small_network()
        sgd = optimizers.SGD(0.1, **options)
        model.compile(sgd, "sparse_categorical_crossentropy", jit_compile=jit_compile)
    try:
        model.fit(x_train[:images], y_train[:images], batch_size=8, verbose=0)
    except Exception as error:
        return f"ends in {type(error).__name__}"
    return "works"

# %%
with no_hang("what does not work"):
    print(f"Two whole batches: {attempt(16)}")
    print(f"A last batch of one image, for two replicas: {attempt(9)}")
    print(f"A first batch that does not divide: {attempt(7)}")
    print(f"XLA (jit_compile=True): {attempt(jit_compile=True)}")
    print(f"Gradient accumulation: {attempt(gradient_accumulation_steps=2)}")

# %% [markdown]
# Why accumulation? In most steps the gradients stay on their replica, in some they are
# added up: an `if` in the graph, and replicas may not wait for each other in there (the
# message names `merge_call`). In a loop of your own (lab 06) you can accumulate: each
# replica adds up its own gradients of several batches before `apply`.

# %% [markdown]
# Leave away `mixed_float16`, too. float16 numbers overflow easily, so Keras multiplies the
# loss by a large factor, and looks for overflow: on the first replica only, by the source
# of Keras 3.15. The others could spoil the weights without a word. (We read that and have
# not measured it.) `mixed_bfloat16` has the range of float32 and needs no such factor.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("05")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "How much faster is it?". How far is your machine from an
# efficiency of 1? Which costs make up the difference, and are your replicas real or
# simulated?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="5.figure" points=2
# **5.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Build inside the scope, give `fit` the global batch, let every batch divide, and N
# replicas train what one device would, except for batch normalisation. Each holds all the
# weights, gradients and momenta, and a share of the activations. Say of each efficiency
# whether it is of weak or of strong scaling; and look for the learning rate of a larger
# batch: a rule gives you the first to try.
#
# Two questions to take along. Your per-replica batch fills the GPU's memory, and eight
# GPUs reach the target accuracy no sooner than four: what would you change? And when
# would you keep the global batch fixed and make the per-replica batch smaller?
#
# To read on: Goyal et al., "Accurate, Large Minibatch SGD" (2017); Shallue et al.,
# "Measuring the Effects of Data Parallelism on Neural Network Training" (2019); You et al.,
# "Large Batch Optimization for Deep Learning" (2020); Patarasuk and Yuan, "Bandwidth
# optimal all-reduce algorithms" (2009); Rajbhandari et al., "ZeRO: Memory Optimizations
# Toward Training Trillion Parameter Models" (2020); Wu and Johnson, "Rethinking 'Batch' in
# BatchNorm" (2021).
