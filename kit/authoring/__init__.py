"""Programs for authors: build notebooks, store outputs, verify them, ask mutants."""
