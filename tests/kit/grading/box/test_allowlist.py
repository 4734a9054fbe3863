"""What a box can read of the kit, name by name."""

from pathlib import Path

import pytest

from helpers.exercise import exercise_folders
from helpers.files import REPOSITORY
from kit import imports
from kit.grading.box import sandbox
from kit.grading.box.allowlist import NEVER, visible_files
from kit.labs import all_labs
from tests.started_modules import started_modules

LABS = all_labs()
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
SHARED = {
    "callbacks/__init__.py", "callbacks/early_stopping.py", "callbacks/epoch_recorder.py",
    "callbacks/live/__init__.py", "callbacks/live/dashboard.py",
    "callbacks/live/divergence.py", "callbacks/live/figure_table.py",
    "callbacks/live/live_canvas.py",
    "callbacks/live/picture.py", "callbacks/live/place.py", "callbacks/live/progress.py",
    "callbacks/live/style.py", "callbacks/live/under_way.py", "callbacks/live/views.py",
    "callbacks/stopping.py",
    "callbacks/throughput.py", "callbacks/total_time.py", "callbacks/waiting.py",
    "helpers/__init__.py",
    "helpers/checks/__init__.py", "helpers/checks/endless.py",
    "helpers/checks/few_lines.py", "helpers/checks/observe.py",
    "helpers/checks/words.toml", "helpers/exercise.py",
    "helpers/checks/probing/__init__.py", "helpers/checks/probing/arguments.py",
    "helpers/checks/probing/copies.py", "helpers/checks/probing/printed.py",
    "helpers/checks/probing/replicas.py",
    "helpers/checks/probing/scripts.py",
    "helpers/checks/probing/training.py", "helpers/coach/__init__.py",
    "helpers/coach/hints.py", "helpers/coach/quizzes.py", "helpers/coach/solutions.py",
    "helpers/data/__init__.py",
    "helpers/data/fashion_mnist.py", "helpers/data/images.py", "helpers/data/mnist.py",
    "helpers/data/places.py", "helpers/data/reuters.py", "helpers/errors.py",
    "helpers/figures.py", "helpers/files.py", "helpers/machine/__init__.py",
    "helpers/machine/cluster.py", "helpers/machine/computer.py",
    "helpers/machine/devices.py", "helpers/machine/jax_process.py",
    "helpers/machine/memory.py", "helpers/machine/meshes.py",
    "helpers/machine/multi_worker_fit.py", "helpers/machine/other_load.py",
    "helpers/machine/own_keras.py", "helpers/machine/small_graphs.py",
    "helpers/narrow_figures.py",
    "helpers/machine/quiet_tensorflow.py", "helpers/machine/watchdog.py",
    "helpers/network/__init__.py", "helpers/network/batch_norm.py",
    "helpers/network/models.py", "helpers/network/pipelines.py",
    "helpers/network/precision.py", "helpers/network/recipes.py",
    "helpers/notebook/__init__.py", "helpers/notebook/celebration.py",
    "helpers/notebook/cell_errors.py", "helpers/notebook/cell_text.py",
    "helpers/notebook/end_message.py", "helpers/notebook/estimate.py",
    "helpers/notebook/kernel_patch.py", "helpers/notebook/listing.py",
    "helpers/notebook/messages.py",
    "helpers/notebook/notebook_cells.py",
    "helpers/notebook/notebooks.py", "helpers/notebook/players.py",
    "helpers/notebook/prediction_form.py", "helpers/notebook/session.py",
    "helpers/notebook/stop.py", "helpers/parameters.py", "helpers/plain_json.py",
    "helpers/run_card/__init__.py", "helpers/run_card/prediction_kinds.py",
    "helpers/run_card/predictions.py", "helpers/run_card/documents.py",
    "helpers/run_card/interval_score.py",
    "helpers/run_card/progress.py", "helpers/run_card/reset_exercises.py",
    "helpers/run_card/units.py", "helpers/speed_record/__init__.py",
    "helpers/speed_record/calibration.py", "helpers/speed_record/rule.py",
    "helpers/speed_record/scores.py", "helpers/speed_record/source_rules.py",
    "helpers/speed_record/splits.py", "helpers/texts.py", "helpers/verdict.py",
    "helpers/workers/__init__.py", "helpers/workers/array_message.py",
    "helpers/workers/boxed_worker.py", "helpers/workers/channels.py",
    "helpers/workers/collectives.py", "helpers/workers/own_functions.py",
    "helpers/workers/own_task.py",
    "helpers/workers/processes.py", "helpers/workers/ring.py",
    "helpers/workers/threads.py",
}  # fmt: skip
OF_EVERY_LAB = {"__init__.py", "quiz.toml", "figures.py", "parameters.py", "words.toml"}
OF_EVERY_EXERCISE = {"__init__.py", "probe.py", "words.toml"}
OF_ONE_LAB = {
    "00": {"one_thread.py"},
    "01": {"sliders.py"},
    "02": {"memory.py"},
    "04": {"models.py", "newswires.py", "probing.py", "words.toml"},
    "05": {"probing.py", "words.toml"},
    "03": {"ex5_find_the_bug/script.py", "ladder.py"},
    "06": {
        "class_folders.py",
        "epochs.py",
        "models.py",
        "probing.py",
        "small.py",
        "words.toml",
        "ex4_find_the_bug/script.py",
    },
    "07": {"mesh_on_jax.py", "models.py", "recorded_mesh.json"},
    "08": {"original.py", "profile.py", "recorded_profiles.json"},
    "09": {
        "ex1_ring_all_reduce/inside.py",
        "ex3_train_with_saves/inside.py",
        "ex3_train_with_saves/saves.py",
        "ex5_find_the_bug/script.py",
        "ring_picture.py",
        "workers/__init__.py",
        "workers/durable.py",
        "workers/failures.py",
        "workers/script.py",
        "workers/worker.py",
    },
    "10": {
        "all_reduces.py",
        "bucket_speeds.py",
        "explorer.py",
        "forecast.py",
        "forecast_figures.py",
        "rings.py",
        "speeds.py",
        "workers/__init__.py",
        "workers/buckets.py",
    },
    "11": {
        "ex3_sharded_step/inside.py",
        "ex3_sharded_step/optimizer.py",
        "memory/__init__.py",
        "memory/compiled_memory.py",
        "memory/memory_figures.py",
        "memory/newswire_batch.py",
        "memory/next_word.py",
        "memory/process_memory.py",
        "memory/transformer.py",
        "memory/transformer_sizes.py",
        "recomputation/__init__.py",
        "recomputation/recompute_figures.py",
        "recomputation/recompute_on_jax.py",
        "sharding/__init__.py",
        "sharding/sharded_training.py",
        "sharding/tensor_parallel.py",
        "sharding/tensor_parallel_figures.py",
        "sharding/zero.py",
        "sharding/zero_figures.py",
        "sharding/zero_worker.py",
        "pipelines/__init__.py",
        "pipelines/pipeline.py",
        "pipelines/pipeline_explorer.py",
        "pipelines/pipeline_figures.py",
        "pipelines/pipeline_schedule.py",
        "pipelines/pipeline_worker.py",
        "plans/__init__.py",
        "plans/plan_figures.py",
        "plans/planner.py",
        "plans/published_trainings.py",
        "plans/published.toml",
    },
    "12": {
        "ablation.py",
        "dry_run.py",
        "patterns.py",
        "sign_test.py",
        "submission.py",
        "trials.py",
    },
}


@each_lab
def test_the_files_that_a_box_may_read_are_listed_here(lab):
    seen = set(map(str, visible_files(lab)))
    own = {name for name in seen if name.startswith("helpers/lab_")}
    assert seen - own <= SHARED
    names = OF_EVERY_LAB | OF_ONE_LAB.get(lab.number, set())
    of_exercises = {
        f"{folder.relative_to(REPOSITORY)}/{name}"
        for folder in exercise_folders(lab.number)
        for name in OF_EVERY_EXERCISE
    }
    assert own <= of_exercises | {f"helpers/lab_{lab.number}/{name}" for name in names}
    assert of_exercises <= own
    assert not {path.name for path in visible_files(lab)} & set(NEVER)


def test_the_modules_that_a_visible_file_starts_are_visible():
    started = set()
    for lab in LABS:
        files = [path for path in visible_files(lab) if path.suffix == ".py"]
        names = started_modules(REPOSITORY / path for path in files)
        assert {Path(*name.split(".")).with_suffix(".py") for name in names} <= {*files}
        started |= names
    assert {"helpers.lab_00.one_thread", "helpers.workers.ring"} <= started
    assert "helpers.lab_11.sharding.zero_worker" in started


def test_a_text_that_names_a_module_shows_it_but_no_judge_and_no_reference(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(imports, "REPOSITORY", tmp_path)
    lab = "helpers.lab_77_of_a_test"
    folder = tmp_path.joinpath(*lab.split("."))
    folder.mkdir(parents=True)
    hidden = "judge", "judging", "reference"
    for name in (*hidden, "ring", "channels", "known_to_a_judge", "lone"):
        (folder / f"{name}.py").write_text("")
    (folder / "judge.py").write_text(f"import {lab}.known_to_a_judge")
    (folder / "ring.py").write_text(f"from {lab} import channels")
    named = [f"{lab}.{name}" for name in (*hidden, "ring", "absent")]
    (folder / "cells.py").write_text(f'{named}, "see {lab}.lone", "../{lab}.lone", 1')
    found = imports.files_behind([f"{lab}.cells"], NEVER)
    assert {path.stem for path in found} == {"cells", "ring", "channels"}


@pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
@each_lab
def test_a_box_shows_these_files_and_no_others(lab, tmp_path):
    """A file that somebody adds to the lab's folder is not seen in there."""
    new = lab.folder / "new_file_of_a_test.py"
    show = [REPOSITORY / path for path in visible_files(lab)]
    find = ("find", *(str(REPOSITORY / name) for name in ("callbacks", "helpers")), "-type")
    new.write_text("")
    try:
        command = ("sh", "-c", f"{' '.join(find)} f; ls {REPOSITORY}")
        with sandbox.open_box(sandbox.Limits(), show=show, command=command) as box:
            said = box.monitor.stdout.read().decode().splitlines()
    finally:
        new.unlink()
    files = {line for line in said if line.startswith("/")}
    assert files == set(map(str, show))
    assert set(said) - files <= {"callbacks", "helpers", ".venv"}
