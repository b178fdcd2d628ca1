"""ScholarEval method: judges, based on papers, whether a plan is sound and what it contributes, with citations for
every claim.

Only the options are exported here, so that reading the settings does not load the implementation."""

from assayer.methods.scholareval.options import METHOD, ScholarEvalOptions

__all__ = ["METHOD", "ScholarEvalOptions"]
