"""The labs' diagrams: drawn by code, one file each in the folder of their lab."""

from pathlib import Path

from helpers.files import write_atomically
from kit.authoring.diagrams.pictures import DIAGRAMS
from kit.labs import Lab


def build_diagrams(lab: Lab) -> list[Path]:
    """Write a lab's diagrams, as far as they have changed.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    list of Path
        What was written.
    """
    written = []
    for name, draw in DIAGRAMS.get(lab.number, {}).items():
        path, text = lab.folder / "diagrams" / f"{name}.svg", draw().svg()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
            written.append(path)
    return written
