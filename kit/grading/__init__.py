"""Grade submissions without trusting them: `labs grade`."""
