"""Curation: research questions derived from papers, candidate ideas for a question, scores of single ideas, and the
best of N candidates.

It follows the stages around the reward in the debate-as-reward paper (arXiv 2604.16723)."""
