"""Where the course runs: its environment, and what `labs doctor` looks at."""
