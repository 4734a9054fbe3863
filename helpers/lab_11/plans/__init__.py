"""The planner, and the published trainings that it is scored on."""
