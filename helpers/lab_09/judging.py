"""What judges of lab 09 share."""

from helpers.checks.judging.verdicts import quoted


def cannot_travel(observation):
    why = observation.get("cannot_travel")
    return why and (f"no other process can be given it: {quoted(why)}", "travels")
