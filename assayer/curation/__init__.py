"""Research questions derived from papers, candidate ideas for a question, single scores of ideas, the best of N.

After the stages around the reward of the debate-as-reward paper (arXiv 2604.16723).
"""
