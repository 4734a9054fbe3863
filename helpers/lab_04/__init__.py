"""What belongs to lab 04 alone: a custom training loop."""
