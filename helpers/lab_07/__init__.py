"""Code for lab 07 only: TPU cores."""
