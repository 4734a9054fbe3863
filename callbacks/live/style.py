"""How figures look: one palette and one Matplotlib style, for dashboards and labs.

The palette stays distinguishable for readers with a colour vision deficiency, and every
colour has a contrast of at least 4.5 on its paper. A figure never relies on colour alone.
The dark theme is for figures that are drawn for a page; a notebook is dark by CSS.
"""

from typing import Any

COLOURS = {
    "blue": "#0b5cad",
    "orange": "#b34a09",
    "green": "#0a7a5a",
    "violet": "#7a3e9d",
    "grey": "#4a5a6a",
}
DARK_COLOURS = {
    "blue": "#6db3f2",
    "orange": "#f2a56d",
    "green": "#5fcfa8",
    "violet": "#c79be0",
    "grey": "#a9b7c5",
}
INK, RULE, GRID = "#16202c", "#b8c4cf", "#e6ebf0"
DARK_INK, DARK_RULE, DARK_GRID, DARK_PAPER = "#e8eef4", "#4a5a6a", "#2c3946", "#18222c"
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
    "axes.labelsize": 10,
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
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
# What differs on a dark page.
DARK_STYLE: dict[Any, Any] = STYLE | {
    "text.color": DARK_INK,
    "axes.labelcolor": DARK_COLOURS["grey"],
    "axes.edgecolor": DARK_RULE,
    "grid.color": DARK_GRID,
    "xtick.color": DARK_COLOURS["grey"],
    "ytick.color": DARK_COLOURS["grey"],
    "figure.facecolor": DARK_PAPER,
    "axes.facecolor": DARK_PAPER,
}
THEMES: dict[str, tuple[dict[Any, Any], dict[str, str]]] = {
    "light": (STYLE, COLOURS),
    "dark": (DARK_STYLE, DARK_COLOURS),
}
CAPTION: dict[str, Any] = {"fontsize": 7.5, "color": COLOURS["grey"]}
