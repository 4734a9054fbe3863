"""The data sets: found, downloaded, checked."""
