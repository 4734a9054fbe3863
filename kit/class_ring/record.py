"""What a class ring has measured: on a run card, and on a table for the projector."""

import time
from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from helpers.run_card import predictions
from helpers.run_card.documents import RunCard
from helpers.run_card.units import in_units
from kit.class_ring.link_law import Link
from kit.class_ring.questions import as_asked

HEADINGS = (
    "laptop", "sends to", "latency, predicted", "measured", "Mbit/s, predicted", "measured",
)  # fmt: skip


class Record:
    """Shows each event at once, and keeps it on a run card.

    Parameters
    ----------
    card : RunCard
    console : rich.console.Console
        On a terminal a table stays below the lines; elsewhere there are only lines.
    joining : str
        The line that says how to join.
    """

    def __init__(self, card: RunCard, console: Console, joining: str) -> None:
        self._card, self._console, self._joining = card, console, joining
        self._laws: dict[tuple[str, str], Link] = {}
        self._rows: dict[str, list[str]] = {}
        self._sizes: dict[int, list[str]] = {}
        self._live = (
            Live(console=console, auto_refresh=False) if console.is_terminal else None
        )
        self._links: list[dict] = []
        self._rounds: list[dict] = []
        self._gone: list[dict] = []
        for name, value in zip(("links", "rounds", "missing"), self._kept(), strict=True):
            card.content["measurements"][name] = value

    def __enter__(self) -> "Record":
        """Show the table until the block ends; then the card is complete."""
        if self._live:
            self._live.start()
        self.show(self._joining)
        return self

    def __exit__(self, *_: object) -> None:
        """Save the card."""
        if self._live:
            self._live.stop()
        self._card.finish()

    def show(self, line: str) -> None:
        """Print a line, above the table where there is one."""
        self._console.print(Text(line), soft_wrap=True)

    def joined(self, name: str, guess: dict[str, float]) -> None:
        """A laptop has joined, with its predictions."""
        said = [f"{guess[key]:g}" if key in guess else "-" for key in as_asked(Link(1, 1))]
        self._rows[name] = [name, "", said[0] + " ms" * (said[0] != "-"), "", said[1], ""]
        entry = predictions.new_entry()
        predictions.make(entry, guess or None, time.time())
        self._card.content["predictions"][f"link of {name}"] = entry
        self._card.save()
        self.show(f"{name} has joined.")
        self._refresh()

    def lock(self) -> None:
        """The measurement begins: from here on the predictions stand."""
        for entry in self._card.content["predictions"].values():
            predictions.lock(entry, time.time())
        self._card.save()

    def knows(self, name: str, after: str) -> bool:
        """Whether the link has been measured."""
        return (name, after) in self._laws

    def law(self, name: str, after: str) -> Link:
        """The law of a measured link."""
        return self._laws[name, after]

    def link(self, name: str, after: str, points: Sequence[tuple], law: Link) -> str:
        """Keep a link's times and its law; return a line for its laptop."""
        self._laws[name, after] = law
        self._links.append({"from": name, "to": after, "points": list(map(list, points))})
        measured = as_asked(law)
        entry, verdict = self._card.content["predictions"][f"link of {name}"], ""
        if entry["outcome"] is None:  # not of the link that closes a gap
            verdict = predictions.meet(entry, measured, False, time.time())
        latency, rate = (f"{value:.3g}" for value in measured.values())
        row = self._rows[name]
        row[1], row[3], row[5] = after, f"{latency} ms", rate
        line = f"{name} to {after}: {latency} ms, {rate} Mbit/s."
        self.show(f"{line} {verdict}".strip())
        self._refresh()
        return f"{line} {verdict}".strip()

    def round(
        self, number: int, laptops: int, size: int, forecast: float, seconds: float
    ) -> None:
        """Keep one all-reduce of `size` bytes, with the forecast that the law made."""
        self._rounds.append({
            "number": number, "laptops": laptops, "bytes": size,
            "forecast_seconds": forecast, "seconds": seconds,
        })  # fmt: skip
        said = [in_units("bytes", size), str(laptops), in_units("seconds", forecast)]
        self._sizes[size] = [str(number), *said, in_units("seconds", seconds)]
        if not self._live:
            self.show(
                f"Round {number}: {said[0]} around {laptops} laptops in "
                f"{in_units('seconds', seconds)}; forecast {said[2]}."
            )
        self._refresh()

    def missing(self, name: str, when: str) -> None:
        """Keep that a laptop is gone."""
        self._gone.append({"name": name, "when": when})
        if name in self._rows:
            self._rows[name][1] = "missing"
        self.show(f"{name} is missing {when}.")
        self._refresh()

    def _kept(self):
        return self._links, self._rounds, self._gone

    def _refresh(self):
        self._card.save()
        if self._live:
            self._live.update(self._tables(), refresh=True)

    def _tables(self):
        links = Table(*HEADINGS, title=Text(self._joining))
        for row in self._rows.values():
            links.add_row(*map(Text, row))
        rounds = Table(
            "round", "all-reduce of", "laptops", "forecast by the law", "measured"
        )
        for row in self._sizes.values():
            rounds.add_row(*row)
        return Group(links, rounds) if self._sizes else links
