"""Search in one version: candidates by cosine and BM25, one ranking, and answers by papers."""
