"""The lines that exercises of lab 03 print, for their judges."""

import re

from helpers.checks.judging.lines import Template

STOPPED = Template("Early stopping after epoch {epoch:d}")
EVERY, END = "Cumulative training time after epoch", "Cumulative training time:"
BOTH = END.rstrip(":")
TOTAL = re.compile(rf"{BOTH}(?: after epoch \d+)?: *-?[\d.,]+")
PART = r"(-?\d{1,9}(?:\.\d{1,30})?)"
PARTS = re.compile(rf"Start-up: *{PART}, *training: *{PART}, *validation: *{PART} *")
EPOCH = re.compile(rf"{EVERY} (\d{{1,9}}):")
