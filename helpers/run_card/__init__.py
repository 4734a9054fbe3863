"""Run cards: one JSON document for each run of a lab."""
