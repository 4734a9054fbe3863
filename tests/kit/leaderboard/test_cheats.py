"""Every known cheat, tried in the box on few images: none of them pays.

The clock is outside, so what a cheat gains would show in `seconds` or in `accuracy`.
"""

import ast

import numpy as np
import pytest

from helpers.data.fashion_mnist import FASHION_MNIST
from helpers.data.images import synthetic_images
from helpers.speed_record import rule
from helpers.speed_record.source_rules import without_docstrings
from helpers.speed_record.splits import Split
from kit.grading.box import sandbox
from kit.leaderboard import box_run
from tests.kit.leaderboard import submissions

pytestmark = [
    pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem())),
    pytest.mark.xdist_group("grading"),
]


@pytest.fixture(scope="module")
def data():
    images = synthetic_images()
    return Split(
        images.x_train[:400], images.y_train[:400], images.x_test[:300], images.y_test[:300]
    )  # fmt: skip


@pytest.fixture(autouse=True)
def few_images_one_by_one(monkeypatch):
    monkeypatch.setattr(rule, "SINGLE_IMAGES", 10)


def run(code, data, **given):
    return box_run.run_in_box(ast.unparse(without_docstrings(code)), 1, data, **given)


def test_an_honest_submission_is_clocked_and_scored(data):
    found = run(submissions.HONEST, data)
    assert found.problem is None
    assert not found.cheats
    assert found.accuracy == 1  # the synthetic patterns are easy
    assert found.seconds == pytest.approx(found.train_seconds + found.predict_seconds)
    assert 0 < found.cpu_seconds < 5


def test_patched_clocks_do_not_stop_the_clock(data):
    found = run(submissions.PATCHED_CLOCKS, data)
    assert found.problem is None
    assert found.seconds > 1.5


def test_work_at_import_is_inside_the_clock(data):
    found = run(submissions.WORK_AT_IMPORT, data)
    assert found.seconds > 1.5


@pytest.mark.parametrize(
    "code", [submissions.THREAD_AFTER_RETURN, submissions.PROCESS_AFTER_RETURN],
    ids=["thread", "process"],
)  # fmt: skip
def test_work_after_train_has_returned_is_refused(code, data):
    found = run(code, data)
    assert found.cheats
    assert "went on working" in found.problem


def test_a_thread_that_ends_soon_after_train_has_returned_is_charged(data):
    found = run(submissions.SHORT_THREAD_AFTER_RETURN, data)
    assert found.problem is None
    # On a busy machine it gets less than the 0.4 s for which it works.
    assert found.train_seconds > 0.5 * found.cpu_seconds > 0


def test_training_while_predicting_is_refused(data):
    found = run(submissions.TRAINING_WHILE_PREDICTING, data)
    assert found.predicts_long
    assert found.problem.startswith("Predicting took")
    assert found.seconds > 1.5


def test_statistics_of_the_test_batch_are_refused(data):
    found = run(submissions.STATISTICS_OF_THE_BATCH, data)
    assert found.cheats
    assert "got another label alone" in found.problem


def test_nothing_is_remembered_from_one_seed_to_the_next(data):
    for _ in range(2):
        found = run(submissions.REMEMBERED_SEEDS, data)
        assert found.accuracy is not None, found.problem


@pytest.mark.slow
def test_no_file_in_the_box_has_labels(data):
    found = run(submissions.LABELS_IN_FILES, data)
    assert found.problem == "It crashed with ValueError: nothing there"


@pytest.mark.skipif(not FASHION_MNIST.system_folder.is_dir(), reason="no such package")
def test_the_folder_with_the_labels_is_there_and_hidden(data, monkeypatch):
    code = f"""
import os


def train(x, y, seed):
    raise ValueError(os.listdir({str(FASHION_MNIST.system_folder)!r}))
"""
    assert run(code, data).problem == "It crashed with ValueError: []"
    monkeypatch.setattr(box_run, "hidden", list)
    assert "labels-idx1" in run(code, data).problem


def test_forged_messages_gain_nothing(data):
    found = run(submissions.FORGED_MESSAGES, data)
    assert found.accuracy is None or found.accuracy < 0.3
    assert found.problem or found.accuracy < 0.3


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (submissions.CRASH, "It crashed with SystemExit: <b>no</b>"),
        (submissions.KILLED, "Its process ended early."),
        (submissions.WRONG_SHAPE, "predict must return 300 whole numbers"),
    ],
    ids=["crash", "killed", "shape"],
)
def test_a_crash_has_no_accuracy(code, problem, data):
    found = run(code, data)
    assert found.accuracy is None
    assert problem in found.problem


def test_a_training_that_takes_too_long_is_ended(data):
    found = run(submissions.ENDLESS, data, seconds=3)
    assert found.problem == "It was ended because it took too long."


def test_the_test_images_come_after_the_training(data):
    """And the labels never: a submission gets nothing but the arrays that it is given."""
    code = """
import gc

import numpy as np


def train(x, y, seed):
    kept = [one for one in gc.get_objects() if isinstance(one, (bytes, bytearray))]
    sizes = {len(one) for one in kept}
    assert not {300, 300 * 784} & sizes
    assert len(x) == len(y) == 400
    return lambda images: np.zeros(len(images), int)
"""
    assert run(code, data).problem is None


def test_the_judge_draws_the_order_of_the_test_images(data):
    code = """
import numpy as np


def train(x, y, seed):
    return lambda images: np.arange(len(images)) % 10
"""
    ordered = data._replace(y_test=np.arange(300, dtype="uint8") % 10)
    assert run(code, ordered).accuracy < 0.3


def test_a_warm_run_compiles_first_and_learns_nothing(data):
    code = submissions.WORK_AT_IMPORT
    found = run(code, data, warm=True)
    assert found.seconds < 1.5  # the import was before the clock, as the warm board wants
    kept = (
        submissions.HONEST
        + """

_fast, _kept = train, []


def train(x, y, seed):
    _kept.append(_fast(x, y, seed))
    return _kept[0]
"""
    )
    assert run(kept, data, warm=True).accuracy < 0.5  # what noise has taught
