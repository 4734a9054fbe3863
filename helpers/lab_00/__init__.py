"""Code for lab 00 only: devices."""
