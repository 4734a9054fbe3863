"""The references are the solutions, with the imports that these need and no others."""

import ast

import pytest

from helpers.errors import LabError
from kit.authoring.references import _imports, _needed_names, references
from kit.labs import all_labs, find_lab

LABS = all_labs()


def test_a_solution_that_needs_what_no_cell_imports_is_refused_by_name():
    needed = _needed_names("def f(x):\n    return [np.mean(y) for y in x] + [len(x)]\n")
    assert needed == {"np"}
    assert _imports(find_lab("02"), needed, ["import numpy as np, os"]) == (
        "import numpy as np\n"
    )
    with pytest.raises(LabError, match=r"02_throughput\.py: a solution uses 'np'"):
        _imports(find_lab("02"), needed, ["import numpy"])


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_reference_imports_only_what_its_solutions_use(lab):
    text = references(lab)
    imported = {
        alias.asname or alias.name
        for node in ast.parse(text).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    used = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    assert imported <= used
