"""Code for lab 01 only: gradient descent."""
