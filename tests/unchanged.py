"""`make test-changed`: leave out what passed with all that decides as it is now.

Each test that takes long has a fingerprint: a hash of the files on which its outcome
depends. Where a test passed, pytest's cache keeps its fingerprint. With `--changed` a test
is left out while it still has that fingerprint, and the last line says how many were.
"""

import ast
import functools
import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from helpers.exercise import exercise_folders, find_exercise, shared_words
from helpers.files import REPOSITORY
from kit.authoring.recorded_answers import mutants_path
from kit.generate import generate
from kit.imports import files_behind
from kit.labs import all_labs, find_lab
from kit.todo_cells import modules

PAGES = re.compile(r"\bdocs\b|README|CHANGELOG|CONTRIBUTING")  # in a test that reads them
KEY = "labs/passed"  # in pytest's cache
CODE = ("callbacks", "helpers", "kit", "tests", ".ci")
BESIDE_CODE = ("Makefile", "pyproject.toml", "requirements-hub.txt")
PINS = ("requirements.txt", "requirements-grading.txt", "requirements-dev.txt")
DATA = (".toml", ".json", ".cfg")
NOT_CODE = (".pyc", ".ipynb")
# They read text: of labs, of pages, of the README. They are always asked.
OF_TEXT = (
    "tests/test_style.py", "tests/kit/authoring", "tests/kit/platforms",
    "tests/kit/student", "tests/kit/test_todo_cells.py", "tests/test_canary.py",
    "tests/test_prose.py", "tests/kit/test_glossary.py", "tests/kit/test_look.py",
    "tests/kit/test_long_cells.py", "tests/kit/test_working_time.py",
    "tests/browser/test_site.py",
)  # fmt: skip


def fingerprint_of(path: Path, params: dict) -> tuple[str, str] | None:
    """What a test depends on.

    Parameters
    ----------
    path : Path
        Of the file of tests, relative to the repository.
    params : dict
        The test's own parameters.

    Returns
    -------
    tuple of str or None
        A kind, for the last line, and the fingerprint; None for a test that is always
        asked.
    """
    exercise, lab = params.get("exercise"), params.get("lab")
    if path.name in ("test_checks.py", "test_replies.py") and exercise:
        return "questions to answers", of_exercise(exercise, path)
    if path.name == "test_mutants.py" and exercise:
        return "mutants", of_exercise(exercise, path)
    if path.name == "test_notebooks.py" and lab:
        return "notebooks", of_notebook(lab.number, path)
    if any(path.is_relative_to(one) for one in OF_TEXT):
        return None
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    return "tests of code", of_code() + of_pages() * bool(PAGES.search(text))


@functools.cache
def of_exercise(number: str, path: Path) -> str:
    """A hash of what decides what a check says of answers."""
    return _hash([], _check_of(number), _test(path))


@functools.cache
def _check_of(number):
    exercise = find_exercise(number)
    folder = REPOSITORY.joinpath(*exercise.package.split("."))
    begin = [f"{exercise.package}.judge", f"{exercise.package}.probe"]
    begin.append(exercise.package.rpartition(".")[0] + ".reference")
    answers = mutants_path(number)
    files = {
        *(REPOSITORY / one for one in files_behind(begin)),
        *shared_words(folder.parent), folder / "words.toml",
        answers, *answers.parent.glob("*.py"),
    }  # fmt: skip
    return _hash(files, _cells(number.split(".")[0]))


@functools.cache
def _test(path):
    """A hash of a file of tests, and of what it imports."""
    behind = files_behind([".".join(path.with_suffix("").parts)])
    return _hash({REPOSITORY / one for one in behind})


@functools.cache
def of_notebook(number: str, path: Path) -> str:
    """A hash of what decides what a lab's cells print."""
    lab = find_lab(number)
    folders = exercise_folders(number)
    checks = [".".join(one.relative_to(REPOSITORY).parts) for one in folders]
    begin = [f"{one}.{part}" for one in checks for part in ("judge", "probe")]
    begin += [f"helpers.{lab.folder.name}.{part}" for part in ("reference", "parameters")]
    begin += modules(lab)
    data = [one for one in lab.folder.rglob("*") if one.suffix in DATA]
    files = {*(REPOSITORY / one for one in files_behind(begin)), *data}
    files |= {*shared_words(lab.folder), REPOSITORY / "kit/authoring/nbval.cfg"}
    stored = json.loads(lab.solution.read_text(encoding="utf-8"))["cells"]
    outputs = [cell["outputs"] for cell in stored if cell["cell_type"] == "code"]
    return _hash(files, _test(path), _cells(number), outputs)


@functools.cache
def of_code() -> str:
    """A hash of all code, and of no text of labs or pages."""
    found = [path for top in CODE for path in (REPOSITORY / top).rglob("*")]
    found += [REPOSITORY / name for name in BESIDE_CODE]
    files = {path for path in found if path.is_file() and path.suffix not in NOT_CODE}
    return _hash(files, *(_cells(lab.number) for lab in all_labs()))


@functools.cache
def of_pages() -> str:
    """A hash of the course's pages, and of what is beside them."""
    found = [*(REPOSITORY / "docs").rglob("*"), *REPOSITORY.glob("*.md")]
    return _hash(path for path in found if path.is_file() and path.suffix != ".pyc")


@functools.cache
def _cells(number):
    """The code of a lab's cells, without the text between them, and without comments.

    What a cell must not do without is said by TODO comments, which are in the tests of
    text.
    """
    cells = [cell for notebook in generate(find_lab(number)) for cell in notebook.cells]
    return [_without_comments(cell.source) for cell in cells if cell.cell_type == "code"]


@functools.cache
def _without_comments(source):
    try:
        return ast.unparse(ast.parse(source))
    except SyntaxError:  # a cell that begins with % or !
        return source


def _hash(files, *parts):
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted([*files, *(REPOSITORY / name for name in PINS)]):
        digest.update(f"{path.relative_to(REPOSITORY)}\0".encode() + _content(path))
    digest.update(json.dumps(parts, sort_keys=True, default=str).encode())
    return digest.hexdigest()[:16]


@functools.cache
def _content(path):
    """A hash of a file; a new exercise has no mutants yet."""
    return hashlib.sha256(path.read_bytes() if path.exists() else b"none").digest()


class Unchanged:
    """The plugin: it notes what passed, and leaves out what need not be asked again."""

    def __init__(self, config):
        self.config, self.left_out = config, Counter()
        # No cache with `-p no:cacheprovider`.
        self.cache = getattr(config, "cache", None)
        self.passed = self.cache.get(KEY, {}) if self.cache else {}

    @pytest.hookimpl(tryfirst=True)  # pytest-xdist adds to names in the same hook
    def pytest_collection_modifyitems(self, items):
        kept = []
        for item in items:
            params = item.callspec.params if hasattr(item, "callspec") else {}
            found = fingerprint_of(item.path.relative_to(REPOSITORY), params)
            if found:
                kind, fingerprint = found
                item.user_properties.append((KEY, [item.nodeid, fingerprint]))
                if self._is_left_out(item.nodeid, fingerprint):
                    self.left_out[kind] += 1
                    continue
            kept.append(item)
        items[:] = kept
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[KEY] = dict(self.left_out)

    def _is_left_out(self, nodeid, fingerprint):
        return self.config.getoption("changed") and self.passed.get(nodeid) == fingerprint

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.left_out |= Counter(getattr(node, "workeroutput", {}).get(KEY, {}))

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties:
            if name == KEY:
                nodeid, fingerprint = value
                if report.failed:
                    self.passed.pop(nodeid, None)
                elif report.when == "call" and report.passed:
                    self.passed[nodeid] = fingerprint

    def pytest_sessionfinish(self):
        if self.cache and not hasattr(self.config, "workerinput"):
            self.cache.set(KEY, self.passed)

    def pytest_terminal_summary(self, terminalreporter):
        kinds = [f"{count:,} {kind}" for kind, count in sorted(self.left_out.items())]
        if kinds:
            said = f"Left out, as they passed and nothing changed: {', '.join(kinds)}."
            terminalreporter.write_line(said)
