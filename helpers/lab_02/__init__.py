"""Code for lab 02 only: throughput."""
