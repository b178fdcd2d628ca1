"""Search in one version: find candidates by cosine, BM25 and lexical weights, fuse the rankings, and return papers."""
