"""Pool the run cards of a class: one page, one notebook, and the data of both."""

import random
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from helpers.errors import LabError
from helpers.files import write_atomically
from helpers.plain_json import write_json
from helpers.run_card.predictions import number
from helpers.run_card.units import in_units
from kit import look
from kit.pool import figures, topics
from kit.pool.cards import LeftOut, read_class
from kit.pool.middle import IN_WORDS, median
from kit.pool.rings import rings
from kit.version import kit_version

HERE = Path(__file__).parent
MOST_REASONS = 5


class Pooled(NamedTuple):
    """What was written, and what could not be used."""

    page: Path
    notebook: Path
    students: int
    cards: int
    left_out: list[LeftOut]


def pool(folders: Iterable[Path], out: Path, names: bool = False) -> Pooled:
    """Read what a class has handed in, and write index.html, pool.ipynb and pool.json.

    Parameters
    ----------
    folders : iterable of Path
        See `kit.pool.cards.read_class`.
    out : Path
        The folder to write to.
    names : bool
        Show whose run it is. Else students and laptops are numbered by chance, and no
        file is named.

    Returns
    -------
    Pooled

    Raises
    ------
    LabError
        If there is no run card to use.
    """
    data, left_out = gather(folders, names)
    write_json(out / "pool.json", data)
    write_atomically(out / "index.html", page(data))
    write_atomically(out / "pool.ipynb", nbformat.writes(notebook()))
    pooled = sum(data["cards"].values())
    pages = out / "index.html", out / "pool.ipynb"
    return Pooled(*pages, data["students"], pooled, left_out)


def gather(folders: Iterable[Path], names: bool) -> tuple[dict[str, Any], list[LeftOut]]:
    """What pool.json has, and the files that are left out.

    Parameters
    ----------
    folders, names
        As for `pool`.

    Raises
    ------
    LabError
        If there is no run card to use.
    """
    cards, left_out = read_class(folders)
    if not cards:
        counts = Counter(one.reason for one in left_out).most_common(MOST_REASONS)
        first = {one.reason: one.path for one in reversed(left_out)}
        listed = "; ".join(
            f"{reason} ({n} file{'s' * (n > 1)}, such as {first[reason]})"
            for reason, n in counts
        )
        why = f": {listed}" if listed else ""
        raise LabError(f"there is no run card to pool{why}. Students find theirs in runs/.")
    called = _names([*cards, *left_out], names)
    cards = [card._replace(person=called[card.person]) for card in cards]
    laws, no_law = topics.throughput(cards)
    targets, no_times = topics.time_to_accuracy(cards)
    questions, no_score = topics.calibration(cards)
    ring_results, no_ring = rings(cards, names)
    files = [
        {
            "person": called[o.person],
            "file": str(o.path) if names else "",
            "reason": o.reason,
        }
        for o in left_out
    ]
    unusable = [
        {"person": person, "file": "", "reason": reason}
        for person, reason in (*no_law, *no_times, *no_score, *no_ring)
    ]
    data = {
        "students": len({card.person for card in cards}),
        "cards": dict(sorted(Counter(c.content["lab"] for c in cards).items())),
        "throughput": laws, "targets": targets, "calibration": questions,
        "exercises": topics.mistakes(cards), "quiz": topics.quiz(cards),
        "rings": ring_results, "left_out": [*files, *unusable],
    }  # fmt: skip
    return data, left_out


def _names(handed_in, names):
    """How each person is called. In the order of the alphabet, a number would be a name."""
    people = sorted({one.person for one in handed_in})
    if names:
        return {person: person for person in people}
    random.SystemRandom().shuffle(people)
    return {person: f"student {number}" for number, person in enumerate(people, start=1)}


def page(data: dict[str, Any]) -> str:
    """The page of a pooled class.

    Parameters
    ----------
    data : dict
        As pool.json has it.

    Returns
    -------
    str
    """
    pictures = {
        name: _picture(draw, data[key])
        for name, key, draw in (
            ("throughput", "throughput", figures.throughput),
            ("calibration", "calibration", figures.calibration),
        )
        if data[key]
    }
    target = data["targets"][0] if data["targets"] else None
    return look.render(
        HERE / "pool.html.j2",
        data=data,
        pictures=pictures,
        laws=[_law_row(machine) for machine in data["throughput"]],
        target=target,
        times_picture=_picture(figures.time_to_accuracy, target) if target else None,
        times=[_times_row(size) for size in target["sizes"]] if target else [],
        questions=[_question_row(q) for q in figures.worst_questions(data["calibration"])],
        choices=[q for q in data["calibration"] if q["of"]],
        overall=_overall(data["calibration"]),
        rings=[_ring(one) for one in data["rings"]],
        in_units=in_units,
        number=number,
        median=IN_WORDS,
        left_out=_by_reason(data["left_out"]),
        version=kit_version(),
    )


def _picture(draw, shown):
    """The picture for light and for dark pages, and what it shows."""
    urls = []
    for theme in ("light", "dark"):
        figure, text = draw(shown, theme)
        urls.append(figures.data_url(figure, theme))
    return *urls, text


def _by_reason(left_out):
    """A row for each reason: how often, and whose or which files."""
    found: dict[str, list[str]] = {}
    for one in left_out:
        found.setdefault(one["reason"], []).append(one["file"] or one["person"])
    return [
        [reason, len(whose), ", ".join(sorted(set(whose)))]
        for reason, whose in found.items()
    ]


def _law_row(machine):
    fits = machine["fits"]
    return {
        "machine": machine["machine"],
        "students": len(fits),
        "t0": _range([1e3 * fit["t0_seconds"] for fit in fits]),
        "peak": _range([fit["peak_images_per_second"] for fit in fits]),
        "half": _range([f["t0_seconds"] * f["peak_images_per_second"] for f in fits]),
        "worst": f"{100 * max(fit['worst'] for fit in fits):.0f}%",
    }


def _times_row(size):
    reached = [one for one in size["students"] if one["median"] is not None]
    spread = [one["slowest"] / one["fastest"] for one in reached]
    return {
        "batch_size": f"{size['batch_size']:,}",
        "students": len(size["students"]),
        "seconds": _range([one["median"] for one in reached]),
        "spread": f"{median(spread):.3g}" if spread else "-",
        "reached": f"{sum(s['reached'] for s in size['students'])} of "
        f"{sum(s['runs'] for s in size['students'])}",
    }


def _question_row(question):
    ratios = question["ratios"]
    return {
        "lab": question["lab"],
        "name": question["name"].replace("_", " "),
        "students": len(ratios),
        "factor": number(figures.factor_off(ratios)),
        "median": number(median(ratios)),
        "within": f"{sum(0.5 <= ratio <= 2 for ratio in ratios)} of {len(ratios)}",
    }


def _overall(questions):
    ratios = [ratio for question in questions for ratio in question["ratios"]]
    right, of = (sum(question[key] for question in questions) for key in ("right", "of"))
    return {
        "numbers": len(ratios),
        "within_two": sum(0.5 <= ratio <= 2 for ratio in ratios),
        "low": sum(ratio < 1 for ratio in ratios),
        "high": sum(ratio > 1 for ratio in ratios),
        "factor": f"{figures.factor_off(ratios):.3g}" if ratios else "",
        "right": right,
        "of": of,
    }


def _ring(one):
    day = time.strftime("%Y-%m-%d", time.gmtime(one["started_unix_seconds"]))
    return one | {"day": day, "picture": _picture(figures.ring, one)}


def _range(values):
    """The median, and the range in which all are."""
    if not values:
        return "-"
    middle, low, high = map(number, map(float, (median(values), min(values), max(values))))
    return middle if len(values) == 1 else f"{middle} ({low} to {high})"


def notebook() -> nbformat.NotebookNode:
    """A notebook that draws the figures again, from pool.json and without a network."""
    stored = tomllib.loads((HERE / "notebook.toml").read_text(encoding="utf-8"))
    cells = [
        new_markdown_cell(cell["text"].strip(), id=f"pool-{number}")
        if "text" in cell
        else new_code_cell(cell["code"].strip(), id=f"pool-{number}")
        for number, cell in enumerate(stored["cells"])
    ]
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {
        "name": "python3", "display_name": "Python 3", "language": "python",
    }  # fmt: skip
    return made
