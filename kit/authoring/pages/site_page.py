"""A lab's page of the site: the exercises open, our answers folded, and where to run it."""

import json
import re
import textwrap
from urllib.parse import urlsplit

from helpers.coach.quizzes import ADVICE, WITHOUT_A_KERNEL
from helpers.plain_json import as_json
from kit.authoring.pages.live_parts import live_part
from kit.labs import find_lab

FOLDED = {"parameters": "the parameters", "setup": "the set-up"}
COLAB = "https://colab.research.google.com/github{path}/blob/main/notebooks/{name}.ipynb"
CLONE = "clone the repository"
BINDER = "https://mybinder.org/v2/gh{path}/main?urlpath=lab/tree/notebooks/{name}.ipynb"


def site_page(name: str, source: str, repository: str = "", first: str = "index") -> str:
    """Turn a solution into the page that a visitor reads.

    Parameters
    ----------
    name : str
        Such as ``"02_throughput"``.
    source : str
        The solution's notebook, with its stored outputs.
    repository : str
        The address of a repository on GitHub, for the buttons of Colab and Binder;
        empty: no buttons, because there is no address that could be guessed.
    first : str
        The page to which links to the index of the notebooks lead.

    Returns
    -------
    str
        A notebook for myst-nb.
    """
    lab = find_lab(name)
    todo = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell
        for cell in json.loads(lab.notebook.read_text(encoding="utf-8"))["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    notebook = json.loads(_link_pages(source, first))
    cells = []
    for cell in notebook["cells"]:
        _tidy_outputs(cell)
        text = "".join(cell["source"])
        if found := re.match(r"# Solution (\S+):", text):
            open_cell = todo[cell["metadata"]["nbgrader"]["grade_id"]]
            cells.append(open_cell | {"outputs": [], "id": f"todo-{found[1]}"})
            _fold(cell, f"our answer to {found[1]}")
        for tag in FOLDED.keys() & cell["metadata"].get("tags", ()):
            _fold(cell, FOLDED[tag])
        cells.append(cell)
        if moves := live_part(lab.number, text):
            cells.append(_text("live", moves))
    cells.insert(1, _ways_to_run(lab.name, repository))
    return as_json(notebook | {"cells": cells})


def link_repository(source: str, repository: str = "") -> str:
    """Link the words of the first page that say what to clone.

    Parameters
    ----------
    source : str
        Its Markdown.
    repository : str
        An address; empty: the words stay as they are.

    Returns
    -------
    str
        Markdown.
    """
    return source.replace(CLONE, f"[{CLONE}]({repository})") if repository else source


def as_glossary(source: str) -> str:
    """docs/glossary.md with Sphinx' own block, which gives each term an address.

    Parameters
    ----------
    source : str
        Each entry is a paragraph that begins with its term, ``**all-reduce**: ...``; so it
        can be read on GitHub and in JupyterLab, too.

    Returns
    -------
    str
    """
    head, *entries = re.split(r"^\*\*(.+?)\*\*: ", source, flags=re.M)
    terms = zip(entries[::2], entries[1::2], strict=True)
    inside = "\n\n".join(
        f"{term}\n{textwrap.indent(text.strip(), '  ')}" for term, text in terms
    )
    return f"{head}```{{glossary}}\n{inside}\n```\n"


def _tidy_outputs(cell):
    """No box for a bar that wiped itself out, and no kernel for the quiz to count with."""
    if "outputs" not in cell:
        return
    cell["outputs"] = [
        output
        for output in cell["outputs"]
        if output["output_type"] != "stream" or "".join(output["text"]).strip()
    ]
    for output in cell["outputs"]:
        if page := output.get("data", {}).get("text/html"):
            page = "".join(page).replace(ADVICE, WITHOUT_A_KERNEL)
            output["data"]["text/html"] = page


def _fold(cell, what):
    metadata = cell["metadata"]
    metadata["tags"] = [*metadata.get("tags", ()), "hide-input"]
    metadata["mystnb"] = {
        "code_prompt_show": f"Show {what}",
        "code_prompt_hide": f"Hide {what}",
    }


def _ways_to_run(name, repository):
    ways = [f"{{download}}`Download the unsolved notebook <../notebooks/{name}.ipynb>`"]
    address = urlsplit(repository)
    if address.hostname == "github.com":
        path = address.path.rstrip("/")
        for place, form in (("Colab", COLAB), ("Binder", BINDER)):
            ways.append(f"[Open in {place}]({form.format(path=path, name=name)})")
        ways.append("[Colab's first cell](../docs/places.md#colab)")
    text = " · ".join([*ways, "[Where the labs run](../docs/places.md)"])
    return _text("ways-to-run", text)


def _text(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _link_pages(source, first):
    """Links of cards lead to pages and headings of the site."""

    def link(found):
        page = first if found[1] == "index" else f"solutions/{found[1]}"
        return f'href=\\"../{page}.html'

    def place(found):
        return f'href=\\"#{re.sub(r"[^a-z0-9-]", "", found[1].lower())}\\"'

    source = re.sub(r'href=\\"\.\./notebooks/(\w+)\.ipynb', link, source)
    # JupyterLab's name of a heading is its text, Sphinx' has small letters.
    return re.sub(r'href=\\"#([^"\\]+)\\"', place, source)
