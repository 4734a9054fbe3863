"""Errors that a user can fix: one line, no traceback."""

import textwrap

LONGEST_LINE = 92  # in a window 1280 wide: JupyterLab breaks longer ones within words


class LabError(Exception):
    """An error that says in a line or two what happened, why, and what to do about it."""

    def _render_traceback_(self):
        # IPython calls this: a full traceback would hide the message.
        return textwrap.wrap(f"{type(self).__name__}: {self}", LONGEST_LINE)


class DataError(LabError):
    """A data file that cannot be used."""


class DeviceError(LabError, RuntimeError):
    """A device that is not available, or not any more."""


class ParameterError(LabError):
    """A parameter that the lab does not have, or a value it cannot take."""


class RunCardError(LabError):
    """A run card that cannot be written."""


class CheckError(LabError):
    """A check that could not run, or that failed under LABS_STRICT=1."""
