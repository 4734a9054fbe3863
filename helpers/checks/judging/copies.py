"""The verdict on an answer that cannot be copied."""

from helpers.verdict import Wrong, wrong


def cannot_travel(observation: dict) -> Wrong | None:
    """The verdict on an answer that no other process can be given."""
    why = observation.get("cannot_travel")
    return wrong("travels", "cannot_travel", why=why) if why else None
