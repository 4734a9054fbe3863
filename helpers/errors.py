"""Errors that a user can mend: one line, no traceback."""


class LabError(Exception):
    """What happened, why, and what to do about it, in a line or two."""

    def _render_traceback_(self):
        # IPython asks for this: the frames would hide the message.
        return [f"{type(self).__name__}: {self}"]


class DataError(LabError):
    """A data file that cannot be used."""


class DeviceError(LabError, RuntimeError):
    """A device that cannot be had, or not any more."""


class ParameterError(LabError):
    """A parameter that the lab does not have, or a value it cannot take."""


class RecordError(LabError):
    """A run card that cannot be written."""


class CheckError(LabError):
    """A check that cannot be asked, or under LABS_STRICT=1 one not passed."""
