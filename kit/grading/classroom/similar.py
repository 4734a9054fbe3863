"""Which answers are alike: normalised syntax trees, against the reference and each other.

A tree forgets what is cheap to change: names, comments, layout, docstrings, annotations,
imports, the text of messages, the order of statements. What it keeps, calls of a library,
operators, numbers and how they nest, counts as a bag of its subtrees. Two bags are as alike
as Dice's coefficient says. That is a measure and no verdict: short right answers resemble
each other by nature.

Baxter et al., "Clone Detection Using Abstract Syntax Trees" (1998), compare subtrees like
this. Of the usual tools MOSS would get the students' work, JPlag needs Java, and copydetect
and compare50 look for long runs of tokens in a given order (winnowing), which answers of a
few lines in another order do not have. So this is our own.
"""

import ast
import builtins
import copy
import functools
import itertools
import statistics
from collections import Counter

from kit.generate import generate
from kit.grading.contracts import Marked
from kit.labs import Lab
from kit.parallel import exercise_pool
from kit.todo_cells import todo_cells

REFERENCE = "the reference"
TREE_CPU_SECONDS = 5
MOST_NODES = 5_000
SMALLEST = 3  # nodes of a subtree that counts
FEWEST = 8  # subtrees of an answer, besides the given ones, of which something can be said
ALIKE = 0.8  # pairs below are not shown
MOST_PAIRS = 30  # of an exercise
OPEN_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def similar(results: list[Marked], labs: list[Lab]) -> list[dict]:
    """The pairs of answers that are most alike, for each exercise.

    What the exercise gives to start with counts for nothing.

    Parameters
    ----------
    results : list of dict
        Graded submissions: `student`, `lab`, `exercises`.
    labs : list of kit.labs.Lab

    Returns
    -------
    list of dict
        `number`; `median`, of all pairs of two students, or None; `short`: answers of
        which too little is left to compare; `tiny`: so is the reference; `more`: pairs
        that were left out; `groups` of students who are alike, also by way of others:
        `members`, and `pairs`, each with `alike` from 0 to 1 and `sides`, two of
        (who, code). All who are like the reference are a group as well, without it among
        its members.
    """
    found = []
    for lab in labs:
        mine = [r for r in results if r["lab"] == lab.name and r["status"] == "graded"]
        numbers = [exercise.number for exercise in todo_cells(lab)]
        codes = {REFERENCE: reference_cells(lab)} | {
            r["student"]: {n: r["exercises"][n]["code"] for n in numbers} for r in mine
        }
        starts = bags({exercise.number: exercise.start for exercise in todo_cells(lab)})
        found_bags = {who: safe_bags(cells) for who, cells in codes.items()}
        for number in numbers:
            own = {who: own[number] - starts[number] for who, own in found_bags.items()}
            own = {who: bag for who, bag in own.items() if bag}
            cells = {who: codes[who][number] for who in own}
            found.append({"number": number} | _pairs(cells, own))
    return found


def reference_cells(lab: Lab) -> dict[str, str]:
    """The solution's cell of each exercise of a lab."""
    cells = [cell.source for cell in generate(lab)[1].cells if cell.cell_type == "code"]
    solved = [cell for cell in cells if cell.startswith("# Solution ")]
    return {cell.split()[2].rstrip(":"): cell for cell in solved}


def _pairs(codes, bags):
    long = {who: bag for who, bag in bags.items() if bag.total() >= FEWEST}
    measured = [
        (alike(long[one], long[other]), one, other)
        for one, other in itertools.combinations(long, 2)
    ]
    among = [value for value, one, _ in measured if one != REFERENCE]
    pairs = sorted((m for m in measured if m[0] >= ALIKE), key=lambda m: (-m[0], m[1:]))
    return {
        "median": statistics.median(among) if among else None,
        "short": len((codes.keys() - long.keys()) - {REFERENCE}),
        "tiny": REFERENCE not in long,
        "more": max(0, len(pairs) - MOST_PAIRS),
        "groups": [
            {
                "members": members,
                "pairs": [
                    {"alike": value, "sides": [(who, codes[who]) for who in sides]}
                    for value, *sides in shown
                ],
            }
            for members, shown in _groups(pairs[:MOST_PAIRS])
        ],
    }


def _groups(pairs):
    """The members and the pairs of each group, in the order of its first pair."""
    group_of, found = {}, {}
    for _, *sides in pairs:
        if REFERENCE not in sides:
            merged = frozenset().union(*(group_of.get(who, {who}) for who in sides))
            group_of |= dict.fromkeys(merged, merged)
    for pair in pairs:
        is_ours = REFERENCE in pair[1:]
        found.setdefault(REFERENCE if is_ours else group_of[pair[1]], []).append(pair)
    return [
        (sorted({who for _, *sides in shown for who in sides} - {REFERENCE}), shown)
        for shown in found.values()
    ]


def alike(one: Counter[int], other: Counter[int]) -> float:
    """Dice's coefficient of two bags: 0 if they share nothing, 1 if they are equal."""
    both = (one & other).total()
    return 2 * both / (one.total() + other.total())


def safe_bags(codes: dict[str, str]) -> dict[str, Counter[int]]:
    """As `bags`, in a process that may take long or die: then all of them are empty."""
    try:
        [found] = exercise_pool.run_all(
            [functools.partial(bags, codes)], TREE_CPU_SECONDS, 1
        )
    except exercise_pool.FailedError:
        found = None
    return found or {key: Counter() for key in codes}


def bags(codes: dict[str, str]) -> dict[str, Counter[int]]:
    """The bag of each code of a dict; empty for what is no Python, or too large."""
    found = {}
    for name, code in codes.items():
        try:
            found[name] = bag(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            found[name] = Counter()
    return found


def bag(code: str) -> Counter[int]:
    """The subtrees of some code, each as often as it occurs.

    Parameters
    ----------
    code : str

    Returns
    -------
    collections.Counter
        Of hashes.

    Raises
    ------
    SyntaxError, ValueError, RecursionError
        If it cannot be parsed, or is larger than any answer.
    """
    tree = ast.parse(code)
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise ValueError("too large")
    stored = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    found = Counter()
    for statement in tree.body:
        _collect(statement, found, stored)
    return found


def _collect(node, found, stored):
    """Add a tree's subtrees to a bag; returns the tree's text and its number of nodes.

    `stored` are the attributes that the code itself makes: they can be renamed.
    """
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)) or _is_text(node):
        return "", 0
    if isinstance(node, ast.AugAssign):  # x += 1 is x = x + 1
        loaded = copy.copy(node.target)
        value = ast.BinOp(loaded, node.op, node.value)
        node = ast.Assign([node.target], value)
    elif isinstance(node, ast.AnnAssign) and node.value:
        node = ast.Assign([node.target], node.value)
    parts, size = [type(node).__name__, *_own(node, stored)], 1
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "ctx", "kind"):
            continue
        values = value if isinstance(value, list) else [value]
        texts = []
        for child in values:
            if isinstance(child, ast.AST):
                text, nodes = _collect(child, found, stored)
                size += nodes
                texts.append(text)
        parts += sorted(texts) if name in OPEN_BODIES else texts
    text = f"({' '.join(filter(None, parts))})"
    if size >= SMALLEST:
        found[hash(text)] += 1
    return (text if len(text) < 200 else str(hash(text))), size


def _is_text(node):
    """A docstring, or a text that stands alone."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _own(node, stored):
    """The part of a node that a copier cannot simply rename."""
    match node:
        case ast.Name(id=name):
            return [name if hasattr(builtins, name) else "_"]
        case ast.Attribute(attr=name) if name in stored:
            return ["_"]
        case ast.Attribute(attr=name) | ast.keyword(arg=name):
            return [str(name)]
        case ast.Constant(value=str()):
            return ["text"]
        case ast.Constant(value=value):
            return [repr(value)]
    return []
