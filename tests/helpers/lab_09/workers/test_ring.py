"""The ring in threads, in processes over TCP, and as a picture."""

import threading
import time

import numpy as np
import pytest
from matplotlib import rcParams

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.lab_09 import ring_picture
from helpers.machine.cluster import free_ports
from helpers.workers import threads
from helpers.workers.channels import Channels
from helpers.workers.processes import run_ring
from kit.authoring.recorded_answers import recorded_answers

RING = find_exercise("9.1").reference
answers = recorded_answers("9.1")


def test_all_workers_have_the_sum_and_send_two_parts_of_it():
    rng = np.random.default_rng(0)
    for workers in range(1, 7):
        for values in (1, workers, 5 * workers + 2):
            arrays = list(rng.integers(-99, 99, (workers, values)).astype("float32"))
            results, messages = threads.run_in_threads([RING] * workers, arrays)
            assert all((result == sum(arrays)).all() for result in results)
            assert sum(m.array.size for m in messages) == 2 * (workers - 1) * values


def test_workers_that_all_wait_are_told_so_and_end():
    def waits(array, rank, workers, send, receive):
        return receive((rank + 1) % workers)

    before = threading.active_count()
    with pytest.raises(threads.DeadlockError):
        threads.run_in_threads([waits] * 3, [np.zeros(1)] * 3)
    assert threading.active_count() == before


def test_a_loop_without_an_end_is_told_so_and_ended(monkeypatch):
    def loops(array, rank, workers, send, receive):
        while rank:
            pass
        return receive(1)

    monkeypatch.setattr(threads, "LIMIT_SECONDS", 0.3)
    before = threading.active_count()
    with pytest.raises(threads.NeverEndsError, match="which loop does not end"):
        threads.run_in_threads([loops] * 3, [np.zeros(1)] * 3)
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() == before


def test_the_functions_error_comes_before_those_of_the_workers_that_wait_for_it():
    def fails(array, rank, workers, send, receive):
        if rank == 1:
            raise KeyError("mine")
        return receive(1)

    with pytest.raises(KeyError, match="mine"):
        threads.run_in_threads([fails] * 3, [np.zeros(1)] * 3)


def test_a_message_is_a_copy():
    def changes_what_it_sent(array, rank, workers, send, receive):
        send(1 - rank, array)
        array += 100
        return receive(1 - rank)

    arrays = [np.zeros(1), np.ones(1)]
    results, _ = threads.run_in_threads([changes_what_it_sent] * 2, arrays)
    assert [result.item() for result in results] == [1, 0]


def test_processes_add_up_over_tcp_and_count_what_they_send(tmp_path):
    workers, values = 3, 100_001
    rounds = [
        {"values": values, "waits": [[0] * workers] * 2},
        {"values": 2, "waits": [[0, 0, 0.2]]},
    ]
    large, small = run_ring(RING, tmp_path / "a folder", workers, rounds)
    assert len(large["seconds"]) == 2
    assert sum(large["bytes_sent"]) == 2 * (workers - 1) * 4 * values
    assert small["seconds"][0] >= 0.2  # all wait for the last


def test_a_ring_that_is_wrong_ends_in_a_line(tmp_path):
    with pytest.raises(LabError, match="values from 1 to 1"):
        run_ring(answers.gives_its_own, tmp_path, 2, [{"values": 4, "waits": [[0, 0]]}])


def test_a_worker_that_waits_in_vain_gets_a_line_after_the_limit():
    addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
    channels = Channels(addresses, 0, limit_seconds=0.1)
    with pytest.raises(LabError, match=r"worker 0 waited 0\.1 s for worker 1"):
        channels.receive(1)
    with pytest.raises(LabError, match="lost its connection to worker 1"):
        channels.send(1, np.zeros(3, "float32"))


def test_the_picture_ends_with_every_sum_whatever_the_style():
    def whole(rounds):
        return all(len(parts) == 4 for row in rounds[-1].has for parts in row)

    for answer in answers.RIGHT:
        rounds = ring_picture.rounds_of(answer, 4)
        assert len(rounds) == 7
        assert whole(rounds)
        assert not any(len(parts) == 4 for row in rounds[2].has for parts in row)


def test_the_live_picture_shows_the_chosen_round():
    rounds = ring_picture.rounds_of(RING, 3)
    figure, controls = ring_picture.live(rounds)
    chosen, row = controls.children
    [axis] = figure.axes
    assert axis.get_title(loc=rcParams["axes.titlelocation"]) == "before"
    chosen.value = len(rounds) - 1
    assert axis.get_title(loc=rcParams["axes.titlelocation"]) == f"round {len(rounds) - 1}"
    assert {text.get_text() for text in axis.texts} == {"all"}
    button, play = row.children
    button.click()
    assert play.playing
    assert chosen.value == 0
