"""What `labs bench` measures."""

from helpers.files import REPOSITORY

DOCS = REPOSITORY / "docs" / "bench"
UNFINISHED = REPOSITORY / "build" / "bench"  # what an interrupted bench has done
