"""The figures of a pooled class: on its page, light and dark, and in its notebook."""

import base64
import io
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from callbacks.live.style import THEMES
from helpers.figures import LINES, MARKERS
from kit.pool.middle import median

MOST_QUESTIONS, MOST_MACHINES, LONGEST_LABEL = 24, 8, 48
SPREAD = 0.06  # of dots of one place, as a share of the distance to the next
IN_FULL = StrMethodFormatter("{x:,.12g}")


def throughput(machines: list[dict], theme: str = "light") -> tuple[Figure, str]:
    """Measured rates and fitted laws, a colour and a marker for each machine."""
    figure, axes, colours = _new(theme)
    for machine, colour, marker, line in _styles(machines[:MOST_MACHINES], colours):
        for number, fit in enumerate(machine["fits"]):
            sizes, rates = np.array(fit["points"], float).T
            label = _label(machine["machine"]) if not number else None
            axes.plot(sizes, rates, marker, color=colour, ms=4.5, label=label)
            grid = np.geomspace(sizes.min(), sizes.max(), 60)
            seconds = fit["t0_seconds"] + grid / fit["peak_images_per_second"]
            axes.plot(grid, grid / seconds, line, color=colour, lw=1.2)
    axes.set(xscale="log", yscale="log", xlabel="batch size", ylabel="images per second")
    axes.xaxis.set_major_locator(LogLocator(2))
    axes.xaxis.set_major_formatter(IN_FULL)
    _in_full(axes.yaxis)
    _legend(axes, theme)
    people = sum(len(machine["fits"]) for machine in machines)
    kinds = "one kind" if len(machines) == 1 else f"{len(machines)} kinds"
    return figure, (
        f"Images per second over batch size: {people} sweep{'s' * (people != 1)} on "
        f"{kinds} of machine. Dots are measured, and lines are the law fitted to each "
        "sweep."
    )


def time_to_accuracy(target: dict, theme: str = "light") -> tuple[Figure, str]:
    """The median of each student by batch size, and from their fastest to slowest run."""
    figure, axes, colours = _new(theme)
    sizes = target["sizes"]
    machines = sorted({s["machine"] for size in sizes for s in size["students"]})
    shown = {m: style for m, *style in _styles(machines, colours)}
    labelled = set()
    for place, size in enumerate(sizes):
        reached = [s for s in size["students"] if s["median"] is not None]
        for number, one in enumerate(reached):
            colour, marker, _ = shown[one["machine"]]
            x = place + SPREAD * (number - (len(reached) - 1) / 2)
            new = one["machine"] not in labelled
            labelled.add(one["machine"])
            axes.plot([x, x], [one["fastest"], one["slowest"]], color=colour, lw=1)
            label = _label(one["machine"]) if new else None
            axes.plot(x, one["median"], marker, color=colour, ms=5, label=label)
    axes.set_xticks(range(len(sizes)), [f"{size['batch_size']:,}" for size in sizes])
    axes.set(yscale="log", xlabel="batch size", ylabel="seconds to the target")
    _in_full(axes.yaxis)
    if labelled:
        _legend(axes, theme)
    return figure, (
        f"Seconds to accuracy {target['target']:g} by batch size: a dot is the median of a "
        "student's runs, and its line goes from the fastest run to the slowest."
    )


def calibration(questions: list[dict], theme: str = "light") -> tuple[Figure, str]:
    """Predicted over measured, a dot for each student; the worst questions at the top."""
    worst = worst_questions(questions)
    figure, axes, colours = _new(theme, height=1.2 + 0.26 * len(worst))
    for place, question in enumerate(reversed(worst)):
        ratios = np.array(question["ratios"])
        shifts = SPREAD * 2 * (np.arange(len(ratios)) % 5 - 2)
        axes.plot(ratios, place + shifts, "o", color=colours["blue"], ms=4, alpha=0.7)
        axes.plot(median(ratios), place, "|", ms=13, mew=2.5, color=colours["orange"])
    axes.axvspan(0.5, 2, color=colours["green"], alpha=0.1, lw=0)
    axes.axvline(1, color=colours["grey"], lw=1)
    names = [f"{q['lab']} {q['name'].replace('_', ' ')}" for q in reversed(worst)]
    axes.set_yticks(range(len(worst)), map(_label, names), fontsize=8)
    axes.set(xscale="log", xlabel="predicted / measured", ylim=(-0.6, len(worst) - 0.4))
    _in_full(axes.xaxis)
    return figure, (
        f"Predicted over measured for the {len(worst)} question{'s' * (len(worst) != 1)} "
        "at which the class was furthest off. A dot is a student, a bar the class's "
        "median, and the band is a factor of two."
    )


def worst_questions(questions: list[dict]) -> list[dict]:
    """The questions about numbers, those first at which the class was furthest off."""
    asked = [question for question in questions if question["ratios"]]
    asked.sort(key=lambda q: -factor_off(q["ratios"]))
    return asked[:MOST_QUESTIONS]


def factor_off(ratios: list[float]) -> float:
    """By which factor a student in the middle of the class was off."""
    return median(max(ratio, 1 / ratio) for ratio in ratios)


def ring(one: dict, theme: str = "light") -> tuple[Figure, str]:
    """The bandwidth of each link of a class ring, predicted and measured."""
    links = one["links"]
    figure, axes, colours = _new(theme, height=1.4 + 0.32 * len(links))
    places = range(len(links) - 1, -1, -1)
    measured = [link["measured"]["megabits_per_second"] for link in links]
    axes.plot(measured, places, "o", color=colours["blue"], label="measured")
    guesses = [
        (link["predicted"]["megabits_per_second"], place)
        for link, place in zip(links, places, strict=True)
        if link["predicted"].get("megabits_per_second")
    ]
    if guesses:
        axes.plot(*zip(*guesses, strict=True), "D", mfc="none", color=colours["orange"],
                  label="predicted")  # fmt: skip
    names = [f"{link['sender']} to {link['receiver']}" for link in links]
    axes.set_yticks(list(places), map(_label, names), fontsize=8)
    axes.set(xscale="log", xlabel="megabits per second")
    _in_full(axes.xaxis)
    axes.margins(0.1, 0.15)
    _legend(axes, theme)
    return figure, "Bandwidth of the links of a class ring."


def png(figure: Figure, theme: str = "light") -> bytes:
    """A figure as PNG; the theme is that in which it was drawn."""
    file = io.BytesIO()
    with mpl.rc_context(THEMES[theme][0]):
        figure.savefig(file, format="png", dpi=110)
    return file.getvalue()


def data_url(figure: Figure, theme: str = "light") -> str:
    """A figure as the source of a picture on a page; see `png`."""
    return f"data:image/png;base64,{base64.b64encode(png(figure, theme)).decode()}"


def _new(theme, height=4.2) -> tuple[Figure, Any, dict[str, str]]:
    style, colours = THEMES[theme]
    with mpl.rc_context(style):
        figure = Figure(figsize=(7.5, height), layout="constrained")
        return figure, figure.add_subplot(), colours


def _legend(axes, theme):
    axes.legend(frameon=False, labelcolor=THEMES[theme][0]["text.color"])


def _in_full(axis: Axis) -> None:
    """Numbers such as 1, 2, 5 and 300 on a logarithmic axis, and no powers."""
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 3, 5)))
    axis.set_major_formatter(IN_FULL)
    axis.set_minor_formatter(NullFormatter())


def _styles(things, colours):
    return zip(things, cycle(colours.values()), cycle(MARKERS), cycle(LINES), strict=False)


def _label(text):
    """As Matplotlib takes it: a dollar sign would begin a formula."""
    short = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
    return short.replace("$", r"\$")
