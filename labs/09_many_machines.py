# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 09: What survives when a machine dies?
#
# In labs 05 to 07 one process drove several devices. On many machines each has a process
# of its own. How do they add up their gradients? Who reads which image? And what is left
# of the training when one of them dies?

# %% [markdown]
# Here everything runs in real processes that talk over TCP, each with its own memory:
# on one machine, on the loopback address 127.0.0.1. The same script runs on several
# machines unchanged. What this cannot show is a slow network, and cores that nobody
# shares: so the lab also forecasts, from what you measure.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 2
batch_size: int = 64  # the global batch: split over the workers
workers: int = 2  # processes that train together
train_images: int = None  # None here and below: what the scale says
learning_rate: float = 0.1
repeats: int = None  # measurements of an all-reduce, and steps with stragglers

# %% [markdown]
# ## Set up
#
# A *worker* is one process of a training; its number, from 0, is its *rank*. The network
# is small, two layers for MNIST (LeCun, Cortes and Burges 1998), because here we look at
# what happens between the workers. They all compute on the CPU: on one machine they would
# take each other's GPU.
#
# Stuck? `hint("9.1")` asks you a question; call it again for more.

# %% tags=["setup"]
from helpers import session

sizes = {
    "smoke": {"train_images": 512, "repeats": 5},
    "laptop": {"train_images": 8192, "repeats": 30},
    "gpu": {"train_images": 60_000, "repeats": 30},
}
lab = session.start("09_many_machines", globals(), sizes, devices="none")

# %%
# np, keras and tf are for your answers: bind them to what you like. Our own cells use
# other names.
import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf

from helpers.data.mnist import mnist

card = lab.card
folder = card.path.with_suffix("")  # what the workers of this run write
session.note_data_source("MNIST", mnist().source, "Noise patterns")

# %%
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_09 import figures, worker
from helpers.lab_09.processes import run_ring
from helpers.lab_09.ring_picture import show_ring
from helpers.lab_09.script import train_on_workers, write_script

use_figures()

# %% [markdown]
# ## 1. All-reduce by hand
#
# Every worker has a gradient, and needs the sum of all. The simplest way: everybody sends
# its own to everybody else. With `N` workers each sends `N - 1` arrays. The network's
# 100,000 weights are 0.4 MB. A thousand workers would each send 400 MB, in every step.
#
# A *ring* needs less, and this is what large trainings do (Patarasu and Yuan 2009). Each
# worker sends only to the next one, and the last to the first. The array is cut into `N`
# *chunks*, so that all can send at the same time.

# %% [markdown]
# - **Reduce-scatter.** In the first round each worker sends the chunk with its own number.
#   It receives one, adds its own values, and sends that sum on in the next round. After
#   `N - 1` rounds every worker has one chunk with the sum of all.
# - **All-gather.** These finished chunks go round once more, in `N - 1` rounds. A worker
#   keeps each in place of what it had, and sends it on.
#
# So a worker sends `2 (N - 1)` chunks, of one `N`-th each: less than two arrays, however
# many workers there are.

# %% [markdown]
# ## Exercise 9.1: the ring
#
# Write `ring_all_reduce(array, rank, workers, send, receive)`. Every worker calls it with
# its own `array`: one axis, float32, equally long for all. It returns a new float32 array,
# the sum over all workers. What it was given stays as it is.
#
# - `send(to, array)` sends an array to the worker with that rank, and does not wait;
# - `receive(sender)` returns the next array that this worker has sent to you, and waits
#   until it is there. Where all wait, nobody sends.

# %% [markdown]
# - A worker sends to `rank + 1` only, and the last one to 0.
# - It sends `2 (N - 1)` messages, also where a chunk is empty. One worker alone sends none.
# - A message holds one chunk in the dtype of the array. The values need not divide by `N`:
#   no chunk has more than `len(array) / N`, rounded up. `np.array_split` cuts like this.
#
# Example: three workers have `[1, 2, 3]`, `[10, 20, 30]`, `[100, 200, 300]`.
# All return `[111, 222, 333]`; each sends four messages. About ten lines.

# %% name="9.1-ring-all-reduce" points=3
# TODO 9.1: the sum of all workers' arrays, by chunks that travel round a ring.
#: start
def ring_all_reduce(array, rank, workers, send, receive):
    """The sum of the arrays of all workers."""
    total = array.copy()
    others = [other for other in range(workers) if other != rank]
    for other in others:
        send(other, array)
    for other in others:
        total += receive(other)
    return total
#: solution
def ring_all_reduce(array, rank, workers, send, receive):
    """The sum of the arrays of all workers."""
    chunks = np.array_split(array.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):  # reduce-scatter
        send(after, chunks[(rank - step) % workers])
        chunks[(rank - step - 1) % workers] += receive(before)
    for step in range(workers - 1):  # all-gather
        send(after, chunks[(rank + 1 - step) % workers])
        chunks[(rank - step) % workers][:] = receive(before)
    return np.concatenate(chunks)
#: end

# %%
ring_all_reduce = check("9.1", ring_all_reduce)

# %% [markdown]
# Watch the chunks of your function, here with four workers. A number in a cell says whose
# values are in the sum; what was sent in a round has an orange frame. Which chunk is
# whole first, and at which worker?

# %%
show_ring(ring_all_reduce, 4, session.caption())

# %% [markdown]
# In the check, threads were the workers. Now processes: the lab starts some on this
# machine, each with your function, and they talk over TCP. **Predict:** an array has
# 1,000,000 values of four bytes. With two workers, each sends 4 MB. How many MB does each
# send with four workers? And how many times as long as with two does it take here?

# %%
# Change both to numbers: MB that a worker sends, and seconds divided by seconds.
my_ring_guess = {"megabytes": None, "times_as_long": None}
card.predict("ring_of_four", my_ring_guess)

# %%
card.lock("ring_of_four")
lengths = (1000, 10_000, 100_000, 1_000_000)  # float32: four bytes each

def measure_ring(n):
    """Median seconds of an all-reduce by bytes, with n workers; bytes that each sent."""
    rounds = [{"values": v, "waits": [[0] * n] * lab.repeats} for v in lengths]
    done = run_ring(ring_all_reduce, folder / "ring", n, rounds)
    seconds = [float(numpy.median(one["seconds"])) for one in done]
    by_bytes = dict(zip((4 * v for v in lengths), seconds, strict=True))
    return by_bytes, max(done[-1]["bytes_sent"])

# %%
ring_seconds, megabytes_sent = {}, {}
for n in (2, 4):
    ring_seconds[n], sent = measure_ring(n)
    megabytes_sent[n] = sent / 1e6
    print(f"Workers: {n}, MB that each sends: {megabytes_sent[n]:.2f}")
    for size, seconds in ring_seconds[n].items():
        print(f"  All-reduce of {size:,} bytes: {1e3 * seconds:.2f} ms")
card.measure("ring_seconds", ring_seconds)
times_as_long = ring_seconds[4][4_000_000] / ring_seconds[2][4_000_000]
card.outcome("ring_of_four", {"megabytes": megabytes_sent[4], "times_as_long": times_as_long})

# %%
figure = figures.all_reduce_seconds(ring_seconds)
text = f"Four workers take {times_as_long:.1f} times as long as two for the largest array."
show_figure(figure, text, session.caption())

# %% [markdown]
# The bytes are exact: `2 (N - 1) / N` of the array. The time is that of *this* network,
# which is one memory: here all messages share it, and all workers share the cores. On real
# machines every link works at the same time, and the time follows the bytes of one worker.
#
# A small array takes almost as long as a larger one. A message has a fixed cost, its
# *latency*, and a ring has `2 (N - 1)` rounds, one after the other. So frameworks pack many
# small gradients into one array.

# %% [markdown]
# ## 2. Two machines
#
# TensorFlow's `MultiWorkerMirroredStrategy` does such an all-reduce inside `optimizer.apply`.
# Every machine runs the same script. Which one it is, and where the others are, stands in
# the variable `TF_CONFIG`:
#
#     {"cluster": {"worker": ["10.0.0.1:23456", "10.0.0.2:23456"]},
#      "task": {"type": "worker", "index": 0}}
#
# Here both addresses are 127.0.0.1, with ports that are free.

# %% [markdown]
# The loop is that of lab 06. A worker sees only its own part of a global batch, and the
# strategy cannot count for it: so the step gets `in_all`, how many images all have
# together.

# %%
session.show_source(worker.make_train_step)

# %% [markdown]
# ## Exercise 9.2: who reads what?
#
# Each worker reads its images by itself. Nobody tells it which: it must know, from five
# numbers. Write `worker_shard(examples, epoch, rank, workers, seed)`. It returns the numbers
# of the examples that this worker reads in this epoch, in its order: a NumPy array of whole
# numbers from 0 to `examples - 1`.
#
# - In an epoch every example is read once, by one of the workers, also where `examples`
#   does not divide by `workers`.
# - The order is random: another one in every epoch, and with another `seed` others in all
#   epochs.

# %% [markdown]
# - The same arguments give the same answer, whenever you ask, in any process: a worker
#   that starts again asks again. The global generators of NumPy and Python stay as they
#   are.
# - All workers cut the *same* order, whatever their number: rank 0 reads places 0,
#   `workers`, 2 `workers` and so on, rank 1 begins at place 1. So together they read in each
#   step what one worker alone would.
#
# Example: if the order of 5 examples is 3, 0, 4, 1, 2, then two workers read `[3, 4, 2]`
# and `[0, 1]`. Two lines.

# %% name="9.2-worker-shard" points=2
# TODO 9.2: the examples that a worker reads in an epoch.
#: start
def worker_shard(examples, epoch, rank, workers, seed):
    """Numbers of the examples that this worker reads in this epoch, in order."""
    return np.arange(examples)
#: solution
def worker_shard(examples, epoch, rank, workers, seed):
    """Numbers of the examples that this worker reads in this epoch, in order."""
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return order[rank::workers]
#: end

# %%
worker_shard = check("9.2", worker_shard)

# %% [markdown]
# The lab now writes out the script, with the source of your function, into a folder of
# this run. On machines that all see that folder, `labs launch 09 --folder FOLDER --hosts
# a,b` prints what to start where. Here all workers start on this machine.
#
# **Predict:** after all steps, by how much does the weight that differs most differ
# between two workers? And between a worker and one process with the same global batch?

# %%
my_weights_guess = {"between_workers": None, "from_one_process": None}  # such as 0.01
card.predict("largest_weight_difference", my_weights_guess)

# %%
card.lock("largest_weight_difference")
names = ("train_images", "batch_size", "epochs", "seed", "learning_rate")
settings = {name: getattr(lab, name) for name in names} | {"fit": False}
write_script(folder / "training", settings, worker_shard)
print("Written out:", *sorted(path.name for path in (folder / "training").iterdir()))
of_workers = train_on_workers(folder / "training", lab.workers)
for rank, (result, _) in enumerate(of_workers):
    last = result["losses"][-1]
    print(f"Worker {rank}: {result['images']:,} images read, the last loss is {last:.4f}")

# %% [markdown]
# Now one process: the same function, here in the notebook, with TensorFlow's default
# strategy, which has one replica.

# %%
default = tensorflow.distribute.get_strategy()
# A whole number of images for each worker: one process takes as many as all of them.
_, same_batch, steps = worker.shape_of(settings, lab.workers)
alone = worker.train(default, 0, settings | {"batch_size": same_batch}, worker_shard)

def largest_difference(some, others):
    """The largest difference between two lists of weights."""
    return max(float(abs(a - b).max()) for a, b in zip(some, others, strict=True))

weights = of_workers[0][1]
differences = {
    "between_workers": max(largest_difference(weights, w) for _, w in of_workers),
    "from_one_process": largest_difference(weights, alone[1]),
}

# %%
for name, difference in differences.items():
    print(f"Largest difference of a weight, {name.replace('_', ' ')}: {difference:.1e}")
card.measure("largest_weight_difference", differences)
card.outcome("largest_weight_difference", differences)
speeds = {}
for name, result in ((f"{lab.workers} workers", of_workers[0][0]), ("one process", alone[0])):
    step_seconds = float(numpy.median(result["seconds"][1:]))
    speeds[name] = same_batch / step_seconds
    print(f"Images/sec, {name}: {speeds[name]:.2f}")
card.measure("images_per_second", speeds[f"{lab.workers} workers"])
card.measure("one_process_images_per_second", speeds["one process"])
curves = {"one process": alone[0]["losses"], "workers": of_workers[0][0]["losses"]}
text = f"The loss of {len(curves['workers'])} steps: both curves lie on each other."
show_figure(figures.losses(curves), text, session.caption())

# %% [markdown]
# The workers agree to the last bit: all of them add the very same sum to the same weights.
# From one process they differ by rounding, because a sum in another order is rounded
# differently. This is the test of any training on several machines.
#
# The speed here says little about machines. The workers share the cores of this one, and
# for so small a network most of a step is the exchange. Section 5 forecasts what many
# machines would do.

# %% [markdown]
# ## The same with `fit`
#
# In Keras 3.15 `model.fit` fails under this strategy (Keras issue 20585): it mixes up
# numbers of one worker with those of all. Two methods of a subclass mend it.
# `MultiWorkerMirroredStrategy.distribute_datasets_from_function` gives each worker the
# pipeline that it made itself, from your `worker_shard`. **Question** before you run the
# cell: the weights of the loop or those of one process, which will `fit` match better?

# %%
write_script(folder / "fit", settings | {"fit": True}, worker_shard)
with_fit = train_on_workers(folder / "fit", lab.workers)
print("Loss of each epoch:", *(f"{loss:.4f}" for loss in with_fit[0][0]["losses"]))
for name, others in (("the loop on workers", weights), ("one process", alone[1])):
    difference = largest_difference(with_fit[0][1], others)
    print(f"Largest difference of a weight from {name}: {difference:.1e}")
left_over = lab.train_images % same_batch
print(f"Images in the last, smaller batch of an epoch: {left_over}")

# %% [markdown]
# With whole batches, `fit` does what your loop does. Where the last line is not 0, it does
# not: `fit` divides a worker's losses by *its own* images, and lab 06 showed what that is
# worth when the workers have different numbers of them.

# %% [markdown]
# ## 3. A machine dies

# %% [markdown]
# ## 4. Stragglers
#
# A synchronous step ends when the last worker has its gradient. Let a worker compute for
# 20 ms, and sometimes longer: another process runs, a disk is slow, a processor is hot. We
# draw the extra time from an exponential distribution; its mean, divided by 20 ms, is the
# *spread*. With spread 0 all are equal. With 0.5 a worker takes 30 ms on average. How often
# do real machines wait? That differs, and our distribution is an assumption.

# %% [markdown]
# Nobody waits for the mean; all wait for the slowest. **Predict** for spread 0.5: how long
# is a step on average, divided by 20 ms, with 4 workers? And with 10,000?

# %%
my_straggler_guess = {"of_4": None, "of_10000": None}  # change both, to numbers
card.predict("straggler_steps", my_straggler_guess)

# %%
card.lock("straggler_steps")
at_least_seconds, spreads = 0.02, (0.0, 0.5, 2.0)
rng = numpy.random.default_rng(lab.seed)

def waits(spread, n, steps):
    """Seconds that each worker computes in each step, shape (steps, n)."""
    return at_least_seconds * (1 + spread * rng.exponential(size=(steps, n)))

# %% [markdown]
# First with real waits: processes that sleep so long, and then all-reduce a small array
# with your ring.

# %%
waited = {spread: {} for spread in spreads}
for n in (1, 2, 4):
    rounds = [{"values": 64, "waits": waits(s, n, 2 * lab.repeats).tolist()} for s in spreads]
    done = run_ring(ring_all_reduce, folder / "stragglers", n, rounds)
    for spread, one in zip(spreads, done, strict=True):
        waited[spread][n] = float(numpy.mean(one["seconds"]))
for spread, seconds in waited.items():
    shown = ", ".join(f"{1e3 * s:.2f} ms with {n}" for n, s in seconds.items())
    print(f"Spread {spread:g}, mean step by workers: {shown}")
card.measure("straggler_seconds", waited)

# %% [markdown]
# Then simulated: the mean of the largest of `N` draws, over 200 steps. Nothing is sent
# here, so the curves lie below what was measured.

# %%
simulated = {
    spread: {n: float(waits(spread, n, 200).max(axis=1).mean()) for n in (1, 4, 100, 10_000)}
    for spread in spreads
}
steps_of = {n: simulated[0.5][n] / at_least_seconds for n in (4, 10_000)}
for n, times in steps_of.items():
    print(f"Simulated, spread 0.5, {n:,} workers: {times:.2f} times the shortest step")
card.outcome("straggler_steps", {f"of_{n}": times for n, times in steps_of.items()})
figure = figures.stragglers(waited, simulated, at_least_seconds)
text = f"With 10,000 workers and spread 0.5 a step takes {steps_of[10_000]:.1f} times as long."
show_figure(figure, text, session.caption())

# %% [markdown]
# The mean of the largest of `N` exponential draws is `1 + 1/2 + ... + 1/N` times the mean
# of one: about `log(N) + 0.58`. It grows for ever, but slowly: the first few workers cost
# most.
#
# What if nobody waits for the slowest? Chen et al. (2016) start some more workers than
# they need, and drop what comes last. The next cell leaves out the last 1% and 5%.

# %%
ordered = numpy.sort(waits(0.5, 10_000, 200), axis=1)
for dropped in (0, 100, 500):
    seconds = ordered[:, -1 - dropped].mean()
    times, lost = seconds / at_least_seconds, dropped / 100
    print(f"Without the slowest {lost:.0f}%: {times:.2f} times the shortest step")

# %% [markdown]
# A worker that is *always* slow is another thing: then every step is as long as its own,
# whatever the others do, and dropping it drops its share of the images every time. Which
# of the two you have, the logs of the workers say: the mean by rank, over many steps.

# %% [markdown]
# ## 5. The forecast

# %% [markdown]
# ## 6. An explorer

# %% [markdown]
# ## Quiz
#
# What do you remember? Every answer comes with an explanation.

# %%
quiz("09")

# %%
session.finish()

# %% [markdown]
# ## What you learned
#
# Three sentences. Two questions without an answer.
#
# To read on: authors, "Title" (year).
