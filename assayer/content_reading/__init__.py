"""Extraction of a paper's names and claims by a language model, verified against its title and abstract."""
