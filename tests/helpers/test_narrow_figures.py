"""A live figure in a narrow window keeps a width at which it can be read."""

from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from helpers.narrow_figures import NARROWEST, width_field

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
    assert canvas.sizes == [{"width": drawn, "height": 400}]
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
