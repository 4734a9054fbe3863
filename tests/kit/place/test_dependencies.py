"""Each role's pinned packages are those that pyproject.toml asks for, and agree."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helpers.files import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
FILES = {
    "student": "requirements.txt",
    "grading": "requirements-grading.txt",
    "dev": "requirements-dev.txt",
    "hub": "requirements-hub.txt",
}
each_role = pytest.mark.parametrize("role", FILES)


def asked_for(role):
    """The requirements that pyproject.toml lists for a role."""
    if role == "student":
        return list(map(Requirement, PROJECT["project"]["dependencies"]))
    found = []
    for one in GROUPS[role]:
        is_group = isinstance(one, dict)
        found += asked_for(one["include-group"]) if is_group else [Requirement(one)]
    return found


def lines(role):
    text = (REPOSITORY / FILES[role]).read_text(encoding="utf-8")
    return text.replace("\\\n", " ").splitlines()


def pinned(role):
    """The pins of a role's file: a list, because a package may have one for each Python."""
    found = {}
    for line in lines(role):
        pin = Requirement(line.partition("--hash")[0])
        found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


@each_role
def test_the_dependencies_of_pyproject_are_pinned_within_their_bounds(role):
    pins = pinned(role)
    for asked in asked_for(role):
        for pin in pins[canonicalize_name(asked.name)]:
            [exact] = pin.specifier
            assert exact.operator == "=="
            assert asked.specifier.contains(exact.version), (role, pin)


@each_role
def test_every_pin_has_a_hash_and_no_index_is_named(role):
    for line in lines(role):
        assert re.search(r" --hash=sha256:[0-9a-f]{64}", line), line[:60]
        assert "://" not in line
        assert not line.startswith("-")


@pytest.mark.parametrize("role", ["grading", "dev", "hub"])
def test_a_role_adds_packages_and_changes_none(role):
    student = pinned("student")
    for name, pins in pinned(role).items():
        if name in student:
            versions = {str(pin.specifier) for pin in student[name]}
            assert {str(pin.specifier) for pin in pins} <= versions, name


def test_an_upper_bound_names_its_reason():
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    for line in text.splitlines():
        if re.search(r'^\s*"[a-z-]+[^"]*<\d', line):
            assert re.search(r"#.*\bissue \d+", line), line
