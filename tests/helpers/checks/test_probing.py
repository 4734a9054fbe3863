"""What probes share: what an answer printed, and what it did to its arguments."""

import os
import sys

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks.probing.arguments import call
from helpers.checks.probing.printed import Printed


def test_lines_of_several_threads_stay_in_their_order():
    @tf.function
    def graph():
        tf.print("from a graph")

    with Printed() as printed:
        print("one")
        tf.print("two")
        sys.stdout.write("three\n")
        os.write(1, b"four\n")
        printed.cut()
        graph()
        tf.print("six", output_stream=sys.stdout)
    assert printed.parts() == [["one", "two", "three", "four"], ["from a graph", "six"]]
    assert printed.lines() == [line for part in printed.parts() for line in part]


def test_output_goes_where_it_went_before_also_after_an_error(capfd):
    before = sys.stdout
    with pytest.raises(ZeroDivisionError), Printed() as printed:
        print("inside")
        raise ZeroDivisionError
    assert sys.stdout is before
    print("outside")
    os.write(1, b"below\n")
    assert printed.lines() == ["inside"]
    assert "outside" in (said := capfd.readouterr().out)
    assert "below" in said


def test_a_bar_that_is_drawn_again_is_several_lines():
    with Printed() as printed:
        print("\r 10%", end="")
        print("\r 20%")
        print("\xff \N{SNOWMAN}")
    assert printed.lines() == ["10%", "20%", "\xff \N{SNOWMAN}"]


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (lambda values, table: None, ""),
        (lambda values, table: values.sort(), "`values`"),
        (lambda values, table: table.clear(), "`table`"),
        (lambda values, table: (values.append(1), table.clear()), "`values`, `table`"),
        (lambda values, table: table["a"].append(0), "`table`"),
    ],
)
def test_an_argument_that_changed_is_named(answer, changed):
    assert call(answer, values=[3, 1, 2], table={"a": [1]})[1] == changed


def test_arrays_are_compared_by_value():
    def adds(array):
        array += 1
        return array

    returned, changed = call(adds, array=np.array([1.0, np.nan]))
    assert changed == "`array`"
    assert returned[0] == 2
    assert call(lambda array: array + 1, array=np.array([1.0, np.nan]))[1] == ""
