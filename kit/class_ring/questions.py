"""What each student predicts about the link to the next laptop."""

from kit.class_ring.link_law import Link

QUESTIONS = {
    "latency_milliseconds": "How many milliseconds does a tiny message take",
    "megabits_per_second": "How many megabits a second does the link carry",
}
LARGEST = 1e9


def as_asked(law: Link) -> dict[str, float]:
    """A measured link in the units of the questions."""
    return {
        "latency_milliseconds": 1e3 * law.latency_seconds,
        "megabits_per_second": 8e-6 * law.bytes_per_second,
    }


def accepted(guess: dict) -> dict[str, float]:
    """The predictions that are possible at all; the others count as skipped."""
    return {
        name: guess[name]
        for name in QUESTIONS
        if type(guess.get(name)) in (int, float) and 0 < guess[name] <= LARGEST
    }
