"""The board's figure: accuracy against score, each with its interval."""

import base64
import io

from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.speed_record.rule import TARGETS

MARKERS = "os^Dv"
MOST_LABELS = 40  # beyond them numbers would hide each other


def draw(entries: list[dict]) -> tuple[str, str] | None:
    """A point for each entry that reached its target.

    Parameters
    ----------
    entries : list of dict
        As `kit.leaderboard.store.Store.entries` gives them.

    Returns
    -------
    tuple of str or None
        The picture as a data URL, and a sentence that says what it shows; None where
        there is nothing to draw.
    """
    # Not at the top: Matplotlib would need a second of every command.
    import matplotlib as mpl
    from matplotlib.figure import Figure

    if not entries:
        return None
    silence_tensorflow()  # which callbacks import
    from callbacks.live.style import COLOURS, STYLE

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 4.2))
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        looks = zip(TARGETS, MARKERS, COLOURS.values(), strict=False)
        for target, marker, colour in looks:
            own = [one for one in entries if one["settings"]["target"] == target]
            if own:
                _points(axes, own, target, marker, colour)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:.3g}")
        axes.xaxis.set_minor_formatter("{x:.2g}")
        axes.set(xlabel="score: seconds in calibration loads", ylabel="accuracy")
        axes.legend(title="target", loc="best")
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=130)
    text = (
        f"Accuracy against score of {len(entries)} entries, with 95% intervals of both "
        "means; a dashed line is a target. Further left is faster."
    )
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}", text


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
        fmt=marker, color=colour, capsize=3, label=f"{target}, {TARGETS[target]}",
    )  # fmt: skip
    axes.axhline(TARGETS[target], linestyle="--", linewidth=1, color=colour)
    for entry, *place in list(zip(entries, x, y, strict=True))[:MOST_LABELS]:
        axes.annotate(
            str(entry["number"]), place, xytext=(6, 6), textcoords="offset points"
        )
