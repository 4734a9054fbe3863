"""Exercise 9.3 in boxes: each life is one, and the grader is the disk between them."""

import inspect
import json
import queue
import random
import threading

import pytest

from helpers.checks import judge_replies
from helpers.checks.observe import observe
from helpers.exercise import find_exercise
from helpers.lab_09.ex3_train_with_saves import inside, outside, saves
from kit.grading.box import sandbox
from tests.answers.lab_09 import ex3_train_with_saves as recorded
from tests.asked import only, right_places
from tests.submissions.one_cell import examined

needs_box = pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
in_boxes = pytest.mark.xdist_group("grading")
NUMBER = "9.3"


class Killed(BaseException):
    """Ends the thread of a life."""


class Threads:
    """In place of `kit.grading.box.several.Talk`, because threads start sooner."""

    def __init__(self, answer):
        self.answer, self.nonce = answer, ""
        self.said, self.replies, self.threads = queue.SimpleQueue(), {}, {}

    def ask(self, question):
        self.nonce, self.error = question["nonce"], None
        try:
            return outside.ask(question, self) | {"nonce": self.nonce}
        except InterruptedError as error:
            return error.args[0]

    def begin(self, number, question):
        assert number not in self.replies, "one life at a time"
        self.replies[number] = replies = queue.SimpleQueue()

        def wait(message):
            self.said.put(json.dumps({"wait": message}))
            if (reply := replies.get(timeout=60)) is None:
                raise Killed
            return json.loads(reply)

        def live():
            told = json.loads(json.dumps(question | {"nonce": self.nonce}))
            seen = observe(inside.probe, self.answer, told, wait)
            if replies is self.replies.get(number):  # not killed
                self.said.put(json.dumps({"observation": seen}))

        self.threads[number] = threading.Thread(target=live, daemon=True)
        self.threads[number].start()

    def say(self, number, message):
        self.replies[number].put(json.dumps(message))

    def listen(self):
        message = json.loads(self.said.get(timeout=60))
        if "error" in message.get("observation", {}):
            raise InterruptedError(message["observation"])
        return 0, message

    def end(self, number):
        self.replies.pop(number).put(None)
        self.threads.pop(number).join()


def verdict(answer):
    return judge_replies(NUMBER, Threads(answer).ask, random.Random(3), 1)


# `test_checks.py` asks about the first wrong answer to each sentence.
@pytest.mark.parametrize("place", only(range(3), range(len(recorded.WRONG))))
def test_a_wrong_answer_is_told_what_the_notebook_tells_it(place):
    requirement, mistake, answer = recorded.WRONG[place]
    said = verdict(answer)
    sentence = find_exercise(NUMBER).requirements[requirement]
    assert (said.mistake, said.requirement) == (mistake, sentence), said.reason


@pytest.mark.parametrize("place", right_places(recorded.RIGHT))
def test_a_right_answer_passes(place):
    said = verdict(recorded.RIGHT[place])
    assert said is None, said


REFERENCE = inspect.getsource(find_exercise(NUMBER).reference)
SIGNATURE = REFERENCE.split('"""')[0].replace("def ", "", 1)
SOLUTION = f"""
import os
import tensorflow as tf
{REFERENCE.replace("def train_with_saves", "def honest", 1)}
def {SIGNATURE.strip()}
BODY
    return honest(
        model, optimizer, train_step, data, epochs, folder, save_every, chief
    )
"""


@pytest.mark.slow
@in_boxes
@needs_box
def test_the_reference_passes_in_boxes():
    one = examined(NUMBER, SOLUTION.replace("BODY", ""), boxed=True)
    assert one["passed"], one["reason"]
    assert len(one["observation"]["lives"]) == 5


SPEAKS = """
    import json, os
    def wait(**message):
        os.write(3, json.dumps({"wait": message}).encode() + b"\\\\n")
"""
HOSTILE = {
    "asks for no batch": "wait()",
    "asks for a text": "wait(batch=['a', 'b'])",
    "asks for three numbers": "wait(batch=[0, 0, 0])",
    "leaves the folder": "wait(batch=[0, 0], files={'../x': []})",
    "begins at the root": "wait(batch=[0, 0], files={'/x': []})",
    "writes no base64": "wait(batch=[0, 0], files={'x': ['?']})",
    "writes too much": "wait(batch=[0, 0], files={'x': ['AAAA' * 400] * 120})",
    "writes too many": "wait(batch=[0, 0], files={str(n): [] for n in range(101)})",
    "asks without end": "[wait(batch=[0, 0]) for _ in range(50000)]",
}


@pytest.mark.slow
@in_boxes
@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_life_says_ends_the_exercise(name):
    body = SPEAKS.replace("\\\\", "\\") + f"    {HOSTILE[name]}\n"
    one = examined(NUMBER, SOLUTION.replace("BODY", body))
    assert one["mistake"] == "form", one["reason"]


@pytest.mark.slow
@in_boxes
def test_a_killed_life_does_nothing_any_more():
    """Not even where it catches everything: it would write into the next life's folder."""
    body = """
    import atexit, signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    def catches(batch):
        try:
            step(batch)
        except BaseException:
            while True:
                os.makedirs(folder, exist_ok=True)
                open(os.path.join(folder, "ckpt-999.index"), "w").close()
    step, train_step = train_step, catches"""
    one = examined(NUMBER, SOLUTION.replace("BODY", body))
    assert one["passed"], one["reason"]


def test_files_travel_as_they_are(tmp_path):
    files = {"a.index": b"", "deep/b": bytes(range(256)) * 40}
    there = json.loads(json.dumps(saves.packed(files)))
    saves.write(tmp_path / "new", saves.unpacked(there))
    (tmp_path / "new" / "link").symlink_to("/etc/hostname")
    assert saves.read(tmp_path / "new") == files
    saves.write(tmp_path / "none", {})
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "files", [{"x": bytes(saves.MOST_BYTES + 1)}, {str(n): b"" for n in range(101)}]
)
def test_a_folder_that_is_too_large_is_refused_where_it_is_read(files, tmp_path):
    saves.write(tmp_path, files)
    with pytest.raises(ValueError, match="more than"):
        saves.read(tmp_path)
