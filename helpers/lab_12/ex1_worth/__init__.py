"""Exercise 12.1."""
