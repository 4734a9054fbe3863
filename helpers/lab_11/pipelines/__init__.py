"""Pipelines of stages: their orders, real processes that sleep, and time lines."""
