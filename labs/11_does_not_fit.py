# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 11: What if the network does not fit?
#
# In 16 bits, the weights of a network with 70 billion parameters take 140 GB. Training
# takes eight times as much, before a single activation is stored: fourteen GPUs of 80 GB
# would be full to the last byte. But in labs [05](05_many_gpus_fit.ipynb) to
# [10](10_more_machines.ipynb), every device held the whole network. So how do people train
# such networks at all?
#
# They count the bytes (section 1), and then save some, at a price that you predict before
# you measure it:
#
# | section | method | saves memory because it | price |
# |---|---|---|---|
# | 2 | recomputation | throws most activations away, and computes them again | time |
# | 3 | ZeRO | splits the optimizer, the gradients and the weights | messages (how many?) |
# | 4 | tensor parallelism | splits each layer | messages in every layer |
# | 5 | a pipeline | splits the chain of layers | idle time |
#
# Section 6 then combines them into the plan of a whole training.

# %% [markdown]
# > **Limits.** Every network that you train here fits on this machine. The bytes of these
# > trainings are real, but the speeds of sections 4 and 5 are not: in section 4 eight
# > simulated devices share one processor, and in section 5 the processes sleep instead of
# > computing. Without JAX, sections 1, 2 and 4 skip their measurements.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 1  # not used here: every lab has this parameter
batch_size: int = 8  # sequences in a step
workers: int = 4  # processes that train together
repeats: int = None  # measurements of each kind; None: chosen by the scale (also below)
weights: int = None  # number of weights that the workers train in section 3
blocks: int = None  # sets the number of blocks in section 1, and of layers in section 2

# %% [markdown]
# ## Set up
#
# All workers compute on the CPU. If you are stuck, press *Hint* below the check, or call
# `hint("11.1")` in a new cell. After a restart of the kernel, run the set-up again, and
# for section 4 also section 1.

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("11_does_not_fit", globals(), devices="none")

# %%
# math and np are for your answers, which may overwrite them. The lab's own cells use other
# names.
import math
from statistics import median

import numpy
import numpy as np

from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures

use_figures()
card = lab.card
folder = card.path.with_suffix("")  # for the files of this run's processes

# %% [markdown]
# ## 1. Where do the bytes go?
#
# Why does training take so much more memory than the weights? Take a network with 1
# million weights, also called its *parameters*. In float32 they take 4 MB, and their
# *gradients* another 4 MB. The [*optimizer state*](../docs/glossary.md) of
# [Adam](https://arxiv.org/abs/1412.6980), two running averages for each weight, takes 8
# MB. Together these are $4 + 4 + 8 = 16$ MB, or 16 bytes for each parameter.

# %% [markdown]
# In [mixed precision](https://arxiv.org/abs/1710.03740), as large trainings use it, a
# weight and its gradient take only 2 bytes each. But 16 bits would swallow small updates,
# so the optimizer also keeps a [*master copy*](../docs/glossary.md) of the weights in
# float32.
#
# **Question.** How many bytes does a parameter need now?

# %% [markdown]
# <details><summary>Answer</summary>
#
# Again 16, because weight and gradient take 2 bytes each, the master copy 4, and Adam's
# state 8. This is eight times the weight itself. What mixed precision saves is time, and
# memory for activations.
#
# </details>

# %% [markdown]
# Several devices can share the 16 MB. In a [data parallel](../docs/glossary.md) training,
# every device keeps them in full, but [*ZeRO*](../docs/glossary.md) ([Rajbhandari et al.
# 2020](https://arxiv.org/abs/1910.02054)) splits them, in three *stages*. With 8 devices,
# each then holds these MB:
#
# | stage | splits | weights | gradients | optimizer | together |
# |---|---|---|---|---|---|
# | 0 | nothing | 4 | 4 | 8 | 16 |
# | 1 | the optimizer | 4 | 4 | 1 | 9 |
# | 2 | also the gradients | 4 | 0.5 | 1 | 5.5 |
# | 3 | also the weights | 0.5 | 0.5 | 1 | 2 |

# %% [markdown]
# The rest of the memory holds [*activations*](../docs/glossary.md), which the forward pass
# (*forward* for short) computes, and the backward pass (*backward*) needs again. Let our
# network be a chain of four *blocks*, each with an *input* of 1 MB, and 15 MB of values
# *inside*. That makes $4 \cdot 16 = 64$ MB, and more with a larger batch.
#
# [*Recomputation*](../docs/glossary.md) keeps only the inputs. When backward comes to a
# block, it computes the inside again, and throws it away after use. So only one inside is
# in memory at a time: $4 + 15 = 19$ MB instead of 64.

# %% [markdown]
# ### Exercise 11.1: memory_budget
#
# **Write**
# `memory_budget(parameters, blocks, precision, states, devices, stage, recompute)`, which
# returns the bytes on the device that holds the most, as a dict with exactly the keys
# `"weights"`, `"gradients"`, `"optimizer"` and `"activations"`.
#
# - `parameters`, `devices`: their numbers, 1 or more;
# - `blocks`: a list, perhaps empty, of pairs `(input_bytes, inside_bytes)`, for the batch
#   of one device;
# - `precision`: `"float32"` or `"mixed"`;
# - `states`: the values that the optimizer keeps for each parameter: 2 for Adam, 0 for
#   plain SGD;
# - `stage`: the stage of ZeRO, from 0 (nothing is split) to 3;
# - `recompute`: True or False.
#
# **Rules**
#
# - A weight and a gradient take 4 bytes each with `"float32"`, and 2 each with `"mixed"`.
# - Each value of the optimizer always takes 4 bytes. With `"mixed"`, and only then,
#   `"optimizer"` also contains the master copy, with 4 bytes for each parameter.
# - The optimizer is split from stage 1 on, the gradients from stage 2 on, and the weights
#   from stage 3 on. Whatever is not split is on every device in full.
# - A split gives each device whole parameters, as equally as possible: at most
#   `-(-parameters // devices)`, which divides and rounds up.
# - The activations are the inputs plus the insides of all blocks. With recomputation, only
#   the largest inside counts, once.
# - Without blocks, there are 0 bytes of activations. Activations are never split.
# - Each value is a whole number of bytes (`int`). Do not modify `blocks`.
#
# **Example**
#
#     memory_budget(
#         parameters=10, blocks=[(5, 70), (6, 80)], precision="mixed", states=2, devices=4,
#         stage=1, recompute=True,
#     )
#     # {"weights": 20, "gradients": 20, "optimizer": 36, "activations": 91}
#
# The fullest device has the optimizer's 12 bytes for each of 3 parameters.

# %% name="11.1-memory-budget" points=1
# TODO 11.1: the bytes of each kind on the device that holds the most.
#: start
def memory_budget(parameters, blocks, precision, states, devices, stage, recompute):
    """Bytes of weights, gradients, optimizer and activations on a device, as a dict."""
    inputs = [input_bytes for input_bytes, _ in blocks]
    insides = [inside_bytes for _, inside_bytes in blocks]
    return {  # so far, this is for one device, float32 and no recomputation
        "weights": 4 * parameters,
        "gradients": 4 * parameters,
        "optimizer": 4 * states * parameters,
        "activations": sum(inputs) + sum(insides),
    }
#: solution
def memory_budget(parameters, blocks, precision, states, devices, stage, recompute):
    """Bytes of weights, gradients, optimizer and activations on a device, as a dict."""
    share = -(-parameters // devices)
    value_bytes, master_bytes = (4, 0) if precision == "float32" else (2, 4)
    inputs = [input_bytes for input_bytes, _ in blocks]
    insides = [inside_bytes for _, inside_bytes in blocks]
    return {
        "weights": value_bytes * (share if stage >= 3 else parameters),
        "gradients": value_bytes * (share if stage >= 2 else parameters),
        "optimizer": (4 * states + master_bytes) * (share if stage >= 1 else parameters),
        "activations": sum(inputs) + (max(insides, default=0) if recompute else sum(insides)),
    }
#: end

# %%
memory_budget = check("11.1", memory_budget)

# %% [markdown]
# Now to a network that really does not fit: [Llama 3
# 70B](https://arxiv.org/abs/2407.21783), a
# [transformer](https://arxiv.org/abs/1706.03762). It reads *tokens* (words or pieces of
# words), and holds $h$ values for each. In a block, *attention* with its layers `query`,
# `key`, `value` and `output` mixes the tokens. Then `up`, a ReLU and `down` treat each
# token by itself.

# %% [markdown]
# <details><summary>How many values does a block hold?</summary>
#
# For each token, two norms, which rescale the values, hold $2h$ values. `query`, `key`
# and `value` hold $3h$, attention $h$, `output` (with the block's input added) $h$, and
# `up` and its ReLU $4h$ each. Together these are $15h$. The $h$ values after `down` are
# the next block's input.
#
# </details>

# %% [markdown]
# For each token, a block has an input of $h$ values, and an inside of $15h$ (in Llama's
# slightly different blocks nearly $16h$). Each device, a GPU with 80 GB, gets one
# sequence of 8,192 tokens, and we use Adam, mixed precision and recomputation.
#
# **Question.** With which stages of ZeRO does the network fit on 8 devices, and with
# which on 64?

# %%
from helpers.lab_11.memory import (
    compiled_memory,
    memory_figures,
    newswire_batch,
    transformer_sizes,
)

llama = transformer_sizes.Llama()
of_llama = (transformer_sizes.llama_parameters(llama), transformer_sizes.llama_block_bytes(llama))
llama_input, llama_inside = of_llama[1][0]
print(f"{of_llama[0] / 1e9:.1f} billion parameters in {llama.blocks} blocks")
print(f"Of each block: input {llama_input / 1e9:.2f} GB, inside {llama_inside / 1e9:.2f} GB")

# %%
llama_budgets = {
    devices: {
        stage: memory_budget(*of_llama, "mixed", 2, devices, stage, True) for stage in range(4)
    }
    for devices in (1, 8, 64)
}
for devices, by_stage in llama_budgets.items():
    totals = [sum(held.values()) / 1e9 for held in by_stage.values()]
    shown = ", ".join(f"{total:.1f}" for total in totals)
    print(f"Devices: {devices}. GB on each of them at ZeRO stages 0 to 3: {shown}")
smallest = sum(llama_budgets[64][3].values()) / 1e9
figure = memory_figures.stages(llama_budgets, limit_bytes=80e9)
text = f"Llama 3 70B needs {smallest:.1f} GB on each of 64 devices at stage 3."
show_figure(figure, text, session.caption())

# %% [markdown]
# On 64 devices it fits only at stage 3, because at the other stages every device holds
# all weights, which take 141 GB. On 8 devices it never fits: even an eighth of the 16
# bytes for each parameter is 2 bytes, which makes the same 141 GB.

# %% [markdown]
# Can you trust such a budget? We compare it with the plan of a compiler,
# [XLA](https://openxla.org/xla), for a small float32 transformer that predicts the next
# word of a Reuters newswire.

# %%
from helpers.data.reuters import reuters

sizes = transformer_sizes.Sizes(
    blocks=max(2, min(16, lab.blocks // 4)), width=256, heads=4, words=64, vocabulary=2000,
    batch_size=lab.batch_size,
)
newswires = reuters(sizes.vocabulary)
session.note_data_source("Reuters", newswires.source, "Random words")
counted_bytes = sum(map(sum, transformer_sizes.block_bytes(sizes)))
print(f"{sizes.blocks} blocks with {transformer_sizes.parameters(sizes):,} parameters")
print(f"Activations, by our count: {counted_bytes / 1e6:.2f} MB")

# %% [markdown]
# **Predict:** (1) How many GB (of $10^9$ bytes) does a network with 7 billion parameters
# need on one device, with Adam in mixed precision and without its activations? (2) In our
# small network, what percentage of the bytes in the compiler's plan are activations and
# other temporary arrays?

# %%
my_memory_guess = {"gigabytes_of_7b": None, "activations_percent": None}  # change both
card.predict("memory", my_memory_guess)

# %%
card.lock("memory")
small = (transformer_sizes.parameters(sizes), transformer_sizes.block_bytes(sizes))
budget = memory_budget(*small, "float32", 2, 1, 0, False)
of_batch = sizes.batch_size, sizes.words, sizes.vocabulary
batch = newswire_batch.draw(newswires.x_train, *of_batch, lab.seed)
compiled = compiled_memory.measure(sizes, batch, lab.repeats, lab.seed)
for kind, predicted_bytes in budget.items():
    print(f"{kind.capitalize()}: your budget {predicted_bytes / 1e6:.2f} MB", end="")
    if compiled:
        planned = compiled["bytes"][kind]
        print(f", the compiler's plan {planned / 1e6:.2f} MB, error ", end="")
        print(f"{round(100 * (predicted_bytes / planned - 1), 1) + 0.0:+.1f}%", end="")
    print()

# %%
if compiled:
    kinds = compiled["bytes"]
    activations_percent = 100 * kinds["activations"] / sum(kinds.values())
    of_7b = sum(memory_budget(7 * 10**9, [], "mixed", 2, 1, 0, False).values())
    print(f"7 billion parameters, mixed precision, Adam: {of_7b / 1e9:.1f} GB")
    print(f"Activations: {activations_percent:.1f}% of all planned bytes")
    card.outcome("memory", {
        "gigabytes_of_7b": of_7b / 1e9, "activations_percent": activations_percent,
    })
    card.measure("compiled_bytes", kinds)

# %% [markdown]
# Only the activations are clearly off. We count each array once, and only the arrays that
# backward needs, but the compiler's plan also has temporary arrays, such as gradients of
# activations on their way back. So leave some room in every budget. (In one place we count
# more than large trainings store: attention's weight for each pair of tokens, which
# FlashAttention [does not keep](https://arxiv.org/abs/2205.14135).)

# %% [markdown]
# ## 2. Compute it twice, or keep it?
#
# In section 1, recomputation kept the input of each block. But is one block the best
# unit?
#
# Take a chain of twelve layers. Backward needs the input of each, so a plain step keeps
# twelve inputs. [Chen et al. (2016)](https://arxiv.org/abs/1604.06174) cut the chain into
# *segments*, here three segments with four layers each. Forward keeps only each segment's
# first input, a *checkpoint*. When backward reaches a segment, it starts from the
# checkpoint and computes the three other inputs again.
#
# ![Twelve layers in three segments of four. During forward only the inputs of layers 0, 4 and 8 are kept. While backward is in the second segment, the inputs of layers 5, 6 and 7 are computed again from that of layer 4.](../helpers/lab_11/diagrams/recomputation.svg)

# %% [markdown]
# So the step holds at most 3 checkpoints and 3 other inputs: 6 inputs instead of 12. With
# $n$ layers in $k$ equal segments, and $c$ bytes for each input, the *peak* is
#
# $$ A(k) = c \left( k + \frac{n}{k} - 1 \right) \quad\text{bytes.} $$
#
# It is lowest where its derivative $c\,(1 - n / k^2)$ is zero, at $k = \sqrt{n}$.

# %% [markdown]
# ### Exercise 11.2: segments
#
# If the layers are not equal, no formula says where to cut, so your function searches.
#
# **Write** `segments(activation_bytes, budget)`, which returns the first layer of each
# segment, so that a training step needs at most `budget` bytes for its activations.
#
# - `activation_bytes`: a list with the bytes of each layer's input, whole numbers from 1.
#   There are 1 to 16 layers, counted from 0;
# - `budget`: a whole number of bytes, 1 or more.
#
# **Rules**
#
# - If the sum of all bytes is at most `budget`, return an empty list.
# - Otherwise return a *segmentation*: a list with the first layer of each segment, as whole
#   numbers. It begins with 0, strictly increases, and stays below the number of layers.
# - The peak is the sum of two parts. The first is the bytes of all first layers together.
#   For the second, add up the bytes of the *other* layers in each segment, and take the
#   largest of these sums (0 if there are none).
# - A sum or a peak of exactly `budget` bytes fits. If several segmentations fit, return any
#   of them. If none fits, return `None`.
# - The result depends only on the arguments. Each call returns a list of its own, and does
#   not modify `activation_bytes`.
#
# **Example**
#
#     segments([10, 20, 30, 20], 80)   # []: the sum fits
#     segments([10, 20, 30, 20], 60)   # [0, 2]: 10 + 30, and the larger of 20 and 20
#     segments([10, 20, 30, 20], 59)   # None
#
# The loop below tries all segmentations. You need about five lines more.

# %% name="11.2-segments" points=1
# TODO 11.2: the first layer of each segment, so that the peak is at most the budget.
#: start
def segments(activation_bytes, budget):
    """The first layers of the segments; [] if no cut is needed, None if none is enough."""
    from itertools import combinations

    n = len(activation_bytes)
    for more in range(n):
        for rest in combinations(range(1, n), more):
            firsts = [0, *rest]  # a segment ends where the next one begins, or at n
            peak = float("inf")  # replace this by the peak of the segmentation
            if peak <= budget:
                return firsts
    return []
#: solution
def segments(activation_bytes, budget):
    """The first layers of the segments; [] if no cut is needed, None if none is enough."""
    from itertools import combinations

    if sum(activation_bytes) <= budget:
        return []
    n = len(activation_bytes)
    for more in range(n):
        for rest in combinations(range(1, n), more):
            firsts = [0, *rest]
            kept = sum(activation_bytes[first] for first in firsts)
            ends = [*rest, n]
            again = [sum(activation_bytes[a + 1 : b]) for a, b in zip(firsts, ends, strict=True)]
            if kept + max(again) <= budget:
                return firsts
    return None
#: end

# %%
segments = check("11.2", segments)

# %% [markdown]
# The formula would cut the 16 very unequal layers of
# [VGG-16](https://arxiv.org/abs/1409.1556) into $\sqrt{16} = 4$ equal segments.
#
# **Question.** They begin at layers 0, 4, 8 and 12. Which of the four segments is the
# heaviest, and where would you cut instead?

# %%
# Pixels along a side, and channels, of each layer's input. The last three layers are dense.
vgg_inputs = [
    (224, 3), (224, 64), (112, 64), (112, 128), (56, 128), (56, 256), (56, 256), (28, 256),
    (28, 512), (28, 512), (14, 512), (14, 512), (14, 512), (7, 512), (1, 4096), (1, 4096),
]
vgg_bytes = [4 * side * side * channels for side, channels in vgg_inputs]
others = [sum(vgg_bytes[first + 1 : first + 4]) for first in range(0, 16, 4)]
equal_peak = sum(vgg_bytes[::4]) + max(others)
print(f"For one image: without cuts {sum(vgg_bytes) / 1e6:.1f} MB, ", end="")
print(f"with four equal segments {equal_peak / 1e6:.1f} MB")
for megabytes in (40, 26, 20, 18):
    print(f"Budget {megabytes} MB: {segments(vgg_bytes, megabytes * 10**6)}")

# %% [markdown]
# The first segment is the heaviest: the inputs of layers 1 to 3 take 22.5 MB together. A
# cut before layer 2 leaves the largest of them, 12.8 MB, alone in it. With cuts before
# layers 2 and 4, the peak is 18.3 MB instead of 26.7. (A cut before layer 1 would not help,
# because its input would then be a checkpoint, and so stay in memory.)

# %% [markdown]
# Does a real compiler save as much? We give [JAX](https://docs.jax.dev) 64 equal dense
# layers (at laptop scale), and ask for recomputation with
# [`jax.checkpoint`](https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html).

# %%
from helpers.lab_11.recomputation import recompute_figures
from helpers.lab_11.recomputation import recompute_on_jax as recompute

session.show_source(recompute.training_step)

# %% [markdown]
# And the time? Backward computes two gradients, for the weights and for the input, so it
# takes twice as long as forward, and a plain step as long as three forwards. Recomputation
# runs forward a second time, at most once for each layer. So a step takes at most four
# forwards instead of three, which is $4/3$ times as long.
#
# **Predict:** With the best number of segments, what share of a plain step's memory does
# the step need? And with segments of about $\sqrt n$ layers, how many times as long as a
# plain step does it take?

# %%
my_recompute_guess = {"memory": None, "time": None}  # a share such as 0.5, and a factor
card.predict("recompute", my_recompute_guess)

# %%
card.lock("recompute")
layer_count = 4 * lab.blocks
recomputed = recompute.measure(layer_count, lab.batch_size, lab.repeats, lab.seed)
if recomputed:
    kept_bytes, segment_bytes = recomputed["kept"], recomputed["bytes"]
    least_segments = min(segment_bytes, key=segment_bytes.get)
    memory_share = segment_bytes[least_segments] / kept_bytes
    step_ratios = recompute.slower(recomputed)
    square_root = recompute.middle(layer_count)
    times = step_ratios[square_root]
    print(f"Without recomputation: {kept_bytes / 1e6:.1f} MB")
    print(f"Best, with {least_segments} segments: ", end="")
    print(f"{segment_bytes[least_segments] / 1e6:.1f} MB, a share of {memory_share:.3f}")
    card.outcome("recompute", {"memory": memory_share, "time": median(times)})
    card.measure("recompute_bytes", segment_bytes)

# %%
if recomputed:
    promised = {k: recompute.formula(layer_count, k) for k in segment_bytes}
    shares = {k: held / kept_bytes for k, held in segment_bytes.items()}
    for k in (2, square_root, layer_count // 2):
        print(f"{k} segments: by the formula {promised[k]:.3f} of the memory, ", end="")
        print(f"by the compiler {shares[k]:.3f}, ", end="")
        print(f"error {100 * (promised[k] / shares[k] - 1):+.1f}%")
    print(f"Time with {square_root} segments, divided by that of a plain step: ", end="")
    print(f"predicted at most 1.333, measured {median(times):.2f} ", end="")
    print(f"(from {min(times):.2f} to {max(times):.2f})")
    figure = recompute_figures.price(promised, shares, step_ratios)
    text = f"With {least_segments} segments, a step needs {memory_share:.2f} times "
    text += "the memory of a plain step."
    show_figure(figure, text, session.caption())

# %% [markdown]
# The formula has the right shape, but it counts only inputs. In our stored run, 2 segments
# need 0.84 of the memory instead of 0.52, because the loop also holds a copy of the current
# segment's weights, and their gradients.
#
# Still, $\sqrt{64} = 8$ segments are a good choice: a third of the memory. Their price,
# however, our clock cannot tell: five repetitions took from 1.08 to 1.55 times as long
# as a plain step, around the promised 4/3.

# %% [markdown]
# ## 3. Share the optimizer
#
# Let four [workers](../docs/glossary.md) train 1 million weights. In a data parallel
# step, each keeps all 8 MB of Adam's state, and computes the same update. Can each keep
# only a quarter, without changing a single bit of the result?

# %%
from helpers.lab_11.sharding import sharded_training, zero, zero_figures

session.show_source(zero.adam)

# %% [markdown]
# Adam updates each weight on its own, so a worker that updates only a quarter of the
# weights needs only a quarter of the state and of the mean gradient. But how do the
# others get its new weights?
#
# In the ring of [lab 09](09_many_machines.ipynb), [reduce-scatter](../docs/glossary.md)
# first gives each worker the finished sum of one chunk of the gradient. Then
# [all-gather](../docs/glossary.md) passes these sums round, and every worker updates all
# weights. Now move the update between these two halves: each worker updates only its own
# chunk, and all-gather passes round the new *weights* instead of the sums. This is stage 1
# of ZeRO.
#
# ![Before they share the optimizer, each of four workers holds all of Adam's state and updates all weights after an all-reduce. Afterwards, each holds and updates a quarter between reduce-scatter and all-gather.](../helpers/lab_11/diagrams/sharded_optimizer.svg)

# %% [markdown]
# ### Exercise 11.3: the sharded step
#
# You begin with our ring of exercise 9.1, after which each worker updates all weights. Move
# the update.
#
# **Write** `sharded_step(weights, gradient, state, update, rank, workers, send, receive)`,
# which makes one step and returns `(new_weights, new_state)`.
#
# - `weights`, `gradient`: float32 arrays with one axis and the same length. All workers get
#   the same weights, but each has its own gradient;
# - `state`: what this worker's last call for this training returned (None at first);
# - `update(part, mean_gradient, state)`: returns `(new_part, new_state)` for a part of the
#   weights, and works value by value;
# - `rank`, `workers`, `send(to, array)`, `receive(sender)`: as in exercise 9.1. Only
#   `receive` waits.

# %% [markdown]
# **Rules**
#
# - The mean gradient is the sum over all $N$ workers, divided by $N$.
# - A worker calls `update` exactly once, even if its part is empty. It passes the `state`
#   that `sharded_step` received, and returns the state that `update` returns.
# - Pass to `update` only this worker's part of the weights and of the mean gradient. These
#   two, and each message, are float32 arrays of at most `len(weights) / N` values, rounded
#   up.
# - The length of `weights` need not be a multiple of $N$.
# - All workers return the same new float32 array, **to the last bit**. Up to rounding, it
#   is what one `update` of all weights with the mean gradient returns.
# - A worker sends only to rank `rank + 1`, and the last worker to rank 0. The workers never
#   all wait at the same time.
# - Each worker sends `2 (N - 1)` messages, even if they are empty. A single worker sends
#   none.
# - Do not modify `weights` or `gradient`. Two trainings may alternate, so keep nothing
#   between two calls except in the state that you return.
# - Each worker has its own copy of your function, and of everything that it uses from other
#   cells.
#
# **Example.** Two workers have the weights `[1, 2, 3]`, and the gradients `[2, 2, 2]` and
# `[4, 4, 4]`. If `update` subtracts the mean gradient, 3, both return `[-2, -1, 0]`.

# %% name="11.3-sharded-step" points=2
# TODO 11.3: one step of a training in which each worker updates only its part.
#: start
def sharded_step(weights, gradient, state, update, rank, workers, send, receive):
    """The new weights, and the new state of this worker's part."""
    sums = np.array_split(gradient.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):  # reduce-scatter
        send(after, sums[(rank - step) % workers])
        sums[(rank - step - 1) % workers] += receive(before)
    for step in range(workers - 1):  # all-gather
        send(after, sums[(rank + 1 - step) % workers])
        sums[(rank - step) % workers] = receive(before)
    return update(weights, np.concatenate(sums) / workers, state)
#: solution
def sharded_step(weights, gradient, state, update, rank, workers, send, receive):
    """The new weights, and the new state of this worker's part."""
    sums = np.array_split(gradient.copy(), workers)
    parts = np.array_split(weights.copy(), workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):  # reduce-scatter
        send(after, sums[(rank - step) % workers])
        sums[(rank - step - 1) % workers] += receive(before)
    parts[after], state = update(parts[after], sums[after] / workers, state)
    for step in range(workers - 1):  # all-gather
        send(after, parts[(rank + 1 - step) % workers])
        parts[(rank - step) % workers] = receive(before)
    return np.concatenate(parts), state
#: end

# %%
sharded_step = check("11.3", sharded_step)

# %% [markdown]
# Several processes now train for five steps: *ZeRO-1* with your function and Adam as its
# `update`, and *data parallel* with a plain all-reduce, after which each worker updates
# all weights.
#
# **Predict:** With ZeRO-1 and four workers, how many MB does each worker send in a step,
# and how many MB of Adam's state does it keep? And after five steps, compare each weight of
# ZeRO-1 with the same weight in data parallel, and between the workers: what is the largest
# difference?

# %%
print(f"All weights together: {4 * lab.weights / 1e6:.2f} MB")
# Change these three to numbers.
my_sharing_guess = {"sent_megabytes": None, "state_megabytes": None, "difference": None}
card.predict("shared_optimizer", my_sharing_guess)

# %%
card.lock("shared_optimizer")
training_of = sharded_step, lab.workers, lab.weights, lab.repeats, lab.seed
in_two_ways = sharded_training.train(folder / "two", ("data parallel", "ZeRO-1"), *training_of)
by_formula = sharded_training.predicted_bytes(lab.weights, lab.workers)
for way, done in in_two_ways.items():
    held, expected = done.held["state"] / 1e6, by_formula[way]
    print(f"{way}, for each worker, in MB:")
    print(f"  Sent in a step: {done.sent / 1e6:.2f}, ", end="")
    print(f"by the formula {expected['sent'] / 1e6:.2f}")
    print(f"  Adam's state: {held:.2f}, by the formula {expected['state'] / 1e6:.2f}")
    print(f"  Growth of the process: {done.resident / 1e6:.1f}")

# %%
data_parallel, shared = in_two_ways["data parallel"], in_two_ways["ZeRO-1"]
difference = max(
    sharded_training.largest_difference(shared.weights, other)
    for other in (data_parallel.weights, shared.weights[0])
)
print(f"Largest difference of a weight: {difference:.1e}")
for way, done in in_two_ways.items():
    middle, low, high = (1e3 * f(done.seconds) for f in (numpy.median, numpy.min, numpy.max))
    print(f"Median step, {way}: {middle:.1f} ms (from {low:.1f} to {high:.1f} ms)")
outcome_of_sharing = {"sent_megabytes": shared.sent / 1e6, "difference": difference}
outcome_of_sharing |= {"state_megabytes": shared.held["state"] / 1e6}
card.measure("shared_optimizer", outcome_of_sharing)
card.measure("sharded_steps_per_second", 1 / float(numpy.median(shared.seconds)))
card.outcome("shared_optimizer", outcome_of_sharing)

# %% [markdown]
# **Not one byte more:** each worker keeps only a quarter of the state, and sends as much as
# before. If the difference is 0, all weights even agree to the last bit, because both
# trainings added the same numbers in the same order. In the stored run, a step is even
# faster, 82 instead of 164 ms. That is no surprise, because each worker runs Adam on a
# quarter of the weights only, and all of them share one processor. On GPUs, where Adam is a
# small part of a step, expect less. (The growth of a process is read after a step, when the
# gradients are free again: it is the weights, 4 MB, the state, and about 1 MB of
# leftovers.)
#
# ### Share the weights, too
#
# - **ZeRO-2** also splits the gradients. As soon as a layer's gradient is computed,
#   reduce-scatter adds it up, and leaves each worker only its part.
# - **ZeRO-3** also splits the weights. All-gather collects a layer's weights before its
#   forward, and again before its backward, as in PyTorch's FSDP ([Zhao et al.
#   2023](https://arxiv.org/abs/2304.11277)).
#
# **Predict:** How many MB does each worker send in a step of ZeRO-2, and of ZeRO-3? Count
# how often reduce-scatter and all-gather run over all weights.

# %%
session.show_source(zero.zero_3_step)
my_zero_guess = {"zero_2": None, "zero_3": None}  # change both to numbers of MB
card.predict("zero_megabytes", my_zero_guess)

# %%
card.lock("zero_megabytes")
further = sharded_training.train(folder / "further", ("ZeRO-2", "ZeRO-3"), *training_of)
all_ways = in_two_ways | further
for way, done in further.items():
    expected = by_formula[way]["sent"] / 1e6
    apart = sharded_training.largest_difference(done.weights, data_parallel.weights)
    print(f"{way}: each worker sends {done.sent / 1e6:.2f} MB in a step, ", end="")
    print(f"by the formula {expected:.2f} MB")
    print(f"  Growth of the process: {done.resident / 1e6:.1f} MB")
    print(f"  Largest difference of a weight from data parallel: {apart:.1e}")
sent_megabytes = {"zero_2": further["ZeRO-2"].sent / 1e6, "zero_3": further["ZeRO-3"].sent / 1e6}
card.outcome("zero_megabytes", sent_megabytes)

# %%
by_worker = {way: done.held | {"sent": done.sent} for way, done in all_ways.items()}
card.measure("zero_bytes", by_worker)
kept_megabytes = {
    way: (done["weights"] + done["gradient"] + done["state"]) / 1e6
    for way, done in by_worker.items()
}
text = "A worker holds " + ", ".join(f"{mb:.2f} MB ({w})" for w, mb in kept_megabytes.items())
figure_of_zero = zero_figures.held_and_sent(by_worker, by_formula)
show_figure(figure_of_zero, f"{text}.", session.caption())

# %% [markdown]
# When $N$ workers run reduce-scatter or all-gather over all $P$ weights, each of them
# sends
#
# $$ s = 4\,P\, \frac{N - 1}{N} \quad\text{bytes.} $$
#
# ZeRO-1 and ZeRO-2 send $2\,s$, as data parallel does, but ZeRO-3 sends $3\,s$, because it
# collects the weights twice. So if a step has only one backward, the first two splits cost
# no extra bytes. With several, ZeRO-2 has to run reduce-scatter after each. (The weights of
# ZeRO-2 and ZeRO-3 differ a little from those of data parallel, because they add up the
# gradients in another order.)

# %% [markdown]
# ## 4. Share each layer
#
# ZeRO-3 only *stores* the weights in parts: to compute a layer, every worker still
# collects all of its weights. With [*tensor parallelism*](../docs/glossary.md), a device
# computes with its own part alone.
#
# Let two devices split a dense layer. The input is $(1, 2)$, and the matrix has the rows
# $(3, 4)$ and $(-1, 6)$, so the outputs are $3 - 2 = 1$ and $4 + 12 = 16$.
#
# - **By columns.** A device with the column $(3, -1)$ needs the whole input, and computes
#   one output completely: 1. The other device computes 16.
# - **By rows.** A device with the row $(3, 4)$ needs only the input 1, but computes only
#   *partial sums*: 3 and 4. The other device has -2 and 12, and an
#   [all-reduce](../docs/glossary.md) adds them up.
#
# ![Two devices hold the same input x. Each has half of the columns of the first matrix, and half of the rows of the second. The results are partial sums, and one all-reduce adds them up on both devices.](../helpers/lab_11/diagrams/tensor_parallel.svg)

# %% [markdown]
# One after the other, the two ways fit together. A device that has computed some outputs
# of `up` by columns has just the inputs that its rows of `down` need, so the pair
# communicates only once, at the end. The reverse order would fail at the ReLU in between,
# which cannot treat the parts 3 and -2 of the first output on their own: it would make
# $3 + 0 = 3$ of them instead of 1.
#
# In attention, each of several independent *heads* has its own columns of `query`, `key`
# and `value`, before `output` combines them.
#
# **Question.** Which of these four layers would you split by columns, and which by rows?

# %% [markdown]
# As in [lab 07](07_tpu_cores.ipynb), a compiler inserts the messages. Our eight devices
# form a grid, the [mesh](../docs/glossary.md): two along the axis `data`, and four along
# `model`. Keras only has to know, for each axis of a weight, whether it is split over
# `model` ([`LayoutMap`](https://keras.io/api/distribution/layout_map/),
# [`ModelParallel`](https://keras.io/api/distribution/model_parallel/)).

# %% [markdown]
# ### Exercise 11.4: layout
#
# **Write** `layout(path, shape)`, which returns a tuple or list with one entry for each
# axis of a transformer's weight: `"model"` if this axis is split over the mesh axis
# `model`, and None if it is not.
#
# - `path`: names joined by `/`. The last one is the weight (`kernel`, `bias`, ...), and the
#   one before it is the layer;
# - `shape`: the tuple of the weight's sizes along its axes, at most four. A dense kernel
#   has the shape (inputs, outputs), and its bias (outputs,). The sizes that you split divide
#   evenly.

# %% [markdown]
# **Rules**
#
# - A weight belongs to a block if one part of its path is `block_` followed by a number of
#   any size, wherever that part is. (`block_norm` has no number.)
# - In a block, the kernels of `query`, `key`, `value`, `output`, `up` and `down` are each
#   split along exactly one axis, whatever their sizes.
# - The axes fit together: the compiled forward pass of a block has two all-reduces, and no
#   other [collective](../docs/glossary.md).
# - A bias of one of these layers is split if its layer's output is split, and only then.
# - All other weights of a block stay whole, for example those of its norms. So do all
#   weights outside of the blocks, even if their layer has one of the six names.
# - Compare whole names: `output_norm` is not `output`.
# - A weight without axes gets `()`. The same call always gives the same result.
#
# **Example**
#
# ```python
# layout("block_3/norm_1/gamma", (512,))            # (None,)
# layout("words/embeddings", (8000, 512))           # (None, None)
# layout("decoder/block_12/up/kernel", (512, 512))  # either ("model", None) or (None, "model")
# ```
#
# The first lines recognise a block for you.

# %% name="11.4-layout" points=1
# TODO 11.4: along which axis each weight of a transformer is split.
#: start
def layout(path, shape):
    """For each axis of a weight: "model" if it is split, None if not."""
    *outer, layer, weight = path.split("/")
    if not any(part[:6] == "block_" and part[6:].isdigit() for part in outer):
        return (None,) * len(shape)  # outside of the blocks
    return (None,) * len(shape)  # inside: which weights are split, and along which axis?
#: solution
def layout(path, shape):
    """For each axis of a weight: "model" if it is split, None if not."""
    *outer, layer, weight = path.split("/")
    if not any(part[:6] == "block_" and part[6:].isdigit() for part in outer):
        return (None,) * len(shape)
    if layer in ("query", "key", "value", "up"):
        return (None, "model") if weight == "kernel" else ("model",)
    if layer in ("output", "down") and weight == "kernel":
        return ("model", None)
    return (None,) * len(shape)
#: end

# %%
layout = check("11.4", layout)

# %% [markdown]
# [JAX](https://docs.jax.dev/en/latest/sharded-computation.html) treats your processor as
# eight devices. A small transformer trains twice: with your layout on the `2 x 4` mesh, and
# `data parallel`, with all weights on every device.

# %%
from helpers.lab_11.memory import transformer
from helpers.lab_11.sharding import tensor_parallel, tensor_parallel_figures

sizes_of_decoder = {"blocks": 2, "width": 256, "heads": 8, "words": 64, "vocabulary": 512}
shapes_of_decoder = {
    weight.path: tuple(weight.shape) for weight in transformer.decoder(**sizes_of_decoder).weights
}
split_by_you = {path: tuple(layout(path, shape)) for path, shape in shapes_of_decoder.items()}
split_by_you = {path: spec for path, spec in split_by_you.items() if any(spec)}
mesh_layouts = {
    "data parallel": {"mesh": {"data": 8}, "weights": {}},
    "2 x 4": {"mesh": {"data": 2, "model": 4}, "weights": split_by_you},
}
total_bytes = sum(4 * numpy.prod(shape) for shape in shapes_of_decoder.values())
split_bytes = sum(4 * numpy.prod(shapes_of_decoder[path]) for path in split_by_you)

# %% [markdown]
# **Predict:** What percentage of the weights does a device of the 2 x 4 mesh hold? And how
# many all-reduces are in the compiled forward pass of both blocks together?

# %%
print(f"The weights of the transformer have {total_bytes / 1e6:.2f} MB, ", end="")
print(f"of which your layout splits {split_bytes / 1e6:.2f} MB")
my_mesh_guess = {"percent_of_weights": None, "all_reduces_forward": None}  # change both
card.predict("mesh", my_mesh_guess)

# %%
card.lock("mesh")
sequences = 8 * -(-lab.batch_size // 8)  # a multiple of 8: equal parts for 8 devices
of_sequences = sequences, sizes_of_decoder["words"], sizes_of_decoder["vocabulary"]
sequences_of_words = newswire_batch.draw(newswires.x_train, *of_sequences, lab.seed)
on_meshes = tensor_parallel.compare(
    mesh_layouts, sizes_of_decoder, sequences_of_words, steps=3, seed=lab.seed
)
for name, one in on_meshes.items():
    print(f"{name}: {one['weights'][0]:,} bytes of weights on a device, ", end="")
    print(f"{one['moments'][0]:,} bytes of Adam's state")
    print(f"    collectives in forward: {one['forward']['collectives']}")
    print(f"    collectives in a step:  {one['step']['collectives']}")

# %%
if on_meshes:
    mine, whole = on_meshes["2 x 4"], on_meshes["data parallel"]
    share_held = 100 * mine["weights"][0] / whole["weights"][0]
    predicted_share = 100 * (1 - split_bytes / total_bytes * 3 / 4)
    print(f"A device of the 2 x 4 mesh holds {share_held:.2f}% of the weights, ", end="")
    print(f"predicted {predicted_share:.2f}%")
    forward_reduces = mine["forward"]["collectives"]["all-reduce"]
    outcome_on_meshes = {"percent_of_weights": share_held, "all_reduces_forward": forward_reduces}
    card.outcome("mesh", outcome_on_meshes)
    pairs = [zip(one["losses"], whole["losses"], strict=True) for one in on_meshes.values()]
    most_apart = max(abs(a - b) for pair in pairs for a, b in pair)
    print(f"The losses of 3 steps differ by at most {most_apart:.1e}")
    bytes_held = {name: one["weights"][0] for name, one in on_meshes.items()}
    card.measure("bytes_of_weights_on_a_device", bytes_held)

# %%
if on_meshes:
    sent_by_kind = {
        name: tensor_parallel.bytes_by_kind(one["step"]["messages"])
        for name, one in on_meshes.items()
    }
    figure = tensor_parallel_figures.kept_and_sent(bytes_held, sent_by_kind)
    text = f"2 x 4 keeps {share_held:.0f}% of the weights on a device."
    show_figure(figure, text, session.caption())

# %% [markdown]
# A device holds a quarter of each split weight, and all others in full. In a block,
# attention needs one all-reduce in forward and one in backward, and so does `up` with
# `down`, as in [Megatron-LM](https://arxiv.org/abs/1909.08053). So two blocks need 8 in a
# step. The ninth adds up the gradients along `data`.

# %% [markdown]
# ### Why does tensor parallelism need fast links?
#
# Let eight [H100](https://www.nvidia.com/en-us/data-center/h100/) GPUs in a ring share
# each layer of [LLaMA-65B](https://arxiv.org/abs/2302.13971), with $h = 8192$. Each of
# its 80 blocks needs four all-reduces of activations. How long do they take, for a
# sequence of 2,048 tokens with 2-byte values? Inside a machine, NVLink sends 450 GB/s in
# each direction. Between machines, a GPU may have 400 Gbit/s, which is 50 GB/s. The
# computing takes 6 operations for each weight and token (section 6 shows why), at an
# assumed 40% of the peak.

# %%
activation_bytes = 2 * 2048 * 8192
sent_bytes = 4 * 80 * activation_bytes * 2 * 7 / 8  # 4 all-reduces in each block
for link_name, link_speed in {"NVLink": 450e9, "Network": 400e9 / 8}.items():
    milliseconds = 1e3 * sent_bytes / link_speed
    print(f"{link_name}: the messages of a sequence take at least {milliseconds:.0f} ms")
computing_ms = 1e3 * 6 * 65.2e9 * 2048 / (8 * 0.4 * 989e12)  # 989e12 operations/s at peak
print(f"The computation of a sequence takes {computing_ms:.0f} ms")

# %% [markdown]
# Even over NVLink, the messages add 42 ms to 253. Between machines they would take 376 ms,
# longer than the computation, and could hardly hide behind it, because each layer waits for
# the sum of the previous one. So tensor parallelism stays where links are fast: inside a
# machine, or in a rack that is wired like one.
#
# Gradients along `data` travel only once in a step of many sequences, and during
# backward. For them, the slower network is good enough ([lab
# 10](10_more_machines.ipynb)).

# %% [markdown]
# ## 5. Share the layers: a pipeline
#
# What can several machines share, if not each layer? In a
# [*pipeline*](../docs/glossary.md), the chain of layers is cut into $p$ *stages* (not
# those of ZeRO), one for each worker. In forward, a stage sends its output to the next
# stage, and in backward the gradient of this output comes back.
#
# With the whole batch at once, only one stage would work at a time. So the batch is cut
# into $m$ [*micro-batches*](../docs/glossary.md), which follow each other through the
# stages, and their gradients are added up.

# %%
from helpers.lab_11.pipelines import pipeline, pipeline_figures, pipeline_schedule

# %% [markdown]
# ![Time lines of three stages with four micro-batches. In GPipe's order each stage does four forwards and then four backwards. In the other order, the last stage does them in turn. Both take equally long.](../helpers/lab_11/diagrams/pipeline.svg)
#
# Where the figure is blank, a stage is idle. How large is this
# [*bubble*](../docs/glossary.md)? Let a forward of a micro-batch take 1 unit of time, and
# a backward 2. In the figure, the last stage works for $4 \cdot 3 = 12$ units. It waits
# for 6: first for two forwards on the stages before it, and at the end for their two
# backwards. So it is idle for a third of the time.
#
# In general, every stage works for $3 m$ units and waits for $3 (p - 1)$, so it is idle
# for the share
#
# $$ \frac{p - 1}{m + p - 1}. $$

# %% [markdown]
# The two orders differ in memory, because a stage keeps the activations of a micro-batch
# until the end of its backward.
#
# - In **GPipe**'s order ([Huang et al. 2019](https://arxiv.org/abs/1811.06965)), a stage
#   does all forwards first, so without recomputation it holds all $m$ micro-batches.
# - In [**1F1B**](../docs/glossary.md), "one forward, one backward" (see [Narayanan et al.
#   2021](https://arxiv.org/abs/2104.04473)), each stage begins with a few forwards, and
#   then does a backward and a forward in turn.
#
# How many are a few? The last stage needs only one forward before its first backward. The
# stage before it does one more while it waits for that backward, and so on back to stage
# 0. So stage $s$ never holds more than $p - s$ micro-batches.

# %% [markdown]
# ### Exercise 11.5: order
#
# Your order takes no longer than GPipe's, but holds fewer micro-batches.
#
# **Write** `order(stage, stages, micro_batches)`, which returns the list of everything that
# this stage does in a step: `("F", i)` for the forward of micro-batch `i`, and `("B", i)`
# for its backward. Stages and micro-batches are numbered from 0, and there is at least one
# of each.

# %% [markdown]
# **Rules**
#
# - A stage does its items in turn, each as soon as it can. A forward takes 1 unit of time,
#   a backward 2, and a message none.
# - A forward of `i` needs the forward of `i` on the stage before. A backward of `i` needs
#   the backward of `i` on the stage after or, on the last stage, its forward.
# - Each item is a pair (a tuple or a list) of `"F"` or `"B"` and a whole number.
# - Each stage does the forward and the backward of each micro-batch exactly once.
# - Together, the lists of all stages never deadlock.
# - At no time does stage $s$ hold more than `stages - s` micro-batches, each from the
#   beginning of its forward to the end of its backward.
# - All stages together end as early as possible, which is after
#   `3 * (micro_batches + stages - 1)` units of time.
# - The list depends only on the three arguments: each stage calls a copy of the function.
#
# **Example**
#
#     order(0, 2, 3)   # [("F", 0), ("F", 1), ("B", 0), ("F", 2), ("B", 1), ("B", 2)]
#     order(1, 2, 3)   # [("F", 0), ("B", 0), ("F", 1), ("B", 1), ("F", 2), ("B", 2)]
#
# You need about seven lines.

# %% name="11.5-order" points=2
# TODO 11.5: the forwards and backwards of a stage, in an order that saves memory.
#: start
def order(stage, stages, micro_batches):
    """GPipe's order: all forwards, then all backwards."""
    forwards = [("F", i) for i in range(micro_batches)]
    return forwards + [("B", i) for i in range(micro_batches)]
#: solution
def order(stage, stages, micro_batches):
    """1F1B: some forwards, and then a backward and a forward in turn."""
    ahead = min(stages - stage, micro_batches)
    work = [("F", i) for i in range(ahead)]
    for i in range(micro_batches):
        work.append(("B", i))
        if i + ahead < micro_batches:
            work.append(("F", i + ahead))
    return work
#: end

# %%
order = check("11.5", order)

# %% [markdown]
# Four processes, one for each stage, work in your order, and sleep for 8 ms in a forward and
# 16 ms in a backward.
#
# **Predict:** With 4 stages and 1, 4 and 16 micro-batches, what share of the time are the
# stages idle, as a number from 0 to 1?

# %%
my_idle_guess = {"of_1": None, "of_4": None, "of_16": None}  # change all three
card.predict("idle_share", my_idle_guess)

# %%
card.lock("idle_share")
pipeline_orders = {"yours": order, "GPipe": pipeline_schedule.gpipe}
pipeline_plan = [("yours", m) for m in (1, 2, 4, 8, 16)] + [("GPipe", 16)]
pipeline_runs = pipeline.measure(
    folder / "pipeline", pipeline_orders, pipeline_plan, lab.repeats
)
idle_by_run = {
    run: [pipeline_schedule.idle_share(one.boxes) for one in repetitions]
    for run, repetitions in pipeline_runs.items()
}
for (name, m), shares in idle_by_run.items():
    error = 50 * (max(shares) - min(shares))
    by_formula_idle = 100 * pipeline_schedule.formula(4, m)
    print(f"{name}, m = {m}: by the formula {by_formula_idle:.1f}%, ", end="")
    print(f"measured {100 * median(shares):.1f}% +- {error:.1f} points")
print("The error after +- is half the range of the repetitions.")

# %%
idle_of_yours = {m: shares for (name, m), shares in idle_by_run.items() if name == "yours"}
idle_medians = {m: median(shares) for m, shares in idle_of_yours.items()}
card.outcome("idle_share", {f"of_{m}": idle_medians[m] for m in (1, 4, 16)})
card.measure("pipeline_idle_share", idle_medians)
one, many = (100 * idle_medians[m] for m in (1, 16))
text = f"Idle share: {one:.1f}% with 1 micro-batch, {many:.1f}% with 16."
show_figure(pipeline_figures.idle_shares(idle_of_yours, 4), text, session.caption())

# %%
peaks_by_order = {name: pipeline_runs[name, 16][-1].peaks for name in ("GPipe", "yours")}
for name, peaks in peaks_by_order.items():
    shown = ", ".join(map(str, peaks))
    print(f"{name}: at their peaks, stages 0 to 3 held {shown} of 16 micro-batches")
card.measure("pipeline_held", peaks_by_order)
boxes_by_order = {name: pipeline_runs[name, 16][-1].boxes for name in ("GPipe", "yours")}
ends = {name: 1e3 * max(box.end for box in boxes) for name, boxes in boxes_by_order.items()}
text = f"GPipe's step ends after {ends['GPipe']:.1f} ms, yours after {ends['yours']:.1f} ms."
show_figure(pipeline_figures.time_lines(boxes_by_order), text, session.caption())

# %% [markdown]
# With 16 micro-batches, both orders take equally long, but yours holds at most 4 of them,
# and GPipe's all 16. (Messages take time, so your shares may lie a little above the
# formula.)
#
# **Question.** More micro-batches make the bubble smaller. What keeps you from using
# 1,000 of them?

# %% [markdown]
# <details><summary>Answer</summary>
#
# Each needs at least one sequence, and beyond some size a larger batch no longer saves
# steps ([lab 03](03_time_to_accuracy.ipynb)). Small micro-batches also leave much of a
# device unused.
#
# </details>

# %% [markdown]
# ## 6. Plan a training
#
# Before a real training begins, people want to know two things: how long will it take,
# and which combination of methods is best?
#
# ### How long will it take?
#
# LLaMA-65B was trained on 1.4 trillion tokens with 2,048 A100 GPUs. In forward, nearly
# every one of its 65.2 billion weights takes part in one multiplication and one addition
# for each token. Backward takes twice as many, which makes 6 operations for each weight
# and token ([Kaplan et al. 2020](https://arxiv.org/abs/2001.08361)).
#
# The peak of an A100 is $312 \cdot 10^{12}$ operations per second. If all GPUs always
# worked at their peak, the training would take
#
# $$ \frac{6 \cdot 65.2 \cdot 10^9 \cdot 1.4 \cdot 10^{12}}{2048 \cdot 312 \cdot 10^{12}}
# \ \text{seconds} = 9.9\ \text{days.} $$

# %% [markdown]
# But bubbles, messages, recomputation and pauses cost time. The share of the peak that
# remains is the [MFU](../docs/glossary.md) (model FLOPs utilization). So $P$ weights and
# $D$ tokens, on $N$ devices with a peak of $R$ operations per second, take
#
# $$ T = \frac{6\, P D}{N \cdot \text{MFU} \cdot R} \quad\text{seconds.} $$
#
# No formula gives the MFU. In four older trainings it lies between 0.213 and 0.462 (table
# 3 of [Chowdhery et al. 2022](https://arxiv.org/abs/2204.02311)). Can this range forecast
# later trainings?

# %%
from helpers.lab_11.plans import plan_figures, planner
from helpers.lab_11.plans import published_trainings as published

# %% [markdown]
# **Predict:** How many days did the training of LLaMA-65B take, according to its paper?

# %%
my_days_guess = None  # change this to a number of days
card.predict("llama_days", my_days_guess)

# %%
card.lock("llama_days")
forecasts = published.forecasts()
for row in forecasts:
    low, high = row["range"]
    verdict = "hit" if row["hit"] else "miss"
    print(f"{row['name']}: forecast {low:.1f} to {high:.1f} days, ", end="")
    print(f"published {row['days']:.1f}, {verdict}; always at peak {row['peak_days']:.1f}")
card.outcome("llama_days", published.trainings()["llama-65b"].days)
planner_hits = sum(row["hit"] for row in forecasts)
card.measure("planner_hits", planner_hits)
text = f"{planner_hits} of {len(forecasts)} forecasts contain the published time."
show_figure(plan_figures.published(forecasts), text, session.caption())

# %% [markdown]
# LLaMA took 21 days instead of 9.9. (Where a paper gives hours of GPUs instead, we divided
# by their number.) So its MFU was 0.47, a little more than in any of the four older
# trainings, and that is why it is our only miss.
#
# But six hits in seven forecasts prove little. The forecasts are wide, and our first range
# of MFUs, from three other trainings, missed all seven. We chose 0.213 to 0.462 only then,
# so it still has to be tested on a training whose time we do not know. Trust the formula
# for a factor of two, not for a date.

# %% [markdown]
# ### Which combination is best?
#
# Let Llama 3 70B train on 64 H100 GPUs of 80 GB. Here is one plan:
#
# - The GPUs form 16 groups of four. Each group trains the whole network on its own data.
# - Inside a group, the four GPUs share each layer over NVLink.
# - Between the groups, ZeRO-3 splits what a GPU holds.
# - There is no pipeline, and no recomputation.
#
# **Does it fit?** A group works on one sequence of 8,192 tokens at a time, so each GPU
# holds:
#
# | | GB |
# |---|---|
# | 16 bytes for each of 70.6 billion parameters, split over 64 GPUs | 17.65 |
# | all activations of 80 blocks, split over 4 GPUs | 45.63 |
# | outputs of the last layer, split over 4 GPUs | 1.12 |
# | together | 64.40 |
#
# It fits, even without recomputation.

# %% [markdown]
# <details><summary>How are the activations counted?</summary>
#
# The planner uses one count for all transformers: for each token, 2 bytes for each of the
# $(15 + 1)\,h$ values of section 1, and $2h$ bytes for dropout. (Llama has none, but wider
# layers: by section 1, its blocks need $33.5\, h$ bytes for each token, instead of $34\,
# h$.)
#
# $$ 80 \cdot 34 \cdot 8192 \cdot 8192 / 4\ \text{bytes} = 45.63\ \text{GB.} $$
#
# To split *all* of them, the norms and the additions must be split by tokens
# ([Korthikanti et al. 2022](https://arxiv.org/abs/2205.05198)).
#
# </details>

# %% [markdown]
# **How long is a step?** We *assume* that a step has $2^{24}$ tokens, so each group works
# on 128 sequences, one after the other. We also *assume* that a GPU computes at half of its
# peak, which is $989 \cdot 10^{12}$ operations per second, and that it computes while
# messages between the groups are on their way:
#
# | | s |
# |---|---|
# | computing: $6\cdot 70.6\cdot 10^9\cdot 2^{24} / (64\cdot 0.5\cdot 989\cdot 10^{12})$ | 224.6 |
# | all-reduces in a group, as in section 4 | 18.3 |
# | ZeRO-3 between the groups: 254.2, of which computing hides 224.6 | 29.6 |
# | together | 272.5 |

# %% [markdown]
# <details><summary>How long does ZeRO-3 take?</summary>
#
# For each of the 128 sequences, ZeRO-3 collects a GPU's quarter of the weights twice, and
# then adds up their gradients, because no GPU has room to keep all of them. These are three
# messages of $2 \cdot 70.6 / 4 = 35.3$ GB, of which a ring of 16 sends $15/16$:
#
# $$ \frac{128 \cdot 3 \cdot 35.3 \cdot 15/16\ \text{GB}}{50\ \text{GB/s}} = 254.2\ \text{s.} $$
#
# </details>

# %% [markdown]
# Can another plan beat 272.5 seconds? A *planner* fills both tables for many ways to
# divide the 64 GPUs between data, tensor and pipeline, with and without recomputation,
# and with each stage of ZeRO (in a pipeline, at most stage 1). Here is how it fills the
# first:

# %%
session.show_source(planner.memory_of)

# %% [markdown]
# The planner keeps the plans that fit, and sorts them by their seconds. These are good for
# comparing plans, but not for a date, because half of the peak is a guess. (The planner
# also prints days. They come from the formula for $T$, with the MFUs 0.213 to 0.462 for a
# step of 242.9 s, the fastest on a perfect network. A plan whose step takes 1% longer gets
# 1% more days.)

# %% [markdown]
# **Predict:** Our plan needs 272.5 seconds. How many does the fastest plan for these 64 GPUs
# need, if it may also have larger groups, a pipeline or recomputation?

# %%
my_seconds_guess = None  # change this to a number of seconds
card.predict("plan_seconds", my_seconds_guess)

# %%
my_plan = {  # later, change these numbers, and run this cell again
    "model": "llama-3-70b",
    "devices": 64,
    "memory_gb": 80,  # of a device
    "link_gbit": 400,  # of a device to other machines, in Gbit/s
    "training_tokens": 15e12,
}
card.lock("plan_seconds")
rows = published.what_if(my_plan)
print("\n".join(published.in_words(rows)))
for slower_gbit in (25, 5):
    slower = published.what_if(my_plan | {"link_gbit": slower_gbit})
    print(f"At {slower_gbit} Gbit/s:", *published.in_words(slower, 1)[1:2])
if rows and rows[0]["fits"]:
    card.outcome("plan_seconds", rows[0]["sum_seconds"])

# %% [markdown]
# The best plan needs only 244.8 s for a step, and ours is number 11 of the 33 that fit. The
# best has a pipeline of four stages. Four GPUs share each layer of a stage, and ZeRO-1
# splits the optimizer between four copies of all this.
#
# Why is it faster? Computing (224.6 s) and all-reduces (18.3 s) take as long as in our
# plan. But our groups send weights or gradients for each sequence, and wait 29.6 s for
# them. In the best plan, the copies add up their gradients only once in a step, in 0.3 s,
# while the last micro-batch is computed. What remains is the bubble, $3/512$ of 242.9 s or
# 1.4 s, and 0.5 s in which the first stage waits for messages of the others.
#
# Would you choose the best plan? It fills 97% of the memory, and section 1 taught us to
# leave some room. The second plan needs only 68.8 GB, and its step takes 1.0 s longer.

# %% [markdown]
# <details><summary>What would change the order of these plans?</summary>
#
# The planner adds up gradients in 16 bits. Many trainings do this in float32. Then the best
# plan needs 86.4 GB and does not fit, but the second (73.2 GB) and ours (66.6 GB) do.
#
# It also gives each GPU one link, over which its messages pass at full speed. In our plan,
# two groups share a machine, so a ring between groups could use two links at once. Then
# computing would hide its messages, and our plan would be the fastest, with 242.9 s.
#
# </details>

# %% [markdown]
# On a slower link, our plan fails: at 25 Gbit/s, 16 times slower, it would need $16 \cdot
# 254.2 = 4{,}067$ s for its messages alone. A pipeline sends far less, but each micro-batch
# crosses every boundary between stages twice, and at 5 Gbit/s the first stage of the best
# plan waits 41.5 s in a step for that. Groups of eight need only two stages. Each GPU then
# sends half as much, over one boundary instead of three, but its first stage waits twice as
# often, because it holds two micro-batches instead of four. So the wait falls to a third,
# 13.8 s. This saves 27.7 s, and the shorter bubble 0.9 s, but the all-reduces take 24.4 s
# more: 302.5 s instead of 306.7.
#
# All plans take years, because 15 trillion tokens are meant for thousands of GPUs. And the
# best three differ by 1%, while the MFU is uncertain by a factor of two. So before you
# argue about plans, measure the MFU on a few GPUs.

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("11")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Look at the figure with the idle shares of the pipeline. Why does the share fall with more
# micro-batches, and what do they cost? Write two or three sentences in the cell below, with
# numbers from your run. No check reads them, but your instructor may.

# %% [markdown] name="11.figure" points=1
# **11.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# People train a network that does not fit by counting its bytes, and then buying memory
# with something else:
#
# - Recomputation costs time: at most one more forward pass in each step.
# - A sharded optimizer costs no extra bytes on the wire. Sharded weights cost half as many again, and that for each micro-batch.
# - Tensor parallelism costs messages in every layer, so it needs a fast link.
# - A pipeline costs idle time, so it needs many micro-batches, and a link that is not too slow.

# %% [markdown]
# ## Going further
#
# The compiler of section 1 only plans. Does a real process grow by as much in a whole step,
# including Adam?

# %%
if compiled:
    step_bytes, grown = compiled["step_bytes"], compiled["process_bytes"]
    print(f"The whole step: {step_bytes / 1e6:.1f} MB in the compiler's plan")
    if grown:
        errors = [100 * (step_bytes / one - 1) for one in grown]
        print(f"The process grew by {median(grown) / 1e6:.1f} MB, error of the plan ", end="")
        print(f"{min(errors):+.1f}% to {max(errors):+.1f}% in {len(grown)} repetitions")
    else:
        print("This system does not report the peak memory of a process.")

# %% [markdown]
# The next figure simulates your pipeline of section 5, with sliders in JupyterLab.

# %%
from helpers.lab_11.pipelines import pipeline_explorer

pipeline_explorer.explore(order, session.caption())

# %% [markdown]
# In TensorFlow,
# [`tf.recompute_grad`](https://www.tensorflow.org/api_docs/python/tf/recompute_grad)
# recomputes a block ([our measurement](../docs/measurements.md#recomputation-in-tensorflow)).
#
# To read on: Korthikanti et al. ([2022](https://arxiv.org/abs/2205.05198)).
