"""Bias test: evaluate the same idea under different author identities and compare the scores."""
