"""How figures look: one palette and one Matplotlib style, for dashboards and labs.

The palette stays distinguishable for readers with a colour vision deficiency, and every
colour has a contrast of at least 4.5 on white. A figure never relies on colour alone.
"""

from typing import Any

COLOURS = {
    "blue": "#0b5cad",
    "orange": "#b34a09",
    "green": "#0a7a5a",
    "violet": "#7a3e9d",
    "grey": "#4a5a6a",
}
INK, RULE, GRID = "#16202c", "#b8c4cf", "#e6ebf0"
# For `matplotlib.rcParams`.
STYLE: dict[Any, Any] = {
    "figure.figsize": (7.5, 4.2),
    "font.size": 10.5,
    "text.color": INK,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.labelcolor": COLOURS["grey"],
    "axes.edgecolor": RULE,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": COLOURS["grey"],
    "ytick.color": COLOURS["grey"],
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
}
CAPTION: dict[str, Any] = {"fontsize": 7.5, "color": COLOURS["grey"]}
