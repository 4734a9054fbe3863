"""A listing has the numbers by which the check of "find the bug" knows the lines."""

import re

import pytest

from helpers.checks.probing.scripts import hunt, script_lines, with_line
from helpers.lab_03.ex5_find_the_bug.script import race
from helpers.lab_06.ex4_find_the_bug.script import train
from helpers.lab_09.ex5_find_the_bug.script import batches_of
from helpers.notebook.listing import numbered, show_listing


@pytest.mark.parametrize("script", [race, train, batches_of])
def test_a_line_has_the_same_number_in_the_listing_and_in_the_check(script, capsys):
    show_listing(script)
    shown = capsys.readouterr().out.splitlines()
    lines = script_lines(script)
    assert len(shown) == len(lines) <= 30
    for n, (one, line) in enumerate(zip(shown, lines, strict=True), start=1):
        text = line.replace("  # fmt: skip", "")
        assert one.split(maxsplit=1) == [str(n), *([text.strip()] if text.strip() else [])]


def add(a, b):
    if b:
        a += b
    return a


def test_a_new_line_takes_the_indentation_of_the_old_one():
    assert numbered(add).splitlines()[2] == " 3          a += b"
    assert with_line(add, 3, "a -= b")(5, 2) == 3
    assert with_line(add, 3, "\t   a *= b  # a comment\n")(5, 2) == 10
    assert add(5, 2) == 7


@pytest.mark.parametrize(
    ("returned", "seen"),
    [
        ((3, "a -= b", 1), {"same": False, "result": 3}),
        ((3, " a += b ", 1.5), {"same": True, "result": 7}),
        ((3, "a += c", 1), {"same": False, "error": "NameError"}),
        ((3, "a += (", 1), {"same": False, "error": "SyntaxError"}),
        ((9, "a", 1), {}),
        ((3, "a\nb", 1), {}),
    ],
)
def test_a_probe_says_what_the_script_does_with_the_new_line(returned, seen):
    told = hunt(lambda: returned, [[]], add, lambda script, i: script(5, 2))
    assert told["lines"] == 4
    [reply] = told["replies"]
    assert (reply.pop("line"), reply.pop("new"), reply.pop("cost")) == returned
    if "error" in reply:
        reply["error"] = re.match(r"\w+", reply["error"])[0]
    assert reply == seen


@pytest.mark.parametrize(
    "returned", [None, 3, (3, 4, 5), ("a", "b", 1), (1, "b"), (1.5, "b", 1)]
)
def test_a_reply_of_another_form_is_none(returned):
    told = hunt(lambda: returned, [[]], add, lambda script, i: script(5, 2))
    assert told["replies"] == [None]
