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
# One device, one network, one target. How fast can you get there? Many people will tell
# you a trick. Which of them helps *here*, and how much?
#
# You measure what the machine could do, then find where a step spends its time.
# Then you climb a ladder: predict what a change will buy, make it, and measure it in turn
# with the step below. At the end stands a *waterfall*: from the original's seconds to
# yours, one bar for each change.
#
# Stuck? `hint("8.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = None  # at the most, of the original recipe; None: what the scale says
fast_epochs: int = None  # of the fast recipe; None here and in the next eight: as above
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
peak_learning_rate: float = 0.1  # of the fast one
dropout: float = 0.01
shift: float = 0.2  # of the height and width, for augmentation
flip: bool = True

# %% [markdown]
# ## Set up
#
# On a laptop the network is shallow, and pools the image after its first convolution. On
# a GPU it is WRN-16-10, as in lab 02.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("08_faster", globals())

# %%
# For your answers: bind them to what you like. Our own cells use other names.
import math

import keras
import numpy as np
import tensorflow as tf

card = lab.card

# %%
from itertools import pairwise
from math import ceil, inf
from statistics import mean, median
from time import perf_counter, sleep

import numpy
import tensorflow
from keras import layers, losses, optimizers, utils

from callbacks import EpochRecorder, TrainingProgress
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_08 import figures
from helpers.lab_08.original import ImageByImage

# %%
from helpers.lab_08.profile import profile_networks
from helpers.network.models import conv_bn_relu, original_conv_bn_relu, wide_resnet
from helpers.network.pipelines import batches, with_preprocessing
from helpers.network.precision import candidates, choose, dtype_policy, training_speeds
from helpers.network.recipes import fast_network
from helpers.run_card.predictions import factor_off

use_figures()
x_train, y_train, x_valid, y_valid = session.load_images()

# %% [markdown]
# ## The original
#
# This is where the ladder stands: the training of the lab that this course follows. A
# generator in Python shifts and flips one image after the other. Batch normalisation is
# Keras' own layer. All numbers have 32 bits.

# %%
crossentropy = "categorical_crossentropy"
no_xla = {"metrics": ["accuracy"], "jit_compile": False}  # a compiler: part 6 tries it

def original_network(unit=original_conv_bn_relu, dropout=lab.dropout):
    shape = {"stem_pool": lab.stem_pool, "dropout": dropout}
    return wide_resnet(lab.depth, lab.width, unit=unit, **shape)

def with_pipeline(network):
    """Augmentation and scaling in front of a network, on the device."""
    return with_preprocessing(network, x_train, lab.shift, lab.flip, lab.seed)

original = original_network()
original.compile(optimizers.SGD(lab.learning_rate), crossentropy, **no_xla)
print(f"{original.name}: {original.count_params():,} parameters")

# %% [markdown]
# ## 1. What can this machine do?
#
# A data sheet tells what a chip could do on its best day. We measure. Two numbers matter:
# how many operations a second the processor does when it has its data, and how many bytes
# a second the memory delivers.
#
# **Predict** both, in billions. And how many operations must a layer do with each byte,
# so that the memory is not the limit?

# %%
my_peak_guess = None  # change this: billions of float32 operations a second
my_memory_guess = None  # change this: billions of bytes a second
card.predict("billion_operations_per_second", my_peak_guess)
card.predict("billion_bytes_per_second", my_memory_guess)

# %%
def seconds_of(call, at_least_seconds=0.3):
    """Seconds of a call that waits for its result: the median without the first two."""
    took = []
    while len(took) < 5 or sum(took) < at_least_seconds:
        began = perf_counter()
        call()
        took.append(perf_counter() - began)
    return median(took[2:])

def product_speed(dtype):
    """Operations per second of a large matrix product, as in lab 02."""
    both = tensorflow.random.normal((2, lab.product, lab.product))
    left, right = tensorflow.cast(both, dtype)
    return 2 * lab.product**3 / seconds_of(lambda: (left @ right)[0, 0].numpy())

# %%
def add_speed():
    """Bytes per second of a large sum in place: it reads two arrays and writes one."""
    values = tensorflow.Variable(tensorflow.zeros(lab.add_mib * 2**18))  # 4 bytes each
    more = tensorflow.ones_like(values)
    def add():
        values.assign_add(more)
        return values[0].numpy()
    return 3 * lab.add_mib * 2**20 / seconds_of(add)

types = {"float32": "float32", "mixed_bfloat16": "bfloat16", "mixed_float16": "float16"}

# %%
card.lock("billion_operations_per_second", "billion_bytes_per_second")
peaks = {policy: product_speed(types[policy]) for policy in candidates()}
peak, bytes_per_second = peaks["float32"], add_speed()
for name, rate in peaks.items():
    print(f"Product in {types[name]}: {rate / 1e9:.1f} billion operations a second")
print(f"Memory: {bytes_per_second / 1e9:.1f} billion bytes a second")
print(f"The ridge: {peak / bytes_per_second:.1f} operations for each byte")
card.measure("product_operations_per_second", peaks)
card.measure("memory_bytes_per_second", bytes_per_second)
card.outcome("billion_operations_per_second", peak / 1e9)
card.outcome("billion_bytes_per_second", bytes_per_second / 1e9)

# %% [markdown]
# Below the *ridge* a layer does too little with each byte: it waits for memory, and a
# faster processor would not help it. Above it the processor is the limit. This picture is
# the *roofline* (Williams, Waterman and Patterson 2009). To draw it we need to know what
# each layer does.

# %% [markdown]
# ## Exercise 8.1: count operations and bytes
#
# Write `layer_costs(kind, inputs, outputs, kernel, value_bytes)`. Shapes are `(batch,
# height, width, channels)`, that of a kernel `(height, width, channels in, channels out)`;
# it is `None` where there is no kernel. Bytes are values times `value_bytes`. It returns
# for each direction a pair, operations first:
#
#     layer_costs("relu", (1, 2, 2, 1), (1, 2, 2, 1), None, 4)
#     {"forward": (4, 32), "backward": (4, 48)}

# %% [markdown]
# `"conv"`: a value of the output takes two operations for each weight of one filter.
# Forward it reads input and kernel and writes the output. Backward does that work twice,
# for two gradients. No bias.
#
# `"norm"`: 5 operations a value forward, 10 backward. Forward reads the input once for
# mean and variance, and once more to write the output. Backward reads input and incoming
# gradient once for two sums, and once more to write a gradient.
#
# `"relu"`: one operation a value in each direction. Backward reads its *output* and the
# incoming gradient and writes a gradient. About fourteen lines.

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
# Now the network's layers: of each stage the last convolution, batch normalisation and
# ReLU. **Predict**: of these nine, how many are bound by memory on your machine, by the
# roofline?

# %%
my_bound_guess = None  # change this: a number from 0 to 9
card.predict("layers_bound_by_memory", my_bound_guess)

# %%
of_kind = {layers.Conv2D: "conv", layers.BatchNormalization: "norm", layers.ReLU: "relu"}

def layers_of_stages(network):
    """The last layer of each kind and stage: {("conv", 1): layer, ...}."""
    channels = {16 * lab.width: 1, 32 * lab.width: 2, 64 * lab.width: 3}
    found = {}
    for layer in network.layers:
        kinds = [kind for of, kind in of_kind.items() if isinstance(layer, of)]
        stage = channels.get(layer.output.shape[-1]) if kinds else None
        if stage and getattr(layer, "kernel_size", (3,))[0] == 3:
            found[kinds[0], stage] = layer
    return found

# %%
def costs_of(kind, layer, value_bytes=4):
    """Operations and bytes of a layer at the roofline's batch size, by direction."""
    both = layer.input.shape, layer.output.shape
    shapes = [(lab.roof_batch, *shape[1:]) for shape in both]
    kernel = tuple(layer.kernel.shape) if kind == "conv" else None
    return layer_costs(kind, *shapes, kernel, value_bytes)

def layer_seconds(layer):
    """Seconds of a layer, forward and backward, on random values."""
    x = tensorflow.random.normal((lab.roof_batch, *layer.input.shape[1:]))
    @tensorflow.function(jit_compile=False)
    def both_ways():
        with tensorflow.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        return y, tape.gradient(y, [x, *layer.trainable_variables], output_gradients=y)
    return seconds_of(lambda: both_ways()[1][0][0, 0, 0, 0].numpy(), 0.15)

# %%
card.lock("layers_bound_by_memory")
points = []
for (kind, stage), layer in sorted(layers_of_stages(original).items()):
    costs, seconds = costs_of(kind, layer).values(), layer_seconds(layer)
    operations, moved = (sum(of) for of in zip(*costs, strict=True))
    limit = max(operations / peak, moved / bytes_per_second)
    points.append({"kind": kind, "stage": stage, "intensity": operations / moved})
    points[-1] |= {"operations_per_second": operations / seconds, "seconds": seconds}
    points[-1] |= {"by_roofline": limit}
    name = f"{figures.NAMES[kind]}, stage {stage}"
    print(f"{name}: {operations / moved:.2f} operations a byte")
card.measure("layers", points)
bound_by_memory = sum(p["intensity"] < peak / bytes_per_second for p in points)
card.outcome("layers_bound_by_memory", bound_by_memory)

# %%
figure = figures.roofline(points, peak, bytes_per_second)
summary = f"Bound by memory, by the roofline: {bound_by_memory} of {len(points)} layers."
show_figure(figure, summary, session.caption())
names = [f"{figures.NAMES[p['kind']]} {p['stage']}" for p in points]
limits, measured = ([1000 * p[of] for p in points] for of in ("by_roofline", "seconds"))
slower = median([m / limit for m, limit in zip(measured, limits, strict=True)])
figure = figures.predicted_and_measured(names, limits, measured)
summary = f"Half of the layers take at least {slower:.1f} times what the roofline says."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The roof is a limit, so points lie under it. Where one lies above, its values were in a
# cache, which is faster than the memory that we measured. How far below does Keras' batch
# normalisation lie? It reads and writes its values more than the eight times that
# we counted: each of its operations is a pass of its own.

# %% [markdown]
# ## 2. Where does a step spend its time?
#
# TensorFlow can write down when each operation began and ended: a *profile*. The package
# `xprof` reads it. Keras calls its layers by name, so the operations can be added up by
# layer. Where there is no profiler you see a profile of another machine, and a line says
# so.
#
# **Predict** the share of batch normalisation in all that a step of the original does.

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
print(f"{'operation':32} {'ms a step':>10} {'share':>8}")
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
# Operations run side by side, so together they may take more than the step. What is missing
# in a profile is what no operation does: Python, and waiting.
#
# Keras 3 computes batch normalisation as one operation after another: a mean, a
# difference, a square, and so on. TensorFlow has had one *kernel* for all of it since
# version 1. This layer of ours has the same weights and calls that kernel:

# %%
figure = figures.profile_bars({"Keras' own": by_layer, "fused": fused_by_layer})
left_of_norm = fused_by_layer[norm] / by_layer[norm]
summary = f"Of the time of batch normalisation the fused layer leaves {left_of_norm:.2f}."
show_figure(figure, summary, (recorded or session.caption()).splitlines()[0])

# %% [markdown]
# ## Exercise 8.2: which change first?
#
# Amdahl (1967): what you make faster counts only with its share of the whole. Write
# `best_change(seconds, changes)`. `seconds` are those of each operation of a step.
# `changes` holds one change or more, and says for each what is *left* of some operations'
# time: 0.5 is half, 0.0 nothing, above 1 it is slower. Operations that it does not name
# stay as they are; one that is not in the profile costs nothing.

# %% [markdown]
# Return the change after which the whole step is shortest, and how many times as fast
# the step is then; `(None, 1.0)` where no change helps. Leave both arguments as they are.
# About seven lines.
#
#     best_change({"a": 3.0, "b": 1.0}, {"x": {"a": 0.5}, "y": {"b": 0.0}})
#     ("x", 1.6)

# %% name="8.2-best-change" points=2
# TODO 8.2: the change after which a step is shortest, and how many times as fast it is.
#: start
def best_change(seconds, changes):
    """The name of the change that buys most, and by what it speeds a step up."""
    best = min(changes, key=lambda name: min(changes[name].values()))
    return best, 1 / (1e-9 + min(changes[best].values()))
#: solution
def best_change(seconds, changes):
    """The name of the change that buys most, and by what it speeds a step up."""
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
print(f"First: {first_change}, by the profile {its_speedup:.2f} times as fast")

# %% [markdown]
# This is what a profile can say. What a change really buys, a measurement says.

# %% [markdown]
# ## 3. The ladder
#
# Now we climb. Each rung is one change. It is measured in turn with the rung below, several
# times, and we take the median of the ratios: if the machine is slow for a minute, it is
# slow for both. **Predict** them all, in times as fast as the rung below; below 1 is
# slower.

# %%
my_gains = {  # change these
    "whole batches": None, "fused batch norm": None, "no dropout": None,
    "fewer bits": None, "fewer steps": None, "steps together": None, "compiler": None,
}
my_factor = None  # change this; 1.5: "the truth lies within a factor of 1.5 of my guess"
guesses = card.predict("gains", my_gains) or {}
claimed = card.predict("factor_that_holds_for_half", my_factor)

# %% [markdown]
# *Whole batches*: the pipeline of lab 02, which shifts and flips on the device.
# *Fused batch norm*, *no dropout*: see above. *Fewer bits*: part 5. *Fewer steps*: another
# schedule gets to the target in fewer epochs, part 6. *Steps together* and *compiler*: two
# options of Keras, part 7.

# %%
def speed(model, data):
    """Images per second of training."""
    recorder = EpochRecorder()
    model.fit(data, callbacks=[recorder], verbose=0)
    return lab.images_per_point / recorder.epochs["train_seconds"][0]

def gain_of(above, below):
    """How many times as fast `above` is, in turn with `below`; each (model, data)."""
    speed(*above), speed(*below)  # start-up
    pairs = [(speed(*above), speed(*below)) for _ in range(lab.rounds)]
    speeds = [median(of) for of in zip(*pairs, strict=True)]
    return median([one / other for one, other in pairs]), *speeds

# %%
card.lock("gains", "factor_that_holds_for_half")
few = x_train[: lab.images_per_point], y_train[: lab.images_per_point]
fast_data = batches(*few, lab.batch_size, lab.seed)
slow_data = ImageByImage(*few, lab.batch_size, lab.shift, lab.flip, lab.seed)

def rung(*network, policy="float32", **options):
    """A network with its preprocessing, compiled."""
    with dtype_policy(policy):
        model = with_pipeline(original_network(*network))
        sgd = optimizers.SGD(lab.learning_rate)
        model.compile(sgd, crossentropy, **(no_xla | options))
    return model

# %%
ladder = {
    "original": (original, slow_data),
    "whole batches": (rung(), fast_data),
    "fused batch norm": (rung(conv_bn_relu), fast_data),
    "no dropout": (rung(conv_bn_relu, 0.0), fast_data),
}
gains, speeds = {}, {}
for below, above in pairwise(ladder):
    gains[above], speeds[above], below_speed = gain_of(ladder[above], ladder[below])
    speeds.setdefault(below, below_speed)
    print(f"{above}: {gains[above]:.2f} times as fast, {speeds[above]:.1f} images/s")
print(f"Images/sec of the original: {speeds['original']:.2f}")
card.measure("images_per_second", speeds["no dropout"])

# %% [markdown]
# Was the profile right about batch normalisation? It does not see what Python and the
# pipeline take, and it adds up what ran side by side.

# %% [markdown]
# ## 4. Feed it
#
# A fast step needs its next batch at once. Our images are in memory; from a disk or a
# network they come later. If a step takes `s` seconds and a batch takes `f` to fetch, one
# after the other is `s + f`. Fetched while the step before runs, it is the larger of both.

# %% [markdown]
# ## Exercise 8.3: fetch while a step runs
#
# `fetch(numbers)` takes an array of image numbers and returns these images, as float32.
# Each call takes its time, however few it asks for; any thread may call it, several at once
# too. Write `feed(fetch, images, batch_size)`: something to loop over that gives all images
# from 0 on, in order, in batches: float32 arrays or tensors. The last has what is left. One
# `fetch` a batch. While a step runs on a batch, the next one is fetched, but no more than
# eight before the first step ends.

# %% [markdown]
# A data set does this: `tf.data.Dataset.range`, `batch`, `map` with
# `tf.numpy_function(fetch, [numbers], tf.float32)`, and a method that works ahead. Three
# lines. Threads and queues of Python are welcome too.

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
# Now a source that takes as long as a step. **Predict**: with your `feed`, how long is a
# step, in times of a step that need not wait? One after the other would be 2.

# %%
my_fed_guess = None  # change this; 2.0: twice as long as the step alone
card.predict("fed_step_over_step", my_fed_guess)

# %%
step_model = ladder["no dropout"][0]
labels_of = numpy.eye(10, dtype="float32")[few[1]]

def step_seconds(come):
    """Seconds from one step to the next, trained on batches as they come."""
    began = []
    for i, images in enumerate(come):
        began.append(perf_counter())
        labels = labels_of[i * lab.batch_size :][: len(images)]
        step_model.train_on_batch(numpy.asarray(images), labels)
    return median(end - start for start, end in pairwise(began))

def in_turn(fetch, images, batch_size):
    for first in range(0, images, batch_size):
        yield fetch(numpy.arange(first, min(first + batch_size, images)))

# %%
card.lock("fed_step_over_step")
def images_read(numbers):
    return few[0][numbers].astype("float32")
step_model.train_on_batch(images_read(range(lab.batch_size)), labels_of[: lab.batch_size])
alone = step_seconds(in_turn(images_read, lab.images_per_point, lab.batch_size))
def slow_fetch(numbers):
    sleep(alone)  # a disk, or a network
    return images_read(numbers)
one_by_one = step_seconds(in_turn(slow_fetch, lab.images_per_point, lab.batch_size))
overlapped = step_seconds(feed(slow_fetch, lab.images_per_point, lab.batch_size))
card.measure("fed_step_seconds", {"alone": alone, "sum": one_by_one, "fed": overlapped})

# %%
shown = {"the step alone, measured": alone, "in turn, worked out": 2 * alone}
shown |= {"in turn, measured": one_by_one, "your feed, measured": overlapped}
summary = f"A step alone takes {1000 * alone:.2f} ms, with a source as slow "
summary += f"{1000 * one_by_one:.2f} ms in turn and {1000 * overlapped:.2f} ms fed."
show_figure(figures.overlap(shown), summary, session.caption())
card.outcome("fed_step_over_step", overlapped / alone)

# %% [markdown]
# A source that sleeps takes nothing from the processor. One that computes does: then step
# and source share the cores, and there is less to win (not measured here). TensorFlow adds
# a `prefetch` by itself where autotuning is on; in a loop of Python nobody does.
#
# If fetching takes longer than the step, overlap leaves the longer of the two. Then only
# less work helps: larger reads, several at once, or data that fit into memory.

# %% [markdown]
# ## 5. Fewer bits
#
# Half the bits are half the bytes, and on many machines there are units that multiply them
# faster. float16 and bfloat16 both have 16 bits. float16 has more digits and few exponents:
# below 6e-8 it has only 0, above 65504 only infinity. bfloat16 has the exponents of
# float32, and two to three digits.
#
# Which gradients of our network would be lost?

# %%
def gradients_of(network):
    """The gradients of one batch, in float32, as one array each."""
    with tensorflow.GradientTape() as tape:
        predicted = network(float_images, training=True)
        loss = tensorflow.reduce_mean(losses.categorical_crossentropy(one_hot, predicted))
    return [g.numpy() for g in tape.gradient(loss, network.trainable_variables)]

def lost(gradients, dtype, scale=1.0):
    """The share of gradients, other than 0, that become 0 or infinite."""
    values = numpy.concatenate([g.ravel() for g in gradients])
    values = values[values != 0] * scale
    small = tensorflow.cast(tensorflow.cast(values, dtype), "float32").numpy()
    return numpy.mean((small == 0) | ~numpy.isfinite(small))

# %%
real_gradients = gradients_of(original)
for dtype, times in (("float16", 1.0), ("float16", 2.0**10), ("float16", 2.0**24)):
    share = lost(real_gradients, dtype, times)
    print(f"{dtype}, loss times {times:.1f}: {100 * share:.3f}% of the gradients are lost")
share = lost(real_gradients, "bfloat16")
print(f"bfloat16, loss times {1.0:.1f}: {100 * share:.3f}% of the gradients are lost")

# %% [markdown]
# A loss times 1024 has gradients times 1024, which float16 can hold; the update divides
# them again. Too large a factor makes infinities. Which factor is right changes as the
# network learns, so it is searched for all the time (Micikevicius et al. 2018).

# %% [markdown]
# ## Exercise 8.4: dynamic loss scaling
#
# Write `scaled_step(weights, gradients_at, learning_rate, state, growth_steps)`.
# `gradients_at(weights, scale)` returns the gradients of `scale` times the loss: a list
# of float16 arrays. Ask for them once, at `state["scale"]`. Convert to float32, then divide
# by the scale. `weights` is a list of float32 arrays, and stays one: a good step gives
# weights minus `learning_rate` times gradients. Return the new weights and the new state.
# Do not change what you were given.

# %% [markdown]
# `state` is `{"scale": 1024.0, "good_steps": 3}`. A good step adds one to `good_steps`;
# when they get to `growth_steps` the scale doubles and they start again from 0. If any
# value of any gradient is not finite (infinity or nan), the weights stay as they are, the
# scale halves, and `good_steps` is 0. About eleven lines.

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
# Watch it search. It starts far too high, on the gradients that you just saw.

# %%
def halved(weights, scale):
    with numpy.errstate(over="ignore"):
        return [(g * scale).astype("float16") for g in real_gradients]

values, scales = [0 * g for g in real_gradients], []
state = {"scale": 2.0**24, "good_steps": 0}
for _ in range(60):
    values, state = scaled_step(values, halved, lab.learning_rate, state, 5)
    scales.append(state["scale"])
summary = f"From {2.0**24:.1f} the scale went to {min(scales):.1f} at the lowest."
show_figure(figures.loss_scale(scales), summary, session.caption())
card.measure("lowest_loss_scale", min(scales))

# %% [markdown]
# bfloat16 needs none of this: it reaches as far as float32. But it has few digits, and
# some numbers cannot do with few. *Mixed* precision computes in 16 bits and keeps the
# weights in 32. **Ask yourself** what happens to a weight of 1 if you add 0.001 to it, a
# thousand times.

# %%
for dtype in ("float32", "bfloat16"):
    weight = tensorflow.ones((), dtype)
    for _ in range(1000):
        weight += tensorflow.cast(0.001, dtype)
    print(f"1 and a thousand times 0.001, in {dtype}: {float(weight):.4f}")
weights = [v.numpy() for v in original.trainable_variables]
pairs = zip(weights, real_gradients, strict=True)
steps = numpy.concatenate([lab.learning_rate * g.ravel() for _, g in pairs])
old = numpy.concatenate([w.ravel() for w in weights])
for dtype in ("float32", "bfloat16"):
    before, after = (tensorflow.cast(v, dtype) for v in (old, old - steps))
    stuck = numpy.mean((before == after).numpy()[steps != 0])
    print(f"One step, in {dtype}: {100 * stuck:.1f}% of the weights stay as they are")

# %% [markdown]
# In bfloat16 the next number after 1 is 1.0078, so 1.001 is 1 again. Weights, the
# optimizer's memory, the moving averages of batch normalisation, and the softmax with its
# loss stay in float32. Keras' policy `mixed_bfloat16` does that.
#
# Is it faster *here*? Some processors have units for bfloat16, others only pretend.

# %%
def lean_rung():
    return rung(conv_bn_relu, 0.0)

first = few[0][: lab.batch_size], labels_of[: lab.batch_size]
tried = training_speeds(lean_rung, *first)
policy = choose(lab.precision, tried)
for name in tried:
    print(f"{types[name]}: {tried[name]:.1f} images/s")
low = candidates()[1]
below, above = ladder["no dropout"], (rung(conv_bn_relu, 0.0, policy=low), fast_data)
gains["fewer bits"], speeds["fewer bits"], _ = gain_of(above, below)
print(f"fewer bits: {gains['fewer bits']:.2f} times as fast in {types[low]}")
card.measure("gain_of_fewer_bits", gains["fewer bits"])

# %% [markdown]
# A change that loses is not kept: the next rung stands on `policy`, the faster of the
# two, or on what you set as `precision`.

# %% [markdown]
# ## 6. Fewer steps
#
# The fastest step is the one you need not take. So far we changed how fast a step is. What
# it is *worth* is decided by the recipe. The original one: a small constant rate, no
# momentum, images shifted and flipped. The fast one: momentum, labels smoothed by 0.1
# (Szegedy et al. 2016), no augmentation, for which a few epochs are too short, and a rate
# that rises and falls once (Smith and Topin 2019).

# %% [markdown]
# ## Exercise 8.5: one cycle
#
# Write `OneCycle(peak, steps, warm_up=0.25, last=0.02)`, a Keras schedule. From 0 at step 0
# it rises in a straight line to `peak`, which it reaches at `warm_up * steps`. Then it
# falls in a straight line to `last * peak` at step `steps`, and stays there. `get_config`
# gives what it was made with. `OneCycle(0.4, 80)` gives 0 at step 0, 0.2 at 10, 0.4 at
# 20, and 0.008 from 80 on. In training `step` is a tensor of whole numbers, in a figure a
# plain number. What `get_config` gives is stored as text. About four lines.

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
# The rate was found for batches of 32; the square root is a rule, see lab 03.
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
# The race of lab 03 again: same kind of target, the test images to look at. The original
# recipe ends at its first look with the target. One cycle is good only at its end, so
# it always runs all its epochs. Both on the fast software: how many epochs a recipe takes
# does not depend on how fast they are. **Predict** the epochs of the original recipe.

# %%
my_epochs_guess = None  # change this: the epochs of the original recipe to the target
card.predict("original_epochs", my_epochs_guess)

# %%
def train(model, epochs, seed, stop_at=None):
    """Train; the accuracy after each epoch, and the training seconds of all."""
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
arrived = {
    name: sum(curve[-1] >= lab.target_accuracy for curve in curves) / len(curves)
    for name, curves in runs.items()
}
original_epochs = mean(len(curve) for curve in runs["original recipe"])
card.measure("val_accuracy", mean(curve[-1] for curve in runs["fast recipe"]))
card.outcome("original_epochs", original_epochs)
figure = figures.race(runs, lab.target_accuracy)
summary = f"The original recipe took {original_epochs:.1f} epochs, "
summary += f"the fast one {lab.fast_epochs:.1f}."
show_figure(figure, summary, session.caption())
for name, share in arrived.items():
    print(f"{name}: {100 * share:.1f}% of the runs arrived")

# %% [markdown]
# A recipe that did not arrive has no time to the target: then its bar below would say too
# little (the original) or nothing at all (the fast one). Give it more epochs.
#
# The fast recipe's step is another one too: no augmentation, no bias. So *fewer steps* is
# both: fewer epochs, and what its step costs next to the rung below.

# %%
below = (rung(conv_bn_relu, 0.0, policy=policy), fast_data)
step_gain, speeds["fewer steps"], _ = gain_of((fast_recipe(policy, 0), fast_data), below)
gains["fewer steps"] = step_gain * original_epochs / lab.fast_epochs
print(f"A step of the fast recipe: {step_gain:.2f} times as fast")
print(f"fewer steps: {gains['fewer steps']:.2f} times as fast to the target")

# %% [markdown]
# ## 7. Steps together, and a compiler
#
# `steps_per_execution=8` lets TensorFlow run eight steps before Python is asked again.
# `jit_compile=True` gives the step to XLA, a compiler that fuses operations. For Keras'
# default, `"auto"`, XLA is on where one GPU trains alone, and off on a CPU. It compiles
# first, and that takes its time.

# %%
best, options = (fast_recipe(policy, 0), fast_data), {}
together = fast_recipe(policy, 0, steps_per_execution=8), fast_data
gains["steps together"], *_ = gain_of(together, best)
if gains["steps together"] > 1:
    best, options = together, {"steps_per_execution": 8}
compiled = fast_recipe(policy, 0, jit_compile=True, **options)
began = perf_counter()
compiled.train_on_batch(*first)
compile_seconds = perf_counter() - began
gains["compiler"], *_ = gain_of((compiled, fast_data), best)
for name in ("steps together", "compiler"):
    print(f"{name}: {gains[name]:.2f} times as fast")
print(f"The first step with the compiler took {compile_seconds:.1f} s")
card.measure("gains", gains)
card.measure("compile_seconds", compile_seconds)

# %% [markdown]
# ## The waterfall
#
# From the original's seconds to yours. The original's are worked out: its epochs, times the
# seconds of one. Each change then divides them. Red is slower. Fewer bits and part 7 were
# tried apart: what lost there is hatched, has its true length, and is not kept. The
# compiler's bar has no time for compiling in it.
#
# For fewer bits the trial of one second decided. Is its bar red and not hatched? Then the
# two measurements disagree, and neither precision is clearly faster here.

# %%
level = original_epochs * lab.train_images / speeds["original"]
bars = [{"name": "original", "before": 0, "after": level, "kept": True}]
for name in my_gains:
    after = level / gains[name]
    tried_apart = {"fewer bits": policy != "float32"}
    tried_apart |= dict.fromkeys(["steps together", "compiler"], after < level)
    kept = tried_apart.get(name, True)  # the other rungs stand on each other
    bars.append({"name": name, "before": level, "after": after, "kept": kept})
    level = after if kept else level
bars.append({"name": "fast recipe", "before": 0, "after": level, "kept": True})
whole = bars[0]["after"]
summary = f"From {whole:.1f} s to {level:.1f} s: {whole / level:.1f} times as fast."
show_figure(figures.waterfall(bars), summary, session.caption())
card.measure("seconds_to_target", {"original": whole, "fast": level})
print(f"The fast recipe as a whole, with its start-up: {median(fast_seconds):.1f} s")

# %% [markdown]
# Which bar is the longest? Which one did people tell you about? And where is the bar that
# you thought of most? On another machine the bars differ: XLA and fewer bits need hardware
# that suits them. This lab was not run on a GPU yet.

# %%
found = {name: factor_off(guesses[name], gains[name]) or inf for name in guesses}
card.outcome("gains", gains)
card.outcome("factor_that_holds_for_half", median(found.values()) if found else None)
scored = "no guesses with a factor, so nothing to score"
if found and claimed:
    within = sum(factor <= claimed for factor in found.values())
    scored = f"{within} of {len(found)} guesses within your factor of {claimed:.2f}"
print(f"Calibration: {scored}")

# %% [markdown]
# If all of your guesses were within your factor, you claimed too little; if few were, too
# much. Who is well *calibrated* is right about how often they are right.

# %% [markdown]
# ## How much of the machine is that?
#
# Back to part 1: the operations of all convolutions, times the images a second, over the
# peak that we measured for these bits. This is the *model FLOPs utilization*, MFU
# (Chowdhery et al. 2022), with a measured peak in place of a data sheet's.

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
    utilization = of_image * speeds[name] / peaks.get(bits, peak)
    card.measure(f"mfu_{name.replace(' ', '_')}", utilization)
    print(f"MFU, {name}: {100 * utilization:.2f}% of a matrix product's speed")

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("08")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the waterfall. Which change gained most on your machine, and which gained nothing?
# What does each of these two change in a step?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="8.figure" points=2
# **8.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# A machine has two speeds, and the roofline says which of them limits a layer. A profile
# says where a step spends its time, Amdahl what a change can buy at most, and only a
# measurement in turn what it did buy. The largest gains may lie in the steps you do not
# take.
#
# Two questions to take along. Your network becomes ten times as wide: which bars of your
# waterfall grow? And: which of these changes could you have tested in a minute?
#
# To read on: Williams, Waterman and Patterson, "Roofline" (2009); Amdahl, "Validity of the
# Single Processor Approach" (1967); Micikevicius et al., "Mixed Precision Training" (2018);
# Smith and Topin, "Super-Convergence" (2019); Szegedy et al., "Rethinking the Inception
# Architecture" (2016); Chowdhery et al., "PaLM" (2022).
