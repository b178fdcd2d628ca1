"""InnoEval: an idea held against papers, pages and code, and judged by a board of reviewers.

Only the options are exported here, so that reading the settings loads nothing that does the work.
"""

from assayer.methods.innoeval.options import METHOD, InnoEvalOptions

__all__ = ["METHOD", "InnoEvalOptions"]
