"""Imitations of the peculiarities of language model providers, each with what the user must see."""
