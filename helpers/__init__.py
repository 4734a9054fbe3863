"""Modules for the labs: data, models, devices, checks, figures and run cards."""
