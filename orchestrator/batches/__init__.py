"""Parsing of batches of ideas sent in a single request, and their results as a single file. All functions are pure."""
