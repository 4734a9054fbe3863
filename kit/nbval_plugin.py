"""Make nbval ignore standard error: it has no option for that."""


def pytest_itemcollected(item):
    """Add stderr to the outputs that nbval does not compare."""
    skipped = getattr(item.parent, "skip_compare", None)
    if skipped is not None and "stderr" not in skipped:
        item.parent.skip_compare = (*skipped, "stderr")
