"""Measurements of the local corpus: speed, recall, size, and whether it recognises its own field."""
