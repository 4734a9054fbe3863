"""A live figure in a narrow window keeps a width at which it can be read."""

from itertools import pairwise
from math import radians, sin

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from callbacks.live.style import STYLE
from callbacks.live.views import Curves
from helpers.figures import image_grid, show_figure
from helpers.lab_00.figures import matmul_curves
from helpers.lab_01.figures import descent_paths
from helpers.lab_02 import figures as of_lab_02
from helpers.lab_08.figures import overlap
from helpers.lab_09.figures import losses
from helpers.narrow_figures import NARROWEST, leave_room, width_field
from tests.asked import only

CAPTION = "a caption with many words, " * 3


class LiveCanvas(FigureCanvasAgg):
    """As ipympl's, but it notes the sizes that it is given."""

    def handle_resize(self, size):
        self.sizes = [*getattr(self, "sizes", []), size]


@pytest.fixture
def canvas():
    return LiveCanvas(Figure(figsize=(6, 4), dpi=100))


@pytest.mark.parametrize(
    ("room", "drawn"), [(500, 500), (2000, 600), (8, NARROWEST), (-8, NARROWEST)]
)
def test_a_figure_is_drawn_at_the_width_that_is_there(canvas, room, drawn):
    caption = canvas.figure.text(0, 0, CAPTION, fontsize=7.5)
    width_field(canvas, caption).value = room
    [size] = canvas.sizes
    assert size["width"] == drawn
    more_lines = caption.get_text().count("\n")
    assert 400 + 9 * more_lines < size["height"] + 1 < 402 + 15 * more_lines
    assert caption.get_window_extent().width < drawn
    assert "".join(caption.get_text().split()) == "".join(CAPTION.split())


@pytest.mark.parametrize("panels", [2, 3])
def test_panels_too_narrow_to_read_stand_below_each_other(panels):
    canvas = LiveCanvas(Figure(figsize=(9, 4), dpi=100))
    axes = canvas.figure.subplots(1, panels, sharey=True)
    for one in axes:
        one.plot([1, 2], [10, 20])
        one.set_xlabel("size of both matrices [rows and columns]")
    field = width_field(canvas, canvas.figure.text(0, 0, CAPTION, fontsize=7.5))
    field.value = 345
    [size] = canvas.sizes
    canvas.figure.set_size_inches(size["width"] / 100, size["height"] / 100)
    canvas.draw()
    labels = [one.xaxis.label.get_window_extent() for one in axes]
    assert all(label.x0 >= 0 and label.x1 <= 345 for label in labels)
    assert [label.y0 for label in labels] == sorted((x.y0 for x in labels), reverse=True)
    assert all(a.y0 > b.y1 for a, b in pairwise(labels))
    assert has_labels(axes) == [True] * panels
    field.value = 900
    assert canvas.sizes[-1] == {"width": 900, "height": 400}
    assert len({one.get_subplotspec().rowspan.start for one in axes}) == 1
    assert has_labels(axes) == [True] + [False] * (panels - 1)


def has_labels(axes):
    """Whether numbers stand at the left of each panel."""
    return [any(text.get_visible() for text in one.get_yticklabels()) for one in axes]


SPEEDS = dict(zip(2 ** np.arange(3, 10), np.linspace(200, 3000, 7), strict=True))
SPEEDS = {int(size): speed for size, speed in SPEEDS.items()} | {700: 3000.0, 1400: None}
GUESS = {1400: 2000.0, 2800: 2500.0}
LAW = 0.03, 4000.0
PATH = np.linspace((0, 0), (1, 1), 5)
FIGURES = {
    "matmul": lambda: matmul_curves(
        [2**n for n in range(6, 13)],
        {"a device": [1e-3] * 7, "another device": [2e-3] * 7}, 512, 1024,
    ),
    "paths": lambda: descent_paths(
        lambda w: float(w @ w), {f"learning rate {n}": PATH for n in range(3)},
        ((-1, 2), (-1, 2)),
    ),
    "images": lambda: image_grid(np.zeros((8, 28, 28, 1)), [0] * 8, ["Ankle boot"]),
    "bars": lambda: of_lab_02.throughput_bars(SPEEDS, GUESS),
    "law": lambda: of_lab_02.fitted_law(SPEEDS, GUESS, LAW, {8: 328, 512: 1200}, LAW),
    "sweeps": lambda: of_lab_02.redrawn_fits(
        {8: 200.0, 64: 600.0}, LAW, {8: 190.0, 64: 620.0}, [LAW, (0.02, 3000.0)], [LAW]
    ),
    "peak": lambda: of_lab_02.share_of_peak(dict.fromkeys(SPEEDS, 0.5), 0.4),
    "memory": lambda: of_lab_02.memory_by_batch(
        {size: float(size) for size in SPEEDS}, {64: 50.0}, 32, 7.0
    ),
    "overlap": lambda: overlap(
        {"the step alone, measured": 1.0, "in turn, calculated": 2.0}
    ),
    "losses": lambda: losses({"one worker alone": [2.0, 1.0], "two, resumed": [2.0, 1.1]}),
}  # fmt: skip


# Three panels, pictures, and a legend beside curves.
@pytest.fixture(params=only({"paths", "images", "law"}, FIGURES))
def lab_figure(request):
    with plt.rc_context(STYLE):
        figure = FIGURES[request.param]()
        caption = figure.text(0.01, 0.005, CAPTION, fontsize=7.5)
        leave_room(figure, 1)
        figure.set_dpi(800 / figure.get_figwidth())
        canvas = LiveCanvas(figure)
        canvas.draw()
        yield canvas, width_field(canvas, caption)
    plt.close(figure)


def shape(figure):
    """Where everything stands, to a pixel, and what the labels say."""
    places = [axes.bbox.bounds for axes in figure.axes]
    places += [legend.get_window_extent().bounds for legend in legends_of(figure)]
    texts = [
        (text.get_text(), text.get_rotation())
        for axes in figure.axes
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels())
    ]
    return np.array(places), texts


def legends_of(figure):
    own = [axes.get_legend() for axes in figure.axes]
    return [*figure.legends, *filter(None, own)]


def test_every_figure_can_be_read_when_it_is_narrow_and_is_as_before_when_wide(lab_figure):
    canvas, field = lab_figure
    figure = canvas.figure
    width, height = figure.bbox.size
    usual, texts = shape(figure)
    for legend in figure.legends:
        below = max(axes.get_tightbbox().y1 for axes in figure.axes)
        assert legend.get_window_extent().y0 >= below - 1, "it covers no title"
    for room in (240, 330, 560):
        field.value = room
        canvas.draw()
        assert figure.bbox.width == pytest.approx(room)
        for axes in figure.axes:
            columns = axes.get_subplotspec().get_gridspec().ncols
            assert axes.bbox.width * columns >= 0.49 * room
            for axis in (axes.xaxis, axes.yaxis):
                assert not overlapping(axis)
        for legend in legends_of(figure):
            box = legend.get_window_extent()
            assert box.x0 >= 0 and box.x1 <= room and box.y1 <= figure.bbox.height + 1
    field.value = round(width) + 5
    assert canvas.sizes[-1] == {"width": width, "height": height}
    canvas.draw()
    now, texts_now = shape(figure)
    assert texts_now == texts
    assert now == pytest.approx(usual, abs=1)


def overlapping(axis):
    """Pairs of labels side by side that are less than a line of text apart."""
    low, high = sorted(axis.get_view_interval())
    places = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
    labels = [label for at, label in places if low <= at <= high and label.get_text()]
    labels = [label for label in labels if label.get_visible() and axis.get_visible()]
    boxes = sorted(
        (label.get_window_extent() for label in labels), key=lambda b: (b.x0, b.y0)
    )
    angle = radians(labels[0].get_rotation()) if labels else 0
    line = labels[0].get_fontsize() * axis.get_figure().dpi / 72 if labels else 0
    for a, b in pairwise(boxes):
        if 0 < sin(angle) < 1:
            if sin(angle) * (b.x1 - a.x1 + b.x0 - a.x0) / 2 < line:
                return a, b
        elif a.overlaps(b):
            return a, b
    return None


def test_live_figures_have_one_width_and_so_has_a_dashboard(monkeypatch):
    widths = [Curves(1, "").figure.bbox.width]

    def canvas_of(figure):
        widths.append(figure.bbox.width)
        return LiveCanvas(figure)

    monkeypatch.setattr("helpers.figures.in_jupyterlab", lambda: True)
    monkeypatch.setattr("helpers.figures.live_canvas", canvas_of)
    monkeypatch.setattr("helpers.figures.display_live", lambda box: print)
    monkeypatch.setattr("helpers.figures._beside", list)
    for inches in (7.5, 9):
        show_figure(plt.figure(figsize=(inches, 3)), "", "")
    assert widths == pytest.approx([800] * 3)
