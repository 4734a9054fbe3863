"""Take the figure that students explain out of a submission; runs nothing.

The file is hostile. So a picture is decoded only if it is small, and what is stored is one
that was made from its pixels, with a short text. This happens in the process that
reads the submission, whose CPU time is limited.
"""

import base64
import io
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from helpers.files import write_atomically
from helpers.plain_json import storable
from helpers.texts import read_texts
from kit.grading.submissions import joined
from kit.labs import Lab
from kit.pictures import main_picture, pictures

FOLDER = "figures"  # of the folder of grades
MOST_BASE64 = 2_000_000  # characters
MOST_PIXELS = 4_000_000
LARGEST = (900, 1800)  # width and height of what is stored
LONGEST_ALT = 300
MOST_LINES, LONGEST_LINE = 24, 200  # of what the figure's cell has printed
PNG_START = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"  # its width and height follow
NONE = "no figure in the notebook"

Image.preinit()  # here, once, and not in each process that reads a submission


def figure_of(cells: Iterable[dict], lab: Lab) -> tuple[dict[str, Any], bytes]:
    """The figure that students explain in words, as a notebook stores it.

    Parameters
    ----------
    cells : iterable of dict
        As they are in the file.
    lab : kit.labs.Lab

    Returns
    -------
    tuple of dict and bytes
        `alt`, `printed` (lines), `width` and `height`; and a PNG. Where there is nothing
        to show, only the `problem`, and no bytes.
    """
    clean = [_clean(cell) for cell in cells]
    texts = read_texts(lab.number)
    named = texts["explained_figure"] or texts["report_figure"]
    found = main_picture({"cells": clean}, named)
    if found is None:
        return {"problem": NONE}, b""
    source, alt = found
    try:
        content, (width, height) = _made_from_pixels(source)
    except Exception as error:  # whatever the decoder says of a hostile file
        why = f": {error}" if isinstance(error, _TooLargeError) else ""
        return {"problem": f"the figure in the notebook cannot be shown{why}"}, b""
    cell = next(cell for cell in clean if found in pictures([cell]))
    lines = [line[:LONGEST_LINE] for line in cell["printed"].splitlines() if line.strip()]
    if (more := len(lines) - MOST_LINES) > 0:
        lines[MOST_LINES:] = [f"(and {more} more line{'s' * (more > 1)})"]
    said = {"alt": alt[:LONGEST_ALT], "printed": lines}
    return storable(said) | {"width": width, "height": height}, content


def write_figures(out: Path, figures: dict[str, bytes]) -> None:
    """Make a folder of grades have these figures, and no others.

    Parameters
    ----------
    out : Path
    figures : dict of str to bytes
        By their digest, which is their name.
    """
    for path in (out / FOLDER).glob("*.png"):
        if path.stem not in figures:
            path.unlink()
    for name, content in figures.items():
        path = path_of(out, name)
        if not path.exists():
            write_atomically(path, content)


def path_of(out: Path, name: str) -> Path:
    """Where a folder of grades has a figure."""
    return out / FOLDER / f"{name}.png"


class _TooLargeError(Exception):
    """Why a picture is not decoded."""


def _clean(cell):
    """A cell with the types that `kit.pictures` expects, and what it has printed."""
    outputs, printed, found = cell.get("outputs"), [], []
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        if output.get("name") == "stdout":
            printed.append(joined(output.get("text")) or "")
        data = output.get("data")
        if not isinstance(data, dict):
            continue
        html, png = (joined(data.get(kind)) for kind in ("text/html", "image/png"))
        if not html and png:  # one that a student has drawn
            html = f'<img alt="" src="data:image/png;base64,{png}">'
        found.append({"data": {"text/html": html or ""}})
    source = joined(cell.get("source")) or ""
    return {"source": source, "outputs": found, "printed": "".join(printed)}


def _made_from_pixels(source):
    """A PNG of the pixels of another one, and its size."""
    text = source.partition(",")[2]
    if len(text) > MOST_BASE64:
        raise _TooLargeError("its file is too large")
    content = base64.b64decode("".join(text.split()), validate=True)
    start = len(PNG_START)
    if not content.startswith(PNG_START):
        raise ValueError("no PNG")
    size = struct.unpack(">II", content[start : start + 8])
    if size[0] * size[1] > MOST_PIXELS:
        raise _TooLargeError(f"it has more than {MOST_PIXELS:,} pixels")
    with PngImageFile(io.BytesIO(content)) as image:
        if image.size != size:
            raise ValueError("two headers")
        pixels = image.convert("RGBA")
    drawn = Image.new("RGB", size, "white")
    drawn.paste(pixels, mask=pixels)
    drawn.thumbnail(LARGEST)
    stored = io.BytesIO()
    drawn.quantize().save(stored, "PNG")
    return stored.getvalue(), drawn.size
