"""The modules that files start as processes of their own, by reading their text."""

import re
from collections.abc import Iterable
from pathlib import Path

START = re.compile(r'(?:"-m", |\bask\(|\bWORKER = )"((?:helpers|kit)\.[\w.]+)"')


def started_modules(files: Iterable[Path]) -> set[str]:
    return {
        name for file in files for name in START.findall(file.read_text(encoding="utf-8"))
    }
