"""Serve one page with all answers in words, and save the points that a person gives.

The page is for this machine and this person: it listens on 127.0.0.1 only, under an
address that nobody can guess, and writes nothing but `overrides.csv`. It has no script.
"""

import contextlib
import hashlib
import html
import http.server
import json
import secrets
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path

import jinja2

from helpers.errors import LabError
from helpers.plain_json import storable
from kit.grading.classroom.class_files import (
    LONGEST_COMMENT,
    Override,
    number,
    write_overrides,
)

MOST_BYTES = 50_000_000  # of a form
MOST_FIELDS = 100_000
SILENT_SECONDS = 30  # then a connection that says nothing is closed


def answers(grades: Path) -> list[dict]:
    """The answers in words that a folder of grades has collected.

    Parameters
    ----------
    grades : Path

    Returns
    -------
    list of dict
        `student`, `name`, `number`, `question`, `of`, `text`, sorted by question.

    Raises
    ------
    LabError
        If nothing was graded into the folder, or nobody has written anything.
    """
    try:
        text = (grades / "grades.json").read_text(encoding="utf-8")
        document = storable(json.loads(text))
    except (OSError, ValueError) as error:
        raise LabError(f"{grades} has no grades yet: `labs grade` first.") from error
    found = [
        {"student": result["student"], "name": (result["person"] or {}).get("name", "")}
        | {key: text[key] for key in ("number", "question", "of", "text")}
        for result in document["results"]
        for text in result["texts"]
        if text["text"]
    ]
    if not found:
        raise LabError(f"nobody in {grades} has written an answer in words.")
    return sorted(found, key=lambda one: (one["number"], one["student"]))


def decided(
    collected: list[dict], overrides: Sequence[Override], form: dict[str, str]
) -> tuple[list[Override], dict[int, str]]:
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
        empty comment take a decision back.

    Returns
    -------
    tuple
        The new list of Override; and what is wrong with some points, by their place.
    """
    kept = {(one.student, one.exercise): one for one in overrides}
    known = digests(collected, overrides)
    problems = {}
    for place, answer in enumerate(collected):
        key = answer["student"], answer["number"]
        text = form.get(f"points-{place}", "").strip()
        comment = form.get(f"comment-{place}", "").replace("\r\n", "\n").strip()
        comment = storable(comment[:LONGEST_COMMENT])
        points = number(text)
        before = form.get(f"before-{place}", digest("", ""))
        if digest(text, comment) in (before, known[place]):
            continue
        if known[place] != before:
            there = f"{kept[key].points:g} points" if key in kept else "no points"
            problems[place] = (
                f"another page has saved {there} meanwhile; save again to replace them"
            )
        elif not text and not comment:
            kept.pop(key, None)
        elif points is None or not 0 <= points <= answer["of"]:
            problems[place] = f"give 0 to {answer['of']} points, not {text[:20]!r}"
        else:
            kept[key] = Override(*key, points, comment, 0)
    return list(kept.values()), problems


def digest(points: str, comment: str) -> str:
    """What a page remembers of a decision, as its form has it."""
    return hashlib.sha256(f"{points}\0{comment}".encode()).hexdigest()[:16]


def digests(collected: list[dict], overrides: Sequence[Override]) -> list[str]:
    """The digest of what has been decided about each answer."""
    form = _form(collected, overrides)
    return [
        digest(form.get(f"points-{place}", ""), form.get(f"comment-{place}", ""))
        for place in range(len(collected))
    ]


def serve(
    grades: Path, read_overrides: Callable[[], Sequence[Override]], port: int = 0
) -> tuple[http.server.ThreadingHTTPServer, str]:
    """Make a server of the page; `serve_forever` of what it returns starts it.

    Parameters
    ----------
    grades : Path
    read_overrides : callable
        Reads `overrides.csv` as it is now.
    port : int
        0: any that is free.

    Returns
    -------
    tuple of http.server.ThreadingHTTPServer and str
        The server, and the page's address. Browsers open connections in advance: each
        has a thread, so that none keeps another one waiting.
    """
    collected = answers(grades)
    secret = f"/{secrets.token_urlsafe(16)}/"
    saving = threading.Lock()  # from reading overrides.csv to having written it

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = SILENT_SECONDS

        def handle(self):
            with contextlib.suppress(ConnectionError):  # the browser has left
                super().handle()

        def do_GET(self):
            if not self.is_ours():
                return
            try:
                overrides = read_overrides()
            except LabError as error:
                self.refuse(error, "Correct the file, and load this page again.")
            else:
                self.answer(page(collected, overrides))

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
                with saving:
                    new, problems = decided(collected, read_overrides(), form)
                    write_overrides(grades, new)
            except (LabError, OSError, ValueError) as error:
                advice = "Nothing was saved. Correct that, go back, and save once more."
                self.refuse(error, advice)
                return
            self.answer(page(collected, new, form, problems, is_saved=True))

        def is_ours(self):
            """Whether who asks knows the address, and no other site's name is used."""
            host = self.headers.get("Host", "").rpartition(":")[0]
            known = secrets.compare_digest(self.path.encode(), secret.encode())
            if known and host in ("127.0.0.1", "localhost"):
                return True
            self.send_error(HTTPStatus.NOT_FOUND)
            return False

        def refuse(self, error, advice):
            text = html.escape(f"{error} {advice}")
            self.answer(f"<!doctype html><p>{text}</p>", HTTPStatus.CONFLICT)

        def answer(self, text, status=HTTPStatus.OK):
            content = text.encode()
            self.send_response(status)
            for name, value in (
                ("Content-Type", "text/html; charset=utf-8"),
                ("Content-Length", str(len(content))),
                ("Cache-Control", "no-store"),
                ("Referrer-Policy", "no-referrer"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    return server, f"http://127.0.0.1:{server.server_port}{secret}"


def _form(collected, overrides):
    """The form's values for what has been decided."""
    known = {(one.student, one.exercise): one for one in overrides}
    form = {}
    for place, answer in enumerate(collected):
        if one := known.get((answer["student"], answer["number"])):
            form |= {f"points-{place}": f"{one.points:g}", f"comment-{place}": one.comment}
    return form


def page(
    collected: list[dict],
    overrides: Sequence[Override],
    form: dict[str, str] | None = None,
    problems: dict[int, str] | None = None,
    is_saved: bool = False,
) -> str:
    """The page with what has been decided, or what a form says where that is wrong."""
    shown, form, problems = _form(collected, overrides), form or {}, problems or {}
    for place in problems:
        fields = (f"points-{place}", f"comment-{place}")
        shown |= {name: form.get(name, "") for name in fields}
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    return templates.get_template("marking.html.j2").render(
        answers=collected,
        before=digests(collected, overrides),
        form=shown,
        problems=problems,
        is_saved=is_saved,
    )
