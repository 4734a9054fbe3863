"""What the source of a submission may hold: read as a tree, never run.

A source of 20 KB could carry the answers to the images that a network gets wrong. So
literals are short, and all of them together have a limit too. This raises the price of
such a cheat and no more: the leaderboard shows every source to its readers.
"""

import ast
import math
import sys

from helpers.speed_record.rule import (
    ALL_LITERALS_CHARACTERS,
    KIT_PACKAGES,
    LITERAL_CHARACTERS,
    LOW_PRECISION,
    NAME_CHARACTERS,
    PACKAGES,
    SOURCE_BYTES,
)

CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
OWN_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
ARGUMENTS = 3  # x, y and seed


def source_problems(text: str) -> list[str]:
    """Say which rules a source breaks.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        A sentence for each problem, with the line where there is one; empty if it may
        be judged.
    """
    problems = []
    if (size := len(text.encode(errors="replace"))) > SOURCE_BYTES:
        problems.append(
            f"The source has {size:,} bytes, and {SOURCE_BYTES:,} are allowed: shorten it."
        )
    try:
        tree = without_docstrings(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        return [*problems, f"The source is not Python{line}: {error}."]
    return problems + _train_problems(tree) + _literal_problems(tree) + _names(tree)


def without_docstrings(text: str) -> ast.Module:
    """The tree that is judged: docstrings, which could carry data, are gone.

    Raises
    ------
    SyntaxError, ValueError, RecursionError, MemoryError
        If the text cannot be parsed.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, OWN_DOCSTRING):
            node.body = [one for one in node.body if not _is_text(one)] or [ast.Pass()]
    return ast.fix_missing_locations(tree)


def _is_text(statement):
    """A text that stands alone, whether or not it is the first statement."""
    value = getattr(statement, "value", None)
    text = isinstance(value, ast.Constant) and isinstance(value.value, str | bytes)
    return isinstance(statement, ast.Expr) and text


def _train_problems(tree):
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "train"]
    if not found:
        return ["The source defines no function train(x, y, seed): define one."]
    given = found[-1].args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    optional = len(given.defaults)
    if not len(names) - optional <= ARGUMENTS <= len(names) and not given.vararg:
        return [
            f"train must take x, y and seed, but takes {', '.join(names) or 'nothing'} "
            f"(line {found[-1].lineno})."
        ]
    return []


def _literal_problems(tree):
    problems, total, waiting = [], 0, [tree]
    while waiting:
        node = waiting.pop()
        if not _is_literal(node):
            waiting += ast.iter_child_nodes(node)
            continue
        size = _characters(node)
        total += size
        if size > LITERAL_CHARACTERS:
            problems.append(
                f"The literal in line {getattr(node, 'lineno', 1)} has {size:,} characters,"
                f" and {LITERAL_CHARACTERS} are allowed: compute its value instead."
            )
    if total > ALL_LITERALS_CHARACTERS:
        problems.append(
            f"All literals together have {total:,} characters, and "
            f"{ALL_LITERALS_CHARACTERS:,} are allowed: compute values instead."
        )
    return problems


def _is_literal(node):
    """A constant, or an expression that is made of constants only."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.JoinedStr):  # its texts; what is between them may be a name
        return True
    if isinstance(node, (*CONTAINERS, ast.BinOp, ast.UnaryOp)):
        parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return bool(parts) and all(map(_is_literal, parts))
    return False


def _characters(node):
    """How much a literal could carry: the characters of all constants in it."""
    constants = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return sum(map(_length, constants))


def _length(value):
    if isinstance(value, str):
        return len(value.encode(errors="replace"))
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, int):  # str() refuses very long ones
        return max(1, math.ceil(value.bit_length() * math.log10(2)))
    return len(repr(value))


def _names(tree):
    problems = []
    for node in ast.walk(tree):
        for name in _named(node):
            if len(name.encode(errors="replace")) > NAME_CHARACTERS:
                problems.append(
                    f"The name {name[:20]}… in line {getattr(node, 'lineno', 1)} has more "
                    f"than {NAME_CHARACTERS} characters: shorten it."
                )
        for word in _named(node) + _text(node):
            if _is_low_precision(word):
                problems.append(
                    f"Line {getattr(node, 'lineno', 1)} says {word[:20]}: compute with 16 "
                    "bits or more."
                )
        for module in _imported(node):
            if not _is_allowed(module):
                allowed = ", ".join((*PACKAGES, *KIT_PACKAGES))
                problems.append(
                    f"Line {getattr(node, 'lineno', 1)} imports {module}. Import only "
                    f"{allowed} and Python's standard library."
                )
    return problems


def _named(node):
    fields = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
    return [name for name in fields if isinstance(name, str)]


def _text(node):
    value = getattr(node, "value", None)
    return [value] if isinstance(node, ast.Constant) and isinstance(value, str) else []


def _is_low_precision(word):
    """Whether it names arithmetic below 16 bits; "uint8" is the type of the images."""
    return any(part in word.lower().replace("uint8", "") for part in LOW_PRECISION)


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f".{node.module or ''}" if node.level else node.module or ""]
    return []


def _is_allowed(module):
    top = module.split(".")[0]
    ours = any(module == one or module.startswith(f"{one}.") for one in KIT_PACKAGES)
    return ours or top in PACKAGES or top in sys.stdlib_module_names
