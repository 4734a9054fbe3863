"""Probes: drive a student's answer and report what it did. They judge nothing."""
