"""The chunks of a ring all-reduce, round by round, as the reader's function sends them."""

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from callbacks.live.place import in_jupyterlab
from helpers.figures import ORANGE, show_beside, show_figure
from helpers.notebook.players import play_through
from helpers.workers.threads import run_in_threads

if TYPE_CHECKING:
    import ipywidgets as widgets

# A worker's own values are powers of two, so that every sum tells what is in it; above
# them stands the place of the value.
PLACE = 2**8
PLAY = "Play all rounds"


class Round(NamedTuple):
    """The chunks of every worker after a round.

    Attributes
    ----------
    has : list of list of set of int
        By worker and chunk: whose values are in its sum.
    sent : set of tuple of int
        Worker and chunk: what was sent in the round.
    """

    has: list
    sent: set


def rounds_of(function: Callable, workers: int) -> list[Round]:
    """Let a function all-reduce an array of one value for each worker, and watch it.

    Parameters
    ----------
    function : callable
        As exercise 9.1 asks for it.
    workers : int
        At most 8.

    Returns
    -------
    list of Round
        The first is the start, before anybody has sent.
    """
    places = np.arange(1, workers + 1) * PLACE
    arrays = [(places + 2**rank).astype("float32") for rank in range(workers)]
    _, messages = run_in_threads([function] * workers, arrays)
    has = [[{rank} for _ in range(workers)] for rank in range(workers)]
    rounds = [Round(copy.deepcopy(has), set())]
    by_sender = [[m for m in messages if m.sender == rank] for rank in range(workers)]
    for round_ in zip(*by_sender, strict=True):
        sent = set()
        for message in round_:
            for value in message.array:
                chunk, parts = _decoded(int(value), workers)
                sent.add((message.sender, chunk))
                has[message.receiver][chunk] = has[message.receiver][chunk] | parts
        rounds.append(Round(copy.deepcopy(has), sent))
    return rounds


def _decoded(value, workers):
    """The chunk that a value is of, and whose values are in it."""
    places, mask = divmod(value, PLACE)
    parts = {rank for rank in range(workers) if mask >> rank & 1}
    return places // len(parts) - 1, parts


def show_ring(function: Callable, workers: int, caption: str) -> None:
    """Show the rounds: with a slider that also moves by itself in JupyterLab.

    Parameters
    ----------
    function : callable
        As exercise 9.1 asks for it.
    workers : int
        At most 8.
    caption : str
        As `show_figure` takes it.
    """
    rounds = rounds_of(function, workers)
    text = text_of(rounds)
    if not in_jupyterlab():
        show_figure(frames(rounds), text, caption)
        return
    figure, controls = live(rounds)
    keep = show_beside(controls, figure, text, caption)
    chosen, _ = controls.children
    chosen.observe(lambda change: keep(f"Round {change['new']} of {chosen.max}."), "value")


def text_of(rounds: list[Round]) -> str:
    """A sentence about the rounds."""
    workers = len(rounds[0].has)
    done = [sum(len(parts) == workers for row in r.has for parts in row) for r in rounds]
    first = next((n for n, whole in enumerate(done) if whole), None)
    return (
        f"{workers} workers, {len(rounds) - 1} rounds: the first chunks are finished "
        f"after round {first}, all of them after round {len(rounds) - 1}."
    )


def frames(rounds: list[Round]) -> plt.Figure:
    """All rounds beside each other: matplotlib.figure.Figure."""
    columns = min(4, len(rounds))
    lines = math.ceil(len(rounds) / columns)
    figure, axes = plt.subplots(lines, columns, figsize=(9, 2.3 * lines), squeeze=False)
    for axis in axes.flat[len(rounds) :]:
        axis.axis("off")
    for number, (axis, round_) in enumerate(zip(axes.flat, rounds, strict=False)):
        _draw(axis, round_, number)
    return figure


def live(rounds: list[Round]) -> "tuple[plt.Figure, widgets.VBox]":
    """One round, and the widgets that choose which.

    Returns
    -------
    figure : matplotlib.figure.Figure
    controls : ipywidgets.VBox
    """
    import ipywidgets as widgets

    last = len(rounds) - 1
    wide = {"layout": {"width": "15em"}, "style": {"description_width": "4em"}}
    chosen = widgets.IntSlider(0, min=0, max=last, description="round", **wide)
    play, button = play_through(chosen, PLAY, 900)
    figure, axis = plt.subplots(figsize=(4.6, 3.6))

    def draw(change=None):
        axis.clear()
        _draw(axis, rounds[chosen.value], chosen.value)
        figure.canvas.draw_idle()

    chosen.observe(draw, "value")
    draw()
    return figure, widgets.VBox([chosen, widgets.HBox([button, play])])


def _draw(axis, round_, number):
    """Workers downward, chunks to the right; what has been sent has an orange frame."""
    workers = len(round_.has)
    counts = [[len(parts) for parts in row] for row in round_.has]
    axis.imshow(counts, cmap="Blues", vmin=0, vmax=1.6 * workers, aspect="auto")
    for rank, row in enumerate(round_.has):
        for chunk, parts in enumerate(row):
            text = "all" if len(parts) == workers else "+".join(map(str, sorted(parts)))
            axis.text(chunk, rank, text, ha="center", va="center", fontsize=8)
            if (rank, chunk) in round_.sent:
                corner = (chunk - 0.46, rank - 0.46)
                axis.add_patch(
                    plt.Rectangle(corner, 0.92, 0.92, fill=False, ec=ORANGE, lw=2)
                )
    axis.set(xticks=range(workers), yticks=range(workers), xlabel="chunk", ylabel="worker")
    axis.set_title("before" if number == 0 else f"round {number}", fontsize=9)
    axis.grid(False)
