"""Which files of the kit a module imports or starts, and what those do; runs nothing."""

import ast
import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from helpers.files import REPOSITORY

OURS = ("callbacks", "helpers", "kit", "tests")
# A text such as "helpers.workers.ring".
NAMED = re.compile(rf"""(["'])((?:{"|".join(OURS)})(?:\.\w+)+)\1""")


def files_behind(modules: Iterable[str], never: Sequence[str] = ()) -> set[Path]:
    """The files that Python reads to import these modules, as far as they are ours.

    And those that it reads where a module starts another one, by its name.

    Parameters
    ----------
    modules : list of str
    never : sequence of str
        Names of files that are left out, with all that only they import.

    Returns
    -------
    set of Path
        Relative to the repository.
    """
    found, seen, waiting = set(), set(), list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for path in _files_of(name):
            if path.name not in never:
                found.add(path)
                waiting += imported_by(path)
    return found


@functools.cache
def _files_of(module):
    """The files that Python reads to import a module of ours: packages, then itself."""
    parts, found = module.split("."), []
    if parts[0] not in OURS:
        return found
    for depth in range(1, len(parts) + 1):
        path = Path(*parts[:depth])
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if (REPOSITORY / file).is_file():
                found.append(file)
    return found


@functools.cache
def imported_by(path: Path) -> list[str]:
    """The modules that a file of ours imports, also inside its functions.

    And those of ours that a text in it names: what it runs with `python -m`.
    """
    text, found = (REPOSITORY / path).read_text(encoding="utf-8"), []
    tree = ast.parse(text)
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module  # nothing of ours has a relative import
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    named = {name for _, name in NAMED.findall(text) if _is_one_of_ours(name)}
    if named:  # perhaps only in a comment
        constants = (n for n in ast.walk(tree) if isinstance(n, ast.Constant))
        found += sorted(named & {node.value for node in constants})
    return found


def _statements(nodes):
    """These and those in them: most of a file is expressions, which import nothing."""
    for node in nodes:
        yield node
        for inner in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _statements(getattr(node, inner, ()))


def _is_one_of_ours(name):
    path = REPOSITORY.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
