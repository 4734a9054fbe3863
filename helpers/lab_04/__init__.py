"""Code for lab 04 only: a custom training loop."""
