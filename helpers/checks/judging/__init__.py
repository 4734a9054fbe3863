"""Judges: make the questions, judge the observations, hold the hints."""
