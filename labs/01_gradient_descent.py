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
# If you may look at each of 256 points once, you can take a single exact step downhill, or
# 256 steps that each trust one point and are often wrong. Which of the two gets you further
# down? Every training makes this choice when it chooses its batch size.
#
# Training walks downhill on a surface that has as many directions as the network has
# weights. Nobody can look at such a surface, so this lab uses a model with only two
# weights, whose surface you can draw like a map. The lab uses only NumPy and runs in
# seconds.
#
# It has four parts, and the end of each is a good place for a break:
#
# 1. *A race down a bowl.* You write the gradient and the mini-batches. Which batch size
#    gets furthest in an epoch?
# 2. *How large a batch is still worth it?* You compare the noise of a batch with its
#    signal.
# 3. *Other surfaces.* What does the noise do in a narrow valley, and what on a saddle?
# 4. *Without a map.* In a real training you have only a clock and a loss curve. What does
#    each of them tell you about the batch size?

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
# Every exercise marked **TODO** has a check below it. Until your answer passes, the lab
# uses the reference solution, so you can always continue. If you are stuck in exercise
# 1.1, press *Hint* below its check, or call `hint("1.1")` in a new cell. Each further
# hint tells you more.

# %% tags=["setup"]
from helpers.notebook import session

# This lab runs on the CPU, so the set-up does not claim a GPU.
lab = session.start("01_gradient_descent", globals(), devices="none")

# %%
# np and time are for your answers, which may overwrite them. The lab's own cells use other
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
# ## 1. A race down a bowl
#
# The next cell draws points that scatter around a straight line, which the model has to
# recover. The model has two weights: the *slope* $w_1$ and the *intercept* $w_2$, which is
# the height of the line at $x = 0$.

# %%
START = (-1.0, -1.5)  # slope and intercept before the first step
rng = numpy.random.default_rng(lab.seed)
all_x = rng.uniform(-1.7, 1.7, lab.train_points)
all_y = 1.5 * all_x + 0.5 + rng.normal(0, 0.5, lab.train_points)
# The line with the lowest loss: with only two weights, it can be computed directly.
best = numpy.polyfit(all_x, all_y, 1)
lines = {"where we start": START, "the best line": best}
figure = figures.points_and_lines(all_x, all_y, lines)
summary = f"{lab.train_points} points around a rising line; the line at the start falls."
show_figure(figure, summary, session.caption())

# %% [markdown]
# The *loss* tells you how bad a line is. Here it is the mean of the squared errors of the
# line with the weights $w = (w_1, w_2)$, over all $n$ points $(x_i, y_i)$:
#
# $$ L(w) = \frac{1}{n} \sum_{i=1}^{n} (w_1 x_i + w_2 - y_i)^2 $$
#
# Imagine this loss as the height of a landscape, with one place for each pair of slope and
# intercept. Training is a walk from the start to the lowest point. Even there the loss is
# above 0, because no straight line can pass through all of the points.

# %%
def mean_squared_error(weights, x, y):
    """The loss of the line with weights (slope, intercept) on some points."""
    slope, intercept = weights
    return numpy.mean((slope * x + intercept - y) ** 2)

lowest = mean_squared_error(best, all_x, all_y)
print(f"Loss at the start: {mean_squared_error(START, all_x, all_y):.3f}")
print(f"Lowest possible loss, that of the best line: {lowest:.3f}")

# %% [markdown]
# ### Exercise 1.1: which way is up?
#
# To walk downhill you need to know which way is up. The [gradient](../docs/glossary.md)
# says how fast the loss rises if you increase each weight a little, and gradient descent
# steps in the opposite direction.
#
# **Write** `gradient(weights, x, y)`, which returns the gradient of the mean squared error.
# `weights` is an array of slope and intercept, and `x` and `y` are arrays of points. You
# need about three lines: one for the errors, and then the chain rule.
#
# **Rules**
#
# - Return a new array of shape `(2,)`, in the order of the weights.
# - It holds floats, even if the weights or the points are integers.
# - Take the mean over all points that you are given, even if there is only one.
# - Do not modify `weights`, `x` or `y`.
#
# **Example**
#
# ```python
# weights, x, y = np.array([0.0, 0.0]), np.array([1.0, 3.0]), np.array([2.0, 4.0])
# gradient(weights, x, y)   # array([-14., -6.])
# ```

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
# ### Walking down
#
# The next function is all you need for gradient descent. Each step receives a *batch*, the
# indices of the points that it may look at. The step computes the gradient $g$ of the loss
# on these points. Then it moves the weights $w$ in the opposite direction, as far as the
# [learning rate](../docs/glossary.md) $\varepsilon$ says:
#
# $$ w \leftarrow w - \varepsilon\, g $$

# %%
def descend(gradient, x, y, start, batches, learning_rate):
    """The weights before the first step and after each step, shape (steps + 1, 2)."""
    path = [numpy.array(start)]
    for batch in batches:
        step = -learning_rate * gradient(path[-1], x[batch], y[batch])
        path.append(numpy.clip(path[-1] + step, -1e6, 1e6))  # keeps a diverging path finite
    return numpy.array(path)

# %% [markdown]
# We begin with the *full batch*: every step uses all points, so it follows the steepest way
# down. With a small learning rate the walk takes forever, while with a large learning rate
# a step goes past the lowest point and up on the other side.
#
# **Question.** Above which learning rate do the steps lead further and further *away*?

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
# The contours are lines of equal loss, as on a map, and the lowest area is inside the
# innermost one. Each path leads from the square to the cross, with a dot for every step. If it jumps far
# out of the picture, it is drawn only up to that point.

# %% [markdown]
# When does a path diverge? When its learning rate is above $2 / c$, where $c$ is the
# *curvature* of the surface in its most curved direction. Cut the surface along one of the two
# axes of its elliptical contours: the edge of the cut is a parabola, and its second derivative
# is the curvature in this direction. So there are two curvatures, and $c$ is the larger one.
# Both are eigenvalues of the 2x2 matrix of all second derivatives, the *Hessian*. The next cell
# computes the limit from them, with
# [`eigvalsh`](https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigvalsh.html).

# %% [markdown]
# <details><summary>Where does this limit come from?</summary>
#
# At the distance $d$ from the lowest point, a parabola with the curvature $c$ has the slope
# $c\, d$. A step with the learning rate $\varepsilon$ therefore stays on the axis, and
# moves the weights back by $\varepsilon c\, d$, which multiplies the distance by
#
# $$ 1 - \varepsilon c. $$
#
# Beyond $\varepsilon = 2 / c$ this factor is below $-1$, so each step lands on the other
# side, and further out than before. A path that starts between the axes makes two such
# motions at once, and the motion along the axis with the larger curvature is the first to
# diverge.
#
# </details>

# %%
def curvature_matrix(x):
    """The second derivatives of the mean squared error, shape (2, 2)."""
    inputs = numpy.column_stack([x, numpy.ones_like(x)])
    return 2 * inputs.T @ inputs / len(x)

def largest_learning_rate(x):
    """The learning rate above which the full batch diverges: 2 / the largest curvature."""
    return 2 / numpy.linalg.eigvalsh(curvature_matrix(x)).max()

limit = largest_learning_rate(all_x)
print(f"The full batch diverges above learning rate {limit:.3f}")

# %% [markdown]
# ### Exercise 1.2: mini-batches
#
# A step that looks at all points is exact, but it uses up a whole epoch. The gradient of a
# few points costs much less and is right on average, but it is *noisy*.
#
# ![Two fans of arrows: gradients of small batches scatter widely around the gradient of all points, and gradients of large batches lie close to it.](../helpers/lab_01/diagrams/gradient_noise.svg)
#
# Networks are trained with such [mini-batches](../docs/glossary.md). An
# [epoch](../docs/glossary.md) is over when each point has been in one batch.
#
# **Write** `epoch_batches(points, batch_size, rng)`, which returns the batches of one epoch
# in order, as a list or as anything else to loop over. Here `points` is the number of
# points, and a batch is an array of indices that you can use as `x[batch]`. You need about
# two lines.
#
# **Rules**
#
# - Each of `0, 1, ..., points - 1` is in exactly one batch.
# - Each batch has `batch_size` indices; only the last may have fewer, but it is never
#   empty.
# - The order is random: every order is equally likely, and each call draws a new one.
# - All randomness comes from `rng`, a
#   [`np.random.Generator`](https://numpy.org/doc/stable/reference/random/generator.html),
#   so that the same seed gives the same batches.
#
# **Example**
#
# ```python
# epoch_batches(5, 2, rng)   # for instance [array([3, 0]), array([4, 1]), array([2])]
# ```

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

# %%
def batches_of(points, batch_size, steps, shuffle=0):
    """The batches of this many steps; each value of `shuffle` gives other batches."""
    rng, batches = numpy.random.default_rng([lab.seed, shuffle]), []
    while len(batches) < steps:
        batches.extend(epoch_batches(points, batch_size, rng))
    return batches[:steps]

def train(learning_rate, batch_size, steps, shuffle=0):
    """The path of the weights from START."""
    batches = batches_of(lab.train_points, batch_size, steps, shuffle)
    return descend(gradient, all_x, all_y, START, batches, learning_rate)

# %% [markdown]
# ### Turn the knobs
#
# How does a noisy path look? In JupyterLab you see sliders below. Click one and move it
# with the arrow keys; the line underneath tells you how the path ended. *Draw step by step*
# draws the path as it grows, and a second click stops it. Outside JupyterLab you see three
# settings side by side.
#
# **Question.** Try to answer these before you use the sliders:
#
# - What does the path look like with batches of 1, and what does it look like with all
#   points?
# - Where does the path go once it is near the lowest point?
# - Is there a learning rate at which the full batch converges, while the path with batches
#   of 1 is thrown far away from the lowest point?

# %%
settings = [(lab.learning_rate, size) for size in (lab.train_points, lab.batch_size, 1)]
explore(train, full_loss, settings, steps=60, box=BOX, caption=session.caption())

# %% [markdown]
# The path of the full batch goes straight down and stops. With batches of 1 the path
# staggers, because each step follows a different point. It never comes to rest: at the
# bottom the gradient over all points is 0, but the gradient of a single point is not. With
# batches of 16 you can hardly see the path wander.
#
# No single path can answer the third question, because another shuffle of the points may
# lead to a different end. The next cell counts over 20 shuffles.

# %%
SHUFFLES = range(20)

def times_thrown_out(train, loss, learning_rate, batch_size):
    """The number of shuffles in which the path is thrown out within 60 steps."""
    paths = (train(learning_rate, batch_size, 60, shuffle) for shuffle in SHUFFLES)
    return sum(thrown_out(path, loss) for path in paths)

print("Thrown out (ten times the first loss, or more) within 60 steps:")
for rate in (0.1, 0.3, 0.4, 0.5, 0.7):
    ones = times_thrown_out(train, full_loss, rate, 1)
    full = times_thrown_out(train, full_loss, rate, lab.train_points)
    print(f"Learning rate {rate}: batches of 1 in {ones} of 20 shuffles, ", end="")
    print(f"full batch in {full} of 20 shuffles")

# %% [markdown]
# So the answer to the third question is yes: at some learning rates the full batch converges,
# while batches of 1 are thrown out. Part 3 will show you why. Where a count lies well between
# 0 and 20, a single run would have told you little about the learning rate.

# %% [markdown]
# ### What does an epoch buy?
#
# So far every batch size made 60 steps, although a step with the full batch uses 256 times
# as many points as a step with one. It is fairer to compare epochs, because an epoch uses
# each point once, whatever the batch size.
#
# **Predict:** you saw the loss at the start. What will it be after *one* epoch with batches
# of `batch_size` points and the learning rate `learning_rate`?

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
    print(f"Batch size {size}: median loss {first:.3f} after one epoch, ", end="")
    print(f"{last:.3f} after {lab.epochs}")
card.outcome("loss_after_one_epoch", numpy.median(curves[lab.batch_size][:, 1]))

# %%
figure = figures.loss_by_epoch(curves, lowest, loss_guess)
passed = sum(curves[lab.train_points][:, -1] < curves[1][:, -1])
summary = f"""After one epoch the full batch has made one step, a smaller batch many.
The full batch ends with a lower loss than batches of 1 in {passed} of 20 shuffles."""
show_figure(figure, summary, session.caption())
medians = {str(size): numpy.median(losses, axis=0) for size, losses in curves.items()}
card.measure("loss_by_epoch", medians)

# %% [markdown]
# That answers the opening question: in the first epoch, 256 careless steps get much
# further down than one exact step. But then their path keeps wandering a little above the
# lowest loss, and more epochs do not change that. The middle batch size does better than
# both. (In the figure, the lines are medians over 20 shuffles, and each band contains eight
# out of ten.)
#
# But the race was not quite fair, because all sizes had the same learning rate, and the full
# batch could have made a longer step. So part 2 compares each size at its own best rate.
#
# After ten epochs of the stored run, the full batch ends lower than batches of 1 in only 9 of
# 20 shuffles, a draw.
#
# **Question.** How could you bring the path with batches of 1 further down, without changing
# the batch size?

# %%
def above_lowest(learning_rate, shuffle):
    """Loss minus the lowest loss after two epochs, and two more at `learning_rate`."""
    begun = train(lab.learning_rate, 1, 2 * lab.train_points, shuffle)
    more = batches_of(lab.train_points, 1, 2 * lab.train_points, shuffle + 100)
    path = descend(gradient, all_x, all_y, begun[-1], more, learning_rate)
    return full_loss(path[-1]) - lowest

for rate in (lab.learning_rate, lab.learning_rate / 10):
    height = numpy.median([above_lowest(rate, shuffle) for shuffle in SHUFFLES])
    print(f"Two epochs with batches of 1, then two at learning rate {rate:.3g}: ", end="")
    print(f"{height:.4f} above the lowest loss")

# %% [markdown]
# So **noise is cheap far from the lowest point, but expensive near it.** That is one
# reason to reduce the learning rate towards the end of a training, as [lab
# 02](02_throughput.ipynb) does.

# %% [markdown]
# ## 2. How large a batch is still worth it?
#
# The middle batch size won the race. But when is a larger batch worth its price? Compare the
# noise of its gradient with the signal. The signal is the exact gradient $G$, and the noise
# is what chance adds to it. Both are arrows. Suppose that the noise of a single point is ten
# times as long as the signal, so its *squared* length is 100 times as large. If you average
# 100 points drawn independently, this squared length falls to a hundredth. Noise and signal
# are then equally long, and 100 is the batch size that we are looking for.
#
# In symbols: the gradients of the single points scatter around $G$. Compute the variance of
# this scatter for each weight, and let $V$ be the sum of these variances. The mean of $b$
# such gradients has noise with a mean squared length of only $V / b$, while the signal has
# the squared length $|G|^2$. [McCandlish et al. (2018)](https://arxiv.org/abs/1812.06162)
# call the batch size at which the two are equal the [noise scale](../docs/glossary.md):
#
# $$ B = \frac{V}{|G|^2} $$
#
# **Predict:** how large is $B$ at the start, and how large is it after 15 exact steps, near
# the lowest point?

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
    loss_here = full_loss(descent[step])
    print(f"Step {step}: loss {loss_here:.3f}, noise scale {scales[step]:,.2f}")
card.outcome("noise_scale", {"start": scales[0], "step 15": scales[15]})

# %% [markdown]
# Far from the lowest point, the gradients of the single points agree on the direction. Near
# it, they still differ from point to point, but their mean $G$ approaches 0, so $B$ grows
# without bound. McCandlish et al. observe the same growth in their networks.

# %% [markdown]
# ### What does the noise cost?
#
# The step of a small batch has two parts. The exact step leads downhill, and the random
# part leads, on average, up the walls of the bowl. If you make the step twice as long, the
# first part gains at most twice as much, but the random part does four times the harm. So
# with a small batch, the best step is shorter than with the exact gradient, and you need
# more steps.
#
# How many more? McCandlish et al. show this for a bowl that is equally curved in all
# directions. There, batches of $b$ points need
#
# $$ 1 + \frac{B}{b} $$
#
# steps to get as far as one exact step. If $B = 100$, for example, you need 101 times as
# many steps with batches of 1, twice as many with batches of 100, and only 1.01 times as
# many with batches of 10,000. To test this law, the next cells draw many batches, and
# compute by how much their steps lower the loss, each at its best learning rate.

# %%
def best_step(steps, exact, curvature):
    """The learning rate at which these steps lower the loss most, and by how much."""
    # Along a step the loss is a parabola. Its slope at the start, and its curvature:
    slope = numpy.mean(steps @ exact)
    curved = numpy.mean(numpy.sum(steps @ curvature * steps, axis=1))
    return slope / curved, slope**2 / (2 * curved)

def steps_needed(single, batch_size, curvature):
    """Best learning rate and number of steps, both divided by those of exact steps."""
    rng, exact = numpy.random.default_rng(lab.seed), single.mean(axis=0)
    # With replacement, as if there were infinitely many points.
    drawn = rng.integers(len(single), size=(2**20 // batch_size, batch_size))
    rate, fall = best_step(single[drawn].mean(axis=1), exact, curvature)
    exact_rate, exact_fall = best_step(exact[None], exact, curvature)
    return rate / exact_rate, exact_fall / fall

# %%
needed, laws = {}, {"start": scales[0], "step 15": scales[15]}
for place, weights in {"start": descent[0], "step 15": descent[15]}.items():
    single, needed[place] = single_gradients(weights, all_x, all_y), {}
    print(f"{place}, noise scale {laws[place]:.2f}; compared with exact steps:")
    for size in (1, 4, 16, 64, 256):
        rate, steps = steps_needed(single, size, curvature_matrix(all_x))
        needed[place][size] = steps
        law = 1 + laws[place] / size
        print(f"  batch size {size}: {steps:.2f} times the steps (law {law:.2f}), ", end="")
        print(f"{rate:.3f} times the learning rate (law {1 / law:.3f})")
figure = figures.steps_needed(needed, laws, scale_guess)
summary = "Twice the batch needs half the steps, but only far below the noise scale."
show_figure(figure, summary, session.caption())

# %% [markdown]
# Far below the noise scale, twice the batch needs half the steps, which is called
# [perfect scaling](../docs/glossary.md). Far above it, doubling the batch saves next to
# nothing: these are *diminishing returns*. In between, at $b = B$, you pay double in both
# currencies: twice the steps of a huge batch, and twice the points of a tiny one. (The
# points are $b$ times the steps, $b\,(1 + B/b) = b + B$.) Since $B$ grows during a
# training, a batch size that is wasteful at the start may be right at the end. [Lab
# 03](03_time_to_accuracy.ipynb) uses this law to find the fastest batch size for a real
# network.

# %% [markdown]
# <details><summary>What do the printed learning rates say?</summary>
#
# Because the best step of a small batch is shorter, its best learning rate is smaller, too.
# In a round bowl it is smaller by the same factor:
#
# $$ \varepsilon(b) = \frac{\varepsilon_\infty}{1 + B/b}, $$
#
# where $\varepsilon_\infty$ is the best learning rate of an exact step. Far below the noise
# scale, the best rate grows in proportion to the batch, but far above it hardly grows at
# all. For Adam and similar optimizers, [Li et al. (2024)](https://arxiv.org/abs/2405.14578)
# derive a different law. [Lab 05](05_many_gpus_fit.ipynb) compares this one with a simpler
# rule.
#
# </details>

# %% [markdown]
# ## 3. Other surfaces
#
# In the bowl, noise has a price that you can compute. On other surfaces it can ruin a
# training, or rescue it.
#
# ### A narrow valley
#
# Move all points to the right by 2, together with the line from which the path starts. The
# points keep their pattern, but they now lie to the right of $x = 0$, where the intercept is
# measured. If you make the line steeper, you have to lower its intercept, too, or it leaves
# the points. So changing both together costs little, but changing only one of them costs
# much. The bowl becomes a narrow valley that runs from the upper left to the lower right. Its
# walls are steep, and its floor is nearly flat.
#
# To be fair to the full batch, the next cells stay 10% below the learning rate above
# which it diverges.
#
# **Predict:** with which batch sizes (1, 16, or all 256 points) will the path be thrown out
# of the valley within 60 steps, in most of 20 shuffles?

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
valley = ((-4.0, 6.0), (-6.0, 4.0))
explore(train_in_valley, valley_loss, valley_settings, 60, valley, session.caption())

# %%
valley_limit = largest_learning_rate(x_moved)
print(f"The full batch diverges above learning rate {valley_limit:.3f} ", end="")
print(f"in the valley, and above {limit:.3f} in the bowl")
thrown = {
    size: times_thrown_out(train_in_valley, valley_loss, rate, size)
    for rate, size in valley_settings
}
for size, times in thrown.items():
    print(f"Batch size {size}: thrown out in {times} of 20 shuffles")
ends = (train_in_valley(valley_rate, 1, 60, shuffle)[-1] for shuffle in SHUFFLES)
back = sum(valley_loss(end) < valley_loss((-1.0, 0.5)) for end in ends)
print(f"Batches of 1 end with a lower loss than at the start in {back} of 20 shuffles")
often = [size for size, times in thrown.items() if times > 10]
card.outcome("batch_sizes_thrown_out", often)

# %% [markdown]
# Here **noise hurts**: the learning rate is small enough for the full batch, but not for
# batches of 1. Some of their paths come back, and the last line counts those whose loss
# ends lower than it began.

# %% [markdown]
# What throws the paths out? Not the valley itself, because in part 1 the bowl did the
# same at high learning rates. Along its steepest direction, the squared error of a single
# point at $x$ has the curvature $2 (x^2 + 1)$. For a point far to the right, this exceeds
# the largest curvature of the loss over all points. So a step that follows such a point
# may be too long. If this is the reason, a learning rate that is small enough for the
# steepest *point* should throw out no path.

# %%
point_curvatures = 2 * (x_moved**2 + 1)
too_steep = numpy.mean(point_curvatures * valley_rate > 2)
print(f"Steepest point: curvature {point_curvatures.max():.2f}")
print(f"All points together: largest curvature {2 / largest_learning_rate(x_moved):.2f}")
print(f"For {100 * too_steep:.1f}% of the points the rate {valley_rate:.3f} is too large")
safe_rate = 0.9 * 2 / point_curvatures.max()
times = times_thrown_out(train_in_valley, valley_loss, safe_rate, 1)
print(f"At rate {safe_rate:.3f}, batches of 1 are thrown out in {times} of 20 shuffles")

# %% [markdown]
# So the paths are thrown out by steps that follow single steep points. A few such points do
# little harm: in the bowl, some are too steep already at rate 0.3, and no path was thrown
# out. But here 41% of the points are too steep.
#
# The best remedy is not a different batch size. Move the points back, and the bowl
# is round again, so every batch size survives a larger learning rate than in the valley.
# That is why inputs are scaled to mean 0 and standard deviation 1 ([LeCun et al.
# 1998](https://doi.org/10.1007/3-540-49430-8_2)). Batch normalisation started from the
# idea of doing the same between the layers of a network ([Ioffe and Szegedy
# 2015](https://arxiv.org/abs/1502.03167)).

# %% [markdown]
# ### A saddle
#
# Is there a surface on which noise helps? Take points in two groups: in one group $y$ rises
# with $x$, and in the other group it falls. We want a line through *one* of these groups,
# so we use a loss that nearly ignores points far away from the line. A point with the error
# $e$ contributes
#
# $$ \frac{e^2}{1 + e^2}, $$
#
# which is nearly $e^2$ for a point close to the line, and never exceeds 1, however far
# away the point is.

# %%
cross_rng = numpy.random.default_rng(lab.seed)
side = cross_rng.uniform(-2, 2, lab.train_points // 4)
height = 0.8 * side + cross_rng.normal(0, 0.3, len(side))
# A quarter of the points, mirrored in both axes, so that neither group is better.
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
# [saddle](../docs/glossary.md). From here the surface falls to the left and to the right,
# where the slope $w_1$ changes. It rises upwards and downwards, where the intercept $w_2$
# changes. Our path starts at $w_1 = 0$, above the saddle. Because the two groups mirror
# each other, the gradient there points neither to the left nor to the right.
#
# **Predict:** with which batch sizes (1, 16, or all 256 points) will the path have left the
# middle after 200 steps, in most of 20 shuffles?

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
# Here **noise helps**. The full batch walks to the saddle and is still there after 200
# steps, because the gradient at this point is 0. A batch of a few points, however, is never
# quite balanced. Its noise pushes the weights to one side, which depends on chance, and
# from there it is downhill.
#
# Even the full batch leaves the saddle in the end, as the last two lines show, because
# rounding errors are a kind of noise, too. Near a saddle even the smallest error to the
# side grows from step to step.

# %% [markdown]
# <details><summary>Does a real network meet a saddle?</summary>
#
# A real network would not start exactly in the middle. But near any saddle the gradient is
# small, so even a path that starts to the side can linger there. And [Dauphin et al.
# (2014)](https://arxiv.org/abs/1406.2572) argue that a surface with many directions has
# many saddles.
#
# </details>

# %% [markdown]
# ## 4. Without a map
#
# For a real network you have no map on which you can watch the path. What remains is a
# clock and a loss curve.
#
# ### What does a step cost?
#
# In the race, each point counted the same, so an exact step cost as much as 256 careless
# ones. Does a clock agree?
#
# **Predict:** divide the time of a step with all points by the time of a step with one
# point. How large is this ratio?

# %%
my_price_guess = None  # change this: time of a full step / time of a step with one point
card.predict("full_step_over_single_step", my_price_guess)

# %%
card.lock("full_step_over_single_step")

def steps_per_second(batch_size, copies=1):
    """Gradient steps per second on copies of the points; drawing batches is not timed."""
    more_x, more_y = numpy.tile(all_x, copies), numpy.tile(all_y, copies)
    batches = batches_of(len(more_x), batch_size, 20) * (lab.timed_steps // 20)
    began = perf_counter()
    descend(gradient, more_x, more_y, START, batches, 0.01)
    return len(batches) / (perf_counter() - began)

# %%
n = lab.train_points
# Measured in turns. The fastest run of each was disturbed least by other programs.
turns = [
    (steps_per_second(1), steps_per_second(n), steps_per_second(64 * n, 64))
    for _ in range(5)
]
single, full, large = (max(speeds) for speeds in zip(*turns, strict=True))
card.measure("steps_per_second", single)
card.measure("full_batch_steps_per_second", full)
print(f"Steps/sec: {single:.2f}")
print(f"Full batch steps/sec: {full:.2f}")
print(f"A step with all {n} points takes {single / full:.2f} times as long as with one")
print(f"A step with {64 * n:,} points takes {full / large:.2f} times as long as with {n}")
card.outcome("full_step_over_single_step", single / full)

# %% [markdown]
# With one point there is hardly anything to compute, so a step consists almost entirely of
# the overhead of Python and NumPy. A step with the full batch has the same overhead, and
# therefore takes nowhere near 256 times as long. With even more points, the arithmetic
# becomes visible. So a larger batch is nearly free at first, but only at first. [Lab
# 02](02_throughput.ipynb) measures this with a real network.

# %% [markdown]
# ### Exercise 1.3: which batch size was it?
#
# The other thing that you can see is the loss of each step's batch. How much does its
# jitter tell you? The next cell trains four times, with the same points and the same
# learning rate, but with batches of 1, 4, 16 and 64.
#
# **Question.** Which curve belongs to which batch size, and how can you tell?

# %%
SIZES = [1, 4, 16, 64]
order = numpy.random.default_rng(lab.seed + 10).permutation(SIZES)
hidden = dict(zip("ABCD", order, strict=True))
loss_curves = {}
for name, size in hidden.items():
    batches = batches_of(lab.train_points, size, 480)
    path = descend(gradient, all_x, all_y, START, batches, 0.05)
    # The loss of each batch, with the weights before its step.
    steps_made = zip(path[:-1], batches, strict=True)
    losses = [mean_squared_error(w, all_x[b], all_y[b]) for w, b in steps_made]
    loss_curves[name] = numpy.array(losses)
figure = figures.batch_losses(loss_curves)
summary = "All four curves fall for about 30 steps, then scatter by different amounts."
show_figure(figure, summary, session.caption())

# %% [markdown]
# Now let a function decide. At the best line, each point has a squared error. Call the
# variance of these squared errors $\sigma^2$, or `example_variance` in the code. The loss
# of a batch of $b$ points is the mean of their squared errors, and a mean scatters less
# than the values that it averages. If the points are drawn independently of each other,
# then
#
# $$ \mathrm{Var}(\text{losses}) = \frac{\sigma^2}{b}. $$

# %% [markdown]
# If the law is right, a loss curve gives away the batch size that made it.
#
# **Write** `which_batch_size(losses, example_variance, sizes)`, which guesses the batch
# size behind a loss curve, and returns the entry of `sizes` that fits best. `losses` is an
# array with one loss per step, and `sizes` is a rising list of batch sizes. You need about
# three lines.
#
# **Rules**
#
# - The law $\sigma^2 / b$ holds only where the curve is flat. So take the variance of the
#   whole second half of `losses`, whatever its length, and estimate the batch size from it.
# - You may compute the variance with $n$ or with $n - 1$. If the number of losses is odd,
#   the middle one may belong to either half.
# - Return the size that is nearest to your estimate *by ratio*. For example, the border
#   between 4 and 16 is 8, because $8 / 4 = 16 / 8$. On the border itself, return either
#   size.
# - Do this even if the estimate lies beyond all sizes.
# - Do not modify the arguments.
#
# **Example:** if the flat part of `losses` has a variance of 0.02, then
# `which_batch_size(losses, 0.3, [1, 4, 16, 64])` is `16`, because $0.3 / 0.02 = 15$.

# %% name="1.3-which-batch-size" points=2
# TODO 1.3: which of the batch sizes gave a loss curve that scatters like this.
#: start
def which_batch_size(losses, example_variance, sizes):
    """The batch size whose losses scatter like these."""
    return sizes[0]
#: solution
def which_batch_size(losses, example_variance, sizes):
    """The batch size whose losses scatter like these."""
    floor = losses[len(losses) // 2 :]
    estimate = example_variance / np.var(floor)
    return min(sizes, key=lambda size: abs(np.log(size / estimate)))
#: end

# %%
which_batch_size = check("1.3", which_batch_size)

# %%
squared_errors = (best[0] * all_x + best[1] - all_y) ** 2
example_variance = numpy.var(squared_errors)
found = {
    name: int(which_batch_size(losses, example_variance, SIZES))
    for name, losses in loss_curves.items()
}
for name, size in hidden.items():
    print(f"{name}: batch size {size}, by the law {found[name]}")
card.measure("batch_sizes_by_the_law", found)

# %% [markdown]
# So a loss that jitters is not necessarily a sign of trouble: the batches may simply be
# small, and batches of four times the size halve the jitter. To see whether the loss is
# still falling, average it over many steps.

# %% [markdown]
# ### What does the batch size do to the path?
#
# It sets the noise of each step. Far from the lowest point, many noisy steps beat a few
# exact ones. Near it, a larger batch is worth its price, and the noise scale tells you
# roughly how large it should be. The same noise can throw you out where a single point is
# too steep for the learning rate, and it frees you from a saddle.

# %% [markdown]
# > **Limits.** The model has only two weights, and each surface was chosen to show one
# > effect, while the surface of a network may combine all of them. In a large training, the
# > gradients of all single points would be too expensive. There the noise scale is
# > estimated, for example from the lengths of the gradients of a small and a large batch
# > ([McCandlish et al. 2018](https://arxiv.org/abs/1812.06162), appendix A).

# %% [markdown]
# ## Quiz
#
# Every answer comes with an explanation.

# %%
quiz("01")

# %%
session.finish()

# %% [markdown]
# ## Explain your figure
#
# Take the figure under "How large a batch is still worth it?". Which batch size is worth
# its price at the start, and which is worth it near the lowest point? How does the figure
# show this?
#
# Write three to six sentences in the cell below, with numbers from your run. No check reads
# them, but your instructor may.

# %% [markdown] name="1.figure" points=2
# **1.figure, your answer:**

# %% [markdown]
# ## What you learned
#
# Whether the noise of small batches is cheap, harmful or helpful depends on where the path
# is. The race counted points, but a step with more points need not take longer. Measured in
# seconds, the race may have a different winner.
#
# **Question.** Which batch size is best if a step with more points takes nearly the same
# time? We reduced the noise by lowering the learning rate. Which setting could you have
# raised instead?

# %% [markdown]
# ## Going further
#
# You may stop here: this part has no points and no predictions.
#
# ### What if no point may come twice?
#
# The law $\sigma^2 / b$ assumes that the points of a batch are drawn independently. But an
# epoch draws them *without replacement*: no point comes twice. That multiplies the variance
# by the factor
#
# $$ \frac{n - b}{n - 1}. $$
#
# **Question.** For which of the four batch sizes does this factor matter?

# %%
n = lab.train_points
print("Variance of the losses, divided by example_variance / b:")
for name, size in sorted(hidden.items(), key=lambda pair: pair[1]):
    flat = numpy.var(loss_curves[name][240:])
    # The losses of many batches, with the weights fixed at the best line.
    at_best = [numpy.mean(squared_errors[b]) for b in batches_of(n, size, 10_000)]
    law = example_variance / size
    ratio = f"flat half {flat / law:.2f}, at the best line {numpy.var(at_best) / law:.2f}"
    print(f"Batch size {size}: {ratio}, (n - b) / (n - 1) = {(n - size) / (n - 1):.2f}")

# %% [markdown]
# The factor is close to 1 as long as a batch is a small part of all points, which is the
# usual case in practice. With 64 of 256 points it is noticeably smaller.
#
# The flat half of a curve may differ from the law for two more reasons. Its 240 losses give
# only a rough estimate of the variance. Besides, the weights keep wandering, most of all
# with batches of 1, and away from the best line the losses are higher and scatter more.

# %% [markdown]
# ### Does the law for the steps hold in the valley?
#
# The law $1 + B/b$ was made for a round bowl. The next cell tests it in the valley of part
# 3, for batches of 256, with the weights after 30 exact steps.

# %%
weights = train_in_valley(valley_rate, lab.train_points, 30)[-1]
single = single_gradients(weights, x_moved, all_y)
_, steps = steps_needed(single, 256, curvature_matrix(x_moved))
scale_there = noise_scale(single)
print(f"Noise scale: {scale_there:.1f}")
print(f"With batches of 256, by the law: {1 + scale_there / 256:.2f} times as many steps")
print(f"  as exact ones; measured: {steps:.2f} times as many")

# %% [markdown]
# Here the law fails. In a round bowl, noise does the same harm in every direction. In the
# valley it does much more harm when it pushes the weights up one of the steep walls. In the
# valley of the stored run, batches of 256 need ten times as many steps as the law says. For
# the law to be right, $B$ would have to be about 30 times as large. The formula $V / |G|^2$
# treats all directions as equally curved, so the paper calls it the *simple* noise scale.

# %% [markdown]
# To read on: the papers that the sections link, and also Bottou, Curtis and Nocedal,
# ["Optimization Methods for Large-Scale Machine
# Learning"](https://arxiv.org/abs/1606.04838) (2018); Smith, Kindermans, Ying and Le,
# ["Don't Decay the Learning Rate, Increase the Batch
# Size"](https://arxiv.org/abs/1711.00489) (2018); Jin, Ge, Netrapalli, Kakade and Jordan,
# ["How to Escape Saddle Points Efficiently"](https://arxiv.org/abs/1703.00887) (2017).
