"""A ladder grows on the side of its best rate, and trials end that cannot win."""

from helpers.lab_03.ladder import best_of, climb

TARGET = 0.8


def steps(looks_at):
    """Trials that reach the target after as many looks as the rate has here."""

    def accuracies(rate, looks):
        given.append(looks)
        needed = looks_at.get(round(rate, 3), 99)
        return [0.5] * (needed - 1) + [0.9] if needed <= looks else [0.5] * looks

    given = []
    return accuracies, given


def test_a_best_rate_in_the_middle_ends_the_ladder():
    accuracies, given = steps({1.0: 5})
    trials = climb(accuracies, 1.0, 10, TARGET)
    assert [round(trial["rate"], 3) for trial in trials] == [1.0, 0.333, 3.0]
    assert given == [10, 4, 4]


def test_a_best_rate_at_an_end_gets_a_neighbour_until_there_are_six():
    accuracies, given = steps({1.0: 8, 3.0: 7, 9.0: 6, 27.0: 5, 81.0: 4, 243.0: 3})
    trials = climb(accuracies, 1.0, 10, TARGET)
    assert [trial["rate"] for trial in trials][2:] == [3.0, 9.0, 27.0, 81.0]
    assert given == [10, 7, 7, 6, 5, 4]
    assert best_of(trials, TARGET)["rate"] == 81.0


def test_without_a_success_the_most_accurate_trial_is_the_best():
    trials = [{"accuracy": 0.4, "looks": 2}, {"accuracy": 0.6, "looks": 9}]
    assert best_of(trials, TARGET) is trials[1]
