"""What authors run: build notebooks, store outputs, verify them, ask mutants."""
