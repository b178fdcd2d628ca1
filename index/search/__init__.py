"""Search in a single version: candidates by cosine and BM25, a fused ranking, and results as papers."""
