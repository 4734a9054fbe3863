"""Turn executed labs into HTML: a page for each, and one that compares them."""

import re

import jinja2
import nbformat
from nbconvert import HTMLExporter

from helpers.files import REPOSITORY, write_atomically
from kit.labs import title_and_question


def write_report(results, folder):
    """Write ``index.html`` and a page per lab.

    Parameters
    ----------
    results : list of dict
        `lab`, `card`, `seconds` and `error`, as `kit.run` makes them.
    folder : Path
        Holds the executed notebooks, and gets the pages.

    Returns
    -------
    Path
        Of the index.
    """
    from kit.run import HEADINGS, summary

    rows = []
    for result in results:
        lab, figures = result["lab"], []
        executed = folder / f"{lab.name}.ipynb"
        if executed.exists():
            notebook = nbformat.read(executed, as_version=4)
            figures = pictures(notebook)
            write_atomically(folder / f"{lab.name}.html", page(notebook, lab))
        rows.append(
            {
                "name": lab.name,
                "title": title_and_question(lab)[0],
                "cells": summary(result)[1:],
                "error": result["error"],
                "figures": figures,
                "has_page": executed.exists(),
            }
        )
    loader = jinja2.FileSystemLoader(REPOSITORY / "kit")
    template = jinja2.Environment(loader=loader, autoescape=True).get_template(
        "report.html.j2"
    )
    index = folder / "index.html"
    write_atomically(index, template.render(rows=rows, headings=HEADINGS[1:]))
    return index


def page(notebook, lab):
    """One executed lab as an HTML page that needs nothing from the network."""
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jupyter_widgets_base_url="")
    title = title_and_question(lab)[0]
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    # The template asks for a diagram library on the web; no lab draws with it.
    return re.sub(
        r'<script type="module">\s*import mermaid.*?</script>', "", html, flags=re.S
    )


def pictures(notebook):
    """The figures of an executed lab, as (picture's source, alternative text)."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            found += re.findall(r'<img alt="([^"]*)" src="(data:image/png[^"]+)"', html)
    return [(source, alt) for alt, source in found]
