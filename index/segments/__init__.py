"""Immutable part of a corpus and its files: papers, vectors, passages and citations."""
