"""The text of a CSV file in whichever encoding a program has saved it."""

import codecs
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError

MOST_BYTES = 20_000_000
ZIP = b"PK\x03\x04"  # how a zip begins, and an Excel file
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WITHOUT_A_MARK = ("utf-8", "cp1252")  # umlauts of cp1252 are no UTF-8


class CsvFormat(NamedTuple):
    """How a CSV file is written, so that an answer can be written in the same way."""

    encoding: str = "utf-8"
    mark: bytes = b""  # the byte order mark
    delimiter: str = ","

    def encoded(self, text: str) -> bytes:
        """A text as the file had it; a character that it cannot hold becomes HTML's."""
        return self.mark + text.encode(self.encoding, "xmlcharrefreplace")


def read_csv_text(path: Path) -> tuple[str, CsvFormat]:
    """Read a CSV file of usual size: UTF-8, UTF-16 with a byte order mark, or cp1252.

    Parameters
    ----------
    path : Path

    Returns
    -------
    tuple of str and CsvFormat
        The delimiter is the character that the first line has most of: a comma, a
        semicolon or a tab.

    Raises
    ------
    LabError
    """
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise LabError(f"{path}: larger than {MOST_BYTES // 10**6} MB.")
    if content.startswith(ZIP):
        raise LabError(
            f"{path} is a zip or an Excel file, where a table in CSV is asked for."
        )
    mark = next((one for one in BYTE_ORDER_MARKS if content.startswith(one)), b"")
    encodings = [BYTE_ORDER_MARKS[mark]] if mark else WITHOUT_A_MARK
    for encoding in encodings:
        try:
            text = content[len(mark) :].decode(encoding)
        except UnicodeDecodeError:
            continue
        head = text.partition("\n")[0]
        return text, CsvFormat(encoding, mark, max(",;\t", key=head.count))
    raise LabError(f"{path}: neither UTF-8 nor UTF-16 nor cp1252; save it as CSV UTF-8.")
