"""The message about a cell that raised: one line, or the traceback of its own lines.

Kernels of the kit's environment load this when they start (kit/place/setup.sh), others at
`session.start`.
"""

import linecache
import os
import re
import sys
import textwrap
import time
from pathlib import Path
from traceback import walk_stack
from types import TracebackType
from typing import Any

from helpers.errors import LONGEST_LINE, LabError
from helpers.notebook.cell_text import (
    made_in_words,
    names_assigned,
    names_made,
    names_read,
    names_used,
    quoted,
)
from helpers.notebook.notebook_cells import (
    SET_UP,
    Cell,
    missed_by_the_page,
    stored_cells,
    without_deleted,
)
from helpers.notebook.stop import stop_only_the_cells_code

_errors = None  # of this kernel
UNREADABLE, STOPPED = "has a syntax error", "was stopped"
CHECKS = Path(__file__).parents[1] / "checks"
CODE, BOLD = re.compile(r"`([^`]+)`"), "\x1b[1m\\1\x1b[0m"  # no traceback has Markdown
IN_CHECK = re.compile(r'\bcheck\("')
RUN_ABOVE = "In the menu: Run, Run All Above Selected Cell."
RUN_SET_UP = (
    "Run the set-up cells first, and then this one. They are the folded cells at the top "
    f'of the notebook, with those under "{SET_UP}".'
)

NO_EXIT = (
    "exit() was not carried out: it would end the kernel, and with it all that your cells "
    "have defined.\n`return` ends a function, and the square stops a cell. To end the "
    "kernel, choose Kernel, Shut Down Kernel in the menu."
)
CHECK_NEEDS = (
    "check needs the number of an exercise and your answer, such as "
    '`fit_throughput = check("2.3", fit_throughput)`.'
)


class CellErrors:
    """The history of this kernel's cells, and the words for the next one that raises.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.cells, self.source, self.began = [], "", time.perf_counter()
        self.stopped_in = ""
        self.before = {}  # the cell: the values of the names that it binds, by their ids
        self.pages = set()  # that have run cells: a page that is reloaded is another

    def cell_begins(self, info: Any) -> None:
        """IPython's event before a cell."""
        stop_only_the_cells_code(self.shell)
        self.source, self.began = info.raw_cell or "", time.perf_counter()
        self._greet(info)
        identity = getattr(info, "cell_id", None)
        # What is run again counts as it is now, and is no reason for its own error.
        self.cells = [
            cell
            for cell in self.cells
            if cell.source != self.source
            and (identity is None or cell.identity != identity)
        ]
        names = self.shell.user_ns
        self.before = {n: id(names[n]) for n in names_made(self.source) if n in names}
        if line := self._unfinished():
            print(textwrap.fill(line, LONGEST_LINE))

    def _unfinished(self):
        """A line on a stopped cell whose names this one uses; empty if there is none."""
        if not any(cell.problem.startswith(STOPPED) for cell in self.cells):
            return ""
        if IN_CHECK.search(self.source):  # it says so itself
            return ""
        names = names_used(self.source) & self.shell.user_ns.keys()
        for cell in reversed(self.cells):
            found = names & names_assigned(cell.source)
            is_check = IN_CHECK.search(cell.source)  # and what it was given is whole
            if found and cell.problem.startswith(STOPPED) and not is_check:
                is_older = found <= cell.older
                what = "may be unfinished, or" if is_older else "is of an unfinished run."
                return (
                    f"This cell uses `{min(found)}` from cell [{cell.number}], "
                    f"{quoted(cell.source)}, which {cell.problem}: what it shows "
                    f"{what}{' of an earlier run.' * is_older}"
                )
            names -= names_made(cell.source)
        return ""

    def _greet(self, info):
        """Tell a page that runs its first cell what it has missed."""
        page = self.shell.get_parent().get("header", {}).get("session")
        of_notebook = getattr(info, "cell_id", None)  # not of a console beside it
        if not of_notebook or page in self.pages:
            return
        if self.pages and (line := missed_by_the_page(self.cells)):
            print(textwrap.fill(line, LONGEST_LINE))
        self.pages.add(page)

    def cell_ended(self, result: Any) -> None:
        """IPython's event after a cell."""
        if under_way := _under_way():
            under_way.forget()
        error = result.error_before_exec or result.error_in_exec
        identity = getattr(result.info, "cell_id", None)
        number = result.execution_count or 0
        problem = self._problem(error)
        values = self.shell.user_ns
        older = {n for n, value in self.before.items() if id(values.get(n)) == value}
        self.cells.append(
            Cell(self.source, number, identity, problem, time.time(), frozenset(older))
        )

    def _problem(self, error):
        if error is None:
            return ""
        if _was_stopped(error, self.shell):
            return f"{STOPPED}{self.stopped_in}"
        if isinstance(error, SyntaxError):
            return f"{UNREADABLE} in line {error.lineno}"
        return f"ended with {_a(type(error).__name__)}"

    def show(
        self,
        shell: Any,
        kind: type,
        error: BaseException,
        traceback: TracebackType | None,
        tb_offset: int | None = None,
    ) -> None:
        """IPython's handler for what a cell raises."""
        if _was_stopped(error, shell):
            what = (under_way := _under_way()) and under_way.now()
            self.stopped_in = f" in {what}" if what else ""
            seconds = time.perf_counter() - self.began
            line = (
                f"Stopped{self.stopped_in}, after {seconds:.0f} s. "
                f"{_line_of_another_cell(traceback, shell)}This cell did not finish: "
                "run it again before those that need it."
            )
            _show_line(shell, kind, error, line)
        elif isinstance(error, SyntaxError):
            shell.showsyntaxerror()
        elif _is_call_without_answer(error, shell):
            _show_line(shell, kind, error, CHECK_NEEDS)
        elif line := self._line(error):
            _show_line(shell, kind, error, line)
        elif isinstance(error, LabError) or "LABS_NOTEBOOK" in os.environ:
            shell.showtraceback()  # an operator cannot ask for the rest with %tb
        else:
            _show_own_lines(shell, kind, error, traceback)

    def _line(self, error):
        """A line that says which other cell is the reason, or nothing."""
        missing = error.name if isinstance(error, NameError) else None
        if missing and (line := self._deleted(missing)):
            return line
        own = names_made(self.source)
        uses = {missing} if missing else names_read(self.source) - own
        if found := self._failed_cell(uses, len(self.cells)):
            cell, name = found
            line = (
                f"This cell needs `{name}` from cell [{cell.number}], "
                f"{quoted(cell.source)}, which {cell.problem}. {self._remedy(cell)}"
            )
            # Last: it may mislead, because it is about what that cell has not made.
            own = f" It ended with {type(error).__name__}: {_first_line(error)}"
            return line if missing else line + own
        return missing and (
            self._renamed(missing) or self._gone(missing) or self._not_run(missing)
        )

    def _failed_cell(self, names, before):
        """The last of the first `before` cells that should have made one of the names."""
        for cell in without_deleted(self.cells[:before])[::-1]:
            if (needed := names & names_made(cell.source)) and cell.problem:
                return cell, min(needed)
            names = names if IN_CHECK.search(cell.source) else names - needed
        return None

    def _deleted(self, missing):
        """The exercise that makes it has no cell in the notebook any more."""
        in_check = re.compile(rf'check\("([\d.]+)", {re.escape(missing)}\)')
        stored = stored_cells()
        cells = [*stored, *without_deleted(self.cells)]
        makers = (cell for cell in cells if missing in names_made(cell.source))
        if not stored or any(not in_check.search(cell.source) for cell in makers):
            return None
        asked = in_check.search(self.source)
        exercise = asked[1] if asked else _exercise_of(missing)
        if not exercise or any(_has_answer(cell, exercise) for cell in cells):
            return None
        return (
            f"This notebook has no cell for {exercise} any more: save and close it, and "
            f"`labs reset {exercise}` in a terminal brings the cell back."
        )

    def _remedy(self, cell):
        """What to do about a cell that failed: its own reason may be one further up."""
        if cell.problem.startswith(UNREADABLE):
            return "Correct it, run that cell, and then this one."
        first = cell
        while found := self._failed_cell(
            names_read(first.source) - names_made(first.source), self.cells.index(first)
        ):
            first = found[0]
        want = re.search(r"with a (NameError|ParameterError)$", first.problem)
        again = RUN_ABOVE if want else "Run it again, and then the cells after it."
        if first.problem.startswith(UNREADABLE):
            again = "Correct it, run it, and then the cells after it."
        if first is not cell:
            return (
                f"The first that failed was cell [{first.number}], "
                f"{quoted(first.source)}: it {first.problem}. {again}"
            )
        if want:  # of a cell that was not run
            return RUN_ABOVE
        return "Run that cell again first, and then this one."

    def _renamed(self, missing):
        """The exercise's cell ran, and binds another name than its check takes."""
        asked = re.search(rf'check\("([\d.]+)", {re.escape(missing)}\)', self.source)
        if not asked:
            return None
        for cell in reversed(self.cells):
            if re.match(rf"# TODO {re.escape(asked[1])}:", cell.source):
                return (
                    f"There is no `{missing}`: your cell for {asked[1]} defines "
                    f"{made_in_words(cell.source)}. The exercise asks for the name "
                    f"`{missing}`: use it there, run that cell, and then this one."
                )
        return None

    def _not_run(self, missing):
        """The notebook makes it in a cell that was not run in this kernel."""
        were_run = {self.source, *(cell.source for cell in self.cells)}
        left = [cell for cell in stored_cells() if cell.source not in were_run]
        maker = next((cell for cell in left if missing in names_made(cell.source)), None)
        if not maker:
            return None
        undefined = names_read(self.source) - self.shell.user_ns.keys()
        others = [names_made(cell.source) for cell in left if not cell.is_set_up]
        # A quiz or a hint needs no training, so not all cells above it.
        only_set_up = maker.is_set_up and not (undefined & set().union(*others))
        return (
            f"`{missing}` is not defined yet: the cell {quoted(maker.source)} has not "
            f"been run. {RUN_SET_UP if only_set_up else RUN_ABOVE}"
        )

    def _gone(self, missing):
        """A cell that was run makes it: it was deleted since, or the cell was changed."""
        identities = {cell.identity for cell in self.cells} - {None}
        sources = {cell.source for cell in self.cells}
        for cell in stored_cells():
            was_run = cell.source in sources or cell.identity in identities
            if was_run and missing in names_made(cell.source):
                return f"There is no `{missing}`: run the cell {quoted(cell.source)} again."
        return None


def _exercise_of(name):
    """The exercise of this kernel's lab whose answer has the name, or ""."""
    from helpers.exercise import find_exercise, numbers_of

    session = sys.modules.get("helpers.notebook.session")
    card = session and session.current_card()
    numbers = numbers_of(card.content["lab"][:2]) if card else []
    return next((n for n in numbers if find_exercise(n).reference.__name__ == name), "")


def _is_call_without_answer(error, shell):
    """Whether the kit's `check` was called with too few arguments, or with too many."""
    ours = getattr(shell.user_ns.get("check"), "__module__", "") == "helpers.checks"
    return ours and isinstance(error, TypeError) and str(error).startswith("check() ")


def problem_of_answer(exercise: str, missing: bool = False) -> str:
    """Why an exercise's cell made no answer when it was last run.

    Parameters
    ----------
    exercise : str
    missing : bool
        There is none, not even an older one: then what the cell raised is the reason, or
        another name than its check takes.

    Returns
    -------
    str
        "has a syntax error in line 3, so ..."; empty if it made one, or nothing is known.
    """
    if not _errors:
        return ""
    cells = reversed(_errors.cells)
    last = next((cell for cell in cells if _has_answer(cell, exercise)), None)
    if not last:
        return ""
    asked = re.search(rf'check\("{re.escape(exercise)}", (\w+)\)', _errors.source)
    if last.problem and not missing and not last.problem.startswith(UNREADABLE):
        # What is there may be older, or use what the rest of the cell was to make.
        return f"{last.problem}: an answer counts only if its cell runs to its end"
    problem = last.problem
    if not problem and asked and not missing:
        problem = _no_function(asked[1], last)
    elif not problem and asked and asked[1] not in names_made(last.source):
        problem = f"defines {made_in_words(last.source)}, not `{asked[1]}`"
    return problem and f"{problem}, so it gave no answer"


def source_of_answer(exercise: str) -> str:
    """The student's cell for an exercise, as it was last run; empty if it was not."""
    cells = reversed(_errors.cells) if _errors else ()
    return next((cell.source for cell in cells if _has_answer(cell, exercise)), "")


def _has_answer(cell, exercise):
    """Whether it is the exercise's own: by its name in the notebook, or its first line."""
    if str(cell.identity).startswith(f"{exercise.replace('.', '-')}-"):
        return True
    return bool(re.search(rf"^# TODO {re.escape(exercise)}:", cell.source, re.M))


def _no_function(name, answer):
    """Which cell has made the name of an answer stand for something else, if one has."""
    assert _errors
    value = _errors.shell.user_ns.get(name)
    if callable(value):
        return ""
    what = "None" if value is None else _a(type(value).__name__)
    makers = (cell for cell in reversed(_errors.cells) if name in names_made(cell.source))
    maker = next(makers, answer)
    if maker is answer:
        return f"sets `{name}` to {what}, where a function or a class is asked for"
    return (
        f"has defined `{name}`, but then cell [{maker.number}], {quoted(maker.source)}, "
        f"has set it to {what}"
    )


def install(shell: Any) -> None:
    """Take over what a notebook's shell says of errors; once, and only there.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell or None
    """
    global _errors
    if not hasattr(shell, "kernel") or shell.custom_exceptions:
        return
    _errors = errors = CellErrors(shell)
    shell.events.register("pre_run_cell", errors.cell_begins)
    shell.events.register("post_run_cell", errors.cell_ended)
    shell.set_custom_exc((KeyboardInterrupt, Exception), _handler(errors))
    # `exit()` would end the kernel, and with it all that the cells have defined.
    shell.ask_exit = lambda: print(NO_EXIT)
    shell.kernel.raw_input = _outside_of_checks(shell.kernel.raw_input)


def _outside_of_checks(ask):
    """`input`, but not for an answer under check: that would wait for somebody to type."""

    def raw_input(prompt=""):
        callers = (frame.f_code.co_filename for frame, _ in walk_stack(None))
        if any(Path(one).is_relative_to(CHECKS) for one in callers):
            raise RuntimeError("an answer gets its values as arguments; it cannot ask")
        return ask(prompt)

    return raw_input


def _was_stopped(error, shell):
    """Whether the square ended a cell, also if a library then raised an error of its own.

    TensorFlow does so where it is stopped while it enters a device's scope.
    """
    if isinstance(error, KeyboardInterrupt):
        return True
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    if not frame or frame.tb_frame.f_globals is shell.user_ns:
        return False
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _line_of_another_cell(traceback, shell):
    """Where an answer was that the stopped cell had called, in a sentence, or ""."""
    own = []
    while traceback:
        if traceback.tb_frame.f_globals is shell.user_ns:
            own.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    if len({file for file, _ in own}) < 2:
        return ""
    file, number = own[-1]
    code = linecache.getline(file, number).strip()
    return f"It was at {quoted(code)}, line {number} of a cell above. " if code else ""


def _handler(errors):
    def handler(shell, kind, error, traceback, tb_offset=None):
        try:
            errors.show(shell, kind, error, traceback)
        except Exception:  # better the usual traceback than none
            shell.showtraceback((kind, error, traceback))

    return handler


def _show_line(shell, kind, error, line):
    lines = textwrap.wrap(line, LONGEST_LINE)
    shell._showtraceback(kind, error, [CODE.sub(BOLD, one) for one in lines])


def _show_own_lines(shell, kind, error, traceback):
    """The traceback without the libraries' frames; `%tb` shows it whole."""
    frames = []
    while traceback:
        frames.append(traceback)
        traceback = traceback.tb_next
    own = [frame for frame in frames if frame.tb_frame.f_globals is shell.user_ns]
    left_out = len(frames) - len(own) - 1  # the first is IPython's
    if not own or left_out < 1:
        shell.showtraceback()
        return
    chain = None
    for frame in reversed(own):
        chain = TracebackType(chain, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    shell._get_exc_info()  # notes the whole for %tb
    cause, context, hidden = error.__cause__, error.__context__, error.__suppress_context__
    try:
        error.__cause__ = error.__context__ = None
        lines = shell.InteractiveTB.structured_traceback(kind, error, chain, tb_offset=0)
    finally:
        error.__context__, error.__cause__ = context, cause
        error.__suppress_context__ = hidden
    calls = f"{left_out} call{'s' * (left_out > 1)}"
    lines.append(f"({calls} inside libraries left out: %tb in a new cell shows them.)")
    shell._showtraceback(kind, error, lines)


def _under_way():
    """The module, once a lab has loaded it: importing it here would start Keras."""
    return sys.modules.get("callbacks.live.under_way")


def _first_line(error):
    line = textwrap.shorten(str(error), 120, placeholder=" ...") or "no message"
    return line if line.endswith(".") else f"{line}."


def _a(kind):
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}"
