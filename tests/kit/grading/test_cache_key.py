"""A stored result is used again as long as nothing that decides has changed."""

import json
import shutil
import subprocess
import sys

from helpers.files import REPOSITORY

ASK = """
import json, sys
from pathlib import Path
from kit import todo_cells
from kit.grading import cache_key, grade
from kit.grading.submissions import Submission, file_name
from kit.labs import find_lab

COMMON = {"limits": (1,), "seed": "s", "boxed": True, "full": False}

def keys(student="ada", hide=(), modules=(), **changes):
    changes |= {"hide": hide, "modules": modules}
    # Not what a file imports, and what is installed: nothing below changes that.
    cache_key.fingerprint.cache_clear()
    tasks = [
        grade._task(
            Submission(student, find_lab(n), None, "none"), grade.NOTHING, COMMON | changes
        )
        for n in ("02", "03")
    ]
    return [task["key"] for task in tasks]

def changed(path, before, after):
    file = Path(path)
    text = file.read_text()
    assert before in text, path
    write(file, text.replace(before, after, 1))
    found = keys()
    write(file, text)
    return [a != b for a, b in zip(found, usual)]

def write(file, text):
    file.write_text(text)
    if file.parent.name == "labs":  # it takes long to read, and nothing else reads it
        for made in vars(todo_cells).values():
            getattr(made, "cache_clear", lambda: None)()

usual = keys()
newer = cache_key.metadata.version
found = {
    "nothing": changed("helpers/lab_02/ex1_throughput/judge.py", "import", "import"),
    "points": changed("labs/02_throughput.py", "points=2", "points=3"),
    "set-up": changed("labs/02_throughput.py", "from math import ceil", "import math"),
    "text": changed("labs/02_throughput.py", "## ", "## So: "),
    "judge": changed("helpers/lab_02/ex1_throughput/judge.py", "rm(0.6,", "rm(0.7,"),
    "probe": changed("helpers/lab_03/ex1_stop_at_accuracy/probe.py", "import", "import  "),
    "every check": changed("helpers/checks/observe.py", "200", "201"),
    "sentence": changed("helpers/lab_02/ex1_throughput/words.toml", "\\n", "\\n\\n"),
    "box": changed("kit/grading/box/sandbox.py", "3072", "3073"),
    "pages": changed("kit/grading/classroom/feedback.py", "SECONDS = 10", "SECONDS = 11"),
    "seed": [a != b for a, b in zip(keys(seed="t"), usual)],
    "student": [a != b for a, b in zip(keys(student="bob"), usual)],
    "other folder": [a != b for a, b in zip(keys(hide=["x"], modules=["y"]), usual)],
}
cache_key.metadata.version = lambda name: newer(name) + ("+1" if name == "keras" else "")
found["keras"] = [a != b for a, b in zip(keys(), usual)]
print(json.dumps(found))
"""


def test_only_what_decides_has_a_submission_graded_again(tmp_path):
    for folder in ("callbacks", "helpers", "kit", "labs"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    ended = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    neither, first, second, both = (
        [False, False],
        [True, False],
        [False, True],
        [True, True],
    )
    assert json.loads(ended.stdout) == {
        "nothing": neither, "text": neither, "pages": neither,
        "other folder": neither,
        "points": first, "set-up": first, "judge": first, "sentence": first,
        "probe": second,
        "every check": both, "box": both, "seed": both, "student": both, "keras": both,
    }  # fmt: skip
