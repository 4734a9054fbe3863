"""What belongs to lab 00 alone: devices."""
