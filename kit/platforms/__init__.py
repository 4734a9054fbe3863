"""Exchange with learning platforms: their zip of submissions in, grades and pages out."""
