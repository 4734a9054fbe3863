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
# A TPU is made to multiply matrices. Yet we came across a notebook (not public) in which
# eight cores of TPUs took 269 seconds to train a small network for 50 epochs. We trained a
# similar network for as many steps on two cores of an ordinary processor, an AMD EPYC. That
# took [136 seconds](../docs/measurements.md#lab-07-at-full-size). What did the TPUs do all
# that time? (Both are single runs, tests included. Ours already used the long calls of part
# 3.)
#
# We narrow it down at the end of part 3. A core this fast can spend most of its time
# waiting for your program. In parts 1 to 3 you learn how to keep it busy, and in part 4 you
# let the compiler divide the work. The training step itself stays that of [lab
# 06](06_many_gpus_loop.ipynb): each core gets images of its own, and all cores make the
# same update. So what has to change around the step?
#
# 1. *What is different about the device?*
# 2. *What does a compiled program ask of your data?*
# 3. *How do you keep fast cores busy?*
# 4. *Can the compiler divide the work?*

# %% [markdown]
# > **Limits.** Without a TPU, this lab uses eight *simulated* cores. They show whether
# > each core gets the right images and ends up with the right weights, but not how fast
# > real cores are, because they share one processor. We have never run this lab on a TPU.
# > Apart from the 269 seconds and what we calculate, all statements about TPUs come from
# > the linked documents.

# %% [markdown]
# Part 4 needs only the set-up cells below. If you are stuck, press *Hint* below the
# check, or call `hint("7.1")` in a new cell.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu on a TPU, else laptop
seed: int = 0
epochs: int = None  # None here and below: set by the scale
batch_size: int = None  # images per core and step
replicas: int = 8  # cores; a simulation takes any number, a TPU all that it has
train_images: int = None
valid_images: int = None
learning_rate: float = 0.01  # of one core; the linear rule scales it
momentum: float = 0.5
pixel_mean: float = 0.1307  # as in the training that this lab rebuilds
pixel_deviation: float = 0.3081
steps_per_call: int = None  # steps in one call; after it, each core prints a line
target_accuracy: float = None

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("07_tpu_cores", globals(), devices="simulated")

# %%
# keras, np and tf are for your answers, which may overwrite them. The lab's own cells use
# other names.
from contextlib import redirect_stdout
from time import perf_counter

import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf
from keras import Input, Sequential, layers, optimizers, utils
from keras.losses import SparseCategoricalCrossentropy

card = lab.card

# %%
from callbacks import TrainingDashboard, follow
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.errors import ParameterError
from helpers.figures import show_figure, use_figures
from helpers.lab_07 import figures, mesh_on_jax, models
from helpers.machine.devices import new_strategy
from helpers.machine.watchdog import no_hang

use_figures()

# %% [markdown]
# ## 1. What is different about the device?
#
# A TPU is a chip that Google built to multiply matrices. Each of its *cores* has its own
# memory and its own matrix units. In generations 2 and 3, a unit has 128x128 = 16,384
# multipliers, which work at the same time, and a board has four chips with two cores each
# ([Jouppi et al. 2020](https://doi.org/10.1145/3360307)).

# %% [markdown]
# A core cannot read a file or run Python. So an ordinary computer beside it, the
# [*host*](../docs/glossary.md), has to feed it. After our set-up has started the TPU
# ([`initialize_tpu_system`](https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/initialize_tpu_system)),
# TensorFlow lists its cores as [logical devices](../docs/glossary.md).
#
# **Question.** Which devices do you expect to see on your computer?

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
# Without a TPU, the list shows eight CPUs, although your computer has one processor: each
# of them stands for a core.
#
# On TPU cores, a [`TPUStrategy`](https://www.tensorflow.org/guide/tpu) does what
# [`MirroredStrategy`](https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy)
# does on GPUs and on our simulated cores. With $n$ cores and $b$ images per core, the
# [global batch](../docs/glossary.md) has $B = n b$ images.

# %% [markdown]
# ### The training that we rebuild
#
# It comes from [the MNIST example of
# PyTorch/XLA](https://github.com/pytorch/xla/blob/master/test/test_train_mp_mnist.py),
# but our images are those of Fashion-MNIST ([Xiao et al.
# 2017](https://arxiv.org/abs/1708.07747)). As in the example, a pixel $x$ (0 to 1)
# becomes $(x - 0.1307) / 0.3081$, with the mean and deviation of MNIST. The network has
# two 5x5 convolutions without padding, with 10 and 20 channels, and two dense layers, with
# 50 and 10 outputs.

# %%
x_train, y_train, x_test, y_test = session.load_images()

# %%
session.show_source(models.conv_pool_relu_bn)

def new_network():
    """The network with a scaling layer in front, so that it takes uint8 images."""
    spread = 255 * lab.pixel_deviation
    scaling = layers.Rescaling(1 / spread, -lab.pixel_mean / lab.pixel_deviation)
    inputs = Input(x_train.shape[1:], dtype="uint8")
    return Sequential([inputs, scaling, models.small_cnn()])

print(f"Weights of the network: {new_network().count_params():,}")

# %% [markdown]
# ## 2. What does a compiled program ask of your data?
#
# In 2019, a user of eight TPU cores posted a log, in which the program was compiled again
# for a batch of another size ([tensorflow/tensorflow, issue
# 29825](https://github.com/tensorflow/tensorflow/issues/29825)). Why should the *size* of
# a batch cost anything?
#
# A TPU runs programs that the compiler [XLA](../docs/glossary.md) has made. Because XLA
# plans memory and multiplications in advance, it has to know the size of every array.
# Before XLA compiles,
# [`tf.function`](https://www.tensorflow.org/api_docs/python/tf/function)
# [*traces*](../docs/glossary.md#tracing) your Python code: it runs the code once to record a graph.
# You can watch tracing on any device.
#
# **Question.** In the loop below, TensorFlow meets three kinds of arguments. How many
# traces does each of them need?
#
# - `total` gets tensors of the lengths 128, 128, 128 and 100;
# - `count_up` gets the Python numbers 10, 10, 9 and 8;
# - `count_up` gets the same four numbers as tensors.

# %%
traced = []

@tensorflow.function
def total(batch):
    traced.append("shape")  # Python runs only while TensorFlow traces
    return tensorflow.reduce_sum(batch)

@tensorflow.function
def count_up(count):
    traced.append("tensor" if tensorflow.is_tensor(count) else "number")
    return tensorflow.reduce_sum(tensorflow.range(count))

for size, count in zip((128, 128, 128, 100), (10, 10, 9, 8), strict=True):
    total(tensorflow.zeros(size)), count_up(count), count_up(tensorflow.constant(count))

# %%
print(f"Traces for the shapes 128, 128, 128, 100: {traced.count('shape')}")
print(f"Traces for the Python numbers 10, 10, 9, 8: {traced.count('number')}")
print(f"Traces for the tensors 10, 10, 9, 8: {traced.count('tensor')}")

# %% [markdown]
# A new shape needs a new trace. So does a new Python number, because it becomes a part of
# the program. A tensor is data instead, and one program works for all its values.
#
# **Question.** XLA can also compile for your processor. The next cell classifies batches
# of 128, 128, 100 and 100 images with our network. Which of them will take long?

# %%
compiled = tensorflow.function(models.small_cnn(), jit_compile=True)
for size in (128, 128, 100, 100):
    began = perf_counter()
    float(compiled(tensorflow.zeros((size, 28, 28, 1)))[0, 0])  # waits for the result
    print(f"A batch of {size}: {1000 * (perf_counter() - began):.1f} ms")

# %% [markdown]
# The first batch of 100 has fewer images than a batch of 128, but takes long, because it
# needs a new program. So all batches should have the same size. Each size costs only once,
# so one odd batch would do little harm, but a new size in every call would do a lot.
#
# ### A shard for every core
#
# What if the last images of an epoch do not fill a batch? In training we drop them, so an
# epoch of $N$ images has
#
# $$ \Big\lfloor \frac{N}{n\,b} \Big\rfloor $$
#
# steps. No image is lost for good, because every epoch shuffles all images again.
#
# The images of one core are its [*shard*](../docs/glossary.md). The host works out each
# shard from the same shuffled order, which depends only on the seed and the epoch. So with
# several hosts, each could work out the shards of its own cores without asking the others.
#
# Below, `core_indices` returns the shard of one core: the indices of its images in the
# training set. At laptop scale an epoch has 29 steps, and in each of them 8 cores take 128
# images. So `plan`, which puts the shards of all cores together, returns an array of the
# shape (29, 8, 128).

# %%
def core_indices(core, replicas, images, batch_size, epoch, seed):
    """The indices of one core's images in an epoch, with the shape (steps, batch_size)."""
    order = numpy.random.default_rng([seed, epoch]).permutation(images)
    whole_steps = images // (replicas * batch_size)
    kept = order[: whole_steps * replicas * batch_size]
    return kept.reshape(whole_steps, replicas, batch_size)[:, core]

def plan(epoch):
    """The indices of all cores' images in an epoch: shape (steps, cores, batch_size)."""
    sizes = cores, lab.train_images, lab.batch_size
    shards = [core_indices(core, *sizes, epoch, lab.seed) for core in range(cores)]
    return numpy.stack(shards, axis=1)

# %%
steps = len(plan(0))
print(f"Steps in an epoch: {steps}")
print(f"Images left out of an epoch: {lab.train_images - plan(0).size}")

# %% [markdown]
# The next function sends each core its images. `data` is a list of arrays, and `rows[core]`
# says which of their rows a core gets. The strategy calls `of_one_core` once for each core,
# and `context` says for which core. The result is a [*distributed
# value*](../docs/glossary.md): one object that holds a part for each core.
#
# **Question.** Which line makes sure that no core gets the images of another core?

# %%
def for_all_cores(strategy, data, rows):
    """A distributed value: each core gets the rows `rows[core]` of every array in data."""
    def of_one_core(context):
        own = rows[context.replica_id_in_sync_group]
        return [tensorflow.gather(array, own) for array in data]

    # Not distribute_datasets_from_function: over logical CPUs, the only devices that we
    # tried, TensorFlow 2.21 could wait for minutes at the end of an epoch.
    return strategy.experimental_distribute_values_from_function(of_one_core)

# %% [markdown]
# The first line of `of_one_core` does: it takes the rows of this core. That no two cores
# share an image, `core_indices` has already seen to. If a core received other rows by
# mistake, there would be no error. So we make a test: we send the *indices* of the images
# in the last step, and look at what each core receives.

# %%
train_data = tensorflow.constant(x_train), tensorflow.constant(y_train.astype("int32"))
numbers = tensorflow.range(lab.train_images)
[batch] = for_all_cores(strategy, [numbers], plan(0)[-1])
held = strategy.experimental_local_results(batch)
for core in range(cores):
    right = numpy.array_equal(held[core], plan(0)[-1, core])
    print(f"Core {core} holds {'its own shard' if right else 'WRONG IMAGES'}")

# %% [markdown]
# ### One step on all cores
#
# The step itself is that of lab 06. Core $r$ computes its share of the mean loss,
# which is the sum of its losses $\ell_i$ divided by the size of the *global* batch:
#
# $$ s_r = \frac{1}{B} \sum_{i \in r} \ell_i. $$
#
# [`compute_average_loss`](https://www.tensorflow.org/api_docs/python/tf/nn/compute_average_loss)
# divides by $B$, because all cores have whole batches. Then `apply` adds up the gradients
# of all cores before it changes the weights.

# %%
loss_of = SparseCategoricalCrossentropy(from_logits=True, reduction="none")

def core_step(model, optimizer, images, labels):
    """Do one core's part of a training step; return the mean loss of its images."""
    with tensorflow.GradientTape() as tape:
        losses = loss_of(labels, model(images, training=True))
        loss = tensorflow.nn.compute_average_loss(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return tensorflow.reduce_mean(losses)

# %% [markdown]
# The learning rate follows the [*linear rule*](../docs/glossary.md#linear-scaling-rule),
# $\varepsilon = n\,\varepsilon_1$, where $\varepsilon_1$ is the rate of one core ([Goyal
# et al. 2017](https://arxiv.org/abs/1706.02677)).
#
# In part 3 the images come in *blocks* of several steps. So `one_step(block, i)` makes step
# `i` of a block: each core takes the images `x[i]`, with their labels `y[i]`.

# %%
def new_training(strategy):
    """A new model on all cores of a strategy, and a function that trains it one step."""
    utils.set_random_seed(lab.seed)
    replicas = strategy.num_replicas_in_sync
    with strategy.scope():  # creates the variables on every core
        model = new_network()
        optimizer = optimizers.SGD(lab.learning_rate * replicas, lab.momentum)
        optimizer.build(model.trainable_variables)

    def one_step(block, i):
        traced.append("one_step")  # Python runs only while TensorFlow traces
        losses = strategy.run(
            lambda x, y, i: core_step(model, optimizer, x[i], y[i]), (*block, i)
        )
        return tensorflow.stack(strategy.experimental_local_results(losses))

    return model, one_step

# %% [markdown]
# ## 3. How do you keep fast cores busy?
#
# Back to the 269 seconds of the opening. An epoch of 60,000 images has 58 steps with
# $8 \times 128$ images each, so over 50 epochs a step took
#
# $$ \frac{269\ \text{s}}{50 \times 58} \approx 93\ \text{ms,} $$
#
# tests and perhaps the start-up included.
#
# **Question.** Our network is small. How much of the 93 ms can be arithmetic?

# %% [markdown]
# <details><summary>Answer</summary>
#
# Very little. The sides of an image shrink from 28 pixels to 24, 12, 8 and 4. Each output
# of a convolution takes one multiplication per weight of its filter. With the dense layers,
# an image takes
#
# $$ 24^2 \cdot 10 \cdot 25 + 8^2 \cdot 20 \cdot 250 + 320 \cdot 50 + 50 \cdot 10 = 480{,}500 $$
#
# multiplications forward, and at most twice as many backward. For a core's 128 images
# these are 185 million, or 11,300 rounds of 16,384 multipliers. If a round needs one tick
# of a clock of 700 MHz, all rounds together take 0.016 ms.
#
# But a small layer cannot use all 16,384 multipliers. In a bad case, a convolution uses one
# row of the $128 \times 128$ multipliers for each input channel, and one column for each
# output channel. Then the first one, with 1 input and 10 output channels, keeps 10
# multipliers busy. A layer computes up to three times: forward, the gradient of its
# weights, and the gradient of its input, which the first layer does not need.
#
# | | Multipliers at work | Multiplications for an image, in a pass | Passes | Time for 128 images |
# |---|---|---|---|---|
# | first convolution | $1 \cdot 10 = 10$ | 144,000 | 2 | 5 ms |
# | second convolution | $10 \cdot 20 = 200$ | 320,000 | 3 | 0.9 ms |
#
# Even so, the two convolutions together take about 6 ms.
#
# </details>

# %% [markdown]
# So even in a bad case, the multiplications should take less than 10 of the 93 ms. What
# else takes time? The first suspect is the call from Python: while the host prepares the
# next call, a device may sit idle.
#
# Suppose that each call costs $c$ seconds on the host, and each step $s$ seconds on the
# device. If the two take turns, a call with $k$ steps takes $c + k s$ seconds. (A host that
# prepares the next call while the device works hides $c$.) So a step takes
#
# $$ \frac{c}{k} + s \quad\text{seconds.} $$
#
# In a long call, many steps share the cost $c$. To make long calls, we put a loop over many
# steps *inside* a `tf.function`, as Keras' `fit` does with
# [`compile(steps_per_execution=10)`](https://keras.io/api/models/model_training_apis/).

# %% [markdown]
# Our call gets all its images at the start. So `in_blocks` sends those of ten steps at
# once. At laptop scale, each core gets a block of images with the shape (10, 128, 28, 28,
# 1).
#
# For the third block, only nine of the 29 steps are left. A shorter block would have another
# shape, and so need a new program. So we fill it up to ten with a copy of its first step, and
# pass the program the count 9: it makes only the first nine steps.

# %%
def in_blocks(strategy, indices, most):
    """Blocks of at most `most` steps: (number of the last step, count of steps, block)."""
    for first in range(0, len(indices), most):
        count = min(most, len(indices) - first)
        # The last block is filled up with copies of its steps, which are not run.
        rows = numpy.resize(indices[first : first + count], (most, *indices.shape[1:]))
        block = for_all_cores(strategy, train_data, rows.swapaxes(0, 1))
        yield first + count, count, block

for last, count, block in in_blocks(strategy, plan(0), lab.steps_per_call):
    shape = strategy.experimental_local_results(block[0])[0].shape
    print(f"Block up to step {last}: runs {count} of {shape[0]} steps, image shape {shape}")

# %% [markdown]
# ### Exercise 7.1: many steps in one call
#
# **Write** `steps_in_one_call(one_step, cores)`, which returns a function
# `run(block, count)` that makes `count` steps of a block. Here `count` is a Python
# number, from 1 to the number of steps in the block. The given `one_step(block, i)` makes
# step `i`, counted from 0, and returns the losses of all cores as a float32 tensor of
# shape `(cores,)`.

# %% [markdown]
# **Rules**
#
# - `run` makes the first `count` steps of a block, in their order.
# - `run` returns the mean loss of each core over these steps, as a float32 tensor of
#   shape `(cores,)`.
# - For blocks of the same length, only the first `run` traces. Only then does Python call
#   `one_step`, and never again in later runs, whatever `count` is.
# - The loop over the steps runs in TensorFlow, not in Python. So the length of a block does
#   not change how often tracing calls `one_step`, and a `run` with many steps gives Python no
#   more to do than a `run` with one.

# %% [markdown]
# **Example.** If two steps on two cores give the losses `[0.7, 0.9]` and `[0.5, 0.7]`,
# then `run(block, 2)` returns `[0.6, 0.8]`.
#
# You need about eight lines. `tf.function` turns a `for` loop over `tf.range(...)` into a
# TensorFlow loop, and `tf.zeros(cores)` can start a sum. Leave out `jit_compile`, which
# fails on simulated cores, and which a TPU does not need.

# %% name="7.1-steps-in-one-call" points=3
# TODO 7.1: make `count` steps of a block in one call, by one program for all counts.
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
steps_in_one_call = check("7.1", steps_in_one_call)

# %% [markdown]
# ### Train and test
#
# Training may drop images, but a test has to use all of them. So its last batch is filled
# up, too, and the surplus answers are cut off.

# %%
def predict(images):
    """The class that the model gives to every image."""
    wanted = -(-len(images) // global_batch) * global_batch  # whole batches
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
# Long calls have a price: while a call runs, Python cannot print, test, save or stop. So
# `train` prints the loss of each core only once per call.

# %%
def train(epochs, train_block, test_accuracy):
    """Train, print each core's loss after every call; return the values of each epoch."""
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
# **Question.** All cores start from the same weights. Will they print the same loss at the
# same step? And how many times does TensorFlow trace `one_step` for all these calls?

# %%
trained_model, one_step = new_training(strategy)
train_block = steps_in_one_call(one_step, cores)

def test_accuracy():
    return float(numpy.mean(predict(x_test) == y_test))

with no_hang("the first epoch"):
    first_epoch = train(range(1), train_block, test_accuracy)

# %%
calls = -(-steps // lab.steps_per_call)  # the last call may have fewer steps
print(f"{steps} steps in {calls} calls; traces of `one_step`: {traced.count('one_step')}")

# %%
apart = 0.0
for variable in trained_model.trainable_variables:
    copies = strategy.experimental_local_results(variable.value)
    differences = [tensorflow.reduce_max(abs(copy - copies[0])) for copy in copies]
    apart = max(apart, *map(float, differences))
print(f"Largest difference of a weight between two cores: {apart:.8f}")

# %% [markdown]
# The losses differ, because every core has its own images. The trained weights agree in all
# printed digits, because the cores start with equal weights and change them by the same sum
# of gradients. And one trace serves all three calls, even the shorter one.

# %% [markdown]
# ### All epochs
#
# First let us see that the network learns; then we measure its speed. From now on, `train`
# prints to a file beside the [run card](../docs/glossary.md).
#
# **Predict:** what is the test accuracy after the last epoch?

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
# The first marker comes late, because the first epoch includes tracing and, on a TPU,
# compiling.
#
# ### What do long calls buy?
#
# By the formula above, a step takes $c + s$ seconds if each call makes one step, and $c/k +
# s$ if it makes $k$. In very long calls $c/k$ vanishes, so the gain approaches $(c + s) / s
# = 1 + c/s$. (Here each call also hands over the images of its steps, so $c$ includes the
# fixed cost of that.) The next cells train with one step in a call, and then with
# `steps_per_call` steps.
#
# **Predict:** how many times as fast is training with the long calls, in images per
# second?

# %%
my_long_calls_guess = None  # change this
card.predict("gain_of_long_calls", my_long_calls_guess)

# %%
def images_per_second(most):
    """Training speed with at most `most` steps in a call, without the start-up."""
    indices = plan(0)[: lab.timed_steps]
    for _, count, block in in_blocks(strategy, indices[:1], most):
        float(train_block(block, count)[0])  # traces; waits for the result
    began = perf_counter()
    for _, count, block in in_blocks(strategy, indices, most):
        losses = train_block(block, count)
    float(losses[0])
    return indices.size / (perf_counter() - began)

# %%
card.lock("gain_of_long_calls")
with no_hang("the speed test"):
    # Both in turn, three times, so that other programs slow both of them alike.
    turns = [[images_per_second(n) for n in (1, lab.steps_per_call)] for _ in range(3)]
short_speed, speed = numpy.median(turns, axis=0)
gains = [long / short for short, long in turns]
card.measure("images_per_second", speed)
print(f"Images/sec with 1 step in a call: {short_speed:.2f}; with long calls:")
print(f"Images/sec: {speed:.2f}")
print(f"Gains of long calls in three turns: {', '.join(f'{each:.2f}' for each in gains)}")
card.outcome("gain_of_long_calls", numpy.median(gains))

# %% [markdown]
# In our stored run, the gain is small but real: 1.13, 1.13 and 1.18 differ from each other
# less than from 1. (If your three differ more than that, your gain may be chance.) A step
# took $c + s = 40.8$ ms with one step in a call, and $c / 10 + s = 35.6$ ms with ten, so
#
# $$ c = \frac{40.8 - 35.6}{1 - 1/10} \approx 6\ \text{ms} \quad\text{and}\quad s \approx 35\ \text{ms.} $$
#
# Our gain is small because steps on simulated cores are long. If a step took 1 ms, with the
# same $c$, long calls would make training more than four times as fast:
# $(6 + 1) / (0.6 + 1) = 4.4$.
#
# ### What do we know of the 93 ms?
#
# Now put your step beside the 93 ms.

# %%
step_ms, notebook_step_ms = 1000 * global_batch / speed, 1000 * 269 / (50 * 58)
print(f"Your step: {step_ms:.1f} ms for {global_batch:,} images")
print(f"The notebook's step on a TPU: {notebook_step_ms:.1f} ms for 1,024 images")

# %% [markdown]
# In the stored run, one processor did the work of all eight cores in 35.6 ms a step. That
# is without tests and start-up, which the 93 ms include, so the comparison is not quite
# fair. Still, where did the TPU's time go?
#
# | Part of their 93 ms | Time | How we know it |
# |---|---|---|
# | multiplications | less than 10 ms | calculated, for a bad case |
# | everything else | at least 83 ms | what remains |
#
# So even in this bad case, the multipliers worked for less than 11% of the 269 seconds.
# Where did the rest go? We can name suspects, but not convict one. Some act in every step:
# calls from Python, and handing over the images. Ours cost about 6 ms a call, on another
# host and with TensorFlow. Theirs may have cost more, because PyTorch/XLA also [records the
# operations](https://docs.pytorch.org/xla/release/r2.8/learn/trace-vs-execution-time.html)
# of a step in Python before it runs them. Other suspects act seldom: tests, compiling and
# start-up. Only a profile of their run could tell. In [lab 08](08_faster.ipynb), you make
# one of your own.
#
# What does this mean for your own program? The step of lab 06 can stay as it is, even the way in
# which each core computes its share of the loss. Two things around it change: all batches and
# blocks have one size, and one call makes many steps. This is a good place for a break.

# %% [markdown]
# ## 4. Can the compiler divide the work?
#
# The same step can also be written in another way. So far, you wrote the program of *one
# core*, and gave each core its images. Now you write the program for *one big device*, and
# only say how its arrays are cut:
#
# | | Parts 2 and 3: a strategy | Part 4: a mesh |
# |---|---|---|
# | You write the program for | one core | one big device |
# | The work is divided by | you, with `rows[core]` | XLA, from these cuts |
# | Gradients are added up by | `optimizer.apply` | messages that XLA inserts |
#
# The picture shows eight devices as a [*mesh*](../docs/glossary.md), a grid whose axes have
# names. This mesh has two rows along the axis `data`, and four columns along the axis
# `model`. Two arrays are cut on it: the images into two halves, one for each row of the
# mesh, and the weights $W$ into four quarters, one for each column of the mesh.
#
# A [*spec*](../docs/glossary.md) describes such a cut. For each axis of an array, it names
# the mesh axis along which it is cut, or None. The images have the spec `("data", None)`,
# because only their rows are cut. $W$ has `(None, "model")`, because only its columns are
# cut. From the mesh and the specs alone, XLA works out what each device computes and sends.
#
# ![Eight devices form a mesh of two rows and four columns: each row has half of the images, and each column has a quarter of the columns of the weights W.](../helpers/lab_07/diagrams/mesh.svg)

# %% [markdown]
# In Keras this is [`keras.distribution`](https://keras.io/api/distribution/), which needs
# the JAX backend. So the cells below use a separate process, where
# [JAX](https://docs.jax.dev/en/latest/sharded-computation.html) treats your processor as
# eight devices. The devices are simulated, but the program and its messages are real.

# %% [markdown]
# ### Exercise 7.2: what does a device hold?
#
# **Write** `shard_of(shape, spec, mesh, device)`, which returns the part of an array that
# one device holds. `shape` and `spec` are tuples of equal length, `mesh` is a dict with
# the size of each mesh axis by its name, and `device` is a number that counts from 0.

# %% [markdown]
# **Rules**
#
# - Return a pair of whole numbers `(start, stop)` for each axis of the array.
# - A mesh has one axis or more. Devices are numbered row by row: the number rises fastest
#   along the last axis.
# - Where the spec has None, a device holds the array's whole axis.
# - Where the spec has the `name` of a mesh axis, the array's axis is cut into
#   `mesh[name]` equal parts. Devices at the first position along that mesh axis hold the
#   first part, and so on.
# - If a size is not a multiple of the number of its parts, raise a `ValueError`.
# - Do not modify `mesh`.

# %% [markdown]
# **Example.** On a mesh of 2 x 4, device 5 is in row 1 and column 1, because
# $5 = 1 \times 4 + 1$. So it holds the second half of an axis that is cut along `data`,
# and the second quarter of an axis that is cut along `model`:
#
# ```python
# mesh = {"data": 2, "model": 4}
# shard_of((256, 784), ("data", None), mesh, 5)    # [(128, 256), (0, 784)]
# shard_of((784, 1024), (None, "model"), mesh, 5)  # [(0, 784), (256, 512)]
# shard_of((1024, 10), (None, "model"), mesh, 5)   # ValueError: 10 columns for 4 devices
# ```
#
# You need about eight lines.
# [`np.unravel_index`](https://numpy.org/doc/stable/reference/generated/numpy.unravel_index.html)
# gives the position of a number in a grid.

# %% name="7.2-shard-of" points=3
# TODO 7.2: the part of an array that one device of a mesh holds.
#: start
def shard_of(shape, spec, mesh, device):
    """Which part of an array a device holds: (start, stop) of each axis."""
    return [(0, size) for size in shape]
#: solution
def shard_of(shape, spec, mesh, device):
    """Which part of an array a device holds: (start, stop) of each axis."""
    places = np.unravel_index(device, tuple(mesh.values()))
    place = dict(zip(mesh, places, strict=True))
    pairs = []
    for size, name in zip(shape, spec, strict=True):
        parts = mesh[name] if name else 1
        if size % parts:
            raise ValueError(f"{size} is not a multiple of {parts}")
        first = int(place[name]) if name else 0
        pairs.append((first * size // parts, (first + 1) * size // parts))
    return pairs
#: end

# %%
shard_of = check("7.2", shard_of)

# %% [markdown]
# ### Cut the weights as well
#
# Our example is a dense network, 784 → 1,024 → 10, with a batch of 1,024 images of noise.
# Eight devices first cut only the batch, as a strategy does ([*data
# parallel*](../docs/glossary.md)). Then a mesh of 2 x 4 also cuts the weights: the first
# layer by columns, and the second by rows. One device shows the right result.

# %%
layouts = {
    "one device": {"mesh": {"data": 1}, "weights": {}},
    "data parallel": {"mesh": {"data": 8}, "weights": {}},
    "2 x 4": {"mesh": {"data": 2, "model": 4}, "weights": {
        "hidden/kernel": (None, "model"), "hidden/bias": ("model",),
        "classes/kernel": ("model", None)}},
}
session.show_source(mesh_on_jax.training_step)

# %% [markdown]
# The step above trains on eight devices, but does not contain a word about them.
#
# **Predict:** what percentage of the weights' bytes does each device of the 2 x 4 mesh
# hold? And how many [all-reduces](../docs/glossary.md) does XLA put into the
# data-parallel step, if there are eight devices and four arrays of weights?

# %%
my_share_guess = None  # change this: percent
card.predict("percent_of_weights_on_2x4", my_share_guess)
my_all_reduces_guess = None  # change this
card.predict("all_reduces_data_parallel", my_all_reduces_guess)

# %%
card.lock("percent_of_weights_on_2x4", "all_reduces_data_parallel")
with no_hang("the work on JAX"):
    found = mesh_on_jax.compare(layouts, "mlp", batch=1024, steps=3, seed=lab.seed)
shares = {}
for name, one in found.items():
    shares[name] = 100 * one["bytes"][0] / found["one device"]["bytes"][0]
    losses = ", ".join(f"{loss:.5f}" for loss in one["losses"])
    print(f"{name}: {one['bytes'][0]:,} bytes of weights on a device, {shares[name]:.1f}%")
    print(f"    messages {one['collectives']}; losses {losses}")
card.outcome("percent_of_weights_on_2x4", shares["2 x 4"])
reduces = found["data parallel"]["collectives"]["all-reduce"]
card.outcome("all_reduces_data_parallel", reduces)

# %% [markdown]
# Each of the eight devices holds a quarter of the weights, not an eighth, because the two
# rows of the mesh hold copies. The data-parallel step needs a single all-reduce: XLA
# packed the gradients of all four arrays, and the loss, into one message. The losses agree
# in all layouts up to rounding. From step 2 on, they depend on earlier updates, so the
# gradients must have agreed, too.
#
# **Question.** Do the devices hold the parts that your function predicts?

# %%
for name, one in found.items():
    mesh, arrays = layouts[name]["mesh"], one["arrays"].values()
    same = [
        [list(map(list, shard_of(a["shape"], a["spec"], mesh, i))) == part
         for i, part in enumerate(a["parts"])] for a in arrays
    ]
    print(f"{name}: JAX and shard_of agree on {sum(map(sum, same))} "
          f"of {sum(map(len, same))} parts")

# %%
panels = {}
for name in ("data parallel", "2 x 4"):
    kernel = found[name]["arrays"]["hidden/kernel"]
    mesh, count = layouts[name]["mesh"], len(kernel["parts"])
    cuts = [shard_of(kernel["shape"], kernel["spec"], mesh, i) for i in range(count)]
    panels[f"{name}\n{tuple(kernel['spec'])}"] = cuts
figure = figures.kernel_on_meshes(kernel["shape"], panels)
summary = "Data parallel: all 8 devices hold the whole kernel. 2 x 4: four blocks of "
summary += "columns, each on two devices."
show_figure(figure, summary, session.caption())

# %% [markdown]
# You asked for no messages, but XLA inserted some. Each line below shows one, with the bytes
# of its result on one device.

# %%
for name, one in found.items():
    for message in one["messages"]:
        print(f"{name + ':':14} {message['kind']} of {message['arrays']} arrays, "
              f"{message['bytes']:,} bytes")

# %% [markdown]
# Follow one image through the 2 x 4 mesh. The first matrix is cut by columns, so each
# device computes a quarter of the hidden values, all by itself. The second matrix is cut by
# rows, so a device holds just the rows that belong to its own hidden values, and needs no
# others. But then it has only a quarter of the terms of each output, so the first message
# adds up the four parts.
#
# The second message adds up the gradients of the two halves of the batch. It is smaller
# than that of data parallelism, because a device needs the gradients of only its quarter of
# the weights.
#
# **Question.** Which of these messages grow with the batch, and which with the network?

# %% [markdown]
# <details><summary>Answer</summary>
#
# Only the first message of 2 x 4 grows with the batch. It has ten numbers of four bytes
# for each of a device's 512 images, which is 20,480 bytes. The other messages hold
# gradients, so they grow with the network.
#
# </details>

# %% [markdown]
# ### Does the compiler change the result?
#
# With data parallelism, the dense network needed one message. Now take the convolutional
# network again, also on eight devices. It has batch normalisation, whose means depend on
# all images of the batch.
#
# **Predict:** how many all-reduces does a step of this network have?

# %%
my_cnn_guess = None  # change this
card.predict("all_reduces_of_the_cnn", my_cnn_guess)

# %%
card.lock("all_reduces_of_the_cnn")
both = {name: layouts[name] for name in ("one device", "data parallel")}
with no_hang("the work on JAX"):
    small = mesh_on_jax.compare(both, "cnn", batch=1024, steps=3, seed=lab.seed)
for name, one in small.items():
    losses = ", ".join(f"{loss:.5f}" for loss in one["losses"])
    print(f"{name}: messages {one['collectives']}; losses {losses}")
*smaller, largest = sorted(m["bytes"] for m in small["data parallel"]["messages"])
print(f"The largest message has {largest:,} bytes, the others have {smaller}")
reduces = small["data parallel"]["collectives"]["all-reduce"]
card.outcome("all_reduces_of_the_cnn", reduces)

# %% [markdown]
# The losses agree with those on one device up to rounding, so the compiler has not changed
# the result. For this, our stored run needed nine messages. The largest holds nearly all
# gradients. The small ones are mostly sums for batch normalisation, forwards and backwards.
# On a mesh, the mean of a channel is taken over the *global* batch,
#
# $$ \mu = \frac{1}{B} \sum_{i=1}^{B} x_i, $$
#
# where $x_i$ is the channel's average over all positions of image $i$. A device knows $x_i$
# only for its own images, so the devices have to exchange their sums within the step.
#
# The cores of part 3 did not exchange them. Each used the mean of its own $b$ images,
# because we did not set `synchronized=True` ([lab 05](05_many_gpus_fit.ipynb)). So with a
# strategy, the result may depend on the number of cores. On a mesh it does not, and the
# price is more messages.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("07")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the last figure, the weights of the hidden layer in two layouts, and the list of
# messages below it. Which layout would you choose for a network whose weights do not fit on
# one device, and how would you pay for it in each step? From which batch on would the first
# message of this layout be larger than the second?
#
# Write three to six sentences in the cell below, with numbers from your run. No check reads
# them, but your instructor may.

# %% [markdown] name="7.figure" points=2
# **7.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# On a TPU you can keep the training step of lab 06. But give all batches the same size, and
# let one call make many steps. On a mesh, you only say how arrays are cut. Every layout gives
# the same result, so you choose one by its memory and its messages.
#
# **Question.** Many boards form a [*pod*](../docs/glossary.md). What would become of our
# training on 512 of its cores, with 128 images each?

# %% [markdown]
# <details><summary>Answer</summary>
#
# With 512 cores, the global batch has 65,536 images, more than the 60,000 of the training
# set, so an epoch would not have a single step.
#
# </details>

# %% [markdown]
# ## Going further: cut everything into eight parts
#
# On the 2 x 4 mesh, each matrix is still stored twice. A third layout, *fully sharded*,
# has a mesh with the single axis `data`, which cuts the batch and the weights into eight
# parts (except the ten biases of the last layer). So no device has a whole matrix to
# multiply its images with.

# %%
eighths = {"mesh": {"data": 8}, "weights": {
    "hidden/kernel": ("data", None), "hidden/bias": ("data",),
    "classes/kernel": ("data", None)}}
with no_hang("the work on JAX"):
    sharded = mesh_on_jax.compare(
        {"fully sharded": eighths}, "mlp", batch=1024, steps=3, seed=lab.seed
    )["fully sharded"]
percent = 100 * sharded["bytes"][0] / found["one device"]["bytes"][0]
losses_seen = ", ".join(f"{loss:.5f}" for loss in sharded["losses"])
print(f"fully sharded: {sharded['bytes'][0]:,} bytes of weights on a device, ", end="")
print(f"{percent:.1f}%")
print(f"    messages {sharded['collectives']}; losses {losses_seen}")
for message in sharded["messages"]:
    print(f"fully sharded: {message['kind']} of {message['arrays']} arrays, "
          f"{message['bytes']:,} bytes")

# %% [markdown]
# Each device fetches the other seven eighths with all-gathers. It needs the sum of the
# gradients only for its eighth, but on a CPU, XLA sends whole gradients. A cheaper message,
# [*reduce-scatter*](../docs/glossary.md), comes in [lab 09](09_many_machines.ipynb).
#
# Both ways to cut weights come back in [lab 11](11_does_not_fit.ipynb): 2 x 4 as
# [*tensor parallelism*](../docs/glossary.md)
# ([Megatron-LM](https://arxiv.org/abs/1909.08053)), and fully sharded as stage 3 of
# [ZeRO](https://arxiv.org/abs/1910.02054).

# %% [markdown]
# <details><summary>If you know PyTorch/XLA</summary>
#
# With `torch_xla.launch`, each core gets a process or a thread that runs the whole
# training, while here one process describes the work of all cores ([API
# guide](https://docs.pytorch.org/xla/release/r2.8/learn/api-guide.html) of version 2.8).
# Part 4 corresponds to its [SPMD
# mode](https://docs.pytorch.org/xla/release/r2.8/perf/spmd_basic.html).
#
# | PyTorch/XLA | here |
# |---|---|
# | `torch_xla.launch` | `strategy.run` |
# | `runtime.global_ordinal()` | `replica_id_in_sync_group` |
# | `DistributedSampler` with `drop_last` | `core_indices` |
# | `ParallelLoader`, which loads in the background | `for_all_cores`, which does not |
# | `batches_per_execution` of its loader | `steps_per_call` |
# | `xm.optimizer_step` | `optimizer.apply` inside `strategy.run` |
# | `met.metrics_report()`, which counts compilations | `len(traced)`, which counts traces |
#
# </details>

# %% [markdown]
# To read on: [*How to Scale Your Model*](https://jax-ml.github.io/scaling-book/), above
# all its chapter on sharded matrices; Keras' [guide to
# distribution](https://keras.io/guides/distribution/); and Jouppi et al. on the first TPU
# ([2017](https://arxiv.org/abs/1704.04760)).
