"""ScholarEval: is the plan sound, and what does it add? Both judged from papers, every claim cited.

Only the options are exported here, so that reading the settings loads nothing that does the work.
"""

from assayer.methods.scholareval.options import METHOD, ScholarEvalOptions

__all__ = ["METHOD", "ScholarEvalOptions"]
