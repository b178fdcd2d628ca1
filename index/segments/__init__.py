"""One immutable part of a corpus and what lies in it: papers, vectors, words, citations."""
