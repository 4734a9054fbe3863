"""What belongs to lab 02 alone: throughput."""
