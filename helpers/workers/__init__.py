"""Worker processes that talk over TCP: how they start, what they run, what they send."""
