"""Live figures in a narrow window: drawn again at the width that is there."""

import textwrap
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import radians, sin
from typing import TYPE_CHECKING

from matplotlib.category import StrCategoryLocator
from matplotlib.ticker import FixedLocator, Formatter
from matplotlib.transforms import ScaledTranslation

from callbacks.live.style import CAPTION

if TYPE_CHECKING:
    import ipywidgets
    from ipympl.backend_nbagg import Canvas
    from matplotlib.figure import Figure
    from matplotlib.text import Text

LINE_INCHES = 1.3 * CAPTION["fontsize"] / 72
NARROWEST = 240  # pixels of the page; of less nothing can be read
MARGIN = 8  # pixels; accessible.js leaves them beside a figure
PANEL = 280  # pixels of the page; narrower panels stand below each other
LOWEST = 0.75  # of a panel's usual height
PICTURE = 80  # the same, for panels without axes: small images
LETTER_INCHES = 0.6 * CAPTION["fontsize"] / 72
LEGEND = 0.6  # of the axes: a larger legend would hide what they show
SMALLEST_AXES = 0.55  # of the width; longer names beside them are broken into lines
LABEL_LETTERS = 14  # of a line of such a name
STEEP = 45  # degrees
NAMES = FixedLocator, StrCategoryLocator
GAP = 3  # pixels between two labels


def leave_room(figure: "Figure", lines: int) -> None:
    """Let a figure's axes end above its caption of so many lines."""
    below = 0.035 + LINE_INCHES / figure.get_figheight() * (lines - 1)
    figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))


def width_field(canvas: "Canvas", caption: "Text") -> "ipywidgets.IntText":
    """A field that nobody sees, in which callbacks/live/accessible.js writes the width.

    Parameters
    ----------
    canvas : ipympl.backend_nbagg.Canvas
        Is drawn at that width, but never wider than it is now, and not narrower than
        `NARROWEST`. It gets higher where its panels stand below each other, or a legend
        or the caption needs more lines.
    caption : matplotlib.text.Text
        Gets more lines where there is less room.
    """
    import ipywidgets

    figure, text = canvas.figure, caption.get_text()
    # In pixels of the page, which may have several on the screen each.
    usual, height = (one / canvas.device_pixel_ratio for one in figure.bbox.size)
    panels = _panels(figure)
    undo: list[Callable] = []

    def fit(change):
        while undo:
            undo.pop()()
        is_narrow = change["new"] + MARGIN < usual
        width = max(NARROWEST, change["new"]) if is_narrow else usual
        letters = int(width * canvas.device_pixel_ratio / figure.dpi / LETTER_INCHES)
        lines = text.splitlines()
        drawn = height
        if is_narrow:
            lines = [part for line in lines for part in textwrap.wrap(line, letters)]
            drawn *= _stack(panels, width, usual, undo)
            if not panels and any(axes.get_box_aspect() for axes in figure.axes):
                drawn -= usual - width  # a square is as high as it is wide
        caption.set_text("\n".join(lines))

        def resize(more_pixels=0.0):
            """The size in pixels of the page; more are pixels of the screen."""
            size = width, drawn + more_pixels / canvas.device_pixel_ratio
            inches = [one * canvas.device_pixel_ratio / figure.dpi for one in size]
            figure.set_size_inches(*inches, forward=False)
            leave_room(figure, len(lines))
            return {"width": size[0], "height": size[1]}

        size = resize()
        if is_narrow:
            more_lines = len(lines) - len(text.splitlines())
            more = more_lines * LINE_INCHES * figure.dpi + _narrow(figure, undo, resize)
            size = resize(more)
        canvas.handle_resize(size)

    field = ipywidgets.IntText(layout={"display": "none"})
    field.add_class("labs-width")
    field.observe(fit, "value")
    return field


def _panels(figure):
    """The panels that stand in one row, with their places; no grid, and no colour bar."""
    specs = {axes: axes.get_subplotspec() for axes in figure.axes}
    grids = {spec and spec.get_gridspec() for spec in specs.values()}
    grid = grids.pop() if len(grids) == 1 else None
    return specs if grid and grid.nrows == 1 < grid.ncols == len(specs) else {}


def _stack(panels, width, usual, undo):
    """Put panels that are too narrow below each other; returns how much higher it gets."""
    if not panels:
        return 1
    grid = next(iter(panels.values())).get_gridspec()
    least = PANEL if any(axes.axison for axes in panels) else PICTURE
    ratios = grid.get_width_ratios()
    if width * min(ratios) / sum(ratios) >= least:
        return 1
    count = len(panels)
    fits = [n for n in range(2, count) if count % n == 0 and width >= n * least]
    columns = max(fits, default=1)
    below = grid.figure.add_gridspec(count // columns, columns)
    for axes, spec in panels.items():
        row, column = divmod(spec.colspan.start, columns)
        labelled = axes.yaxis.get_tick_params().get("labelleft", True)
        undo.append(partial(axes.set_subplotspec, spec))
        undo.append(partial(axes.tick_params, labelleft=labelled))
        axes.set_subplotspec(below[row, column])
        # A shared axis has them at the left only.
        axes.tick_params(labelleft=labelled or column == 0)
    return count / columns * min(1, max(LOWEST, width / columns / (usual / count)))


def _narrow(figure, undo, resize):
    """Let legends, titles and labels fit; returns how many pixels higher that makes it."""
    for axes in figure.axes:
        for text in (axes._left_title, axes.title, axes.xaxis.label, axes.yaxis.label):
            undo.append(partial(text.set_wrap, text.get_wrap()))
            text.set_wrap(True)
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    for legend in legends:
        legend.set_in_layout(False)  # else axes leave it room, and have none
    figure.draw_without_rendering()
    for axes in figure.axes:
        _break_names(axes, undo)
    figure.draw_without_rendering()
    for legend in legends:
        legend.set_in_layout(True)
    more = sum([_refit(legend, undo) for legend in legends])
    resize(more)
    figure.draw_without_rendering()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _part_labels(axis, undo)
    return more


def _refit(legend, undo):
    """A legend too large for its place goes above, in as many columns as there is room.

    Returns the pixels of the height that it needs more than before.
    """
    figure, axes = legend.get_figure(), legend.axes
    box, room = legend.get_window_extent(), (axes or figure).bbox
    is_inside = axes and room.contains(box.x0, box.y0) and room.contains(box.x1, box.y1)
    if is_inside and box.width < LEGEND * room.width and box.height < LEGEND * room.height:
        return 0
    before = 0 if is_inside else box.height
    right = figure.bbox.x1 - GAP
    if axes and any(other.bbox.x0 >= axes.bbox.x1 for other in figure.axes):
        right = axes.bbox.x1
    title = (
        axes._left_title.get_window_extent() if axes and axes.get_title("left") else None
    )
    fits = box.x0 >= 0 and box.x1 <= right and (not axes or box.y0 >= room.y1)
    if fits and not is_inside and not (title and box.overlaps(title)):
        return 0
    handles, texts = legend.legend_handles, legend.get_texts()
    names = [text.get_text() for text in texts]
    style = {
        "fontsize": texts[0].get_fontsize(),
        "title": legend.get_title().get_text() or None,
    }
    if axes:
        above = title.y1 - axes.bbox.y1 if title else 0.0
        shift = ScaledTranslation(0, above / figure.dpi, figure.dpi_scale_trans)
        place = {
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "bbox_transform": axes.transAxes + shift,
        }
        undo.append(partial(setattr, axes, "legend_", legend))
        make, left = axes.legend, axes.bbox.x0
    else:
        place = {"loc": "outside upper left"}
        undo.append(partial(setattr, figure, "legends", list(figure.legends)))
        figure.legends.remove(legend)
        make, left = figure.legend, 0
    columns, letters = len(names), max(map(len, names))
    while True:
        broken = ["\n".join(textwrap.wrap(name, letters)) for name in names]
        made = make(handles, broken, ncols=columns, **place, **style)
        box = made.get_window_extent()
        if box.width <= right - left or (columns == 1 and letters < LABEL_LETTERS):
            return max(0.0, box.height - before)
        if not axes:
            figure.legends.remove(made)
        columns, letters = (columns - 1, letters) if columns > 1 else (1, letters - 2)


def _break_names(axes, undo):
    """Break long names at the left of the axes into lines, if the axes are too narrow."""
    axis, figure = axes.yaxis, axes.figure
    columns = axes.get_subplotspec().get_gridspec().ncols if axes.get_subplotspec() else 1
    if axes.bbox.width * columns >= SMALLEST_AXES * figure.bbox.width:
        return
    if isinstance(axis.get_major_locator(), NAMES):
        _change_labels(axis, undo, letters=LABEL_LETTERS)


def _part_labels(axis, undo):
    """Turn labels that overlap, where they are names; then leave some of them out."""
    if not _overlap(axis):
        return
    has_names = isinstance(axis.get_major_locator(), NAMES)
    if axis.axis_name == "x" and has_names and _angle(axis) % 90 == 0:
        angles = [(label, label.get_rotation()) for label in axis.get_ticklabels()]
        usual = axis.get_tick_params().get("labelrotation", 0)
        undo.append(lambda: [label.set_rotation(angle) for label, angle in angles])
        undo.append(partial(axis.set_tick_params, labelrotation=usual))
        axis.set_tick_params(labelrotation=STEEP)
        axis.get_figure().draw_without_rendering()
    step = 1
    while _overlap(axis) and step < 16:
        step += 1
        if step > 2:
            undo.pop()()
        _change_labels(axis, undo, step=step)
        axis.get_figure().draw_without_rendering()


def _angle(axis):
    labels = list(_shown(axis))
    return labels[0].get_rotation() if labels else 0


def _shown(axis):
    """The labels of an axis that can be read, in their order."""
    low, high = sorted(axis.get_view_interval())
    for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=False):
        if low <= place <= high and label.get_visible() and label.get_text():
            yield label


def _overlap(axis):
    """Whether two labels side by side have less than a gap between them."""
    labels = list(_shown(axis))
    boxes = [label.get_window_extent() for label in labels]
    angle = abs(sin(radians(_angle(axis))))
    side = "x" if axis.axis_name == "x" else "y"
    for a, b in pairwise(sorted(boxes, key=lambda box: getattr(box, f"{side}0"))):
        if side == "x" and 0 < angle < 1:  # slanting lines of text, side by side
            height = labels[0].get_fontsize() * axis.get_figure().dpi / 72
            if (b.x0 + b.x1 - a.x0 - a.x1) / 2 * angle < height + GAP:
                return True
        elif getattr(b, f"{side}0") < getattr(a, f"{side}1") + (GAP if side == "x" else 0):
            return True
    return False


def _change_labels(axis, undo, **changes):
    usual = axis.get_major_formatter()

    def put_back():
        own = usual.axis
        axis.set_major_formatter(usual)
        usual.set_axis(own)

    undo.append(put_back)
    axis.set_major_formatter(_Labels(usual, **changes))


class _Labels(Formatter):
    """The labels of another formatter, but fewer, or with shorter lines."""

    def __init__(self, usual, step=1, letters=None):
        self._usual, self._step, self._letters = usual, step, letters

    def __call__(self, x, pos=None):
        return self._usual(x, pos)

    def format_ticks(self, values):
        labels = self._usual.format_ticks(values)
        assert self.axis
        low, high = sorted(self.axis.get_view_interval())
        pairs = zip(values, labels, strict=True)
        shown = [i for i, (x, label) in enumerate(pairs) if label and low <= x <= high]
        for count, i in enumerate(shown):
            if count % self._step:
                labels[i] = ""
            elif self._letters:
                labels[i] = "\n".join(textwrap.wrap(labels[i], self._letters))
        return labels

    def format_data_short(self, value):
        return self._usual.format_data_short(value)

    def get_offset(self):
        return self._usual.get_offset()
