"""Everything that belongs to lab 08."""
