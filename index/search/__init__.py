"""Search in one version: candidates by cosine, BM25 and lexical weights, a fused ranking, and results as papers."""
