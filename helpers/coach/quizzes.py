"""The quiz at the end of a lab.

Why not jupyterquiz: a script draws its questions, so an exported page and nbval would
show none. Its answers do not reach Python, so the run card could not note them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from helpers.errors import RunCardError
from helpers.notebook import messages, session
from helpers.texts import as_html, labs_with_texts, read_texts

if TYPE_CHECKING:
    from ipywidgets import VBox

RIGHT, WRONG = "✓ Right.", "✗ Not right."
WITHOUT_A_KERNEL = "<p>Open the answer that you would give.</p>"
ADVICE = (
    "<p>Open the answer that you would give. "
    "Run this cell before, if your answers are to count.</p>"
)
# ipywidgets gives each choice the height of one line: a longer text would overlap. For
# a browser its radio buttons are no group: callbacks/live/accessible.js moves the focus.
# As the radio buttons look, in whose place it is stored. nbval compares the page without.
STYLES = {
    "fieldset": "border: 0; padding: 0; margin: 0 0 1em; min-width: 0",
    "legend": "font-weight: bold; padding: 0; border: 0; font-size: inherit",
}
HEAD = """<style>
.labs-quiz .widget-radio-box label {height: auto; white-space: normal; display: flex;
align-items: flex-start}
.labs-quiz .widget-radio-box {padding-left: 4px; box-sizing: border-box}
.labs-quiz .widget-radio-box input {flex: none; order: -1}
.labs-quiz .widget-radio-box label, .labs-quiz .widget-html-content {line-height: 1.5}
</style>
<p>Choose an answer. Without a mouse: the arrow keys go to the next, Space chooses.</p>"""


def quiz(number: str | None = None) -> None:
    """Show a lab's questions, each with an explanation for every choice.

    In JupyterLab the choices are radio buttons, and the answers go to the run card.
    Elsewhere each choice is a line that opens.

    Parameters
    ----------
    number : str
        The lab's, ``"02"``.
    """
    from IPython.display import HTML, display

    from callbacks.live.picture import display_live
    from callbacks.live.place import in_jupyterlab

    if number is None:
        there_are = ", ".join(labs_with_texts())
        print(f'quiz needs the number of a lab, as quiz("02"); there are {there_are}.')
        return
    questions = read_texts(number)["quiz"]
    if not questions:
        print(f"There is no quiz {number!r}; there are {', '.join(labs_with_texts())}.")
        return
    if not in_jupyterlab():
        display(HTML(static_quiz(questions)))
        return
    given = earlier_choices(number, questions)

    def answered(number, choice):
        given[number] = choice
        keep(kept_quiz(questions, given))

    keep = display_live(live_quiz(questions, answered, given))
    keep(kept_quiz(questions, given))


def earlier_choices(number: str, questions: list[dict]) -> dict[int, dict]:
    """The student's answers, in any run of the lab in this kernel.

    Parameters
    ----------
    number : str
        The quiz's lab, ``"02"``.
    questions : list of dict
        See `read_texts`.

    Returns
    -------
    dict of int to dict
        For each question's number, from 1, the last choice.
    """
    card = session.current_card()
    if not card or card.content["lab"][:2] != number:
        return {}
    answers = session.done_so_far().answers
    last = {int(name): answer["last"]["choice"] for name, answer in answers.items()}
    return {
        asked: questions[asked - 1]["choices"][place - 1]
        for asked, place in last.items()
        # A quiz may have become shorter since.
        if asked <= len(questions) and place <= len(questions[asked - 1]["choices"])
    }


def static_quiz(
    questions: list[dict], given: Mapping[int, dict] = MappingProxyType({})
) -> str:
    """The quiz as HTML without any script; without answers it is identical every time.

    Parameters
    ----------
    questions : list of dict
        See `read_texts`.
    given : dict of int to dict
        For each question's number, from 1, the last choice: it is open, with its verdict.

    Returns
    -------
    str
    """
    rest = " Run this cell to answer the others." * (len(given) < len(questions))
    count = f"<p>You have answered {len(given)} of {len(questions)} questions.{rest}</p>"
    parts = [count if given else ADVICE]
    for asked, question in enumerate(questions, start=1):
        legend = f"{asked}. {as_html(question['question'])}"
        choices = "\n".join(
            _static_choice(choice, is_given=choice == given.get(asked))
            for choice in question["choices"]
        )
        parts.append(f"<fieldset><legend>{legend}</legend>\n{choices}\n</fieldset>")
    return "\n".join(parts)


def _static_choice(choice, is_given):
    text, verdict = as_html(choice["text"]), _verdict(choice)
    if is_given:
        text, verdict = f"{text} <em>(your answer)</em>", _coloured(choice)
    is_open = " open" * is_given
    return f"<details{is_open}><summary>{text}</summary><p>{verdict}</p></details>"


def kept_quiz(questions: list[dict], given: Mapping[int, dict]) -> str:
    """What a notebook keeps: in a card, without frames around the groups of choices."""
    page = static_quiz(questions, given)
    for name, style in STYLES.items():
        page = page.replace(f"<{name}>", f'<{name} style="{style}">')
    return messages.card("quiz", page)


def live_quiz(
    questions: list[dict],
    answered: Callable = lambda number, choice: None,
    given: Mapping[int, dict] = MappingProxyType({}),
) -> "VBox":
    """The quiz as widgets: radio buttons, and the explanation of what is chosen.

    Parameters
    ----------
    questions : list of dict
        See `read_texts`.
    answered : callable
        ``answered(number, choice)`` is called for each answer.
    given : dict of int to dict
        For each question's number the choice of an earlier run. All others begin without.

    Returns
    -------
    ipywidgets.VBox
    """
    from ipywidgets import HTML, Layout, VBox

    asked = [
        _live_question(number, question, answered, given.get(number))
        for number, question in enumerate(questions, start=1)
    ]
    box = VBox([HTML(HEAD, layout=Layout(width="auto")), *asked])
    box.add_class("labs-quiz")
    return box


def _live_question(number, question, tell, given):
    from ipywidgets import HTML, Layout, RadioButtons, VBox

    choices = question["choices"]
    names = [choice["text"].replace("`", "") for choice in choices]  # labels are plain text
    options = list(zip(names, range(len(names)), strict=True))
    wide = Layout(width="auto")
    chosen = choices.index(given) if given else None
    buttons = RadioButtons(options=options, value=chosen, layout=wide)
    explanation = HTML(_coloured(given) if given else "", layout=wide)

    def answered(change):
        choice = choices[change["new"]]
        explanation.value = _announced(_coloured(choice))
        tell(number, choice)
        if card := session.current_card():
            try:
                card.answer(number, change["new"] + 1, choice.get("right", False))
                session.refresh_end()
            except RunCardError as error:  # a callback has no cell to show it
                explanation.value += f"<p>{as_html(str(error))}</p>"

    buttons.observe(answered, "value")
    legend = HTML(f"<p><b>{number}. {as_html(question['question'])}</b></p>", layout=wide)
    return VBox([legend, buttons, explanation])


def _verdict(choice):
    word = RIGHT if choice.get("right") else WRONG
    return f"<strong>{word}</strong> {as_html(choice['why'])}"


def _coloured(choice):
    """A verdict in JupyterLab: `messages.SHEET` has its colours."""
    right = "right" if choice.get("right") else "wrong"
    return _verdict(choice).replace("<strong>", f'<strong class="labs-{right}">', 1)


def _announced(text):
    """For screen readers: they read out an alert as soon as it is inserted.

    Other live regions must exist before, but the widget replaces all its content.
    """
    return f'<div role="alert">{text}</div>'
