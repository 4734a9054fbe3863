"""What belongs to lab 10."""
