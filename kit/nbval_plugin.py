"""Let nbval pass over standard error, of which it cannot ignore that there is any."""


def pytest_itemcollected(item):
    """Add stderr to what each notebook's cells are not compared by."""
    skipped = getattr(item.parent, "skip_compare", None)
    if skipped is not None and "stderr" not in skipped:
        item.parent.skip_compare = (*skipped, "stderr")
