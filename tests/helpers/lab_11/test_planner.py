"""The planner: memory and time follow the formulas, and plans are compared fairly."""

from dataclasses import replace

import pytest

from helpers.exercise import find_exercise
from helpers.lab_11.pipelines.pipeline_schedule import simulate
from helpers.lab_11.plans import planner
from helpers.lab_11.plans.planner import Cluster, Model, Plan
from helpers.lab_11.plans.published_trainings import trainings

MODEL = Model(
    parameters=1e9, layers=24, hidden_width=1792, heads=16, vocabulary=50_000,
    sequence_tokens=1024, training_tokens=20e9, batch_tokens=64 * 1024,
)  # fmt: skip
CLUSTER = Cluster(
    devices=16, memory_bytes=40e9, peak_operations_per_second=1e14,
    inside_bytes_per_second=100e9, across_bytes_per_second=10e9,
)  # fmt: skip
HALF = (0.5, 0.5)
ALL = list(planner.candidates(MODEL, CLUSTER))


@pytest.mark.parametrize(
    ("stage", "size"), [(0, 16), (1, 4 + 12 / 8), (2, 2 + 14 / 8), (3, 16 / 8)]
)
def test_zero_shards_the_optimizer_then_gradients_then_weights(stage, size):
    memory = planner.memory_of(MODEL, Plan(8, 2, 1, stage, recomputes=False))
    kept = memory["weights"] + memory["gradients"] + memory["optimizer"]
    assert kept == pytest.approx(size * 1e9 / 2)


def test_activations_are_those_of_korthikanti():
    s, h, a = 1024, 1792, 16
    loss = 4 * s * (h + 50_000)
    one = Plan(1, 1, 1, 0, recomputes=False)

    def activations(model, plan):
        return planner.memory_of(model, plan)["activations"] - loss / plan.tensor

    assert activations(MODEL, one) == pytest.approx(24 * s * h * 34)
    stored = replace(MODEL, flash_attention=False)
    layer = s * h * (34 + 5 * a * s / h)
    assert activations(stored, one) == pytest.approx(24 * layer)
    assert activations(stored, replace(one, tensor=4)) == pytest.approx(24 * layer / 4)
    again = activations(stored, replace(one, recomputes=True))
    assert again == pytest.approx(24 * 2 * s * h + layer)
    # The first of four stages holds four micro-batches of a quarter of the layers.
    assert activations(stored, replace(one, pipeline=4)) == pytest.approx(24 * layer)


def test_a_pipeline_holds_no_more_micro_batches_than_there_are():
    few = replace(MODEL, batch_tokens=2 * 1024)
    plan = Plan(1, 1, 8, 0, recomputes=False)
    short, full = (planner.memory_of(m, plan)["activations"] for m in (few, MODEL))
    assert short < full


def test_one_device_computes_and_sends_nothing():
    step = planner.seconds_of(
        MODEL, replace(CLUSTER, devices=1), Plan(1, 1, 1, 0, False), 0.5
    )
    assert step["compute"] == pytest.approx(6 * 1e9 * 64 * 1024 / 1e14 / 0.5)
    assert step["tensor"] == step["bubble"] == step["data"] == step["pipeline"] == 0


def test_recomputation_takes_a_third_longer():
    keeps, again = (
        planner.seconds_of(MODEL, CLUSTER, Plan(2, 8, 1, 0, recomputes), 0.5)
        for recomputes in (False, True)
    )
    assert again["compute"] == pytest.approx(4 / 3 * keeps["compute"])
    assert again["tensor"] == pytest.approx(3 / 2 * keeps["tensor"])


def test_the_bubble_is_the_idle_share_of_1f1b():
    plan = Plan(1, 1, 8, 0, recomputes=False)
    step = planner.seconds_of(MODEL, replace(CLUSTER, devices=8), plan, 0.5)
    busy = step["compute"] + step["tensor"]
    m = planner.micro_batches(MODEL, plan)
    assert step["bubble"] / (busy + step["bubble"]) == pytest.approx(7 / (m + 7))


def test_every_candidate_uses_all_devices_and_keeps_tensor_parallelism_inside():
    for plan in ALL:
        assert plan.data * plan.tensor * plan.pipeline == 16
        assert plan.tensor <= CLUSTER.machine_devices
        assert MODEL.heads % plan.tensor == 0
        assert plan.data * plan.sequences <= 64
        assert plan.pipeline == 1 or plan.stage < 2
        assert all(value >= 0 for value in planner.memory_of(MODEL, plan).values())
        step = planner.seconds_of(MODEL, CLUSTER, plan, 0.5)
        assert step["compute"] >= 6 * 1e9 * 64 * 1024 / 16 / 1e14 / 0.5 * (1 - 1e-9)
    assert len(set(ALL)) == len(ALL)


def test_no_plan_gains_from_a_slower_link_or_device():
    def seconds(plan, share=0.5, **changed):
        return sum(
            planner.seconds_of(MODEL, replace(CLUSTER, **changed), plan, share).values()
        )

    for plan in ALL:
        now = seconds(plan)
        assert seconds(plan, across_bytes_per_second=1e9) >= now
        assert seconds(plan, inside_bytes_per_second=1e9) >= now
        # Where messages hide the computation, a slower device may not show.
        assert seconds(plan, share=0.25) >= now


def test_what_zero_splits_is_added_up_or_collected_again_for_each_micro_batch():
    def sent(stage, link, data=16):
        slow = replace(CLUSTER, across_bytes_per_second=link)
        plan = Plan(data, 1, 1, stage, recomputes=False)
        parts = planner.seconds_of(MODEL, slow, plan, 0.5)
        # With a link so slow that computing hides next to nothing.
        return parts["data"] * link, planner.micro_batches(MODEL, plan)

    link = 1e-3
    (once, m), (gradients, _), (weights_too, _) = (sent(stage, link) for stage in (1, 2, 3))
    assert gradients / once == pytest.approx((m + 1) / 2, rel=1e-6)
    assert weights_too / once == pytest.approx(3 * m / 2, rel=1e-6)


def test_the_first_plan_is_the_fastest_that_fits():
    rows = planner.plans(MODEL, CLUSTER, (0.3, 0.5))
    fit = [row for row in rows if row["fits"]]
    assert rows[: len(fit)] == fit
    assert fit
    fastest = min(row["step_seconds"][1] for row in fit)
    assert rows[0]["step_seconds"][1] == pytest.approx(fastest, abs=1e-6)
    for row in rows:
        low, middle, high = row["step_seconds"]
        assert low <= middle <= high
        assert row["mfu"][2] <= 0.5 or not row["fits"]
        assert row["fits"] == (row["memory_bytes"] <= 40e9)
        assert bool(row["reason"]) != row["fits"]


def test_an_mfu_already_contains_the_bubble_and_the_recomputation():
    at_peak = 6 * 1e9 * 64 * 1024 / 16 / 1e14
    fast = replace(CLUSTER, inside_bytes_per_second=1e18, across_bytes_per_second=1e18)
    for memory_bytes in (10e9, 1.2e9):  # the smaller memory needs recomputation
        small = replace(fast, memory_bytes=memory_bytes)
        best = planner.fastest(MODEL, small, HALF)
        assert best["step_seconds"][1] == pytest.approx(at_peak / 0.5)
    assert best["plan"].recomputes


def test_a_slow_link_makes_even_the_fastest_plan_longer():
    steps = [
        planner.fastest(MODEL, replace(CLUSTER, across_bytes_per_second=speed), HALF)
        for speed in (10e9, 1e9, 1e7)
    ]
    seconds = [row["step_seconds"][1] for row in steps]
    assert seconds == sorted(seconds)
    assert seconds[-1] > 1.5 * seconds[0]
    for row in steps:
        assert sum(row["step"].values()) == pytest.approx(row["step_seconds"][1])


def test_plans_that_do_not_fit_say_what_is_largest():
    small = replace(CLUSTER, memory_bytes=1e9)
    rows = planner.plans(MODEL, small, HALF)
    assert not any(row["fits"] for row in rows)
    assert planner.fastest(MODEL, small, HALF) is None
    sizes = [row["memory_bytes"] for row in rows]
    assert sizes == sorted(sizes)
    assert "GB, of which" in rows[0]["reason"]


def test_more_memory_never_makes_the_fastest_plan_slower():
    steps = [
        planner.fastest(MODEL, replace(CLUSTER, memory_bytes=size), HALF)["step_seconds"][1]
        for size in (10e9, 20e9, 40e9, 80e9)
    ]
    assert steps == sorted(steps, reverse=True)


def test_the_fewest_devices_fit_and_a_machine_less_does_not():
    of_70b = trainings()["llama-3-70b"]
    fewest = planner.fewest_devices(of_70b.model, of_70b.cluster)
    assert fewest % 8 == 0
    assert planner.fastest(of_70b.model, replace(of_70b.cluster, devices=fewest), HALF)
    less = replace(of_70b.cluster, devices=fewest - 8)
    assert planner.fastest(of_70b.model, less, HALF) is None
    assert planner.fewest_devices(of_70b.model, of_70b.cluster, most=8) is None


def test_layers_that_do_not_divide_make_all_wait_for_the_fullest_stage():
    uneven = replace(MODEL, layers=25)
    even, odd = (
        planner.seconds_of(model, CLUSTER, Plan(2, 1, 8, 0, False), 0.5)["compute"]
        for model in (MODEL, uneven)
    )
    assert odd == pytest.approx(even * 4 * 8 / 25)


@pytest.mark.parametrize("stages", [2, 3, 4, 8])
@pytest.mark.parametrize("per_stage", [0.5, 1, 2, 8, 50])
@pytest.mark.parametrize("link", [1e8, 1e10])
def test_messages_of_a_pipeline_take_as_long_as_in_a_simulation(stages, per_stage, link):
    count = round(stages * per_stage)
    model = replace(MODEL, batch_tokens=count * MODEL.sequence_tokens)
    cluster = replace(
        CLUSTER, devices=stages, machine_devices=1, across_bytes_per_second=link
    )
    plan = Plan(1, 1, stages, 0, recomputes=False)
    step = planner.seconds_of(model, cluster, plan, 0.5)
    forward = step["compute"] / count / 3
    hop = 2 * model.sequence_tokens * model.hidden_width / link
    order = find_exercise("11.5").reference
    work = [order(stage, stages, count) for stage in range(stages)]
    ends = (box.end for box in simulate(work, forward, 2 * forward, hop))
    waits = max(ends) - step["compute"] - step["bubble"]
    most = 1.02 if per_stage == 50 else 1.26 if per_stage > 1 else 1.51
    assert 0.99 < step["pipeline"] / waits < most
