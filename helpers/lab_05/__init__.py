"""What belongs to lab 05 alone: many GPUs with fit."""
