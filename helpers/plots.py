"""Figures for a course: readable without colour, without a browser, without sight."""

import base64
import html
import io
import statistics

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from callbacks.dashboard_views import in_jupyterlab
from callbacks.figure_table import figure_table

# Okabe & Ito's colours, safe for colour-blind readers; never colour alone.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#555555"
MARKERS = "osD^vP*X"
LINES = ("-", "--", "-.", ":")


def use_figures():
    """Choose how figures look; `show` makes them live where they can be."""
    mpl.use("agg")
    plt.rcParams.update(
        {"figure.figsize": (7.5, 4.2), "axes.grid": True, "axes.axisbelow": True}
    )


def show(figure, summary, caption):
    """Show a figure with its caption, its data, and one sentence that says what it shows.

    The data stand behind "The data as a table", as `figure_table` reads them off.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    summary : str
        What a reader who cannot see the figure should know; also its
        alternative text.
    caption : str
        Device, replicas and scale: what the figures hold for.
    """
    from IPython.display import HTML, display

    figure.text(0.01, 0.005, caption, fontsize=6.5, color=GREY)
    figure.set_layout_engine("constrained", rect=(0, 0.035, 1, 0.965))
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=110)
    small = io.BytesIO()
    # 256 colours show the same, and a notebook full of contours is a third as large.
    with Image.open(png) as picture:
        picture.convert("RGB").quantize(256).save(small, format="png", optimize=True)
    encoded = base64.b64encode(small.getvalue()).decode()
    # The picture stays in the notebook when the live one is gone.
    image = f'<img alt="{html.escape(summary)}" src="data:image/png;base64,{encoded}">'
    table = figure_table(figure)
    plt.close(figure)
    if in_jupyterlab():
        display(_live(figure), raw=True)
        image = f"<details><summary>As a picture</summary>{image}</details>"
    display(HTML(image + table))
    print(summary)


def _live(figure):
    """Give a figure an ipympl canvas, and return what shows that, by MIME type.

    After everything else has been drawn: the browser asks for the picture as soon as
    there is a canvas, ipykernel answers from another thread, and while `savefig` has
    the figure nobody is there to answer. Then the canvas would stay blank.
    """
    from ipympl.backend_nbagg import Canvas, FigureManager

    canvas = Canvas(figure)
    canvas.header_visible = False
    FigureManager(canvas, 0)
    view = {"version_major": 2, "version_minor": 0, "model_id": canvas.model_id}
    return {"application/vnd.jupyter.widget-view+json": view, "text/plain": "a figure"}


def throughput_bars(points, guess, fitted, original):
    """Bars of images per second by batch size, with prediction and fit.

    Parameters
    ----------
    points : dict of int to float or None
        Images per second by batch size; None is drawn as "did not fit".
    guess : dict of int to float
        The student's prediction, made before measuring.
    fitted : callable or None
        Images per second as a function of the batch size.
    original : dict of int to float
        The table that the original lab printed; its GPU is not stated.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    sizes = sorted(set(points) | set(guess))
    where = {size: i for i, size in enumerate(sizes)}
    for size, value in points.items():
        if value is None:
            axes.text(where[size], 0, " did not fit", rotation=90, ha="center")
    measured = {size: value for size, value in points.items() if value}
    axes.bar(
        [where[size] for size in measured],
        list(measured.values()),
        color=BLUE,
        alpha=0.75,
        label="measured here",
    )
    lines = [("your prediction", guess, ORANGE, "o--")]
    if fitted:
        lines.append(("fit", {size: fitted(size) for size in measured}, GREEN, "D-"))
    shown = {size: value for size, value in original.items() if size in where}
    lines.append(("original lab, GPU not stated", shown, RED, "^:"))
    for label, values, colour, style in lines:
        places = [where[size] for size in sorted(values)]
        heights = [values[size] for size in sorted(values)]
        axes.plot(places, heights, style, color=colour, label=label)
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set(xlabel="batch size [images]", ylabel="throughput [images/s]", ylim=(0, None))
    axes.legend()
    return figure


def step_times(step_seconds):
    """Seconds of a training step against its batch size, as points.

    Parameters
    ----------
    step_seconds : dict of int to float
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    axes.plot(list(step_seconds), list(step_seconds.values()), "o", color=BLUE)
    axes.set(xlabel="batch size [images]", ylabel="time of a step [s]")
    axes.set(xlim=(0, None), ylim=(0, None))
    return figure


def accuracy_against_time(runs, target):
    """Validation accuracy of every run against its wall time.

    Parameters
    ----------
    runs : list of dict
        `batch_size`, `wall_seconds` and `val_accuracy` (lists, per epoch).
    target : float
        Drawn as a line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    sizes = sorted({run["batch_size"] for run in runs})
    for i, size in enumerate(sizes):
        for run in (run for run in runs if run["batch_size"] == size):
            (line,) = axes.plot(
                run["wall_seconds"],
                run["val_accuracy"],
                color=mpl.colormaps["cividis"](0.9 * i / max(1, len(sizes) - 1)),
                linestyle=LINES[i % len(LINES)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=4,
                label=f"_batch {size:,}",  # "_": in the table, not in the legend
            )
        line.set_label(f"batch {size:,}")
    axes.axhline(target, color=RED, linewidth=1, label=f"target {target:g}")
    axes.set(xlabel="wall time [s]", ylabel="validation accuracy")
    axes.legend(ncols=2)
    return figure


def time_to_accuracy_spread(times, guess):
    """Each run's time to the target, its median, and the runs that never got there.

    Parameters
    ----------
    times : dict of int to list of float or None
        Seconds of each repeat by batch size; None: never reached.
    guess : int
        The batch size that the student expects to win.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    reached = [t for all_times in times.values() for t in all_times if t is not None]
    ceiling = 1.25 * max(reached, default=1.0)
    for i, (size, all_times) in enumerate(sorted(times.items())):
        got_there = [t for t in all_times if t is not None]
        missing = len(all_times) - len(got_there)
        axes.plot(
            [i] * len(got_there), got_there, "o", color=BLUE, alpha=0.7, label="_each run"
        )
        if missing < len(all_times) / 2:
            middle = statistics.median(
                t if t is not None else float("inf") for t in all_times
            )
            axes.plot(
                i,
                middle,
                "_",
                color=BLUE,
                markersize=36,
                markeredgewidth=2,
                label="_median",
            )
        if missing:
            never = f"{missing} of {len(all_times)} never"
            # At a height of the axes, not of the data: it is no time that was measured.
            above = {"transform": axes.get_xaxis_transform(), "label": f"_{never}"}
            axes.plot(i, 0.93, "X", color=RED, markersize=9, **above)
            axes.annotate(
                never,
                (i, 0.93),
                xycoords=above["transform"],
                textcoords="offset points",
                xytext=(0, -14),
                ha="center",
                fontsize=8,
            )
        if size == guess:
            axes.axvspan(i - 0.4, i + 0.4, color=ORANGE, alpha=0.2, label="your guess")
            axes.legend()
    axes.set_xticks(range(len(times)), [f"{size:,}" for size in sorted(times)])
    axes.set(
        xlabel="batch size [images]",
        ylabel="time to accuracy [s]",
        xlim=(-0.5, len(times) - 0.5),
        ylim=(0, ceiling),
        title="each dot a run, the bar their median",
    )
    return figure


def matmul_curves(sizes, seconds, winner, guess):
    """Time and speed of square products against their size, one line a device.

    Parameters
    ----------
    sizes : list of int
        Rows and columns of both matrices.
    seconds : dict of str to list of float
        Seconds of each product, by the device's name.
    winner, guess : int or None
        The size from which the faster device wins, found and predicted.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (times, speeds) = plt.subplots(1, 2, figsize=(9, 4.2))
    styles = zip((ORANGE, BLUE), MARKERS, LINES, strict=False)
    for (name, values), (colour, marker, line) in zip(seconds.items(), styles, strict=True):
        style = {"color": colour, "marker": marker, "linestyle": line, "label": name}
        times.loglog(sizes, values, base=2, **style)
        flops = [2 * size**3 / value for size, value in zip(sizes, values, strict=True)]
        speeds.loglog(sizes, [value / 1e9 for value in flops], base=2, **style)
    for axes in (times, speeds):
        axes.set_yscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
        axes.set_xlabel("size of both matrices [rows and columns]")
        if winner:
            axes.axvline(winner, color=GREEN, linestyle="-.", label="wins from here on")
        axes.axvline(guess, color=GREY, linestyle=":", label="your guess")
    times.set_ylabel("time of one product [s]")
    speeds.set_ylabel("speed [GFLOP/s]")
    times.legend(fontsize=8)
    return figure


def learning_rates(rates):
    """Learning rates by step, one line each.

    Parameters
    ----------
    rates : dict of str to list of float
        The rate at steps 0, 1, 2, ... by a name for the line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    for i, (name, values) in enumerate(rates.items()):
        colour = (BLUE, ORANGE, GREEN, RED)[i % 4]
        axes.plot(values, color=colour, linestyle=LINES[i % len(LINES)], label=name)
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.legend()
    return figure


def weight_differences(differences, guess):
    """Largest difference of a weight, in tens: one bar a network.

    Parameters
    ----------
    differences : dict of str to float
    guess : float
        What the student expects of the second bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    names = list(differences)
    axes.barh(names, [max(value, 1e-9) for value in differences.values()], color=BLUE)
    axes.plot(guess, names[1], "D", color=ORANGE, markersize=9, label="your guess")
    axes.axvline(1e-6, color=GREY, linestyle=":", label="about what rounding does")
    axes.set(xscale="log", xlabel="largest difference of a weight", xlim=(1e-9, 1))
    axes.invert_yaxis()
    axes.legend(fontsize=8)
    return figure


def scaling(points, guess, real):
    """Throughput by number of replicas, beside the ideal line.

    Parameters
    ----------
    points : dict of int to float
        Images per second by number of replicas.
    guess : float
        Images per second that the student expects of all replicas.
    real : int
        How many replicas have a device, or a core, of their own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    counts = sorted(points)
    one = points[counts[0]] / counts[0]
    axes.plot(counts, [one * n for n in counts], ":", color=GREY, label="ideal")
    axes.plot(counts, [points[n] for n in counts], "o-", color=BLUE, label="measured")
    axes.plot(counts[-1], guess, "D", color=ORANGE, label="your guess")
    for n in counts:
        label = f"{points[n] / (one * n):.0%}"
        axes.annotate(label, (n, points[n]), textcoords="offset points", xytext=(5, -14))
    if real < counts[-1]:
        axes.axvspan(
            real + 0.05 * real, counts[-1] * 1.05, color=GREY, alpha=0.15,
            label="more replicas than cores: simulated",
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.set(xlabel="replicas", ylabel="throughput [images/s]", ylim=(0, None))
    axes.legend()
    return figure


def accuracy_by_batch(accuracies, guess):
    """Validation accuracy against the global batch, a line a recipe, a marker a run.

    Parameters
    ----------
    accuracies : dict of str to dict of int to list of float
        Of each run, by recipe and global batch; the line goes through the medians.
    guess : str
        The recipe that the student expects to be best at the largest batch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    colours = (GREY, BLUE, ORANGE, GREEN)
    for i, (name, row) in enumerate(accuracies.items()):
        axes.plot(
            list(row), [statistics.median(values) for values in row.values()],
            color=colours[i], linestyle=LINES[i], marker=MARKERS[i],
            label=name + (" (your guess)" if name == guess else ""),
        )  # fmt: skip
        for size, values in row.items():
            axes.plot(
                [size] * len(values), values, MARKERS[i], color=colours[i],
                markerfacecolor="none", label=f"_{name}, each run",
            )  # fmt: skip
    sizes = list(row)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set(xlabel="global batch [images]", ylabel="validation accuracy", ylim=(0, 1))
    axes.legend()
    return figure


def accuracy_by_epoch(wall_seconds, accuracy, target, guess):
    """Test accuracy of one training against its wall time, a marker for each epoch.

    Parameters
    ----------
    wall_seconds, accuracy : list of float
        After every epoch.
    target, guess : float
        Drawn as lines; `guess` is what the student expected.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    style = {"color": BLUE, "marker": "o", "markersize": 4}
    axes.plot(wall_seconds, accuracy, label="measured, a marker for each epoch", **style)
    axes.axhline(target, color=RED, linewidth=1, label=f"target {target:g}")
    axes.axhline(guess, color=ORANGE, linestyle="--", label=f"your guess {guess:g}")
    axes.set(xlabel="wall time, tests included [s]", ylabel="test accuracy")
    axes.set(xlim=(0, None))
    axes.legend(loc="lower right")
    return figure


def prediction_grid(images, labels, predicted, classes, side=5):
    """Images with predicted and true class; right and wrong have marks and frames.

    Parameters
    ----------
    images : array, shape (n, height, width, 1)
    labels, predicted : array, shape (n,)
    classes : sequence of str
    side : int
        Rows and columns; so `side` squared images are shown.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(side, side, figsize=(8, 8.6))
    shown = zip(axes.flat, images, labels, predicted, strict=False)
    for axis, image, label, said in shown:
        right = label == said
        axis.imshow(image[..., 0], cmap="gray_r")
        axis.set(xticks=[], yticks=[])
        title = f"{'✓' if right else '✗'} {classes[said]}\nis {classes[label]}"
        # A solid thin frame or a dashed thick one: colour alone tells nothing.
        colour, width, line = (BLUE, 1, "-") if right else (RED, 4, (0, (2, 1)))
        axis.set_title(title, fontsize=9, color=colour)
        axis.spines[:].set(color=colour, linewidth=width, linestyle=line, capstyle="butt")
    return figure


def image_grid(images, labels, classes, columns=8):
    """A row of images with the names of their classes.

    Parameters
    ----------
    images : array, shape (n, height, width, 1)
    labels : array, shape (n,)
    classes : sequence of str
    """
    figure, axes = plt.subplots(1, columns, figsize=(9, 1.7))
    for axis, image, label in zip(axes, images, labels, strict=False):
        axis.imshow(image[..., 0], cmap="gray_r")
        axis.set_title(classes[label], fontsize=8)
        axis.axis("off")
    return figure


def text_lengths(lengths, words):
    """How many texts have how many words, and where they are cut.

    Parameters
    ----------
    lengths : sequence of int
        Words of each text.
    words : int
        Longer ones are cut here.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    axes.hist(lengths, bins=range(0, 1001, 20), color=BLUE, alpha=0.75)
    axes.axvline(words, color=RED, linestyle="--", label=f"cut at {words} words")
    axes.set(xlabel="length [words]", ylabel="newswires", xlim=(0, 1000))
    axes.legend()
    return figure


def learning_curves(by_loop, by_fit):
    """Loss and accuracy of two trainings, epoch by epoch, side by side.

    Parameters
    ----------
    by_loop, by_fit : dict of str to list of float
        `loss`, `accuracy`, `valid_loss`, `valid_accuracy`: a value per epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, both = plt.subplots(1, 2, figsize=(9, 3.8))
    for axes, what in zip(both, ("loss", "accuracy"), strict=True):
        for name, text, colour in (
            (what, "training", BLUE),
            (f"valid_{what}", "validation", ORANGE),
        ):
            epochs = range(1, len(by_loop[name]) + 1)
            axes.plot(
                epochs, by_loop[name], "-", color=colour, linewidth=2, label=f"{text}, loop"
            )
            # Hollow and larger, so that both can be seen where they agree.
            axes.plot(
                epochs, by_fit[name], "o" if text == "training" else "s", color=colour,
                markerfacecolor="none", markersize=8, label=f"{text}, fit",
            )  # fmt: skip
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="epoch", ylabel=what, ylim=(0, None))
    both[1].legend()
    return figure


def step_modes(milliseconds, speed_ups):
    """Time of a step in each mode, beside what the student's speed-ups make of eager's.

    Parameters
    ----------
    milliseconds, speed_ups : dict of str to float
        By mode; a speed-up of 2 is half of eager's time.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    bars = axes.bar(list(milliseconds), list(milliseconds.values()), 0.6, color=BLUE)
    axes.bar_label(bars, fmt="%.1f", padding=6)
    guesses = [milliseconds["eager"] / speed_ups[mode] for mode in milliseconds]
    axes.plot(range(len(guesses)), guesses, "D", color=ORANGE, label="your prediction")
    axes.set(ylabel="time of a step [ms]", ylim=(0, 1.15 * max(*guesses, *bars.datavalues)))
    axes.legend()
    return figure


def step_lengths(replicas, lengths, curves):
    """The first step's length by replicas, and the loss of every step on most of them.

    Parameters
    ----------
    replicas : list of int
    lengths : dict of str to list of float
        In multiples of one device's, for each number of replicas.
    curves : dict of str to list of float
        Mean loss of every step.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    colours = (BLUE, RED, GREEN, ORANGE)
    styles = list(zip(colours, MARKERS, LINES, strict=False))
    for (name, values), (colour, marker, line) in zip(lengths.items(), styles, strict=True):
        # Larger and hollow from curve to curve: some lie on one another.
        left.plot(
            replicas, values, color=colour, marker=marker, linestyle=line, label=name,
            markersize=6 + 2 * MARKERS.index(marker), markerfacecolor="none",
        )  # fmt: skip
    left.set_xticks(replicas)
    left.set(
        xlabel="simulated replicas", ylabel="first step / one device's", ylim=(0, None)
    )
    left.legend(fontsize=8)
    styles = (("o", GREY), ("-", BLUE), ("--", RED))
    for (name, losses), (line, colour) in zip(curves.items(), styles, strict=True):
        steps = range(1, len(losses) + 1)
        right.plot(steps, losses, line, color=colour, markerfacecolor="none", label=name)
    right.set(xlabel=f"step, on {replicas[-1]} simulated replicas", ylabel="mean loss")
    right.set_ylim(0, None)
    right.legend(fontsize=8)
    return figure


def epoch_curves(history):
    """Loss and accuracy of training and validation, epoch by epoch.

    Parameters
    ----------
    history : dict of str to list of float
        `loss`, `accuracy`, `valid_loss`, `valid_accuracy`: a value per epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, both = plt.subplots(1, 2, figsize=(9, 3.6))
    for axes, what in zip(both, ("loss", "accuracy"), strict=True):
        for name, label, style in (
            (what, "training", {"color": BLUE, "marker": "o", "linestyle": "-"}),
            (f"valid_{what}", "validation", {"color": ORANGE, "marker": "s", "ls": "--"}),
        ):
            axes.plot(range(1, len(history[name]) + 1), history[name], label=label, **style)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="epoch", ylabel=what, ylim=(0, None))
    both[1].legend()
    return figure


def points_and_lines(x, y, lines):
    """Points, and straight lines through them.

    Parameters
    ----------
    x, y : array, shape (n,)
    lines : dict of str to pair of float
        Slope and intercept by the line's name.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    axes.plot(x, y, "o", color=GREY, markersize=3, alpha=0.6, label="points")
    ends = np.array([np.min(x), np.max(x)])
    styles = zip((BLUE, ORANGE, GREEN), LINES, strict=False)
    for (name, (slope, intercept)), (colour, line) in zip(
        lines.items(), styles, strict=False
    ):
        axes.plot(
            ends, slope * ends + intercept, line, color=colour, linewidth=2, label=name
        )
    axes.set(xlabel="x", ylabel="y")
    axes.legend(fontsize=8)
    return figure


def loss_surface(axes, loss, box, side=60):
    """Draw a loss of two weights as contours, darker where it is lower.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    loss : callable
        From the weights (slope, intercept) to a number.
    box : pair of pair of float
        Lowest and highest slope, lowest and highest intercept.
    side : int
        The loss is computed at so many slopes and intercepts.
    """
    slopes, intercepts = (np.linspace(*ends, side) for ends in box)
    heights = [[loss(np.array([s, i])) for s in slopes] for i in intercepts]
    # As many of the points between any two levels, be the surface steep or flat; more
    # levels low down, where a path ends.
    levels = np.quantile(heights, np.linspace(0, 1, 12) ** 1.5)
    blues = mpl.colormaps["Blues_r"](np.linspace(0.25, 0.95, len(levels) - 1))
    axes.contourf(slopes, intercepts, heights, levels, colors=blues)
    lines = axes.contour(slopes, intercepts, heights, levels, colors=GREY, linewidths=0.6)
    axes.clabel(lines, levels[2:-1:3], fmt="%.3g", fontsize=7)
    axes.set(xlabel="slope", ylabel="intercept", xlim=box[0], ylim=box[1])
    axes.grid(visible=False)


def path_on(axes, path, label):
    """Draw a path of the weights: a square where it starts, a cross where it ends.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    path : array, shape (steps + 1, 2)
    label : str

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The path and its end, to be moved on.
    """
    style = {"color": RED, "markeredgecolor": "black"}
    (line,) = axes.plot(*path.T, ".-", color=RED, linewidth=1, markersize=4, label=label)
    axes.plot(*path[0], "s", markersize=7, label="start", **style)
    (end,) = axes.plot(*path[-1], "X", markersize=9, label="end", **style)
    return line, end


def descent_paths(loss, paths, box):
    """Paths of gradient descent on the contours of their loss, a panel for each.

    Parameters
    ----------
    loss, box
        As `loss_surface` takes them.
    paths : dict of str to array, shape (steps + 1, 2)
        By what is written above the panel.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = plt.subplots(
        1, len(paths), figsize=(9.6, 3.9), sharey=True, squeeze=False
    )
    for axes, (name, path) in zip(panels.flat, paths.items(), strict=True):
        loss_surface(axes, loss, box)
        path_on(axes, path, "path")
        axes.set_title(name, fontsize=9)
        axes.label_outer()
    panels[0, 0].legend(fontsize=7, loc="upper right")
    return figure


def loss_by_epoch(curves, lowest, guess):
    """Loss over all points after each epoch, a line for each batch size.

    Parameters
    ----------
    curves : dict of str to list of float
        Before the first epoch and after each, by a name for the line.
    lowest : float
        The lowest loss there is.
    guess : float
        The student's, of the first curve after one epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    styles = zip((BLUE, RED, GREEN), MARKERS, LINES, strict=False)
    for (name, losses), (colour, marker, line) in zip(curves.items(), styles, strict=False):
        axes.semilogy(losses, line, color=colour, marker=marker, markersize=5, label=name)
    axes.axhline(lowest, color=GREY, linestyle=":", label="lowest possible")
    axes.plot(1, guess, "D", color=ORANGE, markersize=9, label="your guess")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="epoch", ylabel="mean squared error, all points")
    axes.legend()
    return figure


def batch_losses(curves):
    """The loss that each step saw, a panel for each training.

    Parameters
    ----------
    curves : dict of str to array, shape (steps,)
        Mean loss of each step's batch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = plt.subplots(1, len(curves), figsize=(9.6, 3), sharey=True)
    for axes, (name, losses) in zip(panels, curves.items(), strict=True):
        axes.semilogy(losses, color=BLUE, linewidth=0.7, label=f"training {name}")
        axes.set_title(name, fontsize=10)
        axes.set(xlabel="step")
    # One example may lie on the line by chance: its loss would stretch the axis.
    panels[0].set(ylabel="loss of the batch", ylim=(1e-3, None))
    return figure
