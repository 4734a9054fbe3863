"""Code for lab 06 only: many GPUs with a hand-written loop."""
