"""Curation: derive research questions from papers, generate candidate ideas for a question, score single ideas, and
pick the best of N candidates.

It follows the stages before and after the reward in the debate-as-reward paper (arXiv 2604.16723)."""
