"""The board's figure: accuracy against score, each with its interval."""

import base64
import io
from typing import Any, NamedTuple

from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.speed_record.rule import TARGETS

MARKERS = "os^Dv"
MOST_LABELS = 40  # beyond them numbers would hide each other


ALTERNATIVE = (
    "Accuracy against score of {} entries, with 95% intervals of both means; a dashed line "
    "is a target. Further left is faster."
)


class BoardFigure(NamedTuple):
    """The picture for light and for dark pages, as PNG, and what it shows."""

    light: bytes
    dark: bytes
    text: str

    @property
    def urls(self) -> tuple[str, str]:
        """Both pictures as data URLs."""
        light, dark = (
            f"data:image/png;base64,{base64.b64encode(png).decode()}"
            for png in (self.light, self.dark)
        )
        return light, dark


def draw(entries: list[dict]) -> BoardFigure | None:
    """A point for each entry that reached its target.

    Parameters
    ----------
    entries : list of dict
        As `kit.leaderboard.store.Store.entries` gives them.

    Returns
    -------
    BoardFigure or None
        None where there is nothing to draw.
    """
    if not entries:
        return None
    text = ALTERNATIVE.format(len(entries))
    return BoardFigure(_drawn("light", entries), _drawn("dark", entries), text)


def _drawn(theme, entries):
    """The picture in a theme, as PNG."""
    # Not at the top: these would need seconds of every command.
    silence_tensorflow()  # the dashboards, whose style this is, import it
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from callbacks.live.style import THEMES

    style: Any = THEMES[theme][0]  # Matplotlib's own type lists every name
    colours = THEMES[theme][1]
    with mpl.rc_context(style):
        figure = Figure(figsize=(8.4, 4.2))
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        looks = zip(TARGETS, MARKERS, colours.values(), strict=False)
        for target, marker, colour in looks:
            own = [one for one in entries if one["settings"]["target"] == target]
            if own:
                _points(axes, own, target, marker, colour)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:.3g}")
        axes.xaxis.set_minor_formatter("{x:.2g}")
        axes.set(xlabel="score: seconds in calibration loads", ylabel="accuracy")
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=130)
    return png.getvalue()


def _points(axes, entries, target, marker, colour):
    x, y = [], []
    below, above = ([], []), ([], [])
    for entry in entries:
        for values, key, place in ((x, "score", 0), (y, "accuracy_interval", 1)):
            low, middle, high = entry["result"][key]
            values.append(middle)
            below[place].append(middle - low)
            above[place].append(high - middle)
    axes.errorbar(
        x, y, xerr=[below[0], above[0]], yerr=[below[1], above[1]],
        fmt=marker, color=colour, capsize=3,
    )  # fmt: skip
    axes.axhline(TARGETS[target], linestyle="--", linewidth=1, color=colour)
    axes.annotate(
        target, (0.005, TARGETS[target]), xytext=(0, 3), color=colour,
        xycoords=("axes fraction", "data"), textcoords="offset points",
    )  # fmt: skip
    for entry, *place in list(zip(entries, x, y, strict=True))[:MOST_LABELS]:
        axes.annotate(
            str(entry["number"]), place, xytext=(6, 6), textcoords="offset points"
        )
