# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 10: Will more machines help?
#
# In [lab 09](09_many_machines.ipynb) several machines trained as one. You could rent
# hundreds of them, but would the training finish sooner, and at what price?
#
# Two things stand in the way, slow workers and slow messages, and you begin by measuring
# both. Then you write down a law that predicts the speed of any number of machines, state
# its error in advance, and test it before you trust it. At the end you plan a training on
# rented machines, and allow for their failures.

# %% [markdown]
# > **Limits.** You need only this one machine. Its workers are real processes that talk
# > over TCP, but they share its cores, and the network between them is its memory. If the
# > lab needs a slow network, it imitates one: a sender sleeps for as long as the message
# > would take. If the lab needs more machines than you have, it calculates their speed, and
# > the text says so. Where we have no source for an input, we call it *assumed*.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 1  # every lab has it; nothing is trained to an accuracy here
batch_size: int = 128  # images of one worker in the forecast that is tested
workers: int = 2  # processes that measure together; the forecast is tested with one more
repeats: int = None  # None: set by the scale; steps of each kind that are measured

# %% [markdown]
# ## Set up
#
# All workers compute on the CPU, because several processes would compete for the GPU.
#
# Stuck? `hint("10.1")` asks you a question, and each further call tells you more. Technical
# terms are explained in the [glossary](../docs/glossary.md).

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("10_more_machines", globals(), devices="none")

# %%
# math, np are for your answers: bind them to what you like. Our own cells use other names.
import math
from statistics import median

import numpy
import numpy as np

from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.machine.computer import cores
from helpers.network import models
from helpers.run_card.predictions import factor_off

use_figures()
card = lab.card
folder = card.path.with_suffix("")  # what the workers of this run write

# %%
from helpers.lab_10 import (
    all_reduces,
    bucket_speeds,
    explorer,
    figures,
    forecast_figures,
    speeds,
)
from helpers.lab_10 import forecast as laws
from helpers.lab_10.rings import ring_all_reduce
from helpers.workers.processes import run_ring

# %% [markdown]
# ## 1. Everybody waits for the slowest
#
# A synchronous step ends only when the last [worker](../docs/glossary.md) has computed its
# gradient. So a single late worker, a [*straggler*](../docs/glossary.md), delays all
# others.
#
# Suppose that a worker computes for at least $c = 20$ ms in each step, but for longer if
# another process runs, a disk is slow or a processor is hot. We assume that this extra time
# has an exponential distribution: short delays are common, and long ones are rare.
#
# We call the mean of the extra time, divided by $c$, the *spread* $\sigma$. With
# $\sigma = 0.5$, a worker takes $c\,(1 + \sigma) = 30$ ms on average.

# %% [markdown]
# **Predict:** With spread 0.5 and 4 workers, how long is an average step, as a multiple of
# 20 ms? And with 10,000 workers?

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
# First we measure with real processes. In each step they sleep for a time that we draw at
# random, and then add up a small array with the ring of lab 09.

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
# Then we simulate more workers than we can start. For $N$ workers, we draw $N$ random
# times, take the largest, and average it over 200 steps. The simulation draws new times and
# sends no messages, so its curves need not pass exactly through the measured points.

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
# The axis of the workers is logarithmic, so a straight line in this figure is a very slow
# rise. Why is it so slow? On average, the largest of $N$ draws from an exponential
# distribution is $1 + 1/2 + \dots + 1/N$ times as large as the mean of the distribution.
# The extra time has the mean $\sigma c$ and comes on top of $c$, so the mean time of a step
# is
#
# $$ c \left( 1 + \sigma \sum_{i=1}^{N} \frac{1}{i} \right) \approx c\,\big( 1 + \sigma\,(\ln N + 0.58) \big). $$
#
# The sum grows without limit, but ever more slowly, so the first few workers that you add
# cost the most.
#
# [Chen et al. (2016)](https://arxiv.org/abs/1604.00981) do not wait for the slowest
# workers. Instead they start a few more workers than they need, and drop the gradients that
# come last. The next cell drops the slowest 1% and 5% of the gradients.

# %%
ordered = numpy.sort(waits(0.5, 10_000, 200), axis=1)
for dropped in (0, 100, 500):
    seconds = ordered[:, -1 - dropped].mean()
    times, lost = seconds / at_least_seconds, dropped / 100
    print(f"Without the slowest {lost:.0f}%: {times:.2f} times the shortest step")

# %% [markdown]
# A worker that is *always* slow is a different problem. Every step then takes as long as
# that worker needs. If you drop its gradients, you no longer wait for it, but you lose its
# whole share of the data.
#
# To tell the two problems apart, look at the workers' logs, and compare the mean time of
# each rank over many steps. Random delays hit all ranks alike, but a worker that is always
# slow has a larger mean.

# %% [markdown]
# ## 2. Send while you compute
#
# Workers wait not only for stragglers, but also for the messages that add up their
# gradients. Some of these messages can travel while the workers still compute. Backward
# begins at the last layer, so the gradient of that layer is ready first. Its
# [all-reduce](../docs/glossary.md) can run while backward is still busy with the earlier
# layers, and then its messages cost no extra time.
#
# But each all-reduce also pays a fixed cost, its [*latency*](../docs/glossary.md), however
# small the gradient is. So frameworks pack gradients into [*buckets*](../docs/glossary.md),
# and send each bucket with a single all-reduce. For example, [PyTorch's
# DDP](https://arxiv.org/abs/2006.15704) uses buckets of 25 MB by default, and
# [Horovod](https://arxiv.org/abs/1802.05799) calls the same idea tensor fusion.
#
# ![Two time lines. Backward computes gradients from the last layer to the first, and as soon as a bucket is full, its all-reduce begins, so only the last bucket ends after backward.](../helpers/lab_10/diagrams/buckets.svg)

# %% [markdown]
# Let $\ell$ be the latency of an all-reduce in seconds, and $B$ its bandwidth in bytes per
# second. Bucket $i$ holds $s_i$ bytes, and its last gradient is ready after $r_i$ seconds.
# The bucket's all-reduce has to wait for that gradient and for the previous all-reduce, so
# it ends after
#
# $$ e_i = \max(r_i, e_{i-1}) + \ell + \frac{s_i}{B} \quad\text{seconds,} \qquad e_0 = 0. $$
#
# **Question.** What is wrong with a single bucket for all gradients? And what is wrong with
# a separate bucket for each gradient?

# %% [markdown]
# ## Exercise 10.1: buckets
#
# **Write** `buckets(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes)`, which
# returns the seconds from the start of backward to the end of the last all-reduce.
#
# - `gradient_bytes`: the size of each gradient in bytes, 1 or more, as a list in the order
#   in which backward computes them. There is at least one gradient;
# - `ready_at`: for each gradient, the seconds from the start of backward until it is ready.
#   These times never decrease, but two of them can be equal;
# - `latency`, `bandwidth`: the latency of an all-reduce in seconds, and its bandwidth in
#   bytes per second;
# - `bucket_bytes`: a bucket is full, and is sent, when it holds at least this many bytes.
#
# **Rules**
#
# - Gradients go into the open bucket in their order, until it holds at least
#   `bucket_bytes`. A bucket that holds exactly `bucket_bytes` is full.
# - A gradient is never split: all of it goes into the open bucket, however large it is.
# - After a full bucket, the next gradient starts an empty bucket.
# - After the last gradient, a bucket that is not full is sent as well. An empty bucket is
#   never sent.
# - An all-reduce begins when the last gradient of its bucket is ready, but not before the
#   previous all-reduce has ended.
# - An all-reduce takes the latency plus the bucket's bytes divided by the bandwidth.
# - Do not modify `gradient_bytes` or `ready_at`.
#
# **Example**
#
#     buckets([400, 600, 500], [0.1, 0.2, 0.3], 0.01, 10_000, 1000)   # 0.37
#
# The first two gradients fill a bucket at 0.2 s, and its all-reduce ends at 0.31 s. The
# third gradient is ready at 0.3 s, but has to wait until 0.31 s for the link, so its
# all-reduce ends at 0.37 s.
#
# You need about eight lines.

# %% name="10.1-buckets" points=3
# TODO 10.1: the end of the last all-reduce, with gradients packed into buckets.
#: start
def buckets(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """Seconds from the start of backward to the end of the last all-reduce."""
    return ready_at[-1] + latency + sum(gradient_bytes) / bandwidth
#: solution
def buckets(gradient_bytes, ready_at, latency, bandwidth, bucket_bytes):
    """Seconds from the start of backward to the end of the last all-reduce."""
    end, held = 0.0, 0
    for size, ready in zip(gradient_bytes, ready_at, strict=True):
        held += size
        if held >= bucket_bytes:
            end = max(end, ready) + latency + held / bandwidth
            held = 0
    if held:
        end = max(end, ready_at[-1]) + latency + held / bandwidth
    return end
#: end

# %%
buckets = check("10.1", buckets)

# %% [markdown]
# Now we take a real network, a [WRN-16-4](https://arxiv.org/abs/1605.07146) as in [lab
# 02](02_throughput.ipynb), and workers joined by a slow link. Each message takes 5 ms, plus
# the time for its bytes at 100 MB/s. An all-reduce consists of several messages, so the
# next cell calculates its latency and bandwidth.
#
# The backward pass is only imitated. The workers sleep for 0.2 s, and we assume that each
# layer's share of this time equals its share of the multiplications. So the sizes of the
# gradients, their order and the messages are real, but the computation is not.

# %%
# Gradients in the order of backward: their bytes, and when each is ready.
gradients = bucket_speeds.backward(models.wide_resnet(16, 4), 0.2)
link = bucket_speeds.Link(latency_seconds=0.005, bytes_per_second=100e6)
latency, bandwidth = link.of_all_reduces(lab.workers)
gradient_sizes, ready_seconds = gradients
megabytes = sum(gradient_sizes) / 1e6
print(f"{len(gradient_sizes)} gradients with {megabytes:.1f} MB, the largest ", end="")
print(f"{max(gradient_sizes) / 1e6:.2f} MB, the smallest {min(gradient_sizes)} bytes")
print(f"An all-reduce takes {1e3 * latency:g} ms, and {1e3 / bandwidth * 1e6:.0f} ms for a MB")

# %% [markdown]
# We try bucket sizes from 1 kB, where only small gradients travel together, to 20,000 kB,
# where everything is sent at the end.
#
# **Predict:** With which bucket size, in kB, does the last all-reduce end soonest?

# %%
my_bucket_guess = None  # change this: kB
card.predict("best_bucket", my_bucket_guess)

# %%
card.lock("best_bucket")
bucket_sizes = [1e3, 30e3, 100e3, 300e3, 1e6, 3e6, 20e6]
bucket_steps = bucket_speeds.measure(
    folder / "buckets", lab.workers, gradients, link, bucket_sizes, lab.repeats
)
predicted_ends = {
    size: buckets(*gradients, latency, bandwidth, size) for size in bucket_sizes
}
measured_ends = {size: median(seconds) for size, seconds in bucket_steps.items()}
for size in bucket_sizes:
    print(f"Buckets of {size / 1e3:g} kB: predicted {1e3 * predicted_ends[size]:.1f} ms, ", end="")
    print(f"measured {1e3 * measured_ends[size]:.1f} ms")
card.measure("bucket_seconds", measured_ends)

# %%
best_bucket = min(measured_ends, key=measured_ends.get)
card.outcome("best_bucket", best_bucket / 1e3)
fine_sizes = numpy.geomspace(bucket_sizes[0], bucket_sizes[-1], 200)
predicted_curve = {size: buckets(*gradients, latency, bandwidth, size) for size in fine_sizes}
figure = figures.bucket_seconds(bucket_steps, predicted_curve)
worst = max(measured_ends.values()) / measured_ends[best_bucket]
text = f"Buckets of {best_bucket / 1e3:g} kB are best; the worst size takes {worst:.1f} times as long."
show_figure(figure, text, session.caption())

# %% [markdown]
# The curve has the shape of a U, and its two ends are expensive for opposite reasons. Small
# buckets pay the latency many times, so the link cannot keep up with backward. One bucket
# for everything pays the latency only once, but the link is idle until backward has ended.
# In between, when backward ends, only the last bucket still has to be sent, and it is
# small. The predicted curve has steps where the number of buckets changes.
#
# If your measured points lie above the prediction, the reason is probably that the machine
# also needs time to copy the bytes and to add them up, which the law leaves out.

# %% [markdown]
# ## 3. The forecast
#
# How fast would 512 machines be? You cannot measure that here, but a law can tell you, if
# you have measured its constants and tested it on the machines that you have.
#
# You know two parts of the law already: the ring of lab 09, and the step time of lab 02. A
# step with $b$ images takes $t_0 + b / r_\infty$ seconds, where $t_0$ is the fixed cost in
# seconds and $r_\infty$ the peak in images per second.
#
# How much of the sending overlaps with computing? To keep the law simple, we forecast two
# limits:
#
# - In one, nothing overlaps.
# - In the other, messages travel during all of backward. Backward has twice as many
#   operations as forward ([lab 08](08_faster.ipynb)), so it takes two thirds of the
#   computing time of an image.
#
# Buckets bring training close to the second limit.

# %% [markdown]
# ## Exercise 10.2: a law for n devices
#
# Take $n$ devices with $b$ images each, a gradient of $G$ bytes, and a link with latency
# $\ell$ in seconds and bandwidth $B$ in bytes per second. In exercise 10.1 these two
# described a whole all-reduce, but here they describe a single message.
#
# In a step, a device computes for $C$ seconds. The all-reduce takes $A$ seconds, because in
# the ring $2\,(n - 1)$ messages follow each other, each with an $n$-th of the gradient:
#
# $$ C = t_0 + \frac{b}{r_\infty} \quad\text{and}\quad A = 2\,(n - 1) \left( \ell + \frac{G}{n B} \right) \quad\text{seconds.} $$
#
# **Write**
# `forecast(devices, batch_size, t0_seconds, peak, gradient_bytes, latency_seconds, bytes_per_second)`,
# which returns a new dict with two pairs, `"in_turn"` and `"overlapped"`. Each pair holds
# the images per second of all devices together, and the
# [*efficiency*](../docs/glossary.md).
#
# **Rules**
#
# - `batch_size` is the batch size of each device, so a device computes for $C$ seconds.
# - A single device sends nothing.
# - `"in_turn"`: a device first computes, and then it sends.
# - `"overlapped"`: messages travel during two thirds of the time of the *images*,
#   $b / r_\infty$. The rest of $A$, if there is any, is added to $C$. A step never takes
#   less time than its computing.
# - The efficiency is the speed of all devices, divided by `devices` times the speed of one
#   device.
#
# **Example.** Two devices have 100 images each, a fixed cost of 0.1 s, a peak of 1000
# images/s, a gradient of 4 MB, and a link with 1 ms and 40 MB/s. A device computes for 0.2
# s and sends for 0.102 s, of which 0.0667 s are hidden.
#
#     forecast(2, 100, 0.1, 1000, 4e6, 0.001, 40e6)
#     {"in_turn": (662.3, 0.662), "overlapped": (849.9, 0.850)}

# %% name="10.2-forecast" points=3
# TODO 10.2: images per second and efficiency of n devices, with and without overlap.
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
forecast = check("10.2", forecast)

# %% [markdown]
# Now the law needs your numbers. Each of your workers computes on one core, and together
# they measure three things:
#
# - steps in which no worker sends, with three batch sizes, which give $t_0$ and the peak;
# - all-reduces of three sizes, which give the latency and the bandwidth;
# - steps in which all workers train together, which we set aside to find out how wrong the
#   law is.

# %%
n, hidden_units = lab.workers, 256
known_batches, new_batch = [16, 64, 256], lab.batch_size
measuring = {"hidden": hidden_units, "rounds": 3, "calls": 2 * lab.repeats}
batches = {"local_batches": known_batches, "shared_batches": known_batches}
values = {"all_reduce_values": [1000, 100_000, 400_000]}
measured = speeds.measure(folder / "speeds", n, measuring | batches | values)
network_bytes = 4 * measured["parameters"]

def law_of(one_round):
    """t0, peak, gradient, latency and bandwidth from seconds: arguments of `forecast`."""
    by_bytes = {4 * v: seconds for v, seconds in one_round["all_reduce"].items()}
    step, ring_link = laws.fit_step(one_round["local"]), laws.fit_link(by_bytes, n)
    return *step, network_bytes, *ring_link

# %% [markdown]
# On a single machine the law needs one more part, because the workers share its cores. For
# example, three workers on two cores get two thirds of a core each. So the function `here`
# slows down both computing and sending in this proportion. It also assumes that nothing
# overlaps, because the core that computes has to send as well.

# %%
def here(law, workers, batch_size):
    """Images per second that a law says of workers on this machine."""
    t0, peak, sent_bytes, message, bytes_a_second = law
    slower = max(1, workers / cores()) / max(1, n / cores())
    slowed = t0 * slower, peak / slower, sent_bytes, message * slower, bytes_a_second / slower
    return float(forecast(workers, batch_size, *slowed)["in_turn"][0])

laws_of_rounds = [law_of(one) for one in measured["rounds"]]
law = tuple(median(numbers) for numbers in zip(*laws_of_rounds, strict=True))
print(f"Fixed cost: {1e3 * law[0]:.2f} ms, peak: {law[1]:.1f} images/s")
print(f"Latency: {1e3 * law[3]:.3f} ms, bandwidth: {law[4] / 1e6:.1f} MB/sec")
fit = {"t0_seconds": law[0], "peak_images_per_second": law[1]}
card.measure("fit", fit | {"parameters": measured["parameters"]})
card.measure("link", {"latency_seconds": law[3], "bytes_per_second": law[4]})

# %% [markdown]
# The form of the law comes from lab 02, but its numbers do not, because $t_0$ and the peak
# belong to a network *and* a device. In lab 02 a convolutional network had the whole
# device, whereas here each worker has one core for two dense layers.
#
# A forecast needs an error bar, and it has to be stated before the measurement. How large
# should it be? We first let the law forecast the steps that we set aside. The law from all
# rounds makes a forecast, and so does a law from each round alone. Because these steps
# were measured, we see by which factor the worst forecast misses.
#
# For the real forecast we state the *square* of this factor as the error, but at least a
# factor of 1.1. The square leaves a margin, because that forecast is for one more worker
# and a new batch size, which we have not measured yet.

# %%
said, came = [], []
for batch in known_batches:
    for one in measured["rounds"]:
        for candidate in [law, law_of(one)]:
            said.append(here(candidate, n, batch))
            came.append(n * batch / one["shared"][batch])
factor = laws.stated_factor(said, came)
forecast_speed = here(law, n + 1, new_batch)
low, high = forecast_speed / factor, forecast_speed * factor
print(f"Stated error: a factor of {factor:.2f}")

# %% [markdown]
# **Question.** Before you continue, what is your own estimate: how many images per second
# will `n + 1` workers process together? The cell below locks the forecast of your law as
# the prediction.

# %%
card.predict("held_out_by_the_law", forecast_speed)
print(f"Forecast for {n + 1} workers: {forecast_speed:.1f} images/s, ", end="")
print(f"from {low:.1f} to {high:.1f}")

# %%
card.lock("held_out_by_the_law")
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
# The grey point was measured with `n` workers and 64 images each, and then converted with
# the law to the batch size of the forecast.
#
# If the measurement lies in the stated range, was the forecast good? Not necessarily,
# because a very wide range always hits. The [interval
# score](https://doi.org/10.1198/016214506000001437) of Gneiting and Raftery therefore
# starts with the width of the range, and adds a penalty if the measurement misses it. We
# use logarithms, so that a factor counts the same at every speed. For a range from $l$ to
# $u$ and a measurement $m$, all in images per second, the score is
#
# $$ S = \ln\frac{u}{l} + 20 \max\left(\ln\frac{l}{m}, \ln\frac{m}{u}, 0\right). $$
#
# A lower score is better. The penalty is the second term, which is zero if $m$ lies in the
# range. Its factor of 20 belongs to a range that should hit nine times out of ten.
#
# The law competes with a simple forecast, which starts from the speed of one worker less: it
# says that one more worker adds something between nothing and its full share.

# %%
at_n = curve[n] * known_ratio
ranges = {"the law": (low, high), "no law": (at_n, at_n * (n + 1) / n)}
scores = {}
for name, (lowest, highest) in ranges.items():
    scores[name] = laws.interval_score(lowest, highest, seen_speed)
    print(f"By {name}: {lowest:.1f} to {highest:.1f} images/s, ", end="")
    print(f"score {scores[name]:.2f} of which width {numpy.log(highest / lowest):.2f}")
card.measure("interval_scores", scores)

# %% [markdown]
# If your law has the worse score, look at the measured rounds. Did they differ from each
# other, which makes the range wide, or was the law wrong in all of them?

# %% [markdown]
# ## 4. The same law for published machines
#
# Your own machine is a small test. Does the law also hold for large clusters? Horovod's
# documentation reports the efficiency of training VGG-16 on servers with four GPUs each,
# joined by a network with 25 Gbit/s. The figure for 128 GPUs is in an older README, and the
# figure for 512 GPUs in
# [`docs/benchmarks.rst`](https://horovod.readthedocs.io/en/stable/benchmarks_include.html).
#
# **Predict:** From 128 to 512 GPUs, by how many percentage points does the efficiency fall,
# according to your law with overlap, and according to the reports?

# %%
my_fall_guess = {"by_the_law": None, "reported": None}  # points, such as 5
card.predict("vgg_fall", my_fall_guess)

# %%
card.lock("vgg_fall")
vgg = {
    gpus: laws.published_efficiencies(forecast, "VGG-16", gpus, 64, 25) | {"reported": reported}
    for gpus, reported in laws.REPORTED_VGG.items()
}
for gpus, efficiencies in vgg.items():
    shown = [f"{way.replace('_', ' ')} {100 * e:.1f}%" for way, e in efficiencies.items()]
    print(f"VGG-16, {gpus} GPUs: {', '.join(shown)}")
fall = {way: 100 * (vgg[128][way] - vgg[512][way]) for way in ("overlapped", "reported")}
print(f"From 128 to 512 GPUs: the law falls by {fall['overlapped']:.1f} points, ", end="")
print(f"the reports by {fall['reported']:.1f}")
card.outcome("vgg_fall", {"by_the_law": fall["overlapped"], "reported": fall["reported"]})

# %% [markdown]
# The law misses most of that fall. In a larger ring, each device still sends about twice
# the gradient, exactly $2\,(n - 1) / n$ times. So in the law only the latency grows.
#
# In the real clusters, something else may have grown as well. With more GPUs, it is more
# likely that one of them is slow (section 1), and other traffic may share the network. The
# software may also differ, because the two figures come from two versions of the
# documentation. Nothing here can tell which of these was the cause. But a plan by the law
# alone would have promised almost twelve points too many at 512 GPUs.

# %% [markdown]
# The next figure compares the law with four reports. Horovod reports three networks on 512
# GPUs, and [Goyal et al. (2017)](https://arxiv.org/abs/1706.02677) report an efficiency of
# about 90% for ResNet-50 on 256 GPUs, compared with 8 GPUs.

# %%
rows = laws.published_forecasts(forecast)
ways = ("in_turn", "overlapped", "reported")
for row in rows:
    in_turn, overlapped, reported = (100 * row[way] for way in ways)
    print(f"{row['name']}: in turn {in_turn:.1f}%, overlapped {overlapped:.1f}%, ", end="")
    print(f"reported {reported:.0f}%")
inside = sum(row["in_turn"] <= row["reported"] <= row["overlapped"] for row in rows)
widths = [100 * (row["overlapped"] - row["in_turn"]) for row in rows]
constant = sum(row["reported"] == 0.9 for row in rows)
print(f"The ranges are {min(widths):.0f} to {max(widths):.0f} points wide")
print(f"Reports in their range: {inside} of {len(rows)}; that are 90%: {constant}")
text = f"{inside} of {len(rows)} reports lie between in turn and overlapped."
show_figure(forecast_figures.published(rows), text, session.caption())

# %% [markdown]
# Each report lies in its range, but these hits say little. The ranges are wide, three of
# them end at 100%, and the simple guess "90% for all" is right for three of the four
# reports. Still, the law could have failed: these systems overlap messages with backward,
# so a report below "in turn" would have refuted it.
#
# Why is VGG-16 so far below the others? Of the four networks, it has the most parameters
# relative to its computing time for an image. In a ring over 25 Gbit/s, its gradient of
# 553 MB needs 354 ms, and backward can hide at most 258 ms of this. So even the law with
# overlap stays below 100%. The report, however, says only 68%. The order of the gradients
# cannot explain this: three quarters of the bytes belong to the first dense layer, whose
# gradient is ready early, and that helps the overlap.

# %% [markdown]
# Where the numbers come from:
#
# - parameters: [Keras' table of applications](https://keras.io/api/applications/), with
#   four bytes each;
# - $t_0$ and peak of one P100: TensorFlow's benchmarks of May 2017, with batches of 32 and
#   64 images. Horovod's page speaks only of "Pascal" GPUs, so it is *assumed* that they are
#   P100s;
# - ResNet-101: the benchmarks lack it, so its step time is *assumed* to lie between the
#   times of ResNet-50 and ResNet-152, in proportion to the operations in table 1 of [He et
#   al. (2016)](https://arxiv.org/abs/1512.03385);
# - links of 25 and 50 Gbit/s: Horovod's `docs/benchmarks.rst`, and section 4 of Goyal et
#   al.;
# - a latency of 10 microseconds: *assumed*.

# %% [markdown]
# ## 5. Ring, tree, or two levels?
#
# A flat ring of $N$ devices sends its messages one after the other, so it pays the latency
# $2\,(N - 1)$ times. That is why hardly anybody uses a flat ring for 1,024 devices. Two
# other kinds of all-reduce pay it less often:
#
# - In a [*tree*](../docs/glossary.md), sums travel up and the result comes back down, which
#   takes only $2 \log_2 N$ latencies.
#   [NCCL](https://developer.nvidia.com/blog/massively-scale-deep-learning-training-nccl-2-4/)
#   cuts the gradient into pieces, so that all levels work at the same time, and uses two
#   trees to keep every link busy.
# - With *two levels*, each machine first adds up its own gradients over its fast links.
#   Only then do the machines exchange their sums.

# %%
session.show_source(all_reduces.ring_seconds, all_reduces.tree_seconds)
session.show_source(all_reduces.two_levels_seconds)

# %% [markdown]
# ResNet-50 has a gradient of 102 MB. Suppose that its links have 25 Gbit/s and a latency of
# 10 microseconds.
#
# **Predict:** At what number of devices does a single tree become faster than a single
# ring?

# %%
my_crossover_guess = None  # change this: devices
card.predict("crossover", my_crossover_guess)

# %%
card.lock("crossover")
resnet_link = 4e6 * laws.MILLION_PARAMETERS["ResNet-50"], 10e-6, 25 * laws.GBIT
crossover = all_reduces.crossover(*resnet_link)
machine = 8, laws.DEFAULTS["machine_gbit"] * laws.GBIT
all_reduce_curves = {"ring": {}, "tree": {}, "two levels": {}}
for devices in (2**power for power in range(1, 13)):
    all_reduce_curves["ring"][devices] = all_reduces.ring_seconds(devices, *resnet_link)
    all_reduce_curves["tree"][devices] = all_reduces.tree_seconds(devices, *resnet_link)
    levels = all_reduces.two_levels_seconds(devices, *resnet_link, *machine)
    all_reduce_curves["two levels"][devices] = levels
text = f"From {crossover} devices on, one tree is quicker than one ring."
print(text)
card.outcome("crossover", crossover)
show_figure(figures.all_reduces(all_reduce_curves, crossover), text, session.caption())

# %% [markdown]
# The tree pays fewer latencies, but the ring sends fewer bytes. They take the same time
# where the two savings are equal:
#
# $$ 2\,(N - 1 - \log_2 N)\, \ell = \frac{2\, G}{N B}. $$
#
# The left side is the time that the tree saves, and the right side the time that the ring
# saves. As in exercise 10.2, $\ell$ is the latency, $B$ the bandwidth and $G$ the size of
# the gradient. A smaller gradient reduces only the right side, so it moves the crossover to
# fewer devices.
#
# In the figure, two levels are faster than both. With eight devices in a machine, each
# device exchanges only an eighth of the gradient with other machines, and a ring across
# machines has only $N / 8$ members.

# %% [markdown]
# ## 6. The plan
#
# The explorer combines everything so far:
#
# - your law, with the fastest kind of all-reduce;
# - stragglers as in section 1, but here a worker's time varies as far above its mean as
#   below;
# - failures, and Young's interval from lab 09;
# - the extra images that training needs with a large batch. Their number follows from the
#   [*critical batch size*](../docs/glossary.md) ([McCandlish et al.
#   2018](https://arxiv.org/abs/1812.06162)).
#
# In JupyterLab the explorer has sliders, which start at your own numbers. The fixed cost
# $t_0$, the peak and the number of parameters come from your run of lab 02, and then a
# device is a whole machine. Without such a run, they come from the workers above. The
# critical batch size is the bend that you found in [lab 03](03_time_to_accuracy.ipynb), or
# else 1,000.

# %% [markdown]
# **Question.** Before you run the cell: with 1,024 devices instead of 8, how many times as
# fast is the training, and how many times as much does it cost?

# %%
lab_02 = laws.law_of_lab_02()
own = {"t0_seconds": law[0], "peak": law[1], "parameters": measured["parameters"]}
own = laws.DEFAULTS | own | lab_02 | laws.critical_batch_of_lab_03()
explorer.explore(own, forecast, session.caption())
by_devices = {
    devices: laws.plan(own | {"devices": devices}, forecast) for devices in (8, 1024)
}
for devices, planned in by_devices.items():
    print(f"{devices:,} devices: all-reduce by {planned['all_reduce']}, ", end="")
    print(f"efficiency {100 * planned['efficiency']:.1f}%, {planned['dollars']:.3g} dollars")
times_as_fast = by_devices[8]["hours"] / by_devices[1024]["hours"]
times_as_dear = by_devices[1024]["dollars"] / by_devices[8]["dollars"]
print(f"1024 devices are done {times_as_fast:.2f} times as fast as 8, ", end="")
print(f"for {times_as_dear:.2f} times the price")

# %% [markdown]
# How much of that is due to the all-reduce? The next cell plans for 1,024 devices with each
# of the three kinds.

# %%
for way in ("ring", "tree", "two levels"):
    forced = laws.plan(own | {"devices": 1024, "all_reduce": way}, forecast)
    times = by_devices[8]["hours"] / forced["hours"]
    print(f"1024 devices, one all-reduce by {way}: {1e3 * forced['all_reduce_seconds']:.2f} ms, ", end="")
    print(f"done {times:.2f} times as fast as 8")

# %% [markdown]
# If a step takes only milliseconds, everything depends on the all-reduce. With a flat ring,
# 1,024 devices can be slower than 8, while the same devices with a tree are faster. Did
# that happen here? If steps are long, in contrast, every kind of all-reduce hides behind
# backward, so all three plans are the same.
#
# A second limit does not depend on the link at all. Every added device makes the batch
# larger, but far beyond the critical batch size, more images in a batch save hardly any
# steps.

# %% [markdown]
# Which slider gains you most: a faster link, compressed gradients, or fewer images on each
# device? [Gradient accumulation](../docs/glossary.md) sends fewer messages per image, but
# makes the batch larger. Try all of this here before you rent machines.
#
# The command `labs plan --devices 64 --link 25Gbit --price 2 --watts 700` prints such a
# plan from your run cards.

# %% [markdown]
# ## Quiz
#
# How much of this do you remember? Every answer comes with an explanation.

# %%
quiz("10")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Look at the figure of the buckets, and answer three questions:
#
# - Why does the time rise on both sides of the best size?
# - How far are the measured points from the predicted curve, and what happens on your
#   machine that the law leaves out?
# - How would the best size change if the latency were ten times as long?
#
# Write three to six sentences in the cell below, in your own words and with numbers from
# your run. No check reads them, but your instructor may.

# %% [markdown] name="10.figure" points=2
# **10.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Will more machines help? They will, up to a point, and you now know what determines that
# point:
#
# - A step waits for the slowest worker, and for the messages that backward cannot hide.
# - Buckets balance latency against overlap, and which all-reduce is fastest depends on the
#   number of devices.
# - Far beyond the critical batch size, even perfect machines stop helping.
#
# Before you rent, a law can predict how far your training scales, but you can trust it only
# if it states its error in advance and its range is narrow.
#
# Take two questions along. Which result of a measurement would have refuted the law? And
# what would you measure on two rented machines before you rent two hundred?
#
# All of this assumed that the whole network fits on every device. [Lab
# 11](11_does_not_fit.ipynb) is about networks that do not.

# %% [markdown]
# To read on: [Li et al., "PyTorch Distributed" (2020)](https://arxiv.org/abs/2006.15704);
# [Sergeev and Del Balso, "Horovod" (2018)](https://arxiv.org/abs/1802.05799);
# [Chen et al., "Revisiting Distributed Synchronous SGD"
# (2016)](https://arxiv.org/abs/1604.00981); [Goyal et al., "Accurate, Large Minibatch SGD"
# (2017)](https://arxiv.org/abs/1706.02677); [McCandlish et al., "An Empirical Model of
# Large-Batch Training" (2018)](https://arxiv.org/abs/1812.06162);
# [Gneiting and Raftery, "Strictly Proper Scoring Rules, Prediction, and Estimation"
# (2007)](https://doi.org/10.1198/016214506000001437).
