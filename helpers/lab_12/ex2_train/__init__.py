"""Exercise 12.2."""
