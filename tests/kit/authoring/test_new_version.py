"""`labs new-version`: the version and its notes, and one line where it is refused."""

import re
import subprocess
import time

import pytest

from helpers.errors import LabError
from kit.authoring.new_version import new_version

PROJECT = '[project]\nname = "x"\nversion = "0.1.0"\n'
NOTES = "# Changes\n\n## [Unreleased]\n\n### Added\n\n- A lab.\n"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "repository"
    path.mkdir()
    (path / "pyproject.toml").write_text(PROJECT)
    (path / "CHANGELOG.md").write_text(NOTES)
    commit(path)
    return path


def commit(path):
    as_somebody = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*as_somebody, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", path, *command], check=True)


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0", "1.0.0"])
def test_a_version_is_dated_and_its_notes_stay_below_it(folder, version):
    assert len(new_version(version, folder)) == 2
    assert f'version = "{version}"' in (folder / "pyproject.toml").read_text()
    notes = (folder / "CHANGELOG.md").read_text()
    today = time.strftime("%Y-%m-%d")
    expected = f"## [Unreleased]\n\n## [{version}] - {today}\n\n### Added\n\n- A lab.\n"
    assert notes.endswith(expected)
    # What .github/workflows/tag.yml looks for.
    assert re.search(rf"^## \[{version}\] - ", notes, re.MULTILINE)
    assert new_version(version, folder) == [], "make release can be repeated"


@pytest.mark.parametrize(
    ("version", "says"),
    [("1.0", "three numbers"), ("v1.0.0", "three numbers"), ("0.0.9", "older than 0.1.0")],
)
def test_a_wrong_version_is_refused(folder, version, says):
    with pytest.raises(LabError, match=says):
        new_version(version, folder)


def test_a_release_needs_notes_and_a_commit(folder):
    new_version("0.2.0", folder)
    with pytest.raises(LabError, match="nothing below"):
        new_version("0.3.0", folder)
    with (folder / "CHANGELOG.md").open("r+") as file:
        file.write(NOTES)
    with pytest.raises(LabError, match="first commit or remove "):
        new_version("0.3.0", folder)
