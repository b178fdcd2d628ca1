"""Segments, which are the immutable parts of a corpus, and their files: papers, vectors, passages and citations."""
