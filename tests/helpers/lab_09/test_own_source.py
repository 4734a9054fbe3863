"""What a reader defined in a notebook can be imported by another process."""

import functools
import importlib.util
import math as mathematics

import numpy as np
import pytest

from helpers.errors import LabError
from helpers.lab_09.own_source import write_source

FACTOR = 3


def twice(x):
    return 2 * x


def area(radius):
    return FACTOR * mathematics.pi * np.square(radius) + twice(0)


def factorial(n):
    return n * factorial(n - 1) if n else 1


short = lambda x: twice(x) + 1  # noqa: E731

for function in (twice, area, factorial, short):
    function.__module__ = "__main__"


def imported(path):
    spec = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_function_comes_with_all_that_it_uses(tmp_path):
    write_source(tmp_path / "own.py", area=area, factorial=factorial)
    module = imported(tmp_path / "own.py")
    assert module.area(2.0) == area(2.0)
    assert module.factorial(5) == 120


def test_a_function_inside_another_finds_what_stood_around_it(tmp_path):
    import numpy as own_numpy

    shape = object()  # has the name of an attribute, and is not used

    def area(radius):
        return own_numpy.ones(3).shape[0] * radius + by(2)

    def by(x):
        return 2 * x

    area.__module__ = by.__module__ = "__main__"
    write_source(tmp_path / "own.py", area=area)
    assert imported(tmp_path / "own.py").area(5) == 19
    assert shape is not None


def test_the_module_has_the_name_that_was_asked_for(tmp_path):
    write_source(tmp_path / "own.py", answer=twice, other=short)
    module = imported(tmp_path / "own.py")
    assert module.answer(4) == 8
    assert module.other(4) == 9


def test_what_has_no_source_ends_in_a_line(tmp_path):
    somewhere = object()

    def uses_an_object(x):
        return somewhere

    uses_an_object.__module__ = "__main__"
    with pytest.raises(LabError, match="the source of somewhere"):
        write_source(tmp_path / "own.py", answer=uses_an_object)
    for value in (np.vectorize(twice), functools.partial(twice, 1)):
        with pytest.raises(LabError, match="define it with `def answer"):
            write_source(tmp_path / "own.py", answer=value)
    assert not list(tmp_path.iterdir())
