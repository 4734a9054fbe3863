# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 07: How does the same idea look on eight cores of a TPU?
#
# Eight cores train one network. Each has all the weights and images of its own; after
# every step they agree on the next weights, as in labs 05 and 06. You give each core its
# images, choose a learning rate for all, and put many steps into one call.
#
# Without a TPU, eight *simulated* cores take its place. The kit was never run on one: what the
# text says of TPUs is from documents.
#
# Stuck? `hint("7.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu on a TPU, else laptop
seed: int = 0
epochs: int = None  # None here and below: what the scale says
batch_size: int = None  # images per core and step
replicas: int = 8  # cores; a simulation takes any number, a TPU all that it has
train_images: int = None
valid_images: int = None
learning_rate: float = 0.01  # of one core; exercise 7.2 scales it
momentum: float = 0.5
pixel_mean: float = 0.1307  # as in the design that this lab follows
pixel_deviation: float = 0.3081
steps_per_call: int = None  # steps in one call from Python; then a line from each core
target_accuracy: float = 0.89

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("07_tpu_cores", globals(), devices="simulated")

# %%
# keras, np and tf are for your answers: bind them to what you like. Our own cells use
# other names.
from contextlib import redirect_stdout
from time import perf_counter, process_time

import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf
from keras import Input, Sequential, layers, utils
from keras.losses import SparseCategoricalCrossentropy

card = lab.card

# %%
from callbacks import TrainingDashboard, follow
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.data.fashion_mnist import FASHION_MNIST_CLASSES
from helpers.errors import ParameterError
from helpers.figures import show_figure, use_figures
from helpers.lab_07 import figures, models
from helpers.machine.devices import new_strategy, replica_counts
from helpers.machine.watchdog import no_hang

use_figures()

# %% [markdown]
# ## What is a TPU core?
#
# A TPU is a chip that Google built for one job: multiplying matrices. A *core* of it has
# memory of its own, and units of 128x128 multipliers that all work at once. A chip of
# generation 2 or 3 has two cores, and a board four chips: hence eight (Jouppi et al.
# 2020). Later ones differ: a v6e chip has one core, with units of 256x256 (Google's Cloud
# TPU documentation, page "TPU v6e").

# %% [markdown]
# Many boards, joined by a network of their own, are a *pod*. A *pod slice* is the part
# that you rent: 8 cores, 32, 128. The cores cannot read files. An ordinary computer
# beside them, the *host*, feeds them; a large slice has many hosts.

# %% [markdown]
# ## How does one get a TPU, and see that it is there?
#
# Google rents them: `gcloud compute tpus tpu-vm create` makes a host with a TPU. Its
# software image has to have a TensorFlow that was built for TPUs, such as
# `tpu-vm-tf-2.16.0-pjrt` (Cloud TPU documentation, page "TPU software versions"). Colab
# lends TPUs to notebooks. Since 2025 these are single v5e chips, with one core
# (googlecolab/colabtools, issue 5566): too few for this lab's question.

# %% [markdown]
# Then `TPUClusterResolver` finds it, `initialize_tpu_system` starts it, and TensorFlow
# lists its cores as logical devices. This kit does so if the environment variable
# `TPU_NAME` is set, or a TPU is among the physical devices. What do you expect to see on
# your computer?

# %%
for kind in ("TPU", "GPU", "CPU"):
    devices = tensorflow.config.list_logical_devices(kind)
    print(f"Logical devices of kind {kind}: {len(devices)}")

# %%
strategy = new_strategy()
cores = strategy.num_replicas_in_sync
simulated = lab.device["kind"] != "tpu"
kind = "simulated cores, threads on this computer's processor" if simulated else "TPU cores"
global_batch = cores * lab.batch_size
print(f"{cores} {kind}")
print(f"Global batch: {global_batch:,} images = {cores} x {lab.batch_size}")
if global_batch > lab.train_images:
    raise ParameterError(
        f"{cores} cores times batch_size {lab.batch_size} are more than the "
        f"{lab.train_images:,} train_images: change one of them."
    )

# %% [markdown]
# A `TPUStrategy` does on TPU cores what you know from `MirroredStrategy` on GPUs. On a
# computer without a TPU, `MirroredStrategy` runs over *logical* devices: TensorFlow
# treats the processor as if it were eight. The parts are then those of eight devices:
# the same images for each core, the same sum over eight gradients. But the cores share
# the processor, so whatever is said about speed needs real ones.

# %% [markdown]
# ## Are the digits those of a TPU?
#
# No. A TPU by default rounds both factors of a matrix product to *bfloat16*, and adds up
# in float32 (Cloud TPU documentation, page on bfloat16). bfloat16 has the range of
# float32, but 8 significant bits in place of 24. We can round in the same way.
# **Predict:** by how many percent is an element of such a product wrong, typically?

# %%
my_rounding_guess = None  # change this: percent
card.predict("rounding_error_percent", my_rounding_guess)

# %%
card.lock("rounding_error_percent")

def rounded(numbers):
    """As a factor of a matrix product on a TPU: through bfloat16."""
    return tensorflow.cast(tensorflow.cast(numbers, "bfloat16"), "float32")

drawn = numpy.random.default_rng(lab.seed).normal(size=(2, 128, 128)).astype("float32")
exact, coarse = drawn[0] @ drawn[1], rounded(drawn[0]) @ rounded(drawn[1])
error = 100 * float(abs(coarse - exact).numpy().mean() / abs(exact).mean())
whole = numpy.arange(1000, dtype="float32")
changed = numpy.flatnonzero(rounded(whole) != whole)
print(f"Typical error of an element of the product: {error:.2f}%")
print(f"The first whole number that bfloat16 changes: {changed[0]}")
card.outcome("rounding_error_percent", error)

# %% [markdown]
# So a training on a TPU gives other digits than one here, from the first step on. It may
# well end at the same accuracy. Nobody measured that for this lab.

# %% [markdown]
# ## The images
#
# Fashion-MNIST again. The design that we follow, the MNIST example of PyTorch/XLA,
# subtracts .1307 from every pixel (0 to 1) and divides by .3081. It does so that pixels
# have mean 0 and deviation 1. **Predict:** are those the mean and deviation of *our*
# images? Say what you expect.

# %%
my_pixels_guess = {"mean": None, "deviation": None}  # change these: pixels from 0 to 1
card.predict("pixels", my_pixels_guess)

# %%
card.lock("pixels")
x_train, y_train, x_test, y_test = session.load_images()
mean, deviation = x_train.mean() / 255, x_train.std() / 255
print(f"Pixels of our images: mean {mean:.4f}, deviation {deviation:.4f}")
card.outcome("pixels", {"mean": mean, "deviation": deviation})
scaled = (x_train / 255 - lab.pixel_mean) / lab.pixel_deviation
print(f"After the scaling:    mean {scaled.mean():.4f}, deviation {scaled.std():.4f}")
del scaled

# %% [markdown]
# They are those of another set: MNIST's handwritten digits, where most pixels are black.
# The two numbers were copied along with the code, as often happens. It does not stop
# training: the first convolution can learn a shift and a factor. We keep them, so that
# you can find out what they cost: `pixel_mean` and `pixel_deviation` are parameters of
# this lab.

# %% [markdown]
# ## The network
#
# Two convolutions and two dense layers. Read how one of the convolutions is built. What
# is left of a 28x28 image after a 5x5 convolution without padding, and after pooling?
# And after the second of both?

# %%
session.show_source(models.conv_pool_relu_bn)

def new_network():
    """The network with its scaling in front: it takes images of bytes."""
    spread = 255 * lab.pixel_deviation
    scaling = layers.Rescaling(1 / spread, -lab.pixel_mean / lab.pixel_deviation)
    inputs = Input(x_train.shape[1:], dtype="uint8")
    return Sequential([inputs, scaling, models.small_cnn()])

print(f"Weights of the network: {new_network().count_params():,}")

# %% [markdown]
# 24x24, 12x12; then 8x8 and 4x4. 10 and 20 channels are few for a core that multiplies
# 128x128 numbers at once. This network shows how to use a TPU, not what it can do.

# %% [markdown]
# ## Padding to the tile
#
# A TPU's vector registers hold 8x128 numbers, and XLA pads arrays until they fill such
# tiles. To waste little, says Google's rule, a core's images should be a multiple of 8
# and the features of 128, or the images of 128 and the features of 8 (Cloud TPU
# documentation, "Performance guide"). The features of a convolution are its channels.
# **Predict:** 100 images per core, 10 channels. By the better of the two rules, which
# percentage of the numbers is real?

# %%
my_real_numbers_guess = None  # change this: percent
card.predict("real_numbers_percent", my_real_numbers_guess)

# %%
card.lock("real_numbers_percent")

def real_percent(images, features):
    """How much of a padded array is real, by the better of Google's two rules."""
    padded = [
        numpy.ceil(images / rows) * rows * numpy.ceil(features / columns) * columns
        for rows, columns in ((8, 128), (128, 8))
    ]
    return 100 * images * features / min(padded)

for images in (16, 100, 128):
    found = [f"{n} features {real_percent(images, n):3.0f}%" for n in (10, 20, 50)]
    print(f"{images:3} images per core: {', '.join(found)}")
card.outcome("real_numbers_percent", real_percent(100, 10))

# %% [markdown]
# 128 images per core, the design's number, waste less than 100, and 16 channels would
# take as much room as 10. This is worked out from the rule, not measured. XLA does this
# padding by itself: results stay the same, memory and time are spent. Another padding is
# up to you: whole images that fill up a batch. They do change results, unless your code
# leaves them out.

# %% [markdown]
# ## Why every batch must have the same size
#
# A TPU runs programs that XLA, a compiler, made for it, and XLA needs to know every
# size: it plans each memory cell and each multiplication beforehand. A batch of another
# size is another program. Does `tf.function` behave alike, on any device? It *traces*
# your Python code, to make a graph of it. **Predict:** four batches, the last one
# shorter. How many traces?

# %%
my_traces_guess = None  # change this
card.predict("traces", my_traces_guess)

# %%
card.lock("traces")
traced = []

@tensorflow.function
def total(batch):
    traced.append(batch.shape)  # Python runs only while TensorFlow traces
    return tensorflow.reduce_sum(batch)

for size in (128, 128, 128, 100):
    total(tensorflow.zeros(size))
print(f"Four batches, traced {len(traced)} times")
card.outcome("traces", len(traced))

# %% [markdown]
# A new shape, a new trace. Then XLA compiles it. XLA has a compiler for your processor as
# well, so we can time that: our network's answers for four batches. Which of the four
# take long?

# %%
compiled = tensorflow.function(models.small_cnn(), jit_compile=True)
for size in (128, 128, 100, 100):
    began = perf_counter()
    float(compiled(tensorflow.zeros((size, 28, 28, 1)))[0, 0])  # reading it waits for it
    print(f"A batch of {size}: {1000 * (perf_counter() - began):.1f} ms")

# %% [markdown]
# The first of each size: it is traced and compiled. For a TPU, a user's log of 2019 has 6
# and 8 seconds for two sizes of batches, on eight cores (tensorflow/tensorflow, issue
# 29825). Would you have thought of this as well: a *Python number* among the arguments?

# %%
traced.clear()

@tensorflow.function
def count_up(count):
    traced.append(count)
    return tensorflow.reduce_sum(tensorflow.range(count))

for count in (10, 10, 9, 8):
    count_up(count)
of_numbers = len(traced)
for count in (10, 10, 9, 8):
    count_up(tensorflow.constant(count))
print(f"Traced for 10, 10, 9, 8 as Python numbers: {of_numbers} times")
print(f"Traced for the same as tensors: {len(traced) - of_numbers} times")

# %% [markdown]
# A Python number becomes a part of the program, so each one needs its own. A tensor is
# data: one program takes all its values. You will need this in exercise 7.3.

# %% [markdown]
# ## What happens to the remainder?
#
# So all batches should have one size, and the images that are left over at the end of an
# epoch are a problem. With several replicas it gets worse: if seven images are left for
# eight cores, one has none. And the mean over cores gives an image in a small batch more
# weight than one in a large batch. So in training the remainder is dropped: each core
# gets the same number of whole batches.

# %% [markdown]
# ## Exercise 7.1: a shard for every core
#
# Write `core_indices(core, replicas, images, batch_size, epoch, seed)`: which images
# does one core train on in one epoch? `images` is a number, `core` counts from 0. Return
# indices from 0 to `images - 1`, in an array of shape `(steps, batch_size)`.

# %% [markdown]
# - `steps` is the largest number of whole batches that every core can get; it may be 0,
#   and then the shape is `(0, batch_size)`.
# - No image is given twice in an epoch.
# - Each epoch shuffles all images again: any of them can be left out, and any two can
#   share a batch.
# - Another seed gives another order. The same call gives the same answer.

# %% [markdown]
# Each core (or its host) calls this for itself, and they do not talk to each other. Two
# cores and seven images with batches of one could give, in one epoch,
#
#     core_indices(0, 2, 7, 1, 0, 0)  ->  [[6], [0], [3]]
#     core_indices(1, 2, 7, 1, 0, 0)  ->  [[2], [5], [1]]
#
# and image 4 is left out. About four lines;
# `np.random.default_rng([seed, epoch]).permutation(images)` helps.

# %% name="7.1-core-indices" points=2
# TODO 7.1: the images of one core in one epoch, as indices (steps, batch_size).
#: start
def core_indices(core, replicas, images, batch_size, epoch, seed):
    """Which images one core trains on in an epoch: (steps, batch_size) indices."""
    steps = images // batch_size
    return np.arange(steps * batch_size).reshape(steps, batch_size)
#: solution
def core_indices(core, replicas, images, batch_size, epoch, seed):
    """Which images one core trains on in an epoch: (steps, batch_size) indices."""
    order = np.random.default_rng([seed, epoch]).permutation(images)
    steps = images // (replicas * batch_size)
    kept = order[: steps * replicas * batch_size]
    return kept.reshape(steps, replicas, batch_size)[:, core]
#: end

# %%
core_indices = check("7.1", core_indices)

# %% [markdown]
# All cores together: indices of shape (steps, cores, batch). **Predict:** how many
# images does an epoch leave out here? You need the global batch, printed further above,
# and the number of images below.

# %%
print(f"{lab.train_images:,} images to train on")
my_left_out_guess = None  # change this
card.predict("images_left_out", my_left_out_guess)

# %%
card.lock("images_left_out")

def plan(epoch):
    """The indices of all cores in one epoch: (steps, cores, batch)."""
    sizes = cores, lab.train_images, lab.batch_size
    shards = [core_indices(core, *sizes, epoch, lab.seed) for core in range(cores)]
    return numpy.stack(shards, axis=1)

steps = len(plan(0))
left_out = lab.train_images - plan(0).size
print(f"Steps in an epoch: {steps}")
print(f"Images left out of an epoch: {left_out}")
card.outcome("images_left_out", left_out)

# %% [markdown]
# ## Feeding the cores
#
# We ask the strategy for a *distributed value*: it calls our function once for each core,
# and the `context` says for which. The result is one object that holds eight batches.
# Which line sees to it that no core gets another one's images?

# %%
def for_all_cores(strategy, data, rows):
    """The images `rows[core]` of each array in data, for every core."""
    def of_one_core(context):
        own = rows[context.replica_id_in_sync_group]
        return [tensorflow.gather(array, own) for array in data]

    # Not distribute_datasets_from_function: over logical CPUs TensorFlow 2.21 could
    # wait for minutes at the end of an epoch.
    return strategy.experimental_distribute_values_from_function(of_one_core)

# %% [markdown]
# The first line in `of_one_core`. Do the batches arrive where they should? We send the
# number of each image, and look at what every core holds in the last step.

# %%
train_data = tensorflow.constant(x_train), tensorflow.constant(y_train.astype("int32"))
numbers = tensorflow.range(lab.train_images)
[batch] = for_all_cores(strategy, [numbers], plan(0)[-1])
arrived = strategy.experimental_local_results(batch)
for core in range(cores):
    right = numpy.array_equal(arrived[core], plan(0)[-1, core])
    print(f"Core {core} holds {'its own shard' if right else 'IMAGES OF ANOTHER CORE'}")

# %% [markdown]
# Here one host gathers the batches of all its cores. For a slice with many hosts that
# would be too much for one of them. There each host reads for its own cores only, and
# asks the same function which images these are. That is why exercise 7.1 wants an answer
# on which everybody agrees without talking.

# %% [markdown]
# ## Exercise 7.2: a learning rate for all cores
#
# With 8 cores an epoch has an eighth of the steps, and each follows the mean gradient of
# 8 batches, which is less noisy. So, is the thought, steps can and should be longer: lab
# 05's *linear rule* again (Goyal et al. 2017), without a warm-up. The learning rate grows
# with the number of replicas.

# %% [markdown]
# Write `new_optimizer(base_learning_rate, momentum, replicas)`: a Keras optimizer for SGD
# with momentum, by this rule. `new_optimizer(0.01, 0.5, 8)` learns with 0.08, in every
# step. Nothing else is set: no Nesterov momentum, no weight decay, no clipping. One line.

# %% [markdown]
# Would `gradient_accumulation_steps`, one update for several batches, make the batch
# larger still? Not here: under a strategy it ends in an error (lab 05). Nor does a larger
# batch need it: take more images per core.

# %% name="7.2-new-optimizer" points=1
# TODO 7.2: SGD with momentum, its learning rate scaled by the linear rule.
#: start
def new_optimizer(base_learning_rate, momentum, replicas):
    """SGD with momentum and a learning rate for so many replicas."""
    return keras.optimizers.SGD(base_learning_rate)
#: solution
def new_optimizer(base_learning_rate, momentum, replicas):
    """SGD with momentum and a learning rate for so many replicas."""
    return keras.optimizers.SGD(base_learning_rate * replicas, momentum)
#: end

# %%
new_optimizer = check("7.2", new_optimizer)

# %% [markdown]
# ## One step on all cores
#
# What each core does, as in lab 06: the loss of each image, summed and divided by the
# *global* batch (`compute_average_loss` does that), the gradients of it; `apply` adds up
# the gradients of all cores before it changes the weights. Each core returns the mean
# loss of its own batch.

# %%
loss_of = SparseCategoricalCrossentropy(from_logits=True, reduction="none")

def core_step(model, optimizer, images, labels):
    """What one core does in a training step; its own mean loss."""
    with tensorflow.GradientTape() as tape:
        losses = loss_of(labels, model(images, training=True))
        loss = tensorflow.nn.compute_average_loss(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return tensorflow.reduce_mean(losses)

# %% [markdown]
# A *block* holds the images of several steps for every core. `one_step` makes step `i` of
# a block. It is meant for the inside of a `tf.function`: on a TPU XLA compiles what
# `strategy.run` gets. We do not ask for `jit_compile=True`: over simulated cores that
# ends in an error, because the weights lie on another device than the program.

# %%
def new_training(strategy):
    """A new model on the cores of a strategy, and a step of its training."""
    utils.set_random_seed(lab.seed)
    replicas = strategy.num_replicas_in_sync
    with strategy.scope():  # everything that has variables is made in here
        model = new_network()
        optimizer = new_optimizer(lab.learning_rate, lab.momentum, replicas)
        optimizer.build(model.trainable_variables)

    def one_step(block, i):
        traced.append("one_step")  # in Python: only while TensorFlow traces
        losses = strategy.run(
            lambda x, y, i: core_step(model, optimizer, x[i], y[i]), (*block, i)
        )
        return tensorflow.stack(strategy.experimental_local_results(losses))

    return model, one_step

# %% [markdown]
# ## Why many steps in one call?
#
# Between two steps the host is at work in Python: it gathers images, hands them over, and
# calls the next step. Meanwhile a fast device waits. TensorFlow's guide "Use TPUs"
# therefore puts a loop over many steps *inside* a `tf.function`: the loop runs in
# TensorFlow, beside the TPU, and Python is called once. In Keras' `fit` this is
# `compile(steps_per_execution=10)`.

# %% [markdown]
# 29 steps in calls of 10 are 10, 10, and 9. A block with 9 steps would be another shape,
# another program. So we do what we did not do with batches: we fill the last block up,
# and say how many of its steps are to be made.

# %%
def in_blocks(strategy, indices, most):
    """The steps of indices in blocks: (number of the last step, how many, block)."""
    for first in range(0, len(indices), most):
        count = min(most, len(indices) - first)
        # Filled up with steps that are there already; nobody makes them again.
        rows = numpy.resize(indices[first : first + count], (most, *indices.shape[1:]))
        block = for_all_cores(strategy, train_data, rows.swapaxes(0, 1))
        yield first + count, count, block

for last, count, block in in_blocks(strategy, plan(0), lab.steps_per_call):
    shape = strategy.experimental_local_results(block[0])[0].shape
    print(f"A block up to step {last}: {count} of {shape[0]} steps, images {shape}")

# %% [markdown]
# ## Exercise 7.3: many steps in one call
#
# Write `steps_in_one_call(one_step, cores)`. It returns a function `run(block, count)`
# that makes the first `count` steps of a block, in their order, in one call from Python.
#
# - `one_step(block, i)` makes step `i`, from 0, a number or an int32 tensor. It returns
#   the losses of all cores: a float32 tensor of shape `(cores,)`.
# - `count` is a Python number, from 1 to the steps that the block holds.
# - `run` returns the mean loss of each core over these steps: a float32 tensor of shape
#   `(cores,)`. It does not read it.

# %% [markdown]
# What it costs is a part of the question:
#
# - Python calls `one_step` only in the first `run` for blocks of one length, while
#   TensorFlow traces; never again, whatever `count` is.
# - A long block is traced no more often than a short one. Nor does Python have more to do
#   in a `run` with many steps.
# - `steps_in_one_call` makes no step, and a second function that it gives does not
#   disturb the first.

# %% [markdown]
# If two steps for two cores give losses `[0.7, 0.9]` and `[0.5, 0.7]`, then
# `run(block, 2)` returns `[0.6, 0.8]`. About eight lines. `tf.function` turns a `for`
# loop over `tf.range(...)` into one of TensorFlow's, `tf.zeros(cores)` is a sum to start
# with, and `tf.constant` makes a tensor of a number. No `jit_compile`.

# %% name="7.3-steps-in-one-call" points=3
# TODO 7.3: make `count` steps of a block in one call, by one program for all counts.
#: start
def steps_in_one_call(one_step, cores):
    """A function run(block, count): the mean loss of each core over count steps."""
    def run(block, count):
        for i in range(count):
            losses = one_step(block, i)
        return losses

    return run
#: solution
def steps_in_one_call(one_step, cores):
    """A function run(block, count): the mean loss of each core over count steps."""
    @tf.function
    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    def run(block, count):
        # As a tensor: a Python number would be another program for each value.
        return graph(block, tf.constant(count))

    return run
#: end

# %%
steps_in_one_call = check("7.3", steps_in_one_call)

# %% [markdown]
# ## The test must not lose an image
#
# In training a dropped image gets its chance in the next epoch. In a test each image
# counts. So here the last batch is *filled up*, with images that are there already, and
# their answers are cut off again: the size stays the same, and nothing is lost.

# %%
def predict(images):
    """The class that the model gives to every image."""
    wanted = -(-len(images) // global_batch) * global_batch  # rounded up
    indices = (numpy.arange(wanted) % len(images)).reshape(-1, cores, lab.batch_size)
    data, found = [tensorflow.constant(images)], []
    for rows in indices:
        [batch] = for_all_cores(strategy, data, rows)
        found += strategy.experimental_local_results(predict_step(batch))
    return numpy.concatenate(found)[: len(images)]

@tensorflow.function
def predict_step(images):
    return strategy.run(
        lambda x: tensorflow.argmax(trained_model(x, training=False), axis=1), (images,)
    )

# %% [markdown]
# ## The loop, with a line from every core
#
# After each call Python has its turn, and prints a line for each core. To read a loss it
# waits for the device, so it does that once per call, not in every step. The price of
# long calls: within one, Python cannot print, test, save, or stop.

# %%
def train(epochs, train_block, test_accuracy):
    """Train; a line from each core after every call, accuracy and time of each epoch."""
    began, history = perf_counter(), {"accuracy": [], "wall_seconds": [], "losses": []}
    for epoch in epochs:
        for last, count, block in in_blocks(strategy, plan(epoch), lab.steps_per_call):
            losses = train_block(block, count).numpy()
            for core, loss in enumerate(losses):
                print(f"[core {core}]({last}) Loss={loss:.5f}")
        history["losses"].append(losses.tolist())
        history["accuracy"].append(test_accuracy())
        history["wall_seconds"].append(perf_counter() - began)
        print(f"Epoch {epoch + 1}: accuracy {history['accuracy'][-1]:.4f}")
    print(f"Total training time: {perf_counter() - began:.2f}")
    return history

# %% [markdown]
# The first epoch. All cores start from the same weights. **Predict:** do they all print
# the same loss at the same step? And how often does TensorFlow trace `one_step`, for as
# many calls as there were blocks above?

# %%
my_same_loss_guess = None  # change this: True or False
card.predict("cores_print_the_same_loss", my_same_loss_guess)
my_step_traces_guess = None  # change this: a number
card.predict("traces_of_one_step", my_step_traces_guess)

# %%
card.lock("cores_print_the_same_loss", "traces_of_one_step")
trained_model, one_step = new_training(strategy)
train_block = steps_in_one_call(one_step, cores)
traced.clear()

def test_accuracy():
    return float(numpy.mean(predict(x_test) == y_test))

with no_hang("the first epoch"):
    first_epoch = train(range(1), train_block, test_accuracy)

# %%
calls = -(-steps // lab.steps_per_call)  # rounded up
print(f"{steps} steps in {calls} calls; traces of `one_step`: {len(traced)}")
card.outcome("traces_of_one_step", len(traced))
same = len(set(first_epoch["losses"][-1])) == 1
card.outcome("cores_print_the_same_loss", same)

# %%
apart = 0.0
for variable in trained_model.trainable_variables:
    copies = strategy.experimental_local_results(variable.value)
    differences = [tensorflow.reduce_max(abs(copy - copies[0])) for copy in copies]
    apart = max(apart, *map(float, differences))
print(f"Largest difference of a weight between two cores: {apart:.8f}")

# %% [markdown]
# The losses differ, because every core has images of its own; that is why a log has a
# line for each. Images are dealt out again in every epoch, so a core that stays far above
# the others over epochs is a sign of a mistake in its input. The weights do not differ:
# each core adds the same sum of gradients to the same weights.

# %% [markdown]
# ## All epochs
#
# Nobody reads the lines of eight cores over fifty epochs in a notebook: a long run logs
# into a file. What `train` prints now goes to a file beside the run card. You can watch
# it with `tail -f` while the cell runs. `follow` lets the dashboard watch the loop, by
# the two functions that it calls; its bar counts calls. **Predict** the accuracy at the
# end.

# %%
my_accuracy_guess = None  # change this
my_accuracy_guess = card.predict("test_accuracy", my_accuracy_guess)

# %%
card.lock("test_accuracy")
log = card.path.with_suffix(".log")
dashboard = TrainingDashboard(session.caption(), steps * global_batch, print_epochs=False)
others = range(1, lab.epochs)

def logs(accuracy):
    return {"val_accuracy": accuracy}

with (
    no_hang("training"),
    follow(dashboard, train_block, test_accuracy, logs, len(others), calls) as watched,
    open(log, "w", buffering=1) as file,
    redirect_stdout(file),
):
    rest = train(others, *watched)
print(f"Log of the cores: {log}")

# %%
first_seconds = first_epoch["wall_seconds"][-1]
seconds = first_epoch["wall_seconds"] + [first_seconds + t for t in rest["wall_seconds"]]
accuracy = first_epoch["accuracy"] + rest["accuracy"]
good = [epoch for epoch, value in enumerate(accuracy, 1) if value >= lab.target_accuracy]
card.measure("epochs", {"wall_seconds": seconds, "test_accuracy": accuracy})
card.measure("val_accuracy", accuracy[-1])
card.measure("training_seconds", seconds[-1])
print(f"Accuracy after the last epoch: {accuracy[-1]:.4f}")
card.outcome("test_accuracy", accuracy[-1])
print(f"Total training time: {seconds[-1]:.2f}")

# %%
reached = f"reached after epoch {good[0]}" if good else "reached in no epoch"
figure = figures.accuracy_by_epoch(
    seconds, accuracy, lab.target_accuracy, my_accuracy_guess
)
summary = f"The best epoch has a test accuracy of {max(accuracy):.4f}; the target of "
summary += f"{lab.target_accuracy} was {reached}."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The first marker comes late: the first epoch includes tracing, and on a TPU compiling.
# The notebook whose design we follow says that 50 epochs over eight cores of a TPU got it
# above 89% in 269 s; it does not say of which generation they were. That is 93 ms for each
# of 50 x 58 steps, tests included. How long is a step here? For so small a network little
# of 93 ms can be arithmetic; where they went, nobody noted. The full scale of this lab
# does the same number of epochs, over all 60,000 images.

# %% [markdown]
# ## Right and wrong
#
# The first 25 test images, with what the network says. A tick and a thin frame: right. A
# cross and a thick dashed frame: wrong. The second line says what it is. Would you have
# known?

# %%
with no_hang("the test"):
    predicted = predict(x_test)
figure = figures.prediction_grid(x_test, y_test, predicted, FASHION_MNIST_CLASSES)
right = int((predicted == y_test)[:25].sum())
summary = f"The network is right at {right} of 25 test images; the others are crossed."
show_figure(figure, summary, session.caption())

# %% [markdown]
# ## What do long calls buy?
#
# Now the speed: the same training step on all cores, one step in a call, and
# `steps_per_call` of them. **Predict:** how many times as many images a second do the
# long calls train?

# %%
my_long_calls_guess = None  # change this
card.predict("gain_of_long_calls", my_long_calls_guess)

# %%
def images_per_second(strategy, train_block, most):
    """Training speed and how many of the computer's cores work, without the start-up."""
    indices = plan(0)[: lab.timed_steps, : strategy.num_replicas_in_sync]
    for _, count, block in in_blocks(strategy, indices[:1], most):
        float(train_block(block, count)[0])  # traces; reading the loss waits for it
    began, worked = perf_counter(), process_time()
    for _, count, block in in_blocks(strategy, indices, most):
        losses = train_block(block, count)
    float(losses[0])
    seconds = perf_counter() - began
    return indices.size / seconds, (process_time() - worked) / seconds

# %%
card.lock("gain_of_long_calls")
lengths = 1, lab.steps_per_call
with no_hang("the speed test"):
    # In turns, and three times: another program may be at work for a while.
    turns = [[images_per_second(strategy, train_block, n) for n in lengths] for _ in "abc"]
(short_speed, _), (speed, _) = numpy.median(turns, axis=0)
gains = [long[0] / short[0] for short, long in turns]
gain = numpy.median(gains)
card.measure("images_per_second", speed)
print(f"Images/sec with 1 step in a call: {short_speed:.2f}; in long calls:")
print(f"Images/sec: {speed:.2f}")
print(f"In turns, times as many: {', '.join(f'{each:.2f}' for each in gains)}")
card.outcome("gain_of_long_calls", gain)

# %% [markdown]
# Are all three turns above 1? How far apart are they? What differs less than they do may
# be chance. What is saved is
# a call from Python and a hand-over of images for each step. The shorter the steps are,
# the larger a part of the time that is: what does `batch_size=16` give? Keras'
# documentation says of `steps_per_execution` that it can help greatly on TPUs, and with
# small models. On a TPU this was not measured for this lab.

# %% [markdown]
# ## What did the cores buy?
#
# The same step on one core, with a batch of `batch_size`, and on all cores, each with
# such a batch; both in long calls. **Predict:** how many times as many images a second do
# all cores train?

# %%
my_speedup_guess = None  # change this
card.predict("speedup", my_speedup_guess)

# %%
card.lock("speedup")
fewest = replica_counts()[0]  # a TPU is used whole: there it is all cores again
few = new_strategy(fewest)
few_block = steps_in_one_call(new_training(few)[1], fewest)
trainings = (few, few_block), (strategy, train_block)
with no_hang("the speed test"):
    turns = [[images_per_second(*t, lab.steps_per_call) for t in trainings] for _ in "abc"]
(few_speed, few_busy), (speed, busy) = numpy.median(turns, axis=0)
speedups = [all_cores[0] / one[0] for one, all_cores in turns]
speedup = numpy.median(speedups)
print(f"Images/sec on {fewest} of the cores: {few_speed:.2f}; on all of them:")
print(f"Images/sec: {speed:.2f}")
print(f"In turns, times as many: {', '.join(f'{each:.2f}' for each in speedups)}")
print(f"Of this computer's cores {few_busy:.1f} were at work, then {busy:.1f}")
card.outcome("speedup", speedup)

# %% [markdown]
# Simulated cores are threads of one processor. It also does the host's work: the feeding,
# and the sum over the cores. One simulated core may leave a part of it idle, which the
# others fill: the last line says how far. Where all of it is at work, more simulated
# cores wait for each other. Where less is, other programs may have had the rest, or
# threads waited: this lab does not measure which. So the number says something about your
# processor, and nothing about eight cores. A simulation shows that the code is right.

# %% [markdown]
# On real TPU cores, too, expect less than eight times as much. Between two steps all
# cores add up their gradients and wait for the slowest. The host has to bring eight times
# as many images a second. And a network as small as this one leaves a core little to do
# in a step (lab 02's fixed cost): a larger batch per core may then help more than more
# cores. None of this was measured here.

# %% [markdown]
# ## If you know the PyTorch/XLA original
#
# There each core has a process of its own, which runs the whole script. Here one process
# describes what all cores do. What corresponds to what (PyTorch/XLA's API guide, and its
# MNIST example):
#
# | PyTorch/XLA | here |
# |---|---|
# | `xmp.spawn`: a process per core | `strategy.run`: one program, a copy per core |
# | `xm.get_ordinal()` | `replica_id_in_sync_group` |
# | `DistributedSampler` with `drop_last` | `core_indices` |
# | `ParallelLoader`: loads batches onto the device in the background | `for_all_cores`, not in the background |
# | `batches_per_execution` of its loader | `steps_per_call` |

# %% [markdown]
# | PyTorch/XLA | here |
# |---|---|
# | `xm.optimizer_step`: adds up gradients, then a step | `optimizer.apply` inside `strategy.run` |
# | `xm.mark_step`: runs what was recorded | a `tf.function` returns |
# | `xm.rendezvous`: processes wait for each other | not needed: one process |
# | `loss.item()`: waits for the device | `losses.numpy()` |
# | `met.metrics_report()`: counts compilations | `len(traced)` |

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("07")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the last figure but one. In which epoch was the network best, and what did longer
# calls buy on your machine? What of it would differ on a real TPU?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="7.figure" points=2
# **7.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Every core gets whole batches of its own, all of one size, and the remainder waits for
# the next epoch; a test, and a block of steps, is filled up instead. Another shape or
# another Python number is another program; a tensor is not, so one program makes any
# number of steps in one call. A log with a line per core shows that their losses differ
# while their weights agree, and simulated cores show that this is right, not that it is
# fast.
#
# Two questions to take along. What does the run give with the pixels' own mean and
# deviation, or with `learning_rate=0.00125`, which leaves it unscaled on eight cores? And
# why would 512 cores with 128 images each be a different training, not just a faster
# one?
#
# To read on: TensorFlow's guide "Use TPUs"; Jouppi et al., "In-Datacenter Performance
# Analysis of a Tensor Processing Unit" (2017) and "A Domain-Specific Supercomputer for
# Training Deep Neural Networks" (2020); Goyal et al., "Accurate, Large Minibatch SGD:
# Training ImageNet in 1 Hour" (2017); You et al., "Large Batch Optimization for Deep
# Learning: Training BERT in 76 Minutes" (2020).
