"""The site's first page: docs/index.md, with a card for each lab."""

from pathlib import Path

from kit import look
from kit.authoring.pages.readme import minutes_of
from kit.jupyter.start_page import PARTS, lab_picture
from kit.labs import all_labs, title_and_question
from kit.working_time import in_hours

CLONE = "clone the repository"
CARDS = "<!-- the labs as cards -->\n"
# What each half of the figure of the law shows, for readers who want to know.
HALVES, LAW_END = "*Left:*", "<!-- law: end -->"
FOLDED = "<details><summary>What the two halves show</summary>\n\n"


def first_page(source: str, repository: str = "") -> str:
    """Put cards of the labs into the first page, and link the repository.

    Parameters
    ----------
    source : str
        Its Markdown.
    repository : str
        The address of what to clone; empty: the words are no link.

    Returns
    -------
    str
        Markdown for MyST.
    """
    if repository:
        source = source.replace(CLONE, f"[{CLONE}]({repository})")
    source = source.replace(HALVES, FOLDED + HALVES)
    source = source.replace(LAW_END, f"\n</details>\n\n{LAW_END}")
    return source.replace(CARDS, lab_cards())


def lab_cards() -> str:
    """A heading and a list of cards for each part of the course, as on the start page.

    Returns
    -------
    str
        Markdown.
    """
    minutes = {lab: minutes_of(lab) for lab in all_labs()}
    cards = {first: [] for first, _, _ in PARTS}
    for lab, needed in minutes.items():
        cards[max(first for first in cards if first <= lab.number)].append(
            {
                "number": lab.number,
                "page": f"../solutions/{lab.name}.html",
                "picture": lab_picture(lab.name),
                "question": title_and_question(lab)[0].partition(": ")[2],
                "time": in_hours(needed),
            }
        )
    template = Path(__file__).with_name("lab_cards.html.j2")
    parts = (
        f"### {title}\n\n{look.render(template, hue=hue, labs=cards[first])}\n\n"
        for first, title, hue in PARTS
    )
    hours = sum(minutes.values()) / 60
    return "".join(parts) + (
        f"All labs together take about {hours:.0f} hours. These times are estimates, "
        "because no class has been timed.\n"
    )
