"""How the labs' text reads, in figures: python -m tests.prose prints the table.

What is counted says nothing about whether a sentence is good. But text that is all short
sentences without "because" or "so that" reads as riddles, and a course about formulas
without formulas hides its subject.
"""

import re
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from kit.generate import generate
from kit.labs import Lab, all_labs

# Words and phrases that tie one clause or sentence to another.
CONNECTIVES = (
    "because", "so that", "but", "while", "whereas", "although", "though", "however",
    "therefore", "that is why", "for example", "for instance", "instead", "in contrast",
    "by contrast", "in other words", "otherwise", "even if", "in practice", "as a result",
)  # fmt: skip


class Prose(NamedTuple):
    """What is counted in one lab's text cells."""

    words: int
    words_per_sentence: float
    connectives: float  # per 1,000 words
    formulas: int
    links: int
    diagrams: int


def plain(text: str) -> str:
    """The running text of Markdown: without code, formulas, headings and tables."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    lines = [
        line for line in text.splitlines()
        if not re.match(r"\s*(#|\||!\[|    )", line)
    ]  # fmt: skip
    text = "\n".join(re.sub(r"^\s*([-*]|\d+\.)\s+", "", line) for line in lines)
    text = re.sub(r"\$\$.*?\$\$", " X ", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$\n]+\$", "X", text)
    text = re.sub(r"`[^`\n]+`", "X", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").replace("*", "")


def sentences(text: str) -> list[str]:
    """Its sentences; a paragraph's or list entry's end is an end, too."""
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z\"X(])|\n\s*\n", plain(text))
    return [part.strip() for part in parts if len(part.split()) >= 3]


def measure(lab: Lab) -> Prose:
    """Count a lab's text.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    Prose
    """
    cells = generate(lab)[0].cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    said = sentences(text)
    words = sum(len(one.split()) for one in said)
    lower = " ".join(said).lower()
    found = sum(len(re.findall(rf"\b{word}\b", lower)) for word in CONNECTIVES)
    return Prose(
        words=words,
        words_per_sentence=words / max(1, len(said)),
        connectives=1000 * found / max(1, words),
        formulas=len(re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", text, re.DOTALL)),
        links=len(re.findall(r"(?<!!)\[[^\]]+\]\([^)]+\)", text)),
        diagrams=len(re.findall(r"!\[[^\]]+\]\([^)]+\.svg\)", text)),
    )


def main() -> None:
    """Print the table."""
    table = Table("lab", *Prose._fields)
    for lab in all_labs():
        table.add_row(
            lab.name,
            *(f"{value:.1f}" if isinstance(value, float) else f"{value:,}"
              for value in measure(lab)),
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
