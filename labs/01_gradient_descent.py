# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 01: What does the batch size do to the path down the loss?
#
# Training walks downhill on a surface that has as many directions as the network has
# weights. Nobody can look at that. So here is a model with two weights, whose surface
# fits on a page: you see every step.
#
# You write the gradient and the sampler of mini-batches, move the learning rate and the
# batch size, and see where noise helps and where it hurts. There is no network in this
# lab. You use only NumPy, and it runs in seconds.

# %% tags=["parameters"]
scale: str = "auto"  # smoke, laptop, gpu; here it sets only how many steps are timed
seed: int = 0
epochs: int = 10
batch_size: int = 16
train_points: int = 256
learning_rate: float = 0.1

# %% [markdown]
# ## Set up
#
# Every exercise marked **TODO** has a check under it. Until it passes, the reference
# solution is used, so you can always go on. Stuck? `hint("1.1")` in a cell of your
# own asks you a question; called again, it says more.

# %% tags=["setup"]
from helpers import session

sizes = {
    "smoke": {"timed_steps": 1000},
    "laptop": {"timed_steps": 5000},
    "gpu": {"timed_steps": 5000},
}
# Nothing here runs on a GPU: so none is taken.
lab = session.start("01_gradient_descent", globals(), sizes, devices="none")

# %%
# np and time are for your answers: bind them to what you like. Our own cells use other
# names.
import time
from time import perf_counter

import numpy
import numpy as np

from helpers.checks import check
from helpers.coach import hint, quiz
from helpers.figures import show_figure, use_figures
from helpers.lab_01 import figures
from helpers.lab_01.sliders import explore, outcome

use_figures()
card = lab.card

# %% [markdown]
# ## Points around a line
#
# Points that lie around a straight line, and scatter. We want the line back: its two
# weights are its *slope* and its *intercept*, its height at x = 0.

# %%
START = (-1.0, -1.5)  # slope and intercept before the first step
rng = numpy.random.default_rng(lab.seed)
all_x = rng.uniform(-1.7, 1.7, lab.train_points)
all_y = 1.5 * all_x + 0.5 + rng.normal(0, 0.5, lab.train_points)
# The best line, in one go: for two weights that is easy.
best = numpy.polyfit(all_x, all_y, 1)
lines = {"where we start": START, "the best line": best}
figure = figures.points_and_lines(all_x, all_y, lines)
summary = f"{lab.train_points} points around a rising line; the line to start from falls."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The *loss* says how bad a line is: the mean of its squared errors. Each pair of slope
# and intercept has one, so the loss is a landscape over two directions. Training is a
# walk on it, from the start to its lowest point.

# %%
def mean_squared_error(weights, x, y):
    """The loss of the line with weights (slope, intercept) on some points."""
    slope, intercept = weights
    return numpy.mean((slope * x + intercept - y) ** 2)

lowest = mean_squared_error(best, all_x, all_y)
print(f"Loss at the start: {mean_squared_error(START, all_x, all_y):.3f}")
print(f"Lowest loss there is, at the best line: {lowest:.3f}")

# %% [markdown]
# Why is the lowest loss not 0? The points scatter, and no line goes through all of them.

# %% [markdown]
# ## Exercise 1.1: which way is up?
#
# The *gradient* says how fast the loss rises if you raise each weight a little: two
# numbers, one for the slope, one for the intercept. Gradient descent steps the other
# way.
#
# Write `gradient(weights, x, y)` for the mean squared error. `weights` is an array of
# slope and intercept, `x` and `y` are arrays of some points. It returns an array of shape
# `(2,)`, in the order of the weights. About three lines: one for the errors, then the
# chain rule. Example:
#
#     gradient(np.array([0.0, 0.0]), np.array([1.0, 3.0]), np.array([2.0, 4.0]))
#     array([-14., -6.])

# %% name="1.1-gradient" points=2
# TODO 1.1: how fast the mean squared error rises with slope and intercept.
#: start
def gradient(weights, x, y):
    """How fast the mean squared error rises with slope and intercept, shape (2,)."""
    return np.zeros(2)
#: solution
def gradient(weights, x, y):
    """How fast the mean squared error rises with slope and intercept, shape (2,)."""
    slope, intercept = weights
    errors = slope * x + intercept - y
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])
#: end

# %%
gradient = check("1.1", gradient)

# %% [markdown]
# ## Walking down
#
# This is gradient descent, all of it. For each step it gets a *batch*: the indices of
# the points that it may look at. It takes their gradient and goes a little the other way;
# the *learning rate* says how little.

# %%
def descend(gradient, x, y, start, batches, learning_rate):
    """The weights before the first step and after each, shape (steps + 1, 2)."""
    path = [numpy.array(start)]
    for batch in batches:
        step = -learning_rate * gradient(path[-1], x[batch], y[batch])
        path.append(numpy.clip(path[-1] + step, -1e6, 1e6))  # a path that diverges stops
    return numpy.array(path)

# %% [markdown]
# First with all points in every batch, the *full batch*. Each step then goes straight
# down the surface that you see. How long should it be? A small learning rate takes for
# ever. With a large one, a step goes past the lowest point and up on the other side.
#
# **Predict:** from which learning rate on does the path get *further away* with every
# step?

# %%
my_rate_guess = 0.5  # change this
card.predict("largest_learning_rate", my_rate_guess)

# %%
BOX = ((-2.0, 5.0), (-3.0, 4.0))  # slopes and intercepts to draw

def full_loss(weights):
    """The loss over all points: the height of the surface."""
    return mean_squared_error(weights, all_x, all_y)

full_batches = [numpy.arange(lab.train_points)] * 60
paths = {
    f"learning rate {rate}": descend(gradient, all_x, all_y, START, full_batches, rate)
    for rate in (0.02, 0.3, 1.2)
}
figure = figures.descent_paths(full_loss, paths, BOX)
summary = "\n".join(f"{name}: {outcome(path, full_loss)}" for name, path in paths.items())
show_figure(figure, summary, session.caption())

# %% [markdown]
# The contours are lines of equal loss, as on a map. The darkest part is the lowest. The
# path starts at the square and ends at the cross; each dot is a step.

# %% [markdown]
# Where does it begin to diverge? Along any straight line through the lowest point the
# surface is a parabola. If its second derivative, the *curvature*, is `c`, a step
# multiplies the distance to the lowest point by `1 - learning_rate * c`. Beyond `2 / c`
# that is below -1: each step lands further out, on the other side. The direction with
# the largest curvature gives way first, so it decides. The function below takes the
# curvatures from the matrix of second derivatives: they are its eigenvalues, by
# `eigvalsh`. You need not follow that algebra to go on.

# %%
def largest_learning_rate(x):
    """2 / the largest curvature of the mean squared error."""
    inputs = numpy.column_stack([x, numpy.ones_like(x)])
    curvatures = numpy.linalg.eigvalsh(2 * inputs.T @ inputs / len(x))
    return 2 / curvatures.max()

limit = largest_learning_rate(all_x)
print(f"The full batch diverges from learning rate {limit:.3f} on")
print(f"Your guess was {my_rate_guess:.3f}")

# %% [markdown]
# ## Exercise 1.2: mini-batches
#
# A step that looks at all points is exact, but it has to look at all of them: with a
# million images that is much work for one step. A few points give a gradient that is
# right on average, and *noisy*. A network is trained with such *mini-batches*. One
# *epoch* is over when each point has been in one batch.

# %% [markdown]
# Write `epoch_batches(points, batch_size, rng)`: the batches of one epoch, as a list of
# arrays of indices.
#
# - Each of `0, 1, ..., points - 1` is in exactly one batch.
# - Each batch has `batch_size` of them; only the last may have fewer, never none.
# - The order is random, and another one each time; all randomness comes from `rng`, a
#   `np.random.Generator`. So the same seed gives the same training.
#
# About two lines. Example: `epoch_batches(5, 2, rng)` may be
# `[array([3, 0]), array([4, 1]), array([2])]`.

# %% name="1.2-mini-batches" points=2
# TODO 1.2: batches of indices that cover every point once, in a random order.
#: start
def epoch_batches(points, batch_size, rng):
    """Batches of indices, as arrays, that hold each of the points once."""
    return [np.arange(points)]
#: solution
def epoch_batches(points, batch_size, rng):
    """Batches of indices, as arrays, that hold each of the points once."""
    order = rng.permutation(points)
    return [order[i : i + batch_size] for i in range(0, points, batch_size)]
#: end

# %%
epoch_batches = check("1.2", epoch_batches)

# %% [markdown]
# As many epochs as it takes, one after the other:

# %%
def batches_of(points, batch_size, steps):
    """The batch of each of so many steps, epoch after epoch."""
    rng, batches = numpy.random.default_rng(lab.seed), []
    while len(batches) < steps:
        batches.extend(epoch_batches(points, batch_size, rng))
    return batches[:steps]

def train(learning_rate, batch_size, steps):
    """The path of the weights from START on."""
    batches = batches_of(lab.train_points, batch_size, steps)
    return descend(gradient, all_x, all_y, START, batches, learning_rate)

# %% [markdown]
# ## Turn the knobs
#
# In JupyterLab there are sliders below; click one, then use the arrow keys. The line
# under them says how it ended. *Draw step by step* draws the path as it goes; click it
# again to stop. Elsewhere you see three settings side by side, with 60 steps each.

# %% [markdown]
# Say before you look, then try:
#
# - What does the path look like with batches of 1, and of all points?
# - Where does it go once it is near the lowest point?
# - Is there a learning rate at which the full batch arrives, and the path with batches
#   of 1 diverges?

# %%
settings = [(lab.learning_rate, size) for size in (lab.train_points, lab.batch_size, 1)]
explore(train, full_loss, settings, steps=60, box=BOX, caption=session.caption())

# %% [markdown]
# The full batch goes straight down and stops. Batches of 1 stagger: each step follows its
# own point. At the bottom they do not stop. There the gradient over all points is 0, but
# that of one is not, so they keep wandering around the lowest point. With batches of 16
# it is the same, so much weaker that you hardly see it. And there is such a learning
# rate: at 0.5 the full batch arrives, while with batches of 1 the path diverges.

# %% [markdown]
# ## What does an epoch buy?
#
# The panels above have the same number of steps. That is not fair: 60 steps of the full
# batch look at far more points than 60 steps of 1. In one epoch each point is looked at
# once, whatever the batch size.
#
# **Predict:** you saw the loss at the start. What is it after *one* epoch with batches of
# `batch_size` points, learning rate as above?

# %%
my_loss_guess = 6.0  # change this
card.predict("loss_after_one_epoch", my_loss_guess)

# %%
curves = {}
for size in (lab.train_points, lab.batch_size, 1):
    steps_per_epoch = -(-lab.train_points // size)  # rounded up
    path = train(lab.learning_rate, size, lab.epochs * steps_per_epoch)
    losses = [float(full_loss(weights)) for weights in path[::steps_per_epoch]]
    curves[f"batch size {size}, steps in an epoch: {steps_per_epoch}"] = losses
    print(f"Batch size {size}: {losses[0]:.3f}, after one epoch {losses[1]:.3f}")
figure = figures.loss_by_epoch(curves, lowest, my_loss_guess)
summary = "After one epoch the full batch has made one step, a smaller batch many."
show_figure(figure, summary, session.caption())
card.measure("loss_by_epoch", curves)

# %% [markdown]
# The full batch pays one epoch for one step. The middle one gets near the lowest loss in
# the first epoch: its steps are not exact, but there are many. Batches of 1 are as fast
# in the first epoch. Then they jump up and down above the middle one, because they
# wander; in the end even the full batch has passed them.

# %% [markdown]
# That is the first half of the answer to this lab's question: **noise is cheap far from
# the lowest point, and costs you near it.** So the learning rate is lowered towards the
# end of a training: lab 02 divides it by 10 after some epochs.

# %% [markdown]
# ## Exercise 1.3: which batch size was it?
#
# In a real training you do not see the surface. You see one number a step: the loss of
# that step's batch. Four trainings, the same learning rate, the same points; one had
# batches of 1, one of 4, one of 16, one of 64.
#
# **Predict** from the picture: which is which?

# %%
SIZES = [1, 4, 16, 64]
order = numpy.random.default_rng(lab.seed + 10).permutation(SIZES)
hidden = dict(zip("ABCD", order, strict=True))
loss_curves = {}
for name, size in hidden.items():
    batches = batches_of(lab.train_points, size, 480)
    path = descend(gradient, all_x, all_y, START, batches, 0.05)
    # The loss of each batch, with the weights before its step.
    seen = zip(path[:-1], batches, strict=True)
    losses = [mean_squared_error(w, all_x[b], all_y[b]) for w, b in seen]
    loss_curves[name] = numpy.array(losses)
figure = figures.batch_losses(loss_curves)
summary = "All four curves fall for some 30 steps, then scatter, each by another amount."
show_figure(figure, summary, session.caption())

# %%
my_sizes = {"A": 4, "B": 4, "C": 4, "D": 4}  # change these: 1, 4, 16 or 64
card.predict("batch_sizes", my_sizes)

# %% [markdown]
# Now let a function say it. At the lowest point the squared error of a single point has
# some variance, `example_variance`. A batch's loss is the mean of `b` of them, and a mean
# scatters less, by a law that you may know:
#
#     variance of the losses = example_variance / b

# %% [markdown]
# Write `which_batch_size(losses, example_variance, sizes)`: from a curve, an array of
# one loss a step, to the one of `sizes` (a rising list) that fits best. The law holds
# only where the curve is flat, which its second half surely is. What comes out will lie
# between the sizes: take the nearest by ratio, so that the border between 4 and 16 is 8.
# About three lines. Example: losses with a
# variance of 0.02 in their flat part, `example_variance` 0.3, sizes `[1, 4, 16, 64]`:
# that is `16`.

# %% name="1.3-which-batch-size" points=2
# TODO 1.3: which of the sizes made a loss curve that scatters like this.
#: start
def which_batch_size(losses, example_variance, sizes):
    """The one of the batch sizes whose losses scatter like these."""
    return sizes[0]
#: solution
def which_batch_size(losses, example_variance, sizes):
    """The one of the batch sizes whose losses scatter like these."""
    floor = losses[len(losses) // 2 :]
    estimate = example_variance / np.var(floor)
    return min(sizes, key=lambda size: abs(np.log(size / estimate)))
#: end

# %%
which_batch_size = check("1.3", which_batch_size)

# %%
example_variance = numpy.var((best[0] * all_x + best[1] - all_y) ** 2)
found = {
    name: int(which_batch_size(losses, example_variance, SIZES))
    for name, losses in loss_curves.items()
}
right = sum(my_sizes[name] == size for name, size in hidden.items())
for name, size in hidden.items():
    print(f"{name}: batch size {size}, by the law {found[name]}, your guess {my_sizes[name]}")
print(f"You were right at {right} of 4 curves")
card.measure("batch_sizes_by_the_law", found)

# %% [markdown]
# So the jitter of a training curve is no sign of a broken training: it tells the batch
# size. Four times the batch, half the jitter. To see whether the loss still falls, you
# have to look through it: average over many steps.

# %% [markdown]
# ## A narrow valley
#
# The same points, moved 2 to the right, and the line to start from as well. Nothing else
# changes: it is the same picture, seen from another origin. But now slope and intercept
# depend on one another: raise the slope, and you have to lower the intercept. The round
# bowl becomes a narrow valley, from upper left to lower right.

# %% [markdown]
# **Predict:** the walls are steep, the floor is nearly flat. What does the largest
# curvature say about the learning rate? We take 0.9 times the largest that the full batch
# can bear. Which batch sizes make the path diverge: 1, 16, all?

# %%
my_runaways = [16]  # change this: none, one or more batch sizes
card.predict("batch_sizes_that_run_away", my_runaways)

# %%
x_moved = all_x + 2
valley_rate = 0.9 * largest_learning_rate(x_moved)

def valley_loss(weights):
    """The loss over all moved points."""
    return mean_squared_error(weights, x_moved, all_y)

def train_in_valley(learning_rate, batch_size, steps):
    """The path of the weights on the moved points."""
    batches = batches_of(lab.train_points, batch_size, steps)
    return descend(gradient, x_moved, all_y, (-1.0, 0.5), batches, learning_rate)

# %%
settings = [(valley_rate, size) for size in (1, lab.batch_size, lab.train_points)]
valley = ((-2.0, 4.0), (-6.0, 4.0))
explore(train_in_valley, valley_loss, settings, 60, valley, session.caption())
print(f"Learning rate, largest: {largest_learning_rate(x_moved):.3f}, before {limit:.3f}")

# %% [markdown]
# The walls allow only a small learning rate, and with that the walk along the floor takes
# long: here even 60 exact steps do not quite arrive. Here **noise hurts**. A single point
# far to the right makes a wall of its own, steeper than all of them together. It throws
# batches of 1 out of the valley, at a rate that the full batch can bear.

# %% [markdown]
# The cure is not a batch size. Move the points back, and the bowl is round: that is why
# inputs are scaled to mean 0 and deviation 1, and one reason for batch normalisation.

# %% [markdown]
# ## A saddle
#
# Now the points have two groups: in one, y rises with x; in the other it falls. We want a
# line through *one* of them, so we take a loss that gives up on far points. Each counts
# `error**2 / (1 + error**2)`: nearly the square if it is near, at most 1 if it is far.

# %%
quarter = numpy.random.default_rng(lab.seed)
side = quarter.uniform(-2, 2, lab.train_points // 4)
height = 0.8 * side + quarter.normal(0, 0.3, len(side))
# Mirrored both ways, so that neither group is better.
x_cross = numpy.concatenate([side, -side, side, -side])
y_cross = numpy.concatenate([height, height, -height, -height])

def cross_loss(weights):
    """The mean of error**2 / (1 + error**2) over the crossing points."""
    squares = (weights[0] * x_cross + weights[1] - y_cross) ** 2
    return numpy.mean(squares / (1 + squares))

figure = figures.points_and_lines(x_cross, y_cross, {"where we start": (0.0, 1.5)})
show_figure(figure, "Two groups of points that cross, like an X.", session.caption())

# %% [markdown]
# Two lines are equally good, so the surface has two lowest points. Between them lies a
# *saddle*: downhill to the left and right (other slopes), uphill above and below (other
# intercepts). We start right above it, with slope 0, where nothing says left or right.
#
# **Predict:** which batch sizes have left the middle after 200 steps: 1, 16, all?

# %%
my_leavers = [16]  # change this: none, one or more batch sizes
card.predict("batch_sizes_that_leave_the_saddle", my_leavers)

# %%
def cross_gradient(weights, x, y):
    """How fast the loss of the crossing points rises with slope and intercept."""
    errors = weights[0] * x + weights[1] - y
    pull = 2 * errors / (1 + errors**2) ** 2
    return numpy.array([numpy.mean(pull * x), numpy.mean(pull)])

def train_on_cross(learning_rate, batch_size, steps):
    """The path of the weights on the crossing points."""
    batches = batches_of(len(x_cross), batch_size, steps)
    start = (0.0, 1.5)
    return descend(cross_gradient, x_cross, y_cross, start, batches, learning_rate)

settings = [(0.2, size) for size in (1, lab.batch_size, len(x_cross))]
saddle = ((-1.6, 1.6), (-1.3, 1.8))
explore(train_on_cross, cross_loss, settings, 200, saddle, session.caption())

# %% [markdown]
# Here **noise helps**. The full batch walks to the saddle and stays. Its gradient there
# is 0: it knows nothing of the two better places beside it. A few points are never quite
# balanced. Their noise pushes the weights to one side, and from there it is downhill.
# Which side? Chance.
#
# This start was chosen to be exactly in the middle. A real network starts beside it. But
# near a saddle the gradient is small, so exact steps linger there, and a surface with
# millions of directions has many saddles.

# %% [markdown]
# ## What does a step cost?
#
# You have seen what the batch size does to the path. It also sets the price. **Predict:**
# how many times longer does a step with all points take than a step with one?

# %%
my_price_guess = 256.0  # change this
card.predict("full_step_over_single_step", my_price_guess)

# %%
def steps_per_second(batch_size):
    """Gradient steps a second, the batches drawn beforehand."""
    batches = batches_of(lab.train_points, batch_size, lab.timed_steps)
    began = perf_counter()
    descend(gradient, all_x, all_y, START, batches, 0.01)
    return lab.timed_steps / (perf_counter() - began)

# In turn, and the fastest of each: the run that other programs disturbed least.
pairs = [(steps_per_second(1), steps_per_second(lab.train_points)) for _ in range(5)]
single, full = (max(speeds) for speeds in zip(*pairs, strict=True))
card.measure("steps_per_second", single)
card.measure("full_batch_steps_per_second", full)
print(f"Steps/sec: {single:.2f}")
print(f"Full batch steps/sec: {full:.2f}")
print(f"A full step takes {single / full:.2f} times as long, guess {my_price_guess:.2f}")

# %% [markdown]
# It looks at 256 times as many points, and takes nowhere near 256 times as long: most of
# a step's time is Python and NumPy getting started, whatever the batch. So a larger batch
# is nearly free at first. That is the subject of lab 02, with a real network.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("01")

# %%
session.finish()

# %% [markdown]
# ## What you learned
#
# A mini-batch's gradient is right on average, and its noise shrinks as the batch grows:
# four times the batch, half the noise. For the same number of points looked at, many
# noisy steps beat few exact ones far from the lowest point; near it the noise keeps you
# from arriving. Noise frees you from a saddle, and throws you out of a narrow valley. And
# a step with more points need not take longer: so by the clock it is another race.
#
# Two questions to take along. If you make the batch four times as large, what may you do
# to the learning rate? And which is the best batch size, if a step with more points costs
# nearly the same?
#
# To read on: Bottou, Curtis and Nocedal, "Optimization Methods for Large-Scale Machine
# Learning" (2018); Smith, Kindermans, Ying and Le, "Don't Decay the Learning Rate,
# Increase the Batch Size" (2018); Jin, Ge, Netrapalli, Kakade and Jordan, "How to Escape
# Saddle Points Efficiently" (2017).
