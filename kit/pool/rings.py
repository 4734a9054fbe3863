"""What class rings have measured: links fitted again, rounds beside their forecasts."""

from typing import Any

from helpers.run_card import predictions
from kit.class_ring.link_law import fit_link
from kit.class_ring.questions import as_asked
from kit.pool.cards import RING, Card
from kit.pool.middle import median
from kit.pool.topics import Unusable

MOST_LINKS, MOST_ROUNDS = 500, 2_000


def rings(cards: list[Card], names: bool) -> tuple[list[dict], list[tuple[str, str]]]:
    """All class rings, the oldest first.

    Parameters
    ----------
    cards : list of Card
    names : bool
        Whether laptops have their names; else they are numbered.

    Returns
    -------
    rings : list of dict
        `started_unix_seconds`; `links`, with `sender`, `receiver`, `measured` and
        `predicted` (by the names of the questions); `rounds`, by size and laptops, with
        the medians of forecast and measured seconds; `missing`.
    unusable : list of (person, reason)
    """
    found, unusable = [], []
    for card in cards:
        if card.content["lab"] == RING:
            try:
                found.append(_ring(card.content, names))
            except (Unusable, ValueError, KeyError, TypeError) as reason:
                said = reason if isinstance(reason, Unusable | ValueError) else "incomplete"
                unusable.append((card.person, f"class ring: {said}"))
    return found, unusable


def _ring(content, names) -> dict[str, Any]:
    measured, numbers = content["measurements"], {}

    def called(name):
        if not isinstance(name, str):
            raise Unusable("a laptop has no name")
        number = numbers.setdefault(name, len(numbers) + 1)
        return name[:40] if names else f"laptop {number}"

    links = []
    for number, link in enumerate(_list(measured["links"], MOST_LINKS)):
        points = [(_amount(n), _amount(seconds)) for n, seconds in _list(link["points"])]
        # A later link of the same laptop closes a gap: nobody was asked about it.
        is_first = link["from"] not in (one["from"] for one in measured["links"][:number])
        entry = content["predictions"].get(f"link of {link['from']}") if is_first else None
        links.append({
            "sender": called(link["from"]), "receiver": called(link["to"]),
            "measured": as_asked(fit_link(points)), "predicted": _guess(entry),
        })  # fmt: skip
    if not links:
        raise Unusable("it has no link")
    rounds: dict[tuple, list] = {}
    for one in _list(measured["rounds"], MOST_ROUNDS):
        pair = _amount(one["forecast_seconds"]), _amount(one["seconds"])
        size = _amount(one["bytes"]), _amount(one["laptops"])
        rounds.setdefault(size, []).append(pair)
    missing = _list(measured["missing"])
    return {
        "started_unix_seconds": content["started_unix_seconds"],
        "links": links,
        "rounds": [
            {
                "bytes": size, "laptops": laptops, "rounds": len(pairs),
                "forecast_seconds": median(pair[0] for pair in pairs),
                "seconds": median(pair[1] for pair in pairs),
            }
            for (size, laptops), pairs in sorted(rounds.items())
        ],
        "missing": [
            {"name": called(one["name"]), "when": str(one["when"])[:40]} for one in missing
        ],
    }  # fmt: skip


def _guess(entry):
    """What the laptop's student predicted before the measurement; empty if nothing."""
    if not predictions.is_entry(entry) or not isinstance(entry["value"], dict):
        return {}
    return {name: _amount(value) for name, value in entry["value"].items()}


def _list(value, most=500):
    if not isinstance(value, list) or len(value) > most:
        raise Unusable("a list in it is missing or too long")
    return value


def _amount(value):
    if type(value) not in (int, float) or not 0 <= value <= 1e12:
        raise Unusable("a number in it is not positive")
    return value
