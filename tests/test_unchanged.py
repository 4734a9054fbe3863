"""`make test-changed` leaves out what passed, and nothing on which a change can tell."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.files import REPOSITORY
from tests import unchanged

ASK = """
import json, sys
from pathlib import Path
from helpers import exercise
from tests import unchanged

ITEMS = {
    "answer to 2.1": (Path("tests/helpers/checks/test_checks.py"), {"exercise": "2.1"}),
    "answer to 3.1": (Path("tests/helpers/checks/test_checks.py"), {"exercise": "3.1"}),
    "mutant of 2.1": (Path("tests/kit/authoring/test_mutants.py"), {"exercise": "2.1"}),
    "notebook 02": (Path("tests/kit/authoring/test_notebooks.py"), {"lab": "02"}),
    "code": (Path("tests/kit/grading/test_figure.py"), {}),
    "code that reads pages": (Path("tests/kit/grading/test_forgeries.py"), {}),
}

def fingerprints():
    for made in (*vars(unchanged).values(), *vars(exercise).values(),
                 *unchanged.files_behind.__globals__.values()):
        if made is not unchanged._cells:  # reads sources of labs alone, and takes longest
            getattr(made, "cache_clear", lambda: None)()
    found = {}
    for name, (path, params) in ITEMS.items():
        lab = {"lab": unchanged.find_lab(params["lab"])} if "lab" in params else {}
        found[name] = unchanged.fingerprint_of(path, params | lab)[1]
    return found

usual, told = fingerprints(), {}
for name, (path, before, after) in json.load(sys.stdin).items():
    file = Path(path)
    text = file.read_text()
    assert before in text, path
    of_a_lab = path.startswith("labs/")
    file.write_text(text.replace(before, after, 1))
    if of_a_lab:
        unchanged._cells.cache_clear()
    now = fingerprints()
    file.write_text(text)
    if of_a_lab:
        unchanged._cells.cache_clear()
    told[name] = sorted(one for one in usual if now[one] != usual[one])
print(json.dumps(told))
"""
CODE = ["code", "code that reads pages"]
ALL = ["answer to 2.1", "answer to 3.1", *CODE, "mutant of 2.1", "notebook 02"]
LAB_02 = ["answer to 2.1", *CODE, "mutant of 2.1", "notebook 02"]
# What is changed, where, how, and which tests are asked again.
CHANGES = {
    "text of a lab": ("labs/02_throughput.py", "## ", "## So: ", []),
    "comment in a cell": ("labs/02_throughput.py", "# %%\n", "# %%\n# Look.\n", []),
    "code of a lab": ("labs/02_throughput.py", "from math import ceil",
                      "from math import ceil, floor", LAB_02),
    "judge": ("helpers/lab_02/ex1_throughput/judge.py", "rm(0.6,", "rm(0.7,", LAB_02),
    "probe": ("helpers/lab_02/ex1_throughput/probe.py", "import", "import  ", LAB_02),
    "words": ("helpers/lab_02/ex1_throughput/words.toml", "Which", "What", LAB_02),
    "parameters": ("helpers/lab_02/parameters.py", "by_scale(", "by_scale( ",
                   [*CODE, "notebook 02"]),
    "recorded answer": ("tests/answers/lab_02/ex1_throughput.py", "import", "import ",
                        ["answer to 2.1", *CODE, "mutant of 2.1"]),
    "mutants": ("tests/answers/lab_02/ex1_throughput.mutants.json", "{", "{ ",
                ["answer to 2.1", *CODE, "mutant of 2.1"]),
    "every check": ("helpers/checks/observe.py", "200", "201", ALL),
    "words of every check": ("helpers/checks/words.toml", "run ", "make ", ALL),
    "another lab's judge": ("helpers/lab_05/ex1_build/judge.py", "import", "import ",
                            CODE),
    "callback": ("callbacks/epoch_recorder.py", "import", "import ", ALL),
    "sandbox": ("kit/grading/box/sandbox.py", "3072", "3073", CODE),
    "template of a page": ("kit/grading/classroom/pages/feedback.html.j2", "<", "< ",
                           CODE),
    "stored output": ("solutions/02_throughput.ipynb", "text/plain", "text/x",
                      ["notebook 02"]),
    "what nbval lets differ": ("kit/authoring/nbval.cfg", "regex", "regex ",
                               [*CODE, "notebook 02"]),
    "version": ("requirements.txt", "keras==", "keras== ", ALL),
    "test": ("tests/helpers/checks/test_checks.py", "import", "import ",
             ["answer to 2.1", "answer to 3.1", *CODE]),
    "page": ("docs/teaching/grading.md", "the", "The", ["code that reads pages"]),
    "style of the site": ("docs/site/site.css", "{", "{ ", ["code that reads pages"]),
}  # fmt: skip


def test_a_fingerprint_sees_a_change_in_each_kind_of_file_that_decides(tmp_path):
    for name in (
        "callbacks", "docs", "helpers", "kit", "labs", "notebooks", "solutions", "tests",
        ".ci",
    ):  # fmt: skip
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=ignored)
    for path in [*REPOSITORY.glob("requirements*.txt"), REPOSITORY / "pyproject.toml"]:
        shutil.copy(path, tmp_path)
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=tmp_path,
        input=json.dumps({name: change[:3] for name, change in CHANGES.items()}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told == {name: change[3] for name, change in CHANGES.items()}


@pytest.mark.parametrize("name", ["test_prose.py", "kit/test_glossary.py"])
def test_what_reads_only_text_is_always_asked(name):
    assert unchanged.fingerprint_of(Path("tests", name), {}) is None


def test_each_file_of_text_is_there():
    assert all((REPOSITORY / name).exists() for name in unchanged.OF_TEXT)


def test_unchanged_tests_are_left_out_and_changed_ones_run_again(tmp_path):
    tests = "tests/helpers/checks/test_checks.py::test_questions_are_plain_json_and_differ"

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-q", "-n1", f"-ocache_dir={tmp_path}"]
        return subprocess.run(
            [*command, tests, "-k(2.1 or 2.3) and not 12.1", *options],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    everything = run()
    assert "2 passed" in everything
    assert "Left out" not in everything
    [known] = tmp_path.rglob("passed")
    stored = json.loads(known.read_text())
    assert len(stored) == 2
    stored[next(iter(stored))] = "the fingerprint of another version"
    known.write_text(json.dumps(stored))
    changed = run("--changed")
    assert "1 passed" in changed
    assert "Left out, as they passed and nothing changed: 1 questions to" in changed
