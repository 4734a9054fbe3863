"""Sphinx: the course as web pages, from the same files as the repository.

The root of the repository is the source folder (see `make site`), so that a link between
two files is the same link here and on the repository's own pages.
"""

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

project = "Scaling Labs"
release = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
language = "en"
copyright = "MIT licence"

extensions = ["myst_nb", "sphinx_copybutton"]
include_patterns = [
    "docs/*.md", "solutions/*.ipynb", "CONTRIBUTING.md", "CHANGELOG.md",
]  # fmt: skip
exclude_patterns = [".*", "build", "runs", "reports", "grades", "submissions", "work"]
root_doc = "docs/index"
nitpicky = True

myst_heading_anchors = 3
myst_links_external_new_tab = False
# Stored outputs as they are: nothing is executed, and no widget asks for its kernel.
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [("*", "application/vnd.jupyter.widget-view+json", None)]

html_theme = "sphinx_book_theme"
html_title = f"Scaling Labs {release}"
html_favicon = "site/icon.svg"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_js_files = ["print.js"]
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_additional_pages = {"index": "redirect.html"}
templates_path = ["site"]
html_sidebars = {"**": ["navbar-logo.html", "search-field.html", "sbt-sidebar-nav.html"]}
html_theme_options = {
    "home_page_in_toc": True,
    "navbar_persistent": [],  # the search is in the sidebar
    "show_toc_level": 2,
}


def _link_pages(app, name, source):
    """A card's link to the next notebook leads to its page here."""

    def link(found):
        page = root_doc if found[1] == "index" else f"solutions/{found[1]}"
        return f'href=\\"../{page}.html'

    source[0] = re.sub(r'href=\\"\.\./notebooks/(\w+)\.ipynb', link, source[0])


def setup(app):
    app.connect("source-read", _link_pages)
