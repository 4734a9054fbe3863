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
# In 54 days of training on 16,384 GPUs, Meta counted 419 unexpected interruptions, about
# one every three hours ([Llama Team 2024](https://arxiv.org/abs/2407.21783), section
# 3.3.4). A job on many machines has to survive every one of them. In this lab you kill a
# process in the middle of an epoch, and find out, to the last digit, what is left of the
# training.
#
# In labs [05](05_many_gpus_fit.ipynb) to [07](07_tpu_cores.ipynb) one process drove several
# devices. Many machines need at least one process on each. This lab has four parts, and you
# can pause after each of them:
#
# 1. You write a ring that adds up the gradients of all processes.
# 2. You let several processes train one network, each on its own images.
# 3. You kill one of them, and calculate how often a job should save.
# 4. You find a bug that no error message reports.

# %% [markdown]
# > **Limits.** Your workers are real processes that talk over TCP. But they share the CPU
# > of *one* machine, and their messages pass through its memory, not over a network. [Lab
# > 10](10_more_machines.ipynb) forecasts how much a slow network costs, and how fast
# > workers with cores of their own would be.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 2
batch_size: int = 64  # the global batch: split over the workers
workers: int = 2  # processes that train together
train_images: int = None  # None: chosen by the scale (also repeats)
learning_rate: float = 0.1
repeats: int = None  # how often each all-reduce is measured

# %% [markdown]
# ## Set up
#
# A [*worker*](../docs/glossary.md) is one of the processes that train together, and its
# number, counted from 0, is its *rank*. A network of two layers that learns
# [MNIST](https://keras.io/api/datasets/mnist/) (LeCun, Cortes and Burges 1998) is enough
# here, because we look at what happens *between* the workers.
#
# If you are stuck, press *Hint* below the check, or call `hint` with the number of the
# exercise in a new cell, for example `hint("9.1")`. It asks a guiding question, and each
# further call tells you more.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("09_many_machines", globals(), devices="none")

# %%
# np, keras and tf are for your answers, which may overwrite them. The lab's own cells use
# other names.
import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf

from helpers.data.mnist import mnist

card = lab.card
folder = card.path.with_suffix("")  # for the files of this run's workers
digits = mnist()
session.note_data_source("MNIST", digits.source, "Noise patterns")
print(f"{len(digits.x_train):,} images of digits to train on")

# %%
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_09 import figures
from helpers.lab_09.ring_picture import show_ring
from helpers.lab_09.workers import worker
from helpers.lab_09.workers.script import train_on_workers, write_script
from helpers.workers.processes import run_ring

use_figures()

# %% [markdown]
# ## 1. All-reduce by hand
#
# After the backward pass, each worker has a gradient of its own, but each needs the sum of
# all gradients. An operation that gives all workers the sum of their arrays is called an
# [*all-reduce*](../docs/glossary.md). Our network has 100,000 weights, which take 0.4 MB.
# If each of a thousand workers simply sent its gradient to all others, it would send 400 MB
# in every step.
#
# In a *ring* it sends less than 0.8 MB ([Patarasuk and Yuan
# 2009](https://doi.org/10.1016/j.jpdc.2008.09.002)). Each worker sends only to the next
# worker, and the last one to the first. The array is cut into $N$ *chunks*, one for each of
# the $N$ workers, so that all can send different parts at the same time.

# %% [markdown]
# The ring works in two phases:
#
# - **Reduce-scatter.** In the first round, worker 0 sends chunk 0, worker 1 sends chunk 1,
#   and so on. Each worker adds its own values to the chunk that it receives, and sends this
#   sum on in the next round. After $N - 1$ rounds each chunk has visited all workers. Every
#   worker then has one finished chunk, the sum over all workers.
# - **All-gather.** The finished chunks travel round the ring in another $N - 1$ rounds.
#   Each worker replaces its own values with the finished chunk that it receives, and passes
#   it on.
#
# ![A ring of three workers with three chunks each. After reduce-scatter each worker holds one finished sum, and after all-gather all workers hold all three.](../helpers/lab_09/diagrams/ring.svg)
#
# If the array has $G$ bytes, a worker therefore sends less than two arrays, however many
# workers there are:
#
# $$ 2\,(N - 1)\,\frac{G}{N} < 2\,G \quad\text{bytes.} $$

# %% [markdown]
# ### Exercise 9.1: the ring
#
# All workers run your function at the same time, and together they add up their arrays.
#
# **Write** `ring_all_reduce(array, rank, workers, send, receive)`, which returns a new
# float32 array, the sum over all workers. The `array` of a worker has one axis, dtype
# float32, and the same length on all workers. You get two functions:
#
# - `send(to, array)` sends an array to the worker with that rank, and does not wait;
# - `receive(sender)` waits for the next array from that worker, and returns it. If all
#   workers wait at the same time, the ring stands still.
#
# **Rules**
#
# - A worker sends only to rank `rank + 1`, and the last worker sends to rank 0.
# - Every worker sends `2 (N - 1)` messages, even if a chunk is empty. A single worker sends
#   none.
# - A message holds one chunk, in the array's dtype. You may send the chunks in any order.
# - A chunk has at most `len(array) / N` values, rounded up, as
#   [`np.array_split`](https://numpy.org/doc/stable/reference/generated/numpy.array_split.html)
#   makes them.
# - Do not modify `array`. The arrays that `receive` returns are yours to change.
# - Each worker has its own copy of your function, and of everything that it uses from other
#   cells, so the workers share no variables.
#
# **Example.** Three workers have `[1, 2, 3]`, `[10, 20, 30]` and `[100, 200, 300]`. All of
# them return `[111, 222, 333]`, and each sends four messages.
#
# You need about ten lines.

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
# Watch your function move its chunks. Each row is a worker, and each column a chunk. The
# numbers in a square say whose values its sum contains, and an orange frame marks a chunk
# that was sent in this round.
#
# **Question.** After how many rounds is the first chunk finished? How many other chunks are
# finished at the same time, and which workers hold them?

# %%
show_ring(ring_all_reduce, 4, session.caption())

# %% [markdown]
# <details><summary>Answer</summary>
#
# After $N - 1 = 3$ rounds. The three other chunks are finished in the same round, and each
# worker holds one of the four.
#
# </details>

# %% [markdown]
# In the check the workers were threads. Now they become processes that talk over TCP. If
# two of them add up the largest array, of 4 MB, each sends
# $2 \cdot (2 - 1) \cdot 4 / 2 = 4$ MB.
#
# **Predict:** With four workers, how many MB does each of them send? And how long does this
# all-reduce take here, as a multiple of the time that it takes with two workers?

# %%
# Change both to numbers: the MB that each worker sends, and the ratio of the two times.
my_ring_guess = {"megabytes": None, "times_as_long": None}
card.predict("ring_of_four", my_ring_guess)

# %%
card.lock("ring_of_four")
lengths = (1000, 10_000, 100_000, 1_000_000)  # float32 values, four bytes each

def measure_ring(n):
    """Time the all-reduces of n workers.

    Returns the median seconds by the array's size in bytes, and the bytes that a worker
    sent for the largest array.
    """
    rounds = [{"values": v, "waits": [[0] * n] * lab.repeats} for v in lengths]
    results = run_ring(ring_all_reduce, folder / "ring", n, rounds)
    seconds = [float(numpy.median(result["seconds"])) for result in results]
    by_bytes = dict(zip((4 * v for v in lengths), seconds, strict=True))
    return by_bytes, max(results[-1]["bytes_sent"])

# %%
ring_seconds, megabytes_sent = {}, {}
for ring_size in (2, 4):
    ring_seconds[ring_size], sent = measure_ring(ring_size)
    megabytes_sent[ring_size] = sent / 1e6
    print(f"{ring_size} workers: each sends {megabytes_sent[ring_size]:.2f} MB")
    for size, seconds in ring_seconds[ring_size].items():
        print(f"  All-reduce of {size:,} bytes: {1e3 * seconds:.2f} ms")
card.measure("ring_seconds", ring_seconds)
times_as_long = ring_seconds[4][4_000_000] / ring_seconds[2][4_000_000]
card.outcome("ring_of_four", {"megabytes": megabytes_sent[4], "times_as_long": times_as_long})

# %%
figure = figures.all_reduce_seconds(ring_seconds)
text = f"Four workers take {times_as_long:.1f} times as long as two for the largest array."
show_figure(figure, text, session.caption())

# %% [markdown]
# Four workers send $2 \cdot 3 \cdot 4 / 4 = 6$ MB each, which is 1.5 times as much as two
# workers send. Did your time grow by more than that? Here all messages pass through one
# memory, and the workers share its cores. Between real machines all links work at the same
# time, so a large array takes only as long as one worker needs to send its share: $G$ bytes
# with two workers, $1.5\,G$ with four, and never quite $2\,G$, however many there are.
#
# An array of 40,000 bytes probably takes far less than ten times as long as one of 4,000.
# Each message has a fixed cost, its [*latency*](../docs/glossary.md), and a ring pays it in
# each of its $2\,(N - 1)$ rounds. That is why frameworks pack many small gradients into one
# large array.

# %% [markdown]
# <details><summary>Do real libraries use rings?</summary>
#
# NVIDIA's library NCCL 2.4 uses rings for large messages and trees, which need fewer
# rounds, for small ones ([Jeaugey
# 2019](https://developer.nvidia.com/blog/massively-scale-deep-learning-training-nccl-2-4/)).
# [Lab 10](10_more_machines.ipynb) compares the two.
#
# </details>

# %% [markdown]
# ## 2. Two machines
#
# TensorFlow's
# [`MultiWorkerMirroredStrategy`](https://www.tensorflow.org/api_docs/python/tf/distribute/MultiWorkerMirroredStrategy)
# performs such an all-reduce inside `optimizer.apply`. Every machine runs the same script.
# The environment variable
# [`TF_CONFIG`](https://www.tensorflow.org/guide/distributed_training) tells it which worker
# it is, and where the others are:
#
#     {"cluster": {"worker": ["10.0.0.1:23456", "10.0.0.2:23456"]},
#      "task": {"type": "worker", "index": 0}}
#
# In this lab both addresses are 127.0.0.1, with two free ports.
#
# The training loop of [lab 06](06_many_gpus_loop.ipynb) needs one change. As before, each
# worker divides the sum of its losses by the number of images in the whole [global
# batch](../docs/glossary.md). But a worker now sees only its own part, so it cannot count
# them. The step therefore receives this number as an argument, `in_all`.

# %%
session.show_source(worker.make_train_step)

# %% [markdown]
# ### Exercise 9.2: who reads what?
#
# Nobody tells a worker which images to read: it has to work that out by itself.
#
# **Write** `worker_shard(examples, epoch, rank, workers, seed)`, which returns an array or
# a list of the examples that this worker reads in this epoch, in their order. Examples are
# whole numbers from 0 to `examples - 1`.
#
# **Rules**
#
# - In an epoch every example is read exactly once, by one of the workers, even if
#   `examples` is not a multiple of `workers`.
# - The order is random, differs from epoch to epoch, and changes in all epochs with `seed`.
# - Do not use `seed + epoch`, because seed 1 in epoch 2 would then give the same order as
#   seed 2 in epoch 1.
# - The same arguments give the same answer at any time and in any process. (Each worker calls
#   its own copy of your function. If two copies drew different orders, some examples would be
#   read twice and others never.)
# - The global random generators of NumPy and Python stay as they are.
# - All workers share *one* order, which does not depend on their number. Rank 0 reads
#   places 0, `workers`, `2 * workers` and so on, and rank 1 reads places 1, `workers + 1`
#   and so on. Together they then read in each step what a single worker would have read.
#
# **Example.** If the order of 5 examples is 3, 0, 4, 1, 2, then two workers read
# `[3, 4, 2]` and `[0, 1]`.
#
# You need two lines.

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
# The next cell writes the script and your function into the folder of this run, and starts
# all workers.
#
# **Predict:** After all steps, we compare two workers weight by weight. How large is the
# largest difference? And how large is it between a worker and a single process that trains
# with the same global batch?

# %%
# Change both to numbers such as 0.01.
my_weights_guess = {"between_workers": None, "from_one_process": None}
card.predict("largest_weight_difference", my_weights_guess)

# %%
card.lock("largest_weight_difference")
names = ("train_images", "batch_size", "epochs", "seed", "learning_rate")
settings = {name: getattr(lab, name) for name in names} | {"fit": False}
write_script(folder / "training", settings, worker_shard)
print("Files written:", *sorted(path.name for path in (folder / "training").iterdir()))
of_workers = train_on_workers(folder / "training", lab.workers)
for rank, (result, _) in enumerate(of_workers):
    last = result["losses"][-1]
    print(f"Worker {rank}: {result['images']:,} images read, the last loss is {last:.4f}")

# %% [markdown]
# For comparison, a single process trains here in the notebook, with TensorFlow's default
# strategy.

# %%
default = tensorflow.distribute.get_strategy()
# All workers get parts of equal size, so their global batch is a multiple of their number.
# The single process uses batches of the same size.
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
images_per_second = {}
for name, result in ((f"{lab.workers} workers", of_workers[0][0]), ("one process", alone[0])):
    step_seconds = float(numpy.median(result["seconds"][1:]))
    images_per_second[name] = same_batch / step_seconds
    print(f"Images/sec, {name}: {images_per_second[name]:.2f}")
card.measure("images_per_second", images_per_second[f"{lab.workers} workers"])
card.measure("one_process_images_per_second", images_per_second["one process"])
curves = {"one process": alone[0]["losses"], "workers": of_workers[0][0]["losses"]}
apart = max(abs(numpy.subtract(*curves.values())))
text = f"The loss of {len(curves['workers'])} steps: the curves differ by at most {apart:.1e}."
show_figure(figures.losses(curves), text, session.caption())

# %% [markdown]
# The workers agree to the last bit, because all of them apply the very same sum to the same
# weights. From the single process they differ only by rounding errors, because a sum in a
# different order is rounded differently. Test your own training loops in this way. Leave
# out dropout and batch normalisation, because each worker applies them to its own part of
# the batch.
#
# In the stored run, the two workers trained on 12,732 images per second, and the single
# process on 46,818. This says nothing about larger networks. Ours is so small that the
# workers, on shared cores, spend most of each step exchanging gradients.

# %% [markdown]
# <details><summary>If you know PyTorch</summary>
#
# | PyTorch | here |
# |---|---|
# | [`torchrun`](https://docs.pytorch.org/docs/stable/elastic/run.html), which sets `RANK`, `WORLD_SIZE` and `MASTER_ADDR` | `TF_CONFIG` |
# | [`DistributedSampler`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler), which repeats or drops examples to give all workers equally many | `worker_shard` |
# | `sampler.set_epoch(epoch)`; if you forget it, every epoch has the same order | the argument `epoch` |
# | buckets of gradients in DDP | one large array |
# | `torchrun --max-restarts 3` starts all workers again, and the script loads its checkpoint | part 3: all workers start again |
#
# </details>

# %% [markdown]
# <details><summary>Do you have several machines?</summary>
#
# If they share a folder and have the same Python,
# `labs launch 09 --folder FOLDER --hosts a,b` prints the command to start on each of them.
#
# </details>

# %% [markdown]
# The next cell trains once more, with `fit`. You may skip it.
#
# **Question.** Will the weights from `fit` be closer to the weights from your loop, or to the
# weights of the single process?

# %% [markdown]
# <details><summary>Why does fit need help here?</summary>
#
# In Keras 3.15 `model.fit` fails under this strategy, in two places ([Keras issue
# 20585](https://github.com/keras-team/keras/issues/20585)). When it builds the network, it
# tries to average a batch over the workers outside of `strategy.run`, which TensorFlow cannot
# do. And after each step it tries to average every metric along its first axis, which a
# single number does not have. A small subclass of the model avoids both. Each worker builds
# its own input pipeline from your `worker_shard`, with the strategy's method
# `distribute_datasets_from_function`.
#
# </details>

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
# <details><summary>What do the lines about fit say?</summary>
#
# In the stored run, `fit` gives exactly the weights of your loop, and like the loop it differs
# from the single process by at most 3.3e-07. But this is so only if all batches are full, as
# they are if the last line says 0. Otherwise the results differ whenever some workers get more
# images of the last batch than others, because `fit` divides by the number of a worker's *own*
# images ([lab 06](06_many_gpus_loop.ipynb)).
#
# </details>

# %% [markdown]
# ## 3. A machine dies
#
# In each step every worker waits for all others, so when one dies, all stop. The other
# workers still have the weights in memory, but under this strategy a running job cannot
# replace a worker. All processes have to start again, from a
# [*checkpoint*](../docs/glossary.md) on disk.
#
# ![A time line of a training with checkpoints. A worker dies between two of them, all workers restart from the last one, and the steps since then are done again.](../helpers/lab_09/diagrams/checkpoint_and_restart.svg)

# %%
from statistics import median

from helpers.lab_09.workers import durable, failures

# %% [markdown]
# ### Exercise 9.3: resume as if nothing had happened
#
# Your training may be killed at any moment. A new process then starts it again, with
# nothing but the files on disk, and it resumes from the last save.
#
# **Write** `train_with_saves(model, optimizer, train_step, data, epochs, folder, save_every,
# chief)`, which trains, saves on the way, and begins at the last save if there is one. It
# returns how many steps that save already contains, or 0 without a save. (The optimizer is
# already built.)
#
# **Example.** With 4 batches per epoch and `save_every=3`, a job is killed after 8 steps.
# The next start returns 6, and the first batch on which it trains is number 2 of epoch 1.
#
# **Rules**
#
# What it calls:
#
# - `train_step(batch)`, for each batch of `epochs` epochs.
# - `data(epoch, first)` gives the batches of an epoch, beginning with number `first`. If the
#   last save was made at the end of an epoch, no batches are left, and it gives none. Epochs
#   and batches are counted from 0.
#
# When it saves:
#
# - After every `save_every` steps, counted over the whole training, it saves to `folder` (a
#   path, as text) with
#   [`tf.train.Checkpoint`](https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint).
# - Only the worker with `chief=True` writes to `folder`. The last two saves are kept.
#
# How it resumes:
#
# - Every worker restores the weights and the optimizer's state from the last save, and
#   resumes in the same epoch, at the next batch.
# - A save that was not finished is not used.

# %% [markdown]
# [`tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)`](https://www.tensorflow.org/api_docs/python/tf/train/CheckpointManager)
# does much of the work: its `latest_checkpoint` names only complete saves. A checkpoint
# stores every object that you pass to it as a keyword argument, for example models,
# optimizers, and variables such as `tf.Variable(0, dtype=tf.int64)`. You need about 18
# lines.

# %% name="9.3-train-with-saves" points=3
# TODO 9.3: train, save after every `save_every` steps, and resume from the last save.
#: start
def train_with_saves(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    """Train; return the number of steps in the save from which it resumes, or 0."""
    for epoch in range(epochs):
        for batch in data(epoch, 0):
            train_step(batch)
    return 0
#: solution
def train_with_saves(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    """Train; return the number of steps in the save from which it resumes, or 0."""
    step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in range(3))
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    done_before = int(step)
    while int(epoch) < epochs:
        for batch in data(int(epoch), int(place)):
            train_step(batch)
            step.assign_add(1)
            place.assign_add(1)
            if chief and int(step) % save_every == 0:
                manager.save()
        epoch.assign_add(1)
        place.assign(0)
    return done_before
#: end

# %%
train_with_saves = check("9.3", train_with_saves)

# %% [markdown]
# (Here only the chief saves. Some variables, such as metrics, have a different value on each
# worker, and TensorFlow combines them during the save. Then [all workers have to
# save](https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras#model_saving_and_loading):
# the chief to the real folder, and the others to temporary ones.)

# %% [markdown]
# First the workers train without interruption. Then they start again from the beginning. At
# a random step in the second half, the lab kills worker 1 with SIGKILL, which leaves a
# process no chance to write anything more.
#
# **Predict:** How many seconds after the kill does worker 0 notice it? At which step do the
# workers resume when they are started again? And when this resumed training has ended, how
# large is the largest difference between its weights and those of the uninterrupted
# training?

# %%
steps_in_all = lab.epochs * (lab.train_images // same_batch)
save_every = max(1, steps_in_all // 5)
stop_at = int(numpy.random.default_rng(lab.seed).integers(steps_in_all // 2, steps_in_all - 1))
print(f"{steps_in_all} steps in all, a save after every {save_every} steps; ", end="")
print(f"worker 1 is killed after {stop_at} steps")
# Change all three to numbers.
my_kill_guess = {"seconds": None, "goes_on_at_step": None, "weight_difference": None}
card.predict("kill", my_kill_guess)

# %%
card.lock("kill")
killed_settings = settings | {"save_every": save_every, "stop_at": stop_at}
killed_folder = folder / "killed"
durable.prepare(killed_folder, killed_settings, train_with_saves, worker_shard)
with durable.start(killed_folder, lab.workers, "until killed") as job:
    job.wait_for(f"stopped at step {stop_at}", 1, durable.START_SECONDS)
    killed_at = durable.kill(job, 1)
    codes_after_kill = job.wait(durable.START_SECONDS, check=False)
    seen = durable.noticed(job, 0)
notice_seconds = seen["unix_seconds"] - killed_at
print(f"Exit codes of the workers: {codes_after_kill}")
print(f"Worker 0 failed with {seen['reason']}, {notice_seconds:.2f} s after the kill")

# %% [markdown]
# Worker 0 noticed the death because the operating system closes the connections of a killed
# process. But a machine that loses power closes no connection. The other workers can only
# wait for a time limit, such as that of the heartbeats which TensorFlow sends between the
# processes.
#
# Now all workers start again, and resume:

# %%
with durable.start(killed_folder, lab.workers, "resume") as job:
    job.wait(durable.START_SECONDS)
    resumed_at = durable.first_step(job, "resumed at step")
difference = durable.largest_difference(killed_folder, "uninterrupted", "resumed")
print(f"The workers resumed at step {resumed_at}")
print(f"Largest difference of a weight from the uninterrupted training: {difference:.1e}")
outcome = {"seconds": notice_seconds, "goes_on_at_step": resumed_at}
card.measure("kill", outcome | {"weight_difference": difference})
card.outcome("kill", outcome | {"weight_difference": difference})

# %% [markdown]
# What survives is the last checkpoint. A difference of 0 means that the training ended as
# if nothing had happened, to the last digit. For that, a checkpoint has to contain the
# complete state, including the momentum and the place in the data.
#
# Is it the same on a GPU? There, too, a checkpoint has to hold the complete state, but the
# last digit may differ: unless you call
# [`enable_op_determinism`](https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_op_determinism),
# a GPU may add up the same numbers in another order each time. (We have not measured this.)
# And on fewer machines? Your shards come from one order for any number of workers, so if the
# global batch keeps its size, the remaining workers read the same batches. Only the rounding
# changes.

# %% [markdown]
# ### A polite end
#
# Clusters often give notice: they send SIGTERM, and then leave you a short time to save.
# TensorFlow's
# [`PreemptionCheckpointHandler`](https://www.tensorflow.org/api_docs/python/tf/distribute/experimental/PreemptionCheckpointHandler)
# uses that time. Below you see a training with this handler. The workers run it from the
# beginning, and worker 1 receives SIGTERM at the step at which it was killed before.

# %%
session.show_source(durable.polite)

# %%
with durable.start(killed_folder, lab.workers, "until SIGTERM") as job:
    job.wait_for(f"polite: at step {stop_at}", 1, durable.START_SECONDS)
    job.terminate(1)  # it sends SIGTERM
    durable.tell(killed_folder)
    codes_after_sigterm = job.wait(durable.START_SECONDS, check=False)
print(f"Worker 1 received SIGTERM at step {stop_at}")
print(f"Exit codes of the workers: {codes_after_sigterm}")

# %% [markdown]
# Only one worker received the signal, but all of them agreed on a step, saved together,
# and exited with code 42, with which this handler says "start me again". At which step do
# they resume?

# %%
with durable.start(killed_folder, lab.workers, "resume after SIGTERM") as job:
    job.wait(durable.START_SECONDS)
    polite_at = durable.first_step(job, "polite: begins at step")
difference = durable.largest_difference(killed_folder, "uninterrupted", "polite")
print(f"After the new start, the workers resumed at step {polite_at}")
print(f"Largest difference of a weight from the uninterrupted training: {difference:.1e}")
card.measure("polite_end", {"goes_on_at_step": polite_at, "weight_difference": difference})

# %% [markdown]
# This time no step had to be repeated. But a machine that dies gives no notice, so save at
# regular intervals as well.

# %% [markdown]
# ### How often should you save?
#
# A save costs time, but so do the steps that have to be repeated after a failure. How long
# does a save take for a billion parameters? With four bytes for each, and as many for each
# of Adam's two states, there are 12 GB to write.

# %%
save_mib = 64
bytes_per_second = durable.save_speed(folder / "large", save_mib)
save_seconds = 12e9 / bytes_per_second
print(f"Saving {save_mib} MiB: {bytes_per_second / 1e6:.1f} MB/sec")
print(f"At this speed, 12 GB take {save_seconds:.1f} s")
card.measure("save_seconds_of_12_gb", save_seconds)

# %% [markdown]
# ### Exercise 9.4: the best interval
#
# Find the interval between two saves that loses the least time.
#
# **Write** `best_interval(save_seconds, restart_seconds, failure_seconds)`, which returns
# the pair `(interval, lost)`: the seconds of training between two saves, and the seconds
# that the job then loses, on average, for each second of training.
#
# **Rules**
#
# - After every `interval` seconds of training the job saves, which takes `save_seconds`.
# - On average, the job fails once in `failure_seconds` of training. Each failure costs a
#   restart of `restart_seconds`, and on average repeats half an interval of training.
# - `lost` is what saves, restarts and repeated training cost together, in seconds for each
#   second of training.
# - `interval` differs by at most 1% from the interval that makes `lost` smallest, which
#   lies between 0.1 s and `failure_seconds`.
#
# **Example**
#
#     best_interval(50, 600, 10_000)   # (1000.0, 0.16), or an interval from 990 to 1010
#
# Saving costs 50 / 1000 = 0.05 of each second, repeated training 500 / 10,000 = 0.05, and
# restarts 600 / 10,000 = 0.06. You need about six lines and no calculus: write the cost as
# a function of the interval, and search for its minimum.

# %% name="9.4-best-interval" points=2
# TODO 9.4: the interval between two saves that loses the least time, and this loss.
#: start
def best_interval(save_seconds, restart_seconds, failure_seconds):
    """The best interval, and the seconds lost for each second of training."""
    interval = save_seconds
    return interval, save_seconds / interval
#: solution
def best_interval(save_seconds, restart_seconds, failure_seconds):
    """The best interval, and the seconds lost for each second of training."""
    intervals = np.geomspace(0.1, failure_seconds, 20_000)
    saving = save_seconds / intervals
    failing = (intervals / 2 + restart_seconds) / failure_seconds
    best = np.argmin(saving + failing)
    return intervals[best], saving[best] + failing[best]
#: end

# %%
best_interval = check("9.4", best_interval)

# %% [markdown]
# Imagine a thousand machines with eight GPUs each. Meta had 2,048 such machines, and 419
# interruptions in 54 days. If we count every interruption as the failure of one machine
# (software or the network caused some), a machine fails once in
# $2048 \times 54 / 419 \approx 264$ days. For your thousand machines we assume three things:
#
# - Each fails as often as one of Meta's.
# - A restart takes 10 minutes.
# - Each saves 12 GB, its own share of a larger network, in the time that you have just
#   calculated. (If all of them write to the same storage, it may take longer.)
#
# **Predict:** What is the best interval between two saves, in minutes? And how many seconds
# are then lost for each hour of training? (Your second number is compared with a simulation
# below.)

# %%
my_interval_guess = {"minutes": None, "lost_seconds_an_hour": None}  # change both
card.predict("save_interval", my_interval_guess)

# %%
card.lock("save_interval")
machine_days, restart_seconds, machines = 264, 600, 1000
failure_seconds = machine_days * 86_400 / machines
found, lost = best_interval(save_seconds, restart_seconds, failure_seconds)
print(f"One failure every {failure_seconds / 3600:.2f} hours")
print(f"Best interval: {found / 60:.2f} min between two saves, ", end="")
print(f"with {3600 * lost:.1f} s lost for each hour of training")

# %% [markdown]
# Calculus gives the answer in closed form. Let $d$ be the time of a save, $R$ the time of a
# restart, $M$ the mean time between two failures, and $\tau$ the interval, all in seconds.
# You minimised the cost for each second of training,
#
# $$ c(\tau) = \frac{d}{\tau} + \frac{1}{M} \left( \frac{\tau}{2} + R \right). $$
#
# At the minimum the derivative $-d / \tau^2 + 1 / (2 M)$ is zero, so
#
# $$ \tau^* = \sqrt{2\, d\, M}. $$
#
# This is the formula of [Young (1974)](https://doi.org/10.1145/361147.361115).
#
# **Question.** Why does $R$ not appear in it?

# %% [markdown]
# <details><summary>Answer</summary>
#
# Each failure costs one restart, whatever the interval. So $R / M$ raises the whole curve
# and leaves its minimum where it is.
#
# </details>

# %%
young = (2 * save_seconds * failure_seconds) ** 0.5
print(f"Young's formula: {young / 60:.2f} min; your search: {found / 60:.2f} min")
job_settings = save_seconds, restart_seconds, machine_days, machines
rng = numpy.random.default_rng(lab.seed)

def months(interval, how_many=20):
    """Seconds lost for each second of training, in each of `how_many` months."""
    one_month = interval, *job_settings, 30, rng  # 30 days
    return [failures.lost_seconds(*one_month)[0] for _ in range(how_many)]

intervals = [found * 2.0**power for power in (-4, -3, -2, -1, 0, 1, 2, 3, 4)]
lost_in_months = {interval: months(interval) for interval in intervals}

# %%
by_cost = {
    i: save_seconds / i + (i / 2 + restart_seconds) / failure_seconds for i in intervals
}
figure = figures.lost_by_interval(lost_in_months, by_cost, found, young)
best = min(intervals, key=lambda i: median(lost_in_months[i]))
summary = f"In the simulation, the best of these intervals is {best / found:g} x yours."
show_figure(figure, summary, session.caption())
simulated_loss, loss_of_twice = (median(lost_in_months[i]) for i in (found, 2 * found))
print("Time lost for each hour of training")
print(f"  by the cost function: {3600 * lost:.1f} s")
print(f"  in the median of 20 simulated months: {3600 * simulated_loss:.1f} s")
print(f"  the same with twice your interval: {3600 * loss_of_twice:.1f} s")
card.measure("lost_seconds", {"formula": lost, "simulated": simulated_loss})
result = {"minutes": found / 60, "lost_seconds_an_hour": 3600 * simulated_loss}
card.outcome("save_interval", result)

# %% [markdown]
# The curve is flat near its minimum: with twice the best interval, saves and repeated steps
# together cost only a quarter more. Far to the right, the simulated jobs lose more than your
# cost function predicts. If saves are far apart, the job often fails again before it reaches
# the next save, and has to repeat the same steps once more. Your cost function does not know
# this: it charges half an interval for each failure, however soon the next one comes. [Daly
# (2006)](https://doi.org/10.1016/j.future.2004.11.016) corrects Young's formula for that.

# %% [markdown]
# <details><summary>What even the simulation leaves out</summary>
#
# Failures come in groups, a broken machine may stay in the job, and some checkpoints cannot
# be read, so test that you can restore one before you need to. A save can also be cheaper:
# many large jobs only copy the state to host memory, and write it to disk while training
# continues.
#
# </details>

# %% [markdown]
# ## 4. A bug without an error message
#
# A crash at least tells you that something is wrong. This script, like the one in [lab
# 06](06_many_gpus_loop.ipynb), is wrong without an error message. It makes the batches of
# one worker, which reads its part of the images as in exercise 9.2 and flips some of them
# at random. The docstring is correct, but **one line** does something else.

# %%
from helpers.lab_09.ex5_find_the_bug import script
from helpers.notebook.listing import show_listing

show_listing(script.batches_of)

# %% [markdown]
# ### Exercise 9.5: find the bug
#
# You repair the script, and find out how much it has cost.
#
# **Write** `find_the_bug(workers, epochs)`, which returns three values: the number of the
# wrong line, the corrected line as text, and the cost of the bug.
#
# **Rules**
#
# - Lines are numbered as in the listing. Replace exactly one line with one new line. The
#   spaces before it do not matter.
# - With the new line the script does what its docstring says, whatever the arguments.
# - The cost is a number from 0 to 1: the expected share of the images that no worker sees
#   in any of the `epochs` epochs. Assume that the number of images is large and a multiple
#   of `workers`.

# %% [markdown]
# **Example.** `return 6, "", 0.0` says that line 6 should be empty, and that the bug costs
# nothing.
#
# Guessing line by line does not help: if the check fails, it does not tell you whether your
# line number or your repair is wrong. Run the script instead:
# `list(script.batches_of(0, 2, 4, 1, 4, seed=0))` has the images of rank 0 if two workers
# share 4 images.

# %% name="9.5-find-the-bug" points=2
# TODO 9.5: the wrong line's number, the corrected line, and the share that nobody sees.
#: start
def find_the_bug(workers, epochs):
    """The number of the wrong line, the corrected line, and the share of unseen images."""
    line, repaired = 0, ""
    share = 0.0
    return line, repaired, share
#: solution
def find_the_bug(workers, epochs):
    """The number of the wrong line, the corrected line, and the share of unseen images."""
    nobody = (1 - 1 / workers) ** workers  # in one epoch
    return 10, "shuffling = np.random.default_rng(seed)", nobody**epochs
#: end

# %%
find_the_bug = check("9.5", find_the_bug)

# %%
def share_that_nobody_sees(workers, epochs, images=1200):
    """Run the unrepaired script for all workers, and count the images that none reads."""
    seen = set()
    for rank in range(workers):
        for _, chosen, _ in script.batches_of(rank, workers, images, epochs, 50, lab.seed):
            seen.update(chosen.tolist())
    return 1 - len(seen) / images

for team in ((1, 1), (2, 1), (8, 1), (100, 1), (8, 3)):
    counted, (*_, expected) = share_that_nobody_sees(*team), find_the_bug(*team)
    print("Workers: {}, epochs: {}. Images not seen: ".format(*team), end="")
    print(f"{100 * expected:.1f}% expected, {100 * counted:.1f}% counted")

# %% [markdown]
# With one worker the script is right, so a test on one machine finds nothing. With a
# hundred workers, more than a third of the images are missing from an epoch. After several
# epochs nearly all have been seen, but some more often than others, and nothing reports
# that. A test of three lines would have found the bug: compare the images that all workers
# read in an epoch with the data set.

# %% [markdown]
# ## Quiz
#
# How much of this do you remember? Every answer comes with an explanation.

# %%
quiz("09")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Look at the figure of the simulated months. Why does the lost time rise on both sides of
# the minimum? On the right, why does it rise more steeply in the simulation than in the
# cost function? What would change if a save took a tenth of the time?
#
# Write three to six sentences in the cell below, in your own words and with numbers from
# your run. No check reads them, but your instructor may.

# %% [markdown] name="9.figure" points=2
# **9.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# What survives when a machine dies? Here, only the last checkpoint. But if it holds the
# complete state, the job resumes as if nothing had happened. The best interval between
# two saves balances the time for saving and the time for repeating lost steps. As long as
# no machine dies, the workers train like a single one: each reads its own part of the
# same order, and a ring adds up the gradients.
#
# **Question.** If a thousand machines become four thousand, how does the best interval
# change?

# %% [markdown]
# <details><summary>Answer</summary>
#
# They fail four times as often, so $M$ falls to a quarter. If a save takes as long as
# before, $\tau^* = \sqrt{2\, d\, M}$ is halved.
#
# </details>

# %% [markdown]
# To read on: [Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
# Workstations" (2009)](https://doi.org/10.1016/j.jpdc.2008.09.002); [Young, "A First Order
# Approximation to the Optimum Checkpoint Interval"
# (1974)](https://doi.org/10.1145/361147.361115); [Daly, "A Higher Order Estimate of the
# Optimum Checkpoint Interval for Restart Dumps"
# (2006)](https://doi.org/10.1016/j.future.2004.11.016); [Llama Team, "The Llama 3 Herd of
# Models" (2024)](https://arxiv.org/abs/2407.21783).
