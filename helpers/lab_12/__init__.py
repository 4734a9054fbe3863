"""What belongs to lab 12."""
