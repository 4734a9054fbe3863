"""The processes that lab 10 starts, as workers of a cluster."""
