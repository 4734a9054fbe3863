"""What an instructor reads and writes: marks, feedback, statistics."""
