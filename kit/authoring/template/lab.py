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
# One paragraph: the question, and why readers want to know. Then what the lab does.
#
# Every exercise marked **TODO** has a check under it. Until it passes, the reference
# solution is used, so you can always go on. Stuck? `hint("99.1")` asks you a question;
# call it again for more.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; auto: gpu where there is one, else laptop
seed: int = 0
epochs: int = 1
batch_size: int = 32
train_images: int = None  # None: what the scale says

# %% tags=["setup"]
from helpers.notebook import session

lab = session.start("99_template", globals(), devices="none")

# %%
# math and np are for your answers: use these names as you like. Our own cells use others.
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
# Write `steps_per_epoch(images, batch_size)`: how many steps an epoch takes that trains on
# every image once. The last batch may be smaller than the others. One line.
#
#     steps_per_epoch(100, 32) -> 4


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
# The explanation comes after the measurement, and says no more than was measured.

# %% [markdown]
# ## Quiz
#
# What do you remember? Every answer comes with an explanation.

# %%
quiz("99")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# What does the figure show on your machine, and why? Three to six sentences in the cell
# below, in your own words. No check reads them: your instructor may.

# %% [markdown] name="99.figure" points=2
# **99.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Three sentences. Two questions without an answer.
#
# To read on: authors, "Title" (year).
