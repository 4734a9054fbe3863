"""A class in numbers: how hard each exercise was, whom it tells apart, what went wrong."""

import statistics
from collections import Counter, defaultdict

from helpers.exercise import find_exercise, numbers_of
from kit.grading.contracts import Marked
from kit.labs import Lab
from kit.todo_cells import unchanged

FEWEST = 10  # graded submissions of which a correlation can be told
BINS = 10
MOST_MISTAKES, MOST_EXAMPLES = 5, 3


def by_exercise(results: list[Marked], labs: list[Lab]) -> list[dict]:
    """How each exercise went.

    Parameters
    ----------
    results : list of dict
        As `kit.grading.classroom.marks.marked` makes them.
    labs : list of kit.labs.Lab

    Returns
    -------
    list of dict
        `number`, `title`, `passed`, `graded`; `discrimination`, the correlation of passing
        it with the points of the lab's other exercises, None where it says nothing;
        `asked`, how many students called its hint; `unchanged`, how many left its cell as
        it was handed out; `mistakes` of all others, each with `reaction`, `count` and
        `examples`, a few of (student, code, reason).
    """
    rows = []
    for lab in labs:
        mine = [r for r in results if r["lab"] == lab.name and r["status"] == "graded"]
        for number in numbers_of(lab.number):
            judged = [r for r in mine if r["exercises"][number]["judged"] is not None]
            verdicts = [(r["student"], r["exercises"][number]) for r in judged]
            begun = [
                (student, verdict)
                for student, verdict in verdicts
                if not unchanged(lab, {number: verdict["code"]})
            ]
            rows.append(
                {
                    "number": number,
                    "title": find_exercise(number).title,
                    "passed": sum(verdict["passed"] for _, verdict in verdicts),
                    "graded": len(judged),
                    "discrimination": discrimination(mine, number),
                    "asked": sum(number in r["about"].get("hints", ()) for r in mine),
                    "unchanged": len(verdicts) - len(begun),
                    "mistakes": _mistakes(begun),
                }
            )
    return rows


def discrimination(results: list[Marked], number: str) -> float | None:
    """Point-biserial correlation of an exercise with the rest of its lab, or None."""
    results = [
        r for r in results if None not in [v["judged"] for v in r["exercises"].values()]
    ]
    if len(results) < FEWEST:
        return None
    passed = [float(r["exercises"][number]["passed"]) for r in results]
    rest = [
        sum(v["judged"] or 0 for n, v in r["exercises"].items() if n != number)
        for r in results
    ]
    try:
        return statistics.correlation(passed, rest)
    except statistics.StatisticsError:  # all passed, or nobody
        return None


def _mistakes(verdicts):
    examples, counts = defaultdict(list), Counter()
    for student, verdict in verdicts:
        if not verdict["passed"]:
            counts[verdict["reaction"]] += 1
            examples[verdict["reaction"]].append(
                (student, verdict["code"], verdict["reason"])
            )
    return [
        {
            "reaction": reaction,
            "count": count,
            "examples": examples[reaction][:MOST_EXAMPLES],
        }
        for reaction, count in counts.most_common(MOST_MISTAKES)
    ]


def by_text(results: list[Marked]) -> list[dict]:
    """How each question went that students answer in words.

    Returns
    -------
    list of dict
        `number`; how many of the `graded` submissions `wrote` an answer; how many of these
        were `read` or are `unread`; the median of their `words`; the `median` of the points
        of those that were read, or None; `of`; `points`, a list of (points, how many).
    """
    rows = {}
    for result in results:
        for text in result["texts"] if result["status"] == "graded" else ():
            rows.setdefault(text["number"], []).append(text)
    found = []
    for number, texts in sorted(rows.items()):
        answers = [text for text in texts if text["text"]]
        points = [text["points"] for text in answers if text["points"] is not None]
        lengths = [len(text["text"].split()) for text in answers]
        found.append(
            {
                "number": number,
                "graded": len(texts),
                "wrote": len(answers),
                "words": statistics.median(lengths) if lengths else None,
                "read": len(points),
                "unread": len(answers) - len(points),
                "median": statistics.median(points) if points else None,
                "of": texts[0]["of"],
                "points": sorted(Counter(points).items()),
            }
        )
    return found


def by_lab(results: list[Marked], labs: list[Lab]) -> list[dict]:
    """How the totals of each lab are distributed.

    Returns
    -------
    list of dict
        `lab`, `closed` and `open` (numbers of submissions), `median` and `of` in points,
        `bins`: how many reached 0 to 10%, 10 to 20% and so on.
    """
    rows = []
    for lab in labs:
        mine = [r for r in results if r["lab"] == lab.name]
        totals = [(r["total"], r["of"]) for r in mine if r["total"] is not None]
        bins = [0] * BINS
        for total, of in totals:
            bins[min(int(BINS * total / of), BINS - 1)] += 1
        rows.append(
            {
                "lab": lab.name,
                "closed": len(totals),
                "open": sum(r["total"] is None and not r["excused"] for r in mine),
                "median": statistics.median(t for t, _ in totals) if totals else None,
                "of": max((r["of"] for r in mine), default=0),
                "bins": bins,
            }
        )
    return rows
