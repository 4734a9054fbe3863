"""All messages of the kit in one file, build/messages.md, and the rules that they keep.

Messages are scattered over TOML tables, pages and Python modules, so nobody reads two of
them side by side. In this file they can be read in one sitting, module by module.
"""

import ast
import itertools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from helpers import errors

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "build" / "messages.md"
PACKAGES = ("callbacks", "helpers", "kit")
# Data, drawings and code that nobody reads as a message; new labs begin as a template.
NO_MESSAGES = ("reference.py", "guesses.toml", "/template/", "/diagrams/", "/look/")
FEWEST_WORDS = 3
LINE_ERRORS = {name for name in vars(errors) if name.endswith("Error")}
BANNED = re.compile(
    r"\b(whoever|who does|as it must|anew|mend|mended|stands in|is held|what there is"
    r"|arrived|what it took|in times of a|goes on|going on|get no room)\b",
    re.IGNORECASE,
)
# Stored in solutions, or true: a batch and a gradient do arrive.
ALLOWED = re.compile(
    "going on with the CPU|middle arrived|batch has not arrived|gradient arrived"
)
ENDS = tuple(".?!:`}")  # a gap may hold a sentence with its own full stop
CODE = re.compile(r"[{};]\s*$|^\s*(import|from|def|M\d) |\\[sdwS]|::|=>|</?\w+[ >]|^\[")
TAG = re.compile(
    r"<style.*?</style>|<script.*?</script>|\{[%#].*?[%#]\}|<[^>]*>", re.DOTALL
)


class Message(NamedTuple):
    """One text that a person can meet, and where it is."""

    file: str
    place: str  # a line, or the keys of a TOML table
    kind: str  # the error that is raised with it, "help" for an option, or empty
    text: str


def texts_of_toml(value: object, keys: tuple = ()) -> Iterator[tuple]:
    """All texts of a TOML table: for each its place, kind and text."""
    if isinstance(value, str):
        yield ".".join(keys), "", value
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value, start=1)
        for key, inner in pairs:
            yield from texts_of_toml(inner, (*keys, str(key)))


def texts_of_python(node: ast.AST, kind: str = "") -> Iterator[tuple]:
    """The sentences in a module's strings, docstrings aside; gaps show their code."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        kind = ast.unparse(node.exc.func)
    if isinstance(node, ast.keyword) and node.arg == "help":
        kind = "help"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield f"line {node.lineno}", kind, node.value
    elif isinstance(node, ast.JoinedStr):
        yield f"line {node.lineno}", kind, ast.unparse(node)[2:-1]
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts_of_python(child, kind)


READERS = {
    ".toml": lambda source: texts_of_toml(tomllib.loads(source)),
    ".py": lambda source: texts_of_python(ast.parse(source)),
    ".j2": lambda source: (("page", "", text) for text in TAG.split(source)),
    ".html": lambda source: (("page", "", text) for text in TAG.split(source)),
}


def messages() -> Iterator[Message]:
    """The catalogue, sorted by file."""
    for path in sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.*")):
        file = path.relative_to(ROOT).as_posix()
        if path.suffix in READERS and not any(part in file for part in NO_MESSAGES):
            for place, kind, text in READERS[path.suffix](path.read_text("utf-8")):
                if len(text.split()) >= FEWEST_WORDS and not CODE.search(text):
                    yield Message(file, place, kind, " ".join(text.split()))


def broken_rules(message: Message) -> Iterator[str]:
    """What is wrong with a message. A lab's requirements quote its text: not with these."""
    found, quoted = BANNED.search(message.text), message.place.startswith("requirements.")
    if found and not quoted and not ALLOWED.search(message.text):
        yield f"a banned phrase, {found[0]!r}"
    if message.kind in {*LINE_ERRORS, "help"} and not message.text.endswith(ENDS):
        yield "no full stop at its end"


def test_the_catalogue_is_written_and_no_message_breaks_a_rule():
    found = list(messages())
    parts = ["# Messages\n\nWritten by tests/test_catalogue.py, by file.\n"]
    for file, group in itertools.groupby(found, key=lambda message: message.file):
        parts.append(f"\n## {file}\n\n")
        for place, kind, text in (one[1:] for one in group):
            parts.append(f"- {place}{kind and f' ({kind})'}: {text}\n")
    CATALOGUE.parent.mkdir(exist_ok=True)
    CATALOGUE.write_text("".join(parts), encoding="utf-8")
    assert {message.file.split("/")[0] for message in found} == set(PACKAGES)
    broken = [f"{one}: {rule}" for one in found for rule in broken_rules(one)]
    assert not broken, "\n".join(broken)
