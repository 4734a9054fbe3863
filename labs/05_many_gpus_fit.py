# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 05: Do four GPUs train the same network in a quarter of the time?
#
# Rent four GPUs instead of one, and each hour costs about four times as much. If they
# finish in a quarter of the time, you get the same network for the same money, only
# sooner. If they need half of the time, you pay twice as much. And if they train a
# different network without telling you, you have paid for the wrong one. Which of these
# will happen?
#
# We did not have four GPUs, so our stored run cannot say how fast they are. But it shows
# what to measure. What can go wrong with the training itself, in parts 3 and 4, you can see
# on a laptop, too.
#
# 1. *What changes in the code?* Hardly a line.
# 2. *How much faster are they?* You measure it, and see why a large batch helps.
# 3. *Does a large batch train the network as well?* It makes fewer steps.
# 4. *Do several devices train the same network as one?* You compare the weights.
# 5. *What do you get for the price of four?* You work it out from your numbers.
#
# Each part ends at a good place for a break. If you are stuck in exercise 5.1, press
# *Hint* below its check, or call `hint("5.1")` in a new cell. Each further hint tells you
# more.

# %% [markdown]
# How can four GPUs share the work? In [*data parallel*](../docs/glossary.md) training,
# every device holds a copy of the model, called a [*replica*](../docs/glossary.md), and
# gets an equal share of each batch. Each of the four computes the mean gradient of its
# share, and divides it by four. Then an [*all-reduce*](../docs/glossary.md) adds up the
# results, and gives every replica the sum, which is the gradient of the whole batch. They
# all make the same step with it, so the trained weights stay equal.
#
# ![A global batch is cut into four parts, each of four replicas computes the gradient of its part with the same weights, an all-reduce adds the gradients up, and every replica makes the same update.](../helpers/lab_05/diagrams/replicas.svg)

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto picks what suits this machine
seed: int = 0
replicas: int = None  # None here and below: set by the scale
gpu_indices: list = None  # which GPUs, such as [0, 2, 3]
batch_size: int = 32  # images per replica and step
epochs: int = 3
train_images: int = None
valid_images: int = None
depth: int = None
width: int = None
learning_rate: float = 0.01  # for a batch of 32
warmup_epochs: float = 1.0
global_batches: list = None  # batch sizes in part 3: multiples of the first
seeds: int = None  # runs of each learning rate in part 3

# %% [markdown]
# ## Set up
#
# If you have several GPUs, each becomes a replica; on a TPU, each core does. Otherwise
# the lab divides the CPU into [logical devices](../docs/glossary.md), which TensorFlow
# treats like GPUs. Such *simulated* replicas can show whether the code is right, but not
# how fast several devices are, because they share one processor.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("05_many_gpus_fit", globals(), devices="all")

# %%
# keras, np and statistics are for your answers, which may overwrite them. The lab's own
# cells use other names.
import statistics
from math import prod
from operator import itemgetter
from statistics import median
from time import perf_counter

import keras
import numpy
import numpy as np
import tensorflow
from keras import Input, Sequential, layers, losses, ops, optimizers, utils
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
# In TensorFlow, a [*strategy*](../docs/glossary.md) copies the weights to all replicas
# and adds up their gradients. Our function `new_strategy` creates a
# [`tf.distribute.MirroredStrategy`](https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy),
# or on a TPU a
# [`TPUStrategy`](https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy).

# %%
strategy = devices.new_strategy()
print(f"Replicas: {strategy.num_replicas_in_sync}")

# %% [markdown]
# <details><summary>If you know PyTorch</summary>
#
# Compared with
# [`DistributedDataParallel`](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
# (DDP), the same work is divided differently:
#
# | PyTorch with DDP | here |
# |---|---|
# | one process for each GPU | one process for all replicas |
# | `DDP(model)` | create the model inside `strategy.scope()` |
# | each process loads its own share | `fit` gets the global batch, and splits it |
# | `loss.backward()` averages the gradients | the optimizer adds up the shares of the mean |
# | [sends gradients](https://docs.pytorch.org/docs/stable/notes/ddp.html) during the backward pass | [sends them after it](../docs/replicas.md) |
# | `SyncBatchNorm` | `BatchNormalization(synchronized=True)` |
# | `DistributedSampler` repeats images, or drops some with `drop_last=True` | `drop_remainder=True` |
# | `no_sync()`, to accumulate gradients | `gradient_accumulation_steps`, which [fails on several replicas](../docs/replicas.md) |
#
# </details>

# %% [markdown]
# ## 1. What changes in the code?
#
# On one device you create a model, compile it and call `fit`. With several replicas, you
# have two more things to say: which variables need a copy on every replica, and how many
# images all replicas together take in a step.

# %% [markdown]
# ### Exercise 5.1: a model on every replica
#
# **Write** `build(strategy, new_model, new_optimizer, per_replica_batch)`, which returns a
# compiled model and the [*global batch*](../docs/glossary.md): the number of images that
# all replicas together take in one step.
#
# **Rules**
#
# - Call `new_model()` and `new_optimizer()` inside `with strategy.scope():`, because only
#   then do their variables get a copy on every replica.
# - Use both results as they are.
# - Call [`compile`](https://keras.io/api/models/model_training_apis/) inside the scope as
#   well, because it creates metrics, which have variables, too.
# - Compile with the loss `"categorical_crossentropy"`, `metrics=["accuracy"]` and
#   `jit_compile=False`, and nothing else. ([XLA](../docs/glossary.md) [ends in an
#   error](../docs/replicas.md) on our simulated replicas.)
# - The global batch is a whole number.
# - The strategy may have any number of replicas, even one.
#
# **Example:** for a strategy with four replicas and a `per_replica_batch` of 32, the
# function returns the model and 128.
#
# You need about eight lines.

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
# Now train the wide residual network of [lab 02](02_throughput.ipynb) on all replicas,
# with the same call of `fit` as on one device.

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
        raise ParameterError(f"a global batch of {global_batch} needs more train_images")
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
# ## 2. How much faster are they?
#
# Was this training four times as fast as on one replica? That depends on the comparison:
# does the single replica take 32 images in a step, like each of the four, or all 128?
#
# In [*weak scaling*](../docs/glossary.md) each replica keeps its batch, so $N$ replicas
# do $N$ times the work in a step. In [*strong scaling*](../docs/glossary.md) the global
# batch is fixed, so they share the same work. What differs is only the single replica:
#
# | | One replica takes | Each of four takes | If perfect, a step takes |
# |---|---|---|---|
# | weak scaling | 32 images | 32 images | as long as with one replica |
# | strong scaling | 128 images | 32 images | a quarter as long |
#
# In both cases the [*efficiency*](../docs/glossary.md) is
#
# $$ E = \frac{r_N}{N\, r_1}, $$
#
# where $r_N$ and $r_1$ are the images per second of $N$ replicas and of one. So $E = 1$
# is perfect.
#
# **Predict** both efficiencies for all replicas together.

# %%
my_efficiency_guess = {"weak": None, "strong": None}  # change these: 1.0 is perfect
my_efficiency_guess = card.predict("efficiency_of_all_replicas", my_efficiency_guess)

# %%
ready = {}  # models by case: each is traced once, and measured three times

def images_per_second(case):
    """The speed of a second epoch, because the first one includes the start-up."""
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
full_batch = counts[-1] * lab.batch_size
cases = {
    "weak": [(n, lab.batch_size) for n in counts],
    "strong": [(n, full_batch // n) for n in counts],
}
different = sorted({*cases["weak"], *cases["strong"]})
measure = counted(images_per_second, 3 * len(different), "replicas and batch")
# All cases in turn, three times, so that other programs slow all of them alike.
with no_hang("the scaling experiment"):
    turns = [{case: measure(case) for case in different} for _ in range(3)]
rates = {case: [turn[case] for turn in turns] for case in different}
card.measure("images_per_second", median(rates[cases["weak"][-1]]))

# %%
efficiency = {}

def row(values, digits):
    return ", ".join(f"{v:.{digits}f} at {n}" for n, v in zip(counts, values, strict=True))

for kind, its_cases in cases.items():
    speeds = [median(rates[case]) for case in its_cases]
    steps_ms = [1000 * n * size / v for (n, size), v in zip(its_cases, speeds, strict=True)]
    base_speed = speeds[0] / counts[0]
    efficiency[kind] = {n: v / n / base_speed for n, v in zip(counts, speeds, strict=True)}
    print(f"{kind} scaling, images/s by number of replicas: {row(speeds, 1)}")
    print(f"{kind} scaling, milliseconds per step: {row(steps_ms, 1)}")
    print(f"{kind} scaling, efficiency: {row(efficiency[kind].values(), 2)}")

# %%
card.measure("efficiency", efficiency)
found = {kind: by_count[counts[-1]] for kind, by_count in efficiency.items()}
card.outcome("efficiency_of_all_replicas", found)
apart = max(max(epochs) / min(epochs) for epochs in rates.values())
print(f"The three runs of each case differ by a factor of up to {apart:.2f}")

# %%
shared = cores() if lab.device["simulated"] else None
figure = figures.scaling(efficiency, my_efficiency_guess, shared)
summary = f"With {counts[-1]} replicas, efficiency is {found['weak']:.2f} in weak scaling "
summary += f"and {found['strong']:.2f} in strong scaling."
show_figure(figure, summary, session.caption())

# %% [markdown]
# A single replica is usually faster with the whole global batch, because more images
# share the fixed cost of a step ([lab 02](02_throughput.ipynb)). So $r_1$ is larger in
# strong scaling, and $E$ is smaller. If your two efficiencies differ by a smaller factor
# than the three runs of a case, this may be chance.
#
# In the stored run, the same four replicas were slower in part 1: 2,989 images per second
# instead of 4,731. There, every epoch starts its data again, and the replicas wait for the
# first batches. Here the data have no end.

# %% [markdown]
# ### Why is the efficiency below 1?
#
# Simulated replicas can only use the part of the processor that a single replica leaves
# idle. In our stored run, that is little: with batches of 128, one replica processed
# 5,011 images per second, and the fastest case, with two replicas, only 5,922.
#
# On real devices, the efficiency usually stays below 1 for four other reasons:
#
# 1. **They communicate.** Every step needs an all-reduce.
# 2. **They wait.** A step takes as long as its slowest replica.
# 3. **They share a host**, the computer that feeds them, which must read images $N$ times
#    as fast.
# 4. **Some work is not divided** (in strong scaling). Each replica has to start every
#    operation, however few images are left for it.

# %% [markdown]
# How much of a step is communication? The next cell lets all replicas add up arrays as
# large as the gradients. Between simulated replicas there is no link, so they only add
# and copy in memory.

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
    # Reading a number of the result waits for it.
    float(tensorflow.reduce_sum(strategy.experimental_local_results(first)[0]))
    return 1000 * (perf_counter() - began)

# %%
with no_hang("the all-reduce"):
    all_reduce_ms = [milliseconds() for _ in range(23)][3:]
step_ms = 1000 * full_batch / median(rates[cases["weak"][-1]])
card.measure("all_reduce_ms", median(all_reduce_ms))
trained_numbers = sum(prod(w.shape) for w in resnet.trainable_weights)
print(f"Size of all gradients: {4 * trained_numbers / 2**20:.2f} MiB")  # float32: 4 bytes
n = strategy.num_replicas_in_sync
print(f"All-reduce alone, over {n} replicas: {median(all_reduce_ms):.2f} ms")
print(f"A whole step with {n} replicas: {step_ms:.1f} ms")

# %% [markdown]
# In the stored run, the all-reduce takes 2.2 ms, a small part of the step. Real devices,
# however, send their gradients over a link. In a [*ring*](../docs/glossary.md)
# all-reduce, which you build in [lab 09](09_many_machines.ipynb), each of $N$ replicas
# sends
#
# $$ \frac{2\,(N - 1)}{N}\; S \quad\text{bytes,} $$
#
# where $S$ is the size of its gradients in bytes. The next cell calculates this for
# ResNet-50, which has 25.6 million weights ([Keras
# Applications](https://keras.io/api/applications/)), and assumes a link of 10 GB per
# second.

# %%
for n in (2, 8, 64):
    sent = 2 * (n - 1) / n * 4 * 25.6e6
    print(f"{n} replicas: each sends {sent / 1e6:.0f} MB, in {1000 * sent / 10e9:.1f} ms")

# %% [markdown]
# These bytes do not depend on the batch. With eight replicas, 18 ms on top of 100 ms of
# computing cost 15% of the speed, and on top of 20 ms almost half. So to get close to four
# times the speed, give each replica as large a batch as its memory allows: each step then
# computes for longer, but sends no more. (For a larger *network* you need [lab
# 11](11_does_not_fit.ipynb), because each replica holds a whole copy.)
#
# But with a larger batch, does the network still learn as much in an epoch?

# %% [markdown]
# ## 3. Does a large batch train the network as well?
#
# Three epochs of 3,000 images have 281 steps of 32 images, but only 18 of 512. To get as
# far, each step has to move the weights about 16 times as far. One large step can replace
# 16 small ones if the gradient hardly changes along the way. Can it here?
#
# The *target* is the accuracy of the small batch at its best learning rate. Three results
# are possible:
#
# | The large batch reaches the target | So it |
# |---|---|
# | with the learning rate of a simple rule | trains as well, and you know its rate |
# | with other learning rates | trains as well, if you search for its rate |
# | with none of the rates | needs more epochs, because its steps are too few |
#
# **Question.** Which of the three do you expect?

# %% [markdown]
# ### Exercise 5.2: linear scaling with a warm-up
#
# The simple rule is the [*linear scaling rule*](../docs/glossary.md) of [Goyal et al.
# 2017](https://arxiv.org/abs/1706.02677). If $\varepsilon(b)$ is a good learning rate for
# a batch of $b$ images, then a batch $N$ times as large gets
#
# $$ \varepsilon(N b) = N\, \varepsilon(b). $$
#
# At the start of training, however, the gradient changes fast, so such large steps can make
# training diverge. That is why the paper adds a [*warm-up*](../docs/glossary.md), in which
# the rate rises gradually from $\varepsilon(b)$ to $N\, \varepsilon(b)$.

# %% [markdown]
# **Write** `LinearWarmup(base_rate, factor, warmup_steps)`, a [Keras learning-rate
# schedule](https://keras.io/api/optimizers/learning_rate_schedules/learning_rate_schedule/),
# which an optimizer calls with the number of the step, from 0.
#
# **Rules**
#
# - At step 0 the rate is `base_rate`.
# - From there it changes by the same amount in every step: it rises if `factor` is above
#   1, and falls if `factor` is below 1.
# - At step `warmup_steps` the rate is `factor * base_rate`, and it stays there.
#   (`warmup_steps` is 1 or more.)
# - The step may be a tensor in a graph, which has no value yet.
#
# **Example:** `LinearWarmup(0.1, 4, 10)` gives 0.1, 0.25 and 0.4 at steps 0, 5 and 10.

# %% [markdown]
# Inside a graph, Python's `if` and `min` do not work on the step. Use
# [`keras.ops`](https://keras.io/api/ops/) instead: `cast` converts the step to a float,
# and `minimum` takes the smaller of two numbers. You need about four lines.

# %% name="5.2-linear-warmup" points=2
# TODO 5.2: the learning rate at each step.
#: start
class LinearWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """Go from `base_rate` to `factor` times it in `warmup_steps` steps, then stay there."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base_rate, self.factor = base_rate, factor
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        return keras.ops.convert_to_tensor(self.base_rate * self.factor)
#: solution
class LinearWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """Go from `base_rate` to `factor` times it in `warmup_steps` steps, then stay there."""

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

# %% [markdown]
# Part 1 trained all replicas together at the rate for a batch of 32. The figure shows what
# your schedule would have done instead.

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
summary = f"The rate goes from {rising[0]:.3f} to {rising[-1]:.3f} in {warmup_steps} steps."
show_figure(figures.learning_rates(lines), summary, session.caption())

# %% [markdown]
# ### Can any learning rate make up for the missing steps?
#
# To find out, train with each batch at four learning rates. Each rate gets three runs,
# which start from different weights, and their median counts. Then try the rates of the
# large batch once more, with your warm-up.
#
# | Batch | as for | Learning rates |
# |---|---|---|
# | 32 | one GPU | 0.01, 0.02, 0.04, 0.08 |
# | 512 | sixteen GPUs | 0.02, 0.04, 0.08, 0.16 (the linear rule) |
#
# (At the `gpu` scale, the batches are 256 and 4,096.)

# %% [markdown]
# You do not need 16 devices for this, because one device can compute the shares of a large
# batch one after the other. In [gradient accumulation](../docs/glossary.md), an
# [optimizer](https://keras.io/api/optimizers/) with `gradient_accumulation_steps=16` waits
# for the gradients of 16 small batches, and then makes one step with their mean. Batch
# normalisation therefore sees 32 images in each case, and cannot explain a difference.
#
# The next cell makes this optimizer, and a callback that sets the rate of every step.

# %%
class FollowSchedule(Callback):
    """Set the rate of each step; a schedule in the optimizer would count small batches."""

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

# %% [markdown]
# Next come a model for each batch size, and three sets of starting weights.

# %%
small, large = lab.global_batches[0], lab.global_batches[-1]
if any(size % small for size in lab.global_batches):
    raise ParameterError(f"global_batches have to be multiples of the first, {small}")
one_device = tensorflow.distribute.get_strategy()  # the default: no strategy
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
    """The accuracy after training with `factor` times the rate for a batch of 32."""
    model, k = trained[size], accumulated[size]
    model.set_weights(first_weights[i])
    for variable in model.optimizer.variables:  # start without momentum
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

# %% [markdown]
# The next cell lists all runs. At the `laptop` scale there are 36.

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

# %% [markdown]
# Now make all runs. A bar shows the time that is left.

# %%
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
    print(f"{recipe}, accuracies by learning rate: {', '.join(each)}")

# %% [markdown]
# Which rate has the best median? For the small batch, this median is the target.

# %%
sizes = {recipe: size for recipe, size, *_ in runs.values()}
best = {}
for recipe, size in sizes.items():
    by_rate = accuracies[recipe]
    rate = max(by_rate, key=lambda r: median(by_rate[r]))
    best[size] = max(best.get(size, (0, 0)), (median(by_rate[rate]), rate))
card.measure("val_accuracy", max(best.values())[0])
card.measure("best_rate_ratio", best[large][1] / best[small][1])
target, its_rate = best[small]
print(f"Target: {target:.3f}, the median of batch {small} at its best rate, {its_rate:.4f}")
rule = {recipe: lab.learning_rate * size / 32 for recipe, size in sizes.items()}
figure = figures.accuracy_by_rate(accuracies, rule, target)
summary = "Medians and single runs of each learning rate; triangles mark the linear rule."
show_figure(figure, summary, session.caption())

# %% [markdown]
# Does the median of the large batch reach the target at any rate? If only single runs do,
# the verdict is "too close to call".

# %%
by_recipe = [accuracies[recipe] for recipe, size in sizes.items() if size == large]
tries = [a for by_rate in by_recipe for values in by_rate.values() for a in values]
enough = {r for by_rate in by_recipe for r in by_rate if median(by_rate[r]) >= target}
if lab.seeds < 3:
    answer = "too few to tell, so set `seeds` to 3 or more"
elif max(by_recipe[0]) in enough:  # the highest rate is that of the linear rule
    answer = "it trains as well with the linear rule"
elif enough:
    answer = "it trains as well, but at other rates than the linear rule's"
elif max(tries) >= target:
    answer = "too close to call, so set `seeds` higher"
else:
    answer = "no rate that we tried makes up for its missing steps"
print(f"Verdict: {sum(a >= target for a in tries)} of {len(tries)} runs with batch {large} "
      f"reach the target, and the best ends at {max(tries):.3f}: {answer}")

# %% [markdown]
# **Question.** How do the accuracies of the large batch change towards its highest rate,
# without and with the warm-up?

# %% [markdown]
# In the stored run, no rate that we tried makes up for the missing steps. The best of 24
# runs with the large batch ends at 0.761, below the target of 0.821. But the three runs
# behind this target differ a lot. The first ends at only 0.747, no better than the large
# batch from the same weights, so three runs are few.
#
# Would a higher rate help? Hardly, because at 0.16, the rate of the linear rule, the
# accuracy is already falling. The large batch did best at 0.04 without the warm-up, and at
# 0.08 with it: two or four times the rate of the small one, not sixteen. Without the
# warm-up, two of the three runs at this rate end as mere guesses. With it none does, but
# they reach only 0.625 to 0.707. So the warm-up kept the long steps from diverging, but it
# could not replace the missing ones. Eighteen steps seem to be too few. We did not test
# whether more epochs would help.

# %% [markdown]
# Why did the rule work in the paper? With a warm-up, [Goyal et al.
# 2017](https://arxiv.org/abs/1706.02677) found, it held on ImageNet up to a batch of
# 8,192. But their 90 epochs of 1.28 million images still had about 14,000 steps, where
# your batch of 512 has 18. [Shallue et al. 2019](https://arxiv.org/abs/1811.03600) found
# no simple rule for all of their tasks.
#
# So the larger batch can change the network. Can the devices themselves change it, too?

# %% [markdown]
# ## 4. Do several devices train the same network as one?
#
# This time you keep the global batch, and change only the number of devices. Both runs
# start from the same weights, and get the same batches in the same order. If the
# replicas' shares really add up to the gradient of the whole batch, both end with the
# same weights.

# %% [markdown]
# ### Exercise 5.3: the test of equality
#
# **Write** `train_from(start, strategy, new_model, images, labels, global_batch)`, which
# trains a new model for one epoch from given weights, and returns all its new weights as
# [`get_weights`](https://keras.io/api/layers/base_layer/) gives them.
#
# **Rules**
#
# - Create the model with `new_model()` inside the scope of `strategy`.
# - The model is already compiled: keep its optimizer and its loss.
# - Give it the weights `start`, a list of all its arrays, with `set_weights`.
# - Train one epoch with one call of `fit`, in batches of `global_batch`, on `images` and
#   `labels` in their order.
# - Train on a smaller last batch, too.
# - `fit` prints nothing.
# - Do not modify `start`, `images` or `labels`.
#
# **Example:** with 20 images and a global batch of 8, the model takes three steps, on 8, 8
# and 4 images.
#
# You need about five lines.

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
# When are two weights the same? Even in a correct run they differ a little, because
# numbers that are added in a different order are rounded differently. On CPUs, we call
# them the same if they differ by less than $10^{-3}$. (GPUs may round more coarsely, as
# in [lab 00](00_devices.ipynb).)

# %% [markdown]
# ### What if a layer looks at the whole batch?
#
# Batch normalisation does: it uses the mean and variance of a batch, but a replica sees
# only its share. So run your test on three small networks: without normalisation, with
# ordinary batch normalisation, and with *synchronised* batch normalisation, which uses
# the statistics of the whole batch.
#
# **Predict:** with ordinary batch normalisation, how large is the largest difference of
# any weight between one device and several? (Its running averages, kept for validation,
# count as weights, too.)

# %%
my_difference_guess = None  # change this, for example to 1e-7 or 1.0
my_difference_guess = card.predict("difference_with_batch_norm", my_difference_guess)

# %%
def small_network(*normalisation, accumulate=None):
    """A small network, with the layers to test right after its convolution."""
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
# If there is only one replica, two simulated ones are used instead.
several = strategy if lab.replicas > 1 else devices.simulated_strategy(2)
batch = 8 * several.num_replicas_in_sync
rows = [i % len(x_train) for i in range(8 * batch)]
eight_batches = x_train[rows], y_train[rows]

def differences_of(first, second):
    """The largest difference of each pair of arrays, from two lists of weights."""
    return [float(abs(a - b).max()) for a, b in zip(first, second, strict=True)]

# %%
def largest_difference(normalisation):
    """Train on one device and on several; return the largest difference of a weight."""
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
    verdict = "the same up to rounding" if difference < 1e-3 else "NOT the same"
    print(f"{name}: largest difference of a weight {difference:.1e}, {verdict}")
figure = figures.weight_differences(differences, my_difference_guess)
others = ", ".join(name for name, value in differences.items() if value >= 1e-3)
summary = f"Not the same weights as on one device: {others or 'none of the networks'}."
show_figure(figure, summary, session.caption())

# %% [markdown]
# On CPUs, only ordinary batch normalisation fails the test, because each replica
# normalises its own share of the batch. With `synchronized=True` in
# [`BatchNormalization`](https://keras.io/api/layers/normalization_layers/batch_normalization/)
# the replicas share their statistics, and the two runs are equal again. But each of these
# layers then waits for the slowest replica. That is worth it if the shares are so small
# that their statistics are mostly noise ([Wu and Johnson
# 2021](https://arxiv.org/abs/2105.07576)).

# %% [markdown]
# ### Does every image count the same?
#
# With 11 images in batches of 8, three images are left for the last batch: one of two
# replicas gets two of them, and the other gets one. Does each of the three images still
# count for a third?
#
# To see it, we build a network whose weights count the images. In image number $i$ only
# pixel $i$ is 1, and the network has one weight for each pixel, so its output is weight
# $i$. The loss is minus the output, so image $i$ pulls only its own weight, with a gradient
# of $-1$. All weights start at 0, and the learning rate is 1. So after a step, weight $i$
# is the share of image $i$ in the mean: with three images that count the same, 0.333 each.
#
# **Predict:** how many times as much does the last of the three images count as the
# first?

# %%
my_last_image_guess = None  # change this: 1.0 means just as much
my_last_image_guess = card.predict("last_image_over_the_first", my_last_image_guess)

# %%
def shares_of_the_last_batch(strategy, left):
    """The fraction that each image of the last batch contributes, after a batch of 8."""
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
    print(f"Images left: {left}, one device:   {' '.join(f'{s:.3f}' for s in alone)}")
    print(f"Images left: {left}, two replicas: {' '.join(f'{s:.3f}' for s in shared)}")
    if left == 3:
        card.outcome("last_image_over_the_first", shared[-1] / shared[0])

# %% [markdown]
# There is no error or warning here, and yet the last image counts twice as much as the
# first. `fit` takes the mean of each share, and then the mean of these means, so an image
# in a small share counts for more. If only one image is left, the replica without an
# image contributes a gradient of zero, and the step is half as long.
#
# That is why our training drops such a remainder with `drop_remainder=True`. Because every
# epoch shuffles the images, it seldom drops the same ones. (Validation drops the same ones
# every time, so its accuracy may change a little with the number of replicas.)

# %% [markdown]
# ### Can one device stand for many?
#
# Part 3 took a shortcut: one device computed the shares of a large batch one after the
# other. Would several replicas, which compute them at the same time, end with the same
# weights?
#
# **Predict:** are the trained weights the same, even with ordinary batch normalisation?

# %%
my_accumulation_guess = None  # change this: True (the same up to rounding) or False
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
# The trained weights agree, because each small batch is normalised by itself, just like the
# share of a replica. So in training, one device can stand for many. But the *running
# averages* differ, because every small batch updates them, and validation uses them. In
# part 3, the batch of 512 updated them 288 times, and sixteen replicas would do so only 18
# times. If this matters, our shortcut favoured the large batch, which lost anyway.

# %% [markdown]
# That completes the answer: several replicas train the same network as one device with
# the same global batch, with four exceptions that we know:
#
# - batch normalisation that is not synchronised,
# - a batch that does not divide evenly, so that some images count for more (or texts, if each replica takes
# a mean over its own number of words),
# - random layers, such as dropout, because the replicas do not draw the same numbers as
#   one device,
# - clipped gradients, which [lab 06](06_many_gpus_loop.ipynb) tests.
#
# Some other settings [fail altogether, or harm silently](../docs/replicas.md).

# %% [markdown]
# ## 5. What do you get for the price of four?
#
# With an efficiency of 0.9, four GPUs process $4 \cdot 0.9 = 3.6$ times as many images
# per second as one. Suppose that their larger batch needs 1.2 times as many epochs. Then
# they take $1.2 / 3.6 = 1/3$ of the time. Because you pay for four, they cost $4/3$ times
# as much.
#
# In general, let $E$ be the efficiency in weak scaling, and suppose that the larger batch
# needs $e$ times as many epochs. Without start-up and validation, $N$ devices take
#
# $$ \frac{T_N}{T_1} = \frac{e}{N\,E} $$
#
# times as long as one, and the price is $e / E$ times as high.
#
# When do you pay no more than for one GPU? When $e / E \le 1$. Because $E$ is hardly ever
# above 1, and $e$ hardly ever below 1, both must be 1. One of them you can force: if you
# keep the global batch, then $e = 1$. But then $E$ is the efficiency in strong scaling,
# which is usually smaller.

# %% [markdown]
# The next cell puts your results together. Its first two lines assume the best case, $e =
# 1$. The third says how safe this is for sixteen replicas: if their batch falls short of
# the smallest one after the same epochs, then $e$ is above 1. And four? In a second run,
# with `global_batches = [32, 128, 512]`, the batch of 128 ended at a median of 0.816, and
# that of 32 at 0.833. But with the same seeds on another machine, that of 32 had ended at
# 0.821. A gap of 0.017 is too close to that to decide whether $e$ is above 1 for four.

# %%
many = counts[-1]
best_case = 1 / (many * efficiency["weak"][many])
accuracy_gap = best[large][0] - best[small][0]
print(f"With {many} replicas, the same epochs take {best_case:.3f} times as long as with one")
print(f"With {many} replicas, they cost {many * best_case:.2f} times as much")
print(f"batch {large}: best accuracy {accuracy_gap:+.3f} compared with the smallest batch")
print(f"Largest difference of a weight: {differences['batch norm']:.1e}, with synchronised "
      f"batch norm {differences['synchronised batch norm']:.1e}")

# %% [markdown]
# **Question.** Would you rent the four? Which of these lines would change on four real
# GPUs, and which would stay as they are?

# %% [markdown]
# Simulated replicas share one processor, so on real GPUs you would have to measure the
# first two lines again. The best that you can hope for are 0.25 and 1. The other lines do
# not depend on speed. With the same network and batches they would stay about the same,
# apart from chance and rounding. So faster devices improve the price, but they do not bring
# back missing steps.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("05")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# In the figure of part 2, how far is your machine from an efficiency of 1? Which costs
# make up the difference, and are your replicas real or simulated?
#
# Write three to six sentences in the cell below, with numbers from your run. No check
# reads them, but your instructor may.

# %% [markdown] name="5.figure" points=2
# **5.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Four GPUs take $e / (4 E)$ of the time of one. This is close to a quarter only if the
# larger batch needs no more epochs ($e$ near 1) and each GPU stays as fast as it was
# alone ($E$ near 1).
#
# - **Code.** Build and compile inside the scope, and give `fit` the global batch.
# - **Speed.** Give each replica a larger batch, as long as it needs no more epochs, and say whether an efficiency is for weak or for strong scaling.
# - **Learning rate.** Start from the linear rule, and then tune. If no rate makes up for
#   the missing steps, you need more epochs.
# - **Equality.** Watch the last batch, random layers, batch normalisation and clipped
#   gradients.

# %% [markdown]
# **Question.** Your per-replica batch fills the GPU's memory, and eight GPUs reach the
# target accuracy no sooner than four: what would you change?

# %% [markdown]
# <details><summary>Answer</summary>
#
# First compare the images per second. If eight GPUs are no faster than four, look at the link
# and the host. If they are twice as fast, the doubled batch needs twice as many epochs, so
# tune its learning rate. If that does not help, halve the batch of each replica, or give the
# other four GPUs another task.
#
# </details>

# %% [markdown]
# ## Going further
#
# You may stop here: this part has no points and no predictions.
#
# ### Which learning rate is right for a single step?
#
# How far can the linear rule hold? In [lab 01](01_gradient_descent.ipynb), the best
# learning rate of a step was
#
# $$ \varepsilon(b) = \frac{\varepsilon_\infty}{1 + B/b}, $$
#
# where $\varepsilon_\infty$ is the best rate for the exact gradient, and $B$ is the
# [noise scale](../docs/glossary.md). Far below $B$, twice the batch allows almost twice
# the rate, as in the linear rule. Far above $B$, the best rate stops growing.
#
# Does this law hold for the network of part 1? With the gradient of a random batch, make
# one step at each of several rates, without momentum, and evaluate the loss on a fixed
# set of images. The best rate has the lowest mean loss over many batches of the same
# size.

# %%
single = new_network()
single.set_weights(resnet.get_weights())
start_of_step = [weight.numpy() for weight in single.trainable_weights]
one_hot = numpy.eye(10, dtype="float32")[y_train]
fixed_images = x_train[: lab.step_images], one_hot[: lab.step_images]

@tensorflow.function(reduce_retracing=True)
def loss_and_gradient(images, labels):
    """The loss and its gradient, with batch normalisation as in training."""
    with tensorflow.GradientTape() as tape:
        probabilities = single(images, training=True)
        loss = ops.mean(losses.categorical_crossentropy(labels, probabilities))
    return loss, tape.gradient(loss, single.trainable_weights)

@tensorflow.function
def loss_of_fixed():
    probabilities = single(fixed_images[0], training=True)
    return ops.mean(losses.categorical_crossentropy(fixed_images[1], probabilities))

# %%
step_rates = [2.0**k for k in range(*lab.step_rates)]

def losses_after_step(batch_size, rng):
    """The loss after a step with the gradient of one random batch, for each rate."""
    drawn = rng.integers(0, len(x_train), batch_size)
    for weight, value in zip(single.trainable_weights, start_of_step, strict=True):
        weight.assign(value)
    _, gradient = loss_and_gradient(x_train[drawn], one_hot[drawn])
    found = []
    for rate in step_rates:
        rows = zip(single.trainable_weights, start_of_step, gradient, strict=True)
        for weight, value, slope in rows:
            weight.assign(value - rate * slope)
        found.append(float(loss_of_fixed()))
    return found

# %%
def best_rate_of(rows):
    """The rate at which the mean loss is lowest, by a parabola through three rates."""
    mean_loss = numpy.mean(rows, axis=0)
    at = min(max(1, int(mean_loss.argmin())), len(step_rates) - 2)
    around = slice(at - 1, at + 2)
    a, b, _ = numpy.polyfit(step_rates[around], mean_loss[around], 2)
    return min(max(-b / (2 * a), step_rates[0]), step_rates[-1]) if a > 0 else step_rates[at]

batch_rng, after_step = numpy.random.default_rng(lab.seed), {}
for size in (8, 32, 64, 512, 2048):
    draws = min(lab.step_draws, max(4, 2048 // size))
    after_step[size] = [losses_after_step(size, batch_rng) for _ in range(draws)]

# %%
def redrawn_rates(rng):
    """The best rates of a bootstrap sample: the same batches, drawn with replacement."""
    found = {}
    for size, rows in after_step.items():
        chosen = rng.integers(0, len(rows), len(rows))
        found[size] = best_rate_of(numpy.array(rows)[chosen])
    return found

step_rate = {size: best_rate_of(rows) for size, rows in after_step.items()}
bootstrap_rng = numpy.random.default_rng(lab.seed)
redrawn = [redrawn_rates(bootstrap_rng) for _ in range(200)]

# %% [markdown]
# Turned round, the law reads
#
# $$ \frac{1}{\varepsilon(b)} = \frac{1}{\varepsilon_\infty} + \frac{B}{\varepsilon_\infty} \cdot \frac{1}{b}. $$
#
# Plotted against $1/b$, this is a straight line, so a fit gives $\varepsilon_\infty$ and
# $B$, as in [exercise 2.3](02_throughput.ipynb).

# %%
def fit_rates(rates):
    """The noise scale in images, and the best rate for the exact gradient."""
    batch_sizes, best_rates = numpy.array(list(rates)), numpy.array(list(rates.values()))
    # With these weights an error of 1% counts the same at every size.
    slope, intercept = numpy.polyfit(1 / batch_sizes, 1 / best_rates, 1, w=best_rates)
    intercept = max(intercept, 1e-6)  # keeps the best rate finite
    return max(slope / intercept, 0.0), 1 / intercept

noise_scale, limit_rate = fit_rates(step_rate)

def range_of_90_percent(value_of):
    """The range that holds this value in 90% of the bootstrap samples."""
    return numpy.percentile(list(map(value_of, redrawn)), [5, 95], method="nearest")

# %%
for size, rate in step_rate.items():
    low, high = range_of_90_percent(itemgetter(size))
    print(f"Batch {size}: best rate {rate:.4f}, 90% range {low:.4f} to {high:.4f}; by the "
          f"law {limit_rate / (1 + noise_scale / size):.4f}, by the linear rule "
          f"{step_rate[8] * size / 8:.4f}")
low, high = range_of_90_percent(lambda rates: fit_rates(rates)[0])
print(f"Noise scale of these steps: {noise_scale:.0f} images, 90% range {low:.0f} to "
      f"{high:.0f}")

# %% [markdown]
# In the stored run, the law follows all five rates to within 15%, with a noise scale of
# about 30 images. Because 512 is far above it, the best rate of 512 images is only 1.9
# times as high as the best rate of 32, where the linear rule expects 16 times.

# %% [markdown]
# To read on: [Goyal et al., "Accurate, Large Minibatch SGD"
# (2017)](https://arxiv.org/abs/1706.02677); [Shallue et al., "Measuring the Effects of
# Data Parallelism on Neural Network Training" (2019)](https://arxiv.org/abs/1811.03600).
