# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 08: Where does the time go?
#
# You have one device, one network and one target accuracy, and every colleague recommends
# another trick: use 16 bits, switch on the compiler, leave out dropout. We tried seven
# changes on a processor with two cores. One of them made training about nine times as
# fast, and none of the other six even doubled the speed.
#
# Which change was it? In this lab, you measure all seven on your own machine. At the end, a
# figure called the *waterfall* shows them side by side, with one bar for each change:
#
# | change | what you do | what it saves | part |
# |---|---|---|---|
# | *whole batches* | shift and flip on the device, with the pipeline of [lab 02](02_throughput.ipynb) | Python's work for each image | 4 |
# | *fused batch norm* | use one program for all of batch normalisation | passes over the data | 4 |
# | *no dropout* | leave out the dropout layers | a random number for each value, and a multiplication | 4 |
# | *fewer bits* | compute with 16 bits | half of the bytes, perhaps arithmetic | 5 |
# | *fewer steps* | train with another recipe | whole epochs | 6 |
# | *steps together* | run several steps per call | the way back to Python after each step | 7 |
# | *compiler* | let XLA fuse operations | passes over the data | 7 |
#
# **Question.** Which change will gain most on your machine? Write its name down, for the
# end of the lab.

# %% [markdown]
# Parts 1 to 3 collect evidence: what your machine can do, what each layer waits for, and
# where a step spends its time. Parts 4 to 7 climb a *ladder*. Its *rungs* are the changes
# in the table, and each rung is added to the changes that you kept before. The order
# matters: a change gains less if an earlier one has already removed the same work.

# %% [markdown]
# Two *detours*, after parts 3 and 5, are not needed for the ladder. If you are short of
# time, only run their cells, and leave their exercises, 8.3 and 8.4, for another day. And
# you need not read the code of the cells that measure.
#
# If you are stuck, press *Hint* below the check, or call `hint("8.1")` in a new cell,
# with the number of your exercise. Terms are in the [glossary](../docs/glossary.md).

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = None  # most epochs of the original recipe; None: set by the scale
fast_epochs: int = None  # of the fast recipe; None, also below: set by the scale
batch_size: int = None
train_images: int = None
valid_images: int = None
depth: int = None
width: int = None
stem_pool: int = None
repeats: int = None  # runs of each recipe
target_accuracy: float = None
precision: str = "auto"  # float32, mixed_bfloat16, mixed_float16; auto: the fastest
learning_rate: float = 0.01  # of the original recipe
peak_learning_rate: float = 0.1  # of the fast recipe
dropout: float = 0.01
shift: float = 0.2  # largest shift of an image, as a fraction of its height and width
flip: bool = True

# %% [markdown]
# ## Set up
#
# On a laptop the network is shallow, and shrinks the image at once. On a GPU it is
# [WRN-16-10](https://arxiv.org/abs/1605.07146), as in [lab 02](02_throughput.ipynb).
#
# > **Limits.** Your factors hold only for this machine, this network and these batch sizes.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("08_faster", globals())

# %%
# math, keras, np and tf are for your answers, which may overwrite them. The lab's own cells
# use other names.
import math

import keras
import numpy as np
import tensorflow as tf

card = lab.card

# %%
from itertools import pairwise
from math import ceil, prod
from statistics import mean, median
from time import perf_counter, sleep

import numpy
import tensorflow
from keras import Model, layers, losses, optimizers, utils

from callbacks import EpochRecorder, TrainingProgress
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_08 import figures
from helpers.lab_08.original import ImageByImage

# %%
from helpers.lab_08.profile import profile_networks
from helpers.machine.computer import cache_bytes
from helpers.network.models import conv_bn_relu, original_conv_bn_relu, wide_resnet
from helpers.network.pipelines import batches, with_preprocessing
from helpers.network.precision import candidates, dtype_policy
from helpers.network.recipes import fast_network

use_figures()
x_train, y_train, x_valid, y_valid = session.load_images()

# %% [markdown]
# ## The original
#
# The ladder starts from the *original*, a training such as many tutorials have. Python
# shifts and flips one image at a time, batch normalisation is [Keras' own
# layer](https://keras.io/api/layers/normalization_layers/batch_normalization/), and every
# number has 32 bits.

# %%
crossentropy = "categorical_crossentropy"
no_xla = {"metrics": ["accuracy"], "jit_compile": False}  # XLA is a compiler: see part 7

def original_network(unit=original_conv_bn_relu, dropout=lab.dropout):
    shape = {"stem_pool": lab.stem_pool, "dropout": dropout}
    return wide_resnet(lab.depth, lab.width, unit=unit, **shape)

def with_pipeline(network):
    """Put augmentation and scaling on the device, in front of a network."""
    return with_preprocessing(network, x_train, lab.shift, lab.flip, lab.seed)

original = original_network()
original.compile(optimizers.SGD(lab.learning_rate), crossentropy, **no_xla)
print(f"{original.name}: {original.count_params():,} parameters")

# %%
few = x_train[: lab.images_per_point], y_train[: lab.images_per_point]  # for measurements

def rung(*network, policy="float32", **options):
    """A network with its preprocessing, compiled."""
    with dtype_policy(policy):
        model = with_pipeline(original_network(*network))
        sgd = optimizers.SGD(lab.learning_rate)
        model.compile(sgd, crossentropy, **(no_xla | options))
    return model

# %% [markdown]
# **Predict:** By what factor does each of the first three changes speed up training? You
# can change your bet until part 4 measures it.

# %%
# Change these: the speed of the rung / the speed of the rung below.
my_gains = {"whole batches": None, "fused batch norm": None, "no dropout": None}
card.predict("gains", my_gains)

# %% [markdown]
# ## 1. What can this machine do?
#
# Fewer bytes help a layer that waits for memory, but not a layer that waits for Python. So
# first measure the three numbers that limit the speed of every layer. Part 5 will use the
# first, and part 7 the last:
#
# - the *peak* $P$: operations per second, if the processor never has to wait for data;
# - the *bandwidth* $B$: bytes per second that the memory delivers;
# - *dispatch* $t_0$: the fixed cost of a call, in seconds. Python needs it to start a layer
#   and to get its result back, even if the layer computes nothing.
#
# **Question.** Suppose that every operation needs a new number of four bytes from memory.
# Can the memory keep up, or by what factor is it too slow?

# %%
def seconds_of(call, at_least_seconds=0.3, choose=median):
    """Median (or fastest) seconds of a call that waits, without the first two calls."""
    took = []
    while len(took) < 5 or sum(took) < at_least_seconds:
        began = perf_counter()
        call()
        took.append(perf_counter() - began)
    return choose(took[2:])

def product_speed(dtype):
    """Operations per second of a large matrix product, as in lab 02."""
    both = tensorflow.random.normal((2, lab.product, lab.product))
    left, right = tensorflow.cast(both, dtype)
    seconds = seconds_of(lambda: (left @ right)[0, 0].numpy(), choose=min)
    return 2 * lab.product**3 / seconds

# %%
on_gpu = bool(tensorflow.config.list_physical_devices("GPU"))
cache = (0 if on_gpu else cache_bytes()) or 64 * 2**20  # 64 MiB if it is unknown
array_bytes = min(2 * cache, lab.most_mib * 2**20)  # too large for the cache, if possible
in_cache = 2 * array_bytes <= cache  # both arrays of the sum fit

def add_speed():
    """Bytes per second of a large sum in place: it reads two arrays and writes one."""
    values = tensorflow.Variable(tensorflow.zeros(array_bytes // 4))
    more = tensorflow.ones_like(values)
    def add():
        values.assign_add(more)
        return values[0].numpy()
    return 3 * array_bytes / seconds_of(add, choose=min)

# %%
def empty_call_seconds():
    """Seconds to call a graph that computes nothing, and to read one number of it."""
    value = tensorflow.zeros((1, 1, 1, 1))
    @tensorflow.function(jit_compile=False)
    def empty():  # like the layers below, it takes no argument: passing one costs time
        return tensorflow.identity(value)
    return seconds_of(lambda: empty()[0, 0, 0, 0].numpy(), choose=min)

# %%
types = {"float32": "float32", "mixed_bfloat16": "bfloat16", "mixed_float16": "float16"}
peaks = {policy: product_speed(types[policy]) for policy in candidates()}
peak, bytes_per_second, floor = peaks["float32"], add_speed(), empty_call_seconds()
for name, rate in peaks.items():
    print(f"Matrix product, {types[name]}: {rate / 1e9:.1f} billion operations per second")
print(f"Memory: {bytes_per_second / 1e9:.1f} billion bytes per second")
print(f"Ridge: {peak / bytes_per_second:.1f} operations per byte")
print(f"An empty call: {1000 * floor:.3f} ms")
print(f"Cache: {cache / 2**20:.1f} MiB; arrays: {array_bytes / 2**19:.1f} MiB. ", end="")
print("They fit into the cache" if in_cache else "They do not fit into the cache")
card.measure("product_operations_per_second", peaks)
card.measure("memory_bytes_per_second", bytes_per_second)

# %% [markdown]
# While the memory delivers one byte, the processor can perform about 7 operations in the
# stored run. This number is the *ridge*. So if every operation needs four new bytes, the
# memory is too slow by a factor of about $4 \times 7 = 28$. A layer with fewer operations
# per byte than the ridge waits for the memory, and a layer with more waits for the
# processor.
#
# But no call is faster than dispatch. So a call that performs $F$ operations and moves $D$
# bytes takes at least
#
# $$ t \ge \max\left(\frac{F}{P},\ \frac{D}{B},\ t_0\right) \quad\text{seconds.} $$
#
# One warning: the processor of the stored run reports a *cache*, a fast memory on the chip,
# of 260 MiB. Our two arrays take 256 MiB, so $B$ may be the speed of this cache, and main
# memory may be slower.

# %% [markdown]
# ## 2. What does each layer wait for?
#
# You know $P$, $B$ and $t_0$. Now count a layer's operations and bytes, to find which of
# the three limits it when Python calls it alone.

# %% [markdown]
# ### Exercise 8.1: count operations and bytes
#
# **Write** `layer_costs(kind, inputs, outputs, kernel, value_bytes)`, which finds $F$ and $D$
# of a layer. It returns a dict with the keys `"forward"` and `"backward"`, and each value is a
# pair: operations first, then bytes moved. The shapes `inputs` and `outputs` are
# `(batch, height, width, channels)`. The kernel's shape is
# `(height, width, channels in, channels out)`, or `None` for a layer without a kernel.
#
# A layer computes in *passes* over large arrays: its input $x$, its output $y$ and its kernel
# $k$. Backward also has the gradients of the loss: $dx$ for $x$, $g$ for $y$ and $dk$ for
# $k$. All other symbols are single numbers per channel, which cost nothing. Fill in the
# question marks on paper.
#
# | `kind` | direction | pass | reads | writes | operations per value of $y$ |
# |---|---|---|---|---|---|
# | `"relu"` | forward | $y=\max(x,0)$ | $x$ | $y$ | 1 |
# | `"relu"` | backward | $dx=g$ where $y>0$, else 0 | $g$, $y$ | $dx$ | 1 |
# | `"norm"` | forward | $\sum x$ and $\sum x^2$, which give $\mu$ and $\sigma$ | $x$ | nothing | 5, both passes together |
# | | | $y=\gamma(x-\mu)/\sigma+\beta$ | $x$ | $y$ | |
# | `"norm"` | backward | $\sum g$ and $\sum gx$, which give $a$, $b$ and $c$ | ? | ? | 10, both passes together |
# | | | $dx=ag+bx+c$ | ? | ? | |
# | `"conv"` | forward | $y$ from $x$ and $k$ | ? | ? | 2 for each weight of *one* filter, in each pass |
# | `"conv"` | backward | $dx$ from $g$ and $k$ | ? | ? | as many as forward |
# | | | $dk$ from $x$ and $g$ | ? | ? | as many as forward |
#
# **Rules**
#
# - A pass reads each large array in its formula once, and writes its result once. Each value
#   has `value_bytes` bytes. Nothing stays in a cache until the next pass.
# - A formula that uses a sum has to wait for it. So the sum is one pass, and the formula
#   another.
# - A convolution has no bias, and values at the border cost as much as all others.
#
# **Example.** A ReLU with 4 values of 4 bytes each moves 2 arrays forward and 3 backward:
#
#     layer_costs("relu", (1, 2, 2, 1), (1, 2, 2, 1), None, 4)
#     {"forward": (4, 32), "backward": (4, 48)}
#
# You need about fourteen lines.

# %% name="8.1-layer-costs" points=2
# TODO 8.1: operations and bytes of a layer, forward and backward.
#: start
def layer_costs(kind, inputs, outputs, kernel, value_bytes):
    """{"forward": (operations, bytes), "backward": (operations, bytes)}."""
    values = math.prod(outputs)
    same = values, value_bytes * values
    return {"forward": same, "backward": same}
#: solution
def layer_costs(kind, inputs, outputs, kernel, value_bytes):
    """{"forward": (operations, bytes), "backward": (operations, bytes)}."""
    x, y = math.prod(inputs), math.prod(outputs)
    if kind == "conv":
        operations = 2 * math.prod(kernel) * math.prod(outputs[:3])
        values = x + math.prod(kernel) + y
        counts = operations, values, 2 * operations, 2 * values
    elif kind == "norm":
        counts = 5 * x, 3 * x, 10 * x, 5 * x
    else:
        counts = x, 2 * x, x, 3 * x
    return {
        "forward": (counts[0], value_bytes * counts[1]),
        "backward": (counts[2], value_bytes * counts[3]),
    }
#: end

# %%
layer_costs = check("8.1", layer_costs)

# %% [markdown]
# Now for real layers. The network has three *stages*, groups of blocks whose images have
# the same size. From each stage we take the last convolution, batch normalisation and ReLU.
# We time each of these nine layers alone, first with a *training batch*, and then with
# *large arrays*, as large as those of the memory test.

# %% [markdown]
# Take the ReLU of stage 1 with a training batch. In the stored run, its input holds 25,088
# values, and one call moves 2 such arrays forward and 3 backward:
#
# | limit | the call needs | least time |
# |---|---|---|
# | arithmetic | $F$ = 2 × 25,088 = 50,176 operations | $F/P$ = 0.0002 ms |
# | memory | $D$ = (2 + 3) × 25,088 × 4 = 501,760 bytes | $D/B$ = 0.012 ms |
# | dispatch | one start | $t_0$ = 0.342 ms |
#
# The largest of these times belongs to dispatch, so dispatch is the limit: no call of this
# layer can take less than 0.342 ms. It took 0.51 ms. The rest is time that our three limits
# leave out.

# %% [markdown]
# **Predict:** With the *large* arrays, how many of the nine layers are limited by
# arithmetic, how many by memory, and how many by dispatch?

# %%
my_limits_guess = {"arithmetic": None, "memory": None, "dispatch": None}  # they add up to 9
card.predict("limits_of_layers", my_limits_guess)

# %%
kind_of = {layers.Conv2D: "conv", layers.BatchNormalization: "norm", layers.ReLU: "relu"}

def layers_of_stages(network):
    """The last layer of each kind and stage: {("conv", 1): layer, ...}."""
    channels = {16 * lab.width: 1, 32 * lab.width: 2, 64 * lab.width: 3}
    found = {}
    for layer in network.layers:
        kinds = [kind for cls, kind in kind_of.items() if isinstance(layer, cls)]
        stage = channels.get(layer.output.shape[-1]) if kinds else None
        if stage and getattr(layer, "kernel_size", (3,))[0] == 3:
            found[kinds[0], stage] = layer
    return found

# %%
def layer_seconds(layer, batch):
    """Seconds of a layer, forward and backward, on random values."""
    x, g = (
        tensorflow.random.normal((batch, *t.shape[1:])) for t in (layer.input, layer.output)
    )
    @tensorflow.function(jit_compile=False)
    def both_ways():
        with tensorflow.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        return y, tape.gradient(y, [x, *layer.trainable_variables], output_gradients=g)
    return seconds_of(lambda: both_ways()[1][0][0, 0, 0, 0].numpy(), 0.15)

# %%
def against_limits(kind, layer, batch, value_bytes=4):
    """A layer's operations and bytes, the limits of its time, and its measured time."""
    both = [(batch, *t.shape[1:]) for t in (layer.input, layer.output)]
    kernel = tuple(layer.kernel.shape) if kind == "conv" else None
    costs = layer_costs(kind, *both, kernel, value_bytes).values()
    operations, moved = (sum(pair) for pair in zip(*costs, strict=True))
    limits = {"arithmetic": operations / peak, "memory": moved / bytes_per_second}
    limits["dispatch"] = floor
    return {
        "batch": batch, "operations": operations, "bytes": moved, "limits": limits,
        "limit": max(limits, key=limits.get), "seconds": layer_seconds(layer, batch),
        "in_cache": value_bytes * max(map(prod, both)) <= cache,
    }

# %%
card.lock("limits_of_layers")
points = []
print(f"{'limited by':14} {'training batch':>14} {'large arrays':>14}")
for (kind, stage), layer in sorted(layers_of_stages(original).items()):
    larger = ceil(array_bytes / 4 / prod(layer.output.shape[1:]))
    for batch in (lab.batch_size, larger):
        name = f"{figures.NAMES[kind]} {stage}"
        points.append({"kind": kind, "stage": stage, "name": name})
        points[-1] |= against_limits(kind, layer, batch)
    small, large = points[-2:]
    print(f"{name:14} {small['limit']:>14} {large['limit']:>14}")
card.measure("layers", points)
limited, limited_large = ([p["limit"] for p in points[first::2]] for first in (0, 1))
counts = {limit: limited_large.count(limit) for limit in my_limits_guess}
card.outcome("limits_of_layers", counts)

# %% [markdown]
# The next figure is a [*roofline*](../docs/glossary.md) ([Williams, Waterman and Patterson
# 2009](https://doi.org/10.1145/1498765.1498785)). To the right, a layer does more
# operations with each byte; upwards, it does more operations per second. The roof is the
# highest speed that the memory (on the slope) or the processor (on the flat part) allows.
# Each layer has two points, with the number of its stage in the network: the upper one with
# large arrays, the lower one with a training batch. The violet line near each lower point
# is $F / t_0$, the speed of the layer if its call took only as long as an empty one. No
# lower point can rise above it. The second figure shows the same calls in milliseconds,
# with the largest limit beside the measured time.

# %%
figure = figures.roofline(points, peak, bytes_per_second)
dispatched = limited.count("dispatch")
summary = f"At the batch size of training {dispatched} of {len(limited)} layers "
show_figure(figure, summary + "are limited by dispatch.", session.caption())
figure = figures.limits_and_measured(points)
slower = median([p["seconds"] / max(p["limits"].values()) for p in points])
summary = f"Half of the calls take at least {slower:.1f} times as long as their limit."
show_figure(figure, summary, session.caption())

# %% [markdown]
# In the stored run, arithmetic limits the convolutions with large arrays, and memory limits
# the other layers. But a batch of 32 is so small that dispatch is the largest of the three
# limits for all nine.
#
# **Question.** We called each layer alone. In training, TensorFlow runs the whole step as
# one graph, and Python makes one call for all layers. Which of the nine layers will then
# take much less time?

# %% [markdown]
# <details><summary>Answer</summary>
#
# The ReLUs and batch normalisations: the call was about half of their time. The convolutions
# gain least: each took more than three times $t_0$, so at least two thirds of its time is something else. It is not
# arithmetic or memory either, because those limits are less than 0.1 ms. A limit is only a
# least time: it leaves out, for example, what the library does before and after each small
# convolution. A larger batch spreads such fixed costs over more images.
#
# </details>

# %% [markdown]
# <details><summary>How can a point lie above the roof?</summary>
#
# A count or a limit must be wrong. In the stored run, the images of convolution 3 have
# shrunk to a single pixel, so eight of the nine positions of its kernel meet only
# padding. We count these products, but TensorFlow's library probably skips them.
#
# </details>

# %% [markdown]
# ## 3. Where does a step spend its time?
#
# Even with large arrays, batch normalisation took far longer than its limit. You counted
# two passes forward and two backward, but Keras makes a separate pass for each small
# operation of the formula. How much does that matter in a whole step? A *profile*
# ([guide](https://www.tensorflow.org/guide/profiler)) records when each operation begins
# and ends.
#
# **Predict:** Of the time of all operations in a step of the original training, what share
# belongs to batch normalisation?

# %%
my_norm_share_guess = None  # change this; 0.1: a tenth of the operations' time
card.predict("norm_share", my_norm_share_guess)

# %%
slow_batches = ImageByImage(x_train, y_train, lab.batch_size, lab.shift, lab.flip, lab.seed)
float_images, one_hot = slow_batches[0]
fused = original_network(conv_bn_relu)  # explained below the tables
fused.compile(optimizers.SGD(lab.learning_rate), crossentropy, **no_xla)

def step_of(network):
    def step():
        network.train_on_batch(float_images, one_hot)
    step(), step()  # start-up
    return step

card.lock("norm_share")
networks = {"Keras' own": original, "fused": fused}
profiles, recorded = profile_networks({n: step_of(net) for n, net in networks.items()})

# %%
by_layer, fused_by_layer = (profiles[name]["layers"] for name in networks)
by_operation = profiles["Keras' own"]["operations"]
total = sum(by_layer.values())
if recorded:
    print(recorded)
print(f"{'operation':32} {'ms/step':>10} {'share':>8}")
for name, seconds in list(by_operation.items())[:10]:
    print(f"{name:32} {1000 * seconds:10.3f} {100 * seconds / total:7.1f}%")
others = 1000 * sum(list(by_operation.values())[10:])
print(f"{'all others':32} {others:10.3f} {others / total / 10:7.1f}%")

# %%
norm = "batch normalisation"
for kind, seconds in sorted(by_layer.items()):
    print(f"{kind}: {1000 * seconds:.3f} ms, {100 * seconds / total:.1f}%")
card.measure("recorded_profile_seconds" if recorded else "profile_seconds", by_layer)
card.outcome("norm_share", None if recorded else by_layer[norm] / total)

# %% [markdown]
# These times do not add up to the time of a step, because operations can run in parallel.
# Augmentation shows as 0, because all profiled steps reuse one batch, which Python had
# shifted and flipped before.
#
# For all of batch normalisation, TensorFlow also has a single program,
# [`FusedBatchNormV3`](https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormV3).
# A layer that uses it is called *fused*.

# %%
figure = figures.profile_bars({"Keras' own": by_layer, "fused": fused_by_layer})
left_of_norm = fused_by_layer[norm] / by_layer[norm]
summary = f"The fused layer takes {left_of_norm:.2f} times as long as Keras' own."
show_figure(figure, summary, (recorded or session.caption()).splitlines()[0])

# %% [markdown]
# ### Exercise 8.2: which change first?
#
# A change can make an operation far faster and still gain little, because the rest of the
# step takes as long as before. As in [lab 06](06_many_gpus_loop.ipynb), let $f$ be the
# share of a step's time that does *not* improve. If the other operations become $q$ times
# as fast, then by Amdahl's law ([1967](https://doi.org/10.1145/1465482.1465560)) the whole
# step becomes
#
# $$ S = \frac{1}{f + (1 - f) / q} $$
#
# times as fast. If you remove an operation that takes 10% of the step, then $f = 0.9$ and
# $q = \infty$, so you gain only a factor of 1.11.

# %% [markdown]
# **Write** `best_change(seconds, changes)`, which returns the name of the change that
# makes the whole step shortest, and how many times as fast the step then is.
#
# **Rules**
#
# - `seconds` is a dict with the time of each operation in a step, by name.
# - `changes` is a dict of one or more changes, by name. Each change is a dict, too. It gives
#   the fraction of an operation's time that is *left*: 0.5 is half of it, 0.0 is nothing,
#   and above 1 the operation becomes slower.
# - An operation that a change does not name keeps its time. A change may also name operations
#   that are not in `seconds`, which cost nothing.
# - If no change makes the step shorter, return `(None, 1.0)`. If two are equally good,
#   return either. No change reduces the whole step to 0 seconds.
# - Do not modify `seconds` or `changes`.
#
# **Example**
#
#     best_change({"a": 3.0, "b": 1.0}, {"x": {"a": 0.5}, "y": {"b": 0.0}})   # ("x", 1.6)
#
# You need about seven lines.

# %% name="8.2-best-change" points=2
# TODO 8.2: the change after which a step is shortest, and how many times as fast it is.
#: start
def best_change(seconds, changes):
    """The name of the best change, and how many times as fast a step is with it."""
    best = min(changes, key=lambda name: min(changes[name].values()))
    return best, 1 / (1e-9 + min(changes[best].values()))
#: solution
def best_change(seconds, changes):
    """The name of the best change, and how many times as fast a step is with it."""
    before = shortest = sum(seconds.values())
    best = None
    for name, left in changes.items():
        after = sum(s * left.get(operation, 1) for operation, s in seconds.items())
        if after < shortest:
            best, shortest = name, after
    return best, before / shortest
#: end

# %%
best_change = check("8.2", best_change)

# %%
changes = {
    "fused batch norm": {norm: left_of_norm},
    "no dropout": {"dropout": 0.0},
    "convolutions twice as fast": {"convolution": 0.5},
    "no ReLU": {"ReLU": 0.0},
}
first_change, its_speedup = best_change(by_layer, changes)
print(f"Try first: {first_change}; by the profile, {its_speedup:.2f} times as fast")

# %% [markdown]
# ## Detour: does the step wait for its images?
#
# > What if the images come from a slow disk? Ours are in memory, so the ladder has no rung
# > for it. This detour has one exercise and one figure.
#
# Suppose that a step takes $t_s$ seconds, and fetching a batch from a disk $t_f$ seconds.
# If they take turns, training needs $t_s + t_f$ seconds per step. With
# [prefetching](../docs/glossary.md), the next batch is fetched while the current step runs,
# so training needs only $\max(t_s, t_f)$.
#
# ![Two time lines. In the upper one, fetching a batch and training on it take turns. In the lower one, the next batch is fetched while a step runs, so four steps end sooner.](../helpers/lab_08/diagrams/prefetch.svg)

# %% [markdown]
# ### Exercise 8.3: fetch while a step runs
#
# **Write** `feed(fetch, images, batch_size)`, which returns an iterable over the images 0
# to `images - 1` in batches. Here `fetch(numbers)` takes a list or an array of image
# numbers, and returns these images as a float32 array. Each call takes a while, however
# few images it fetches. There is at least one image, and only one loop runs at a time.
#
# **Rules**
#
# - The batches hold `batch_size` images each, in the order of their numbers. The last
#   batch holds the images that are left.
# - Call `fetch` once for each batch.
# - While a step runs on a batch, the next batch is being fetched.
# - Before the first step ends, fetch at most eight batches, including the batch of that
#   step, because a whole data set might not fit into memory.
# - Each call of `feed` begins with image 0, even if the loop over an earlier feed was left
#   early, for example with `break`.
#
# **Example.** `for batch in feed(fetch, 100, 8)` gets 13 batches, and the last one has 4
# images.

# %% [markdown]
# A [`tf.data.Dataset`](https://www.tensorflow.org/api_docs/python/tf/data/Dataset) does it
# in three lines: `range` and `batch`, then `map` with
# [`tf.numpy_function(fetch, [numbers], tf.float32)`](https://www.tensorflow.org/api_docs/python/tf/numpy_function),
# and finally a method that works ahead.

# %% name="8.3-feed" points=2
# TODO 8.3: batches that are fetched while the step before them runs.
#: start
def feed(fetch, images, batch_size):
    """Batches of the images 0, 1, 2, ... in order."""
    for first in range(0, images, batch_size):
        numbers = range(first, min(first + batch_size, images))
        yield np.concatenate([fetch(np.array([number])) for number in numbers])
#: solution
def feed(fetch, images, batch_size):
    """Batches of the images 0, 1, 2, ... in order."""
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    batches = numbers.map(lambda some: tf.numpy_function(fetch, [some], tf.float32))
    return batches.prefetch(2)
#: end

# %%
feed = check("8.3", feed)

# %% [markdown]
# Now the network gets a source that is about as slow as a step. If they take turns, a step
# takes about twice as long as alone.
#
# **Question.** How many times as long will it take with your `feed`?

# %%
labels_of = numpy.eye(10, dtype="float32")[few[1]]
step_model = rung(conv_bn_relu, 0.0)

# %%
def step_seconds(image_batches):
    """Median seconds from one step to the next, in training on these batches."""
    began = []
    for i, images in enumerate(image_batches):
        began.append(perf_counter())
        labels = labels_of[i * lab.batch_size :][: len(images)]
        step_model.train_on_batch(numpy.asarray(images), labels)
    return median(end - start for start, end in pairwise(began))

def in_turn(fetch, images, batch_size):
    for first in range(0, images, batch_size):
        yield fetch(numpy.arange(first, min(first + batch_size, images)))

# %%
def images_read(numbers):
    return few[0][numbers].astype("float32")
step_model.train_on_batch(images_read(range(lab.batch_size)), labels_of[: lab.batch_size])
alone = step_seconds(in_turn(images_read, lab.images_per_point, lab.batch_size))
def slow_fetch(numbers):
    sleep(alone)  # like a disk or a network
    return images_read(numbers)
one_by_one = step_seconds(in_turn(slow_fetch, lab.images_per_point, lab.batch_size))
overlapped = step_seconds(feed(slow_fetch, lab.images_per_point, lab.batch_size))
card.measure("fed_step_seconds", {"alone": alone, "sum": one_by_one, "fed": overlapped})

# %%
shown = {"the step alone, measured": alone, "in turn, calculated": 2 * alone}
shown |= {"in turn, measured": one_by_one, "your feed, measured": overlapped}
summary = f"A step alone takes {1000 * alone:.2f} ms. With the slow source it takes "
summary += f"{1000 * one_by_one:.2f} ms in turn, "
summary += f"and {1000 * overlapped:.2f} ms with your feed."
show_figure(figures.overlap(shown), summary, session.caption())
print(f"With your feed, a step takes {overlapped / alone:.2f} times as long as alone")

# %% [markdown]
# In the stored run, the feed hides most of the waiting. But this source only sleeps. A
# source that computes would share the cores with the step, and gain less.

# %% [markdown]
# ## 4. Whole batches, fused batch norm, no dropout
#
# Here the ladder begins. The profile of part 3 made promises, and only a clock can confirm
# them. To measure a change, we train several times in turn, with it and without it. Each
# pair of runs gives a ratio of two speeds, and the gain is the median of these ratios. If
# the machine is slow for a minute, both runs of a pair are slow, so their ratio hardly
# changes.

# %%
def speed(model, data):
    """Images per second of training."""
    recorder = EpochRecorder()
    model.fit(data, callbacks=[recorder], verbose=0)
    return lab.images_per_point / recorder.epochs["train_seconds"][0]

def gain_of(above, below):
    """Train (model, data) `above` and `below` in turn; the gain, and both speeds."""
    speed(*above), speed(*below)  # start-up
    pairs = [(speed(*above), speed(*below)) for _ in range(lab.rounds)]
    speeds = [median(each) for each in zip(*pairs, strict=True)]
    return median([one / other for one, other in pairs]), *speeds

# %%
card.lock("gains")
fast_data = batches(*few, lab.batch_size, lab.seed)
slow_data = ImageByImage(*few, lab.batch_size, lab.shift, lab.flip, lab.seed)

def so_far(*names):
    """Keep these changes, and print the product of all gains that were kept."""
    kept.extend(names)
    factors = " x ".join(f"{gains[name]:.2f}" for name in kept)
    print(f"So far: {factors} = {prod(gains[name] for name in kept):.2f} times as fast")

# %%
ladder = {
    "original": (original, slow_data),
    "whole batches": (rung(), fast_data),
    "fused batch norm": (rung(conv_bn_relu), fast_data),
    "no dropout": (rung(conv_bn_relu, 0.0), fast_data),
}
gains, speeds, kept = {}, {}, []
for below, above in pairwise(ladder):
    gains[above], speeds[above], below_speed = gain_of(ladder[above], ladder[below])
    speeds.setdefault(below, below_speed)
    print(f"{above}: {gains[above]:.2f} times as fast")
print(f"Images/sec of the original: {speeds['original']:.2f}")
so_far(*gains)
card.measure("images_per_second", speeds["no dropout"])
card.outcome("gains", gains)

# %% [markdown]
# In the stored run, each of the three changes made training faster: 1.24, 1.17 and 1.30 times.
# What had the profile promised? Batch normalisation took 25% of the operations' time, so
# $f = 0.75$, and the fused layer takes 0.74 times as long, so $q = 1/0.74$:
#
# $$ S = \frac{1}{0.75 + 0.25 \times 0.74} = 1.07. $$
#
# | | promised by the profile | measured |
# |---|---|---|
# | *fused batch norm* | 1.07 | 1.17 |
# | *no dropout* | 1.04 | 1.30 |
#
# So a profile tells you where to look, and not how much you will gain. One reason: Amdahl's
# law assumes that everything else takes as long as before. But in the profile with the
# fused layer, the convolutions, which we did not touch, also took 12% less time, and dropout
# took almost twice as long. (Or the machine had changed, because the two profiles ran one
# after the other.)
#
# We keep all three changes, even if yours gained less. (Dropout also
# keeps a network from overfitting. Ours is small, and at a rate of 0.01 it hardly matters.)
# The profile's first choice, faster convolutions, may come with fewer bits or with the
# compiler.

# %% [markdown]
# ## 5. Fewer bits
#
# Half the bits mean half the bytes to move, and many processors also multiply short
# numbers faster. But the formats spend their bits differently:
#
# ![The bits of four number formats. float32 has 8 bits of exponent and 23 of fraction, TF32 8 and 10, bfloat16 8 and 7, and float16 5 and 10; each has one sign bit.](../helpers/lab_08/diagrams/float_formats.svg)
#
# - [bfloat16](../docs/glossary.md) keeps the exponent of float32, and therefore its range,
#   but only two to three decimal digits.
# - float16 has more digits, but a smaller range: above 65,504 it overflows to infinity.
# - TF32 has the range of float32 and the digits of float16. It is TensorFlow's default for
#   float32 products on NVIDIA GPUs since the A100.
#
# On GPUs older than the A100 this lab uses float16, and on all other devices bfloat16. A
# processor without instructions for bfloat16 loses time, because it converts each number to
# float32 and back.
#
# **Predict:** By what factor do 16 bits speed up training, on top of the first three
# changes?

# %%
my_bits_guess = None  # change this
card.predict("gain_of_fewer_bits", my_bits_guess)

# %%
card.lock("gain_of_fewer_bits")
low = candidates()[1]
below, above = ladder["no dropout"], (rung(conv_bn_relu, 0.0, policy=low), fast_data)
gains["fewer bits"], speeds["fewer bits"], _ = gain_of(above, below)
faster = low if gains["fewer bits"] > 1 else "float32"
policy = faster if lab.precision == "auto" else lab.precision
print(f"fewer bits: {gains['fewer bits']:.2f} times as fast in {types[low]}")
print(f"The next rungs train with the policy {policy}")
so_far(*(["fewer bits"] if policy != "float32" else []))
card.measure("gain_of_fewer_bits", gains["fewer bits"])
card.outcome("gain_of_fewer_bits", gains["fewer bits"])

# %% [markdown]
# In the stored run, 16 bits gained only a factor of 1.07. Part 1's matrix product could not
# tell: in bfloat16 it had only half the speed. With small batches the layers stay far below
# the peak, so another peak hardly matters to them. If your training became slower, the next rungs go back
# to float32.

# %% [markdown]
# ## Detour: what can 16 bits break?
#
# > Why can training in float16 fail, and how is it repaired? This detour has one exercise
# > and one figure. The ladder does not need it, and goes on in part 6.
#
# In float16, small gradients may be lost. Below $2^{-14}$, about $6 \times 10^{-5}$, its
# *normal range* ends: the smaller a number, the fewer digits it keeps. Numbers up to
# $2^{-25}$, about $3 \times 10^{-8}$, become 0.
#
# The gradients of the *activations*, the outputs of the layers, travel back from layer to
# layer. From them, each layer computes the gradients of its *weights*.
#
# **Predict:** In a batch of 256 images, what percentage of the gradients of each kind lies
# below float16's normal range? Gradients that are exactly 0 do not count.

# %%
my_range_guess = {"weights": None, "activations": None}  # change these: percentages
card.predict("percent_below_normal", my_range_guess)

# %%
observed = [layer for layer in original.layers if isinstance(layer, tuple(kind_of))]
with_activations = Model(
    original.input, [*original.outputs, *(layer.output for layer in observed)]
)

def gradients_of(images, labels):
    """The gradients of one batch in float32: {"weights": arrays, "activations": arrays}."""
    with tensorflow.GradientTape() as tape:
        predicted, *activations = with_activations(images, training=True)
        loss = tensorflow.reduce_mean(losses.categorical_crossentropy(labels, predicted))
    kinds = {"weights": original.trainable_variables, "activations": activations}
    found = tape.gradient(loss, kinds)
    return {kind: [g.numpy() for g in gradients] for kind, gradients in found.items()}

# %%
def in_float16(gradients, scale=1.0):
    """Percentages of the gradients other than 0: below the normal range, and 0."""
    values = numpy.concatenate([numpy.abs(g).ravel() for g in gradients])
    values = scale * values[values != 0]
    shares = values < 2.0**-14, values.astype("float16") == 0
    return [100 * numpy.mean(share) for share in shares]

# %%
card.lock("percent_below_normal")
many = slow_batches.standardized(x_train[:256]), numpy.eye(10)[y_train[:256]]
gradients = {count: gradients_of(*(part[:count] for part in many)) for count in (32, 256)}
for count, found in gradients.items():
    for kind in found:
        low, zero = in_float16(found[kind])
        print(f"Batch {count}, {kind}: {low:.2f}% below normal, {zero:.2f}% zero")
percent = {kind: in_float16(found)[0] for kind, found in gradients[256].items()}
card.outcome("percent_below_normal", percent)

# %% [markdown]
# In the stored run, few gradients of weights are that small, but most gradients of
# activations are: 73% in a batch of 32, and 86% in a batch of 256. They are not lost yet,
# but have fewer digits. In the larger batch, however, 3.6% instead of 0.6% become 0. One
# reason is that the loss is a *mean* over the images. An activation belongs to one image,
# so its gradient shrinks with the batch. A weight serves all images, so its gradient adds
# up all these small numbers.
#
# The repair is [*loss scaling*](../docs/glossary.md). Multiply the mean loss $L$ by a
# factor $c$, and all gradients grow by the same factor. The update, in float32, divides by
# $c$ again:
#
# $$ w \leftarrow w - \frac{\eta}{c}\, \nabla_w (c L), $$
#
# where $w$ are the weights and $\eta$ is the learning rate. If $c$ is too large, gradients
# overflow, so $c$ is adjusted throughout training ([Micikevicius et al.
# 2018](https://arxiv.org/abs/1710.03740)).

# %% [markdown]
# ### Exercise 8.4: dynamic loss scaling
#
# **Write** `scaled_step(weights, gradients_at, learning_rate, state, growth_steps)`, which
# makes one training step and returns the new weights and the new state, a dict like
# `{"scale": 1024.0, "good_steps": 3}`. Over many steps, it searches for the largest scale at
# which no gradient overflows.
#
# **Rules**
#
# - `weights` is a list of float32 arrays, and the new weights are such a list, too.
# - `gradients_at(weights, scale)` returns the gradients of `scale` times the loss, as a
#   list of float16 arrays. Call it once, at `weights` and at `state["scale"]`.
# - Convert the gradients to float32 first, and then divide them by the scale.
# - A step is *good* if every value of every gradient is finite, and *bad* if any value is
#   infinity or nan.
# - A good step subtracts `learning_rate` times the gradients from the weights, and adds
#   one to `good_steps`. When `good_steps` reaches `growth_steps`, the scale doubles and
#   `good_steps` starts again from 0.
# - After a bad step, the weights stay as they are, the scale halves, and `good_steps`
#   becomes 0.
# - Do not modify `weights` or `state`.
#
# **Example.** With `growth_steps=4`, a good step turns the state above into
# `{"scale": 2048.0, "good_steps": 0}`, and a bad one into
# `{"scale": 512.0, "good_steps": 0}`.
#
# You need about eleven lines.

# %% name="8.4-scaled-step" points=2
# TODO 8.4: one training step with dynamic loss scaling.
#: start
def scaled_step(weights, gradients_at, learning_rate, state, growth_steps):
    """The weights and the state after one step."""
    gradients = gradients_at(weights, 1.0)
    pairs = zip(weights, gradients, strict=True)
    return [w - learning_rate * g.astype("float32") for w, g in pairs], dict(state)
#: solution
def scaled_step(weights, gradients_at, learning_rate, state, growth_steps):
    """The weights and the state after one step."""
    scale = state["scale"]
    gradients = [g.astype("float32") / scale for g in gradients_at(weights, scale)]
    if not all(np.isfinite(g).all() for g in gradients):
        return weights, {"scale": scale / 2, "good_steps": 0}
    pairs = zip(weights, gradients, strict=True)
    moved = [w - learning_rate * g for w, g in pairs]
    good_steps = state["good_steps"] + 1
    if good_steps == growth_steps:
        return moved, {"scale": 2 * scale, "good_steps": 0}
    return moved, {"scale": scale, "good_steps": good_steps}
#: end

# %%
scaled_step = check("8.4", scaled_step)

# %% [markdown]
# Watch your function search, from a scale that is far too high.

# %%
real_gradients = gradients[32]["weights"]

def float16_gradients(weights, scale):
    with numpy.errstate(over="ignore"):
        return [(g * scale).astype("float16") for g in real_gradients]

values = [0 * g for g in real_gradients]
state = {"scale": 2.0**24, "good_steps": 0}
scales = [state["scale"]]
for _ in range(60):
    values, state = scaled_step(values, float16_gradients, lab.learning_rate, state, 5)
    scales.append(state["scale"])
summary = f"The scale starts at {2.0**24:.1f}; its lowest value is {min(scales):.1f}."
show_figure(figures.loss_scale(scales), summary, session.caption())
card.measure("lowest_loss_scale", min(scales))

# %% [markdown]
# The scale halves until nothing overflows. Then five good steps double it, the next step overflows, and it halves again: one step in
# six is lost. Keras loses far fewer, because it waits for [2,000 good
# steps](https://www.tensorflow.org/api_docs/python/tf/keras/mixed_precision/LossScaleOptimizer)
# before it doubles the scale.

# %% [markdown]
# bfloat16 needs no loss scaling, because it has the range of float32. But its few digits
# can break something else.
#
# **Question.** What happens to a weight of 1 in bfloat16 if you add 0.001 to it a thousand
# times?

# %%
for dtype in ("float32", "bfloat16"):
    weight = tensorflow.ones((), dtype)
    for _ in range(1000):
        weight += tensorflow.cast(0.001, dtype)
    print(f"Adding 0.001 to 1 a thousand times gives {float(weight):.4f} in {dtype}")
weights = [v.numpy() for v in original.trainable_variables]
pairs = zip(weights, real_gradients, strict=True)
steps = numpy.concatenate([lab.learning_rate * g.ravel() for _, g in pairs])
old = numpy.concatenate([w.ravel() for w in weights])
for dtype in ("float32", "bfloat16"):
    before, step = (tensorflow.cast(v, dtype) for v in (old, steps))
    stuck = numpy.mean((before - step == before).numpy()[steps != 0])
    print(f"One step in {dtype} leaves {100 * stuck:.1f}% of the weights unchanged")

# %% [markdown]
# In bfloat16 the next number after 1 is 1.0078, so $1 + 0.001$ is rounded back to 1 every
# time. If the original trained with weights and steps in bfloat16, one step would leave half
# of its weights unchanged. So [mixed
# precision](https://keras.io/api/mixed_precision/) keeps in float32 whatever such rounding
# would ruin, for example the weights and the optimizer's state.

# %% [markdown]
# ## 6. Fewer steps
#
# Back to the ladder, where each change so far was meant to shorten a step. But the fastest
# step is the step that you do not have to take. How many steps a training needs depends on
# its *recipe*. The original uses a constant learning rate of 0.01, no momentum, and images
# that are shifted and flipped, so it learns slowly. The fast recipe uses almost the same
# network, with other initial weights, and without biases and dropout. Its training differs
# in four ways:
#
# - it adds momentum and weight decay;
# - it smooths the labels: with 10 classes and the one-hot label $y$, it trains towards
#   $0.9\, y + 0.1/10$ ([Szegedy et al. 2016](https://arxiv.org/abs/1512.00567));
# - it leaves out augmentation, which is meant for longer trainings;
# - its learning rate rises to 0.1 and falls again, in [one cycle](../docs/glossary.md) ([Smith and
# Topin 2019](https://arxiv.org/abs/1708.07120)).

# %% [markdown]
# ### Exercise 8.5: one cycle
#
# **Write** the class `OneCycle(peak, steps, warm_up=0.25, last=0.02)`, a [learning rate
# schedule](https://keras.io/api/optimizers/learning_rate_schedules/) for Keras.
#
# **Rules**
#
# - The rate rises in a straight line from 0 at step 0 to `peak` at step `warm_up * steps`,
#   where `warm_up` is greater than 0 and less than 1.
# - From there it falls in a straight line to `last * peak` at step `steps`, and stays
#   there.
# - A step may be an integer tensor, as in training, or a plain number.
# - `get_config` returns the arguments with which the schedule was made, as a dict that can
#   be stored as JSON.
#
# **Example.** `OneCycle(0.4, 80)` gives 0 at step 0, 0.2 at step 10, 0.4 at step 20, and
# 0.008 from step 80 on.
#
# You need about four lines.

# %% name="8.5-one-cycle" points=2
# TODO 8.5: a learning rate that rises to its peak and falls again, once.
#: start
class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    """From 0 up to `peak`, then down to `last * peak`."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        self.peak, self.steps, self.warm_up, self.last = peak, steps, warm_up, last

    def __call__(self, step):
        return self.peak

    def get_config(self):
        names = ("peak", "steps", "warm_up", "last")
        return {name: getattr(self, name) for name in names}
#: solution
class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    """From 0 up to `peak`, then down to `last * peak`."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        self.peak, self.steps, self.warm_up, self.last = peak, steps, warm_up, last

    def __call__(self, step):
        part = keras.ops.minimum(keras.ops.cast(step, "float32") / self.steps, 1.0)
        fallen = (part - self.warm_up) / (1 - self.warm_up)
        down = 1 - (1 - self.last) * fallen
        return self.peak * keras.ops.minimum(part / self.warm_up, down)

    def get_config(self):
        names = ("peak", "steps", "warm_up", "last")
        return {name: getattr(self, name) for name in names}
#: end

# %%
OneCycle = check("8.5", OneCycle)

# %%
steps_of_an_epoch = ceil(lab.train_images / lab.batch_size)
all_steps = lab.fast_epochs * steps_of_an_epoch
# The peak was chosen for batches of 32. The square-root rule of lab 03 scales it.
peak_rate = lab.peak_learning_rate * (lab.batch_size / 32) ** 0.5
cycle = OneCycle(peak_rate, all_steps)
rates_by_step = [float(cycle(step)) for step in range(all_steps + 1)]
summary = f"The rate rises to {max(rates_by_step):.3f} and ends at {rates_by_step[-1]:.4f}."
show_figure(figures.schedule(rates_by_step, lab.learning_rate), summary, session.caption())

# %%
def fast_recipe(policy, seed, **options):
    """The fast network, compiled with the fast recipe."""
    utils.set_random_seed(seed)
    with dtype_policy(policy):
        network = fast_network(lab.depth, lab.width, stem_pool=lab.stem_pool)
        model = with_preprocessing(network, x_train, shift=0, flip=False)
        sgd = optimizers.SGD(OneCycle(peak_rate, all_steps), 0.9, True, weight_decay=5e-4)
        sgd.exclude_from_weight_decay(var_names=["gamma", "beta", "bias"])
        smooth = losses.CategoricalCrossentropy(label_smoothing=0.1)
        model.compile(sgd, smooth, **(no_xla | options))
    return model

# %% [markdown]
# Now the two recipes race to the same accuracy on the validation images (0.8 at `laptop`
# scale). The original stops at the first epoch that reaches it. The fast recipe runs all
# its epochs, because its schedule has to be fixed before it starts. To save time, both
# train with whole batches, the fused layer and the precision chosen above, and we assume
# that this changes only the speed of a step, and not the number of steps. (The original
# keeps its dropout here.)
#
# **Predict:** The next cell prints the epochs of the fast recipe. How many epochs does the
# original need?

# %%
print(f"Epochs of the fast recipe: {lab.fast_epochs}")
my_epochs_guess = None  # change this: the epochs of the original recipe to the target
card.predict("original_epochs", my_epochs_guess)

# %%
def train(model, epochs, seed, stop_at=None):
    """Train; return each epoch's accuracy, and the seconds of all without validation."""
    recorder = EpochRecorder(stop_at)
    shown = [TrainingProgress(), recorder]
    data = batches(x_train, y_train, lab.batch_size, seed)
    valid = batches(x_valid, y_valid, 500)
    model.fit(data, validation_data=valid, epochs=epochs, callbacks=shown, verbose=0)
    return recorder.epochs["val_accuracy"], sum(recorder.epochs["train_seconds"])

# %%
card.lock("original_epochs")
runs, fast_seconds = {"original recipe": [], "fast recipe": []}, []
for seed_of_run in range(lab.seed, lab.seed + lab.repeats):
    utils.set_random_seed(seed_of_run)
    slow = rung(conv_bn_relu, policy=policy)
    curve, _ = train(slow, lab.epochs, seed_of_run, lab.target_accuracy)
    runs["original recipe"].append(curve)
    curve, seconds = train(fast_recipe(policy, seed_of_run), lab.fast_epochs, seed_of_run)
    runs["fast recipe"].append(curve)
    fast_seconds.append(seconds)

# %%
original_epochs = mean(len(curve) for curve in runs["original recipe"])
card.measure("val_accuracy", mean(curve[-1] for curve in runs["fast recipe"]))
card.outcome("original_epochs", original_epochs)
figure = figures.race(runs, lab.target_accuracy)
summary = f"The original recipe took {original_epochs:.1f} epochs, "
summary += f"the fast one {lab.fast_epochs:.1f}."
show_figure(figure, summary, session.caption())
for name, curves in runs.items():
    reached = sum(curve[-1] >= lab.target_accuracy for curve in curves)
    print(f"{name}: {reached} of {len(curves)} runs reached the target")

# %% [markdown]
# (If a recipe missed the target, the bar *fewer steps* below means nothing. Then run the
# lab again with more `epochs` or `fast_epochs`.)
#
# A step of the fast recipe takes a different time, too, because it skips augmentation but
# its optimizer computes more. So we multiply the ratio of the epochs by the gain of a step.
# In the stored run, 29 / 3 times 0.95 is 9.2.

# %%
below = (rung(conv_bn_relu, 0.0, policy=policy), fast_data)
step_gain, speeds["fewer steps"], _ = gain_of((fast_recipe(policy, 0), fast_data), below)
gains["fewer steps"] = step_gain * original_epochs / lab.fast_epochs
step_ms = 1000 * lab.batch_size / speeds["fewer steps"]
print(f"A step of the fast recipe: {step_ms:.1f} ms, {step_gain:.2f} times as fast")
print(f"fewer steps: reaches the target {gains['fewer steps']:.2f} times as fast")
so_far("fewer steps")

# %% [markdown]
# ## 7. Steps together, and a compiler
#
# The last two changes may shorten the steps that remain. Both are options of
# [`compile`](https://keras.io/api/models/model_training_apis/). With
# `steps_per_execution=8`, TensorFlow runs eight steps before it returns to Python. With
# `jit_compile=True`, the step goes to [XLA](https://openxla.org/xla), a compiler that fuses
# operations but delays the first step. (If you say nothing, Keras decides whether to use
# it. We switched it off until now, to see what it gains.) We keep the compiler only if it
# saves more seconds in this training than it costs at the start.
#
# **Predict:** By what factor does each option speed up training? For *steps together*, you
# can calculate it. So far, each step has paid $t_0$ for a call of its own. With eight steps
# in a call, it pays only an eighth of $t_0$. Compare what this saves with the time of a
# step. (The cell above printed it: 11.7 ms in the stored run.)

# %%
my_options_guess = {"steps together": None, "compiler": None}  # change these
card.predict("gains_of_options", my_options_guess)

# %%
card.lock("gains_of_options")
best, options = (fast_recipe(policy, 0), fast_data), {}
together = fast_recipe(policy, 0, steps_per_execution=8), fast_data
gains["steps together"], *_ = gain_of(together, best)
if gains["steps together"] > 1:
    best, options = together, {"steps_per_execution": 8}

def first_step(model):
    """Seconds of a model's first step, which also builds its graph."""
    began = perf_counter()
    model.fit(fast_data.take(1), verbose=0)
    return perf_counter() - began

without_seconds = first_step(fast_recipe(policy, 0, **options))
compiled = fast_recipe(policy, 0, jit_compile=True, **options)
compile_seconds = first_step(compiled)
gains["compiler"], _, best_speed = gain_of((compiled, fast_data), best)

# %%
for name in ("steps together", "compiler"):
    print(f"{name}: {gains[name]:.2f} times as fast")
costs = compile_seconds - without_seconds  # only the seconds that the compiler adds
saves = lab.batch_size / best_speed * (1 - 1 / gains["compiler"])  # in each step
print(f"The first step took {compile_seconds:.1f} s with the compiler, ", end="")
print(f"{without_seconds:.1f} s without")
print(f"In {all_steps} steps the compiler saves {all_steps * saves:.1f} s. ", end="")
after = f"pays off after {ceil(costs / saves)} steps" if saves > 0 else "never pays off"
print(f"It {after}")
pays_off = {"steps together": gains["steps together"] > 1}
pays_off["compiler"] = all_steps * saves > costs
so_far(*(name for name, pays in pays_off.items() if pays))
card.measure("gains", gains)
card.measure("compile_seconds", compile_seconds)
card.outcome("gains_of_options", {n: gains[n] for n in ("steps together", "compiler")})

# %% [markdown]
# In the stored run, seven eighths of $t_0 = 0.342$ ms are 0.30 ms, about 3% of a step of
# 11.7 ms. The gain was 1.08, more than this estimate, but still small. (Our empty call has no
# images, no callbacks and no metrics, so a step of `fit` may cost Python more than $t_0$.)
#
# The compiler pays off only after 1,874 steps, and this training has 471, so we do not keep
# it. That is no verdict on the compiler: our training lasts a few seconds. In one of half a
# minute, with more than 2,500 steps, it would have paid.

# %% [markdown]
# ## The waterfall
#
# All seven changes are measured. The waterfall begins with the original's time: its
# epochs, multiplied by the seconds of an epoch. Each change that we keep then divides the
# time by its gain.
#
# The axis is logarithmic, so each factor has the same length wherever it stands. *Green*
# bars made training faster, *violet* bars made it slower, and hatched changes were not
# kept. All bars leave out the start-up.

# %%
level = original_epochs * lab.train_images / speeds["original"]
bars = [{"name": "original", "before": 0, "after": level, "kept": True}]
for name in [*ladder, "fewer bits", "fewer steps", "steps together", "compiler"][1:]:
    after = level / gains[name]
    is_kept = name in kept
    bars.append({"name": name, "before": level, "after": after, "kept": is_kept})
    level = after if is_kept else level
bars.append({"name": "fast recipe", "before": 0, "after": level, "kept": True})
whole = bars[0]["after"]
summary = f"From {whole:.1f} s to {level:.1f} s: {whole / level:.1f} times as fast."
show_figure(figures.waterfall(bars), summary, session.caption())
card.measure("seconds_to_target", {"original": whole, "fast": level})

# %%
longest = max(kept, key=gains.get)
others = prod(gains[name] for name in kept) / gains[longest]
print(f"The longest bar: {longest}, {gains[longest]:.2f} times as fast. ", end="")
print(f"All other rungs that were kept: {others:.2f} times")
print(f"The fast recipe took {median(fast_seconds):.1f} s on the clock of part 6, ", end="")
print("with its start-up but without the options of part 7")

# %% [markdown]
# So where does the time go? In the stored run, most of it went into steps that nobody
# needed to take: *fewer steps* gained a factor of about nine, and all other changes
# together 2.17. The others shorten a step, but this one leaves whole steps out.
#
# Do not expect a factor of nine elsewhere, because our original is easy to beat. At its
# peak, the fast recipe's rate is ten times as high, and momentum makes each step larger
# again. Nobody tuned the original's rate. The target matters, too: for 0.78 instead of
# 0.80, the same curves give a factor of about five. Even that is more than all other changes
# together.
#
# One caution about the 20.0: it is a product of gains, and leaves out start-up. Timed with
# its start-up, but without *steps together*, the fast recipe took 7.9 s, not 3.5. Against
# the 69.4 s that we calculated for the original, without start-up, this is a factor of 8.8.
# In a training of seconds, start-up counts.
#
# **Question.** Is your longest bar the change that you wrote down at the start?

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("08")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# In your waterfall, which change gained most, and which gained least? What does each of
# these two do to a training step? Write three to six sentences below, with numbers from
# your run. No check reads them, but your instructor may.

# %% [markdown] name="8.figure" points=2
# **8.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# The fastest step is the step that you do not take. A layer with large arrays waits for
# arithmetic or memory. With small arrays, the call from Python is the largest of the three
# limits: about half of a ReLU's time, and at most a third of a convolution's. But in a whole
# step, all layers share one call. A profile and Amdahl's law tell you where to look, but
# only alternating runs show how much a change gains.
#
# **Question.** If your network becomes ten times as wide, which bars of your waterfall
# become longer?

# %% [markdown]
# <details><summary>Answer</summary>
#
# Wider layers compute more in each call, so dispatch weighs less and arithmetic more.
# *Steps together* should gain less, because it saves calls. *Fewer bits* should gain more,
# on a processor that multiplies short numbers faster. *Whole batches* and *fused batch
# norm* should gain less, because the time of convolutions grows with the square of the
# width. Only a run can tell.
#
# </details>

# %% [markdown]
# ## Going further
#
# You may stop here: this part has no points and no predictions.
#
# ### How much of the machine does your training use?
#
# If an image takes $F_1$ operations in all convolutions, forward and backward, and training
# processes $r$ images per second, then it uses the share
#
# $$ \text{MFU} = \frac{F_1\, r}{P} $$
#
# of the peak $P$ for the same number format. This is [*model FLOPs
# utilization*](../docs/glossary.md) ([Chowdhery et al.
# 2022](https://arxiv.org/abs/2204.02311)).

# %%
def operations_per_image(network):
    """Operations of the convolutions, forward and backward."""
    total = 0
    for layer in network.layers:
        if isinstance(layer, layers.Conv2D):
            shapes = [(1, *shape[1:]) for shape in (layer.input.shape, layer.output.shape)]
            both = layer_costs("conv", *shapes, tuple(layer.kernel.shape), 4)
            total += sum(operations for operations, _ in both.values())
    return total

of_image = operations_per_image(original)
for name, bits in (("original", "float32"), ("fewer steps", policy)):
    share = of_image * speeds[name] / peaks.get(bits, peak)
    print(f"MFU, {name}: {100 * share:.2f}% of a matrix product's speed")

# %% [markdown]
# In the stored run, the share more than doubles, but the two lines do not compare well: the
# second divides by the peak of bfloat16, which is only about half that of float32 there.

# %% [markdown]
# To read on: [Micikevicius et al., "Mixed Precision Training"
# (2018)](https://arxiv.org/abs/1710.03740) shows where float16 needs scaling.
