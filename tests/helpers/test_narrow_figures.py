"""A live figure in a narrow window keeps a width at which it can be read."""

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
