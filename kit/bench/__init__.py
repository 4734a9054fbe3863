"""The measurements of `labs bench`."""

from helpers.files import REPOSITORY

DOCS = REPOSITORY / "docs" / "bench"
UNFINISHED = REPOSITORY / "build" / "bench"  # what an interrupted bench has done
