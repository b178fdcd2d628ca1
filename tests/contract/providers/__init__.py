"""Imitations of what providers of language models do differently, each with what a user must see."""
