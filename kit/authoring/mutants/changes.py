"""Small changes to a program: one at a time, as a slip of the hand or of the mind."""

import ast
import copy
from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip
# Another function of the same kind: a reduction, a moment, an order.
NAMES = {
    "mean": "sum", "sum": "mean", "median": "mean", "min": "max", "max": "min",
    "fmean": "median", "reduce_mean": "reduce_sum", "reduce_sum": "reduce_mean",
    "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "floor": "ceil", "ceil": "floor", "ones": "zeros", "zeros": "ones", "SUM": "MEAN",
    "on_epoch_begin": "on_train_begin", "on_epoch_end": "on_train_end",
    "on_train_begin": "on_epoch_begin", "on_train_end": "on_epoch_end",
    "on_test_begin": "on_test_end", "var": "std", "std": "var", "permutation": "shuffle",
}  # fmt: skip


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Every program that differs from this one by one small change.

    Parameters
    ----------
    source : str

    Yields
    ------
    tuple of str
        What was changed, ``"old line → new line"``, and the new program.
    """
    tree = ast.parse(source)
    before = ast.unparse(tree)
    seen = {before}
    for path, changed in _changes(tree, _names(tree)):
        new = copy.deepcopy(tree)
        *way, (field, index) = path
        node = new
        for name, i in way:
            node = getattr(node, name) if i is None else getattr(node, name)[i]
        if index is None:
            setattr(node, field, changed)
        else:
            getattr(node, field)[index : index + 1] = changed
        text = ast.unparse(ast.fix_missing_locations(new))
        if text not in seen:
            seen.add(text)
            yield _difference(before, text), text


def _changes(tree, names):
    """Where to put what: the way from the root, and the new value or list of values."""
    for path, node, parent in _walk(tree):
        for changed in _changed(node, parent, names):
            yield path, changed if path[-1][1] is None else [changed]
        # A statement of the answer, not the answer itself.
        if isinstance(node, ast.stmt) and len(path) > 1:
            field, i = path[-1]
            yield path, [ast.Pass()]
            siblings = getattr(parent, field)
            if i + 1 < len(siblings) and not isinstance(node, ast.FunctionDef):
                swapped = [*siblings[:i], siblings[i + 1], node, *siblings[i + 2 :]]
                yield [*path[:-1], (field, None)], swapped


def _walk(node, path=()):
    for field, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for i, child in enumerate(children):
            if isinstance(child, ast.AST):
                here = [*path, (field, i if isinstance(value, list) else None)]
                if not _is_text(child):
                    yield here, child, node
                    yield from _walk(child, here)


def _is_text(node):
    """A docstring: it does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _names(tree):
    """The names that a program binds, by the function that binds them."""
    return sorted(
        {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg) and n.arg != "self"}
        | {
            n.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
    )


def _changed(node, parent, names):
    """Other nodes for one node."""
    kind = type(node)
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield _with(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])
    elif isinstance(node, ast.BinOp):
        if other := OPERATORS.get(type(node.op)):
            yield _with(node, op=other())
        yield _with(node, left=node.right, right=node.left)
        yield node.left
        yield node.right
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=OPERATORS[type(node.op)]())
        yield from node.values
    elif isinstance(node, ast.AugAssign):
        if other := OPERATORS.get(type(node.op)):
            yield _with(node, op=other())
        yield ast.Assign([node.target], node.value)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant):
        yield from map(ast.Constant, _constants(node.value))
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(None)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.comprehension):
        for i in range(len(node.ifs)):
            yield _with(node, ifs=[*node.ifs[:i], *node.ifs[i + 1 :]])
    elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
        yield _with(node, elts=node.elts[::-1])
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield _with(node, attr=NAMES[node.attr])
    elif isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield _with(node, type=ast.Name("Exception", ast.Load()))
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        for i in range(len(node.decorator_list)):
            kept = [*node.decorator_list[:i], *node.decorator_list[i + 1 :]]
            yield _with(node, decorator_list=kept)
        if node.name in NAMES:
            yield _with(node, name=NAMES[node.name])
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in NAMES:
            yield _with(node, id=NAMES[node.id])
        elif node.id in names and len(names) > 1:
            yield _with(node, id=names[(names.index(node.id) + 1) % len(names)])
    elif kind is ast.Slice:
        for end in ("lower", "upper", "step"):
            if getattr(node, end) is not None:
                yield _with(node, **{end: None})


def _calls(node):
    for i in range(len(node.keywords)):
        yield _with(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]])
    if node.args and not isinstance(node.args[-1], ast.Starred):
        yield _with(node, args=node.args[:-1])
        if len(node.args) == 1 and not node.keywords:
            yield node.args[0]
    if len(node.args) > 1:
        yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])


def _constants(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 2, value / 2]
    if isinstance(value, str) and value:
        return [value + "x", ""]
    return []


def _with(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _difference(before, after):
    """The lines that changed, old and new."""
    old, new = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1

    def shown(lines):
        lines = lines[start : len(lines) - end]
        return "; ".join(line.strip() for line in lines) or "nothing"

    return f"{start + 1}: {shown(old)} → {shown(new)}"
