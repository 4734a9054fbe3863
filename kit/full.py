"""Execute a whole submitted notebook in a box of its own, and bring it back."""


def run_notebook(content, limits, boxed, hide):
    """Placeholder."""
    return "not run", None
