"""What instructors and operators run."""
