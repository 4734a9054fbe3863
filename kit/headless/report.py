"""Turn executed labs into HTML: a page for each, and one that compares them."""

import re
from collections.abc import Sequence
from pathlib import Path

import jinja2
import nbformat
from nbconvert import HTMLExporter
from pygments.formatters.html import HtmlFormatter

from helpers.files import write_atomically
from kit.labs import Lab, title_and_question
from kit.version import kit_version

HEADINGS = (
    "lab", "given", "device", "checks passed", "per second", "accuracy", "seconds",
)  # fmt: skip


def write_report(results: list[dict], reports: Path, name: str) -> Path:
    """Write a page for each lab of a run, and an index of them.

    Parameters
    ----------
    results : list of dict
        `lab`, `given` (the parameters of the command), `card`, `seconds` and `error`, as
        `kit.headless.run` makes them.
    reports : Path
        Gets ``index.html``.
    name : str
        The run's: this folder in `reports` has the executed notebooks, and gets the
        pages.

    Returns
    -------
    Path
        Of the index.
    """
    rows, folder = [], reports / name
    for result in results:
        lab, figures = result["lab"], []
        executed = folder / f"{lab.name}.ipynb"
        if executed.exists():
            notebook = nbformat.read(executed, as_version=4)
            figures = pictures(notebook)
            parameters = result["card"]["parameters"] if result["card"] else {}
            html = page(notebook, lab, parameters)
            write_atomically(folder / f"{lab.name}.html", html)
        rows.append(
            {
                "name": lab.name,
                "title": title_and_question(lab)[0],
                "cells": summary(result)[1:],
                "error": result["error"],
                "figures": figures,
                "page": f"{name}/{lab.name}.html" if executed.exists() else None,
            }
        )
    index = reports / "index.html"
    write_table(index, "Scaling Labs: report", HEADINGS, rows)
    return index


def write_table(path: Path, title: str, headings: Sequence[str], rows: list[dict]) -> None:
    """Write a page with a table of runs, and their figures below.

    Parameters
    ----------
    path : Path
    title : str
    headings : sequence of str
    rows : list of dict
        `name`, `title`, `cells` (under the headings after the first), `error`, `figures`
        as `pictures` returns them, and `page`, a link or None.
    """
    template = _template("report.html.j2")
    html = template.render(title=title, headings=headings, rows=rows, version=kit_version())
    write_atomically(path, html)


def summary(result: dict) -> list[str]:
    """The cells of one row, as in `HEADINGS`."""
    card, name, seconds = result["card"], result["lab"].name, f"{result['seconds']:.0f}"
    given = ", ".join(f"{key}={value}" for key, value in result["given"].items()) or "-"
    if card is None:
        return [name, given, "-", "-", "-", "-", seconds]
    checks, measured = card["checks"], card["measurements"]
    device, scale = card["environment"]["device"], card["parameters"]["scale"]
    rates = ((name, rate) for name, rate in measured.items() if isinstance(rate, float))
    speed = next((pair for pair in rates if pair[0].endswith("_per_second")), None)
    accuracy = measured.get("val_accuracy")
    synthetic = " (synthetic)" if measured.get("data_source") == "synthetic" else ""
    return [
        name,
        given,
        f"{device['name']}, {scale} scale",
        f"{sum(check['passed'] for check in checks.values())} of {len(checks)}",
        f"{speed[1]:,.1f} {speed[0].removesuffix('_per_second')}" if speed else "-",
        f"{accuracy:.3f}{synthetic}" if accuracy else "-",
        seconds,
    ]


def page(notebook: nbformat.NotebookNode, lab: Lab, parameters: dict) -> str:
    """Turn an executed lab into an HTML page that needs nothing from the network.

    The page is ours: nbconvert's has texts with too little contrast, and loads scripts
    from the web. In place of a widget it shows the output that was stored with it.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    lab : kit.labs.Lab
    parameters : dict
        All of the run, by name; shown above the cells.

    Returns
    -------
    str
    """
    exporter = HTMLExporter(
        template_name="basic",
        exclude_anchor_links=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        display_data_priority=["text/html", "text/markdown", "image/png", "text/plain"],
    )
    cells, _ = exporter.from_notebook_node(notebook)
    # Of Pygments' styles this one has enough contrast on grey.
    colours = HtmlFormatter(style="xcode").get_style_defs(".highlight")
    title = title_and_question(lab)[0]
    return _template("lab.html.j2").render(
        title=title,
        parameters=parameters,
        cells=cells,
        colours=colours,
        version=kit_version(),
    )


def pictures(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """The figures of an executed lab, as (picture's source, alternative text)."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            found += re.findall(r'<img alt="([^"]*)" src="(data:image/png[^"]+)"', html)
    return [(source, alt) for alt, source in found]


def _template(name):
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    return jinja2.Environment(loader=loader, autoescape=True).get_template(name)
