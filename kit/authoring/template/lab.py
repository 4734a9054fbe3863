# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 99: How many steps does an epoch have?
#
# Begin with one paragraph that asks the lab's question and says why the answer matters to
# the reader. Then say what the lab does to find that answer.
#
# Every exercise marked **TODO** has a check below it. Until your answer passes, the lab
# uses the reference solution, so you can always continue. If you are stuck, press *Hint*
# below the check, or call `hint` with the number of the exercise in a new cell, for
# example `hint("99.1")`. It asks a guiding question, and each further call tells you
# more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 1
batch_size: int = 32
train_images: int = None  # None: set by the scale

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("99_template", globals(), devices="none")

# %%
# math and np are for your answers, which may overwrite them. The lab's own cells use other
# names.
import math
from time import perf_counter

import numpy
import numpy as np

from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_99 import figures

use_figures()
card = lab.card

# %% [markdown]
# ## Exercise 99.1: count the steps
#
# An epoch trains on every image once. If its last batch may be smaller than the others, then
# $n$ images in batches of $b$ images take $\lceil n / b \rceil$ steps, where the brackets mean
# that the quotient is rounded up.
#
# **Write** `steps_per_epoch(images, batch_size)`, which returns the number of steps in an
# epoch.
#
# **Rules**
#
# - Every full batch is a step.
# - The images that are left over are one more step.
#
# **Example**
#
#     steps_per_epoch(100, 32)   # 4
#
# [`math.ceil`](https://docs.python.org/3/library/math.html#math.ceil) rounds up, so you need
# only one line.


# %% name="99.1-steps" points=1
# TODO 99.1: count the steps of an epoch, a smaller last batch included.
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
steps_per_epoch = check("99.1", steps_per_epoch)

# %% [markdown]
# **Predict:** If you double the batch size, by what factor does the number of steps change?

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
# Explain the result here, after the measurement, and claim no more than you have measured.

# %% [markdown]
# ## Quiz
#
# How much of this do you remember? Every answer comes with an explanation.

# %%
quiz("99")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# What does the figure show on your machine, and why does it look like that?
#
# Write three to six sentences in the cell below, in your own words and with numbers from
# your run. No check reads them, but your instructor may.

# %% [markdown] name="99.figure" points=2
# **99.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Answer the lab's question in about three sentences. Then give the reader two questions to
# take along, and leave them unanswered.
#
# To read on: list each source with its authors, its title, its year, and a link by DOI or
# arXiv number.
