"""Questions to one version: candidates from vectors and words, one order, and answers by papers."""
