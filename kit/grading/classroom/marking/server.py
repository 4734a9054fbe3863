"""Serve one page with all answers in words, and save the points that a person gives.

The page is for this machine and this person: it listens on 127.0.0.1 only, under an
address that nobody can guess, and writes nothing but `overrides.csv`, `given_for.csv` and
`rubric.csv`. It runs no script but its own. A comment that is used again is an item of the
rubric, with a box to tick under each answer; answers alike stand together, and can be given
one mark.
"""

import contextlib
import hashlib
import html
import http.server
import re
import secrets
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType

from helpers.errors import LabError
from helpers.plain_json import as_json, storable
from kit import look
from kit.grading.classroom.class_files import (
    LONGEST_COMMENT,
    Override,
    in_a_cell,
    number,
    write_overrides,
)
from kit.grading.classroom.given_for import (
    Given,
    Key,
    decision_digest,
    read_given,
    text_digest,
    write_given,
)
from kit.grading.classroom.grades import read_grades
from kit.grading.classroom.marking.like_answers import in_groups
from kit.grading.classroom.marking.rubric import (
    Item,
    as_line,
    edited,
    from_line,
    joined,
    lost_points,
    read_rubric,
    split,
    suggested_items,
    total,
    with_new_points,
    write_rubric,
)
from kit.grading.classroom.marks import in_points
from kit.grading.figure import path_of

SCRIPT = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
MOST_BYTES = 50_000_000  # of a form
MOST_FIELDS = 100_000
SILENT_SECONDS = 30  # then a connection that says nothing is closed
NOTHING, FIGURE = re.compile(""), re.compile(r"(?:[0-9a-f]{32}\.png)?")  # of an address


def answers(grades: Path) -> list[dict]:
    """The answers in words that a folder of grades has collected.

    Parameters
    ----------
    grades : Path

    Returns
    -------
    list of dict
        `student`, `name`, `number`, `question`, `of`, `text`, `figure` (as
        `kit.grading.figure` describes it; empty where the grades are older than that), and
        as `in_groups` says.

    Raises
    ------
    LabError
        If nothing was graded into the folder, or nobody has written anything.
    """
    document = read_grades(grades)
    found = [
        {"student": result["student"], "name": (result["person"] or {}).get("name", "")}
        | {key: text[key] for key in ("number", "question", "of", "text")}
        | {"figure": result["about"].get("figure", {})}
        for result in document["results"]
        for text in result["texts"]
        if text["text"]
    ]
    if not found:
        raise LabError(f"nobody in {grades} has written an answer in words.")
    return in_groups(found)


def decided(
    collected: list[dict],
    overrides: Sequence[Override],
    form: dict[str, str],
    rubric: Sequence[Item] = (),
    given: Mapping[Key, Given] = MappingProxyType({}),
) -> tuple[list[Override], dict[int | str, str], dict[Key, Given]]:
    """Put what a form says into a list of overrides.

    Parameters
    ----------
    collected : list of dict
        As `answers` gives them.
    overrides : sequence of Override
    form : dict of str to str
        `points-3` and `comment-3` are about `collected[3]`, and `before-3` is the `digest`
        of what was decided when the page was made. Only what a person has changed on the
        page counts: another page may have saved the rest since. Empty points with an
        empty comment take a decision back. `item-3-KEY` says that the answer has an item;
        the items' sum counts unless somebody changes the points as well. `group-3` gives
        what is said of the third answer to all of its group. `keep-3` says that the points
        are right for an answer that has changed since they were given.
    rubric : sequence of Item
    given : dict of (student, exercise) to Given
        The answers that the decisions are about.

    Returns
    -------
    tuple
        The new list of Override; what is wrong with some points, by their place; and the
        answers that the decisions are about now.
    """
    changed, given = changed_answers(collected, overrides, given), dict(given)
    by_answer = {(one.student, one.exercise): one for one in overrides}
    known, form_before = digests(collected, overrides), _form(collected, overrides)
    problems: dict[int | str, str] = {}
    for place, answer in enumerate(collected):
        key = answer["student"], answer["number"]
        is_for_all = f"group-{answer['group']}" in form
        source = answer["group"] if is_for_all else place
        is_renewed = is_for_all or f"keep-{place}" in form
        items = _items_in(form, answer, rubric)
        has = [item for item in items if f"item-{source}-{item.key}" in form]
        text = form.get(f"points-{source}", "").strip()
        rest = form.get(f"comment-{source}", "").replace("\r\n", "\n").strip()
        comment = joined(has, storable(rest[:LONGEST_COMMENT]))
        if text in ("", form_before.get(f"points-{place}")):
            had, _ = split(by_answer[key].comment if key in by_answer else "", items)
            if has != had and (has or text == in_a_cell(total(had, answer["of"]))):
                text = in_a_cell(total(has, answer["of"]))
        points = number(text)
        before = form.get(f"before-{place}", digest("", ""))
        if digest(text, comment) in (before, known[place]):
            if is_renewed and known[place] == before and key in by_answer:
                given[key] = _given(by_answer[key], answer)
            continue
        if known[place] != before:
            problems[place] = _conflict(by_answer.get(key))
        elif not text and not comment:
            by_answer.pop(key, None)
        elif text and (points is None or not 0 <= points <= answer["of"]):
            problems[place] = f"give 0 to {answer['of']} points, not {text[:20]!r}"
        else:
            by_answer[key] = Override(*key, points, comment, 0)
            new = _given(by_answer[key], answer)
            is_same = place in changed and points == changed[place]
            if is_same and not is_renewed:  # only another comment
                new = new._replace(answer=given[key].answer)
            given[key] = new
    return list(by_answer.values()), problems, given


def _given(one, answer):
    return Given(decision_digest(one), text_digest(answer["text"]))


def _conflict(there):
    """What another page has saved, in words: saving again would replace it."""
    if there is None:
        return "another page has taken the points back meanwhile; save again to give them"
    said = " / ".join(there.comment.splitlines())
    comment = f"the comment “{said}”" if said else "no comment"
    return (
        f"another page has saved {in_points(there.points)} and {comment} meanwhile; save "
        "again to replace both by what is here"
    )


def changed_answers(
    collected: list[dict], overrides: Iterable[Override], given: Mapping[Key, Given]
) -> dict[int, float]:
    """The points of answers that have changed since they were given, by place."""
    by_answer, found = {(one.student, one.exercise): one for one in overrides}, {}
    for place, answer in enumerate(collected):
        key = answer["student"], answer["number"]
        one, about = by_answer.get(key), given.get(key)
        if one is None or about is None or one.points is None:
            continue
        is_same_decision = about.decision == decision_digest(one)
        if is_same_decision and about.answer != text_digest(answer["text"]):
            found[place] = one.points
    return found


def _items_of(answer, rubric):
    return [item for item in rubric if item.exercise == answer["number"]]


def _items_in(form, answer, rubric):
    """The items that a form has boxes for; some may have been reworded since."""
    items = _items_of(answer, rubric)
    by_key = {item.key: item for item in items}
    rows = _rows(form, answer["number"])
    return [
        by_key.get(key) or from_line(answer["number"], was)
        for key, (was, _) in rows.items()
    ] or items


def changed_rubric(
    collected: list[dict],
    overrides: list[Override],
    form: dict[str, str],
    rubric: Sequence[Item],
) -> tuple[list[Item], list[Override], dict[int | str, str]]:
    """Put what a form says of the rubric into it, and into the points that came from it.

    Returns
    -------
    tuple
        The new items; the overrides, with the sums of their items as they are now; and what
        is wrong, by question.
    """
    problems: dict[int | str, str] = {}
    made = list(rubric)
    for question, of in {one["number"]: one["of"] for one in collected}.items():
        old = [item for item in made if item.exercise == question]
        edits, wrong = _edits(form, question, old)
        try:
            new, now = edited(question, old, edits, form.get(f"rubric-{question}", ""))
        except LabError as error:
            wrong.append(str(error).rstrip("."))
        lost = [item for item in old if edits.get(item.comment) == ""]
        count = lost_points(overrides, question, of, old, lost)
        warned = form.get(f"warned-rubric-{question}", "")
        if count and warned != _removal(item.key for item in lost):
            lines = ", ".join(f"“{item.comment}”" for item in lost)
            points = f"{count} answer{'s' * (count != 1)}"
            wrong.append(
                f"without {lines}, the points of {points} change; save again to remove "
                f"{'it' if len(lost) == 1 else 'them'}, or put the line back"
            )
        if wrong:
            problems[question] = "; ".join(wrong)
        elif new != old:
            overrides = with_new_points(overrides, question, of, old, now)
            made = [item for item in made if item.exercise != question] + new
    return made, overrides, problems


def _rows(form, question):
    """The rubric's lines in a form, by an item's key: as they were, and as they are."""
    start = f"was-{question}-"
    keys = [name.removeprefix(start) for name in form if name.startswith(start)]
    return {
        key: (form[start + key], form.get(f"line-{question}-{key}", "").strip())
        for key in keys
    }


def _edits(form, question, old):
    """What a person has changed in a rubric, by the old comment, and what is wrong."""
    edits, wrong = {}, []
    by_key = {item.key: item for item in old}
    for key, (was, line) in _rows(form, question).items():
        item = by_key.get(key)
        if line in (was, as_line(item) if item else ""):
            continue
        if item is None and line not in map(as_line, old):  # else it is sent once more
            wrong.append(
                f"another page has changed or removed “{was}”; load this page again to "
                f"make it “{line}”"
            )
        elif item and as_line(item) != was:
            wrong.append(
                f"another page has made it “{as_line(item)}” meanwhile; save again to "
                "replace that"
            )
        elif item:
            edits[item.comment] = line
    return edits, wrong


def _removal(keys):
    """A digest of the items that a form removes."""
    return digest(" ".join(sorted(keys)), "")


def digest(points: str, comment: str) -> str:
    """A decision in the form in which a page remembers it."""
    return hashlib.sha256(f"{points}\0{comment}".encode()).hexdigest()[:16]


def shown_digest(collected: list[dict]) -> str:
    """A digest of all answers that a page shows, in their order."""
    return digest(as_json(collected, sort_keys=True), "")


def digests(collected: list[dict], overrides: Sequence[Override]) -> list[str]:
    """The digest of what has been decided about each answer."""
    form = _form(collected, overrides)
    return [
        digest(form.get(f"points-{place}", ""), form.get(f"comment-{place}", ""))
        for place in range(len(collected))
    ]


def serve(
    grades: Path,
    read_overrides: Callable[[], Sequence[Override]],
    port: int = 0,
    names: bool = False,
) -> tuple[http.server.ThreadingHTTPServer, str]:
    """Make a server of the page; `serve_forever` of what it returns starts it.

    Parameters
    ----------
    grades : Path
    read_overrides : callable
        Reads `overrides.csv` as it is now.
    port : int
        0: any that is free.
    names : bool
        Show whose answer it is.

    Returns
    -------
    tuple of http.server.ThreadingHTTPServer and str
        The server, and the page's address. Browsers open connections in advance: each
        has a thread, so that none keeps another one waiting.
    """
    shown: dict[str, list[dict]] = {}  # what pages have shown, by its digest
    newest: list = [0, answers(grades)]  # when they were graded, and the answers
    secret = f"/{secrets.token_urlsafe(16)}/"
    saving = threading.Lock()  # from reading overrides.csv to having written it

    def current():
        """The answers as they were graded last."""
        changed = (grades / "grades.json").stat().st_mtime_ns
        if changed != newest[0]:
            found = answers(grades)
            shown[shown_digest(found)] = found
            newest[:] = changed, found
        return newest[1]

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = SILENT_SECONDS

        def handle(self):
            with contextlib.suppress(ConnectionError):  # the browser has left
                super().handle()

        def do_GET(self):
            if not self.is_ours(FIGURE):
                return
            if name := self.path.removeprefix(secret):
                self.answer_figure(name.removesuffix(".png"))
                return
            try:
                collected = current()
                overrides, rubric = read_overrides(), read_rubric(grades)
                given = read_given(grades)
            except (LabError, OSError) as error:
                self.refuse(error, "Correct the file, and load this page again.")
            else:
                self.answer(
                    page(collected, overrides, rubric=rubric, names=names, given=given)
                )

        def do_POST(self):
            if not self.is_ours():
                return
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MOST_BYTES:
                self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                return
            content = self.rfile.read(int(length))
            if len(content) < int(length):  # cut off: the rest would look like no points
                return
            try:
                text = content.decode("utf-8", "replace")
                form = dict(urllib.parse.parse_qsl(text, max_num_fields=MOST_FIELDS))
                # A page may be older than the last grading: its marks are for its texts.
                collected = shown.get(form.get("shown", ""), current())
                with saving:
                    old, overrides = read_rubric(grades), read_overrides()
                    known = read_given(grades)
                    made, problems, given = decided(collected, overrides, form, old, known)
                    rubric, new, wrong = changed_rubric(collected, made, form, old)
                    problems |= wrong
                    given = _renewed(given, new, made)
                    changes = new, rubric, given
                    is_new = changes != (list(overrides), list(old), known)
                    write_given(grades, given)
                    write_overrides(grades, new)
                    if rubric != list(old):
                        write_rubric(grades, rubric)
            except (LabError, OSError, ValueError) as error:
                advice = "Nothing was saved. Correct that, go back, and save once more."
                self.refuse(error, advice)
                return
            is_saved = is_new or not problems
            collected = collected if problems else current()
            self.answer(
                page(collected, new, form, problems, is_saved, rubric, names, given)
            )

        def is_ours(self, below=NOTHING):
            """Whether who asks knows the address, and no other site's name is used."""
            host = self.headers.get("Host", "").rpartition(":")[0]
            start, rest = self.path[: len(secret)], self.path[len(secret) :]
            known = secrets.compare_digest(start.encode(), secret.encode())
            if known and below.fullmatch(rest) and host in ("127.0.0.1", "localhost"):
                return True
            self.send_error(HTTPStatus.NOT_FOUND)
            return False

        def refuse(self, error, advice):
            text = html.escape(f"{error} {advice}")
            self.answer(f"<!doctype html><p>{text}</p>", HTTPStatus.CONFLICT)

        def answer_figure(self, name):
            try:
                content = path_of(grades, name).read_bytes()
            except OSError:  # graded once more since the page was made
                self.send_error(HTTPStatus.NOT_FOUND)
            else:
                self.send(content, "image/png")

        def answer(self, text, status=HTTPStatus.OK):
            self.send(text.encode(), "text/html; charset=utf-8", status)

        def send(self, content, kind, status=HTTPStatus.OK):
            self.send_response(status)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", str(len(content))),
                ("Cache-Control", "no-store"),
                ("Referrer-Policy", "no-referrer"),
                ("X-Content-Type-Options", "nosniff"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    return server, f"http://127.0.0.1:{server.server_port}{secret}"


def _renewed(given, new, old):
    """The same, with the decisions that the rubric has changed: their answers have not."""
    before = {(one.student, one.exercise): one for one in old}
    made = {}
    for one in new:
        key = one.student, one.exercise
        if key not in given:
            continue
        made[key] = given[key]
        was = before.get(key)
        if was and one != was and given[key].decision == decision_digest(was):
            made[key] = given[key]._replace(decision=decision_digest(one))
    return made


def _form(collected, overrides):
    """The form's values for what has been decided."""
    known = {(one.student, one.exercise): one for one in overrides}
    form = {}
    for place, answer in enumerate(collected):
        if one := known.get((answer["student"], answer["number"])):
            form |= {
                f"points-{place}": in_a_cell(one.points),
                f"comment-{place}": one.comment,
            }
    return form


def page(
    collected: list[dict],
    overrides: Sequence[Override],
    form: dict[str, str] | None = None,
    problems: dict[int | str, str] | None = None,
    is_saved: bool = False,
    rubric: Sequence[Item] = (),
    names: bool = False,
    given: Mapping[Key, Given] = MappingProxyType({}),
) -> str:
    """The page with what has been decided, or what a form says where that is wrong."""
    values, form, problems = _form(collected, overrides), form or {}, problems or {}
    changed = changed_answers(collected, overrides, given)
    places = range(len(collected))
    unread = [n for n in places if n in changed or not values.get(f"points-{n}")]
    for place, answer in enumerate(collected):
        items = _items_of(answer, rubric)
        has, rest = split(values.get(f"comment-{place}", ""), items)
        ticked = {f"item-{place}-{item.key}": "yes" for item in has}
        if place in problems:
            fields = (f"points-{place}", f"comment-{place}")
            values |= {name: form.get(name, "") for name in fields}
            ticked = {name: "yes" for name in form if name.startswith(f"item-{place}-")}
        else:
            values[f"comment-{place}"] = rest
        values |= ticked
    lines = {}
    for question in dict.fromkeys(one["number"] for one in collected):
        typed = _rows(form, question) if question in problems else {}
        lines[question] = [
            {"key": item.key, "was": as_line(item)}
            | {"text": typed[item.key][1] if item.key in typed else as_line(item)}
            for item in rubric
            if item.exercise == question
        ]
    return look.render(
        Path(__file__).with_name("page.html.j2"),
        script=SCRIPT,
        script_hash=look.content_hash(SCRIPT),
        unread=unread,
        changed={place: in_points(points) for place, points in changed.items()},
        shown=shown_digest(collected),
        warned={
            question: _removal(row["key"] for row in rows if not row["text"])
            for question, rows in lines.items()
            if question in problems
        },
        answers=collected,
        before=digests(collected, overrides),
        form=values,
        problems=problems,
        is_saved=is_saved,
        rubric=rubric,
        lines=lines,
        suggested=suggested_items(),
        more_lines={q: form.get(f"rubric-{q}", "") for q in lines if q in problems},
        names=names,
    )
