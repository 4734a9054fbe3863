"""What belongs to lab 06 alone: many GPUs, own loop."""
