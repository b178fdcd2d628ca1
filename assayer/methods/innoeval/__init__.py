"""InnoEval: an idea is compared with papers, pages and code, and judged by a board of reviewers.

Only the options are exported here, so that reading the settings loads none of the implementation."""

from assayer.methods.innoeval.options import METHOD, InnoEvalOptions

__all__ = ["METHOD", "InnoEvalOptions"]
