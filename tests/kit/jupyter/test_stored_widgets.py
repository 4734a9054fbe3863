"""What is shown in place of a widget is seen in a stored notebook, and only there."""

from callbacks.live.picture import IN_THE_DARK, stored_copy
from kit.jupyter.stored_widgets import GONE, HIDDEN, VIEW, without_widgets

VIEWED = {VIEW: {"model_id": "1"}}


def stored(*outputs):
    cell = {"cell_type": "code", "outputs": list(outputs)}
    text = {"cell_type": "markdown", "source": ""}
    model = {"type": "notebook", "content": {"cells": [text, cell]}}
    without_widgets(model, path="a.ipynb", contents_manager=None)
    return cell["outputs"]


def shows(data):
    return {"output_type": "display_data", "metadata": {}, "data": data}


def test_the_stored_copy_of_a_widget_takes_its_place():
    page = stored_copy("<p>A picture.</p>")
    assert HIDDEN in page
    below = shows({"text/plain": "", "text/html": page})
    [left] = stored(shows(VIEWED | {"text/plain": ""}), below)
    shown = f'<div class="labs-kept">{IN_THE_DARK}<p>A picture.</p></div>'
    assert left["data"]["text/html"] == shown


def test_a_widget_of_the_students_says_what_it_was():
    [left] = stored(shows(VIEWED | {"text/plain": "IntSlider(value=3)"}))
    assert left["data"] == {"text/plain": GONE}


def test_all_else_stays():
    others = [
        {"output_type": "stream", "name": "stdout", "text": "a line"},
        shows({"text/plain": "", "text/html": "<p hidden>x</p>"}),
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": []},
    ]
    assert stored(*others) == others
    file = {"type": "file", "content": "text"}
    without_widgets(file)
    assert file == {"type": "file", "content": "text"}
