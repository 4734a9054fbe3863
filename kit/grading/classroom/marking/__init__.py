"""`labs mark`: a person marks answers in words, in a page on this machine."""
