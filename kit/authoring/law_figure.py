"""The README's figure: a law of two numbers, and what it said of what it had not seen.

Left: from the stored run of lab 02 the law is fitted to the smaller half of the batch
sizes, and says the others. Right: lab 09's forecast of published clusters.
"""

import hashlib
import io
import json
import os
import textwrap
from pathlib import Path
from statistics import median, mode

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY, write_atomically
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.plain_json import as_json
from kit.labs import find_lab

PATH = REPOSITORY / "docs" / "images" / "law.png"
# What else decides how it looks, and what it says.
SOURCES = (
    "kit/authoring/law_figure.py", "helpers/lab_02/reference.py",
    "helpers/lab_09/reference.py", "helpers/lab_09/forecast.py",
    "helpers/lab_09/forecast_figures.py",
)  # fmt: skip


def law_section(page: Path, write: bool = True, picture: Path = PATH) -> str:
    """The figure's Markdown for a page; draws it if the stored one is out of date.

    Parameters
    ----------
    page : Path
        The page that will hold it.
    write : bool
        False: draw nothing.
    picture : Path
        Where the figure is, with its words and a hash of what decides both.

    Returns
    -------
    str
        The picture with its alternative text, and a sentence about each half.

    Raises
    ------
    LabError
        If lab 02 has no stored run.
    """
    points, device = _stored_run()
    key = _key(points, device)
    stored = _stored(picture)
    if stored.get("Comment") == key:  # so only who draws has to wait for TensorFlow
        alternative, says = stored["Title"], stored["Description"]
    else:
        silence_tensorflow()
        known, unseen, law = _law(points)
        rows = _published()
        alternative, says = _in_words(points, device, known, unseen, law, rows)
        if write:
            words = {"Title": alternative, "Description": says, "Comment": key}
            _draw(picture, points, device, known, law, rows, words)
    image = f"![{alternative}]({os.path.relpath(PATH, page.parent)})"
    filled = (textwrap.fill(line, 92) for line in says.splitlines())
    return "\n\n".join([image, *filled]) + "\n"


def _stored(picture):
    from PIL import Image
    from PIL.PngImagePlugin import PngImageFile

    if not picture.is_file():
        return {}
    with Image.open(picture) as image:
        assert isinstance(image, PngImageFile)
        return dict(image.text)


def _key(points, device):
    texts = [(REPOSITORY / path).read_text(encoding="utf-8") for path in SOURCES]
    return hashlib.sha256(as_json([points, device, texts]).encode()).hexdigest()


def _in_words(points, device, known, unseen, law, rows):
    """The alternative text, and a line about each half."""
    off = [abs(law(size) / points[size] - 1) for size in unseen]
    between = sum(row["in_turn"] <= row["reported"] <= row["overlapped"] for row in rows)
    seen = f"{known[0]} to {known[-1]:,}"
    alternative = (
        f"Left: images per second by batch size, a law fitted to {seen}, and what it says "
        f"up to {unseen[-1]:,}. "
        f"Right: efficiency of {len(rows)} clusters, forecast and reported."
    )
    half, most = 100 * median(off), 100 * max(off)
    widths = sorted(100 * (row["overlapped"] - row["in_turn"]) for row in rows)
    reports = [row["reported"] for row in rows]
    usual = mode(reports)
    says = (
        f"Left, on {device}: the law was given the batch sizes {seen}. Of the others, up "
        f"to {unseen[-1]:,}, half lie within {half:.0f}% of what it says; the one farthest "
        f"off misses by {most:.0f}%.\n"
        f"Right: {between} of {len(rows)} published clusters lie in the range that the "
        "forecast of lab 09 gives, from their network, their links and one GPU's speed. "
        f"These ranges are {widths[0]:.0f} to {widths[-1]:.0f} points wide; a guess of "
        f"{100 * usual:.0f}% for all is right for {reports.count(usual)}."
    )
    return alternative, says


def _stored_run():
    """Images per second by batch size, and the device, of lab 02's stored run card."""
    try:
        card = json.loads(find_lab("02").stored_card.read_text(encoding="utf-8"))
        sweep = card["measurements"]["sweep_images_per_second"]
    except (OSError, KeyError) as error:
        raise LabError("lab 02 has no stored run to draw: `labs outputs 02`.") from error
    points = {int(size): speed for size, speed in sweep.items() if speed}
    return points, card["environment"]["device"]["name"]


def _law(points):
    """The sizes that the law may see, those that it may not, and the law."""
    sizes = sorted(points)
    half = len(sizes) // 2
    known, unseen = sizes[:half], sizes[half:]
    fit_throughput = find_exercise("2.3").reference
    t0_seconds, peak = fit_throughput({size: points[size] for size in known})
    return known, unseen, lambda size: size / (t0_seconds + size / peak)


def _published():
    from helpers.lab_09.forecast import published_forecasts

    return published_forecasts(find_exercise("9.5").reference)


def _draw(picture, points, device, known, law, rows, words):
    import numpy as np
    from matplotlib.figure import Figure

    from helpers.figures import BLUE, GREEN, GREY, RED
    from helpers.lab_09.forecast_figures import draw_published

    figure = Figure(figsize=(10, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    for sizes, style, colour, label in (
        (known, "o", BLUE, "measured, given to the law"),
        (sorted(set(points) - set(known)), "D", RED, "measured, not given to it"),
    ):
        left.plot(sizes, [points[s] for s in sizes], style, color=colour, label=label)
    for first, last, line, label in (
        (known[0], known[-1], "-", "the law"),
        (known[-1], max(points), "--", "what it says of the others"),
    ):
        sizes = np.geomspace(first, last, 60)
        left.plot(sizes, law(sizes), line, color=GREEN, zorder=1, label=label)
    left.set(xscale="log", xlabel="batch size [images]", ylabel="throughput [images/s]")
    left.set_xticks(
        sorted(points), [f"{s:,}" for s in sorted(points)], rotation=45, fontsize=8
    )
    left.minorticks_off()
    left.set_ylim(0, None)
    left.set_title(f"Lab 02, {device}", fontsize=10)
    draw_published(right, rows)
    right.set_title("Lab 09, clusters of published papers", fontsize=10)
    for axes in (left, right):
        axes.grid(visible=True, color=GREY, alpha=0.25)
        axes.set_axisbelow(True)
    left.legend(fontsize=8, loc="lower right")
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=110, metadata=words)
    write_atomically(picture, png.getvalue())
