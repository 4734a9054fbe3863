"""What belongs to lab 08."""
