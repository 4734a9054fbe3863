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
from helpers.notebook import session

lab = session.start("09_many_machines", globals(), devices="none")

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
from helpers.lab_09 import figures
from helpers.lab_09.ring_picture import show_ring
from helpers.lab_09.workers import worker
from helpers.lab_09.workers.processes import run_ring
from helpers.lab_09.workers.script import train_on_workers, write_script

use_figures()

# %% [markdown]
# ## 1. All-reduce by hand
#
# Every worker has a gradient, and needs the sum of all. The simplest way: everybody sends
# its own to everybody else. With `N` workers each sends `N - 1` arrays. The network's
# 100,000 weights are 0.4 MB. A thousand workers would each send 400 MB, in every step.

# %% [markdown]
# A *ring* needs less (Patarasuk and Yuan 2009). NVIDIA's library NCCL uses rings for large
# messages, and trees for small ones
# ([Jeaugey 2019](https://developer.nvidia.com/blog/massively-scale-deep-learning-training-nccl-2-4/)).
# Each worker sends only to the next one, and the last to the first. The array is cut into
# `N` *chunks*, so that all can send at the same time.

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
# - A message holds one chunk in the array's dtype: at most `len(array) / N` values, rounded
#   up. `np.array_split` cuts like this.
# - Each worker has its own copy of your function, and of what that uses from other cells.
#
# Example: three workers have `[1, 2, 3]`, `[10, 20, 30]`, `[100, 200, 300]`.
# All return `[111, 222, 333]`, and send four messages. About ten lines.

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
for ring_size in (2, 4):
    ring_seconds[ring_size], sent = measure_ring(ring_size)
    megabytes_sent[ring_size] = sent / 1e6
    print(f"Workers: {ring_size}, MB that each sends: {megabytes_sent[ring_size]:.2f}")
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
# Every machine runs the same script. Which one it is, and where the others are, it reads from
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
# of the examples that this worker reads in this epoch, in its order: an array or a list of
# whole numbers from 0 to `examples - 1`.
#
# - In an epoch every example is read once, by one of the workers, also where `examples`
#   does not divide by `workers`.
# - The order is random: another one in every epoch, and with another `seed` others in all
#   epochs.

# %% [markdown]
# - The same arguments give the same answer, whenever you ask, in any process: each has its
#   own copy of your function. The global generators of NumPy and Python stay as they are.
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
# The lab now writes out the script, and a copy of your function with all that it uses,
# into a folder of this run. On machines that all see that folder, and have the same Python,
# `labs launch 09 --folder FOLDER --hosts a,b` prints what to start where. Here all workers
# start on this machine.
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
#
# Every worker waits for all others in each step. So when one dies, all stop, and what they
# had in memory is lost, because nothing in a running job can replace a worker. Training
# lives on through what is on disk: a *checkpoint*, from which a new start of all workers
# goes on. Meta counted 419 unexpected interruptions in 54 days of training on 16,384 GPUs
# (Llama Team 2024, section 3.3.4): one in three hours.

# %%
from statistics import median

from helpers.lab_09 import explorer, forecast_figures
from helpers.lab_09 import forecast as laws
from helpers.lab_09.workers import durable, failures, speeds
from helpers.machine.computer import cores
from helpers.run_card.predictions import factor_off

# %% [markdown]
# ## Exercise 9.3: go on as if nothing had happened
#
# Write `train_with_saves(model, optimizer, train_step, data, epochs, folder, save_every,
# chief)`. It calls `train_step(batch)` for each batch of `epochs` epochs, counted from 0.
# `data(epoch, first)` gives the batches of an epoch from number `first` on. After every
# `save_every` steps, counted over the whole training, it saves.
#
# It may be killed at any moment. Called again in a new process, which has only what is on
# disk, it goes on after the last save: with these weights, the optimizer's state, in that
# epoch, at that batch.

# %% [markdown]
# - Saves go to `folder`, a text, with `tf.train.Checkpoint`. The last two are kept.
# - Only the worker with `chief=True` writes there. Every worker goes on from the last save.
# - A save that was not finished is not used.
# - It returns how many steps were done before this start: 0 at the first.
#
# `tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)` does much of it: it names
# a save as `latest_checkpoint` only when that is whole. A checkpoint keeps what it is given
# by name: models, optimizers, and a `tf.Variable(0, dtype=tf.int64)`. About 18 lines.

# %% name="9.3-train-with-saves" points=3
# TODO 9.3: train, save every so many steps, and go on from the last save.
#: start
def train_with_saves(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    """Train; return how many steps were done before this start."""
    for epoch in range(epochs):
        for batch in data(epoch, 0):
            train_step(batch)
    return 0
#: solution
def train_with_saves(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    """Train; return how many steps were done before this start."""
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
# Now for real. The workers train to the end once, without a kill. Then they begin again,
# and at a step that is drawn here, in the middle of an epoch, worker 1 stops. There the
# lab kills it with SIGKILL: it can write nothing more, as if its machine had lost power.
#
# **Predict:** after how many seconds does worker 0 know? At which step will a new start go
# on? And by how much will the weights at the end differ from those of the first training?

# %%
steps_in_all = lab.epochs * (lab.train_images // same_batch)
save_every = max(1, steps_in_all // 5)
stop_at = int(numpy.random.default_rng(lab.seed).integers(steps_in_all // 2, steps_in_all - 1))
print(f"{steps_in_all} steps, a save after every {save_every}, the kill after {stop_at}")
# Change all three, to numbers:
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
print(f"Worker 0 got {seen['reason']}, {notice_seconds:.2f} s after the kill")

# %% [markdown]
# Worker 0 was waiting for a sum. It learnt of the death because the connection was closed:
# the operating system of a killed process does that. A machine that loses power closes
# nothing, and then only a limit on the wait helps. Now all start again:

# %%
with durable.start(killed_folder, lab.workers, "go on") as job:
    job.wait_for(f"polite: at step {stop_at}", 1, durable.START_SECONDS)
    job.terminate(1)  # for the next paragraph
    durable.tell(killed_folder)
    exit_codes = job.wait(durable.START_SECONDS, check=False)
    went_on_at = durable.first_step(job, "resumed at step")
difference = durable.largest_difference(killed_folder, "uninterrupted", "resumed")
print(f"The new start went on at step {went_on_at}")
print(f"Largest difference of a weight from the training without a kill: {difference:.1e}")
outcome = {"seconds": notice_seconds, "goes_on_at_step": went_on_at}
card.measure("kill", outcome | {"weight_difference": difference})
card.outcome("kill", outcome | {"weight_difference": difference})

# %% [markdown]
# A difference of 0 means: to the last digit, as if nothing had happened. That needs every
# state, also the momentum and the place in the data. (In Keras 3.15 an optimizer in a
# checkpoint also brings the weights that it trains. Do not count on it.)
#
# ## A polite end
#
# Clusters often ask first: they send SIGTERM and give a minute or so. You then need not
# lose the steps since the last save. That is what the cell above did once more, from the
# beginning, with TensorFlow's `PreemptionCheckpointHandler`:

# %%
session.show_source(durable.polite)

# %%
with durable.start(killed_folder, lab.workers, "go on politely") as job:
    job.wait(durable.START_SECONDS)
    polite_at = durable.first_step(job, "polite: begins at step")
difference = durable.largest_difference(killed_folder, "uninterrupted", "polite")
print(f"Worker 1 got SIGTERM at step {stop_at}; exit codes of the workers: {exit_codes}")
print(f"The new start went on at step {polite_at}")
print(f"Largest difference of a weight from the training without a kill: {difference:.1e}")
card.measure("polite_end", {"goes_on_at_step": polite_at, "weight_difference": difference})

# %% [markdown]
# One worker was asked, and all of them agreed on a step, saved together, and left with
# exit code 42, which says: start me again. No regular save was needed. But a machine that
# dies does not ask. So both: save when you are asked, and every so often.
#
# How often? A save costs time, and so does what is lost in a failure. First: what does a
# save cost here? A model of a billion parameters has 12 GB with the two states of Adam.

# %%
save_mib = 64
bytes_per_second = durable.save_speed(folder / "large", save_mib)
save_seconds = 12e9 / bytes_per_second
print(f"Saving {save_mib} MiB: {bytes_per_second / 1e6:.1f} MB/sec")
print(f"So 12 GB take {save_seconds:.1f} s")
card.measure("save_seconds_of_12_gb", save_seconds)

# %% [markdown]
# ## Exercise 9.4: how often to save?
#
# Write `save_interval(save_seconds, restart_seconds, machine_days, machines)`. A machine
# fails every `machine_days` days on average, and each failure stops the whole job, which
# then needs `restart_seconds` before it trains again. With `M` seconds between two failures
# of the job, and saves of `d` seconds, return three numbers: two intervals, in seconds of
# training between two saves, and what is lost.
#
# - Young (1974): the root of `2 d M`.

# %% [markdown]
# - Daly (2006): Young's interval times
#   `1 + sqrt(d / (2 M)) / 3 + d / (2 M) / 9`, less `d`. But `M` where `d` is `2 M` or more.
# - Seconds lost for each second trained, with Daly's interval: one save in each interval;
#   and for each failure, so every `M` seconds, half an interval and a restart.
#
# Daly's example: saves of 300 s, a failure every 24 hours. `save_interval(300, 600, 10, 10)`
# is `(7200.0, 7001.3..., 0.0903...)`, so 117 minutes. About seven lines.

# %% name="9.4-save-interval" points=2
# TODO 9.4: Young's and Daly's interval, and the seconds lost for each second trained.
#: start
def save_interval(save_seconds, restart_seconds, machine_days, machines):
    """Young's and Daly's interval, and the seconds lost for each second trained."""
    return save_seconds, save_seconds, 0.0
#: solution
def save_interval(save_seconds, restart_seconds, machine_days, machines):
    """Young's and Daly's interval, and the seconds lost for each second trained."""
    between = machine_days * 24 * 3600 / machines
    part = save_seconds / (2 * between)
    young = (2 * save_seconds * between) ** 0.5
    daly = between
    if part < 1:
        daly = young * (1 + part**0.5 / 3 + part / 9) - save_seconds
    lost = save_seconds / daly + (daly / 2 + restart_seconds) / between
    return young, daly, lost
#: end

# %%
save_interval = check("9.4", save_interval)

# %% [markdown]
# A thousand machines of eight GPUs. Meta's 419 interruptions are one for every 264 days of
# such a machine (16,384 / 8 machines times 54 days, divided by 419). A restart takes 10
# minutes, as in Daly's example. A save takes as long as yours would.
#
# **Predict:** how many minutes between two saves are best? And how many seconds are then
# lost for each hour of training?

# %%
my_interval_guess = {"minutes": None, "lost_seconds_an_hour": None}  # change both
card.predict("save_interval", my_interval_guess)

# %%
card.lock("save_interval")
machine_days, restart_seconds, machines = 264, 600, 1000
job_of = save_seconds, restart_seconds, machine_days, machines
young, daly, lost_by_formula = save_interval(*job_of)
print(f"Young: {young / 60:.2f} min, Daly: {daly / 60:.2f} min between two saves")
rng = numpy.random.default_rng(lab.seed)

def months(interval, how_many=20):
    """Seconds lost for each second trained, in simulated months of all machines."""
    return [failures.lost_seconds(interval, *job_of, 30, rng)[0] for _ in range(how_many)]

intervals = [daly * 2.0**power for power in (-4, -3, -2, -1, 0, 1, 2, 3, 4)]
lost_in_months = {interval: months(interval) for interval in intervals}

# %%
between = machine_days * 86_400 / machines
by_formula = {
    i: save_seconds / i + (i / 2 + restart_seconds) / between for i in intervals
}
figure = forecast_figures.lost_by_interval(lost_in_months, by_formula, young, daly)
best = min(intervals, key=lambda i: median(lost_in_months[i]))
summary = f"Of these intervals {best / daly:g} times Daly's loses least in simulated months."
show_figure(figure, summary, session.caption())
simulated_loss = median(lost_in_months[daly])
print(f"Lost with Daly's interval: {3600 * lost_by_formula:.1f} s an hour by the formula,")
print(f"  {3600 * simulated_loss:.1f} s in the median of 20 simulated months,")
print(f"  {3600 * median(lost_in_months[2 * daly]):.1f} s there with twice the interval")
card.measure("lost_seconds", {"formula": lost_by_formula, "simulated": simulated_loss})
result = {"minutes": daly / 60, "lost_seconds_an_hour": 3600 * simulated_loss}
card.outcome("save_interval", result)

# %% [markdown]
# The curve is flat near its lowest point: twice the best interval costs little. Far to the
# right the formula no longer holds. It counts each failure once, but there whole intervals
# end before a save, and the simulation loses more.
#
# What the simulation leaves out: failures that come together, broken machines that stay in
# the job, and saves that nobody can read. Read one back before you need it.

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
straggler_rng = numpy.random.default_rng(lab.seed)

def waits(spread, n, steps):
    """Seconds that each worker computes in each step, shape (steps, n)."""
    return at_least_seconds * (1 + spread * straggler_rng.exponential(size=(steps, n)))

# %% [markdown]
# First with real waits: processes that sleep so long, and then all-reduce a small array
# with your ring.

# %%
waited = {spread: {} for spread in spreads}
for ring_size in (1, 2, 4):
    drawn = [waits(s, ring_size, 2 * lab.repeats).tolist() for s in spreads]
    rounds = [{"values": 64, "waits": seconds} for seconds in drawn]
    done = run_ring(ring_all_reduce, folder / "stragglers", ring_size, rounds)
    for spread, one in zip(spreads, done, strict=True):
        waited[spread][ring_size] = float(numpy.mean(one["seconds"]))
for spread, seconds in waited.items():
    shown = ", ".join(f"{1e3 * s:.2f} ms with {n}" for n, s in seconds.items())
    print(f"Spread {spread:g}, mean step by workers: {shown}")
card.measure("straggler_seconds", waited)

# %% [markdown]
# Then simulated: the mean of the largest of `N` draws, over 200 steps. These are other
# draws, and nothing is sent. Do the measured points lie near the curves?

# %%
simulated = {
    spread: {n: float(waits(spread, n, 200).max(axis=1).mean()) for n in (1, 4, 100, 10_000)}
    for spread in spreads
}
steps_of = {n: simulated[0.5][n] / at_least_seconds for n in (4, 10_000)}
for count, times in steps_of.items():
    print(f"Simulated, spread 0.5, {count:,} workers: {times:.2f} times the shortest step")
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
#
# What would 512 machines do? You cannot measure it here, but a law can say it: one whose
# numbers you have measured, and which you test where you can. Two parts you know: lab 02's
# law of a step, and the ring.
#
# The messages of a layer can travel while the layers before it still compute: backward
# begins at the last layer, and its gradient is ready first. Backward takes two thirds of
# the time of an image (lab 08).

# %% [markdown]
# ## Exercise 9.5: a law for n devices
#
# Write `forecast(devices, batch_size, t0_seconds, peak, gradient_bytes, latency_seconds,
# bytes_per_second)`. A device computes `t0_seconds` and its `batch_size` images at `peak`
# images per second. Then the ring: `2 (n - 1)` messages one after the other, each with an
# n-th part of the gradient; one takes the latency, and its bytes by the bandwidth. One
# device sends nothing.
#
# Return a dict with two pairs, `"in_turn"` and `"overlapped"`: images per second of all
# devices together, and the *efficiency*, that speed divided by `devices` times the speed
# of one device.

# %% [markdown]
# - `"in_turn"`: first it computes, then it sends.
# - `"overlapped"`: messages travel beside two thirds of the time of the *images*. What is
#   not done by then comes on top. A step never takes less than its computing.
#
# Example: two devices, 100 images, 0.1 s fixed, 1000 images/s, 4 MB, 1 ms, 40 MB/s. It
# computes for 0.2 s and sends for 0.102 s, of which 0.0667 s are hidden.
#
#     forecast(2, 100, 0.1, 1000, 4e6, 0.001, 40e6)
#     {"in_turn": (662.3, 0.662), "overlapped": (849.9, 0.850)}

# %% name="9.5-forecast" points=3
# TODO 9.5: images per second and efficiency of n devices, with and without overlap.
#: start
def forecast(
    devices, batch_size, t0_seconds, peak, gradient_bytes, latency_seconds, bytes_per_second
):
    """Images per second and efficiency: {"in_turn": (a, b), "overlapped": (c, d)}."""
    speed = devices * batch_size / (t0_seconds + batch_size / peak)
    return {"in_turn": (speed, 1.0), "overlapped": (speed, 1.0)}
#: solution
def forecast(
    devices, batch_size, t0_seconds, peak, gradient_bytes, latency_seconds, bytes_per_second
):
    """Images per second and efficiency: {"in_turn": (a, b), "overlapped": (c, d)}."""
    computing = t0_seconds + batch_size / peak
    message = latency_seconds + gradient_bytes / devices / bytes_per_second
    sending = 2 * (devices - 1) * message
    hidden = min(sending, 2 / 3 * batch_size / peak)
    steps = {"in_turn": computing + sending, "overlapped": computing + sending - hidden}
    return {
        way: (devices * batch_size / step, computing / step)
        for way, step in steps.items()
    }
#: end

# %%
forecast = check("9.5", forecast)

# %% [markdown]
# Now your numbers. The workers measure, each on one core: steps of three batch sizes
# alone, all-reduces of three sizes, and steps together. From the first two come `t0`,
# peak, latency and bandwidth; the last we only use to see how wrong the law is.

# %%
n, hidden_units = lab.workers, 256
known_batches, new_batch = [16, 64, 256], 128
measuring = {"hidden": hidden_units, "rounds": 3, "calls": 2 * lab.repeats}
batches = {"local_batches": known_batches, "shared_batches": known_batches}
values = {"all_reduce_values": [1000, 100_000, 400_000]}
measured = speeds.measure(folder / "speeds", n, measuring | batches | values)
gradient_bytes = 4 * measured["parameters"]

def law_of(one_round):
    """t0, peak, gradient, latency and bandwidth from seconds: arguments of `forecast`."""
    by_bytes = {4 * v: seconds for v, seconds in one_round["all_reduce"].items()}
    step, link = laws.fit_step(one_round["local"]), laws.fit_link(by_bytes, n)
    return *step, gradient_bytes, *link

# %% [markdown]
# On one machine a law needs one thing more. Cores are shared: three workers on two cores
# each get two thirds of one. So `here` makes everything slower by that factor, computing
# and sending. And nothing is overlapped: the core that computes also sends.

# %%
def here(law, workers, batch_size):
    """Images per second that a law says of workers on this machine."""
    t0, peak, sent_bytes, latency, bandwidth = law
    slower = max(1, workers / cores()) / max(1, n / cores())
    slowed = t0 * slower, peak / slower, sent_bytes, latency * slower, bandwidth / slower
    return float(forecast(workers, batch_size, *slowed)["in_turn"][0])

laws_of_rounds = [law_of(one) for one in measured["rounds"]]
law = tuple(median(numbers) for numbers in zip(*laws_of_rounds, strict=True))
print(f"Fixed cost: {1e3 * law[0]:.2f} ms, peak: {law[1]:.1f} images/s")
print(f"Latency: {1e3 * law[3]:.3f} ms, bandwidth: {law[4] / 1e6:.1f} MB/sec")
fit = {"t0_seconds": law[0], "peak_images_per_second": law[1]}
card.measure("fit", fit | {"parameters": measured["parameters"]})
card.measure("link", {"latency_seconds": law[3], "bytes_per_second": law[4]})

# %%
lab_02 = laws.law_of_lab_02()
both = [("these workers", {"t0_seconds": law[0], "peak": law[1]}), ("your lab 02", lab_02)]
for name, one in both:
    said = "not run yet"
    if one:
        said = f"{1e3 * one['t0_seconds']:.2f} ms and {one['peak']:.1f} images/s"
    print(f"Fixed cost and peak of {name}: {said}")

# %% [markdown]
# The law is lab 02's, its two numbers are not. There a convolutional network had all
# cores; here each worker has one core, for two layers. `t0` and peak belong to a network
# *and* a device. The next cells measure these workers, so the forecast takes theirs.
# Section 6 takes those of lab 02, where a device is a whole machine.

# %% [markdown]
# How wrong may a forecast be? It has to say so before. We forecast what is already known,
# the steps of `n` workers together, from the law of all rounds and from that of each
# single one. The largest factor by which one of these misses, *squared*, is the error that
# we state: three workers, and another batch, lie outside of what was measured.

# %%
said, came = [], []
for batch in known_batches:
    for one in measured["rounds"]:
        for candidate in [law, law_of(one)]:
            said.append(here(candidate, n, batch))
            came.append(n * batch / one["shared"][batch])
factor = laws.stated_factor(said, came)
print(f"Stated error: a factor of {factor:.2f}")

# %% [markdown]
# **Predict**, by feeling first: how many images per second do `n + 1` workers train, with
# 128 images each? Then the law's forecast is locked, too.

# %%
my_speed_guess = None  # change this: images/s of all workers together
card.predict("held_out_by_feeling", my_speed_guess)
forecast_speed = here(law, n + 1, new_batch)
card.predict("held_out_by_the_law", forecast_speed)
low, high = forecast_speed / factor, forecast_speed * factor
print(f"Forecast for {n + 1} workers: {forecast_speed:.1f} images/s, ", end="")
print(f"from {low:.1f} to {high:.1f}")

# %%
card.lock("held_out_by_feeling", "held_out_by_the_law")
held_out = {"local_batches": [new_batch], "shared_batches": [new_batch]}
held_out |= {"all_reduce_values": [1000]}
seen = speeds.measure(folder / "held out", n + 1, measuring | held_out)
speeds_seen = [(n + 1) * new_batch / one["shared"][new_batch] for one in seen["rounds"]]
seen_speed = median(speeds_seen)
print(f"Images/sec with {n + 1} workers: {seen_speed:.2f}")
card.measure("held_out_rounds", speeds_seen)
card.measure("held_out_images_per_second", seen_speed)
print(f"The forecast is off by a factor of {factor_off(forecast_speed, seen_speed):.2f}")
verdict = "within" if low <= seen_speed <= high else "outside of"
print(f"The measurement is {verdict} the error that was stated")
card.outcome("held_out_by_feeling", seen_speed)
card.outcome("held_out_by_the_law", seen_speed)

# %%
curve = {workers: here(law, workers, new_batch) for workers in range(1, n + 5)}
at_once = [one["shared"][64] for one in measured["rounds"]]
known_ratio = n * 64 / median(at_once) / here(law, n, 64)
known = {n: curve[n] * known_ratio}
figure = forecast_figures.forecast_and_measured(curve, factor, known, {n + 1: seen_speed})
text = f"{n + 1} workers: forecast {forecast_speed:.0f}, measured {seen_speed:.0f} images/s."
show_figure(figure, text, session.caption())

# %% [markdown]
# The grey point was known, at 64 images, brought to 128 by the law. A stated error
# is worth little if it is huge. Where yours is, look at the rounds: did they differ, or
# was the law wrong in all of them?
#
# ## The same law for published machines
#
# Now 512 GPUs. Horovod's page on benchmarks (`docs/benchmarks.rst`) reports an efficiency of
# 90% for Inception V3 and ResNet-101 and 68% for VGG-16, on 128 servers of four GPUs each.
# Goyal et al. (2017) report about 90% for ResNet-50, from 8 GPUs to 256. **Predict** what
# your law says for VGG-16.

# %%
my_vgg_guess = {"in_turn": None, "overlapped": None}  # efficiencies, from 0 to 1
card.predict("vgg_efficiency", my_vgg_guess)

# %%
card.lock("vgg_efficiency")
rows = laws.published_forecasts(forecast)
ways = ("in_turn", "overlapped", "reported")
for row in rows:
    in_turn, overlapped, reported = (100 * row[way] for way in ways)
    print(f"{row['name']}: in turn {in_turn:.1f}%, overlapped {overlapped:.1f}%, ", end="")
    print(f"reported {reported:.0f}%")
figure = forecast_figures.published(rows)
between_both = sum(row["in_turn"] <= row["reported"] <= row["overlapped"] for row in rows)
text = f"{between_both} of {len(rows)} reports lie between in turn and overlapped."
show_figure(figure, text, session.caption())
vgg = next(row for row in rows if row["name"].startswith("VGG"))
card.outcome("vgg_efficiency", {way: vgg[way] for way in my_vgg_guess})

# %% [markdown]
# The order is right: VGG-16 has most parameters for the time of an image. But the law gives
# ranges, and they are 14 to 26 points wide; three of them end at 100%. The guess "90% for
# all" is right for three of the four. So four hits say little. A report below "in turn"
# would have refuted the law: both systems overlap.

# %% [markdown]
# VGG-16 shows what the law leaves out. A ring needs 354 ms to send its 553 MB over
# 25 Gbit/s, and at best 258 ms of them hide behind the backward pass. One layer holds three
# quarters of these bytes. It is near the end of the network, so its gradient is ready early
# in the backward pass: that helps, and does not explain 68%.

# %% [markdown]
# An older README of Horovod reports 79% for 128 GPUs. From there to 512 GPUs the reports
# fall by eleven points, and the law by about one. What it lacks may explain that: with more
# GPUs it is more likely that one is slow, and other traffic shares the network. Nothing
# here measures which. Goyal et al. compare with 8 GPUs, the law with one.

# %% [markdown]
# Where the numbers come from:
#
# - parameters: Keras' table of applications; four bytes each;
# - `t0` and peak of one P100: TensorFlow's benchmarks of May 2017, batches of 32 and 64.
#   They have no ResNet-101: *assumed* between ResNet-50 and ResNet-152, by operations (He
#   et al. 2016, table 1). Horovod's GPUs are "Pascal": that they are P100 is *assumed*;
# - links of 25 and 50 Gbit/s: Horovod's `docs/benchmarks.rst`; Goyal et al., section 4;
# - a latency of 10 microseconds: *assumed*.

# %% [markdown]
# ## 6. An explorer
#
# All in one: your law, the ring, stragglers, failures, and how many images a large batch
# needs (lab 03's bend, the *critical batch size* of McCandlish et al. 2018; lab 05 measured
# none). In JupyterLab you have sliders. They start at your own figures: `t0`, peak and
# parameters of lab 02, or without it of the workers above; the bend of lab 03, or 1,000.
# The command `labs plan --devices 8 --link 25Gbit` prints such a plan from your run cards.
#
# **Predict:** from 8 devices to 1024, how many times as fast is the training done?

# %%
my_times_guess = None  # change this: hours with 8 devices divided by those with 1024
card.predict("times_as_fast", my_times_guess)

# %%
card.lock("times_as_fast")
own = {"t0_seconds": law[0], "peak": law[1], "parameters": measured["parameters"]}
own |= lab_02 | {"save_seconds": save_seconds} | laws.critical_batch_of_lab_03()
own = laws.DEFAULTS | own
explorer.explore(own, forecast, save_interval, session.caption())
by_devices = {
    devices: laws.plan(own | {"devices": devices}, forecast, save_interval)
    for devices in (8, 1024)
}
times_as_fast = by_devices[8]["hours"] / by_devices[1024]["hours"]
for devices, planned in by_devices.items():
    print(f"{devices:,} devices: efficiency {100 * planned['efficiency']:.1f}%")
print(f"1024 devices are done {times_as_fast:.2f} times as fast as 8")
card.outcome("times_as_fast", times_as_fast)

# %% [markdown]
# Two limits meet. The ring and the stragglers lower the efficiency; and beyond the
# critical batch size more images in a batch save no steps. Where the last number is below
# 1, more devices make it slower: the network here is so small that a step takes
# milliseconds. With how many parameters, and how many images on each, do 1024 pay?
#
# Device hours show what it costs. Which slider buys most: link, compression, or fewer
# images on each? Accumulation hides the link, but makes the batch larger. Try it before
# you rent.

# %% [markdown]
# ## Quiz
#
# What do you remember? Every answer comes with an explanation.

# %%
quiz("09")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure of the forecast. Did the three workers come out within the error that was
# stated? What does the law leave out that your machine has, and what would you measure next
# to find it?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="9.figure" points=2
# **9.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Many machines train as one: each reads its own part of the same order, and a ring adds up
# the gradients. When one dies, all stop, and what lives on is the last checkpoint, if
# everything is in it. How far it scales can be said before you rent: with a law, numbers
# of your own, and an error that you state first.
#
# Two questions to take along. Gradient and link become four times as large and as fast:
# which term of the law stays? And what would you save every hour that no checkpoint has?

# %% [markdown]
# To read on: Patarasu and Yuan, "Bandwidth Optimal All-reduce Algorithms" (2009); Daly, "A
# Higher Order Estimate of the Optimum Checkpoint Interval" (2006); Chen et al., "Revisiting
# Distributed Synchronous SGD" (2016); Goyal et al., "Accurate, Large Minibatch SGD" (2017);
# Sergeev and Del Balso, "Horovod" (2018); McCandlish et al., "An Empirical Model of
# Large-Batch Training" (2018); Llama Team, "The Llama 3 Herd of Models" (2024).
