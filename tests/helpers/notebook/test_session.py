"""What a notebook gets from its first lines."""

import pytest

from helpers.errors import ParameterError
from helpers.notebook import session
from kit.headless.given_parameters import declared
from kit.labs import find_lab


@pytest.fixture
def first_cell(monkeypatch):
    """The parameters of lab 01; what the start sets is undone."""
    for name in ("KERAS_HOME", "KERAS_BACKEND"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(session, "_current", None)
    given, _ = declared(find_lab("01"))
    return given


def test_the_lab_gets_a_float_where_the_student_wrote_a_whole_number(first_cell):
    namespace = first_cell | {"learning_rate": 1}
    lab = session.start("01_gradient_descent", namespace, devices="none")
    assert (type(lab.learning_rate), lab.learning_rate) == (float, 1)
    assert lab.card.content["parameters"]["learning_rate"] == 1


def test_a_deleted_line_is_named_when_the_lab_starts(first_cell):
    given = first_cell
    del given["epochs"]
    with pytest.raises(ParameterError, match="no line for epochs"):
        session.start("01_gradient_descent", given, devices="none")


def test_a_long_run_says_so_in_the_notebook(first_cell, monkeypatch, capsys):
    given = first_cell
    line = "This can take about 9 hours"
    monkeypatch.setattr(session.estimate, "warning", lambda *arguments: line)
    session.start("01_gradient_descent", given, devices="none")
    assert line in capsys.readouterr().out.splitlines()
