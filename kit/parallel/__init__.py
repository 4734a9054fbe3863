"""Processes that do a command's work side by side."""
