"""Reference answers: what stands in until a student's own passes."""
