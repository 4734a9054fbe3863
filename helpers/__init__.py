"""What the labs import: data, models, devices, checks, plots and records."""
