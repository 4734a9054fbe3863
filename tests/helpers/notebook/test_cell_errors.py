"""What a kernel says of a cell that raised: tried in a kernel, cell by cell."""

import os
import re
import time

import nbformat
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from helpers.errors import LONGEST_LINE
from helpers.files import REPOSITORY
from kit.labs import find_lab

# One kernel for all of them: in several workers each would start its own.
pytestmark = pytest.mark.xdist_group("cell errors")

LAB = find_lab("02")
CHECK = 'sweep = check("2.2", sweep)'
# %reset collects garbage: it would look through all that TensorFlow's import has made.
FORGET = """import gc
gc.freeze()
%reset -f
from helpers.notebook import cell_errors
cell_errors._errors.cells.clear()
del cell_errors"""


def as_one_line(traceback):
    """What is wrapped to the width of a page is one line; a traceback is not."""
    traceback = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in traceback]
    if any("\n" in line for line in traceback):
        return "\n".join(traceback)
    assert max(map(len, traceback)) <= LONGEST_LINE
    return " ".join(traceback)


class Kernel:
    """A kernel, and what its cells show."""

    def __init__(self, manager, client):
        self.manager, self.client = manager, client

    def run(self, source, interrupt_at=None, after_seconds=(0,)):
        """The tracebacks of a cell, without colours; and what it printed or showed.

        A student who clicks the square several times waits so many seconds before each.
        """
        raised, said = [], []

        interrupts = list(after_seconds)

        def look(message):
            content = message["content"]
            if message["msg_type"] == "error":
                raised.append(as_one_line(content["traceback"]))
            said.append(content.get("text") or str(content.get("data", "")))
            if interrupt_at and interrupt_at in said[-1]:
                while interrupts:
                    time.sleep(interrupts.pop(0))
                    self.manager.interrupt_kernel()

        self.client.execute_interactive(source, timeout=300, output_hook=look)
        assert len(raised) < 2
        return "".join(raised), "".join(said)


@pytest.fixture(scope="module")
def started():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JPY_SESSION_NAME", str(LAB.notebook))
        yield start_new_kernel(kernel_name="python3", cwd=str(REPOSITORY))


@pytest.fixture
def kernel(started):
    """The same kernel for each test, with nothing defined in it."""
    manager, client = started
    kernel = Kernel(manager, client)
    kernel.run(FORGET)
    yield kernel
    if not manager.is_alive():
        pytest.fail("the kernel died")


@pytest.fixture(scope="module", autouse=True)
def end(started):
    yield
    manager, client = started
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        (CHECK, "Run All Above"),
        ("hint()", "Run the set-up cells first"),
        ('quiz("02")', "Run the set-up cells first"),
        ("print(lab.epochs)", "Run the set-up cells first"),
        ("print(lab.epochs, sweep)", "Run All Above"),
    ],
)
def test_a_cell_that_was_not_run_is_named_in_one_line(kernel, source, remedy):
    raised, _ = kernel.run(source)
    assert "\n" not in raised
    name = re.match(r"(\w+) is not defined yet: the cell \"", raised)[1]
    assert name in source
    assert remedy in raised
    assert raised.count("Run All Above") == (remedy == "Run All Above")


ANSWER = "# TODO 2.2: measure\ndef {}(sizes):\n    return sizes\n"
CHECKS = "def check(number, answer):\n    return answer"


@pytest.mark.parametrize(
    ("failed", "says"),
    [
        (["first = undefined", "second = first"], r'failed was cell \[\d+\], "first = un'),
        (["first = undefined"], "with a NameError. In the menu: Run, Run All Above"),
        (["first = 1 / 0"], "ZeroDivisionError. Run that cell again first"),
        (["first = 1 / 0", "second = first"], "ZeroDivisionError. Run it again, and then"),
        (["first = (1"], "a syntax error in line 1. Correct it, run that cell, and then"),
        (["first = (1", "second = first"], "in line 1. Correct it, run it, and then the"),
    ],
    ids=[
        "after a restart",
        "not run",
        "raised",
        "raised further up",
        "unreadable",
        "unreadable further up",
    ],
)
def test_the_remedy_is_for_the_first_cell_that_failed(kernel, failed, says):
    for source in failed:
        kernel.run(source)
    raised, _ = kernel.run("print(second)" if len(failed) > 1 else "print(first)")
    assert re.search(says, raised)
    assert "`" not in raised, "a traceback has no Markdown"


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], 'the cell "# TODO 2.2: .* has not been run'),
        ([ANSWER.format("swep")], "your cell for 2.2 defines swep"),
        ([ANSWER.format("sweep(")], "which has a syntax error in line 2"),
        ([ANSWER.format("sweep") + "1 / 0\ndel sweep"], ""),
        (["1 / 0\n" + ANSWER.format("sweep")], "which ended with a ZeroDivisionError"),
        ([ANSWER.format("swep"), ANSWER.format("sweep")], ""),
        (["1 / 0\n" + ANSWER.format("sweep"), ANSWER.format("sweep")], ""),
    ],
    ids=[
        "not run", "renamed", "syntax error", "raised after it", "raised before it",
        "renamed and fixed", "raised and fixed",
    ],
)  # fmt: skip
def test_the_reasons_for_a_missing_answer_are_told_apart(kernel, answers, said):
    kernel.run(CHECKS)
    for answer in answers:
        kernel.run(answer)
    raised, _ = kernel.run(CHECK)
    assert "\n" not in raised
    if said:
        assert re.search(said, raised)
    else:
        assert raised == ""


def test_a_students_own_error_shows_their_lines_and_no_others(kernel):
    raised, _ = kernel.run("import json\ndef own(x):\n    return json.loads(x)\n\nown('{')")
    assert "return json.loads(x)" in raised
    assert "own('{')" in raised
    assert "decoder.py" not in raised
    assert "JSONDecodeError" in raised
    whole, _ = kernel.run("%tb")
    assert "decoder.py" in whole


def test_a_long_line_of_a_lab_is_wrapped_between_words(kernel):
    words = "a line that is longer than a page is wide, and longer, " * 4
    raised, _ = kernel.run(
        f"from helpers.errors import LabError\nraise LabError({words!r})"
    )
    assert raised == f"LabError: {words}".strip()


def test_exit_keeps_what_the_cells_have_defined(kernel):
    raised, said = kernel.run(
        "kept = 5\ndef answer():\n    exit()\n    return kept\nanswer()"
    )
    assert not raised
    assert "exit() was not carried out" in said
    assert kernel.run("quit()\nprint(answer() + 1)")[1].endswith("6\n")


def test_a_stopped_check_says_where_the_answer_was(kernel):
    kernel.run("import time\ndef answer():\n    print('begun')\n    time.sleep(60)")
    line, _ = kernel.run("def check():\n    answer()\ncheck()", interrupt_at="begun")
    assert re.fullmatch(
        r"Stopped, after \d s\. It was at \"time\.sleep\(60\)\", line 4 of a cell above\. "
        r"This cell did not finish: .*",
        line,
    ), line
    line, _ = kernel.run("print('begun')\ntime.sleep(60)", interrupt_at="begun")
    assert "It was at" not in line


def test_an_answer_under_check_cannot_ask_and_a_cell_can(kernel):
    kernel.run("def answer():\n    return float(input('how many?'))")
    raised, said = kernel.run(
        "from helpers.checks.observe import observe\n"
        "print(observe(lambda a, q, w: a(), answer, {})['error'])"
    )
    assert not raised
    assert "it raised RuntimeError: an answer gets its values as arguments" in said
    kernel.client.execute("answer()", allow_stdin=True)
    asked = kernel.client.get_stdin_msg(timeout=60)
    assert asked["content"]["prompt"] == "how many?"
    kernel.client.input("7")


def test_a_cell_that_failed_before_it_filled_a_dictionary_is_named(kernel):
    kernel.run("done = {}")
    kernel.run("for name in ('a', 'b'):\n    1 / 0\n    done[name] = 1")
    line, _ = kernel.run("accuracies = {name: done[name] for name in ('a', 'b')}")
    assert line.startswith("This cell needs done from cell ["), line
    assert line.endswith("It ended with KeyError: 'a'."), line


def test_a_slip_stays_what_python_says(kernel):
    raised, _ = kernel.run("a_slip + 1")
    assert "NameError: name 'a_slip' is not defined" in raised
    raised, _ = kernel.run("def f(:\n    pass")
    assert "SyntaxError" in raised


FIT = "# TODO 2.3: fit\ndef fit_throughput(points):\n    return 0.0, 1.0\n"
WAITS = "import time\nprint('waiting')\ntime.sleep(60)\n"


@pytest.mark.parametrize(
    ("newer", "problem"),
    [
        (FIT.replace("points)", "points"), "has a syntax error in line 2, so it gave no"),
        ("# TODO 2.3: fit\nimport pandaz\n" + FIT, "ended with a ModuleNotFoundError: an"),
        ("%matplotlib inline\n" + FIT + "1 / 0", "ended with a ZeroDivisionError: an"),
        (FIT + WAITS, "was stopped: an answer counts only if its cell runs to its end"),
    ],
    ids=["syntax error", "import", "raised after it", "stopped"],
)
def test_only_a_cell_that_ran_to_its_end_gives_an_answer(kernel, newer, problem):
    kernel.run("from helpers.checks import check")
    kernel.run(FIT)
    kernel.run(newer, interrupt_at="waiting" if "waiting" in newer else None)
    raised, said = kernel.run('check("2.3", fit_throughput)')
    assert raised == ""
    assert f"your cell above {problem}" in said
    kernel.run(FIT)
    _, said = kernel.run('check("2.3", fit_throughput)')
    assert "your cell above" not in said, "it ran to its end now"


def test_an_answer_is_known_by_its_cell_also_without_its_first_line(kernel):
    kernel.run("from helpers.checks import check")
    own = FIT.partition("\n")[2]
    run_from_page(kernel.client, own, "2-3-fit")
    run_from_page(kernel.client, "import pandaz\n" + own, "2-3-fit")
    _, said = kernel.run('check("2.3", fit_throughput)')
    assert "your cell above ended with a ModuleNotFoundError" in said


PREDICT = """from helpers.run_card.documents import RunCardError
def predict(my_guess):
    raise RunCardError(
        f"the prediction 'loss' is the text {my_guess!r}, but the lab asks for one number, "
        "with a point, not a comma, and without quotes, such as 0.5. Change it."
    )
"""


def test_a_cell_that_raises_twice_is_no_reason_for_its_own_error(kernel):
    kernel.run(PREDICT)
    for guess in ("'0,5'", "'half'", "'half'"):
        source = f"my_guess = {guess}\npredict(my_guess)\n"
        raised = run_from_page(kernel.client, source, "a-guess")
        assert f"RunCardError: the prediction 'loss' is the text {guess}, but" in raised
        assert "This cell needs" not in raised
    raised, _ = kernel.run("my_guess = 'many'\npredict(my_guess)")
    assert "This cell needs" not in raised, "it makes the name itself"
    raised, _ = kernel.run("print(my_guess)\npredict(my_guess)")
    assert "needs my_guess from cell" in raised, "another cell's error it does explain"
    assert ", not a . " not in raised
    raised, _ = kernel.run("print(never_made)\nnever_made = 1")
    raised, _ = kernel.run("print(never_made)\nnever_made = 1")
    assert "has not been run" not in raised


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (ANSWER.format("swep"), "defines `swep`, not `sweep`"),
        (ANSWER.format("sweep("), "has a syntax error in line 2"),
        ("# TODO 2.2: measure\n1 / 0", "ended with a ZeroDivisionError"),
    ],
    ids=["renamed", "syntax error", "raised"],
)
def test_a_cell_that_failed_once_and_then_makes_no_answer_is_told_why(
    kernel, answer, problem
):
    kernel.run("from helpers.checks import check")
    kernel.run(ANSWER.format("sweep"))
    kernel.run(CHECK)
    kernel.run(answer)
    _, said = kernel.run(CHECK)
    assert f"your cell above {problem}, so it gave no answer" in said
    kernel.run(ANSWER.format("sweep"))
    kernel.run(CHECK)
    _, said = kernel.run(CHECK)
    assert "this is the reference, not your answer" in said


def test_an_answer_that_raises_is_told_its_line_and_none_is_called_none(kernel):
    kernel.run("from helpers.checks import check")
    _, said = kernel.run(
        "def fit(points):\n    x = {}\n    return x[5]\n\ncheck('2.3', fit)"
    )
    assert "it raised KeyError: 5 (line 3 of your cell)" in said
    _, said = kernel.run("check('2.3', lambda points: None)")
    assert "it gave None where a value was due: is a `return` missing?" in said


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (["# TODO 2.2: measure\nsweep = None"], "sets `sweep` to None, where a function"),
        (["# TODO 2.2: measure\nsweep = (1, 2)"], "sets `sweep` to a tuple, where a "),
        (
            [ANSWER.format("sweep"), "sweep = sweep(3)"],
            r'has defined `sweep`, but then cell \[\d+\], "sweep = .*", has set it to an',
        ),
    ],
    ids=["None", "a value", "its result elsewhere"],
)
def test_an_answer_that_is_not_a_function_is_told_what_it_is(kernel, cells, problem):
    kernel.run("from helpers.checks import check")
    for cell in cells:
        kernel.run(cell)
    raised, said = kernel.run(CHECK)
    assert raised == ""
    assert re.search(f"your cell above {problem}", said)


TRAIN = """
import keras, numpy
from callbacks import EpochRecorder, TrainingDashboard
keras.config.disable_interactive_logging()
data = numpy.zeros((100, 1), "float32")
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
STOPPED = """recorder = EpochRecorder()
history = model.fit(data, data, epochs=10**6, verbose=0,
                    callbacks=[TrainingDashboard(), recorder])
"""


def test_stop_means_stop(kernel):
    """One line, the curves stay, and the cells after it say what they need."""
    kernel.run(TRAIN)
    began = time.monotonic()
    raised, said = kernel.run(STOPPED, interrupt_at="Epoch 3")
    found = re.fullmatch(
        r"Stopped in epoch (\d+) of 1000000, after (\d+) s\. This cell did not finish: .*",
        raised,
    )
    assert found, raised
    assert int(found[1]) >= 3
    assert int(found[2]) <= time.monotonic() - began + 1
    assert said.count("<img alt=") == 1, "the curves so far"
    for source in ("history.history", "recorder.epochs['val_accuracy'][-1]"):
        raised, _ = kernel.run(source)
        assert "\n" not in raised
        assert "which was stopped in epoch" in raised
    assert raised.startswith("This cell needs recorder"), raised
    assert raised.endswith("It ended with IndexError: list index out of range.")
    kernel.run(STOPPED.replace("10**6", "1"))
    raised, _ = kernel.run("history.history['loss'][-1]")
    assert raised == "", "run again, it is no longer in the way"


PRINTS = "print(len(recorder.epochs['wall_seconds']))"
ABOUT = r'This cell uses `(\w+)` from cell \[\d+\], "recorder = EpochRecorder\(\)", which '


def test_a_cell_that_uses_what_a_stopped_cell_made_says_so_first(kernel):
    """What it shows is of an unfinished run, and looks as if it were not."""
    kernel.run(TRAIN)
    kernel.run(STOPPED, interrupt_at="Epoch 3")
    for _ in range(2):
        raised, said = kernel.run(PRINTS)
        assert not raised
        line, number = " ".join(said.split()).rsplit(" ", 1)
        assert re.fullmatch(
            ABOUT + r"was stopped in epoch \d+ of 1000000: what it shows is of an "
            r"unfinished run\.",
            line,
        ), said
        assert int(number) >= 2
        assert max(map(len, said.splitlines())) <= LONGEST_LINE
    silent = ["print(1)", "def own(recorder):\n    return recorder\nprint(1)"]
    silent += ["print([recorder for recorder in [1]][0])", "recorder = 1\nprint(recorder)"]
    for source in silent:  # the last one makes it for the next one, too
        assert kernel.run(source) == ("", "1\n"), source
    assert kernel.run("print(recorder)") == ("", "1\n")

    kernel.run(STOPPED.replace("10**6", "3"))
    assert kernel.run(PRINTS) == ("", "3\n")
    kernel.run(f"print('stop here')\n{WAITS}{STOPPED}", interrupt_at="waiting")
    _, said = kernel.run(PRINTS)
    said = " ".join(said.split())
    assert "what it shows may be unfinished, or of an earlier run." in said


def test_a_check_and_what_a_stopped_cell_imports_need_no_such_line(kernel):
    kernel.run("from helpers.checks import check")
    kernel.run(f"import json\n{FIT}points = [1]\n{WAITS}", interrupt_at="waiting")
    _, said = kernel.run('check("2.3", fit_throughput), points')
    assert "This cell uses" not in said
    assert kernel.run("print(json.dumps(1), fit_throughput(1)[1])") == ("", "1 1.0\n")
    assert "This cell uses `points` from" in kernel.run("print(points)")[1]
    waits = "def check(number, answer):\n    import time\n    print('waiting')\n"
    kernel.run(f"{waits}    time.sleep(60)\nfit_throughput = print")
    kernel.run('fit_throughput = check("2.3", fit_throughput)', interrupt_at="waiting")
    assert kernel.run("fit_throughput('own')") == ("", "own\n")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("check('2.3')", "check needs the number of an exercise and your answer, such as"),
        ("check(fit)", "check needs the number of an exercise and your answer, such as"),
        ("check('2.9', fit)", "There is no exercise '2.9'; there are 2.1, 2.2, 2.3."),
        ("check(2.3, fit)", "Write the number of an exercise in quotes, such as"),
    ],
)
def test_a_check_that_is_called_in_another_way_is_one_line(kernel, call, line):
    kernel.run("from helpers.checks import check\nfit = print")
    raised, _ = kernel.run(call)
    assert "\n" not in raised
    assert line in raised


def test_an_exercise_whose_cell_was_deleted_is_brought_back(kernel, tmp_path):
    """Also if its check was deleted, too, and both ran before that."""
    stored = nbformat.read(LAB.notebook, as_version=4)
    cells = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    [(answer, _)] = [one for one in cells.items() if one[1].source.startswith("# TODO 2.3")]
    path = tmp_path / "lab.ipynb"
    nbformat.write(stored, path)
    kernel.run(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(path)!r}")
    kernel.run("from helpers.checks import check")
    kernel.run("""from types import SimpleNamespace
from helpers.notebook import session
session._current = SimpleNamespace(card=SimpleNamespace(content={"lab": "02_throughput"}))
""")
    source = 'fit_throughput = check("2.3", fit_throughput)'
    run_from_page(kernel.client, "1 / 0\n" + FIT, answer)
    assert "which ended with a ZeroDivision" in run_from_page(kernel.client, source, "c")
    for deleted in (answer, "check-2-3"):
        stored.cells = [cell for cell in stored.cells if cell.id != deleted]
        time.sleep(0.01)
        nbformat.write(stored, path)
        for uses in (source, "print(fit_throughput([]))"):
            raised, _ = kernel.run(uses)
            assert raised.startswith("This notebook has no cell for 2.3 any more: "), uses
            assert "labs reset 2.3 in a terminal" in raised
    kernel.run("session._current = None")


LISTEN = """import sys
from callbacks import stopping
from keras.callbacks import LambdaCallback
recorder, heard, usual = EpochRecorder(), [], stopping.take_back
def take_back():
    heard.append(sys._getframe(1).f_code.co_name)
    usual()
stopping.take_back = take_back
"""


@pytest.mark.parametrize("callback", ["recorder", "TrainingDashboard()"])
def test_a_training_with_our_callback_stops_where_a_batch_begins(kernel, callback):
    kernel.run(TRAIN)
    kernel.run(LISTEN)
    kernel.run(
        "said = LambdaCallback(on_epoch_begin=lambda epoch, logs: print(f'in {epoch}.'))"
    )
    for _ in range(3):
        fit = f"model.fit(data, data, epochs=10**6, callbacks=[{callback}, said])"
        raised, _ = kernel.run(fit, interrupt_at="in 30.")
        assert raised.startswith("Stopped"), raised
    _, said = kernel.run("stopping.take_back = usual; print(heard)")
    assert said.count("'stop_if_asked'") == 3, said


def test_a_batch_that_takes_longer_than_a_second_is_stopped_in_it(kernel):
    kernel.run(TRAIN)
    kernel.run(LISTEN)
    kernel.run("""import time
def wait(batch, logs):
    print("waiting")
    time.sleep(60)
slow = LambdaCallback(on_train_batch_end=wait)""")
    began = time.monotonic()
    fit = "model.fit(data, data, verbose=0, callbacks=[recorder, slow])"
    raised, _ = kernel.run(fit, interrupt_at="waiting")
    assert raised.startswith("Stopped"), raised
    assert 1 < time.monotonic() - began < 30
    _, said = kernel.run("stopping.take_back = usual; print(heard)")
    assert "stop_if_asked" not in said


# Not among the student's names: what runs there is stopped, also by a second click.
CLICK_IN = '''exec("""
import importlib, signal
*path, name = {name!r}.split(".")
holder = importlib.import_module({module!r})
for part in path:
    holder = getattr(holder, part)
usual = getattr(holder, name)
def clicked(*arguments):
    signal.raise_signal(signal.SIGINT)
    return usual(*arguments)
setattr(holder, name, clicked)
""", clicks := {{}})'''
UNDO = "setattr(clicks['holder'], clicks['name'], clicks['usual'])"


def assert_one_line(raised, said):
    assert raised.startswith("Stopped"), raised
    assert "\n" not in raised
    assert "Error in callback" not in said
    assert said.count("<img alt=") == 1, "the curves so far"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("callbacks.live.views", "picture_html"),
        ("callbacks.live.under_way", "now"),
        ("helpers.notebook.cell_errors", "CellErrors._problem"),
    ],
)
def test_a_click_after_the_first_changes_nothing_at_any_moment(kernel, module, name):
    kernel.run(TRAIN)
    kernel.run(CLICK_IN.format(module=module, name=name))
    shown = kernel.run(STOPPED, interrupt_at="Epoch 3")
    ended = kernel.run(STOPPED.replace("10**6", "2"))
    kernel.run(UNDO)
    assert_one_line(*shown)
    # A first click while `fit` draws the last picture: there is no batch left to stop at.
    assert ended[0] == ""


@pytest.mark.parametrize("clicks", [(0, 0.05, 0.05), (0, 0.3), (0, 1)], ids=str)
def test_clicking_stop_again_prints_one_line_and_the_kernel_survives(kernel, clicks):
    kernel.run(TRAIN)
    assert_one_line(*kernel.run(STOPPED, interrupt_at="Epoch 3", after_seconds=clicks))
    assert kernel.run("print('the kernel goes on')") == ("", "the kernel goes on\n")


# Named as Python's own, which the square looks past: as if it were clicked at that line.
CLICK_AT = """import gc, sys, weakref
import jax
exec(compile('''
import signal, sys
def click(frame, event, argument):
    code = frame.f_code
    if code.co_name == {name!r} and code.co_filename.endswith({file!r}):
        sys.settrace(None)
        signal.raise_signal(signal.SIGINT)
''', "<frozen click>", "exec"), clicks := {{}})
sys.settrace(clicks["click"])
class Short:
    def __del__(self): pass
lives, named = weakref.WeakSet(), weakref.WeakValueDictionary()
for run in range(20):
    lives.add(Short())
    named[run] = Short()
    gc.collect()
    model.fit(data, data, epochs=5, verbose=0)"""


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (".py", "__del__"),  # Python ignores what is raised there
        ("/weakref.py", "remove"),  # and there
        ("_weakrefset.py", "_remove"),  # and there
        ("/_src/lib/__init__.py", "_xla_gc_callback"),  # and there, in JAX
        ("tensorflow/core.py", "convert_to_numpy"),  # Keras does
        ("concrete_function.py", "name"),  # TensorFlow's C++ does
        ("errors_impl.py", "__init__"),  # it makes another error of it
        ("tensor_shape.py", "__len__"),  # or writes where it should not
        ("context.py", "_handle"),  # or reads
    ],
)
def test_a_stop_is_not_lost_where_nobody_listens(kernel, file, name):
    kernel.run(TRAIN)
    raised, said = kernel.run(CLICK_AT.format(file=file, name=name))
    assert raised.startswith("Stopped"), said
    assert "\n" not in raised
    assert "ignored" not in said


# As TensorFlow, where it is stopped while it enters a device's scope.
SCOPE = '''import contextlib, time, types
library = types.ModuleType("library")
exec("""import contextlib
@contextlib.contextmanager
def scope():
    try:
        yield
    finally:
        raise RuntimeError("no proper nesting")
""", vars(library))'''
WAIT = """print("waiting")
    time.sleep(60)"""


def test_a_library_that_raises_when_it_is_stopped_does_not_hide_that(kernel):
    kernel.run(SCOPE)
    raised, _ = kernel.run(f"with library.scope():\n    {WAIT}", interrupt_at="waiting")
    assert raised.startswith("Stopped, after ")
    assert "\n" not in raised
    own = f"try:\n    {WAIT}\nexcept KeyboardInterrupt:\n    1 / 0"
    raised, _ = kernel.run(own, interrupt_at="waiting")
    assert "ZeroDivisionError" in raised, "an error of the cell's own lines is shown"
    raised, _ = kernel.run("with library.scope():\n    pass")
    assert "RuntimeError: no proper nesting" in raised


def test_an_interrupt_that_a_cell_catches_does_not_keep_it_from_being_stopped(kernel):
    source = """import time
while True:
    try:
        print("waiting")
        time.sleep(60)
    except KeyboardInterrupt:
        print("caught", end="")
        time.sleep(60)
"""
    raised, said = kernel.run(source, interrupt_at="waiting", after_seconds=(1, 1))
    assert raised.startswith("Stopped, after ")
    assert "caught" in said


def test_a_sweep_that_is_stopped_says_where(kernel):
    kernel.run("import time\nfrom callbacks import counted\npoints = {}")
    source = """def wait(size):
    print("at", size)
    time.sleep(60)
measure = counted(wait, 3, "size")
for size in (8, 16):
    points[size] = measure(size)
"""
    raised, _ = kernel.run(source, interrupt_at="at 8")
    assert raised.startswith("Stopped in size 8, after ")


# As in the labs: each says where it can be stopped, and would make `made` at its end.
LOOP = """
import contextlib, os, sys, time
from callbacks import follow
from helpers.machine.watchdog import no_hang
out = sys.stdout
def step():
    time.sleep(0.01)
def look():
    return 0.5
dashboard = TrainingDashboard("", 10, print_epochs=False)
names = lambda value: {"val_accuracy": value}
with (
    no_hang("training"),
    follow(dashboard, step, look, names, 1000, 2) as (step, look),
    open(os.devnull, "w") as file,
    contextlib.redirect_stdout(file if LOGGED else out),
):
    for epoch in range(1000):
        step(), step(), look()
        if epoch == 3:
            print("stop here", file=out)
made = 1
"""
TRAININGS = """
from callbacks import TrainingProgress
def tell(epoch, logs):
    if epoch == 3:
        print("stop here")
callbacks = [TrainingProgress(), keras.callbacks.LambdaCallback(on_epoch_end=tell)]
for run in range(3):
    model.fit(data, data, epochs=1000, verbose=0, callbacks=callbacks)
made = 1
"""
WORKERS = """
import pathlib, sys, tempfile
from helpers.machine import cluster
command = [sys.executable, "-c", "import time; time.sleep(600)"]
with cluster.start(command, 2, pathlib.Path(tempfile.mkdtemp())) as job:
    print("stop here", *job.pids)
    job.wait(600)
made = 1
"""
IN_EPOCH = r"Stopped in epoch \d+ of 1000, after \d+ s\. "


@pytest.mark.parametrize(
    ("source", "line", "pictures"),
    [
        (LOOP.replace("LOGGED", "False"), IN_EPOCH, 1),
        (LOOP.replace("LOGGED", "True"), IN_EPOCH, 1),
        (TRAININGS, IN_EPOCH, 0),
        (WORKERS, r"Stopped, after \d+ s\. ", 0),
    ],
    ids=["own loop", "own loop with a log", "trainings", "workers"],
)
def test_every_kind_of_loop_stops_with_one_line(kernel, source, line, pictures):
    kernel.run(TRAIN)
    raised, said = kernel.run(source, interrupt_at="stop here")
    assert re.fullmatch(rf"{line}This cell did not finish: .*", raised), raised
    assert said.count("<img alt=") == pictures, "the curves so far"
    raised, _ = kernel.run("made")
    assert "\n" not in raised
    assert "This cell needs made from cell" in raised
    assert "which was stopped" in raised
    pids = " ".join(re.findall(r"stop here((?: \d+)*)", said)).split()
    assert pids or source is not WORKERS
    for pid in map(int, pids):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def run_from_page(client, source, cell):
    """As JupyterLab: with the cell's id, and a session for each page that is loaded.

    Returns what the cell printed, and the lines of its error.
    """
    content = {
        "code": source, "silent": False, "store_history": True, "user_expressions": {},
        "allow_stdin": False, "stop_on_error": True,
    }  # fmt: skip
    message = client.session.msg("execute_request", content, metadata={"cellId": cell})
    client.shell_channel.send(message)
    said = []
    while True:
        heard = client.get_iopub_msg(timeout=60)
        if heard["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        said.append(heard["content"].get("text", ""))
        said += [" ".join(heard["content"].get("traceback", ()))]
        if heard["content"].get("execution_state") == "idle":
            return "".join(said)


def test_a_reloaded_page_is_told_which_cells_ran_without_it(started, kernel):
    stored = nbformat.read(LAB.notebook, as_version=4).cells
    cells = [cell.id for cell in stored if cell.cell_type == "code"]
    assert run_from_page(kernel.client, "first = 1", cells[0]) == ""
    run_from_page(kernel.client, "second = first + 1", cells[1])
    run_from_page(kernel.client, "import no_such_module", cells[2])
    again = BlockingKernelClient(connection_file=started[0].connection_file)
    again.load_connection_file()
    again.start_channels()
    again.wait_for_ready(timeout=60)
    said = run_from_page(again, "print(second)", cells[3])
    assert re.search(
        r'the output of 3 cells, from \[\d+\], "first = 1", to \[\d+\], '
        r'"import no_such_module"\. The last one ended with a ModuleNotFoundError\.',
        " ".join(said.split()),
    ), said
    assert said.endswith("\n2\n")
    assert max(map(len, said.splitlines())) <= 92
    assert run_from_page(again, "print(second)", cells[3]) == "2\n", "it is said once"
    again.stop_channels()


def test_a_name_that_was_deleted_is_not_one_whose_cell_was_never_run(kernel, tmp_path):
    sources = ["first = 1", "second = first + 1", "third = 3", "print(third)"]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    path = tmp_path / "lab.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    kernel.run(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(path)!r}")
    kernel.run("first = 1")
    raised, _ = kernel.run("print(second)")
    assert 'the cell "second = first + 1" has not been run' in raised
    kernel.run("del first")
    raised, _ = kernel.run("second = first + 1")
    assert raised == 'There is no first: run the cell "first = 1" again.'
    # An answer that was changed in the notebook, but not run again.
    run_from_page(kernel.client, "pass", cells[2]["id"])
    raised, _ = kernel.run("print(third)")
    assert raised == 'There is no third: run the cell "third = 3" again.'


@pytest.mark.parametrize("number", ["00", "02"])
def test_after_a_restart_each_cell_says_in_one_line_what_it_needs(kernel, number):
    lab = find_lab(number)
    kernel.run(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(lab.solution)!r}")
    said = {}
    for cell in nbformat.read(lab.solution, as_version=4).cells:
        # What imports or defines something runs anywhere.
        if cell.cell_type != "code" or cell.metadata.get("jupyter"):
            continue
        kernel.run(FORGET)
        raised, _ = kernel.run(cell.source)
        said[cell.id] = raised
    assert not {name: text for name, text in said.items() if "\n" in text}
    needed = [text for text in said.values() if "has not been run. " in text]
    assert len(needed) > len(said) / 2


def test_a_name_that_a_later_cell_has_made_is_not_blamed_on_one_that_failed(kernel):
    kernel.run("rate = 0.1\nfitted = dict(rate=rate) + 1")
    kernel.run("fitted = [1]")
    raised, _ = kernel.run("print(fitted[3])")
    assert "needs fitted" not in raised
    assert "IndexError" in raised.splitlines()[-1]
    kernel.run("from helpers.checks import check")
    kernel.run("sweep = None")
    kernel.run("def sweep(:\n    pass")
    kernel.run(CHECK)
    raised, _ = kernel.run("sweep(1)")
    assert "needs sweep from cell" in raised, "a check makes no answer"


def test_a_variable_of_a_comprehension_is_no_name_of_its_cell(kernel):
    kernel.run("lengths = {own_name: 1 for own_name in ('a', 'b')} + 1")
    raised, _ = kernel.run("own_name / 0")
    assert "needs own_name" not in raised
