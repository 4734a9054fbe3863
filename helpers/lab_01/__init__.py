"""What belongs to lab 01 alone: gradient descent."""
