"""The README's figure: two laws, and their forecasts for batch sizes not used to fit them.

It is drawn twice, for light and for dark pages.

Left: from the stored run of lab 02 a law is fitted to the smaller half of the batch sizes,
and forecasts the others. Right: from the stored run of lab 03, the time to the target by
both laws, and the runs with the batch size that is best by both.
"""

import hashlib
import html
import io
import json
import math
import os
import textwrap
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY, write_atomically
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.plain_json import as_json
from kit.labs import find_lab

PATH = REPOSITORY / "docs" / "images" / "law.png"
# What else decides how it looks, and what it says.
SOURCES = (
    "kit/authoring/pages/law_figure.py", "callbacks/live/style.py",
    "helpers/lab_02/reference.py",
)  # fmt: skip


class Race(NamedTuple):
    """What lab 03's stored run card says of times to the target accuracy."""

    target: float
    laws: tuple[float, float, float, float]  # steps, images, seconds, images per second
    seconds: dict[int, list[float]]  # of the race's runs, by batch size
    best: int  # the best batch size by both laws
    best_seconds: list[float]  # of the runs with it, made afterwards
    control: int  # the race's winner, which ran again in turn with it
    control_seconds: list[float]

    def by_laws(self, size: float) -> float:
        """Seconds to the target."""
        floor, bend, t0_seconds, peak = self.laws
        return floor * (1 + bend / size) * (t0_seconds + size / peak)


def law_section(page: Path, write: bool = True, picture: Path = PATH) -> str:
    """The figure and its words for a page; draws it if a stored one is out of date.

    Parameters
    ----------
    page : Path
        The page that will hold it.
    write : bool
        False: draw nothing.
    picture : Path
        Where the light figure is, with its words and a hash of what decides both. The dark
        one is beside it.

    Returns
    -------
    str
        HTML that shows the picture of the reader's theme, and a sentence about each half.

    Raises
    ------
    LabError
        If lab 02 or lab 03 has no stored run, or lab 03's missed its target.
    """
    points, device = _stored_sweep()
    race = _stored_race()
    key = _key(points, device, race)
    stored, dark = _stored(picture), _stored(dark_picture(picture))
    if (
        stored.get("Comment") == dark.get("Comment") == key
    ):  # so only who draws has to wait for TensorFlow
        alternative, says = stored["Title"], stored["Description"]
    else:
        silence_tensorflow()
        known, unseen, law = _law(points)
        alternative, says = _in_words(points, device, known, unseen, law, race)
        if write:
            words = {"Title": alternative, "Description": says, "Comment": key}
            for path, theme in ((picture, "light"), (dark_picture(picture), "dark")):
                _draw(path, theme, points, known, law, race, words)
    filled = (textwrap.fill(line, 92) for line in says.splitlines())
    return "\n\n".join([_as_html(page, alternative), *filled]) + "\n"


def dark_picture(path: Path) -> Path:
    """Where the same figure is for dark pages."""
    return path.with_stem(f"{path.stem}-dark")


def _as_html(page, alternative):
    """Markdown has no pictures by theme; docs/conf.py knows this form."""
    light, dark = (os.path.relpath(p, page.parent) for p in (PATH, dark_picture(PATH)))
    return (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'<img alt="{html.escape(alternative)}" src="{light}">\n</picture>'
    )


def _stored(picture):
    from PIL import Image
    from PIL.PngImagePlugin import PngImageFile

    if not picture.is_file():
        return {}
    with Image.open(picture) as image:
        assert isinstance(image, PngImageFile)
        return dict(image.text)


def _key(points, device, race):
    texts = [(REPOSITORY / path).read_text(encoding="utf-8") for path in SOURCES]
    return hashlib.sha256(as_json([points, device, list(race), texts]).encode()).hexdigest()


def _in_words(points, device, known, unseen, law, race):
    """The alternative text, and a paragraph about each half."""
    seen = f"{known[0]} to {known[-1]:,}"
    alternative = (
        f"Left: images per second by batch size, a law fitted to {seen}, and its forecast "
        f"up to {unseen[-1]:,}. Right: seconds to accuracy {race.target:g} by batch size, "
        f"two laws, and {len(race.best_seconds)} runs with the best size by these laws."
    )
    taken, forecast = median(race.best_seconds), race.by_laws(race.best)
    says = (
        f"{_answer(race)}\n"
        f"*Left:* a law with two numbers, fitted to batches of {seen} images, forecast the "
        f"speed of larger ones, up to {unseen[-1]:,}. "
        f"{_off([law(size) / points[size] - 1 for size in unseen])}\n"
        f"*Right:* two laws, fitted to these runs, forecast that {race.best:,} images "
        f"would be the best batch size, and would need {forecast:.1f} s. "
        f"{_compared(race)}The time itself, {taken:.1f} s, was "
        f"{_more(taken / forecast)} forecast. (Both halves: {device}.)"
    )
    return alternative, says


def _off(errors):
    """How far the forecasts of the speed were off, and to which side."""
    off = [abs(error) for error in errors]
    typical, worst = f"{median(off):.0%}", f"{max(off):.0%}"
    size = f"typically by {typical}, and at worst by {worst}"
    if typical == worst:
        size = f"by about {worst}"
    side = "off"
    if min(off) >= 0.005 and (max(errors) < 0 or min(errors) > 0):
        side = f"all too {'low' if max(errors) < 0 else 'high'},"
    return f"Its forecasts were {side} {size}."


def _answer(race):
    """What larger batches did to the time, by the medians of the race."""
    medians = {size: median(seconds) for size, seconds in race.seconds.items()}
    sizes = sorted(size for size, seconds in medians.items() if math.isfinite(seconds))
    pairs = list(pairwise(sizes))
    factors = [medians[b] / medians[a] for a, b in pairs]
    in_proportion = [f <= a / b for f, (a, b) in zip(factors, pairs, strict=True)]
    verdict = "Not here"
    if any(in_proportion):
        verdict = "Yes, here" if all(in_proportion) else "Only sometimes"
    rule = ""
    if len(times := {b / a for a, b in pairs}) == 1:
        [larger] = times
        rule = (
            f"If they did, batches {larger:g} times as large would need {1 / larger:.2f} "
            "of the time. "
        )
    changes = [
        f"{_change(factor)} from {a:,} to {b:,}"
        for factor, (a, b) in zip(factors, pairs, strict=True)
    ]
    changes[0] += " images"
    *most, last = changes
    listed = f"{', '.join(most)}, and {last}" if most else last
    return (
        "Would batches twice as large train your network in half the time? "
        f"**{verdict}.** {rule}In lab 03, the time to an accuracy of {race.target:g} "
        f"{listed}."
    )


def _change(factor):
    """What a time did, as in "fell to 0.53 of its value"."""
    if 0.9 < factor < 1.1:
        return f"hardly changed ({factor:.2f})"
    verb, of = ("fell", "of") if factor < 1 else ("rose", "times")
    return f"{verb} to {factor:.2f} {of} its value"


def _count(things):
    """Their number, in words where it is small."""
    words = "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"
    return words[len(things)] if len(things) < len(words) else str(len(things))


def _more(ratio):
    """How a time compares with its forecast, as in "31% more than"."""
    return f"{abs(ratio - 1):.0%} {'more' if ratio >= 1 else 'less'} than"


def _compared(race):
    """Whether the race's winner was slower: not shown if the two have similar runs."""
    runs, control_runs = race.best_seconds, race.control_seconds
    if race.control == race.best:
        return "This size had also won the race. "
    asked = (
        f"Was it? We trained {_count(runs)} times with it, in turn with new runs of "
        f"{race.control:,} images, the fastest of the sizes above (not drawn). The medians "
        f"were {median(runs):.1f} s and {median(control_runs):.1f} s"
    )
    if max(runs) < min(control_runs):
        return f"{asked}: the forecast size was faster in every run. "
    if min(runs) > max(control_runs):
        return f"{asked}: the forecast size was slower in every run. "
    return f"{asked}, but the runs overlap: a tie. "


def _stored_card(number):
    try:
        return json.loads(find_lab(number).stored_card.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"lab {number} has no stored run to draw: `labs outputs {number}`."
        raise LabError(message) from error


def _stored_sweep():
    """Images per second by batch size, and the device, of lab 02's stored run card."""
    card = _stored_card("02")
    sweep = card["measurements"]["sweep_images_per_second"]
    points = {int(size): speed for size, speed in sweep.items() if speed}
    return points, card["environment"]["device"]["name"]


def _stored_race():
    card = _stored_card("03")
    measured, target = card["measurements"], card["parameters"]["target_accuracy"]
    best = measured["best_batch_size"]

    def seconds(runs):
        """By batch size: of each run, until it reached the target."""
        by_size = {}
        for run in runs.values():
            reached = round(run["val_accuracy"][-1], 6) >= target
            taken = run["wall_seconds"][-1] if reached else math.inf
            by_size.setdefault(run["batch_size"], []).append(taken)
        return by_size

    after = seconds(measured["best_batch_runs"])
    if math.inf in map(median, after.values()):
        raise LabError("lab 03's stored run missed its target: `labs outputs 03`.")
    [control] = set(after) - {best} or {best}
    laws = tuple(measured["laws"][name] for name in ("floor", "bend", "t0_seconds", "peak"))
    race = seconds(measured["runs"])
    return Race(target, laws, race, best, after[best], control, after[control])


def _law(points):
    """The sizes that the law may see, those that it may not, and the law."""
    sizes = sorted(points)
    half = len(sizes) // 2
    known, unseen = sizes[:half], sizes[half:]
    fit_throughput = find_exercise("2.3").reference
    t0_seconds, peak = fit_throughput({size: points[size] for size in known})
    return known, unseen, lambda size: size / (t0_seconds + size / peak)


def _draw(picture, theme, points, known, law, race, words):
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from callbacks.live.style import THEMES

    style, colours = THEMES[theme]
    with mpl.rc_context(style):
        figure = Figure(figsize=(10, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_sweep(left, colours, points, known, law)
        _draw_race(right, colours, race)
        for axes, sizes in ((left, sorted(points)[::2]), (right, sorted(race.seconds))):
            axes.set(xscale="log", xlabel="batch size [images]")
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.minorticks_off()
            axes.legend(loc="best")
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=110, metadata=words)
    write_atomically(picture, png.getvalue())


def _draw_sweep(axes, colours, points, known, law):
    import numpy as np

    blue, green, violet = (colours[name] for name in ("blue", "green", "violet"))
    unseen = sorted(set(points) - set(known))
    for sizes, style, colour, label in (
        (known, "o", blue, "measured, given to the law"),
        (unseen, "D", violet, "measured, not given to it"),
    ):
        axes.plot(sizes, [points[s] for s in sizes], style, color=colour, label=label)
    for first, last, line, label in (
        (known[0], known[-1], "-", "the law"),
        (known[-1], max(points), "--", "its forecast"),
    ):
        sizes = np.geomspace(first, last, 60)
        axes.plot(sizes, law(sizes), line, color=green, zorder=1, label=label)
    axes.set_ylim(0, None)
    axes.set_ylabel("throughput [images/s]")
    axes.set_title("Lab 02: how fast is an epoch?")


def _draw_race(axes, colours, race):
    import numpy as np

    blue, green, violet = (colours[name] for name in ("blue", "green", "violet"))
    for size, seconds in race.seconds.items():
        label = "runs of the race" if size == min(race.seconds) else None
        axes.plot(
            [size] * len(seconds),
            seconds,
            "o",
            color=blue,
            alpha=0.4,
            label=label,
        )
    sizes = np.geomspace(min(race.seconds), max(race.seconds), 60)
    axes.plot(
        sizes,
        race.by_laws(sizes),
        "--",
        color=green,
        zorder=1,
        label="both laws",
    )
    best, runs = race.best, race.best_seconds
    label = f"batch size {best:,}, run afterwards"
    axes.plot([best] * len(runs), runs, "D", color=violet, alpha=0.6, label=label)
    label = "the laws' forecast of the best"
    axes.plot(best, race.by_laws(best), "*", markersize=17, color=green, label=label)
    axes.set_ylim(0, None)
    axes.set_ylabel(f"time to accuracy {race.target:g} [s]")
    axes.set_title("Lab 03: how fast is the training?")
