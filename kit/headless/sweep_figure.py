"""The figure over all runs of a sweep."""

import base64
import io
from numbers import Number
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from helpers.machine.quiet_tensorflow import silence_tensorflow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 6
MOST_TICKS = 10
WIDEST_LABELS = 30  # characters of all ticks side by side
IN_FULL = "{x:,.12g}"  # 97,600
SEPARATED, WITH_PREFIX = 1e3, 1e7  # from here with separators, and as 400 G
MARKERS = "os^Dvx"


class SweepFigure(NamedTuple):
    """A figure for a page.

    Attributes
    ----------
    light, dark : str
        The pictures for light and for dark pages, as data URLs.
    text : str
        A sentence that says what it shows.
    """

    light: str
    dark: str
    text: str


def draw(runs: list[dict], swept: list[str], names: list[str]) -> SweepFigure | None:
    """A panel for each measurement, over the first swept parameter that is a number.

    Parameters
    ----------
    runs : list of dict
        `parameters`, the swept ones, and `measured`, both by name.
    swept : list of str
        Runs that differ only in `seed` are drawn as repeats: dots, and a line through
        their means.
    names : list of str
        Of the measurements; the first `MOST_PANELS` get a panel.

    Returns
    -------
    SweepFigure or None
        None where there is nothing to draw.
    """
    across = [
        name for name in swept if all(_is_number(run["parameters"][name]) for run in runs)
    ]
    across.sort(key=lambda name: name == "seed")
    names = [n for n in names if any(n in run["measured"] for run in runs)][:MOST_PANELS]
    if not across or not names:
        return None
    x = across[0]
    others = [name for name in swept if name not in (x, "seed")]
    light, dark = (_drawn(theme, runs, x, others, names) for theme in ("light", "dark"))
    repeats = ""
    if x == "seed":
        repeats = ", a dot each, and a line at their mean"
    elif "seed" in swept:
        repeats = ", a dot each, and lines through their means"
    names_text = ", ".join(name.replace("_", " ") for name in names)
    counted = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    text = f"{counted} over {x.replace('_', ' ')}{repeats}: {names_text}."
    return SweepFigure(light, dark, text)


def _drawn(theme, runs, x, others, names):
    """The picture in a theme, as a data URL."""
    # Not at the top: these would need seconds of every command.
    silence_tensorflow()  # the dashboards, whose style this is, import it
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    from callbacks.live.style import THEMES

    style, colours = THEMES[theme]
    style = style | {"axes.prop_cycle": cycler(color=list(colours.values()))}
    with mpl.rc_context(style):  # ty: ignore[invalid-argument-type]
        figure = Figure(figsize=(4.2 * min(3, len(names)), 3.2 * -(-len(names) // 3)))
        figure.set_layout_engine("constrained")
        rows = -(-len(names) // 3)
        for place, name in enumerate(names, start=1):
            axes = figure.add_subplot(rows, min(3, len(names)), place)
            draw_panel(axes, runs, x, others, name)
        if others:
            axes.legend(title=", ".join(others))
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=110)
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"


def draw_panel(
    axes: "Axes", runs: list[dict], x: str, others: list[str], name: str
) -> None:
    """Draw a measurement over a parameter, a line for each value of the others.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    runs : list of dict
        As `draw` takes them.
    x : str
        The parameter across.
    others : list of str
        The other swept parameters, but `seed`.
    name : str
        The measurement, which at least one run has. A rate or a time begins at 0, so that
        noise does not look like a slope.
    """
    from matplotlib.ticker import EngFormatter  # late, as in `_drawn`

    for order, (label, group) in enumerate(_groups(runs, others).items()):
        marker = MARKERS[order % len(MARKERS)]
        points = _points(group, x, name)
        at = sorted({place for place, _ in points})
        means = [mean(v for place, v in points if place == one) for one in at]
        if x == "seed":  # no order: a level, and what chance does around it
            line = axes.axhline(mean(v for _, v in points), label=label, linestyle="--")
            line.set_color(f"C{order}")
        else:
            [line] = axes.plot(at, means, label=label)
        across, up = [place for place, _ in points], [value for _, value in points]
        axes.plot(across, up, marker, color=line.get_color(), ms=4)
    axes.set(xlabel=x.replace("_", " "), ylabel=name.replace("_", " "))
    places, values = zip(*_points(runs, x, name), strict=True)
    _set_across(axes, sorted(set(places)), x == "seed")
    largest = max(values)
    if name.endswith(("_per_second", "seconds")) and largest > 0:
        axes.set_ylim(0, 1.1 * largest)
    if largest >= WITH_PREFIX:
        axes.yaxis.set_major_formatter(EngFormatter())
    elif largest >= SEPARATED:
        axes.yaxis.set_major_formatter(IN_FULL)


def _points(runs, x, name):
    return sorted(
        (run["parameters"][x], run["measured"][name])
        for run in runs
        if name in run["measured"]
    )


def _set_across(axes, places, is_seed):
    """A tick at each swept value, if there is room for all."""
    if not is_seed and places[0] > 0 and places[-1] / places[0] >= 8:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(IN_FULL)
    if len(places) <= MOST_TICKS:
        axes.set_xticks(places)
        axes.set_xticks([], minor=True)
        if sum(len(f"{place:,}") for place in places) > WIDEST_LABELS:
            axes.tick_params(axis="x", labelrotation=45)


def _is_number(value):
    return isinstance(value, Number) and not isinstance(value, bool)


def _groups(runs, others):
    groups = {}
    for run in runs:
        label = ", ".join(str(run["parameters"][name]) for name in others)
        groups.setdefault(label, []).append(run)
    return groups
