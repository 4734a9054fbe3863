"""Recomputation: memory saved, time spent."""
