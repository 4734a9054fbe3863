"""A student's copy of the notebooks, and the hand-out for a class."""
