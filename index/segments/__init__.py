"""One immutable part of a corpus and its files: papers, vectors, passages, citations."""
