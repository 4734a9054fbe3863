"""The reference answers of a lab, taken from the `#: solution` blocks of its source."""

import ast
import builtins
import symtable
import sys

from helpers.errors import LabError
from kit.generate import generate
from kit.labs import Lab
from kit.todo_cells import todo_cells


def references(lab: Lab) -> str:
    """The text of a lab's `reference.py`: imports, solutions, and a table by exercise.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    str

    Raises
    ------
    LabError
        If a solution needs a name that no import of the lab gives.
    """
    _, solution = generate(lab)
    code = [cell.source for cell in solution.cells if cell.cell_type == "code"]
    solutions = [source for source in code if source.startswith("# Solution")]
    others = [source for source in code if not source.startswith("# Solution")]
    text = "\n\n\n".join(solutions)
    names = {e.number: e.answer for e in todo_cells(lab)}
    table = "".join(f'    "{number}": {name},\n' for number, name in names.items())
    head = (
        f'"""The solutions in labs/{lab.name}.py, written by `labs build`: edit there."""'
    )
    imports = _imports(lab, _needed_names(text), others)
    return f"{head}\n\n{imports}\n\n{text}\n\n\nREFERENCES = {{\n{table}}}\n"


def _needed_names(text):
    """The names that the solutions use and do not define."""

    def used(table):
        yield from (s.get_name() for s in table.get_symbols() if _is_global(s, table))
        for child in table.get_children():
            yield from used(child)

    table = symtable.symtable(text, "<solutions>", "exec")
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned()}
    return set(used(table)) - defined - set(dir(builtins)) - {"__class__"}


def _is_global(symbol, table):
    return symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module")


def _imports(lab, needed, sources):
    """The lab's imports of the needed names, in the usual three groups."""
    found = {}
    for node in ast.walk(ast.parse("\n".join(sources))):
        for alias in getattr(node, "names", ()):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found[alias.asname or alias.name.partition(".")[0]] = node, alias
    if missing := sorted(needed - set(found)):
        raise LabError(
            f"labs/{lab.name}.py: a solution uses {missing[0]!r}, which no cell imports: "
            "import it in the lab's first cells."
        )
    groups = {}
    for name in needed:
        node, alias = found[name]
        if isinstance(node, ast.ImportFrom):
            assert node.module  # no lab has a relative import
            line = ast.unparse(ast.ImportFrom(node.module, [alias], 0))
            top = node.module.partition(".")[0]
        else:
            line, top = ast.unparse(ast.Import([alias])), alias.name.partition(".")[0]
        group = 2 if top in ("callbacks", "helpers") else top not in sys.stdlib_module_names
        groups.setdefault(group, []).append((line.startswith("from"), line))
    blocks = ("\n".join(line for _, line in sorted(groups[key])) for key in sorted(groups))
    return "\n\n".join(blocks) + "\n"
