"""Code for lab 05 only: many GPUs with fit."""
