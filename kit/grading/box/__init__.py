"""The sandbox: what runs a submission, and what keeps it in."""
