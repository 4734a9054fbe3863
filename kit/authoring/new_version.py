"""Give the kit a new version: in pyproject.toml, and as a dated heading of CHANGELOG.md."""

import re
import subprocess
import time
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY, write_atomically

OPEN = "## [Unreleased]\n"
VERSION_LINE = re.compile(r'^version = "(.+)"$', re.MULTILINE)


def new_version(version: str, folder: Path = REPOSITORY) -> list[Path]:
    """Write a version and its date; the same version again changes nothing.

    Parameters
    ----------
    version : str
        Such as ``"0.2.0"``.
    folder : Path
        The repository.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    LabError
        If it is no version, or an older one, if there is nothing new in CHANGELOG.md, or
        if files have been changed since the last commit.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise LabError(f"{version!r} is not a version: give three numbers, such as 0.2.0.")
    project, changes = folder / "pyproject.toml", folder / "CHANGELOG.md"
    text, notes = (path.read_text(encoding="utf-8") for path in (project, changes))
    found = VERSION_LINE.search(text)
    assert found
    if f"\n## [{version}] - " in notes:
        if found[1] != version:
            raise LabError(f"{version} is released already: the kit is at {found[1]}.")
        return []
    if _numbers(version) < _numbers(found[1]):
        raise LabError(f"{version} is older than {found[1]}, the version of the kit.")
    before, _, rest = notes.partition(OPEN)
    if not rest.partition("\n## [")[0].strip():
        raise LabError("CHANGELOG.md has nothing below [Unreleased]: say what is new.")
    command = ["git", "-C", str(folder), "status", "--porcelain"]
    git = subprocess.run(command, capture_output=True, text=True, check=True)
    if git.stdout:
        names = ", ".join(line[3:] for line in git.stdout.splitlines()[:5])
        raise LabError(f"a release is made from a commit: first commit or remove {names}.")
    heading = f"## [{version}] - {time.strftime('%Y-%m-%d')}\n"
    write_atomically(changes, f"{before}{OPEN}\n{heading}{rest}")
    write_atomically(project, VERSION_LINE.sub(f'version = "{version}"', text, count=1))
    return [project, changes]


def _numbers(version):
    return [int(part) for part in version.split(".")]
