"""What moves on the site without a kernel: lab 01's sliders and lab 09's ring."""

from collections.abc import Iterator
from html import escape

import numpy as np

from helpers.exercise import find_exercise
from helpers.lab_01.sliders import name_of, outcome
from helpers.lab_09.ring_picture import Round, rounds_of, text_of
from helpers.plain_json import as_json

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.2)
SIZES = (1, 2, 4, 8, 16, 32, 64, 256)
STEPS = 60
SEED = 0  # as the lab's, so that its paths are those of the stored figure
WORKERS = 4
START = np.array([-1.0, -1.5])
LOW, HIGH, SIDE = np.array([-2.0, -3.0]), np.array([5.0, 4.0]), 420  # a square of weights


def live_part(lab: str, source: str) -> str:
    """The part of a page that moves, below the cell whose figure stands still.

    Parameters
    ----------
    lab : str
        Its number.
    source : str
        The cell's code.

    Returns
    -------
    str
        HTML, which `docs/site/live.js` brings to life; empty for most cells.
    """
    if lab == "01" and "\nexplore(train, full_loss," in source:
        return descent()
    if lab == "09" and source.startswith("show_ring("):
        return ring()
    return ""


def ring(workers: int = WORKERS) -> str:
    """The rounds of a ring all-reduce: a slider, and a table for each round."""
    rounds = rounds_of(find_exercise("9.1").reference, workers)
    last = len(rounds) - 1
    tables = "".join(_round_table(number, one) for number, one in enumerate(rounds))
    return _part("ring", "Play all rounds", [
        f'<label>round <input type="range" name="round" min="0" max="{last}" value="0"'
        "></label>",
    ], f"{tables}<p>{escape(text_of(rounds))}</p>")  # fmt: skip


def _round_table(number: int, one: Round) -> str:
    workers = len(one.has)
    heads = "".join(f'<th scope="col">chunk {chunk}</th>' for chunk in range(workers))
    rows = ""
    for rank, row in enumerate(one.has):
        rows += f'<tr><th scope="row">worker {rank}</th>'
        for chunk, parts in enumerate(row):
            text = "all" if len(parts) == workers else "+".join(map(str, sorted(parts)))
            kind = " sent" if (rank, chunk) in one.sent else ""
            rows += f'<td class="has-{len(parts)}{kind}">{text}</td>'
        rows += "</tr>"
    title = f"After round {number}; framed: sent in it" if number else "Before round 1"
    return (
        f'<table data-frame="{number}"{" hidden" if number else ""}>'
        f"<caption>{title}</caption><tr><td></td>{heads}</tr>{rows}</table>"
    )


def descent() -> str:
    """Paths of gradient descent over their loss, for each rate and batch size."""
    rng = np.random.default_rng(SEED)
    x = rng.uniform(-1.7, 1.7, max(SIZES))
    y = 1.5 * x + 0.5 + rng.normal(0, 0.5, len(x))

    def loss(weights):
        return float(np.mean((weights[0] * x + weights[1] - y) ** 2))

    paths, texts = [], []
    for rate in RATES:
        for size in SIZES:
            path = _path(x, y, rate, size)
            kept = path[: np.argmax(_outside(path)) or None]
            paths.append(_pixels(kept).round(1).tolist())
            texts.append(f"{name_of(rate, size)}: {outcome(path, loss)}.")
    numbers = {"rates": RATES, "sizes": SIZES, "paths": paths, "texts": texts}
    now = {"rate": RATES.index(0.1), "size": SIZES.index(16)}
    inputs = [
        f'<label>{name} <input type="range" name="{key}" min="0" max="{len(values) - 1}" '
        f'value="{now[key]}"> <span aria-hidden="true"></span></label>'
        for key, name, values in (
            ("rate", "learning rate", RATES), ("size", "batch size", SIZES),
        )
    ]  # fmt: skip
    picture = (
        f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="A path over the contours '
        f'of its loss">{"".join(_contours(x, y))}<polyline class="path"/>'
        '<rect class="start" width="10" height="10"/><circle class="end" r="6"/></svg>'
        '<p class="labs-live-text" role="status"></p>'
        f'<script type="application/json">{as_json(numbers)}</script>'
    )
    return _part("descent", "Draw step by step", inputs, picture)


def _part(kind: str, play: str, inputs: list[str], inside: str) -> str:
    """Hidden until the script runs; without a blank line, which would end the HTML."""
    return (
        f'<div class="labs-live" data-live="{kind}" hidden><div class="labs-live-controls">'
        f'{"".join(inputs)}<button type="button">{play}</button></div>{inside}</div>'
    )


def _path(x, y, rate, size):
    """The weights before the first of `STEPS` steps and after each."""
    gradient = find_exercise("1.1").reference
    rng, batches = np.random.default_rng([SEED, 0]), []
    while len(batches) < STEPS:
        batches += find_exercise("1.2").reference(len(x), size, rng)
    path = [START]
    for batch in batches[:STEPS]:
        step = rate * gradient(path[-1], x[batch], y[batch])
        path.append(np.clip(path[-1] - step, -1e6, 1e6))
    return np.array(path)


def _outside(path):
    """Whether each place is far out of the picture: the path is drawn up to there."""
    return np.any((path < LOW - (HIGH - LOW)) | (path > HIGH + (HIGH - LOW)), axis=1)


def _pixels(weights):
    """Places in the picture, where the intercept grows upwards."""
    right, down = ((weights - LOW) / (HIGH - LOW)).T
    return np.column_stack([right, 1 - down]) * SIDE


def _contours(x, y) -> Iterator[str]:
    """Lines of equal loss, which are ellipses around the best line."""
    best = np.polyfit(x, y, 1)
    inputs = np.column_stack([x, np.ones_like(x)])
    steepness, axes = np.linalg.eigh(inputs.T @ inputs / len(x))
    [(right, down)] = _pixels(best[None])
    scale = SIDE / (HIGH - LOW)[0]
    turned = -np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
    for above in 0.25 * 2.0 ** np.arange(8):
        first, second = scale * np.sqrt(above / steepness)
        yield (
            f'<ellipse class="contour" cx="{right:.1f}" cy="{down:.1f}" rx="{first:.1f}" '
            f'ry="{second:.1f}" transform="rotate({turned:.2f} {right:.1f} {down:.1f})"/>'
        )
