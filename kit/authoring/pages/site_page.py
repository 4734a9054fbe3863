"""A lab's page of the site: the exercises open, our answers folded, and where to run it."""

import json
import re
import textwrap
from urllib.parse import urlsplit

from helpers.coach.quizzes import ADVICE, WITHOUT_A_KERNEL
from helpers.files import REPOSITORY
from helpers.plain_json import as_json
from kit.authoring.pages.live_parts import live_part
from kit.authoring.pages.readme import minutes_of
from kit.guesses import NOTE
from kit.labs import find_lab
from kit.working_time import in_hours

ON_THE_SITE = (
    "*You read our own run, with our answers folded below the exercises. The predictions "
    "are example guesses, such as a reader might make, and some of them are far off.*"
)
IN_COLAB = """<details><summary>In Colab, run this cell first</summary>

1. Open the notebook in Colab, which gets it without the files that it imports.
2. Click *+ Code*, and move the new cell to the top.
3. Paste this into it, and run it:

{code}

4. Run the notebook from its first cell. [Where the labs run](../docs/places.md#colab) says
   what has been tried in Colab.

</details>
"""
FOLDED = {"parameters": "the parameters", "setup": "the set-up"}
COLAB = "https://colab.research.google.com/github{path}/blob/main/notebooks/{name}.ipynb"
EXAMPLE = "https://github.com/OWNER/scaling-labs"
PLACES = REPOSITORY / "docs" / "places.md"
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
    heading, _, text = "".join(cells[0]["source"]).partition("\n\n")
    ways = _ways_to_run(lab.name, repository)
    first_cell = cells[0] | {
        "source": f"{heading}\n\n{ways}\n\n{text.replace(NOTE, ON_THE_SITE)}"
    }
    cells = [first_cell, *cells[1:]]
    return as_json(notebook | {"cells": cells})


def name_repository(source: str, repository: str = "") -> str:
    """Put the course's own address into the cell that begins a notebook in Colab.

    Parameters
    ----------
    source : str
        docs/places.md, which has the cell.
    repository : str
        An address; empty: the cell keeps its example.

    Returns
    -------
    str
        Markdown.
    """
    return source.replace(EXAMPLE, repository) if repository else source


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
    ways = [f"About {in_hours(minutes_of(find_lab(name)))}"]
    ways.append(f"{{download}}`Download the unsolved notebook <../notebooks/{name}.ipynb>`")
    address, begin = urlsplit(repository), ""
    if address.hostname == "github.com":
        path = address.path.rstrip("/")
        for place, form in (("Colab", COLAB), ("Binder", BINDER)):
            ways.append(f"[Open in {place}]({form.format(path=path, name=name)})")
        begin = f"\n{_cell_of_colab(repository)}\n"
    ways.append("[Where the labs run](../docs/places.md)")
    items = "\n".join(f"- {way}" for way in ways)
    return f'<div class="ways">\n\n{items}\n\n</div>\n{begin}'


def _cell_of_colab(repository):
    """What a student has to run in Colab before the notebook."""
    places = name_repository(PLACES.read_text(encoding="utf-8"), repository)
    code = re.search(r"^## Colab\n.*?^(```ipython3\n.*?^```)$", places, re.M | re.S)
    assert code
    return IN_COLAB.format(code=textwrap.indent(code[1], "   "))


def _text(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _link_pages(source, first):
    """Links of cards lead to pages and headings of the site."""

    def link(found):
        page = first if found[1] == "index" else f"solutions/{found[1]}"
        return f'href=\\"../{page}.html'

    def place(found):
        return f'href=\\"#{re.sub(r"[^a-z0-9-]", "", found[1].lower())}\\"'

    # Sphinx has other names for the terms: `_link_terms` of docs/conf.py adds them.
    source = re.sub(r"(\(\.\./docs/glossary\.md)#[^)\s]+\)", r"\1)", source)
    source = re.sub(r'href=\\"\.\./notebooks/(\w+)\.ipynb', link, source)
    # JupyterLab's name of a heading is its text, Sphinx' has small letters.
    return re.sub(r'href=\\"#([^"\\]+)\\"', place, source)
