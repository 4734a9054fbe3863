"""Everything that belongs to lab 09."""
