"""Exercises 9.1 and 11.3, with a box for each worker: the grader is the network."""

import inspect
import random
import textwrap
import time

import numpy as np
import psutil
import pytest

from helpers.checks import judge_answer
from helpers.exercise import find_exercise
from helpers.workers import array_message
from kit.grading.box import sandbox
from tests.answers.lab_09 import ex1_ring_all_reduce as recorded
from tests.answers.lab_09.shared import ring
from tests.answers.lab_11 import ex3_sharded_step as recorded_steps
from tests.asked import right_places, wrong_places
from tests.submissions.one_cell import examined

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("grading")]
needs_box = pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
LIMITS = sandbox.Limits(memory_mib=2048, wall_seconds=60)
RING = "import numpy as np\n" + inspect.getsource(ring).replace("ring(", "honest(", 1)


def cell(body):
    """A right answer that does something first."""
    return (
        f"{RING}\ndef ring_all_reduce(array, rank, workers, send, receive):\n"
        f"{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
        "    return honest(array, rank, workers, send, receive)\n"
    )


@pytest.mark.parametrize("place", wrong_places(recorded.WRONG))
def test_a_wrong_answer_is_told_what_the_notebook_tells_it(place):
    _, mistake, answer = recorded.WRONG[place]
    requirement = find_exercise("9.1").requirements[recorded.WRONG[place][0]]
    told = judge_answer("9.1", answer, random.Random(1))
    assert (told.mistake, told.requirement) == (mistake, requirement)
    module = recorded.__name__
    one = examined(
        "9.1", f"from {module} import WRONG\nring_all_reduce = WRONG[{place}][2]"
    )
    assert (one["mistake"], one["requirement"]) == (mistake, requirement), one["reason"]


@pytest.mark.parametrize("place", right_places(recorded.RIGHT))
def test_a_right_answer_passes(place):
    module = recorded.__name__
    one = examined("9.1", f"from {module} import RIGHT\nring_all_reduce = RIGHT[{place}]")
    assert one["passed"], one["reason"]


@pytest.mark.parametrize("place", wrong_places(recorded_steps.WRONG))
def test_a_wrong_sharded_step_is_told_what_the_notebook_tells_it(place):
    requirement, mistake, _ = recorded_steps.WRONG[place]
    module = recorded_steps.__name__
    one = examined("11.3", f"from {module} import WRONG\nsharded_step = WRONG[{place}][2]")
    sentence = find_exercise("11.3").requirements[requirement]
    assert (one["mistake"], one["requirement"]) == (mistake, sentence), one["reason"]


@pytest.mark.parametrize("place", right_places(recorded_steps.RIGHT))
def test_a_right_sharded_step_passes(place):
    module = recorded_steps.__name__
    one = examined("11.3", f"from {module} import RIGHT\nsharded_step = RIGHT[{place}]")
    assert one["passed"], one["reason"]


@needs_box
def test_a_sharded_step_passes_in_boxes_that_the_kernel_closes():
    source = inspect.getsource(recorded_steps.with_slices).replace(
        "with_slices", "sharded_step"
    )
    text = f"import itertools\nimport numpy as np\n{source}"
    one = examined("11.3", text, boxed=True, limits=LIMITS)
    assert one["passed"], one["reason"]


@needs_box
def test_a_right_answer_passes_in_boxes_of_which_nothing_is_left():
    one = examined("9.1", cell(""), boxed=True, limits=LIMITS)
    assert one["passed"], one["reason"]
    assert not one["borrowed"]
    children = psutil.Process().children(recursive=True)
    psutil.wait_procs(children, 1)
    assert not [
        child for child in children if child.is_running() and "bwrap" in _name(child)
    ]


def _name(process):
    try:
        return process.name()
    except psutil.Error:
        return ""


@needs_box
def test_the_boxes_of_an_exercise_share_one_limit_of_memory():
    body = "import time\nkept = b'x' * (400 * 2**20)\ntime.sleep(3)"
    one = examined("9.1", cell(body), boxed=True, limits=LIMITS)
    assert one["mistake"] == "memory", one["reason"]


def test_the_boxes_of_an_exercise_share_one_limit_of_time():
    body = "import time\ntime.sleep(5 if rank == 0 else 0)"
    began = time.monotonic()
    one = examined("9.1", cell(body), limits=LIMITS._replace(wall_seconds=4))
    assert one["mistake"] in ("time", "overloaded"), one["reason"]
    assert time.monotonic() - began < 60


def test_no_box_has_the_array_of_another_worker():
    """Its memory holds one such array and no other: all have the same length."""
    body = """
    import gc
    arrays = [o for o in gc.get_objects() if isinstance(o, list) and len(o) == len(array)]
    seen = {tuple(o) for o in arrays if all(isinstance(v, float) for v in o)}
    frames, frame = [], __import__("sys")._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, np.ndarray) and value.shape == array.shape:
                seen.add(tuple(value.tolist()))
        frame = frame.f_back
    if workers > 1:
        raise ValueError(f"{len(seen - {tuple(array.tolist())})} others")
    """
    one = examined("9.1", cell(body))
    assert "ValueError: 0 others" in one["reason"]


SPEAKS = """
import json, os
def say(message): os.write(3, json.dumps(message).encode() + b"\\n")
def wait(message): say({"wait": message})
def sends(**changes): wait({"send": AFTER, "array": ARRAY | changes})
ARRAY = {"dtype": "<f4", "shape": [1], "content": "AACAPw=="}
"""
HOSTILE = {
    "sends to nobody": "wait({'send': 99, 'array': ARRAY})",
    "sends to a text": "wait({'send': 'x', 'array': ARRAY})",
    "sends to a truth": "wait({'send': True, 'array': ARRAY})",
    "waits for nobody": "wait({'receive': -1})",
    "sends no array": "wait({'send': after, 'array': [1]})",
    "sends an object": "sends(dtype='|O')",
    "sends fewer bytes": "sends(shape=[9])",
    "sends a negative shape": "sends(shape=[-1])",
    "sends a shape of truths": "sends(shape=[True])",
    "sends no base64": "sends(content='\\u20ac')",
    "sends a large array": "sends(dtype='|u1', shape=[60000], content='AAAA' * 20000)",
    "sends what is too long": "say('x' * 2**20)",
    "says two things at once": "wait({'receive': before}); wait({'receive': before})",
    "waits some seconds": "wait(1)",
    "waits for a list": "wait([])",
    "says more than a message": "wait({'receive': 0, 'send': 0})",
    "says a number": "say({'number': 1})",
    "ends the question": "say({'observation': {'cases': [], 'changed': ''}})",
    "ends the question with lists": "say({'observation': []})",
    "says that it is ready for ever": "[wait({'ready': True}) for _ in range(20000)]",
    "reads no reply": "[sends() for _ in range(50000)]",
    "catches the end": """
while True:
    try:
        receive(rank)
    except BaseException:
        pass
""",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_worker_says_ends_the_exercise(name):
    numbers = "global AFTER\nafter = AFTER = (rank + 1) % workers\nbefore = rank - 1"
    hostile = textwrap.indent(HOSTILE[name].strip(), "    ")
    body = f"{numbers} % workers\nif workers > 1:\n{hostile}"
    one = examined("9.1", SPEAKS + cell(body), limits=LIMITS)
    assert not one["passed"]
    assert one["mistake"] == "form", one["reason"]


def test_an_answer_that_sends_without_end_is_told_so():
    body = "while workers > 1: send((rank + 1) % workers, array[:1])"
    one = examined("9.1", cell(body), limits=LIMITS)
    assert "RuntimeError: more than 1000 messages were sent" in one["reason"]


def test_a_box_that_ends_early_ends_the_exercise():
    one = examined("9.1", cell("import os\nif rank == 2: os._exit(0)"), limits=LIMITS)
    assert one["mistake"] == "ended"


@pytest.mark.parametrize("dtype", array_message.DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_an_array_travels_as_it_is(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    there = array_message.unpacked(array_message.packed(array))
    assert (there.dtype, there.shape) == (array.dtype, array.shape)
    assert np.array_equal(there, array)


@pytest.mark.parametrize(
    "array", [np.array(["x"]), np.array([None]), np.zeros(2**15, "float32")]
)
def test_no_text_no_object_and_no_large_array_travels(array):
    with pytest.raises((TypeError, ValueError)):
        array_message.packed(array)
