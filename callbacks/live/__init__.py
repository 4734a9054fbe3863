"""Training that shows itself: the dashboard, and what draws it."""
