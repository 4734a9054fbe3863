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
from helpers.notebook import session

# Nothing here runs on a GPU: so none is taken.
lab = session.start("01_gradient_descent", globals(), devices="none")

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
from helpers.lab_01.sliders import explore, outcome, thrown_out

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

# %% [markdown]
# Write `gradient(weights, x, y)` for the mean squared error. `weights` is an array of
# slope and intercept, `x` and `y` are arrays of points, or of a single one. All three stay
# as they are. It returns a new array of shape `(2,)`, in the order of the weights. About
# three lines: one for the errors, then the chain rule. Example:
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
my_rate_guess = None  # change this: a learning rate, such as 0.1 or 3
card.predict("largest_learning_rate", my_rate_guess)

# %%
card.lock("largest_learning_rate")
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
# path starts at the square and ends at the cross; each dot is a step. A path that jumps
# far out of the picture is drawn only up to there.

# %% [markdown]
# Where does it begin to diverge? Along any straight line through the lowest point the
# surface is a parabola. If its second derivative, the *curvature*, is `c`, a step
# multiplies the distance to the lowest point by `1 - learning_rate * c`. Beyond `2 / c`
# that is below -1: each step lands further out, on the other side. The direction with
# the largest curvature gives way first, so it decides. The function below takes the
# curvatures from the matrix of second derivatives: they are its eigenvalues, by
# `eigvalsh`. You need not follow that algebra to go on.

# %%
def curvature_matrix(x):
    """The second derivatives of the mean squared error, shape (2, 2)."""
    inputs = numpy.column_stack([x, numpy.ones_like(x)])
    return 2 * inputs.T @ inputs / len(x)

def largest_learning_rate(x):
    """2 / the largest curvature of the mean squared error."""
    return 2 / numpy.linalg.eigvalsh(curvature_matrix(x)).max()

limit = largest_learning_rate(all_x)
print(f"The full batch diverges from learning rate {limit:.3f} on")
card.outcome("largest_learning_rate", limit)

# %% [markdown]
# ## Exercise 1.2: mini-batches
#
# A step that looks at all points is exact, but it has to look at all of them: with a
# million images that is much work for one step. A few points give a gradient that is
# right on average, and *noisy*. A network is trained with such *mini-batches*. One
# *epoch* is over when each point has been in one batch.

# %% [markdown]
# Write `epoch_batches(points, batch_size, rng)`: the batches of one epoch, one after the
# other. A batch is an array of indices, for `x[batch]`.
#
# - Each of `0, 1, ..., points - 1` is in exactly one batch.
# - Each batch has `batch_size` of them; only the last may have fewer, never none.
# - The order is random, any order equally likely, and drawn again each time. All randomness
#   comes from `rng`, a `np.random.Generator`. So the same seed gives the same batches.
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
def batches_of(points, batch_size, steps, shuffle=0):
    """The batch of each of so many steps; another number shuffles in another way."""
    rng, batches = numpy.random.default_rng([lab.seed, shuffle]), []
    while len(batches) < steps:
        batches.extend(epoch_batches(points, batch_size, rng))
    return batches[:steps]

def train(learning_rate, batch_size, steps, shuffle=0):
    """The path of the weights from START on."""
    batches = batches_of(lab.train_points, batch_size, steps, shuffle)
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
#   of 1 is thrown far out?

# %%
settings = [(lab.learning_rate, size) for size in (lab.train_points, lab.batch_size, 1)]
explore(train, full_loss, settings, steps=60, box=BOX, caption=session.caption())

# %% [markdown]
# The full batch goes straight down and stops. Batches of 1 stagger: each step follows its
# own point. At the bottom they do not stop. There the gradient over all points is 0, but
# that of one is not, so they keep wandering around the lowest point. Batches of 16 wander
# as well, in a circle so small that you hardly see it.
#
# And the third question? One path is one shuffle of the points, and another shuffle may
# end elsewhere. So count over 20 of them.

# %%
SHUFFLES = range(20)

def times_thrown_out(train, loss, learning_rate, batch_size):
    """In how many of the shuffles the path is thrown out within 60 steps."""
    paths = (train(learning_rate, batch_size, 60, shuffle) for shuffle in SHUFFLES)
    return sum(thrown_out(path, loss) for path in paths)

print("Thrown out (ten times the first loss, or more) within 60 steps:")
for rate in (0.1, 0.3, 0.4, 0.5, 0.7):
    ones = times_thrown_out(train, full_loss, rate, 1)
    full = times_thrown_out(train, full_loss, rate, lab.train_points)
    print(f"Learning rate {rate}: batches of 1 in {ones} of 20 shuffles, all points in {full}")

# %% [markdown]
# There are such learning rates: the full batch can bear them, batches of 1 cannot.
# Why not? You will see in the narrow valley. And where a count lies between 0 and 20, a
# single run would have told you about its shuffle, not about the learning rate.

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
my_loss_guess = None  # change this: a loss, such as 10 or 0.5
loss_guess = card.predict("loss_after_one_epoch", my_loss_guess)

# %%
card.lock("loss_after_one_epoch")
curves = {}
for size in (lab.train_points, lab.batch_size, 1):
    steps_per_epoch = -(-lab.train_points // size)  # rounded up
    steps = lab.epochs * steps_per_epoch
    paths = (train(lab.learning_rate, size, steps, shuffle) for shuffle in SHUFFLES)
    curves[size] = numpy.array(
        [[full_loss(weights) for weights in path[::steps_per_epoch]] for path in paths]
    )
    first, last = numpy.median(curves[size], axis=0)[[1, -1]]
    print(f"Batch size {size}: after one epoch {first:.3f}, after {lab.epochs} {last:.3f}")
card.outcome("loss_after_one_epoch", numpy.median(curves[lab.batch_size][:, 1]))

# %%
figure = figures.loss_by_epoch(curves, lowest, loss_guess)
passed = sum(curves[lab.train_points][:, -1] < curves[1][:, -1])
summary = f"""After one epoch the full batch has made one step, a smaller batch many.
Below batches of 1 after the last epoch: the full batch in {passed} of 20 shuffles."""
show_figure(figure, summary, session.caption())
medians = {str(size): numpy.median(losses, axis=0) for size, losses in curves.items()}
card.measure("loss_by_epoch", medians)

# %% [markdown]
# Losses and lines are medians of 20 shuffles; eight of ten shuffles lie in the band. The
# full batch pays one epoch for one step. The middle one gets near the lowest loss in the
# first: its steps are not exact, but there are many. Batches of 1 make more steps still,
# and do not get nearer. They wander at a height of their own, and another epoch does not
# change that.

# %% [markdown]
# Is the full batch lower in the end? The last line counts; a single run would have told
# you about its own shuffle only. What brings batches of 1 further down?

# %%
def above_lowest(learning_rate, shuffle):
    """Loss above the lowest after two more epochs, at this learning rate, with batches of 1."""
    begun = train(lab.learning_rate, 1, 2 * lab.train_points, shuffle)
    more = batches_of(lab.train_points, 1, 2 * lab.train_points, shuffle + 100)
    path = descend(gradient, all_x, all_y, begun[-1], more, learning_rate)
    return full_loss(path[-1]) - lowest

for rate in (lab.learning_rate, lab.learning_rate / 10):
    height = numpy.median([above_lowest(rate, shuffle) for shuffle in SHUFFLES])
    print(f"Two epochs, then two at learning rate {rate:.3g}: {height:.4f} above the lowest")

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
my_sizes = {"A": None, "B": None, "C": None, "D": None}  # change these: 1, 4, 16 or 64
card.predict("batch_sizes", my_sizes)

# %% [markdown]
# Now let a function say it. At the lowest point the squared error of a single point has
# some variance, `example_variance`. A batch's loss is the mean of `b` of them, and a mean
# scatters less. If the points are drawn independently of each other, this law holds:
#
#     variance of the losses = example_variance / b

# %% [markdown]
# Write `which_batch_size(losses, example_variance, sizes)`: from a curve, an array of
# one loss a step, to the one of `sizes` (a rising list) that fits best. All three stay as
# they are. The law holds only where the curve is flat: use its second half, all of it,
# whatever its length. What comes out lies between the sizes, or beyond them: take the
# nearest by ratio, so that the border between 4 and 16 is 8. About three lines. Example:
# losses with a variance of 0.02 in their flat part, `example_variance` 0.3, sizes
# `[1, 4, 16, 64]`: that is `16`.

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
card.lock("batch_sizes")
squared_errors = (best[0] * all_x + best[1] - all_y) ** 2
example_variance = numpy.var(squared_errors)
found = {
    name: int(which_batch_size(losses, example_variance, SIZES))
    for name, losses in loss_curves.items()
}
for name, size in hidden.items():
    print(f"{name}: batch size {size}, by the law {found[name]}")
card.outcome("batch_sizes", hidden, choices=True)
card.measure("batch_sizes_by_the_law", found)

# %% [markdown]
# So jitter alone is no sign of a broken training. Four times the batch, half the jitter.
# To see whether the loss still falls, you have to look through it: average over many
# steps.

# %% [markdown]
# How well does the law hold? It is for points drawn independently. But an epoch draws
# *without replacement*: a point that has come does not come again. If a batch held all
# `n` points, its loss would be the same every time. For such draws the variance is
# smaller, by the factor `(n - b) / (n - 1)`. **Predict** in your head: for which batch
# size does that matter?

# %%
n = lab.train_points
print("Variance of the losses, divided by example_variance / b:")
for name, size in sorted(hidden.items(), key=lambda pair: pair[1]):
    seen = numpy.var(loss_curves[name][240:])
    # Many batches, had the weights stood still at the best line.
    still = [numpy.mean(squared_errors[b]) for b in batches_of(n, size, 10_000)]
    law = example_variance / size
    ratio = f"flat half {seen / law:.2f}, at the best line {numpy.var(still) / law:.2f}"
    print(f"Batch size {size}: {ratio}, (n - b) / (n - 1) {(n - size) / (n - 1):.2f}")

# %% [markdown]
# The factor is near 1 while a batch is a small part of the points, and that is the usual
# case. With 64 of 256 it is not. What else the flat half shows may have two causes. Its
# 240 losses give the variance only roughly. And the weights wander, most with batches of
# 1: away from the best line the losses are higher, and scatter more.

# %% [markdown]
# ## How large a batch is still worth it?
#
# A batch's gradient is the exact one, *G*, plus noise. Points drawn independently add
# noise with a mean squared length of `V / b`, where `V` is the variance of the single
# points' gradients, summed over the weights. It is as long as *G* itself at a batch size
# that McCandlish, Kaplan, Amodei and the OpenAI Dota Team (2018) call the *noise scale*:
#
#     B = V / |G|²
#
# **Predict:** how large is `B` at the start? And after 15 exact steps, near the lowest
# point?

# %%
my_scale_guess = {"start": None, "step 15": None}  # change these: batch sizes
scale_guess = card.predict("noise_scale", my_scale_guess)

# %%
card.lock("noise_scale")

def single_gradients(weights, x, y):
    """The gradient of each point alone, shape (points, 2)."""
    return numpy.array([gradient(weights, x[[i]], y[[i]]) for i in range(len(x))])

def noise_scale(single):
    """V / |G|², from the gradients of single points."""
    return single.var(axis=0).sum() / numpy.sum(single.mean(axis=0) ** 2)

descent, scales = train(0.1, lab.train_points, 30), {}
for step in (0, 5, 10, 15, 20, 30):
    scales[step] = noise_scale(single_gradients(descent[step], all_x, all_y))
    print(f"Step {step}: loss {full_loss(descent[step]):.3f}, noise scale {scales[step]:,.2f}")
card.outcome("noise_scale", {"start": scales[0], "step 15": scales[15]})

# %% [markdown]
# Far from the lowest point the points agree about where to go. Near it *G* goes to 0, but
# the points still disagree, so `B` grows without bound: at the lowest point itself the
# gradient of a batch is nothing but noise. In the paper's networks as well the noise
# scale grows as the loss falls.

# %% [markdown]
# What does `B` say about training? With noise a step lowers the loss less, even if each
# batch size gets its best learning rate. By the paper you need, in place of one exact step,
#
#     steps = 1 + B / b
#
# Is that so? Draw many batches, and see how far their steps lower the loss.

# %%
def best_step(steps, exact, curvature):
    """The learning rate at which these steps lower the loss most, and how far."""
    # Along a step the loss is a parabola: so steep at first, and so much curved.
    steep = numpy.mean(steps @ exact)
    curved = numpy.mean(numpy.sum(steps @ curvature * steps, axis=1))
    return steep / curved, steep**2 / (2 * curved)

def steps_needed(single, batch_size, curvature):
    """The best learning rate, and how many of its steps do the work of an exact one."""
    rng, exact = numpy.random.default_rng(lab.seed), single.mean(axis=0)
    # With replacement: as if there was no end of points.
    drawn = rng.integers(len(single), size=(2**20 // batch_size, batch_size))
    rate, fall = best_step(single[drawn].mean(axis=1), exact, curvature)
    return rate, best_step(exact[None], exact, curvature)[1] / fall

# %%
needed, laws = {}, {"start": scales[0], "step 15": scales[15]}
for place, weights in {"start": descent[0], "step 15": descent[15]}.items():
    single, needed[place] = single_gradients(weights, all_x, all_y), {}
    print(f"{place}, noise scale {laws[place]:.2f}:")
    for size in (1, 4, 16, 64, 256):
        rate, steps = steps_needed(single, size, curvature_matrix(all_x))
        needed[place][size] = steps
        law = 1 + laws[place] / size
        print(f"  batch size {size}: rate {rate:.3f}, steps x {steps:.2f}, law {law:.2f}")
figure = figures.steps_needed(needed, laws, scale_guess)
summary = "Below the noise scale twice the batch needs half the steps; above it, not so."
show_figure(figure, summary, session.caption())

# %% [markdown]
# Far below the noise scale twice the batch needs half the steps: *perfect scaling*. Far
# above it twice the batch saves next to nothing: *diminishing returns*. At `b = B` you
# make twice the fewest steps, and look at twice the fewest points. So a batch that is
# wasteful at the start of a training need not be at its end.
#
# The best learning rate does the same: below the noise scale it grows in proportion to
# the batch, above it no longer. Lab 03 measures the noise scale of a network, and counts
# its steps.

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
# can bear. With which batch sizes is the path thrown out of the valley, within 60 steps
# and in most of 20 shuffles: 1, 16, all 256 points?

# %%
my_thrown_out = None  # change this: a list of batch sizes, such as [16, 256], or []
card.predict("batch_sizes_thrown_out", my_thrown_out)

# %%
x_moved = all_x + 2
valley_rate = 0.9 * largest_learning_rate(x_moved)

def valley_loss(weights):
    """The loss over all moved points."""
    return mean_squared_error(weights, x_moved, all_y)

def train_in_valley(learning_rate, batch_size, steps, shuffle=0):
    """The path of the weights on the moved points."""
    batches = batches_of(lab.train_points, batch_size, steps, shuffle)
    return descend(gradient, x_moved, all_y, (-1.0, 0.5), batches, learning_rate)

# %%
card.lock("batch_sizes_thrown_out")
valley_settings = [(valley_rate, size) for size in (1, lab.batch_size, lab.train_points)]
valley = ((-2.0, 4.0), (-6.0, 4.0))
explore(train_in_valley, valley_loss, valley_settings, 60, valley, session.caption())

# %%
print(f"Learning rate, largest: {largest_learning_rate(x_moved):.3f}, before {limit:.3f}")
thrown = {
    size: times_thrown_out(train_in_valley, valley_loss, rate, size)
    for rate, size in valley_settings
}
for size, times in thrown.items():
    print(f"Batch size {size}: thrown out in {times} of 20 shuffles")
ends = (train_in_valley(valley_rate, 1, 60, shuffle)[-1] for shuffle in SHUFFLES)
back = sum(valley_loss(end) < valley_loss((-1.0, 0.5)) for end in ends)
print(f"Batches of 1, below the first loss after the last step: {back} of 20 shuffles")
often = [size for size, times in thrown.items() if times > 10]
card.outcome("batch_sizes_thrown_out", often)

# %% [markdown]
# The walls allow only a small learning rate, and with that the walk along the floor takes
# long. Here **noise hurts**: batches of 1 are thrown out of the valley at a rate that the
# full batch can bear. They need not diverge: one line counts those below the first loss
# again at the end.

# %% [markdown]
# Why? A single point has a curvature of its own, `2 * (x**2 + 1)`. For a point far to the
# right it is larger than that of all points together, and its step is too long. If that
# is the cause, then nothing is thrown out at a learning rate that the steepest *point*
# can bear. Test it:

# %%
point_curvatures = 2 * (x_moved**2 + 1)
too_steep = numpy.mean(point_curvatures * valley_rate > 2)
print(f"Steepest point: curvature {point_curvatures.max():.2f}")
print(f"All points together: {2 / largest_learning_rate(x_moved):.2f}")
print(f"For {100 * too_steep:.1f}% of the points the rate {valley_rate:.3f} is too large")
bearable = 0.9 * 2 / point_curvatures.max()
times = times_thrown_out(train_in_valley, valley_loss, bearable, 1)
print(f"At rate {bearable:.3f} batches of 1 are thrown out in {times} of 20 shuffles")

# %% [markdown]
# The cure is not a batch size. Move the points back, and the bowl is round: that is why
# inputs are scaled to mean 0 and deviation 1 (LeCun, Bottou, Orr and Müller 1998). Batch
# normalisation began with the thought of doing so between the layers, too (Ioffe and
# Szegedy 2015).

# %% [markdown]
# Does the law of the noise scale hold in the valley as well? Take the weights after 30
# exact steps.

# %%
weights = train_in_valley(valley_rate, lab.train_points, 30)[-1]
single = single_gradients(weights, x_moved, all_y)
_, steps = steps_needed(single, 256, curvature_matrix(x_moved))
scale_there = noise_scale(single)
print(f"Noise scale: {scale_there:.1f}")
print(f"With batches of 256, by the law: {1 + scale_there / 256:.2f} times the exact steps")
print(f"Measured: {steps:.2f} times")

# %% [markdown]
# It does not. The gradient points along the flat floor, and the noise shakes the steep
# walls, where the same noise does more harm. `V / |G|²` knows nothing of walls: the paper
# calls it the *simple* noise scale, because it takes all directions to be equally curved.
# So it tells you the order of magnitude at best. Count steps before you rely on it.

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
# **Predict:** with which batch sizes has the path left the middle after 200 steps, in
# most of 20 shuffles: 1, 16, all 256 points?

# %%
my_leavers = None  # change this: a list of batch sizes, such as [16, 256], or []
card.predict("batch_sizes_that_leave_the_saddle", my_leavers)

# %%
def cross_gradient(weights, x, y):
    """How fast the loss of the crossing points rises with slope and intercept."""
    errors = weights[0] * x + weights[1] - y
    pull = 2 * errors / (1 + errors**2) ** 2
    return numpy.array([numpy.mean(pull * x), numpy.mean(pull)])

def train_on_cross(learning_rate, batch_size, steps, shuffle=0):
    """The path of the weights on the crossing points."""
    batches = batches_of(len(x_cross), batch_size, steps, shuffle)
    start = (0.0, 1.5)
    return descend(cross_gradient, x_cross, y_cross, start, batches, learning_rate)

# %%
card.lock("batch_sizes_that_leave_the_saddle")
saddle_settings = [(0.2, size) for size in (1, lab.batch_size, len(x_cross))]
saddle = ((-1.6, 1.6), (-1.3, 1.8))
explore(train_on_cross, cross_loss, saddle_settings, 200, saddle, session.caption())

# %%
AWAY = 0.35  # about half way to the lowest points, which have slopes near 0.7 and -0.7
leavers = []
for rate, size in saddle_settings:
    ends = [train_on_cross(rate, size, 200, shuffle)[-1, 0] for shuffle in SHUFFLES]
    left, right = (sum(side * slope > AWAY for slope in ends) for side in (-1, 1))
    print(f"Batch size {size}: {left} of 20 shuffles ended left, {right} right")
    leavers += [size] if left + right > 10 else []
card.outcome("batch_sizes_that_leave_the_saddle", leavers)
slopes = numpy.abs(train_on_cross(0.2, len(x_cross), 2000)[:, 0])
print(f"All points, after 200 steps: {slopes[200]:.0e} from the middle")
print(f"All points, after 2000 steps: {slopes[-1]:.2f} from the middle")

# %% [markdown]
# Here **noise helps**. The full batch walks to the saddle and stays. Its gradient there
# is 0: it knows nothing of the two better places beside it. A few points are never quite
# balanced. Their noise pushes the weights to one side, and from there it is downhill.
# Which side? Chance. Even the full batch leaves in the end: rounding errors are noise as
# well, and beside a saddle every error grows from step to step.

# %% [markdown]
# This start was chosen to be exactly in the middle. A real network starts beside it. But
# near a saddle the gradient is small, so exact steps linger there; and Dauphin and others
# (2014) argue that a surface of many directions has many saddles.

# %% [markdown]
# ## What does a step cost?
#
# You have seen what the batch size does to the path. It also sets the price. **Predict:**
# how many times longer does a step with all points take than a step with one?

# %%
my_price_guess = None  # change this: time of a full step / time of a step with one point
card.predict("full_step_over_single_step", my_price_guess)

# %%
card.lock("full_step_over_single_step")

def steps_per_second(batch_size, copies=1):
    """Gradient steps a second on copies of the points, the batches drawn beforehand."""
    more_x, more_y = numpy.tile(all_x, copies), numpy.tile(all_y, copies)
    batches = batches_of(len(more_x), batch_size, 20) * (lab.timed_steps // 20)
    began = perf_counter()
    descend(gradient, more_x, more_y, START, batches, 0.01)
    return len(batches) / (perf_counter() - began)

# %%
n = lab.train_points
# In turn, and the fastest of each: the run that other programs disturbed least.
turns = [
    (steps_per_second(1), steps_per_second(n), steps_per_second(64 * n, 64))
    for _ in range(5)
]
single, full, large = (max(speeds) for speeds in zip(*turns, strict=True))
card.measure("steps_per_second", single)
card.measure("full_batch_steps_per_second", full)
print(f"Steps/sec: {single:.2f}")
print(f"Full batch steps/sec: {full:.2f}")
print(f"A full step takes {single / full:.2f} times as long as one with a point")
print(f"And one with 64 times the points: {full / large:.2f} times as long as that")
card.outcome("full_step_over_single_step", single / full)

# %% [markdown]
# With one point there is hardly anything to compute. So its step shows what Python and
# NumPy take to get started, and the full batch pays that only once as well: it looks at
# 256 times as many points, and takes nowhere near 256 times as long. With still more
# points the computing shows. So a larger batch is nearly free at first, and only at
# first. That is the subject of lab 02, with a real network.

# %% [markdown]
# ## Quiz
#
# What have you kept? Every answer comes with an explanation.

# %%
quiz("01")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "How large a batch is still worth it?". Which batch size is worth
# its price at the start, and which near the lowest point? What in the figure shows it?
#
# Three to six sentences in the cell below, in your own words, with numbers from your
# run. No check reads them: your instructor may.

# %% [markdown] name="1.figure" points=2
# **1.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# A mini-batch's gradient is right on average, and its noise shrinks as the batch grows:
# four times the batch, half the noise. Far from the lowest point many noisy steps beat
# few exact ones; near it the noise keeps you from arriving, and the batch that is worth
# its price grows: the noise scale measures it. Noise frees you from a saddle, and throws
# you out of a narrow valley. And a step with more points need not take longer: so by the
# clock it is another race.
#
# Two questions to take along. Which batch size is best, if a step with more points costs
# nearly the same? And the learning rate was lowered to quieten the noise: could you raise
# something instead?
#
# To read on: Bottou, Curtis and Nocedal, "Optimization Methods for Large-Scale Machine
# Learning" (2018); McCandlish, Kaplan, Amodei and the OpenAI Dota Team, "An Empirical
# Model of Large-Batch Training" (2018); Smith, Kindermans, Ying and Le, "Don't Decay the
# Learning Rate, Increase the Batch Size" (2018); LeCun, Bottou, Orr and Müller, "Efficient
# BackProp" (1998); Ioffe and Szegedy, "Batch Normalization" (2015); Jin, Ge, Netrapalli,
# Kakade and Jordan, "How to Escape Saddle Points Efficiently" (2017); Dauphin, Pascanu,
# Gulcehre, Cho, Ganguli and Bengio, "Identifying and Attacking the Saddle Point Problem
# in High-Dimensional Non-Convex Optimization" (2014).
