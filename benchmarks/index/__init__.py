"""Measures the local corpus: how fast, how complete, how large, and whether it knows its own field."""
