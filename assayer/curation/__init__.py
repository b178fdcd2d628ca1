"""Research questions out of papers, candidate ideas for a question, scores of ideas in single respects, the best of N.

After the stages around the reward of the debate-as-reward paper (arXiv 2604.16723). `score_idea` and `best_of` are in
modules of their own, whose libraries settings do not need.
"""

from assayer.curation.options import CurationOptions

__all__ = ["CurationOptions"]
