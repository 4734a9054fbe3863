"""`labs sweep`: every combination once, wherever it runs; one table and figure over all."""

import csv
import subprocess
import sys

import dask
import pytest
from rich.console import Console

from helpers.errors import LabError
from helpers.run_card import predictions
from helpers.run_card.documents import cards_of
from kit.headless import sweep
from kit.labs import find_lab

LAB = find_lab("01")


@pytest.fixture
def scheduler():
    """The address of a Dask cluster with TLS on this machine."""
    from distributed import LocalCluster, Security

    security = Security.temporary()
    configuration = {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
        "distributed.comm.tls.client.key": security.tls_client_key,
    }
    with dask.config.set(configuration), LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit=None,
        security=security,
    ) as running:  # fmt: skip
        yield running.scheduler_address


def test_every_combination_is_run_the_last_parameter_changing_fastest(monkeypatch):
    monkeypatch.delenv("LABS_SCALE")
    texts = ["batch_size=8,16,32", "epochs=2", "seed=0..4"]
    swept, points = sweep.combinations(texts, LAB)
    assert swept == ["batch_size", "seed"]
    assert points == [
        {"batch_size": size, "epochs": 2, "seed": seed}
        for size in (8, 16, 32)
        for seed in range(5)
    ]


def test_words_and_lists_are_values_too():
    swept, points = sweep.combinations(["scale=smoke,laptop"], LAB)
    assert [point["scale"] for point in points] == ["smoke", "laptop"]
    lab = find_lab("03")
    swept, points = sweep.combinations(["batch_sizes=[16, 64],[32]", "seed=3"], lab)
    assert swept == ["batch_sizes"]
    assert [point["batch_sizes"] for point in points] == [[16, 64], [32]]
    _, [point] = sweep.combinations(["batch_sizes=[16, 64]"], lab)
    assert point["batch_sizes"] == [16, 64]


def test_runs_elsewhere_have_the_scale_of_this_machine(monkeypatch):
    monkeypatch.setenv("LABS_SCALE", "smoke")
    assert sweep.combinations(["seed=1"], LAB)[1] == [{"scale": "smoke", "seed": 1}]
    given = sweep.combinations(["seed=1", "scale=laptop"], LAB)[1]
    assert given == [{"scale": "laptop", "seed": 1}]


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["seed=0..4", "batch_size=8,0"], "batch_size must be a whole number"),
        (["sead=0..4"], "has no parameter 'sead'"),
        (["seed"], "-p takes NAME=VALUE"),
        (["seed=0..4", "seed=7"], "-p gives seed twice, as '0..4' and '7'"),
        (["seed=4..0"], "4..0 has no values: write 0..4"),
        (["seed=0..99999", "epochs=1,2"], "a sweep has at most 10,000"),
    ],
)
def test_a_wrong_value_ends_the_sweep_before_any_run(texts, line):
    with pytest.raises(LabError, match=line):
        sweep.sweep(LAB, texts)


def test_a_command_that_refuses_a_value_does_not_start_tensorflow():
    code = "import sys; import kit.headless.sweep; print('tensorflow' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (shown.stdout, shown.stderr) == ("False\n", "")


def test_a_scheduler_without_tls_is_refused(tmp_path):
    with pytest.raises(LabError, match="without TLS"):
        sweep.sweep(LAB, ["seed=0"], "tcp://127.0.0.1:8786", tmp_path)


def test_a_sweep_resumes_and_takes_a_cluster(tmp_path, capsys, monkeypatch, scheduler):
    """The first run here; the second, and the table over both, with Dask."""
    for name in ("LABS_RUN", "LABS_NOTEBOOK"):  # it sets them, and no other test may see it
        monkeypatch.setenv(name, "")
    out = tmp_path / "out"
    assert sweep.sweep(LAB, ["epochs=1", "seed=0"], None, out)
    [first] = out.glob("*.json")
    before = first.stat().st_mtime_ns
    assert sweep.sweep(LAB, ["epochs=1", "seed=0,1"], scheduler, out)
    assert "1 of 2 have run before" in capsys.readouterr().out
    assert first.stat().st_mtime_ns == before
    assert sweep.sweep(LAB, ["epochs=1", "seed=0"], None, out)
    assert "keeps the runs of earlier sweeps (1)" in capsys.readouterr().out
    assert sweep.sweep(LAB, ["epochs=1", "seed=0,1"], None, out)
    assert "earlier sweeps" not in capsys.readouterr().out
    assert len(list(out.glob("*.json"))) == 2
    with open(out / "sweep.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["seed"] for row in rows] == ["0", "1"]
    assert [row["epochs"] for row in rows] == ["1", "1"], "what was fixed, too"
    cards = {card["parameters"]["seed"]: card for card in cards_of(LAB.name)}
    assert cards.keys() == {0, 1}, "a run card each"
    for row in rows:
        measured = cards[int(row["seed"])]["measurements"]
        assert float(row["steps_per_second"]) == measured["steps_per_second"]
    page = (out / "index.html").read_text()
    assert page.count('<a href="') == 2
    assert "2 runs over seed" in page


def test_a_run_that_failed_is_shown_and_tried_again(tmp_path, capsys):
    failed = {"card": None, "seconds": 1.0, "error": "no space left", "notebook": ""}
    sweep._keep(tmp_path, {"key": "k"}, failed, LAB)
    assert not list(tmp_path.iterdir())
    good = failed | {"error": None, "card": {"measurements": {"steps_per_second": 2.5}}}
    known = [({"seed": 0}, good, "a"), ({"seed": 1}, failed, "b")]
    sweep.write_sweep(tmp_path, LAB, ["seed"], known, Console())
    assert "seed 1: no space left" in capsys.readouterr().out
    assert "Failed: no space left" in (tmp_path / "index.html").read_text()
    assert "no space left" in (tmp_path / "sweep.csv").read_text()


def test_a_sweep_is_named_by_its_labs_question_and_shows_outcomes_of_predictions(tmp_path):
    outcome = predictions.new_entry() | {"value": 1.0, "outcome": 0.26}
    several = predictions.new_entry() | {"value": [1], "outcome": [1, 16]}
    card = {
        "measurements": {"steps_per_second": 2.5, "loss_by_epoch": {"1": [3.0]}},
        "predictions": {"loss_after_one_epoch": outcome, "thrown_out": several},
    }
    run = {"card": card, "seconds": 1.0, "error": None}
    sweep.write_sweep(tmp_path, LAB, ["seed"], [({"seed": 0}, run, "a")], Console())
    page = (tmp_path / "index.html").read_text()
    assert "<h1>Sweep of lab 01: What does the batch size do to the path" in page
    assert page.count("Scaling Labs</p>") == 1
    with open(tmp_path / "sweep.csv", newline="") as file:
        [row] = csv.DictReader(file)
    assert row == {
        "seed": "0", "seconds": "1.0", "steps_per_second": "2.5",
        "loss_after_one_epoch": "0.26", "error": "",
    }  # fmt: skip


def test_two_sweeps_at_once_do_not_take_each_others_cards(tmp_path, monkeypatch):
    names = set()

    def run_one(task):
        names.add(task["run"])
        return {"card": None, "seconds": 0.0, "error": "x", "notebook": ""}

    monkeypatch.setattr(sweep, "run_one", run_one)
    for _ in range(2):
        sweep.sweep(find_lab("01"), ["seed=0"], out=tmp_path)
    assert len(names) == 2


def test_a_sweep_says_how_many_runs_had_no_data_set():
    cards = [{"measurements": {"data_source": one}} for one in ("synthetic", "mnist")]
    facts = {
        "parameters": {"scale": "smoke"},
        "environment": {"device": {"name": "CPU"}, "versions": {}},
    }
    notes = sweep._notes([], [facts | card for card in cards])
    assert "Only synthetic data: 1 of 2 runs" in notes
