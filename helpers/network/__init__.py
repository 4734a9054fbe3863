"""Networks, and what makes their training fast."""
