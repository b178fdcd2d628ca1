"""Hostile input: attacks on the service, texts hidden in documents, fuzzing of everything that takes a text."""
