"""Bias test: evaluates the same idea under different author identities and compares the scores."""
