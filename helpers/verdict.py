"""The verdict on a wrong answer, and the sentence that is made of it.

A judge names a mistake and what it saw: keys, and the facts for the gaps of a sentence.
The sentences are in `words.toml`.
"""

from string import Formatter
from typing import NamedTuple

LONGEST_QUOTE = 60  # characters of what a student wrote or printed


class Phrase(NamedTuple):
    """A sentence about what was seen, or a part of one, before it is written out."""

    key: str  # of the table `[seen]`
    facts: dict  # numbers, texts, lists, or other phrases, by the names of the gaps


class Wrong(NamedTuple):
    """A judge's verdict on an answer that is not right."""

    mistake: str  # a key of the exercise's mistakes, or of those that any exercise has
    seen: Phrase
    requirement: str = ""  # a key; needed where the mistake may break several


class Verdict(NamedTuple):
    """Why an answer is not right, in words."""

    reason: str  # what was seen, in one line
    mistake: str  # as in `Wrong`
    requirement: str = ""  # the sentence that was broken; empty if it is not known


def wrong(mistake: str, seen: str, /, *, requirement: str = "", **facts) -> Wrong:
    """Name a mistake and what was seen of it.

    Parameters
    ----------
    mistake, seen, requirement : str
        Keys of the exercise's `[mistakes]`, `[seen]` and `[requirements]`.
    **facts
        What fills the gaps of the sentence.
    """
    return Wrong(mistake, Phrase(seen, facts), requirement)


def phrase(key: str, /, **facts) -> Phrase:
    """A part of a sentence that several sentences share."""
    return Phrase(key, facts)


def in_words(seen: Phrase, sentences: dict[str, str]) -> str:
    """Write a phrase out.

    Besides those of `str.format`, a gap can have three formats: ``{n:of save}`` gives
    "1 save" or "2 saves" (``{n:of batch|batches}`` has a plural of its own),
    ``{text:quoted}`` gives a student's text, short and in one line, and ``{names:list}``
    gives "a, b" (``{losses:list .3f}`` gives each the format ``.3f``).

    Parameters
    ----------
    seen : Phrase
    sentences : dict of str
        By their keys.
    """
    facts = {
        name: in_words(fact, sentences) if isinstance(fact, Phrase) else fact
        for name, fact in seen.facts.items()
    }
    return _Gaps().vformat(sentences[seen.key], (), facts)


class _Gaps(Formatter):
    def format_field(self, value, format_spec):
        if format_spec.startswith("of "):
            one, _, several = format_spec.removeprefix("of ").partition("|")
            number = f"{value:,}" if isinstance(value, int) else f"{value:,g}"
            return f"{number} {one if value == 1 else several or f'{one}s'}"
        if format_spec == "quoted":
            return quoted(value)
        if format_spec.startswith("list"):
            each = format_spec.removeprefix("list").strip()
            return ", ".join(format(one, each) for one in value)
        return super().format_field(value, format_spec)


def quoted(text: object, longest: int = LONGEST_QUOTE) -> str:
    """A student's text within a sentence: short, in one line."""
    line = " ".join(str(text)[: 4 * longest].split())
    return f"`{line if len(line) <= longest else line[: longest - 3] + '...'}`"
