"""The frame of a lab in a notebook: set-up, messages, errors."""
