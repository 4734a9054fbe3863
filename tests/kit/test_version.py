"""What the kit writes says which kit wrote it."""

import subprocess
import tomllib

import nbformat

from helpers.files import REPOSITORY
from kit.headless.report import page, write_report
from kit.labs import all_labs


def test_a_report_names_the_version_and_the_commit(tmp_path):
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    head = ["git", "-C", REPOSITORY, "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    name = f"Scaling Labs {project['version']}, commit {commit}"
    assert name in write_report([], tmp_path, "run").read_text()
    lab, *_ = all_labs()
    assert name in page(nbformat.read(lab.solution, as_version=4), lab, {})
