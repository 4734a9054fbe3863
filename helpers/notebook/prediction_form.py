"""A form for a prediction, beside the way in code: fields, and a button that locks them."""

import ast
import contextlib
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard

from helpers.errors import RunCardError
from helpers.notebook import messages
from helpers.run_card import predictions
from helpers.run_card.prediction_kinds import AS_PYTHON, OF_EACH_NAME, WRITE, fits
from helpers.texts import as_html

if TYPE_CHECKING:
    from ipywidgets import VBox

MOST_ROWS = 12
LONGEST_ALIGNED = 24  # letters of a label
# What `WRITE` asks for in code, without its quotes and brackets.
PLAIN = {kind: text.replace(AS_PYTHON, "such as 0.5") for kind, text in WRITE.items()} | {
    "list": "numbers above 0, such as 16, 256, or none", "word": "a word",
    "place": "a whole number, such as 1 for the first",
}  # fmt: skip
AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # in English a thousand, elsewhere one
HOW = "type it below and press Lock, or write it in place of None and run this cell again."
OPEN = f"No prediction yet: {HOW}"
OPEN_AGAIN = f"You may predict again for this run: {HOW}"
# For callbacks/live/accessible.js and picture.py.
FORM, LEGEND = "labs-prediction", "labs-legend"
REFUSED, PROBLEM = "labs-refused", "labs-problem"
NO_NUMBERS = (
    'There is no prediction yet: write numbers, or "none" if you expect none, and press '
    "Lock again."
)
NOT_LIVE = "<p>The form is not live any more: run this cell again to use it.</p>"
KEPT = "Kept, but not scored."


def ask(
    kind: str,
    value: object,
    lock: Callable[[object], str],
    earlier: str = "",
    about: str = "",
    choices: Sequence[str] = (),
    label: str = "{}",
) -> bool:
    """Show the form in JupyterLab, below a message that it is open, and later locked.

    Elsewhere nothing is shown, because nobody could press a button.

    Parameters
    ----------
    kind : str
        See `helpers.run_card.prediction_kinds`.
    value : object
        What the cell has: None, or a dict whose values are None.
    lock : callable
        ``lock(value)`` notes the prediction and locks it, or raises `RunCardError`. It
        returns a line if the prediction comes too late.
    earlier : str
        A line on the prediction of an earlier run, or nothing.
    about : str
        The prediction's name in words, which stands above the form.
    choices : sequence of str
        The words that are possible, for a prediction in words.
    label : str
        What stands before each field, such as ``"batch size {}"`` for the name 8.

    Returns
    -------
    bool
        Whether it is shown.
    """
    from callbacks.live.picture import display_live
    from callbacks.live.place import in_jupyterlab

    def lock_and_say(value):
        line = lock(value)
        say(*messages.prediction(line or predictions.locked(value)))
        keep("")
        return KEPT if line else line  # the message above has the reason

    if not in_jupyterlab() or not (
        form := prediction_form(kind, value, lock_and_say, choices, label)
    ):
        return False
    open_now = f"{earlier} {OPEN_AGAIN}" if earlier else OPEN
    say = messages.show_changing(*messages.prediction(open_now))
    title = f"Your prediction: {about}"
    keep = display_live(_with_legend(form, title))
    keep(NOT_LIVE)
    return True


def names_of_cell(name: str) -> Callable[[object], None]:
    """A function that binds a locked prediction to the names of the cell under way.

    After ``guess = card.predict("ratio", my_guess)`` both are None, and later cells read
    them. They are bound as if the student had written the prediction into the cell, and so
    is what the cell computes from them: ``seconds = {n: 2 * guess[n] for n in guess}``.

    Parameters
    ----------
    name : str
        The prediction's.

    Returns
    -------
    callable
        ``bind(given)``. A name that has got another value since keeps it.
    """
    from callbacks.live.place import current_shell

    shell = current_shell()
    if shell is None:
        return lambda given: None
    names_now = shell.user_ns
    try:
        tree = ast.parse(names_now.get("In", [""])[-1])
    except SyntaxError:  # a magic
        return lambda given: None
    targets, arguments, computed = [], [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names = [one.id for one in node.targets if isinstance(one, ast.Name)]
            value = node.value
            if isinstance(value, ast.BoolOp):  # card.predict(...) or {}
                value = value.values[0]
            if _predicts(value, name):
                targets += names
            elif names and any(
                isinstance(one, ast.Name) and one.id in targets for one in ast.walk(value)
            ):
                computed.append((names, ast.unparse(node)))
        elif _predicts(node, name) and isinstance(node.args[1], ast.Name):
            arguments.append(node.args[1].id)

    def bind(given):
        without = given
        if isinstance(given, dict):
            without = {key: one for key, one in given.items() if one is not None}
        values = dict.fromkeys(arguments, given) | dict.fromkeys(targets, without)
        for own, value in values.items():
            if _is_open(names_now.get(own)):
                names_now[own] = value
        for names, source in computed:
            if all(_is_open(names_now.get(own)) for own in names):
                with contextlib.suppress(Exception):  # as before, without a prediction
                    exec(source, names_now)

    return bind


def _predicts(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "predict"
        and len(node.args) == 2
        and getattr(node.args[0], "value", None) == name
    )


def _is_open(value):
    return value is None or (
        isinstance(value, dict) and all(one is None for one in value.values())
    )


def prediction_form(
    kind: str,
    value: object,
    lock: Callable[[object], str],
    choices: Sequence[str] = (),
    label: str = "{}",
) -> "VBox | None":
    """The form as a widget; parameters as those of `ask`.

    Returns
    -------
    ipywidgets.VBox or None
        None where the cell holds something that a form cannot show.
    """
    from ipywidgets import HTML, Button, Layout, VBox

    of_each, names = OF_EACH_NAME.get(kind), [None]
    if of_each:
        names = list(value) if isinstance(value, dict) else []
        if not 0 < len(names) <= MOST_ROWS:
            return None
    labels = [""]
    if of_each:
        labels = [label.format(name).replace("_", " ")[:60] for name in names]
    longest = max(map(len, labels))
    fields = [_field(of_each or kind, text, longest, choices) for text in labels]
    reasons = [HTML(layout=Layout(width="auto", display="none")) for _ in fields]
    reply = HTML(layout=Layout(width="auto"))
    button = Button(
        description="Lock",
        tooltip="Lock this prediction before the measurement",
        button_style="primary",
    )

    asked_about = []

    def refuse(field, reason, line):
        """Say what is wrong below its field; an empty line takes it back."""
        reason.value = _problem(line) if line else ""
        reason.layout.display = None if line else "none"
        (field.add_class if line else field.remove_class)(REFUSED)

    def pressed(_):
        reply.value = ""
        read = [_read(of_each or kind, field.value, choices) for field in fields]
        values, problems = zip(*read, strict=True)
        for row in zip(fields, reasons, problems, strict=True):
            refuse(*row)
        if any(problems):
            return
        empty = [text for text, one in zip(labels, values, strict=True) if one is None]
        if 0 < len(empty) < len(names) and empty != asked_about:
            asked_about[:] = empty
            line = (
                f"Still empty: {', '.join(empty)}. Fill in the rest, or press Lock again."
            )
            reply.value = _problem(line)
            return
        try:
            line = lock(dict(zip(names, values, strict=True)) if of_each else values[0])
        except RunCardError as error:  # a callback has no cell to show it
            said = str(error).replace("run the cell again", "press Lock again")
            line = said[0].upper() + said[1:]
            if of_each:
                reply.value = _problem(line)
            else:
                refuse(fields[0], reasons[0], line)
            return
        # First: accessible.js moves the focus there.
        reply.value = f'<div role="alert">{as_html(line or "Locked.")}</div>'
        for widget in (*fields, button):
            widget.disabled = True

    button.on_click(pressed)
    rows = [part for row in zip(fields, reasons, strict=True) for part in row]
    form = VBox([*rows, button, reply])
    form.add_class(FORM)
    return form


def _problem(line):
    icon = '<span aria-hidden="true">✗ </span>'
    return f'<div role="alert" class="{PROBLEM}">{icon}{as_html(line)}</div>'


def _with_legend(form, text):
    """A form below its title, since a cell may have several; accessible.js reads it."""
    from ipywidgets import HTML, Layout, VBox

    legend = HTML(f"<strong>{as_html(text)}</strong>", layout=Layout(width="auto"))
    legend.add_class(LEGEND)
    return VBox([legend, form])


def _field(kind, text, letters, words):
    """A field; with short labels, all boxes of a form begin at the same place."""
    from ipywidgets import Layout, Text, ToggleButtons

    label = text or "Your prediction"
    is_short = 0 < letters <= LONGEST_ALIGNED
    wide = {"description_width": f"{letters + 2}ch" if is_short else "initial"}
    choices = [("yes", True), ("no", False)] if kind == "truth" else words
    if choices:
        return ToggleButtons(options=choices, value=None, description=label, style=wide)
    return Text(
        placeholder=PLAIN[kind].removesuffix(", such as 0.5"), description=label,
        style=wide, continuous_update=False,
        layout=Layout(width="auto", max_width="28rem"),
    )  # fmt: skip


def _read(kind, given, choices):
    """What a field holds, as Python, and what is wrong with it, or nothing."""
    value = given
    if isinstance(given, str) and kind != "word":
        text = given.strip().strip("[]").strip()
        if AMBIGUOUS.fullmatch(text) and kind != "list":
            thousand, small = text.replace(",", ""), text.replace(",", ".")
            return None, f"{text} may mean {thousand} or {small}: write it without a comma."
        if kind != "list":
            one = text.replace(",", ".") if text.count(",") == 1 else text
            value = _number(one) if text else None
        elif not given.strip():
            return None, NO_NUMBERS
        else:
            parts = [] if text.lower() == "none" else text.split(",")
            value = [_number(part) for part in parts if part.strip()]
    if value is None or fits(kind, value, choices):
        return value, ""
    typed = textwrap.shorten(str(given), 40, placeholder=" ...")
    return None, f"Write {PLAIN[kind]}, not “{typed}”."


def _number(text):
    try:
        number = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text.strip()
    return number if isinstance(number, int | float) else text.strip()
