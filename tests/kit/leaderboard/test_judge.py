"""From runs to verdicts: what gets onto the board, what is refused, and why.

Only the run in the box is replaced: it has tests of its own.
"""

import itertools
import random
import re

import pytest

from helpers.data.images import synthetic_images
from helpers.speed_record import rule
from kit.leaderboard import again, box_run, judge
from kit.leaderboard.box_run import Outcome
from kit.leaderboard.judge import Settings
from kit.leaderboard.page import page, write_page
from kit.leaderboard.section import board_section
from kit.leaderboard.store import Store
from tests.kit.leaderboard import submissions

FULL = Settings("sprint")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "board.sqlite") as opened:
        yield opened


class Box:
    """In place of the box: what each training came to, by its code."""

    def __init__(self):
        self.calls, self.rng = [], random.Random(0)
        self.outcomes = {}  # by a word of the code
        self.default = (0.925, 10.0)

    def __call__(self, code, seed, data, warm=False, seconds=0):
        self.calls.append((code, seed, data, warm))
        for word, outcome in self.outcomes.items():
            if word in code:
                given = outcome(self) if callable(outcome) else outcome
                if isinstance(given, Outcome):
                    return given
                break
        else:
            given = self.default
        accuracy, clock = given
        clock *= self.rng.uniform(0.99, 1.01)
        accuracy += self.rng.uniform(-0.001, 0.001)
        return Outcome(accuracy, clock, 0.95 * clock, 0.05 * clock, 1.9 * clock)


@pytest.fixture
def box(monkeypatch):
    box = Box()
    monkeypatch.setattr(judge, "run_in_box", box)
    monkeypatch.setattr(again, "run_in_box", box)
    # Names of splits in place of their images, which nothing here looks at.
    for module in (judge, again):
        monkeypatch.setattr(
            module, "data_of", lambda secret, entry, kind, place: (kind, place)
        )
    return box


def add(store, code, settings=FULL, calibrate=lambda: 20.0):
    return judge.add(store, code, settings, calibrate, quiet=True)


def variant(number):
    """Code that differs from all others in more than its names."""
    return submissions.HONEST + f"\n\ndef own_{number}():\n    return {number} + 0.5\n"


def test_the_first_entry_that_reaches_the_target_is_a_record(store, box):
    entry = add(store, submissions.HONEST)
    assert entry["state"] == "record"
    assert entry["result"]["score"][1] == pytest.approx(0.5, rel=0.01)
    kinds = [run["kind"] for run in entry["runs"]]
    assert [kinds.count(kind) for kind in ("judged", "held out", "public")] == [10, 1, 1]
    seeds = [call[1] for call in box.calls]
    assert len(set(seeds)) == 12
    # The code that runs has neither docstring nor comment.
    assert "The nearest mean" not in box.calls[0][0]


def test_a_submission_is_judged_once(store, box):
    first = add(store, submissions.HONEST)
    assert add(store, submissions.HONEST)["number"] == first["number"]
    assert len(box.calls) == 12


def test_a_judging_says_before_it_calibrates_that_it_does_and_how_busy_it_is(
    store, box, capsys
):
    before = []

    def calibrate():
        before.append(capsys.readouterr().err)
        return 20.0

    settings = Settings("sprint", seeds=2)
    judge.add(store, submissions.HONEST, settings, calibrate)
    assert re.search(r"calibrating: 2,700 steps .* load average is \d+\.\d", before[0])
    assert not any("calibrating" in said for said in before[1:])
    judge.add(store, submissions.HONEST, settings, calibrate)
    assert "calibrating" not in capsys.readouterr().err, "nothing is run again"


def test_a_judging_that_was_interrupted_continues(store, box):
    def interrupt(box):
        if len(box.calls) == 5:
            raise KeyboardInterrupt
        return box.default

    box.outcomes["train"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        add(store, submissions.HONEST)
    assert len(store.entry(1)["runs"]) == 4
    assert store.entry(1)["state"] == "judging"
    entry = add(store, submissions.HONEST)
    assert entry["state"] == "record"
    assert len(box.calls) == 13  # the interrupted one again, and no other
    assert box.calls[4][1] == box.calls[5][1]  # with the same seed


def test_a_lucky_run_gets_nothing(store, box):
    accuracies = itertools.cycle([0.95, *[0.918] * 9])
    box.outcomes["train"] = lambda box: (next(accuracies), 10.0)
    entry = add(store, submissions.HONEST)
    assert entry["state"] == "refused"
    assert "p < 0.01 is needed" in entry["reason"]
    # Other names and comments draw no new seeds: it is known already.
    again = add(store, submissions.RENAMED)
    assert again["state"] == "refused"
    assert "code of entry 1" in again["reason"]


def test_seeds_are_drawn_by_the_code_and_not_by_its_comments(store, box):
    add(store, submissions.HONEST, Settings("sprint", seeds=3))
    add(store, submissions.HONEST + "\n# one more try\n", Settings("sprint", seeds=3))
    one, other = box.calls[:5], box.calls[5:]
    assert [call[1] for call in one] == [call[1] for call in other]
    add(store, variant(1), Settings("sprint", seeds=3))
    assert not {call[1] for call in one} & {call[1] for call in box.calls[10:]}


def test_a_crash_refuses_a_submission_at_once(store, box):
    box.outcomes["train"] = Outcome(problem="It crashed with ValueError: no")
    entry = add(store, submissions.HONEST)
    assert entry["state"] == "refused"
    assert entry["reason"].startswith("It crashed with ValueError: no")
    assert len(box.calls) == 1
    del box.outcomes["train"]
    assert add(store, submissions.RENAMED)["state"] == "record"  # an accident


def test_an_accident_may_be_judged_again_with_the_same_seeds(store, box):
    box.outcomes["train"] = Outcome(
        0.99, 1, 0.1, 0.9, 1, "Predicting took long.", predicts_long=True
    )
    entry = add(store, submissions.HONEST)
    assert (entry["state"], entry["reason"]) == ("refused", "Predicting took long.")
    del box.outcomes["train"]
    assert add(store, submissions.HONEST)["state"] == "refused"
    entry = judge.add(store, submissions.HONEST, FULL, lambda: 20.0, True, again=True)
    assert entry["state"] == "record"
    assert box.calls[0][1] == box.calls[1][1]
    # No verdict on the network itself is forgotten.
    box.outcomes["own_1"] = (0.9, 10.0)
    assert add(store, variant(1))["state"] == "refused"
    entry = judge.add(store, variant(1), FULL, lambda: 20.0, True, again=True)
    assert entry["state"] == "refused"


def test_a_cheat_refuses_a_submission_with_the_reason(store, box):
    box.outcomes["train"] = Outcome(0.99, 1, 0.1, 0.9, 1, "It went on working.", True)
    entry = add(store, submissions.HONEST)
    assert (entry["state"], entry["reason"]) == ("refused", "It went on working.")
    assert add(store, submissions.RENAMED)["result"]["why"] == "same"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (submissions.HIDDEN_LABELS, "and 200 are allowed"),
        (submissions.LOW_PRECISION, "float8"),
        ("train = (", "not Python"),
    ],
    ids=["labels", "precision", "syntax"],
)
def test_a_source_that_breaks_a_rule_is_refused_before_it_runs(code, reason, store, box):
    entry = add(store, code)
    assert entry["state"] == "refused"
    assert reason in entry["reason"]
    assert not box.calls


def test_the_held_out_workload_must_be_learnt_too(store, box):
    def by_kind(box):
        return (0.7, 10.0) if box.calls[-1][2][0] == "held out" else (0.925, 10.0)

    box.outcomes["train"] = by_kind
    entry = add(store, submissions.HONEST)
    assert entry["state"] == "refused"
    assert "held-out workload 0.8740 are needed" in entry["reason"]


def test_the_held_out_workload_may_not_take_much_longer(store, box):
    def by_kind(box):
        return (0.92, 25.0) if box.calls[-1][2][0] == "held out" else (0.925, 10.0)

    box.outcomes["train"] = by_kind
    assert "held-out workload took" in add(store, submissions.HONEST)["reason"]


def test_a_record_is_surely_faster_than_the_holder_beside_it(store, box):
    add(store, submissions.HONEST)
    box.outcomes["own_1"] = (0.925, 8.0)
    entry = add(store, variant(1))
    assert entry["state"] == "record"
    assert entry["result"]["ratio"][2] < 1
    kinds = [run["kind"] for run in entry["runs"]]
    assert kinds.count("own") == kinds.count("holder") == rule.PAIRS
    # In turn, and not always in the same order.
    firsts = ["own_1" in call[0] for call in box.calls[-2 * rule.PAIRS :: 2]]
    assert set(firsts) == {True, False}


def test_a_faster_score_on_a_faster_day_is_no_record(store, box):
    add(store, submissions.HONEST)
    # 3% faster by score; but beside each other both take the same time.
    days = itertools.count()
    box.outcomes["own_1"] = lambda box: (0.925, 9.7 if next(days) < 12 else 10.0)
    box.outcomes["own_2"] = (0.925, 11.0)
    entry = add(store, variant(1))
    assert entry["state"] == "entry"
    assert "not surely below 1" in entry["reason"]
    slower = add(store, variant(2))
    assert (slower["state"], slower["reason"]) == ("entry", "Entry 1 is faster.")


def test_a_warm_start_has_a_board_of_its_own(store, box):
    add(store, submissions.HONEST)
    warm = add(store, submissions.HONEST, FULL._replace(warm=True))
    assert warm["number"] == 2
    assert warm["state"] == "record"
    assert box.calls[-1][3]


def test_fewer_seeds_or_images_are_a_trial(store, box):
    for given in ({"seeds": 9}, {"train_images": 59_999}, {"test_images": 100}):
        entry = add(store, submissions.HONEST, FULL._replace(**given))
        assert entry["state"] == "trial"
    assert judge.holder_of(store, add(store, submissions.HONEST)) is None


def test_a_seed_is_repeated_while_the_machine_changes_its_speed(store, box):
    loads = iter([20.0, 30.0, 20.0, 20.0, *[20.0] * 20])
    entry = add(store, submissions.HONEST, calibrate=lambda: next(loads))
    first = entry["runs"][1 if entry["runs"][0]["kind"] != "judged" else 0]["log"]
    judged = [run["log"] for run in entry["runs"] if run["kind"] == "judged"]
    assert [log["repeats"] for log in judged] == [2, *[0] * 9]
    assert not any(log["busy"] for log in judged)
    assert first["before"] == 20.0


def test_repeating_cannot_improve_the_accuracy():
    accuracies = iter([0.5, 0.9, 0.9])
    loads = iter([30.0, 20.0, 30.0])
    log, _ = judge.timed(
        lambda: Outcome(next(accuracies), 1.0, 0.9, 0.1, 2.0), 20.0, lambda: next(loads)
    )
    assert log["accuracy"] == 0.5
    assert log["busy"]
    assert log["repeats"] == rule.MOST_REPEATS


def test_a_crash_while_a_seed_is_repeated_refuses_the_submission(store, box):
    loads, crash = iter([20.0, 30.0, 30.0]), Outcome(problem="It crashed.")
    box.outcomes["train"] = lambda box: box.default if len(box.calls) == 1 else crash
    entry = add(store, submissions.HONEST, calibrate=lambda: next(loads))
    assert (entry["state"], entry["result"]["why"]) == ("refused", "crash")
    assert entry["reason"].startswith("It crashed.")


def test_another_text_is_a_change_and_another_name_is_none(store, box):
    ours = "\n\nPADDING = {!r}, {!r}\n"
    add(store, submissions.HONEST + ours.format("same", "relu"))
    for texts in (("valid", "relu"), ("same", "gelu")):
        entry = add(store, submissions.HONEST + ours.format(*texts))
        assert entry["result"].get("why") != "same"
    for texts in (("relu", "same"), ("valid", "relu")):  # of the first, and the second
        code = submissions.RENAMED + ours.replace("PADDING", "P").format(*texts)
        assert add(store, code)["result"]["why"] == "same"


def test_a_crash_on_the_public_split_alone_is_in_the_table_of_the_docs(
    store, box, tmp_path
):
    def by_kind(box):
        crashes = box.calls[-1][2][0] == "public"
        return Outcome(problem="It crashed.") if crashes else box.default

    box.outcomes["train"] = by_kind
    assert add(store, submissions.HONEST)["state"] == "record"
    write_page(store, tmp_path)
    assert "| crashed |" in board_section(tmp_path)


@pytest.mark.parametrize("change", ["hash = 'other'", "code = code || '# more'"])
def test_code_that_differs_from_its_log_is_refused_by_the_page(
    change, store, box, tmp_path
):
    add(store, submissions.HONEST)
    assert "Refused" not in write_page(store, tmp_path).read_text()
    store._file.execute(f"update entry set {change}")
    shown = write_page(store, tmp_path).read_text()
    assert "was made with other code than the entry shows" in shown


def test_a_forged_verdict_is_refused_by_the_page(store, box, tmp_path):
    box.outcomes["train"] = (0.91, 1.0)
    entry = add(store, submissions.HONEST)
    store.decide(entry["number"], "record", "", entry["result"])
    assert "if the true one were only 0.92" in write_page(store, tmp_path).read_text()


def test_judging_again_finds_the_same_order(store, box):
    for number, seconds in ((1, 10.0), (2, 8.0), (3, 5.0)):
        box.outcomes[f"own_{number}"] = (0.925, seconds)
        assert add(store, variant(number))["state"] == "record"
    [found] = again.verify(store, 3, 3, quiet=True)
    assert found["stored"] == found["measured"] == [3, 2, 1]
    assert [pair["order"] for pair in found["pairs"]] == ["same", "same"]
    box.outcomes["own_3"] = (0.925, 20.0)
    [found] = again.verify(store, 2, 3, quiet=True)
    assert found["measured"] == [2, 3]
    assert found["pairs"][0]["order"] == "other"


def test_judging_again_continues_after_an_interruption(store, box):
    for number, seconds in ((1, 10.0), (2, 8.0)):
        box.outcomes[f"own_{number}"] = (0.925, seconds)
        add(store, variant(number))
    before = len(box.calls)

    def interrupt(box):
        if len(box.calls) == before + 3:
            raise KeyboardInterrupt
        return (0.925, 10.0)

    box.outcomes["own_1"] = interrupt
    box.outcomes["own_2"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        again.verify(store, 2, 2, quiet=True)
    again.verify(store, 2, 2, quiet=True)
    assert len(box.calls) == before + 5


def test_judging_again_may_continue_with_fewer_seeds(store, box):
    for number, seconds in ((1, 10.0), (2, 8.0)):
        box.outcomes[f"own_{number}"] = (0.925, seconds)
        add(store, variant(number))
    last = len(box.calls) + 6

    def interrupt(box):
        if len(box.calls) == last:
            raise KeyboardInterrupt
        return box.default

    box.outcomes["own_1"] = box.outcomes["own_2"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        again.verify(store, 2, 3, quiet=True)
    [found] = again.verify(store, 2, 2, quiet=True)
    assert len(found["pairs"]) == 1


def test_pairs_beside_an_earlier_holder_do_not_count(store, box):
    box.outcomes["own_1"] = (0.925, 20.0)
    add(store, variant(1))
    last = len(box.calls) + 12 + 2 * rule.PAIRS - 1

    def interrupt(box):
        if len(box.calls) > last:
            raise KeyboardInterrupt
        return 0.925, 9.9

    box.outcomes["own_2"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        add(store, variant(2))
    assert {run["kind"] for run in store.entry(2)["runs"]} >= {"own", "holder"}
    box.outcomes["own_2"] = box.outcomes["own_3"] = (0.925, 10.0)
    assert add(store, variant(3))["state"] == "record"
    entry = add(store, variant(2))
    assert entry["state"] == "entry", "it is as fast as the holder is now"
    holders = [run["log"]["holder"] for run in entry["runs"] if run["kind"] == "holder"]
    assert holders == [3] * rule.PAIRS


def test_the_page_shows_gains_history_and_differences(store, box, tmp_path):
    add(store, submissions.HONEST)
    box.outcomes["own_1"] = (0.925, 8.0)
    code = variant(1).replace("based on: nothing", "based on: the nearest mean")
    add(store, code.replace('"""The nearest mean.', '"""<b>Bold</b>'))
    add(store, "import requests")
    shown = write_page(store, tmp_path / "page").read_text()
    assert "&lt;b&gt;Bold&lt;/b&gt;" in shown
    assert "<b>Bold" not in shown
    assert "Who predicted their gain?" in shown
    assert "+def own_1():" in shown
    assert "imports requests" in shown
    assert store.secret.hex() not in shown
    for name in ("001.py", "001.json", "002.py", "003.json"):
        assert (tmp_path / "page" / name).is_file()
    assert store.secret.hex() not in (tmp_path / "page" / "001.json").read_text()
    gains = page(store.entries(), []).split("Who predicted their gain?")[1]
    assert ">1.20<" in gains
    assert ">1.25<" in gains


def test_an_empty_board_has_a_page(store, tmp_path):
    assert "No entry has reached" in write_page(store, tmp_path).read_text()


def test_the_data_of_a_run_are_drawn_by_the_secret(store, monkeypatch):
    images = synthetic_images()
    monkeypatch.setattr(judge, "fashion_mnist", lambda: images)
    judge.pooled_images.cache_clear()
    settings = Settings("sprint", 2, 300, 100)
    number = store.begin(submissions.HONEST, settings._asdict(), {}, {})
    entry = store.entry(number)
    drawn = {
        (kind, place): judge.data_of(store.secret, entry, kind, place)
        for kind, place in (("judged", 0), ("judged", 1), ("held out", 0), ("public", 0))
    }
    assert {len(data.x_train) for data in drawn.values()} == {300}
    assert {len(data.x_test) for data in drawn.values()} == {100}
    tests = {data.x_test.tobytes() for data in drawn.values()}
    assert len(tests) == 4
    assert (drawn["public", 0].x_test == images.x_test[:100]).all()
    held_out, judged = drawn["held out", 0].x_train, drawn["judged", 0].x_train
    assert held_out.mean() == pytest.approx(255 - judged.mean(), rel=0.02)
    other = judge.data_of(b"another secret", entry, "judged", 0)
    assert (other.x_test != drawn["judged", 0].x_test).any()
    judge.pooled_images.cache_clear()


def test_the_cpus_are_pinned_from_outside():
    assert len(box_run.pinned()) <= rule.CPUS


def test_a_board_in_the_docs_is_made_from_the_files_of_its_page(store, box, tmp_path):
    entry = add(store, submissions.HONEST)
    folder = tmp_path / "leaderboard"
    assert board_section(folder) == "No board is published yet.\n"
    write_page(store, folder)
    (folder / "entries").mkdir()
    (folder / "entries" / "mine.py").write_text(submissions.HONEST)
    text = board_section(folder)
    low, middle, high = entry["result"]["score"]
    assert f"| {middle:.3f} ({low:.3f}&nbsp;to&nbsp;{high:.3f}) |" in text
    assert "(leaderboard/entries/mine.py), *holder* |" in text
    assert entry["machine"]["name"] in text
    for name in ("board.png", "board-dark.png"):
        assert f"leaderboard/{name}" in text
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    assert store.secret.hex() not in (folder / "board.json").read_text()
