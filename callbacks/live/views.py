"""How the training dashboard looks: live in JupyterLab, lines and a picture elsewhere."""

import html
import io
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from callbacks.live.figure_table import figure_table
from callbacks.live.live_canvas import live_canvas
from callbacks.live.picture import display_live, picture_html, pixels_png
from callbacks.live.place import current_shell, in_jupyterlab
from callbacks.live.progress import hide_bars, progress
from callbacks.live.style import CAPTION, COLOURS, STYLE

# Line and marker differ as well as colour.
TRAINING = {"color": COLOURS["blue"], "linestyle": "-", "marker": "o", "label": "training"}
VALIDATION = {
    "color": COLOURS["orange"], "linestyle": "--", "marker": "s", "label": "validation",
}  # fmt: skip


def new_view(epochs: int, caption: str, with_bar: bool) -> "LiveView | NotebookView":
    """The view that fits where this runs: live, in a notebook, or in a terminal."""
    if in_jupyterlab():
        return LiveView(epochs, caption)
    in_notebook = hasattr(current_shell(), "kernel")
    return (NotebookView if in_notebook else TerminalView)(epochs, caption, with_bar)


class Curves:
    """Three panels: loss, the first metric, and throughput, by epoch.

    The figure and its lines stay and only get new points. Drawing the axes takes
    nearly all of a redraw's time, so they change only when a value leaves them.
    """

    def __init__(self, epochs: int, caption: str) -> None:
        # Fixed margins: an adaptive layout is computed again at each redraw.
        with rc_context(STYLE):
            self.figure = Figure(figsize=(8.0, 3.0), dpi=100)
            self.axes = self.figure.subplots(1, 3)
        self.figure.subplots_adjust(0.06, 0.2, 0.99, 0.9, wspace=0.28)
        self.figure.text(0.01, 0.01, caption, **CAPTION)
        self.caption = caption
        self.lines, self.panels, self.kinds = {}, {}, []
        for axes in self.axes:
            axes.set_visible(False)  # until there is something to draw
            axes.grid(True)
            axes.yaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.set(xlabel="epoch", xlim=(0, max(1, epochs)))

    def update(self, series: Mapping[str, Sequence[tuple[float, float]]]) -> bool:
        """Give the lines new points.

        Parameters
        ----------
        series : dict of str to list of (float, float)
            By name (`loss`, `val_loss`, ..., `images_per_second`): epochs and values.

        Returns
        -------
        bool
            Whether the axes changed, not only the lines.
        """
        changed = False
        names = [name.removeprefix("val_") for name in series if "_per_second" not in name]
        for name in sorted(dict.fromkeys(names), key=lambda name: name != "loss"):
            if name not in self.panels and len(self.panels) < 2:
                self.panels[name] = self.axes[len(self.panels)]
        rates = {name: self.axes[2] for name in series if "_per_second" in name}
        for panel, axes in (self.panels | rates).items():
            axes.set_visible(True)
            title = panel.replace("_per_second", "/s").replace("_", " ")
            axes.set_title(title, loc="left")
            for name, style in ((panel, TRAINING), (f"val_{panel}", VALIDATION)):
                if series.get(name):
                    changed |= self._draw(axes, name, style, series[name])
        kinds = {
            line.get_label(): line
            for name, line in self.lines.items()
            if "_per_second" not in name
        }
        if "validation" in kinds and len(kinds) > len(self.kinds):
            # Above the panels: curves may fill every corner of them.
            self.kinds = sorted(kinds)
            self.figure.legends.clear()
            with rc_context(STYLE):
                handles = [kinds[kind] for kind in self.kinds]
                self.figure.legend(handles=handles, ncols=2, loc=(0.05, 0.92))
            self.figure.subplots_adjust(top=0.82)
        return changed

    def _draw(self, axes, name, style, points):
        epochs, values = zip(*points, strict=True)
        new = name not in self.lines
        if new:
            # Animated: a live canvas draws the lines separately, over the axes.
            [self.lines[name]] = axes.plot(
                [], [], markersize=4, animated=True, clip_on=False, **style
            )
            if "accuracy" in name:
                axes.set_ylim(0, 1)  # it never leaves them
        self.lines[name].set_data(epochs, values)
        bottom, top = axes.get_ylim() if axes.get_autoscaley_on() is False else (0, 0)
        # Axes cannot end at infinity, nan, or where their ends or ticks overflow.
        seen = [value for value in values if abs(value) < 1e300]
        low, high = min([bottom, *seen]), max([top, *seen])
        if (low, high) == (bottom, top):
            return new
        axes.set_ylim(1.25 * low, 1.25 * high)  # room to grow
        return True

    def close_ranks(self) -> None:
        """Spread the panels over the figure: a training need not report a loss."""
        drawn = [axes for axes in self.axes if axes.get_visible()]
        for place, axes in enumerate(drawn):
            axes.set_subplotspec(GridSpec(1, len(drawn), self.figure)[place])

    def png(self) -> bytes:
        """The figure as PNG bytes."""
        data = io.BytesIO()
        self.figure.savefig(data, format="png")
        return data.getvalue()


class LiveView:
    """A bar, a line of text and a canvas that move while a cell is busy."""

    def __init__(self, epochs: int, caption: str) -> None:
        import ipywidgets

        self.curves = Curves(epochs, caption)
        canvas = self.canvas = live_canvas(self.curves.figure)
        canvas.footer_visible = canvas.toolbar_visible = False
        # A busy cell does not get the browser's first message (ipympl issue 258).
        canvas._size = tuple(map(float, self.curves.figure.bbox.size))
        canvas.syncing_data_url = False
        # If the browser's request does arrive, another thread draws.
        self.lock = threading.RLock()
        self.warning, self.stdout = [], sys.stdout
        canvas.draw = self._draw_axes_and_lines
        wide = {"width": "auto", "max_width": "800px"}  # as the curves
        self.bar = ipywidgets.FloatProgress(max=1.0, layout=wide)
        self.text = ipywidgets.HTML("Starting ...")
        self.box = ipywidgets.VBox([self.bar, self.text, canvas])
        self.box.add_class("labs-dashboard")
        hide_bars(True)
        self.keep = display_live(self.box)
        self.keep("A training was under way: run this cell again.")

    def make_room(self) -> None:
        pass

    def step(self, done: int, total: int | None) -> None:
        pass

    def say(self, part: float, text: str) -> None:
        self.bar.value = part
        self.text.value = "<br>".join(map(html.escape, [text, *self.warning]))

    def warn(self, line: str) -> None:
        """Keep the line under the bar, and print it in the cell."""
        self.warning, self.bar.bar_style = [line], "danger"
        self.text.value += f"<br>{html.escape(line)}"
        print(line, file=self.stdout)

    def draw(self, series: dict) -> None:
        with self.lock:
            if self.curves.update(series):
                self._draw_axes_and_lines()
            else:
                self._draw_lines()

    def _draw_axes_and_lines(self):
        with self.lock:
            FigureCanvasAgg.draw(self.canvas)
            self.background = self.canvas.copy_from_bbox(self.curves.figure.bbox)
            self._draw_lines()

    def _draw_lines(self):
        self.canvas.restore_region(self.background)
        for line in self.curves.lines.values():
            line.axes.draw_artist(line)
        self.canvas.blit()  # to the browser, without asking it first

    def end(self, part: float, summary: str, series: dict, is_printed: bool) -> None:
        hide_bars(False)
        if is_printed:  # below the curves, as the warning is
            self.bar.value, self.text.layout.display = part, "none"
        else:
            self.say(part, summary)
        with self.lock:
            self.curves.update(series)
            self.curves.close_ranks()
            self._draw_axes_and_lines()
        if not self.warning:
            self.bar.bar_style = "success" if part == 1 else "warning"
        from IPython.display import HTML, display

        self.keep(picture_html(pixels_png(self.canvas), summary, self.curves.caption))
        display(HTML(figure_table(self.curves.figure)))


class NotebookView:
    """A bar of text, a line for each epoch, and a picture at the end."""

    def __init__(self, epochs: int, caption: str, with_bar: bool) -> None:
        self.curves = Curves(epochs, caption)
        self.bar = progress(unit="step", disable=not with_bar)
        # The cell's, also where a loop sends what it prints to a file (lab 07).
        self.stdout = sys.stdout

    def step(self, done: int, total: int | None) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def make_room(self) -> None:
        """Clear the bar: other callbacks may print now."""
        self.bar.clear()

    def say(self, part: float, text: str) -> None:
        pass

    def warn(self, line: str) -> None:
        self.make_room()
        print(line, file=self.stdout)

    def draw(self, series: dict) -> None:
        pass

    def end(self, part: float, summary: str, series: dict, is_printed: bool) -> None:
        self.bar.close()
        self.curves.update(series)
        self.curves.close_ranks()
        self.show(summary, series)

    def show(self, summary: str, series: dict) -> None:
        table = figure_table(self.curves.figure)
        from IPython.display import HTML, display

        display(HTML(picture_html(self.curves.png(), summary, self.curves.caption) + table))


class TerminalView(NotebookView):
    """The same, with the picture in a file, which remains after an interrupt."""

    FILE = Path("training.png")

    def draw(self, series: dict) -> None:
        self.curves.update(series)
        self.FILE.write_bytes(self.curves.png())

    def show(self, summary: str, series: dict) -> None:
        self.FILE.write_bytes(self.curves.png())
        print(f"Curves: {self.FILE.absolute()}", file=sys.stdout)
