# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 00: Which processor is my code on, and what does it buy me?
#
# A GPU is built for large matrices. Small ones may take longer there than on the
# processor. On a shared server it also belongs to others.
#
# In this lab you take one GPU without getting in others' way. You time work that
# goes on when Python has left, and ask what your clock measures. You find the size from
# which the faster device wins. Without a GPU: one thread of the processor, or all?
#
# Stuck? `hint("0.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto takes what this machine can bear
seed: int = 0
epochs: int = 1  # every lab takes epochs and batch_size; nothing is trained here
batch_size: int = 32
gpu_index: int = 0  # which GPU to take, if there are several
repeats: int = 5  # timed products per size
rows: int = None  # of the first matrix; None here: what the scale says
columns: int = None  # of the second matrix

# %% tags=["setup"]
from helpers.notebook import session

# This lab is about taking a GPU: so the set-up must not take one.
lab = session.start("00_devices", globals(), devices="none")

# %%
# statistics, tf and time are for your answers: bind them to what you like. Our own
# cells use other names.
import statistics
import time
from time import perf_counter, process_time

import numpy
import tensorflow
import tensorflow as tf

from callbacks import progress
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.errors import DeviceError
from helpers.figures import show_figure, use_figures
from helpers.lab_00 import figures, one_thread

use_figures()
card = lab.card

# %% [markdown]
# ## A GPU on a shared server
#
# When TensorFlow first uses a GPU it takes nearly *all* of its memory, and keeps it
# until the process ends: your notebook holds it overnight, too. TensorFlow's guide on
# GPUs gives the reason: memory that is handed out from one piece gets fewer holes. On a
# server that you share, the next person finds a full card, and training ends with an
# error. TensorFlow also takes *every* GPU that it sees, not only the one that it uses.

# %% [markdown]
# Who is on a card, and how full is it? In a terminal, `nvidia-smi` shows it once, and
# `nvitop` (`pip install nvitop`) live, with the owner of each process. Look before you
# take a card.

# %% [markdown]
# What TensorFlow sees can be limited from outside. After
#
#     CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2 jupyter lab
#
# it sees only the card that `nvidia-smi` calls 2, and calls it `GPU:0`. Do not leave the
# first setting out: CUDA by itself counts from the fastest card on (NVIDIA, CUDA C++
# Programming Guide), and its number 2 may be the card of somebody else. Or limit it
# from inside, before TensorFlow starts: that is your first exercise.

# %%
for kind in ("CPU", "GPU"):
    visible = tensorflow.config.list_physical_devices(kind)
    print(f"{kind}s that TensorFlow sees: {len(visible)}")

# %% [markdown]
# ## Exercise 0.1: claim one GPU
#
# Write `claim_gpu(index=0, memory_growth=True, memory_limit_mib=None)`:
#
# - of the GPUs make only `index` visible (`tf.config.set_visible_devices`); the CPU stays;
# - let its memory grow as needed (`tf.config.experimental.set_memory_growth`), or cap it
#   (`tf.config.set_logical_device_configuration`) at so many MiB, or neither;
# - both at once, or a GPU that is not there (-1 is none), is a `ValueError`, before
#   anything is changed;
# - without any GPU, whatever `index` is, print that it goes on with the CPU;
# - once TensorFlow has started, these calls raise a `RuntimeError`: turn it into a
#   `DeviceError` that says, in one line, to restart the kernel.

# %% [markdown]
# It returns what it did. `claim_gpu(1)` returns
#
#     {"gpu": 1, "memory_growth": True, "memory_limit_mib": None}
#
# and without any GPU `{"gpu": None, "memory_growth": False, "memory_limit_mib": None}`.
# About twenty lines. The check pretends that there are several GPUs, so you can solve it
# on any machine. (`DeviceError` is ours: a `RuntimeError` that a notebook shows as one
# line.)

# %% name="0.1-claim-gpu" points=2
# TODO 0.1: make one GPU visible, with memory growth or a limit.
#: start
def claim_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    """Take one GPU and a share of its memory; say what was done."""
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[index], "GPU")
    return {"gpu": index, "memory_growth": False, "memory_limit_mib": None}
#: solution
def claim_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    """Take one GPU and a share of its memory; say what was done."""
    if memory_growth and memory_limit_mib:
        raise ValueError("memory grows or has a limit: give memory_growth=False too")
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        print("There is no GPU here: going on with the CPU.")
        return {"gpu": None, "memory_growth": False, "memory_limit_mib": None}
    if index not in range(len(gpus)):
        raise ValueError(f"index must be below {len(gpus)}, not {index}")
    gpu = gpus[index]
    try:
        tf.config.set_visible_devices(gpu, "GPU")
        if memory_growth:
            tf.config.experimental.set_memory_growth(gpu, True)
        elif memory_limit_mib:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit_mib)
            tf.config.set_logical_device_configuration(gpu, [limit])
    except RuntimeError as error:
        message = "TensorFlow has started: restart the kernel and claim the GPU first."
        raise DeviceError(message) from error
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }
#: end

# %%
claim_gpu = check("0.1", claim_gpu)

# %% [markdown]
# Now for real, with the parameter `gpu_index` of the first cell. The set-up of every
# later lab does the same: one GPU, with memory growth.

# %%
print(session.claim_once(claim_gpu, lab.gpu_index))
gpus = tensorflow.config.list_logical_devices("GPU")
fast, slow = ("GPU:0", "CPU:0") if gpus else ("CPU:0", "one CPU thread")
fast_name, slow_name = (fast, slow) if gpus else ("all CPU threads", slow)
print(f"Comparing {slow_name} with {fast_name}")

# %% [markdown]
# ## Exercise 0.2: time it, really
#
# A GPU works on its own. `tf.matmul` puts the job into a queue and returns at once;
# Python waits only where it needs the numbers. The cell below makes TensorFlow do so on
# a CPU, too. It prints when the call returned, and when the product was finished: the
# medians of five. **Predict:** how many times longer will the second take?

# %%
my_ratio_guess = None  # change this: seconds until finished / seconds until returned
card.predict("finished_over_returned", my_ratio_guess)

# %%
card.lock("finished_over_returned")
tensorflow.config.experimental.set_synchronous_execution(False)
a = tensorflow.random.normal((1000, 1000))
tensorflow.matmul(a, a).numpy()  # the first call starts things up: it does not count
times = []
for _ in range(5):
    began = perf_counter()
    product = tensorflow.matmul(a, a)
    returned = perf_counter() - began
    product.numpy()
    times.append((returned, perf_counter() - began))
returned, finished = numpy.median(times, axis=0)
tensorflow.config.experimental.set_synchronous_execution(True)  # as it was
print(f"Returned after {1000 * returned:.3f} ms, finished after {1000 * finished:.3f} ms")
print(f"Ratio: {finished / returned:.1f}")
card.outcome("finished_over_returned", finished / returned)

# %% [markdown]
# Whoever stops the clock when the call returns measures the queue, not the work. So ask
# for a number of the result first: Python has to wait for it. One number is enough.
# Copying all of a large result takes time, too. Asking for one number has a price as
# well, which is the same for every size: we measure it below.

# %% [markdown]
# Write `time_matmul(device, m, k, n, repeats)`. Make a random m x k matrix and a random
# k x n one. Multiply them on `device`: once without a clock, until that is done, because
# the first product pays the start-up; then `repeats` times, an odd number, each timed until
# it is done. Return the median in seconds and the speed in GFLOP/s. A product takes
# `2 * m * k * n` operations: a median of 0.5 s for m = k = n = 1000 gives `(0.5, 4.0)`.
# Make the matrices once. About ten lines; `with tf.device(device):` chooses the device.

# %% name="0.2-time-matmul" points=2
# TODO 0.2: the median time of a matrix product in seconds, and its GFLOP/s.
#: start
def time_matmul(device, m, k, n, repeats):
    """Median seconds and GFLOP/s of an (m, k) by (k, n) product on a device."""
    with tf.device(device):
        a, b = tf.random.normal((m, k)), tf.random.normal((k, n))
        began = time.perf_counter()
        tf.matmul(a, b)
        seconds = time.perf_counter() - began
    return seconds, 2 * m * k * n / seconds / 1e9
#: solution
def time_matmul(device, m, k, n, repeats):
    """Median seconds and GFLOP/s of an (m, k) by (k, n) product on a device."""
    with tf.device(device):
        a, b = tf.random.normal((m, k)), tf.random.normal((k, n))
        tf.matmul(a, b)[0, 0].numpy()
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            tf.matmul(a, b)[0, 0].numpy()
            times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    return seconds, 2 * m * k * n / seconds / 1e9
#: end

# %%
time_matmul = check("0.2", time_matmul)

# %% [markdown]
# A product of the size that a neural network's layer could have. How many GFLOP/s is
# your machine worth?

# %%
m, n = lab.rows, lab.columns
seconds, gflops = time_matmul(fast, m, 100, n, lab.repeats)
card.measure("matmul_seconds", {"m": m, "k": 100, "n": n, "seconds": seconds})
card.measure("gflop_per_second", gflops)
print(f"A {m:,}x100 by 100x{n:,} product on {fast_name}: {1000 * seconds:.2f} ms")
print(f"GFLOP/s: {gflops:.2f}")

# %% [markdown]
# ## Exercise 0.3: from which size does the larger machine win?
#
# Two square matrices, from 16 rows up, doubling. Before a GPU, or all threads of a CPU,
# can work on a product, it has to be handed out, and that has a price. **Predict:** from
# which size on is it worth it?

# %%
my_crossover_guess = None  # change this: rows of the matrices, such as 16 or 4096
crossover_guess = card.predict("crossover_size", my_crossover_guess)

# %% [markdown]
# With a GPU, `CPU:0` is the slow device, and your function times both. Without one it
# is one thread of the CPU. TensorFlow fixes its threads when it starts, so one thread and
# all threads each get a process of their own, where the solution of 0.2 times them.

# %%
def sweep(device):
    """Median seconds of a square product for each size."""
    bar = progress(tested, desc=device)
    return [time_matmul(device, size, size, size, lab.repeats)[0] for size in bar]

card.lock("crossover_size")
tested = [16 * 2**i for i in range(20) if 16 * 2**i <= lab.largest]
if gpus:
    slow_seconds, fast_seconds = sweep(slow), sweep(fast)
else:
    slow_seconds = one_thread.time_products(tested, lab.repeats, threads=1)
    fast_seconds = one_thread.time_products(tested, lab.repeats)
card.measure("sizes", tested)
card.measure("seconds", {"slow": slow_seconds, "fast": fast_seconds})

# %% [markdown]
# Write `crossover(sizes, slow_seconds, fast_seconds)`: three lists of the same
# length, the sizes rising, which you leave as they are. Return the size from which on
# `fast` is faster, at that size *and at every larger one*; equal times are no win.
# Return `None` if it does not win at the largest. Example:
# `crossover([1, 2, 4, 8], [9, 1, 9, 9], [1, 5, 5, 5])` is `4`. About seven lines.

# %% name="0.3-crossover" points=1
# TODO 0.3: the size from which on the fast device wins, or None.
#: start
def crossover(sizes, slow_seconds, fast_seconds):
    """The size from which on fast beats slow, or None."""
    return sizes[0]
#: solution
def crossover(sizes, slow_seconds, fast_seconds):
    """The size from which on fast beats slow, or None."""
    winner = None
    rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True))
    for size, slow, fast in reversed(rows):
        if fast >= slow:
            break
        winner = size
    return winner
#: end

# %%
crossover = check("0.3", crossover)

# %% [markdown]
# Times scatter from run to run. So here a device wins only if the other one takes at
# least 1.2 times as long.

# %%
winner = crossover(tested, [seconds / 1.2 for seconds in slow_seconds], fast_seconds)
card.measure("crossover_size", winner)
curves = {slow_name: slow_seconds, fast_name: fast_seconds}
figure = figures.matmul_curves(tested, curves, winner, crossover_guess)
where = f"from size {winner} on" if winner else "not even at the largest"
show_figure(figure, f"{fast_name} ahead: {where}.", session.caption())
card.outcome("crossover_size", winner)

# %%
ratio = slow_seconds[-1] / fast_seconds[-1]
print(f"At size {tested[-1]} {slow_name} takes {ratio:.2f} times as long as {fast_name}")

# %% [markdown]
# Look at the left of the figure. A product of 64 rows has 64 times the operations of one
# of 16. How many times as long does it take? What is this time, if not multiplying?
#
# ## What is in the floor?
#
# Your clock also ran while Python asked for one number: `[0, 0]` is an operation of its
# own. **Predict:** what share of the smallest product's time is the asking?

# %%
my_asking_guess = None  # change this: a share, between 0 and 1
card.predict("share_of_asking", my_asking_guess)

# %%
def microseconds(job):
    """Median time of a hundred calls; the first call does not count."""
    job()
    times = []
    for _ in range(100):
        began = perf_counter()
        job()
        times.append(perf_counter() - began)
    return 1e6 * numpy.median(times)

# %%
card.lock("share_of_asking")
with tensorflow.device(fast):
    small = tensorflow.random.normal((16, 16))
    finished = tensorflow.matmul(small, small)
    both = microseconds(lambda: tensorflow.matmul(small, small)[0, 0].numpy())
    asking = microseconds(lambda: finished[0, 0].numpy())
print(f"A 16x16 product and one number of it: {both:.1f} µs")
print(f"One number of a product that was finished before: {asking:.1f} µs")
card.outcome("share_of_asking", asking / both)

# %% [markdown]
# So the floor is a property of the clock as much as of the device. A method of timing
# adds its own price to everything, and hides what is smaller. Where both devices pay it,
# their ratio moves towards 1: the size that you found is that of a product *and* a
# question. For the large sizes the price no longer matters.
#
# On a GPU the job also has to be started there, and the number has to be copied back.
# What that takes was not measured for this text: your two lines say it.

# %% [markdown]
# ## How many threads work?
#
# Where the floor ends the curves rise, and somewhere they may part. Does TensorFlow hand
# a small product to all threads of the CPU? There is a second clock: `process_time`
# counts the seconds of all threads. Two threads that work for one second are two seconds
# on it. **Predict:** how many threads work on the smallest product, and how many on the
# largest?

# %%
my_threads_guess = {"smallest": None, "largest": None}  # change these
card.predict("busy_threads", my_threads_guess)

# %%
def busy_threads(size):
    """Seconds of all threads per second, while the CPU multiplies."""
    with tensorflow.device("CPU:0"):
        square = tensorflow.random.normal((size, size))
        tensorflow.matmul(square, square)
        began, cpu_began = perf_counter(), process_time()
        while perf_counter() < began + 0.1:
            tensorflow.matmul(square, square)
        return (process_time() - cpu_began) / (perf_counter() - began)

card.lock("busy_threads")
busy = [busy_threads(size) for size in tested]
by_size = zip(tested, busy, strict=True)
print("  ".join(f"{size}: {threads:.1f}" for size, threads in by_size))
card.outcome("busy_threads", {"smallest": busy[0], "largest": busy[-1]})

# %% [markdown]
# Where the number is near 1.0 one thread did everything, although all were allowed: so
# small a product was not handed out. Without a GPU, compare with the figure. Where the
# number is higher, is the product faster, too? It need not be: to hand work out has its
# price, and this clock also counts a thread that waits in a loop for the others. If the
# curves part where the number is still 1.0, something else made the difference, such as
# somebody else's work on a busy machine.

# %% [markdown]
# On the right of the figure: the price of starting and asking stays the same while the
# work grows, so the speed rises until a device is busy all the time. This is why we train
# on batches, and why lab 02 asks how large they should be.

# %% [markdown]
# The printed ratio at the largest size: is it the number of threads that worked? If it is
# less, they wait for something that they share, such as memory, or the machine does
# something else as well. This lab does not measure which. If your two curves never part,
# `htop` shows who else works there.

# %% [markdown]
# ## Do both devices get the same answer?
#
# The same numbers, the same product of 500x500 matrices, summed up on each device, in
# float32, which keeps about seven digits. Then once more in another order: first every
# column, then the sums of the columns. **Predict:** in how many digits will the sums in
# the two orders agree? (Two sums agree in four digits if they differ by one part in ten
# thousand.)

# %%
my_digits_guess = None  # change this: digits, such as 3 or 6.5
card.predict("equal_digits", my_digits_guess)

# %%
card.lock("equal_digits")
total = one_thread.sum_of_product
with tensorflow.device(fast):
    on_fast, by_column = total(lab.seed), total(lab.seed, columns_first=True)
with tensorflow.device("CPU:0"):
    on_slow = total(lab.seed) if gpus else one_thread.sum_on_one_thread(lab.seed)
a, b = one_thread.random_matrices(lab.seed).astype("float64")
print(f"On {fast_name}: {on_fast:.6f}")
print(f"On {slow_name}: {on_slow:.6f}")
print(f"On {fast_name}, columns first: {by_column:.6f}")
print(f"In float64, sixteen digits: {(a @ b).sum():.6f}")

# %% [markdown]
# One pair of matrices is an accident. So the next cell draws a hundred.

# %%
def equal_digits(seed):
    """In how many digits the sums in two orders agree, and the size of the sum."""
    with tensorflow.device(fast):
        rows, columns = total(seed), total(seed, columns_first=True)
    apart = abs(rows - columns) / abs(rows)
    return -numpy.log10(max(apart, 2**-24)), abs(rows)  # float32 shows nothing below

drawn = [equal_digits(lab.seed + i) for i in range(100)]
digits, size = numpy.transpose(drawn)
print(f"Digits that agree: median {numpy.median(digits):.1f}, ", end="")
print(f"from {min(digits):.1f} to {max(digits):.1f}")
near_zero = digits[size < numpy.median(size)]
print(f"In the half whose sums are nearest to zero: median {numpy.median(near_zero):.1f}")
card.outcome("equal_digits", numpy.median(digits))

# %% [markdown]
# Every addition of floating-point numbers rounds, so the order matters: `(a + b) + c` is
# not always `a + (b + c)`. A GPU and a CPU cut the work into other pieces and add in
# another order, so their last digits may differ. On NVIDIA GPUs since the A100 more than
# that differs: TensorFlow rounds the factors of float32 products to TF32, which keeps about
# three decimal digits (TensorFlow's documentation of
# `tf.config.experimental.enable_tensor_float_32_execution`). One thread and all threads of a CPU may
# agree to the last digit, or not: that depends on how the work was cut.

# %% [markdown]
# No sum is wrong. A quarter of a million numbers of both signs are added here, and most
# of them cancel. What they were rounded by does not: the nearer the sum comes to zero,
# the fewer of its digits are left. So never compare results of two devices with `==`:
# ask whether they are close. And do not wonder when the same seed gives another loss on
# another device, in its last digits at first.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("00")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure of exercise 0.3. Where do the two lines cross, or where would they? Which
# of the two has the larger floor, and what does that do on the left of that point?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="0.figure" points=2
# **0.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Claim one GPU and a share of its memory, before TensorFlow starts. Time work until it
# is done, leave the first call out, take the median, and know what the clock itself
# adds. A faster device wins only where one call has enough work for it.
#
# Two questions to take along. Why do later labs print images per second of a whole
# epoch instead of timing a step? And what would this lab's curves look like for
# adding two matrices instead of multiplying them?
#
# To read on: Goldberg, "What Every Computer Scientist Should Know About
# Floating-Point Arithmetic" (1991); Williams, Waterman and Patterson, "Roofline"
# (2009).
