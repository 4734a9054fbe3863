"""How the training dashboard looks: live in JupyterLab, lines and a picture elsewhere."""

import base64
import html
import importlib.util
import io
import os
import sys
import threading
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from callbacks.progress import progress

# Okabe & Ito's colours, safe for colour-blind readers; line and marker differ as well.
TRAINING = {"color": "#0072B2", "linestyle": "-", "marker": "o", "label": "training"}
VALIDATION = {"color": "#D55E00", "linestyle": "--", "marker": "s", "label": "validation"}


def in_jupyterlab():
    """Whether widgets can be drawn: in JupyterLab, with ipywidgets and ipympl."""
    if "JPY_SESSION_NAME" not in os.environ:  # absent under papermill and nbval
        return False
    return all(importlib.util.find_spec(name) for name in ("ipympl", "ipywidgets"))


def new_view(epochs):
    """The view that fits where this runs: live, in a notebook, or in a terminal."""
    if in_jupyterlab():
        return LiveView(epochs)
    in_notebook = hasattr(current_shell(), "kernel")
    return NotebookView(epochs) if in_notebook else TerminalView(epochs)


class Curves:
    """Three panels: loss, the first metric, and throughput, by epoch.

    The figure and its lines are kept and only given new points. Most of a redraw's
    time goes into the numbers at the ticks, so there are few.
    """

    def __init__(self, epochs):
        # Fixed margins: a layout that adapts is computed anew at each redraw.
        self.figure = Figure(figsize=(7.6, 2.6), dpi=100)
        self.axes = self.figure.subplots(1, 3)
        self.figure.subplots_adjust(0.06, 0.18, 0.99, 0.89, wspace=0.28)
        self.lines = {}
        for axes in self.axes:
            axes.grid(True)
            axes.yaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.set(xlabel="epoch", xlim=(0, max(1, epochs)))

    def update(self, series):
        """Give the lines new points.

        Parameters
        ----------
        series : dict of str to list of (float, float)
            By name (`loss`, `val_loss`, ..., `images_per_second`): epochs and values.
        """
        names = [name.removeprefix("val_") for name in series if "_per_second" not in name]
        rate = next(name for name in series if "_per_second" in name)
        metrics = sorted(set(names), key=lambda name: (name != "loss", names.index(name)))
        panels = [*metrics[:2], rate]
        for axes in self.axes[len(panels) :]:
            axes.set_visible(False)
        for axes, panel in zip(self.axes, panels, strict=False):
            axes.set_title(panel.replace("_per_second", "/s").replace("_", " "))
            for name, style in ((panel, TRAINING), (f"val_{panel}", VALIDATION)):
                if series.get(name):
                    self._draw(axes, name, style, series[name])
            axes.relim()
            axes.autoscale_view(scalex=False)
            if panel == rate and series[rate]:
                axes.set_ylim(0, 1.1 * max(value for _, value in series[rate]))

    def _draw(self, axes, name, style, points):
        if name not in self.lines:
            [self.lines[name]] = axes.plot([], [], markersize=4, **style)
            if name == "val_loss":
                axes.legend(loc="best", fontsize=8)
        self.lines[name].set_data(*zip(*points, strict=True))

    def png(self):
        """The figure as PNG bytes."""
        data = io.BytesIO()
        self.figure.savefig(data, format="png", dpi=110)
        return data.getvalue()


class LiveView:
    """A bar, a line of text and a canvas that move while a cell is busy."""

    def __init__(self, epochs):
        import ipywidgets
        from ipympl.backend_nbagg import Canvas, FigureManager
        from IPython.display import display

        self.curves = Curves(epochs)
        canvas = self.canvas = Canvas(self.curves.figure)
        FigureManager(canvas, 0)
        canvas.header_visible = canvas.footer_visible = canvas.toolbar_visible = False
        # The browser's greeting is not heard while a cell is busy (ipympl's issue 258).
        canvas._repr_mimebundle_()
        canvas.syncing_data_url = False
        # Where the browser is heard, it asks from another thread.
        self.lock = threading.RLock()
        canvas.draw = self._locked(canvas.draw)
        self.bar = ipywidgets.FloatProgress(max=1.0, layout={"width": "100%"})
        self.text = ipywidgets.HTML("Starting ...")
        self.box = ipywidgets.VBox([self.bar, self.text, canvas])
        self.box.add_class("labs-dashboard")
        display(self.box)

    def epoch(self, line):
        print(line)

    def step(self, done, total):
        pass

    def say(self, part, text):
        self.bar.value = part
        self.text.value = html.escape(text)

    def draw(self, series):
        with self.lock:
            self.curves.update(series)
            # Not draw_idle(), which asks the browser first.
            self.canvas.draw()

    def _locked(self, draw):
        def draw_alone():
            with self.lock:
                draw()

        return draw_alone

    def end(self, part, summary, series):
        self.say(part, summary)
        self.draw(series)
        self.bar.bar_style = "success" if part == 1 else "warning"
        _show_picture(self.curves, summary, folded=True)
        print(summary)


class NotebookView:
    """A bar of text, a line for each epoch, and a picture at the end."""

    def __init__(self, epochs):
        self.curves = Curves(epochs)
        self.bar = progress(unit="step")

    def step(self, done, total):
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def epoch(self, line):
        self.bar.clear()
        print(line)

    def say(self, part, text):
        pass

    def draw(self, series):
        pass

    def end(self, part, summary, series):
        self.bar.close()
        self.curves.update(series)
        self.show(summary, series)
        print(summary)

    def show(self, summary, series):
        _show_picture(self.curves, summary)


class TerminalView(NotebookView):
    """The same, with the picture in a file, which an interrupt leaves behind."""

    FILE = Path("training.png")

    def draw(self, series):
        self.curves.update(series)
        self.FILE.write_bytes(self.curves.png())

    def show(self, summary, series):
        self.FILE.write_bytes(self.curves.png())
        print(f"Curves: {self.FILE.absolute()}", file=sys.stdout)


def _show_picture(curves, summary, folded=False):
    from IPython.display import HTML, display

    encoded = base64.b64encode(curves.png()).decode()
    image = f'<img alt="{html.escape(summary)}" src="data:image/png;base64,{encoded}">'
    if folded:
        # Stays in the notebook when the live one is gone.
        image = f"<details><summary>As a picture</summary>{image}</details>"
    display(HTML(image))


def current_shell():
    """IPython's shell, or None in plain Python."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
