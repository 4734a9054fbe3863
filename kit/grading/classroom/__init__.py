"""The files that an instructor reads and writes: marks, feedback, statistics."""
