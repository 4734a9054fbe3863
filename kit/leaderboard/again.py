"""Judge the best entries of each board again, in turn: is their order the same?"""

import ast
import itertools
import os

from helpers.speed_record import scores
from helpers.speed_record.source_rules import without_docstrings
from kit.leaderboard.box_run import run_in_box
from kit.leaderboard.judge import data_of, seed_for
from kit.leaderboard.machine import board_of, this_machine
from kit.leaderboard.store import Store
from kit.progress import Progress

SAME, TIE, OTHER = "same", "tie", "other"


def verify(store: Store, top: int, seeds: int, quiet: bool = False) -> list[dict]:
    """Judge the best entries of this machine's boards again.

    Parameters
    ----------
    store : Store
    top : int
        How many entries of each board.
    seeds : int
        New ones, for each entry; what was run before an interruption is kept.
    quiet : bool
        True: no progress bar.

    Returns
    -------
    list of dict
        For each board with two entries or more: its `board`, the numbers of the entries in
        the `stored` order and in the `measured` one, and `pairs` of neighbours, each with
        its `ratio` and whether the order is the "same", a "tie" or the "other" one.
    """
    kind = f"verify {len(store.verifications())}"
    boards = _boards(store, top)
    total = seeds * sum(map(len, boards.values()))
    with Progress(what="verify", total=total, unit="run", quiet=quiet) as bar:
        for entries in boards.values():
            for place in range(seeds):
                turn = place % len(entries)  # so that nobody is always the first
                for entry in entries[turn:] + entries[:turn]:
                    _run(store, entry, kind, place)
                    bar.update()
    found = [_compared(store, board, rows, kind, seeds) for board, rows in boards.items()]
    if found:
        store.verified({"boards": found})
    return found


def _boards(store, top):
    machine = this_machine()
    boards = {}
    for entry in store.entries():
        board = board_of(entry["machine"], entry["settings"])
        is_here = board == board_of(machine, entry["settings"])
        if entry["state"] in ("record", "entry") and is_here:
            boards.setdefault(board, []).append(entry)
    ranked = {board: ranking(entries)[:top] for board, entries in boards.items()}
    return {board: entries for board, entries in ranked.items() if len(entries) > 1}


def ranking(entries: list[dict]) -> list[dict]:
    """Entries by score, the best one first; of equal ones the older one."""
    return sorted(entries, key=lambda one: (one["result"]["score"][1], one["number"]))


def _run(store, entry, kind, place):
    if any(
        (run["kind"], run["place"]) == (kind, place) for run in store.runs(entry["number"])
    ):
        return
    code = ast.unparse(without_docstrings(entry["code"]))
    seed = seed_for(store.secret, entry, kind, place)
    data = data_of(store.secret, entry, kind, place)
    outcome = run_in_box(code, seed, data, entry["settings"]["warm"])
    log = outcome._asdict() | {
        "seed": seed, "code": entry["hash"], "load": os.getloadavg()[0],
    }  # fmt: skip
    store.log(entry["number"], kind, place, log)


def _compared(store, board, entries, kind, seeds):
    seconds = {
        entry["number"]: [
            run["log"]["seconds"]
            for run in store.runs(entry["number"])
            if run["kind"] == kind and run["place"] < seeds
        ]
        for entry in entries
    }
    pairs = []
    for one, other in itertools.pairwise(seconds):
        if None in seconds[one] + seconds[other]:
            pairs.append({"entries": [one, other], "ratio": None, "order": OTHER})
            continue
        ratio = scores.ratio(seconds[one], seconds[other])
        order = SAME if ratio.high < 1 else OTHER if ratio.low > 1 else TIE
        pairs.append({"entries": [one, other], "ratio": list(ratio), "order": order})
    means = {
        number: sum(values) / len(values)
        for number, values in seconds.items()
        if None not in values
    }
    measured = sorted(means, key=lambda number: means[number])
    return {
        "board": list(board), "stored": list(seconds), "measured": measured, "pairs": pairs,
    }  # fmt: skip
