"""Run a lab once for each combination of parameter values; one table and figure over all.

Each run that went well is kept at once, under a key of all that it depends on. So an
interrupted sweep resumes, and a larger one runs only what is new.
"""

import ast
import csv
import hashlib
import io
import itertools
import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

from helpers import plain_json
from helpers.data.places import own_folder
from helpers.errors import LabError
from helpers.files import reports_folder, runs_folder, write_atomically
from helpers.run_card.documents import cards_of, versions
from helpers.run_card.predictions import is_entry
from helpers.run_card.units import in_heading, in_short, in_words
from kit.headless.execute import execute, timed
from kit.headless.given_parameters import by_name, check_folder, parsed, warning
from kit.headless.lab_parameters import without_effect
from kit.headless.report import facts, page, shown, write_table
from kit.headless.sweep_figure import draw
from kit.labs import Lab, find_lab, title_and_question
from kit.parallel.workers import on_a_cluster, tls
from kit.progress import Progress

MOST_RUNS = 10_000


def combinations(texts: Iterable[str], lab: Lab) -> tuple[list[str], list[dict]]:
    """Every combination of the values that were given for a lab.

    Parameters
    ----------
    texts : list of str
        As ``"batch_size=32,128"`` or ``"seed=0..4"``, both ends included. Commas inside
        brackets separate nothing: ``"batch_sizes=[16, 64],[32]"`` are two lists.
    lab : kit.labs.Lab

    Returns
    -------
    swept : list of str
        The parameters with several values.
    points : list of dict
        The lab's parameters of each run, the last one given changing fastest.

    Raises
    ------
    LabError
        One line, about the first value that the lab does not take.
    """
    values = {name: _several(several) for name, several in by_name(texts).items()}
    count = 1
    for each in values.values():
        count *= len(each)
    if count > MOST_RUNS:
        raise LabError(
            f"these are too many runs: a sweep has at most {MOST_RUNS:,}, so give fewer "
            "values."
        )
    points = [
        parsed([f"{n}={v}" for n, v in zip(values, chosen, strict=True)], lab)
        for chosen in itertools.product(*values.values())
    ]
    swept = [name for name, each in values.items() if len(each) > 1]
    for name in set(swept) & set(without_effect(lab)):
        raise LabError(f"{name} has no effect in lab {lab.number}: leave it out.")
    scale = os.environ.get("LABS_SCALE")
    if scale:  # here, and not where a run happens to run
        points = [{"scale": scale} | point for point in points]
    return swept, points


def _several(text):
    if ends := re.fullmatch(r"(-?\d{1,18})\.\.(-?\d{1,18})", text):
        first, last = map(int, ends.groups())
        if first > last:
            raise LabError(f"{text} has no values: write {last}..{first}.")
        # Not one more than is refused anyway.
        return range(first, min(last, first + MOST_RUNS) + 1)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text.split(",")
    return list(value) if isinstance(value, tuple) and value else [text]


def sweep(
    lab: Lab,
    texts: Iterable[str],
    scheduler: str | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> bool:
    """Run a lab for each combination, here one after another or on a Dask cluster.

    Parameters
    ----------
    lab : kit.labs.Lab
    texts : list of str
        As `combinations` takes them.
    scheduler : str, optional
        Address of a running Dask scheduler with TLS.
    out : Path, optional
        Gets a run card, an executed notebook and a page for each run, `sweep.csv` and
        `index.html`; default a folder of the lab's among the reports.
    as_json : bool
        Print the results as JSON, and all else to the standard error.

    Returns
    -------
    bool
        Whether every run went well.

    Raises
    ------
    LabError
        If the sweep cannot begin: one line.
    """
    swept, points = combinations(texts, lab)
    say = partial(print, file=sys.stderr if as_json else None)
    if scheduler:
        tls(scheduler)
    out = out or reports_folder() / f"sweep-{lab.name}"
    check_folder(out, "results", "name another folder with --out")
    if not scheduler:
        check_folder(runs_folder(), "run cards", "set LABS_RUNS_DIR to a folder of yours")
        own_folder()
    keys = [_key(lab, point) for point in points]
    own = secrets.token_hex(4)  # another sweep may do the same run at the same time
    results = {key: _stored(out / f"{key}.json") for key in keys}
    tasks = [
        {"lab": lab.name, "parameters": point, "run": f"sweep-{key}-{own}", "key": key}
        for key, point in dict(zip(keys, points, strict=True)).items()
        if results[key] is None
    ]
    left = [point for point, key in zip(points, keys, strict=True) if results[key] is None]
    if left and not scheduler and (line := warning(lab, left)):
        say(f"{lab.name}: {line}")
    if not swept:
        say("only one run, because no parameter has several values, such as seed=0..4")
    if done := len(results) - len(tasks):
        say(f"{done} of {len(results)} have run before")
    if others := {path.stem for path in out.glob("*.json")} - set(keys):
        say(
            f"{out} keeps the runs of earlier sweeps ({len(others)}), but its table now "
            "shows this sweep alone; with --out FOLDER each sweep has its own."
        )
    rows = list(zip(points, keys, strict=True))
    try:
        for task, result in _work(tasks, scheduler):
            _keep(out, task, result, lab)
            results[task["key"]] = result
    finally:
        known = [(point, results[key], key) for point, key in rows if results[key]]
        if known:
            write_sweep(out, lab, swept, known, Console(stderr=as_json))
    if as_json:
        print(plain_json.as_json([_in_short(*one) for one in known]))
    return not any(result["error"] for result in results.values())


def run_one(task: dict) -> dict:
    """Run a lab as `labs run` does; in a process of its own, or in this one.

    Parameters
    ----------
    task : dict
        `lab`, its name; `parameters`; `run`, the name for the run card.

    Returns
    -------
    dict
        Plain JSON: `card`, `seconds`, `error` (None, or a line), and `notebook`, its text.
    """
    lab = find_lab(task["lab"])
    os.environ |= {"LABS_RUN": task["run"], "LABS_NOTEBOOK": str(lab.readable)}
    error = None
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, lab.readable.name)
        try:
            _, seconds = timed(execute, lab.readable, output, task["parameters"], False)
        except LabError as raised:
            error, seconds = str(raised).partition("\n")[0], 0.0
        text = output.read_text(encoding="utf-8") if output.is_file() else ""
    cards = [card for card in cards_of(lab.name) if card["run"] == task["run"]]
    card = cards[-1] if cards else None
    checks = card["checks"] if card else {}
    failed = [name for name, check in checks.items() if not check["passed"]]
    if failed and not error and lab.solution.exists():  # a hand-out's exercises are open
        error = f"{lab.name}: its own check fails: {', '.join(failed)}"
    return {"card": card, "seconds": seconds, "error": error, "notebook": text}


def _work(tasks, scheduler):
    done = (
        on_a_cluster(run_one, tasks, scheduler)
        if scheduler
        else ((index, run_one(task)) for index, task in enumerate(tasks))
    )
    with Progress(what="sweep", total=len(tasks), unit="run") as bar:
        for index, result in done:
            bar.update()
            if isinstance(result, Exception):  # the others still run
                problem = f"{type(result).__name__}: {str(result)[:200]}"
                result = {"card": None, "seconds": 0.0, "error": problem, "notebook": ""}
            yield tasks[index], result


def _key(lab, point):
    """A hash of all that a run's result depends on, but the computer."""
    cells = json.loads(lab.readable.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    libraries = {name: v for name, v in versions().items() if name != "git_revision"}
    text = plain_json.as_json([lab.name, point, code, libraries], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _stored(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _keep(out, task, result, lab):
    text = result.pop("notebook")
    if text:
        write_atomically(out / f"{task['key']}.ipynb", text)
        notebook = nbformat.reads(text, as_version=4)
        write_atomically(
            out / f"{task['key']}.html",
            page(notebook, lab, task["parameters"], "index.html"),
        )
    if result["error"] is None:  # the next sweep tries the others again
        plain_json.write_json(out / f"{task['key']}.json", result)


def _in_short(point, result, key):
    return {
        "parameters": point,
        "seconds": result["seconds"],
        "error": result["error"],
        "measurements": _numbers(result),
    }


def write_sweep(
    out: Path, lab: Lab, swept: list[str], known: list[tuple], console: Console
) -> None:
    """Write the table on the terminal, as CSV and as a page, with the figure.

    Parameters
    ----------
    out : Path
    lab : kit.labs.Lab
    swept : list of str
        The parameters with several values.
    known : list of (dict, dict, str)
        Of each run its parameters, its result as `run_one` returns it, and its key.
    console : rich.console.Console
    """
    runs = [
        {"parameters": {name: point[name] for name in swept}, "measured": _numbers(result)}
        for point, result, _ in known
    ]
    names = list(dict.fromkeys(name for run in runs for name in run["measured"]))
    file = io.StringIO()
    writer = csv.writer(file)
    given = list(dict.fromkeys([*swept, *known[0][0]]))
    writer.writerow([*given, "seconds", *names, "error"])
    for run, (point, result, _) in zip(runs, known, strict=True):
        measured = [run["measured"].get(name, "") for name in names]
        seconds, error = round(result["seconds"], 1), result["error"] or ""
        values = [point[name] for name in given]
        writer.writerow([*values, seconds, *measured, error])
    write_atomically(out / "sweep.csv", file.getvalue())

    column_names = names[:4]
    headings = ["run", *map(in_heading, column_names), "seconds"]
    rows: list[dict] = []
    for run, (_, result, key) in zip(runs, known, strict=True):
        title = ", ".join(f"{name} {value}" for name, value in run["parameters"].items())
        cells = [
            in_short(name, run["measured"][name]) if name in run["measured"] else "-"
            for name in column_names
        ]
        linked = (out / f"{key}.html").exists()
        rows.append(
            {
                "name": title or lab.name,
                "cells": [*cells, f"{result['seconds']:.0f}"],
                "error": result["error"],
                "page": f"{key}.html" if linked else None,
            }
        )
    notes = _notes(swept, [result["card"] for _, result, _ in known])
    title = title_and_question(lab)[0].replace("Lab", "Sweep of lab", 1)
    figure = draw(runs, swept, names)
    write_table(out / "index.html", title, notes, headings, rows, figure)
    table = Table(*headings)
    for row in rows:
        table.add_row(row["name"], *row["cells"], style="red" if row["error"] else None)
    console.print(table)
    for row in rows:
        if row["error"]:
            console.print(f"{row['name']}: {row['error']}", style="red", markup=False)
    if any(line.startswith("Only synthetic") for line in notes):
        console.print(
            "Some runs had only synthetic data. To measure them again: `labs data fetch`, "
            "and another --out.",
            soft_wrap=True,
        )
    console.print(f"Report: {shown(out / 'index.html')}", highlight=False, soft_wrap=True)


def _notes(swept, cards):
    """Where it ran, and the parameters that were the same in all runs."""
    given = [card["parameters"] for card in cards if card and "parameters" in card]
    fixed = {name: value for name, value in (given or [{}])[0].items() if name not in swept}
    parts = [f"{name} {in_words(value)}" for name, value in fixed.items() if value != ""]
    sources = [(card or {}).get("measurements", {}).get("data_source") for card in cards]
    made_up = sources.count("synthetic")
    return [
        *facts(cards),
        *([f"Fixed: {', '.join(parts)}"] if parts else []),
        *([f"Only synthetic data: {made_up} of {len(cards)} runs"] if made_up else []),
    ]


def _numbers(result):
    """A run's measurements that are one number, then the outcomes of its predictions."""
    card = result["card"] or {}
    outcomes = {
        name: entry["outcome"]
        for name, entry in card.get("predictions", {}).items()
        if is_entry(entry)
    }
    measured = card.get("measurements", {})
    found = measured | {name: one for name, one in outcomes.items() if name not in measured}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
