"""The quiz at the end of a lab.

Not jupyterquiz: its questions are drawn by a script, so a reader of the exported page
and nbval would see none, and its answers do not come back to Python, for the run card.
"""

from helpers import session
from helpers.coach.texts import as_html, labs_with_texts, read_texts
from helpers.errors import RecordError

RIGHT, WRONG = "✓ Right.", "✗ Not right."
# ipywidgets gives each choice the height of one line: a longer text would overlap. Its
# radio buttons are no group to a browser, so the arrow keys belong to JupyterLab.
HEAD = """<style>
.labs-quiz .widget-radio-box label {height: auto; white-space: normal}
.labs-quiz .widget-radio-box label, .labs-quiz .widget-html-content {line-height: 1.5}
</style>
<p>Choose an answer. Without a mouse: the Tab key goes to the next, Space chooses.</p>"""


def quiz(number):
    """Show a lab's questions, each with an explanation for every choice.

    In JupyterLab as radio buttons, and the answers go to the run card; elsewhere each
    choice is a line that opens.

    Parameters
    ----------
    number : str
        The lab's, ``"02"``.
    """
    from IPython.display import HTML, display

    from callbacks.live.place import in_jupyterlab

    questions = read_texts(number)["quiz"]
    if not questions:
        print(f"There is no quiz {number!r}; there are {', '.join(labs_with_texts())}.")
        return
    page = static_quiz(questions)
    if not in_jupyterlab():
        display(HTML(page))
        return
    # The page goes along, for an export to HTML, where no widget lives.
    others = {"text/html": page, "text/plain": f"A quiz of {len(questions)} questions"}
    bundle = live_quiz(questions)._repr_mimebundle_() | others
    display(bundle, raw=True)


def static_quiz(questions):
    """The quiz as HTML without any script; the same to the letter every time."""
    parts = []
    for asked, question in enumerate(questions, start=1):
        legend = f"{asked}. {as_html(question['question'])}"
        choices = "\n".join(
            f"<details><summary>{as_html(choice['text'])}</summary>"
            f"<p>{_verdict(choice)}</p></details>"
            for choice in question["choices"]
        )
        parts.append(f"<fieldset><legend>{legend}</legend>\n{choices}\n</fieldset>")
    return "<p>Open the answer that you would give.</p>\n" + "\n".join(parts)


def live_quiz(questions):
    """The quiz as widgets: radio buttons, none chosen at first, and what the choice is.

    Returns
    -------
    ipywidgets.VBox
    """
    from ipywidgets import HTML, Layout, VBox

    asked = [_live_question(*pair) for pair in enumerate(questions, start=1)]
    box = VBox([HTML(HEAD, layout=Layout(width="auto")), *asked])
    box.add_class("labs-quiz")
    return box


def _live_question(number, question):
    from ipywidgets import HTML, Layout, RadioButtons, VBox

    choices = question["choices"]
    names = [choice["text"].replace("`", "") for choice in choices]  # labels are plain
    options = list(zip(names, range(len(names)), strict=True))
    wide = Layout(width="auto")
    buttons = RadioButtons(options=options, value=None, layout=wide)
    explanation = HTML(layout=wide)

    def answered(change):
        choice = choices[change["new"]]
        explanation.value = _announced(_verdict(choice))
        if card := session.current_card():
            try:
                card.answer(number, change["new"] + 1, choice.get("right", False))
            except RecordError as error:  # a callback has no cell to end in one line
                explanation.value += f"<p>{as_html(str(error))}</p>"

    buttons.observe(answered, "value")
    legend = HTML(f"<p><b>{number}. {as_html(question['question'])}</b></p>", layout=wide)
    return VBox([legend, buttons, explanation])


def _verdict(choice):
    word = RIGHT if choice.get("right") else WRONG
    return f"<strong>{word}</strong> {as_html(choice['why'])}"


def _announced(text):
    """For screen readers: an alert is a live region that speaks when it is put in.

    Others have to be there before, and the widget replaces all that it holds.
    """
    return f'<div role="alert">{text}</div>'
