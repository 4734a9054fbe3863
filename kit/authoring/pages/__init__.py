"""Pages and pictures about the course: the README, the site, all pages on one sheet."""
