"""Worker processes of lab 09: how they train, save and fail."""
