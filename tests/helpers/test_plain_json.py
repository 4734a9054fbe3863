"""JSON that every program can read: whatever the numbers were."""

import ast
import json
import math

import pytest

from helpers.files import REPOSITORY
from helpers.plain_json import as_json, finite, storable, write_json

NAN, INFINITY = float("nan"), float("inf")
SOURCES = [
    path
    for folder in ("callbacks", "helpers", "kit", "labs", "docs")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]


def refuse(constant):
    raise ValueError(constant)


def test_numbers_that_are_not_finite_become_null_at_any_depth(tmp_path):
    value = {"a": NAN, "b": [INFINITY, {"c": (-INFINITY, 1.5)}], "d": "NaN", "e": 10**400}
    write_json(tmp_path / "x.json", value)
    for text in ((tmp_path / "x.json").read_text(), as_json(value)):
        read = json.loads(text, parse_constant=refuse)
        assert read == {
            "a": None,
            "b": [None, {"c": [None, 1.5]}],
            "d": "NaN",
            "e": 10**400,
        }
    assert math.isnan(value["a"]), "what was given is as it was"
    assert finite((1, True, None, "x")) == [1, True, None, "x"]


def test_characters_that_no_file_can_hold_are_replaced_at_any_depth():
    read = json.loads(
        r'{"\ud800a": ["\u0000", {"x": "\udfff\ud83c\udf93\t"}, 1, null, true]}'
    )
    assert storable(read) == {"\ufffda": ["\ufffd", {"x": "\ufffd🎓\t"}, 1, None, True]}


def test_no_module_writes_json_in_another_way():
    """Through `as_json`, or with `allow_nan=False` where a box must not see more files."""
    assert len(SOURCES) > 100
    found = [
        f"{path.relative_to(REPOSITORY)}, line {line}"
        for path in SOURCES
        for line in not_strict(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("json.dumps(1, allow_nan=False)", []),
        ("json.loads(text)", []),
        ("import json\njson.dumps(1)", [2]),
        ("json.dump(1, file, allow_nan=True)", [1]),
        ("write = json.dump", [1]),
        ("from json import dumps", [1]),
    ],
)
def test_another_way_is_found(source, lines):
    assert not_strict(source) == lines


def not_strict(source):
    """The lines that use `json.dump` or `json.dumps`, but for strict calls of them."""
    nodes = list(ast.walk(ast.parse(source)))
    strict = {
        id(node.func)
        for node in nodes
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "allow_nan" and ast.unparse(word.value) == "False"
    }
    lines = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "json":
            lines += [node.lineno for name in node.names if name.name.startswith("dump")]
        elif isinstance(node, ast.Attribute) and id(node) not in strict:
            lines += [node.lineno] * (ast.unparse(node) in ("json.dump", "json.dumps"))
    return lines
