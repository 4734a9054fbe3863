"""What a lab does in a notebook besides its subject: set-up, messages, errors."""
