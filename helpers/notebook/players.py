"""A button that moves a slider by itself, from its start to its end."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ipywidgets as widgets


def play_through(
    slider: "widgets.IntSlider", name: str, milliseconds: int
) -> "tuple[widgets.Play, widgets.Button]":
    """Make a button that starts and stops a slider.

    Parameters
    ----------
    slider : ipywidgets.IntSlider
    name : str
        What the button says while nothing moves; else it says "Stop".
    milliseconds : int
        Between two steps.

    Returns
    -------
    play : ipywidgets.Play
        Not shown, but a part of the page: it counts in the browser.
    button : ipywidgets.Button
        It starts `play`, whose own buttons have no names.
    """
    import ipywidgets as widgets

    play = widgets.Play(
        slider.value, min=slider.min, max=slider.max, interval=milliseconds,
        layout={"display": "none"},
    )  # fmt: skip
    widgets.link((play, "value"), (slider, "value"))
    button = widgets.Button(description=name, layout={"width": "11em"})

    def start_or_stop(clicked):
        if not play.playing:
            # Before it plays: from then on the browser counts, and ignores our values.
            slider.value = slider.min
        play.playing = not play.playing

    def name_button(change):
        button.description = "Stop" if play.playing else name

    play.observe(name_button, "playing")
    button.on_click(start_or_stop)
    return play, button
