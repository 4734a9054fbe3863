"""The workflow that tags a version and publishes it, with stand-ins for make and gh."""

import os
import subprocess

import pytest
import yaml

from helpers.files import REPOSITORY

STEPS = yaml.safe_load((REPOSITORY / ".github/workflows/tag.yml").read_text())["jobs"][
    "tag"
]
[SCRIPT] = [step["run"] for step in STEPS["steps"] if "run" in step]
MAKE = """#!/bin/sh
echo "make $*" >> "$CALLS"
mkdir -p build/release && touch build/release/notes.md build/release/a.tar.gz
exit "$MAKE_STATUS"
"""
GH = '#!/bin/sh\necho "gh $*" >> "$CALLS"\n'
DATED = "## [Unreleased]\n\n## [0.2.0] - 2026-11-24\n\n- A lab.\n"


@pytest.fixture
def release(tmp_path):
    """Run the workflow's step on a clone with these notes; the calls and origin's tags."""
    programs, origin, clone = tmp_path / "bin", tmp_path / "origin", tmp_path / "clone"
    programs.mkdir()
    for name, script in (("make", MAKE), ("gh", GH)):
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    git("init", "-q", "--bare", origin)
    git("clone", "-q", origin, clone)
    (clone / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')

    def run(notes, make_status=0):
        calls = tmp_path / "calls"
        calls.write_text("")
        (clone / "CHANGELOG.md").write_text(notes)
        git("-C", clone, "add", "-A")
        as_somebody = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        git("-C", clone, *as_somebody, "commit", "-qm", "x", "--allow-empty")
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        given = {"PATH": path, "CALLS": str(calls), "MAKE_STATUS": str(make_status)}
        # As GitHub runs a step.
        done = subprocess.run(
            ["bash", "-e", "-c", SCRIPT], cwd=clone, env=os.environ | given,
            capture_output=True,
        )  # fmt: skip
        tags = git("-C", origin, "tag", "--list").split()
        return done.returncode, calls.read_text().splitlines(), tags

    return run


def git(*arguments):
    command = ["git", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_dated_version_is_built_tagged_and_published_once(release):
    status, calls, tags = release(DATED)
    assert (status, tags) == (0, ["v0.2.0"])
    assert calls == [
        "make release VERSION=0.2.0",
        "gh release create v0.2.0 --notes-file build/release/notes.md "
        "build/release/a.tar.gz",
    ]
    assert release(DATED + "\nA typing error less.\n") == (0, [], ["v0.2.0"])


@pytest.mark.parametrize("notes", ["## [Unreleased]\n\n- A lab.\n", "## [0.1.0] - 2026\n"])
def test_notes_without_this_version_release_nothing(release, notes):
    assert release(notes) == (0, [], [])


def test_a_release_that_cannot_be_built_is_not_tagged(release):
    status, calls, tags = release(DATED, make_status=2)
    assert status != 0
    assert (calls, tags) == (["make release VERSION=0.2.0"], [])
    assert release(DATED)[0] == 0, "and it can be tried again"
