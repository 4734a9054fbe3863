"""The lines that exercise 4.3 prints, for its judge."""

import re

from helpers.checks.judging.lines import Template

LINE = Template(
    "Epoch={epoch:d}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, "
    "Valid Loss:{valid_loss:.3f}, Valid Accuracy:{valid_accuracy:.3f}"
)
SPEED = re.compile(r"Newswires/sec: *(\d[\d,]{0,15}\.\d\d+)")
# One `=`: those after it are in the next class, and two repeats of one sign are slow.
BAR = re.compile(
    r"=[^\w+-]*(\d\d):(\d\d):(\d\d)(?:\.\d+)?"
    r"(?: ?([+-]\d\d):?(\d\d))?(?: [A-Z]+)?\W*"
)
