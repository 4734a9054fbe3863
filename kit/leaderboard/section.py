"""The board as Markdown, for docs/leaderboard.md: from the `board.json` of its page."""

import json
from pathlib import Path

from kit.leaderboard.board_figure import ALTERNATIVE
from kit.leaderboard.board_names import board_in_words

HEAD = (
    "| entry | score | seconds | CPU seconds | mean accuracy | published split | "
    "held-out workload |\n|---|---|---|---|---|---|---|\n"
)
COLUMNS = """\
In the tables, the first four columns are means over the seeds. Score (lower is faster)
and accuracy also show their 95% intervals. The last two columns are the accuracies of one
extra run each. *Published split* is the original division into 60,000 and 10,000 images.
*Held-out workload* is a disguised copy of the data (inverted images, renumbered classes),
on which labels known by heart are of no use. A *cold start* includes importing and
compiling. Entries are numbered in the order in which they were judged."""


def board_section(folder: Path) -> str:
    """Tables, figure and history of a board that was copied into the repository.

    Parameters
    ----------
    folder : Path
        With `board.json`, `board.png` and `board-dark.png`, as `labs leaderboard build`
        writes them, and `entries`, the submissions; its parent has the page.

    Returns
    -------
    str
        Markdown.
    """
    path = folder / "board.json"
    if not path.is_file():
        return "No board is published yet.\n"
    board = json.loads(path.read_text(encoding="utf-8"))
    files = {
        file.read_text(encoding="utf-8"): f"{folder.name}/entries/{file.name}"
        for file in sorted((folder / "entries").glob("*.py"))
    }
    parts = [
        f'<picture>\n<source media="(prefers-color-scheme: dark)" '
        f'srcset="{folder.name}/board-dark.png">\n'
        f'<img alt="{ALTERNATIVE.format(len(board["entries"]))}" '
        f'src="{folder.name}/board.png">\n</picture>',
        COLUMNS,
    ]
    for group in board["boards"]:
        entries = [one for one in board["entries"] if one["number"] in group]
        entries.sort(key=lambda one: group.index(one["number"]))
        row = _row(files, _holder(entries))
        parts += [f"**{_name(entries[0])}**", HEAD + "".join(map(row, entries))]
    parts.append(_machines(board["entries"]))
    parts += map(_again, board["verifications"][:1])
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _name(entry):
    target, _, rest = board_in_words(tuple(entry["board"])).partition(": ")
    return f"{rest[0].upper()}{rest[1:]} (`{target}`)"


def _holder(entries):
    """The number of the entry that holds the record, as the judge finds it, or None."""
    records = [one for one in entries if one["state"] == "record"]
    fastest = min(records, key=lambda one: one["result"]["score"][1], default={})
    return fastest.get("number")


def _row(files, holder):
    def row(entry):
        result = entry["result"]
        title = f"{entry['number']}. {entry['about']['title']}"
        if file := files.get(entry["code"]):
            title = f"[{title}]({file})"
        if entry["state"] == "record":
            title += ", *holder*" if entry["number"] == holder else ", *former holder*"
        cells = [
            title,
            _interval(result["score"], ".3f"),
            f"{result['seconds']:.1f}",
            f"{result['cpu_seconds']:.1f}",
            _interval(result["accuracy_interval"], ".4f"),
            "crashed" if result["public"] is None else f"{result['public']:.4f}",
            f"{result['held_out']:.4f}",
        ]
        return f"| {' | '.join(cells)} |\n"

    return row


def _interval(values, digits):
    low, middle, high = (f"{value:{digits}}" for value in values)
    return f"{middle} ({low}&nbsp;to&nbsp;{high})"


def _machines(entries):
    found = sorted({one["machine"]["name"] for one in entries})
    dates = sorted(one["added"][:10] for one in entries)
    days = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    versions = entries[-1]["machine"]["versions"]
    packages = ", ".join(
        f"{name} {value}"
        for name, value in sorted(versions.items())
        if name != "git_revision"
    )
    return (
        f"Each entry was judged with ten seeds on {'; '.join(found)}, {days}, with "
        f"{packages}.\n"
    )


def _again(verification):
    day = verification["added"][:10]
    lines = [f"On {day}, as a later check, neighbours in a table ran again, in turn:\n"]
    for board in verification["result"]["boards"]:
        name = board["board"][0]
        for pair in board["pairs"]:
            one, other = pair["entries"]
            if pair["ratio"] is None:
                lines.append(f"- `{name}`: a run of entry {one} or {other} crashed.")
                continue
            low, middle, high = pair["ratio"]
            order = {
                "same": "which confirms the order above",
                "tie": "which is too close to call",
                "other": "which contradicts the order above",
            }[pair["order"]]
            lines.append(
                f"- `{name}`: entry {one} took {middle:.3f} times as long as entry {other} "
                f"({low:.3f} to {high:.3f}), {order}."
            )
    return "\n".join(lines)
