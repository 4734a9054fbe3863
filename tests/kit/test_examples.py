"""The example in the help of each command: it is one that the command takes."""

import shlex

import pytest
import typer
from typer.testing import CliRunner

from kit.cli import app
from kit.examples import EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_command_takes_its_example_and_ends_its_help_with_it(name, tmp_path, monkeypatch):
    program, *given = shlex.split(EXAMPLES[name])
    words = name.split()
    assert (program, given[: len(words)]) == ("labs", words)
    arguments = given[len(words) :]
    monkeypatch.chdir(tmp_path)
    for argument in arguments:  # a path may have to exist
        if "/" in argument and not argument.startswith(("-", "..")):
            (tmp_path / argument).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / argument).touch()
    command = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    command.make_context(name, arguments)  # which refuses what it does not know
    said = CliRunner().invoke(app, [*words, "--help"], terminal_width=200).output
    assert f"For example: {EXAMPLES[name]}" in " ".join(said.split())
    assert "<bool>" not in said, "a flag takes no value"


@pytest.mark.parametrize("group", [(), ("data",), ("leaderboard",)], ids=str)
def test_no_flag_of_a_group_seems_to_take_a_value(group):
    said = CliRunner().invoke(app, [*group, "--help"], terminal_width=200).output
    assert "--help" in said
    assert "<bool>" not in said


def test_every_command_has_an_example():
    names = set()
    for name, command in typer.main.get_command(app).commands.items():
        names |= {f"{name} {one}" for one in getattr(command, "commands", ())} or {name}
    assert names == set(EXAMPLES)
