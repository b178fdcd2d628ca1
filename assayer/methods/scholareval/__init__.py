"""ScholarEval: judges whether a plan is sound and what it contributes, both from papers, with citations for every
claim.

Only the options are exported here, so that reading the settings loads none of the implementation."""

from assayer.methods.scholareval.options import METHOD, ScholarEvalOptions

__all__ = ["METHOD", "ScholarEvalOptions"]
