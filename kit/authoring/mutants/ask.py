"""Ask a check about recorded answers and mutants, in a process that may be killed."""

import ast
import contextlib
import hashlib
import importlib
import inspect
import io
import itertools
import linecache
import multiprocessing
import os
import random
import resource
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from helpers.checks import judge_answer
from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.plain_json import write_json
from kit.authoring.mutants.changes import mutants
from kit.authoring.recorded_answers import (
    mutants_path,
    recorded_answers,
    stored_mutants,
    verdict_on,
)
from kit.imports import files_behind

MUTANT_SECONDS = 180  # a busy machine takes five times as long as a quiet one
MEMORY_BYTES = 8 * 2**30
QUESTIONS = 2  # as in a notebook
MUTANT_NUMBERS = itertools.count()


def fingerprint(exercise: str) -> str:
    """A hash of all that decides which answers and mutants are refused, and why.

    Comments, docstrings, annotations, the places of modules and words decide nothing.
    """
    mistakes = sorted(find_exercise(exercise).mistakes.items())
    broken = repr([(key, *one.breaks) for key, one in mistakes if one.breaks])
    paths = deciding_files(exercise)
    texts = ((REPOSITORY / path).read_text(encoding="utf-8") for path in paths)
    parts = map(_code_alone, [source_of(exercise), *texts])
    return hashlib.sha256("\0".join([broken, *parts]).encode()).hexdigest()[:16]


def deciding_files(exercise: str) -> list[Path]:
    """The check of an exercise, what checks share, and its recorded answers."""
    package, answers = find_exercise(exercise).package, recorded_answers(exercise).__name__
    behind = files_behind([f"{package}.judge", f"{package}.probe", answers])
    lab = Path(*package.split(".")).parent
    folders = (lab, Path("helpers/checks"), Path("tests/answers") / lab.name)
    files = sorted(path for path in behind if any(map(path.is_relative_to, folders)))
    return [*files, Path("kit/authoring/mutants/changes.py")]


def _code_alone(source):
    """Python code without comments, docstrings, annotations, places."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            node.module = ""
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            text = node.body and _is_text(node.body[0])
            node.body = (node.body[1:] or [ast.Pass()]) if text else node.body
    return ast.unparse(tree)


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def source_of(exercise: str) -> str:
    """The source of an exercise's reference."""
    return textwrap.dedent(inspect.getsource(find_exercise(exercise).reference))


def ask_mutants(exercise: str, progress: Callable[[list], Iterable] = iter) -> dict:
    """Ask the check about every recorded answer and mutant, and store what it said.

    Parameters
    ----------
    exercise : str
    progress : callable
        Shows how far the loop over a list is, such as `tqdm`.

    Returns
    -------
    dict
        As `kit.authoring.recorded_answers.stored_mutants`.

    Raises
    ------
    LabError
        If the reference itself does not pass, or a recorded answer is not judged as
        recorded.
    """
    found = list(mutants(source_of(exercise)))
    passed = []
    with Asker() as asker:
        if not asker.passes(exercise, source_of(exercise)):
            raise LabError(f"the check of {exercise} refuses its own reference.")
        recorded = recorded_answers(exercise)
        answers = [*(answer for *_, answer in recorded.WRONG), *recorded.RIGHT]
        for number, answer in enumerate(progress(answers)):
            if not asker.is_as_recorded(exercise, number):
                raise LabError(
                    f"the check of {exercise} does not judge `{answer.__name__}` as "
                    "recorded: see .venv/bin/pytest tests/helpers/checks "
                    f"-k {answer.__name__}"
                )
        for change, source in progress(found):
            if asker.passes(exercise, source):
                passed.append(change)
    known = stored_mutants(exercise).get("passed", {})
    result = {
        "fingerprint": fingerprint(exercise),
        "mutants": len(found),
        "passed": {change: known.get(change, "") for change in passed},
    }
    write_json(mutants_path(exercise), result, ensure_ascii=False)
    return result


def _references(exercise):
    lab = find_exercise(exercise).package.rpartition(".")[0]
    return importlib.import_module(f"{lab}.reference")


class Asker:
    """A process that asks checks about answers, and is replaced if it ends."""

    def __enter__(self):
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_ask, args=(there,), daemon=True)
        self._process.start()
        there.close()
        self._here.recv()  # it has imported TensorFlow
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.join()
        self._here.close()

    def passes(self, exercise: str, source: str) -> bool:
        """Whether the check takes this answer; one that does not end does not pass."""
        return self._asks(_passes, exercise, source)

    def is_as_recorded(self, exercise: str, number: int) -> bool:
        """Whether the check says what is recorded of an answer; one that ends Python: no.

        Parameters
        ----------
        exercise : str
        number : int
            Of the answer in `WRONG`, or after these in `RIGHT`.
        """
        return self._asks(_is_as_recorded, exercise, number)

    def _asks(self, *question):
        try:
            self._here.send(question)
            if self._here.poll(MUTANT_SECONDS):
                return self._here.recv()
        except (EOFError, OSError):  # it ended Python
            pass
        self.__exit__()
        self.__enter__()
        return False


def _ask(pipe):
    for descriptor in (1, 2):  # libraries complain about mutants
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    from helpers.machine.devices import prepare_devices
    from helpers.notebook.kernel_patch import patch_this_kernel

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    silence_tensorflow()
    patch_this_kernel()
    # Before any check starts TensorFlow: those of several devices need logical CPUs.
    prepare_devices(8, simulate=True)
    find_exercise("0.1").reference  # noqa: B018 - with all that it imports
    pipe.send("ready")
    while True:
        ask, *question = pipe.recv()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                said = ask(*question)
        except Exception:  # it cannot even be defined
            said = False
        pipe.send(said)


def _passes(exercise, source):
    name = find_exercise(exercise).reference.__name__
    file = f"<mutant {next(MUTANT_NUMBERS)} of {exercise}>"
    # TensorFlow reads the source of a function to make a graph of it.
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = dict(vars(_references(exercise)))
    exec(compile(source, file, "exec"), namespace)
    rng = random.Random(exercise)
    return judge_answer(exercise, namespace[name], rng, QUESTIONS) is None


def _is_as_recorded(exercise, number):
    recorded = recorded_answers(exercise)
    if number >= len(recorded.WRONG):
        right = recorded.RIGHT[number - len(recorded.WRONG)]
        return judge_answer(exercise, right, random.Random(exercise), QUESTIONS) is None
    requirement, mistake, answer = recorded.WRONG[number]
    verdict = verdict_on(exercise, answer, mistake)
    sentence = find_exercise(exercise).requirements[requirement]
    return verdict is not None and verdict[1:] == (mistake, sentence)
