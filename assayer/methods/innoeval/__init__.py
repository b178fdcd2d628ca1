"""InnoEval method: compares an idea with papers, pages and code, and has a board of reviewers (language models) judge
it.

Only the options are exported here, so that reading the settings does not load the implementation."""

from assayer.methods.innoeval.options import METHOD, InnoEvalOptions

__all__ = ["METHOD", "InnoEvalOptions"]
