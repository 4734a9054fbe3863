"""From what the grader judged to marks: a person's decisions, lateness, and what is open.

A submission that is missing or unreadable has no points, which is not zero: somebody has to
decide. It stays open until every exercise of it has an override, or the whole lab has one.
Only where nothing at all was handed in, a rule may decide, once it is due: `missing = 0`.
"""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from kit.grading.classroom.class_files import ClassFiles, Override, Person, Rules
from kit.grading.contracts import Lateness, Marked, MarkedExercise, MarkedText, Result
from kit.grading.one_submission import starved
from kit.grading.submissions import NO_NOTEBOOK, NOTHING_HANDED_IN

if TYPE_CHECKING:
    from kit.todo_cells import Written

DAY = timedelta(days=1)
NO_DATE = "roster.csv does not say when it was submitted"
TOO_BUSY = "this machine was too busy to judge {}: run `labs grade` again"
CHANGED = "{} changed since you gave {}"


class Outdated(NamedTuple):
    """A decision about an older answer: it decides nothing, until somebody renews it."""

    old_points: float | None
    points: None = None
    comment: str = ""


def marked(
    results: list[Result],
    labs_texts: Mapping[str, Sequence["Written"]],
    class_files: ClassFiles,
    outdated: Collection[tuple[str, str]] = (),
) -> list[Marked]:
    """Results with everything that a person has decided, and what they still must.

    Parameters
    ----------
    results : list of dict
        As `kit.grading.one_submission.grade_one` makes them, with `about`.
    labs_texts : dict of str to sequence of kit.todo_cells.Written
        The questions of each lab that a person reads.
    class_files : kit.grading.classroom.class_files.ClassFiles
    outdated : collection of (student, exercise)
        The decisions about answers that have changed since. Their points do not count, and
        their answers are open.

    Returns
    -------
    list of dict
        Copies, in which every exercise has `judged` (the grader's points), `points` (None
        where there is nothing to give them for, or the machine was too busy) and `comment`.
        Also: `texts`, `person`, `late`, `penalty`, `total` (None while it is open),
        `excused` (then it stays None), `so_far` (the points of all that is not open),
        `open` (the numbers of what is), the `comment` on the whole lab, `needs` (why it is
        open), `outdated` (which decisions are about older answers).
    """
    given = {(one.student, one.exercise): one for one in class_files.overrides}
    read = {o.exercise for o in class_files.overrides if o.points is not None}
    done = []
    for result in results:
        names = names_of(result, class_files.roster)
        lab = int(result["lab"].partition("_")[0])
        own = {
            n: Outdated(o.points) if (student, n) in outdated else o
            for (student, n), o in given.items()
            if student in names and int(n.partition(".")[0]) == lab
        }
        counted = [t for t in labs_texts[result["lab"]] if t.number in read]
        done.append(_marked(result, labs_texts[result["lab"]], counted, own, class_files))
    return done


def lines_of_outdated(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line on the decisions that are about older answers, if there are any."""
    found = [(r["student"], r["outdated"]) for r in results if r.get("outdated")]
    count = sum(len(exercises) for _, exercises in found)
    if not count:
        return []
    who = ", ".join(f"{student} ({', '.join(numbers)})" for student, numbers in found)
    decisions = (
        "1 decision of yours is" if count == 1 else f"{count} decisions of yours are"
    )
    these = "does not count, so this answer is" if count == 1 else (
        "do not count, so these answers are"
    )  # fmt: skip
    return [
        f"{decisions} about an older submission and {these} open: {who}. "
        "docs/teaching/decide.md says how to renew them"
    ]


def strangers(results: list[Marked], class_files: ClassFiles) -> list[str]:
    """Decisions about nobody, and submissions by nobody in the roster, in words."""
    names = set().union(
        *(names_of(result, class_files.roster) for result in results), set()
    )
    problems = [
        f"overrides.csv, line {one.line}: there is no student {one.student!r}"
        f"{_meant(one.student, names)}"
        for one in class_files.overrides
        if one.student not in names
    ]
    if class_files.roster:
        listed = {person.student for person in class_files.roster}
        others = sorted({r["student"] for r in results} - listed)
        problems += [f"{student} is not in roster.csv" for student in others]
    return problems


def _meant(name, names):
    """The student whom a name may mean, as a question."""
    part = name.strip().casefold()
    found = [one for one in sorted(names) if part and one.casefold().startswith(part)]
    found = found or difflib.get_close_matches(name, sorted(names), cutoff=0.8)
    return f": did you mean {' or '.join(map(repr, found[:3]))}?" if found else ""


def person_of(student: str, lab: str, roster: Iterable[Person]) -> Person | None:
    """The row of a roster for a student: for this lab, else for all; or None."""
    own = {person.lab: person for person in roster if person.student == student}
    return own.get(lab) or own.get("")


def names_of(result: Mapping[str, Any], roster: Iterable[Person]) -> set[str]:
    """The names that a student may have in overrides.csv."""
    person = person_of(result["student"], result["lab"], roster)
    return {result["student"], person.id if person and person.id else result["student"]}


def _marked(
    result: Result,
    texts: Sequence["Written"],
    counted: Sequence["Written"],
    own: Mapping[str, Override | Outdated],
    class_files: ClassFiles,
) -> Marked:
    handed_in = result["status"] == "graded"
    exercises: dict[str, MarkedExercise] = {}
    too_busy = starved(result)
    person = person_of(result["student"], result["lab"], class_files.roster)
    until = _open_until(person)
    excused = person is not None and person.is_excused(result["lab"])
    zero_if_missing = class_files.rules.missing is not None and not excused
    is_zero = zero_if_missing and _is_nothing(result) and not until
    for number, verdict in result["exercises"].items():
        override = own.get(number)
        judged = verdict["points"] if handed_in and number not in too_busy else None
        has_points = override is not None and override.points is not None
        exercises[number] = {
            **verdict,
            "judged": judged,
            "points": (
                None
                if isinstance(override, Outdated)
                else override.points
                if has_points
                else 0
                if is_zero
                else judged
            ),
            "comment": override.comment if override else "",
            "overridden": has_points,
        }
    closed = handed_in or is_zero
    in_total = {text.number for text in counted}
    written = [
        _text(text, result, own.get(text.number), closed, text.number in in_total)
        for text in texts
    ]
    parts = {number: verdict["points"] for number, verdict in exercises.items()}
    parts |= {text["number"]: text["points"] for text in written if text["counted"]}
    so_far = sum(points for points in parts.values() if points is not None)
    open_parts = [number for number, points in parts.items() if points is None]
    reached = None if open_parts else so_far
    late, needs = _late(person, handed_in, class_files.rules)
    penalty = total = None
    if reached is not None:
        penalty = to_cents(reached * late["percent"] / 100)
        total = to_cents(reached - penalty)
    else:
        unread = [t["number"] for t in written if t["points"] is None and t["text"]]
        unread = [n for n in unread if not isinstance(own.get(n), Outdated)]
        why = result["problem"] or result["status"]
        open_ones = [n for n in too_busy if exercises[n]["points"] is None]
        needs += [f"read {', '.join(unread)}"] if handed_in and unread else []
        needs += [TOO_BUSY.format(", ".join(open_ones))] if handed_in and open_ones else []
        needs += [] if handed_in else [why, *filter(None, [until]), *left_out(result)]
    number = result["lab"].partition("_")[0]
    whole, instead_of = own.get(number), total
    if isinstance(whole, Outdated):
        penalty = total = None
    is_given = whole is not None and whole.points is not None
    if whole and is_given:  # the total itself: lateness takes nothing off
        late, penalty, total, needs = late | {"percent": 0.0}, 0.0, whole.points, []
    old = {n: o.old_points for n, o in own.items() if isinstance(o, Outdated)}
    old = {} if is_given else old  # the rest of the lab decides nothing
    needs += [
        CHANGED.format("the submission has" if n == number else f"{n} has", in_points(one))
        for n, one in old.items()
    ]
    if excused and not is_given:
        penalty, total, needs = None, None, []
    return {
        **result,
        "exercises": exercises,
        "texts": written,
        "person": person,
        "late": late,
        "penalty": penalty,
        "total": total,
        "so_far": so_far,
        "open": open_parts,
        "excused": excused and not is_given,
        "instead_of": instead_of if is_given else None,
        "is_given": is_given,
        "comment": whole.comment if whole else "",
        "of": sum(v["of"] for v in exercises.values()) + sum(t.points for t in counted),
        "needs": needs,
        "outdated": list(old),
    }


def in_points(points: float | None) -> str:
    """Points in words: `1 point`, `0.5 points`."""
    return "no points" if points is None else f"{points:g} point{'s' * (points != 1)}"


def to_cents(points: float) -> float:
    """Points with two decimals; half a hundredth goes up, as people expect it."""
    exact = Decimal(str(round(points, 9)))
    return float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))


def _open_until(person):
    """In words, if this person may still hand in, by a date in roster.csv."""
    if person is None or person.due is None:
        return ""
    is_open = person.due > datetime.now(person.due.tzinfo)
    return f"open until {person.due:%Y-%m-%d %H:%M}" if is_open else ""


def _is_nothing(result):
    """Whether a student handed in nothing at all, not even a file of another kind."""
    nothing = (NOTHING_HANDED_IN, NO_NOTEBOOK.format(result["lab"]))
    return result["problem"] in nothing and not left_out(result)


def left_out(result: Result) -> list[str]:
    """The files of a student that `labs collect` did not take, in words."""
    files = result["about"].get("left_out", ())
    return [f"left out: {file}: {reason}" for file, reason in files]


def _text(
    text: "Written",
    result: Result,
    override: Override | Outdated | None,
    handed_in: bool,
    counted: bool,
) -> MarkedText:
    """The answer in words; an empty one gets 0, and nobody has to read it."""
    answer_text = result["about"].get("texts", {}).get(text.number, "")
    points = override.points if override else None
    is_outdated = isinstance(override, Outdated)
    if points is None and handed_in and not answer_text and not is_outdated:
        points = 0
    return {
        "number": text.number,
        "question": text.question,
        "of": text.points,
        "text": answer_text,
        "points": points,
        "comment": override.comment if override else "",
        "counted": counted,
    }


def _late(
    person: Person | None, handed_in: bool, rules: Rules
) -> tuple[Lateness, list[str]]:
    """How late it came and what that costs, and what is not known about it."""
    late: Lateness = {"days": 0, "percent": 0.0, "words": ""}
    if not handed_in or person is None or person.due is None:
        return late, []
    if person.submitted is None:
        return late, [NO_DATE]
    over = person.submitted - person.due
    if over <= timedelta(minutes=rules.grace_minutes):
        return late, []
    days = math.ceil(over / DAY)
    percent = min(days * rules.percent_per_day, rules.at_most_percent)
    return {"days": days, "percent": percent, "words": _in_words(over)}, []


def _in_words(over):
    """As Moodle writes it: "1 day 10 hours late", "45 minutes late"."""
    minutes = math.ceil(over / timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "day"), (hours, "hour"), (0 if days else minutes, "minute")]
    words = " ".join(f"{n} {unit}{'s' * (n != 1)}" for n, unit in parts if n)
    return f"{words} late"
