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
#
# Stuck? `hint("9.1")` asks you a question; call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 2
batch_size: int = 64  # the global batch: split over the workers
workers: int = 2  # processes that train together
train_images: int = None  # None: what the scale says
learning_rate: float = 0.1

# %% tags=["setup"]
from helpers import session

sizes = {
    "smoke": {"train_images": 512},
    "laptop": {"train_images": 8192},
    "gpu": {"train_images": 60_000},
}
lab = session.start("09_many_machines", globals(), sizes, devices="none")

# %%
# math, np, keras and tf are for your answers: bind them to what you like. Our own cells
# use other names.
import math
from time import perf_counter

import keras
import numpy
import numpy as np
import tensorflow
import tensorflow as tf

card = lab.card

# %%
from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_09 import figures

use_figures()

# %% [markdown]
# ## 1. All-reduce by hand
#
# ## Exercise 9.1: count the steps
#
# Placeholder: L2 replaces it.

# %% name="9.1-steps" points=1
# TODO 9.1: count the steps of an epoch, a smaller last batch included.
#: start
def steps_per_epoch(images, batch_size):
    """Steps of an epoch that trains on every image once."""
    return 0


#: solution
def steps_per_epoch(images, batch_size):
    """Steps of an epoch that trains on every image once."""
    return math.ceil(images / batch_size)


#: end

# %%
steps_per_epoch = check("9.1", steps_per_epoch)

# %% [markdown]
# **Predict** first: twice the batch size, how many times as many steps?

# %%
my_guess = None  # change this, to a number
card.predict("steps_of_twice_the_batch", my_guess)

# %%
card.lock("steps_of_twice_the_batch")
counts = {size: steps_per_epoch(lab.train_images, size) for size in (8, 16, 32, 64)}
began = perf_counter()
order = numpy.random.default_rng(lab.seed).permutation(lab.train_images)
for first in range(0, lab.train_images, lab.batch_size):
    numpy.sort(order[first : first + lab.batch_size])
card.measure("batches_per_second", counts[32] / (perf_counter() - began))
print(f"Batches/sec: {card.content['measurements']['batches_per_second']:.2f}")
text = f"Twice the batch size: {counts[16] / counts[8]:.2f} times the steps."
show_figure(figures.steps_by_batch_size(counts), text, session.caption())
card.outcome("steps_of_twice_the_batch", counts[16] / counts[8])

# %% [markdown]
# ## 2. Two machines

# %% [markdown]
# ## 3. A machine dies

# %% [markdown]
# ## 4. Stragglers

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
