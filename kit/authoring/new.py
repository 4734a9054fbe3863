"""Make a new lab: a small one that works, for its author to change."""

from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY, write_atomically
from kit.labs import Lab, all_labs

TEMPLATE = Path(__file__).with_name("template")


def new_lab(name: str) -> Lab:
    """Write a lab's source and its folder; overwrites nothing.

    Parameters
    ----------
    name : str
        Two digits and words: ``"13_example"``.

    Returns
    -------
    kit.labs.Lab

    Raises
    ------
    LabError
        If the name does not fit a lab, or its number is taken.
    """
    number, _, words = name.partition("_")
    if len(number) != 2 or not number.isdecimal() or not words.isidentifier():
        raise LabError(f"a lab's name is like 13_example, not {name!r}.")
    lab = Lab(name)
    taken = [other.name for other in all_labs() if other.number == number]
    if taken or lab.folder.exists():
        there = ", ".join(taken) or lab.folder
        raise LabError(f"there is a lab {number} already: {there}.")
    answers = REPOSITORY / "tests/answers" / lab.folder.name
    targets = {TEMPLATE / "lab.py": lab.source}
    for folder, target in (("folder", lab.folder), ("answers", answers)):
        for path in sorted((TEMPLATE / folder).rglob("*.*")):
            if path.suffix in (".py", ".toml", ".svg"):
                targets[path] = target / path.relative_to(TEMPLATE / folder)
    for path, target in targets.items():
        text = path.read_text(encoding="utf-8").replace("99_template", name)
        text = text.replace("99", number)
        for asked in ("1", "figure"):
            text = text.replace(f"{number}.{asked}", f"{int(number)}.{asked}")
        write_atomically(target, text)
    everything = f'"""Everything that belongs to lab {number}."""\n'
    write_atomically(lab.folder / "__init__.py", everything)
    return lab
