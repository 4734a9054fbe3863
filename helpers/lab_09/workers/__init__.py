"""Worker processes: how they start, talk, save and fail."""
