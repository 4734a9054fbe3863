"""A bar is shown where its work is."""

from callbacks import counted


def test_a_bar_waits_for_the_first_call_which_may_be_in_a_later_cell(capsys):
    double = counted(lambda number: 2 * number, 2, "number")
    assert capsys.readouterr().out == ""
    assert double(1) == 2
    assert "0/2" in capsys.readouterr().out
    assert double(2) == 4
