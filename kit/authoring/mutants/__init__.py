"""Change a reference answer a little, and see whether its check refuses it."""
