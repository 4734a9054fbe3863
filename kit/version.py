"""Which kit wrote a report: its version and its commit."""

from importlib import metadata

from helpers.run_card.documents import versions


def kit_version() -> str:
    """Name the kit, its version and its commit, for the foot of what it writes.

    Returns
    -------
    str
        As "Scaling Labs 0.1.0, commit c43753a". The commit ends in "-dirty" if files
        have been changed since, and is "unknown" outside of a git checkout.
    """
    commit = versions()["git_revision"]
    return f"Scaling Labs {metadata.version('scaling-labs')}, commit {commit}"
