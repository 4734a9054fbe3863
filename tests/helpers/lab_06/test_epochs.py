"""The time of a step: the first call of each size does not count."""

from helpers.lab_06 import epochs


def test_steps_take_turns_and_the_first_does_not_count(monkeypatch):
    calls, clock = [], [0.0]

    def step(size, slow):
        calls.append(size)
        clock[0] += 100.0 if calls.count(size) == 1 else slow
        return 1.0

    monkeypatch.setattr(epochs, "perf_counter", lambda: clock[0])
    seconds = epochs.seconds_of_steps(step, {8: (8, 0.5), 64: (64, 2.0)}, repeats=3)
    assert seconds == {8: 0.5, 64: 2.0}
    assert calls == [8, 64] * 4
