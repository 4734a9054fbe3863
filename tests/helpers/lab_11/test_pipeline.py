"""The schedule of a pipeline: its least time, its memory, and real processes."""

from itertools import product

import pytest

from helpers.exercise import find_exercise
from helpers.lab_11.ex5_order import judge
from helpers.lab_11.pipelines import pipeline, pipeline_figures, pipeline_schedule
from helpers.lab_11.pipelines.pipeline_schedule import gpipe

ORDER = find_exercise("11.5").reference
SIZES = list(product(range(1, 7), (1, 2, 3, 5, 8, 13)))


def lists_of(function, stages, micro_batches):
    return [function(stage, stages, micro_batches) for stage in range(stages)]


def least_end(stages, micro_batches):
    """The earliest end of all orders within the limits, by trying every decision.

    At each time each free stage may begin a forward or a backward, or wait. Micro-batches
    are all alike, so each stage takes them in their order. Of a stage we keep how many
    forwards and backwards it has begun, and the item that it works at: how long still.
    """
    idle = "", 0
    states, now = {((0, 0, idle),) * stages}, 0
    while not any(is_done(state, micro_batches) for state in states):
        following = set()
        for state in states:
            choices = [list(choices_of(state, s, micro_batches)) for s in range(stages)]
            following |= {tuple(map(one_unit_later, begun)) for begun in product(*choices)}
        states, now = following, now + 1
    return now


def is_done(state, micro_batches):
    return all(ended(one) == (micro_batches, micro_batches) for one in state)


def ended(one):
    forwards, backwards, (kind, _) = one
    return forwards - (kind == "F"), backwards - (kind == "B")


def one_unit_later(one):
    forwards, backwards, (kind, left) = one
    return forwards, backwards, (kind, left - 1) if left > 1 else ("", 0)


def choices_of(state, stage, micro_batches):
    forwards, backwards, (kind, _) = one = state[stage]
    yield one
    if kind:
        return
    here = ended(one)[0]
    before = ended(state[stage - 1])[0] if stage else micro_batches
    after = ended(state[stage + 1])[1] if stage < len(state) - 1 else here
    if forwards < before and forwards - backwards < len(state) - stage:
        yield forwards + 1, backwards, ("F", 1)
    if backwards < after:
        yield forwards, backwards + 1, ("B", 2)


@pytest.mark.parametrize(
    "size", [(1, 1), (1, 3), (2, 1), (2, 2), (2, 4), (3, 1), (3, 2), (3, 4)]
)
def test_no_order_within_the_limits_ends_earlier(size):
    stages, micro_batches = size
    assert least_end(*size) == 3 * (micro_batches + stages - 1)


@pytest.mark.parametrize("size", SIZES)
def test_the_reference_ends_as_early_and_holds_as_little_as_the_text_says(size):
    stages, micro_batches = size
    work = lists_of(ORDER, *size)
    boxes = pipeline_schedule.simulate(work)
    assert len(boxes) == 2 * stages * micro_batches
    assert max(box.end for box in boxes) == 3 * (micro_batches + stages - 1)
    peaks = [pipeline_schedule.peak_held(items) for items in work]
    assert peaks == [min(stages - stage, micro_batches) for stage in range(stages)]
    idle = pipeline_schedule.idle_share(boxes)
    assert idle == pytest.approx(pipeline_schedule.formula(*size))


@pytest.mark.parametrize("size", SIZES)
def test_gpipe_has_the_same_bubble_and_holds_everything(size):
    work = lists_of(gpipe, *size)
    idle = pipeline_schedule.idle_share(pipeline_schedule.simulate(work))
    assert idle == pytest.approx(pipeline_schedule.formula(*size))
    assert {pipeline_schedule.peak_held(items) for items in work} == {size[1]}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", [ORDER, gpipe])
def test_nobody_waits_forever_in_a_right_order(function, size):
    work = lists_of(function, *size)
    boxes = pipeline_schedule.simulate(work)
    assert judge.waiting_in(work, boxes) == []


def test_a_deadlock_leaves_boxes_out_and_names_who_waits():
    work = [
        [("F", 0), ("B", 0), ("F", 1), ("B", 1)],
        [("F", 1), ("B", 1), ("F", 0), ("B", 0)],
    ]
    assert [box[:3] for box in pipeline_schedule.simulate(work)] == [(0, "F", 0)]
    assert judge.waiting_in(work, pipeline_schedule.simulate(work)) == [
        (0, "B", 0),
        (1, "F", 1),
    ]


def test_a_figure_has_a_box_for_each_item():
    boxes = pipeline_schedule.simulate(lists_of(ORDER, 3, 4))
    figure = pipeline_figures.time_lines({"yours": boxes})
    assert len(figure.axes[0].patches) == len(boxes)


@pytest.mark.slow
def test_processes_do_what_the_lists_say_and_hold_as_much(tmp_path):
    def in_reverse(stage, stages, micro_batches):
        """Stage 1 takes the micro-batches in another order than they arrive in."""
        work = gpipe(stage, stages, micro_batches)
        return work if stage != 1 else [(kind, micro_batches - 1 - i) for kind, i in work]

    plan = [("yours", 1), ("yours", 6), ("GPipe", 6), ("reversed", 6)]
    orders = {"yours": ORDER, "GPipe": gpipe, "reversed": in_reverse}
    runs = pipeline.measure(tmp_path / "new", orders, plan, 2, 3, 0.002, 0.004)
    assert list(runs) == plan
    for (name, micro_batches), repetitions in runs.items():
        work = lists_of(orders[name], 3, micro_batches)
        assert len(repetitions) == 2
        for run in repetitions:
            assert run.peaks == [pipeline_schedule.peak_held(items) for items in work]
            for stage, items in enumerate(work):
                own = [box[1:3] for box in run.boxes if box.stage == stage]
                assert own == [tuple(item) for item in items]
            assert everything_arrived_before_it_was_needed(run.boxes, 2)
            assert min(box.begin for box in run.boxes) == 0
            assert 0 < pipeline_schedule.idle_share(run.boxes) < 1


def everything_arrived_before_it_was_needed(boxes, last):
    ends = {box[:3]: box.end for box in boxes}
    for stage, kind, i, begin, _ in boxes:
        needed = (stage - 1, "F", i) if kind == "F" else (stage + 1, "B", i)
        if kind == "B" and stage == last:
            needed = (stage, "F", i)
        if ends.get(needed, begin) > begin:
            return False
    return True
