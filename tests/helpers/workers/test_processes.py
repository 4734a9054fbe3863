"""What workers are asked, and what they say."""

import pytest

from helpers.errors import LabError
from helpers.workers.processes import ask

WORKER = "tests.helpers.workers.tells_its_task"


def test_each_worker_gets_the_task_and_the_replies_are_in_the_order_of_the_ranks(tmp_path):
    (tmp_path / "old.json").touch()
    functions = {"add": lambda rank, number: rank + number}
    asked, environment = {"number": 40, "fails": None}, {"OF_THIS_TEST": "1"}
    told = ask(WORKER, tmp_path, 3, asked, functions, environment)
    assert told == [[40 + rank, 3, "1", False] for rank in range(3)]


def test_a_worker_that_fails_is_an_error(tmp_path):
    with pytest.raises(LabError, match="this worker fails"):
        ask(WORKER, tmp_path, 2, {"number": 0, "fails": 1}, {"add": max})
