"""The page by which the overview finds `labs mark`: its address changes at each start."""

import html
from pathlib import Path

from helpers.files import write_atomically

NAME = "marking.html"
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Scaling Labs: answers in words</title>{head}</head>
<body><p>{text}</p></body>
</html>
"""
OURS_ALONE = 0o600  # the address lets anybody give points


def write(out: Path, address: str = "") -> None:
    """Lead to the marking page at an address, or say how to start it.

    Parameters
    ----------
    out : Path
        The folder of grades.
    address : str
        Empty: it is not running.
    """
    link = html.escape(address)
    if address:
        head = f'<meta http-equiv="refresh" content="0; url={link}">'
        text = f'<a href="{link}">The answers in words</a>'
    else:
        head, text = "", "Start <code>labs mark</code>, and load this page again."
    write_atomically(out / NAME, PAGE.format(head=head, text=text), OURS_ALONE)
