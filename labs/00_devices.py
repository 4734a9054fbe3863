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
# A notebook that multiplied two tiny matrices this morning, and has been idle since, can
# keep a whole GPU from your colleagues until tonight. And for matrices that small, the CPU,
# the computer's ordinary processor, may well have been faster.
#
# For large matrices you do need a GPU, but how large is large? To find out, you claim one
# GPU, and build a clock that does not stop before the work is really done. Then you let two
# devices race on matrices of many sizes.
#
# With a GPU, it is the *fast device*, and your CPU is the *slow device*. Without one, both
# are your CPU, with different numbers of *threads* (streams of instructions): the fast device
# uses one for every *core*, and the slow device only one.

# %% [markdown]
# Where the text says *Predict*, run the next cell, type your guess into the form below it and
# press *Lock*. Or replace `None` in the cell. You may leave it out, but you cannot change it
# after the measurement. Every exercise marked **TODO** has a check below it. Until your
# answer passes, the lab uses the reference solution. If you are stuck, press *Hint* below
# the check, or call `hint("0.1")` in a new cell. Each further hint tells you more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto picks what suits this machine
seed: int = 0
epochs: int = 1  # every lab takes epochs and batch_size; nothing is trained here
batch_size: int = 32
gpu_index: int = 0  # which GPU to take, if there are several
repeats: int = 5  # timed products per size
rows: int = None  # of the first matrix; None: chosen by the scale (also columns)
columns: int = None  # of the second matrix

# %% tags=["setup"]
from helpers.notebook import session

# You claim a GPU yourself in exercise 0.1, so the set-up does not claim one.
lab = session.start("00_devices", globals(), devices="none")

# %%
# statistics, tf and time are for your answers, which may overwrite them. The lab's own
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
# ## The same product, in Python and in NumPy
#
# What can your CPU do alone? Most of the work in a network goes into matrix products. To
# compute one number in the product of two $n \times n$ matrices, you multiply $n$ pairs
# of numbers and add up the results:
#
# ![Three grids: a row of the first matrix times a column of the second gives one number of the product.](../helpers/lab_00/diagrams/matrix_product.svg)
#
# The product has $n^2$ numbers, and each of them takes $n$ multiplications and $n$
# additions, which makes $2 n^3$ operations. You could write them as three nested loops in
# Python, or leave them to NumPy's `@`, on the same CPU.
#
# **Predict:** how many times as fast as these loops is NumPy?

# %%
my_numpy_guess = None  # change this: 10 is ten times as fast
card.predict("numpy_over_python", my_numpy_guess)

# %%
def microseconds(job, calls=100):
    """Median time of a call in microseconds; the first call is not timed."""
    job()
    times = []
    for _ in range(calls):
        began = perf_counter()
        job()
        times.append(perf_counter() - began)
    return 1e6 * numpy.median(times)

# Chosen so that this square product takes about as many operations as the flat product
# that comes after exercise 0.2.
square = round((100 * lab.rows * lab.columns) ** (1 / 3))
left, right = numpy.random.default_rng(lab.seed).normal(size=(2, square, square))
left, right = left.astype("float32"), right.astype("float32")
row, column = left[0].tolist(), right[:, 0].tolist()

# %%
def one_number():
    """The innermost loop: one number of the product."""
    total = 0.0
    for a, b in zip(row, column, strict=True):
        total += a * b
    return total

card.lock("numpy_over_python")
python_seconds = microseconds(one_number) * square**2 / 1e6
numpy_seconds = microseconds(lambda: left @ right, lab.repeats) / 1e6
print(f"{square}x{square} product, loops in Python, estimated: {python_seconds:.1f} s")
print(f"{square}x{square} product, NumPy: {numpy_seconds:.4f} s")
print(f"NumPy is {python_seconds / numpy_seconds:.1f} times as fast")
card.measure("numpy_over_python", python_seconds / numpy_seconds)
card.outcome("numpy_over_python", python_seconds / numpy_seconds)

# %% [markdown]
# The loops would have kept you waiting, so the cell timed only one of the $n^2$ numbers and
# multiplied its time by $n^2$. They are slow because in Python every number is an object: for
# every single pair, Python checks both types and creates new objects. NumPy checks the types
# once. Then a compiled library multiplies several numbers with each instruction, and it may
# use all cores. In the stored run, NumPy was 2,915 times as fast. Of this, the two cores
# explain a factor of 2 at most, and float32 instead of Python's float64 perhaps another, so
# nearly all of it comes from the compiled code.
#
# A GPU goes much further: thousands of small units apply the same instruction to different
# numbers. But first you have to claim a GPU.

# %% [markdown]
# ## A GPU on a shared server
#
# When TensorFlow first uses a GPU, it reserves nearly *all* of its memory ([guide to
# GPUs](https://www.tensorflow.org/guide/gpu)). It gives nothing back until its *process*,
# the running program, ends, so the next person's training stops with an out-of-memory
# error. Worse, TensorFlow reserves the memory of *every* GPU that it sees, even if it
# computes on only one. You can prevent this only before TensorFlow starts, which is why the
# first exercise comes before the race, even on a laptop without a GPU.

# %% [markdown]
# <details><summary>Which GPU is free, and how do you hide the others?</summary>
#
# In a terminal, `nvidia-smi` shows once who is using which GPU, and
# [`nvitop`](https://github.com/XuehaiPan/nvitop) shows it live. If you then start
# JupyterLab with
#
#     CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2 jupyter lab
#
# TensorFlow sees only the GPU that `nvidia-smi` calls 2, and calls it `GPU:0`. Without
# `CUDA_DEVICE_ORDER`, CUDA numbers the GPUs from the fastest to the slowest ([CUDA
# Programming
# Guide](https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html)),
# and its number 2 may be a GPU that somebody else is using.
#
# </details>

# %%
for kind in ("CPU", "GPU"):
    visible = tensorflow.config.list_physical_devices(kind)
    print(f"{kind}s that TensorFlow sees: {len(visible)}")

# %% [markdown]
# ## Exercise 0.1: claim one GPU
#
# **Write** `claim_gpu(index=0, memory_growth=True, memory_limit_mib=None)`, which claims
# one GPU and a share of its memory, and returns a dict that describes the result. You need
# about twenty lines, on any machine, because the check simulates machines with several
# GPUs.
#
# **Example:** with two GPUs, `claim_gpu(1)` returns
#
#     {"gpu": 1, "memory_growth": True, "memory_limit_mib": None}
#
# and without any GPU it returns
# `{"gpu": None, "memory_growth": False, "memory_limit_mib": None}`.
#
# Three functions in `tf.config` do the work:
# [`set_visible_devices`](https://www.tensorflow.org/api_docs/python/tf/config/set_visible_devices),
# [`experimental.set_memory_growth`](https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_memory_growth)
# and
# [`set_logical_device_configuration`](https://www.tensorflow.org/api_docs/python/tf/config/set_logical_device_configuration).

# %% [markdown]
# **Rules**
#
# | Call, with two GPUs | Result |
# |---|---|
# | `claim_gpu(1)` | only GPU 1 is visible, and its memory grows as needed |
# | `claim_gpu(1, memory_growth=False, memory_limit_mib=1024)` | the same, but its memory is capped at 1024 MiB |
# | `claim_gpu(1, memory_growth=False)` | the same, but its memory settings stay as they are |
# | `claim_gpu(1, memory_limit_mib=1024)` | `ValueError`: this asks for both, because growth is the default |
# | `claim_gpu(2)` or `claim_gpu(-1)` | `ValueError`: no GPU has this `index` |
#
# - Without a GPU, print that you are going on with the CPU, and return what the example above
#   returns, whatever `index` is. (A call that asks for both growth and a limit may also raise
#   the `ValueError`.)
# - The CPU stays visible. Nobody asks for a limit below 1.
# - Raise a `ValueError` before you change anything.
# - If TensorFlow has already started, the three functions raise a `RuntimeError`. Turn it
#   into a `DeviceError`, an error of this course, that tells the reader, in one line, to
#   restart the kernel.

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
# Now claim a GPU for real: `gpu_index` in the first cell says which. In later labs that use
# a GPU, the set-up does this for you, with [memory growth](../docs/glossary.md).

# %%
print(session.claim_once(claim_gpu, lab.gpu_index))
gpus = tensorflow.config.list_logical_devices("GPU")
fast = "GPU:0" if gpus else "CPU:0"  # TensorFlow's name for the fast device
fast_name, slow_name = (fast, "CPU:0") if gpus else ("all CPU threads", "one CPU thread")
print(f"Fast device: {fast_name}")
print(f"Slow device: {slow_name}")

# %% [markdown]
# ## Exercise 0.2: time it, really
#
# The obvious clock flatters a GPU, because the GPU works independently of Python.
# [`tf.matmul`](https://www.tensorflow.org/api_docs/python/tf/linalg/matmul) only puts the job
# into a queue, and Python waits only when it needs the numbers of the result. On a CPU,
# TensorFlow normally waits for each product. The next cell switches this off, so that the CPU
# works from a queue, too. Then it reads the clock twice: when the call returns, and when the
# product is finished.
#
# **Predict:** divide the time until the product is finished by the time until the call
# returns. How large is this ratio?

# %%
my_ratio_guess = None  # change this: seconds until finished / seconds until returned
card.predict("finished_over_returned", my_ratio_guess)

# %%
card.lock("finished_over_returned")
tensorflow.config.experimental.set_synchronous_execution(False)
a = tensorflow.random.normal((1000, 1000))
tensorflow.matmul(a, a)[0, 0].numpy()  # not timed: the first call pays for the start-up
times = []
for _ in range(5):
    began = perf_counter()
    product = tensorflow.matmul(a, a)
    returned = perf_counter() - began
    product[0, 0].numpy()  # waits for the product, and copies only one number
    times.append((returned, perf_counter() - began))
returned, finished = numpy.median(times, axis=0)
tensorflow.config.experimental.set_synchronous_execution(True)  # the default
print(f"Returned after {1000 * returned:.3f} ms, finished after {1000 * finished:.3f} ms")
print(f"Ratio: {finished / returned:.1f}")
card.outcome("finished_over_returned", finished / returned)

# %% [markdown]
# The shorter time is only the time to join the queue. So read a number of the result before
# you stop the clock: Python then has to wait until the product is finished.

# %% [markdown]
# For the race you need such an honest clock.
#
# **Write** `time_matmul(device, m, k, n, repeats)`, which times the product of an m x k and
# a k x n matrix on `device`. It returns the median time in seconds and the speed in
# GFLOP/s, that is, in billions of floating-point operations per second. You need about ten
# lines.
#
# **Rules**
#
# - Create both matrices once, filled with random numbers of any float type, before any
#   clock runs.
# - Compute the product on `device`, chosen by
#   [`with tf.device(device):`](https://www.tensorflow.org/api_docs/python/tf/device).
# - Before any clock runs, multiply once and wait for the result, because the first product
#   also pays for the start-up.
# - Then time `repeats` products (an odd number), each of them separately and until it is
#   finished.
# - A product takes $2 m k n$ operations, so a median of $s$ seconds is a speed of
#   $2 m k n / (10^9 s)$ GFLOP/s.
#
# **Example:** if the median for m = k = n = 1000 is 0.5 s, the result is `(0.5, 4.0)`.

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
# Now compute the first product of this lab on the fast device.
#
# **Question.** How many times as fast as the loops in Python will it be?

# %%
seconds, gflops = time_matmul(fast, square, square, square, lab.repeats)
card.measure("square_gflop_per_second", gflops)
print(f"{square}x{square} product on {fast_name}: {1000 * seconds:.2f} ms")
print(f"GFLOP/s: {gflops:.2f}")
print(f"That is {python_seconds / seconds:.1f} times as fast as loops in Python, ", end="")
print(f"and {numpy_seconds / seconds:.2f} times as fast as NumPy")

# %% [markdown]
# The matrices in a network are seldom square: a dense layer with 100 inputs multiplies by a
# matrix with only 100 rows. The next product is *flat* in this way, but has about as many
# operations as the square one.
#
# **Question.** Will it reach the same speed?

# %%
m, n = lab.rows, lab.columns
flat_seconds, flat_gflops = time_matmul(fast, m, 100, n, lab.repeats)
card.measure("matmul_seconds", {"m": m, "k": 100, "n": n, "seconds": flat_seconds})
card.measure("gflop_per_second", flat_gflops)
print(f"A {m:,}x100 by 100x{n:,} product on {fast_name}: {1000 * flat_seconds:.2f} ms")
print(f"GFLOP/s: {flat_gflops:.2f}")
print(f"That is {flat_gflops / gflops:.2f} times the speed of the square product")

# %% [markdown]
# It depends on the processor. In the stored run, on an AMD EPYC, both products were almost
# equally fast. But [on an Intel Xeon](../docs/measurements.md#lab-00-on-an-intel-xeon), the
# flat product reached only 0.67 of the square product's speed. Two trials on the Xeon showed
# why. With a smaller result, which fits into the cache, the product was just as slow, so
# writing was not to blame. With a short side of 400 instead of 100, it was as fast as the
# square one. So the short side was to blame. A likely reason is that a library works block by
# block, and the overhead of a block weighs more if each of its numbers takes only 100
# multiplications.

# %% [markdown]
# <details><summary>And on a GPU?</summary>
#
# There the memory may be to blame. The device has to read both matrices and write the
# result, with 4 bytes for each number in float32. This makes
#
# $$ \frac{2 m k n}{4\,(m k + k n + m n)} \text{ operations per byte.} $$
#
# For square matrices this is $n / 6$, but the flat product never has more than 50. An A100
# with 40 GB moves 1,555 GB/s and computes 156,000 GFLOP/s in TF32, a format with fewer
# digits ([NVIDIA](https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf)).
# So it needs 100 operations per byte to stay busy, and with the flat product its arithmetic
# units wait at least half of the time. [Lab 08](08_faster.ipynb) turns this comparison into a picture, the
# [roofline](../docs/glossary.md).
#
# </details>

# %% [markdown]
# ## Exercise 0.3: from which size does the fast device win?
#
# Now the race can begin. A product costs time before it begins: a GPU has to be told to start
# it, which is called *launching*, and a CPU has to distribute it over the threads. So at
# small sizes the fast device may lose.
#
# **Predict:** the matrices are square, with 16, 32, 64 and more rows. The fast device wins
# *clearly* if the slow one takes more than 1.2 times as long. From which size on does it
# always win clearly?

# %%
my_crossover_guess = None  # change this: rows of the matrices, such as 16 or 4096
crossover_guess = card.predict("crossover_size", my_crossover_guess)

# %% [markdown]
# With a GPU, your function times both devices. Without one, each device needs a process of
# its own, because TensorFlow fixes its number of threads when it starts. (These processes
# use the reference solution of exercise 0.2.)

# %%
def sweep(device):
    """Median seconds of a square product for each size."""
    bar = progress(tested, desc=device)
    return [time_matmul(device, size, size, size, lab.repeats)[0] for size in bar]

card.lock("crossover_size")
tested = [16 * 2**i for i in range(20) if 16 * 2**i <= lab.largest]
if gpus:
    slow_seconds, fast_seconds = sweep(slow_name), sweep(fast_name)
else:
    slow_seconds = one_thread.time_products(tested, lab.repeats, threads=1)
    fast_seconds = one_thread.time_products(tested, lab.repeats)
card.measure("sizes", tested)
card.measure("seconds", {"slow": slow_seconds, "fast": fast_seconds})

# %% [markdown]
# A device that wins once may lose again at the next size. To rely on the fast device, you
# need the size from which it always wins.
#
# **Write** `crossover(sizes, slow_seconds, fast_seconds)`, which takes three lists of the
# same length, 1 or more, and returns this size. The sizes are in rising order. You need
# about seven lines.
#
# **Rules**
#
# - Return the smallest size at which `fast` is faster, there *and at every larger size*.
# - Equal times are not a win.
# - Return `None` if `fast` does not win at the largest size.
# - Do not modify the lists.
#
# **Example**
#
# ```python
# crossover([1, 2, 4, 8], [9, 1, 9, 9], [1, 5, 5, 5])   # 4
# ```

# %% name="0.3-crossover" points=1
# TODO 0.3: the size from which the fast device always wins, or None.
#: start
def crossover(sizes, slow_seconds, fast_seconds):
    """The size from which fast always beats slow, or None."""
    return sizes[0]
#: solution
def crossover(sizes, slow_seconds, fast_seconds):
    """The size from which fast always beats slow, or None."""
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
# The next cell counts a win of the fast device only if the slow device takes more than 1.2
# times as long.

# %%
winner = crossover(tested, [seconds / 1.2 for seconds in slow_seconds], fast_seconds)
card.measure("crossover_size", winner)
curves = {slow_name: slow_seconds, fast_name: fast_seconds}
figure = figures.matmul_curves(tested, curves, winner, crossover_guess)
summary = f"Crossover to {fast_name} at size: {winner or 'none'}."
show_figure(figure, summary, session.caption())
card.outcome("crossover_size", winner)

# %%
ratio = slow_seconds[-1] / fast_seconds[-1]
print(f"At size {tested[-1]}, {slow_name} takes {ratio:.2f} times as long as {fast_name}")

# %% [markdown]
# So what does the fast device buy you? In the stored run, two cores bought a factor of 1.93
# at 2,048 rows, and no clear gain below 512. In your figure, the green line marks the size
# from which you gain clearly. To its left, you may even lose time. If there is no line, no
# size gave a clear gain.
#
# **Question.** In the left panel, the product with 64 rows has $4^3 = 64$ times as many
# operations as the product with 16. How many times as long does it take?

# %% [markdown]
# ## Why do small products gain nothing?
#
# At small sizes, both curves in the left panel level off at a *floor*: preparing and
# launching a product takes some time, however little there is to multiply. That is why 64
# times the operations took hardly longer, or in the stored run no longer at all. With a floor of
# $t_f$ seconds and a peak of $P$ operations per second, a product of $n \times n$ matrices takes
# about
#
# $$ t(n) = t_f + \frac{2 n^3}{P} \quad\text{seconds.} $$
#
# Small products are nearly all floor, and the largest is nearly all arithmetic. So the ends of
# a curve give both numbers, and with them the size at which both terms are equal. We take the
# shortest of the first three times as the floor, because a single one may be disturbed.

# %%
for name, times in curves.items():
    floor = min(times[:3])
    peak = 2 * tested[-1] ** 3 / max(times[-1] - floor, 1e-9)
    half = (floor * peak / 2) ** (1 / 3)
    print(f"On {name}: floor {1e6 * floor:.1f} µs, peak {peak / 1e9:.1f} GFLOP/s, ", end="")
    print(f"equal at {half:.1f} rows")

# %% [markdown]
# Below the size at which both terms are equal, you pay mostly for the call. This is why we
# train on batches, and why [lab 02](02_throughput.ipynb) asks how large they should be.
#
# A second thread does not make the call cheaper. It helps with the arithmetic, but only if
# TensorFlow uses it. At 256 rows it did not yet, as "Going further" shows, so in the stored
# run the fast device began to win later than the formula suggests.

# %% [markdown]
# A part of the floor may come from your clock. To know that a product is finished, it reads
# one number of the result, and for this TensorFlow has to run a second operation.
#
# **Question.** What share of the smallest product's time is spent on reading this number?

# %%
with tensorflow.device(fast):
    small = tensorflow.random.normal((16, 16))
    finished = tensorflow.matmul(small, small)
    both = microseconds(lambda: tensorflow.matmul(small, small)[0, 0].numpy())
    reading = microseconds(lambda: finished[0, 0].numpy())
print(f"Computing a 16x16 product and reading one number: {both:.1f} µs")
print(f"Reading one number of a finished product: {reading:.1f} µs")
print(f"Share of the time spent on reading: {100 * reading / both:.1f}%")
card.measure("share_of_asking", reading / both)

# %% [markdown]
# So this share of the floor belongs to your clock. In training it hardly counts, because
# many operations run before Python reads a number.

# %% [markdown]
# ## Do both devices get the same answer?
#
# A race counts only if both devices finish with the same result. The next cell multiplies
# the same two 500x500 matrices on each of them, and adds up all numbers of the product in
# float32, which keeps about seven digits. Then the fast device adds up the same numbers in
# a different order: first each column, and then these sums.
#
# **Predict:** to how many digits will the sums in the two orders agree? (Two sums agree to
# four digits if they differ by one part in ten thousand.)

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
# One pair of matrices may not be typical, so the next cell draws a hundred.

# %%
def equal_digits(seed):
    """To how many digits the sums in two orders agree, and the absolute sum."""
    with tensorflow.device(fast):
        rows, columns = total(seed), total(seed, columns_first=True)
    apart = abs(rows - columns) / abs(rows)
    return -numpy.log10(max(apart, 2**-24)), abs(rows)  # 2**-24: float32's rounding

drawn = [equal_digits(lab.seed + i) for i in range(100)]
digits, size = numpy.transpose(drawn)
print(f"Digits that agree: median {numpy.median(digits):.1f}, ", end="")
print(f"from {min(digits):.1f} to {max(digits):.1f}")
near_zero = digits[size < numpy.median(size)]
print(f"In the half with the sums nearest to zero: median {numpy.median(near_zero):.1f}")
card.outcome("equal_digits", numpy.median(digits))

# %% [markdown]
# Adding floating-point numbers rounds, so the order matters: `(a + b) + c` is not always
# `a + (b + c)`. A GPU and a CPU add in different orders. On NVIDIA GPUs since the A100,
# TensorFlow also [rounds the factors of float32 products to
# TF32](https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_tensor_float_32_execution),
# which keeps about three decimal digits. Without a GPU, the two devices may agree to the
# last digit, as in the stored run.
#
# No device made a mistake. A rounding error depends on the size of the added numbers, not of
# their sum. Where large positive and negative numbers cancel, the sum becomes small, but the
# errors stay. So the closer the sum is to zero, the fewer of its digits you can trust.

# %% [markdown]
# So never compare results from two devices with `==`; ask whether they are close. And the
# same seed may give a slightly different loss on another device, because a difference in
# the last digits may grow from step to step.

# %% [markdown]
# > **Limits.** We ran this lab on CPUs only. What it says about GPUs comes from the linked
# > sources.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("00")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# In the figure from exercise 0.3, where do the two lines cross, if they do? Which line has the
# higher floor, or is there no difference that you can see? What does this mean for small
# matrices?
#
# Write three to six sentences in the cell below, with numbers from your run. No check reads
# them, but your instructor may.

# %% [markdown] name="0.figure" points=2
# **0.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Before TensorFlow starts, you decide which GPU it may see and how much of its memory it may
# take. After that, `tf.device` decides where each operation runs. Below some size the fast
# device buys you nothing, because a call brings too little work. Above it, the ratio of the
# two times says how much it buys. To trust such numbers, time the work until it is done,
# leave out the first call, take the median, and know what the clock itself adds.

# %% [markdown]
# ## Going further
#
# You may stop here: this part has no points and no predictions.
#
# ### No GPU? How many threads work?
#
# Does TensorFlow distribute even a small product over all threads of the CPU?
# [`process_time`](https://docs.python.org/3/library/time.html#time.process_time) adds up
# the processor time of all threads, so two busy threads advance it by two seconds per
# second.
#
# **Question.** How many threads work on the smallest product, and how many on the largest?

# %%
def busy_threads(size):
    """Mean number of busy threads while the CPU multiplies: CPU seconds per second."""
    with tensorflow.device("CPU:0"):
        square = tensorflow.random.normal((size, size))
        tensorflow.matmul(square, square)
        began, cpu_began = perf_counter(), process_time()
        while perf_counter() < began + 0.1:
            tensorflow.matmul(square, square)
        return (process_time() - cpu_began) / (perf_counter() - began)

busy = [busy_threads(size) for size in tested]
by_size = zip(tested, busy, strict=True)
busy_text = "  ".join(f"{size}: {threads:.1f}" for size, threads in by_size)
print(f"Busy threads by size: {busy_text}")

# %% [markdown]
# A number close to 1.0 means that TensorFlow considered the product too small to be worth
# distributing. In the stored run these are the sizes up to 256, so nothing could be gained
# there.
#
# At the largest size, the ratio of exercise 0.3 may be smaller than this number, because the
# threads wait for something that they share, such as memory, or because other programs are
# running.

# %% [markdown]
# To read on: Goldberg, ["What Every Computer Scientist Should Know About Floating-Point
# Arithmetic"](https://doi.org/10.1145/103162.103163) (1991); Williams, Waterman and
# Patterson, ["Roofline"](https://doi.org/10.1145/1498765.1498785) (2009).
