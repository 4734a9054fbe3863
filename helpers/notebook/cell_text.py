"""What a cell's text says: the names that it makes and needs, and its first line."""

import ast
import re
import symtable
import textwrap


def names_made(source: str) -> set[str]:
    """The names that a cell makes, also one that Python cannot read."""
    if not (tree := _parsed(source)):
        found = re.findall(r"^(?:(?:def|class) +(\w+)|(\w+) *=[^=])", source, re.M)
        return {name for pair in found for name in pair if name}
    names: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)  # what it binds inside is its own
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif not isinstance(node, ast.comprehension):  # what it binds is its own, too
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                names |= {node.value.id} if isinstance(node.value, ast.Name) else set()
            todo += ast.iter_child_nodes(node)
    return names


def names_assigned(source: str) -> set[str]:
    """The names whose values a cell makes: none of an import, a function or a class."""
    table = _symbols(source)
    symbols = {symbol.get_name(): symbol for symbol in table.get_symbols()} if table else {}
    return {
        name
        for name in names_made(source)
        if (symbol := symbols.get(name))
        and not (symbol.is_imported() or symbol.is_namespace())
    }


def names_used(source: str) -> set[str]:
    """The names that a cell takes from other cells."""

    def of(table, is_top):
        names = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (is_top or symbol.is_global())
        }
        return names.union(*(of(inner, False) for inner in table.get_children()))

    table = _symbols(source)
    if not table:
        return set()
    own = {one.get_name() for one in table.get_symbols() if one.is_local()}
    return of(table, True) - own


def _parsed(source):
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _symbols(source):
    try:
        return symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError):
        return None


def made_in_words(source: str) -> str:
    """The names that a cell makes, for a sentence."""
    return ", ".join(f"`{name}`" for name in sorted(names_made(source))) or "nothing"


def names_read(source: str) -> set[str]:
    """The names that a cell reads anywhere, also its own."""
    nodes = ast.walk(tree) if (tree := _parsed(source)) else ()
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def quoted(source: str) -> str:
    """A cell's first line: all that is seen of one that is folded."""
    line = next((ln for ln in source.splitlines() if ln.strip() and ln[0] != "%"), "")
    return f'"{textwrap.shorten(line, 50, placeholder=" ...")}"'
