"""The class ring: laptops of a room join by a code, and all-reduce around one ring."""

PORT = 29_600  # of the host
LINK_PORTS = range(PORT + 1, PORT + 17)  # of a laptop: the first that is free
BEAT_SECONDS = 0.5  # between two signs of life of a member
SILENT_SECONDS = 8.0  # a member that is silent for longer is missing
CONTROL, LINK = "class ring, control", "class ring, link"  # what a join code is proved for
MOST_NAME = 24  # letters of a laptop's name


def shown_name(name: object) -> str:
    """A name from a stranger as it may be shown on a terminal: one short line."""
    letters = "".join(c for c in str(name)[:200] if c.isprintable() and c.isascii())
    return letters[:MOST_NAME].strip() or "laptop"
