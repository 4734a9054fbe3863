"""Sphinx: the course as web pages, from the same files as the repository.

The root of the repository is the source folder (see `make site`), so that a link between
two files is the same link here and on the repository's own pages.
"""

import os
import re
import textwrap
import tomllib
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

from helpers.machine.quiet_tensorflow import silence_tensorflow
from kit.labs import find_lab
from kit.look.formulas import formula_html

REPOSITORY = Path(__file__).resolve().parents[1]
# Where to clone the course; for one on GitHub there are buttons of Colab and Binder, too.
# A workflow knows its own.
repository_url = os.environ.get("LABS_REPOSITORY_URL", "")
# Where the pages will be; what other sites show of a link needs whole addresses.
html_baseurl = os.environ.get("LABS_SITE_URL", "")

project = "Scaling Labs"
release = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
language = "en"

extensions = ["myst_nb", "sphinx_copybutton"]
include_patterns = [
    "docs/*.md", "docs/teaching/*.md", "solutions/*.ipynb",
    "CONTRIBUTING.md", "CHANGELOG.md",
]  # fmt: skip
exclude_patterns = [".*", "build", "runs", "reports", "grades", "submissions", "work"]
root_doc = "docs/index"
nitpicky = True

myst_enable_extensions = ["dollarmath"]  # formulas, as JupyterLab shows them
myst_heading_anchors = 3
myst_links_external_new_tab = False
# Stored outputs as they are: nothing is executed, and no widget asks for its kernel.
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [("*", "application/vnd.jupyter.widget-view+json", None)]

# What a reader may want to run, and not what it printed.
copybutton_selector = "div.highlight pre:not(.cell_output *)"
html_math_renderer = "mathml"
html_theme = "sphinx_book_theme"
html_title = "Scaling Labs"
html_logo = html_favicon = "../kit/look/mark.svg"
# What else people search for: a page, or a place in it, and the words that lead there.
search_words = tomllib.loads((REPOSITORY / "docs" / "search_words.toml").read_text())
html_static_path = ["site", "../kit/look/tokens.css"]
html_css_files = ["tokens.css", "site.css"]
html_js_files = ["print.js", "unfold.js", "sidebar.js", ("live.js", {"defer": "defer"})]
html_sourcelink_suffix = ""  # *Download source* gives the file under its own name
html_context = {
    "default_mode": "auto",  # light or dark, as the reader's system
    "course_address": repository_url,
    "site_address": html_baseurl,
}
html_additional_pages = {"index": "redirect.html"}
if html_baseurl:  # it is shown at any address, so its link has to be a whole one
    html_additional_pages["404"] = "not_found.html"
templates_path = ["site"]
# A button, no field: beside one, the button for the search on a telephone opens nothing.
html_sidebars = {
    "**": ["navbar-logo.html", "search-button-field.html", "sbt-sidebar-nav.html"]
}
html_theme_options = {
    "home_page_in_toc": True,
    "logo": {"text": "Scaling Labs"},
    "navbar_persistent": [],  # the search is in the sidebar
    "show_toc_level": 2,
    "toc_title": "On this page",
    "search_bar_text": "Search",
    "footer_content_items": ["licence.html"],
}


# A picture for light and one for dark pages, as `labs build` writes it and GitHub shows it.
BOTH = re.compile(
    r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*'
    r'<img alt="([^"]*)" src="([^"]+)">\s*</picture>'
)
IMAGE = "```{{image}} {}\n:alt: {}\n:class: only-{}\n```\n"
# In a narrow window it scrolls, by keyboard as well (site.css).
SCROLLS = """
<div class="picture" tabindex="0" role="group" aria-label="Picture">

{}
</div>
"""
# A lab's short name in the list of pages, if its file's name does not say enough.
SHORT_NAMES = {
    "05": "Many GPUs with fit",
    "06": "Many GPUs by hand",
    "07": "TPU cores",
    "08": "Faster training",
    "11": "What does not fit",
}
LIST_ITEM = re.compile(r'(<a class="[^"]*" href="[^"]*")>([^<]+)</a>')
FIRST_TITLE = "Train neural networks fast: predict, measure, explain"
# It mentions every term once, and explains none.
NOT_SEARCHED = "---\nnosearch: true\n---\n\n"


def _prepare_page(app, name, source):
    # Not at the top: the live parts of a page import Keras, which setup() keeps quiet.
    from kit.authoring.pages.first_page import first_page
    from kit.authoring.pages.site_page import name_repository, site_page
    from kit.glossary import for_the_site

    # Here a button can turn a page dark, so a page has both pictures, and hides one.
    source[0] = BOTH.sub(
        lambda found: SCROLLS.format(
            IMAGE.format(found[3], unescape(found[2]), "light")
            + IMAGE.format(found[1], unescape(found[2]), "dark")
        ),
        source[0],
    )
    if name == root_doc:
        source[0] = first_page(source[0], app.config.repository_url)
    if name == "docs/places":
        source[0] = name_repository(source[0], app.config.repository_url)
    if name == "docs/glossary":
        source[0] = for_the_site(source[0])
    if name == "CHANGELOG":
        source[0] = NOT_SEARCHED + source[0]
    folder, _, lab = name.rpartition("/")
    if folder == "solutions":
        source[0] = site_page(lab, source[0], app.config.repository_url, root_doc)


def _keep_mark(app, document, name):
    """Give a formula in a line the comma after it, which could begin the next line."""
    for formula in list(document.findall(nodes.math)):
        after = formula.next_node(descend=False, siblings=True)
        mark = re.match(r"[,.;:!?)]+", after) if isinstance(after, nodes.Text) else None
        if mark:
            formula["mark"] = mark[0]
            after.parent.replace(after, nodes.Text(after[mark.end() :]))


def _add_search_words(app, document):
    """An entry of the index is found by Sphinx' search, and leads to its place."""
    for place, words in app.config.search_words["places"].items():
        page, _, anchor = place.partition("#")
        if page != app.env.docname:
            continue
        if anchor and anchor not in document.ids:
            warn = logging.getLogger(__name__).warning
            warn("search_words.toml names #%s, which is not there", anchor, location=page)
        document += addnodes.index(
            entries=[("single", word, anchor, "main", None) for word in words]
        )


def _link_terms(app, doctree, name):
    """A link to the glossary leads to the term that it is about."""
    from kit.glossary import term_of

    objects = app.env.get_domain("std").objects
    for link in doctree.findall(nodes.reference):
        if link.get("refuri", "").endswith("docs/glossary.html"):
            found = objects.get(("term", term_of(link.astext())))
            link["refuri"] += f"#{found[1]}" if found else ""


def _write_formula(display):
    def visit(writer, node):
        formula, mark = formula_html(node.astext(), display), node.get("mark")
        writer.body.append(
            f'<span class="with-mark">{formula}{mark}</span>' if mark else formula
        )
        raise nodes.SkipNode

    return visit


def _describe(app, name, context, document):
    """What a search engine, or a message with a link, shows of a page."""
    if name == root_doc:
        context["title"] = FIRST_TITLE
    texts = (
        " ".join(paragraph.astext().split())
        for paragraph in document.findall(nodes.paragraph)
        if isinstance(paragraph.parent, nodes.section)
    )
    about = {"description": textwrap.shorten(next(texts, project), 200, placeholder=" …")}
    about |= {
        "og:title": unescape(context["title"]),
        "og:description": about["description"],
    }
    about |= {"og:type": "website", "og:site_name": project}
    if app.config.html_baseurl:
        about["og:image"] = f"{app.config.html_baseurl}_images/law.png"
        about["og:url"] = f"{app.config.html_baseurl}{name}.html"
    context["metatags"] += "".join(
        f'<meta {"property" if ":" in key else "name"}="{key}" content="{escape(text)}">\n'
        for key, text in about.items()
    )


def _shorten(found):
    """A line of the list of pages: it is looked over, and its page has the whole title."""
    link, title = found.groups()
    short = re.split("[:,]", title)[0]
    if lab := re.fullmatch("Lab (..)", short):
        file_name = find_lab(lab[1]).name.partition("_")[2].replace("_", " ").capitalize()
        name = SHORT_NAMES.get(lab[1], file_name)
        short = f'<span class="lab-number">{lab[1]}</span> {name}'
    return f'{link} title="{title}">{short}</a>'


def _shorten_list(context):
    write = context["generate_toctree_html"]
    context["generate_toctree_html"] = lambda **options: LIST_ITEM.sub(
        _shorten, str(write(**options))
    )


def _prepare_output(app, name, template, context, document):
    _shorten_list(context)
    context["root_title"] = "Overview"
    if name == "404":
        context["metatags"] = f'<base href="{app.config.html_baseurl}">\n'
    if document:
        _describe(app, name, context, document)
    if name == "search":
        app.add_js_file("search.js", defer="defer")
    if name.startswith("solutions/"):
        # The page itself links the unsolved one.
        for button in (b for g in context["header_buttons"] for b in g.get("buttons", ())):
            if button["label"] == "download-source-button":
                button["text"] = "Solved notebook"
                button["tooltip"] = "Download the solved notebook"


def setup(app):
    silence_tensorflow()
    formulas = (_write_formula(display=False), None), (_write_formula(display=True), None)
    app.add_html_math_renderer("mathml", *formulas)
    app.add_config_value("repository_url", "", "env", str)  # pages are read again for it
    app.add_config_value("search_words", {"places": {}}, "env", dict)
    app.connect("source-read", _prepare_page)
    app.connect("doctree-read", _add_search_words)
    app.connect("doctree-resolved", _link_terms)
    app.connect("doctree-resolved", _keep_mark)
    app.connect("html-page-context", _prepare_output, priority=502)  # after the theme
