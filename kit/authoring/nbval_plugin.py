"""Additions to nbval: it ignores standard error, and reads cards as text."""

import re

import pytest
from nbformat import NotebookNode
from nbval import plugin

# helpers/machine/other_load.py prints it below a cell that may print nothing else.
ONLY_BUSY = re.compile(r"Busy machine: [^\n]*\n")


def pytest_configure(config: pytest.Config) -> None:
    """Compare a message (helpers/notebook/messages.py) by its text, among printed lines.

    Its HTML is made from the same text and has tests of its own.
    """
    plugin.transform_streams_for_comparison = _with_cards_as_text(
        plugin.transform_streams_for_comparison
    )


def _with_cards_as_text(transform):
    def transformed(outputs):
        printed, others = "", []
        for output in outputs:
            data = output.get("data", {})
            if output.output_type == "stream" and output.name == "stdout":
                printed += output.text
            elif data.get("text/html", "").startswith('<div class="labs-message'):
                printed += data["text/plain"] + "\n"
            else:
                others.append(output)
        if printed and not ONLY_BUSY.fullmatch(printed):
            others.append(NotebookNode(output_type="stream", name="stdout", text=printed))
        return transform(others)

    return transformed


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add stderr to the outputs that nbval does not compare."""
    skipped = getattr(item.parent, "skip_compare", None)
    if skipped is not None and "stderr" not in skipped:
        # Of nbval's files, which pytest does not know.
        item.parent.skip_compare = (*skipped, "stderr")  # ty: ignore[invalid-assignment]
