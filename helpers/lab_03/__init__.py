"""What belongs to lab 03 alone: time to accuracy."""
