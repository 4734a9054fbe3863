"""What belongs to lab 09."""
