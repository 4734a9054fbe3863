"""Everything that belongs to lab 10."""
