"""The figure over all runs of a sweep."""

import base64
import io
from itertools import cycle
from numbers import Number
from statistics import mean
from typing import NamedTuple

from helpers.machine.quiet_tensorflow import silence_tensorflow

MOST_PANELS = 6
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
    repeats = ", a dot each, and lines through their means" if "seed" in swept else ""
    names_text = ", ".join(name.replace("_", " ") for name in names)
    text = f"{len(runs)} runs over {x.replace('_', ' ')}{repeats}: {names_text}."
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
            for (label, group), marker in zip(
                _groups(runs, others).items(), cycle(MARKERS), strict=False
            ):
                points = sorted(
                    (run["parameters"][x], run["measured"][name])
                    for run in group
                    if name in run["measured"]
                )
                at = sorted({place for place, _ in points})
                means = [mean(v for place, v in points if place == one) for one in at]
                [line] = axes.plot(at, means, label=label)
                axes.plot(*zip(*points, strict=True), marker, color=line.get_color(), ms=4)
            axes.set(xlabel=x.replace("_", " "), ylabel=name.replace("_", " "))
            smallest, largest = at[0], at[-1]
            if smallest > 0 and largest / smallest >= 8:
                axes.set_xscale("log", base=2)
        if others:
            axes.legend(title=", ".join(others))
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=110)
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"


def _is_number(value):
    return isinstance(value, Number) and not isinstance(value, bool)


def _groups(runs, others):
    groups = {}
    for run in runs:
        label = ", ".join(str(run["parameters"][name]) for name in others)
        groups.setdefault(label, []).append(run)
    return groups
