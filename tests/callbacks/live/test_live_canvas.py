"""A live canvas answers the browser, however early it asks."""

import threading
import time

import pytest
from matplotlib.figure import Figure

backend = pytest.importorskip("ipympl.backend_nbagg")

from callbacks.live.live_canvas import live_canvas  # noqa: E402

FIRST_MESSAGE = {
    "content": {"data": {"method": "custom", "content": {"type": "initialized"}}},
    "buffers": [],
}


def test_a_question_that_comes_before_the_canvas_is_whole_is_answered(monkeypatch):
    make_manager = backend.FigureManager
    browsers, answers = [], []

    def slow_manager(canvas, number):
        monkeypatch.setattr(canvas, "send_json", answers.append)
        browsers.append(threading.Thread(target=canvas._handle_msg, args=(FIRST_MESSAGE,)))
        browsers[0].start()
        time.sleep(0.1)  # a busy machine
        assert not any(answer["type"] == "resize" for answer in answers)
        return make_manager(canvas, number)

    monkeypatch.setattr(backend, "FigureManager", slow_manager)
    canvas = live_canvas(Figure(figsize=(3, 2), dpi=100))
    browsers[0].join()
    assert not canvas.header_visible
    sizes = [tuple(answer["size"]) for answer in answers if answer["type"] == "resize"]
    assert sizes == [(300, 200)]
