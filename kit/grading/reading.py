"""Serve one page with all answers in words, and save the points that a person gives.

The page is for this machine and this person: it listens on 127.0.0.1 only, under an
address that nobody can guess, and writes nothing but `overrides.csv`. It has no script.
"""

import http.server
import json
import secrets
import urllib.parse
from http import HTTPStatus
from pathlib import Path

import jinja2

from helpers.errors import LabError
from kit.grading.class_files import (
    LONGEST_COMMENT,
    Override,
    number,
    write_overrides,
)

MOST_BYTES = 50_000_000  # of a form


def answers(grades):
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
        document = json.loads((grades / "grades.json").read_text(encoding="utf-8"))
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


def decided(collected, overrides, form):
    """Put what a form says into a list of overrides.

    Parameters
    ----------
    collected : list of dict
        As `answers` gives them.
    overrides : sequence of Override
    form : dict of str to str
        `points-3` and `comment-3` are about `collected[3]`. Empty points with an empty
        comment take a decision back.

    Returns
    -------
    tuple
        The new list of Override; and what is wrong with some points, by their place.
    """
    kept = {(one.student, one.exercise): one for one in overrides}
    problems = {}
    for place, answer in enumerate(collected):
        key = answer["student"], answer["number"]
        text = form.get(f"points-{place}", "").strip()
        comment = form.get(f"comment-{place}", "").strip()[:LONGEST_COMMENT]
        points = number(text)
        if not text and not comment:
            kept.pop(key, None)
        elif points is None or not 0 <= points <= answer["of"]:
            problems[place] = f"give 0 to {answer['of']} points, not {text[:20]!r}"
        else:
            kept[key] = Override(*key, points, comment.replace("\r\n", "\n"), 0)
    return list(kept.values()), problems


def serve(grades, read_overrides, port=0):
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
    tuple of http.server.HTTPServer and str
        The server, and the page's address.
    """
    collected = answers(grades)
    secret = f"/{secrets.token_urlsafe(16)}/"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.is_ours():
                self.answer(page(collected, _form(collected, read_overrides()), {}))

        def do_POST(self):
            if not self.is_ours():
                return
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MOST_BYTES:
                self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                return
            text = self.rfile.read(int(length)).decode("utf-8", "replace")
            form = dict(urllib.parse.parse_qsl(text, max_num_fields=100_000))
            new, problems = decided(collected, read_overrides(), form)
            write_overrides(grades, new)
            self.answer(page(collected, form, problems, is_saved=True))

        def is_ours(self):
            """Whether who asks knows the address, and no other site's name is used."""
            host = self.headers.get("Host", "").rpartition(":")[0]
            known = secrets.compare_digest(self.path.encode(), secret.encode())
            if known and host in ("127.0.0.1", "localhost"):
                return True
            self.send_error(HTTPStatus.NOT_FOUND)
            return False

        def answer(self, text):
            content = text.encode()
            self.send_response(HTTPStatus.OK)
            for name, value in (
                ("Content-Type", "text/html; charset=utf-8"),
                ("Content-Length", str(len(content))),
                ("Cache-Control", "no-store"),
                ("Referrer-Policy", "no-referrer"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
    return server, f"http://127.0.0.1:{server.server_port}{secret}"


def _form(collected, overrides):
    """The form's values for what has been decided."""
    known = {(one.student, one.exercise): one for one in overrides}
    form = {}
    for place, answer in enumerate(collected):
        if one := known.get((answer["student"], answer["number"])):
            form |= {f"points-{place}": f"{one.points:g}", f"comment-{place}": one.comment}
    return form


def page(collected, form, problems, is_saved=False):
    """The page, with a form's values in it."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    return templates.get_template("reading.html.j2").render(
        answers=collected, form=form, problems=problems, is_saved=is_saved
    )
