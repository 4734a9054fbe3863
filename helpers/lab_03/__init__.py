"""Code for lab 03 only: time to accuracy."""
