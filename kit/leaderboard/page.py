"""The board as a page, with the code and the log of each entry beside it."""

import difflib
import math
from pathlib import Path

from helpers.files import write_atomically
from helpers.plain_json import storable, write_json
from helpers.speed_record.rule import TARGETS
from kit.leaderboard.again import ranking
from kit.leaderboard.board_figure import draw
from kit.leaderboard.board_names import board_in_words
from kit.leaderboard.judge import decide
from kit.leaderboard.machine import board_of
from kit.leaderboard.store import Store
from kit.look import render
from kit.version import kit_version

TEMPLATE = Path(__file__).with_name("page.html.j2")
ON_THE_BOARD = ("record", "entry")


def write_page(store: Store, folder: Path) -> Path:
    """Write `index.html`, and `NNN.py` and `NNN.json` of each entry.

    Also `board.json` and two pictures, from which the board's section in the docs is made.

    Parameters
    ----------
    store : Store
    folder : Path

    Returns
    -------
    Path
        Of the page.
    """
    entries = [_checked(storable(entry)) for entry in store.entries()]
    for entry in entries:
        write_atomically(folder / f"{entry['number']:03}.py", entry["code"])
        write_json(folder / f"{entry['number']:03}.json", entry)
    verifications = storable(store.verifications())
    _write_board(folder, [one for one in entries if _is_ranked(one)], verifications)
    path = folder / "index.html"
    write_atomically(path, page(entries, verifications))
    return path


def _write_board(folder, ranked, verifications):
    """What `kit.leaderboard.section` needs to show the board in the repository."""
    keys = ("number", "code", "about", "machine", "added", "state", "reason", "result")
    groups = [[one["number"] for one in board["entries"]] for board in _boards(ranked)]
    rows = [
        {key: one[key] for key in keys}
        | {"board": board_of(one["machine"], one["settings"])}
        for one in ranked
    ]
    board = {"boards": groups, "entries": rows, "verifications": verifications}
    write_json(folder / "board.json", board)
    if figure := draw(ranked):
        write_atomically(folder / "board.png", figure.light)
        write_atomically(folder / "board-dark.png", figure.dark)


def _is_ranked(entry):
    return entry["state"] in ON_THE_BOARD


def page(entries: list[dict], verifications: list[dict]) -> str:
    """The page's HTML: see `Store.entries` and `Store.verifications`."""
    ranked = [one for one in entries if _is_ranked(one)]
    return render(
        TEMPLATE,
        boards=_boards(ranked),
        figure=draw(ranked),
        history=_history(ranked),
        gains=_gains(entries),
        entries=[_shown(one, entries) for one in ranked],
        refused=[one for one in entries if one["state"] == "refused"],
        trials=[one for one in entries if one["state"] == "trial"],
        open=[one for one in entries if one["state"] == "judging"],
        verifications=verifications,
        targets=TARGETS,
        version=kit_version(),
    )


def _checked(entry):
    """An entry whose logs no longer agree with its code, or its verdict, is refused."""
    if not _is_ranked(entry):
        return entry
    verdict = decide(entry)
    if verdict.state in ON_THE_BOARD:
        return entry
    return entry | {"state": "refused", "reason": verdict.reason}


def _boards(entries):
    boards = {}
    for entry in entries:
        board = board_of(entry["machine"], entry["settings"])
        boards.setdefault(board, []).append(entry)
    order = sorted(boards, key=lambda board: (list(TARGETS).index(board[0]), *board[1:]))
    return [
        {"name": board_in_words(board), "entries": ranking(boards[board])}
        for board in order
    ]


def _history(entries):
    """The records of each board in the order in which they were set."""
    boards = {}
    for entry in entries:
        if entry["state"] == "record":
            board = board_of(entry["machine"], entry["settings"])
            boards.setdefault(board, []).append(entry)
    return [
        {"name": board_in_words(board), "entries": records}
        for board, records in boards.items()
    ]


def _gains(entries):
    """Predicted and measured gains, those with the smallest error first."""
    rows = []
    for entry in entries:
        predicted, base = entry["about"].get("predicted_gain"), _base(entry, entries)
        score = entry["result"].get("score")
        if not (predicted and base and score):
            continue
        measured = base["result"]["score"][1] / score[1]
        rows.append(
            {
                "entry": entry,
                "base": base,
                "predicted": predicted,
                "measured": measured,
                "off": math.exp(abs(math.log(predicted / measured))),
            }
        )
    return sorted(rows, key=lambda row: row["off"])


def _base(entry, entries):
    """The entry on which one is based: by its number or title, on the same board."""
    named = entry["about"].get("based_on", "").strip().rstrip(".").lower()
    board = board_of(entry["machine"], entry["settings"])
    found = [
        other
        for other in entries
        if other["number"] < entry["number"]
        and named in (str(other["number"]), other["about"].get("title", "").lower())
        and other["result"].get("score")
        and board_of(other["machine"], other["settings"]) == board
    ]
    return found[-1] if named and found else None


def _shown(entry, entries):
    """An entry with the difference between its code and the one before."""
    board = board_of(entry["machine"], entry["settings"])
    earlier = [
        other
        for other in entries
        if other["state"] in ON_THE_BOARD
        and other["number"] < entry["number"]
        and board_of(other["machine"], other["settings"]) == board
    ]
    before = _base(entry, entries) or (earlier[-1] if earlier else None)
    lines = []
    if before:
        lines = list(
            difflib.unified_diff(
                before["code"].splitlines(), entry["code"].splitlines(),
                f"entry {before['number']}", f"entry {entry['number']}", lineterm="",
            )
        )  # fmt: skip
    kinds = ("judged", "held out", "public")
    runs = [run for kind in kinds for run in entry["runs"] if run["kind"] == kind]
    return entry | {"before": before, "diff": lines, "shown_runs": runs}
