"""docs/glossary.md: its terms, and the links that lead from a lab to one of them."""

import functools
import re
import textwrap

from helpers.files import REPOSITORY

PAGE = REPOSITORY / "docs" / "glossary.md"
# A term is a heading, so that JupyterLab and GitHub have an address for it, too.
TERM = re.compile(r"^### (.+)\n\n", re.M)
LETTER = re.compile(r"^## .\n\n?", re.M)
# A link of a lab, without a term or with one.
LINK = re.compile(r"\[([^\]]+)\]\(\.\./docs/glossary\.md(?:#([^)\s]+))?\)")
OWN_LINK = re.compile(r"\[([^\]]+)\]\(#([^)]+)\)")  # from one term to another
ENDINGS = ("", "s", "es", "ing")


def anchor(term: str) -> str:
    """The name of a term's heading on GitHub; kit/jupyter finds it in JupyterLab, too."""
    return re.sub(r"[^a-z0-9 -]", "", term.lower()).replace(" ", "-")


def terms_of(page: str) -> dict[str, str]:
    """The Markdown behind each term, in the page's order."""
    _, *parts = TERM.split(LETTER.sub("", page))
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


@functools.cache
def _known():
    return {term.casefold(): term for term in terms_of(PAGE.read_text(encoding="utf-8"))}


def term_of(words: str) -> str | None:
    """The term that the text of a link means, which may be a plural with `*` around it."""
    plain = " ".join(re.sub(r"[*`]", "", words).casefold().split())
    found = (_known().get(plain.removesuffix(ending)) for ending in ENDINGS)
    return next(filter(None, found), None)


def lead_to_terms(text: str) -> str:
    """Let each link to the glossary lead to the term that it is about.

    Parameters
    ----------
    text : str
        Markdown of a lab.

    Returns
    -------
    str
    """

    def led(link):
        words, place = link.groups()
        if not place and (term := term_of(words)):
            place = anchor(term)
        return f"[{words}](../docs/glossary.md{f'#{place}' if place else ''})"

    return LINK.sub(led, text)


def for_the_site(page: str) -> str:
    """docs/glossary.md with Sphinx' own block for terms, and a line of letters.

    Parameters
    ----------
    page : str
        Markdown.

    Returns
    -------
    str
    """
    page = page.replace("](../notebooks/", "](../solutions/")  # what the site shows
    head = LETTER.split(page)[0].rpartition("\n\n[")[0] + "\n\n"  # with letters of its own
    terms, first = terms_of(page), {}
    for term in terms:
        first.setdefault(term[0].upper(), term)
    letters = " ".join(f"{{term}}`{letter} <{term}>`" for letter, term in first.items())
    by_anchor = {anchor(term): term for term in terms}

    def as_role(link):
        return f"{{term}}`{link[1]} <{by_anchor[link[2]]}>`"

    inside = "\n\n".join(
        f"{term}\n{textwrap.indent(OWN_LINK.sub(as_role, text), '  ')}"
        for term, text in terms.items()
    )
    letters = f'<div class="letters">\n\n{letters}\n\n</div>\n\n'
    return f"{head}{letters}```{{glossary}}\n{inside}\n```\n"
