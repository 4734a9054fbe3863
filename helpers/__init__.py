"""What the labs import: data, models, devices, checks, figures and run cards."""
