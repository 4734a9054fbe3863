"""What belongs to lab 11."""
