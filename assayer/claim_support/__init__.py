"""Check whether the quote given for a claim supports it: a verbatim quote can still fail to."""
