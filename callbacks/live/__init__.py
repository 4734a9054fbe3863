"""The training dashboard, and the code that draws it."""
