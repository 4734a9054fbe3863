"""What a submission replaces of the check is found and put back."""

import importlib

import pytest

from kit.grading.box import own_code

PROBING = "helpers.checks.probing.arguments"


def another(*arguments, **more):
    return 1


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda m: setattr(m, "call", another), f"{PROBING}.call"),
        (lambda m: setattr(m.call, "__code__", another.__code__), f"{PROBING}.call"),
        (lambda m: setattr(m._equal, "__defaults__", (1,)), f"{PROBING}._equal"),
        (lambda m: setattr(m, "copy", another), f"{PROBING}.copy"),
        (lambda m: delattr(m, "np"), f"{PROBING}.np"),
    ],
)
def test_a_replaced_tool_is_found_and_put_back(change, name):
    module = importlib.import_module(PROBING)
    before, code = dict(vars(module)), module.call.__code__
    kept = own_code.keep()
    assert own_code.put_back(kept) == []
    change(module)
    assert own_code.put_back(kept) == [name]
    assert own_code.put_back(kept) == []
    assert vars(module) == before
    assert module.call.__code__ is code
    assert module.call(lambda x: 2 * x, x=2) == (4, "")


def test_a_replaced_method_is_found():
    from helpers.checks.probing.printed import Printed

    kept, parts = own_code.keep(), Printed.parts
    Printed.parts = another
    assert own_code.put_back(kept) == ["helpers.checks.probing.printed.Printed.parts"]
    assert Printed.parts is parts


def test_data_may_change(monkeypatch):
    from helpers.checks import endless

    kept = own_code.keep()
    monkeypatch.setattr(endless, "LIMIT_SECONDS", 1)
    monkeypatch.setattr(endless, "something_new", another, raising=False)
    assert own_code.put_back(kept) == []
