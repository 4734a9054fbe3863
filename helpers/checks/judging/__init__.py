"""Judges: draw the questions, and judge the observations."""
