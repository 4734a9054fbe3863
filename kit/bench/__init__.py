"""What `labs bench` measures."""
