"""Lab 10's explorer: how the time to accuracy depends on devices, link and more."""

from collections.abc import Callable, Sequence
from math import log10
from typing import TYPE_CHECKING

from callbacks.live.place import in_jupyterlab
from helpers.figures import show_beside, show_figure
from helpers.lab_10.forecast import in_words, plan
from helpers.lab_10.forecast_figures import plans

if TYPE_CHECKING:
    import ipywidgets as widgets
    from matplotlib.figure import Figure

DEVICES = [2**i for i in range(11)]
LINKS_GBIT = (1, 25, 400)
# Of each slider: lowest, highest, and how it is called. All have equal steps on a
# logarithmic scale, but for those that may be 0.
SLIDERS = {
    "batch_size": (1, 1024, "batch of a device"),
    "accumulation": (1, 64, "accumulated batches"),
    "parameters": (1e4, 1e10, "parameters"),
    "link_gbit": (0.1, 800, "link [Gbit/s]"),
    "value_bytes": (1, 4, "bytes of a value sent"),
    "compression": (1, 1000, "compression"),
    "straggler_spread": (0, 1, "spread of stragglers"),
    "machine_devices": (1, 64, "devices of a machine"),
    "device_days": (1, 30_000, "days a device runs"),
    "critical_batch": (10, 1e6, "critical batch"),
}
WHOLE = ("batch_size", "accumulation", "machine_devices")


def explore(settings: dict, forecast: Callable, caption: str) -> None:
    """Show the time to accuracy over devices, with sliders or for several links.

    Parameters
    ----------
    settings : dict
        As `forecast.DEFAULTS`; the sliders start there.
    forecast : callable
        An answer to exercise 10.2.
    caption : str
        As `show_figure` takes it.
    """

    def planned(changed):
        return plan(settings | changed, forecast)

    words = in_words(settings, planned({}))
    if in_jupyterlab():
        moved = []  # called with the plan in words after each change
        figure, controls = live(settings, planned, moved)
        moved.append(show_beside(controls, figure, "\n".join(words), caption))
    else:
        figure = plans(
            {
                f"{link} Gbit/s": {
                    n: planned({"devices": n, "link_gbit": link}) for n in DEVICES
                }
                for link in LINKS_GBIT
            }
        )
        show_figure(figure, "\n".join(words), caption)


def live(
    settings: dict, planned: Callable, moved: Sequence[Callable] = ()
) -> "tuple[Figure, widgets.VBox]":
    """A figure and the widgets that change it.

    Parameters
    ----------
    settings : dict
    planned : callable
        From changed settings to a plan.
    moved : iterable of callable
        Each is given the plan in words after every change.

    Returns
    -------
    figure : matplotlib.figure.Figure
    controls : ipywidgets.VBox
        A slider for the devices and for each of `SLIDERS`, and the plan in words.
    """
    import ipywidgets as widgets

    wide = {
        "layout": {"width": "26em", "max_width": "calc(100% - 4px)"},
        "style": {"description_width": "12em"},
    }
    sliders = {
        "devices": widgets.SelectionSlider(
            options=DEVICES, value=settings["devices"], description="devices", **wide
        )
    }
    for name, (low, high, label) in SLIDERS.items():
        whole = name in WHOLE
        sliders[name] = _slider(widgets, low, high, settings[name], label, whole, wide)
    text = widgets.HTML()
    figure = plans({"now": {n: planned({"devices": n}) for n in DEVICES}}, stacked=True)

    def draw(change=None):
        now = {name: slider.value for name, slider in sliders.items()}
        now |= {name: round(now[name]) for name in WHOLE}
        curve = {n: planned(now | {"devices": n}) for n in DEVICES}
        for axis, what in zip(figure.axes, ("hours", "device_hours"), strict=True):
            axis.lines[0].set_ydata([curve[n][what] for n in DEVICES])
            axis.relim()
            axis.autoscale_view()
        words = in_words(settings | now, planned(now))
        # In widgets, lines are as high as sliders: then the last ones are out of sight.
        text.value = f'<div style="line-height: 1.35">{"<br>".join(words)}</div>'
        figure.canvas.draw_idle()
        for tell in moved:
            tell("\n".join(words))

    for slider in sliders.values():
        slider.observe(draw, "value")
    draw()
    layout = {"width": "27em", "max_width": "100%"}
    return figure, widgets.VBox([*sliders.values(), text], layout=layout)


def _slider(widgets, low, high, value, label, whole, wide):
    value = min(max(value, low), high)
    if low == 0:
        return widgets.FloatSlider(
            value, min=low, max=high, step=0.01, description=label, **wide
        )
    return widgets.FloatLogSlider(
        value,
        min=log10(low),
        max=log10(high),
        step=0.001,
        description=label,
        readout_format=",.0f" if whole else ",.3r",  # 64 and 2,110
        **wide,
    )
