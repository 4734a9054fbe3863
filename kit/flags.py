"""Options of `labs` that take no value, such as ``--json``."""

from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """Commands whose help names no type for such an option; Typer's names ``<bool>``."""

    def get_params(self, ctx: Any) -> list:
        """The options of the group itself."""
        return _without_types(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One of its commands, or None."""
        command = super().get_command(ctx, cmd_name)
        if command:
            _without_types(command.get_params(ctx))
        return command


def _without_types(options):
    for option in options:
        if getattr(option, "is_flag", False):
            option.metavar = ""
    return options
