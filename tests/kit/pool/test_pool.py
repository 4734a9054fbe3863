"""`labs pool`: what is used, what is left out and why, and what the page says."""

import contextlib
import io
import json
import math
import os
import random
import shutil
import zipfile

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from PIL import Image

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.run_card import predictions
from kit.class_ring.command import LAB as RING
from kit.cli import app
from kit.pool import cards, figures, topics
from kit.pool.middle import IN_WORDS, median
from kit.pool.pool import _names, _question_row, gather, page, pool

STORED = REPOSITORY / "docs" / "run_cards"
NAMES = ("ada", "bob", "cem")


def card(lab="02_throughput", student=0, **changes):
    """A run card as a lab writes it, from those stored with the solutions."""
    stored = json.loads((STORED / f"{lab}.json").read_text())
    own = {
        "owner": {"host": f"host-of-{student}", "machine": f"m{student}", "pid": 7},
        "started_unix_seconds": 1_790_000_000.0 + student, "wall_seconds": 60.0,
        "finished": True, "checks": {}, "hints": {}, "quiz": {},
    }  # fmt: skip
    return stored | own | changes


def hand_in(folder, name, content, file="20261101T101010-123.json"):
    """Write a run card, or any text, where a student hands it in."""
    lab = content["lab"] if isinstance(content, dict) else "02_throughput"
    path = folder / name / lab / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def students(tmp_path):
    """A folder with what three students hand in."""
    folder = tmp_path / "class"
    for number, name in enumerate(NAMES):
        for lab in ("02_throughput", "03_time_to_accuracy"):
            one = card(lab, number)
            exercise = f"{int(lab[:2])}.1"
            verdict = {"passed": number == 0, "reason": f"{number} of 7 lines are missing"}
            one["checks"] = {exercise: verdict}
            one["hints"] = {exercise: [1, 2, 3][:number]}
            one["quiz"] = {"1": {"first": {"choice": 1, "right": number > 0}}}
            hand_in(folder, name, one)
    return folder


def data_of(folder, names=False):
    """The data as pool.json has them: JSON knows no tuples."""
    return json.loads(json.dumps(gather([folder], names)[0]))


def page_of(folder):
    return page(data_of(folder))


def test_the_law_is_fitted_again_for_each_machine(students, tmp_path):
    peaks = {"ada": 1000.0, "bob": 2000.0, "cem": 500.0}
    for number, (name, peak) in enumerate(peaks.items()):
        one = card(student=number)
        one["environment"]["device"]["name"] = "A" if name == "cem" else "B"
        one["measurements"]["sweep_images_per_second"] = {
            str(b): b / (0.01 + b / peak) for b in (8, 64, 512)
        } | {"1024": None}
        one["measurements"]["fit"] = {"t0_seconds": 99, "peak_images_per_second": 99}
        hand_in(students, name, one)
    data = data_of(students, names=True)
    fits = {
        fit["person"]: (
            machine["machine"][0],
            fit["t0_seconds"],
            fit["peak_images_per_second"],
        )
        for machine in data["throughput"]
        for fit in machine["fits"]
    }
    assert fits == {
        "ada": ("B", pytest.approx(0.01), pytest.approx(1000)),
        "bob": ("B", pytest.approx(0.01), pytest.approx(2000)),
        "cem": ("A", pytest.approx(0.01), pytest.approx(500)),
    }


def test_the_spread_of_the_time_to_accuracy_is_over_students(students, tmp_path):
    data = data_of(students)
    [target] = data["targets"]
    assert target["target"] == 0.8
    stored = card("03_time_to_accuracy")["measurements"]["time_to_accuracy"]
    assert [str(size["batch_size"]) for size in target["sizes"]] == list(stored)
    for size in target["sizes"]:
        assert [s["fastest"] for s in size["students"]] == [
            stored[str(size["batch_size"])]["fastest_seconds"]
        ] * 3
    assert "<td>15 of 15</td>" in page(data)


def test_calibration_takes_first_locked_predictions_only(tmp_path):
    folder = tmp_path / "class"
    for number, (guess, late) in enumerate([(1.0, 0), (8.0, 0), (64.0, 0), (2.0, 1)]):
        one = card("01_gradient_descent", number)
        entry = one["predictions"]["loss_after_one_epoch"]
        entry.update(value=guess, outcome=4.0, factor_off=1.0)  # the score is made up
        entry["unix_seconds"] = entry["locked_unix_seconds"] + late
        hand_in(folder, f"student-{number}", one)
    again = card("01_gradient_descent", 0, started_unix_seconds=1_799_000_000.0)
    again["predictions"]["loss_after_one_epoch"].update(value=4.0, outcome=4.0)
    hand_in(folder, "student-0", again, "20261201T101010-123.json")
    data = data_of(folder)
    [one] = [q for q in data["calibration"] if q["name"] == "loss_after_one_epoch"]
    assert sorted(one["ratios"]) == pytest.approx([0.25, 2, 16])
    assert any("not locked" in left["reason"] for left in data["left_out"])


def test_foreign_predictions_and_the_labs_own_forecast_are_not_the_students(tmp_path):
    one = card("10_more_machines")
    one["predictions"]["my <b>name</b>"] = one["predictions"]["crossover"]
    hand_in(tmp_path / "class", "ada", one)
    data = data_of(tmp_path / "class")
    asked = {question["name"] for question in data["calibration"]}
    assert "crossover" in asked
    assert not asked & {"my <b>name</b>", "held_out_by_the_law"}


def test_a_mistake_is_shown_if_two_students_share_it(students, tmp_path):
    alone = card(student=5, checks={"2.2": {"passed": False, "reason": "only mine"}})
    hand_in(students, "dee", alone)
    data = data_of(students)
    found = {one["exercise"]: one for one in data["exercises"]}
    assert found["2.1"] == {
        "exercise": "2.1", "tried": 3, "passed": 1, "hints": 2, "strongest": 0,
        "reasons": [["… of … lines are missing", 2]],
    }  # fmt: skip
    assert found["2.2"]["reasons"] == []
    assert "only mine" not in json.dumps(data)
    assert {"lab": "02", "question": 1, "right": 2, "of": 3} in data["quiz"]


def test_no_name_is_on_the_page_unless_it_is_asked_for(students, tmp_path):
    hand_in(students, "zoe-and-a-secret", "no card")
    for names in (False, True):
        data = data_of(students, names)
        pool([students], tmp_path / "out", names)
        written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
        for private in (*NAMES, "zoe-and-a-secret"):
            assert (f'"{private}"' in json.dumps(data)) == names
        assert ("zoe-and-a-secret" in written) == names
        assert "host-of-" not in written


def test_numbers_do_not_follow_the_alphabet(students, tmp_path):
    found, _ = cards.read_class([students])
    assert len({tuple(_names(found, names=False).items()) for _ in range(30)}) > 1


def changed(**changes):
    return json.dumps(card() | changes)


def nested(depth):
    return "[" * depth + "]" * depth


FOREIGN = {
    "": "not JSON",
    "{": "not JSON",
    "[]": "no run card",
    '{"a": 1}': "no run card",
    '{"cells": [], "nbformat": 4}': "no run card",
    b"\xff\xfe{}": "not UTF-8",
    '{"lab": NaN}': "NaN is no number",
    '{"lab": -Infinity}': "no number of JSON",
    '{"lab": 1e999}': "not within",
    '{"lab": 1' + "0" * 5000 + "}": "not JSON",
    '{"lab": 1' + "0" * 200 + "}": "not within",
    '{"lab": "\\ud800"}': "half a character",
    '{"\\u0000": 1}': "half a character",
    json.dumps({"lab": "x" * 2001}): "more than 2,000 letters",
    json.dumps({"lab": [0] * 20_001}): "more than 20,000 entries",
    json.dumps({"lab": [[0] * 20_000] * 11}): "more than 200,000 values",
    '{"lab": ' + nested(20) + "}": "nested too deep",
    '{"lab": ' + nested(100_000) + "}": "nested too deep",
    '{"lab": "a", "lab": "b"}': "a key is in it twice",
    " " * (2**21 + 1): "more than 2 MiB",
    changed(lab="99_other"): "a lab that this kit does not have",
    changed(lab=["02"]): "'lab' is missing or wrong",
    changed(wall_seconds="60"): "'wall_seconds' is missing or wrong",
    changed(wall_seconds=True): "'wall_seconds' is missing or wrong",
    changed(wall_seconds=-1): "a time in it is negative, or after the year 5000",
    changed(started_unix_seconds=1e18): "a time in it is negative, or after the year 5000",
    changed(finished=1): "'finished' is missing or wrong",
    changed(measurements=[]): "'measurements' is missing or wrong",
    changed(checks={"2.1": True}): "the check '2.1' is wrong",
    changed(checks={"2.1": {"passed": 1}}): "the check '2.1' is wrong",
    changed(environment={}): "on which device",
    changed(environment={"device": {"name": 5}}): "on which device",
    changed(solution=True): "a run of the solution",
}


def test_what_is_no_run_card_is_left_out_with_its_reason(students, tmp_path):
    files = {}
    for number, (text, reason) in enumerate(FOREIGN.items()):
        files[hand_in(students, "mal", text, f"{number}.json")] = reason
    files[hand_in(students, "mal", "a,b", "table.csv")] = "does not end in .json"
    link = students / "mal" / "link.json"
    link.symlink_to("/etc/passwd")
    files[link] = "a link"
    pipe = students / "mal" / "pipe.json"
    os.mkfifo(pipe)
    files[pipe] = "a link, not a file"
    data, left_out = gather([students], names=False)
    assert sum(data["cards"].values()) == 6
    reasons = {one.path: one.reason for one in left_out}
    assert reasons.keys() == files.keys()
    for path, why in files.items():
        assert why in reasons[path], (path.read_bytes()[:80], reasons[path])
    shown = page(data)
    assert all(one["reason"].split("'")[0] in shown for one in data["left_out"])


SPOILED = {
    "sweep_images_per_second": [
        [], {}, {"8": 1.0}, {"8": "fast", "16": 2.0, "32": 3.0}, {"x": 1, "y": 2, "z": 3},
        {"8": -1.0, "16": 2.0, "32": 3.0}, {"8": True, "16": True, "32": True},
        {"8": 5.0, "16": 4.0, "32": 90.0}, {"9" * 2000: 1.0, "16": 2.0, "32": 3.0},
    ],
    "time_to_accuracy": [
        [], {}, {"16": 5}, {"x": {"reached": 1, "runs": 1}},
        {"16": {"reached": 2, "runs": 1}},
        {"16": {"reached": 1, "runs": 1, "median_seconds": "1"}},
        {"16": {"reached": 1, "runs": 1, "median_seconds": 2.0, "fastest_seconds": 3.0,
                "slowest_seconds": 4.0}},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in SPOILED.items() for value in values],
    ids=[f"{name}-{n}" for name, values in SPOILED.items() for n in range(len(values))],
)  # fmt: skip
def test_a_measurement_of_another_form_is_listed_and_the_rest_is_used(
    tmp_path, name, value
):
    one = card()
    one["lab"] = "02_throughput" if name.startswith("sweep") else "03_time_to_accuracy"
    one["parameters"] |= {"target_accuracy": 0.8}
    one["measurements"] = {name: value}
    found, unusable = (
        topics.throughput([cards.Card("mal", one), cards.Card("ada", card())])
        if name.startswith("sweep")
        else topics.time_to_accuracy([cards.Card("mal", one)])
    )
    assert [who for who, _ in unusable] == ["mal"]
    assert len(found) == name.startswith("sweep")


def test_random_damage_never_ends_in_a_traceback(tmp_path):
    """Values of stored cards are replaced by something odd, and pooled with a whole one."""
    odd = [
        None,
        True,
        -1,
        10**50,
        0.5,
        "",
        "$x_{1}$ <b>",
        [],
        {},
        [None],
        {"a": {}},
        "\u202e",
    ]
    rng = random.Random(0)
    folder = tmp_path / "class"
    hand_in(folder, "ada", card())
    for number in range(60):
        one = card(rng.choice(sorted(STORED.glob("*.json"))).stem, number + 1)
        for _ in range(3):
            inside, key = one["measurements" if rng.random() < 0.5 else "predictions"], None
            while (
                isinstance(inside, dict) and inside and (key is None or rng.random() < 0.8)
            ):
                key = rng.choice(sorted(inside))
                if not isinstance(inside[key], dict) or not inside[key]:
                    break
                inside, parent = inside[key], inside
            if isinstance(inside, dict) and key in inside:
                inside[key] = rng.choice(odd)
            elif key is not None:
                parent[key] = rng.choice(odd)
        hand_in(folder, f"mal-{number}", one)
    data = data_of(folder)
    assert sum(data["cards"].values()) == 61
    assert "<b>" not in page(data)
    assert data["left_out"]


def test_copies_count_once(students, tmp_path):
    shutil.copytree(students / "ada", students / "ada" / "backup")
    shutil.copytree(students / "bob" / "02_throughput", students / "cem" / "mine")
    longer = card(student=0, wall_seconds=70.0)  # the same run, later
    hand_in(students, "ada", longer, "later.json")
    used, left_out = cards.read_class([students])
    assert len(used) == 6
    assert max(one.content["wall_seconds"] for one in used) == 70
    reasons = sorted(one.reason for one in left_out)
    assert reasons == [
        *["another student has handed in the same run"],
        *["this student has handed in the same run"] * 3,
    ]


def test_a_student_is_a_folder_or_a_file(tmp_path):
    folder = tmp_path / "class"
    hand_in(folder, "ada", card(student=0))
    (folder / "bob_02_throughput.json").write_text(json.dumps(card(student=1)))
    (folder / "cem.json").write_text(json.dumps(card(student=2)))
    own = tmp_path / "dee" / "runs"
    hand_in(own, ".", card(student=3))
    single = tmp_path / "eve.json"
    single.write_text(json.dumps(card(student=4)))
    found, left_out = cards.read_class([folder, own, single])
    assert [one.person for one in found] == ["ada", "bob", "cem", "dee", "eve"]
    assert not left_out


@pytest.mark.parametrize(
    "form", ["Ada Ono_12_assignsubmission_file_{}.json", "onoada_12_7{}_{}.json"]
)
def test_a_student_of_a_platforms_flat_archive_is_one(tmp_path, form):
    for n in range(2):
        text = json.dumps(card(student=n))
        (tmp_path / form.format(n, f"20261101T10101{n}-123")).write_text(text)
    found, left_out = cards.read_class([tmp_path])
    [person] = {one.person for one in found}
    assert person == ("Ada Ono_12" if " " in form else "onoada_12")
    assert len(found) == 2
    assert not left_out


def test_a_zip_counts_as_the_cards_in_it(tmp_path):
    folder, right = tmp_path / "class", json.dumps(card(student=1)).encode()
    for student in ("ada", "bob", "cem", "dee"):
        (folder / student).mkdir(parents=True)
    with zipfile.ZipFile(folder / "ada" / "runs.zip", "w") as archive:
        archive.writestr("runs/02_throughput/1.json", right)
        archive.writestr("runs/02_throughput/2.json", b" " * (cards.MOST_BYTES + 1))
        archive.writestr("../../\u202e3.json", "{")
        archive.writestr("runs/figure.png", b"")
        archive.writestr("__MACOSX/runs/._1.json", b"")
    with zipfile.ZipFile(folder / "bob" / "runs.zip", "w") as archive:
        archive.writestr("notes.txt", "")
    (folder / "cem" / "runs.zip").write_bytes(right)
    with zipfile.ZipFile(folder / "dee" / "runs.zip", "w") as archive:
        archive.writestr("1.json", right)
    damaged = (folder / "dee" / "runs.zip").read_bytes().replace(right[40:60], b"x" * 20)
    (folder / "dee" / "runs.zip").write_bytes(damaged)
    found, left_out = cards.read_class([folder])
    assert [one.person for one in found] == ["ada"]
    assert {one.path.relative_to(folder).as_posix(): one.reason for one in left_out} == {
        "ada/runs.zip/2.json": "it has more than 2 MiB",
        r"ada/runs.zip/\u202e3.json": "it is not JSON",
        "bob/runs.zip": "no file in it ends in .json",
        "cem/runs.zip": "it is no zip archive that can be read",
        "dee/runs.zip/1.json": "it is damaged, or encrypted",
    }


def test_nothing_to_pool_ends_in_one_line(tmp_path):
    with pytest.raises(LabError, match="is no folder and no file"):
        pool([tmp_path / "missing"], tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabError, match=r"no run card to pool\. Students"):
        pool([tmp_path / "empty"], tmp_path / "out")


def ring_card(**changes):
    points = [[64, 0.002]] * 5 + [[n, 0.002 + n / 2.5e6] for n in (2**16, 2**17, 2**18)]
    links = [
        {"from": "vm", "to": "<i>", "points": points},
        {"from": "<i>", "to": "vm", "points": points},
        {"from": "vm", "to": "vm", "points": points},
    ]
    once = {
        "number": 1,
        "laptops": 2,
        "bytes": 4000,
        "forecast_seconds": 1.0,
        "seconds": 1.5,
    }
    entry = {
        "value": {"megabits_per_second": 10}, "unix_seconds": 1.0,
        "locked_unix_seconds": 2.0, "later": [], "outcome": None,
    }  # fmt: skip
    measurements = {
        "links": links, "rounds": [once, once | {"seconds": 2.5}],
        "missing": [{"name": "vm", "when": "in round 2"}],
    } | changes  # fmt: skip
    return card(lab="02_throughput") | {
        "lab": RING, "measurements": measurements, "predictions": {"link of vm": entry}
    }  # fmt: skip


def test_a_ring_is_fitted_again_and_shown_without_names(tmp_path):
    hand_in(tmp_path / "class", "ada", ring_card())
    data = data_of(tmp_path / "class")
    [ring] = data["rings"]
    first, _, closing = ring["links"]
    assert first["measured"]["megabits_per_second"] == pytest.approx(20)
    assert first["measured"]["latency_milliseconds"] == pytest.approx(1)
    assert (first["sender"], first["receiver"]) == ("laptop 1", "laptop 2")
    assert first["predicted"] == {"megabits_per_second": 10}
    assert closing["predicted"] == {}
    [both] = ring["rounds"]
    assert (both["rounds"], both["seconds"]) == (2, pytest.approx(math.sqrt(1.5 * 2.5)))
    assert "laptop 1 was missing in round 2." in page(data)


@pytest.mark.parametrize(
    "changes",
    [{"links": []}, {"links": 5}, {"links": [{}]}, {"rounds": [{}]}, {"missing": None},
     {"links": [{"from": 1, "to": "a", "points": []}]}, {"missing": [{"name": "a"}]},
     {"links": [{"from": "a", "to": "b", "points": [[64, 1.0]]}]},
     {"links": [{"from": "a", "to": "b", "points": [[64, -1.0]] * 9}]},
     {"links": [{"from": "a", "to": "b", "points": [[64]]}]}],
    ids=range(10),
)  # fmt: skip
def test_a_ring_of_another_form_is_listed(tmp_path, changes):
    hand_in(tmp_path / "class", "ada", ring_card(**changes))
    data = data_of(tmp_path / "class")
    assert data["rings"] == []
    [left] = data["left_out"]
    assert left["reason"].startswith("class ring: ")


def test_the_notebook_runs_without_a_network(students, tmp_path):
    hand_in(students, "ada", ring_card())
    pooled = pool([students], tmp_path / "out")
    notebook = nbformat.read(pooled.notebook, as_version=4)
    nbformat.validate(notebook)
    offline = (
        "import socket\n"
        "def refuse(*arguments): raise OSError('there is no network')\n"
        "socket.create_connection = socket.getaddrinfo = refuse\n"
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})"
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell(offline))
    folder = {"metadata": {"path": str(pooled.notebook.parent)}}
    NotebookClient(notebook, timeout=120, resources=folder).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert sum("image/png" in out.get("data", {}) for out in outputs) == 4
    assert not any(out.get("name") == "stderr" for out in outputs)


def test_the_factor_off_is_that_of_the_student_in_the_middle():
    assert figures.factor_off([0.5, 1.0, 4.0]) == pytest.approx(2)
    assert figures.factor_off([math.e]) == pytest.approx(math.e)


def test_no_figure_reads_a_name_as_a_formula(tmp_path):
    one = card()
    one["environment"]["device"]["name"] = "$x_{ M3 $"
    hand_in(tmp_path / "class", "ada", one)
    assert "$x_{ M3 $" in page_of(tmp_path / "class")


def test_a_figure_for_dark_pages_is_drawn_on_dark_paper():
    target = {
        "target": 0.8,
        "sizes": [
            {"batch_size": 16, "students": [
                {"machine": "a", "median": 3.0, "fastest": 2.0, "slowest": 4.0},
            ]},
        ],
    }  # fmt: skip
    for theme, is_dark in (("light", False), ("dark", True)):
        figure, _ = figures.time_to_accuracy(target, theme)
        drawn = Image.open(io.BytesIO(figures.png(figure, theme)))
        picture = np.asarray(drawn.convert("L"))
        assert (np.median(picture) < 64) == is_dark
        assert (picture.max() if is_dark else 255 - picture.min()) > 190, "ink"


def test_a_median_is_the_same_in_the_table_and_whole_in_the_figure():
    asked = {"lab": "02", "name": "peak", "ratios": [0.2, 3.0], "right": 0, "of": 0}
    for questions in ([asked], [asked] * 20):
        figure, _ = figures.calibration(questions)
        figure.draw_without_rendering()
        [axes] = figure.axes
        bars = [line for line in axes.lines if line.get_marker() == "|"]
        assert len(bars) == len(questions)
        for bar in bars:
            [place] = bar.get_xydata()
            assert place[0] == pytest.approx(math.sqrt(0.2 * 3.0))
            _, y = axes.transData.transform(place)
            half = bar.get_markersize() / 2 * figure.dpi / 72
            assert axes.bbox.y0 <= y - half
            assert y + half <= axes.bbox.y1
    assert _question_row(asked)["median"] == predictions.number(math.sqrt(0.2 * 3.0))
    assert median([3.0, 0.2, 1.0]) == 1.0
    assert median([0, 2]) == 0


def test_one_run_card_is_no_cards(tmp_path, capsys):
    hand_in(tmp_path / "class", "ada", card())
    with contextlib.suppress(SystemExit):
        app(["pool", str(tmp_path / "class"), "--out", str(tmp_path / "out")])
    assert "Pooled 1 run card of 1 student:" in capsys.readouterr().out
    shown = (tmp_path / "out" / "index.html").read_text()
    assert "1 student, 1 run card" in shown
    assert "1 run cards" not in shown
    assert IN_WORDS in shown
