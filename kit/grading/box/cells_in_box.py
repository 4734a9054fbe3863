"""What of a submission runs for one exercise, and how; `fork_server.py` runs it in a box.

The exercise's own cell runs statement by statement. From the student's other cells come
only the statements that it needs, because they make or change a name that it reads.
"""

import __future__

import ast
import builtins
import contextlib
import dis
import functools
import inspect
import linecache
import os
import re
import signal
import sys
import time
import types
from collections import defaultdict
from typing import NamedTuple
from unittest import mock

IMPORTS = (ast.Import, ast.ImportFrom)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
OURS = ("callbacks", "helpers")  # packages that hold references
# What the labs generate from their solutions; no box has it.
REFERENCE = re.compile(r"helpers\.lab_\d+\.reference")
BY_TEXT = {"eval", "exec", "globals", "locals", "vars"}  # find names by their text
COMPREHENSION_NAMES = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Of an exercise's time: what each part before its own cell may take, and all trial lines.
PART = 0.25
TOGETHER = 0.4  # all parts before it; later ones may then take only a moment each
MOMENT = 0.01


class Piece(NamedTuple):
    """Statements of one cell that run together."""

    origin: str
    source: str
    nodes: list[ast.stmt]
    makes: set[str]  # the names that they bind, or whose values they change


class OutOfTimeError(BaseException):
    """A cell that the exercise only needs has had its part of the time."""


def pieces_before(
    notebook: list[tuple[str, str]], exercise: str, answer: str, setup: list[str]
) -> list[Piece]:
    """The code that runs before an exercise's own cell.

    Parameters
    ----------
    notebook : list of (str, str)
        The number of an exercise, or "" for another cell; and the source.
    exercise, answer : str
        Its number, and the name that its check is given.
    setup : list of str
        What the lab itself defines: see `kit.todo_cells.setup`.

    Returns
    -------
    list of Piece
        What the cell needs, directly or through others, in the order to run it: whole
        cells of earlier exercises; single statements of other cells. A cell below
        the exercise's gives only names that nothing else gives.
    """
    imported, made = _names_of(setup)
    modules = imported.union(*(_imports_in(_tree(source)) for _, source in notebook))
    above, earlier, below = [], [], []
    passed = False
    for place, (number, source) in enumerate(notebook):
        if number == exercise:
            passed = True
        elif number and _order(number) < _order(exercise):
            nodes = _tree(source).body
            makes = _bound(nodes) | _changed(nodes) - modules
            piece = Piece(f"exercise {number}", source, nodes, makes)
            (earlier if passed else above).append(piece)
        elif not number:
            statements = _statements(f"cell {place}", source, modules)
            (below if passed else above).extend(p for p in statements if not p.makes & made)
    first = above + earlier
    known = imported | made | set(dir(builtins)) | {n for p in first for n in p.makes}
    pieces = first + [p for p in below if p.makes and not p.makes & known]
    own = _tree(dict(notebook)[exercise]).body
    open_names = _needed(own) | ({answer} - _bound(own)) | {"*"}
    return _closure(pieces, open_names)


def _imports_in(tree):
    """The names of modules: a line such as `plt.plot(x)` changes none that is needed."""
    return _bound([node for node in ast.walk(tree) if isinstance(node, IMPORTS)])


def _closure(pieces, open_names):
    makers = defaultdict(list)
    for place, piece in enumerate(pieces):
        for name in piece.makes:
            makers[name].append(place)
    chosen, waiting = set(), list(open_names)
    while waiting:
        for place in makers.pop(waiting.pop(), ()):
            if place not in chosen:
                chosen.add(place)
                waiting += _needed(pieces[place].nodes)
    return [pieces[place] for place in sorted(chosen)]


def borrowed(
    pieces: list[Piece], source: str, answer: str, references: list[str]
) -> list[str]:
    """Which references an exercise imports, or tries to, from the course material.

    An import of all names in another cell counts only if the exercise finds names by their
    text, or reads the name of its answer or of a reference, which no other piece gives.

    Parameters
    ----------
    pieces : list of Piece
    source : str
        Of the exercise's own cell.
    answer : str
        The name that its check is given.
    references : list of str
        The names of the references and of their modules.

    Returns
    -------
    list of str
        Names, modules, and `module.*` for an import of all names.
    """
    own = _tree(source).body
    needs = _needed(own) | ({answer} - _bound(own))
    needed = _closure(pieces, needs)
    needs |= {name for piece in needed for name in _needed(piece.nodes)}
    open_names = needs - {name for piece in needed for name in piece.makes}
    if open_names & {answer, *references, *BY_TEXT}:
        needed = pieces
    found = set()
    for node in [*own, *(node for piece in needed for node in piece.nodes)]:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Import):
                found |= _borrowed_modules([a.name for a in inner.names], references)
            elif isinstance(inner, ast.Call) and _calls_import(inner):
                found |= _borrowed_modules(_texts_in(inner), references)
            elif isinstance(inner, ast.ImportFrom) and _imports_from_ours(inner):
                names = {a.name for a in inner.names}
                modules = [f"{inner.module}.{name}" for name in names]
                found |= {*filter(REFERENCE.fullmatch, modules)}
                if "*" in names:
                    found.add(f"{inner.module}.*")
                elif REFERENCE.fullmatch(inner.module or ""):
                    found.add(inner.module)
                else:
                    found |= names & {*references}
    return sorted(found)


def _borrowed_modules(names, references):
    """Those that are, or lead to, a module with a reference."""
    parts = {name: name.split(".") for name in names}
    return {
        name
        for name, (package, *rest) in parts.items()
        if package == "callbacks"
        or REFERENCE.fullmatch(name)
        or (package == "helpers" and rest and rest[-1] in references)
    }


def _calls_import(node):
    """Whether it is such as `importlib.import_module("callbacks.throughput")`."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in ("import_module", "__import__")


def _texts_in(call):
    """The names of modules in a call; a relative one, or a `fromlist`, is joined."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    given += [part for one in given for part in getattr(one, "elts", ())]
    texts = [getattr(part, "value", None) for part in given]
    texts = [text for text in texts if isinstance(text, str)][:9]
    joined = {f"{one}.{other.lstrip('.')}" for one in texts for other in texts}
    return {*texts, *filter(REFERENCE.fullmatch, joined)}


def _imports_from_ours(node):
    return not node.level and node.module.split(".")[0] in OURS


def answer_of(
    pieces: list[Piece],
    source: str,
    exercise: str,
    name: str,
    setup: list[str],
    seconds: float,
) -> tuple[object, dict[str, str] | None]:
    """Run the lab's set-up, what the exercise's cell needs, and the cell.

    Parameters
    ----------
    pieces : list of Piece
    source, exercise, name : str
        The cell, its exercise's number, and the name that its check is given.
    setup : list of str
    seconds : float
        For the exercise; each piece, and the lines after the answer, get a part of it.

    Returns
    -------
    tuple
        The answer and None, or None and the problem: `error` and `mistake`.
    """
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    namespace = module.__dict__
    shell = mock.MagicMock(name="get_ipython()", user_ns=namespace)
    namespace.update(display=lambda *things, **_: print(*things), get_ipython=lambda: shell)
    for statement in setup:
        # If a lab's own line cannot run here (no such data), only its names are missing.
        with contextlib.suppress(Exception):
            exec(compile(statement, "<lab>", "exec"), namespace)
    end = time.monotonic() + TOGETHER * seconds
    for piece in pieces:
        left = max(MOMENT * seconds, min(PART * seconds, end - time.monotonic()))
        with contextlib.suppress(OutOfTimeError), _silence(), _at_most(left):
            _run(piece.origin, piece.source, piece.nodes, namespace)
    try:
        nodes = _parsed(source).body
    except Exception as error:
        return None, _raised(error)
    end = max((n for n, node in enumerate(nodes, 1) if name in _bound([node])), default=0)
    end = end or len(nodes)
    origin = f"exercise {exercise}"
    error = _run(origin, source, nodes[:end], namespace, name)
    if name in namespace:
        with contextlib.suppress(OutOfTimeError), _silence(), _at_most(PART * seconds):
            _run(origin, source, nodes[end:], namespace)
    if callable(answer := namespace.get(name)):
        return answer, None
    if error:
        return None, _raised(error)
    problem = f"its cell does not define `{name}`"
    if name in namespace:
        what = "None" if answer is None else f"of type {type(answer).__name__}"
        problem = f"its `{name}` is {what}, where a function or a class is asked for"
    return None, {"error": problem, "mistake": "raised"}


def _run(origin, source, nodes, namespace, name=None):
    """Run statements one by one, whatever the others do.

    A statement that should have bound `name`, and failed before it did, unbinds it:
    what was bound before is not what the student wants judged.

    Returns
    -------
    BaseException or None
        The first error.
    """
    file = f"<{origin}>"
    # So that tracebacks and tf.function find the source.
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    flags, first = _future(nodes), None
    for node in nodes:
        before = namespace.get(name)
        try:
            code = compile(ast.Module([node], []), file, "exec", flags, dont_inherit=True)
            exec(code, namespace)
        except OutOfTimeError:
            raise
        except BaseException as error:  # SystemExit is also a wrong answer
            first = first or error
            if name in _bound([node]) and namespace.get(name) is before:
                namespace.pop(name, None)
    return first


def _future(nodes):
    flags = 0
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature = getattr(__future__, alias.name, None)
                flags |= getattr(feature, "compiler_flag", 0)
    return flags


@contextlib.contextmanager
def _at_most(seconds):
    def stop(*_):
        raise OutOfTimeError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def _silence():
    """Drop what is printed: nobody reads it, and the grader bounds how much it takes."""
    _flush()
    copies, nowhere = [], os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # the submission may have closed it
            copies.append((os.dup(descriptor), descriptor))
            os.dup2(nowhere, descriptor)
    os.close(nowhere)
    try:
        yield
    finally:
        _flush()
        for copy, descriptor in copies:
            with contextlib.suppress(OSError):
                os.dup2(copy, descriptor)
                os.close(copy)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # whatever the submission put in its place
            stream.flush()


def _raised(error):
    message, where = error, ""
    if isinstance(error, SyntaxError) and type(error.lineno) is int:  # of Python's own
        message, where = error.msg, f" (line {error.lineno})"
    lines = str(message).strip().splitlines() or ["no message"]
    text = f"the cell raised {type(error).__name__}{where}: {lines[0][:200]}"
    return {"error": text, "mistake": "raised"}


def _parsed(source):
    """Parse a cell; if that fails, as IPython would read it."""
    try:
        return ast.parse(source)
    except SyntaxError as error:
        try:
            return ast.parse(python_of(source))
        except Exception:
            raise error from None


def python_of(source: str) -> str:
    """Turn IPython's `%time`, `!ls`, `name?` into Python; keep what `%%time` times."""
    from IPython.core.inputtransformer2 import TransformerManager

    source = re.sub(r"\A\s*%%.*", "pass", source)
    source = re.sub(r"^([ \t]*)%time[ \t]+(?=\S)", r"\1", source, flags=re.M)
    return TransformerManager().transform_cell(source)


@functools.cache
def _tree(source):
    try:
        return _parsed(source)
    except Exception:
        return ast.Module([], [])


def _statements(origin, source, modules):
    """The statements of a cell, each by itself, as is each name of an import."""
    for node in _tree(source).body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        parts = [node]
        if isinstance(node, IMPORTS):
            parts = [
                ast.copy_location(type(node)(**{**vars(node), "names": [alias]}), node)
                for alias in node.names
            ]
        for part in parts:
            if makes := _bound([part]) | _changed([part]) - modules:
                yield Piece(origin, source, [part], makes)


def _names_of(setup):
    """The names that the lab's own statements import, and those that they make."""
    nodes = [node for statement in setup for node in ast.parse(statement).body]
    imports = [node for node in nodes if isinstance(node, IMPORTS)]
    return _bound(imports), _bound([node for node in nodes if node not in imports])


def _bound(nodes):
    """The names that statements bind; `*` for an import of all names."""
    names = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, DEFINITIONS):
            names.add(node.name)  # not what it binds inside
        elif isinstance(node, IMPORTS):
            names |= {(a.asname or a.name).split(".")[0] for a in node.names}
        elif not isinstance(node, (*COMPREHENSIONS, ast.Lambda)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            waiting += ast.iter_child_nodes(node)
    return names


def _changed(nodes):
    """The names whose values statements change: `S["eps"] = 0`, `S.update(eps=0)`."""
    names = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*DEFINITIONS, ast.Lambda)):
            continue
        if isinstance(node, (ast.Subscript, ast.Attribute)):
            if not isinstance(node.ctx, ast.Load):
                names |= _root(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            names |= _root(node.value.func, plain=False)
        waiting += ast.iter_child_nodes(node)
    return names


def _root(node, plain=True):
    """The name to which attributes and items belong; a name by itself only if `plain`."""
    if not plain and isinstance(node, ast.Name):
        return set()
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _needed(nodes):
    """The names that statements read before they bind them, also in their functions."""
    bound, needed, later = set(), set(), set()
    for node in nodes:
        at_once, in_functions = _read(node)
        needed |= at_once - bound
        later |= in_functions
        if isinstance(node, (*IMPORTS, *DEFINITIONS, ast.Assign, ast.AnnAssign)):
            bound |= _bound([node])
    return needed | later - bound


def _read(node):
    """The global names that a statement reads at once, and those that its functions do.

    The compiler knows which names are global; the names of parameters are not.
    """
    try:
        code = compile(ast.Module([node], []), "<names>", "exec", dont_inherit=True)
    except Exception:  # then all names of the text
        inner = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        return {n.id for n in inner if isinstance(n.ctx, ast.Load)}, set()
    at_once, in_functions = set(), set()
    waiting = [(code, at_once)]
    while waiting:
        code, names = waiting.pop()
        for step in dis.get_instructions(code):
            if step.opname.startswith(("LOAD_NAME", "LOAD_GLOBAL", "STORE_GLOBAL")):
                names.add(step.argval)
        for inner in filter(_is_code, code.co_consts):
            is_class = not inner.co_flags & inspect.CO_OPTIMIZED
            runs_now = is_class or inner.co_name in COMPREHENSION_NAMES
            waiting.append((inner, names if runs_now else in_functions))
    return at_once, in_functions


def _is_code(constant):
    return isinstance(constant, types.CodeType)


def _order(number):
    return tuple(map(int, number.split(".")))
