"""What belongs to lab 07 alone: TPU cores."""
