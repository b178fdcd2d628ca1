"""Measurements of how completely and correctly documents are read."""
