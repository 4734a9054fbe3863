"""Put answers in words that say the same in the same words beside each other."""

import hashlib
import re
from collections import Counter

from kit.grading.classroom.similar import alike

ALIKE = 0.8  # Dice's coefficient of the words


def in_groups(answers: list[dict]) -> list[dict]:
    """Sort answers by question and group.

    Parameters
    ----------
    answers : list of dict
        With `student`, `number` and `text`.

    Returns
    -------
    list of dict
        The same with `group`: the place of the group's first answer. The order says nothing
        about names, and is the same each time.
    """
    groups: dict[str, list[tuple[Counter, list[dict]]]] = {}
    for one in sorted(answers, key=lambda one: (one["number"], _shuffled(one))):
        words, own = _words(one["text"]), groups.setdefault(one["number"], [])
        for first, members in own:
            if alike(first, words) >= ALIKE:
                members.append(one)
                break
        else:
            own.append((words, [one]))
    found = []
    for own in groups.values():
        for _, members in own:
            first = len(found)
            found += [one | {"group": first, "members": len(members)} for one in members]
    return found


def _words(text):
    return Counter(re.findall(r"\w+", text.casefold()) or [text.strip()])


def _shuffled(one):
    return hashlib.sha256(one["student"].encode("utf-8", "surrogateescape")).digest()
