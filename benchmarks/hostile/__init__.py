"""Hostile input: attacks on the service, hidden text in documents, and fuzzing of functions that take texts."""
